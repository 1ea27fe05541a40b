# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The hidden switch between public models (`core.models`), by its definition.

Laws of words are exact. Beliefs are sums and products of numbers that are not negative, with 64
bits each: far more than tests of float64 can tell.
"""
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

SWITCH = Fraction(1, 100)


class HiddenSwitch:
    """
    The models of a chain, and the laws of words and of beliefs under them.

    A belief is P[model of the next move, state]: shape (models, states).

    :param trust: as `Chain.models`, whose floats are taken as they are.
    """

    def __init__(self, chain, trust):
        models = chain.models(trust)
        self.chain, self.prior = chain, [Fraction(q) / sum(map(Fraction, models.prior.tolist()))
                                         for q in models.prior.tolist()]
        self.moves = []
        for row in models.weights.tolist():
            weights = iter(row)
            self.moves.append({s: {t: Fraction(next(weights) if chain.stores_edges
                                               else row[int(s == t)])
                                   for t in chain.successors(s)} for s in chain.states})

    def turn(self, before, after):
        """Return T(after | before)."""
        switch = SWITCH if len(self.prior) > 1 else 0
        return (1 - switch) * (before == after) + switch * self.prior[after]

    @lru_cache(maxsize=None)
    def measure(self, word):
        """Return h of a word, a tuple: the sum over all sequences of models, one by one."""
        route, models = [self.chain.initial_state, *word], range(len(self.prior))
        total = Fraction(0)
        for sequence in product(models, repeat=len(word)):
            chances = [self.moves[m][route[t]].get(route[t + 1], Fraction(0))
                       for t, m in enumerate(sequence)]
            if all(chances):
                turns = [self.turn(*pair) for pair in zip(sequence, sequence[1:])]
                total += prod([*chances, *turns],
                              start=self.prior[sequence[0]] if sequence else Fraction(1))
        return total

    @cached_property
    def matrices(self):
        """Return P(after | before) of each model, and T(after | before)."""
        states, models = self.chain.states, range(len(self.prior))
        return (np.array([[[_wide(row[s].get(t, 0)) for t in states] for s in states]
                          for row in self.moves]),
                np.array([[_wide(self.turn(before, after)) for after in models]
                          for before in models]))

    def begin(self, state):
        """Return the belief before the first move."""
        return np.array([[_wide(q) * (s == state) for s in self.chain.states] for q in self.prior])

    def moved(self, belief):
        """Return the belief after a move by the model it has."""
        return (belief[:, None] @ self.matrices[0])[:, 0]

    def turned(self, belief):
        """Return the belief after a switch."""
        return self.matrices[1].T @ belief

    def forward(self, belief):
        """Return the belief after a move and a switch."""
        return self.turned(self.moved(belief))

    def backward(self, values):
        """Return Σ P[model and state after a switch and a move | those before]·values."""
        return self.matrices[1] @ (self.matrices[0] @ values[:, :, None])[:, :, 0]

    def likelihood(self, chances):
        """Return {state: probability} of something seen as an array."""
        return np.array([_wide(chances[s]) for s in self.chain.states])

    def weighed(self, belief, likelihood):
        """Return the belief after something was seen."""
        found = belief * likelihood
        return found / found.sum()


def _wide(fraction):
    """Return a number with 64 bits, of more than a float's range."""
    fraction = Fraction(fraction)
    shift = fraction.denominator.bit_length() - fraction.numerator.bit_length() + 70
    return np.ldexp(np.longdouble(str(int(fraction * Fraction(2)**shift))), -shift)


@cache
def hidden_switch(chain, trust):
    """Return the `HiddenSwitch` of a chain."""
    return HiddenSwitch(chain, trust)


def likelihoods(mechanism, history):
    """
    Return {state: P[z_t | state]} at each report of the policy adaptive.

    :param history: a signal for each report, None where none was drawn.
    """
    walker, found = mechanism.another(), []
    for signal in history:
        if signal is None:
            found.append(dict.fromkeys(mechanism.chain.states, 1))
            walker.tick()
        else:
            found.append({s: walker.exact_current_distribution(s)[signal]
                          for s in mechanism.chain.states})
            walker.advance(signal)
    return found


def _in_ticks(mechanism, history):
    """Return P[what is drawn | state] at each single tick, from the first report on."""
    known, ticks = hidden_switch(mechanism.chain.single, mechanism.trust), mechanism.chain.ticks
    return [likelihood for chances in likelihoods(mechanism, history)
            for likelihood in (known.likelihood(chances), *[1] * (ticks - 1))]


def _beliefs(mechanism, history):
    """Return f at each single tick, from the first report to the next one."""
    known = hidden_switch(mechanism.chain.single, mechanism.trust)
    first = known.moved(known.begin(mechanism.chain.initial_state))
    for _ in range(mechanism.chain.ticks - 1):
        first = known.moved(known.turned(known.weighed(first, 1)))
    found = [first]
    for likelihood in _in_ticks(mechanism, history):
        found.append(known.moved(known.turned(known.weighed(found[-1], likelihood))))
    return found


def adaptive_beliefs(mechanism, history):
    """Return f at each report, the next one included: (model of the move to it, state)."""
    return _beliefs(mechanism, history)[::mechanism.chain.ticks]


def adaptive_posteriors(mechanism, history):
    """Return γ_u(s) = P[s_u = s | all these signals] at each report: shape (reports, states)."""
    known, ticks = hidden_switch(mechanism.chain.single, mechanism.trust), mechanism.chain.ticks
    beliefs, likely = _beliefs(mechanism, history), _in_ticks(mechanism, history)
    later, found = None, []
    for t in range(len(likely) - ticks, -1, -1):  # from the last report on
        after = np.ones_like(beliefs[t]) if later is None else known.backward(later)
        later = after * likely[t]
        found.insert(0, known.weighed(beliefs[t], later).sum(axis=0))
    return found[::ticks]
