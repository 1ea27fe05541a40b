# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The integers that are drawn: never a ratio above e^{ε/k}, and hardly below the paper's τ.

Bounds are compared in fractions, and the integers a and b with the best ones there are.
"""
from collections import Counter
from fractions import Fraction
from functools import cache

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest
from strategies import exp_bounds, per_symbol, privacies
from symdp_ros import Privacy
from symdp_ros.core.online.response import best_weights, exp_lower_bound, Response, responses

LN_2 = 0.6931471805599453  # the float just below ln 2
EPSILONS = (0.0, 1e-9, 0.1, 0.5, LN_2, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 700.0, 2000.0)
COUNTS = (1, 2, 3, 4, 11, 43, 1000, 100_000)
cases = pytest.mark.parametrize('epsilon, adjacency',
                                [(e, k) for e in EPSILONS for k in (1, 2, 3)])
exp_bounds = cache(exp_bounds)


@cache
def drawn(epsilon, adjacency, count):
    """Return (width, response) for one N."""
    width, made = responses([count], Privacy(epsilon, adjacency))
    return width, made[count]


def paper_tau(epsilon, adjacency, count):
    """Return rational bounds of τ = 1 / ((N−1)·e^{−ε/k} + 1)."""
    lower, upper = exp_bounds(per_symbol(epsilon, adjacency))
    return 1 / ((count - 1) / lower + 1), 1 / ((count - 1) / upper + 1)


def ends(response):
    """Return the chances that an output can have, by the symbol: b/T, a/T and 1/N."""
    others = [Fraction(response.a, response.total)] if response.count > 1 else []
    return [Fraction(response.b, response.total), *others, Fraction(1, response.count)]


def test_the_reference_is_right():
    e = Fraction('2.71828182845904523536028747135266249775724709369995957496696762772407663')
    lower, upper = exp_bounds(Fraction(1))
    assert lower < e + Fraction(1, 10**70) and e < upper and upper - lower < Fraction(1, 10**77)
    lower, upper = exp_bounds(Fraction(1, 3))
    assert lower**3 < exp_bounds(Fraction(1))[1] and exp_bounds(Fraction(1))[0] < upper**3


@cases
def test_no_two_symbols_differ_by_more(epsilon, adjacency):
    largest, _ = exp_bounds(per_symbol(epsilon, adjacency))
    for count in COUNTS:
        _, response = drawn(epsilon, adjacency, count)
        assert 1 <= response.a <= response.b <= response.a * largest
        assert response.total == (count - 1) * response.a + response.b
        chances = ends(response)
        assert all(p <= largest * q for p in chances for q in chances)


@cases
def test_close_to_the_papers_tau(epsilon, adjacency):
    for count in COUNTS:
        lower, upper = paper_tau(epsilon, adjacency, count)
        _, response = drawn(epsilon, adjacency, count)
        tau = Fraction(response.b, response.total)
        assert tau <= upper
        if epsilon / adjacency <= 30:
            assert lower - tau <= Fraction(1, 10**10)
        else:  # as much as fits into 60 bits
            assert 1 - tau <= Fraction(count**2, 2**56)


@pytest.mark.parametrize('epsilon', [0.0, 1e-9, LN_2, 2.0])
def test_hand_computed(epsilon):
    """N = 3: 1/3 at ε = 0; 1/2 at ln 2; e²/(e²+2) = 0.786986 at 2."""
    expected = {0.0: 1 / 3, 1e-9: 1 / 3, LN_2: 1 / 2, 2.0: 0.7869860421615985}
    _, response = drawn(epsilon, 1, 3)
    assert response.b / response.total == pytest.approx(expected[epsilon], abs=1e-9)
    assert (epsilon > 0) or (response.a == response.b == 1)


@cases
def test_shares_of_the_range_are_exact(epsilon, adjacency):
    """Outcomes are r // weight, or the target where r % weight ≥ cut; few r are rejected."""
    for count in COUNTS:
        width, r = drawn(epsilon, adjacency, count)
        assert Fraction(8, 9) <= Fraction(r.limit, 2**width) <= 1
        assert r.limit == count * r.weight and 0 < r.cut <= r.weight
        assert Fraction(r.cut, r.limit) == Fraction(r.a, r.total)
        assert Fraction(r.cut + count * (r.weight - r.cut), r.limit) == Fraction(r.b, r.total)


@pytest.mark.parametrize('epsilon', [0.0, 0.5, LN_2, 2.0, 40.0])
@pytest.mark.parametrize('count', [1, 2, 3, 11])
def test_every_integer_is_read_as_the_distribution(count, epsilon):
    """Of all integers below the limit, those that lead to each outcome are counted."""
    r = Response.fitting(count, exp_lower_bound(Fraction(epsilon)), 10)
    pairs = Counter(r.reader()(np.arange(r.limit, dtype=np.uint32)))
    assert all(type(number) is type(hit) is int for number, hit in pairs)
    for number in range(1, count + 1):
        assert pairs[number, 0] == r.cut and pairs[number, 1] == r.weight - r.cut
    assert set(pairs) <= {(number, hit) for number in range(1, count + 1) for hit in (0, 1)}


@pytest.mark.parametrize('width, dtype', [(30, np.uint32), (60, np.uint64)])
def test_the_ends_of_every_outcome_are_read(width, dtype):
    r = Response.fitting(43, exp_lower_bound(Fraction(2)), width)
    ends = [r.limit - 1, 0, r.cut - 1, r.cut, r.weight - 1, r.weight, 42 * r.weight + r.cut - 1]
    assert r.reader()(np.array(ends, dtype)) == [
        (43, 1), (1, 0), (1, 0), (1, 1), (1, 1), (2, 0), (43, 0)]


def test_each_pair_is_an_object_of_its_own():
    """Of shared pairs, the seldom ones are slow to reach: the time tells which was drawn."""
    r = Response.fitting(43, exp_lower_bound(Fraction(2)), 30)
    pairs = r.reader()(np.zeros(100, np.uint32))
    assert set(pairs) == {(1, 0)} and len(set(map(id, pairs))) == 100


@given(privacies(), st.lists(st.integers(1, 100_000), min_size=1, max_size=5))
def test_several_rows_share_one_width(privacy, counts):
    width, made = responses(counts, privacy)
    largest, _ = exp_bounds(per_symbol(privacy.epsilon, privacy.adjacency))
    assert set(made) == set(counts) and width in (30, 60)
    for count, response in made.items():
        assert response.count == count
        assert 8 * 2**width <= 9 * response.limit <= 9 * 2**width
        assert 1 <= response.a <= response.b <= response.a * largest


@pytest.mark.parametrize('counts, epsilon, width', [
    ([43], 1.0, 30), ([2, 11], 5.0, 30), ([1000], 1.0, 60), ([2, 1000], 1.0, 60), ([2], LN_2, 60),
    ([11_000], 0.0, 30), ([12_000], 0.0, 60)])
def test_the_width_is_the_narrowest_that_is_close_for_every_count(counts, epsilon, width):
    assert responses(counts, Privacy(epsilon))[0] == width


def check_best(count, ratio, largest_total):
    best = max(Fraction(b, a) for a in range(1, largest_total + 1)
               for b in range(a, largest_total + 1)
               if Fraction(b, a) <= ratio and (count - 1) * a + b <= largest_total)
    a, b = best_weights(count, ratio, largest_total)
    assert 1 <= a <= b and (count - 1) * a + b <= largest_total
    assert Fraction(b, a) == best


@pytest.mark.parametrize('count', [1, 2, 3, 5])
@pytest.mark.parametrize('ratio', [Fraction(1), Fraction(1001, 1000), Fraction(22, 5),
                                   Fraction(10**30)])
def test_weights_are_the_best(count, ratio):
    for largest_total in [*range(count, count + 20), 40]:
        check_best(count, ratio, largest_total)


@given(st.integers(1, 4), st.fractions(1, 50, max_denominator=200), st.integers(4, 40))
@example(5, Fraction(28, 5), 48)  # the last that fit
def test_weights_are_the_best_for_any_ratio(count, ratio, largest_total):
    check_best(count, ratio, largest_total)


def test_exp_lower_bound_at_its_ends():
    assert exp_lower_bound(Fraction(0)) == 1
    assert exp_lower_bound(Fraction(65)) == exp_lower_bound(Fraction(64))  # safe, as it is lower
    assert exp_lower_bound(Fraction(10**300)) == exp_lower_bound(Fraction(64))
    # No weights of 60 bits have a ratio above it, so nothing is lost.
    assert exp_lower_bound(Fraction(64)) > 2**60


@given(st.fractions(0, 64))
@example(Fraction(1, 10**30))
@example(Fraction(LN_2))
@example(Fraction(64) - Fraction(1, 10**9))
def test_exp_lower_bound(exponent):
    lower, upper = exp_bounds(exponent, digits=200)
    bound = exp_lower_bound(exponent)
    assert upper * (1 - Fraction(1, 10**40)) < bound <= lower


@pytest.mark.parametrize('count', [1, 2, 3, 4])
@pytest.mark.parametrize('ratio', [Fraction(1), Fraction(3, 2), Fraction(27, 10), Fraction(99)])
def test_a_narrow_response_is_as_exact(count, ratio):
    response = Response.fitting(count, ratio, 10)
    assert response.limit <= 2**10 and Fraction(response.b, response.a) <= ratio
    assert response.total <= 2**10 // (8 * count)
