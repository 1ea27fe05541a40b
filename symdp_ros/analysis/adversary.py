# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What an adversary learns from private symbols who knows everything but the word.

The adversary knows the chain, how this robot moves (the P of some chain, `walks_by`), ε, k and the
mechanism; with the policy 'adaptive' also the signals, from which all that it publishes is
computed. The guess is of the true symbol at one position, chosen at random. Without the output the
best one is the most probable symbol a priori, where the prior is that of a walk by P. With it,
Bayes over all that is unknown: the smoothed beliefs (`analysis.belief`) of an exact model. Whoever
knows the public models alone (`core.models`) is right no more often.
"""
from dataclasses import dataclass
from math import sqrt
from random import Random

import numpy as np
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.belief import smooth_together
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import known_model, Models, uniform_model
from symdp_ros.core.online import OnlineMechanism

_TOGETHER = 2**22  # states·symbols·words that are smoothed at a time


@dataclass(frozen=True)
class Guess:
    """How often the best guess of the region at a random time is right."""

    before: float          # knowing P and the time, without the output
    after: float           # with the whole output
    standard_error: float  # of `after`, over the sampled words and outputs
    walks: int


def best_guess(mechanism: OnlineMechanism, length: int, *, walks: int = 50,
               walks_by: Chain | None = None) -> Guess:
    """
    Return the chance that the best guess of s_t is right, for a random t, before and after.

    For each of `patrols` (drawn from P) one output is drawn; given it, the chance that the guess
    of largest belief is right is that belief, exactly. Only the average over words and outputs is
    sampled. The seed of the outputs is fixed: the words are simulated, and the result repeats.

    With reports that are several ticks apart, t is any tick up to the last symbol.

    :param mechanism: the online one; a causal release is the same.
    :param length: n ≥ 1, of symbols.
    :param walks_by: the chain by whose P the robot moves in a tick, with the same states; None:
        the mechanism's own.
    """
    robot = mechanism.chain.single if walks_by is None else walks_by
    first = mechanism.chain.ticks
    clock = first, first * mechanism.reports
    ticks = first + (length - 1) * clock[1]
    prior = walk_distribution(robot, ticks).max(axis=1).mean()
    drawing = mechanism.another(random=Random(length))
    index = mechanism.chain.state_index
    words = np.array([[index[symbol] for symbol in word[first - 1::clock[1]]]
                      for word in patrols(robot, ticks, walks)], np.int32)
    together = max(1, _TOGETHER // (ticks * len(robot)))
    after = np.concatenate([
        outputs_and_beliefs(drawing, words[i:i + together], moves_of(robot),
                            clock)[1].max(axis=1).mean(axis=0) for i in range(0, walks, together)])
    return Guess(float(prior), float(after.mean()), float(after.std(ddof=1) / sqrt(walks)), walks)


def outputs_and_beliefs(mechanism: OnlineMechanism, words: ShortInts, models: Models,
                        clock: tuple[int, int] = (1, 1)) -> tuple[ShortInts, Floats]:
    """
    Draw private words, and return the beliefs of who knows all that was drawn.

    :param words: of one length: shape (words, n), positions of states.
    :param models: how the robot moves in a tick.
    :param clock: as of `analysis.belief.smooth_together`.
    :return: shapes (words, reports) and (ticks, states, words).
    """
    offsets = np.arange(len(words) + 1) * words.shape[1]
    if mechanism.tables is None:
        drawn = outputs = mechanism.privatize_many(words.ravel(), offsets)
    else:
        outputs, drawn = mechanism.draw_signals(words.ravel(), offsets)
    states = np.array(mechanism.chain.states, object)
    names = [row.tolist() for row in states[drawn.reshape(words.shape)]]
    return outputs.reshape(len(words), -1), smooth_together(mechanism, names, models, clock)


def walk_distribution(chain: Chain, length: int) -> Floats:
    """Return P[s_t = s] of a walk by the chain's P: shape (length, states), from t = 1."""
    models = moves_of(chain)
    here = models.begin(chain.state_index[chain.initial_state], len(chain))
    found = np.empty((length, len(chain)))
    for t in range(length):
        here = models.forward(here)
        found[t] = here[0]
    return found / found.sum(axis=1, keepdims=True)


def moves_of(chain: Chain) -> Models:
    """Return the chain's P (uniform moves where it is not known) as the one model."""
    if not chain.stores_edges:
        return uniform_model()
    return known_model(*chain.csr(), chain.edge_probabilities())
