# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The ledger: the privacy that each subject has spent, and for which release.

Every charge is one row of a file, written in one transaction that first reads what was spent: so
processes that share a ledger wait for one another, and cannot exceed a budget together. Sums are
exact, and counted in one unit for each subject (`ledger.units`): ε is read as its shortest
decimal, so three times 0.1 fits into 0.3. With accounting: zcdp, a budget limits the ε that
follows from the sum of ρ at some δ (`core.accounting`), or the sum of ε where that is less.
Budgets of subjects are rows, too: they are stored once, and used by every call.

The charge of a log holds the released words (they are public), so that they can be written again
at no cost; and an HMAC of the sensitive words under a key that never leaves the ledger, to detect
a log whose content changed. It holds no sensitive symbol; of the times of a log, when it begins
and ends, to find logs that overlap. The charge of an archive holds no words, which would be too
many, and the HMAC of its file.

Rows are sealed in a chain (`ledger.database`). A mark in the same folder (`ledger.mark`)
holds number and seal of the last row, to detect a ledger that was put back to an older state. A
ledger with a problem is not charged: see `ledger.recovery`.
"""
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction
from functools import partial
import json
from math import isfinite
import os
from pathlib import Path
from typing import Any, TypeAlias
import zlib

from symdp_ros.errors import BudgetError, LedgerError, printable, SymdpError
from symdp_ros.ledger.accounts import Account, accounting_text, Entry, rounded_up, written
from symdp_ros.ledger.database import FAILURES, FILE_COLUMNS, LedgerDatabase, LedgerFile
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.reader import LedgerReader
from symdp_ros.ledger.subjects import check_subject
from symdp_ros.ledger.units import as_fraction, as_text, Loss, Unit

ACCOUNTINGS = ('pure', 'zcdp')
MOST_DELTA = 0.01
#: From the number of a charge to the (path, staged path, digest) of its files.
FilesOf: TypeAlias = Callable[[int], Iterable[tuple[Path, Path, str]]]

_PART_BYTES = 1 << 20


@dataclass(frozen=True)
class NewCharge:
    """
    A charge that is to be made.

    :param settings: a digest of the settings.
    :param description: the settings as JSON, for people to read.
    :param log_id: None for a word that a live node begins.
    :param content: `Ledger.fingerprint` of the sensitive words, or `Ledger.file_fingerprint`.
    :param words: the released words.
    :param lengths: of released words that are not stored; None: those of `words`.
    :param files: None: it has none.
    :param logs: the log ids in which it is owed, with the stamps of their first and last entries
        (nanoseconds); None: `log_id` alone.
    """

    loss: Loss
    settings: str
    description: str
    log_id: str | None = None
    content: bytes = b''
    words: Sequence[Sequence[str]] = ()
    lengths: Sequence[int] | None = None
    files: FilesOf | None = None
    logs: Mapping[str, Span] | None = None


class Ledger:
    """
    A ledger file, made where it is absent, unless `create` is False.

    A file of version 1 is converted; without `convert`, it is refused. Use one object from one
    thread at a time.

    :raises LedgerError: the file cannot be made or opened, is no ledger or so damaged that it
        cannot be read; or it is gone or empty, and its mark lists charges.
    """

    def __init__(self, path: str | Path, *, create: bool = True, convert: bool = True):
        self._database = LedgerDatabase(path, create=create, convert=convert)
        self.path, self.id = self._database.path, self._database.id
        self._reader = LedgerReader(self._database)
        if self._database.was_converted:
            self._update_mark()

    def __repr__(self) -> str:
        return f'<Ledger {self._database.name!r}>'

    @classmethod
    def made_of(cls, path: str | Path, identity: str, key: bytes, entries: Iterable[Entry],
                files: Iterable[LedgerFile]) -> 'Ledger':
        """Return a new ledger file with an id, a key, entries numbered from 1, and files."""
        database = LedgerDatabase(path)
        try:
            database.rewrite(identity, key, entries, files)
        finally:
            database.close()
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> 'Ledger':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def fingerprint(self, words: Sequence[Sequence[str | None]]) -> bytes:
        """Return the HMAC of sensitive words under the key of the ledger."""
        return self._database.digest(json.dumps([list(word) for word in words]).encode())

    def file_fingerprint(self, path: str | Path) -> bytes:
        """
        Return the HMAC of a sensitive file under the key of the ledger.

        :raises OSError: it cannot be read.
        """
        hashed = self._database.begin_digest()
        with open(path, 'rb') as file:
            while part := file.read(_PART_BYTES):
                hashed.update(part)
        return hashed.digest()

    def find(self, subject: str, log_id: str, settings: str) -> Entry | None:
        """Return the charge of a log under some settings, or None."""
        with self._database.errors():
            self._reader.catch_up()
            return self._database.entry(self._reader.charges.get((subject, log_id, settings)))

    def account(self, subject: str) -> Account:
        """Return what a subject has spent, its budget and its unit; not to be changed."""
        with self._database.errors():
            self._reader.catch_up()
        return self._reader.accounts.get(subject) or Account(subject)

    def subjects(self) -> list[str]:
        """Return every subject that the ledger knows, sorted."""
        with self._database.errors():
            self._reader.catch_up()
        return sorted(self._reader.accounts)

    def check_subject(self, subject: str) -> None:
        """
        Check that a name can be that of a subject; one that the ledger knows already can.

        :raises LedgerError: it cannot.
        """
        try:
            check_subject(subject)
        except LedgerError:
            if subject not in self.subjects():
                raise

    def spent(self, subject: str, log_id: str | None = None) -> Fraction:
        """Return exactly what a subject, or one of its logs, has spent, in the subject's unit."""
        return self.account(subject).spent(log_id)

    def cost(self, entry: Entry) -> Fraction:
        """Return what a charge costs in the unit of its subject."""
        return (self.account(entry.subject).unit or entry.loss.unit).cost(entry.loss)

    def keep_budget(self, subject: str, subject_budget: float, accounting: str = '',
                    delta: float = 0.0, *, store: bool = True) -> None:
        """
        Store the budget of a subject, and its accounting, where none is stored.

        :param subject_budget: 0.0 leaves what is stored.
        :param accounting: 'pure' or 'zcdp'; '' leaves what is stored. 'pure' does so, too, without
            a subject_budget.
        :param delta: of 'zcdp', and of it alone: δ.
        :param store: False: refuse another one, and store nothing.
        :raises BudgetError: another one is stored; δ is out of range.
        :raises LedgerError: the ledger has a problem; the name can be none of a subject.
        """
        self.check_subject(subject)
        budget, at = _limit('subject_budget', subject_budget), checked_delta(accounting, delta)
        is_given = accounting == 'zcdp' or budget is not None and accounting != ''
        if budget is None and not is_given:
            return

        def is_missing(stored: Account) -> bool:
            return (budget is not None and stored.budget is None
                    or is_given and not stored.has_accounting)

        def differs(stored: Account) -> bool:
            return (budget is not None and stored.budget not in (None, budget)
                    or is_given and stored.has_accounting and stored.delta != at)

        with self._database.errors():
            if store and is_missing(self.account(subject)):
                with self._database.transaction():
                    self._refuse_if_damaged()
                    stored = self.account(subject)
                    if is_missing(stored) and not differs(stored):  # no other process was faster
                        self._append('budget', subject, description=delta_text(
                            stored.delta if stored.has_accounting else at),
                            epsilon=written(stored.budget or budget or Fraction(0)))
                self._update_mark()
        stored = self.account(subject)
        if differs(stored):
            wanted = stored.budget if budget is None else budget
            other_accounting = is_given and stored.delta != at

            def text(limit: Fraction | None, delta: Fraction | None) -> str:
                accounted = f' ({accounting_text(delta)})' if other_accounting else ''
                return f'{as_text(limit or Fraction(0))}{accounted}'

            raise BudgetError(
                f'the subject_budget of {subject!r} is {text(stored.budget, stored.delta)} '
                f'in the ledger, not {text(wanted, at)}: leave it out, '
                f'{"name that accounting, " if other_accounting else ""}or change it with symdp '
                f'ledger {self._database.name} --set-budget '
                f"'{printable(subject)}' {as_text(wanted or Fraction(0))}"
                + (f' --accounting {accounting}' if other_accounting else '')
                + (f' --delta {delta:g}' if other_accounting and at is not None else ''),
                subject=subject, limit=stored.budget or Fraction(0))

    def set_budget(self, subject: str, budget: Fraction, accounting: str = '',
                   delta: float = 0.0) -> None:
        """
        Give a subject another budget; 0: none. This is an entry of the ledger.

        :param accounting, delta: as in `keep_budget`; '' keeps what is stored.
        :raises BudgetError: δ is out of range.
        :raises LedgerError: the ledger has a problem.
        """
        self.check_subject(subject)
        at = checked_delta(accounting, delta) if accounting else self.account(subject).delta
        self.note('budget', subject, epsilon=written(budget), description=delta_text(at))

    def set_spent(self, subject: str, least: Fraction, reason: str,
                  least_rho: Fraction | None = None) -> Fraction:
        """
        Count at least so much, in the subject's unit, as spent; return what that adds.

        :param least_rho: the same of ρ; None: it is not known, and follows from what that adds.
        :raises LedgerError: the ledger has a problem.
        """
        account = self.account(subject)
        more, rho = max(least - account.spent(), Fraction(0)), Fraction(0)
        if least_rho is not None and least_rho > rounded_up(account.rho):
            rho = rounded_up(least_rho - account.rho)
        if more or rho:  # of an equal ε, ρ may be less: the bound of a charge may be damaged
            described = {'reason': reason} | ({} if least_rho is None else {'rho': written(rho)})
            self.note('spent', subject, epsilon=written(more), description=json.dumps(described))
        return more

    def set_unit(self, subject: str, unit: Unit, reason: str) -> None:
        """
        Count all that a subject has spent and will spend in another unit.

        :raises LedgerError: the ledger has a problem.
        """
        loss = Loss(Fraction(0), unit.symbols or 0, unit.sampling, unit.period, unit.seconds)
        self.note('unit', subject, loss=loss, description=json.dumps({'reason': reason}))

    def note(self, kind: str, subject: str, *, epsilon: str = '0', loss: Loss | None = None,
             description: str = '{}') -> None:
        """
        Append an entry that is no charge.

        :raises LedgerError: the ledger has a problem.
        """
        with self._database.errors():
            with self._database.transaction():
                self._refuse_if_damaged()
                self._append(kind, subject, epsilon=epsilon, loss=loss, description=description)
            self._update_mark()

    def check(self, subject: str, loss: Loss, log_id: str | None = None, *, budget: float = 0.0,
              subject_budget: float = 0.0, description: str = '') -> None:
        """
        Check that a charge would be within the budgets; parameters as in `charge`.

        :raises BudgetError: it would not be, or is counted in another unit than its subject.
        :raises LedgerError: the ledger has a problem.
        """
        self.keep_budget(subject, subject_budget)
        with self._database.errors():
            self._refuse_if_damaged()
            self._check(subject, loss, log_id, budget, description)

    def _check(self, subject: str, loss: Loss, log_id: str | None, budget: float,
               description: str) -> None:
        account = self.account(subject)
        own = account.cost(loss)  # refuses what is counted in another unit
        limits: list[tuple[str, str | None, Fraction | None, Fraction | None, Fraction, Fraction]]
        limits = [(f'the subject_budget of {subject!r}', None, account.budget, account.delta,
                   account.counted, account.counted_with(loss))]
        if log_id is not None:
            of_log = account.spent(log_id)
            limits.append((f'the budget of the log {log_id!r}', log_id, _limit('budget', budget),
                           None, of_log, of_log + own))
        for name, of, limit, delta, spent, total in limits:
            if limit is None or total <= limit:
                continue
            cost, counted = total - spent, ''
            if delta is not None:
                counted = f' ({accounting_text(delta)})'
            elif cost != loss.epsilon:
                counted = (f' (ε = {as_text(loss.epsilon)} at k = {loss.adjacency}, counted for '
                           f'{account.unit})')
            left = as_text(max(limit - spent, Fraction(0)))
            refused = partial(BudgetError, subject=subject, log_id=of, limit=limit, spent=spent,
                              cost=cost)
            before = self._database.entry(self._reader.latest.get((subject, log_id)))
            changes = _changes(before, description) if log_id is not None else ''
            if changes:
                raise refused(
                    f'released before under other settings: {changes}; this costs '
                    f'{as_text(cost)} more{counted}, and {left} is left: {name} is '
                    f'{as_text(limit)}')
            raise refused(
                f'{name} is {as_text(limit)}: {as_text(spent)} of it is spent, {left} is left, '
                f'and this costs {as_text(cost)} more{counted}')

    def charge(self, subject: str, loss: Loss, *, settings: str, description: str,
               log_id: str | None = None, content: bytes = b'',
               words: Sequence[Sequence[str]] = (), lengths: Sequence[int] | None = None,
               files: FilesOf | None = None, logs: Mapping[str, Span] | None = None,
               budget: float = 0.0, subject_budget: float = 0.0) -> tuple[Entry, bool]:
        """
        Spend ε, durably, or return the charge that the log already has under these settings.

        :param subject: whose privacy is spent.
        :param loss, settings, description, log_id, content, words, lengths, files, logs: of the
            charge, see `NewCharge`.
        :param budget: what one log may spend; 0.0: no limit.
        :param subject_budget: as in `keep_budget`; the stored one holds.
        :return: the charge, and whether it is a new one.
        :raises BudgetError: the charge would pass a budget, or is counted in another unit than its
            subject; nothing is spent.
        :raises LedgerError: the ledger has a problem, or cannot be written; nothing is spent.
        """
        self.keep_budget(subject, subject_budget)
        [made] = self.charge_all(subject, [NewCharge(
            loss, settings, description, log_id, content, words, lengths, files, logs)],
            budget=budget)
        if isinstance(made, SymdpError):
            raise made
        return made

    def charge_all(self, subject: str, wanted: Sequence['NewCharge'], *,
                   budget: float = 0.0) -> list[tuple[Entry, bool] | SymdpError]:
        """
        Make several charges in one transaction; each as `charge` does.

        One that is refused does not keep the others from being made.

        :return: for each, what `charge` returns or raises.
        :raises LedgerError: the ledger has a problem, or cannot be written; nothing is spent.
        """
        if not wanted:
            return []
        self.account(subject)  # the first reading takes longest: not within the transaction
        packed = [zlib.compress(json.dumps([list(word) for word in each.words]).encode())
                  for each in wanted]
        made: list[tuple[Entry, bool] | SymdpError] = []
        with self._database.errors():
            try:
                with self._database.transaction():
                    for each, words in zip(wanted, packed, strict=True):
                        made.append(self._charge(subject, each, words, budget))
            except BaseException:
                self._reader.forget()  # it has read charges that were not committed
                raise
            if any(isinstance(each, tuple) and each[1] for each in made):
                self._update_mark()
        return made

    def _charge(self, subject: str, wanted: 'NewCharge', packed: bytes,
                budget: float) -> tuple[Entry, bool] | SymdpError:
        """Make one charge, in the open transaction; return why not where it is refused."""
        try:
            self.check_subject(subject)
            _check_log_id(wanted.log_id)
            if wanted.log_id is not None:
                found = self.find(subject, wanted.log_id, wanted.settings)
                if found is not None:
                    return found, False
            self._refuse_if_damaged()
            self._check(subject, wanted.loss, wanted.log_id, budget, wanted.description)
        except SymdpError as error:
            return error
        number = self._reader.number + 1
        files = list(wanted.files(number)) if wanted.files else []
        lengths = list(map(len, wanted.words)) if wanted.lengths is None else wanted.lengths
        entry = self._append(
            'charge', subject, log_id=wanted.log_id, settings=wanted.settings,
            description=wanted.description, loss=wanted.loss, lengths=json.dumps(list(lengths)),
            content=wanted.content, packed=packed, files=len(files), logs=wanted.logs)
        for path, staged, digest in files:
            self._database.insert_file(LedgerFile(number, path, staged, digest, False))
        return entry, True

    def files(self, number: int | None = None, *, hidden_only: bool = False) -> list[LedgerFile]:
        """Return the files of a charge, or of all; `hidden_only`: not yet moved to their path."""
        with self._database.errors():
            rows = self._database.execute(
                f'SELECT {", ".join(FILE_COLUMNS)} FROM files WHERE number = ifnull(?, number) '
                'AND (visible = 0 OR NOT ?) ORDER BY number, path',
                (number, hidden_only)).fetchall()
        return [_file_of(row) for row in rows]

    def charges_in(self, directory: Path, other_than: int | None) -> int:
        """Return how many charges, other than one, have files directly in a directory."""
        prefix = os.path.join(directory, '')
        with self._database.errors():
            [count] = self._database.execute(
                'SELECT count(DISTINCT number) FROM files WHERE number IS NOT ? '
                "AND substr(path, 1, ?) = ? AND instr(substr(path, ?), '/') = 0",
                (other_than, len(prefix), prefix, len(prefix) + 1)).fetchone()
        return int(count)

    def has_path(self, path: Path) -> bool:
        """Return whether a release has, or will have, this path."""
        with self._database.errors():
            return self._database.execute('SELECT 1 FROM files WHERE path = ?',
                                          (str(path),)).fetchone() is not None

    def move(self, path: Path, new_path: Path) -> None:
        """Note another path for a file that is not visible yet."""
        self._change_file(path, path=new_path)

    def restage(self, path: Path, new_path: Path, staged: Path, digest: str) -> None:
        """Note that a file that was lost before it was moved to `path` was staged again."""
        self._change_file(path, path=new_path, staged=staged, digest=digest, visible=False)

    def set_visible(self, *paths: Path) -> None:
        """Note that files have been moved to their paths."""
        with self._database.errors(), self._database.transaction():
            for path in paths:
                self._replace_file(path, visible=True)

    def _change_file(self, file_path: Path, **changes: Any) -> None:
        with self._database.errors(), self._database.transaction():
            self._replace_file(file_path, **changes)

    def _replace_file(self, file_path: Path, **changes: Any) -> None:
        row = self._database.execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files '
                                     'WHERE path = ?', (str(file_path),)).fetchone()
        if row is None:
            return
        *row, seal = row
        file = LedgerFile(**dict(zip(FILE_COLUMNS, row, strict=True)) | changes)
        self._database.execute('DELETE FROM files WHERE path = ?', (str(file_path),))
        # A row that was damaged stays so.
        self._database.insert_file(file, None if self._database.seal(row) == seal else seal)

    def charges(self) -> list[Entry]:
        """Return all charges in order."""
        return [entry for entry in self.entries() if entry.kind == 'charge']

    def entries(self) -> list[Entry]:
        """Return all entries in order; in a damaged ledger, those that can be read."""
        with self._database.errors():
            entries = [Entry(*row) for *row, _ in self._database.entries()]
        return [entry for entry in entries if entry.is_sound()]

    def problems(self) -> list[str]:
        """Verify everything again; return one sentence for each problem."""
        with self._database.errors():
            self._reader.forget()
            return self._reader.problems()

    def _refuse_if_damaged(self) -> None:
        problems = self._reader.problems()
        self._database.check_in_place()
        if problems:
            raise self._database.damaged(f'ledger {self._database.name}: {problems[0]}')

    def _append(self, kind: str, subject: str, *, log_id: str | None = None, settings: str = '',
                description: str = '{}', epsilon: str = '0', loss: Loss | None = None,
                lengths: str = '[]', content: bytes = b'', packed: bytes = b'',
                files: int = 0, logs: Mapping[str, Span] | None = None) -> Entry:
        """Write one more entry, in the open transaction, which has read all entries."""
        if kind == 'charge' and loss is not None and (more := _described(loss, logs)):
            description = json.dumps(json.loads(description or '{}') | more)
        counted = _columns_of(loss) if loss is not None else {
            'epsilon': epsilon, 'adjacency': 0, 'sampling': '', 'period': None, 'seconds': None}
        entry = Entry(
            self._reader.number + 1, kind, subject, log_id, settings, description, **counted,
            made=datetime.now(timezone.utc).isoformat(timespec='seconds'), lengths=lengths,
            content=content, packed=packed, files=files)
        self._database.insert(entry, self._reader.seal)
        return entry

    def _update_mark(self) -> None:
        # After the commit: a mark ahead of the ledger would give a false warning. One that does
        # not agree is kept, as evidence. An error does not matter: the charge is committed.
        with suppress(OSError, LedgerError, *FAILURES), self._database.transaction():
            if not self._reader.problems():
                self._reader.mark().write(self._database.mark)


def _check_log_id(log_id: str | None) -> None:
    try:
        (log_id or '').encode()
    except UnicodeEncodeError:
        raise LedgerError(f'the name of the log {log_id!a} is not UTF-8: rename it') from None


def _limit(name: str, budget: float) -> Fraction | None:
    """Return a budget as a fraction; None: no limit."""
    if not (isfinite(budget) and 0 <= budget):
        raise BudgetError(f'{name} is {budget}: it must be a finite number, at least 0')
    return as_fraction(budget) if budget > 0 else None


def checked_delta(accounting: str, delta: float) -> Fraction | None:
    """
    Return δ exactly; None: accounting is not zcdp.

    :raises BudgetError: it is out of range, or the two do not go together.
    """
    if accounting not in ('', *ACCOUNTINGS):
        raise BudgetError(f'accounting is {accounting!r}: it must be one of '
                          f'{", ".join(ACCOUNTINGS)}')
    if accounting != 'zcdp':
        if delta:
            raise BudgetError('delta is for accounting: zcdp alone: leave it out')
        return None
    if not 0 < delta <= MOST_DELTA:
        raise BudgetError('accounting: zcdp needs delta, the chance that ε does not hold: above 0 '
                          f'and at most {MOST_DELTA}, such as 1e-6; it is {delta:g}')
    return as_fraction(delta)


def delta_text(delta: Fraction | None) -> str:
    """Return the description of a budget."""
    return json.dumps({} if delta is None else {'delta': written(delta)})


def _columns_of(loss: Loss) -> dict[str, Any]:
    """Return the columns of an entry that describe a loss."""
    return {'epsilon': written(loss.epsilon), 'adjacency': loss.adjacency,
            'sampling': loss.sampling,
            'period': None if loss.period is None else written(loss.period),
            'seconds': None if loss.seconds is None else written(loss.seconds)}


def _described(loss: Loss, logs: Mapping[str, Span] | None) -> dict[str, Any]:
    """Return what the description of a charge says of it besides the settings."""
    more: dict[str, Any] = {}
    if (loss.bound, loss.routes) != ('pure', 1):
        more |= {'bound': loss.bound, 'routes': loss.routes}
    if loss.whole:
        more['whole'] = True
    if loss.repeats != 1 or loss.sampling == 'archive':
        more['repeats'] = loss.repeats
    if loss.of_log is not None:
        more['of_log'] = written(loss.of_log)
    return more if logs is None else more | {'logs': {log: list(logs[log]) for log in logs}}


def _file_of(row: tuple[Any, ...]) -> LedgerFile:
    number, path, staged, digest, visible = row
    if not all(isinstance(text, str) for text in (path, staged, digest)):
        raise LedgerError(f'the files of charge {number} of the ledger are damaged', damaged=True)
    return LedgerFile(number, Path(path), Path(staged), digest, bool(visible))


def _changes(before: Entry | None, description: str) -> str:
    """Return how the settings of a log differ from those of its last release; '': in nothing."""
    now = json.loads(description or '{}')
    if before is None or not now:
        return ''
    was = before.settings_described
    return ', '.join(
        f'{name} {_short(was.get(name))} → {_short(now.get(name))}'
        if len(f'{was.get(name)}{now.get(name)}') <= 40 else f'another {name}'
        for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name))


def _short(value: object) -> str:
    return f'{value:g}' if isinstance(value, float) else 'none' if value is None else str(value)
