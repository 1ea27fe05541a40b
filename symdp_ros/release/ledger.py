"""
The ledger: what has been spent of whose privacy, for which release.

One SQLite file (WAL, synchronous FULL, mode 0600). Every charge is one row, written in one
transaction that first reads what was spent: processes on one ledger wait for one another, and
cannot together pass a budget. Sums are exact: ε is read as its shortest decimal, so three times
0.1 fits into 0.3.

The charge of a log holds the released words themselves (they are public), so that they can be
handed out again at no cost; and an HMAC of the words that were released, under a key that never
leaves the ledger, by which a log whose content changed is noticed. It holds no sensitive symbol.
The charge of an archive holds no words, which would be too many, and the HMAC of its file.

Rows are sealed: each seal is an HMAC over the row and the seal before it. A mark beside the
ledger holds number and seal of the last charge, so that a ledger put back to an older state shows.
"""
import hmac
import json
import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

from symdp_ros.core.errors import BudgetError, LedgerError

_VERSION = 1
_PART_BYTES = 1 << 20
_WAIT = 60.0  # seconds for another process to finish its transaction
_EXACT = Context(prec=2000)  # any sum of any doubles, written out

_SCHEMA = '''
    CREATE TABLE ledger (version INTEGER NOT NULL, id TEXT NOT NULL, key BLOB NOT NULL);
    CREATE TABLE charges (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        subject TEXT NOT NULL,
        log_id TEXT,                   -- NULL: a word that a live node began
        settings TEXT NOT NULL,        -- a digest of all that the distribution depends on
        description TEXT NOT NULL,     -- the settings as people read them
        epsilon TEXT NOT NULL,         -- shortest decimal
        made TEXT NOT NULL,            -- UTC
        lengths TEXT NOT NULL,         -- JSON: of each word, or of all of an archive
        content BLOB NOT NULL,         -- HMAC of the words that were released, or of the archive
        words BLOB NOT NULL,           -- zlib, JSON: the released words (of an archive, none)
        seal BLOB NOT NULL,
        UNIQUE (subject, log_id, settings)
    );
    CREATE TABLE files (
        number INTEGER NOT NULL REFERENCES charges,
        path TEXT NOT NULL UNIQUE,     -- where the release is, or is to be
        staged TEXT NOT NULL,          -- where it was made ready
        digest TEXT NOT NULL,          -- SHA-256 of what was made ready
        visible INTEGER NOT NULL       -- whether it has been moved to its path
    );
'''
_SEALED = ('number', 'subject', 'log_id', 'settings', 'description', 'epsilon', 'made', 'lengths',
           'content', 'words')


@dataclass(frozen=True)
class Charge:
    """One row of the ledger."""

    number: int
    subject: str
    log_id: str | None
    settings: str
    description: str
    epsilon: str
    made: str
    lengths: tuple[int, ...]
    content: bytes
    words: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LedgerFile:
    """A file (or recording) of a release."""

    number: int
    path: Path
    staged: Path
    digest: str
    visible: bool


class Ledger:
    """
    A ledger file, made where it is absent, unless `create` is False.

    Use one object from one thread at a time.

    :raises LedgerError: the file cannot be made or opened, or is no ledger.
    """

    def __init__(self, path, *, create: bool = True):
        self.path = Path(os.path.realpath(path))
        # Never open the file here besides SQLite: closing any other descriptor of it would drop
        # the locks that SQLite holds for this process.
        try:
            if create:
                with suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            elif not self.path.is_file():
                raise LedgerError(f'there is no ledger {path}')
        except OSError as error:
            raise LedgerError(f'ledger {path} cannot be opened: {error.strerror}') from None
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None,
                                       check_same_thread=False)
            try:
                self._open(create)
            except BaseException:
                self._db.close()
                raise

    def _open(self, create):
        with self._transaction():
            tables = {name for name, in self._db.execute('SELECT name FROM sqlite_master')}
            if not tables and create:
                for statement in _SCHEMA.split(';')[:-1]:
                    self._db.execute(statement)
                self._db.execute('INSERT INTO ledger VALUES (?, ?, ?)',
                                 (_VERSION, uuid.uuid4().hex, os.urandom(32)))
            elif not {'ledger', 'charges', 'files'} <= tables:
                raise LedgerError(f'ledger {self.path} is a file of another kind: name a new one')
        version, self.id, self._key = self._db.execute('SELECT * FROM ledger').fetchone()
        if version != _VERSION:
            raise LedgerError(f'ledger {self.path} has the version {version}, and this program '
                              f'knows {_VERSION}: update it')
        # Only now that it is known to be a ledger.
        self._use_wal()
        self._db.execute('PRAGMA synchronous = FULL')
        with suppress(OSError):
            os.chmod(self.path, 0o600)

    def _use_wal(self):
        """Switch to WAL; unlike a transaction, this does not wait for others by itself."""
        until = time.monotonic() + _WAIT
        while True:
            try:
                self._db.execute('PRAGMA journal_mode = WAL')
                return
            except sqlite3.OperationalError as error:
                if 'locked' not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.02)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def fingerprint(self, words: Sequence[Sequence[str | None]]) -> bytes:
        """Return the HMAC of sensitive words under the key of the ledger."""
        return self._hmac(json.dumps([list(word) for word in words]).encode())

    def file_fingerprint(self, path) -> bytes:
        """
        Return the HMAC of a sensitive file under the key of the ledger.

        :raises OSError: it cannot be read.
        """
        hashed = hmac.new(self._key, digestmod='sha256')
        with open(path, 'rb') as file:
            while part := file.read(_PART_BYTES):
                hashed.update(part)
        return hashed.digest()

    def find(self, subject: str, log_id: str, settings: str) -> Charge | None:
        """Return the charge of a log under some settings, or None."""
        with self._errors():
            found = self._charges('WHERE subject = ? AND log_id = ? AND settings = ?',
                                  (subject, log_id, settings))
        return found[0] if found else None

    def spent(self, subject: str, log_id: str | None = None) -> Fraction:
        """Return the exact sum of ε over all charges of a subject, or of one of its logs."""
        where, values = 'WHERE subject = ?', [subject]
        if log_id is not None:
            where, values = f'{where} AND log_id = ?', [subject, log_id]
        with self._errors():
            rows = self._db.execute(f'SELECT epsilon FROM charges {where}', values).fetchall()
        return sum((Fraction(epsilon) for epsilon, in rows), Fraction(0))

    def log_count(self, subject: str) -> int:
        """Return how many logs of a subject were released."""
        with self._errors():
            return self._db.execute('SELECT count(DISTINCT log_id) FROM charges WHERE subject = ?',
                                    (subject,)).fetchone()[0]

    def check(self, subject: str, epsilon: float, log_id: str | None = None, *,
              budget: float = 0.0, subject_budget: float = 0.0) -> None:
        """
        Check that a charge would be within the budgets; 0.0 means no limit.

        :raises BudgetError: it would not be.
        """
        cost = as_fraction(epsilon)
        limits = [(f'the subject_budget of {subject!r}', subject_budget, self.spent(subject))]
        if log_id is not None:
            limits.append((f'the budget of the log {log_id!r}', budget,
                           self.spent(subject, log_id)))
        for name, limit, spent in limits:
            if limit > 0 and spent + cost > as_fraction(limit):
                raise BudgetError(f'{name} is {as_text(as_fraction(limit))}: '
                                  f'{as_text(spent)} of it is spent, and this costs '
                                  f'{as_text(cost)} more')

    def charge(self, subject: str, epsilon: float, *, settings: str, description: str,
               log_id: str | None = None, content: bytes = b'',
               words: Sequence[Sequence[str]] = (), lengths: Sequence[int] | None = None,
               files=(), budget: float = 0.0,
               subject_budget: float = 0.0) -> tuple[Charge, bool]:
        """
        Spend ε, durably, or return the charge that the log already has under these settings.

        :param subject: whose privacy is spent.
        :param settings: a digest; :param description: what people read of it.
        :param log_id: None for a word that a live node begins.
        :param content: `fingerprint` of the sensitive words, or `file_fingerprint`.
        :param words: the released words.
        :param lengths: of released words that are not kept; None: those of `words`.
        :param files: a function from the number of the charge to the (path, staged path, digest)
            of its files, or nothing.
        :return: the charge, and whether it is a new one.
        :raises BudgetError: the charge would pass a budget; nothing is spent.
        """
        with self._errors():
            with self._transaction():
                if log_id is not None:
                    found = self.find(subject, log_id, settings)
                    if found is not None:
                        return found, False
                self.check(subject, epsilon, log_id, budget=budget, subject_budget=subject_budget)
                lengths = [len(word) for word in words] if lengths is None else lengths
                made = datetime.now(timezone.utc).isoformat(timespec='seconds')
                packed = zlib.compress(json.dumps([list(word) for word in words]).encode())
                row = (subject, log_id, settings, description, repr(float(epsilon)), made,
                       json.dumps(list(lengths)), content, packed)
                number = self._db.execute(
                    'INSERT INTO charges (subject, log_id, settings, description, epsilon, made, '
                    'lengths, content, words, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
                    (*row, b'')).lastrowid
                seal = self._seal((number, *row), self._seal_before(number))
                self._db.execute('UPDATE charges SET seal = ? WHERE number = ?', (seal, number))
                for path, staged, digest in files(number) if files else ():
                    self._db.execute('INSERT INTO files VALUES (?, ?, ?, ?, 0)',
                                     (number, str(path), str(staged), digest))
            self._write_mark(number, seal)
            return self._charges('WHERE number = ?', (number,))[0], True

    def files(self, number: int | None = None, *, hidden_only=False) -> list[LedgerFile]:
        """Return the files of a charge, or of all; those not yet moved to their path, or all."""
        where, values = [], []
        if number is not None:
            where.append('number = ?')
            values.append(number)
        if hidden_only:
            where.append('visible = 0')
        condition = f'WHERE {" AND ".join(where)}' if where else ''
        with self._errors():
            rows = self._db.execute(f'SELECT * FROM files {condition} ORDER BY number, path',
                                    values).fetchall()
        return [LedgerFile(number, Path(path), Path(staged), digest, bool(visible))
                for number, path, staged, digest, visible in rows]

    def has_path(self, path: Path) -> bool:
        """Return whether a release has, or is to have, this path."""
        with self._errors():
            return self._db.execute('SELECT 1 FROM files WHERE path = ?',
                                    (str(path),)).fetchone() is not None

    def move(self, path: Path, new_path: Path) -> None:
        """Promise another path to a file that is not visible yet."""
        with self._errors():
            self._db.execute('UPDATE files SET path = ? WHERE path = ?', (str(new_path), str(path)))

    def restage(self, path: Path, new_path: Path, staged: Path, digest: str) -> None:
        """Note that what was lost before it was moved to `path` has been made ready again."""
        with self._errors():
            self._db.execute('UPDATE files SET path = ?, staged = ?, digest = ?, visible = 0 '
                             'WHERE path = ?', (str(new_path), str(staged), digest, str(path)))

    def set_visible(self, path: Path) -> None:
        """Note that a file has been moved to its path."""
        with self._errors():
            self._db.execute('UPDATE files SET visible = 1 WHERE path = ?', (str(path),))

    def charges(self) -> list[Charge]:
        """Return all charges in order."""
        with self._errors():
            return self._charges('', ())

    def problems(self) -> list[str]:
        """Verify seals and mark; return one sentence for each problem."""
        found, seal, expected = [], b'', 1
        with self._errors():
            if self._db.execute('PRAGMA quick_check(1)').fetchone() != ('ok',):
                found.append('the file is damaged: restore it from a backup')
            rows = self._db.execute(f'SELECT {", ".join(_SEALED)}, seal FROM charges '
                                    'ORDER BY number').fetchall()
        for *row, written in rows:
            if row[0] != expected:
                found.append(f'charges {expected} to {row[0] - 1} are missing')
            if not hmac.compare_digest(self._seal(row, seal), written):
                found.append(f'charge {row[0]}, or the one before it, was changed or removed')
            seal, expected = written, row[0] + 1
        with self._errors():
            if not self._mark_agrees():
                found.append(
                    f'the ledger looks rolled back or replaced: {self._mark.name} tells of a '
                    'charge that it does not hold, and what that one released is still known to '
                    'others. Put the right ledger back; or add what is missing to the budgets by '
                    f'hand, and remove {self._mark.name}')
        return found

    def _charges(self, where, values):
        rows = self._db.execute(f'SELECT {", ".join(_SEALED)} FROM charges {where} '
                                'ORDER BY number', values).fetchall()
        try:
            return [Charge(*row[:7], lengths=tuple(json.loads(row[7])), content=row[8],
                           words=tuple(map(tuple, json.loads(zlib.decompress(row[9])))))
                    for row in rows]
        except (zlib.error, ValueError, TypeError):
            damaged = True
        if damaged:
            raise LedgerError(f'ledger {self.path} is damaged: restore it from a backup')

    def _seal_before(self, number):
        row = self._db.execute('SELECT seal FROM charges WHERE number < ? ORDER BY number DESC '
                               'LIMIT 1', (number,)).fetchone()
        return row[0] if row else b''

    def _seal(self, row, before):
        parts = [part if isinstance(part, bytes) else str(part).encode() for part in row]
        return self._hmac(b''.join(len(part).to_bytes(8, 'big') + part
                                   for part in (before, *parts)))

    def _hmac(self, data):
        return hmac.digest(self._key, data, 'sha256')

    @property
    def _mark(self):
        return self.path.with_name(f'{self.path.name}.mark')

    def _write_mark(self, number, seal):
        # After the commit: a mark that is behind warns of nothing, one ahead would warn wrongly.
        # One that does not agree is kept: it is the evidence.
        temporary = self._mark.with_name(f'.{self._mark.name}.{os.getpid()}')
        with suppress(OSError):
            mark = self._read_mark()
            if mark is None or self._mark_agrees() and int(mark[1]) < number:
                temporary.write_text(f'{self.id} {number} {seal.hex()}\n')
                os.chmod(temporary, 0o600)
                os.replace(temporary, self._mark)

    def _read_mark(self):
        """Return (ledger id, number, seal) as strings, or None where there is no mark."""
        try:
            identity, number, seal = self._mark.read_text().split()
            return (identity, number, seal) if number.isdecimal() else None
        except (OSError, ValueError):
            return None

    def _mark_agrees(self):
        mark = self._read_mark()
        if mark is None:
            return True
        row = self._db.execute('SELECT seal FROM charges WHERE number = ?',
                               (int(mark[1]),)).fetchone()
        return mark[0] == self.id and row is not None and row[0].hex() == mark[2]

    @contextmanager
    def _transaction(self):
        self._db.execute('BEGIN IMMEDIATE')
        try:
            yield
            self._db.execute('COMMIT')
        except BaseException:
            if self._db.in_transaction:
                self._db.execute('ROLLBACK')
            raise

    @contextmanager
    def _errors(self):
        """Turn SQLite's errors into ours."""
        problem = None
        try:
            yield
        except sqlite3.Error as error:
            problem = str(error)
        if problem == 'file is not a database':
            raise LedgerError(f'ledger {self.path} is a file of another kind: name a new one')
        if problem is not None:
            raise LedgerError(f'ledger {self.path} cannot be used: {problem}')


def as_fraction(epsilon: float) -> Fraction:
    """Return ε, read as its shortest decimal, exactly."""
    return Fraction(repr(float(epsilon)))


def as_text(amount: Fraction) -> str:
    """Return a sum of ε as an exact decimal."""
    quotient = _EXACT.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f'{quotient.normalize(_EXACT):f}'
