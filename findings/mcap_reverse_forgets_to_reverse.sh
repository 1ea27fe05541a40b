#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: the package mcap's iter_messages(reverse=True) begins with the last message of a
# recording, as its documentation says; on a file without an index perhaps slowly. What happens
# where a file has no index of chunks: the argument is dropped on the way, and the messages come
# in ascending order, the first one first. No error or warning says so. The same bytes from a pipe
# come in descending order.
#
# Seen with mcap 1.6.0 and mcap-ros2-support 0.6.0.
# Source: mcap/reader.py, SeekingReader.iter_messages (hands topics, times and log_time_order on to
# a NonSeekingReader, which could reverse, and not `reverse`).
# Who is hurt: whoever asks a recording for the last region, position or battery, by the first
# message of reverse=True. Recordings of `ros2 bag record --storage-preset-profile fastwrite` have
# no chunks, and so no index of them: the answer is where the robot was when it set out.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import os
from pathlib import Path
import subprocess
import sys

from mcap.reader import make_reader
from mcap.writer import IndexType, Writer
from mcap_ros2.decoder import DecoderFactory

REGIONS = ('dock', 'hall', 'ward')


def write(file, **options):
    """Write a recording of a robot that goes from the dock to the ward."""
    with open(file, 'wb') as target:
        writer = Writer(target, **options)
        writer.start(profile='ros2')
        kind = writer.register_schema('std_msgs/msg/String', 'ros2msg', b'string data\n')
        channel = writer.register_channel('/region', 'cdr', kind)
        for second, region in enumerate(REGIONS):
            data = b'\0\1\0\0\5\0\0\0' + region.encode() + b'\0'
            writer.add_message(channel, second * 10**9, data, second * 10**9)
        writer.finish()


def regions(source):
    """Return the regions of a recording, asked for in descending order."""
    reader = make_reader(source, decoder_factories=[DecoderFactory()])
    return tuple(one.decoded_message.data for one in reader.iter_decoded_messages(reverse=True))


seen = []
for name, options, by_pipe, guess in (
        ('with chunks and their index', {}, False, REGIONS[::-1]),
        ('without an index of chunks', {'index_types': IndexType.NONE}, False, REGIONS),
        ('without chunks', {'use_chunking': False}, False, REGIONS),
        ('without chunks, from a pipe', {'use_chunking': False}, True, REGIONS[::-1])):
    file = Path(os.environ['HOME'], f'{name}.mcap')
    write(file, **options)
    if by_pipe:
        with subprocess.Popen(['cat', file], stdout=subprocess.PIPE) as process:
            found = regions(process.stdout)
    else:
        with open(file, 'rb') as source:
            found = regions(source)
    print(f'  {name}: reverse=True gives {", ".join(found)}')
    seen.append(found == guess)
sys.exit(0 if all(seen) else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='mcap==1.6.0 mcap-ros2-support==0.6.0'
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" "$folder/look.py"; then
    echo 'Without an index of chunks, reverse=True begins with the first message.'
else
    echo 'It has changed.'
    exit 1
fi
