# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The way of every release: planned, drawn and staged, charged, and only then published.

Logs, archives and chains that are learned go it; a dry run takes its first step, `plan`, alone.
`release.outbox` has the order that survives a crash.
"""
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
import json
import os
from pathlib import Path
import shutil
from typing import Any, Protocol, TypeAlias

from symdp_ros.errors import BudgetError, ConfigurationError, LogError, printable, SymdpError
from symdp_ros.files.durable import flush, make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.transaction import ChargeTransaction, NewCharge, Placed
from symdp_ros.ledger.units import Loss
from symdp_ros.release.outbox import digest_of, holds, Outbox
from symdp_ros.release.report import NOISE, Outcome, outcome_of

_SHOWN = 3  # subjects

#: A charge and whether it is new; or why it was not made; None: without a ledger.
_Charge: TypeAlias = tuple[Entry, bool] | Exception | None


class Source(Protocol):
    """
    What a release is made of. Its methods are called in their order, until one says no.

    :ivar log_id: what the ledger charges it as.
    :ivar length: its symbols, once it was read.
    :ivar logs: as of `NewCharge`, once it was read.
    :ivar losses: what each subject is charged, where it holds words of several, once it was
        priced; words of subjects that are taken out before `stage` are not released. None: all
        words are of one subject.
    :ivar changed: why it is not released if it was before, with another content.
    """

    log_id: str
    length: int
    logs: Mapping[str, Span] | None
    losses: dict[str, Loss] | None
    changed: str

    def read(self, stack: ExitStack) -> None:
        """Read it; what it needs open is closed with the stack."""

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of what is sensitive in it."""

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""

    def price(self) -> Loss:
        """Return what its release costs."""

    def stage(self, outbox: Outbox, stack: ExitStack) -> 'Staged':
        """Draw it, and write it into the staging directory."""


class Place(Protocol):
    """Where the files of a release go."""

    def check_free(self) -> None:
        """Check, before anything is read, that a release can go there."""

    def names(self, log_id: str, files: int) -> list[str]:
        """Return the wanted names of so many files."""

    def paths(self, releases: Sequence[tuple[str, int]]) -> list[list[Path]]:
        """Return free paths for some releases, each a log id and how many files it has."""

    def hand_out(self, source: Source, charge: Entry) -> tuple[Path, ...]:
        """Return where a release is that was charged before; put it there if needed."""


class Output:
    """
    A path that the operator names for one release, as a `Place`.

    The ledger does not store such a release: it is handed out again where a copy is found.
    """

    def __init__(self, name: str, outbox: Outbox, ledger: Ledger | None):
        self.path = outbox.directory / name
        self._outbox, self._ledger = outbox, ledger

    def check_free(self, own: Path | None = None) -> None:
        """
        Check that the path is not taken, nor promised to another release than that at `own`.

        :raises ConfigurationError: it is.
        """
        if os.path.lexists(self.path):
            raise ConfigurationError(f'{printable(self.path)} exists already: name another path '
                                     'for the release')
        if self._ledger is not None and self.path != own and self._ledger.files.has_path(
                self.path):
            raise ConfigurationError(f'{printable(self.path)} is in the ledger as the path of '
                                     'another release: name another one')

    def names(self, log_id: str, files: int) -> list[str]:
        """Return its name."""
        return [self.path.name]

    def paths(self, releases: Sequence[tuple[str, int]]) -> list[list[Path]]:
        """Return the path."""
        return [[self.path]]

    def hand_out(self, source: Source, charge: Entry) -> tuple[Path, ...]:
        """
        Return where the release is that was charged before: here, or it is copied here.

        :raises ConfigurationError: it is nowhere; or it is elsewhere, and this path is not free.
        """
        assert self._ledger is not None  # without one, no release is remembered
        [file] = self._ledger.files.of(charge.number)
        there = next((path for path in (self.path, file.path, file.staged)
                      if holds(path, file.digest)), None)
        if there is None:
            raise ConfigurationError(
                f'it was released before, as {printable(file.path)}, which is missing or was '
                'changed, and the ledger does not store it: use a copy of that release')
        if there == self.path:
            return there,
        self.check_free(file.path)
        with self._outbox.staged(there.suffix) as path:
            _copy(there, path)
            return self._outbox.publish(LedgerFile(0, self.path, path, file.digest, True)),


@dataclass(frozen=True)
class Plan:
    """The fingerprint of what would be released; why it is not; what it costs, if anything."""

    content: bytes
    problem: str | None = None
    loss: Loss | None = None


@dataclass(frozen=True)
class Staged:
    """
    What was drawn.

    :param paths: in the staging directory.
    :param words: for the ledger, if any.
    :param taken: as of `NewCharge`.
    """

    paths: Sequence[Path]
    loss: Loss
    words: Sequence[Sequence[str]] = ()
    taken: str = ''


def plan(source: Source, earlier: Entry | None, ledger: Ledger | None, stack: ExitStack) -> Plan:
    """
    Find out what a release would cost.

    :param earlier: the charge of its log under these settings; None: it was not released.
    :param stack: see `Source.read`.
    :raises LogError, ConfigurationError: it cannot be released.
    """
    source.read(stack)
    content = b'' if ledger is None else source.fingerprint(ledger)
    if earlier is not None:
        return Plan(content, None if earlier.content == content else source.changed)
    problem = source.problem()
    return Plan(content, problem, None if problem else source.price())


@dataclass(eq=False)
class Prepared:
    """A release that is staged: the staged paths and digests; its future paths with them."""

    source: Source
    new: Mapping[str, NewCharge]  # by subject
    staged: list[tuple[Path, str]]
    placed: list[Placed] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Return its symbols."""
        return self.source.length

    def made_durable(self) -> 'Prepared':
        """Make durable what is staged; return this."""
        for path, _ in self.staged:
            make_durable(path)
        return self


class Publisher:
    """
    Charges releases to a subject, and publishes them in a directory that it holds until closed.

    :param settings: have `digest()`, and `described()` for people to read.
    :param compare: what was released before is read again, and has failed if it changed.
    :param partial: of a source with words of several subjects, leave out those who were charged
        for it before, or would pass their budget; otherwise it is refused.
    :param directory, ledger, subject, budget, subject_budget, wait, on_wait: as of
        `engine.Releaser`.
    :raises ConfigurationError, LedgerError: as `Outbox`.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, settings: Any, directory: str | Path, *, ledger: Ledger | None = None,
                 subject: str = '', budget: float = 0.0, subject_budget: float = 0.0,
                 compare: bool = True, partial: bool = False, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None):
        if ledger is not None and subject:
            ledger.keep_budget(subject, subject_budget)
        self._settings = settings.digest()
        self._description = json.dumps(settings.described())
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._compare, self._partial = compare, partial
        self.outbox = Outbox(directory, ledger, wait=wait, on_wait=on_wait)

    def close(self) -> None:
        """Let other processes use the directory."""
        self.outbox.close()

    def __enter__(self) -> 'Publisher':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def release(self, source: Source, place: Place) -> Outcome:
        """
        Release by itself.

        :raises SymdpError, OSError: it is not released.
        """
        with ExitStack() as stack:
            prepared = self.prepare(source, place, stack)
            if isinstance(prepared, Outcome):
                return prepared
            [charge] = self._charge(place, [prepared.made_durable()])
            outcome = self._publish(place, prepared, charge)
            self.outbox.settle()
            return outcome

    def prepare(self, source: Source, place: Place, stack: ExitStack) -> Outcome | Prepared:
        """
        Draw and stage a release, if it was not made before.

        :param stack: with it, what is staged and not charged is deleted.
        :raises SymdpError, OSError: it cannot be released.
        """
        ledger, log_id = self._ledger, source.log_id
        earlier = None if ledger is None else ledger.find(
            self._subject, log_id, self._settings)  # of no subject: none
        reads_first = ledger is not None and not self._subject  # whose words these are
        if earlier is None and not reads_first:
            place.check_free()
        elif earlier is not None and not self._compare:
            return Outcome(log_id, 'already released', earlier.length,
                           place.hand_out(source, earlier))
        planned = plan(source, earlier, ledger, stack)
        if planned.problem is not None:
            return _outcome(source, 'refused', reason=planned.problem, code=NOISE) \
                if earlier is None else _outcome(source, 'failed', reason=planned.problem,
                                                 code='log')
        if earlier is not None:
            return _outcome(source, 'already released', place.hand_out(source, earlier))
        assert planned.loss is not None
        if source.losses is not None and ledger is not None:
            if earlier := self._leave_out(ledger, source, planned.content):
                return _outcome(source, 'already released', place.hand_out(source, earlier))
            place.check_free()
        elif ledger is not None:
            ledger.keep_budget(self._subject, self._subject_budget)
            ledger.check(self._subject, planned.loss, log_id, description=self._description,
                         budget=self._budget)
        staged = source.stage(self.outbox, stack)
        self.outbox.check(place.names(log_id, len(staged.paths)))
        losses = {self._subject: staged.loss} if source.losses is None else source.losses
        new = {loss: NewCharge(
            loss, self._settings, self._description, log_id, planned.content,
            staged.words, None if staged.words else [source.length], source.logs, staged.taken)
            for loss in set(losses.values())}
        return Prepared(source, {subject: new[loss] for subject, loss in losses.items()},
                        [(path, digest_of(path)) for path in staged.paths])

    def _leave_out(self, ledger: Ledger, source: Source, content: bytes) -> Entry | None:
        """
        Leave out the subjects that cannot be charged; return a charge, if all were charged before.

        :raises LogError: the content changed since.
        :raises BudgetError: none can be charged; or some cannot, unless the rest is wanted.
        """
        assert source.losses is not None
        found = ledger.find_all(source.losses, source.log_id, self._settings)
        if any(entry.content != content for entry in found.values()):
            raise LogError(source.changed)
        if len(found) == len(source.losses):
            first, *others = (entry for entry in found.values() if entry.files)
            if not others:
                return first
            paths = [file.path.name for entry in (first, *others)
                     for file in ledger.files.of(entry.number)]
            raise ConfigurationError('it was released before, in parts: '
                                     f'{", ".join(map(printable, paths))}')
        ledger.keep_budgets(set(source.losses) - set(found), self._subject_budget)
        problems = dict.fromkeys(found, 'was charged for it before') | {
            subject: str(error) for subject, error in ledger.check_all(
                source.losses, source.log_id, description=self._description,
                budget=self._budget).items() if subject not in found}
        if not problems:
            return None
        named = _named(problems)
        if len(problems) == len(source.losses):
            raise BudgetError(f'none of its {len(problems)} subjects can be charged: {named}')
        if not self._partial:
            raise BudgetError(f'{len(problems)} of its {len(source.losses)} subjects cannot be '
                              f'charged: {named}. With --partial, the others are released')
        for subject in problems:
            del source.losses[subject]
        return None

    def publish(self, place: Place, found: Sequence[Outcome | Prepared]) -> list[Outcome]:
        """
        Charge what is staged, in one transaction, and move it to its paths; return all outcomes.

        `Outbox.settle` is to be called later, after all of several calls.
        """
        found = [each if isinstance(each, Outcome) else outcome_of(
            each.source.log_id, each.made_durable) for each in found]
        charges = iter(self._charge(place, [each for each in found if isinstance(each, Prepared)]))
        return [each if isinstance(each, Outcome) else outcome_of(
            each.source.log_id, partial(self._publish, place, each, next(charges)))
            for each in found]

    def _charge(self, place: Place, prepared: Sequence[Prepared]) -> Sequence[_Charge]:
        """Charge what is staged, or nothing of it where one cannot be written."""
        if not prepared:
            return []
        try:
            self.outbox.make_staging_durable()
            for each, paths in zip(prepared, place.paths([
                    (each.source.log_id, len(each.staged)) for each in prepared]), strict=True):
                each.placed = [(path, *file) for path, file in zip(
                    paths, each.staged, strict=True)]
            if self._ledger is None:
                return [None] * len(prepared)
            with self._ledger.charging(self._subject, budget=self._budget) as transaction:
                return [_charged(transaction, each) for each in prepared]
        except Exception as error:  # it is the outcome of each
            return [error] * len(prepared)

    def _publish(self, place: Place, prepared: Prepared, charge: _Charge) -> Outcome:
        """Move what is staged and charged to its paths."""
        if isinstance(charge, Exception):
            raise charge
        source, number = prepared.source, 0
        if charge is not None:
            entry, is_new = charge
            if not is_new:  # another process was faster
                if self._compare and any(entry.content != new.content
                                         for new in prepared.new.values()):
                    return _outcome(source, 'failed', reason=source.changed, code='log')
                return _outcome(source, 'already released', place.hand_out(source, entry))
            number = entry.number
        return _outcome(source, 'released', [self.outbox.publish(LedgerFile(number, *file, False))
                                             for file in prepared.placed])


def _charged(transaction: ChargeTransaction, prepared: Prepared) -> _Charge:
    """Charge one release; return why not where it is refused."""
    if len(prepared.new) > 1:  # all of them, or none: an error ends the transaction
        return transaction.charge_all(prepared.new, prepared.placed)
    try:
        [(subject, new)] = prepared.new.items()
        return transaction.charge(new, prepared.placed, subject)
    except SymdpError as error:
        return error


def _named(problems: Mapping[str, str]) -> str:
    """Return the first of some subjects and what is wrong with them, and how many more."""
    first = [f'{printable(subject)} ({problem})' for subject, problem in sorted(
        problems.items())[:_SHOWN]]
    more = len(problems) - len(first)
    return '; '.join(first) + (f'; and {more} more' if more > 0 else '')


def _outcome(source: Source, kind: str, files: Sequence[Path] = (), reason: str = '',
             code: str = '') -> Outcome:
    span = (source.logs or {}).get(source.log_id)
    return Outcome(source.log_id, kind, source.length, tuple(files), reason, code, span)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory with all in it, and make the copy durable."""
    if source.is_dir():
        os.mkdir(target)
        for file in sorted(source.iterdir()):
            _copy(file, target / file.name)
    else:
        shutil.copyfile(source, target)
        os.utime(target, ns=(0, 0))
    flush(target)
