# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Learning a chain from private routes: its expectations, and what it gains."""
from itertools import pairwise, product
from math import exp, log
from random import Random

import numpy as np
import pytest
from refusals import refused
from symdp_ros import Chain, ChainError, ConfigurationError, OfflineMechanism, Privacy
from symdp_ros.analysis import learning_released
from symdp_ros.analysis.accuracy import average_accuracy, patrols
from symdp_ros.analysis.learning_released import learn_released, Released, ReleasedLearner

#: c cannot be stayed in, and d not be left.
SMALL = Chain({'a': ['b', 'a'], 'b': ['a', 'b', 'c'], 'c': ['a', 'b', 'd'], 'd': ['d']}, 'a')
NAMED = Chain({'a': {'a': 0.7, 'b': 0.3}, 'b': {'a': 0.2, 'b': 0.1, 'c': 0.7},
               'c': {'a': 0.3, 'b': 0.6, 'd': 0.1}, 'd': ['d']}, 'a')
MECHANISMS = {
    'exponential': {}, 'counting': {'base': 'counting'}, 'trusting': {'trust': 1.0},
    **{f'causal, {policy}': {'selection': 'causal', 'policy': policy}
       for policy in ('paper', 'guided')}}


def positions(chain, words):
    return [np.array([chain.state_index[state] for state in word]) for word in words]


def released(chain, mechanism, *routes):
    return Released(mechanism, positions(chain, routes))


def edges_of(chain, route):
    """Return the numbers of the moves along s_0 and a route."""
    index = chain.state_index
    offsets, targets = chain.csr()
    return [int(offsets[i]) + targets[offsets[i]:offsets[i + 1]].tolist().index(j)
            for i, j in pairwise(index[state] for state in (chain.initial_state, *route))]


def hidden(chain, length):
    """Return every word that the robot can make."""
    return [word for word in product(chain.states, repeat=length) if chain.is_feasible(word)]


@pytest.mark.parametrize('more', MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize('chain', [SMALL, NAMED], ids=['plain', 'named'])
def test_what_is_expected_against_all_words(chain, more):
    """The forward–backward pass is the posterior over all words, summed by hand."""
    mechanism = OfflineMechanism(chain, Privacy(1.5), **more)
    learner, random = ReleasedLearner(chain), np.random.default_rng(1)
    routes = [['a', 'b', 'c', 'b', 'a'], ['b', 'b', 'c', 'd', 'd'], ['b', 'c']]
    chances = np.concatenate([[*NAMED.probabilities(state).values()] for state in (
        chain.states)]) if chain is NAMED else chain.edge_probabilities()
    parts = learner.parts([released(chain, mechanism, *routes)])
    learner.expected(chances, parts, random)  # for ln Z: the terms of the next round
    corrections = parts[0][0].corrections()
    assert corrections.any() == (more.get('selection') != 'causal')
    moves, total = np.zeros(len(chances)), 0.0
    for route in routes:
        weights = {}
        for word in hidden(chain, len(route)):
            edges = edges_of(chain, word)
            if mechanism.online is None:
                matches = sum(a == b for a, b in zip(word, route, strict=True))
                likelihood = matches * log(mechanism.ratio(learning_released._PIECE))
            else:
                likelihood = mechanism.log_probability(word, route)
            weights[tuple(edges)] = exp(likelihood) * float(
                np.prod(chances[edges] * np.exp(corrections[edges])))
        total += log(sum(weights.values()))
        for edges, weight in weights.items():
            np.add.at(moves, list(edges), weight / sum(weights.values()))
    found, log_chance = learner.expected(chances, parts, random)
    np.testing.assert_allclose(found, moves, rtol=1e-9, atol=1e-12)
    assert log_chance == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize('more', [MECHANISMS['exponential'], MECHANISMS['counting'],
                                  MECHANISMS['trusting']], ids=['chain', 'counting', 'trust 1'])
def test_the_terms_of_a_word_add_up_to_its_normaliser(more):
    """Equation (2), against ln P[o | w] of the mechanism itself."""
    mechanism = OfflineMechanism(NAMED, Privacy(1.5), **more)
    learner, word, route = ReleasedLearner(NAMED), list('abcbb'), list('aabcd')
    [(likelihood, [pieces])] = learner.parts([released(NAMED, mechanism, route)])
    numbers = positions(NAMED, [['a', *word]])[0]
    likelihood.look_at([(pieces, numbers[:, None])])
    log_base = 0.0 if more.get('base') == 'counting' else NAMED.models(
        mechanism.trust).log_measure([NAMED.state_index[s] for s in ('a', *route)])
    matches = sum(a == b for a, b in zip(word, route, strict=True))
    log_normaliser = (log_base + matches * log(mechanism.ratio(5))
                      - mechanism.log_probability(word, route))
    assert likelihood._sums.sum() == pytest.approx(log_normaliser, rel=1e-9)
    assert likelihood._seen.tolist() == np.bincount(
        edges_of(NAMED, word), minlength=NAMED.edge_count).tolist()


def test_the_likelihood_never_falls():
    """Expectation maximization, where nothing is smoothed and the likelihood is exact."""
    mechanism = OfflineMechanism(SMALL, Privacy(2.0), selection='causal', random=Random(1))
    learner = ReleasedLearner(SMALL)
    parts = learner.parts([released(SMALL, mechanism, *(
        mechanism.privatize(word) for word in patrols(NAMED, 12, 20)))])
    chances, before, first = SMALL.edge_probabilities(), -np.inf, None
    for _ in range(30):
        moves, total = learner.expected(chances, parts, np.random.default_rng(0))
        assert total >= before - 1e-9
        before, first = total, total if first is None else first
        own = np.bincount(learner.sources, moves)[learner.sources]
        chances = np.where(own > 0, moves / np.maximum(own, 1e-300), chances)
    assert before > first + 1


def corridor(states=12):
    """Return a map of neighbours, and a robot that goes round it."""
    names = [f's{i}' for i in range(states)]
    near = {names[i]: [names[i], names[(i + 1) % states], names[i - 1]] for i in range(states)}
    likely = {name: dict(zip(row, (0.05, 0.9, 0.05), strict=True)) for name, row in near.items()}
    return Chain(near, 's0'), Chain(likely, 's0')


@pytest.mark.parametrize('more', [
    {}, pytest.param({'selection': 'causal'}, marks=pytest.mark.thorough)],
                         ids=['exponential', 'causal'])
def test_a_habit_is_found(more):
    plain, habit = corridor()
    mechanism = OfflineMechanism(plain, Privacy(2.0), random=Random(2), **more)
    routes = [mechanism.privatize(word) for word in patrols(habit, 30, 40)]
    learned = learn_released(plain, [released(plain, mechanism, *routes)])
    assert all(learned.successors(s) == plain.successors(s) for s in plain.states)
    for state in plain.states:
        row = learned.probabilities(state)
        assert max(row, key=row.get) == max(habit.probabilities(state), key=habit.probabilities(
            state).get)
        assert sum(row.values()) == pytest.approx(1) and min(row.values()) > 0.001
    walks = patrols(habit, 50, 10)
    unknown, known, found = (average_accuracy(OfflineMechanism(
        chain, Privacy(2.0)), walks).error for chain in (plain, habit, learned))
    assert found < known + 0.2 * (unknown - known)


@pytest.mark.parametrize('routes', [0, 30])
def test_a_robot_without_habits_is_not_given_any(routes):
    plain, _ = corridor()
    mechanism = OfflineMechanism(plain, Privacy(2.0), random=Random(3))
    learned = learn_released(plain, [released(plain, mechanism, *(
        mechanism.privatize(word) for word in patrols(plain, 50, 30)[:routes]))])
    walks = patrols(plain, 50, 10)
    unknown, found = (average_accuracy(OfflineMechanism(
        chain, Privacy(2.0)), walks).error for chain in (plain, learned))
    assert found < 1.05 * unknown


def test_the_same_routes_give_the_same_chain_however_they_are_cut(monkeypatch):
    monkeypatch.setattr(learning_released, '_ROUNDS', 30)
    plain, habit = corridor()
    mechanism = OfflineMechanism(plain, Privacy(3.0), random=Random(4))
    routes = [mechanism.privatize(word) for word in patrols(habit, 40, 10)]
    some = released(plain, mechanism, *routes, *(route[:20] for route in routes))
    learned = learn_released(plain, [some])
    assert learn_released(plain, [some]) == learned
    monkeypatch.setattr(learning_released, '_PIECE', 15)
    monkeypatch.setattr(learning_released, '_CELLS', 15 * 12 * 3)
    cut = learn_released(plain, [some])
    for state in plain.states:
        assert cut.probabilities(state) == pytest.approx(learned.probabilities(state), abs=0.15)


def test_refusals():
    complete = Chain.complete(['x', 'y', 'z'], 'x')
    with pytest.raises(ChainError, match='no moves to learn'):
        ReleasedLearner(complete)
    adaptive = OfflineMechanism(SMALL, Privacy(1.0), selection='causal', policy='adaptive')
    with refused(ConfigurationError, setting='policy'):
        learn_released(SMALL, [released(SMALL, adaptive, ['a', 'b'])])
