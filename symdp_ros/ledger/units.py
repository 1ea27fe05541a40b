# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The unit in which the ε of one subject are counted, so that they can be added.

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

Symbols of two samplings are different things, and neither is a time: they are not mixed. All is
exact, in fractions; a float is read as its shortest decimal.
"""
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import TypeAlias

from symdp_ros.core.accounting import rho_of, RULE
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps.reports import as_fraction, symbols_during

#: Of an amount in a ledger, before and after the point: more than any sum of doubles needs.
MOST_DIGITS = 2000

_ROUGH = Context(prec=6)
_DIGEST_SHOWN = 8  # characters
_LONGEST = 24  # characters of a fraction that is shown

#: What a loss is counted by: 'symbols', their period if any, and how many there are if that is
#: known; or 'seconds', and how many it is for.
Step: TypeAlias = tuple[str, Fraction | None, int | None]


@dataclass(frozen=True)
class Loss:
    """
    The privacy loss of one release: e^ε for any `adjacency` changed symbols.

    :param epsilon: ε ≥ 0, exact.
    :param adjacency: k' ≥ 1, as it was asked for.
    :param sampling: what a symbol is: 'message', 'change', 'period' or 'archive' (a row).
    :param period: with 'period', the seconds between two symbols; else None.
    :param seconds: D, where the release protects D seconds (with 'period' alone); None: it
        protects `adjacency` symbols.
    :param bound: of `core.accounting.BOUNDS`.
    :param routes: how many releases it is, each at an equal share of `epsilon`.
    :param whole: it protects `seconds`, and cannot be divided.
    :param repeats: in how many words (logs, or routes of an archive) a change costs this ε.
    :param of_log: the ε of any change of one whole log, however many symbols that are; None: a
        change of a log costs what it costs anywhere.
    :param length: n ≥ 1, the symbols of the word, which was drawn for `most_changes`. None: it was
        drawn for `adjacency` changes, whatever its length.
    :param zones: the digest of the zones that are told; None: none.
    :param values: with the bound 'symbols', the fewest values of a response; with 'blocks', the
        most symbols of one (`core.accounting`).
    :param rule: by which its ρ is counted: as when it was charged.
    """

    epsilon: Fraction
    adjacency: int
    sampling: str
    period: Fraction | None = None
    seconds: Fraction | None = None
    bound: str = 'pure'
    routes: int = 1
    whole: bool = False
    repeats: int = 1
    of_log: Fraction | None = None
    length: int | None = None
    zones: str | None = None
    values: int = 2
    rule: int = RULE

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:  # that of a fraction is slow; the same in every process
        return hash((self.epsilon, self.adjacency, self.period or 0, self.length or 0))

    @classmethod
    def of(cls, privacy: Privacy, sampling: str, period: float | None = None,
           seconds: float | None = None, bound: str = 'pure') -> 'Loss':
        """Return the loss of a mechanism; `period` is used only with the sampling 'period'."""
        return cls(as_fraction(privacy.epsilon), privacy.adjacency, sampling,
                   as_fraction(period) if sampling == 'period' and period is not None else None,
                   None if seconds is None else as_fraction(seconds), bound,
                   zones=None if privacy.zones is None else privacy.zones.digest())

    @cached_property
    def step(self) -> Step:
        """Return what it is counted by."""
        return ('seconds', self.seconds, None) if self.whole else (
            'symbols', self.period, self.length)

    @property
    def most_changes(self) -> int:
        """Return min(k', n): for how many changed symbols it was drawn."""
        return min(self.adjacency, self.length or self.adjacency)

    @cached_property
    def per_step(self) -> Fraction:
        """Return ε/min(k', n), or all of ε where it cannot be divided."""
        return self.epsilon if self.whole else self.epsilon / self.most_changes

    @property
    def bounds(self) -> str:
        """Return what its ε is for, as people say it: 'any one visit of 30 s'."""
        if self.seconds is not None:
            return f'any one visit of {as_text(self.seconds)} s'
        return 'any one symbol' if self.adjacency == 1 else f'any {self.adjacency} symbols'

    @lru_cache(maxsize=10_000)  # of many robots, most spend alike
    def rho(self, steps: int) -> Fraction:
        """Return its ρ, where so many steps change."""
        return self.routes * rho_of(self.bound, self.per_step / self.routes, steps, self.values,
                                    self.rule)

    @cached_property
    def unit(self) -> 'Unit':
        """Return the unit of a subject whose first release this is."""
        if self.seconds is not None:
            return Unit(seconds=self.seconds, zones=self.zones)
        return Unit(self.adjacency, self.sampling, self.period, zones=self.zones)


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


def as_decimal(amount: Fraction) -> str | None:
    """Return an amount ≥ 0 as an exact decimal; None: there is none of at most `MOST_DIGITS`."""
    rest, places = amount.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1 or places > MOST_DIGITS:
        return None
    whole, part = divmod(amount.numerator * 10**places // amount.denominator, 10**places)
    return f'{whole}.{part:0{places}}' if places else f'{whole}'


def as_rounded_text(amount: Fraction) -> str:
    """Return an amount with six digits."""
    return f'{_ROUGH.divide(Decimal(amount.numerator), Decimal(amount.denominator)):g}'


def as_text(amount: Fraction) -> str:
    """Return an amount as people read it: exact, or 'about …' where that would be long."""
    exact = as_decimal(amount)
    if exact is not None:
        return exact
    rough = _ROUGH.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    about = f'about {rough.normalize()}'
    is_short = amount.denominator < 10**_LONGEST and len(str(amount)) <= _LONGEST
    return f'{amount} ({about})' if is_short else about
