# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A release directory is held by one process, and what is charged gets into its place."""
from contextlib import ExitStack, nullcontext, suppress
import errno
from fractions import Fraction
import os
from pathlib import Path
import socket
import stat
import subprocess
import sys

import pytest
from release_settings import release_settings
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.files.durable import make_directory
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.logs import LogFile
from symdp_ros.release import outbox
from symdp_ros.release.outbox import digest_of, holds, Outbox
from symdp_ros.release.session import Releaser

ROOT = Path(__file__).resolve().parents[2]
LOCK = '.symdp_ros.lock'
CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


@pytest.fixture
def releases(tmp_path):
    (tmp_path / 'releases').mkdir()
    return tmp_path / 'releases'


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / 'robots.ledger') as ledger:
        yield ledger


def visible(directory):
    return sorted(name for name in os.listdir(directory) if not name.startswith('.'))


def started(releases, ledger):
    """Return an outbox that has done what it does at its start, and is closed."""
    with Outbox(releases, ledger) as box:
        return box


def charge(box, ledger, log_id, name, content='abc'):
    """Stage and charge a release as a process does that is killed before it moves it."""
    with box.staged('.private.csv') as path:
        path.write_text(content)
        ledger.charge('r1', Loss(Fraction(1), 1, 'message'), log_id=log_id, settings='s',
                      description='{}', words=[['a']],
                      files=[LedgerFile(0, box.directory / name, path, digest_of(path), False)])


def test_one_process_at_a_time_holds_a_directory(releases):
    told = []
    first = Outbox(releases)
    with pytest.raises(ConfigurationError, match='another process is releasing into'):
        Outbox(releases, wait=0.2, on_wait=lambda: told.append(1))
    assert told == [1]
    first.close()
    Outbox(releases, on_wait=lambda: told.append(2)).close()
    assert told == [1] and os.listdir(releases) == [LOCK]


def test_who_waits_goes_on_when_the_other_is_killed(releases):
    holder = subprocess.Popen(
        [sys.executable, '-c', 'import sys\nfrom symdp_ros.release.outbox import Outbox\n'
         'box = Outbox(sys.argv[1])\nprint("held", flush=True)\nsys.stdin.read()', releases],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert holder.stdout.readline() == b'held\n'
    Outbox(releases, wait=60.0, on_wait=holder.kill).close()
    holder.communicate()
    assert os.listdir(releases) == [LOCK]  # what the killed one had begun is gone


@pytest.mark.parametrize('kind', ['link', 'dangling link', 'pipe', 'directory', 'socket'])
def test_a_lock_that_is_no_file_is_neither_followed_nor_waited_for(releases, tmp_path, kind):
    other = tmp_path / 'other'
    if kind == 'link':
        other.write_text('mine')
    if 'link' in kind:
        (releases / LOCK).symlink_to(other)
    elif kind == 'pipe':
        os.mkfifo(releases / LOCK)
    elif kind == 'directory':
        (releases / LOCK).mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as place:
            place.bind(str(releases / LOCK))
    with pytest.raises(ConfigurationError, match='link, or not a regular file.*remove it'):
        Outbox(releases)
    assert not other.exists() or kind == 'link' and other.read_text() == 'mine'


@pytest.mark.parametrize('kind, reason', [
    ('nothing', 'No such file or directory'), ('file', 'Not a directory'),
    ('link to itself', 'Too many levels of symbolic links')])
def test_what_is_no_directory_cannot_be_held(tmp_path, kind, reason):
    path = tmp_path / kind
    if kind == 'file':
        path.touch()
    elif kind != 'nothing':
        path.symlink_to(path)
    with pytest.raises(ConfigurationError, match=f'cannot be used: {reason}'):
        Outbox(path)


def test_a_staging_name_that_is_no_directory_is_left_alone(releases, tmp_path):
    other = tmp_path / 'other'
    other.mkdir()
    (other / 'file').write_text('mine')
    (releases / '.staging-free-link').symlink_to(other)
    os.mkfifo(releases / '.staging-free-pipe')
    Outbox(releases).close()
    assert (other / 'file').read_text() == 'mine'
    assert sorted(os.listdir(releases)) == ['.staging-free-link', '.staging-free-pipe', LOCK]


def test_who_still_writes_into_what_is_deleted_leaves_nothing(releases, monkeypatch):
    """A worker of a cluster whose driver was killed."""
    attempts = releases / '.staging-free-0' / '0.attempts'
    attempts.mkdir(parents=True)
    real = outbox.shutil.rmtree

    def late(path, **more):
        with pytest.raises(FileNotFoundError):
            (attempts / 'late').touch()
        real(path, **more)

    monkeypatch.setattr(outbox.shutil, 'rmtree', late)
    Outbox(releases).close()
    assert os.listdir(releases) == [LOCK]


def test_a_pipe_is_no_release(releases):
    os.mkfifo(releases / 'pipe')
    assert not holds(releases / 'pipe', 'x') and not holds(releases / 'nowhere', 'x')
    with pytest.raises(OSError, match='not a regular file'):
        digest_of(releases / 'pipe')


def test_one_release_that_cannot_be_moved_does_not_stop_the_others(releases, ledger, monkeypatch):
    box = Outbox(releases, ledger)
    for name in ('a', 'b', 'c'):
        charge(box, ledger, name, f'{name}.csv', name)
    box.close()
    real = outbox.move

    def move(source, target):
        if target.name.startswith('b'):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target)

    monkeypatch.setattr(outbox, 'move', move)
    for _ in range(2):
        box = Outbox(releases, ledger)
        assert box.problems == (
            'b.csv is charged, and cannot be moved to its path yet: Input/output error',)
        box.close()
        assert visible(releases) == ['a.csv', 'c.csv']
    monkeypatch.undo()
    box = started(releases, ledger)
    assert box.problems == () and visible(releases) == ['a.csv', 'b.csv', 'c.csv']
    assert all(file.visible for file in ledger.files.all())
    assert sorted(os.listdir(releases))[0] == LOCK


@pytest.mark.parametrize('letter, kept', [('ä', 50), ('x', 100)])
def test_a_charged_release_whose_name_is_too_long_gets_a_short_one(releases, ledger, letter, kept):
    box = Outbox(releases, ledger)
    charge(box, ledger, 'long', letter * 250 + '.private.csv')
    box.close()
    box = started(releases, ledger)
    [name] = visible(releases)
    assert box.problems == () and name.endswith('.private.csv')
    assert name.startswith(letter * kept + '~')
    [file] = ledger.files.all()
    assert file.visible and file.path == releases / name


@pytest.mark.parametrize('number', [errno.EIO, errno.ENAMETOOLONG])
def test_a_release_stays_staged_where_it_cannot_be_moved(releases, ledger, monkeypatch, number):
    """A disk that fails, and a file system that allows no name at all."""
    box = Outbox(releases, ledger)
    charge(box, ledger, 'long', 'x' * 200 + '.private.csv')
    box.close()

    def move(source, target):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(outbox, 'move', move)
    box = started(releases, ledger)
    [problem], [file] = box.problems, ledger.files.all()
    assert problem.endswith(f'cannot be moved to its path yet: {os.strerror(number)}')
    assert (len(file.path.name) == 212) == (number == errno.EIO)
    assert file.staged.exists() and not file.visible


def test_a_hundred_moves_are_noted_together(releases, ledger):
    with Outbox(releases, ledger) as box, ExitStack() as stack:
        paths = [stack.enter_context(box.staged('.csv')) for _ in range(100)]
        for path in paths:
            path.write_text(path.name)
        ledger.charge('r1', Loss(Fraction(1), 1, 'message'), log_id='a', settings='s',
                      description='{}', words=[['a']],
                      files=[LedgerFile(0, releases / path.name, path, digest_of(path), False)
                             for path in paths])
        *files, last = ledger.files.hidden()
        for file in files:
            box.publish(file)
        assert len(visible(releases)) == 99 and len(ledger.files.hidden()) == 100
        box.publish(last)
        assert len(visible(releases)) == 100 and ledger.files.hidden() == []


def test_nobody_else_looks_into_what_is_staged(releases):
    with Outbox(releases):
        [staging] = releases.glob('.staging-*')
        assert stat.S_IMODE(staging.stat().st_mode) == 0o700
        assert stat.S_IMODE((releases / LOCK).stat().st_mode) == 0o600


def test_what_another_user_left_behind_is_left_alone_but_by_root(releases, monkeypatch):
    left = releases / '.staging-free-0'
    left.mkdir()
    with suppress(OSError):  # only root can; in a namespace of its own it has no other users
        os.chown(left, 12345, -1)
    for user, names in ((left.stat().st_uid + 1, [left.name, LOCK]), (0, [LOCK])):
        monkeypatch.setattr(os, 'geteuid', lambda user=user: user)
        Outbox(releases).close()
        assert sorted(os.listdir(releases)) == names


def test_a_release_of_another_directory_stays_there(tmp_path, releases, ledger):
    """Both have the same ledger."""
    (tmp_path / 'others').mkdir()
    other = Outbox(tmp_path / 'others', ledger)
    charge(other, ledger, 'a', 'a.csv')
    other.close()
    with Outbox(releases, ledger) as box:
        [file] = ledger.files.all()
        assert box.problems == () and box.paths_of([file]) == [file.path]
        assert file.staged.exists() and not file.visible and visible(tmp_path / 'others') == []
    assert os.listdir(releases) == [LOCK]


@pytest.mark.parametrize('content', ['abc', 'something else'])
def test_what_was_moved_before_a_crash_is_noted(releases, ledger, content):
    box = Outbox(releases, ledger)
    charge(box, ledger, 'a', 'a.csv')
    box.close()
    [file] = ledger.files.all()
    file.staged.unlink()
    file.path.write_text(content)
    box = started(releases, ledger)
    [file] = ledger.files.all()
    assert box.problems == () and file.visible == (content == 'abc')
    assert sorted(os.listdir(releases)) == [LOCK, 'a.csv']


def test_a_release_that_is_equal_is_found(releases):
    with Outbox(releases) as box, box.staged('.csv') as path:
        path.write_text('abc')
        (releases / '.hidden').write_text('abc')
        (releases / 'as long').write_text('abd')
        (releases / 'longer').write_text('abcd')
        assert box.equal(path, digest_of(path)) is None
        (releases / 'same').write_text('abc')
        assert box.equal(path, digest_of(path)) == releases / 'same'


def test_what_is_staged_stays_where_the_ledger_cannot_be_read(releases, ledger):
    box = Outbox(releases, ledger)
    charge(box, ledger, 'a', 'a.csv')
    [file] = ledger.files.all()
    ledger.close()
    box.close()
    assert file.staged.read_text() == 'abc'


def test_it_closes_where_what_was_staged_is_gone(releases):
    with Outbox(releases):
        [staging] = releases.glob('.staging-*')
        staging.rmdir()
    assert os.listdir(releases) == [LOCK]


def test_directories_are_made(tmp_path):
    for _ in range(2):
        make_directory(tmp_path / 'a' / 'b')
    assert (tmp_path / 'a' / 'b').is_dir()
    (tmp_path / 'file').touch()
    with pytest.raises(ConfigurationError, match='cannot be made: Not a directory'):
        make_directory(tmp_path / 'file' / 'c')


def test_what_was_changed_after_its_charge_is_not_handed_out(releases, ledger):
    box = Outbox(releases, ledger)
    charge(box, ledger, 'a', 'a.csv')
    box.close()
    [file] = ledger.files.all()
    file.staged.write_text('something else')
    box = started(releases, ledger)
    assert visible(releases) == [] and 'is not what was charged' in box.problems[0]


def test_it_is_known_before_that_a_name_will_not_do(releases):
    box = Outbox(releases)
    box.check(['x' * 240, 'é' * 120])
    for name in ('x' * 256, 'x' * 250, 'é' * 126):  # 250: too long where another one is there
        with pytest.raises(ConfigurationError, match='cannot be the name of a release here: File '
                                                     'name too long'):
            box.check(['fine', name])
    box.close()


def test_it_is_known_before_that_there_is_no_room(releases, monkeypatch):
    box, real = Outbox(releases), os.statvfs
    values = list(real(releases))
    for i in (4, 7):  # f_bavail, f_favail
        full = list(values)
        full[5] = max(full[5], 1)
        full[i] = 0
        monkeypatch.setattr(os, 'statvfs', lambda path, full=full: os.statvfs_result(full))
        with pytest.raises(ConfigurationError, match='hardly any space .* nothing is charged'):
            box.check(['fine'])
    for blocks in (255, 256):  # of 4096 bytes
        enough = list(values)
        enough[1], enough[4], enough[7] = 4096, blocks, 1
        monkeypatch.setattr(os, 'statvfs', lambda path, enough=enough: os.statvfs_result(enough))
        with (nullcontext() if blocks == 256 else pytest.raises(ConfigurationError)):
            box.check(['fine'])
    monkeypatch.undo()
    box.close()


def test_nothing_is_charged_for_a_name_that_is_too_long(tmp_path, releases, ledger):
    log = tmp_path / ('x' * 246 + '.csv')
    log.write_text('stamp,symbol\n0,a\n1,b\n')
    settings = release_settings(CHAIN, Privacy(1.0), mechanism='causal', keep_names=True)
    with Releaser(settings, releases, ledger=ledger, subject='r1') as releaser:
        outcome = releaser.release(LogFile(log.name, log))
    assert outcome.kind == 'failed' and 'File name too long: rename the log' in outcome.reason
    assert ledger.charges() == [] and visible(releases) == []
    with Releaser(release_settings(CHAIN, Privacy(1.0), mechanism='causal'), releases,
                  ledger=ledger, subject='r1') as releaser:
        assert releaser.problems == ()
        assert releaser.release(LogFile(log.name, log)).kind == 'released'


def test_nothing_is_charged_for_an_output_whose_name_is_too_long(walks):
    walks.archive([('r1', 'abbcc')])
    outcome = walks.release(output=walks.output.with_name('x' * 240 + '.parquet'))
    assert outcome.kind == 'released', outcome.reason
    walks.archive([('r1', 'abbcc')], path=walks.base / 'other.parquet')
    outcome = walks.release(output=walks.output.with_name('y' * 247 + '.parquet'),
                            path=walks.base / 'other.parquet')
    assert outcome.kind == 'failed' and 'File name too long' in outcome.reason
    assert walks.spent() == 1 and len(walks.visible()) == 1


def test_nothing_is_charged_where_there_is_no_room(tmp_path, releases, ledger, monkeypatch):
    log = tmp_path / 'day.csv'
    log.write_text('stamp,symbol\n0,a\n1,b\n')
    monkeypatch.setattr(outbox, '_LEAST_ROOM', 1 << 70)
    with Releaser(release_settings(CHAIN, Privacy(1.0), mechanism='causal'), releases,
                  ledger=ledger, subject='r1') as releaser:
        outcome = releaser.release(LogFile(log.name, log))
    assert outcome.kind == 'failed' and 'hardly any space' in outcome.reason
    assert ledger.charges() == [] and os.listdir(releases) == [LOCK]


def test_what_waits_in_this_directory_is_moved_when_its_log_is_asked_for(releases, ledger):
    box = Outbox(releases, ledger)
    charge(box, ledger, 'a', 'a.csv')
    for _ in range(2):
        assert [path.name for path in box.paths_of(ledger.files.all())] == ['a.csv']
        box.sync_moved()
    box.close()
    assert visible(releases) == ['a.csv'] and ledger.files.all()[0].visible


def test_a_copy_is_not_in_the_ledger(releases, ledger):
    box = Outbox(releases, ledger)
    for _ in range(2):
        with box.staged('.csv') as path:
            path.write_text('abc')
            box.publish(LedgerFile(0, releases / 'copy.csv', path, digest_of(path), True))
    box.close()
    assert visible(releases) == ['copy.csv'] and ledger.files.all() == []
