# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an adversary guesses: against enumeration of all words and outputs."""
from collections import defaultdict
from dataclasses import astuple
from itertools import pairwise
from math import log, prod, sqrt

import numpy as np
from online_checks import every_signal
import pytest
from refusals import refused
from strategies import CHAINS, COMPLETE, feasible_words, FOUR, probability
from studies.compare.areas import habit
from symdp_ros import Chain, ConfigurationError, OnlineMechanism, Privacy
from symdp_ros.analysis.adversary import best_guess, walk_distribution
from symdp_ros.analysis.belief import smooth
from symdp_ros.core.registry import POLICIES

UNEVEN = Chain({'a': {'a': 0.6, 'b': 0.3, 'c': 0.1}, 'b': ['a', 'c'], 'c': {'c': 0.05, 'b': 0.95}},
               'b')
#: It makes fewer moves than the other allows.
STAYS = Chain({'a': {'a': 0.9, 'c': 0.1}, 'b': {'a': 1.0}, 'c': {'c': 0.95, 'b': 0.05}}, 'b')
MODELS = {**CHAINS, 'uneven': UNEVEN, 'uneven, stays': STAYS,
          'four, a habit': habit(FOUR)}
LENGTH, WALKS = 3, 1000
FALSE_ALARM = 1e-6
for_all_models = pytest.mark.parametrize('chain', MODELS.values(), ids=MODELS)


def prior(chain, word):
    """Return P[w]."""
    return prod(chain.probabilities(a).get(b, 0.0)
                for a, b in pairwise([chain.initial_state, *word]))


def enumerated(mechanism, length, robot):
    """
    Return mean and variance, over outputs, of the chance that the best guess is right.

    By Bayes' rule over all words that the robot can walk, one by one.
    """
    words = [(word, prior(robot, word)) for word in feasible_words(robot, length)]
    mean = square = 0.0
    for output in every_signal(mechanism, length):
        chances = defaultdict(float)  # (t, s): P[s_t = s, the output]
        total = 0.0
        for word, chance in words:
            chance *= float(probability(mechanism, word, output))
            total += chance
            for place in enumerate(word):
                chances[place] += chance
        right = sum(max(chances[t, s] for s in robot.states) for t in range(length)) / length
        mean += right
        square += right**2 / total
    return mean, square - mean**2


def bernstein(variance, count):
    """P[|mean − E| ≥ x] ≤ 2·exp(−n·x²/(2·(variance + x/3))) = α, for x; values in [0, 1]."""
    reach = log(2 / FALSE_ALARM) / count
    return reach / 3 + sqrt((reach / 3)**2 + 2 * reach * variance)


@for_all_models
def test_the_distribution_of_walks(chain):
    expected = np.zeros((4, len(chain)))
    for word in feasible_words(chain, 4):
        for t, state in enumerate(word):
            expected[t, chain.state_index[state]] += prior(chain, word)
    assert walk_distribution(chain, 4) == pytest.approx(expected)


@for_all_models
def test_long_walks_keep_their_mass(chain):
    found = walk_distribution(chain, 5000)
    assert found.shape == (5000, len(chain)) and (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(np.ones(5000))


@pytest.mark.parametrize('policy', POLICIES)
@pytest.mark.parametrize('name, trust, walks_by', [
    ('uneven', 0.3, 'uneven, stays'), ('complete', 0.8, None),
    *(pytest.param(*case, marks=pytest.mark.thorough) for case in (
        ('uneven', 1.0, None), ('four, a habit', 0.8, None),
        ('four', 0.8, 'four, a habit')))])
def test_the_guess_against_enumeration(name, trust, walks_by, policy):
    """Bernstein's bound with the exact variance, α = 1e-6; the seed is fixed, so it repeats."""
    mechanism = OnlineMechanism(MODELS[name], Privacy(2.0), policy=policy, trust=trust)
    robot = MODELS[walks_by or name]
    mean, variance = enumerated(mechanism, LENGTH, robot)
    found = best_guess(mechanism, LENGTH, walks=WALKS, walks_by=walks_by and robot)
    print(f'n = {WALKS}, found {found}, exact {mean} ± {sqrt(max(0.0, variance) / WALKS)}')
    assert abs(found.after - mean) <= bernstein(max(0.0, variance), WALKS)
    assert found.standard_error == pytest.approx(sqrt(max(0.0, variance) / WALKS), rel=0.2,
                                                 abs=1e-9)
    assert found.walks == WALKS


@for_all_models
def test_the_guess_before_is_that_of_the_prior(chain):
    expected = walk_distribution(chain, LENGTH).max(axis=1).mean()
    mechanism = OnlineMechanism(chain, Privacy(1.0))
    assert best_guess(mechanism, LENGTH, walks=2).before == pytest.approx(expected)


def test_who_does_not_know_how_it_moves_guesses_less():
    """In expectation the most probable state by what is true of the robot is right most often."""
    mechanism = OnlineMechanism(UNEVEN, Privacy(1.0), trust=0.3)
    knowing, index = enumerated(mechanism, LENGTH, STAYS)[0], UNEVEN.state_index
    public = 0.0
    for output in feasible_words(UNEVEN, LENGTH):
        guess = smooth(mechanism, output).argmax(axis=1)
        for word in feasible_words(STAYS, LENGTH):
            right = np.mean([index[s] == g for s, g in zip(word, guess.tolist(), strict=True)])
            public += prior(STAYS, word) * float(probability(mechanism, word, output)) * right
    assert 0.3 < public < knowing


@pytest.mark.parametrize('policy', POLICIES)
@for_all_models
def test_without_privacy_loss_nothing_is_gained(chain, policy):
    found = best_guess(OnlineMechanism(chain, Privacy(0.0), policy=policy), 10, walks=5)
    assert found.after == pytest.approx(found.before, abs=1e-7)
    assert found.standard_error == pytest.approx(0, abs=1e-12)


def test_more_is_gained_at_larger_epsilon():
    found = [best_guess(OnlineMechanism(UNEVEN, Privacy(epsilon), policy='guided'), 20)
             for epsilon in (0.0, 1.0, 3.0, 30.0)]
    assert all(a.after + 3 * a.standard_error < b.after for a, b in pairwise(found))
    assert {guess.before for guess in found} == {found[0].before}
    assert best_guess(OnlineMechanism(COMPLETE, Privacy(40.0)), 20).after > 1 - 1e-9


def test_it_repeats():
    first, again = (best_guess(OnlineMechanism(FOUR, Privacy(2.0), policy='guided'), 8, walks=10)
                    for _ in range(2))
    assert astuple(first) == astuple(again)
    mechanism = OnlineMechanism(FOUR, Privacy(2.0), policy='guided')
    mechanism.privatize(['s1'] * 50)  # the mechanism's own draws do not matter
    assert best_guess(mechanism, 8, walks=10) == first


@pytest.mark.parametrize('walks, length, setting', [(1, 3, 'walks'), (2, 0, 'length')])
def test_what_is_refused(walks, length, setting):
    with refused(ConfigurationError, setting=setting):
        best_guess(OnlineMechanism(FOUR, Privacy(1.0)), length, walks=walks)
