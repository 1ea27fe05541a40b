# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
ρ of every mechanism against its exact Rényi divergences, and ε(δ) against published converters.

Divergences are enumerated: all words, unknown symbols included, and all outputs of small chains.
"""
from fractions import Fraction
from itertools import product
from math import inf, isfinite, log, sqrt

import numpy as np
from offline_checks import distance
import pytest
from strategies import thorough
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.accounting import Concentrated, epsilon_at

LENGTH = 3
ORDERS = np.array([1.001, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 1000])
ONE_WAY = Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': {'b': 0.2, 'c': 0.8}, 'c': {'a': 1.0}}, 'a')
HABITS = Chain({'a': {'a': 0.7, 'b': 0.2, 'c': 0.1}, 'b': {'a': 0.1, 'b': 0.9},
                'c': {'c': 0.5, 'a': 0.3, 'b': 0.2}}, 'a')
COMPLETE = Chain.complete(list('abc'), 'a')

OFFLINE = {'exponential': {}, 'counting': {'base': 'counting'},
           'permute_and_flip': {'selection': 'permute_and_flip'},
           **{policy: {'selection': 'causal', 'policy': policy}
              for policy in ('paper', 'guided', 'planned', 'adaptive')}}
BOUND = {'exponential': 'range', 'counting': 'range', 'permute_and_flip': 'pure'}


def log_probabilities(mechanism):
    """Return ln P[output | word]: shape (words, outputs), −inf where it is infeasible."""
    states = mechanism.chain.states
    words = list(product((*states, None), repeat=LENGTH))
    outputs = [word for word in product(states, repeat=LENGTH)
               if mechanism.chain.is_feasible(word)]
    logs = []
    for word in words:
        chances = mechanism.law.exact_probabilities(word, outputs)
        if chances is None:  # permute-and-flip: the same for all outputs at one distance
            far, at = [distance(word, o) for o in outputs], mechanism.distance_distribution(word)
            chances = [at[d] / far.count(d) for d in far]
        logs.append([log(chance) if chance else -inf for chance in chances])
    return words, np.array(logs)


def divergences(first, second, order):
    """Return D_α of the rows of two arrays of log probabilities."""
    possible = np.isfinite(first)  # what adaptive does not publish it publishes of no word
    assert (possible == np.isfinite(second)).all()
    terms = np.where(possible, order * np.where(possible, first, 0)
                     - (order - 1) * np.where(possible, second, 0), -np.inf)
    top = terms.max(axis=1, keepdims=True)
    return (top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))) / (order - 1)


@pytest.mark.parametrize('chain', [ONE_WAY, HABITS, COMPLETE], ids=['one-way', 'habits', 'all'])
@pytest.mark.parametrize('name', OFFLINE)
@pytest.mark.parametrize('epsilon, k', [thorough(0.3, 1), (2, 1), (6, 2)])
def test_divergences(name, chain, epsilon, k):
    mechanism = OfflineMechanism(chain, Privacy(epsilon, k), **OFFLINE[name])
    bound = mechanism.law.loss_bound
    expected = BOUND.get(name, 'symbols')
    assert bound == ('symbols' if chain is COMPLETE and expected == 'range' else expected)
    words, logs = log_probabilities(mechanism)
    distances = np.array([[distance(v, w) for w in words] for v in words])
    for j in range(1, LENGTH + 1):
        rho = float(Concentrated.of(bound, Fraction(epsilon) / k).rho(j))
        first, second = np.nonzero(distances == j)
        for order in ORDERS:
            largest = divergences(logs[first], logs[second], order).max()
            assert largest <= rho * order * (1 + 1e-9) + 1e-9, (j, order)
        if bound == 'range':
            ratios = logs[first] - logs[second]
            ranges = np.ptp(np.where(np.isfinite(ratios), ratios, ratios.max()), axis=1)
            assert ranges.max() <= j * epsilon / k + 1e-9


def test_bounds_are_not_loose():
    """At a small ε and α near 1 the formulas are nearly reached; a tenth less would be wrong."""
    even, uneven = {'a': 0.5, 'b': 0.5}, {'a': 0.6, 'b': 0.4}
    for name, chain, symbols in (('exponential', Chain({'a': even, 'b': uneven}, 'a'), 1),
                                 ('paper', Chain.complete(['a', 'b'], 'a'), 2)):
        mechanism = OfflineMechanism(chain, Privacy(0.1), **OFFLINE[name])
        other = ['b'] * symbols + ['a'] * (LENGTH - symbols)
        outputs = list(product('ab', repeat=LENGTH))
        first, second = (np.array([[mechanism.log_probability(word, output)
                                    for output in outputs]]) for word in (['a'] * LENGTH, other))
        rho = float(Concentrated.of(mechanism.law.loss_bound, Fraction(1, 10)).rho(symbols))
        assert divergences(first, second, 1.001)[0] > 0.9 * rho


def test_live_is_causal():
    assert OnlineMechanism(HABITS, Privacy(1.0)).law.loss_bound == 'symbols'


def test_sums_of_rho_are_exact():
    third = Fraction(1, 3)
    total = sum((Concentrated.of(bound, third, times) for bound, times in (
        ('range', 1), ('symbols', 4), ('pure', 2))), Concentrated())
    assert total == Concentrated(linear=Fraction(2, 9), quadratic=Fraction(1, 8) / 9 + third**2)
    assert total.rho(6) == Fraction(4, 3) + Fraction(1, 2) + 4


#: ρ, δ → ε of OpenDP 0.16.0 (make_zCDP_to_approxDP) and of Google's dp-accounting 0.6.0
#: (RdpAccountant, ZCDpEvent, orders 1 + 2^{i/64}, i from −768 to 1279), computed with them.
PUBLISHED = {
    ('0.001', '1e-6'): (0.18289537719007626, 0.1828977253531813),
    ('0.001', '1e-12'): (0.2951127971495086, 0.29511309163192523),
    ('0.125', '1e-6'): (2.4190931768671953, 2.4191187213116563),
    ('0.125', '1e-12'): (3.5860924371043903, 3.586134463248184),
    ('0.5', '1e-6'): (5.22153444453017, 5.221539474373057),
    ('0.5', '1e-12'): (7.51514275289013, 7.515218602347151),
    ('3', '1e-6'): (14.947919164492594, 14.948032183996036),
    ('3', '1e-12'): (20.45879951096471, 20.458822078502156),
    ('100', '1e-6'): (172.17755147589946, 172.17838755130597),
    ('100', '1e-12'): (203.25820714874502, 203.2582539999141)}


@pytest.mark.parametrize('rho, delta', PUBLISHED)
def test_published_converters(rho, delta):
    exact = epsilon_at(Fraction(rho), Fraction(delta))
    assert (exact * 10**6).denominator == 1
    ours = float(exact)
    opendp, google = PUBLISHED[rho, delta]
    assert opendp * (1 - 1e-12) <= ours <= opendp * (1 + 2e-5)
    assert ours == pytest.approx(google, rel=1e-4)
    assert ours < float(Fraction(rho)) + 2 * sqrt(float(Fraction(rho)) * -log(float(delta)))


def test_epsilon_is_never_too_small_and_grows():
    """Any α gives an ε that holds: ours is at most the best of many, and at least the infimum."""
    last = Fraction(0)
    for i in range(-60, 40):
        rho = Fraction(2)**i  # 1 among them
        for step in (Fraction(1), 1 + Fraction(1, 10**9)):
            epsilon = epsilon_at(rho * step, Fraction(1, 10**5))
            assert epsilon >= last
            last = epsilon
        less = np.exp2(np.linspace(-45, 70, 200_001))
        best = ((1 + less) * float(rho) - np.log1p(1 / less)
                + (log(1e5) - np.log1p(less)) / less).min()
        assert max(best, 0) - 1e-8 * abs(best) <= float(epsilon) <= max(best, 0) * (
            1 + 1e-5) + 2e-6


@pytest.mark.parametrize('rho, delta', [('0', '1e-6'), ('1e-400', '1e-6'), ('1e-30', '1/100')])
def test_almost_nothing(rho, delta):
    assert epsilon_at(Fraction(rho), Fraction(delta)) <= Fraction(1, 10**6)


@pytest.mark.parametrize('rho', ['1e20', '1e300', '1e400'])
def test_very_much(rho):
    epsilon = epsilon_at(Fraction(rho), Fraction(1, 10**6))
    assert epsilon > Fraction(rho) and epsilon / Fraction(rho) < Fraction('1.0000002')
    assert isfinite(float(epsilon / Fraction(rho)))


def test_a_loss_that_is_repeated():
    """Changing j symbols in each of m words is changing j·m of them."""
    loss = Concentrated(Fraction(1, 3), Fraction(1, 7))
    assert loss.repeated(5) == Concentrated(Fraction(5, 3), Fraction(25, 7))
    assert loss.repeated(5).rho(2) == loss.rho(10)
