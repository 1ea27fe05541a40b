# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The least error that any ε-private mechanism has on a tiny chain: a linear program.

Its variables are Q_t(o_1…o_t | s_1…s_{t+d}), the chance that the first t reports are these where
the first t + d symbols are those: a mechanism that waits for d later symbols knows no more. They
are consistent, Σ over o_t of Q_t = Q_{t−1}, and so causality is linear; where t + d ≥ n, the last
ones, Q(o | w), say all. What is minimised is the expected share of wrong symbols,
Σ_w P(w) Σ_o Q(o | w)·d(w, o)/n. Outputs are words that the map allows; words are all words, also
those that it does not allow, as the promise is for all. (Unknown symbols change nothing: a
mechanism may read them as the initial state.)

**Privacy.** Adjacent words differ in at most k places, or, with `in_a_row`, in k places in a row
at most. For a set of k such places, all words that agree elsewhere are adjacent, each to each.
With one more variable m(o) for each such group, Q(o | w) ≤ e^ε·Q(o | w') for all its words is

    α: m(o) ≤ Q(o | w),    β: Q(o | w) ≤ e^ε·m(o).

**The certificate** are multipliers α, β ≥ 0 of these, in rationals. For a private mechanism, the
error is at least the error + Σ α·(m − Q) + Σ β·(Q − R·m), for any rational R ≥ e^ε. Where
Σ_w α ≥ R·Σ_w β in each group and for each o, this is least with m = 0; the rest is a cost of each
(w, o), and the least cost of all causal mechanisms, private or not, is found by dynamic
programming, from the last report to the first: each time the best report for what is known. So
any multipliers prove a lower bound, without trust in the solver; those of the optimum prove the
optimum, up to rounding.
"""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations, groupby, product
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain

DIGITS = 40                       # of binary fractions in certificates
_PRECISE = Context(prec=60)
_ROW = {2: ('a', 'b'), 3: ('a', 'b', 'c')}


def row_of(count: int, stay: str) -> dict[str, dict[str, Fraction]]:
    """Return P of some states in a row, each of which stays with this chance, from its end."""
    states, chance = _ROW[count], Fraction(stay)
    rows = {}
    for i, state in enumerate(states):
        near = [states[j] for j in (i - 1, i + 1) if 0 <= j < count]
        rows[state] = {state: chance, **{s: (1 - chance) / len(near) for s in near}}
    return rows


def all_alike(count: int) -> dict[str, dict[str, Fraction]]:
    """Return P of some states each of which every state follows, all alike."""
    return {state: {s: Fraction(1, count) for s in _ROW[count]} for state in _ROW[count]}


#: The tiny chains by name → P as fractions; the first state is the initial one.
CHAINS = {'two states that stay 0.9': row_of(2, '0.9'),
          'three states in a row that stay 0.9': row_of(3, '0.9'),
          'three states, all moves alike': all_alike(3)}


def chain_of(name: str) -> Chain:
    """Return a tiny chain for the mechanisms of the package."""
    rows = {state: {s: float(p) for s, p in row.items()} for state, row in CHAINS[name].items()}
    return Chain(rows, next(iter(rows)))


Word = tuple[str, ...]


class Unproved(Exception):
    """A certificate does not prove what it should: the message says why."""


class Certificate(NamedTuple):
    """Multipliers of the groups of `Program`: each of shape (groups, words of one, outputs)."""

    alpha: np.ndarray  # Fractions
    beta: np.ndarray   # Fractions


@dataclass(frozen=True)
class Program:
    """
    The linear program of one chain, length, adjacency and delay.

    :param name: of `CHAINS`.
    :param length: n ≥ 1.
    :param adjacency: k, from 1 to n.
    :param in_a_row: whether the k places stand in a row.
    :param delay: d ≥ 0; None: the whole word is known.
    """

    name: str
    length: int
    epsilon: float
    adjacency: int = 1
    in_a_row: bool = False
    delay: int | None = 0

    @cached_property
    def words(self) -> list[Word]:
        """Return all words."""
        return [*product(CHAINS[self.name], repeat=self.length)]

    @cached_property
    def outputs(self) -> list[Word]:
        """Return the words that the map allows, in order."""
        return [word for word in self.words if self.chance(word)]

    def chance(self, word: Sequence[str]) -> Fraction:
        """Return P of a word."""
        rows = CHAINS[self.name]
        before = (next(iter(rows)), *word)
        return prod((rows[a].get(b, Fraction(0)) for a, b in zip(before, word, strict=False)),
                    start=Fraction(1))

    def cost(self, word: Sequence[str], output: Sequence[str]) -> Fraction:
        """Return what an output adds to the expected error, if it is certain for a word."""
        wrong = sum(s != o for s, o in zip(word, output, strict=True))
        return self.chance(word) * Fraction(wrong, self.length)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Return the positions in `words` of those that are adjacent, each to each."""
        n, k = self.length, self.adjacency
        places = ([tuple(range(i, i + k)) for i in range(n - k + 1)] if self.in_a_row
                  else combinations(range(n), k))
        found = []
        for changed in places:
            def rest(i: int, changed: tuple[int, ...] = changed) -> list[str]:
                return [s for t, s in enumerate(self.words[i]) if t not in changed]
            found += [[*group] for _, group in groupby(
                sorted(range(len(self.words)), key=rest), key=rest)]
        return found

    @property
    def early(self) -> int:
        """Return how many reports leave before all symbols are known."""
        return 0 if self.delay is None else max(0, self.length - 1 - self.delay)

    def prefixes(self, length: int) -> list[Word]:
        """Return how outputs begin, in order."""
        return sorted({output[:length] for output in self.outputs})

    def known(self, reports: int) -> int:
        """Return how many symbols are known when so many reports have left."""
        assert self.delay is not None  # else none leaves early
        return self.delay + reports

    def optimum(self) -> tuple[float, Certificate]:
        """Return the least error, as HiGHS finds it, and its multipliers as fractions."""
        least, equal, sums, unequal = self._matrices()
        found = linprog(least, unequal, np.zeros(unequal.shape[0]), equal, sums,
                        method='highs-ipm')  # of these, simplex takes ten times as long
        if found.status:
            raise Unproved(f'HiGHS has not solved it: {found.message}')
        shape = len(self.groups), len(self.groups[0]), len(self.outputs)
        multipliers = -found.ineqlin.marginals.reshape(2, *shape)
        return float(found.fun), self._rounded(multipliers[0], multipliers[1])

    def _rounded(self, alpha: Floats, beta: Floats) -> Certificate:
        """Return fractions: β rounded, and α so that no m can make the error smaller."""
        rounded = [np.vectorize(lambda x: Fraction(max(0, round(x * 2**DIGITS)), 2**DIGITS),
                                otypes=[object])(part) for part in (alpha, beta)]
        lacking = above(self.epsilon) * rounded[1].sum(axis=1) - rounded[0].sum(axis=1)
        largest = alpha.argmax(axis=1)
        for group, output in zip(*np.nonzero(lacking > 0), strict=True):
            rounded[0][group, largest[group, output], output] += lacking[group, output]
        return Certificate(*rounded)

    def proved(self, certificate: Certificate) -> Fraction:
        """
        Return the error below which no mechanism is, in rational arithmetic alone.

        :raises Unproved: a multiplier is negative, or an m can make the error as small as one
            likes.
        """
        alpha, beta = certificate
        if (alpha < 0).any() or (beta < 0).any():
            raise Unproved('a multiplier is negative')
        if (alpha.sum(axis=1) < above(self.epsilon) * beta.sum(axis=1)).any():
            raise Unproved('the error can be made as small as one likes')
        costs = np.array([[self.cost(word, output) for output in self.outputs]
                          for word in self.words], object)
        for group, a, b in zip(self.groups, alpha, beta, strict=True):
            costs[group] += b - a
        early, states = self.early, len(CHAINS[self.name])
        values = {prefix: costs[:, [o[:early] == prefix for o in self.outputs]].min(axis=1)
                  for prefix in self.prefixes(early)}
        for t in range(early, 0, -1):  # first over the symbols not yet known, then the best report
            shape = states**self.known(t), -1
            summed = {prefix: v.reshape(shape).sum(axis=1) for prefix, v in values.items()}
            values = {before: np.min([v for prefix, v in summed.items() if prefix[:-1] == before],
                                     axis=0) for before in self.prefixes(t - 1)}
        return values[()].sum()

    @cached_property
    def _index(self) -> dict[tuple[Word, Word], int]:
        """Return the variables: how outputs begin, and the symbols that are known → position."""
        keys = [(prefix, seen) for t in range(1, self.early + 1) for prefix in self.prefixes(t)
                for seen in product(CHAINS[self.name], repeat=self.known(t))]
        keys += [(output, word) for word in self.words for output in self.outputs]
        return {key: i for i, key in enumerate(keys)}

    def _sums(self) -> Iterator[tuple[list[int], int | None]]:
        """Yield Σ over o_t of Q_t = Q_{t−1}: variables, and what they add up to; None: to 1."""
        for t in range(1, self.early + 2):
            longer = self.prefixes(t) if t <= self.early else self.outputs
            known = self.known(t) if t <= self.early else self.length
            for prefix in self.prefixes(t - 1):
                after = [output for output in longer if output[:t - 1] == prefix]
                for seen in product(CHAINS[self.name], repeat=known):
                    before = seen[:self.known(t - 1)] if t > 1 else ()
                    yield [self._index[o, seen] for o in after], self._index.get((prefix, before))

    def _matrices(self) -> tuple[Floats, csr_array, Floats, csr_array]:
        """Return costs, the matrix of sums and what they are, and the matrix of privacy."""
        count, first_m = len(self.outputs), len(self._index)
        first_q, total = first_m - len(self.words) * count, first_m + len(self.groups) * count
        least = np.zeros(total)
        least[first_q:first_m] = [
            self.cost(word, output) for word in self.words for output in self.outputs]
        rows = [*self._sums()]
        entries = np.array([(row, variable, 1) for row, (after, _) in enumerate(rows)
                            for variable in after]
                           + [(row, whole, -1) for row, (_, whole) in enumerate(rows)
                              if whole is not None])
        equal = coo_array((entries[:, 2], entries[:, :2].T), shape=(len(rows), total))
        sums = np.array([float(whole is None) for _, whole in rows])
        q = (first_q + np.array(self.groups)[:, :, None] * count + np.arange(count)).ravel()
        m = np.broadcast_to(first_m + np.arange(len(self.groups) * count).reshape(-1, 1, count),
                            (len(self.groups), len(self.groups[0]), count)).ravel()
        row, one = np.arange(len(q)), np.ones(len(q))
        unequal = coo_array((
            np.concatenate([-one, one, one, -np.exp(self.epsilon) * one]),
            (np.concatenate([row, row, row + len(q), row + len(q)]),
             np.concatenate([q, m, q, m]))), shape=(2 * len(q), total))
        return least, equal.tocsr(), sums, unequal.tocsr()


def above(epsilon: float) -> Fraction:
    """Return a fraction that is at least e^ε, and nearly equal to it."""
    nearly = Fraction(_PRECISE.exp(Decimal(epsilon)))  # correctly rounded to 60 digits
    return Fraction(int(nearly * 2**DIGITS) + 1, 2**DIGITS)
