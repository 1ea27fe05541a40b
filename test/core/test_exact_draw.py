# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact draws: every string of bits leads where it should."""
from collections import Counter
from fractions import Fraction
from random import Random
from types import SimpleNamespace

from hypothesis import assume, given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn
import pytest
from strategies import replayable_random
from symdp_ros.core.draws.exact_draw import as_integers, draw_below, draw_index


class Refusing:
    """A `random` that has no bits left."""

    def getrandbits(self, width):
        raise EOFError


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any), st.integers(0, 9))
def test_a_point_is_on_the_weight_that_is_returned(weights, width):
    ends = np.cumsum([0, *weights]).tolist()
    for drawn in range(2**width):
        low, high = (Fraction(d * ends[-1], 2**width) for d in (drawn, drawn + 1))
        on = [i for i in range(len(weights)) if ends[i] <= low and high <= ends[i + 1]]
        try:
            assert [draw_index(weights, Refusing(), drawn, width)] == on
        except EOFError:
            assert not on


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any), st.integers(0, 9),
       st.integers(0, 2**64 - 1), st.data())
def test_later_bits_go_on_where_the_first_ones_ended(weights, width, later, data):
    """Where the first bits of a point do not decide, the next 64 of them do, but for 2⁻⁵⁸."""
    drawn = data.draw(st.integers(0, 2**width - 1))
    point = Fraction(drawn << 64 | later, 2**(width + 64)) * sum(weights)
    ends = np.cumsum(weights).tolist()
    bits = SimpleNamespace(getrandbits=lambda width: later)
    assume(all(abs(point - end) > Fraction(1, 2**58) for end in ends))
    assert draw_index(weights, bits, drawn, width) == sum(end <= point for end in ends)


def test_draws():
    random = replayable_random()
    weights = [3, 0, 10**30, 5 * 10**29, 1]
    n = 20_000
    counts = Counter(draw_index(weights, random) for _ in range(n))
    assert_drawn(counts, {i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}, n)


@pytest.mark.parametrize('count', [1, 2, 3, 8, 11])
def test_uniform_integers(count):
    n = 5_000
    random = replayable_random()
    counts = Counter(draw_below(count, random) for _ in range(n))
    assert_drawn(counts, dict.fromkeys(range(count), Fraction(1, count)), n)


def test_floats_as_integers():
    weights, exponents = np.array([0.75, 1.5, 1 + 2.0**-52]), np.array([-3, 700, -5])
    exact = [Fraction(w) * Fraction(2)**e
             for w, e in zip(weights, exponents.tolist(), strict=True)]
    integers = as_integers(weights, exponents)
    assert {i / e for i, e in zip(integers, exact, strict=True)} == {2**58}


def test_a_weight_of_zero_is_never_drawn():
    """Zones give 0 for the moves that lead out of them, with the largest exponent of all."""
    integers = as_integers(np.array([0.0, 0.5, 0.0, 1.5, 0.0]), np.array([9, 9, 9, 4, 9]))
    assert [i * 2**4 for i in integers] == [0, 2**61, 0, 3 * 2**56, 0]
    width = 5
    drawn = {draw_index(integers, Random(1), point, width) for point in range(2**width)}
    assert drawn == {1, 3}
