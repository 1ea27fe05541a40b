# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What each subject has spent: the sums of a ledger's entries.

An entry is one row of the ledger. Most are charges; others set the budget or the unit of a
subject, or add to what it has spent.
"""
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
import json
from math import ceil
import re
from typing import Any, TypeVar
import zlib

from symdp_ros.core.accounting import BOUNDS, Concentrated, epsilon_at
from symdp_ros.errors import BudgetError, LedgerError, printable
from symdp_ros.ledger.overlap import most_at_once, Span
from symdp_ros.ledger.units import (ANY_CHANGE, as_decimal, as_rounded_text, as_text, Loss,
                                    MOST_DIGITS, Step, Unit)

KINDS = ('charge', 'unit', 'budget', 'spent', 'recovery')
_NUMBER = rf'\d{{1,{MOST_DIGITS}}}'
_AMOUNT = re.compile(rf'{_NUMBER}(\.{_NUMBER}|/(?!0+$){_NUMBER})?')

_OF_RELEASE = ('bound', 'routes', 'whole', 'repeats', 'of_log', 'length', 'logs', 'taken')

_MOST_BITS = 3000  # of a denominator: far fewer digits than `_AMOUNT` has

_FINEST = 10**30   # the largest denominator of a sum that is rounded up

_Cost = TypeVar('_Cost', Fraction, Concentrated)
_Sums = dict[Step, Fraction]  # sum of ε for each step
_NOTHING = Fraction(0)
#: δ at which ρ is shown where no other was chosen.
SHOWN_DELTA = Fraction(1, 10**6)


@dataclass(frozen=True)
class Entry:
    """
    One row of the ledger, as it is stored.

    :param kind: 'charge'; or 'budget' (`epsilon` is the new subject_budget, 0: none; in the
        description, 'delta' where it limits the ε of zCDP at this δ), 'unit' (of the subject from
        now on, and for what it has spent), 'spent' (`epsilon` was spent in addition to the
        charges, in the subject's unit; in the description, 'rho' where that is known), 'recovery'
        (see `description`).
    :param log_id: None: a word that a live node began.
    :param settings: a digest of all settings that the distribution depends on.
    :param description: these settings as JSON, for people to read; what of the loss is not as
        `Loss` has it if nothing is said; and `logs`: the log ids in which the charge is owed, each
        with the stamps of its first and last entry (nanoseconds).
    :param epsilon, period, seconds: as decimals, or as p/q where there is none.
    :param adjacency: k; 0 in entries that have none.
    :param made: UTC.
    :param lengths: JSON: of each word, or of all of an archive.
    :param content: HMAC of the words that were released, or of the archive.
    :param packed: zlib, JSON: the released words (of an archive, none).
    :param files: the number of files of the release.
    """

    number: int
    kind: str
    subject: str
    log_id: str | None = None
    settings: str = ''
    description: str = '{}'
    epsilon: str = '0'
    adjacency: int = 0
    sampling: str = ''
    period: str | None = None
    seconds: str | None = None
    made: str = ''
    lengths: str = '[]'
    content: bytes = field(default=b'', repr=False)
    packed: bytes = field(default=b'', repr=False)
    files: int = 0

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Return the released words; raise LedgerError if they are damaged."""
        try:
            return tuple(map(tuple, json.loads(zlib.decompress(self.packed))))
        except (zlib.error, ValueError, TypeError):
            pass
        raise LedgerError(f'charge {self.number} of the ledger is damaged', damaged=True)

    @property
    def length(self) -> int:
        """Return how many symbols were released; 0 for a word that a live node began."""
        try:
            return int(sum(json.loads(self.lengths)))
        except (ValueError, TypeError):
            return 0

    @property
    def described(self) -> dict[str, Any]:
        """Return `description`, decoded; empty where it is damaged. Not to be changed."""
        return _decoded(self.description)

    @property
    def settings_described(self) -> dict[str, Any]:
        """Return the settings alone of `described`."""
        return {name: value for name, value in self.described.items() if name not in _OF_RELEASE}

    @property
    def logs(self) -> dict[str, Span | None]:
        """Return the log ids in which the charge is owed, with stamps where they are known."""
        logs = self.described.get('logs')
        if isinstance(logs, dict):
            return {log: (span[0], span[1]) if _is_span(span) else None
                    for log, span in logs.items()}
        return {} if self.log_id is None else {self.log_id: None}

    @property
    def amount(self) -> Fraction:
        """Return `epsilon` as a number."""
        return amount(self.epsilon)

    @property
    def loss(self) -> Loss:
        """Return the privacy loss of the release."""
        return _loss_of(self.epsilon, self.adjacency, self.sampling, self.period, self.seconds,
                        self.description)

    def described_amount(self, name: str) -> Fraction | None:
        """Return an amount of the description, or None; raise LedgerError if it is damaged."""
        return amount_or_none(self.described.get(name))

    def is_sound(self) -> bool:
        """Return whether every column holds a valid value."""
        texts = (self.subject, self.settings, self.description, self.sampling, self.made,
                 self.lengths)
        try:
            return (all(isinstance(text, str) for text in texts) and self.kind in KINDS
                    and (self.log_id is None or isinstance(self.log_id, str))
                    and type(self.number) is type(self.adjacency) is type(self.files) is int
                    and 0 <= self.files
                    and (1 <= self.adjacency or self.kind not in ('charge', 'unit')
                         or self.kind == 'unit' and self.seconds is not None)
                    and isinstance(self.content, bytes) and isinstance(self.packed, bytes)
                    and amount(self.epsilon) >= 0
                    and (self.kind == 'charge' or self._amounts_are_sound())
                    and (self.period is None or amount(self.period) > 0)
                    and (self.seconds is None or amount(self.seconds) > 0
                         and (self.period is not None or self.kind != 'charge')))
        except LedgerError:
            return False

    def _amounts_are_sound(self) -> bool:
        """Return whether the amounts of the description are; raise LedgerError if they are not."""
        self.described_amount('rho')
        delta = self.described_amount('delta')
        return delta is None or 0 < delta < 1


@dataclass(slots=True)
class Account:
    """What one subject, and each of its logs, has spent."""

    subject: str
    unit: Unit | None = None
    budget: Fraction | None = None
    raised: Fraction = Fraction(0)  # what was spent in addition to the charges
    delta: Fraction | None = None  # of accounting: zcdp; None: pure
    has_accounting: bool = False  # whether the ledger stores that it is pure, or zcdp
    raised_rho: Fraction = Fraction(0)  # of the part of `raised` whose ρ is known
    raised_pure: Fraction = Fraction(0)  # the part of `raised` whose ρ is not known
    live_words: int = 0
    _sums: _Sums = field(default_factory=dict, repr=False)
    _logs: dict[str, _Sums] = field(default_factory=dict, repr=False)  # of each log id
    _live: _Sums = field(default_factory=dict, repr=False)  # the largest ε/k' of one live word
    _concentrated: dict[Step, Concentrated] = field(default_factory=dict, repr=False)
    _repeated: _Sums = field(default_factory=dict, repr=False)  # of a change in every word
    _repeated_concentrated: dict[Step, Concentrated] = field(default_factory=dict, repr=False)
    _released: set[str] = field(default_factory=set, repr=False)
    _routes: dict[str, int] = field(default_factory=dict, repr=False)  # of each archive
    _spans: dict[str, Span] = field(default_factory=dict, repr=False)  # of each log id, if known

    def add(self, entry: Entry) -> None:
        """Count one more entry of this subject."""
        if entry.kind == 'budget':
            self.budget = entry.amount or None
            self.delta, self.has_accounting = entry.described_amount('delta'), True
        elif entry.kind == 'spent':
            self.raised += entry.amount
            rho = entry.described_amount('rho')
            if rho is None:
                self.raised_pure += entry.amount
            else:
                self.raised_rho += rho
        elif entry.kind == 'unit':
            self.unit = Unit(entry.adjacency or None, entry.sampling,
                             amount_or_none(entry.period), amount_or_none(entry.seconds),
                             _zones_of(entry.described))
        elif entry.kind == 'charge':
            self.add_loss(entry.loss, entry.log_id, entry.logs)

    def add_loss(self, loss: Loss, log_id: str | None,
                 logs: Mapping[str, Span | None]) -> None:
        """
        Count one more charge.

        :param logs: as of `Entry`.
        """
        if self.unit is None:
            self.unit = loss.unit
        step, cost, rho = self.unit.step(loss), loss.per_step, loss.concentrated
        _add(self._sums, step, cost)
        _add(self._concentrated, step, rho)
        if log_id is None:
            self.live_words += 1
            self._live[step] = max(cost, self._live.get(step, cost))
        elif log_id in logs:
            self._released.add(log_id)
        if log_id is not None and loss.sampling == 'archive':
            self._routes[log_id] = loss.repeats * loss.routes
        if loss.of_log is not None:
            step, cost = ANY_CHANGE, loss.of_log
            rho = Concentrated.of('pure', cost)
        for log, span in logs.items():
            _add(self._logs.setdefault(log, {}), step, cost)
            if span is not None:
                known = self._spans.get(log, span)
                self._spans[log] = min(known[0], span[0]), max(known[1], span[1])
        if loss.repeats > 1:
            cost, rho = cost * loss.repeats, rho.repeated(loss.repeats)
        _add(self._repeated, step, cost)
        _add(self._repeated_concentrated, step, rho)

    def spent(self, log_id: str | None = None) -> Fraction:
        """
        Return what the subject, or one of its logs, has spent, in the unit of the subject.

        What was spent in addition to the charges may be of any log, and is counted for each.
        """
        return _sum([self.raised, self._cost_of(
            self._sums if log_id is None else self._logs.get(log_id, {}))])

    def _cost_of(self, sums: _Sums) -> Fraction:
        return _sum(self._costs(sums))

    def _costs(self, sums: _Sums) -> list[Fraction]:
        unit = self.unit or Unit()  # without one there are no sums
        return [total * unit.steps(step) for step, total in sums.items()]

    @property
    def spent_by_one(self) -> Fraction:
        """Return the most that one log, in all its releases, or one live word has spent."""
        return self.raised + max([*map(self._cost_of, self._logs.values()),
                                  *self._costs(self._live)], default=Fraction(0))

    @property
    def spent_at_once(self) -> Fraction:
        """Return the same of all logs together that one change may touch, by their stamps."""
        costs = {log: self._cost_of(self._logs[log]) for log in self._spans}
        most, _ = most_at_once(self._spans, costs, self.unit.seconds if self.unit else None)
        return max(self.raised + most, self.spent_by_one)

    @property
    def spent_by_all(self) -> Fraction:
        """Return what the same change in every log, route and live word costs, as `counted`."""
        spent = self.raised + self._cost_of(self._repeated)
        return spent if self.delta is None else min(spent, epsilon_at(
            self._rho(self._repeated_concentrated), self.delta))

    @property
    def rho(self) -> Fraction:
        """Return the ρ of zCDP of all releases, in the unit of the subject."""
        return self._rho(self._concentrated)

    def _rho(self, concentrated: Mapping[Step, Concentrated]) -> Fraction:
        # What is known of additional spending is its ε alone: it may have been one release.
        unit = self.unit or Unit()
        return _sum([self.raised_rho, self.raised_pure**2 / 2 if self.raised_pure else _NOTHING,
                     *(sums.rho(unit.steps(step)) for step, sums in concentrated.items())])

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
        account = self if self.unit is not None else replace(self, unit=loss.unit)
        after = loss.concentrated + self._concentrated.get(loss.step, Concentrated())
        return min(spent, epsilon_at(account._rho(
            self._concentrated | {loss.step: after}), self.delta))

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
        unit = loss.unit if self.unit is None else self.unit
        if not unit.accepts(loss):
            raise BudgetError(
                f'the ledger counts what {self.subject!r} spends for {unit}, and this release '
                f'would be counted for {loss.unit}: the two cannot be added. Release with the '
                'settings of before, or under another subject: anyone who reads both releases '
                'gets the sum of their ε', subject=self.subject)
        return unit

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
        least = 'at least ' if self.raised else ''
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


@lru_cache(maxsize=200)  # of many robots, most are alike
def _decoded(description: str) -> dict[str, Any]:
    try:
        described = json.loads(description)
    except ValueError:
        described = {}
    return described if isinstance(described, dict) else {}


@lru_cache(maxsize=1000)  # many charges are alike
def _loss_of(epsilon: str, adjacency: int, sampling: str, period: str | None,
             seconds: str | None, description: str) -> Loss:
    described, of_log = _decoded(description), None
    with suppress(LedgerError):
        of_log = amount_or_none(described.get('of_log'))
    bound, during = described.get('bound'), amount_or_none(seconds)
    return Loss(amount(epsilon), adjacency, sampling, amount_or_none(period), during,
                bound if bound in BOUNDS else 'pure', _count_of(described.get('routes')) or 1,
                described.get('whole') is True and during is not None,
                _count_of(described.get('repeats')) or 1, of_log,
                _count_of(described.get('length')), _zones_of(described))


def _sum(amounts: Iterable[Fraction]) -> Fraction:
    """Return the sum; most amounts of a ledger are zero, and adding fractions is slow."""
    total = _NOTHING
    for each in amounts:
        total = total + each if total and each else total or each
    return total


def _add(sums: dict[Step, _Cost], step: Step, cost: _Cost) -> None:
    sums[step] = sums[step] + cost if step in sums else cost


def _zones_of(described: Mapping[str, Any]) -> str | None:
    """Return the digest of zones in a description, or None."""
    zones = described.get('zones')
    return zones if isinstance(zones, str) else None


def _count_of(found: object) -> int | None:
    """Return a number ≥ 1 of a description; None where it is missing or damaged."""
    return found if type(found) is int and found > 0 else None


def _is_span(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2 and all(type(n) is int for n in found)


@lru_cache(maxsize=1000)
def amount(text: object) -> Fraction:
    """
    Return an amount that is stored in a ledger as text.

    :raises LedgerError: it is no amount.
    """
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise LedgerError('an amount in the ledger is damaged', damaged=True)
    return Fraction(text)


def rounded_up(rho: Fraction) -> Fraction:
    """Return a ρ of at most 30 decimals: exact sums of many have too many digits."""
    return rho if _FINEST % rho.denominator == 0 else Fraction(ceil(rho * _FINEST), _FINEST)


def written(number: Fraction) -> str:
    """Return an amount as the text that a ledger stores: exact, or rounded up where too long."""
    return _written(number.numerator, number.denominator)  # a fraction's own hash is slow


@lru_cache(maxsize=10_000)
def _written(*ratio: int) -> str:
    number = Fraction(*ratio)
    if number.denominator.bit_length() > _MOST_BITS:  # of hundreds of lengths of short logs
        number = rounded_up(number)
    return as_decimal(number) or str(number)


def accounting_text(delta: Fraction | None) -> str:
    """Return the name of an accounting; `delta`: None if it is pure."""
    return 'pure' if delta is None else f'zcdp, δ = {float(delta):g}'


def amount_or_none(text: object) -> Fraction | None:
    """Return the amount, or None if `text` is None."""
    return None if text is None else amount(text)
