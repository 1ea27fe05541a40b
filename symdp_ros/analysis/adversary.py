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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from random import Random

import numpy as np
from symdp_ros.analysis.accuracy import check_walks, patrols
from symdp_ros.analysis.belief import smooth_in_zones, smooth_together
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import complete_models, known_model, Models
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.online.counts import SignalNumbers
from symdp_ros.errors import ConfigurationError

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
    :param walks: ≥ 2.
    :param walks_by: the chain by whose P the robot moves in a tick, with the same states; None:
        the mechanism's own.
    :raises ConfigurationError: `length` or `walks` out of range.
    """
    return best_guesses(mechanism, length, [walks_by], walks=walks)[0]


def best_guesses(mechanism: OnlineMechanism, length: int, robots: Sequence[Chain | None], *,
                 walks: int = 50) -> list[Guess]:
    """
    Return `best_guess` for each of some robots.

    :param robots: each as `walks_by`.
    """
    walked = [_walked(mechanism, length, walks, robot) for robot in robots]
    clock = walked[0][1]
    words = np.concatenate([words for _, _, words in walked])
    models = [model for robot, _, _ in walked for model in [moves_of(robot)] * walks]
    drawing = mechanism.another(random=Random(length))
    after = np.concatenate([
        outputs_and_beliefs(drawing, words[some], models[some], clock)[1].max(axis=1).mean(axis=0)
        for some in _parts(mechanism, length, len(words))]).reshape(len(robots), walks)
    return [Guess(
        float(walk_distribution(robot, clock[0] + (length - 1) * clock[1]).max(axis=1).mean()),
        float(each.mean()), float(each.std(ddof=1) / sqrt(walks)), walks)
        for (robot, _, _), each in zip(walked, after, strict=True)]


def best_guess_in_zones(mechanism: OnlineMechanism, length: int, *, walks: int = 50,
                        walks_by: Chain | None = None) -> dict[str, Guess]:
    """
    Return for each zone the chance that the best guess of s_t is right while s_t is in it.

    `before` is for who knows P, the time and all zones that are told, and `after` for who also
    knows all signals. Both are means over the time that the simulated robots spend in the zone, by
    the beliefs at each tick, given all of the word. `walks` counts those that come there; zones
    that none comes to are left out.

    :param mechanism: with zones; parameters and errors as of `best_guess`.
    :raises ConfigurationError: the mechanism has no zones.
    """
    zones = mechanism.privacy.zones
    if zones is None:
        raise ConfigurationError('the mechanism has no zones: use best_guess', setting='zones')
    robot, clock, walked = _walked(mechanism, length, walks, walks_by)
    drawing, zone_of = mechanism.another(random=Random(length)), zones.numbers(mechanism.chain)
    by_models, models = [], moves_of(robot)
    for some in _parts(mechanism, length, walks):
        words = walked[some]
        by_models.append(np.stack([_right_by_zone(beliefs, zone_of) for beliefs in (
            smooth_in_zones(mechanism, zone_of[words], models, clock),
            outputs_and_beliefs(drawing, words, models, clock)[1])]))
    right, time = np.concatenate(by_models, axis=-1).swapaxes(0, 1)  # of walks
    result = {}
    for z, zone in enumerate(zones):
        visits = int((time[1, z] > 0.5).sum())  # ticks
        if visits:
            before, after = right[:, z].sum(axis=1) / time[:, z].sum(axis=1)
            spread = (right[1, z] - after * time[1, z]).std(ddof=1) * sqrt(walks)
            result[zone] = Guess(float(before), float(after), float(spread / time[1, z].sum()),
                                 visits)
    return result


def _right_by_zone(beliefs: Floats, zone_of: Ints) -> Floats:
    """
    Return how many ticks the best guess is right in each zone, and how many are spent there.

    Expected values, shape (2, zones, words).

    :param beliefs: shape (ticks, states, words).
    """
    ticks = np.zeros((2, zone_of.max() + 1, beliefs.shape[2]))
    guessed, words = zone_of[beliefs.argmax(axis=1)], np.arange(beliefs.shape[2])
    np.add.at(ticks[0], (guessed, np.broadcast_to(words, guessed.shape)), beliefs.max(axis=1))
    np.add.at(ticks[1], zone_of, beliefs.sum(axis=0))
    return ticks


def _walked(mechanism: OnlineMechanism, length: int, walks: int, walks_by: Chain | None
            ) -> tuple[Chain, tuple[int, int], ShortInts]:
    """Return the robot, the clock of its symbols, and walks: shape (walks, length)."""
    robot = mechanism.chain.single if walks_by is None else walks_by
    first = mechanism.chain.ticks
    clock = first, first * mechanism.stride
    ticks = first + (length - 1) * clock[1]
    return robot, clock, _patrolled(robot, mechanism.chain, ticks, walks)[:, first - 1::clock[1]]


def _parts(mechanism: OnlineMechanism, length: int, words: int) -> list[slice]:
    """Return which words are smoothed at a time."""
    ticks = mechanism.chain.ticks * (1 + (length - 1) * mechanism.stride)
    together = max(1, _TOGETHER // (ticks * len(mechanism.chain)))
    return [slice(i, i + together) for i in range(0, words, together)]


@lru_cache(maxsize=16)
def _patrolled(robot: Chain, chain: Chain, ticks: int, walks: int) -> ShortInts:
    """Return `patrols` as positions of the states of a chain: shape (walks, ticks)."""
    index = chain.state_index
    return np.array([[index[symbol] for symbol in word]
                     for word in check_walks(patrols(robot, ticks, walks))], np.int32)


def outputs_and_beliefs(mechanism: OnlineMechanism, words: ShortInts,
                        models: Models | Sequence[Models],
                        clock: tuple[int, int] = (1, 1)) -> tuple[ShortInts, Floats]:
    """
    Draw private words, and return the beliefs of who knows all that was drawn.

    :param words: of one length: shape (words, n), positions of states.
    :param models: how the robot moves in a tick, or that for each word.
    :param clock: as of `analysis.belief.smooth_together`.
    :return: shapes (words, reports) and (ticks, states, words).
    """
    offsets = np.arange(len(words) + 1) * words.shape[1]
    if mechanism.tables is None:
        drawn = outputs = mechanism.privatize_many(words.ravel(), offsets)
    else:
        outputs, drawn = mechanism.draw_signals(words.ravel(), offsets)
    numbers = SignalNumbers(mechanism.chain.states, mechanism.privacy.zones)
    names = [[numbers.name(int(z)) for z in row] for row in drawn.reshape(words.shape)]
    return outputs.reshape(len(words), -1), smooth_together(mechanism, names, models, clock)


def walk_distribution(chain: Chain, length: int) -> Floats:
    """Return P[s_t = s] of a walk by the chain's P: shape (length, states), from t = 1."""
    models = moves_of(chain)
    here = models.begin(chain.state_index[chain.initial_state], len(chain))
    chances = np.empty((length, len(chain)))
    for t in range(length):
        here = models.forward(here)
        chances[t] = here[0]
    return chances / chances.sum(axis=1, keepdims=True)


def moves_of(chain: Chain) -> Models:
    """Return the chain's P (uniform moves where it is not known) as the one model."""
    if not chain.stores_edges:
        return chain.models(1.0) if chain.names_probabilities else complete_models(
            len(chain), 1 / len(chain), 1.0)
    return known_model(*chain.csr(), chain.edge_probabilities())
