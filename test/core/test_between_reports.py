# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chain between reports: against the definition, move by move."""
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from refusals import refused
from strategies import chains, COMPLETE
from symdp_ros import Chain, ChainError
from symdp_ros.core.between_reports import between_reports

RING = Chain({'a': ['b', 'a'], 'b': ['c', 'b'], 'c': ['d', 'c'], 'd': ['a', 'd']}, 'a')


def powers(chain, ticks):
    """Return P^ticks in exact arithmetic, of the floats that the chain holds."""
    P = {s: {t: Fraction(p) for t, p in chain.probabilities(s).items()} for s in chain.states}
    rows = {s: {s: Fraction(1)} for s in chain.states}
    for _ in range(ticks):
        rows = {s: {t: sum((p * P[x].get(t, 0) for x, p in row.items()), Fraction(0))
                    for t in chain.states} for s, row in rows.items()}
    return rows


def distance(chain, start, end):
    """Return the fewest moves from one state to another; None where there is no way."""
    seen, moves = {start}, 0
    while end not in seen:
        further = {t for s in seen for t in chain.successors(s)} | seen
        if further == seen:
            return None
        seen, moves = further, moves + 1
    return moves


@given(chains(), st.integers(1, 4), st.integers(1, 3))
def test_against_the_definition(chain, ticks, moves):
    exact, expected = powers(chain, ticks), {}
    for s in chain.states:
        row = {t: p for t, p in exact[s].items()
               if p > 0 and (d := distance(chain, s, t)) is not None and d <= moves}
        expected[s] = {t: float(p / sum(row.values())) for t, p in row.items()}
    if not all(expected.values()):
        with refused(ChainError, state=next(s for s in expected if not expected[s])):
            chain.every(ticks, moves)
        return
    found = chain.every(ticks, moves)
    assert found.states == chain.states and found.initial_state == chain.initial_state
    for s in chain.states:
        assert found.probabilities(s) == pytest.approx(expected[s], rel=1e-9)
        assert set(found.successors(s)) == set(expected[s])


@pytest.mark.parametrize('ways', [127, 128, 255, 256, 384])
def test_a_state_to_which_many_ways_lead(ways):
    middle = [f'm{i}' for i in range(ways)]
    star = Chain({'in': middle, 'out': ['in']} | dict.fromkeys(middle, ['out']), 'in')
    assert star.every(2, 2).successors('in') == ('out',)


def test_one_tick_and_one_move_change_nothing_but_the_order():
    found = RING.every(1, 1)
    for s in RING.states:
        assert found.probabilities(s) == RING.probabilities(s)


def test_an_alphabet_is_itself():
    modes = Chain.complete(['idle', 'busy'], 'idle')
    assert modes.every(30, 1) is modes


def test_a_state_that_cannot_be_near_any_more():
    one_way = Chain({'a': ['b'], 'b': ['c'], 'c': ['c']}, 'a')
    with refused(ChainError, 'within 1 moves of it: allow more moves', state='a'):
        one_way.every(2, 1)


@pytest.mark.parametrize('ticks, moves', product([0, -1, 1.5, True, None, '2'], [1]))
def test_what_is_no_number(ticks, moves):
    for arguments in ((ticks, moves), (moves, ticks)):
        with refused(ChainError, 'whole number'):
            RING.every(*arguments)


def test_large_chains_are_worked_on_in_parts():
    whole, parts = (between_reports(RING.states, *RING.csr(), RING.edge_probabilities()[None], 3,
                                    2, block=block) for block in (1 << 24, 1))
    for one, other in zip(whole, parts, strict=True):
        assert one.tolist() == other.tolist()
    assert whole[2][0].tolist() == RING.every(3, 2).edge_probabilities().tolist()
    assert len(whole[0]) == len(RING) + 1 and whole[0][-1] == len(whole[1])


def test_a_model_that_leads_nowhere_moves_as_the_chain():
    """In the row of 'a' alone, the second model has no move; else it moves on for sure."""
    offsets, targets = RING.csr()
    rows = [RING.states.index(s) for s in 'abcd']
    chain, other = RING.edge_probabilities(), np.zeros(len(targets))
    for row, after in zip(rows[1:], (*rows[2:], rows[0]), strict=True):
        other[offsets[row]:offsets[row + 1]] = targets[offsets[row]:offsets[row + 1]] == after
    ends, places, (found, of_other) = between_reports(
        RING.states, offsets, targets, np.array([chain, other]), 1, 1)
    assert found.tolist() == [0.5] * 8
    for row, state in zip(rows, 'abcd', strict=True):
        expected = {row: 0.5, rows[1]: 0.5} if state == 'a' else {
            row: 0.0, rows[(rows.index(row) + 1) % 4]: 1.0}
        some = slice(ends[row], ends[row + 1])
        assert dict(zip(places[some].tolist(), of_other[some].tolist(), strict=True)) == expected


# Chains that remember their ticks.

def test_chains_of_other_ticks_are_others():
    """Around clockwise or not: two steps lead to the same places."""
    there, back = (Chain({str(i): [str((i + step) % 4)] for i in range(4)}, '0')
                   for step in (1, -1))
    one, other = there.every(2, 2), back.every(2, 2)
    assert one.csr()[1].tolist() == other.csr()[1].tolist() and one != other
    assert one == there.every(2, 2) and hash(one) == hash(there.every(2, 2))
    still = Chain({'a': ['a'], 'b': ['b']}, 'a')
    assert still.every(2, 1) != still.every(3, 1) and still.every(1, 1) != still.every(2, 1)
    assert len({one, other, there.every(2, 2), still.every(2, 1), still.every(3, 1)}) == 4
    assert one != 'one'


def test_ticks_of_ticks():
    street = Chain({'a': ['a', 'b'], 'b': ['b', 'c', 'a'], 'c': ['c', 'd'], 'd': ['d', 'b']}, 'a')
    chain = street.every(2, 1).every(3, 2)
    assert chain.ticks == 6 and chain.single is street
    assert street.ticks == 1 and street.single is street
    assert COMPLETE.every(5, 1).ticks == 1
