# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The paper's statements on accuracy, as functions named after them: where they hold, and where not.

The table is in docs/evidence/experiments. Here m is the number of symbols of an alphabet, n the
length of a word, d = d(w, o), and B = e^{−ε/2k}. What is exact for a given chain and word:
`analysis.accuracy`.
"""
from fractions import Fraction
from math import comb, exp

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import distance
import pytest
from scipy.stats import binom
from strategies import chains, COMPLETE, feasible_words
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy

#: C(i) = {i+1, i+2 mod 4}: with w = 1,2,3,0,1 and s_0 = 0, m_ℓ = 1, 1, 2, 6, 11, 11.
SKIPS = Chain({str(i): [str((i + 1) % 4), str((i + 2) % 4)] for i in range(4)}, '0')
SETTINGS = [Privacy(0.0), Privacy(0.5), Privacy(2.0), Privacy(2.0, 3), Privacy(9.0)]
POLICIES = ('paper', 'guided')
ANY_PRIVACY = st.builds(Privacy, st.sampled_from([0.0, 0.3, 2.0, 10.0]), st.integers(1, 2))


def theorem_2(symbols, privacy, length):
    """
    Return Binomial(n, q), q = (m−1)B/((m−1)B + 1): d offline over an alphabet, as published.

    There Z = Π_t (1 + (m−1)B) factors. As Z does not depend on w, P[o|w] = B^d/Z changes by
    e^{ε/2} at most: that mechanism is (ε/2)-private. `OfflineMechanism` uses e^{−ε/k} on the
    complete chain, which keeps ε; d is then as in `theorem_4`. (In the paper's Appendix B the term
    E[ℓ²] lacks its denominator [(m−1)B + 1]².)
    """
    ratio = (symbols - 1) * exp(-float(privacy.epsilon_per_symbol) / 2)
    return binom(length, ratio / (ratio + 1))


def theorem_2_concentration(length, deviation):
    """Return 2·exp(−2η²/n²), its bound on P[|d − E[d]| > η], for 0 < η < ½."""
    return 2 * exp(-2 * deviation**2 / length**2)


def theorem_4(symbols, privacy, length):
    """Return Binomial(n, 1−τ), τ = 1/((m−1)e^{−ε/k} + 1): d online over an alphabet."""
    ratio = (symbols - 1) * exp(-float(privacy.epsilon_per_symbol))
    return binom(length, ratio / (ratio + 1))


def theorem_4_tails(mean, share):
    """Return its Chernoff bounds of P[d > (1+η)·E[d]] and of P[d < (1−η)·E[d]], 0 < η < 1."""
    return exp(-share**2 * mean / (2 + share)), exp(-share**2 * mean / 2)


def theorem_6(chain, privacy, word):
    """
    Return S(N_min − 1)/Z and S(N_max)/Z, which shall bound E[d] offline on a chain.

    S(x) = Σ_ℓ ℓ·C(n, ℓ)·(xB)^ℓ, and Z = Σ_o B^d. The upper one holds: at most N_max moves can be
    made at each of the ℓ errors, and one elsewhere, so m_ℓ ≤ C(n, ℓ)·N_max^ℓ. The lower one takes
    m_ℓ ≥ C(n, ℓ)·(N_min − 1)^ℓ, as if a word could leave the route and be back at the next symbol.
    """
    base, n = exp(-float(privacy.epsilon_per_symbol) / 2), len(word)
    z = sum(base**distance(word, output) for output in feasible_words(chain, n))
    degrees = chain.out_degrees().tolist()
    return [n * x * base * (1 + x * base)**(n - 1) / z for x in (min(degrees) - 1, max(degrees))]


def variance_bound(length):
    """Return n²/4 ≥ Var[d], of Theorem 6 and the remark after Theorem 7: Popoviciu."""
    return length**2 / 4


def remark_after_theorem_7(chain, privacy, length):
    """
    Return n(1 − τ(N_min)) and n(1 − τ(N_max)), which shall bound E[d] online on a chain.

    The lower one holds: no state is ever drawn with more than τ(N(o_{t−1})) ≤ τ(N_min). The upper
    one does not: where w_t is not feasible the error is certain, whatever N is.
    """
    degrees = chain.out_degrees().tolist()
    return [theorem_4(count, privacy, length).mean() for count in (min(degrees), max(degrees))]


def published(chain, word, privacy):
    """Return P[d = ℓ] of P[o] ∝ B^d, by enumeration."""
    found = np.zeros(len(word) + 1)
    for output in feasible_words(chain, len(word)):
        d = distance(word, output)
        found[d] += exp(-float(privacy.epsilon_per_symbol) / 2)**d
    return found / found.sum()


@pytest.mark.parametrize('privacy', SETTINGS)
@pytest.mark.parametrize('symbols, length', [(1, 3), (2, 5), (3, 4), (4, 3)])
def test_theorem_2_is_exact_for_the_published_mechanism(symbols, length, privacy):
    alphabet = Chain.complete(list('abcd')[:symbols], 'a')
    word = ('a', *alphabet.states, 'a', 'a')[:length]
    assert published(alphabet, word, privacy) == pytest.approx(
        theorem_2(symbols, privacy, length).pmf(range(length + 1)), abs=1e-12)


def test_the_published_mechanism_keeps_half_of_epsilon():
    """So ours, with e^{−ε/k}, errs as the online one does."""
    laws = {}
    for word in feasible_words(COMPLETE, 3):
        weights = [exp(-1 * distance(word, o)) for o in feasible_words(COMPLETE, 3)]  # ε = 2
        laws[word] = np.log(np.array(weights) / sum(weights))
    assert max((laws[v] - laws[w]).max() for v in laws for w in laws
               if distance(v, w) == 1) == pytest.approx(1.0)
    found = accuracy(OfflineMechanism(COMPLETE, Privacy(2.0), base='counting'), 'xyyz').mean
    assert found == pytest.approx(theorem_4(3, Privacy(2.0), 4).mean(), abs=1e-8)
    assert found < theorem_2(3, Privacy(2.0), 4).mean()


@pytest.mark.parametrize('length, least', [(1, 1.213), (2, 1.765), (14, 1.995)])
def test_the_concentration_bound_of_theorem_2_says_nothing(length, least):
    bounds = [theorem_2_concentration(length, eta) for eta in np.linspace(1e-6, 0.5 - 1e-9, 50)]
    assert min(bounds) == bounds[-1] == pytest.approx(least, abs=5e-4)


@pytest.mark.parametrize('privacy', SETTINGS)
@pytest.mark.parametrize('symbols', [1, 2, 5, 200])
def test_theorem_4(symbols, privacy):
    names = [f's{i}' for i in range(symbols)]
    mechanism = OfflineMechanism(Chain.complete(names, 's0'), privacy, selection='causal')
    word = [names[i % symbols] for i in range(12)]
    assert mechanism.distance_distribution(word) == pytest.approx(
        theorem_4(symbols, privacy, 12).pmf(range(13)), abs=1e-8)


@pytest.mark.parametrize('share', [0.01, 0.3, 0.5, 0.99])
@pytest.mark.parametrize('symbols, epsilon, n', [(2, 0.0, 9), (3, 1.0, 14), (5, 3.0, 40),
                                                 (43, 5.0, 60), (2, 9.0, 30)])
def test_the_chernoff_tails_of_theorem_4(symbols, epsilon, n, share):
    """By enumeration of d, in rational arithmetic."""
    mean = theorem_4(symbols, Privacy(epsilon), n).mean()
    p, eta = Fraction(mean) / n, Fraction(share)
    chances = [comb(n, d) * p**d * (1 - p)**(n - d) for d in range(n + 1)]
    above, below = theorem_4_tails(mean, share)
    assert sum(c for d, c in enumerate(chances) if d > (1 + eta) * n * p) <= above < 1
    assert sum(c for d, c in enumerate(chances) if d < (1 - eta) * n * p) <= below < 1


def test_theorem_6s_lower_bound_is_false():
    lower, upper = theorem_6(SKIPS, Privacy(2.0), '12301')
    mean = accuracy(OfflineMechanism(SKIPS, Privacy(2.0)), '12301').mean
    assert mean == pytest.approx(1.348, abs=6e-4)
    assert lower == pytest.approx(2.910, abs=5e-4)
    assert mean < lower < upper
    # Over an alphabet it is the mean itself.
    lower, _ = theorem_6(COMPLETE, Privacy(2.0), 'xyyzx')
    assert lower == pytest.approx(theorem_2(3, Privacy(2.0), 5).mean())


@given(st.data(), ANY_PRIVACY)
def test_theorem_6s_upper_bound_and_its_variance_hold(data, privacy):
    """For every word, as published, by enumeration; the variance online, too."""
    chain = data.draw(chains(max_states=4))
    word = data.draw(st.lists(st.sampled_from(chain.states), min_size=1, max_size=4))
    chances, d = published(chain, word, privacy), np.arange(len(word) + 1)
    assert chances @ d <= theorem_6(chain, privacy, word)[1] * (1 + 1e-9)
    assert chances @ (d - chances @ d)**2 <= variance_bound(len(word)) + 1e-12
    online = OnlineMechanism(chain, privacy, policy='paper')
    assert accuracy(online, word).variance <= variance_bound(len(word)) + 1e-9


def test_the_remark_after_theorem_7_fails_off_the_route():
    """The output leaves the route, and cannot follow it."""
    for policy in POLICIES:
        mechanism = OnlineMechanism(SKIPS, Privacy(3.0), policy=policy)
        lower, upper = remark_after_theorem_7(SKIPS, Privacy(3.0), 5)
        assert lower == pytest.approx(upper) and accuracy(mechanism, '12301').mean > 1.05 * upper
    # On the complete chain there is nowhere to leave it.
    lower, upper = remark_after_theorem_7(COMPLETE, Privacy(3.0), 5)
    exact = accuracy(OnlineMechanism(COMPLETE, Privacy(3.0)), 'xyzzy').mean
    assert lower == upper == pytest.approx(exact, abs=1e-8)


@given(st.data(), ANY_PRIVACY, st.sampled_from(POLICIES))
def test_the_remark_after_theorem_7_holds_with_n_min(data, privacy, policy):
    """For every word, feasible or not, and every policy."""
    chain = data.draw(chains(max_states=5))
    word = data.draw(st.lists(st.sampled_from((*chain.states, None)), max_size=8))
    mechanism = OnlineMechanism(chain, privacy, policy=policy)
    lower, upper = remark_after_theorem_7(chain, privacy, len(word))
    assert lower <= accuracy(mechanism, word).mean + 1e-9 and lower <= upper
