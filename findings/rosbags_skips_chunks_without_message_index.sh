#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: an index in an MCAP file makes reading faster; what is in the file does not
# depend on it. What happens with rosbags, where a file has an index of its chunks and none of the
# messages in them, which the format allows: it opens the file, lists the topics and how many
# messages there are, and then yields none, without an error. Where the index of chunks is missing,
# too, it yields all. The package mcap (1.6.0) reads all in each case.
#
# Seen with rosbags 0.11.9.
# Source: rosbags/rosbag2/storage_mcap.py, McapReader.read_index (counts the messages of a chunk
# from the sizes of its message indexes) and McapReader.messages (skips a chunk whose count is 0).
# Who is hurt: whoever records with `noMessageIndex: true` (ros2 bag record --storage-config-file),
# or with the writer of mcap without IndexType.MESSAGE, to save space or time on a robot, and
# reads with rosbags: an evaluation finds an empty patrol.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import os
import sys
from pathlib import Path

from mcap.reader import make_reader
from mcap.writer import IndexType, Writer
from rosbags.highlevel import AnyReader

MESSAGES, TEXT = 100, b'\0\1\0\0\5\0\0\0dock\0'
FOLDER = Path(os.environ['HOME'])


def write(file, indexes):
    """Write a recording of one topic."""
    with open(file, 'wb') as target:
        writer = Writer(target, index_types=indexes)
        writer.start(profile='ros2')
        kind = writer.register_schema('std_msgs/msg/String', 'ros2msg', b'string data\n')
        channel = writer.register_channel('/region', 'cdr', kind)
        for second in range(MESSAGES):
            writer.add_message(channel, second * 10**9, TEXT, second * 10**9)
        writer.finish()


def read(file):
    """Return how many messages rosbags counts, how many it yields, and how many mcap yields."""
    with AnyReader([file]) as reader:
        counted, yielded = reader.message_count, len(list(reader.messages()))
    with open(file, 'rb') as source:
        return counted, yielded, len(list(make_reader(source).iter_messages(['/region'])))


seen = []
for name, indexes, guess in (
        ('all indexes', IndexType.ALL, MESSAGES),
        ('no index of messages', IndexType.ALL & ~IndexType.MESSAGE, 0),
        ('no index at all', IndexType.NONE, MESSAGES)):
    file = FOLDER / f'{name}.mcap'
    write(file, indexes)
    counted, yielded, others = read(file)
    print(f'  {name}: rosbags counts {counted} messages and yields {yielded}, mcap {others}')
    seen.append((counted, yielded, others) == (MESSAGES, guess, MESSAGES))
sys.exit(0 if all(seen) else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='rosbags==0.11.9 mcap==1.6.0'
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" "$folder/look.py"; then
    echo 'Without an index of messages, rosbags yields none, and says nothing.'
else
    echo 'It has changed.'
    exit 1
fi
