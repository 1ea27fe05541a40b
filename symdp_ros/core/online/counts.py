# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The response on counts: how many symbols of a block lie in each cell, drawn with noise.

A block has L symbols. For each of them the states are parted into m + 1 cells, of number 0 … m; an
unknown symbol is in cell 0. Let c be the count vector of the block: how many of its symbols lie in
each cell. Another such vector z is drawn with the weights

    A(z)·R(d(z, c)),    d(z, c) = half of Σ_i |z_i − c_i|,    R(d) = a^d·b^(L−d),           (1)

with integers 1 ≤ a ≤ b ≤ a·e^{ε/k} and integers A(z) ≥ 0 that solve, for one T,

    Σ_z A(z)·R(d(z, c)) = T  for every c.                                                  (2)

**Claim.** Let two blocks differ in one symbol. For every z their chances of z differ by a factor
of at most e^{ε/k}, exactly.

*Proof.* By (2) the chance of z is A(z)·R(d(z, c))/T, with one T for all c. The symbol lies in one
cell, whatever it is (known, infeasible or unknown). Changing it moves at most one unit of c from
one cell to another, which changes Σ_i |z_i − c_i| by at most 2, and d(z, c) by at most 1. R then
changes by a factor of at most b/a ≤ e^{ε/k}. ∎

Nothing is assumed about rounding: a, b, A and T are integers, b ≤ a·e^{ε/k} is decided against a
rational lower bound, (2) is solved in rationals, and a uniform integer below T is drawn by
rejection. How often it is rejected, and what is computed of it, does not depend on the symbols.

(2) does not change if the cells change places. So where it has one solution, A(z) depends on the
sorted z alone, and there is one unknown for each partition of L into at most m + 1 parts. Where
some A(z) would be negative (at small ε/k) there is no response: such L and m are not used.

With one cell besides (m = 1) this is the truncated geometric mechanism; with L = 1 randomized
response on m + 1 values.
"""
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import gcd, lcm

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits
from symdp_ros.core.draws.exact_draw import draw_below
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.zones import Count, Signal, Told, WAITING

_BITS = 24  # of a


@lru_cache(maxsize=1000)
def vectors(length: int, cells: int) -> tuple[tuple[int, ...], ...]:
    """Return all count vectors of so many symbols in so many cells, in ascending order."""
    if cells == 1:
        return ((length,),)
    return tuple((first, *rest) for first in range(length + 1)
                 for rest in vectors(length - first, cells - 1))


#: all signals of blocks, so many as there are kinds of block up to these sizes
SIGNALS = (WAITING, *(Count(vector) for cells in (2, 3, 4) for length in range(1, 9)
                      for vector in vectors(length, cells)))
NUMBERS = {signal: number for number, signal in enumerate(SIGNALS)}


class SignalNumbers:
    """
    The numbers that stand for signals in arrays.

    A state by its position; then, of each zone, all `SIGNALS`; −1 − i where the i-th zone was told
    alone.

    :param states: the chain's.
    :param zones: None: there are none.
    """

    def __init__(self, states: Sequence[str], zones: Iterable[str] | None):
        self._states, self._zones = states, [None] if zones is None else [*zones]
        self._numbers: dict[Signal, int] = {state: i for i, state in enumerate(states)}
        self._zone_numbers = {zone: i for i, zone in enumerate(self._zones)}

    def name(self, number: int) -> Signal:
        """Return the signal of a number."""
        if number < 0:
            return Told(str(self._zones[-1 - number]))
        if number < len(self._states):
            return self._states[number]
        zone, kind = divmod(number - len(self._states), len(SIGNALS))
        return SIGNALS[kind]._replace(zone=self._zones[zone])

    def number(self, signal: Signal) -> int:
        """
        Return the number of a signal.

        :raises KeyError: it has none.
        """
        if isinstance(signal, Told):
            return -1 - self._zone_numbers[signal.zone]
        if isinstance(signal, Count):
            return number_of_count(len(self._states), self._zone_numbers[signal.zone],
                                   signal._replace(zone=None))
        return self._numbers[signal]


def number_of_count(states: int, zone: int | None, signal: Count) -> int:
    """
    Return the number of what is drawn of a block (`SignalNumbers`).

    :param states: how many there are.
    :param zone: its number; None: there are none.
    :param signal: without its zone.
    """
    return states + (zone or 0) * len(SIGNALS) + NUMBERS[signal]


@lru_cache(maxsize=1000)
def after(symbols: int, cells: int) -> Ints:
    """
    Return which vector follows each one of so many symbols by one more symbol in each cell.

    :return: their numbers in `vectors`: shape (vectors, cells).
    """
    number = {vector: i for i, vector in enumerate(vectors(symbols + 1, cells))}

    def one_more(vector: tuple[int, ...], cell: int) -> tuple[int, ...]:
        return *vector[:cell], vector[cell] + 1, *vector[cell + 1:]

    return np.array([[number[one_more(vector, cell)] for cell in range(cells)]
                     for vector in vectors(symbols, cells)])


class CountResponse:
    """
    How to draw a count vector (see the module).

    Vectors are numbered as in `vectors`.

    :param length: L.
    :param cells: m + 1.
    :param scale: A(z) of each z.
    :param factors: R(0) … R(L).
    """

    def __init__(self, length: int, cells: int, scale: Sequence[int], factors: Sequence[int]):
        self.length, self.cells = length, cells
        self._distances = _distances(length, cells)
        self._scale, self._factors = scale, factors
        self.total = sum(self.weights(0))

    def weights(self, counted: int) -> list[int]:
        """Return the weight of each vector where this one was counted; they sum to `total`."""
        return [self._scale[z] * self._factors[d]
                for z, d in enumerate(self._distances[counted].tolist())]

    def exact_row(self, counted: int) -> dict[Count, Fraction]:
        """Return the chance of each vector that can be drawn where this one was counted."""
        return {Count(vector): Fraction(weight, self.total) for vector, weight in zip(
            vectors(self.length, self.cells), self.weights(counted), strict=True) if weight}

    @cached_property
    def chances(self) -> Floats:
        """Return the chance of each vector drawn, by what was counted: shape (drawn, counted)."""
        rows = np.array([[weight / self.total for weight in self.weights(counted)]
                         for counted in range(len(self._distances))])
        return np.ascontiguousarray(rows.T)

    @cached_property
    def minus_entropy(self) -> Floats:
        """Return Σ_z P log P of each vector that may have been counted: shape (counted,)."""
        logs = np.log(np.where(self.chances > 0, self.chances, 1.0))
        sums: Floats = (self.chances * logs).sum(axis=0)
        return sums

    @cached_property
    def _ends(self) -> list[list[int]]:
        return [list(accumulate(self.weights(counted))) for counted in range(len(self._distances))]

    def draw(self, random: RandomBits) -> list[int]:
        """Return what is drawn for each vector that may have been counted."""
        point = draw_below(self.total, random)
        return [bisect_right(ends, point) for ends in self._ends]


def _distances(length: int, cells: int) -> Ints:
    some = np.array(vectors(length, cells))
    distances: Ints = np.abs(some[:, None] - some).sum(axis=2) // 2
    return distances


@lru_cache(maxsize=1000)
def response_of(length: int, cells: int, privacy: Privacy) -> CountResponse | None:
    """
    Return the response for a block; None: there is none.

    :param length: L ≥ 1.
    :param cells: m + 1 ≥ 2.
    """
    bound = exp_lower_bound(privacy.epsilon_per_symbol)
    a, b = 1 << _BITS, (bound.numerator << _BITS) // bound.denominator
    a, b = a // gcd(a, b), b // gcd(a, b)
    if a == b:
        return None
    factors = [a**d * b**(length - d) for d in range(length + 1)]
    kinds: dict[tuple[int, ...], int] = {}
    some = vectors(length, cells)
    of = [kinds.setdefault(tuple(sorted(vector)), len(kinds)) for vector in some]
    distances, rows = _distances(length, cells), list[list[Fraction]]()
    for kind in range(len(kinds)):
        row = [0] * len(kinds) + [1]
        for other, d in zip(of, distances[of.index(kind)].tolist(), strict=True):
            row[other] += factors[d]
        rows.append([*map(Fraction, row)])
    solved = _solved(rows)
    if solved is None or min(solved) < 0:
        return None
    common = lcm(*(share.denominator for share in solved))
    shares = [int(share * common) for share in solved]
    least = gcd(*shares)
    return CountResponse(length, cells, [shares[kind] // least for kind in of], factors)


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of linear equations; None where there is not exactly one."""
    size = len(rows)
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        first = rows[i][i]
        rows[i] = [value / first for value in rows[i]]
        for j in range(size):
            if j != i and rows[j][i]:
                times = rows[j][i]
                rows[j] = [x - times * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]
