# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Released words as files: what independent readers find in them, and what nobody should."""
import csv
import errno
import json
import os

from forked import forked
import pytest
from refusals import refused
from rosbags.highlevel import AnyReader
from symdp_ros.errors import ConfigurationError
from symdp_ros.logs import FORMATS, list_logs, LogError, read_log, release_name, write_log
from symdp_ros.logs.recordings import rosbag, with_rosbag2
import yaml

WORD = ['dock', 'aisle_1', 'aisle_1', 'a, "b"', 'büro']
every = pytest.mark.parametrize('form', FORMATS)
bags = pytest.mark.parametrize('form', ['sqlite3', 'mcap'])


def content(path):
    """Return file name → bytes; the name of a plain file is left out."""
    files = path.iterdir() if path.is_dir() else [path]
    return {file.name if path.is_dir() else '': file.read_bytes() for file in files}


@every
def test_a_word_comes_back(tmp_path, form):
    path = tmp_path / release_name('1', form)
    write_log(path, WORD, format=form, period=0.1)
    assert read_log(path, topic='private_region') == [
        (i * 10**8, symbol) for i, symbol in enumerate(WORD)]


@bags
def test_rosbags_reads_what_was_written(tmp_path, form):
    write_log(tmp_path / 'bag', WORD, format=form, period=2)
    with AnyReader([tmp_path / 'bag']) as reader:
        connection, = reader.connections
        assert (connection.topic, connection.msgtype) == ('/private_region', 'std_msgs/msg/String')
        assert reader.message_count == len(WORD)
        assert reader.duration == 8 * 10**9 + 1 and reader.start_time == 0
        read = [(stamp, reader.deserialize(data, connection.msgtype).data)
                for connection, stamp, data in reader.messages()]
    assert read == [(2 * i * 10**9, symbol) for i, symbol in enumerate(WORD)]


def test_plain_text(tmp_path):
    write_log(tmp_path / 'a.csv', WORD[:3], format='csv', period=0.5)
    assert (tmp_path / 'a.csv').read_text() == (
        'stamp,symbol\n0.0,dock\n0.5,aisle_1\n1.0,aisle_1\n')
    write_log(tmp_path / 'b.csv', WORD, format='csv', stamp_key='t, s', symbol_key='region')
    with open(tmp_path / 'b.csv', newline='') as file:
        assert [row['region'] for row in csv.DictReader(file)] == WORD
    write_log(tmp_path / 'a.jsonl', WORD[:2], format='jsonl', period=0.5)
    assert (tmp_path / 'a.jsonl').read_text() == (
        '{"stamp": 0.0, "symbol": "dock"}\n{"stamp": 0.5, "symbol": "aisle_1"}\n')
    write_log(tmp_path / 'b.jsonl', WORD, format='jsonl', symbol_key='region')
    assert [json.loads(line)['region'] for line in (tmp_path / 'b.jsonl').open()] == WORD


@pytest.mark.parametrize('library', rosbag.LIBRARIES, ids=['rosbag2_py', 'rosbags'])
def test_the_bytes_of_a_symbol(library):
    """Of rclpy, up to three bytes of its memory would follow."""
    if library is with_rosbag2:
        pytest.importorskip('rclpy')
    for message_type, symbol, expected in (
            ('std_msgs/msg/String', 'dock', b'\5\0\0\0dock\0'),
            ('std_msgs/msg/UInt8', '200', b'\xc8'), ('std_msgs/msg/Int16', '-2', b'\xfe\xff')):
        assert rosbag._serialized([symbol], library.fields(message_type), message_type) == {
            symbol: b'\0\1\0\0' + expected}


@bags
@pytest.mark.parametrize('message_type', ['std_msgs/msg/UInt8', 'std_msgs/msg/Int32'])
def test_integers(tmp_path, form, message_type):
    write_log(tmp_path / 'bag', ['0', '7', '7'], format=form, message_type=message_type,
              topic='/fleet/mode')
    read = read_log(tmp_path / 'bag', topic='fleet/mode', message_type=message_type)
    assert [symbol for _, symbol in read] == ['0', '7', '7']
    for word in (['0', 'dock'], ['256'] if message_type.endswith('UInt8') else [str(2**31)]):
        with refused(LogError, 'does not fit', path=tmp_path / 'other', __context__=None):
            write_log(tmp_path / 'other', word, format=form, message_type=message_type)
        assert not (tmp_path / 'other').exists()


@every
def test_equal_words_give_equal_bytes_wherever_they_are_written(tmp_path, form):
    """No name, no time, no randomness: nothing but the word, the period and the topic."""
    (tmp_path / 'patrol_2024-05-17').mkdir()
    paths = [tmp_path / 'one', tmp_path / 'patrol_2024-05-17' / 'rosbag2_2024_05_17-22_14_03']
    for path in paths:
        write_log(path, WORD, format=form)
    assert content(paths[0]) == content(paths[1])
    for path in [*paths, *(file for path in paths if path.is_dir() for file in path.iterdir())]:
        assert path.stat().st_mtime_ns == 0


@bags
def test_metadata(tmp_path, form):
    write_log(tmp_path / 'bag', WORD, format=form, period=3)
    assert sorted(content(tmp_path / 'bag')) == [
        'metadata.yaml', 'private_0.db3' if form == 'sqlite3' else 'private_0.mcap']
    info = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text())
    info = info['rosbag2_bagfile_information']
    assert info['starting_time'] == {'nanoseconds_since_epoch': 0}
    assert info['duration'] == {'nanoseconds': 12 * 10**9}
    assert info['message_count'] == 5 and len(info['topics_with_message_count']) == 1
    assert info['files'][0]['path'] == info['relative_file_paths'][0]


@pytest.mark.parametrize('settings', [
    {'format': 'bag'}, {'period': 0}, {'period': float('nan')}, {'period': -1},
    *({'format': form, 'message_type': kind} for form in ('sqlite3', 'mcap')
      for kind in ('std_msgs/msg/Float64', 'std_msgs/msg/Header', 'no_msgs/msg/Type', 'x'))])
def test_settings_that_are_not_valid(tmp_path, settings):
    with pytest.raises(ConfigurationError):
        write_log(tmp_path / 'x', WORD, **{'format': 'csv', **settings})
    assert list(tmp_path.iterdir()) == []


@every
@pytest.mark.parametrize('word', [[], [None], [''], ['a\0b'], ['\ud800'], [3]])
def test_words_that_cannot_be_written(tmp_path, form, word):
    with pytest.raises(LogError):
        write_log(tmp_path / 'x', word, format=form)
    assert list(tmp_path.iterdir()) == []


@every
def test_nothing_is_overwritten(tmp_path, form):
    (tmp_path / 'x').write_text('mine')
    with refused(LogError, 'File exists', path=tmp_path / 'x'):
        write_log(tmp_path / 'x', WORD, format=form)
    assert (tmp_path / 'x').read_text() == 'mine'
    with refused(LogError, 'No such file', path=tmp_path / 'absent' / 'x'):
        write_log(tmp_path / 'absent' / 'x', WORD, format=form)


@every
@pytest.mark.parametrize('failing', ['fsync', 'utime'])
def test_a_full_disk(tmp_path, monkeypatch, form, failing):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with refused(LogError, 'No space left', path=tmp_path / 'x', __context__=None):
        write_log(tmp_path / 'x', WORD, format=form)
    assert list(tmp_path.iterdir()) == []


@every
def test_an_interruption(tmp_path, monkeypatch, form):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, 'fsync', interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_log(tmp_path / 'x', WORD, format=form)
    assert list(tmp_path.iterdir()) == []


IN_SMALL_FILES = """
import resource, signal
from symdp_ros.logs import LogError, write_log
import symdp_ros.logs.recordings.serialized, mcap.writer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def run(path, form):
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    try:
        write_log(path, ['dock'] * 5000, format=form)
    except LogError as error:
        return error.reason
"""


def test_a_write_that_really_fails(tmp_path):
    """The kernel refuses to let a file grow past 8 kB, in the middle of the data."""
    with forked(IN_SMALL_FILES) as run:
        for form in FORMATS:
            assert 'it cannot be written' in run(tmp_path / 'x', form)[1]
            assert list(tmp_path.iterdir()) == []


@every
def test_released_files_are_never_taken_for_logs(tmp_path, form):
    write_log(tmp_path / release_name('000001', form), WORD, format=form)
    assert list_logs(tmp_path).logs == () and list_logs(tmp_path).skipped == ()
