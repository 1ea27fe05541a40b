# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The response on counts: never a ratio above e^{ε/k} for one unit, and rows of one total."""
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, exp
from random import Random

import numpy as np
import pytest
from strategies import exp_bounds, per_symbol
from symdp_ros import Privacy
from symdp_ros.core.online.counts import after, response_of, vectors

BLOCKS = [(length, cells) for length in range(1, 7) for cells in (2, 3, 4) if length + cells < 10]
EPSILONS = ((0.3, 1), (0.5, 1), (1.0, 2), (1.0, 1), (2.0, 1), (3.0, 1), (12.0, 3), (700.0, 1))


def rows(response):
    """Return the weights of what is drawn, for each vector that may have been counted."""
    return [response.weights(counted)
            for counted in range(len(vectors(response.length, response.cells)))]


def one_unit(length, cells):
    """Yield the numbers of all pairs of vectors that a change of one symbol can lead between."""
    some = vectors(length, cells)
    for (i, one), (j, other) in product(enumerate(some), repeat=2):
        if sum(abs(x - y) for x, y in zip(one, other, strict=True)) <= 2:
            yield i, j


@pytest.mark.parametrize('epsilon, adjacency', EPSILONS)
def test_one_unit_makes_no_larger_ratio(epsilon, adjacency):
    largest, _ = exp_bounds(per_symbol(epsilon, adjacency))
    found = 0
    for length, cells in BLOCKS:
        response = response_of(length, cells, Privacy(epsilon, adjacency))
        if response is None:
            continue
        found, table = found + 1, rows(response)
        assert {sum(row) for row in table} == {response.total}
        assert min(map(min, table)) >= 0
        shares = np.array([[Fraction(w, response.total) for w in row] for row in table], float)
        assert response.chances == pytest.approx(shares.T, rel=1e-12)
        ratios = {Fraction(p, q) for i, j in one_unit(length, cells)
                  for p, q in zip(table[i], table[j], strict=True) if p != q}
        assert all(ratio <= largest for ratio in ratios)
        # So little is lost by integers.
        assert epsilon > 64 or max(ratios) >= largest * (1 - Fraction(1, 10**6))
    assert found >= len(BLOCKS) - 1


def test_where_a_weight_would_be_negative_there_is_no_response():
    assert response_of(3, 3, Privacy(0.3)) is None
    assert response_of(3, 3, Privacy(0.5)) is not None
    assert all(response_of(length, cells, Privacy(0.0)) is None for length, cells in BLOCKS)


@pytest.mark.parametrize('cells', [2, 3, 4])
def test_one_symbol_has_a_randomized_response(cells):
    response = response_of(1, cells, Privacy(1.0))
    for i, row in enumerate(rows(response)):
        assert [p / response.total for p in row] == pytest.approx(
            [(exp(1.0) if i == j else 1) / (cells - 1 + exp(1.0)) for j in range(cells)])


def test_one_cell_besides_has_geometric_noise():
    response, alpha = response_of(5, 2, Privacy(1.0)), exp(-1)
    for c, row in enumerate(rows(response)):
        for z, p in enumerate(row):
            ends = 1 / (1 + alpha) if z in (0, 5) else (1 - alpha) / (1 + alpha)
            assert p / response.total == pytest.approx(ends * alpha**abs(z - c), rel=1e-6)


@pytest.mark.parametrize('length, cells', BLOCKS)
def test_vectors_and_what_follows_them(length, cells):
    some = vectors(length, cells)
    assert len(some) == comb(length + cells - 1, cells - 1) == len({*some})
    assert list(some) == sorted(some) and {sum(vector) for vector in some} == {length}
    longer = vectors(length + 1, cells)
    for vector, numbers in zip(some, after(length, cells).tolist(), strict=True):
        for cell, number in enumerate(numbers):
            assert [y - x for x, y in zip(vector, longer[number], strict=True)] == [
                int(i == cell) for i in range(cells)]


class Points:
    """Random bits that are given: each point below a total, in turn."""

    def __init__(self, points):
        self._points = iter(points)

    def getrandbits(self, width):
        return next(self._points)


def test_every_point_draws_by_the_weights():
    """Also the points that are rejected."""
    response = response_of(2, 3, Privacy(0.7))
    response._scale, response._factors = [1, 2, 0, 3, 1, 1], [4, 2, 1]
    response.total = 0
    for counted in range(6):
        response.total = max(response.total, sum(response.weights(counted)))
    drawn = [response.draw(Points([2**30, point])) for point in range(response.total)]
    for counted in range(6):
        weights = response.weights(counted)
        found = Counter(row[counted] for row in drawn)
        assert [found[z] for z in range(6)] == weights[:5] + [found[5]]


def test_draws_replay():
    response = response_of(4, 3, Privacy(1.0))
    assert response.draw(Random(7)) == response.draw(Random(7))
    assert len(response.draw(Random(7))) == len(vectors(4, 3))
