# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy: mean, variance, each position; against enumeration, sampling and the other route."""
from itertools import pairwise
from math import exp, sqrt
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import distance
from p_values import binomial_p
import pytest
from refusals import refused
from strategies import (CHAINS, chains, COMPLETE, feasible_words, FOUR, grid,
                        replayable_random, SPLIT, words)
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.analysis import accuracy as module
from symdp_ros.analysis.accuracy import (accuracy, average_accuracy, expected_accuracy, mean_stay,
                                         patrols, robots)

ALPHA = 1e-6
KINDS = ('paper', 'guided', 'causal', 'exponential')
for_all_kinds = pytest.mark.parametrize('kind', KINDS)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
BIASED = Chain({'a': {'b': 0.9, 'a': 0.1}, 'b': {'c': 0.2, 'a': 0.8}, 'c': {'a': 1.0}}, 'a')


def made(kind, chain, privacy, random=None):
    if kind in ('paper', 'guided'):
        return OnlineMechanism(chain, privacy, policy=kind, random=random)
    return OfflineMechanism(chain, privacy, selection=kind, policy='guided', random=random)


def enumerated(mechanism, word):
    """Return mean and variance of d, and P[o_t ≠ w_t], over all outputs."""
    if isinstance(mechanism, OnlineMechanism):
        mechanism = OfflineMechanism(mechanism.chain, mechanism.privacy, selection='causal',
                                     policy=mechanism.policy)
    mean = square = 0.0
    each = np.zeros(len(word))
    for output in feasible_words(mechanism.chain, len(word)):
        chance = exp(mechanism.log_probability(word, output))
        d = distance(word, output)
        mean, square = mean + chance * d, square + chance * d * d
        each += [chance * (a != b) for a, b in zip(word, output, strict=True)]
    return mean, square - mean**2, each


def assert_agree(found, expected, tolerance=1e-9):
    mean, variance, each = expected
    assert found.mean == pytest.approx(mean, abs=tolerance)
    assert found.variance == pytest.approx(variance, abs=10 * tolerance)
    assert found.per_position == pytest.approx(each, abs=tolerance)
    assert found.per_position.sum() == pytest.approx(found.mean, abs=1e-12)


@for_all_kinds
@given(st.data(), st.sampled_from([0.0, 0.3, 2.0, 30.0]), st.integers(1, 2))
def test_against_enumeration(kind, data, epsilon, adjacency):
    chain = data.draw(chains(max_states=4))
    word = data.draw(words(chain, max_size=4))
    mechanism = made(kind, chain, Privacy(epsilon, adjacency))
    assert_agree(accuracy(mechanism, word), enumerated(mechanism, word), 1e-8)


@for_all_kinds
@for_all_chains
def test_the_empty_word(kind, chain):
    found = accuracy(made(kind, chain, Privacy(1.0)), [])
    assert (found.mean, found.variance) == (0, 0)


@for_all_kinds
@pytest.mark.parametrize('chain', [
    *(pytest.param(chain, marks=pytest.mark.thorough) for chain in CHAINS.values()), grid(5),
    grid(4, staying=False)], ids=[*CHAINS, 'grid', 'periodic grid'])
def test_against_the_distance_distribution(kind, chain):
    """Another route to the same numbers: long words, every third symbol anything."""
    random = replayable_random()
    mechanism = made(kind, chain, Privacy(3.0))
    word, = patrols(chain, 150, 1)
    word = [random.choice((*chain.states, None)) if t % 3 == 0 else s for t, s in enumerate(word)]
    offline = mechanism if isinstance(mechanism, OfflineMechanism) else OfflineMechanism(
        chain, Privacy(3.0), selection='causal', policy=kind)
    distribution, d = offline.distance_distribution(word), np.arange(151)
    found = accuracy(mechanism, word)
    assert found.mean == pytest.approx(distribution @ d, rel=1e-9)
    assert found.variance == pytest.approx(distribution @ (d - found.mean)**2, rel=1e-7, abs=1e-9)


@for_all_kinds
@pytest.mark.parametrize('chain', [FOUR, pytest.param(COMPLETE, marks=pytest.mark.thorough)],
                         ids=['four', 'complete'])
def test_against_sampling(kind, chain):
    """Positions by exact binomial tests, the mean by Bernstein's inequality; α = 1e-6 each."""
    random, n = replayable_random(), 700
    mechanism = made(kind, chain, Privacy(2.0), random)
    word = [*chain.states[1:4], None, *chain.states[:3]]
    found = accuracy(mechanism, word)
    errors = np.array([[a != b for a, b in zip(word, mechanism.privatize(word), strict=True)]
                       for _ in range(n)])
    mean = errors.sum(axis=1).mean()
    print(f'{n=} {mean=} {found}')
    # Bernstein: P[|mean − E| ≥ x] ≤ 2·exp(−n·x²/2(Var + length·x/3)).
    x = 0.0
    while 2 * exp(-n * x**2 / 2 / (found.variance + len(word) * x / 3)) > ALPHA:
        x += 1e-3
    assert abs(mean - found.mean) < x
    if found.per_position is not None:
        for count, p in zip(errors.sum(axis=0).tolist(), found.per_position, strict=True):
            assert binomial_p(count, n, min(1.0, p)) > ALPHA / len(word)


def test_two_branches_that_never_meet():
    """Weights of 2^n against 1: more than a float64 holds, and yet the odds are 2 to 1."""
    chain = Chain({'s': ['t', 'u'], 't': ['t'], 'u': ['u', 'v'], 'v': ['u', 'v']}, 's')
    n = 3_000
    mechanism = OfflineMechanism(chain, Privacy(2 * 0.6931471805599453), base='counting')
    ratio = mechanism.ratio(n)
    stays = 1 / (1 + exp(-np.log(2) + n * (np.log(2) - np.log(ratio))))
    found = accuracy(mechanism, ['t'] * n)
    assert stays == pytest.approx(2 / 3, abs=1e-6)
    assert found.per_position == pytest.approx(np.full(n, 1 - stays), rel=1e-8)
    assert found.variance == pytest.approx(n**2 * stays * (1 - stays), rel=1e-8)


def test_long_words_lose_no_digits():
    """Independent positions, by the recursion: n·p·(1 − p), to 12 digits."""
    names = [f's{i}' for i in range(5)]
    listed = Chain(dict.fromkeys(names, names), 's0')
    for mechanism in (OnlineMechanism(listed, Privacy(2.0)),
                      OfflineMechanism(Chain({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a'),
                                       Privacy(2.0), selection='causal')):
        word = [mechanism.chain.states[1]] * 5_000
        p = 1 - float(accuracy(mechanism, word[:1]).per_position[0])
        found = accuracy(mechanism, word)
        assert found.mean == pytest.approx(5_000 * (1 - p), rel=1e-12)
        assert found.variance == pytest.approx(5_000 * p * (1 - p), rel=1e-12)


@for_all_kinds
def test_unknown_symbols_are_refused(kind):
    with pytest.raises(UnknownSymbolError):
        accuracy(made(kind, FOUR, Privacy(1.0)), ['s0', 'hull'])


# Without a word.

@for_all_kinds
@pytest.mark.parametrize('chain', [FOUR, BIASED, SPLIT], ids=['four', 'biased', 'split'])
def test_expected_accuracy(kind, chain):
    """Against all walks of length 3, weighed by P: within 6 standard errors, for fixed walks."""
    mechanism = made(kind, chain, Privacy(2.0))
    expected = 0.0
    for walk in feasible_words(chain, 3):
        chance = np.prod([chain.probabilities(a)[b]
                          for a, b in zip((chain.initial_state, *walk), walk, strict=False)])
        expected += chance * accuracy(mechanism, walk).mean / 3
    found = expected_accuracy(mechanism, 3, walks=200)
    assert found.walks == 200 and 0 <= found.standard_error < 0.03
    assert abs(found.error - expected) < 6 * found.standard_error + 1e-9


@for_all_kinds
def test_it_is_the_mean_of_the_walks(kind, monkeypatch):
    chain = grid(4)
    mechanism = made(kind, chain, Privacy(2.0))
    each = np.array([accuracy(mechanism, walk).mean / 7
                     for walk in patrols(chain, 7, 11)])
    for together in (1, 300, 10**6):
        monkeypatch.setattr(module, '_TOGETHER', together)
        found = expected_accuracy(mechanism, 7, walks=11)
        assert found.error == pytest.approx(each.mean(), rel=1e-12)
        assert found.standard_error == pytest.approx(each.std(ddof=1) / sqrt(11), rel=1e-9)


def test_on_the_complete_chain_all_walks_are_alike():
    found = expected_accuracy(OnlineMechanism(COMPLETE, Privacy(2.0)), 20, walks=5)
    assert found.standard_error == pytest.approx(0, abs=1e-15)
    assert found.error == pytest.approx(1 - 1 / (2 * exp(-2) + 1), abs=1e-9)


def test_patrols_repeat():
    """In every process; they depend on chain and n, and on nothing else."""
    walks = patrols(grid(4), 10, 5)
    assert all(grid(4).is_feasible(walk) and len(walk) == 10 for walk in walks)
    assert patrols(grid(4), 10, 3) == walks[:3]
    for other in (patrols(grid(4, staying=False), 10, 5),
                  [walk[:10] for walk in patrols(grid(4), 11, 5)]):
        assert other != walks
    code = ('from symdp_ros import Chain, Privacy\n'
            'from symdp_ros.analysis.accuracy import patrols\n'
            'chain = Chain({"a": {"b": 0.9, "a": 0.1}, "b": {"c": 0.2, "a": 0.8}, '
            '"c": {"a": 1.0}}, "a")\n'
            'print("".join(sum(patrols(chain, 40, 2), [])))')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ''.join(sum(patrols(BIASED, 40, 2), []))


def test_mean_stay():
    assert mean_stay(['aab', 'bbb']) == 2 and mean_stay(['abab']) == 1 and mean_stay(['a']) == 1
    stays = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'b': 0.9, 'a': 0.1}}, 'a')
    assert mean_stay(patrols(stays, 1_000, 100)) == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize('trust', [0.0, 0.3, 1.0])
@for_all_chains
def test_robots_walk_by_the_models(chain, trust):
    models, found = chain.models(trust), robots(chain, trust)
    assert tuple(found) == models.names
    for i, robot in enumerate(found.values()):
        assert robot.states == chain.states and robot.initial_state == chain.initial_state
        if not chain.stores_edges:
            continue
        for state, row in zip(chain.states, np.split(models.weights[i], chain.csr()[0][1:-1]),
                              strict=True):
            chances = robot.probabilities(state)
            assert [chances.get(after, 0.0) for after in chain.successors(state)] == (
                pytest.approx(row.tolist(), rel=1e-6))


def test_a_curve_over_epsilon_is_smooth():
    """The walks are the same at every ε."""
    mechanisms = [OnlineMechanism(grid(4), Privacy(1 + i / 1_000)) for i in range(20)]
    errors = [expected_accuracy(mechanism, 10, walks=3).error for mechanism in mechanisms]
    assert all(0 < a - b < 1e-3 for a, b in pairwise(errors))


def test_patrols_move_by_the_chain():
    walks = patrols(BIASED, 50, 400)
    moves = [move for walk in walks for move in zip(('a', *walk), walk, strict=False)]
    for state, successor in (('a', 'b'), ('b', 'c')):
        n = sum(a == state for a, _ in moves)
        count = sum(move == (state, successor) for move in moves)
        assert binomial_p(count, n, BIASED.probabilities(state)[successor]) > ALPHA


@pytest.mark.parametrize('words', [[['s0', 's1'], ['s0']], [[], []]])
def test_words_of_several_lengths_or_none(words):
    with refused(ConfigurationError, setting='length'):
        average_accuracy(OnlineMechanism(FOUR, Privacy(1.0)), words)


@pytest.mark.parametrize('length, walks', [(0, 5), (-1, 5), (1.5, 5), (True, 5), (5, 0), (5, 1),
                                           (5, 2.0), (float('nan'), 5)])
def test_what_is_refused(length, walks):
    with refused(ConfigurationError, setting='walks' if length == 5 else 'length'):
        expected_accuracy(OnlineMechanism(FOUR, Privacy(1.0)), length, walks=walks)
