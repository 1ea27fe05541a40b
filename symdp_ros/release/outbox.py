# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The way into a release directory: nothing is seen there before it is charged, and nothing is
charged that is not handed out, whatever happens in between.

A release is made in a staging directory inside the release directory, and made durable; then its
charge is committed to the ledger, with its path and digest; then it is moved to its path, and the
directory is made durable. Who opens the directory next puts in its place what is staged and
charged, and deletes what is only staged.

One process at a time holds a directory, from its first look into it until it is done. So none
takes the staging directory of another for one that was left behind, and no two choose one name.
"""
from collections.abc import Callable, Iterable
from contextlib import contextmanager, suppress
import errno
import fcntl
from hashlib import sha256
import os
from pathlib import Path
import secrets
import shutil
import stat
import time

from symdp_ros.core.errors import ConfigurationError, LedgerError, SymdpError
from symdp_ros.core.printable import printable
from symdp_ros.logs.files import remove
from symdp_ros.release.ledger import Ledger, LedgerFile
from symdp_ros.release.naming import shorter, variant

_STAGING = '.staging-'
_LOCK = '.symdp_ros.lock'
_PART_BYTES = 1 << 20
_LEAST_ROOM = 1 << 20  # bytes that must be free before a charge, for entries of directories


class Outbox:
    """
    A release directory that this process holds, until it is closed.

    :param directory: an existing one.
    :param ledger: where releases are charged; None: they are not.
    :param wait: seconds to wait for another process that holds the directory.
    :param on_wait: called once, before waiting.
    :raises ConfigurationError: the directory is missing, cannot be written to, or is held by
        another process for longer.
    :raises LedgerError: the ledger cannot be read.
    """

    def __init__(self, directory, ledger: Ledger | None = None, *, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None):
        self.directory = Path(os.path.realpath(directory))
        self._ledger = ledger
        # Only the ledger that a staging directory belongs to can tell what in it is charged.
        self._prefix = f'{_STAGING}{ledger.id if ledger is not None else "free"}-'
        self._lock = _locked(self.directory, wait, on_wait)
        try:
            #: What was charged before and cannot be put in its place, one sentence for each.
            self.problems = tuple(self._recover())
            self._staging = self.directory / f'{self._prefix}{secrets.token_hex(8)}'
            with _directory_errors(self.directory):
                os.mkdir(self._staging, 0o700)
                flush(self.directory)
        except BaseException:
            self._lock.close()
            raise

    def close(self) -> None:
        """Delete what is staged, but for what is charged; let other processes in."""
        try:
            self._discard(self._staging)
        finally:
            self._lock.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def check(self, names: Iterable[str]) -> None:
        """
        Check, before anything is charged, that what is staged can be put in its place.

        :param names: those that are wanted; where one is taken, it will be some bytes longer.
        :raises ConfigurationError: a name that the file system does not take; too little room.
        """
        for name in names:
            probe, problem = self._staging / f'{name}~000000', None
            try:
                os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                os.unlink(probe)
            except OSError as error:
                problem = error.strerror
            if problem is not None:
                raise ConfigurationError(
                    f'{printable(name)} cannot be the name of a release here: {problem}: rename '
                    'the log, or name its release otherwise')
        room = os.statvfs(self._staging)
        if room.f_bavail * room.f_frsize < _LEAST_ROOM or room.f_files and not room.f_favail:
            raise ConfigurationError(f'there is hardly any room left in {self.directory}: nothing '
                                     'is charged; make room')

    @contextmanager
    def staged(self, suffix: str):
        """
        Give a path to make something ready at; afterwards what is still there is deleted.

        What is charged stays: it is put in its place at the next start.
        """
        path = self._staging / f'{secrets.token_hex(8)}{suffix}'
        try:
            yield path
        finally:
            if os.path.lexists(path) and not self._is_owed(path):
                remove(path)

    def publish(self, file: LedgerFile) -> Path:
        """
        Move a staged file to its path, or to another where that cannot be had; return the path.

        :param file: with the number 0, it is not in the ledger.
        :raises OSError: it cannot be moved; it stays where it is.
        """
        path = file.path
        while True:
            try:
                _move(file.staged, path)
                break
            except FileExistsError:
                if holds(path, file.digest):  # moved before a crash
                    break
                free = variant(path)
            except OSError as error:
                free = shorter(path)
                if error.errno != errno.ENAMETOOLONG or len(free.name) >= len(path.name):
                    raise
            if file.number:
                self._ledger.move(path, free)
            path = free
        flush(self.directory)
        if file.number:
            self._ledger.set_visible(path)
        return path

    def paths_of(self, files: Iterable[LedgerFile]) -> list[Path]:
        """
        Return where the files of a charge are, after those have been moved that wait here.

        :raises OSError: one cannot be moved.
        """
        return [self.publish(file) if not file.visible
                and file.staged.parent.parent == self.directory and holds(file.staged, file.digest)
                else file.path for file in files]

    def _recover(self):
        """Put what is staged and charged in its place; yield what stands against it."""
        left_behind = [path for path in sorted(self.directory.glob(f'{self._prefix}*'))
                       if _is_own_directory(path)]
        for file in self._ledger.files(hidden_only=True) if self._ledger is not None else ():
            try:
                if file.staged.parent in left_behind and os.path.lexists(file.staged):
                    if holds(file.staged, file.digest):
                        self.publish(file)
                    else:
                        yield (f'what was made ready for {printable(file.path.name)} is not what '
                               'was charged: release the log again')
                elif file.path.parent == self.directory and holds(file.path, file.digest):
                    self._ledger.set_visible(file.path)
            except (OSError, SymdpError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                yield (f'{printable(file.path.name)} is charged, and cannot be put in its place '
                       f'yet: {reason}')
        for path in left_behind:
            self._discard(path)

    def _discard(self, staging):
        """Delete a staging directory, unless something in it is charged."""
        if not self._is_owed(staging):
            shutil.rmtree(staging, ignore_errors=True)

    def _is_owed(self, path):
        """Return whether what is staged at a path, or in it, is, or may be, charged."""
        if self._ledger is None:
            return False
        try:
            files = self._ledger.files(hidden_only=True)
        except LedgerError:
            return True  # nobody can tell now
        return any(path in (file.staged, file.staged.parent) and os.path.lexists(file.staged)
                   for file in files)


def check_apart(ledger_path, release_dir) -> None:
    """
    Check that a ledger is, or would be, outside a release directory, and not itself a release.

    :raises ConfigurationError: it is inside.
    """
    if lies_within(ledger_path, release_dir):
        raise ConfigurationError(f'the ledger {ledger_path} is inside the release directory: keep '
                                 'it where no reader of releases can get at it')


def check_directories_apart(log_dir, release_dir) -> None:
    """
    Check that logs and releases are in directories of which neither holds the other.

    :raises ConfigurationError: one does, or they are one.
    """
    for inner, outer in ((log_dir, release_dir), (release_dir, log_dir)):
        if lies_within(inner, outer):
            raise ConfigurationError(f'log_dir {log_dir} and release_dir {release_dir} are not '
                                     'apart: one is, or lies inside, the other. Whoever may read '
                                     'releases must not get at the logs: take two directories')


def lies_within(path, directory) -> bool:
    """Return whether a path is a directory, or is, or would be, inside it; links are followed."""
    resolved, directory = (Path(os.path.realpath(each)) for each in (path, directory))
    return directory in (resolved, *resolved.parents)


def holds(path: Path, digest: str) -> bool:
    """Return whether a file or directory can be read and has this digest."""
    try:
        return digest_of(path) == digest
    except OSError:
        return False


def digest_of(path: Path) -> str:
    """
    Return a SHA-256 (hex) of a file, or of the names and contents of a directory's files.

    :raises OSError: one of them cannot be read, or is no regular file.
    """
    hashed = sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        name = os.fsencode(file.name) if path.is_dir() else b''
        with open(file, 'rb', opener=_open_regular) as content:
            size = os.fstat(content.fileno()).st_size
            hashed.update(len(name).to_bytes(8, 'big') + name + size.to_bytes(8, 'big'))
            while part := content.read(_PART_BYTES):
                hashed.update(part)
    return hashed.hexdigest()


def flush(path) -> None:
    """Make a file or directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_regular(path, flags, mode=0o600):
    """Open a regular file, without waiting for whoever should write into another kind of file."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, 'not a regular file', str(path))
    return descriptor


def _locked(directory, wait, on_wait):
    """Return the lock file of a directory, open and locked: who cannot write there cannot do it."""
    with _directory_errors(directory):
        if not directory.is_dir():
            os.listdir(directory)  # says what is wrong with it
        path, lock = directory / _LOCK, None
        try:
            lock = open(path, 'r+b', buffering=0, opener=lambda name, flags: _open_regular(
                name, flags | os.O_CREAT | os.O_NOFOLLOW))
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EINVAL, errno.ENXIO, errno.EISDIR):
                raise
        if lock is None:
            raise ConfigurationError(f'{path} is a link, or not a regular file, where the lock of '
                                     'the directory should be: remove it')
        try:
            _wait_for(lock, directory, wait, on_wait)
        except BaseException:
            lock.close()
            raise
    return lock


def _wait_for(lock, directory, wait, on_wait):
    until, waiting = time.monotonic() + wait, False
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if not time.monotonic() < until:
            raise ConfigurationError(f'another process is releasing into {directory}: try again '
                                     'when it is done')
        if not waiting:
            on_wait()
            waiting = True
        time.sleep(0.05)


@contextmanager
def _directory_errors(directory):
    problem = None
    try:
        yield
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise ConfigurationError(f'the release directory {directory} cannot be used: {problem}')


def _is_own_directory(path):
    """Return whether a path is a directory, and not a link, of this user."""
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and os.geteuid() in (0, status.st_uid)


def _move(source, target):
    """
    Move a file or directory to a path that is free.

    :raises FileExistsError: it is not free.
    """
    if os.path.lexists(target):
        raise FileExistsError(target)
    if source.is_dir():
        os.rename(source, target)
        return
    try:
        os.link(source, target)  # unlike a rename, this never replaces a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.rename(source, target)
        return
    os.unlink(source)
