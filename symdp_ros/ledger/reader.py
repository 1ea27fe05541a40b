# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading a ledger: every entry once, verified and added to the account of its subject.

Amounts are added over the rows in their order, never by an index. Later readings go on after the
last entry that was read, and verify that it is unchanged.
"""
from collections import Counter
from hmac import compare_digest
from typing import Any

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Account, Entry
from symdp_ros.ledger.database import FAILURES, FILE_COLUMNS, is_damage, LedgerDatabase
from symdp_ros.ledger.mark import Mark


class LedgerReader:
    """
    What a ledger holds, as far as it was read.

    `accounts`: by subject; `charges`: (subject, log id, settings) → number of the charge;
    `latest`: (subject, log id) → number of its last charge; `number`, `seal`: of the last entry.
    """

    def __init__(self, database: LedgerDatabase):
        self._database = database
        self.forget()

    def forget(self) -> None:
        """Begin again with the first entry."""
        self.number, self.seal = 0, self._database.id.encode()
        self.accounts: dict[str, Account] = {}
        self.charges: dict[tuple[str, str, str], int] = {}
        self.latest: dict[tuple[str, str | None], int] = {}
        self._is_read = False
        self._problems: list[str] = []

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

    def mark(self) -> Mark:
        """Return the mark of what was read."""
        return Mark.of(self._database.id, self.number, self.seal, self.accounts)

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
        if self.number and self._database.seal_at(self.number) != self.seal:
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
                self._database.seal(row, self.seal), seal):
            self._note(f'charge {number}, or the one before it, was changed or removed')
        self.number, self.seal = number, seal if isinstance(seal, bytes) else b''
        if not entry.is_sound():
            self._note(f'charge {number} is damaged')
            return
        if entry.kind != 'recovery':
            self.accounts.setdefault(entry.subject, Account(entry.subject)).add(entry)
        if entry.kind == 'charge' and entry.log_id is not None:
            self.charges.setdefault((entry.subject, entry.log_id, entry.settings), number)
            self.latest[entry.subject, entry.log_id] = number

    def _agrees(self, mark: Mark) -> bool:
        if mark.ledger != self._database.id or mark.number > self.number:
            return False
        if mark.subjects is None:  # of version 1, whose seals are gone
            return True
        seal = self._database.seal_at(mark.number)
        return isinstance(seal, bytes) and seal.hex() == mark.seal

    def _note(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
