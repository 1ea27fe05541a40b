# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The way of every release: a draft is planned, staged, charged, and only then published.

Logs, archives and learned chains take all of it; a dry run takes the first step alone,
`Draft.plan`. `release.outbox` has the order that survives a crash.
"""
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
import json
from pathlib import Path
from time import monotonic
from typing import Any, TYPE_CHECKING, TypeAlias, TypeVar

from symdp_ros.errors import (BudgetError, ConfigurationError, LedgerError, LogError, printable,
                              SymdpError)
from symdp_ros.files.closable import Closable
from symdp_ros.ledger.entry import Entry, Loss, new_charge
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import list_logs, LogFile, LogState, SkippedLog, TopicOutcome
from symdp_ros.release.draft import Draft, KINDS, LogDraft, NOISE, Outcome
from symdp_ros.release.inspection import Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import Outbox
from symdp_ros.release.settings import check_apart, ReleaseSettings, WritingSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_T = TypeVar('_T')

# Logs that are charged together: as many as these limits allow, and at least one.
_MOST_LOGS = 100
_MOST_SYMBOLS = 200_000
_MOST_SECONDS = 2.0
_SHOWN = 3  # subjects

#: The charge of a draft and whether it is new; or why it was not made; None: without a ledger.
_Charge: TypeAlias = tuple[Entry, bool] | Exception | None


@dataclass(frozen=True)
class Report:
    """
    The outcomes for many logs.

    :param skipped: logs that are still being recorded, and archives.
    :param stopped: a stop was asked for before the last log.
    :param problems: one sentence for each earlier release that is charged and could not be moved
        to its path.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[SkippedLog, ...] = ()
    stopped: bool = False
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether no log was refused, failed or was left."""
        return not (self.stopped or self.problems) and all(
            outcome.kind in KINDS[:2] for outcome in self.outcomes)

    def __str__(self) -> str:
        counts = Counter(outcome.kind for outcome in self.outcomes)
        parts = [f'{counts[kind]} {kind}' for kind in KINDS]
        for state, number in Counter(log.state for log in self.skipped).items():
            parts.append(f'{number} {state.value}')
        if self.stopped:
            parts.append('stopped before the rest')
        return ', '.join(parts)


class ReleaseSession(Closable):
    """
    Charges releases to a subject, and publishes them in a directory that it holds until closed.

    :param settings: have `digest()`, and `described()` for people to read.
    :param directory: an existing one.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose releases these are, as the ledger names it; '': each draft says whose.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it. 0.0: the stored one.
    :param compare: what was released before is read again, and has failed if it changed.
    :param name, writing, rewrite_missing, wait, on_wait: as of `Outbox`.
    :param partial: of a draft with words of several subjects, leave out those who were charged
        for it before, or would pass their budget; otherwise it is refused.
    :raises ConfigurationError, LedgerError: as `Outbox`.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, settings: Any, directory: str | Path, *, ledger: Ledger | None = None,
                 subject: str = '', budget: float = 0.0, subject_budget: float = 0.0,
                 compare: bool = True, partial: bool = False, name: str = '',
                 writing: WritingSettings = WritingSettings(), rewrite_missing: bool = False,
                 wait: float = 10.0, on_wait: Callable[[], None] = lambda: None):
        if ledger is not None and subject:
            ledger.keep_budget(subject, subject_budget)
        self._digest = settings.digest()
        self._description = json.dumps(settings.described())
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._compare, self._partial = compare, partial
        self.outbox = Outbox(directory, ledger, name=name, writing=writing,
                             rewrite_missing=rewrite_missing, wait=wait, on_wait=on_wait)

    def close(self) -> None:
        """Let other processes use the directory."""
        self.outbox.close()

    def release_one(self, draft: Draft) -> Outcome:
        """
        Release by itself.

        :raises SymdpError, OSError: it is not released.
        """
        with ExitStack() as stack:
            outcome = self.prepare(draft, stack)
            if outcome is None:
                draft.make_durable()
                [charge] = self._charge([draft])
                outcome = self._publish(draft, charge)
                self.outbox.sync_moved()
            return outcome

    def prepare(self, draft: Draft, stack: ExitStack) -> Outcome | None:
        """
        Plan and stage a release; return its outcome if it is not to be made. None: it is staged.

        :param stack: with it, what is staged and not charged is deleted.
        :raises SymdpError, OSError: it cannot be released.
        """
        ledger, log_id = self._ledger, draft.log_id
        earlier = None if ledger is None else ledger.find(
            self._subject, log_id, self._digest)  # of no subject: none
        reads_first = ledger is not None and not self._subject  # whose words these are
        if earlier is None and not reads_first:
            self.outbox.check_free()
        elif earlier is not None and not self._compare:
            return Outcome(log_id, 'already released', earlier.symbols,
                           self.outbox.reuse(draft, earlier))
        problem = draft.plan(earlier, ledger, stack)
        if problem is not None:
            return draft.outcome('refused', reason=problem, code=NOISE) if earlier is None \
                else draft.outcome('failed', reason=problem, code='log')
        if earlier is None and draft.losses is not None and ledger is not None:
            earlier = self._leave_out(ledger, draft, draft.losses)
            if earlier is None:
                self.outbox.check_free()
        elif earlier is None and ledger is not None:
            assert draft.loss is not None
            ledger.keep_budget(self._subject, self._subject_budget)
            ledger.check(self._subject, draft.loss, log_id, description=self._description,
                         budget=self._budget)
        if earlier is not None:
            return draft.outcome('already released', self.outbox.reuse(draft, earlier))
        self.outbox.stage(draft, stack)
        return None

    def _leave_out(self, ledger: Ledger, draft: Draft, losses: dict[str, Loss]) -> Entry | None:
        """
        Leave out the subjects that cannot be charged; return a charge, if all were charged before.

        Where the rest is wanted, and all of it was charged before, in one release, return that.

        :raises LogError: the content changed since.
        :raises BudgetError: none can be charged; or some cannot, unless the rest is wanted.
        """
        earlier = ledger.find_all(losses, draft.log_id, self._digest)
        if any(entry.content != draft.content for entry in earlier.values()):
            raise LogError(draft.changed)
        if len(earlier) == len(losses):
            first, *others = (entry for entry in earlier.values() if entry.files)
            if not others:
                return first
            paths = [file.path.name for entry in (first, *others)
                     for file in ledger.files.of(entry.number)]
            raise ConfigurationError('it was released before, in parts: '
                                     f'{", ".join(map(printable, paths))}')
        ledger.keep_budgets(set(losses) - set(earlier), self._subject_budget)
        problems = dict.fromkeys(earlier, 'was charged for it before') | {
            subject: str(error) for subject, error in ledger.check_all(
                losses, draft.log_id, description=self._description,
                budget=self._budget).items() if subject not in earlier}
        if not problems:
            return None
        named = _named(problems)
        if len(problems) == len(losses):
            parts = [entry for entry in earlier.values() if entry.files]
            if self._partial and len(parts) == 1:
                draft.length = parts[0].symbols
                return parts[0]
            raise BudgetError(f'none of its {len(problems)} subjects can be charged: {named}')
        if not self._partial:
            raise BudgetError(f'{len(problems)} of its {len(losses)} subjects cannot be '
                              f'charged: {named}. With --partial, the others are released')
        for subject in problems:
            del losses[subject]
        return None

    def publish(self, outcomes: dict[Draft, Outcome | None]) -> None:
        """
        Charge drafts without an outcome, in one transaction, and move them; note the outcomes.

        `Outbox.sync_moved` is to be called later, after all of several calls.
        """
        for draft, outcome in outcomes.items():
            outcomes[draft] = outcome or outcome_of(draft.log_id, draft.make_durable)
        staged = [draft for draft, outcome in outcomes.items() if outcome is None]
        for draft, charge in zip(staged, self._charge(staged), strict=True):
            outcomes[draft] = outcome_of(draft.log_id, partial(self._publish, draft, charge))

    def _charge(self, drafts: Sequence[Draft]) -> Sequence[_Charge]:
        """Charge what is staged, or nothing of it where one cannot be written."""
        if not drafts:
            return []
        try:
            self.outbox.place(drafts)
            if self._ledger is None:
                return [None] * len(drafts)
            entries = list(map(self._entries, drafts))
            with self._ledger.charging(self._subject, budget=self._budget) as charge:
                return [_charged(charge, *each) for each in zip(drafts, entries, strict=True)]
        except Exception as error:  # it is the outcome of each
            return [error] * len(drafts)

    def _entries(self, draft: Draft) -> list[Entry]:
        """Return the charge of a draft for each subject."""
        losses = draft.losses
        if losses is None:
            assert draft.loss is not None
            losses = {self._subject: draft.loss}
        new = {loss: new_charge(
            loss, self._digest, self._description, draft.log_id, content=draft.content,
            words=draft.words, lengths=None if draft.words else [draft.length], logs=draft.logs,
            taken=draft.taken) for loss in set(losses.values())}
        return [new[loss]._replace(subject=subject) for subject, loss in losses.items()]

    def _publish(self, draft: Draft, charge: _Charge) -> Outcome:
        """Move what is staged and charged to its paths."""
        if isinstance(charge, Exception):
            raise charge
        number = 0
        if charge is not None:
            entry, is_new = charge
            if not is_new:  # another process was faster
                if self._compare and entry.content != draft.content:
                    return draft.outcome('failed', reason=draft.changed, code='log')
                return draft.outcome('already released', self.outbox.reuse(draft, entry))
            number = entry.number
        return draft.outcome('released', [self.outbox.publish(replace(file, number=number))
                                          for file in draft.files])


class Releaser(ReleaseSession):
    """
    Releases logs into one directory, which it holds until it is closed.

    :param release_dir: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param allow_unknown: refuse a log, before anything is charged, that would come out as noise:
        `inspection.Inspection.is_noise`, and nothing else of its content, is told by that. None:
        refuse no log for its content.
    :param for_operator: outcomes are shown to nobody but the operator of the logs. A refusal then
        tells what is unknown in a log, and a robot that stands still is one more reason:
        `inspection.Inspection.problem`. And a log whose content changed since it was released has
        failed; otherwise it is not read again, as anyone who can write a log, and not read it,
        could confirm a guess.
    :param on_topics: called for each log of which topics are kept. A log then fails where one of
        them is missing or cannot be kept. Only for callers who show this to nobody else. None:
        such topics are left out.
    :param program: what a released recording says that it was made with.
    :param mechanisms: those of the settings, if they were made before.
    :param random: for tests, an object with `getrandbits`.
    :param keeping: what else `ReleaseSession` takes.
    :raises ConfigurationError: settings that are not valid; the ledger is inside `release_dir`;
        the directory is missing, cannot be written to, or is in use by another process.
    """

    def __init__(self, settings: ReleaseSettings, release_dir: str | Path, *,
                 ledger: Ledger | None = None, allow_unknown: float | None = None,
                 for_operator: bool = False, mechanisms: Mechanisms | None = None,
                 random: 'RandomBits | None' = None,
                 on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None,
                 program: str = 'symdp_ros', **keeping: Any):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, release_dir)
        self._draft_of = partial(
            LogDraft, settings, mechanisms=mechanisms or Mechanisms(settings, random),
            moves=Moves.of(settings.chain, stays_only=True), allow_unknown=allow_unknown,
            on_topics=on_topics, program=program, for_operator=for_operator)
        super().__init__(settings, release_dir, ledger=ledger, compare=for_operator,
                         writing=settings.writing, **keeping)

    def __repr__(self) -> str:
        return f'<Releaser into {str(self.outbox.directory)!r}>'

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each release that is charged and not at its path."""
        return self.outbox.problems

    def release_directory(self, log_dir: str | Path, stop: Callable[[], bool] = lambda: False,
                          on_outcome: Callable[[Outcome], None] = lambda outcome: None) -> Report:
        """
        Release every log of a directory that is not yet released under these settings.

        Up to 100 logs are charged in one transaction.

        :param stop: called before each log, and before each transaction; True: stop there, and
            charge nothing any more.
        :param on_outcome: called after each log, once its transaction is done.
        :raises LogError: the directory cannot be read.
        """
        listing = list_logs(log_dir)
        return self.release_all(listing.logs, stop, on_outcome, listing.skipped)

    def release_all(self, logs: Iterable[LogFile], stop: Callable[[], bool] = lambda: False,
                    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
                    skipped: Iterable[SkippedLog] = ()) -> Report:
        """
        Release some logs; parameters as in `release_directory`.

        :param skipped: logs of the same listing; those that are unusable have failed.
        """
        others = tuple(log for log in skipped if log.state is not LogState.UNUSABLE)
        outcomes = unusable(skipped)
        for outcome in outcomes:
            on_outcome(outcome)
        waiting, stopped = deque(logs), False
        while waiting and not stopped:
            released, stopped = self._release_next(waiting, stop)
            for outcome in released:
                on_outcome(outcome)
            outcomes += released
        self.outbox.sync_moved()
        return Report(tuple(outcomes), others, stopped, self.problems)

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release one log; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        return next(iter(self.release_all([log], stop).outcomes), None)

    def _release_next(self, waiting: deque[LogFile],
                      stop: Callable[[], bool]) -> tuple[list[Outcome], bool]:
        """
        Take the next logs, and release them; return outcomes, and whether to stop.

        They are charged in one transaction: each one's flush to the disk takes long.
        """
        outcomes = dict[Draft, Outcome | None]()
        symbols, until, stopped = 0, monotonic() + _MOST_SECONDS, False
        with ExitStack() as stack:
            while (waiting and len(outcomes) < _MOST_LOGS and symbols < _MOST_SYMBOLS
                   and monotonic() < until and not (stopped := stop())):
                draft = self._draft_of(waiting.popleft())
                outcomes[draft] = outcome_of(draft.log_id, partial(self.prepare, draft, stack))
                symbols += draft.length
            stopped = stopped or stop()
            if not stopped:
                self.publish(outcomes)
        return [outcome for outcome in outcomes.values() if outcome is not None], stopped


def unusable(skipped: Iterable[SkippedLog]) -> list[Outcome]:
    """Return the outcomes of those logs that were skipped as unusable: they have failed."""
    return [Outcome(log.name, 'failed', reason=log.reason, code='log') for log in skipped
            if log.state is LogState.UNUSABLE]


def outcome_of(log_id: str, work: Callable[[], _T]) -> _T | Outcome:
    """
    Return what `work` returns, or the outcome of the error that it raises.

    Only the texts of this package's own errors are used: others might quote the log.
    """
    try:
        return work()
    except Exception as error:
        kind, line = 'failed', None
        if isinstance(error, LogError):
            reason, line = error.reason, error.line
        elif isinstance(error, SymdpError):
            kind, reason = 'refused' if isinstance(error, BudgetError) else kind, str(error)
        elif isinstance(error, OSError):
            problem = error.strerror or 'the disk is full, or fails'
            reason = f'the release directory cannot be written: {problem}'
        else:
            reason = f'an error of type {type(error).__name__}: please report it'
        return Outcome(log_id, kind, reason=reason, code=code_of(error), line=line)


def code_of(error: Exception) -> str:
    """Return an error as one word, for programs."""
    if isinstance(error, BudgetError):
        if error.limit is None:
            return 'budget'
        return 'subject_budget' if error.log_id is None else 'log_budget'
    return next((code for kind, code in (
        (LogError, 'log'), (LedgerError, 'ledger'), (SymdpError, 'settings'), (OSError, 'disk'))
        if isinstance(error, kind)), 'internal')


def _charged(charge: Callable[..., tuple[Entry, bool]], draft: Draft,
             entries: Sequence[Entry]) -> _Charge:
    """Charge one release; return why not where it is refused."""
    try:
        return charge(*entries, files=draft.files)
    except SymdpError as error:
        if len(entries) > 1:  # all of them, or none: it ends the transaction
            raise
        return error


def _named(problems: Mapping[str, str]) -> str:
    """Return the first of some subjects and what is wrong with them, and how many more."""
    first = [f'{printable(subject)} ({problem})' for subject, problem in sorted(
        problems.items())[:_SHOWN]]
    more = len(problems) - len(first)
    return '; '.join(first) + (f'; and {more} more' if more > 0 else '')
