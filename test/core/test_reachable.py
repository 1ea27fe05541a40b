# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The numbered chain, against the chain."""
from itertools import pairwise

from hypothesis import given
import numpy as np
from strategies import CHAINS, chains, grid, periodic_chains
from symdp_ros import Chain
from symdp_ros.core.models import Models
from symdp_ros.core.offline.reachable import MODEL_LANES, ReachableChain


def within(chain, moves):
    """Return the states within so many moves of the initial one."""
    states = {chain.initial_state}
    for _ in range(moves):
        states |= {t for s in states for t in chain.successors(s)}
    return states


@given(chains(complete=False))
def test_numbers_and_arrays(chain):
    reachable = ReachableChain(chain)
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
    assert reachable.number[None] == 0
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
    numbers = np.arange(2 * len(targets), dtype=np.float32).reshape(2, -1)
    moves = reachable.moves(Models(('one', 'two'), numbers, np.array([.25, .75]), *chain.csr()))
    assert moves.lanes == MODEL_LANES and not moves.weights[:, 2:].any()
    assert (moves.weights[:, 1] == moves.weights[:, 0] + len(targets)).all()
    assert moves.weights[:, 0].tolist() == [
        own[index[label], index[reachable.label[there]]]
        for number, label in enumerate(reachable.label[1:], 1)
        for there in reachable.successors(number)]


@given(chains(complete=False) | periodic_chains())
def test_mixing_moves(chain):
    reachable = ReachableChain(chain)
    moves = reachable.mixing_moves
    if moves is None:
        return
    ends = []
    for state in reachable.label[1:]:
        states = {state}
        for _ in range(moves):
            states = {t for s in states for t in chain.successors(s)}
        ends.append(states)
    assert all(states == ends[0] for states in ends)


def test_mixing_moves_of_known_chains():
    assert ReachableChain(grid(5)).mixing_moves == 8           # a hub in the middle
    assert ReachableChain(grid(5, staying=False)).mixing_moves is None  # moves change the colour
    assert ReachableChain(CHAINS['ring']).mixing_moves is not None
    # The start is left for good: it does not count.
    assert ReachableChain(Chain({'s': ['a'], 'a': ['a']}, 's')).mixing_moves == 2
    for branches in ({'s': ['a', 'b'], 'a': ['a'], 'b': ['b']}, {'s': ['s', 'a'], 'a': ['a']}):
        assert ReachableChain(Chain(branches, 's')).mixing_moves is None
    path = {'s': ['t'], 't': ['u'], 'u': ['a'], 'a': ['a', 'b'], 'b': ['a']}
    assert ReachableChain(Chain(path, 's')).mixing_moves == 4


@given(chains(complete=False))
def test_zones_stand_together(chain):
    zone_of = np.arange(len(chain)) % 3
    reachable = ReachableChain(chain, zone_of=zone_of)
    assert {*reachable.label[1:]} == within(chain, len(chain))
    assert reachable.label[reachable.initial] == chain.initial_state
    for zone, (begin, end) in enumerate(pairwise(reachable.zone_starts.tolist())):
        assert {zone_of[i] for i in reachable.positions[begin:end]} <= {zone}
