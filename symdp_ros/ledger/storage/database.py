# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The file of a ledger: one SQLite database (WAL, synchronous FULL, mode 0600), and its seals.

The seal of an entry is an HMAC, under a key that never leaves the file, over the row and the seal
before it; for the first entry, over the id of the ledger. The rows of the table of files, which
change as releases are moved to their paths, have seals of their own.

Errors of SQLite become a LedgerError here; for a damaged file, it says how to recover.
"""
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
import hmac
import os
from pathlib import Path
import re
import sqlite3
import time
from types import MappingProxyType
from typing import Any
import uuid

from symdp_ros.errors import LedgerError, printable, raising, shell_word
from symdp_ros.ledger.entry import Entry
from symdp_ros.ledger.storage.mark import Mark

COLUMNS = Entry._fields
FILE_COLUMNS = ('number', 'path', 'staged', 'digest', 'visible')
#: In the column 'visible': of what was handed out again, which its charge does not count.
COPY = 2
#: What reading a damaged file with SQLite may raise.
FAILURES = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)

_INSERT = (f'INSERT INTO charges ({", ".join(COLUMNS)}, seal) '
           f'VALUES ({"?, " * len(COLUMNS)}?)')
_VERSION = 2
_WAIT = 60.0  # seconds for another process to finish its transaction
_NOT_DAMAGE = ('locked', 'busy', 'full', 'readonly', 'disk I/O error', 'unable to open',
               'interrupted', 'not authorized')  # in SQLite's messages where a file is not damaged

_SCHEMA = """
    CREATE TABLE ledger (version INTEGER NOT NULL, id TEXT NOT NULL, key BLOB NOT NULL);
    CREATE TABLE charges (             -- and other entries: see entry.Entry
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        log_id TEXT,
        settings TEXT NOT NULL,
        description TEXT NOT NULL,
        epsilon TEXT NOT NULL,
        adjacency INTEGER NOT NULL,
        sampling TEXT NOT NULL,
        period TEXT,
        seconds TEXT,
        made TEXT NOT NULL,
        lengths TEXT NOT NULL,
        content BLOB NOT NULL,
        packed BLOB NOT NULL,
        files INTEGER NOT NULL,
        seal BLOB NOT NULL
    );
    CREATE TABLE files (
        number INTEGER NOT NULL REFERENCES charges,
        path TEXT NOT NULL UNIQUE,     -- where the release is, or is to be
        staged TEXT NOT NULL,          -- where it was written first
        digest TEXT NOT NULL,          -- SHA-256 of its content
        visible INTEGER NOT NULL,      -- whether it has been moved to its path (2: a copy)
        seal BLOB NOT NULL             -- HMAC of this row
    );
"""


@dataclass(frozen=True)
class LedgerFile:
    """A file (or recording) of a release."""

    number: int
    path: Path
    staged: Path
    digest: str
    visible: bool
    is_copy: bool = False  # it was handed out again, in another form

    @classmethod
    def of_row(cls, row: Iterable[Any]) -> 'LedgerFile | None':
        """Return the file of the columns `FILE_COLUMNS`; None: they are damaged."""
        number, path, staged, digest, visible = row
        if type(number) is not int or not all(
                isinstance(text, str) for text in (path, staged, digest)):
            return None
        return cls(number, Path(path), Path(staged), digest, bool(visible), visible == COPY)


class LedgerDatabase:
    """
    The opened file of a ledger.

    :param path: made where it is absent, unless `create` is False.
    :raises LedgerError: the file cannot be made or opened, is no ledger or so damaged that it
        cannot be read; or it is gone or empty, and its mark lists charges; or another path leads
        to it, too.
    """

    def __init__(self, path: str | Path, *, create: bool = True):
        # Only SQLite may open the file: closing any other descriptor of it would drop the locks
        # that SQLite holds for this process.
        with raising(LedgerError, f'ledger {printable(path)} cannot be opened',
                     (OSError, ValueError, RuntimeError)):
            self.path = Path(os.path.realpath(path))
            self.name, self.mark = printable(self.path), self.path.with_name(
                f'{self.path.name}.mark')
            if not self.path.exists() or self.path.stat().st_size == 0:
                self._check_not_lost()
            if self.path.exists() and not self.path.is_file():
                raise LedgerError(f'ledger {printable(path)} is not a file: name another')
            refuse_other_paths(self.path)
            if create and not self.path.parent.is_dir():
                raise LedgerError(f'ledger {printable(path)} cannot be opened: the directory '
                                  f'{printable(self.path.parent)} does not exist: make it')
            if create:
                with suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            elif not self.path.is_file():
                raise LedgerError(f'there is no ledger {printable(path)}')
        with self.errors():
            self._db = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None,
                                       check_same_thread=False)
            try:
                self._open(create)
            except BaseException:
                self._db.close()
                raise

    def _open(self, create: bool) -> None:
        self._db.execute('PRAGMA cell_size_check = ON')
        self._db.execute('PRAGMA trusted_schema = OFF')
        if create and not self._tables():
            with self.transaction():
                if not self._tables():  # another process may have been faster
                    self._make()
        with self.snapshot():  # who only reads waits for no other process
            tables = self._tables()
            if 'ledger' in tables:
                check_version(self._db, self.name)
            if not {'ledger', 'charges', 'files'} <= tables:
                raise self._no_ledger()
            self._read_head()
        # Only now that it is known to be a ledger.
        self._use_wal()
        self._db.execute('PRAGMA synchronous = FULL')
        with suppress(OSError):
            os.chmod(self.path, 0o600)
        self._place = self._place_of_file()

    def _tables(self) -> set[object]:
        return {name for name, in self._db.execute('SELECT name FROM sqlite_master')}

    def _make(self) -> None:
        for statement in _SCHEMA.split(';')[:-1]:
            self._db.execute(statement)
        self._db.execute('INSERT INTO ledger VALUES (?, ?, ?)',
                         (_VERSION, uuid.uuid4().hex, os.urandom(32)))

    def _read_head(self) -> None:
        row = self._db.execute('SELECT * FROM ledger').fetchone()
        version, identity, key = row if row and len(row) == 3 else (None, None, None)
        if version != _VERSION or not (
                isinstance(identity, str) and isinstance(key, bytes)):
            raise self.damaged(f'ledger {self.name} is damaged')
        self.id, self._key = identity, key

    def _use_wal(self) -> None:
        """Switch to WAL; SQLite does not wait for other processes here, so this does."""
        until = time.monotonic() + _WAIT
        while True:
            try:
                self._db.execute('PRAGMA journal_mode = WAL')
                return
            except sqlite3.OperationalError as error:
                if 'locked' not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.02)

    def rewrite(self, identity: str, key: bytes, entries: Iterable[Entry],
                files: Iterable[LedgerFile]) -> None:
        """Give a new ledger an id, a key, entries that are numbered from 1, and files."""
        with self.errors(), self.transaction():
            self._db.execute('UPDATE ledger SET id = ?, key = ?', (identity, key))
            self.id, self._key = identity, key
            seal = identity.encode()
            for entry in entries:
                seal = self.insert(entry, seal)
            for file in files:
                ReleasedFiles(self).add(file)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Execute a statement; use it within `errors`."""
        return self._db.execute(statement, values)

    def entries(self, after: int = 0,
                values: Mapping[str, object] = MappingProxyType({})) -> Iterator[tuple[Any, ...]]:
        """
        Yield the columns and the seal of entries after a number, in order.

        :param values: what some columns hold, by name.
        """
        having = ''.join(f' AND {name} IS ?' for name in values)
        return self._db.execute(f'SELECT {", ".join(COLUMNS)}, seal FROM charges '
                                f'WHERE number > ?{having} ORDER BY number',
                                (after, *values.values()))

    def entries_of(self, subject: str, last: int) -> Iterator[tuple[Any, ...]]:
        """Yield the same of a subject, up to a number, each with the seal before it."""
        columns = ', '.join(f'charges.{name}' for name in (*COLUMNS, 'seal'))
        return self._db.execute(
            f'SELECT {columns}, before.seal FROM charges LEFT JOIN charges AS before '
            'ON before.number = charges.number - 1 '
            'WHERE charges.subject = ? AND charges.number <= ? ORDER BY charges.number',
            (subject, last))

    def subjects(self) -> list[str]:
        """Return the subject of every entry; '' of those that are of none."""
        return [subject for subject, in self._db.execute('SELECT DISTINCT subject FROM charges')
                if isinstance(subject, str)]

    def entry(self, number: int | None) -> Entry | None:
        """Return the entry of a number, if there is one."""
        row = self._db.execute(f'SELECT {", ".join(COLUMNS)} FROM charges WHERE number = ?',
                               (number,)).fetchone()
        return None if row is None else Entry._make(row)

    def seal_at(self, number: int) -> object:
        """Return the seal of an entry, of any type if it is damaged; None: there is none."""
        row = self._db.execute('SELECT seal FROM charges WHERE number = ?', (number,)).fetchone()
        return None if row is None else row[0]

    def insert(self, entry: Entry, before: bytes) -> bytes:
        """Write an entry, given the seal before it; return its own."""
        seal = self.seal(entry, before)
        self._db.execute(_INSERT, (*entry, seal))
        return seal

    def seal(self, row: Iterable[object], before: bytes = b'') -> bytes:
        """Return the seal of a row."""
        return _seal(self._key, row, before)

    def new_digest(self, data: bytes = b'') -> hmac.HMAC:
        """Return an HMAC of data under the key of the ledger; more can be added."""
        return hmac.new(self._key, data, 'sha256')

    def check_in_place(self) -> None:
        """
        Check that the path still leads to the open file.

        :raises LedgerError: it does not; another path leads to it, too.
        """
        if self._place_of_file() != self._place:
            raise LedgerError(f'ledger {self.name} was replaced or removed while it was open: '
                              'start this program again')
        with raising(LedgerError, f'ledger {self.name} cannot be used', OSError):
            refuse_other_paths(self.path)

    def _place_of_file(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def damaged(self, problem: str) -> LedgerError:
        """Return the error that says what is damaged, and what to do about it."""
        return LedgerError(
            f'{problem}. Nothing is charged to it in this state: restore its newest undamaged '
            f'copy, if there is one, and run symdp ledger {shell_word(self.path)} --recover',
            damaged=True)

    def _check_not_lost(self) -> None:
        """Check that there is no mark of a ledger that is gone."""
        try:
            mark = Mark.read(self.mark)
            lost = mark is not None and mark.number > 0
        except LedgerError:
            lost = True
        if lost:
            state = 'empty' if self.path.exists() else 'gone'
            raise self.damaged(f'ledger {self.name} is {state}, and {printable(self.mark.name)} '
                               'shows that it held charges')

    def _no_ledger(self) -> LedgerError:
        if self.mark.exists():
            return self.damaged(f'ledger {self.name} is damaged')
        return LedgerError(f'ledger {self.name} is a file of another kind: name a new one')

    @contextmanager
    def transaction(self, kind: str = 'IMMEDIATE') -> Iterator[None]:
        """Do everything inside, or nothing; other writers wait meanwhile."""
        self._db.execute(f'BEGIN {kind}')
        try:
            yield
            self._db.execute('COMMIT')
        except BaseException:
            if self._db.in_transaction:
                self._db.execute('ROLLBACK')
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the ledger, even if other processes write meanwhile."""
        if self._db.in_transaction:
            yield
        else:
            with self.transaction('DEFERRED'):
                yield

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        problem = damage = None
        try:
            yield
        except FAILURES as error:
            problem, damage = str(error) or type(error).__name__, is_damage(error)
        if problem == 'file is not a database':
            raise self._no_ledger()
        if damage:
            raise self.damaged(f'ledger {self.name} is damaged ({problem})')
        if problem is not None:
            raise LedgerError(f'ledger {self.name} cannot be used: {problem}')


class ReleasedFiles:
    """The files of all releases in a ledger."""

    def __init__(self, database: LedgerDatabase):
        self._database = database

    def all(self) -> list[LedgerFile]:  # noqa: A003 (a method)
        """Return the files of all charges, in their order."""
        return self._selected('TRUE')

    def of(self, number: int) -> list[LedgerFile]:
        """Return the files of a charge, without copies."""
        return self._selected('number = ? AND visible != ?', number, COPY)

    def hidden(self) -> list[LedgerFile]:
        """Return the files that were not moved to their paths yet."""
        return self._selected('visible = 0')

    def _selected(self, condition: str, *values: object) -> list[LedgerFile]:
        with self._database.errors():
            rows = self._database.execute(
                f'SELECT {", ".join(FILE_COLUMNS)} FROM files WHERE {condition} '
                'ORDER BY number, path', values).fetchall()
        files = []
        for row in rows:
            file = LedgerFile.of_row(row)
            if file is None:
                raise LedgerError(f'the files of charge {row[0]} of the ledger are damaged',
                                  damaged=True)
            files.append(file)
        return files

    def charges_in(self, directory: Path) -> int:
        """Return how many charges have files directly in a directory."""
        prefix = os.path.join(directory, '')
        with self._database.errors():
            [count] = self._database.execute(
                'SELECT count(DISTINCT number) FROM files WHERE substr(path, 1, ?) = ? '
                "AND instr(substr(path, ?), '/') = 0",
                (len(prefix), prefix, len(prefix) + 1)).fetchone()
        return int(count)

    def has_path(self, path: Path) -> bool:
        """Return whether a release has, or will have, this path."""
        with self._database.errors():
            return self._database.execute('SELECT 1 FROM files WHERE path = ?',
                                          (str(path),)).fetchone() is not None

    def add(self, file: LedgerFile, seal: bytes | None = None) -> None:
        """Note a file, whose path no other release has; `seal`: instead of its own one."""
        row = (file.number, str(file.path), str(file.staged), file.digest,
               COPY if file.is_copy else int(file.visible))
        self._database.execute('INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)',
                               (*row, self._database.seal(row) if seal is None else seal))

    def add_copy(self, number: int, path: Path, digest: str) -> None:
        """Note that a release was handed out again, where its content is a new one."""
        with self._database.errors(), self._database.transaction():
            if not self._selected('number = ? AND digest = ? OR path = ?', number, digest,
                                  str(path)):
                self.add(LedgerFile(number, path, path, digest, True, True))

    def change(self, file_path: Path, **changes: Any) -> None:
        """Note what is new of a file: another path; where it was staged again, for it was lost."""
        with self._database.errors(), self._database.transaction():
            self._change(file_path, **changes)

    def set_visible(self, *paths: Path) -> None:
        """Note that files have been moved to their paths."""
        with self._database.errors(), self._database.transaction():
            for path in paths:
                self._change(path, visible=True)

    def _change(self, file_path: Path, **changes: Any) -> None:
        row = self._database.execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files '
                                     'WHERE path = ? AND visible != ?',
                                     (str(file_path), COPY)).fetchone()
        if row is None:
            return
        *row, seal = row
        self._database.execute('DELETE FROM files WHERE path = ?', (str(file_path),))
        # A row that was damaged stays so.
        self.add(replace(LedgerFile(*row), **changes),
                 None if self._database.seal(row) == seal else seal)


def refuse_other_paths(path: Path) -> None:
    """
    Check that a ledger is reached by one path alone: each path has its own -wal and mark.

    :param path: without symbolic links; nothing is checked where there is no file.
    :raises LedgerError: the file has a second name (a hard link), or is mounted by itself.
    """
    if not path.is_file():
        return
    names = path.stat().st_nlink
    if names > 1:
        raise LedgerError(
            f'ledger {printable(path)} has {names} names (hard links). Programs that use another '
            'name do not see its charges, nor it theirs: remove the other names (to find them: '
            f'find DIRECTORY -samefile {printable(path)})')
    mounts = [_mount_of(each) for each in (path, path.parent)]
    if None not in mounts and mounts[0] != mounts[1]:
        raise LedgerError(
            f'ledger {printable(path)} is mounted as a single file. Programs that use it at '
            'another path do not see its charges, nor it theirs: mount its folder instead')


def _mount_of(path: Path) -> str | None:
    """Return the number of the mount that a path is on; None: this system does not say."""
    if not hasattr(os, 'O_PATH'):  # not Linux
        return None
    # O_PATH does not open the file: closing it drops no lock that SQLite holds.
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        with open(f'/proc/self/fdinfo/{descriptor}', 'rb') as file:
            mount = re.search(rb'^mnt_id:\s*(\d+)$', file.read(), re.MULTILINE)
    except FileNotFoundError:  # no /proc
        mount = None
    finally:
        os.close(descriptor)
    return mount[1].decode() if mount else None


def check_version(db: sqlite3.Connection, name: str) -> None:
    """
    Check that a ledger is not of a newer version than this program knows.

    If the first charge is sealed as in this version, the version number itself is damaged.

    :param name: of the ledger, for the message.
    :raises LedgerError: it is newer.
    """
    version, identity, key = db.execute('SELECT version, id, key FROM ledger').fetchone() or (
        None, None, None)
    if not (type(version) is int and version > _VERSION
            and isinstance(identity, str) and isinstance(key, bytes)):
        return
    first = None
    with suppress(*FAILURES):
        first = db.execute(f'SELECT {", ".join(COLUMNS)}, seal FROM charges '
                           'ORDER BY number').fetchone()
    if first is None or _seal(key, first[:-1], identity.encode()) != first[-1]:
        raise LedgerError(f'ledger {name} has the version {version}, and this program knows '
                          f'{_VERSION}: update symdp_ros')


def _seal(key: bytes, row: Iterable[object], before: bytes) -> bytes:
    return hmac.digest(key, ascii((before, *row)).encode(), 'sha256')  # no two rows have one text


def is_damage(error: BaseException) -> bool:
    """Return whether one of `FAILURES` is due to the content of the file."""
    return not any(words in str(error) for words in _NOT_DAMAGE)
