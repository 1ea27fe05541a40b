# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policies paper and guided: what is drawn, exactly, and what that reveals.

Each row is held against the paper's Algorithm 4. All words and all outputs of small chains are
compared, in fractions. What one step makes of each integer is in test_online_steps.py, words and
what else they could reveal in test_online_words.py.
"""
from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from online_checks import excess, largest_ratios
from p_values import binomial_p
import pytest
from strategies import (CHAINS, chains, COMPLETE, exp_bounds, feasible_words, FOUR, grid,
                        per_symbol, privacies, probability, replayable_random, thorough)
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import expected_accuracy

POLICIES = ('paper', 'guided')
LN_2 = 0.6931471805599453  # the float just below ln 2
ONE_WAY = Chain({'s0': ['s0', 's1'], 's1': ['far', 's1'], 'far': ['far']}, 's0')
ALPHA = 1e-6
both_policies = pytest.mark.parametrize('policy', POLICIES)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


# The distributions.

def algorithm_4(chain, symbol, previous, epsilon, adjacency):
    """Return μ(· | s_t, o_{t−1}) as the paper writes it, in floats."""
    feasible = chain.successors(previous)
    n = len(feasible)
    if symbol not in feasible:
        return {state: 1 / n for state in feasible}
    tau = 1 / ((n - 1) * exp(-epsilon / adjacency) + 1)
    return {state: tau if state == symbol else (1 - tau) / (n - 1) for state in feasible}


@pytest.mark.parametrize('adjacency', [1, thorough(2), 3])
@pytest.mark.parametrize('epsilon', [
    0.0, thorough(0.1), LN_2, thorough(2.0), thorough(10.0), 40.0])
@for_all_chains
def test_algorithm_4(chain, epsilon, adjacency):
    mechanism = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='paper')
    for previous, symbol in product(chain.states, (*chain.states, None)):
        exact = mechanism.exact_distribution(symbol, previous)
        assert sum(exact.values()) == 1 and tuple(exact) == chain.successors(previous)
        assert mechanism.distribution(symbol, previous) == {s: float(p) for s, p in exact.items()}
        expected = algorithm_4(chain, symbol, previous, epsilon, adjacency)
        assert exact == pytest.approx(expected, abs=1.01e-10)


@pytest.mark.parametrize('symbol, previous, expected', [
    ('s1', 's0', {'s1': 1 / 2, 's2': 1 / 4, 's3': 1 / 4}),              # N = 3: τ = 1/(2/2 + 1)
    ('s3', 's0', {'s1': 1 / 4, 's2': 1 / 4, 's3': 1 / 2}),
    ('s0', 's0', {'s1': 1 / 3, 's2': 1 / 3, 's3': 1 / 3}),
    (None, 's0', {'s1': 1 / 3, 's2': 1 / 3, 's3': 1 / 3}),
    ('s1', 's1', {'s1': 2 / 3, 's2': 1 / 3}),                           # N = 2: τ = 1/(1/2 + 1)
    ('s3', 's1', {'s1': 1 / 2, 's2': 1 / 2}),
    ('s0', 's2', {'s0': 1}), ('s3', 's2', {'s0': 1}), (None, 's2', {'s0': 1}),
    ('s2', 's3', {'s3': 1 / 5, 's0': 1 / 5, 's1': 1 / 5, 's2': 2 / 5})])
def test_by_hand_at_ln_2(symbol, previous, expected):
    found = OnlineMechanism(FOUR, Privacy(LN_2), policy='paper').distribution(symbol, previous)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found == pytest.approx(
        OnlineMechanism(FOUR, Privacy(3 * LN_2, 3), policy='paper').distribution(symbol, previous),
        abs=1e-9)


@for_all_chains
def test_guided_draws_as_the_paper_does_about_its_target(chain):
    paper, guided = (OnlineMechanism(chain, Privacy(2.0), policy=p) for p in POLICIES)
    for previous, symbol in product(chain.states, (*chain.states, None)):
        target = guided.target(symbol, previous)
        assert guided.exact_distribution(symbol, previous) == \
            paper.exact_distribution(target, previous)
        if symbol in chain.successors(previous):
            assert paper.target(symbol, previous) == target == symbol
        else:
            assert paper.target(symbol, previous) is None


@both_policies
@for_all_chains
def test_weights(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy)
    others, beyond = mechanism.weights()
    assert others.shape == beyond.shape == (len(chain),)
    for previous, other, more in zip(chain.states, others, beyond, strict=True):
        aimed = chain.successors(previous)[0]
        chances = mechanism.distribution(aimed, previous)
        assert chances.pop(aimed) == pytest.approx(other + more, abs=1e-15)
        assert list(chances.values()) == pytest.approx([other] * len(chances), abs=1e-15)


@pytest.mark.parametrize('policy', ['paper', 'guided'])
@pytest.mark.parametrize('chain', [FOUR, ONE_WAY, COMPLETE], ids=['four', 'one way', 'complete'])
def test_likelihoods_are_the_distribution_of_each_symbol(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(2.0), policy=policy)
    for previous in chain.states:
        exact = [mechanism.exact_distribution(symbol, previous) for symbol in chain.states]
        for output in chain.states:
            assert mechanism.likelihood(output, previous) == pytest.approx(
                [float(chances.get(output, 0)) for chances in exact], rel=1e-15)


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (1.0, 1), (5.0, 3), thorough(700.0, 1)])
@both_policies
@for_all_chains
def test_every_pair_of_words_and_every_output(chain, policy, epsilon, adjacency):
    mechanism = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy=policy)
    assert excess(mechanism, 3, epsilon, adjacency) is None


@pytest.mark.parametrize('chain', [FOUR, COMPLETE], ids=['four', 'complete'])
@both_policies
def test_the_search_finds_an_excess(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(1.0 + 1e-6), policy=policy)
    assert excess(mechanism, 3, 1.0, 1) is not None


@both_policies
@for_all_chains
def test_the_search_finds_what_all_pairs_of_words_have(chain, policy):
    mechanism, found = OnlineMechanism(chain, Privacy(1.0), policy=policy), [1, 1, 1]
    words = [*product((*chain.states, None), repeat=2)]
    for output in feasible_words(chain, 2):
        chances = [probability(mechanism, word, output) for word in words]
        for (one, p), (other, q) in product(zip(words, chances), repeat=2):
            j = sum(a != b for a, b in zip(one, other))
            found[j] = max(found[j], p / q)
    assert largest_ratios(mechanism, 2) == found


@given(chains(), privacies(), st.sampled_from(POLICIES))
def test_no_two_symbols_differ_by_more(chain, privacy, policy):
    mechanism = OnlineMechanism(chain, privacy, policy=policy)
    largest, _ = exp_bounds(per_symbol(privacy.epsilon, privacy.adjacency))
    for previous in chain.states:
        rows = [mechanism.exact_distribution(s, previous) for s in (*chain.states, None)]
        for row in rows:
            assert sum(row.values()) == 1 and tuple(row) == chain.successors(previous)
        for state in chain.successors(previous):
            chances = [row[state] for row in rows]
            assert 0 < max(chances) <= largest * min(chances)


@both_policies
@for_all_chains
def test_epsilon_zero_reveals_nothing(chain, policy):
    mechanism = OnlineMechanism(chain, Privacy(0.0), policy=policy)
    for previous, symbol in product(chain.states, (*chain.states, None)):
        feasible = chain.successors(previous)
        assert mechanism.exact_distribution(symbol, previous) == dict.fromkeys(
            feasible, Fraction(1, len(feasible)))


@pytest.mark.parametrize('epsilon', [thorough(40.0), 700.0, thorough(2000.0), 1e300])
@both_policies
@for_all_chains
def test_a_large_epsilon_hardly_changes_a_word(chain, policy, epsilon):
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy)
    for previous, symbol in product(chain.states, chain.states):
        chances = mechanism.exact_distribution(symbol, previous)
        target = mechanism.target(symbol, previous)
        assert min(chances.values()) > 0
        assert target is None or chances[target] >= 1 - Fraction(1, 10**10)


# Statistics of the real sampler.

def least_p(counts, chances):
    """Return the smallest exact binomial p-value of all cells, times their number."""
    n = sum(counts.values())
    assert set(counts) <= set(chances)
    return len(chances) * min(binomial_p(counts[cell], n, float(p))
                              for cell, p in chances.items())


def source(name):
    return None if name == 'os' else replayable_random()


@pytest.mark.parametrize('name', [thorough('replayable'), 'os'])
@pytest.mark.parametrize('epsilon', [thorough(0.5), 5.0])
@both_policies
def test_steps_are_drawn_from_the_distribution(policy, epsilon, name):
    """Exact binomial tests of all cells; α = 1e-6 for all of them together."""
    mechanism = OnlineMechanism(FOUR, Privacy(epsilon), policy=policy, random=source(name))
    cases = list(product(FOUR.states, (*FOUR.states, None)))
    for previous, symbol in cases:
        counts = Counter()
        for _ in range(10_000):
            mechanism.reset(previous)
            counts[mechanism.step(symbol)] += 1
        p = least_p(counts, mechanism.exact_distribution(symbol, previous))
        assert p > ALPHA / len(cases), f'{previous=} {symbol=} {counts=} {p=}'


def test_these_statistics_notice_a_wrong_epsilon():
    """At ε = 1.2 instead of 1, 10,000 draws are off by 9 σ."""
    mechanism = OnlineMechanism(COMPLETE, Privacy(1.2), random=Random(1))
    counts = Counter(mechanism.step('y') for _ in range(10_000))
    claimed = OnlineMechanism(COMPLETE, Privacy(1.0)).exact_distribution('y', 'x')
    assert least_p(counts, claimed) < ALPHA
    assert least_p(counts, mechanism.exact_distribution('y', 'x')) > ALPHA


@pytest.mark.parametrize('epsilon, paper, guided', [
    (2.0, 0.72, 0.56), (3.0, 0.50, 0.29), (5.0, 0.12, 0.05)])
def test_published_errors_on_a_grid(epsilon, paper, guided):
    """DESIGN, section 1: a 5×5 grid with staying, words of length 100, k = 1."""
    found = [expected_accuracy(OnlineMechanism(grid(5), Privacy(epsilon), policy=policy),
                               100).error for policy in POLICIES]
    assert found == pytest.approx([paper, guided], abs=0.015)
