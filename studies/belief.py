# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How much belief is worth: errors of the private route beside those of the beliefs, measured."""
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from itertools import product
from math import exp
from random import Random

import numpy as np
from studies.common import table
from symdp_ros.analysis.accuracy import averaged
from symdp_ros.analysis.belief import (best_route, Filter, smooth,
                                       smooth_with_constant_normaliser)
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy


def structured(chain: Chain, seed: int = 0, likely: float = 0.9) -> Chain:
    """
    Return the chain with a P in which each state has one likely move; the others share the rest.

    The likely moves are picked at random, elsewhere where there is an elsewhere, and not straight
    back to a state whose own pick leads here, where there is another. So a robot mostly follows a
    road through the map, and now and then leaves it. The same seed gives the same P everywhere.

    :param chain: not complete.
    :param likely: in (0, 1).
    """
    random, pick, rows = Random(seed), {}, {}
    for state in chain.states:
        successors = chain.successors(state)
        elsewhere = [other for other in successors if other != state] or successors
        onward = [other for other in elsewhere if pick.get(other) != state] or elsewhere
        pick[state] = onward[int(random.random() * len(onward))]
        rest = (1 - likely) / max(1, len(successors) - 1)
        rows[state] = {other: rest for other in successors}  # keeps their order
        rows[state][pick[state]] = likely if len(successors) > 1 else 1.0
    return Chain(rows, chain.initial_state)


def patrol(chain: Chain, length: int, random: Random) -> list[str]:
    """Return a walk by P from the initial state, which is not part of it."""
    walk, here = [], chain.initial_state
    for _ in range(length):
        chances = chain.probabilities(here)
        [here] = random.choices(list(chances), chances.values())
        walk.append(here)
    return walk


def belief_errors(chains: Iterable[Chain], privacy: Privacy, *, policy: str = 'guided',
                  length: int = 100, patrols: int = 20, seed: int = 0) -> Floats:
    """
    Return the share of positions at which four routes are wrong: shape (patrols, 4).

    The private one; the most probable state at each time, by what came so far; the same by the
    whole private route; and the best feasible route. Measured on patrols drawn from each chain's
    own P, pooled. All that is random is from `seed`.

    :param patrols: of each chain; at least 2 in all.
    """
    random, errors = Random(seed), []
    for chain in chains:
        mechanism = OnlineMechanism(chain, privacy, policy=policy, random=random)
        tracker, states = Filter(mechanism), np.array(chain.states)
        for _ in range(patrols):
            true = patrol(chain, length, random)
            private = mechanism.privatize(true)
            tracker.reset()
            filtered = states[[tracker.update(output).argmax() for output in private]]
            beliefs = smooth(mechanism, private)
            smoothed, route = states[beliefs.argmax(axis=1)], best_route(beliefs, chain)
            errors.append([np.mean(np.array(true) != np.array(guess))
                           for guess in (private, filtered, smoothed, route)])
    return np.array(errors)


def belief_table(name: str, chain: Chain, epsilons: Iterable[float], policy: str) -> str:
    """
    Return `belief_errors` in Markdown: patrols of a map under five `structured` P, k = 1.

    The last column is how much lower the smoothed error is than the private one.
    """
    lines, chains = [], [structured(chain, seed) for seed in range(5)]
    for epsilon in epsilons:
        found = [averaged(errors)
                 for errors in belief_errors(chains, Privacy(epsilon), policy=policy).T]
        private, _, smoothed, _ = found
        lines.append((f'{name} ({len(chain)})', f'{epsilon:g}',
                      *(f'{each.error:.3f} ± {each.standard_error:.3f}' for each in found),
                      f'{1 - smoothed.error / private.error:.0%}'))
    return table(('map (states)', 'ε', 'private', 'filtered', 'smoothed', 'feasible route',
                  'saved'), lines)


@dataclass(frozen=True)
class ConstantNormaliserError:
    """
    Of the exponential mechanism: exact means over positions, words (by the models) and outputs.

    `private`, `exact`, `approximate`: P[guess ≠ s_t] of o_t, of the state of largest exact c_t,
    and of that of largest approximate c_t. `distance`: the mean total variation distance between
    the exact and the approximate c_t, in [0, 1].
    """

    private: float
    exact: float
    approximate: float
    distance: float


def constant_normaliser_error(chain: Chain, privacy: Privacy,
                              length: int) -> ConstantNormaliserError:
    """
    Measure `smooth_with_constant_normaliser` by enumeration of all feasible words of a length ≥ 1.

    :param chain: not complete: there, `smooth` is exact.
    """
    mechanism = OfflineMechanism(chain, privacy, base='counting')
    labels = [word for word in product(chain.states, repeat=length) if chain.is_feasible(word)]
    models, index = chain.models(mechanism.trust), chain.state_index
    chances = [exp(models.log_measure([index[s] for s in (chain.initial_state, *word)]))
               for word in labels]
    words = np.array([[index[state] for state in word] for word in labels])
    matches = (words[:, None] == words).sum(axis=2)
    law = mechanism.ratio(length)**matches
    joint = np.array(chances)[:, None] * law / law.sum(axis=1, keepdims=True)  # [word, output]
    positions, losses = np.arange(length), np.zeros(4)
    for label, output, column in zip(labels, words, joint.T, strict=True):
        # P[s_t = s and this output], and what is taken for it
        exact = np.array([np.bincount(words[:, t], column, len(chain)) for t in positions])
        close = column.sum() * smooth_with_constant_normaliser(mechanism, label)
        matched = [exact[positions, guess].mean()
                   for guess in (output, exact.argmax(axis=1), close.argmax(axis=1))]
        losses += [*(column.sum() - matched), np.abs(exact - close).sum() / 2 / length]
    return ConstantNormaliserError(*losses.tolist())


def constant_normaliser_table(name: str, chain: Chain, length: int) -> str:
    """Return `constant_normaliser_error` in Markdown, k = 1."""
    lines = []
    for epsilon in (1.0, 2.0, 3.0, 5.0):
        cells = astuple(constant_normaliser_error(chain, Privacy(epsilon), length))
        lines.append((f'{name} ({len(chain)}), {length}', f'{epsilon:g}',
                      *(f'{cell:.4f}' for cell in cells)))
    return table(('chain (states), n', 'ε', 'private', 'exact', 'constant Z',
                  'distance of beliefs'), lines)
