# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The way of every release: planned, drawn and staged, charged, and only then published.

Logs, archives and chains that are learned go it, each as a `Publication`; a dry run takes its
first step, `plan`, alone. `release.outbox` has the order that survives a crash.
"""
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
import json
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from symdp_ros.errors import SymdpError
from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.database import LedgerFile
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.transaction import ChargeTransaction, NewCharge, Placed
from symdp_ros.ledger.units import Loss
from symdp_ros.release.outbox import Outbox
from symdp_ros.release.report import Outcome, outcome_of


class Source(Protocol):
    """
    What a release is made of. Its methods are called in their order, until one says no.

    :ivar length: its symbols, once it was read.
    :ivar changed: why it is not released if it was before, with another content.
    """

    length: int
    changed: str

    @property
    def log_id(self) -> str:
        """Return what the ledger charges it as."""

    @property
    def logs(self) -> Mapping[str, Span] | None:
        """Return `NewCharge.logs`, once it was read."""

    def check_place(self) -> None:
        """Check that its release can be where it is to be."""

    def read(self, stack: ExitStack) -> None:
        """Read it; what it needs open is closed with the stack."""

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of what is sensitive in it."""

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""

    def price(self) -> Loss:
        """Return what its release costs."""


class Publication(Source, Protocol):
    """A release of a `Source`, from when its budget is known to suffice."""

    def stage(self, stack: ExitStack) -> 'Staged':
        """Draw it, and write it into the staging directory."""

    def names(self, files: int) -> list[str]:
        """Return the wanted names of so many files."""

    def paths(self, number: int, files: int) -> list[Path]:
        """
        Return the paths of so many files, neither taken nor promised.

        :param number: of its charge; without a ledger, counted from 1.
        """

    def hand_out(self, charge: Entry) -> tuple[Path, ...]:
        """Return where its release is that was charged before; put it there if needed."""


class Described(Protocol):
    """Settings, as far as the ledger knows them."""

    def described(self) -> dict[str, Any]:
        """Return what a release depends on, for people to read."""

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""


@dataclass(frozen=True)
class Plan:
    """
    What a release would be; nothing of it is drawn.

    :param content: the fingerprint of what was read; b'': without a ledger.
    :param earlier: the charge of its log under these settings; None: it was not released.
    :param problem: why it is not released; None: it can be.
    :param loss: what it costs; None: nothing, or it is not released.
    """

    content: bytes = b''
    earlier: Entry | None = None
    problem: str | None = None
    loss: Loss | None = None


@dataclass(frozen=True)
class Staged:
    """
    A release that is written and not charged.

    :param loss: what it costs.
    :param files: where they are staged, and their digests.
    :param words, lengths: as of `NewCharge`.
    """

    loss: Loss
    files: Sequence[tuple[Path, str]]
    words: Sequence[Sequence[str]] = ()
    lengths: Sequence[int] | None = None


def plan(source: Source, settings: str, stack: ExitStack, ledger: Ledger | None,
         subject: str) -> Plan:
    """
    Find out what a release would cost.

    :param settings: their digest.
    :param stack: see `Source.read`.
    :raises LogError, ConfigurationError: it cannot be released.
    """
    earlier = None if ledger is None else ledger.find(subject, source.log_id, settings)
    if earlier is None:
        source.check_place()
    source.read(stack)
    content = b'' if ledger is None else source.fingerprint(ledger)
    if earlier is not None:
        return _compared(source, earlier, content)
    problem = source.problem()
    return Plan(content, problem=problem, loss=None if problem else source.price())


@dataclass(frozen=True)
class Prepared:
    """A release that is staged."""

    publication: Publication
    staged: Staged
    new: NewCharge

    @property
    def length(self) -> int:
        """Return its symbols."""
        return self.publication.length

    def made_durable(self) -> 'Prepared':
        """Make durable what is staged; return this."""
        for path, _ in self.staged.files:
            make_durable(path)
        return self

    def placed(self, number: int) -> list[Placed]:
        """Return the files, with their future paths."""
        files = self.staged.files
        return [(path, *file) for path, file in zip(
            self.publication.paths(number, len(files)), files, strict=True)]


@dataclass(frozen=True)
class _Charged:
    """A charge, and where its files are to be moved if it is a new one."""

    entry: Entry
    is_new: bool
    files: list[Placed]


#: None: without a ledger; an error: why it was not made.
_Charge: TypeAlias = _Charged | Exception | None


class Publisher:
    """
    Charges releases to a subject, and publishes them in a directory that it holds until closed.

    :param settings: of the releases.
    :param directory: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose logs these are, as the ledger names it.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it. 0.0: the stored one.
    :param compare: what was released before is read again, and has failed if it changed.
    :param wait, on_wait: as of `Outbox`.
    :raises ConfigurationError, LedgerError: as `Outbox`.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, settings: Described, directory: str | Path, ledger: Ledger | None,
                 subject: str, *, budget: float = 0.0, subject_budget: float = 0.0,
                 compare: bool = True, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None):
        if ledger is not None:
            ledger.keep_budget(subject, subject_budget)
        self._settings = settings.digest()
        self._description = json.dumps(settings.described())
        self._ledger, self._subject, self._budget = ledger, subject, budget
        self._compare = compare
        self._numbers = count(1)  # of releases without a ledger
        self.outbox = Outbox(directory, ledger, wait=wait, on_wait=on_wait)

    def close(self) -> None:
        """Let other processes use the directory."""
        self.outbox.close()

    def __enter__(self) -> 'Publisher':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def release(self, publication: Publication,
                stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release by itself.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        :raises SymdpError, OSError: it is not released.
        """
        with ExitStack() as stack:
            prepared = self.prepare(publication, stack)
            if isinstance(prepared, Outcome):
                return prepared
            prepared.made_durable()
            if stop():
                return None
            [charge] = self._charge([prepared])
            outcome = self._move(prepared, charge)
            self.outbox.settle()
            return outcome

    def prepare(self, publication: Publication, stack: ExitStack) -> Outcome | Prepared:
        """
        Draw and stage a release, if it was not made before.

        :param stack: with it, what is staged and not charged is deleted.
        :raises SymdpError, OSError: it cannot be released.
        """
        ledger, log_id = self._ledger, publication.log_id
        if ledger is not None and not self._compare:
            earlier = ledger.find(self._subject, log_id, self._settings)
            if earlier is not None:
                return Outcome(log_id, 'already released', earlier.length,
                               publication.hand_out(earlier))
        planned = plan(publication, self._settings, stack, ledger, self._subject)
        if planned.loss is None:
            return _unreleased(publication, planned)
        if ledger is not None:
            ledger.check(self._subject, planned.loss, log_id, description=self._description,
                         budget=self._budget)
        staged = publication.stage(stack)
        self.outbox.check(publication.names(len(staged.files)))
        return Prepared(publication, staged, NewCharge(
            staged.loss, self._settings, self._description, log_id, planned.content,
            staged.words, staged.lengths, publication.logs))

    def publish(self, found: Sequence[Outcome | Prepared]) -> list[Outcome]:
        """
        Charge what is staged, in one transaction, and move it to its paths.

        `Outbox.settle` is to be called later, after all of several calls.

        :return: the outcomes, in their order.
        """
        charges = iter(self._charge([each for each in found if isinstance(each, Prepared)]))
        return [each if isinstance(each, Outcome) else outcome_of(
            each.publication.log_id, partial(self._move, each, next(charges))) for each in found]

    def _charge(self, prepared: Sequence[Prepared]) -> Sequence[_Charge]:
        """Charge what is staged, or nothing of it where one cannot be written."""
        if not prepared:
            return []
        try:
            self.outbox.make_staging_durable()
            if self._ledger is None:
                return [None] * len(prepared)
            with self._ledger.charging(self._subject, budget=self._budget) as transaction:
                return [_charged(transaction, each) for each in prepared]
        except Exception as error:  # it is the outcome of each
            return [error] * len(prepared)

    def _move(self, prepared: Prepared, charge: _Charge) -> Outcome:
        """Move what is staged and charged to its paths."""
        if isinstance(charge, Exception):
            raise charge
        if charge is None:
            number, files = 0, prepared.placed(next(self._numbers))
        elif charge.is_new:
            number, files = charge.entry.number, charge.files
        else:  # another process was faster
            content = prepared.new.content
            return _unreleased(prepared.publication, _compared(
                prepared.publication, charge.entry, content if self._compare else None))
        return _outcome(prepared.publication, 'released', [
            self.outbox.publish(LedgerFile(number, *file, False), settle=False)
            for file in files])


def _compared(source: Source, earlier: Entry, content: bytes | None) -> Plan:
    """Return the plan of what was released before; `content`: of now, None: it may differ."""
    is_same = content is None or earlier.content == content
    return Plan(content or b'', earlier, None if is_same else source.changed)


def _charged(transaction: ChargeTransaction, prepared: Prepared) -> _Charged | SymdpError:
    """Charge one release; return why not where it is refused."""
    files = prepared.placed(transaction.number)
    try:
        entry, is_new = transaction.charge(prepared.new, files)
    except SymdpError as error:
        return error
    return _Charged(entry, is_new, files)


def _unreleased(publication: Publication, planned: Plan) -> Outcome:
    """Return the outcome where nothing is released now: there is a problem, or it was before."""
    if planned.problem is not None or planned.earlier is None:
        return _outcome(publication, 'failed', reason=planned.problem or '')
    return _outcome(publication, 'already released', publication.hand_out(planned.earlier))


def _outcome(publication: Publication, kind: str, files: Sequence[Path] = (),
             reason: str = '') -> Outcome:
    span = (publication.logs or {}).get(publication.log_id)
    return Outcome(publication.log_id, kind, publication.length, tuple(files), reason, span)
