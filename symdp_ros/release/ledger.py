"""
The ledger: what has been spent of whose privacy, for which release.

One SQLite file (WAL, synchronous FULL, mode 0600). Every charge is one row, written in one
transaction that first reads what was spent: processes on one ledger wait for one another, and
cannot together pass a budget. Sums are exact, and counted in one unit for each subject
(`release.units`): ε is read as its shortest decimal, so three times 0.1 fits into 0.3. Budgets of
subjects are rows, too: what was agreed once holds for every call.

The charge of a log holds the released words themselves (they are public), so that they can be
handed out again at no cost; and an HMAC of the words that were released, under a key that never
leaves the ledger, by which a log whose content changed is noticed. It holds no sensitive symbol.
The charge of an archive holds no words, which would be too many, and the HMAC of its file.

Rows are sealed: each seal is an HMAC over the row and the seal before it, the first one over the
id of the ledger. A mark beside the ledger (`release.mark`) holds number and seal of the last row,
so that a ledger put back to an older state shows. What is spent is added up over the rows as they
are read and verified, never by an index. A ledger with a problem is not charged: see
`release.recovery`.
"""
import hmac
import json
import os
import sqlite3
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from datetime import datetime, timezone
from fractions import Fraction
from math import isfinite
from pathlib import Path

from symdp_ros.core.errors import BudgetError, LedgerError
from symdp_ros.core.printable import printable
from symdp_ros.release import ledger_version_1
from symdp_ros.release.accounts import Account, Entry, written
from symdp_ros.release.mark import Mark
from symdp_ros.release.units import Loss, Unit, as_fraction, as_text

COLUMNS = tuple(column.name for column in fields(Entry))
FILE_COLUMNS = ('number', 'path', 'staged', 'digest', 'visible')
#: What reading a damaged file with SQLite may raise.
FAILURES = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)

_VERSION = 2
_PART_BYTES = 1 << 20
_WAIT = 60.0  # seconds for another process to finish its transaction
_NOT_DAMAGE = ('locked', 'busy', 'full', 'readonly', 'disk I/O error', 'unable to open',
               'interrupted', 'not authorized')  # SQLite's words for what is no damage

_SCHEMA = '''
    CREATE TABLE ledger (version INTEGER NOT NULL, id TEXT NOT NULL, key BLOB NOT NULL);
    CREATE TABLE charges (             -- and other entries: see accounts.Entry
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
        staged TEXT NOT NULL,          -- where it was made ready
        digest TEXT NOT NULL,          -- SHA-256 of what was made ready
        visible INTEGER NOT NULL,      -- whether it has been moved to its path
        seal BLOB NOT NULL             -- HMAC of this row
    );
'''


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

    A file of version 1 is converted. Use one object from one thread at a time.

    :raises LedgerError: the file cannot be made or opened, is no ledger or so damaged that it
        cannot be read; or it is gone or empty, and its mark tells of charges.
    """

    def __init__(self, path, *, create: bool = True):
        # Never open the file here besides SQLite: closing any other descriptor of it would drop
        # the locks that SQLite holds for this process.
        try:
            self.path = Path(os.path.realpath(path))
            self._name = printable(self.path)
            if not self.path.exists() or self.path.stat().st_size == 0:
                self._check_not_lost()
            if self.path.exists() and not self.path.is_file():
                raise LedgerError(f'ledger {printable(path)} is not a file: name another')
            if create:
                with suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            elif not self.path.is_file():
                raise LedgerError(f'there is no ledger {printable(path)}')
        except (OSError, ValueError, RuntimeError) as error:
            problem = getattr(error, 'strerror', None) or error
            raise LedgerError(f'ledger {printable(path)} cannot be opened: {problem}') from None
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None,
                                       check_same_thread=False)
            try:
                self._open(create)
            except BaseException:
                self._db.close()
                raise

    def _open(self, create):
        self._db.execute('PRAGMA cell_size_check = ON')
        self._db.execute('PRAGMA trusted_schema = OFF')
        with self._transaction():
            tables = {name for name, in self._db.execute('SELECT name FROM sqlite_master')}
            if not tables and create:
                self._make(uuid.uuid4().hex, os.urandom(32))
            elif not {'ledger', 'charges', 'files'} <= tables:
                raise self._no_ledger()
            version = self._read_head()
            if version == 1:
                self._convert()
        if version not in (1, _VERSION):
            raise LedgerError(f'ledger {self._name} has the version {version}, and this program '
                              f'knows {_VERSION}: update it')
        # Only now that it is known to be a ledger.
        self._use_wal()
        self._db.execute('PRAGMA synchronous = FULL')
        with suppress(OSError):
            os.chmod(self.path, 0o600)
        self._place = self._place_of_file()
        self._forget()
        if version == 1:
            self._update_mark()

    def _make(self, identity, key):
        for statement in _SCHEMA.split(';')[:-1]:
            self._db.execute(statement)
        self._db.execute('INSERT INTO ledger VALUES (?, ?, ?)', (_VERSION, identity, key))

    def _read_head(self):
        row = self._db.execute('SELECT * FROM ledger').fetchone()
        version, self.id, self._key = row if row and len(row) == 3 else (None, None, None)
        if type(version) is not int or version in (1, _VERSION) and not (
                isinstance(self.id, str) and isinstance(self._key, bytes)):
            raise LedgerError(f'ledger {self._name} is damaged. {self._how_to_recover}')
        return version

    def _convert(self):
        """Convert a ledger of version 1, in the transaction that is open."""
        problems = ledger_version_1.problems(self._db, self.id, self._key, self._mark)
        if problems:
            raise LedgerError(f'ledger {self._name}: {problems[0]}. {self._how_to_recover}')
        entries, files = ledger_version_1.read(self._db)
        for table in ('files', 'charges', 'ledger'):
            self._db.execute(f'DROP TABLE {table}')
        self._make(self.id, self._key)
        self._fill(entries, [LedgerFile(*row) for row in files])

    def _fill(self, entries: Iterable[Entry], files: Iterable[LedgerFile]):
        """Write entries, numbered from 1, and files into an empty ledger."""
        seal = self.id.encode()
        for entry in entries:
            seal = self._insert(entry, seal)
        for file in files:
            self._insert_file(file)

    @classmethod
    def made_of(cls, path, identity: str, key: bytes, entries: Iterable[Entry],
                files: Iterable[LedgerFile]) -> 'Ledger':
        """Return a new ledger file with an id, a key, entries numbered from 1, and files."""
        ledger = cls(path)
        with ledger._errors(), ledger._transaction():
            ledger._db.execute('UPDATE ledger SET id = ?, key = ?', (identity, key))
            ledger.id, ledger._key = identity, key
            ledger._fill(entries, files)
        ledger._forget()
        return ledger

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

    def find(self, subject: str, log_id: str, settings: str) -> Entry | None:
        """Return the charge of a log under some settings, or None."""
        with self._errors():
            self._catch_up()
            return self._entry(self._numbers.get((subject, log_id, settings)))

    def account(self, subject: str) -> Account:
        """Return what a subject has spent, its budget and its unit; do not change it."""
        with self._errors():
            self._catch_up()
        return self._accounts.get(subject) or Account(subject)

    def subjects(self) -> list[str]:
        """Return every subject that the ledger knows, sorted."""
        with self._errors():
            self._catch_up()
        return sorted(self._accounts)

    def spent(self, subject: str, log_id: str | None = None) -> Fraction:
        """Return exactly what a subject, or one of its logs, has spent, in the subject's unit."""
        return self.account(subject).spent(log_id)

    def cost(self, entry: Entry) -> Fraction:
        """Return what a charge costs in the unit of its subject."""
        return (self.account(entry.subject).unit or entry.loss.unit).cost(entry.loss)

    def log_count(self, subject: str) -> int:
        """Return how many logs of a subject were released."""
        return self.account(subject).logs

    def keep_budget(self, subject: str, subject_budget: float) -> None:
        """
        Store the budget of a subject where none is stored; 0.0 leaves what is stored.

        :raises BudgetError: another one is stored.
        :raises LedgerError: the ledger has a problem.
        """
        if not (isfinite(subject_budget) and 0 <= subject_budget):
            raise BudgetError(f'subject_budget is {subject_budget}: it must be a finite number, at '
                              'least 0')
        if subject_budget == 0:
            return
        wanted = as_fraction(subject_budget)
        with self._errors():
            if self.account(subject).budget is None:
                with self._transaction():
                    self._refuse_if_damaged()
                    if self.account(subject).budget is None:  # no other process was faster
                        self._append('budget', subject, epsilon=written(wanted))
                self._update_mark()
        stored = self.account(subject).budget
        if stored != wanted:
            raise BudgetError(
                f'the subject_budget of {subject!r} is {as_text(stored)} in the ledger, and this '
                f'names {as_text(wanted)}: leave it out, or change it with symdp ledger '
                f"{self._name} --set-budget '{printable(subject)}' {as_text(wanted)}")

    def set_budget(self, subject: str, budget: Fraction) -> None:
        """
        Give a subject another budget, and log that; 0: none.

        :raises LedgerError: the ledger has a problem.
        """
        self.note('budget', subject, epsilon=written(budget))

    def set_spent(self, subject: str, least: Fraction, reason: str) -> Fraction:
        """
        Count at least so much, in the subject's unit, as spent; return what that adds.

        :raises LedgerError: the ledger has a problem.
        """
        more = max(least - self.spent(subject), Fraction(0))
        if more:
            self.note('spent', subject, epsilon=written(more),
                      description=json.dumps({'reason': reason}))
        return more

    def set_unit(self, subject: str, unit: Unit, reason: str) -> None:
        """
        Count all that a subject has spent and will spend in another unit.

        :raises LedgerError: the ledger has a problem.
        """
        loss = Loss(Fraction(0), unit.symbols or 0, unit.sampling, unit.period, unit.seconds)
        self.note('unit', subject, loss=loss, description=json.dumps({'reason': reason}))

    def note(self, kind: str, subject: str, **columns) -> None:
        """
        Append an entry that is no charge.

        :raises LedgerError: the ledger has a problem.
        """
        with self._errors():
            with self._transaction():
                self._refuse_if_damaged()
                self._append(kind, subject, **columns)
            self._update_mark()

    def check(self, subject: str, loss: Loss, log_id: str | None = None, *, budget: float = 0.0,
              subject_budget: float = 0.0, description: str = '') -> None:
        """
        Check that a charge would be within the budgets; parameters as in `charge`.

        :raises BudgetError: it would not be, or is counted in another unit than its subject.
        :raises LedgerError: the ledger has a problem.
        """
        self.keep_budget(subject, subject_budget)
        with self._errors():
            self._refuse_if_damaged()
            self._check(subject, loss, log_id, budget, description)

    def _check(self, subject, loss, log_id, budget, description):
        account = self.account(subject)
        cost = account.cost(loss)
        limits = [(f'the subject_budget of {subject!r}', account.budget, account.spent())]
        if log_id is not None and budget > 0:
            limits.append((f'the budget of the log {log_id!r}', as_fraction(budget),
                           account.spent(log_id)))
        for name, limit, spent in limits:
            if limit is not None and spent + cost > limit:
                counted = '' if cost == loss.epsilon else (
                    f' (ε = {as_text(loss.epsilon)} at k = {loss.adjacency}, counted for '
                    f'{account.unit})')
                before = self._entry(self._latest.get((subject, log_id)))
                changed = _changed(before, description) if log_id is not None else ''
                raise BudgetError(
                    f'{name} is {as_text(limit)}: {as_text(spent)} of it is spent, '
                    f'{as_text(max(limit - spent, Fraction(0)))} is left, and this costs '
                    f'{as_text(cost)} more{counted}{changed}')

    def charge(self, subject: str, loss: Loss, *, settings: str, description: str,
               log_id: str | None = None, content: bytes = b'',
               words: Sequence[Sequence[str]] = (), lengths: Sequence[int] | None = None,
               files=None, budget: float = 0.0,
               subject_budget: float = 0.0) -> tuple[Entry, bool]:
        """
        Spend ε, durably, or return the charge that the log already has under these settings.

        :param subject: whose privacy is spent.
        :param settings: a digest; :param description: what people read of it, JSON.
        :param log_id: None for a word that a live node begins.
        :param content: `fingerprint` of the sensitive words, or `file_fingerprint`.
        :param words: the released words.
        :param lengths: of released words that are not kept; None: those of `words`.
        :param files: a function from the number of the charge to the (path, staged path, digest)
            of its files, or nothing.
        :param budget: what one log may spend; 0.0: no limit.
        :param subject_budget: as in `keep_budget`; the stored one holds.
        :return: the charge, and whether it is a new one.
        :raises BudgetError: the charge would pass a budget, or is counted in another unit than its
            subject; nothing is spent.
        :raises LedgerError: the ledger has a problem, or cannot be written; nothing is spent.
        """
        self.keep_budget(subject, subject_budget)
        lengths = [len(word) for word in words] if lengths is None else lengths
        packed = zlib.compress(json.dumps([list(word) for word in words]).encode())
        with self._errors():
            with self._transaction():
                if log_id is not None:
                    found = self.find(subject, log_id, settings)
                    if found is not None:
                        return found, False
                self._refuse_if_damaged()
                self._check(subject, loss, log_id, budget, description)
                made = list(files(self._number + 1)) if files else []
                entry = self._append(
                    'charge', subject, log_id=log_id, settings=settings, description=description,
                    loss=loss, lengths=json.dumps(list(lengths)), content=content, packed=packed,
                    files=len(made))
                for path, staged, digest in made:
                    self._insert_file(LedgerFile(entry.number, path, staged, digest, False))
            self._update_mark()
            return entry, True

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
            rows = self._db.execute(f'SELECT {", ".join(FILE_COLUMNS)} FROM files {condition} '
                                    'ORDER BY number, path', values).fetchall()
        return [_file_of(row) for row in rows]

    def has_path(self, path: Path) -> bool:
        """Return whether a release has, or is to have, this path."""
        with self._errors():
            return self._db.execute('SELECT 1 FROM files WHERE path = ?',
                                    (str(path),)).fetchone() is not None

    def move(self, path: Path, new_path: Path) -> None:
        """Promise another path to a file that is not visible yet."""
        self._change_file(path, path=new_path)

    def restage(self, path: Path, new_path: Path, staged: Path, digest: str) -> None:
        """Note that what was lost before it was moved to `path` has been made ready again."""
        self._change_file(path, path=new_path, staged=staged, digest=digest, visible=False)

    def set_visible(self, path: Path) -> None:
        """Note that a file has been moved to its path."""
        self._change_file(path, visible=True)

    def _change_file(self, file_path, **changes):
        with self._errors(), self._transaction():
            row = self._db.execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files '
                                   'WHERE path = ?', (str(file_path),)).fetchone()
            if row is None:
                return
            *row, seal = row
            file = LedgerFile(**dict(zip(FILE_COLUMNS, row, strict=True)) | changes)
            self._db.execute('DELETE FROM files WHERE path = ?', (str(file_path),))
            # A row that was damaged stays so.
            self._insert_file(file, None if self._seal_of(row) == seal else seal)

    def charges(self) -> list[Entry]:
        """Return all charges in order."""
        return [entry for entry in self.entries() if entry.kind == 'charge']

    def entries(self) -> list[Entry]:
        """Return all entries in order; in a damaged ledger, those that can be read."""
        with self._errors():
            rows = self._db.execute(f'SELECT {", ".join(COLUMNS)} FROM charges '
                                    'ORDER BY number').fetchall()
        return [entry for row in rows if (entry := Entry(*row)).is_sound()]

    def problems(self) -> list[str]:
        """Verify everything anew; return one sentence for each problem."""
        with self._errors():
            self._forget()
            return self._look()

    def _look(self):
        """Catch up, and return all that is wrong."""
        try:
            mark, problem = Mark.read(self._mark), None
        except LedgerError as error:
            mark, problem = None, str(error)
        self._catch_up()  # after the mark was read: it is never ahead of what is written
        if mark is not None and not self._agrees(mark):
            problem = (f'the ledger looks rolled back or replaced: {printable(self._mark.name)} '
                       'tells of a charge that it does not hold, and what that one released is '
                       'still known to others')
        return self._found + ([problem] if problem else [])

    def _refuse_if_damaged(self):
        problems = self._look()
        if self._place_of_file() != self._place:
            raise LedgerError(f'ledger {self._name} was replaced or removed while it was open: '
                              'start this program again')
        if problems:
            raise LedgerError(f'ledger {self._name}: {problems[0]}. {self._how_to_recover}')

    @property
    def _how_to_recover(self):
        return ('Nothing is charged to it as it is: put back its newest whole copy, if there is '
                f'one, and run symdp ledger {self._name} --recover')

    def _place_of_file(self):
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check_not_lost(self):
        """Check that there is no mark that tells of a ledger where none is."""
        try:
            lost = Mark.read(self._mark) is not None
        except LedgerError:
            lost = True
        if lost:
            state = 'empty' if self.path.exists() else 'gone'
            raise LedgerError(f'ledger {self._name} is {state}, and '
                              f'{printable(self._mark.name)} tells that it held charges. '
                              f'{self._how_to_recover}')

    def _no_ledger(self):
        if self._mark.exists():
            return LedgerError(f'ledger {self._name} is damaged. {self._how_to_recover}')
        return LedgerError(f'ledger {self._name} is a file of another kind: name a new one')

    # What was read so far, and verified: later looks read on from there.

    def _forget(self):
        self._is_read = False
        self._number, self._seal = 0, self.id.encode()
        self._accounts, self._numbers, self._latest, self._found = {}, {}, {}, []

    def _catch_up(self):
        """Read and verify what was written since the last look, by this process or another."""
        try:
            if self._is_read:
                self._read_on()
            else:
                with self._snapshot():
                    self._read_all()
                    self._is_read = True
        except FAILURES as error:
            if not _is_damage(error):
                raise
            self._is_read = True
            self._problem(f'the file is damaged ({error or "out of memory"})')

    def _read_all(self):
        check = self._db.execute('PRAGMA integrity_check(1)').fetchone()
        if check != ('ok',):
            self._problem('the file is damaged (SQLite finds it malformed)')
        self._read_on()
        found = Counter()
        for *row, seal in self._db.execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files'):
            found[row[0] if self._seal_of(row) == seal else None] += 1
        told = Counter(dict(self._db.execute('SELECT number, files FROM charges WHERE files != 0')))
        if found != told:
            self._problem('what it tells of released files was changed')

    def _read_on(self):
        if self._number:
            row = self._db.execute('SELECT seal FROM charges WHERE number = ?',
                                   (self._number,)).fetchone()
            if row is None or row[0] != self._seal:
                self._problem(f'charge {self._number} was changed or removed while it was open')
        for *row, seal in self._db.execute(
                f'SELECT {", ".join(COLUMNS)}, seal FROM charges WHERE number > ? '
                'ORDER BY number', (self._number,)):
            self._take(row, seal)

    def _take(self, row, seal):
        entry = Entry(*row)
        number, expected = entry.number, self._number + 1
        if type(number) is not int or number < expected:
            self._problem('its charges are in disorder')
            return
        if number > expected:
            self._problem(f'charges {expected} to {number - 1} are missing')
        if not isinstance(seal, bytes) or not hmac.compare_digest(
                self._seal_of(row, self._seal), seal):
            self._problem(f'charge {number}, or the one before it, was changed or removed')
        self._number, self._seal = number, seal if isinstance(seal, bytes) else b''
        if not entry.is_sound():
            self._problem(f'charge {number} is damaged')
            return
        if entry.subject or entry.kind != 'recovery':
            self._accounts.setdefault(entry.subject, Account(entry.subject)).add(entry)
        if entry.kind == 'charge' and entry.log_id is not None:
            self._numbers.setdefault((entry.subject, entry.log_id, entry.settings), number)
            self._latest[entry.subject, entry.log_id] = number

    def _problem(self, text):
        if text not in self._found:
            self._found.append(text)

    def _entry(self, number):
        if number is None:
            return None
        row = self._db.execute(f'SELECT {", ".join(COLUMNS)} FROM charges WHERE number = ?',
                               (number,)).fetchone()
        return None if row is None else Entry(*row)

    def _append(self, kind, subject, *, log_id=None, settings='', description='{}', epsilon='0',
                loss=None, lengths='[]', content=b'', packed=b'', files=0):
        """Write one more entry, in the transaction that is open and has read all before."""
        for name, text in (('subject', subject), ('log', log_id or '')):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise LedgerError(f'the name of the {name} {text!a} is not UTF-8: rename '
                                  'it') from None
        counted = {'epsilon': epsilon, 'adjacency': 0, 'sampling': '', 'period': None,
                   'seconds': None} if loss is None else _columns_of(loss)
        entry = Entry(
            self._number + 1, kind, subject, log_id, settings, description, **counted,
            made=datetime.now(timezone.utc).isoformat(timespec='seconds'), lengths=lengths,
            content=content, packed=packed, files=files)
        self._insert(entry, self._seal)
        return entry

    def _insert(self, entry, before):
        """Write an entry; return its seal."""
        seal = self._seal_of(astuple(entry), before)
        self._db.execute(f'INSERT INTO charges ({", ".join(COLUMNS)}, seal) '
                         f'VALUES ({"?, " * len(COLUMNS)}?)', (*astuple(entry), seal))
        return seal

    def _insert_file(self, file, seal=None):
        row = (file.number, str(file.path), str(file.staged), file.digest, int(file.visible))
        self._db.execute('INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)',
                         (*row, self._seal_of(row) if seal is None else seal))

    def _seal_of(self, row, before=b''):
        return self._hmac(ascii((before, *row)).encode())  # no two rows have one text

    def _hmac(self, data):
        return hmac.digest(self._key, data, 'sha256')

    @property
    def _mark(self):
        return self.path.with_name(f'{self.path.name}.mark')

    def _agrees(self, mark):
        if mark.ledger != self.id or mark.number > self._number:
            return False
        if mark.subjects is None:  # of version 1: its seals are gone
            return True
        row = self._db.execute('SELECT seal FROM charges WHERE number = ?',
                               (mark.number,)).fetchone()
        return row is not None and isinstance(row[0], bytes) and row[0].hex() == mark.seal

    def _update_mark(self):
        # After the commit: a mark that is behind warns of nothing, one ahead would warn wrongly.
        # One that does not agree is kept: it is the evidence. What was spent is spent, whatever
        # becomes of the mark.
        with suppress(OSError, sqlite3.Error, LedgerError), self._transaction():
            if not self._look():
                self._write_mark()

    def _write_mark(self):
        Mark.of(self.id, self._number, self._seal, self._accounts).write(self._mark)

    @contextmanager
    def _transaction(self, kind='IMMEDIATE'):
        self._db.execute(f'BEGIN {kind}')
        try:
            yield
            self._db.execute('COMMIT')
        except BaseException:
            if self._db.in_transaction:
                self._db.execute('ROLLBACK')
            raise

    @contextmanager
    def _snapshot(self):
        """Read one state of the ledger, whatever others write meanwhile."""
        if self._db.in_transaction:
            yield
        else:
            with self._transaction('DEFERRED'):
                yield

    @contextmanager
    def _errors(self):
        """Turn SQLite's errors into ours."""
        problem = damage = None
        try:
            yield
        except FAILURES as error:
            problem, damage = str(error) or type(error).__name__, _is_damage(error)
        if problem == 'file is not a database':
            raise self._no_ledger()
        if damage:
            raise LedgerError(f'ledger {self._name} is damaged ({problem}). {self._how_to_recover}')
        if problem is not None:
            raise LedgerError(f'ledger {self._name} cannot be used: {problem}')


def _columns_of(loss: Loss) -> dict:
    """Return the columns of an entry that tell of a loss."""
    return {'epsilon': written(loss.epsilon), 'adjacency': loss.adjacency,
            'sampling': loss.sampling,
            'period': None if loss.period is None else written(loss.period),
            'seconds': None if loss.seconds is None else written(loss.seconds)}


def _file_of(row):
    number, path, staged, digest, visible = row
    if not all(isinstance(text, str) for text in (path, staged, digest)):
        raise LedgerError(f'what the ledger tells of the files of charge {number} is damaged')
    return LedgerFile(number, Path(path), Path(staged), digest, bool(visible))


def _changed(before: Entry | None, description):
    """Return what is new in the settings of a log that was released before."""
    now = json.loads(description) if description and before is not None else {}
    was = before.described if now else {}
    changes = [f'{name} {_short(was.get(name))} → {_short(now.get(name))}'
               if len(f'{was.get(name)}{now.get(name)}') <= 40 else f'another {name}'
               for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name)]
    return f' (released before under other settings: {", ".join(changes)})' if changes else ''


def _short(value):
    return f'{value:g}' if isinstance(value, float) else 'none' if value is None else str(value)


def _is_damage(error):
    return not any(words in str(error) for words in _NOT_DAMAGE)
