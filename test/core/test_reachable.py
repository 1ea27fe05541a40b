"""The numbered chain, against the chain."""
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import chains, CHAINS, grid, relaxed

from symdp_ros import Chain
from symdp_ros.core import reachable as module
from symdp_ros.core.reachable import ReachableChain


def within(chain, moves):
    """Return the states within so many moves of the initial one."""
    states = {chain.initial_state}
    for _ in range(moves):
        states |= {t for s in states for t in chain.successors(s)}
    return states


@relaxed
@given(chains(complete=False), st.sampled_from([0, 256]))
def test_numbers_and_arrays(chain, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, '_MANY', many)
        reachable = ReachableChain(chain)
    assert set(reachable.label[1:]) == within(chain, len(chain))
    assert reachable.label[:2] == [None, chain.initial_state]
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


@relaxed
@given(chains(complete=False))
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
    assert ReachableChain(grid(5, staying=False)).mixing_moves is None  # two colours
    assert ReachableChain(CHAINS['ring']).mixing_moves is not None
    # The start is left for good: it does not count.
    assert ReachableChain(Chain({'s': ['a'], 'a': ['a']}, 's')).mixing_moves == 2
    assert ReachableChain(Chain({'s': ['a', 'b'], 'a': ['a'], 'b': ['b']}, 's')
                          ).mixing_moves is None
