# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The numbered chain, against the chain."""
from math import gcd

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import reached_in
import pytest
from strategies import CHAINS, chains, grid, periodic_chains
from symdp_ros import Chain
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain


def within(chain, moves):
    """Return the states within so many moves of the initial one."""
    states = {chain.initial_state}
    for _ in range(moves):
        states |= {t for s in states for t in chain.successors(s)}
    return states


@given(chains(complete=False), st.sampled_from([0, 256]))
def test_numbers_and_arrays(chain, many):
    reachable = ReachableChain(chain, LoopSizes(columns_from=many))
    assert set(reachable.label[1:]) == within(chain, len(chain))
    assert reachable.label[:2] == ['', chain.initial_state]
    for t in range(len(chain) + 2):
        assert set(reachable.label[1:reachable.reached(t) + 1]) == within(chain, t)
    for state in chain.states:
        number = reachable.number[state]
        if number == 0:
            assert state not in within(chain, len(chain))
            continue
        assert reachable.label[number] == state
        successors = [reachable.label[s] for s in reachable.successors(number)]
        assert tuple(successors) == chain.successors(state)
        column = [reachable.label[s] for s in reachable.columns[:, number] if s]
        assert column == successors[:len(reachable.columns)]
        assert (number in reachable.long_rows) == (len(column) < len(successors))
    assert reachable.number[None] == 0 and not reachable.columns[:, 0].any()
    assert (len(reachable.columns) > 0) == (many == 0)
    for position, state in enumerate(chain.states):
        number = reachable.number[state]
        assert reachable.numbers[position + 1] == number
        assert number == 0 or reachable.positions[number] == position
    assert reachable.numbers[0] == 0 and reachable.positions[0] == -1
    assert reachable.most_successors == max(len(chain.successors(s)) for s in reachable.label[1:])


@given(chains(complete=False))
def test_what_moves_have_is_in_the_order_of_their_targets(chain):
    reachable, index = ReachableChain(chain), chain.state_index
    offsets, targets = chain.csr()
    own = {(s, int(t)): i for s in range(len(chain))
           for i, t in enumerate(targets[offsets[s]:offsets[s + 1]], offsets[s])}
    found = reachable.of_moves(chain, np.arange(len(targets)))
    assert found.tolist() == [own[index[label], index[reachable.label[there]]]
                              for number, label in enumerate(reachable.label[1:], 1)
                              for there in reachable.successors(number)]


@pytest.mark.parametrize('states, kind', [(2**16 - 1, np.uint16), (2**16, np.uint32)])
def test_columns_hold_the_number_of_every_state(states, kind):
    leaves = [f'n{i}' for i in range(states - 1)]
    chain = Chain({'hub': leaves, **dict.fromkeys(leaves, ['hub'])}, 'hub')
    reachable = ReachableChain(chain)
    assert len(reachable) == states and reachable.columns.dtype == kind


def after(chain, moves):
    """Yield what is reached in exactly 0, 1, …, moves moves."""
    states = {chain.initial_state}
    for _ in range(moves + 1):
        yield states
        states = {t for s in states for t in chain.successors(s)}


@given(chains(complete=False) | periodic_chains())
def test_period(chain):
    reachable, times = ReachableChain(chain), {}
    for t, states in enumerate(after(chain, 60)):
        assert states <= {reachable.label[s] for s in reached_in(reachable, t, reachable.period)}
        for state in states:
            times.setdefault(state, []).append(t)
    assert reachable.period == gcd(*(t - ts[0] for ts in times.values() for t in ts))
    for t in range(10):
        states = reached_in(reachable, t, reachable.period).tolist()
        assert {reachable.label[s] for s in states} == {
            s for s, ts in times.items() if ts[0] <= t and (t - ts[0]) % reachable.period == 0}
        assert reached_in(reachable, t).tolist() == [*range(1, reachable.reached(t) + 1)]


@given(chains(complete=False) | periodic_chains())
def test_mixing_moves(chain):
    reachable = ReachableChain(chain)
    moves = reachable.mixing_moves
    if moves is None:
        return
    period = reachable.period
    for t in range(period):
        ends = []
        for state in reached_in(reachable, len(chain) * period + t, period).tolist():
            states = {reachable.label[state]}
            for _ in range(moves):
                states = {t for s in states for t in chain.successors(s)}
            ends.append(states)
        assert all(states == ends[0] for states in ends)


def test_mixing_moves_of_known_chains():
    assert ReachableChain(grid(5)).mixing_moves == 8           # a hub in the middle
    coloured = ReachableChain(grid(5, staying=False))
    assert (coloured.period, coloured.mixing_moves) == (2, 7)  # moves change the colour
    assert ReachableChain(CHAINS['ring']).mixing_moves is not None
    # The start is left for good: it does not count.
    assert ReachableChain(Chain({'s': ['a'], 'a': ['a']}, 's')).mixing_moves == 2
    for branches in ({'s': ['a', 'b'], 'a': ['a'], 'b': ['b']}, {'s': ['s', 'a'], 'a': ['a']}):
        assert ReachableChain(Chain(branches, 's')).mixing_moves is None
    path = {'s': ['t'], 't': ['u'], 'u': ['a'], 'a': ['a', 'b'], 'b': ['a']}
    assert ReachableChain(Chain(path, 's')).mixing_moves == 4
    three = {'a': ['b', 'c'], 'b': ['d'], 'c': ['d', 'e'], 'd': ['a'], 'e': ['a']}
    assert (ReachableChain(Chain(three, 'a')).period,
            ReachableChain(Chain(three, 'a')).mixing_moves) == (3, 4)
