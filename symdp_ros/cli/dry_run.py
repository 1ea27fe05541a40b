# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`symdp release --dry-run`: what a release would find, cost and leave. Nothing is changed.

All of it is printed on stderr and written to no file: it depends on the true route.
"""
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import partial
import json
import os

from symdp_ros.cli.log_arguments import new_account
from symdp_ros.cli.topics import OfTopics, print_topics
from symdp_ros.core.naming import quoted
from symdp_ros.errors import BudgetError, printable
from symdp_ros.ledger.accounts import Account, accounting_text
from symdp_ros.ledger.ledger import checked_delta, Ledger
from symdp_ros.ledger.units import as_fraction, as_text, Loss
from symdp_ros.logs import KeptTopics, LogFile, LogState, SkippedLog
from symdp_ros.release.archive_file import Archive
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.report import Outcome, outcome_of, Report, unusable
from symdp_ros.release.settings import ReleaseSettings, Settings

_NUMBERS = 'symbols', 'known', 'unknown', 'no move', 'cost', 'left'
_NO_NUMBERS = ('',) * len(_NUMBERS)


def dry_run(settings: Settings, logs: Iterable[LogFile], skipped: Sequence[SkippedLog] = (), *,
            allow_unknown: float, ledger: str | None, subject: str, budget: float,
            subject_budget: float, accounting: str, delta: float,
            on_message: Callable[[str], None]) -> int:
    """
    Print what a release of the logs would do; return 0 where none would be refused or fail.

    :param on_message: called with what else the operator should know.
    :raises ConfigurationError, BudgetError, LedgerError: a release would end with the same error.
    """
    from rich.console import Console
    from rich.table import Table

    settings.check()
    console = Console(stderr=True, highlight=False, markup=False)
    console.print('dry run: nothing is released, charged or written. These numbers are about the '
                  'true route: they are for you alone; do not pass them on', soft_wrap=True)
    with ExitStack() as stack:
        opened = None
        if ledger and any(map(os.path.lexists, (ledger, f'{ledger}.mark'))):
            opened = stack.enter_context(Ledger(ledger, create=False, convert=False))
            if note := new_account(opened, subject):
                on_message(note)
        elif ledger:
            on_message(f'{ledger} does not exist yet: it would be made')
        trial = _Trial(settings, allow_unknown, opened, subject, budget, subject_budget,
                       accounting, delta)
        table = Table(box=None, pad_edge=False, header_style='bold')
        table.add_column('log', overflow='fold')
        for column in _NUMBERS:
            table.add_column(column, justify='right', overflow='fold')
        table.add_column('would be', overflow='fold')
        outcomes = unusable(skipped)
        notes = [f'{outcome.log_id}: {outcome.reason}' for outcome in outcomes]
        for failed in outcomes:
            table.add_row(failed.log_id, *_NO_NUMBERS, failed.kind)
        for log in logs:
            outcome = outcome_of(log, partial(trial.release, log))
            assert outcome is not None  # nothing stops a dry run
            outcomes.append(outcome)
            found = trial.found.get(log.id)
            counts = ('', '', '', '') if found is None else (
                found.symbols, found.known, found.symbols - found.known, found.infeasible)
            released = outcome.kind == 'released'
            table.add_row(log.id, *map(str, counts),
                          as_text(trial.costs[log.id]) if released else '',
                          trial.left() if released else '', outcome.kind)
            if outcome.reason:
                notes.append(f'{log.id}: {outcome.place_and_reason}')
            elif found is not None and found.names:
                notes.append(f'{log.id}: unknown are {found.named(settings.chain.states)}')
    for left_out in skipped:
        if left_out.state is not LogState.UNUSABLE:
            table.add_row(left_out.name, *_NO_NUMBERS, 'skipped')
            notes.append(f'{left_out.name}: {left_out.reason}')
    console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)
    if any(found.infeasible for found in trial.found.values()):
        console.print('no move: steps that the map does not allow. The first step starts from the '
                      f'initial state {quoted(settings.chain.initial_state)}. A release has no '
                      'such steps', soft_wrap=True)
    if isinstance(settings, ReleaseSettings):
        print_topics(console, trial.topics, settings.keep.coarse_stamps)
    console.print(trial.total() if ledger else 'no --ledger: a release would not be recorded',
                  soft_wrap=True)
    return 0 if Report(tuple(outcomes)).ok else 1


class _Trial:
    """What releases would cost, one after another; nothing is charged."""

    def __init__(self, settings: Settings, allow_unknown: float, ledger: Ledger | None,
                 subject: str, budget: float, subject_budget: float, accounting: str,
                 delta: float):
        self._settings, self._allow_unknown, self._ledger = settings, allow_unknown, ledger
        # A copy: what the releases would cost is added to it.
        self._account = Account(subject) if ledger is None else deepcopy(ledger.account(subject))
        at = checked_delta(accounting, delta)
        if ledger is not None:
            ledger.keep_budget(subject, subject_budget, accounting, delta, store=False)
        if not self._account.has_accounting:
            self._account.delta = at
        self._budget = budget
        if self._account.budget is None:
            self._account.budget = as_fraction(subject_budget) or None
        self._mechanisms = Mechanisms(settings)
        self._before = self._account.counted
        self._moves = Moves.of(settings.chain)
        #: Of each log: what was found in it, and what it would cost.
        self.found: dict[str, Inspection] = {}
        self.costs: dict[str, Fraction] = {}
        self.topics: list[OfTopics] = []

    def release(self, log: LogFile) -> Outcome:
        """Return the outcome that a release would have."""
        settings, content = self._settings, b''
        if isinstance(settings, ReleaseSettings):
            entries = settings.entries(log)
            words = settings.words_of(entries, log)
            found, loss = settings.inspect(entries, words, self._moves), settings.loss
            longest = max(map(len, words))
            if settings.keep.topics:
                with KeptTopics(log.path, settings.keep, settings.topic, strict=False) as kept:
                    if topics := kept.outcomes(settings.field, settings.values):
                        self.topics.append((log.id, topics))
                    kept.check()  # one that is missing or refused makes the log fail
            if self._ledger is not None:
                content = self._ledger.fingerprint(words)
        else:
            with Archive(log.path, settings.columns) as archive:
                survey = archive.survey()
                found, loss = settings.inspect(archive, self._moves), settings.loss_of(
                    survey.routes)
                longest = survey.longest
            if self._ledger is not None:
                content = self._ledger.file_fingerprint(log.path)
        self.found[log.id] = found
        if self._ledger is not None:
            before = self._ledger.find(self._account.subject, log.id, settings.digest())
            if before is not None:
                same = before.content == content
                return Outcome(log.id, 'already released' if same else 'failed', reason=(
                    'costs nothing' if same else 'its content has changed since it was released'))
        problem = found.problem(settings.chain, self._allow_unknown,
                                archive=not isinstance(settings, ReleaseSettings))
        if problem is not None:
            return Outcome(log.id, 'failed', reason=problem)
        # 'auto' takes seconds to choose, and takes no mechanism that is too slow.
        if self._account.delta is not None or settings.mechanism != 'auto':
            all_symbols = 0 if isinstance(settings, ReleaseSettings) else found.symbols
            mechanism = self._mechanisms.for_length(longest, all_symbols)  # refuses long words
            loss = replace(loss, bound=mechanism.law.loss_bound)
        self._check_budget(log, loss)
        self.costs[log.id] = self._account.counted_with(loss) - self._account.counted
        self._account.add_loss(loss, log.id, {log.id: None})
        return Outcome(log.id, 'released')

    def _check_budget(self, log: LogFile, loss: Loss) -> None:
        """Raise BudgetError where the ledger would refuse this, after the logs before it."""
        if self._ledger is not None:
            self._ledger.check(self._account.subject, loss, log.id, budget=self._budget,
                               description=json.dumps(self._settings.described()))
        account, of_log = self._account, self._account.spent(log.id)
        limits = ((account.budget, account.counted, account.counted_with(loss)),
                  (as_fraction(self._budget) or None, of_log, of_log + account.cost(loss)))
        for limit, spent, total in limits:
            if limit is not None and total > limit:
                raise BudgetError(f'{as_text(max(limit - spent, Fraction(0)))} would be left, and '
                                  f'this costs {as_text(total - spent)}')

    def left(self) -> str:
        """Return what would be left of the subject's budget."""
        return 'no limit' if self._account.left is None else as_text(self._account.left)

    def total(self) -> str:
        """Return in one sentence what all would cost."""
        account = self._account
        accounted = '' if account.delta is None else f' ({accounting_text(account.delta)})'
        return (f'{printable(account.subject)} would have spent ε = '
                f'{as_text(account.counted)}{accounted}, '
                f'{as_text(account.counted - self._before)} of it on these logs'
                f'{"" if account.unit is None else f", for {account.unit}"}; '
                f'left: {self.left()}')
