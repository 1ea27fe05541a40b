# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Beliefs: against enumeration, exactly; how far they go; several words together."""
from fractions import Fraction
from itertools import pairwise, product
from math import exp
from random import Random

from hidden_switch import adaptive_posteriors, hidden_switch
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from online_checks import every_signal
import pytest
from refusals import refused
from strategies import (CHAINS, chains, COMPLETE, feasible_words, FOUR, grid, privacies,
                        probability, SPLIT)
from studies.compare.areas import habit
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy)
from symdp_ros.analysis import belief
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.belief import (best_route, Filter, smooth, smooth_together,
                                       smooth_with_constant_normaliser)
from symdp_ros.core.online import targets
from symdp_ros.core.online.counts import SignalNumbers
from symdp_ros.core.registry import POLICIES
from symdp_ros.core.zones import Count, Told

#: Uniform P and habits, every state reachable or not, an alphabet.
MODELS = {**CHAINS, 'four, a habit': habit(FOUR), 'split, a habit': habit(SPLIT),
          'restless': Chain({'a': ['b', 'c'], 'b': ['c'], 'c': ['b', 'a']}, 'a'),  # one model
          'uneven': Chain({'a': {'a': 0.6, 'b': 0.3, 'c': 0.1}, 'b': ['a', 'c'],
                           'c': {'c': 0.05, 'b': 0.95}}, 'b')}
for_all_models = pytest.mark.parametrize('chain', [
    chain if name in ('four, a habit', 'split, a habit', 'restless', 'uneven') else
    pytest.param(chain, marks=pytest.mark.thorough) for name, chain in MODELS.items()], ids=MODELS)
BY_PREVIOUS = [policy for policy in POLICIES if policy != 'adaptive']
for_all_policies = pytest.mark.parametrize('policy', BY_PREVIOUS)


def joint(chain, length, law, trust=0.8):
    """Return {output: {word: P[word and output]}} over all feasible words that can be drawn."""
    words = {word: hidden_switch(chain, trust).measure(word)
             for word in feasible_words(chain, length)}
    found = {output: {word: measure * law(word, output) for word, measure in words.items()}
             for output in words}
    return {output: weights for output, weights in found.items() if any(weights.values())}


def online_law(mechanism):
    return lambda word, output: probability(mechanism, word, output)


def offline_law(mechanism):
    return lambda word, output: Fraction(exp(mechanism.log_probability(word, output)))


def marginals(chain, weights, length):
    """Return P[s_t = s and the output] from {word: P[word and output]}: shape (length, states)."""
    found = np.zeros((length, len(chain)))
    for word, weight in weights.items():
        for t, state in enumerate(word):
            found[t, chain.state_index[state]] += float(weight)
    return found


def expected_errors(chain, laws, guess):
    """Return Σ_t P[guess_t ≠ s_t] by enumeration."""
    total = 0.0
    for output, weights in laws.items():
        guessed = guess(output)
        total += sum(float(weight) * sum(a != b for a, b in zip(word, guessed, strict=True))
                     for word, weight in weights.items())
    return total


def filtered(mechanism, outputs):
    """Return b_t: shape (n, states)."""
    tracker = Filter(mechanism)
    return np.array([tracker.update(output) for output in outputs])


# The likelihood.

@given(chains(), privacies(), st.sampled_from(BY_PREVIOUS))
def test_the_likelihood_is_the_mechanisms(chain, privacy, policy):
    mechanism = OnlineMechanism(chain, privacy, policy=policy)
    for previous, output in product(chain.states, chain.states):
        found = mechanism.likelihood(output, previous)
        assert found.tolist() == [mechanism.distribution(symbol, previous).get(output, 0.0)
                                  for symbol in chain.states]
        assert (found > 0).all() == (output in chain.successors(previous)) == (found > 0).any()


def test_the_likelihood_of_what_is_no_state():
    mechanism = OnlineMechanism(FOUR, Privacy(1.0))
    assert not mechanism.likelihood('x', 's0').any()
    with pytest.raises(ChainError):
        mechanism.likelihood('s0', 'x')


@pytest.mark.parametrize('policy', BY_PREVIOUS)
def test_the_likelihood_of_pairs_within_a_radius(policy, monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    monkeypatch.setattr(targets, 'MOST_PAIRS', 400)
    mechanism = OnlineMechanism(grid(6), Privacy(2.0), policy=policy)
    for previous in mechanism.chain.states[::5]:
        for output in mechanism.chain.successors(previous):
            assert mechanism.likelihood(output, previous).tolist() == [
                mechanism.distribution(symbol, previous)[output]
                for symbol in mechanism.chain.states]


# Exactness.

@for_all_policies
@pytest.mark.parametrize('epsilon, trust', [
    (1.0, 0.3), (4.0, 1.0), *(pytest.param(*further, marks=pytest.mark.thorough)
                              for further in ((0.0, 0.8), (1.0, 0.0)))])
@for_all_models
def test_filter_and_smoother_are_exact_and_no_worse(chain, epsilon, trust, policy):
    """In rationals: all words, under all sequences of models."""
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy, trust=trust)
    law = online_law(mechanism)
    for n in range(1, 4):
        laws = joint(chain, n, law, trust)
        for output, weights in laws.items():
            expected = marginals(chain, weights, n) / float(sum(weights.values()))
            assert smooth(mechanism, output) == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert filtered(mechanism, output)[-1] == pytest.approx(expected[-1], rel=1e-9,
                                                                    abs=1e-12)

    # Never worse than the private route, over all words of length 3.
    def most_probable(beliefs):
        return [chain.states[i] for i in beliefs.argmax(axis=1)]

    raw, online, offline, route = (expected_errors(chain, laws, guess) for guess in (
        lambda output: output,
        lambda output: most_probable(filtered(mechanism, output)),
        lambda output: most_probable(smooth(mechanism, output)),
        lambda output: best_route(smooth(mechanism, output), chain)))
    rounding = 1e-6  # rows of models sum to 1 within 2⁻²³: what follows tells a little
    assert offline <= online + rounding and online <= raw + rounding
    assert offline <= route + rounding and route <= raw + rounding


@pytest.mark.parametrize('trust', [0.0, 0.3, 1.0])
@for_all_models
def test_longer_words_by_forward_and_backward(chain, trust):
    """By β_t(m, s) = P[what comes after | m_{t+1} = m, s_t = s]."""
    mechanism = OnlineMechanism(chain, Privacy(2.0), trust=trust, random=Random(4))
    known = hidden_switch(chain, trust)
    moves, turns = known.matrices
    for n in (4, 5, 11):
        output = mechanism.privatize([chain.states[t % len(chain)] for t in range(n)])
        likelihoods = [mechanism.likelihood(there, here)
                       for here, there in pairwise([chain.initial_state, *output])]
        beliefs = [known.begin(chain.initial_state)]
        for likelihood in likelihoods:
            beliefs.append(known.weighed(known.forward(beliefs[-1]), likelihood))
        tracker, beta = Filter(mechanism), np.ones_like(beliefs[0])
        smoothed = smooth(mechanism, output)
        for t in range(n):
            assert tracker.update(output[t]) == pytest.approx(
                beliefs[t + 1].sum(axis=0), rel=1e-9, abs=1e-12)
        for t in range(n - 1, -1, -1):
            assert smoothed[t] == pytest.approx(
                known.weighed(beliefs[t + 1], beta).sum(axis=0), rel=1e-9, abs=1e-12)
            beta = (moves @ (likelihoods[t] * (turns @ beta))[:, :, None])[:, :, 0]


@pytest.mark.parametrize('length', [1, 4, 9, 12])
def test_smoothed_beliefs_end_with_the_filtered(length, monkeypatch):
    """And are the same where positions are computed again, in segments."""
    mechanism = OnlineMechanism(MODELS['uneven'], Privacy(2.0), random=Random(7))
    output = mechanism.privatize(['a', 'c', 'b'] * 4)[:length]
    found = smooth(mechanism, output)
    assert found[-1] == pytest.approx(filtered(mechanism, output)[-1], rel=1e-12)
    monkeypatch.setattr(belief, '_MOST_BYTES', 0)
    assert (smooth(mechanism, output) == found).all()


def test_by_hand():
    """
    Two states, moves of 1/4 and 3/4 from a; ε = ln 3: the target has 3/4, the other 1/4.

    b_1 ∝ (1/4·3/4, 3/4·1/4) after a: a half each; b_2 ∝ (1/8 + 1/2)·3/4, (3/8 + 0)·1/4 = 5 : 1.
    c_1 = (1/2·(1/4·(5/6)/(5/8) + 3/4·(1/6)/(3/8)), …) = (1/3, 2/3).
    """
    chain = Chain({'a': {'a': 0.25, 'b': 0.75}, 'b': {'a': 1.0}}, 'a')
    mechanism = OnlineMechanism(chain, Privacy(1.0986122886681098), trust=1.0)
    assert filtered(mechanism, 'aa') == pytest.approx(np.array([[1/2, 1/2], [5/6, 1/6]]), abs=1e-9)
    assert smooth(mechanism, ['a', 'a']) == pytest.approx(
        np.array([[1/3, 2/3], [5/6, 1/6]]), abs=1e-9)


@for_all_policies
def test_a_causal_release_is_the_online_mechanisms(policy):
    """The likelihood of whole words, from `OfflineMechanism`, gives the same beliefs."""
    chain, privacy = MODELS['four, a habit'], Privacy(2.0)
    causal = OfflineMechanism(chain, privacy, selection='causal', policy=policy)
    laws = joint(chain, 3, offline_law(causal))
    for output, weights in laws.items():
        assert smooth(OnlineMechanism(chain, privacy, policy=policy), output) == pytest.approx(
            marginals(chain, weights, 3) / float(sum(weights.values())), abs=1e-9)


def test_on_a_complete_chain_the_beliefs_are_the_likelihood():
    """Where P is uniform and o_{t−1} does not matter: each position is on its own."""
    chain = Chain.complete(['x', 'y', 'z'], 'x', 1 / 3)
    mechanism = OnlineMechanism(chain, Privacy(2.0), trust=1.0)
    chances = [mechanism.distribution(symbol, 'x')['z'] for symbol in chain.states]
    for beliefs in (filtered(mechanism, 'zz'), smooth(mechanism, list('zz'))):
        assert beliefs == pytest.approx(np.array([chances, chances]) / sum(chances), rel=1e-6)


def test_a_large_alphabet_needs_no_table_of_moves():
    """Of 60,000² pairs."""
    chain = Chain.complete([str(i) for i in range(60_000)], '0')
    tracker = Filter(OnlineMechanism(chain, Privacy(12.0), policy='guided'))
    tracker.update('17')
    assert tracker.best == '17' and tracker.update('5').sum() == pytest.approx(1)


# The filter's word.

def test_the_filter_from_the_start():
    tracker = Filter(OnlineMechanism(FOUR, Privacy(1.0)))
    assert tracker.previous == tracker.best == 's0'
    assert tracker.beliefs.tolist() == pytest.approx([1, 0, 0, 0])
    first = tracker.update('s1')
    assert tracker.previous == 's1' and first is tracker.beliefs and not first.flags.writeable
    tracker.reset()
    assert tracker.previous == 's0' and tracker.update('s1').tolist() == first.tolist()


@pytest.mark.parametrize('output', ['s0', 'x', None])
def test_what_cannot_follow_is_refused_and_changes_nothing(output):
    tracker = Filter(OnlineMechanism(FOUR, Privacy(1.0)))
    before = tracker.update('s1').tolist()
    with pytest.raises(ChainError):
        tracker.update(output)
    assert tracker.previous == 's1' and tracker.beliefs.tolist() == before


# What adaptive publishes is no draw; its signals are.

@pytest.mark.parametrize('trust', [0.3, 1.0])
@for_all_models
def test_smoothed_signals_are_exact(chain, trust):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy='adaptive', trust=trust)
    for signals in every_signal(mechanism, 3)[::5]:
        expected = np.array(adaptive_posteriors(mechanism, signals))
        assert smooth(mechanism, signals) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if mechanism.tables is not None:
            mechanism.replay(signals)
            assert mechanism.posterior == pytest.approx(expected[-1], rel=1e-9, abs=1e-12)


def test_reports_of_adaptive_are_not_filtered():
    with refused(ConfigurationError, 'posterior', setting='policy'):
        Filter(OnlineMechanism(FOUR, Privacy(2.0), policy='adaptive'))
    with refused(ChainError, state='x'):
        smooth(OnlineMechanism(FOUR, Privacy(2.0), policy='adaptive'), ['x'])


# Nothing vanishes.

@for_all_policies
@pytest.mark.parametrize('epsilon', [0.0, 3.0, 2000.0])
def test_long_words_of_a_robot_that_the_model_rules_out(epsilon, policy):
    """The robot keeps jumping between branches that never meet."""
    chain = habit(SPLIT, chance=1 - 1e-12)
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy, random=Random(1))
    output = mechanism.privatize([*'trpq'] * 200)
    for beliefs in (filtered(mechanism, output), smooth(mechanism, output)):
        assert np.isfinite(beliefs).all() and (beliefs >= 0).all()
        assert beliefs.sum(axis=1) == pytest.approx(np.ones(800))


@given(st.data())
def test_beliefs_of_any_feasible_word(data):
    chain = data.draw(chains())
    mechanism = OnlineMechanism(chain, data.draw(privacies()),
                                policy=data.draw(st.sampled_from(BY_PREVIOUS)))
    walker, output = mechanism.another(), []
    for _ in range(data.draw(st.integers(1, 30))):
        output.append(data.draw(st.sampled_from([*walker.current_distribution(None)])))
        walker.advance(output[-1])
    beliefs = smooth(mechanism, output)
    assert beliefs.sum(axis=1) == pytest.approx(np.ones(len(output)))
    assert beliefs[-1] == pytest.approx(filtered(mechanism, output)[-1])
    assert chain.is_feasible(best_route(beliefs, chain))


def test_empty_and_infeasible_words():
    mechanism = OnlineMechanism(FOUR, Privacy(1.0))
    exponential = OfflineMechanism(FOUR, Privacy(1.0))
    for smoother, given_ in ((smooth, mechanism), (smooth_with_constant_normaliser, exponential)):
        assert smoother(given_, []).shape == (0, 4)
        for word in (['s0'], ['s1', 's3'], ['x']):
            with pytest.raises(ChainError, match='not feasible'):
                smoother(given_, word)
    assert best_route(smooth(mechanism, []), FOUR) == []


# The route.

@given(st.data())
def test_the_best_route_against_all_routes(data):
    """Beliefs in 64ths, so that sums are exact and ties are ties; the first of several."""
    chain = data.draw(chains(max_states=4))
    length = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 64), min_size=len(chain), max_size=len(chain))
    beliefs = np.array([data.draw(row) for _ in range(length)]) / 64

    def matches(route):
        return sum(beliefs[t, chain.state_index[state]] for t, state in enumerate(route))

    # In order: `max` returns the first.
    assert tuple(best_route(beliefs, chain)) == max(feasible_words(chain, length), key=matches)


# The exponential mechanism.

def test_a_constant_normaliser_is_exact_on_a_complete_chain():
    for chain in (COMPLETE, Chain({s: {'x': 0.2, 'y': 0.7, 'z': 0.1} for s in 'xyz'}, 'x')):
        mechanism = OfflineMechanism(chain, Privacy(2.0), base='counting')
        laws = joint(chain, 3, offline_law(mechanism))
        for output, weights in laws.items():
            expected = marginals(chain, weights, 3) / float(sum(weights.values()))
            assert smooth_with_constant_normaliser(mechanism, output) == pytest.approx(
                expected, abs=1e-9)
            assert smooth(OnlineMechanism(chain, Privacy(2.0)), output) == pytest.approx(
                expected, abs=1e-9)


@pytest.mark.parametrize('name', ['four', 'ring', 'split', 'four, a habit', 'uneven'])
def test_the_error_of_a_constant_normaliser(name):
    """It is small: the guess is hardly worse than the best, and the belief hardly another."""
    chain, n = MODELS[name], 3
    for privacy in (Privacy(1.0), Privacy(6.0, 2)):
        mechanism = OfflineMechanism(chain, privacy, base='counting')
        laws = joint(chain, n, offline_law(mechanism))
        exact = {output: marginals(chain, weights, n) for output, weights in laws.items()}
        close = {output: smooth_with_constant_normaliser(mechanism, output) for output in laws}

        def guess(beliefs):
            return lambda output: [chain.states[i] for i in beliefs[output].argmax(axis=1)]

        best, other = (expected_errors(chain, laws, guess(each)) / n for each in (exact, close))
        assert best - 1e-12 <= other < best + 0.01
        assert sum(np.abs(exact[o] - exact[o][0].sum() * close[o]).sum()
                   for o in laws) / 2 / n < 0.05


@pytest.mark.parametrize('selection', ['causal'])
def test_other_selections_have_no_constant_normaliser(selection):
    mechanism = OfflineMechanism(FOUR, Privacy(1.0), selection=selection)
    with refused(ConfigurationError, selection, setting='selection'):
        smooth_with_constant_normaliser(mechanism, ['s1'])


# Several words together.

@pytest.mark.parametrize('policy', POLICIES)
@pytest.mark.parametrize('chain', [FOUR, COMPLETE, grid(4)], ids=['four', 'complete', 'grid'])
def test_words_that_are_smoothed_together_do_not_mix(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy, random=Random(8))
    words = [mechanism.privatize([None] * 12) for _ in range(5)]
    if mechanism.tables is not None:
        _, signals = mechanism.draw_signals(np.full(60, -1), np.arange(6) * 12)
        words = [[chain.states[i] for i in row] for row in signals.reshape(5, 12).tolist()]
    together = smooth_together(mechanism, words)
    assert together.shape == (12, len(chain), 5)
    for i, word in enumerate(words):
        assert together[:, :, i] == pytest.approx(smooth(mechanism, word), abs=1e-14)
    with pytest.raises(ChainError, match='not feasible|founded no cell'):
        smooth_together(mechanism, [*words, ['hull'] * 12])


@pytest.mark.parametrize('delay', [0, 2, None])
@pytest.mark.parametrize('reports', [1, 3])
@pytest.mark.parametrize('zoned', [False, True])
def test_signals_are_replayed_together_as_one_by_one(zoned, reports, delay):
    """The likelihood of each signal, bit by bit that of a mechanism that replays the word."""
    chain = grid(4)
    zones = {z: [s for s in chain.states if s[0] in z] for z in ('01', '23')} if zoned else None
    mechanism = OnlineMechanism(chain, Privacy(2.0, 1, zones), policy='adaptive', delay=delay,
                                reports=reports, random=Random(1))
    walks = patrols(habit(chain), 20, 10)
    numbers = np.array([[chain.state_index[s] for s in walk] for walk in walks], np.int32)
    _, drawn = mechanism.draw_signals(numbers.ravel(), np.arange(11) * 20)
    drawn = drawn.reshape(10, 20)
    drawn = drawn[(drawn < len(chain)).all(axis=1)]  # words with counts are seen one by one
    assert len(drawn) > 4
    names = [*chain.states, *reversed([Told(zone) for zone in zones or ()])]
    signals = [[names[i] for i in row] for row in drawn.tolist()]
    likelihood = belief._along(mechanism, signals)
    walkers = [mechanism.another() for _ in signals]
    for t in range(20):
        found = likelihood(t)
        for i, walker in enumerate(walkers):
            for _ in range(walker.ticks_left):
                walker.tick()
            assert (found[:, i] == walker.current_likelihood(signals[i][t])).all()
            walker.advance(signals[i][t])


def patrol_row():
    """Return four places in a row, at each of which robots stay for long."""
    return Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.9, 'c': 0.05},
                  'c': {'b': 0.05, 'c': 0.9, 'd': 0.05}, 'd': {'c': 0.1, 'd': 0.9}}, 'b')


@pytest.mark.parametrize('delay', [None, 3])
def test_a_symbol_that_is_left_out_takes_nothing_from_the_block_before(delay):
    """Nothing is seen then, so what is known of the symbols before stays as it was."""
    chain, blocks = patrol_row(), 0
    privacy = Privacy(1.0, 1, {'A': ['a', 'b', 'c'], 'B': ['d']})
    for seed in range(5):
        mechanism = OnlineMechanism(chain, privacy, policy='adaptive', delay=delay,
                                    random=Random(seed))
        _, drawn = mechanism.draw_signals(np.ones(6, np.int32), np.array([0, 6]))
        names = SignalNumbers(chain.states, privacy.zones)
        signals = [names.name(i) for i in drawn.tolist()]
        blocks += isinstance(signals[-1], Count)
        assert smooth_together(mechanism, [[*signals, None]])[:6] == pytest.approx(
            smooth_together(mechanism, [signals]), abs=1e-6)
    assert blocks
