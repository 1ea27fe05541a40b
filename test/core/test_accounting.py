# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
ρ of every mechanism against its exact Rényi divergences, and ε(δ) against published converters.

Divergences are enumerated: all words, unknown symbols included, and all outputs of small chains.
"""
from fractions import Fraction
from itertools import product
from math import inf, isfinite, log, sqrt
from pathlib import Path
import re

from long_runs import first_seed
import numpy as np
from offline_checks import distance
import pytest
from strategies import thorough
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.accounting import epsilon_at, response_rho, rho_of

LENGTH = 3
ORDERS = np.array([1.001, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 1000])
ONE_WAY = Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': {'b': 0.2, 'c': 0.8}, 'c': {'a': 1.0}}, 'a')
HABITS = Chain({'a': {'a': 0.7, 'b': 0.2, 'c': 0.1}, 'b': {'a': 0.1, 'b': 0.9},
                'c': {'c': 0.5, 'a': 0.3, 'b': 0.2}}, 'a')
COMPLETE = Chain.complete(list('abc'), 'a')

OFFLINE = {'exponential': {}, 'counting': {'base': 'counting'},
           **{policy: {'selection': 'causal', 'policy': policy}
              for policy in ('paper', 'guided', 'adaptive')}}
BOUND = {'exponential': 'range', 'counting': 'range'}


def log_probabilities(mechanism):
    """Return ln P[output | word]: shape (words, outputs), −inf where it is infeasible."""
    states = mechanism.chain.states
    words = list(product((*states, None), repeat=LENGTH))
    outputs = [word for word in product(states, repeat=LENGTH)
               if mechanism.chain.is_feasible(word)]
    logs = []
    for word in words:
        chances = mechanism.law.exact_probabilities(word, outputs)
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
    if name == 'adaptive':  # signals about several symbols
        expected = 'blocks'
    alike = chain is COMPLETE and name != 'adaptive'  # each symbol is a response on all
    assert mechanism.law.response_values == (
        6 if bound == 'blocks' else 3 if bound == 'symbols' and alike else 2)
    assert bound == ('symbols' if alike and expected == 'range' and name != 'exponential'
                     else expected)
    words, logs = log_probabilities(mechanism)
    distances = np.array([[distance(v, w) for w in words] for v in words])
    for j in range(1, LENGTH + 1):
        rho = float(rho_of(bound, Fraction(epsilon) / k, j, mechanism.law.response_values))
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
        rho = float(rho_of(mechanism.law.loss_bound, Fraction(1, 10), symbols))
        assert divergences(first, second, 1.001)[0] > 0.9 * rho


def test_live_is_causal():
    assert OnlineMechanism(HABITS, Privacy(1.0)).law.loss_bound == 'symbols'


def test_rho_of_more_symbols():
    x = Fraction(1, 3)
    assert rho_of('range', x, 6) == Fraction(1, 2) and rho_of('symbols', x, 6) == 6 * two(x)
    assert rho_of('pure', x, 6) == two(2) and rho_of('range', 9 * x, 6) == two(18) < 18
    assert rho_of('symbols', x, 6, 9) == 6 * response_rho(x, 9) < 6 * two(x)
    assert [rho_of('blocks', x, j, 4) for j in (0, 1, 4, 6, 8)] == [
        0, two(x), two(4 * x), two(4 * x) + two(2 * x), 2 * two(4 * x)]
    assert [rho_of(bound, x, 6, 9, rule=1) for bound in ('range', 'symbols', 'pure')] == [
        Fraction(1, 2), Fraction(1, 3), 2]


def test_the_table_of_when_it_pays():
    """In docs/ledger.md: with so many releases it counts less than the sum; with one less, not."""
    page = (Path(__file__).parents[2] / 'docs' / 'ledger.md').read_text()
    rows = re.findall(r'^\| ([\d.]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$', page, re.M)
    assert len(rows) == 6
    for epsilon, *counts in rows:
        x = Fraction(epsilon)
        for rho, count in zip((two(x), response_rho(x, 10), rho_of('range', x, 1)), counts,
                              strict=True):
            n = int(count.replace(',', ''))
            at = [epsilon_at(rho * releases, Fraction(1, 10**6)) for releases in (n - 1, n)]
            assert at[0] >= x * (n - 1) and at[1] < x * n


def two(y):
    return response_rho(Fraction(y))


def slopes(y, values, orders):
    """Return D_α/α of two values of a response."""
    others = log(values - 2) if values > 2 else -inf
    total = np.logaddexp(np.logaddexp(orders * y, (1 - orders) * y), others)
    return (total - np.logaddexp(y, log(values - 1))) / (orders * (orders - 1))


@pytest.mark.parametrize('y', ['0.001', thorough('0.01'), '0.3', thorough('1'), '2',
                               thorough('3'), thorough('5'), '20', thorough('400')])
@pytest.mark.parametrize('values', [2, thorough(3), thorough(5), 6, 7, thorough(10),
                                    thorough(100), 100_000])
def test_rho_of_a_response(y, values):
    """At least every D_α/α, and nearly the largest of many, or the limit at α = 1."""
    exact, at_most = response_rho(Fraction(y), values), rho_of('pure', Fraction(y), 1)
    rho, y = float(exact), float(y)
    near = y * (-np.expm1(-y)) / (1 + (values - 1) * np.exp(-y))  # Kullback and Leibler
    orders = 1 + np.exp(np.linspace(-4, log(60 / y + 60), 100_001))
    found = slopes(y, values, orders)
    assert (found <= rho * (1 + 1e-6)).all() and rho >= near * (1 - 1e-12)
    assert rho <= max(found.max(), near) * (1 + 1e-5)
    assert exact <= at_most and (10**30 * exact).denominator == 1
    if values <= 6:  # c ≤ 4: h is concave everywhere
        assert rho == pytest.approx(near, rel=1e-12)


def test_the_slope_may_be_largest_between():
    """Of many values and a small y, where α is about 1 + 4/y."""
    assert response_rho(Fraction(1, 100), 100) > 5 * slopes(.01, 100, np.array([1.0001]))[0]


@pytest.mark.parametrize('y', ['1e-40', '1e-9', '0.1', '1', '7', '499', '500', '501', '1e6'])
def test_rho_of_any_size(y):
    """It grows with y, falls with m, and is at most y²/2, y, and one unit of rounding."""
    y = Fraction(y)
    found = [response_rho(y, values) for values in (2, 3, 50)]
    unit = Fraction(1, 10**30)
    assert found == sorted(found, reverse=True) and found[-1] > 0
    assert found[0] <= min(y**2 / 2, y) + unit
    assert response_rho(y * 2, 3) >= found[1] and response_rho(Fraction(0), 3) == 0
    exact = float(y) * np.tanh(float(y) / 2)
    assert float(found[0]) == pytest.approx(exact, rel=1e-12, abs=1e-30)


def test_a_response_is_the_worst_of_what_is_private():
    """Random pairs of laws with f in [−y, y] have no larger D_α/α."""
    seed = first_seed()
    print(f'SYMDP_TEST_SEED={seed}')
    chance = np.random.default_rng(seed)
    for _ in range(300):
        y, size = chance.uniform(.05, 6), int(chance.integers(2, 6))
        second = chance.dirichlet(np.ones(size))
        first = second * np.exp(chance.uniform(-y / 2, y / 2, size))
        first /= first.sum()
        own = np.abs(np.log(first / second)).max()
        for order in ORDERS:
            at = divergences(np.log(first)[None], np.log(second)[None], order)[0]
            assert at <= order * float(two(Fraction(own))) * (1 + 1e-9) + 1e-12


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
