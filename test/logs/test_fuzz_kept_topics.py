# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mutated recordings are handed on: errors of our own come out, or a recording that is whole."""
from functools import cache
from pathlib import Path
import tempfile

from patrol_bags import hand_on, patrol, WORD, write_bag
from symdp_ros.logs import LogError, read_log
from symdp_ros.logs.recordings import rosbag
from symdp_ros.logs.recordings.recorded import RecordedMessage
from test_fuzz_logs import fuzz_in_bounds, mutate_recording

TOPICS = ['/battery_state', '/diagnostics', '/name']


@cache
def recorded(storage):
    with tempfile.TemporaryDirectory() as directory:
        path = write_bag(Path(directory) / 'log', storage, patrol())
        return {file.name: file.read_bytes() for file in path.iterdir()}


def test_recordings_with_kept_topics():
    def case(random_, directory):
        bag, victim = mutate_recording(recorded(random_.choice(('sqlite3', 'mcap'))), random_,
                                       directory)
        storage, path = random_.choice(('sqlite3', 'mcap')), directory / 'out.private'
        source = bag if victim.name == 'metadata.yaml' or random_.random() < 0.5 else victim
        strict = random_.random() < 0.5
        try:
            hand_on(source, path, *TOPICS, anyway=['/tf'], storage=storage, strict=strict,
                    coarse=random_.choice((0, 0.3)))
        except LogError as error:
            assert strict and error.__context__ is None and not path.exists()
            assert str(error).isprintable() and len(str(error)) < 3000
        else:
            assert [symbol for _, symbol in read_log(path)] == WORD
            for found in rosbag.scan(path, ['/region', '/tf', *TOPICS]):
                assert found[0] in ('/region', '/tf', *TOPICS)
                assert not isinstance(found, RecordedMessage) or found.stamp >= 0

    fuzz_in_bounds(case)
