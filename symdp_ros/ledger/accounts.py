# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What each subject has spent: the sums of a ledger's entries.

An entry is one row of the ledger. Most are charges; others set the budget or the unit of a
subject, or add to what it has spent.
"""
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
import json
from math import ceil
import re
from typing import Any, NamedTuple
import zlib

from symdp_ros.core.accounting import BOUNDS, epsilon_at, RULE
from symdp_ros.errors import BudgetError, LedgerError, printable
from symdp_ros.ledger.overlap import most_at_once, Span
from symdp_ros.ledger.units import (as_decimal, as_rounded_text, as_text, Loss, MOST_DIGITS,
                                    Unit)

KINDS = ('charge', 'unit', 'budget', 'spent', 'recovery')
_NUMBER = rf'\d{{1,{MOST_DIGITS}}}'
_AMOUNT = re.compile(rf'{_NUMBER}(\.{_NUMBER}|/(?!0+$){_NUMBER})?')

_OF_RELEASE = ('bound', 'routes', 'whole', 'repeats', 'of_log', 'length', 'values',
               'zcdp_rule', 'logs', 'taken')

_MOST_BITS = 3000  # of a denominator: far fewer digits than `_AMOUNT` has

_FINEST = 10**30   # the largest denominator of a sum that is rounded up

_NOTHING = Fraction(0)
#: δ at which ρ is shown where no other was chosen.
SHOWN_DELTA = Fraction(1, 10**6)


class Entry(NamedTuple):
    """
    One row of the ledger, as it is stored.

    :param kind: 'charge'; or 'budget' (`epsilon` is the new subject_budget, 0: none; in the
        description, 'delta' where it limits the ε of zCDP at this δ), 'unit' (of the subject from
        now on, and for what it has spent), 'spent' (`epsilon` was spent in addition to the
        charges, in the subject's unit; in the description, 'rho' where that is known), 'recovery'
        (see `description`).
    :param log_id: None: a word that a live node began.
    :param settings: a digest of all settings that the distribution depends on.
    :param description: these settings as JSON, for people to read; the fields of the loss that
        differ from `Loss`'s defaults; and `logs`: the log ids in which the charge is owed, each
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
    content: bytes = b''
    packed: bytes = b''
    files: int = 0

    def __repr__(self) -> str:  # without the released words
        return f'Entry({self.number}, {self.kind!r}, {self.subject!r}, {self.log_id!r})'

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
        """Return how many rows were released; 0 for a word that a live node began."""
        try:
            return int(sum(json.loads(self.lengths)))
        except (ValueError, TypeError):
            return 0

    @property
    def symbols(self) -> int:
        """Return how many symbols they are of; with `report_period` rows are more."""
        loss = self.loss
        return self.length if loss.sampling == 'archive' or loss.length is None else loss.length

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
        number, kind, subject, log_id, settings, description, epsilon, adjacency, sampling, \
            period, seconds, made, lengths, content, packed, files = self
        return (type(subject) is type(settings) is type(description) is type(sampling)
                is type(made) is type(lengths) is type(kind) is str
                and (log_id is None or type(log_id) is str)
                and type(number) is type(adjacency) is type(files) is int
                and 0 <= files
                and (1 <= adjacency or kind not in ('charge', 'unit')
                     or kind == 'unit' and seconds is not None)
                and type(content) is type(packed) is bytes
                and type(epsilon) is str
                and (period is None or type(period) is str)
                and (seconds is None or type(seconds) is str)
                and _are_sound(kind, epsilon, period, seconds,
                               '' if kind == 'charge' else description))


@lru_cache(maxsize=1000)  # most are alike
def _are_sound(kind: str, epsilon: str, period: str | None, seconds: str | None,
               description: str) -> bool:
    """Return whether the amounts of an entry are sound; `description`: '' of a charge."""
    try:
        amount(epsilon)
        described = _decoded(description)
        amount_or_none(described.get('rho'))
        delta = amount_or_none(described.get('delta'))
        return (kind in KINDS and (delta is None or 0 < delta < 1)
                and (period is None or amount(period) > 0)
                and (seconds is None or amount(seconds) > 0
                     and (period is not None or kind != 'charge')))
    except LedgerError:
        return False


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
        rho = self.rho + (self.unit or loss.unit).rho(loss)
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
                _count_of(described.get('length')), _zones_of(described),
                max(_count_of(described.get('values')) or 2, 2),
                RULE if described.get('zcdp_rule') == RULE else 1)


def _sum(amounts: Iterable[Fraction]) -> Fraction:
    """Return the sum; most amounts of a ledger are zero, and adding fractions is slow."""
    total = _NOTHING
    for each in amounts:
        total = total + each if total and each else total or each
    return total


def _zones_of(described: Mapping[str, Any]) -> str | None:
    """Return the digest of zones in a description, or None."""
    zones = described.get('zones')
    return zones if isinstance(zones, str) else None


def _count_of(number: object) -> int | None:
    """Return a number ≥ 1 of a description; None where it is missing or damaged."""
    return number if type(number) is int and number > 0 else None


def _is_span(span: object) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)


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
