# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The entries of a ledger: read once, verified, and added to the account of their subject; appended.

Amounts are added over the rows in their order, never by an index. Later readings go on after the
last entry that was read, and verify that it is unchanged.
"""
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction
from hmac import compare_digest
from typing import Any

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Account, Entry
from symdp_ros.ledger.budgets import changed_settings, check_budgets
from symdp_ros.ledger.storage.database import FAILURES, FILE_COLUMNS, is_damage, LedgerDatabase
from symdp_ros.ledger.storage.mark import Mark, of_account
from symdp_ros.ledger.units import Loss


class LedgerEntries:
    """
    What a ledger holds, as far as it was read.

    `accounts`: by subject; `number`: of the last entry.
    """

    def __init__(self, database: LedgerDatabase):
        self._database = database
        self.forget()

    def forget(self) -> None:
        """Begin again with the first entry."""
        self.number, self._seal = 0, self._database.id.encode()
        self.accounts: dict[str, Account] = {}
        self._marked: dict[str, dict[str, Any]] = {}  # what the mark says of them
        self._charges: dict[tuple[str, str, str], int] = {}  # by subject, log id and settings
        self._latest: dict[tuple[str, str | None], int] = {}  # by subject and log id
        self._is_read = self._has_appended = False
        self._problems: list[str] = []

    def account(self, subject: str) -> Account:
        """Return what a subject has spent, as far as was read; not to be changed."""
        return self.accounts.get(subject) or Account(subject)

    def charge_of(self, subject: str, log_id: str, settings: str) -> Entry | None:
        """Return the charge of a log under some settings, as far as was read, or None."""
        return self._at(self._charges.get((subject, log_id, settings)))

    def _at(self, number: int | None) -> Entry | None:
        return None if number is None else self._database.entry(number)

    def check_budgets(self, subject: str, loss: Loss, log_id: str | None, budget: Fraction | None,
                      description: str, account: Account | None = None) -> None:
        """
        Check that a charge would be within the budgets, by what was read.

        :param budget, description, account: as of `Ledger.check`; `budget` None: no limit.
        :raises BudgetError: as `budgets.check_budgets`.
        """
        check_budgets(account or self.account(subject), loss, log_id, budget,
                      changed_settings(self._at(self._latest.get((subject, log_id))), description))

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

    def append(self, entry: Entry, **changes: Any) -> Entry:
        """
        Write one more entry, after all were read; return it with its number and the time.

        :param changes: of its fields.
        """
        entry = replace(entry, number=self.number + 1, made=datetime.now(timezone.utc).isoformat(
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
        if problems:
            raise self._database.damaged(f'ledger {self._database.name}: {problems[0]}')

    def _update_mark(self) -> None:
        # After the commit: a mark ahead of the ledger would give a false warning. One that does
        # not agree is kept, as evidence. An error does not matter: the charge is committed.
        with suppress(OSError, LedgerError, *FAILURES), self._database.transaction():
            if not self.problems():
                for subject in self.accounts.keys() - self._marked.keys():
                    self._marked[subject] = of_account(self.accounts[subject])
                Mark(self._database.id, self.number, self._seal.hex(), self._marked).write(
                    self._database.mark)

    def problems(self) -> list[str]:
        """Catch up; return one sentence for each problem of the ledger, or of its mark."""
        mark, problem = None, ''
        try:
            mark = Mark.read(self._database.mark)
        except LedgerError as error:
            problem = str(error)
        self.catch_up()  # after the mark was read, which is never ahead of the ledger
        if mark is not None and not self._agrees(mark):
            name = printable(self._database.mark.name)
            problem = (f'the ledger looks rolled back or replaced: {name} lists a charge that it '
                       'does not hold, and the release of that charge is still known to others')
        return self._problems + ([problem] if problem else [])

    def catch_up(self) -> None:
        """
        Read and verify what was written since the last reading, by any process.

        Damage is noted as a problem; other errors of SQLite are raised.
        """
        try:
            if self._is_read:
                self._read_on()
            else:
                with self._database.snapshot():
                    self._read_all()
                    self._is_read = True
        except FAILURES as error:
            if not is_damage(error):
                raise
            self._is_read = True
            self._note(f'the file is damaged ({error or "out of memory"})')

    def _read_all(self) -> None:
        execute = self._database.execute
        if execute('PRAGMA integrity_check(1)').fetchone() != ('ok',):
            self._note('the file is damaged (SQLite finds it malformed)')
        self._read_on()
        found: Counter[int | None] = Counter()
        for *row, seal in execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files'):
            found[row[0] if self._database.seal(row) == seal else None] += 1
        if found != Counter(dict(execute('SELECT number, files FROM charges WHERE files != 0'))):
            self._note('its list of released files was changed')

    def _read_on(self) -> None:
        if self.number and self._database.seal_at(self.number) != self._seal:
            self._note(f'charge {self.number} was changed or removed while it was open')
        for *row, seal in self._database.entries(after=self.number):
            self._take(row, seal)

    def _take(self, row: list[Any], seal: object) -> None:
        entry = Entry(*row)
        number, expected = entry.number, self.number + 1
        if type(number) is not int or number < expected:
            self._note('its charges are in disorder')
            return
        if number > expected:
            self._note(f'charges {expected} to {number - 1} are missing')
        if not isinstance(seal, bytes) or not compare_digest(
                self._database.seal(row, self._seal), seal):
            self._note(f'charge {number}, or the one before it, was changed or removed')
        self.number, self._seal = number, seal if isinstance(seal, bytes) else b''
        if not entry.is_sound():
            self._note(f'charge {number} is damaged')
            return
        self._add(entry, self._seal)

    def _add(self, entry: Entry, seal: bytes) -> None:
        """Count one more entry, the last one."""
        self.number, self._seal = entry.number, seal
        if entry.kind != 'recovery':
            if entry.subject not in self.accounts:
                self.accounts[entry.subject] = Account(entry.subject)
            self.accounts[entry.subject].add(entry)
            self._marked.pop(entry.subject, None)
        if entry.kind == 'charge' and entry.log_id is not None:
            self._charges.setdefault((entry.subject, entry.log_id, entry.settings), entry.number)
            self._latest[entry.subject, entry.log_id] = entry.number

    def _agrees(self, mark: Mark) -> bool:
        if mark.ledger != self._database.id or mark.number > self.number:
            return False
        seal = self._database.seal_at(mark.number)
        return isinstance(seal, bytes) and seal.hex() == mark.seal

    def _note(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
