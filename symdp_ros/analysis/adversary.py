# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What an adversary learns from private symbols who knows all that is public.

The adversary knows the chain, the public models of how robots move (`core.models`, by `trust` of
the mechanism: with trust 1, the chain's P alone), ε, k and the mechanism; and guesses the true
symbol at one position, chosen at random: the one that is most probable by the models. With the
output, that is by Bayes over all that is unknown: the smoothed beliefs (`analysis.belief`) of an
exact model. How often a guess is right depends on how the robot does move: by the P of some chain.
"""
from dataclasses import dataclass
from math import sqrt
from random import Random

import numpy as np
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.belief import smooth_together
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import known_model, Models, uniform_model
from symdp_ros.core.online import OnlineMechanism

_TOGETHER = 2**22  # states·symbols·words that are smoothed at a time
_TIE = 1e-9


@dataclass(frozen=True)
class Guess:
    """How often the best guess of the region at a random time is right."""

    before: float          # knowing what is public and the time, without the output
    after: float           # with the whole output
    standard_error: float  # of `after`, over the sampled words and outputs
    walks: int


def best_guess(mechanism: OnlineMechanism, length: int, *, walks: int = 50,
               walks_by: Chain | None = None) -> Guess:
    """
    Return the chance that the best guess of s_t is right, for a random t, before and after.

    For each of `patrols` one output is drawn; given it, the chance that the guess is right is how
    probable it is for who knows how the robot moves, exactly. Only the average over words and
    outputs is sampled. The seed of the outputs is fixed: the words are simulated, and the result
    repeats.

    :param mechanism: the online one; a causal release is the same. With its `trust` the adversary
        believes in P.
    :param length: n ≥ 1.
    :param walks_by: the chain by whose P the robot moves, with the same states; None: the
        mechanism's own.
    """
    robot = mechanism.chain if walks_by is None else walks_by
    drawing = mechanism.another(random=Random(length))
    outputs = [drawing.privatize(word) for word in patrols(robot, length, walks)]
    public, moves = mechanism.chain.models(mechanism.trust), moves_of(robot)
    guess = _most_probable(_distribution(public, mechanism.chain, length))
    before = walk_distribution(robot, length)[np.arange(length), guess].mean()
    together = max(1, _TOGETHER // (length * len(robot)))
    after = []
    for i in range(0, walks, together):
        guesses = _most_probable(smooth_together(mechanism, outputs[i:i + together]))
        chances = smooth_together(mechanism, outputs[i:i + together], moves)
        after += np.take_along_axis(chances, guesses[:, None], axis=1).mean(axis=(0, 1)).tolist()
    return Guess(float(before), float(np.mean(after)),
                 float(np.std(after, ddof=1) / sqrt(walks)), walks)


def walk_distribution(chain: Chain, length: int) -> Floats:
    """Return P[s_t = s] of a walk by the chain's P: shape (length, states), from t = 1."""
    found = _distribution(moves_of(chain), chain, length)
    return found / found.sum(axis=1, keepdims=True)


def moves_of(chain: Chain) -> Models:
    """Return the chain's P (uniform moves where it is not known) as the one model."""
    if not chain.stores_edges:
        return uniform_model()
    return known_model(*chain.csr(), chain.edge_probabilities())


def _most_probable(chances: Floats) -> Ints:
    """Return the first of the most probable states: shape (n, states, …) → (n, …)."""
    found: Ints = (chances >= chances.max(axis=1, keepdims=True) * (1 - _TIE)).argmax(axis=1)
    return found


def _distribution(models: Models, chain: Chain, length: int) -> Floats:
    """Return P[s_t = s], up to rounding, of a walk by models: shape (length, states)."""
    here = models.begin(chain.state_index[chain.initial_state], len(chain))
    result = np.empty((length, len(chain)))
    for t in range(length):
        here = models.forward(here)
        result[t] = here.sum(axis=0)
    return result
