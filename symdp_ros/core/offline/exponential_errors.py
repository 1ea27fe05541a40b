# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Where the exponential mechanism errs, exactly: for many words of one length at once.

(o_t, m_{t+1}), the private symbol and the hidden model of the next move (`core.models`), are a
Markov chain: with U and V of `core.offline.backward`, from (s, m) to (s', m') with

    P_m(s'|s)·b_t(s')·T(m'|m)·V_t(s', m') / V_{t−1}(s, m),

T the switch. V is kept at every √n-th position; those between are computed again. It is divided by
its largest at each position; where a float cannot hold it so, by the largest at each state, whose
logarithm is kept.
"""
from collections.abc import Callable, Iterator
from math import ceil, inf, log, sqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import Models
from symdp_ros.core.online.moments import forward, Move

_Result = TypeVar('_Result')
_SMALLEST = 1e-290  # weight, over the largest at its position, that floats hold with all digits
_LEAST_LOGARITHM = -1e300  # in place of −∞: a sum without terms is 0
_NOTHING = 1e-18    # probability that is left out of a sum


class _Scaled(NamedTuple):
    """V of each (model, state, word), divided by exp of a logarithm for each (state, word)."""

    V: Floats
    logarithms: Floats | None


class _TooWide(Exception):
    """Weights at one position are too far apart for floats; caught in this module."""


def exponential_errors(chain: Chain, columns: Ints, ratio: float, models: Models,
                       variances: bool, in_zones: tuple[Ints, Ints] | None = None
                       ) -> tuple[Floats, Floats | None]:
    """
    Return errors and variances as `core.law.Law.errors`.

    :param ratio: R.
    :param models: of h.
    :param in_zones: the zone that is told of each symbol, shape (n, words), −1: none, and that of
        each state (`core.offline.exponential`); None: there are no zones.
    """
    return _of_passes(lambda passes: forward(columns, passes.moves(), passes.start, variances),
                      chain, columns, ratio, models, in_zones)


def exponential_distances(chain: Chain, columns: Ints, ratio: float, models: Models,
                          in_zones: tuple[Ints, Ints] | None = None) -> Floats:
    """
    Return P[d(word, output) = ℓ]: shape (n + 1,), by recursion over states and distances.

    Parameters as of `exponential_errors`, of one word.
    """
    def distances(passes: '_Passes') -> Floats:
        mass = np.zeros((*passes.start.shape[:2], len(columns) + 1))
        mass[:, :, 0] = passes.start[:, :, 0]
        for symbol, move in zip(columns[:, 0].tolist(), passes.moves(), strict=True):
            moved = move(mass)
            mass[:, :, 0], mass[:, :, 1:] = 0, moved[:, :, :-1]
            if symbol < len(chain):
                mass[:, symbol] = moved[:, symbol]
        chances: Floats = mass.sum(axis=(0, 1))
        chances /= chances.sum()
        return chances

    return _of_passes(distances, chain, columns, ratio, models, in_zones)


def _of_passes(work: 'Callable[[_Passes], _Result]', *arguments: Any) -> _Result:
    """Return what some work makes of the passes; where floats are too narrow, of wide ones."""
    try:
        return work(_Passes(*arguments))
    except _TooWide:
        return work(_WidePasses(*arguments))


class _Passes:
    """V backward, and the moves forward: V over its largest at each position."""

    def __init__(self, chain: Chain, columns: Ints, ratio: float, models: Models,
                 in_zones: tuple[Ints, Ints] | None):
        self._in_zones, self._models = in_zones, models
        self._columns, self._ratio, self._states = columns, ratio, len(chain)
        self._initial = chain.state_index[chain.initial_state]
        length, count = columns.shape
        self._spacing = max(1, ceil(sqrt(length)))
        self._checkpoints = dict[int, _Scaled]()
        shape = len(self._models), len(chain), count
        values = _Scaled(np.ones(shape), self._no_logarithms(shape))
        for t in range(length - 1, -1, -1):
            if t % self._spacing == self._spacing - 1 or t == length - 1:
                self._checkpoints[t] = values
            values = self._back(values, t)
        self._check_start(values)
        #: P[m_1 = m] at the initial state: shape (models, states), of each word
        self.start = np.zeros((*shape[:2], count))
        chances = self._models.prior[:, None] * values.V[:, self._initial]
        self.start[:, self._initial] = chances / chances.sum(axis=0)

    def moves(self) -> Iterator[Move]:
        """Yield the moves of a distribution over (models, states, words), for each position."""
        length = len(self._columns)
        for begin in range(0, length, self._spacing):
            end = min(begin + self._spacing, length)
            after = [self._checkpoints.pop(end - 1)]
            for t in range(end - 1, begin, -1):
                after.append(self._back(after[-1], t))
            for t in range(begin, end):
                yield self._move_at(after.pop(), t)

    def _no_logarithms(self, shape: tuple[int, int, int]) -> Floats | None:
        return None

    def _check_start(self, values: _Scaled) -> None:
        if (self._models.prior @ values.V[:, self._initial] < _SMALLEST).any():
            raise _TooWide

    def _weighed(self, values: Floats, t: int) -> Floats:
        """Return b_t times some values, in their place."""
        known, outside = self._matching(t)
        values[:, self._columns[t, known], known] *= self._ratio
        if outside is not None:
            values[:, outside] = 0
        return values

    def _matching(self, t: int) -> tuple[Ints, Booleans | None]:
        """Return the words in which a state can match, and which states are in no word's zone."""
        known = self._columns[t] < self._states
        if self._in_zones is None:
            return np.flatnonzero(known), None
        told, zone_of = self._in_zones[0][t], self._in_zones[1]
        return np.flatnonzero(known & (told >= 0)), (told >= 0) & (zone_of[:, None] != told)

    def _sums(self, after: Floats, t: int) -> Floats:
        """Return V before position t."""
        return self._models.gathered(self._weighed(self._models.mixed(after).copy(), t))

    def _back(self, values: _Scaled, t: int) -> _Scaled:
        """Return V before position t over its largest."""
        before = self._sums(values.V, t)
        highest: Floats = before.max(axis=(0, 1))
        if (highest < _SMALLEST).any():
            raise _TooWide
        before /= highest
        return _Scaled(before, None)

    def _move_at(self, values: _Scaled, t: int) -> Move:
        sums = self._sums(values.V, t)
        there = self._weighed(values.V.copy(), t)
        lost = sums < _SMALLEST
        sums[lost] = np.inf

        def move(mass: Floats) -> Floats:
            if (np.abs(np.where(lost, mass, 0)) > _NOTHING).any():
                raise _TooWide
            moved = self._models.forward(mass / sums)
            moved *= there
            return moved

        return move


class _WidePasses(_Passes):
    """V over its largest at each state, whose logarithm is kept."""

    def __init__(self, chain: Chain, columns: Ints, ratio: float, models: Models,
                 in_zones: tuple[Ints, Ints] | None):
        from scipy.sparse import csr_array

        offsets, self._targets = models.offsets, models.targets
        edges = len(self._targets)
        ones, each = np.ones(edges), np.arange(edges)
        self._starts, self._degrees = offsets[:-1], np.diff(offsets)
        self._onto = csr_array((ones, (self._targets, each)), shape=(len(chain), edges))
        # Adds up faster than `reduceat` does.
        self._each_row = csr_array((ones, each, offsets), shape=(len(chain), edges))
        self._weights = models.weights.astype(np.float64)[:, :, None]
        super().__init__(chain, columns, ratio, models, in_zones)

    def _no_logarithms(self, shape: tuple[int, int, int]) -> Floats | None:
        return np.zeros(shape[1:])

    def _check_start(self, values: _Scaled) -> None:
        return  # logarithms are never too wide

    def _factors(self, values: _Scaled, t: int) -> tuple[Floats, Floats]:
        """Return b_t·exp(logarithm) of each edge over its row's largest, and ln of that."""
        assert values.logarithms is not None
        known, outside = self._matching(t)
        weights = values.logarithms.copy()
        weights[self._columns[t, known], known] += log(self._ratio)
        if outside is not None:
            weights[outside] = -inf
        weights = weights[self._targets]
        largest = np.maximum(np.maximum.reduceat(weights, self._starts), _LEAST_LOGARITHM)
        return np.exp(weights - np.repeat(largest, self._degrees, axis=0)), largest

    def _of_rows(self, factors: Floats, after: Floats) -> Floats:
        mixed = self._models.mixed(after)
        return np.stack([self._each_row @ (weights * factors * there[self._targets])
                         for weights, there in zip(self._weights, mixed, strict=True)])

    def _back(self, values: _Scaled, t: int) -> _Scaled:
        factors, largest = self._factors(values, t)
        before = self._of_rows(factors, values.V)
        own = before.max(axis=0)
        nothing = own == 0  # no route has the zones to come
        own[nothing] = 1
        logarithms = np.where(nothing, -inf, largest + np.log(own))
        return _Scaled(before / own, logarithms - logarithms.max(axis=0))

    def _move_at(self, values: _Scaled, t: int) -> Move:
        factors, _ = self._factors(values, t)
        sums = self._of_rows(factors, values.V)
        sums[sums == 0] = np.inf

        def move(mass: Floats) -> Floats:
            moved = self._models.switched(np.stack([
                self._onto @ (weights * factors * np.repeat(own, self._degrees, axis=0))
                for weights, own in zip(self._weights, mass / sums, strict=True)]))
            moved *= values.V
            return moved

        return move
