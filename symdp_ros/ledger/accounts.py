# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What each subject has spent, in one unit: the sums of a ledger's entries, and what is left.

An ε is for some changes: ε = 1 at k = 20 and ε = 1 at k = 1 cannot be added. Changing j symbols
never costs more than j·ε/k, so every release can be counted in one unit, the one of its subject:

* k symbols at one sampling: a release at (ε, k') costs ε·k/k'.
* D seconds: a release of one symbol every T seconds costs (ε/k')·(⌊D/T⌋ + 1), since D seconds
  touch that many symbols.
* A log of n symbols cannot change in more: of k symbols, or of those that D seconds touch, at most
  n are its own. It was drawn for min(k', n) changes (`Privacy.for_length`), so it costs
  (ε/min(k', n))·min(k, n): all of ε where it is shorter than both. Charges that do not say n cost
  what they cost at any length, and were drawn for k'.
* Some losses cannot be divided (`whole`): their ε is for any one change during D seconds, and they
  cost no less for fewer seconds. More seconds are ⌈D'/D⌉ such changes, one after another.

**What the sum bounds.** Every release is charged for k changed symbols (D seconds) of what it is
drawn from. A released log shows its own symbols, and other releases are drawn independently. So a
change in one log costs the releases of that log, and the same change in every log costs the sum.
So do k symbols that change here and there in short logs, or a visit that goes over several of
them: the sum counts each log in full. Some releases are drawn from several words for one charge: a
chain that was learned, of all of its logs, and an archive that is charged as one, of its routes.
Its ε is owed in each of these words; a change in every one of them, `repeats`, costs `repeats`
times its ε. A log or live word that lasts several days holds the same visit several times: j
visits cost j times its ε.

Where zones are told (`core.zones`), ε is for changes inside a zone alone. In a unit with zones a
release without any counts, too, as it protects more; the reverse, and other zones, are refused.

Symbols of two samplings are different things, and neither is a time: they are not mixed.
"""
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil

from symdp_ros.core.accounting import epsilon_at, rho_of
from symdp_ros.errors import BudgetError, printable
from symdp_ros.ledger.entry import as_rounded_text, as_text, Entry, Loss, Step
from symdp_ros.ledger.overlap import most_at_once, Span
from symdp_ros.maps.reports import symbols_during

_NOTHING = Fraction(0)
#: δ at which ρ is shown where no other was chosen.
SHOWN_DELTA = Fraction(1, 10**6)
_DIGEST_SHOWN = 8  # characters


@dataclass(frozen=True)
class Unit:
    """
    The changes that the ε of a subject are for: k `symbols` of one sampling, or D `seconds`.

    :param symbols: k ≥ 1; None where `seconds` are counted.
    :param sampling, period: as of `Loss`.
    :param seconds: D; None where symbols are counted.
    :param zones: the digest of the zones inside which these changes are; None: anywhere.
    """

    symbols: int | None = None
    sampling: str = ''
    period: Fraction | None = None
    seconds: Fraction | None = None
    zones: str | None = None

    @classmethod
    @lru_cache(maxsize=10_000)  # many subjects have one: what it costs is then found at once
    def of(cls, loss: Loss) -> 'Unit':
        """Return the unit of a subject whose first release this is."""
        if loss.seconds is not None:
            return cls(seconds=loss.seconds, zones=loss.zones)
        return cls(loss.adjacency, loss.sampling, loss.period, zones=loss.zones)

    def accepts(self, loss: Loss) -> bool:
        """Return whether a release can be counted in this unit."""
        if loss.zones not in (None, self.zones):
            return False
        if self.seconds is not None or loss.seconds is not None:
            return self.seconds is not None and loss.seconds is not None
        return (self.sampling, self.period) == (loss.sampling, loss.period)

    @lru_cache(maxsize=10_000)
    def cost(self, loss: Loss) -> Fraction:
        """Return what a release that it `accepts` costs in this unit."""
        return loss.per_step * self.steps(loss.step)

    def rho(self, loss: Loss) -> Fraction:
        """Return the ρ of a release that it `accepts` in this unit."""
        return loss.rho(self.steps(loss.step))

    def cost_in_log(self, loss: Loss) -> Fraction:
        """Return what a release costs in one of the logs that it is owed in."""
        return self.cost(loss) if loss.of_log is None else loss.of_log

    def repeated_cost(self, loss: Loss) -> Fraction:
        """Return what a change costs in each of the words of a release."""
        return self.cost_in_log(loss) * loss.repeats

    def repeated_rho(self, loss: Loss) -> Fraction:
        """Return the same of ρ: it is a change of so many times as many symbols."""
        if loss.of_log is not None:
            return rho_of('pure', loss.of_log, loss.repeats, rule=loss.rule)
        return loss.rho(self.steps(loss.step) * loss.repeats)

    @lru_cache(maxsize=10_000)
    def grouped(self, loss: Loss) -> Loss:
        """
        Return a loss that costs as much, without n where it is no limit: so there are few.

        (If a recovery sets a larger unit later, the loss is then counted as without n: as more.)
        """
        kind, each, most = loss.step
        if most is None or most < self.steps((kind, each, None)):
            return loss
        return replace(loss, length=None, adjacency=loss.most_changes)

    def steps(self, step: Step) -> int:
        """Return how many steps of a loss the changes of this unit touch."""
        kind, each, most = step
        if self.seconds is None or each is None:
            steps = self.symbols or 1
        else:
            steps = ceil(self.seconds / each) if kind == 'seconds' else symbols_during(
                self.seconds, each)
        return steps if most is None else min(steps, most)

    def __str__(self) -> str:
        inside = '' if self.zones is None else f' inside the zones {self.zones[:_DIGEST_SHOWN]}'
        if self.seconds is not None:
            return f'changes during {as_text(self.seconds)} s{inside}'
        period = '' if self.period is None else f' {as_text(self.period)} s'
        return (f'changes of up to {self.symbols} symbol{"" if self.symbols == 1 else "s"} '
                f'(sampling: {self.sampling}{period}){inside}')


@dataclass(slots=True)
class Account:
    """What one subject, and each of its logs, has spent."""

    subject: str
    unit: Unit | None = None
    budget: Fraction | None = None
    added: Fraction = Fraction(0)  # what was spent in addition to the charges
    delta: Fraction | None = None  # of accounting: zcdp; None: pure
    has_accounting: bool = False  # whether the ledger stores that it is pure, or zcdp
    added_rho: Fraction = Fraction(0)  # of the part of `added` whose ρ is known
    added_without_rho: Fraction = Fraction(0)  # the part of `added` whose ρ is not known
    live_words: int = 0
    _losses: dict[Loss, int] = field(default_factory=dict, repr=False)  # how many charges each
    _logs: dict[str, list[Loss]] = field(default_factory=dict, repr=False)  # of each log id
    _live: set[Loss] = field(default_factory=set, repr=False)  # of live words
    _released: set[str] = field(default_factory=set, repr=False)
    _routes: dict[str, int] = field(default_factory=dict, repr=False)  # of each archive
    _spans: dict[str, Span] = field(default_factory=dict, repr=False)  # of each log id, if known

    def add(self, entry: Entry) -> None:
        """Count one more entry of this subject."""
        if entry.kind == 'budget':
            self.budget = entry.amount or None
            self.delta, self.has_accounting = entry.described_amount('delta'), True
        elif entry.kind == 'spent':
            self.added += entry.amount
            rho = entry.described_amount('rho')
            if rho is None:
                self.added_without_rho += entry.amount
            else:
                self.added_rho += rho
        elif entry.kind == 'unit':
            self.unit = Unit.of(entry.loss)
        elif entry.kind == 'charge':
            self.add_loss(entry.loss, entry.log_id, entry.logs)

    def add_loss(self, loss: Loss, log_id: str | None,
                 logs: Mapping[str, Span | None]) -> None:
        """
        Count one more charge.

        :param logs: as of `Entry`.
        """
        if self.unit is None:
            self.unit = Unit.of(loss)
        if log_id is not None and loss.sampling == 'archive':
            self._routes[log_id] = loss.repeats * loss.routes
        if loss.length is not None:
            loss = self.unit.grouped(loss)
        self._losses[loss] = self._losses.get(loss, 0) + 1
        if log_id is None:
            self.live_words += 1
            self._live.add(loss)
        elif log_id in logs:
            self._released.add(log_id)
        for log, span in logs.items():
            self._logs.setdefault(log, []).append(loss)
            if span is not None:
                known = self._spans.get(log, span)
                self._spans[log] = min(known[0], span[0]), max(known[1], span[1])

    def spent(self, log_id: str | None = None) -> Fraction:
        """
        Return what the subject, or one of its logs, has spent, in the unit of the subject.

        What was spent in addition to the charges may be of any log, and is counted for each.
        """
        return _sum([self.added, self._sum(Unit.cost) if log_id is None else
                     self._cost_of(log_id)])

    def _sum(self, cost: Callable[[Unit, Loss], Fraction]) -> Fraction:
        """Return the sum over all charges; `cost`: a method of the unit."""
        unit = self.unit or Unit()  # without one there are no charges
        return _sum(count * cost(unit, loss) if count > 1 else cost(unit, loss)
                    for loss, count in self._losses.items())

    def _cost_of(self, log: str) -> Fraction:
        unit = self.unit or Unit()
        return _sum(map(unit.cost_in_log, self._logs.get(log, ())))

    @property
    def spent_by_one(self) -> Fraction:
        """Return the most that one log, in all its releases, or one live word has spent."""
        unit = self.unit or Unit()
        return self.added + max([*map(self._cost_of, self._logs), *map(unit.cost, self._live)],
                                default=_NOTHING)

    @property
    def spent_at_once(self) -> Fraction:
        """Return the same of all logs together that one change may touch, by their stamps."""
        costs = {log: self._cost_of(log) for log in self._spans}
        most, _ = most_at_once(self._spans, costs, self.unit.seconds if self.unit else None)
        return max(self.added + most, self.spent_by_one)

    @property
    def spent_by_all(self) -> Fraction:
        """Return what the same change in every log, route and live word costs, as `counted`."""
        spent = self.added + self._sum(Unit.repeated_cost)
        return spent if self.delta is None else min(spent, epsilon_at(
            self._added_rho + self._sum(Unit.repeated_rho), self.delta))

    @property
    def rho(self) -> Fraction:
        """Return the ρ of zCDP of all releases, in the unit of the subject."""
        return self._added_rho + self._sum(Unit.rho)

    @property
    def _added_rho(self) -> Fraction:
        # What is known of additional spending is its ε alone: it may have been one release. It
        # is counted by rule 1 (`core.accounting`), which may be more: it says of no rule.
        return self.added_rho + self.added_without_rho**2 / 2

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """Return an ε so that all releases are (ε, δ)-private; at most the sum of their ε."""
        return min(self.spent(), epsilon_at(self.rho, delta))

    @property
    def counted(self) -> Fraction:
        """Return what the budget limits: the sum, or with accounting: zcdp the ε at its δ."""
        return self.spent() if self.delta is None else self.epsilon_at(self.delta)

    def counted_with(self, loss: Loss) -> Fraction:
        """Return `counted` after one more release, which is in the unit of the subject."""
        spent = self.spent() + self.cost(loss)
        if self.delta is None:
            return spent
        rho = self.rho + (self.unit or Unit.of(loss)).rho(loss)
        return min(spent, epsilon_at(rho, self.delta))

    @property
    def left(self) -> Fraction | None:
        """Return what is left of the budget; None: there is no limit."""
        return None if self.budget is None else max(self.budget - self.counted, Fraction(0))

    @property
    def logs(self) -> int:
        """Return how many logs of the subject were released."""
        return len(self._released)

    def cost(self, loss: Loss) -> Fraction:
        """
        Return what a release would cost.

        :raises BudgetError: it is counted in another unit than the subject.
        """
        return self.check_unit(loss).cost(loss)

    def check_unit(self, loss: Loss) -> Unit:
        """
        Return the unit in which a release would be counted.

        :raises BudgetError: it is another than that of the subject.
        """
        unit = Unit.of(loss) if self.unit is None else self.unit
        if not unit.accepts(loss):
            raise BudgetError(
                f'the ledger counts what {self.subject!r} spends for {unit}, and this release '
                f'would be counted for {Unit.of(loss)}: the two cannot be added. Release with the '
                'settings of before, or under another subject: anyone who reads both releases '
                'gets the sum of their ε', subject=self.subject)
        return unit

    def check(self, loss: Loss, log_id: str | None = None, budget: Fraction | None = None,
              changes: str = '') -> None:
        """
        Check that one more charge would be within the budgets.

        :param budget: what the log may spend; None: no limit.
        :param changes: what `entry.changed_settings` returns.
        :raises BudgetError: it would not be, or is counted in another unit than its subject.
        """
        self.check_unit(loss)
        if self.budget is not None and (after := self.counted_with(loss)) > self.budget:
            raise self._refusal(
                f'the subject_budget of {self.subject!r}', loss, None, self.budget, self.counted,
                after, changes,
                '' if self.delta is None else f' ({accounting_text(self.delta)})')
        if log_id is not None and budget is not None:
            spent, cost = self.spent(log_id), self.cost(loss)
            if spent + cost > budget:
                raise self._refusal(f'the budget of the log {log_id!r}', loss, log_id, budget,
                                    spent, spent + cost, changes)

    def _refusal(self, name: str, loss: Loss, log_id: str | None, budget: Fraction,
                 spent: Fraction, total: Fraction, changes: str, counted: str = '') -> BudgetError:
        """Return the error of a charge after which `total` would be spent; `counted`: how."""
        cost, left = total - spent, max(budget - spent, Fraction(0))
        if not counted and cost != loss.epsilon:
            counted = (f' (ε = {as_text(loss.epsilon)} at k = {loss.most_changes}, counted for '
                       f'{self.unit})')
        more = f'this costs {as_text(cost)} more{counted}'
        text = (f'released before under other settings: {changes}; {more}, and {as_text(left)} is '
                f'left: {name} is {as_text(budget)}' if changes else
                f'{name} is {as_text(budget)}: {as_text(spent)} of it is spent, {as_text(left)} '
                f'is left, and {more}')
        return BudgetError(text, subject=self.subject, log_id=log_id, limit=budget, spent=spent,
                           cost=cost)

    @property
    def budget_text(self) -> str:
        """Return the budget, as nodes log it."""
        return 'subject_budget: ' + ('none stored, no limit' if self.budget is None else as_text(
            self.budget)) + ('' if self.delta is None else f' ({accounting_text(self.delta)})')

    @property
    def repeated_text(self) -> str:
        """Return what the same visit in every released word adds up to; '': there is one word."""
        counts = {'log': len(self._logs.keys() - self._routes),
                  'route': sum(self._routes.values()), 'live word': self.live_words}
        words = [f'{count:,} {name}{"" if count == 1 else "s"}'
                 for name, count in counts.items() if count]
        if sum(counts.values()) < 2:
            return ''
        one, at_once = (min(spent, self.counted) for spent in (
            self.spent_by_one, self.spent_at_once))
        # What was counted besides may have been in several words, too.
        least = 'at least ' if self.added else ''
        return (f'such a change in one of its {" and ".join(words)} costs at most ε = '
                f'{as_text(one)}; '
                + (f'where several logs show it, by their stamps, at most ε = {as_text(at_once)}; '
                   if at_once > one else '')
                + f'in every one of them (the same visit every day), {least}ε = '
                f'{as_text(self.spent_by_all)}')

    def zcdp_text(self, delta: Fraction | None = None) -> str:
        """Return what accounting: zcdp counts, at some δ or the one of the budget."""
        delta = delta or self.delta or SHOWN_DELTA
        return (f'accounting zcdp: ρ = {as_rounded_text(self.rho)}, which is '
                f'ε = {as_text(self.epsilon_at(delta))} at δ = {float(delta):g}; '
                f'accounting pure: ε = {as_text(self.spent())}')

    def __str__(self) -> str:
        return (f'{printable(self.subject)} has spent ε = {as_text(self.counted)}'
                + ('' if self.delta is None else f' ({accounting_text(self.delta)})')
                + (f' of {as_text(self.budget)}' if self.budget is not None else '')
                + (f', for {self.unit}' if self.unit is not None else ''))


def _sum(amounts: Iterable[Fraction]) -> Fraction:
    """Return the sum; most amounts of a ledger are zero, and adding fractions is slow."""
    total = _NOTHING
    for each in amounts:
        total = total + each if total and each else total or each
    return total


def accounting_text(delta: Fraction | None) -> str:
    """Return the name of an accounting; `delta`: None if it is pure."""
    return 'pure' if delta is None else f'zcdp, δ = {float(delta):g}'
