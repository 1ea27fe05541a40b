# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Moving releases into their directory, in an order that survives a crash.

Nothing is visible there before it is charged, and nothing is charged that is not released. A
release is written into a staging directory inside the release directory, and made durable; then
its charge is committed to the ledger, with its path and digest; then it is moved to its path, and
the directory is made durable. The next process that opens the directory moves what is staged and
charged, and deletes what is only staged.

One process at a time holds a directory. So no process takes the staging directory of another for
one that was left behind, and no two choose the same name.
"""
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, ExitStack, suppress
from dataclasses import replace
import errno
import fcntl
from functools import partial
from hashlib import sha256
from io import FileIO
import os
from pathlib import Path
import secrets
import shutil
import stat
import time

from symdp_ros.errors import ConfigurationError, LedgerError, printable, raising, SymdpError
from symdp_ros.files.closable import Closable
from symdp_ros.files.durable import files_in, flush, make_durable, move
from symdp_ros.ledger.entry import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.logs import release_name
from symdp_ros.logs.log_files import remove, SUFFIXES
from symdp_ros.release.draft import Draft, Stage
from symdp_ros.release.settings import WritingSettings

_MARKER = '.private'  # of the names that `release_name` makes
_SHORT = 100           # bytes of a name that every file system allows
_STAGING = '.staging-'
_LOCK = '.symdp_ros.lock'
_PART_BYTES = 1 << 20
_MOST_MOVED = 100    # files, before it is made durable that they were moved
_LEAST_ROOM = 1 << 20  # bytes that must be free before a charge, for entries of directories


class Outbox(Closable):
    """
    Where releases go: a directory that this process holds until it is closed.

    :param directory: an existing one.
    :param ledger: where releases are charged; None: they are not charged.
    :param name: what the operator has named a single release, which the ledger does not store: it
        is handed out again where a copy is found. '': releases of logs are named by `writing`, and
        handed out again from the words in the ledger.
    :param rewrite_missing: write an earlier release once more if its file is not in the directory.
    :param wait: seconds to wait for another process that holds the directory.
    :param on_wait: called once, before waiting.
    :raises ConfigurationError: the directory is missing, cannot be written to, or is held by
        another process for longer.
    :raises LedgerError: the ledger cannot be read.
    """

    def __init__(self, directory: str | Path, ledger: Ledger | None = None, *, name: str = '',
                 writing: WritingSettings = WritingSettings(), rewrite_missing: bool = False,
                 wait: float = 10.0, on_wait: Callable[[], None] = lambda: None):
        self.directory = Path(os.path.realpath(directory))
        self._ledger, self._name = ledger, name
        self._writing, self._rewrite_missing = writing, rewrite_missing
        self._last = 0  # the last number that was given
        # Staging folders carry the ledger id: another ledger must not clean them up.
        self._prefix = f'{_STAGING}{ledger.id if ledger is not None else "free"}-'
        self._lock = _locked(self.directory, wait, on_wait)
        self._moved: list[tuple[Path, bool]] = []  # and whether they are charged
        self._fits = ''  # the last name that the file system was found to allow
        try:
            #: What was charged and cannot be moved to its path, one sentence for each.
            self.problems = tuple(self._recover())
            self._staging = self.directory / f'{self._prefix}{secrets.token_hex(8)}'
            with _using(self.directory):
                os.mkdir(self._staging, 0o700)
                flush(self.directory)
        except BaseException:
            self._lock.close()
            raise

    def close(self) -> None:
        """Delete what is staged and not charged; release the directory."""
        try:
            self.sync_moved()
            self._discard(self._staging)
        finally:
            self._lock.close()

    def check_free(self, own: Path | None = None) -> None:
        """
        Check, before anything is read, that a name is not taken, nor promised.

        :param own: the path of the same release.
        :raises ConfigurationError: it is.
        """
        path = self.directory / self._name
        if self._name and os.path.lexists(path):
            raise ConfigurationError(f'{printable(path)} exists already: name another path for '
                                     'the release')
        if self._name and self._ledger is not None and path != own \
                and self._ledger.files.has_path(path):
            raise ConfigurationError(f'{printable(path)} is in the ledger as the path of another '
                                     'release: name another one')

    def names(self, log_id: str, files: int, number: int = 1) -> list[str]:
        """Return the wanted names of so many files: after the log, or one number for all."""
        if self._name:
            return [self._name]
        stem = f'{number:06d}'
        if self._writing.keep_names:
            stem = next((log_id.removesuffix(suffix) for suffix in SUFFIXES
                         if log_id.endswith(suffix)), log_id)
        return [release_name(f'{stem}-part{part + 1}' if files > 1 else stem, self._writing.format)
                for part in range(files)]

    def stage(self, draft: Draft, stack: ExitStack) -> None:
        """
        Draw a release into the staging directory, and check that it can be moved to its path.

        There must be room for whatever may be drawn: a draw that does not fit would be made again,
        without a charge, and only small ones would be released.

        :param stack: with it, what is staged and not charged is deleted.
        :raises ConfigurationError: a name that the file system does not allow; too little space.
        """
        self._check_room(draft.most_bytes)
        self._write(draft, draft.draw, stack)
        self.check(self.names(draft.log_id, len(draft.files)))

    def _write(self, draft: Draft, write: Callable[[Stage], Iterable[Path]],
               stack: ExitStack) -> None:
        paths = write(lambda suffix: stack.enter_context(self.staged(suffix)))
        draft.files = [LedgerFile(0, Path(), path, digest_of(path), False) for path in paths]

    def check(self, names: Iterable[str]) -> None:
        """
        Check, before anything is charged, that what is staged can be moved to its path.

        :param names: the wanted names; a name that is taken becomes some bytes longer.
        :raises ConfigurationError: a name that the file system does not allow; too little space.
        """
        for name in names:
            if name == self._fits:  # as numbered releases are named
                continue
            probe = self._staging / f'{name}~000000'
            with raising(lambda problem: ConfigurationError(
                    f'{problem}: rename the log, or choose another name for its release'),
                    f'{printable(name)} cannot be the name of a release here', OSError):
                os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                os.unlink(probe)
            self._fits = name
        self._check_room()

    def _check_room(self, size: int = 0) -> None:
        """
        Check that so many bytes, and the entries of directories, find room.

        :raises ConfigurationError: they do not.
        """
        room = os.statvfs(self._staging)
        if room.f_bavail * room.f_frsize < size + _LEAST_ROOM or (
                room.f_files and not room.f_favail):
            raise ConfigurationError(f'there is hardly any space left in {self.directory}: '
                                     'nothing is charged; free some space')

    @contextmanager
    def staged(self, suffix: str) -> Iterator[Path]:
        """
        Give a path to write to; afterwards what is still there is deleted.

        What is charged stays: the next start moves it to its path.
        """
        path = self._staging / f'{secrets.token_hex(8)}{suffix}'
        try:
            yield path
        finally:
            if os.path.lexists(path) and not self._may_be_charged(path):
                remove(path)

    def place(self, drafts: Iterable[Draft]) -> None:
        """
        Make the staging directory durable; give what is staged paths not taken, nor promised.

        Then it can be charged.

        :raises ConfigurationError: that is not possible.
        """
        with _using(self.directory):
            flush(self._staging)
        taken, number = set[Path](), self._last
        numbered = not (self._name or self._writing.keep_names)
        if numbered and self._ledger is not None:
            # Counted in this directory: the ledger's own numbers depend on other subjects.
            number = self._ledger.files.charges_in(self.directory)
        for draft in drafts:
            placed, number = list[LedgerFile](), number + 1
            for part, file in enumerate(draft.files):
                path = self.directory / self.names(draft.log_id, len(draft.files), number)[part]
                while not self._name and (
                        path in taken or os.path.lexists(path)
                        or self._ledger is not None and self._ledger.files.has_path(path)):
                    number += numbered
                    path = path.with_name(self.names(draft.log_id, len(draft.files), number)[part]
                                          ) if numbered else _variant(path)
                taken.add(path)
                placed.append(replace(file, path=path))
            draft.files = placed
        self._last = number

    def publish(self, file: LedgerFile) -> Path:
        """
        Move a staged file to its path, or to another if that is taken or too long; return it.

        `sync_moved` is to be called later, after several files; `close` does so, too.

        :param file: one with the number 0 is not in the ledger.
        :raises OSError: it cannot be moved; it stays where it is.
        """
        path, ledger = file.path, self._ledger if file.number else None
        while True:
            try:
                move(file.staged, path)
                break
            except FileExistsError:
                if holds(path, file.digest):  # moved before a crash
                    break
                free = _variant(path)
            except OSError as error:
                free = _variant(path, short=True)
                if error.errno != errno.ENAMETOOLONG or len(free.name) >= len(path.name):
                    raise
            if ledger is not None:
                ledger.files.change(path, path=free)
            path = free
        self._moved.append((path, ledger is not None))
        if len(self._moved) >= _MOST_MOVED:
            self.sync_moved()
        return path

    def sync_moved(self) -> None:
        """
        Make durable, for all files at once, that they were moved, and note it in the ledger.

        After a crash before that, the next start finds them, charged, where they were or are.

        :raises ConfigurationError: the directory cannot be made durable.
        """
        if not self._moved:
            return
        with _using(self.directory):
            flush(self.directory)
        charged = [path for path, is_charged in self._moved if is_charged]
        if self._ledger is not None and charged:
            self._ledger.files.set_visible(*charged)
        self._moved.clear()

    def reuse(self, draft: Draft, charge: Entry) -> tuple[Path, ...]:
        """
        Return where a release is that was charged before; put it there if needed.

        :raises ConfigurationError: it is nowhere; or it is elsewhere, and the name is not free.
        """
        assert self._ledger is not None  # without one, no release is remembered
        files = self._ledger.files.of(charge.number)
        if self._name:
            return self._copied(*files),
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            with ExitStack() as stack:  # it was lost before it was moved to its path
                self._write_again(draft, charge, stack)
                for file, new in zip(files, draft.files, strict=True):
                    self._ledger.files.change(file.path, path=new.path, staged=new.staged,
                                              digest=new.digest, visible=False)
                return tuple(map(self.publish, self._ledger.files.of(charge.number)))
        paths = self.paths_of(files)
        if not self._rewrite_missing or not self._writing.keep.topics and all(
                path.parent == self.directory and path.exists() for path in paths):
            return tuple(paths)
        paths = []
        with ExitStack() as stack:  # once more, if possible to the path that the ledger has
            self._write_again(draft, charge, stack)
            for file, new in zip(files, draft.files, strict=True):
                same = file.path.parent == self.directory and file.digest == new.digest
                equal = None
                if self._writing.keep.topics:  # it may have been released so, or otherwise
                    equal = file.path if same and holds(file.path, new.digest) \
                        else self.equal(new.staged, new.digest)
                if same and not os.path.lexists(file.path):
                    new = replace(new, path=file.path)
                paths.append(equal or self.publish(new))
                self._ledger.files.add_copy(charge.number, paths[-1], new.digest)
        return tuple(paths)

    def _write_again(self, draft: Draft, charge: Entry, stack: ExitStack) -> None:
        """Stage the words of a charge durably, with other free paths."""
        self._write(draft, partial(draft.write, charge.words), stack)
        draft.make_durable()
        self.place([draft])

    def _copied(self, file: LedgerFile) -> Path:
        """Return the wanted path of a file that was released before, after copying it there."""
        path = self.directory / self._name
        there = next((each for each in (path, file.path, file.staged)
                      if holds(each, file.digest)), None)
        if there is None:
            raise ConfigurationError(
                f'it was released before, as {printable(file.path)}, which is missing or was '
                'changed, and the ledger does not store it: use a copy of that release')
        if there == path:
            return path
        self.check_free(file.path)
        with self.staged(there.suffix) as copy:
            _copy(there, copy)
            return self.publish(LedgerFile(0, path, copy, file.digest, True))

    def equal(self, staged: Path, digest: str) -> Path | None:
        """Return the path of a release that is equal to what is staged; None: there is none."""
        size = _size(staged)
        for path in sorted(self.directory.iterdir()):
            if not path.name.startswith('.') and _size(path) == size and holds(path, digest):
                return path
        return None

    def paths_of(self, files: Iterable[LedgerFile]) -> list[Path]:
        """
        Return the paths of the files of a charge; move those that are still staged here.

        :raises OSError: one cannot be moved.
        """
        return [self.publish(file) if not file.visible
                and file.staged.parent.parent == self.directory and holds(file.staged, file.digest)
                else file.path for file in files]

    def _recover(self) -> Iterator[str]:
        """Move what is staged and charged to its path; yield what is wrong."""
        left_behind = [path for path in sorted(self.directory.glob(f'{self._prefix}*'))
                       if _is_own_directory(path)]
        if self._ledger is not None:
            yield from self._publish_charged(self._ledger, left_behind)
        self.sync_moved()
        for path in left_behind:
            self._discard(path)

    def _publish_charged(self, ledger: Ledger, left_behind: list[Path]) -> Iterator[str]:
        """Move what is charged in staging directories; yield what is wrong."""
        for file in ledger.files.hidden():
            try:
                if file.staged.parent in left_behind and os.path.lexists(file.staged):
                    if holds(file.staged, file.digest):
                        self.publish(file)
                    else:
                        yield (f'what was staged for {printable(file.path.name)} is not what was '
                               'charged: release the log again')
                elif file.path.parent == self.directory and holds(file.path, file.digest):
                    ledger.files.set_visible(file.path)
            except (OSError, SymdpError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                yield (f'{printable(file.path.name)} is charged, and cannot be moved to its path '
                       f'yet: {reason}')

    def _discard(self, staging: Path) -> None:
        """Delete a staging directory, unless something in it is charged."""
        if not self._may_be_charged(staging):
            gone = self.directory / f'{self._prefix}{secrets.token_hex(8)}'
            try:  # a worker whose driver was killed may still write: it does not know this name
                os.rename(staging, gone)
            except OSError:
                gone = staging
            shutil.rmtree(gone, ignore_errors=True)

    def _may_be_charged(self, path: Path) -> bool:
        """Return whether what is staged at a path, or inside it, is or may be charged."""
        if self._ledger is None:
            return False
        try:
            files = self._ledger.files.hidden()
        except LedgerError:
            return True  # it is not known
        return any(path in (file.staged, file.staged.parent) and os.path.lexists(file.staged)
                   for file in files)


def holds(path: Path, digest: str) -> bool:
    """Return whether a file or directory can be read and has this digest."""
    try:
        return digest_of(path) == digest
    except OSError:
        return False


def _variant(path: Path, *, short: bool = False) -> Path:
    """Return the path with another random part in its name; `short`: and little of the rest."""
    name, marker, rest = path.name.partition(_MARKER)
    if not marker:
        name, rest = path.stem, path.suffix
    if short:
        name = os.fsdecode(os.fsencode(name)[:_SHORT]).encode(errors='ignore').decode()
    part = secrets.token_hex(8 if short else 3)
    return path.with_name(f'{name.partition("~")[0]}~{part}{marker}{rest}')


def digest_of(path: Path, besides: Path | None = None) -> str:
    """
    Return a SHA-256 (hex) of a file, or of the names and contents of all files in a directory.

    :param besides: a file in the directory that does not count.
    :raises OSError: one of them cannot be read, or is no regular file.
    """
    hashed = sha256()
    for file in files_in(path):
        if file == besides:
            continue
        name = os.fsencode(file.relative_to(path)) if file != path else b''
        with open(file, 'rb', opener=_open_regular) as content:
            size = os.fstat(content.fileno()).st_size
            hashed.update(len(name).to_bytes(8, 'big') + name + size.to_bytes(8, 'big'))
            while part := content.read(_PART_BYTES):
                hashed.update(part)
    return hashed.hexdigest()


def _size(path: Path) -> list[int]:
    """Return the sizes of a file, or of what is in a directory; of links, nothing."""
    return sorted(os.lstat(file).st_size for file in files_in(path))


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory with all in it, and make the copy durable."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(source, target)
    make_durable(target)


def _open_regular(path: str, flags: int, mode: int = 0o600) -> int:
    """Open a regular file; do not wait, as opening a FIFO would."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, 'not a regular file', str(path))
    return descriptor


def _locked(directory: Path, wait: float, on_wait: Callable[[], None]) -> FileIO:
    """Return the lock file of a directory, open for writing and locked."""
    with _using(directory):
        if not directory.is_dir():
            os.listdir(directory)  # raises the fitting error
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


def _wait_for(lock: FileIO, directory: Path, wait: float, on_wait: Callable[[], None]) -> None:
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


def _using(directory: Path) -> AbstractContextManager[None]:
    return raising(ConfigurationError, f'the release directory {directory} cannot be used',
                   OSError)


def _is_own_directory(path: Path) -> bool:
    """Return whether a path is a directory, and not a link, of this user."""
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and os.geteuid() in (0, status.st_uid)
