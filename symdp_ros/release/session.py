# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The steps of every release: a draft is planned and staged, charged, and only then published.

Logs, archives and learned chains take all of them; a dry run takes the first one alone,
`Draft.plan`. `release.outbox` has the order that survives a crash.
"""
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
import json
from pathlib import Path
from typing import Any, TypeAlias

from symdp_ros.errors import BudgetError, ConfigurationError, LogError, printable, SymdpError
from symdp_ros.files.closable import Closable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.transaction import ChargeTransaction, new_charge
from symdp_ros.ledger.units import Loss
from symdp_ros.release.draft import Destination, Draft
from symdp_ros.release.outbox import Outbox
from symdp_ros.release.report import NOISE, Outcome, outcome_of
from symdp_ros.release.settings import WritingSettings

_SHOWN = 3  # subjects

#: The charge of a draft and whether it is new; or why it was not made; None: without a ledger.
_Charge: TypeAlias = tuple[Entry, bool] | Exception | None


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
    :param wait, on_wait: as of `Outbox`.
    :param name, writing, rewrite_missing: as of `Destination`.
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
        self.outbox = Outbox(directory, ledger, wait=wait, on_wait=on_wait)
        self._destination = Destination(self.outbox, ledger, name, writing, rewrite_missing)

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
            self._destination.check_free()
        elif earlier is not None and not self._compare:
            return Outcome(log_id, 'already released', earlier.symbols,
                           self._destination.reuse(draft, earlier))
        problem = draft.plan(earlier, ledger, stack)
        if problem is not None:
            return draft.outcome('refused', reason=problem, code=NOISE) if earlier is None \
                else draft.outcome('failed', reason=problem, code='log')
        if earlier is None and draft.losses is not None and ledger is not None:
            earlier = self._leave_out(ledger, draft, draft.losses)
            if earlier is None:
                self._destination.check_free()
        elif earlier is None and ledger is not None:
            assert draft.loss is not None
            ledger.keep_budget(self._subject, self._subject_budget)
            ledger.check(self._subject, draft.loss, log_id, description=self._description,
                         budget=self._budget)
        if earlier is not None:
            return draft.outcome('already released', self._destination.reuse(draft, earlier))
        draft.stage(self.outbox, stack)
        self.outbox.check(self._destination.names(log_id, len(draft.files)))
        return None

    def _leave_out(self, ledger: Ledger, draft: Draft, losses: dict[str, Loss]) -> Entry | None:
        """
        Leave out the subjects that cannot be charged; return a charge, if all were charged before.

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
            raise BudgetError(f'none of its {len(problems)} subjects can be charged: {named}')
        if not self._partial:
            raise BudgetError(f'{len(problems)} of its {len(losses)} subjects cannot be '
                              f'charged: {named}. With --partial, the others are released')
        for subject in problems:
            del losses[subject]
        return None

    def publish(self, releases: Sequence[Outcome | Draft]) -> list[Outcome]:
        """
        Charge the drafts, in one transaction, and move them to their paths; return all outcomes.

        `Outbox.sync_moved` is to be called later, after all of several calls.
        """
        outcomes = [each if isinstance(each, Outcome) else outcome_of(
            each.log_id, each.make_durable) for each in releases]
        releases = [outcome or each for outcome, each in zip(outcomes, releases, strict=True)]
        charges = iter(self._charge([each for each in releases if isinstance(each, Draft)]))
        return [each if isinstance(each, Outcome) else outcome_of(
            each.log_id, partial(self._publish, each, next(charges)))
            for each in releases]

    def _charge(self, drafts: Sequence[Draft]) -> Sequence[_Charge]:
        """Charge what is staged, or nothing of it where one cannot be written."""
        if not drafts:
            return []
        try:
            self.outbox.make_staging_durable()
            self._destination.place(drafts)
            if self._ledger is None:
                return [None] * len(drafts)
            entries = list(map(self._entries, drafts))
            with self._ledger.charging(self._subject, budget=self._budget) as transaction:
                return [_charged(transaction, *each) for each in zip(drafts, entries, strict=True)]
        except Exception as error:  # it is the outcome of each
            return [error] * len(drafts)

    def _entries(self, draft: Draft) -> dict[str, Entry]:
        """Return the charge of a draft for each subject."""
        losses = draft.losses
        if losses is None:
            assert draft.loss is not None
            losses = {self._subject: draft.loss}
        new = {loss: new_charge(
            loss, self._digest, self._description, draft.log_id, content=draft.content,
            words=draft.words, lengths=None if draft.words else [draft.length], logs=draft.logs,
            taken=draft.taken) for loss in set(losses.values())}
        return {subject: new[loss] for subject, loss in losses.items()}

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
                return draft.outcome('already released', self._destination.reuse(draft, entry))
            number = entry.number
        return draft.outcome('released', [self.outbox.publish(replace(file, number=number))
                                          for file in draft.files])


def _charged(transaction: ChargeTransaction, draft: Draft, new: Mapping[str, Entry]) -> _Charge:
    """Charge one release; return why not where it is refused."""
    if len(new) > 1:  # all of them, or none: an error ends the transaction
        return transaction.charge_all(new, draft.files)
    try:
        [(subject, entry)] = new.items()
        return transaction.charge(entry, draft.files, subject)
    except SymdpError as error:
        return error


def _named(problems: Mapping[str, str]) -> str:
    """Return the first of some subjects and what is wrong with them, and how many more."""
    first = [f'{printable(subject)} ({problem})' for subject, problem in sorted(
        problems.items())[:_SHOWN]]
    more = len(problems) - len(first)
    return '; '.join(first) + (f'; and {more} more' if more > 0 else '')
