# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
X(c, s) as it is looked up: the matches to expect of a report c where s is true.

Multiples of 2⁻⁴⁰, as float32: what is equal on paper is equal.
"""
import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Weights
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import edges_of
from symdp_ros.core.online.targets import SparseTargets

_UNIT = 2.0**-40
_PRECISE = 512  # states, up to which sums are in float64; above, half as much memory is read


class Matches:
    """
    X of all pairs of states.

    :param values: X(c, s): shape (states, states).
    """

    def __init__(self, values: Floats):
        #: X(c, s)
        self.rows: Weights | None = _in_units(values)
        #: whether X is 0 for some pairs
        self.has_zeros = not self.rows.all()
        self._columns: Floats | Weights = np.ascontiguousarray(
            self.rows.T, np.float64 if len(values) <= _PRECISE else np.float32)
        #: memory in bytes
        self.nbytes = self.rows.nbytes + self._columns.nbytes

    def of(self, states: Ints) -> Weights:
        """Return X(c, ·) for some c, of any shape: float32, shape (…, states)."""
        assert self.rows is not None
        return self.rows.take(states, axis=0)

    def expected(self, likely: Floats, reached: list[Ints] | None) -> Floats:
        """
        Return Σ_s γ(s)·X(o, s) for each state o.

        :param likely: γ; 0 for all that does not count: shape (states, words).
        :param reached: of each word, the states o that are needed; None: all.
        :return: the same shape.
        """
        matches = np.empty(likely.shape)
        if loops is not None:
            loops.expected(self._columns, self._columns.dtype == np.float64, likely, matches,
                           *likely.shape)
            return matches
        for word, chances in enumerate(likely.T):
            some = chances.nonzero()[0]
            rows = self._columns.take(some, axis=0)
            # Not a product of BLAS: its order is its own.
            matches[:, word] = np.einsum('s,so->o', chances[some].astype(rows.dtype), rows)
        return matches

    def expected_next(self, successors: ShortInts, previous: Ints, likely: Floats) -> Floats:
        """
        Return the same for the successors of a state in each word; 0 for others.

        :param successors: shape (states, most), −1 after the last.
        :param previous: shape (words,).
        """
        matches = np.zeros(likely.shape)
        if loops is not None:
            loops.expected_next(self.rows, successors, previous, likely, matches, *likely.shape,
                                successors.shape[1])
            return matches
        able = successors[previous]
        values = (self.of(np.maximum(able, 0)) * likely.T[:, None]).sum(axis=2)
        words, places = np.nonzero(able >= 0)
        matches[able[words, places], words] = values[words, places]
        return matches


class NearMatches(Matches):
    """
    X of the pairs within a radius, of chains of many states; it is 0 for the others.

    :param values: of the pairs, in the order of `SparseTargets.pairs`.
    :param match: X(c, c) of each state, whether or not that is a pair.
    """

    def __init__(self, values: Floats, match: Floats, sparse: SparseTargets):
        self.rows, self.has_zeros = None, True
        self._first, self._symbols, _ = sparse.pairs()
        self._match, self._values = _in_units(match), _in_units(values)
        self.nbytes = self._first.nbytes + self._symbols.nbytes + self._values.nbytes

    def of(self, states: Ints) -> Weights:
        rows = np.zeros((*states.shape, len(self._match)), np.float32)
        for at in np.ndindex(states.shape):
            c = states[at]
            here = slice(self._first[c], self._first[c + 1])
            rows[at][self._symbols[here]] = self._values[here]
            rows[at][c] = self._match[c]
        return rows

    def expected(self, likely: Floats, reached: list[Ints] | None) -> Floats:
        assert reached is not None
        matches = np.zeros(likely.shape)
        for word, some in enumerate(reached):
            chances = likely[:, word]
            counts, pairs = np.diff(self._first)[some], edges_of(self._first, some)
            symbols = self._symbols[pairs]
            terms = np.where(symbols == np.repeat(some, counts), 0.0,
                             chances[symbols] * self._values[pairs])
            matches[some, word] = chances[some] * self._match[some] + np.bincount(
                np.repeat(np.arange(len(some)), counts), terms, len(some))
        return matches


def _in_units(values: Floats) -> Weights:
    units = np.maximum(np.rint(values * (1 / _UNIT)) * _UNIT, _UNIT)
    return np.where(values > 0, units, 0.0).astype(np.float32)
