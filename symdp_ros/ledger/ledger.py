# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The ledger: the privacy that each subject has spent, and for which release.

Every charge is one row of a file, written in one transaction that first reads what was spent: so
processes that share a ledger wait for one another, and cannot exceed a budget together. Sums are
exact, and counted in one unit for each subject (`ledger.accounts`): ε is read as its shortest
decimal, so three times 0.1 fits into 0.3. With accounting: zcdp, a budget limits the ε that
follows from the sum of ρ at some δ (`core.accounting`), or the sum of ε where that is less.
Budgets of subjects are rows, too: they are stored once, and used by every call.

The charge of a log holds the released words (they are public), so that they can be written again
at no cost; and an HMAC of the sensitive words under a key that never leaves the ledger, to detect
a log whose content changed. It holds no sensitive symbol; of the times of a log, when it begins
and ends, to find logs that overlap. The charge of an archive holds no words, which would be too
many, and the HMAC of its file.

Rows are sealed in a chain (`storage.database`). A mark in the same folder (`storage.mark`)
holds number and seal of the last row, to detect a ledger that was put back to an older state. A
ledger with a problem is not charged: see `ledger.recovery`.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from symdp_ros.errors import BudgetError, LedgerError, printable
from symdp_ros.files.closable import Closable
from symdp_ros.ledger.accounts import Account, Unit
from symdp_ros.ledger.budgets import budget_entry, checked_delta, limit, NamedBudget
from symdp_ros.ledger.entry import Entry, Loss, new_charge, rounded_up, written
from symdp_ros.ledger.storage.database import LedgerDatabase, LedgerFile, ReleasedFiles
from symdp_ros.ledger.storage.entries import LedgerEntries
from symdp_ros.ledger.subjects import check_subject

_PART_BYTES = 1 << 20


class Ledger(Closable):
    """
    A ledger file, made where it is absent, unless `create` is False.

    Use one object from one thread at a time.

    :ivar files: the files of all releases.
    :raises LedgerError: the file cannot be made or opened, is no ledger or so damaged that it
        cannot be read; or it is gone or empty, and its mark lists charges.
    """

    def __init__(self, path: str | Path, *, create: bool = True):
        self._database = LedgerDatabase(path, create=create)
        self.path, self.id = self._database.path, self._database.id
        self._entries = LedgerEntries(self._database)
        self.files = ReleasedFiles(self._database)

    def __repr__(self) -> str:
        return f'<Ledger {self._database.name!r}>'

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _read(self, subjects: Sequence[str] = ()) -> Iterator[LedgerEntries]:
        """Give the entries, after reading what is new; `subjects`: of these, at least."""
        with self._database.errors():
            self._entries.read(subjects)
            yield self._entries

    def fingerprint(self, words: Sequence[Sequence[str | None]]) -> bytes:
        """Return the HMAC of sensitive words under the key of the ledger."""
        return self._database.new_digest(
            json.dumps([list(word) for word in words]).encode()).digest()

    def file_fingerprint(self, files: Mapping[str, Callable[[], BinaryIO]]) -> bytes:
        """
        Return the HMAC of sensitive files, and their names, under the key of the ledger.

        :param files: name → what opens the file.
        :raises OSError: one cannot be read.
        """
        hashed = self._database.new_digest()
        for name, opened in sorted(files.items()):
            with opened() as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(0)
                hashed.update(ascii((name, size)).encode())
                while part := file.read(_PART_BYTES):
                    hashed.update(part)
        return hashed.digest()

    def find(self, subject: str, log_id: str, settings: str) -> Entry | None:
        """Return the charge of a log under some settings, or None."""
        return self.find_all([subject], log_id, settings).get(subject)

    def find_all(self, subjects: Iterable[str], log_id: str, settings: str) -> dict[str, Entry]:
        """Return the charges of some subjects for a log under some settings, where there are."""
        subjects = list(subjects)
        with self._read(subjects) as entries:
            charges = {subject: entries.charge_of(subject, log_id, settings)
                       for subject in subjects}
        return {subject: entry for subject, entry in charges.items() if entry is not None}

    def account(self, subject: str) -> Account:
        """Return what a subject has spent, its budget and its unit; not to be changed."""
        with self._read() as entries:
            return entries.account(subject)

    def subjects(self) -> list[str]:
        """Return every subject that the ledger knows, sorted."""
        with self._read() as entries:
            return entries.subjects()

    def accounts(self) -> list[Account]:
        """Return the account of every subject, by its name; not to be changed."""
        with self._read() as entries:
            return list(map(entries.account, entries.subjects()))

    def spent(self, subject: str, log_id: str | None = None) -> Fraction:
        """Return exactly what a subject, or one of its logs, has spent, in the subject's unit."""
        return self.account(subject).spent(log_id)

    def unit(self, entry: Entry) -> Unit:
        """Return the unit of a charge's subject; its own, where a damaged ledger tells none."""
        return self.account(entry.subject).unit or Unit.of(entry.loss)

    def cost(self, entry: Entry) -> Fraction:
        """Return what a charge costs in the unit of its subject."""
        return self.unit(entry).cost(entry.loss)

    def keep_budget(self, subject: str, subject_budget: float, accounting: str = '',
                    delta: float = 0.0) -> None:
        """
        Store the budget of a subject, and its accounting, where none is stored.

        :param subject_budget: 0.0 leaves what is stored.
        :param accounting: 'pure' or 'zcdp'; '' leaves what is stored. 'pure' does so, too, without
            a subject_budget.
        :param delta: of 'zcdp', and of it alone: δ.
        :raises BudgetError: another one is stored; δ is out of range.
        :raises LedgerError: the ledger has a problem; the name can be none of a subject.
        """
        self.keep_budgets([subject], subject_budget, accounting, delta)

    def keep_budgets(self, subjects: Iterable[str], subject_budget: float, accounting: str = '',
                     delta: float = 0.0) -> None:
        """Do what `keep_budget` does for each of some subjects, in one transaction."""
        subjects = list(subjects)
        for subject in subjects:
            check_subject(subject)
        named = NamedBudget.of(subject_budget, accounting, delta)
        if not named.is_given:
            return
        with self._read(subjects) as entries:
            accounts = {subject: entries.account(subject) for subject in subjects}
        if any(named.adds_to(account) for account in accounts.values()):
            with self._noting() as entries:
                for subject in subjects:
                    stored = entries.account(subject)
                    # Another process may have been faster.
                    if named.adds_to(stored) and not named.differs_from(stored):
                        entries.append(named.entry(stored))
        for subject in subjects:
            named.check(self.account(subject), self._database.path)

    def set_budget(self, subject: str, budget: Fraction, accounting: str = '',
                   delta: float = 0.0) -> None:
        """
        Give a subject another budget; 0: none. This is an entry of the ledger.

        :param accounting, delta: as in `keep_budget`; '' keeps what is stored.
        :raises BudgetError: δ is out of range.
        :raises LedgerError: the ledger has a problem.
        """
        check_subject(subject)
        at = checked_delta(accounting, delta) if accounting else None
        self.account(subject)  # notes its problems, which refuse the entry
        with self._noting() as entries:
            entries.append(budget_entry(
                subject, budget, at if accounting else entries.account(subject).delta))

    def set_spent(self, subject: str, least: Fraction, reason: str,
                  least_rho: Fraction | None = None) -> Fraction:
        """
        Count at least so much, in the subject's unit, as spent; return what that adds.

        :param least_rho: the same of ρ; None: it is not known, and follows from what that adds.
        :raises LedgerError: the ledger has a problem; the name can be none of a subject.
        """
        check_subject(subject)
        self.account(subject)  # notes its problems, which refuse the entry
        with self._noting() as entries:
            account = entries.account(subject)
            more, rho = max(least - account.spent(), Fraction(0)), Fraction(0)
            if least_rho is not None and least_rho > rounded_up(account.rho):
                rho = rounded_up(least_rho - account.rho)
            if more or rho:  # of an equal ε, ρ may be less: the bound of a charge may be damaged
                described = {'reason': reason} | (
                    {} if least_rho is None else {'rho': written(rho)})
                entries.append(Entry(0, 'spent', subject, epsilon=written(more),
                                     description=json.dumps(described)))
        return more

    def note(self, entry: Entry) -> None:
        """
        Append an entry that is no charge; its number and time follow.

        :raises LedgerError: the ledger has a problem.
        """
        with self._noting() as entries:
            entries.append(entry)

    @contextmanager
    def _noting(self) -> Iterator[LedgerEntries]:
        """Give the entries in a transaction, after reading what is new, to append no charges."""
        with self._entries.writing():
            self._entries.check_sound()
            yield self._entries

    def check(self, subject: str, loss: Loss, log_id: str | None = None, *, budget: float = 0.0,
              description: str = '', account: Account | None = None) -> None:
        """
        Check that a charge would be within the budgets; parameters as in `charge`.

        :param account: what the subject would have spent by then; None: what it has spent.
        :raises BudgetError: it would not be, or is counted in another unit than its subject.
        :raises LedgerError: the ledger has a problem.
        """
        for error in self.check_all({subject: loss}, log_id, budget=budget,
                                    description=description, account=account).values():
            raise error

    def check_all(self, losses: Mapping[str, Loss], log_id: str | None = None, *,
                  budget: float = 0.0, description: str = '',
                  account: Account | None = None) -> dict[str, BudgetError]:
        """Return why a charge is refused, of those subjects of which one would be: `check`."""
        refused, most, described = {}, limit('budget', budget), json.loads(description or '{}')
        with self._read(list(losses)) as entries:
            entries.check_sound()
            for subject, loss in losses.items():
                try:
                    entries.check_budgets(subject, loss, log_id, most, described, account)
                except BudgetError as error:
                    refused[subject] = error
        return refused

    @contextmanager
    def charging(self, subject: str, *,
                 budget: float = 0.0) -> Iterator[Callable[..., tuple[Entry, bool]]]:
        """
        Open a transaction, for which other processes wait; it ends with the block.

        Its charges are then durable, or none of them is made: where the block ends with an error.
        It gives a function that charges one release and returns what `charge` does, of the first
        subject. It takes an entry of `new_charge` for each subject, and `files`. An error refuses
        a release of one subject alone; of several, let it end the block: some may be charged.

        :param subject: whose are those entries that do not say it.
        :param budget: what one log may spend; 0.0: no limit.
        :raises BudgetError: `budget` is no budget.
        :raises LedgerError: the ledger cannot be written; the name can be none of a subject.
        """
        if subject:
            check_subject(subject)
        self.account(subject)  # the first reading takes longest: not within the transaction
        most = limit('budget', budget)
        with self._entries.writing():
            yield partial(self._charge, subject, most)

    def _charge(self, subject: str, budget: Fraction | None, *new: Entry,
                files: Sequence[LedgerFile] = ()) -> tuple[Entry, bool]:
        """Charge a release in a transaction: see `charging`. The first subject has its files."""
        charges = [self._entries.charge(
            each, budget, () if i else files, subject=each.subject or subject)
            for i, each in enumerate(new)]
        for entry, is_new in charges if len(new) > 1 else ():
            if not is_new:
                raise LedgerError(f'{printable(entry.subject)} was charged for it by another '
                                  'process meanwhile: release it again')
        return charges[0]

    def charge(self, subject: str, loss: Loss, *, budget: float = 0.0, subject_budget: float = 0.0,
               files: Sequence[LedgerFile] = (), **described: Any) -> tuple[Entry, bool]:
        """
        Spend ε in a transaction of its own, or return the charge that the log has already.

        :param subject: whose privacy is spent.
        :param budget: what one log may spend; 0.0: no limit.
        :param subject_budget: as in `keep_budget`; the stored one holds.
        :param files: of the release, which get the number of the charge.
        :param described: what else `new_charge` takes.
        :return: the charge, and whether it is a new one: a log is charged once under the same
            settings.
        :raises BudgetError: the charge would pass a budget, or is counted in another unit than its
            subject; nothing is spent.
        :raises LedgerError: the ledger has a problem, or cannot be written; nothing is spent.
        """
        self.keep_budget(subject, subject_budget)
        with self.charging(subject, budget=budget) as charge:
            return charge(new_charge(loss, **described), files=files)

    def charges(self, **values: object) -> list[Entry]:
        """Return all charges in order; `values`: as of `entries`."""
        return self.entries(kind='charge', **values)

    def count_charges(self) -> int:
        """Return how many charges there are."""
        with self._database.errors():
            [count] = self._database.execute(
                "SELECT count(*) FROM charges WHERE kind = 'charge'").fetchone()
        return int(count)

    def entries(self, **values: object) -> list[Entry]:
        """
        Return all entries in order; in a damaged ledger, those that can be read.

        :param values: what fields of these entries are, by name.
        """
        with self._database.errors():
            entries = [Entry._make(row[:-1]) for row in self._database.entries(values=values)]
        return [entry for entry in entries if entry.is_sound()]

    def problems(self, *, use_mark: bool = True) -> list[str]:
        """
        Verify everything again; return one sentence for each problem.

        :param use_mark: False: of the ledger alone, not of its mark.
        """
        with self._database.errors():
            self._entries.forget(verify_all=True)
            return self._entries.problems(use_mark=use_mark)
