# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The closest alternative routes, against brute force over all words."""
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st
import pytest
from strategies import chains, grid
from symdp_ros import Chain, ConfigurationError
from symdp_ros.analysis import alternatives
from symdp_ros.analysis.alternatives import (
    differences, fewest_differences, is_adjacent, single_moves)


def test_adjacent_words():
    assert differences('hammer', 'bumper') == 3
    assert differences(['a', None], ['a', 'b']) == 1 and differences([], []) == 0
    assert is_adjacent('hammer', 'bumper', 3) and not is_adjacent('hammer', 'bumper', 2)
    with pytest.raises(ConfigurationError, match='of 1 and 2 symbols'):
        differences(['a'], ['a', 'b'])


@st.composite
def sparse_chains(draw):
    """Chains of up to 4 states with 1 or 2 successors each."""
    names = [f's{i}' for i in range(draw(st.integers(1, 4)))]
    row = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    return Chain({name: draw(row) for name in names}, draw(st.sampled_from(names)))


def brute_force(chain, starts, length):
    """Return the least distance of different words of up to a length with the same ends."""
    least = None
    for start in starts:
        words = [(start,)]
        for _ in range(length):
            words = [(*word, target) for word in words for target in chain.successors(word[-1])]
            for v, w in combinations(words, 2):
                if v[-1] == w[-1]:
                    distance = sum(a != b for a, b in zip(v, w, strict=True))
                    least = distance if least is None else min(least, distance)
    return least


@given(sparse_chains())
def test_against_all_words(chain):
    # 4 states make 6 pairs: 6 positions that differ, and one where the routes meet.
    length = 1 + len(chain) * (len(chain) - 1) // 2
    anywhere = fewest_differences(chain, from_anywhere=True)
    assert anywhere == (brute_force(chain, chain.states, length), True)
    reached = [chain.initial_state]
    for state in reached:
        reached += [target for target in chain.successors(state) if target not in reached]
    assert fewest_differences(chain) == (brute_force(chain, reached, length), True)


@given(sparse_chains(), st.integers(1, 5))
def test_steps_in_parts_give_the_same(chain, most):
    expected = fewest_differences(chain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, '_LARGEST_STEP', most)
        assert fewest_differences(chain) == expected


@given(chains(complete=False))
def test_too_large_a_chain_gets_a_bound(chain):
    exact = fewest_differences(chain).positions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, '_MOST_STATES', 0)
        found = fewest_differences(chain)
    assert found == ((1, True) if exact == 1 else (2, False))


def branches(*lengths):
    """Return a chain in which branches of these lengths lead from `fork` to `end` and back."""
    rows = {'fork': [], 'end': ['fork']}
    for branch, length in enumerate(lengths):
        names = [f'{branch}.{i}' for i in range(length)]
        rows['fork'].append(names[0])
        rows |= {here: [there] for here, there in zip(names, [*names[1:], 'end'], strict=True)}
    return Chain(rows, 'fork')


@pytest.mark.parametrize('chain, positions', [
    (branches(3, 3), 3),
    (branches(7, 4, 4), 4),
    (branches(1, 2), 5),  # 0.0 end fork 1.0 1.1 end, and 1.0 1.1 end fork 0.0 end
    (branches(5), None),
    (grid(3, staying=False), 1),
    (grid(2), 1),
    (Chain({'a': ['b', 'a'], 'b': ['b']}, 'a'), 1),
    (Chain.complete(['x'], 'x'), None),
    (Chain.complete(['x', 'y'], 'x'), 1),
])
def test_by_hand(chain, positions):
    assert fewest_differences(chain) == (positions, True)


def test_only_what_can_be_reached_counts_by_default():
    chain = Chain({'a': ['b'], 'b': ['a'], **{
        s: list(row) for s, row in (('x', 'yz'), ('y', 'x'), ('z', 'x'))}}, 'a')
    assert fewest_differences(chain) == (None, True)
    assert fewest_differences(chain, from_anywhere=True) == (1, True)


def test_a_large_map_is_decided_where_one_position_is_enough():
    side = 120
    rows = {f'{x},{y}': [f'{(x + 1) % side},{y}', f'{x},{(y + 1) % side}']
            for x, y in product(range(side), repeat=2)}
    assert fewest_differences(Chain(rows, '0,0')) == (1, True)
    ring = Chain({str(i): [str((i + 1) % 3000)] for i in range(3000)}, '0')
    assert fewest_differences(ring) == (2, False)


@pytest.mark.parametrize('transitions, text', [
    ({'a': ['a', 'b'], 'b': ['a', 'b']}, None),
    ({'a': ['a', 'b'], 'b': ['a']}, '1 of 2 states allows one move only: there the next'),
    ({'a': ['b'], 'b': ['c'], 'c': ['a', 'b']}, '2 of 3 states allow one move only: there the'),
    ({'a': ['b'], 'b': ['a']}, 'every state allows one move only: the private route is certain'),
])
def test_where_nothing_can_be_hidden(transitions, text):
    found = single_moves(Chain(transitions, 'a'))
    assert found is text or found.startswith(text)


def test_of_an_alphabet_everything_can_be_hidden():
    assert single_moves(Chain.complete(['a', 'b'], 'a')) is None
