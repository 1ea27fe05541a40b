# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Permute-and-flip: the closed form and the draw against the algorithm itself, in fractions."""
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import comb, exp, expm1, inf, log, log1p, log2

from hypothesis import assume, example, given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, assert_private, distance
import pytest
from strategies import CHAINS, feasible_words, replayable_random, thorough
from symdp_ros import Privacy
from symdp_ros.core.offline import noisy_maximum
from symdp_ros.core.offline.backward import match_ratio
from symdp_ros.core.offline.distances import Counts
from symdp_ros.core.offline.noisy_maximum import draw_distance, log_probabilities, rounding_reserve


def counts_of(numbers):
    """Return Counts of integers of any size, to 53 bits."""
    mantissa, exponent = np.zeros(len(numbers)), np.zeros(len(numbers), np.int64)
    for i, number in enumerate(numbers):
        if number:
            exponent[i] = number.bit_length() - 1
            mantissa[i] = float(Fraction(number, 2**(number.bit_length() - 1)))
    return Counts(mantissa, exponent)


def permute_and_flip(numbers, ratio):
    """
    Return P[o] for one word at each distance, from the algorithm as it is defined.

    Take the candidates in random order; accept one with p = R^{−(ℓ−ℓ_min)}, else go on.
    """
    first = next(d for d, m in enumerate(numbers) if m)
    p = [Fraction(ratio)**(first - d) for d in range(len(numbers))]

    @cache
    def chances(left):
        """Return the chance that each distance is accepted, given how many are left at each."""
        result = [Fraction(0)] * len(left)
        for d, m in enumerate(left):
            if m:
                taken = Fraction(m, sum(left))
                result[d] += taken * p[d]
                if p[d] < 1:
                    after = chances((*left[:d], m - 1, *left[d + 1:]))
                    result = [r + taken * (1 - p[d]) * a
                              for r, a in zip(result, after, strict=True)]
        return result

    return [c / m if m else Fraction(0)
            for c, m in zip(chances(tuple(numbers)), numbers, strict=True)]


def closed_form(numbers, ratio):
    """Return the same by equation (2): the integral of a polynomial, in fractions."""
    first = next(d for d, m in enumerate(numbers) if m)
    p = [Fraction(ratio)**(first - d) for d in range(len(numbers))]
    result = []
    for d, m in enumerate(numbers):
        polynomial = [Fraction(1)]
        for j, others in enumerate(numbers):
            for _ in range(others - (j == d)):
                polynomial = [a - p[j] * b for a, b in zip([*polynomial, 0], [0, *polynomial],
                                                           strict=True)]
        integral = sum(c / (i + 1) for i, c in enumerate(polynomial))
        result.append(p[d] * integral if m else Fraction(0))
    return result


multiplicities = st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(
    lambda m: 0 < sum(m) <= 12)
ratios = st.sampled_from([1.0, 1.25, 2.0, 7.0, 2.0**40])


@given(multiplicities, ratios)
def test_the_closed_form(numbers, ratio):
    exact = permute_and_flip(numbers, ratio)
    assert exact == closed_form(numbers, ratio)
    assert sum(m * p for m, p in zip(numbers, exact, strict=True)) == 1
    computed = log_probabilities(counts_of(numbers), ratio)
    for log_p, p in zip(computed, exact, strict=True):
        assert log_p == -inf if p == 0 else abs(exp(log_p) / p - 1) < 1e-9


@given(st.integers(1, 40), st.integers(1, 40), st.floats(1, 100))
def test_middling_counts(first, second, ratio):
    computed = log_probabilities(counts_of([first, second]), ratio)
    for log_p, p in zip(computed, closed_form([first, second], ratio), strict=True):
        assert abs(exp(log_p) / p - 1) < 1e-9


@pytest.mark.parametrize('bits', [0, 1, 10, 60, 2_000, 100_000])
@pytest.mark.parametrize('ratio', [1.0, 1 + 2.0**-40, 2.0, 2.0**40])
def test_huge_counts(bits, ratio):
    """Of one distance, 1/m; of one word and m others, ∫ (1−x/R)^m dx in closed form."""
    m = 2**bits
    none, all_ = log_probabilities(counts_of([0, m]), ratio)
    assert none == -inf and all_ == pytest.approx(-bits * log(2), rel=1e-13, abs=1e-9)
    nearest, others = log_probabilities(counts_of([1, m]), ratio)
    if ratio == 1:
        tail = -inf
    else:
        tail = (m + 1) * log1p(-1 / ratio) if bits < 1_000 else -inf
    expected = log(ratio) + log(-expm1(tail)) - (log(m + 1) if bits < 1_000 else bits * log(2))
    assert nearest == pytest.approx(expected, rel=1e-12, abs=1e-9)
    if bits <= 60:
        assert exp(nearest) + m * exp(others) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize('n, symbols', [(100, 5), (1_000, 43), (3_000, 10)])
@pytest.mark.parametrize('epsilon', [0.01, 2.0, 50.0])
def test_probabilities_sum_to_one(n, symbols, epsilon):
    m, counts = 1, []
    for d in range(n + 1):
        counts.append(m)
        m = m * (n - d) * (symbols - 1) // (d + 1)
    counts = counts_of(counts)
    total = np.exp(log_probabilities(counts, exp(epsilon / 2)) + counts.log).sum()
    assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize('v', [-1e-12, -1e-5, -0.3, -0.69, -0.71, -1.0, -30.0, -700.0])
def test_logarithms_of_differences(v):
    with localcontext() as context:
        context.prec = 400
        exact = (1 - Decimal(v).exp()).ln()
        hazard = float((-exact).ln())
    assert noisy_maximum._log_one_minus_exp(np.array([v])) == pytest.approx(
        [float(exact)], rel=1e-14)
    assert noisy_maximum._log_hazard(np.array([v])) == pytest.approx([hazard], rel=1e-13)


@pytest.mark.parametrize('n, symbols', [(1, 3), (20, 2), (60, 5), (300, 43)])
@pytest.mark.parametrize('epsilon', [0.0, thorough(0.01), 1.0, *map(thorough, (3.0, 10.0)), 60.0])
def test_what_counts_together_is_the_same_one_by_one(n, symbols, epsilon, monkeypatch):
    """−ln(1 − v) is v where v < e⁻³⁶."""
    counts = counts_of([comb(n, d) * (symbols - 1)**d for d in range(n + 1)])
    ratio = min(2.0**40, exp(epsilon / 2))
    together = log_probabilities(counts, ratio)
    monkeypatch.setattr(noisy_maximum, '_STRAIGHT', -inf)
    assert together == pytest.approx(log_probabilities(counts, ratio), rel=1e-12, abs=1e-11)


@pytest.mark.parametrize('numbers, ratio', [
    thorough([1, 4, 4], 1.5), ([0, 3, 0, 2, 1], 2.0), thorough([1, 1], 1.0), ([2, 3, 4], 1.0),
    ([7], 3.0),
    ([1, 50, 2**70, 2**300], 2.0**40)])
def test_draws(numbers, ratio):
    random = replayable_random()
    n = 700
    counts = counts_of(numbers)
    drawn = Counter(draw_distance(counts, ratio, random) for _ in range(n))
    expected = np.exp(log_probabilities(counts, ratio)[counts.present] + counts.log)
    assert_drawn(drawn, dict(zip(counts.present.tolist(), expected.tolist(), strict=True)), n)


class Bits:
    """A `random` that yields what it is given, in this order."""

    def __init__(self, *bits):
        self._bits = list(bits)

    def getrandbits(self, width):
        bits = self._bits.pop(0)
        assert bits < 2**width
        return bits


@pytest.mark.parametrize('bits, winner', [
    ((5, 7), 1), ((7, 5), 0), ((5, 6, 9, 0), 1), ((5, 5, 2**31, 7), 0), ((5, 5, 7, 2**31), 1),
    ((0, 0, 0, 0, 0, 2), 1), ((2**32 - 1, 2**32 - 1, 2**32 - 1, 0), 0),
    ((0, 0, 3, 3, 3, 3, 10, 3), 0)])
def test_ties_draw_more_bits(bits, winner):
    """Two single words of equal utility: the larger U wins."""
    assert draw_distance(counts_of([1, 1]), 1.0, Bits(*bits)) == winner


def score(m, distance, ratio, u, width):
    """Return −ℓ·ln R − ln(1 − U^{1/m}) to hundreds of digits."""
    with localcontext() as context:
        context.prec = 400
        z = -(Decimal(u) / 2**width).ln() / Decimal(m)
        return -(1 - (-z).exp()).ln() - distance * Decimal(ratio).ln()


@example(101_548_213_248_574_968_287_632_696_333_414_957_056, 0, 1.0, 1)
@example(50_774_106_624_287_495_949_011_978_300_929_605_532, 0, 1.0, 2)
@example(933_924_622_228_136_960 * 10**112, 0, 1.0, 1)  # z just below 10⁻¹²⁸
@given(st.integers(1, 2**300) | st.integers(1, 20) | st.integers(0, 300).map(lambda i: 2**i),
       st.integers(0, 50), st.floats(1, 2.0**40),
       st.integers(0, 2**32 - 1) | st.integers(2**32 - 9, 2**32 - 1) | st.integers(0, 9))
def test_the_ends_of_a_score(m, distance, ratio, u):
    """What is computed encloses the score at any U between, closely."""
    counts = counts_of([0] * distance + [m])
    m = Fraction(counts.mantissa[distance]) * 2**int(counts.exponent[distance])
    for width in 32, 64, 128:
        with localcontext() as context:
            context.prec = 2 * width
            low, high = noisy_maximum._scores(counts, ratio, {distance: u}, width)
        slack = Fraction(10)**(5 - width)
        if u:
            exact = score(m.numerator, distance, ratio, u, width)
            assert low[distance] <= exact and Fraction(exact) <= Fraction(low[distance]) + slack
        if u + 1 < 2**width:
            exact = score(m.numerator, distance, ratio, u + 1, width)
            assert exact <= high[distance] and Fraction(high[distance]) <= Fraction(exact) + slack
        else:
            assert high[distance] == Decimal('Infinity')


@given(st.integers(1, 20), st.floats(1, 10), st.integers(0, 2**32 - 1),
       st.tuples(*[st.integers(0, 2**32 - 1)] * 2))
def test_scores_that_are_close_draw_more_bits(m, ratio, u, more):
    """One word at 0, m at 1: the first bits of both U are chosen to score the same."""
    with localcontext() as context:
        context.prec = 60
        same = -(score(1, 0, ratio, u + Decimal('0.5'), 32) + Decimal(ratio).ln())
        other = int((1 - same.exp())**m * 2**32)
    (low, high), (other_low, other_high) = (
        [score(count, d, ratio, (first << 32) + bits + end, 64) for end in (0, 1)]
        for d, (count, first, bits) in enumerate(zip((1, m), (u, other), more, strict=True)))
    assume(low > other_high or other_low > high)
    assert draw_distance(counts_of([1, m]), ratio, Bits(u, other, *more)) == (low < other_low)


@given(st.lists(st.integers(0, 2**64) | st.integers(0, 300).map(lambda i: 2**i), min_size=1,
                max_size=5).filter(any), st.floats(1, 2.0**40), st.data())
def test_what_is_left_out_is_far_behind(numbers, ratio, data):
    """Rough scores are off by far less than 1/2: for the smallest U, too."""
    counts = counts_of(numbers)
    drawn = {d: data.draw(st.integers(0, 2**32 - 1) | st.integers(0, 9))
             for d in counts.present.tolist()}
    rough = noisy_maximum._rough_scores(counts, ratio, np.array([*drawn.values()]))
    with localcontext() as context:
        context.prec = 64
        exact = noisy_maximum._scores(counts, ratio, drawn, 32)
    for ends, expected in zip(rough, exact, strict=True):
        assert ends == pytest.approx([float(end) for end in expected.values()], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize('length, most, per_symbol', [
    (1, 1, Fraction(1, 10)), (10, 3, Fraction(1)), (7, 4, Fraction(56)), (30, 43, Fraction(200))])
def test_the_reserve(length, most, per_symbol):
    """5·θ·(1 + L), L = n·(ln N + ln R), ln R = ε/2k ≤ 40·ln 2; or a little more."""
    theta = Fraction(1, 2**50)
    found = float(rounding_reserve(theta, length, most, per_symbol) / (5 * theta))
    log_ratio = min(float(per_symbol / 2), 40 * log(2))
    assert 1 + length * (log(most) + log_ratio) <= found
    assert found <= 1 + length * (log2(most) + 1 + log_ratio + 0.3)


@pytest.mark.parametrize('epsilon, adjacency', [
    thorough(0.0, 1), (0.1, 1), thorough(2.0, 1), (2.0, 2), thorough(2000.0, 3)])
@pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
def test_every_adjacent_pair_and_output(chain, epsilon, adjacency):
    """With the R that is used; the counts of short words are exact."""
    length = 2
    per_symbol = Privacy(epsilon, adjacency).epsilon_per_symbol
    reserve = rounding_reserve(Fraction(length * 5, 2**53), length, 4, per_symbol)
    ratio = match_ratio(per_symbol, reserve)
    assert 0 < reserve < 1e-11
    outputs = list(feasible_words(chain, length))
    chances = cache(lambda numbers: closed_form(numbers, ratio))

    def law(word):
        found = Counter(distance(word, o) for o in outputs)
        by_distance = chances(tuple(found[d] for d in range(length + 1)))
        return {o: by_distance[distance(word, o)] for o in outputs}

    assert_private(chain, length, epsilon, adjacency, law)


def test_it_errs_no_more_than_the_exponential_mechanism():
    for numbers in ([1, 3, 5, 2], [0, 2, 7], [1, 1, 1, 1, 30]):
        for ratio in (1.1, 2.0, 10.0):
            chances = np.array(numbers) * np.exp(log_probabilities(counts_of(numbers), ratio))
            weights = np.array(numbers) * ratio**-np.arange(len(numbers), dtype=float)
            errors = np.arange(len(numbers))
            assert (chances * errors).sum() <= (weights * errors).sum() / weights.sum() + 1e-12
