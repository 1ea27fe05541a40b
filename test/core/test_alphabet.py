# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Chains on which every word over C(s_0) is feasible: all of ε is used.

Which chains are such is held against their words; the promise is enumerated, over all words and
outputs, in fractions; errors and distances are those of enumeration.
"""
from itertools import product
from math import exp
from random import Random

from hypothesis import given
import numpy as np
from offline_checks import assert_private, distance
from online_checks import excess
import pytest
from strategies import CHAINS, chains, feasible_words, thorough
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy, errors_of_robots, patrols

ALPHABETS = {
    'implicit': Chain.complete(list('xyz'), 'y'),
    'listed': Chain({'x': ['y', 'x'], 'y': ['x', 'y']}, 'x'),
    'uneven': Chain({'x': {'x': 0.9, 'y': 0.1}, 'y': {'x': 0.2, 'y': 0.8}}, 'x'),
    'an unvisited state': Chain({'x': ['x', 'y'], 'y': ['y', 'x'], 'z': ['z', 'x']}, 'x'),
    'unvisited states': Chain({'x': ['x', 'y'], 'y': ['x', 'y'], 'u': ['x', 'y', 'u', 'v'],
                               'v': ['v']}, 'y'),
    'a start that is left': Chain({'s': ['x', 'y'], 'x': ['y', 'x'], 'y': ['x', 'y']}, 's'),
    'one symbol': Chain({'s': ['x'], 'x': ['x'], 'z': ['x', 'z']}, 's'),
}
OTHERS = {
    'one move less': Chain({'x': ['x', 'y'], 'y': ['x']}, 'x'),
    'fewer to begin with': Chain({'s': ['x'], 'x': ['x', 'y'], 'y': ['x', 'y']}, 's'),
    'two kinds': Chain({'s': ['x', 'y'], 'x': ['x', 'z'], 'y': ['x', 'z'], 'z': ['x', 'z']}, 's'),
    'a turn': Chain({'x': ['y', 'z'], 'y': ['x', 'u'], 'z': ['x', 'u'], 'u': ['y', 'z']}, 'x'),
}
for_all_alphabets = pytest.mark.parametrize('chain', ALPHABETS.values(), ids=ALPHABETS)


def over(chain, length):
    """Return all words over C(s_0)."""
    return set(product(chain.successors(chain.initial_state), repeat=length))


def test_what_is_an_alphabet():
    assert all(chain.is_alphabet for chain in ALPHABETS.values())
    assert not any(chain.is_alphabet for chain in OTHERS.values())
    assert not CHAINS['four'].is_alphabet and CHAINS['complete'].is_alphabet


@given(chains(max_states=4))
def test_what_is_an_alphabet_by_its_words(chain):
    """Four moves lead from every state to every other that it leads to, and once more round."""
    assert chain.is_alphabet == (set(feasible_words(chain, 5)) == over(chain, 5))


@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (0.5, 1), (2.0, 2), thorough(60.0, 1)])
@pytest.mark.parametrize('selection', ['exponential', 'causal'])
@for_all_alphabets
def test_every_adjacent_pair_and_output(chain, selection, epsilon, adjacency):
    """In fractions, as drawn; symbols that no word visits, and unknown ones, included."""
    for length in (1, 2, 3)[:2 if len(chain) > 3 else 3]:
        law = OfflineMechanism(chain, Privacy(epsilon, adjacency), selection=selection).law
        outputs = [*feasible_words(chain, length)]
        assert_private(chain, length, epsilon, adjacency, lambda word: dict(
            zip(outputs, law.exact_probabilities(word, outputs), strict=True)))


@pytest.mark.parametrize('adjacency', [1, 2])
@for_all_alphabets
def test_the_whole_of_epsilon_serves(chain, adjacency):
    """P[o] ∝ e^{−ε·d/k}: one symbol changes it by a factor of e^{ε/k}."""
    mechanism = OfflineMechanism(chain, Privacy(2.0, adjacency), base='counting')
    word = (chain.states[0], None, chain.states[-1])
    weights = {o: exp(-2 / adjacency * distance(word, o)) for o in feasible_words(chain, 3)}
    found = {o: exp(mechanism.log_probability(word, o)) for o in weights}
    assert found == pytest.approx({o: w / sum(weights.values()) for o, w in weights.items()},
                                  rel=1e-9)
    names = chain.successors(chain.initial_state)
    if len(names) > 1:
        x, y = names[:2]
        loss = mechanism.log_probability([x], [x]) - mechanism.log_probability([y], [x])
        assert 2 / adjacency - 1e-9 < loss <= 2 / adjacency + 1e-15
        causal = OfflineMechanism(chain, Privacy(2.0, adjacency), selection='causal',
                                  policy='paper')
        assert causal.law.likelihood_ratio(3) == pytest.approx(exp(2 / adjacency), rel=1e-9)
        assert causal.law.distance_steps(3) == 0


@pytest.mark.parametrize('symbols, length, delay', [
    (2, 4, 0), (2, 4, None), (3, 3, 0), (3, 3, 1), (4, 3, None), (4, 3, 0)])
@pytest.mark.parametrize('stays', [None, 0.97])
def test_signals_on_an_alphabet_are_private(symbols, length, delay, stays):
    """All words, all adjacent pairs, all signals: in fractions, as drawn."""
    chain = Chain.complete(list('xyzw')[:symbols], 'x', stays)
    for epsilon, adjacency in ((1.0, 1), (4.0, 2)):
        mechanism = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='adaptive',
                                    delay=delay)
        assert excess(mechanism, length, epsilon, adjacency) is None


@pytest.mark.parametrize('symbols, length', [(2, 4), (3, 3), (4, 2)])
@pytest.mark.parametrize('stays, trust', [(None, 0.8), (0.97, 0.8), (0.97, 1.0), (0, 0.5)])
def test_words_drawn_by_how_long_a_mode_stays_are_private(symbols, length, stays, trust):
    chain = Chain.complete(list('xyzw')[:symbols], 'y', stays)
    outputs = [*feasible_words(chain, length)]
    for epsilon, adjacency in ((1.0, 1), (4.0, 2)):
        law = OfflineMechanism(chain, Privacy(epsilon, adjacency), trust=trust).law
        assert law.online is None
        assert_private(chain, length, epsilon, adjacency, lambda word: dict(
            zip(outputs, law.exact_probabilities(word, outputs), strict=True)))


def test_modes_that_stay_are_found():
    """Eight modes at ε = 2: without a past 48 % are wrong. 6 standard errors."""
    names = [f'mode {i}' for i in range(8)]
    chain = Chain.complete(names, names[0])
    for stays, live, logs in ((0.97, 0.17, 0.04), (0.99, 0.09, 0.014)):
        words = patrols(Chain.complete(names, names[0], stays), 100, 200)
        [logged] = errors_of_robots(OfflineMechanism(chain, Privacy(2.0)), [words])
        assert logged.mean() < logs + 6 * logged.std() / 200**0.5
        mechanism = OnlineMechanism(chain, Privacy(2.0), policy='adaptive')
        [errors] = errors_of_robots(mechanism, [words])
        assert errors.mean() < live + 6 * errors.std() / 200**0.5


@pytest.mark.parametrize('symbols', [1, 2, 40])
def test_a_complete_chain_draws_as_one_that_lists_its_moves(symbols):
    """The same models; weights are added up in another order, so that a draw may differ."""
    names = [f's{i}' for i in range(symbols)]
    word = Random(symbols).choices((*names, None), k=60)
    drawn = [OfflineMechanism(chain, Privacy(2.0), random=Random(5)).privatize(word)
             for chain in (Chain.complete(names, 's0'), Chain(dict.fromkeys(names, names), 's0'))]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize('epsilon', [0.5, 2.0, 5.0])
def test_unvisited_states_cost_nothing(epsilon):
    """The same error as without them; it was more than twice as much at ε = 5."""
    plain, larger = (OfflineMechanism(chain, Privacy(epsilon), base='counting') for chain in (
        Chain.complete(list('xy'), 'x'), ALPHABETS['unvisited states']))
    word = 'xyyxyxxy'
    assert accuracy(larger, word).mean == pytest.approx(accuracy(plain, word).mean, rel=1e-12)
    published = 1 / (1 + exp(epsilon / 2))
    assert accuracy(larger, word).mean / 8 == pytest.approx(1 / (1 + exp(epsilon)), rel=1e-9)
    assert epsilon < 5 or accuracy(larger, word).mean / 8 < published / 2


@pytest.mark.parametrize('selection, policy', [
    ('exponential', 'guided'), ('causal', 'paper'), ('causal', 'guided')])
@for_all_alphabets
def test_distances_and_accuracy_against_enumeration(chain, selection, policy):
    word = [*chain.states, None, chain.states[0]][-4:]
    mechanism = OfflineMechanism(chain, Privacy(1.5), selection=selection, policy=policy)
    chances = np.zeros(len(word) + 1)
    for output in feasible_words(chain, len(word)):
        chances[distance(word, output)] += exp(mechanism.log_probability(word, output))
    assert mechanism.distance_distribution(word) == pytest.approx(chances, abs=1e-9)
    found, distances = accuracy(mechanism, word), np.arange(len(chances))
    assert found.mean == pytest.approx(chances @ distances, abs=1e-8)
    assert found.variance == pytest.approx(chances @ (distances - found.mean)**2, abs=1e-8)
