# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The unit in which the ε of one subject are counted, so that they can be added.

An ε is for some changes: ε = 1 at k = 20 and ε = 1 at k = 1 cannot be added. Changing j symbols
never costs more than j·ε/k, so every release can be counted in one unit, the one of its subject:

* k symbols at one sampling: a release at (ε, k') costs ε·k/k'.
* D seconds: a release of one symbol every T seconds costs (ε/k')·(⌊D/T⌋ + 1), since D seconds
  touch that many symbols.

**What the sum bounds.** Every release is charged for k changed symbols (D seconds) of its own
words. Its outputs are drawn independently of the others', so the sum bounds such a change in every
released log and live word at once: the same visit on every day, where each day is a log. A change
in one log alone costs the releases of that log, at most the largest such sum: the total counts it
too high where logs show different times. A log or live word that lasts several days holds the
visit several times: j visits change j·k of its symbols, and cost j times its ε.

Symbols of two samplings are different things, and neither is a time: they are not mixed. All is
exact, in fractions; a float is read as its shortest decimal.
"""
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from symdp_ros.core.accounting import Concentrated
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.reports import as_fraction, symbols_during

_EXACT = Context(prec=2000)  # any sum of any doubles, written out
_ROUGH = Context(prec=6)
_LONGEST = 24  # characters of a fraction that is shown


@dataclass(frozen=True)
class Loss:
    """
    The privacy loss of one release: e^ε for any `adjacency` changed symbols.

    :param epsilon: ε ≥ 0, exact.
    :param adjacency: k' ≥ 1.
    :param sampling: what a symbol is: 'message', 'change', 'period' or 'archive' (a row); '':
        not known, in old ledgers alone.
    :param period: with 'period', the seconds between two symbols; else None.
    :param seconds: D, where the release protects D seconds (with 'period' alone); None: it
        protects `adjacency` symbols.
    :param bound: of `core.accounting.BOUNDS`.
    :param routes: how many releases it is, each at an equal share of `epsilon`.
    """

    epsilon: Fraction
    adjacency: int
    sampling: str
    period: Fraction | None = None
    seconds: Fraction | None = None
    bound: str = 'pure'
    routes: int = 1

    @classmethod
    def of(cls, privacy: Privacy, sampling: str, period: float | None = None,
           seconds: float | None = None, bound: str = 'pure') -> 'Loss':
        """Return the loss of a mechanism; `period` is used only with the sampling 'period'."""
        return cls(as_fraction(privacy.epsilon), privacy.adjacency, sampling,
                   as_fraction(period) if sampling == 'period' and period is not None else None,
                   None if seconds is None else as_fraction(seconds), bound)

    @property
    def per_symbol(self) -> Fraction:
        """Return ε/k'."""
        return self.epsilon / self.adjacency

    @property
    def concentrated(self) -> Concentrated:
        """Return its ρ, for any number of changed symbols."""
        return Concentrated.of(self.bound, self.per_symbol / self.routes, self.routes)

    @property
    def unit(self) -> 'Unit':
        """Return the unit of a subject whose first release this is."""
        if self.seconds is not None:
            return Unit(seconds=self.seconds)
        return Unit(self.adjacency, self.sampling, self.period)


@dataclass(frozen=True)
class Unit:
    """
    The changes that the ε of a subject are for: k `symbols` of one sampling, or D `seconds`.

    :param symbols: k ≥ 1; None where `seconds` are counted.
    :param sampling, period: as of `Loss`.
    :param seconds: D; None where symbols are counted.
    """

    symbols: int | None = None
    sampling: str = ''
    period: Fraction | None = None
    seconds: Fraction | None = None

    def accepts(self, loss: Loss) -> bool:
        """Return whether a release can be counted in this unit."""
        if self.seconds is not None or loss.seconds is not None:
            return self.seconds is not None and loss.seconds is not None
        return '' in (self.sampling, loss.sampling) or (
            self.sampling, self.period) == (loss.sampling, loss.period)

    def cost(self, loss: Loss) -> Fraction:
        """Return what a release that it `accepts` costs in this unit."""
        return loss.per_symbol * self.factor(loss.period)

    def factor(self, period: Fraction | None) -> int:
        """Return how many symbols of a release the changes of this unit touch."""
        if self.seconds is None or period is None:
            return self.symbols or 1
        return symbols_during(self.seconds, period)

    def __str__(self) -> str:
        if self.seconds is not None:
            return f'changes during {as_text(self.seconds)} s'
        sampling = sampling_text(self.sampling, self.period)
        return (f'changes of up to {self.symbols} symbol{"" if self.symbols == 1 else "s"}'
                + (f' (sampling: {sampling})' if sampling else ''))


def sampling_text(sampling: str, period: Fraction | None) -> str:
    """Return a sampling as people read it."""
    return sampling if period is None else f'{sampling} {as_text(period)} s'


def as_decimal(amount: Fraction) -> str | None:
    """Return an amount as an exact decimal; None: there is none."""
    rest = amount.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return None
    quotient = _EXACT.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f'{quotient.normalize(_EXACT):f}'


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
    return f'{amount} ({about})' if len(str(amount)) <= _LONGEST else about
