# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`symdp release --dry-run`: what a release would find, cost and leave. Nothing is changed.

All of it is printed on stderr and written to no file: it depends on the true route.
"""
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from fractions import Fraction
from functools import partial
import json
import os

from symdp_ros.cli.logs.log_arguments import new_account, new_accounts
from symdp_ros.cli.logs.topic_outcomes import OfTopics, print_topics
from symdp_ros.cli.printed_tables import plain_table
from symdp_ros.core.naming import quoted
from symdp_ros.errors import BudgetError, printable
from symdp_ros.ledger.accounts import Account, accounting_text
from symdp_ros.ledger.budgets import limit, NamedBudget
from symdp_ros.ledger.charging import Charging
from symdp_ros.ledger.entry import as_text, Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import KeptTopics, LogFile, LogState, SkippedLog
from symdp_ros.maps.pose_report import distances_text
from symdp_ros.release.archives.archive import ArchiveDraft
from symdp_ros.release.draft import LogDraft, Outcome
from symdp_ros.release.inspection import Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.session import outcome_of, Report, unusable
from symdp_ros.release.settings import ReleaseSettings

_SHOWN = 3  # subjects
_NUMBERS = 'symbols', 'known', 'unknown', 'no move', 'cost', 'left'
_NO_NUMBERS = ('',) * len(_NUMBERS)


def dry_run(settings: ReleaseSettings, logs: Iterable[LogFile],
            skipped: Sequence[SkippedLog] = (), *, allow_unknown: float, ledger: str | None,
            charging: Charging, on_message: Callable[[str], None]) -> int:
    """
    Print what a release of the logs would do; return 0 where none would be refused or fail.

    :param on_message: called with what else the operator should know.
    :raises ConfigurationError, BudgetError, LedgerError: a release would end with the same error.
    """
    from rich.console import Console

    settings.check()
    console = Console(stderr=True, highlight=False, markup=False)
    console.print('dry run: nothing is released, charged or written. These numbers are about the '
                  'true route: they are for you alone; do not pass them on', soft_wrap=True)
    table = plain_table('log', *(f'>{column}' for column in _NUMBERS), 'would be')
    outcomes, topics, infeasible = unusable(skipped), list[OfTopics](), 0
    notes = [f'{outcome.log_id}: {outcome.reason}' for outcome in outcomes]
    for failed in outcomes:
        table.add_row(failed.log_id, *_NO_NUMBERS, failed.kind)
    with ExitStack() as stack:
        opened = None
        if ledger and any(map(os.path.lexists, (ledger, f'{ledger}.mark'))):
            opened = stack.enter_context(Ledger(ledger, create=False))
            if charging.subject and (note := new_account(opened, charging.subject)):
                on_message(note)
        elif ledger:
            on_message(f'{ledger} does not exist yet: it would be made')
        account = _account(opened, charging.subject, NamedBudget.of(
            charging.subject_budget, charging.accounting, charging.delta))
        before, moves, mechanisms = account.counted, Moves.of(settings.chain), Mechanisms(settings)
        if settings.locator is not None:
            settings.locator.recorded = []
        # 'auto' takes seconds to choose, and what it takes changes no sum of ε.
        is_free = account.delta is None and len(settings.mechanism.available()) > 1
        priced = None if is_free else mechanisms
        for log in logs:
            counted = account.counted
            draft: LogDraft | ArchiveDraft = (
                LogDraft(settings, log, priced, moves, allow_unknown, for_operator=True)
                if settings.archive is None else
                ArchiveDraft(settings, log, priced, moves, allow_unknown, charging.subject,
                             bool(ledger)))
            outcome = outcome_of(log.id, partial(
                _planned, draft, opened, account, charging.budget, topics, notes))
            outcomes.append(outcome)
            held = draft.inspection
            costs = (as_text(account.counted - counted), _left(account)) \
                if outcome.kind == 'released' and draft.losses is None else ('', '')
            numbers = _NO_NUMBERS[:4] if held is None else map(str, (
                held.symbols, held.known, held.symbols - held.known, held.infeasible))
            table.add_row(log.id, *numbers, *costs, outcome.kind)
            infeasible += 0 if held is None else held.infeasible
            if outcome.reason:
                notes.append(f'{log.id}: {outcome.place_and_reason}')
            elif held is not None and held.names:
                notes.append(f'{log.id}: unknown are {held.named(settings.chain.states)}')
            elif held is not None and held.outside:
                notes.append(f'{log.id}: its positions: {held.outside}')
            if settings.locator is not None and (away := distances_text(settings.locator)):
                notes.append(f'{log.id}: its positions: {away}')
    for left_out in skipped:
        if left_out.state is not LogState.UNUSABLE:
            table.add_row(left_out.name, *_NO_NUMBERS, 'skipped')
            notes.append(f'{left_out.name}: {left_out.reason}')
    console.print(table)
    console.print(settings.privacy_text, soft_wrap=True)
    console.print(settings.mechanism.text(settings.chain), soft_wrap=True)
    for note in notes:
        console.print(note, soft_wrap=True)
    if infeasible:
        console.print('no move: steps that the map does not allow. The first step starts from the '
                      f'initial state {quoted(settings.chain.initial_state)}. A release has no '
                      'such steps', soft_wrap=True)
    if settings.archive is None:
        print_topics(console, topics, settings.writing.keep.coarse_stamps)
    console.print(
        (_total(account, before) if charging.subject else 'each subject has its own budget')
        if ledger else 'no --ledger: a release would not be recorded',
        soft_wrap=True)
    return 0 if Report(tuple(outcomes)).ok else 1


def _account(ledger: Ledger | None, subject: str, named: NamedBudget) -> Account:
    """Return a copy of what a subject has spent, to which a dry run adds; with its budget."""
    account = Account(subject) if ledger is None else deepcopy(ledger.account(subject))
    if ledger is not None:
        named.check(account, ledger.path)
    if named.adds_to(account):
        account.add(named.entry(account))
    return account


def _planned(draft: LogDraft | ArchiveDraft, ledger: Ledger | None, account: Account,
             budget: float, topics: list[OfTopics], notes: list[str]) -> Outcome:
    """Return the outcome that a release would have; add what it would cost to an account."""
    settings, log_id = draft.settings, draft.log_id
    if isinstance(draft, LogDraft) and draft.settings.writing.keep.topics:
        _keep_topics(draft, topics)
    with ExitStack() as stack:
        earlier = None if ledger is None else ledger.find(
            account.subject, log_id, settings.digest())
        problem = draft.plan(earlier, ledger, stack)
        if draft.inspection is None:
            draft.inspect()
    if problem is not None:
        return Outcome(log_id, 'refused' if earlier is None else 'failed', reason=problem)
    if draft.loss is None:
        return Outcome(log_id, 'already released', reason='costs nothing')
    if draft.losses is not None:
        text, is_refused = _of_subjects(draft, ledger, budget)
        notes.append(text)
        if ledger is not None and (note := new_accounts(ledger, draft.losses)):
            notes.append(note)
        return Outcome(log_id, 'refused' if is_refused else 'released')
    if ledger is None:
        account.check(draft.loss, log_id, limit('budget', budget))
    else:
        ledger.check(account.subject, draft.loss, log_id, budget=budget, account=account,
                     description=json.dumps(settings.described()))
    account.add_loss(draft.loss, log_id, {log_id: None})
    return Outcome(log_id, 'released')


def _of_subjects(draft: LogDraft | ArchiveDraft, ledger: Ledger | None,
                 budget: float) -> tuple[str, bool]:
    """Return what the subjects of an archive would be charged, and whether one cannot be."""
    losses, settings = draft.losses or {}, draft.settings
    refused, earlier = dict[str, BudgetError](), dict[str, Entry]()
    if ledger is not None:
        earlier = ledger.find_all(losses, draft.log_id, settings.digest())
        refused = ledger.check_all(
            {subject: loss for subject, loss in losses.items() if subject not in earlier},
            draft.log_id, budget=budget, description=json.dumps(settings.described()))
    epsilons = sorted({loss.epsilon for loss in losses.values()})
    return (f'{draft.log_id}: {len(losses)} subjects; each would be charged ε = '
            + ' to '.join(map(as_text, dict.fromkeys((epsilons[0], epsilons[-1]))))
            + f'; {len(earlier)} were charged for it before, {len(refused)} would pass a budget'
            + ''.join(f'; {printable(subject)}: {error}' for subject, error in sorted(
                refused.items())[:_SHOWN])), bool(refused)


def _keep_topics(draft: LogDraft, topics: list[OfTopics]) -> None:
    """Note what becomes of the topics of a log; raise LogError if one cannot be kept."""
    settings, read = draft.settings, draft.settings.input
    with KeptTopics(draft.log.path, settings.writing.keep, read.topic, strict=False) as recording:
        if outcomes := recording.outcomes(read.field, read.values(settings.chain.states)):
            topics.append((draft.log.id, outcomes))
        recording.check()


def _left(account: Account) -> str:
    """Return what would be left of the subject's budget."""
    return 'no limit' if account.left is None else as_text(account.left)


def _total(account: Account, before: Fraction) -> str:
    """Return in one sentence what all would cost; `before`: what was spent before."""
    accounted = '' if account.delta is None else f' ({accounting_text(account.delta)})'
    return (f'{printable(account.subject)} would have spent ε = {as_text(account.counted)}'
            f'{accounted}, {as_text(account.counted - before)} of it on these logs'
            f'{"" if account.unit is None else f", for {account.unit}"}; left: {_left(account)}')
