# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The offline mechanism: its selections against enumeration, and what it refuses.

All outputs of short words give probabilities and distances; of long words, these are had by two
routes. The proofs of the exponential mechanism are in test_backward.py and test_models_drawn.py.
"""
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log
from random import Random
import subprocess
import sys
import traceback
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, assert_private, distance, large_grid
import pytest
from refusals import refused
from strategies import (CHAINS, chains, COMPLETE, feasible_words, FOUR, grid,
                        replayable_random, thorough, words)
from symdp_ros import (Chain, ConfigurationError, HammingAutomaton, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.registry import SELECTIONS

for_all_selections = pytest.mark.parametrize('selection', SELECTIONS)
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)


def enumerated(mechanism, word):
    """Return output → probability, over all feasible words."""
    return {o: exp(mechanism.log_probability(word, o))
            for o in feasible_words(mechanism.chain, len(word))}


@for_all_selections
@given(st.data(), st.sampled_from([0.0, 0.3, 2.0, 100.0]), st.integers(1, 3))
def test_probabilities_and_distances_agree(selection, data, epsilon, adjacency):
    chain = data.draw(chains(max_states=4))
    word = data.draw(words(chain, max_size=3))
    mechanism = OfflineMechanism(chain, Privacy(epsilon, adjacency), selection=selection)
    chances = enumerated(mechanism, word)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)
    by_distance = np.zeros(len(word) + 1)
    for output, chance in chances.items():
        by_distance[distance(word, output)] += chance
    assert mechanism.distance_distribution(word) == pytest.approx(by_distance, abs=1e-9)
    output = mechanism.privatize(word)
    assert chain.is_feasible(output) and len(output) == len(word)


@for_all_chains
@pytest.mark.parametrize('epsilon', [thorough(0.5), 2.0, 30.0])
def test_exponential_is_as_published(chain, epsilon):
    """P[o] ∝ e^{−ε·d/2k}; on an alphabet e^{−ε·d/k}."""
    word = [chain.states[2], None, chain.states[0], chain.states[0]]
    rate = epsilon / 2 if chain.is_alphabet else epsilon / 4
    expected = {o: exp(-rate * distance(word, o)) for o in feasible_words(chain, 4)}
    total = sum(expected.values())
    found = enumerated(OfflineMechanism(chain, Privacy(epsilon, 2), base='counting'), word)
    assert found == pytest.approx({o: p / total for o, p in expected.items()}, rel=1e-9)


def test_the_papers_counter_example():
    """Counts m = 1, 1, 2, 6, 11, 11 and E[d] = 1.348 (DESIGN, item 3)."""
    chain = Chain({str(i): [str((i + 1) % 4), str((i + 2) % 4)] for i in range(4)}, '0')
    distribution = OfflineMechanism(chain, Privacy(2.0)).distance_distribution(list('12301'))
    counts = np.array([1, 1, 2, 6, 11, 11])
    assert distribution == pytest.approx(
        counts * np.exp(-np.arange(6.0)) / (counts * np.exp(-np.arange(6.0))).sum())
    assert distribution @ np.arange(6) == pytest.approx(1.348, abs=6e-4)


def worst_loss(chain, length, weight):
    """Return the largest ln P[o|w]/P[o|w'] over words that differ in one symbol, as enumerated."""
    outputs = list(feasible_words(chain, length))
    laws = {}
    for word in product((*chain.states, None), repeat=length):
        weights = [weight**distance(word, o) for o in outputs]
        laws[word] = np.array(weights) / sum(weights)
    return max(np.log(laws[v] / laws[w]).max() for v in laws for w in laws
               if distance(v, w) == 1)


def test_the_published_exponent_is_half_as_private_as_it_could_be_on_the_complete_chain():
    """DESIGN, item 5."""
    assert worst_loss(COMPLETE, 2, exp(-2 / 2)) == pytest.approx(2 / 2)
    assert worst_loss(COMPLETE, 2, exp(-2)) == pytest.approx(2)
    # Elsewhere nearly all of it can be needed: most words go through u.
    leaves = [f'v{i}' for i in range(400)]
    chain = Chain({'s': ['t', 'u'], 't': ['t'], 'u': leaves, **{v: [v] for v in leaves}}, 's')
    mechanism = OfflineMechanism(chain, Privacy(2.0), base='counting')
    loss = (mechanism.log_probability(['t', None], ['t', 't'])
            - mechanism.log_probability(['u', None], ['t', 't']))
    assert 1.99 < loss < 2


@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (0.5, 1), (2.0, 2), thorough(2000.0, 1)])
@pytest.mark.parametrize('policy', ['paper', 'guided'])
@for_all_chains
def test_causal_is_private(chain, policy, epsilon, adjacency):
    """The other selections: see test_backward and test_noisy_maximum."""
    online = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy=policy)
    table = {(s, p): online.exact_distribution(s, p)
             for s in (*chain.states, None) for p in chain.states}

    def law(word):
        result = {}
        for output in feasible_words(chain, len(word)):
            result[output] = Fraction(1)
            for symbol, here, there in zip(word, (chain.initial_state, *output), output,
                                           strict=False):
                result[output] *= table[symbol, here][there]
        return result

    assert_private(chain, 2, epsilon, adjacency, law)
    mechanism = OfflineMechanism(chain, Privacy(epsilon, adjacency), selection='causal',
                                 policy=policy)
    if not chain.is_alphabet:
        assert mechanism.law.likelihood_ratio(2) is None
    word = [chain.states[1], None, chain.states[3 % len(chain)]]
    assert enumerated(mechanism, word) == pytest.approx(
        {o: float(p) for o, p in law(word).items()}, rel=1e-12)


def test_causal_is_guided_by_default():
    word = ['s3', 's0', 's3', 's1']
    guided, default, paper = (
        OfflineMechanism(FOUR, Privacy(2.0), selection='causal', **options).distance_distribution(
            word).tolist() for options in ({'policy': 'guided'}, {}, {'policy': 'paper'}))
    assert guided == default != paper


@for_all_selections
def test_draws_of_the_operating_system(selection):
    mechanism = OfflineMechanism(grid(4), Privacy(1.0), selection=selection)
    word = [None] * 100
    assert mechanism.privatize(word) != mechanism.privatize(word)


@pytest.mark.parametrize('selection', [name for name in SELECTIONS if name != 'causal'])
@for_all_chains
def test_at_zero_epsilon_the_word_does_not_matter(chain, selection):
    """
    Equal bits, equal output, whatever the word; all feasible words are equally likely.

    Of causal, the moves are equally likely, not the words: see test_causal_is_private.
    """
    outputs = []
    for seed in range(3):
        word = Random(seed).choices((*chain.states, None), k=30)
        outputs.append(OfflineMechanism(chain, Privacy(0.0), selection=selection,
                                        random=Random(5)).privatize(word))
    assert outputs[0] == outputs[1] == outputs[2]
    mechanism = OfflineMechanism(chain, Privacy(0.0), selection=selection, base='counting',
                                 random=replayable_random())
    word = [chain.states[0]] * 3
    chances = enumerated(mechanism, word)
    assert list(chances.values()) == pytest.approx([1 / len(chances)] * len(chances))
    drawn = Counter(tuple(mechanism.privatize(word)) for _ in range(200))
    assert_drawn(drawn, chances, 200)


@for_all_selections
def test_at_large_epsilon_a_feasible_word_is_kept(selection):
    chain = grid(5)
    word = OnlineMechanism(chain, Privacy(0.0), random=Random(1)).privatize([None] * 200)
    mechanism = OfflineMechanism(chain, Privacy(2000.0), selection=selection)
    assert mechanism.privatize(word) == word
    assert mechanism.log_probability(word, word) == pytest.approx(0, abs=1e-6)


def test_a_complete_chain_that_lists_its_moves_is_complete():
    names = list(COMPLETE.states)
    listed = Chain(dict.fromkeys(names, names), COMPLETE.initial_state)
    word = [names[0], None, names[2], names[1], names[1]]
    for selection in SELECTIONS:
        for base in ('chain', 'counting'):
            one, two = (OfflineMechanism(c, Privacy(2.0), selection=selection, base=base)
                        .distance_distribution(word) for c in (COMPLETE, listed))
            assert one == pytest.approx(two, rel=1e-6)


def test_the_distance_on_the_complete_chain_is_binomial():
    """20 of 1000 unknown: 20 + Binomial(980, q), q = (m−1)B/((m−1)B + 1), B = e^{−ε/k}."""
    chain = Chain.complete([f's{i}' for i in range(43)], 's0')
    word = Random(1).choices(chain.states, k=980) + [None] * 20
    q = 42 * exp(-5) / (42 * exp(-5) + 1)
    distribution = OfflineMechanism(
        chain, Privacy(5.0), base='counting').distance_distribution(word)
    assert not distribution[:20].any()
    for d in (150, 200, 239, 280):
        assert log(distribution[20 + d]) == pytest.approx(
            log(comb(980, d)) + d * log(q) + (980 - d) * log(1 - q), abs=1e-6)


@for_all_selections
def test_the_distances_of_long_words(selection):
    """Two routes to P[d = ℓ]: in advance, and counted."""
    random = replayable_random()
    chain = grid(5)
    word = OnlineMechanism(chain, Privacy(0.0), random=random).privatize([None] * 120)
    mechanism = OfflineMechanism(chain, Privacy(4.0), selection=selection, random=random)
    distribution = mechanism.distance_distribution(word)
    assert distribution.shape == (121,) and distribution.sum() == pytest.approx(1, abs=1e-9)
    n = 100
    counts = Counter(distance(word, mechanism.privatize(word)) for _ in range(n))
    assert_drawn(counts, dict(enumerate(distribution.tolist())), n)


def test_the_mean_of_the_distances_is_the_sum_of_the_errors():
    """There are 2^1200 words: their weights are no floats."""
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    word = Random(1).choices((*chain.states, None), k=1200)
    mechanism = OfflineMechanism(chain, Privacy(20.0), base='counting')
    distribution = mechanism.distance_distribution(word)
    assert distribution @ np.arange(1201) == pytest.approx(accuracy(mechanism, word).mean)


# What is refused, and what is not.

@pytest.mark.parametrize('options, setting', [
    ({'selection': 'laplace'}, 'selection'), ({'selection': None}, 'selection'),
    ({'base': 'uniform'}, 'base'), ({'base': None, 'selection': 'causal'}, 'base'),
    ({'trust': 1.1}, 'trust'), ({'trust': float('nan')}, 'trust'), ({'trust': True}, 'trust'),
    ({'trust': '0.5'}, 'trust'), ({'trust': -1e-9, 'base': 'counting'}, 'trust'),
    ({'selection': 'causal', 'policy': 'none'}, 'policy'), ({'policy': 'none'}, 'policy'),
    ({'policy': 'planned'}, 'policy'), ({'reports': 2}, 'reports'),
    ({'reports': 2, 'policy': 'adaptive'}, 'reports'),
    ({'reports': 2, 'selection': 'causal', 'policy': 'guided'}, 'reports')])
def test_settings_that_are_none(options, setting):
    with refused(ConfigurationError, setting=setting):
        OfflineMechanism(FOUR, Privacy(1.0), **options)


def test_what_is_said_of_a_wrong_selection():
    with pytest.raises(ConfigurationError,
                       match="^selection must be one of exponential, causal, not 'laplace'$"):
        OfflineMechanism(FOUR, Privacy(1.0), selection='laplace')


class NotDrawn:
    """A `random` from which nothing may be drawn."""

    def getrandbits(self, width):
        raise AssertionError('drawn')


@for_all_selections
@for_all_chains
def test_symbols_are_checked_before_anything_is_drawn(chain, selection):
    mechanism = OfflineMechanism(chain, Privacy(1.0), selection=selection, random=NotDrawn())
    word = [chain.states[0], 'the bedroom']
    for call in (mechanism.privatize, mechanism.distance_distribution,
                 lambda w: mechanism.log_probability(w, chain.states[:2])):
        with pytest.raises(UnknownSymbolError) as caught:
            call(word)
        text = ''.join(traceback.format_exception(caught.value, chain=True))
        assert 'the bedroom' not in text


def test_distances_that_would_take_too_long_are_refused():
    chain = grid(10)  # 460 moves
    for selection in ('exponential', 'causal'):
        other = OfflineMechanism(chain, Privacy(1.0), selection=selection)
        assert other.law.distance_steps(4_663) == 4_663**2 * 460
        assert chain.is_feasible(other.privatize([None] * 4_663))
        with refused(ConfigurationError, 'length 4663, on a chain of 460 moves'):
            other.distance_distribution([None] * 4_663)


@for_all_selections
@for_all_chains
def test_outputs_that_cannot_be(chain, selection):
    mechanism = OfflineMechanism(chain, Privacy(1.0), selection=selection)
    word = [chain.states[0]] * 3
    feasible = next(feasible_words(chain, 3))
    assert -inf < mechanism.log_probability(word, feasible) <= 0
    for output in ((), feasible[:2], (*feasible, feasible[0]), (*feasible[:2], 'nowhere'),
                   (*feasible[:2], None)):
        assert mechanism.log_probability(word, output) == -inf


@for_all_selections
@for_all_chains
def test_the_empty_word(chain, selection):
    mechanism = OfflineMechanism(chain, Privacy(1.0), selection=selection)
    assert mechanism.privatize([]) == []
    assert mechanism.log_probability([], []) == 0
    assert mechanism.distance_distribution([]).tolist() == [1]


def test_any_iterable_will_do():
    mechanism = OfflineMechanism(FOUR, Privacy(1.0))
    assert len(mechanism.privatize(iter(['s1', 's2']))) == 2
    assert mechanism.log_probability(iter(['s1', 's2']), iter(['s1', 's2'])) < 0
    assert (mechanism.chain, mechanism.privacy, mechanism.selection) == (
        FOUR, Privacy(1.0), 'exponential')


def test_memory_of_causal_release():
    """With n = 10,000 on 10,000 states: the mechanism and a release in less than 100 MB."""
    chain = large_grid(100)
    word = Random(5).choices(chain.states, k=10_000)
    mechanism = OfflineMechanism(chain, Privacy(2.0), selection='causal')
    tracemalloc.start()
    try:
        assert chain.is_feasible(mechanism.privatize(word))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    peak += mechanism.online.targets.nbytes
    print(f'{peak / 1e6} MB')
    assert peak < 100e6


def test_a_log_is_released_without_large_libraries():
    subprocess.run([sys.executable, '-c', """
import sys
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.core.offline import OfflineMechanism
chain = Chain({'a': ['a', 'b'], 'b': ['a']}, 'a')
OnlineMechanism(chain, Privacy(1.0)).privatize(['a'])
OfflineMechanism(chain, Privacy(1.0), selection='causal').privatize(['a'])
mechanism = OfflineMechanism(chain, Privacy(1.0))
assert len(mechanism.privatize(['a'] * 30)) == 30
assert 'scipy' not in sys.modules
mechanism.privatize(['a'] * 20_000)  # a log of a day
assert 'scipy' not in sys.modules
"""], check=True)


@pytest.mark.parametrize('ask', [
    lambda chain: OfflineMechanism(chain, Privacy(1.0)).privatize('ab'),
    lambda chain: OfflineMechanism(chain, Privacy(1.0)).log_probability(['a'], 'a'),
    lambda chain: OnlineMechanism(chain, Privacy(1.0)).privatize('ab'),
    lambda chain: HammingAutomaton(chain, 'ab', 1)])
def test_a_string_is_no_word(ask):
    """Its letters would be taken for symbols."""
    with pytest.raises(ConfigurationError, match='pass a list of regions'):
        ask(Chain.complete(['a', 'b'], 'a'))
