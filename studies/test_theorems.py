# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's statements on accuracy: where they hold, and where they do not."""
from fractions import Fraction
from math import comb, exp, log

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import distance
import pytest
from strategies import chains, COMPLETE, feasible_words, FOUR, grid, RING
from studies.paper.theorems import (BinomialErrors, hoeffding_concentration,
                                    remark_after_theorem_7, theorem_2, theorem_2_concentration,
                                    theorem_4, theorem_4_tails, theorem_6, variance_bound)
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.online.response import exp_lower_bound, responses

#: The counter-example of DESIGN, item 3.
SKIPS = Chain({str(i): [str((i + 1) % 4), str((i + 2) % 4)] for i in range(4)}, '0')
POLICIES = ('paper', 'guided')


def published(chain, word, base):
    """Return P[d = ℓ] of P[o] ∝ base^{d}, by enumeration."""
    found = np.zeros(len(word) + 1)
    for output in feasible_words(chain, len(word)):
        d = distance(word, output)
        found[d] += base**d
    return found / found.sum()


# Alphabets.

@pytest.mark.parametrize('epsilon, adjacency', [(0.0, 1), (0.5, 1), (2.0, 1), (2.0, 3), (9.0, 1)])
@pytest.mark.parametrize('symbols, length', [(1, 3), (2, 5), (3, 4), (4, 3)])
def test_theorem_2_is_exact_for_the_published_mechanism(symbols, length, epsilon, adjacency):
    privacy = Privacy(epsilon, adjacency)
    alphabet = Chain.complete(['a', 'b', 'c', 'd'][:symbols], 'a')
    word = ('a', *alphabet.states, 'a', 'a')[:length]
    found = theorem_2(symbols, privacy, length)
    chances = published(alphabet, word, exp(-epsilon / 2 / adjacency))
    expected = [comb(length, d) * found.p**d * (1 - found.p)**(length - d)
                for d in range(length + 1)]
    assert chances == pytest.approx(expected, abs=1e-12)
    d = np.arange(length + 1)
    assert found.mean == pytest.approx(chances @ d)
    assert found.variance == pytest.approx(chances @ (d - found.mean)**2, abs=1e-12)


def test_the_published_mechanism_keeps_half_of_epsilon():
    """DESIGN, item 5: so ours, with e^{−ε/k}, errs as the online one does."""
    laws = {}
    for word in feasible_words(COMPLETE, 3):
        weights = [exp(-1 * distance(word, o)) for o in feasible_words(COMPLETE, 3)]  # ε = 2
        laws[word] = np.log(np.array(weights) / sum(weights))
    assert max((laws[v] - laws[w]).max() for v in laws for w in laws
               if distance(v, w) == 1) == pytest.approx(1.0)
    found = accuracy(OfflineMechanism(COMPLETE, Privacy(2.0), base='counting'),
                     ['x', 'y', 'y', 'z'])
    assert found.mean == pytest.approx(theorem_4(3, Privacy(2.0), 4).mean, abs=1e-8)
    assert found.mean < theorem_2(3, Privacy(2.0), 4).mean


@pytest.mark.parametrize('epsilon, adjacency', [(0.0, 1), (0.5, 1), (2.0, 1), (2.0, 3), (9.0, 1)])
@pytest.mark.parametrize('symbols', [1, 2, 5, 200])
def test_theorem_4(symbols, epsilon, adjacency):
    privacy = Privacy(epsilon, adjacency)
    names = [f's{i}' for i in range(symbols)]
    mechanism = OfflineMechanism(Chain.complete(names, 's0'), privacy, selection='causal')
    word = [names[i % symbols] for i in range(12)]
    found = theorem_4(symbols, privacy, 12)
    chances = mechanism.distance_distribution(word)
    assert chances == pytest.approx([comb(12, d) * found.p**d * (1 - found.p)**(12 - d)
                                     for d in range(13)], abs=1e-8)
    exact = accuracy(mechanism, word)
    assert found.mean == pytest.approx(exact.mean, abs=1e-7)
    assert found.variance == pytest.approx(exact.variance, abs=1e-7)


@pytest.mark.parametrize('n, p', [(1, 0.3), (10, 0.5), (14, 0.1), (20, 0.95), (8, 0.0), (8, 1.0)])
def test_tails_by_enumeration(n, p):
    errors = BinomialErrors(n, p)
    exact = Fraction(p)
    chances = [comb(n, d) * exact**d * (1 - exact)**(n - d) for d in range(n + 1)]
    # 0.5 and 1 meet distances exactly, the others lie between.
    for deviation in (0.05, 0.5, 1, 1.3, 2, 3.7, n):
        expected = sum(chance for d, chance in enumerate(chances)
                       if abs(d - n * exact) >= Fraction(deviation) - Fraction(1, 10**12))
        assert errors.tail(deviation) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize('length, least', [(1, 1.213), (2, 1.765), (14, 1.995)])
def test_the_concentration_bound_of_theorem_2_says_nothing(length, least):
    """DESIGN, item 7: on its range, above 2e^{−1/2n²} ≥ 1.213."""
    bounds = [theorem_2_concentration(length, eta) for eta in np.linspace(1e-6, 0.5 - 1e-9, 50)]
    assert min(bounds) == bounds[-1] == pytest.approx(least, abs=5e-4)


@given(st.integers(1, 300), st.floats(0, 1), st.floats(1e-3, 1))
def test_exact_tails_beat_hoeffding(n, p, share):
    assert BinomialErrors(n, p).tail(share * n) <= hoeffding_concentration(n, share * n) + 1e-12


@pytest.mark.parametrize('share', [0.01, 0.3, 0.5, 0.99])
@pytest.mark.parametrize('symbols, epsilon, n', [(2, 0.0, 9), (3, 1.0, 14), (5, 3.0, 40),
                                                 (43, 5.0, 60), (2, 9.0, 30)])
def test_the_chernoff_tails_of_theorem_4(symbols, epsilon, n, share):
    """By enumeration of d, in rational arithmetic."""
    errors = theorem_4(symbols, Privacy(epsilon), n)
    p, eta = Fraction(errors.p), Fraction(share)
    chances = [comb(n, d) * p**d * (1 - p)**(n - d) for d in range(n + 1)]
    found = theorem_4_tails(errors, share)
    assert sum(c for d, c in enumerate(chances) if d > (1 + eta) * n * p) <= found.above < 1
    assert sum(c for d, c in enumerate(chances) if d < (1 - eta) * n * p) <= found.below < 1
    assert found.above == pytest.approx(exp(-share**2 * n * errors.p / (2 + share)))
    assert found.below == pytest.approx(exp(-share**2 * n * errors.p / 2))


@pytest.mark.parametrize('epsilon', [1.0, 27.0, 31.0, 40.0, 1000.0])
@pytest.mark.parametrize('symbols', [2, 100, 3796, 10_000])
def test_how_far_what_is_drawn_falls_short_of_theorem_4(symbols, epsilon):
    (response,) = responses([symbols], Privacy(epsilon))[1].values()
    ratio = exp_lower_bound(Fraction(epsilon))
    short = ratio / (symbols - 1 + ratio) - Fraction(response.b, response.total)
    assert 0 <= short <= max(Fraction(1, 10**10), Fraction(8 * symbols**2, 2**60))
    if symbols == 10_000 and epsilon > 31:
        assert short > Fraction(1, 10**10)


def test_what_the_tails_tell():
    """Of 100 symbols of an alphabet of 10 at ε = 4: off by 15 once in thousands of times."""
    errors = theorem_4(10, Privacy(4.0), 100)
    assert errors.tail(15) < 1e-3 < hoeffding_concentration(100, 15) < 0.03


# Chains.

def test_theorem_6s_lower_bound_is_false():
    """DESIGN, item 3."""
    found = theorem_6(SKIPS, Privacy(2.0), '12301')
    mean = accuracy(OfflineMechanism(SKIPS, Privacy(2.0)), '12301').mean
    assert mean == pytest.approx(1.348, abs=6e-4)
    assert found.lower == pytest.approx(2.910, abs=5e-4)
    assert mean < found.lower < found.upper


@given(st.data(), st.sampled_from([0.0, 0.3, 2.0, 10.0]), st.integers(1, 2))
def test_theorem_6s_upper_bound_holds(data, epsilon, adjacency):
    """For every word; against the mean as published, on the complete chain too."""
    chain = data.draw(chains(max_states=4))
    word = data.draw(st.lists(st.sampled_from(chain.states), min_size=1, max_size=4))
    mean = published(chain, word, exp(-epsilon / 2 / adjacency)) @ np.arange(len(word) + 1)
    assert mean <= theorem_6(chain, Privacy(epsilon, adjacency), word).upper * (1 + 1e-9)


@pytest.mark.parametrize('epsilon', [0.5, 2.0, 5.0])
def test_theorem_6s_lower_bound_is_the_mean_over_an_alphabet(epsilon):
    word = ['x', 'y', 'y', 'z', 'x']
    assert theorem_6(COMPLETE, Privacy(epsilon), word).lower == pytest.approx(
        theorem_2(3, Privacy(epsilon), 5).mean)
    listed = Chain(dict.fromkeys('xyz', 'x y z'.split()), 'x')
    assert theorem_6(listed, Privacy(epsilon), word).upper == pytest.approx(
        theorem_6(COMPLETE, Privacy(epsilon), word).upper)


@given(st.data(), st.sampled_from([0.0, 0.3, 2.0, 10.0]), st.integers(1, 2))
def test_the_variance_bound_of_theorem_6(data, epsilon, adjacency):
    """Offline as published, by enumeration, and online."""
    chain = data.draw(chains(max_states=4))
    word = data.draw(st.lists(st.sampled_from(chain.states), min_size=1, max_size=4))
    chances, d = published(chain, word, exp(-epsilon / 2 / adjacency)), np.arange(len(word) + 1)
    assert chances @ (d - chances @ d)**2 <= variance_bound(len(word)) + 1e-12
    online = OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='paper')
    assert accuracy(online, word).variance <= variance_bound(len(word)) + 1e-9


def test_theorem_6s_upper_bound_needs_n_max():
    """With N_max − 1 in its place it would be the lower one here, and false at small ε."""
    found = theorem_6(SKIPS, Privacy(0.1), '12301')
    mean = accuracy(OfflineMechanism(SKIPS, Privacy(0.1)), '12301').mean
    assert found.lower < mean < found.upper


def test_theorem_6_for_long_words_and_short_ones():
    found = theorem_6(grid(5), Privacy(0.5), ['0,0'] * 1_000)
    assert 0 < found.lower and found.upper > 1_000
    assert theorem_6(RING, Privacy(1.0), ['b']).lower == 0  # N_min = 1


def test_the_remark_after_theorem_7_fails_off_the_route():
    """DESIGN, item 4: the output leaves the route, and cannot follow it."""
    for policy in POLICIES:
        mechanism = OnlineMechanism(SKIPS, Privacy(3.0), policy=policy)
        found = remark_after_theorem_7(SKIPS, Privacy(3.0), 5)
        mean = accuracy(mechanism, '12301').mean
        assert found.lower == pytest.approx(found.upper) and mean > 1.05 * found.upper
    # On the complete chain there is nowhere to leave it.
    found = remark_after_theorem_7(COMPLETE, Privacy(3.0), 5)
    exact = accuracy(OnlineMechanism(COMPLETE, Privacy(3.0)), 'xyzzy').mean
    assert found.lower == found.upper == pytest.approx(exact, abs=1e-8)


@given(st.data(), st.sampled_from([0.0, 0.3, 2.0, 10.0]), st.sampled_from(POLICIES))
def test_the_remark_after_theorem_7_holds_with_n_min(data, epsilon, policy):
    """For every word, feasible or not, and every policy."""
    chain = data.draw(chains(max_states=5))
    word = data.draw(st.lists(st.sampled_from((*chain.states, None)), max_size=8))
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy)
    found = remark_after_theorem_7(chain, Privacy(epsilon), len(word))
    assert found.lower <= accuracy(mechanism, word).mean + 1e-9
    assert found.lower <= found.upper


def test_the_remark_by_hand():
    """N_min = 1, N_max = 4: τ = 1 and, at ε = ln 2, 1/(3/2 + 1)."""
    found = remark_after_theorem_7(FOUR, Privacy(log(2)), 10)
    assert found.lower == 0 and found.upper == pytest.approx(10 * 0.6)
