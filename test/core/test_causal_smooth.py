# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Causal release with smooth: the most probable route, given the private symbols."""
from itertools import product
from math import sqrt
from random import Random

import numpy as np
import pytest
from refusals import refused
from strategies import COMPLETE, feasible_words, SPLIT
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy, UnknownSymbolError)
from symdp_ros.analysis.accuracy import accuracy, average_accuracy, compare_mechanisms
from symdp_ros.core.offline import mechanism as module
from symdp_ros.core.policies import POLICIES

#: Probabilities far from uniform; one-way moves; one row without probabilities.
HABIT = Chain({'a': {'a': 0.7, 'b': 0.3}, 'b': ['b', 'c', 'a'], 'c': {'a': 0.95, 'c': 0.05}}, 'a')
UNIFORM = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
MODELS = {'habit': HABIT, 'uniform': UNIFORM, 'split': SPLIT, 'complete': COMPLETE}
LENGTH = 3

for_all_models = pytest.mark.parametrize('chain', MODELS.values(), ids=MODELS)
for_all_policies = pytest.mark.parametrize('policy', POLICIES)


def smooth(chain, epsilon, policy='guided', **more):
    return OfflineMechanism(chain, Privacy(epsilon), selection='causal', policy=policy,
                            smooth=True, **more)


def joint(chain, online, output):
    """Return each feasible word → its probability by P, times that of the output given it."""
    found = {}
    for word in feasible_words(chain, len(output)):
        chance = online.law.exact_probabilities(word, [output])[0]
        for before, state in zip((chain.initial_state, *word), word, strict=False):
            chance *= chain.probabilities(before)[state]
        found[tuple(word)] = float(chance)
    return found


@for_all_models
@for_all_policies
@pytest.mark.parametrize('epsilon', [0.5, 2.0])
def test_the_route_is_the_most_probable_of_all_feasible_ones(chain, policy, epsilon):
    mechanism = smooth(chain, epsilon, policy)
    online = OnlineMechanism(chain, Privacy(epsilon), policy=policy)
    for output in feasible_words(chain, LENGTH):
        try:
            online.replay(output)
        except ChainError:  # adaptive never draws it
            continue
        chances = joint(chain, online, output)
        route = mechanism.law.route(output)
        assert chain.is_feasible(route)
        assert chances[tuple(route)] == pytest.approx(max(chances.values()), rel=1e-5)


@for_all_policies
def test_the_release_is_a_function_of_the_private_word_alone(policy):
    """The same bits give the same private word, and that word the route that is released."""
    words = [[*word] for word in product((*HABIT.states, None), repeat=2)]
    for seed, word in enumerate(words):
        word = word * 3
        private = OnlineMechanism(HABIT, Privacy(1.0), policy=policy,
                                  random=Random(seed)).privatize(word)
        mechanism = smooth(HABIT, 1.0, policy, random=Random(seed))
        assert mechanism.privatize(word) == mechanism.law.route(private)
        assert smooth(HABIT, 1.0, policy).law.route(private) == mechanism.law.route(private)


def test_of_equal_routes_the_first_in_the_order_of_successors():
    for order in ('abc', 'cba', 'bca'):
        chain = Chain(dict.fromkeys('abc', [*order]), 'a')
        assert smooth(chain, 0.0).law.route(['b', 'c', 'a']) == [order[0]] * 3
    assert smooth(UNIFORM, 0.0).privatize(['a', None, 'b']) == ['a', 'a', 'a']


@for_all_models
@for_all_policies
def test_it_is_feasible_always_and_as_long_as_the_word(chain, policy):
    mechanism, random = smooth(chain, 1.0, policy, random=Random(3)), Random(4)
    for length in (0, 1, 2, 30):
        word = random.choices((*chain.states, None), k=length)
        route = mechanism.privatize(word)
        assert len(route) == length and chain.is_feasible(route)
    with pytest.raises(UnknownSymbolError):
        mechanism.privatize(['nowhere'])


@for_all_models
@for_all_policies
def test_many_words_at_once(chain, policy):
    symbols, offsets = np.array([0, 1, -1, 2, 0, 0, 1]), [0, 3, 3, 7]
    many = smooth(chain, 1.0, policy, random=Random(5)).privatize_many(symbols, offsets)
    private = OnlineMechanism(chain, Privacy(1.0), policy=policy,
                              random=Random(5)).privatize_many(symbols, offsets)
    law = smooth(chain, 1.0, policy).law
    for begin, end in ((0, 3), (3, 3), (3, 7)):
        names = [chain.states[i] for i in private[begin:end]]
        assert [chain.states[i] for i in many[begin:end]] == law.route(names)


@for_all_policies
def test_simulated_errors_against_enumeration(policy):
    mechanism, word = smooth(HABIT, 1.5, policy), ['a', 'b', None, 'a']
    outputs = [*feasible_words(HABIT, len(word))]
    online = OnlineMechanism(HABIT, Privacy(1.5), policy=policy)
    chances = online.law.exact_probabilities(word, outputs)
    assert sum(chances) == 1
    expected = np.zeros(len(word))
    for output, chance in zip(outputs, chances, strict=True):
        if chance:
            route = mechanism.law.route(output)
            expected += float(chance) * np.array([s != o for s, o in zip(word, route,
                                                                         strict=True)])
    found = accuracy(mechanism, word)
    assert found.standard_error > 0
    assert abs(found.mean - expected.sum()) < 5 * found.standard_error
    margins = 5 * np.sqrt(expected * (1 - expected) / 400) + 1e-9
    assert (abs(found.per_position - expected) < margins).all()
    assert accuracy(mechanism, word).mean == found.mean
    few = average_accuracy(mechanism, [word, word])
    assert abs(few.error - expected.mean()) < 5 * found.standard_error / sqrt(2)


def test_probabilities_are_refused_with_the_reason():
    mechanism = smooth(HABIT, 1.0)
    for ask in (lambda: mechanism.log_probability(list('ab'), list('ab')),
                lambda: mechanism.distance_distribution(list('ab')),
                lambda: mechanism.law.exact_probabilities('ab', ['ab'])):
        with refused(ConfigurationError, setting='smooth'):
            ask()


def test_the_argument():
    with refused(ConfigurationError, 'is for causal alone', setting='smooth'):
        OfflineMechanism(HABIT, Privacy(1.0), smooth=True)
    with refused(ConfigurationError, 'true or false', setting='smooth'):
        OfflineMechanism(HABIT, Privacy(1.0), selection='causal', smooth=1)
    assert 'smooth=True' in repr(smooth(HABIT, 1.0)) and smooth(HABIT, 1.0).smooth
    assert 'smooth' not in repr(OfflineMechanism(HABIT, Privacy(1.0), selection='causal'))


def test_words_that_need_too_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr(module, 'MOST_SMOOTHED', 30)
    mechanism = smooth(HABIT, 1.0)
    assert len(mechanism.privatize(list('a' * 10))) == 10
    with refused(ConfigurationError, 'shorten the word', setting='smooth'):
        mechanism.privatize(list('a' * 11))


def test_it_is_compared_where_probabilities_are_named():
    habits = Chain({str(i): {str(i): 0.05, str((i + 1) % 6): 0.9, str((i + 5) % 6): 0.05}
                    for i in range(6)}, '0')
    errors = compare_mechanisms(habits, Privacy(4.0), 40, walks=10)
    assert errors['causal, smooth'] < errors['causal']
    others = min(error for name, error in errors.items() if name != 'causal, smooth')
    assert (next(iter(errors)) == 'causal, smooth') == (errors['causal, smooth'] < 0.95 * others)
    assert 'causal, smooth' not in compare_mechanisms(habits, Privacy(4.0), 40, walks=10,
                                                      smooth=False)
    for chain in (UNIFORM, COMPLETE):
        assert 'causal, smooth' not in compare_mechanisms(chain, Privacy(4.0), 5, walks=2)


def test_it_errs_less_where_the_robot_stays():
    chain = Chain({s: {s: 0.94, **{o: 0.02 for o in 'abcd' if o != s}} for s in 'abcd'}, 'a')
    errors = compare_mechanisms(chain, Privacy(2.0), 60, walks=10, counting=False)
    assert errors['causal, smooth'] < 0.6 * errors['causal']
