# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Integer noise: the distribution that is drawn."""
from collections import Counter
from fractions import Fraction
from math import exp, sqrt

from offline_checks import assert_drawn
import pytest
from strategies import replayable_random
from symdp_ros.core.draws.discrete_laplace import discrete_laplace_deviation, draw_discrete_laplace

SCALES = [Fraction(1, 3), Fraction(1), Fraction(4), Fraction(40, 7)]


def chances(scale, most):
    alpha = exp(-1 / scale)
    return {x: (1 - alpha) / (1 + alpha) * alpha**abs(x) for x in range(-most, most + 1)}


@pytest.mark.parametrize('scale', SCALES)
def test_draws(scale):
    random, n, most = replayable_random(), 20_000, int(8 * scale) + 1
    counts = Counter(min(max(draw_discrete_laplace(scale, random), -most - 1), most + 1)
                     for _ in range(n))
    expected = chances(scale, most)
    beyond = (1 - sum(expected.values())) / 2
    assert_drawn(counts, {**expected, -most - 1: beyond, most + 1: beyond}, n)


@pytest.mark.parametrize('scale', SCALES)
def test_deviation(scale):
    variance = sum(p * x**2 for x, p in chances(scale, 1000).items())
    assert discrete_laplace_deviation(scale) == pytest.approx(sqrt(variance))


def test_a_huge_scale():
    for scale in (10**15, 10**16, 10**30):
        assert discrete_laplace_deviation(Fraction(scale)) == pytest.approx(sqrt(2) * scale, 0.2)
    drawn = [draw_discrete_laplace(Fraction(10**30), replayable_random()) for _ in range(20)]
    assert all(isinstance(x, int) and abs(x) < 10**33 for x in drawn)
