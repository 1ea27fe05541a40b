# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The hidden switch between public models (`core.models`), exactly, by its definition."""
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import prod

SWITCH = Fraction(1, 100)


class HiddenSwitch:
    """
    The models of a chain, and the laws of words and of beliefs under them.

    A belief is {(model, state): probability}, of the model of the next move.

    :param trust: as `Chain.models`, whose floats are taken as they are.
    """

    def __init__(self, chain, trust):
        models = chain.models(trust)
        self.chain, self.prior = chain, [Fraction(q) / sum(map(Fraction, models.prior.tolist()))
                                         for q in models.prior.tolist()]
        self.moves = []
        for row in models.weights.tolist():
            weights = iter(row)
            self.moves.append({s: {t: Fraction(next(weights)) if chain.stores_edges
                                   else Fraction(1, len(chain)) for t in chain.successors(s)}
                               for s in chain.states})

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

    def begin(self, state):
        """Return the belief before the first move."""
        return {(m, s): q * (s == state) for m, q in enumerate(self.prior)
                for s in self.chain.states}

    def moved(self, belief):
        """Return the belief after a move by the model it has."""
        moved = dict.fromkeys(belief, Fraction(0))
        for (m, s), chance in belief.items():
            if chance:
                for t, p in self.moves[m][s].items():
                    moved[m, t] += chance * p
        return moved

    def turned(self, belief):
        """Return the belief after a switch."""
        return {(m, s): sum(self.turn(before, m) * belief[before, s]
                            for before in range(len(self.prior))) for m, s in belief}

    def forward(self, belief):
        """Return the belief after a move and a switch."""
        return self.turned(self.moved(belief))

    def backward(self, values):
        """Return Σ P[model and state after a switch and a move | those before]·values."""
        moved = {(m, s): sum(p * values[m, t] for t, p in self.moves[m][s].items())
                 for m, s in values}
        return {(m, s): sum(self.turn(m, after) * moved[after, s]
                            for after in range(len(self.prior))) for m, s in values}

    def weighed(self, belief, likelihood):
        """Return the belief after something of a likelihood {state: probability} was seen."""
        found = {(m, s): chance * likelihood[s] for (m, s), chance in belief.items()}
        total = sum(found.values())
        return {pair: chance / total for pair, chance in found.items()}

    def by_state(self, belief):
        """Return the sums over the models, as floats."""
        return [float(sum(belief[m, s] for m in range(len(self.prior))))
                for s in self.chain.states]

    def listed(self, belief):
        """Return a belief as floats, model after model."""
        return [float(belief[m, s]) for m in range(len(self.prior)) for s in self.chain.states]


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
    """Return {state: P[what is drawn | state]} at each single tick, from the first report on."""
    nothing = dict.fromkeys(mechanism.chain.states, 1)
    return [likelihood for report in likelihoods(mechanism, history)
            for likelihood in (report, *[nothing] * (mechanism.chain.ticks - 1))]


def _beliefs(mechanism, history):
    """Return f at each single tick, from the first report to the next one."""
    known = hidden_switch(mechanism.chain.single, mechanism.trust)
    first = known.moved(known.begin(mechanism.chain.initial_state))
    for _ in range(mechanism.chain.ticks - 1):
        nothing = dict.fromkeys(mechanism.chain.states, 1)
        first = known.moved(known.turned(known.weighed(first, nothing)))
    found = [first]
    for likelihood in _in_ticks(mechanism, history):
        found.append(known.moved(known.turned(known.weighed(found[-1], likelihood))))
    return found


def adaptive_beliefs(mechanism, history):
    """Return f at each report, the next one included: {(model of the move to it, state): …}."""
    return _beliefs(mechanism, history)[::mechanism.chain.ticks]


def adaptive_posteriors(mechanism, history):
    """Return γ_u(s) = P[s_u = s | all these signals] at each report: shape (reports, states)."""
    known, ticks = hidden_switch(mechanism.chain.single, mechanism.trust), mechanism.chain.ticks
    beliefs, likely = _beliefs(mechanism, history), _in_ticks(mechanism, history)
    later, found = None, []
    for t in range(len(likely) - ticks, -1, -1):  # from the last report on
        belief, likelihood = beliefs[t], likely[t]
        after = dict.fromkeys(belief, Fraction(1)) if later is None else known.backward(later)
        later = {(m, s): chance * likelihood[s] for (m, s), chance in after.items()}
        joint = {place: belief[place] * later[place] for place in belief}
        total = sum(joint.values())
        found.insert(0, known.by_state({place: p / total for place, p in joint.items()}))
    return found[::ticks]
