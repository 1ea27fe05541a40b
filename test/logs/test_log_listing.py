# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The logs of a directory."""
import os
from pathlib import Path
import subprocess
import sys

import pytest
from refusals import refused
from symdp_ros.logs import list_logs, LogError, LogState, read_log, write_log

WORD = ['dock', 'aisle_1']


def names(directory):
    return [log.id for log in list_logs(directory).logs]


def test_every_kind(tmp_path):
    write_log(tmp_path / 'a_bag', WORD, format='sqlite3')
    write_log(tmp_path / 'b_bag', WORD, format='mcap')
    write_log(tmp_path / 'c.csv', WORD, format='csv')
    write_log(tmp_path / 'd.jsonl', WORD, format='jsonl')
    (tmp_path / 'e.mcap').write_bytes((tmp_path / 'b_bag' / 'private_0.mcap').read_bytes())
    (tmp_path / 'f.db3').write_bytes((tmp_path / 'a_bag' / 'private_0.db3').read_bytes())
    listing = list_logs(str(tmp_path))
    assert [log.id for log in listing.logs] == ['a_bag', 'b_bag', 'c.csv', 'd.jsonl', 'e.mcap',
                                                'f.db3']
    assert listing.skipped == ()
    for log in listing.logs:
        assert [value for _, value in read_log(log.path, topic='private_region')] == WORD


def test_what_is_no_log(tmp_path):
    for name in ('.hidden.csv', 'notes.txt', 'a.csv~', 'b.csv.tmp', 'c.jsonl.part', '.d.csv.swp',
                 'e.private.csv', 'f.private.jsonl'):
        (tmp_path / name).write_text('')
    for name in ('folder', '.staging', 'g.private'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'log.csv').write_text('')
    assert names(tmp_path) == [] and list_logs(tmp_path).skipped == ()


def test_what_is_still_being_written(tmp_path):
    for form in ('sqlite3', 'mcap'):
        write_log(tmp_path / f'begun_{form}', WORD, format=form)
        (tmp_path / f'begun_{form}' / 'metadata.yaml').unlink()
        write_log(tmp_path / f'done_{form}', WORD, format=form)
    write_log(tmp_path / 'split', WORD, format='sqlite3')
    (tmp_path / 'split' / 'private_0.db3-wal').write_text('pages')
    (tmp_path / 'bare.db3').write_text('')
    (tmp_path / 'bare.db3-journal').write_text('pages')
    (tmp_path / 'bare.mcap').write_bytes(b'\x89MCAP0\r\n')
    listing = list_logs(tmp_path)
    assert [log.id for log in listing.logs] == ['done_mcap', 'done_sqlite3']
    assert [log.name for log in listing.skipped] == ['bare.db3', 'bare.mcap', 'begun_mcap',
                                                     'begun_sqlite3', 'split']
    assert {log.state for log in listing.skipped} == {LogState.RECORDING}
    assert all('still being recorded' in log.reason for log in listing.skipped)


def test_archives_are_skipped(tmp_path):
    for name in ('b.parquet', 'C.PARQUET', 'd.private.parquet', '.e.parquet', 'f\n.parquet'):
        (tmp_path / name).write_bytes(b'PAR1')
    listing = list_logs(tmp_path)
    assert [(log.name, log.state) for log in listing.skipped] == [
        (name, LogState.ARCHIVE) for name in ('C.PARQUET', 'b.parquet', r'f\n.parquet')]
    assert listing.logs == () and 'is released alone' in listing.skipped[0].reason


def test_an_empty_journal_is_none(tmp_path):
    write_log(tmp_path / 'bag', WORD, format='sqlite3')
    (tmp_path / 'bag' / 'private_0.db3-journal').write_text('')
    assert names(tmp_path) == ['bag']


def test_a_recording_cut_off_is_listed_and_says_so(tmp_path):
    write_log(tmp_path / 'bag', WORD, format='mcap')
    file = tmp_path / 'bag' / 'private_0.mcap'
    file.write_bytes(file.read_bytes()[:-10])
    log, = list_logs(tmp_path).logs
    with refused(LogError, 'cut off', path=log.path):
        read_log(log.path, topic='private_region')


@pytest.mark.parametrize('name, shown', [
    (b'a\nb.csv', r'a\nb.csv'), (b'\x1b[2Ja.csv', r'\x1b[2Ja.csv'), (b'\xff.csv', r'\xff.csv'),
    ('\u202evsc.csv'.encode(), r'\u202evsc.csv'), ('a\u2028b.jsonl'.encode(), r'a\u2028b.jsonl')])
def test_names_that_cannot_be_printed(tmp_path, name, shown):
    with open(os.fsencode(tmp_path) + b'/' + name, 'w') as file:
        file.write('stamp,symbol\n1.0,dock\n')
    listing = list_logs(tmp_path)
    skipped, = listing.skipped
    assert listing.logs == () and skipped.name == shown and 'rename it' in skipped.reason
    assert skipped.state is LogState.UNUSABLE


def test_a_backslash_is_a_character_like_any_other(tmp_path):
    folder = tmp_path / r'a\b'
    folder.mkdir()
    for form in ('csv', 'sqlite3', 'mcap'):
        write_log(folder / (rf'c\d.{form}'), WORD, format=form)
    write_log(folder / r'e\n', WORD, format='sqlite3')
    listing = list_logs(folder)
    assert listing.skipped == ()
    assert [log.id for log in listing.logs] == [r'c\d.csv', r'c\d.mcap', r'c\d.sqlite3', r'e\n']
    for log in listing.logs:
        assert [value for _, value in read_log(log.path, topic='private_region')] == WORD


def test_directories_that_cannot_be_listed(tmp_path):
    (tmp_path / 'file').write_text('')
    for name, reason in (('absent', 'No such file'), ('file', 'Not a directory')):
        with refused(LogError, reason, path=tmp_path / name, __context__=None):
            list_logs(tmp_path / name)
    write_log(tmp_path / 'bag', WORD, format='mcap')
    with refused(LogError, 'itself a recording', path=tmp_path / 'bag'):
        list_logs(tmp_path / 'bag')


def test_neither_ros_nor_a_library_of_recordings_is_imported_for_other_logs(tmp_path):
    """So that text logs need neither, and a recording says what to install."""
    write_log(tmp_path / 'log.csv', WORD, format='csv')
    write_log(tmp_path / 'bag', WORD, format='sqlite3')
    script = f"""
import sys
for name in ('rosbags', 'mcap', 'zstandard', 'lz4', 'rosbag2_py', 'rclpy', 'ament_index_python'):
    sys.modules[name] = None
from symdp_ros.logs import LogError, list_logs, read_log, write_log
assert [log.id for log in list_logs({str(tmp_path)!r}).logs] == ['bag', 'log.csv']
print(read_log({str(tmp_path / 'log.csv')!r})[0])
for act in (lambda: read_log({str(tmp_path / 'bag')!r}),
            lambda: write_log({str(tmp_path / 'new')!r}, ['a'], format='mcap')):
    try:
        act()
    except LogError as error:
        print(error.reason)
"""
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          cwd=Path(__file__).resolve().parents[2], check=False)
    read, *reasons = done.stdout.splitlines()
    assert read == "(0, 'dock')", done.stderr
    assert reasons == [
        'recordings need rosbag2_py, which belongs to ROS 2, or the Python packages rosbags and '
        "mcap: source a ROS 2 that has it, or pip install 'symdp_ros[bags]'"] * 2
    assert not (tmp_path / 'new').exists()


def test_errors_quote_names_as_they_can_be_printed(tmp_path):
    with pytest.raises(LogError) as caught:
        read_log(tmp_path / 'a\x1b[2J\nb.csv')
    assert caught.value.path.name == 'a\x1b[2J\nb.csv'
    assert str(caught.value) == rf'{tmp_path}/a\x1b[2J\nb.csv: there is no such file'
    with pytest.raises(LogError) as caught:
        read_log(f'{tmp_path}/{"d/" * 1500}a.csv')
    assert len(str(caught.value)) < 1500
