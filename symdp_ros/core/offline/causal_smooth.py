# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Causal release, smoothed: the most probable feasible route, given what the online mechanism drew.

The online mechanism draws o_1…o_n, which is ε-private; what is released is the feasible route r
with the largest

    Π_t P(r_t | r_{t−1}) · μ(o_t | r_t, o_{t−1}),   r_0 = s_0,

by the chain's P (uniform moves where it is not known). That is a function of o_1…o_n and of public
data, so ε is unchanged. Logarithms are rounded to multiples of 2⁻²⁴: sums of them are exact, and
of equal routes the first in the order of `successors` is always the one that is released.
"""
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NoReturn

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Word
from symdp_ros.core.best_route import best_route
from symdp_ros.core.offline.causal import Causal
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.errors import ConfigurationError

#: Symbols·states up to which a word is smoothed: 8 bytes each.
MOST_SMOOTHED = 2**27

_KEPT = 2**22  # numbers of likelihoods that are kept
_UNIT = 2.0**24


class CausalSmooth(Causal):
    """The most probable feasible route, given the private symbols (a `core.law.Law`)."""

    def __init__(self, online: OnlineMechanism):
        super().__init__(online)
        chain = online.chain
        self._moves = _rounded_log(chain.edge_probabilities()) if chain.stores_edges else None
        self._likelihood = lru_cache(maxsize=max(1, _KEPT // len(chain)))(
            lambda before, output: _rounded_log(online.likelihood(output, before)))
        self.draw_many = self._draw_many

    def route(self, outputs: Sequence[str]) -> list[str]:
        """Return the most probable feasible route, given the private symbols."""
        return best_route(self._likelihoods(outputs), self.online.chain, self._moves)

    def drawn_by(self, online: OnlineMechanism, word: Word) -> list[str]:
        return self.route(online.privatize(word))

    def likelihood_ratio(self, length: int) -> None:
        return None

    def distance_steps(self, length: int) -> int:
        return 0

    def errors(self, columns: Ints, variances: bool = True) -> None:
        return None

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        _refuse()

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        _refuse()

    def distance_distribution(self, word: Word) -> Floats:
        _refuse()

    def _likelihoods(self, outputs: Sequence[str]) -> Floats:
        """Return the logarithm of how likely each symbol is, by state: shape (n, states)."""
        chain = self.online.chain
        found = np.empty((len(outputs), len(chain)))
        if self.online.tables is None:
            for row, pair in zip(found, pairwise((chain.initial_state, *outputs)), strict=True):
                row[:] = self._likelihood(*pair)
        else:
            online = self.online.another()
            for row, output in zip(found, outputs, strict=True):
                row[:] = _rounded_log(online.current_likelihood(output))
                online.advance(output)
        return found

    def _draw_many(self, symbols: ShortInts, offsets: Ints) -> ShortInts:
        drawn = self.online.privatize_many(symbols, offsets)
        states, index = self.online.chain.states, self.online.chain.state_index
        for begin, end in pairwise(offsets.tolist()):
            route = self.route([states[i] for i in drawn[begin:end].tolist()])
            drawn[begin:end] = [index[state] for state in route]
        return drawn


def _rounded_log(chances: Floats) -> Floats:
    rounded: Floats = np.rint(np.log(chances) * _UNIT)
    return rounded


def _refuse() -> NoReturn:
    raise ConfigurationError('with smooth, a release is the most probable route given the private '
                             'symbols, and many private words give the same one: how likely it is '
                             'cannot be computed. Leave smooth out, or ask `accuracy`, which '
                             'simulates the errors', setting='smooth')
