# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones proposed from the map alone: connected, not too large, and of more than one place."""
from hypothesis import given
from hypothesis import strategies as st
import pytest
from refusals import refused
from strategies import chains, COMPLETE, grid
from symdp_ros import Chain, ChainError, ConfigurationError
from symdp_ros.analysis.zoning import propose_zones


def neighbours(chain, state):
    """Return the states that a move leads to or from."""
    return {s for s in chain.states
            if s != state and (s in chain.successors(state) or state in chain.successors(s))}


def are_connected(chain, states):
    reached = {states[0]}
    for _ in states:
        reached |= {t for s in reached for t in neighbours(chain, s) if t in states}
    return reached == {*states}


@given(chains(max_states=12, complete=False), st.integers(2, 6))
def test_zones_are_connected_and_small(chain, size):
    zones = propose_zones(chain, size)
    assert zones == propose_zones(chain, size)
    zones.numbers(chain)  # each state is in one
    for states in zones.values():
        assert len(states) <= size
        assert are_connected(chain, states)
    for state in zones.alone:  # only where no zone around it has room, or can do without
        for s in neighbours(chain, state):
            states = zones[zones.of(s)]
            assert len(states) == size
            assert len(states) == 2 or not are_connected(chain, [t for t in states if t != s])


@pytest.mark.parametrize('side, size', [(6, 4), (7, 12), (10, 12), (15, 16)])
def test_none_is_of_one_place_where_that_can_be(side, size):
    zones = propose_zones(grid(side), size)
    sizes = sorted(map(len, zones.values()))
    assert sizes[0] >= size // 2 - 1 and sizes[-1] <= size and not zones.alone


def test_who_is_left_over_takes_a_neighbour():
    """Of a row of five in pairs one is left."""
    row = [f's{i}' for i in range(5)]
    chain = Chain({s: [s, *row[max(0, i - 1):i], *row[i + 1:i + 2]] for i, s in enumerate(row)},
                  's0')
    assert sorted(map(len, propose_zones(chain, 3).values())) == [2, 3]
    star = Chain({'hub': ['a', 'b', 'c'], 'a': ['hub'], 'b': ['hub'], 'c': ['hub']}, 'hub')
    assert sorted(map(len, propose_zones(star, 2).values())) == [1, 1, 2]


def test_what_is_refused():
    for size in (1, 0, -3, True, 2.0, 'a'):
        with refused(ConfigurationError, setting='size'):
            propose_zones(grid(2), size)
    with refused(ChainError):
        propose_zones(COMPLETE)
