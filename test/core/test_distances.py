# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words at each distance: how many, and uniform draws, for chains and alphabets."""
from collections import Counter
from fractions import Fraction
from math import comb, log
from random import Random

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, distance
import pytest
from strategies import (CHAINS, chains, COMPLETE, feasible_words, FOUR, grid,
                        replayable_random, words)
from symdp_ros import Chain
from symdp_ros.core.offline import distances
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.core.offline.distances import AlphabetWords, ChainWords, numbers
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain


def words_of(chain):
    return ChainWords(ReachableChain(chain)) if chain.stores_edges else AlphabetWords(chain)


def exact(counts):
    """Return the m̂_ℓ as fractions."""
    return [Fraction(m) * Fraction(2)**e for m, e in zip(
        counts.mantissa.tolist(), counts.exponent.tolist(), strict=True)]


def exact_counts(chain, word):
    """Return all m_ℓ by the recursion in integers, as polynomials that are one long integer."""
    width = len(word) * 8
    values = dict.fromkeys(chain.states, 1)
    for symbol in reversed(word):
        values = {s: sum(values[t] << (0 if t == symbol else width) for t in chain.successors(s))
                  for s in chain.states}
    value = values[chain.initial_state]
    return [value >> width * d & (1 << width) - 1 for d in range(len(word) + 1)]


@given(st.data())
def test_counts(data):
    chain = data.draw(chains(max_states=4))
    word = data.draw(words(chain, max_size=4))
    space = words_of(chain)
    found = Counter(distance(word, o) for o in feasible_words(chain, len(word)))
    counts = space.counts(numbers(space, word))
    assert exact(counts) == [found[d] for d in range(len(word) + 1)]
    assert exact(counts) == [HammingAutomaton(chain, word, d).word_count
                             for d in range(len(word) + 1)]
    assert counts.present.tolist() == sorted(found)
    assert counts.log == pytest.approx([log(found[d]) for d in sorted(found)])


@pytest.mark.parametrize('chain', [*CHAINS.values(), grid(4)], ids=[*CHAINS, 'grid'])
def test_counts_of_long_words(chain):
    word = Random(1).choices((*chain.states, None), k=300)
    space = words_of(chain)
    found = exact(space.counts(numbers(space, word)))
    u = Fraction(1, 2**53)
    for computed, m in zip(found, exact_counts(chain, word), strict=True):
        if m < 2**53:
            assert computed == m
        else:
            assert abs(computed / m - 1) <= 300 * (space.most_successors + 1) * u


def test_counts_beyond_the_range_of_floats():
    chain = Chain.complete([str(i) for i in range(1_000)], '0')
    space = words_of(chain)
    found = exact(space.counts([1] * 700 + [0] * 300))
    assert found[:300] == [0] * 300
    for d in (300, 301, 650, 1000):
        m = comb(700, d - 300) * 999**(d - 300) * 1000**300
        assert abs(found[d] / m - 1) <= Fraction(1, 2**52)


@pytest.mark.parametrize('chain', [FOUR, COMPLETE, CHAINS['split']])
def test_draws_are_uniform(chain):
    random = replayable_random()
    word = [chain.states[0], None, chain.states[2], chain.states[1]]
    space = words_of(chain)
    for d in range(5):
        expected = [o for o in feasible_words(chain, 4) if distance(word, o) == d]
        if expected:
            n = 1_500
            counts = Counter(tuple(space.label[i] for i in space.draw(
                numbers(space, word), d, random)) for _ in range(n))
            assert_drawn(counts, dict.fromkeys(expected, Fraction(1, len(expected))), n)


def test_one_symbol():
    space = words_of(Chain.complete(['a'], 'a'))
    assert exact(space.counts([1, 0, 1])) == [0, 1, 0, 0]
    assert space.draw([1, 0, 1], 1, Random(0)) == [1, 1, 1]


def test_tables_that_are_not_kept_are_computed_again():
    chain = grid(4)
    space = words_of(chain)
    word = numbers(space, Random(2).choices((*chain.states, None), k=90))
    drawn = {d: space.draw(word, d, Random(d)) for d in (60, 75, 90)}
    for limit in (0, 12 * 17 * 70 * 10):
        again = ChainWords(ReachableChain(chain, LoopSizes(tables_bytes=limit)))
        assert {d: again.draw(word, d, Random(d)) for d in drawn} == drawn
    for d, output in drawn.items():
        assert distance(word, output) == d
        assert chain.is_feasible([space.label[i] for i in output])


@pytest.mark.parametrize('tables, most', [(1_000, 90), (10, 9), (0, 7)])
def test_no_more_tables_are_kept_than_there_is_room_for(monkeypatch, tables, most):
    """There is room for all; for ten, so that parts have six; or for one."""
    made, real = [], distances._Tables._take

    def take(self):
        if not self._free:
            made.append(self)
        return real(self)

    monkeypatch.setattr(distances._Tables, '_take', take)
    chain = grid(4)
    limit = tables * 12 * 17 * 61
    space = ChainWords(ReachableChain(chain, LoopSizes(tables_bytes=limit)))
    assert len(space.draw(numbers(space, ['0,0'] * 90), 60, Random(1))) == 90
    assert len(made) == most


def test_how_far_off_counts_may_be():
    assert words_of(grid(4)).rounding(10) == Fraction(10 * 6, 2**53)
    assert words_of(Chain.complete(list('ab'), 'a')).rounding(10) == Fraction(1, 2**51)


def test_words_of_two_kinds():
    """All near or all far: the exponential mechanism tilted to the middle never gets there."""
    branches = {'x0': ['x0'], 'y0': ['y0', 'z0'], 'z0': ['y0', 'z0']}
    space = words_of(Chain({'start': ['x0', 'y0'], **branches}, 'start'))
    word = numbers(space, ['y0'] * 200)
    counts = space.counts(word)
    assert exact(counts)[200] == 1 and exact(counts)[199] == 1
    for d in (0, 1, 100, 199, 200):
        assert distance(word, space.draw(word, d, Random(d))) == d


def test_the_logarithms_of_large_counts():
    space = words_of(grid(4))
    counts = space.counts([0] * 2_000)
    assert counts.present.tolist() == [2_000]
    matrix = np.zeros((16, 16))
    for i, state in enumerate(grid(4).states):
        matrix[i, [grid(4).states.index(s) for s in grid(4).successors(state)]] = 1
    vector, exponent = np.ones(16), 0.0
    for _ in range(2_000):
        vector = matrix @ vector
        exponent += log(vector.max())
        vector /= vector.max()
    assert counts.log[0] == pytest.approx(exponent + log(vector[0]), rel=1e-12)
