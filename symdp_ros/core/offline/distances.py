# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How many words lie at each Hamming distance, and a uniform draw among those at one.

For a chain: M_t(s, e), the number of ways to go on from state s at position t that meet e errors,

    M_n(s, 0) = 1,  M_{t−1}(s, e) = Σ_{s' ∈ C(s)} M_t(s', e − [s' ≠ w_t]),  m_ℓ = M_0(s_0, ℓ),  (1)

in floats with an exponent of their own, so that no count is zero unless there is no word. A sum
has at most N terms (N: the largest number of successors), so with u = 2⁻⁵³ a computed count is off
by at most n·(N−1) factors of 1±u, and exact while it is below 2⁵³. O(n²·|E|) time; for an
alphabet in closed form, in O(n).

A word at distance ℓ is drawn forward: from (s, e) to s' with probability exactly proportional to
the computed M_t(s', e − [s' ≠ w_t]). By the same telescoping as in `core.offline.backward`, each
word has 1/m̂_ℓ times at most n·(N−1) factors of 1±u, m̂_ℓ being the computed m_ℓ. (Drawing from
the exponential mechanism until the distance is ℓ would need less memory, but where words come in
separate kinds, all similar or all different, it might never end.)
"""
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ldexp, log
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.exact_draw import as_integers, draw_below, draw_index
from symdp_ros.core.offline.passes import FAR, NEVER, POWERS
from symdp_ros.core.offline.reachable import ReachableChain

_COUNT_BITS = 128      # of an alphabet's counts; n ≤ 2³² of them are then off by 2⁻⁶³ together
Table: TypeAlias = tuple[Floats, ShortInts]


@dataclass(frozen=True)
class Counts:
    """m̂_ℓ = mantissa·2^exponent for ℓ = 0…n: float64 in [1, 2), or 0; int64."""

    mantissa: Floats
    exponent: Ints

    @cached_property
    def present(self) -> Ints:
        """Return the distances at which there is a word, ascending."""
        return np.flatnonzero(self.mantissa)

    @cached_property
    def log(self) -> Floats:
        """Return ln m̂_ℓ of the distances that are present."""
        return (np.log(self.mantissa[self.present])
                + log(2) * self.exponent[self.present].astype(np.float64))


class Numbered(Protocol):
    """Words as lists of numbers."""

    number: dict[str | None, int]


def numbers(words: Numbered, word: Word) -> list[int]:
    """Return the number of each symbol."""
    return [words.number[symbol] for symbol in word]


def distance(word: Word, output: Sequence[str]) -> int:
    """Return the Hamming distance of two words of one length."""
    return sum(a != b for a, b in zip(word, output, strict=True))


class ChainWords:
    """The feasible words of a chain that stores its edges; words are lists of state numbers."""

    def __init__(self, chain: ReachableChain):
        self.number, self.label = chain.number, chain.label
        self.most_successors = chain.most_successors
        self._chain = chain

    def rounding(self, length: int) -> Fraction:
        """Return θ: ln m̂_ℓ and ln P of a word drawn at ℓ are off by at most that."""
        return Fraction(length * (self.most_successors + 1), 2**53)

    def counts(self, word: list[int]) -> Counts:
        """Return all m̂_ℓ, off by at most n·(N−1) factors of 1±2⁻⁵³."""
        tables = _Tables(self._chain, word, len(word))
        mantissa, exponent = tables.back(tables.last(), 0, len(word))
        mantissa, exponent = mantissa[1], exponent[1].astype(np.int64)
        return Counts(mantissa.copy(), np.where(mantissa == 0, 0, exponent))

    def draw(self, word: list[int], distance: int, random: RandomBits) -> list[int]:
        """Return one of the words at a distance at which there are some."""
        tables = _Tables(self._chain, word, distance)
        output: list[int] = []
        tables.walk(output, 0, len(word), tables.last(), 1, distance, random)
        return output


class AlphabetWords:
    """
    All words over an alphabet; its symbols are numbered from 1, and any others are 0.

    :param chain: one that is an alphabet (`Chain.is_alphabet`).
    """

    def __init__(self, chain: Chain):
        symbols = chain.successors(chain.initial_state)
        self.label = ['', *symbols]
        self.number: dict[str | None, int] = dict.fromkeys((*chain.states, None), 0)
        self.number.update((label, i) for i, label in enumerate(symbols, 1))
        self.most_successors = len(self.label) - 1

    def rounding(self, length: int) -> Fraction:
        """Return θ: ln m̂_ℓ is off by at most that; a word at ℓ is drawn exactly uniformly."""
        return Fraction(1, 2**51)

    def counts(self, word: list[int]) -> Counts:
        """
        Return all m̂_ℓ: C(n', ℓ')·(m−1)^ℓ'·m^(ℓ−ℓ') for n' known symbols, ℓ' = ℓ − (n − n').

        In O(n) time, each from the one before. Off by a factor of at most 1 − 2⁻⁵¹: what is
        longer than 128 bits is cut to that each time, and to 53 bits at the end.
        """
        m, unknown = self.most_successors, word.count(0)
        known = len(word) - unknown
        mantissa, exponent = np.zeros(len(word) + 1), np.zeros(len(word) + 1, np.int64)
        count, cut, whole = m**unknown, 0, True
        for errors in range(known + 1):
            if count == 0:
                break
            bits = count.bit_length()
            mantissa[unknown + errors] = ldexp(count >> max(0, bits - 53), 1 - min(bits, 53))
            exponent[unknown + errors] = cut + bits - 1
            whole = whole and bits <= _COUNT_BITS
            if not whole:
                count, cut = count << _COUNT_BITS >> bits, cut + bits - _COUNT_BITS
            count = count * (known - errors) * (m - 1) // (errors + 1)
        return Counts(mantissa, exponent)

    def draw(self, word: list[int], distance: int, random: RandomBits) -> list[int]:
        """Return one of the words at a distance at which there are some, all equally likely."""
        m, known = self.most_successors, len(word) - word.count(0)
        errors = distance - word.count(0)
        output = []
        for symbol in word:
            if symbol == 0:
                symbol = 1 + draw_below(m, random)
            else:
                if draw_below(known, random) < errors:
                    errors -= 1
                    symbol = (symbol + draw_below(m - 1, random)) % m + 1
                known -= 1
            output.append(symbol)
        return output


class _Tables:
    """
    Tables M_t[s, e] for e ≤ most: (float64, int32 exponents), both of shape (states+1, most+1).

    At position t only the states within t moves, and e ≤ n−t, are filled in.
    """

    def __init__(self, chain: ReachableChain, word: Sequence[int], most: int):
        self._chain = chain
        self._word, self._most = np.array(word, np.int64), most
        self._shape = chain.reached(len(word)) + 1, most + 1
        self._free: list[Table] = []

    def last(self) -> Table:
        """Return M_n."""
        mantissa, exponent = self._take()
        mantissa[:, 0], exponent[:, 0] = 1, 0
        return mantissa, exponent

    def back(self, table: Table, begin: int, end: int) -> Table:
        """Return M_begin from M_end, which is kept."""
        kept = table
        for t in range(end - 1, begin - 1, -1):
            before = self._step(table, t)
            if table is not kept:
                self._free.append(table)
            table = before
        return table

    def walk(self, output: list[int], begin: int, end: int, table: Table, state: int, errors: int,
             random: RandomBits) -> tuple[int, int]:
        """
        Append o_{begin+1}…o_end to the output, given M_end, and return (state, errors) there.

        Half of the way is walked at a time, until the tables of a part can all be kept.
        """
        bytes_kept = (end - begin) * 12 * self._shape[0] * self._shape[1]
        if bytes_kept > self._chain.sizes.tables_bytes and end > begin + 1:
            middle = (begin + end) // 2
            half_way = self.back(table, middle, end)
            state, errors = self.walk(output, begin, middle, half_way, state, errors, random)
            self._free.append(half_way)
            return self.walk(output, middle, end, table, state, errors, random)
        tables = [table]
        for t in range(end - 1, begin, -1):
            tables.append(self._step(tables[-1], t))
        for t in range(begin, end):
            mantissa, exponent = table = tables.pop()
            successors = self._chain.successors(state)
            after = errors - (successors != self._word[t])
            possible = (after >= 0) & (after < self._width(t + 1))
            successors, after = successors[possible], after[possible]
            weights, exponents = mantissa[successors, after], exponent[successors, after]
            possible = weights > 0
            i = draw_index(as_integers(weights[possible], exponents[possible].astype(np.int64)),
                           random)
            state, errors = int(successors[possible][i]), int(after[possible][i])
            output.append(state)
            if tables:
                self._free.append(table)
        return state, errors

    def _step(self, table: Table, t: int) -> Table:
        """Return M_t from M_{t+1}."""
        symbol, count, width = int(self._word[t]), self._chain.reached(t), self._width(t)
        mantissa = _after(table[0], width, self._width(t + 1), 0.0, symbol)
        exponent = _after(table[1], width, self._width(t + 1), NEVER, symbol)
        # The first successors of all states, the second of those that have one, …
        starts, degrees = self._chain.offsets[1:count + 1], np.diff(
            self._chain.offsets[1:count + 2])
        each = []
        for j in range(int(degrees.max())):
            rows: slice | Ints = np.flatnonzero(degrees > j)
            there = self._chain.targets[starts[rows] + j]
            each.append((slice(None) if len(there) == count else rows, there))
        highest = np.full((count, width), NEVER)
        for rows, there in each:
            highest[rows] = np.maximum(highest[rows], exponent[there])
        total = np.zeros((count, width))
        for rows, there in each:
            gaps = highest[rows] - exponent[there]
            total[rows] += mantissa[there] * POWERS[np.minimum(gaps, FAR, out=gaps)]
        total, own = np.frexp(total)
        before = self._take()
        before[0][1:count + 1, :width] = 2 * total
        before[1][1:count + 1, :width] = np.where(total > 0, highest + own - 1, NEVER)
        return before

    def _width(self, t: int) -> int:
        return min(len(self._word) - t, self._most) + 1

    def _take(self) -> Table:
        return self._free.pop() if self._free else (np.empty(self._shape),
                                                    np.empty(self._shape, np.int32))


def _after(whole: npt.NDArray[Any], width: int, width_after: int, nothing: float,
           symbol: int) -> npt.NDArray[Any]:
    """Return M_{t+1}[s', e − [s' ≠ w_t]] for e < width: what is left after a move to s'."""
    result = np.full((len(whole), width), nothing, whole.dtype)
    many = min(width - 1, width_after)
    result[:, 1:many + 1] = whole[:, :many]
    if 0 < symbol < len(whole):
        many = min(width, width_after)
        result[symbol] = nothing
        result[symbol, :many] = whole[symbol, :many]
    return result
