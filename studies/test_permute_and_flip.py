# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Permute-and-flip by enumeration: its equation over all words, and what is drawn."""
from collections import Counter
from itertools import product
from math import prod
from random import Random

import numpy as np
from numpy.polynomial import Polynomial
import pytest
from studies.permute_and_flip import PermuteAndFlip
from symdp_ros import Chain, Privacy

CHAIN = Chain({'a': ['a', 'b'], 'b': ['c', 'd'], 'c': ['a', 'd'], 'd': [*'abcd']}, 'a')


def by_enumeration(word, epsilon):
    """Return P[o] of every feasible word, by equation (1) of the module."""
    outputs = [o for o in product(range(4), repeat=len(word)) if CHAIN.is_feasible(
        [CHAIN.states[i] for i in o])]
    d = np.array([sum(a != b for a, b in zip(o, word, strict=True)) for o in outputs])
    factors = [Polynomial([1, -p]) for p in np.exp(-epsilon / 2 * (d - d.min()))]
    return {o: float(-factors[i].coef[1] * prod(
        (f for j, f in enumerate(factors) if j != i), start=Polynomial([1])).integ()(1.0))
        for i, o in enumerate(outputs)}


@pytest.mark.parametrize('epsilon', [0.0, 0.5, 2.0, 8.0])
@pytest.mark.parametrize('word', [(0, 1, 2), (3, 3, 3), (1, 3, 0), (2, 2, 1)])
def test_against_enumeration(word, epsilon):
    mechanism = PermuteAndFlip(CHAIN, Privacy(epsilon), Random(1))
    expected = np.zeros(4)
    for output, chance in by_enumeration(word, epsilon).items():
        expected[sum(a != b for a, b in zip(output, word, strict=True))] += chance
    assert expected.sum() == pytest.approx(1, abs=1e-9)
    assert mechanism.distance_distribution(np.array(word)) == pytest.approx(expected, abs=1e-9)


def test_what_is_drawn():
    """False alarms: about 10⁻⁸ for all outputs together, at 6 standard deviations."""
    word, count = (0, 1, 2), 4_000
    mechanism = PermuteAndFlip(CHAIN, Privacy(2.0), Random(3))
    drawn = Counter(tuple(mechanism.draw(np.array(word)).tolist()) for _ in range(count))
    for output, chance in by_enumeration(word, 2.0).items():
        assert abs(drawn[output] - count * chance) < 6 * (count * chance * (1 - chance))**.5 + 1
