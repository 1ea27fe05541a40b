# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism with models: exactly private, and against enumeration.

All words and all outputs of small chains, in fractions, as they are drawn; then distances, errors,
long words, and what earlier versions drew from the same bits.
"""
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import exp, inf, ldexp, log, log2
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from model_checks import CHAINS_WITH_P, exact_law, measure
import numpy as np
from offline_checks import all_words, as_drawn, assert_drawn, assert_private, distance
import pytest
from strategies import CHAINS, feasible_words, FOUR, grid, replayable_random, sharp, thorough
from symdp_ros import Chain, OfflineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.models import SWITCH
from symdp_ros.core.offline.backward import match_ratio
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes, MODEL_LANES, ReachableChain

for_all_chains = pytest.mark.parametrize('chain', CHAINS_WITH_P.values(), ids=CHAINS_WITH_P)


# Privacy, as drawn.

@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), thorough(1e-15, 1), (0.1, 1), (2.0, 2), thorough(2000.0, 1)])
@pytest.mark.parametrize('trust', [0.8, 0.0, 1.0])
@pytest.mark.parametrize('chain', sharp(CHAINS_WITH_P, 'habit', 'rare', 'absorbing'))
def test_every_adjacent_pair_and_output(chain, trust, adjacency, epsilon):
    law = Exponential(chain, Privacy(epsilon, adjacency), trust)
    assert_private(chain, 2, epsilon, adjacency, lambda word: as_drawn(law, chain, word))


@pytest.mark.parametrize('wide, sizes', [(False, LoopSizes()), (True, LoopSizes(spread_bits=0))],
                         ids=['plain', 'wide'])
@pytest.mark.parametrize('name', [thorough('habit'), thorough('rare'), 'everything'])
def test_longer_words(name, wide, sizes):
    chain = CHAINS_WITH_P[name]
    for adjacency, epsilon in ((1, 2.0), (2, 0.5)):
        law = Exponential(chain, Privacy(epsilon, adjacency), 0.9, sizes=sizes)
        assert (law._sampler.plan(4).rescale_every == 0) in (wide, False)
        assert_private(chain, 4, epsilon, adjacency, lambda word: as_drawn(law, chain, word))


@pytest.mark.parametrize('chain', sharp(CHAINS_WITH_P, 'habit', 'rare', 'absorbing'))
def test_what_is_drawn_is_the_rational_reference(chain):
    """Within the roundings that the proof counts: 2·n·(N+4M+12) factors of 1±2⁻⁵³."""
    models = chain.models(0.7)
    for epsilon in (0.0, 2.0, 60.0):
        mechanism = OfflineMechanism(chain, Privacy(epsilon), trust=0.7)
        for word in [*all_words(chain, 3)][::17]:
            exact = exact_law(chain, models, Fraction(mechanism.ratio(3)), word)
            factors = 2 * 3 * (int(chain.out_degrees().max()) + 4 * MODEL_LANES + 12)
            for output, chance in as_drawn(mechanism.law, chain, word).items():
                assert abs(chance / exact[output] - 1) < factors * Fraction(1, 2**52)
                assert mechanism.log_probability(word, output) == pytest.approx(
                    log(exact[output]), abs=1e-9)


@for_all_chains
def test_at_zero_epsilon_words_are_drawn_by_the_base_measure(chain):
    """And no bit depends on the word."""
    for epsilon in (0.0, 1e-16):
        mechanism = OfflineMechanism(chain, Privacy(epsilon), random=Random(3))
        first, *others = (as_drawn(mechanism.law, chain, word)
                          for word in [*all_words(chain, 2)][::5])
        assert all(other == first for other in others)
        weights = chain.models(0.8)
        total = sum(measure(chain, weights, o) for o in first)
        for output, chance in first.items():
            assert float(chance) == pytest.approx(
                float(measure(chain, weights, output) / total), rel=1e-14)
    drawn = [OfflineMechanism(chain, Privacy(0.0), random=Random(3)).privatize(
        Random(seed).choices((*chain.states, None), k=40)) for seed in range(3)]
    assert drawn[0] == drawn[1] == drawn[2]


def test_what_is_set_aside_for_rounding():
    chain = CHAINS_WITH_P['habit']
    law = Exponential(chain, Privacy(3.0, 2), 0.8)
    reserve = Fraction(5 * 10**8 * (3 + 4 * MODEL_LANES + 12), 2**53)
    assert law.ratio(10**8) == match_ratio(Fraction(3, 2), reserve)


def test_the_whole_of_epsilon_needs_uniform_rows():
    """Everything follows everything, but to stay has 0.97: e^{−ε/k} would lose 3.96, not 2."""
    chain = CHAINS_WITH_P['everything']
    assert chain.is_alphabet
    mechanism = OfflineMechanism(chain, Privacy(2.0))
    assert mechanism.online is None and mechanism.ratio(2) == pytest.approx(exp(1), rel=1e-9)
    weights = chain.models(1.0)
    laws = {word: exact_law(chain, weights, Fraction(exp(2)), word)
            for word in all_words(chain, 2)}
    worst = max(laws[v][o] / laws[w][o] for v in laws for w in laws
                if distance(v, w) == 1 for o in laws[v])
    assert log(worst) == pytest.approx(3.96, abs=0.005)
    uniform = Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': ['b', 'a']}, 'a')
    assert OfflineMechanism(uniform, Privacy(2.0)).online is None  # it may stay more
    listed = Chain({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a')
    complete = Chain.complete(list('ab'), 'a')
    for other in (listed, complete):
        found = OfflineMechanism(other, Privacy(2.0))  # it may stay more
        assert found.online is None and found.ratio(2) == pytest.approx(exp(1), rel=1e-9)
    for other, base in ((uniform, 'chain'), (listed, 'counting'), (complete, 'counting')):
        found = OfflineMechanism(other, Privacy(2.0), trust=1.0, base=base)
        assert found.online is not None
        assert found.log_probability(list('aa'), list('aa')) == pytest.approx(
            -2 * log(1 + exp(-2)), abs=1e-8)
    assert OfflineMechanism(chain, Privacy(2.0), base='counting').online is not None


def test_where_all_words_weigh_the_same_they_are_counted():
    """To the bit: a map whose states have equally many moves."""
    ring = Chain({f'{i}': [f'{(i + 1) % 9}', f'{(i + 4) % 9}'] for i in range(9)}, '0')
    word = Random(1).choices(ring.states, k=200)
    one, two = (OfflineMechanism(ring, Privacy(2.0), base=base, random=Random(5)).privatize(word)
                for base in ('chain', 'counting'))
    assert one == two


# Drawing, and what is known of it.

@pytest.mark.parametrize('chain', sharp(CHAINS_WITH_P, 'habit', 'absorbing', 'alphabet',
                                        'alphabet that stays'))
@pytest.mark.parametrize('epsilon', [thorough(0.0), 3.0])
def test_draws(chain, epsilon):
    """α = 1e-6 for each; words that are drawn together: test_batch.py."""
    mechanism = OfflineMechanism(chain, Privacy(epsilon), random=replayable_random())
    word = [chain.states[1], None, chain.states[2 % len(chain)], chain.states[0]]
    n = 2_000
    law = {o: exp(mechanism.log_probability(word, o)) for o in feasible_words(chain, 4)}
    assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    assert_drawn(Counter(tuple(mechanism.privatize(word)) for _ in range(n)), law, n)


@for_all_chains
@pytest.mark.parametrize('trust', [0.6, 1.0])
@pytest.mark.parametrize('epsilon', [thorough(0.0), 1.5, thorough(30.0)])
def test_distances_and_errors_by_enumeration(chain, epsilon, trust):
    mechanism = OfflineMechanism(chain, Privacy(epsilon, 2), trust=trust)
    for word in [*all_words(chain, 3)][::13]:
        law = exact_law(chain, chain.models(trust), Fraction(mechanism.ratio(3)), word)
        expected, positions = np.zeros(4), np.zeros(3)
        for output, chance in law.items():
            expected[distance(word, output)] += float(chance)
            positions += [float(chance) * (a != b) for a, b in zip(word, output)]
        assert mechanism.distance_distribution(word) == pytest.approx(expected, abs=1e-12)
        found, distances = accuracy(mechanism, word), np.arange(4)
        assert found.per_position == pytest.approx(positions, abs=1e-12)
        assert found.mean == pytest.approx(expected @ distances, abs=1e-11)
        assert found.variance == pytest.approx(expected @ (distances - found.mean)**2, abs=1e-11)


def test_weights_that_could_be_too_far_apart_have_exponents():
    """The bound of the text, and for short words what n moves can differ by."""
    chain = CHAINS_WITH_P['habit']
    for trust, epsilon in product((0.3, 0.8), (0.5, 4.0)):
        models, r = chain.models(trust), ReachableChain(chain).mixing_moves
        ratio = Exponential(chain, Privacy(epsilon), trust).ratio(1_000)
        growth = log2((1 + 2**-20) * ratio)
        most = min(r * (growth - log2((1 - SWITCH) * weights.min())) - log2(SWITCH * q)
                   for weights, q in zip(models.weights, models.prior) if weights.min() > 0)
        for length, bound in ((1_000, most), (3, 3 * growth)):
            for bits, wide in ((int(bound) - 1, True), (int(bound) + 1, False)):
                law = Exponential(chain, Privacy(epsilon), trust,
                                  sizes=LoopSizes(spread_bits=bits))
                every = law._sampler.plan(length).rescale_every
                assert every == (0 if wide else max(1, int(160 / growth)))


@given(st.data())
def test_long_words_neither_under_nor_overflow(data):
    """Chains with the rarest moves there can be, at any ε: outputs are feasible, Z is finite."""
    size = data.draw(st.integers(1, 5))
    names = [f's{i}' for i in range(size)]
    rows = {}
    for name in names:
        row = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        rare = [ldexp(5e-324, data.draw(st.integers(0, 1070))) for _ in row[1:]]
        rows[name] = {row[0]: 1 - sum(rare), **dict(zip(row[1:], rare))}
    chain = Chain(rows, names[0])
    epsilon = data.draw(st.sampled_from([0.0, 1.0, 2000.0]))
    trust = data.draw(st.sampled_from([0.0, 0.8, 1.0]))
    mechanism = OfflineMechanism(chain, Privacy(epsilon), trust=trust, random=Random(1))
    word = Random(data.draw(st.integers(0, 99))).choices((*names, None), k=2_000)
    output = mechanism.privatize(word)
    assert chain.is_feasible(output)
    found = mechanism.log_probability(word, output)
    assert -inf < found <= 0


# What was published stays.

def digest(found):
    return sha256(repr(found).encode()).hexdigest()[:16]


def expander(states):
    names = [f's{i}' for i in range(states)]
    return Chain({a: sorted({names[j % states]
                             for j in (2 * i, 2 * i + 1, 3 * i + 7, i + 1)[:4 - i % 2]})
                  for i, a in enumerate(names)}, 's0')


#: chain, length, ε, the digest of a word that was drawn by version 0.3, and ln P
AS_BEFORE = {
    'four': (FOUR, 60, 2.0, '6a188cffc5fd8df7', -39.56699856293494),
    'split': (CHAINS['split'], 40, 2.0, '1c897c410738c823', -20.323118212019313),
    'grid': (grid(9), 400, 3.0, '304295f82ec0d541', -77.11556725462214),
    'period': (grid(9, staying=False), 900, 2.0, '7ad593610839f2da', -64.853394144652),
    'exponents': (Chain({'start': ['x0', 'y0'], **{f'{half}{i}': [f'{half}0', f'{half}1']
                                                   for half in 'xy' for i in range(2)}}, 'start'),
                  900, 5.0, 'd3ed6484a67cdd91', -32.982311990641364),
    'columns': (expander(300), 2_000, 2.0, '4b98026ad1bd8008', -61.14334549469743),
    'recomputed': (expander(3_000), 6_000, 1.5, '9ff1cc1f574685ee', -61.61319614839858)}


@pytest.mark.parametrize('name', AS_BEFORE)
def test_counting_draws_what_it_drew_before(name):
    """From the same bits, the same word; only what is set aside for rounding has changed."""
    chain, n, epsilon, single, log_probability = AS_BEFORE[name]
    word = Random(4).choices((*chain.states, None), k=n)
    one = OfflineMechanism(chain, Privacy(epsilon, 2), base='counting', random=Random(9))
    output = one.privatize(word)
    assert digest(output) == single
    assert one.log_probability(word[:50], output[:50]) == pytest.approx(log_probability, abs=1e-11)
