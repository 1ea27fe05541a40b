# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Randomized response in integers: the distribution from which each online symbol is drawn.

One draw chooses among the N states that can follow the previous private symbol. Either there is
a *target* (in Algorithm 4 of the paper: the sensitive symbol itself, where feasible), which gets
more weight than the others, or there is none, and all have the same weight.

The paper gives the target the probability τ = 1 / ((N−1)·e^{−ε/k} + 1), a real number. Here the
target gets b and every other state a out of T = (N−1)·a + b, with integers

    1 ≤ a ≤ b ≤ a·e^{ε/k}.                                                             (1)

**Claim.** For one previous symbol, let D and D' be the distributions drawn for any two sensitive
symbols (known, infeasible or absent). Then D(o) ≤ e^{ε/k}·D'(o) for every feasible o, exactly.

*Proof.* Every distribution is uniform, 1/N each, or (a, …, b, …, a)/T with b at the target.
Two with targets: their entries are a/T and b/T, and b/a ≤ e^{ε/k} by (1). A target against
uniform: b/T ÷ 1/N = N·b / ((N−1)·a + b) ≤ N·b / (N·a) = b/a, as b ≥ a; and 1/N ÷ a/T =
((N−1)·a + b) / (N·a) ≤ N·b / (N·a) = b/a. Uniform against itself: 1. ∎

Nothing is assumed about rounding: a, b and T are integers, a uniform integer is drawn by
rejection, and b ≤ a·e^{ε/k} is decided against a rational lower bound of e^{ε/k}. As a ≥ 1, no
feasible state ever has the probability zero.

One draw r, uniform in 0 … limit−1 with limit = N·weight and weight = c·T, serves all symbols
alike: r // weight is the number of a state, uniform among the N, and r % weight, independent of
it, is at least cut = c·N·a with probability (T − N·a)/T = (b−a)/T. Then the target is taken in
place of that state, if there is one. So the target gets a/T + (b−a)/T = b/T, any other state a/T,
and without a target each 1/N. Neither what is computed of r nor how often a draw is rejected
depends on the symbol.
"""
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from symdp_ros.core.annotations import Numbers
from symdp_ros.core.privacy import Privacy

#: Widths of a draw in bits, narrowest first: integers below 2³⁰ are single digits to CPython.
WIDTHS = (30, 60)

#: A width is wide enough when τ as drawn falls short of the paper's τ by no more than this.
SHORTFALL = Fraction(1, 10**10)

_FRACTION_BITS = 160    # of the fixed-point lower bound of e^{ε/k}
_LARGEST_EXPONENT = 64  # e^64 > 2^92: above all weights, so a larger exponent changes nothing


def exp_lower_bound(exponent: Fraction) -> Fraction:
    """
    Return a rational number that is at most e^exponent, and nearly equal to it.

    The Taylor series of e^q for q ≥ 0, every term rounded down to a multiple of 2⁻¹⁶⁰: all terms
    are positive, so dropping the rest and rounding down can only lower the sum.

    :param exponent: ≥ 0; what exceeds 64 counts as 64.
    """
    exponent = min(exponent, Fraction(_LARGEST_EXPONENT))
    numerator, denominator = exponent.numerator, exponent.denominator
    term = total = 1 << _FRACTION_BITS
    n = 0
    while term:
        n += 1
        term = term * numerator // (denominator * n)
        total += term
    return Fraction(total, 1 << _FRACTION_BITS)


def best_weights(count: int, ratio: Fraction, largest_total: int) -> tuple[int, int]:
    """
    Return the integers (a, b) with the largest b/a ≤ ratio, 1 ≤ a ≤ b, (count−1)·a + b ≤ total.

    A walk down the Stern–Brocot tree from 1/1 and 1/0, many steps at a time. All fractions
    between the two ends of the walk have a total of at least that of their mediant, so once the
    mediant's total is too large, the lower end is the best there is.

    :param count: N ≥ 1, the number of feasible states.
    :param ratio: ≥ 1, the largest b/a allowed.
    :param largest_total: ≥ count.
    """
    def total(a: int, b: int) -> int:
        return (count - 1) * a + b

    below, above = (1, 1), (0, 1)  # (a, b), read as b/a: 1/1 ≤ ratio < 1/0
    numerator, denominator = ratio.numerator, ratio.denominator
    while True:
        # Raise the lower end: below + steps·above, while ≤ ratio and small enough.
        room = (largest_total - total(*below)) // total(*above)
        gap = numerator * below[0] - denominator * below[1]        # ≥ 0
        slope = denominator * above[1] - numerator * above[0]      # > 0
        steps = min(room, gap // slope)
        below = (below[0] + steps * above[0], below[1] + steps * above[1])
        gap -= steps * slope
        if total(below[0] + above[0], below[1] + above[1]) > largest_total or gap == 0:
            return below
        # Lower the upper end: above + steps·below, while > ratio.
        steps = (slope - 1) // gap
        above = (above[0] + steps * below[0], above[1] + steps * below[1])
        if total(below[0] + above[0], below[1] + above[1]) > largest_total:
            return below


@dataclass(frozen=True)
class Response:
    """
    How to draw one of N states from a uniform integer r in 0 … limit−1 (see the module).

    The target, where there is one and r % weight ≥ cut; else state number r // weight.
    """

    count: int   # N
    a: int       # weight of every other state, before scaling
    b: int       # weight of the target, before scaling
    limit: int   # c·N·T
    weight: int  # c·T
    cut: int     # c·N·a

    @property
    def total(self) -> int:
        """T = (N−1)·a + b."""
        return (self.count - 1) * self.a + self.b

    @classmethod
    def of_weights(cls, count: int, a: int, b: int, most: int) -> 'Response':
        """Return the response with these weights and the largest limit up to `most`."""
        total = (count - 1) * a + b
        scale = most // (count * total)
        return cls(count, a, b, limit=scale * count * total, weight=scale * total,
                   cut=scale * count * a)

    @classmethod
    def fitting(cls, count: int, ratio: Fraction, width: int) -> 'Response':
        """
        Return the response of best weights whose draws fit into `width` bits.

        Totals are kept below 2^width / 8N, so that at most one draw in nine is rejected.
        """
        a, b = best_weights(count, ratio, max(count, 2**width // (8 * count)))
        return cls.of_weights(count, a, b, 2**width)

    def reader(self) -> Callable[[np.ndarray], list[tuple[int, int]]]:
        """
        Return a function from draws below the limit to pairs (1 + r // weight, 0 or 1).

        1: the target is to be taken, if there is one. Each pair is an object of its own: of pairs
        that are shared, those with 1 are used seldom, so they are in a slower part of the memory,
        and the time of a step shows whether the target was taken.
        """
        def read(drawn: Numbers) -> list[tuple[int, int]]:
            states, rest = np.divmod(drawn, self.weight)
            hits = (rest >= self.cut).view(np.uint8)
            return list(zip((states + 1).tolist(), hits.tolist(), strict=True))

        return read


def responses(counts: Iterable[int], privacy: Privacy) -> tuple[int, dict[int, Response]]:
    """
    Return the width of the draws, in bits, and the response for each number of feasible states.

    The narrowest width is taken at which every response comes within `SHORTFALL` of the paper's
    τ; the widest, where none does (the responses are then somewhat more private than ε).

    :param counts: the numbers N of feasible states, each from 1 to 100,000.
    """
    ratio = exp_lower_bound(privacy.epsilon_per_symbol)
    counts = sorted(set(counts))
    for width in WIDTHS:
        made = {count: Response.fitting(count, ratio, width) for count in counts
                if count * count * 8 <= 2**width}
        if len(made) == len(counts) and all(_is_close(known, ratio) for known in made.values()):
            return width, made
    return width, {count: Response.fitting(count, ratio, width) for count in counts}


def _is_close(response: Response, ratio: Fraction) -> bool:
    """Return whether a response falls short of τ by little enough."""
    tau = ratio / (response.count - 1 + ratio)
    return tau - Fraction(response.b, response.total) <= SHORTFALL
