# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The entries of a ledger: read, verified, and added to the account of their subject; appended.

The mark of a ledger is written after all entries up to its own were verified. So whoever opens the
ledger reads every entry after the mark's, and of those before it the ones of a subject that is
asked for: each is verified by its seal, and that none is missing by the total in the mark. A
charge is held against the entries of its own subject alone: what was changed in those of another
one enters no sum of it, and is found when that one is charged, or by `symdp ledger`, which
verifies all (`forget`). Amounts are added over the rows in their order, never by an index.
"""
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction
from hmac import compare_digest
from typing import Any

from symdp_ros.errors import LedgerError, printable, raising
from symdp_ros.ledger.accounts import Account
from symdp_ros.ledger.entry import changed_settings, Entry, Loss
from symdp_ros.ledger.storage.database import (COPY, FAILURES, FILE_COLUMNS, is_damage,
                                               LedgerDatabase, LedgerFile, ReleasedFiles)
from symdp_ros.ledger.storage.mark import Mark, of_account

_FEW = 4  # subjects, for each of which the entries are looked through


class LedgerEntries:
    """
    What a ledger holds, as far as it was read; `number`: of the last entry.

    :ivar _start: the mark after whose entry the reading began; None: with the first entry.
    :ivar _marked: the last mark that was read or written.
    :ivar _changed: subjects with entries after it: the number of the last one.
    """

    def __init__(self, database: LedgerDatabase):
        self._database = database
        self.forget()

    def forget(self, *, verify_all: bool = False) -> None:
        """Begin again; `verify_all`: with the first entry."""
        self.number, self._seal = 0, self._database.id.encode()
        self._verify_all = verify_all
        self._start: Mark | None = None
        self._marked, self._changed = Mark(self._database.id, 0, ''), dict[str, int]()
        self._accounts: dict[str, Account] = {}
        self._charges: dict[tuple[str, str, str], int] = {}  # by subject, log id and settings
        self._latest: dict[tuple[str, str | None], int] = {}  # by subject and log id
        self._is_read = self._has_appended = False
        self._problems: list[str] = []

    def subjects(self) -> list[str]:
        """Return every subject of an entry, as far as was read, sorted."""
        if self._start is None:
            return sorted(self._accounts)
        return sorted(subject for subject in self._database.subjects() if subject)

    def read(self, subjects: Sequence[str]) -> None:
        """Catch up, before these subjects are asked for: of many, all entries are read at once."""
        self.catch_up()
        if self._start is not None and not self._has_appended and _FEW < len(
                set(subjects) - self._accounts.keys()):
            self.forget(verify_all=True)
            self.catch_up()

    def account(self, subject: str) -> Account:
        """Return what a subject has spent, as far as was read; not to be changed."""
        account = self._accounts.get(subject)
        if account is None and self._start is not None:
            account = self._accounts[subject] = Account(subject)
            with self._noting_damage():
                self._read_account(account, self._start)
        return account or Account(subject)

    def _read_account(self, account: Account, start: Mark) -> None:
        """Read the entries of a subject; what is wrong is noted as a problem."""
        subject, before, after = account.subject, list[Entry](), list[Entry]()
        for *row, seal, last in self._database.entries_of(subject, self.number):
            entry = Entry._make(row)
            if self._verify(entry, seal,
                            self._database.id.encode() if entry.number == 1 else last):
                (before if entry.number <= start.number else after).append(entry)
        for entry in before:
            self._count(account, entry)
        if start.has_more(account):
            self._note(f'charges of {printable(subject)} are missing: the mark says that it has '
                       'spent more')
        for entry in after:
            self._count(account, entry)

    def charge_of(self, subject: str, log_id: str, settings: str) -> Entry | None:
        """Return the charge of a log under some settings, as far as was read, or None."""
        self.account(subject)  # reads it
        return self._at(self._charges.get((subject, log_id, settings)))

    def _at(self, number: int | None) -> Entry | None:
        return None if number is None else self._database.entry(number)

    def check_budgets(self, subject: str, loss: Loss, log_id: str | None, budget: Fraction | None,
                      described: Mapping[str, Any], account: Account | None = None) -> None:
        """
        Check that a charge would be within the budgets, by what was read.

        :param budget, account: as of `Ledger.check`; `budget` None: no limit.
        :param described: the settings of the release.
        :raises BudgetError: as `Account.check`.
        """
        stored = self.account(subject)
        self._refuse_problems(self._problems)  # of this subject, too
        (account or stored).check(loss, log_id, budget, changed_settings(
            self._at(self._latest.get((subject, log_id))), described))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Append entries in one transaction: all of them, or none."""
        with self._database.errors():
            try:
                with self._database.transaction():
                    yield
            except BaseException:
                if self._has_appended:  # and may have read what was not committed
                    self.forget()
                raise
            if self._has_appended:
                self._has_appended = False
                self._update_mark()

    def charge(self, new: Entry, budget: Fraction | None, files: Sequence[LedgerFile], *,
               subject: str) -> tuple[Entry, bool]:
        """
        Charge a subject, unless its log has this charge; return it, and whether it is a new one.

        :param new, files: as of `Ledger.charging`.
        :param budget: as of `check_budgets`.
        :raises BudgetError, LedgerError: as `Ledger.charge`.
        """
        try:
            (new.log_id or '').encode()
        except UnicodeEncodeError:
            raise LedgerError(f'the name of the log {new.log_id!a} is not UTF-8: rename it'
                              ) from None
        is_first = not self._has_appended  # else all is read, and nobody else can have written
        if is_first:
            self.catch_up()
        if new.log_id is not None:
            earlier = self.charge_of(subject, new.log_id, new.settings)
            if earlier is not None:
                return earlier, False
        if is_first:
            self.check_sound()
        table = ReleasedFiles(self._database)
        for file in files:
            if table.has_path(file.path):
                raise LedgerError(f'{printable(file.path)} was promised to another release '
                                  'meanwhile: release it again')
        self.check_budgets(subject, new.loss, new.log_id, budget, new.settings_described)
        entry = self.append(new, subject=subject, files=len(files))
        for file in files:
            table.add(replace(file, number=entry.number))
        return entry, True

    def append(self, entry: Entry, **changes: Any) -> Entry:
        """
        Write one more entry, after all were read; return it with its number and the time.

        :param changes: of its fields.
        """
        if self.number == 0:
            self._begin_mark()
        entry = entry._replace(number=self.number + 1, made=datetime.now(timezone.utc).isoformat(
            timespec='seconds'), **changes)
        self._has_appended = True
        seal = self._database.insert(entry, self._seal)
        self._add(entry, seal)
        return entry

    def check_sound(self) -> None:
        """
        Check that nothing is charged to a ledger with a problem.

        :raises LedgerError: it has one.
        """
        problems = self.problems()
        self._database.check_in_place()
        self._refuse_problems(problems)

    def _refuse_problems(self, problems: list[str]) -> None:
        if problems:
            raise self._database.damaged(f'ledger {self._database.name}: {problems[0]}')

    def _begin_mark(self) -> None:
        """Write the mark of a ledger without entries: one with entries and no mark has lost it."""
        with raising(LedgerError, f'{printable(self._database.mark)} cannot be written', OSError):
            Mark(self._database.id, 0, '').write(self._database.mark)

    def _update_mark(self) -> None:
        # After the commit: a mark ahead of the ledger would give a false warning. One that does
        # not agree is kept, as evidence. An error does not matter: the charge is committed.
        with suppress(OSError, LedgerError, *FAILURES), self._database.transaction():
            if self.problems():
                return
            changed = {subject: of_account(self.account(subject)) for subject in self._changed}
            if not self._problems:
                mark = Mark(self._database.id, self.number, self._seal.hex(),
                            self._marked.subjects | changed)
                mark.write(self._database.mark)
                self._marked, self._changed = mark, {}

    def problems(self, *, use_mark: bool = True) -> list[str]:
        """
        Catch up; return one sentence for each problem of the ledger, or of its mark.

        :param use_mark: False: of the ledger alone.
        """
        mark, problem, name = None, '', printable(self._database.mark.name)
        try:
            mark = Mark.read(self._database.mark) if use_mark else None
        except LedgerError as error:
            problem = str(error)
        self.catch_up(mark)  # after the mark was read, which is never ahead of the ledger
        if mark is None and use_mark and self.number and not problem:
            problem = (f'{name} is missing, as of a ledger that was restored from a backup of the '
                       'ledger file alone: it is not known whether charges are missing from the '
                       'ledger')
        elif mark is not None and not self._agrees(mark):
            problem = (f'the ledger looks rolled back or replaced: {name} lists a charge that it '
                       'does not hold, and the release of that charge is still known to others')
        elif mark is not None:
            self._marked = mark
            self._changed = {subject: number for subject, number in self._changed.items()
                             if number > mark.number}
        return self._problems + ([problem] if problem else [])

    def catch_up(self, mark: Mark | None = None) -> None:
        """
        Read and verify what was written since the last reading, by any process.

        Damage is noted as a problem; other errors of SQLite are raised.

        :param mark: of the ledger, read just now; None: it is read where it is used.
        """
        if self._is_read:
            with self._noting_damage():
                self._read_on()
            return
        if mark is None and not self._verify_all:
            with suppress(LedgerError):
                mark = Mark.read(self._database.mark)
        with self._database.snapshot():
            with self._noting_damage():
                self._check_file()
            with self._noting_damage():
                if mark is not None and mark.number and not self._verify_all \
                        and not self._problems and self._agrees(mark):
                    self._start = self._marked = mark
                    self.number, self._seal = mark.number, bytes.fromhex(mark.seal)
                self._read_on()
        self._is_read = True

    @contextmanager
    def _noting_damage(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            if not is_damage(error):
                raise
            self._note(f'the file is damaged ({error or "out of memory"})')

    def _check_file(self) -> None:
        """Note what is wrong with the file, or the list of released files."""
        execute = self._database.execute
        if execute('PRAGMA integrity_check(1)').fetchone() != ('ok',):
            self._note('the file is damaged (SQLite finds it malformed)')
        count, last = execute('SELECT count(*), max(number) FROM charges').fetchone()
        if count and count != last:
            self._note('charges are missing')
        counts: Counter[int | None] = Counter()
        for *row, seal in execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files'):
            if self._database.seal(row) != seal:
                counts[None] += 1
            elif row[-1] != COPY:
                counts[row[0]] += 1
        if counts != Counter(dict(execute('SELECT number, files FROM charges WHERE files != 0'))):
            self._note('its list of released files was changed')

    def _read_on(self) -> None:
        if self.number and self._database.seal_at(self.number) != self._seal:
            self._note(f'charge {self.number} was changed or removed while it was open')
        for row in self._database.entries(after=self.number):
            self._take(Entry._make(row[:-1]), row[-1])

    def _take(self, entry: Entry, seal: object) -> None:
        number, expected = entry.number, self.number + 1
        if type(number) is not int or number < expected:
            self._note('its charges are in disorder')
            return
        if number > expected:
            self._note(f'charges {expected} to {number - 1} are missing')
        is_sound = self._verify(entry, seal, self._seal)
        self.number, self._seal = number, seal if isinstance(seal, bytes) else b''
        if is_sound:
            self._add(entry, self._seal)

    def _verify(self, entry: Entry, seal: object, before: object) -> bool:
        """
        Note what is wrong with an entry, and return whether it can be counted.

        :param before: the seal of the one before it.
        """
        if not isinstance(seal, bytes) or not isinstance(before, bytes) or not compare_digest(
                self._database.seal(entry, before), seal):
            self._note(f'charge {entry.number}, or the one before it, was changed or removed')
        is_sound = entry.is_sound()
        if not is_sound:
            self._note(f'charge {entry.number} is damaged')
        return is_sound

    def _add(self, entry: Entry, seal: bytes) -> None:
        """Count one more entry, the last one."""
        self.number, self._seal = entry.number, seal
        if entry.kind == 'recovery':
            return
        subject = entry.subject
        self._changed[subject] = entry.number
        if self._start is None and subject not in self._accounts:
            self._accounts[subject] = Account(subject)
        if subject in self._accounts:  # else it is read when it is asked for
            self._count(self._accounts[subject], entry)

    def _count(self, account: Account, entry: Entry) -> None:
        account.add(entry)
        if entry.kind == 'charge' and entry.log_id is not None:
            self._charges.setdefault((entry.subject, entry.log_id, entry.settings), entry.number)
            self._latest[entry.subject, entry.log_id] = entry.number

    def _agrees(self, mark: Mark) -> bool:
        if mark.number == 0:
            return mark.ledger == self._database.id or self.number == 0
        if mark.ledger != self._database.id:
            return False
        seal = self._database.seal_at(mark.number)
        return isinstance(seal, bytes) and seal.hex() == mark.seal

    def _note(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
