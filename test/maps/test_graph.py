# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The structure of a graph against brute force; staying; messages with file and line."""
from math import gcd

from hypothesis import given
from hypothesis import strategies as st
import pytest
from symdp_ros import Chain, ChainError
from symdp_ros.maps.dead_ends import unreached
from symdp_ros.maps.graph import structure, TransitionGraph


@st.composite
def graphs(draw):
    """Graphs of few states: dead ends, lonely states, moves listed twice, some with P."""
    names = [f's{i}' for i in range(draw(st.integers(1, 6)))]
    some = st.lists(st.sampled_from(names), max_size=4)
    rows = {name: draw(some | some.map(lambda row: dict.fromkeys(row, 0.5))) for name in names}
    return TransitionGraph(rows, draw(st.sampled_from([None, *names])))


def reached(rows, start):
    """Return the states that can be reached from `start`, itself included."""
    found, waiting = {start}, [start]
    while waiting:
        new = set(rows[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def period(rows):
    """Return the gcd of the lengths of all closed walks of up to n moves."""
    lengths = []
    for start in rows:
        here = {start}
        for length in range(1, len(rows) + 1):
            here = {target for state in here for target in rows[state]}
            if start in here:
                lengths.append(length)
    return gcd(*lengths)


def entered(rows, state):
    """Return whether another state moves to this one."""
    return any(state in row for other, row in rows.items() if other != state)


@given(graphs())
def test_structure(graph):
    rows = graph.successors
    found = structure(graph)
    ways = {s: reached(rows, s) for s in rows}
    components = {frozenset(t for t in ways[s] if s in ways[t]) for s in rows}
    degrees = [len(set(row)) for row in rows.values()]
    assert found.states == len(rows) and found.edges == sum(degrees)
    assert found.out_degrees == (min(degrees), max(degrees),
                                 pytest.approx(sum(degrees) / len(rows)))
    assert found.strong_components == len(components)
    assert found.period == (period(rows) if len(components) == 1 and any(degrees) else None)
    assert found.without_staying == sum(s not in rows[s] for s in rows)
    assert found.unreachable == (None if graph.initial_state is None else tuple(
        s for s in rows if s not in ways[graph.initial_state]))
    bare = [s for s in rows if not rows[s]]
    assert found.dead_ends == tuple(s for s in bare if entered(rows, s))
    assert found.isolated == tuple(s for s in bare if not entered(rows, s))


@pytest.mark.parametrize('rows, isolated, dead_ends', [
    ({'a': ['b'], 'b': []}, (), ('b',)), ({'a': ['a'], 'b': []}, ('b',), ()),
    ({'a': ['a'], 'b': ['b', 'c'], 'c': ['c']}, (), ()), ({'a': ['a'], 'b': ['a']}, (), ()),
    ({'a': ['b'], 'b': [], 'c': []}, ('c',), ('b',))], ids=str)
def test_states_without_a_successor(rows, isolated, dead_ends):
    """What can stay has one: `symdp check` counts on it."""
    found = structure(TransitionGraph(rows))
    assert (found.isolated, found.dead_ends) == (isolated, dead_ends)


@pytest.mark.parametrize('rows, expected', [
    ({'a': ['b'], 'b': ['c'], 'c': ['a']}, 3), ({'a': ['a']}, 1), ({'a': []}, None),
    ({'a': ['b'], 'b': ['a', 'c'], 'c': ['d'], 'd': ['a']}, 2),
    ({'a': ['b'], 'b': ['a', 'c'], 'c': ['a']}, 1), ({'a': ['b'], 'b': ['b']}, None)])
def test_period_by_hand(rows, expected):
    assert structure(TransitionGraph(rows)).period == expected


@pytest.mark.parametrize('times', [1, 127, 128, 256, 512])
def test_a_move_listed_often_counts_once(times):
    found = structure(TransitionGraph({'a': ['b', 'a'] * times, 'b': ['a']}, 'a', repeated=7))
    assert (found.edges, found.out_degrees, found.without_staying) == (3, (1, 2, 1.5), 1)
    assert (found.period, found.unreachable, found.repeated) == (1, (), 7)


@pytest.mark.parametrize('initial, unreachable', [(None, None), ('b', ())])
def test_structure_of_a_complete_graph(initial, unreachable):
    graph = TransitionGraph({'a': [], 'b': [], 'c': []}, initial, complete=True)
    rows = {s: ['a', 'b', 'c'] for s in 'abc'}
    assert structure(graph) == structure(TransitionGraph(rows, initial))
    assert structure(graph).unreachable == unreachable


@pytest.mark.parametrize('graph, place, reason', [
    (TransitionGraph({}), (None, None, None), 'there are no states: list at least one'),
    (TransitionGraph({}, source='map.yaml'), ('map.yaml', None, None),
     'there are no states: list at least one'),
    (TransitionGraph({'a': ['a']}, 'b', 'map.yaml', initial_line=3), ('map.yaml', 3, 'b'),
     "the initial state 'b' is not a state: name its only state, 'a'"),
    (TransitionGraph({'a': ['b']}, None, 'map.yaml', lines={'a': 7}), ('map.yaml', 7, 'a'),
     "state 'a' lists the successor 'b', which is not a state"),
    (TransitionGraph({'a': {'b': 1.0}}), (None, None, 'a'),
     "state 'a' lists the successor 'b', which is not a state")])
def test_structure_refuses(graph, place, reason):
    with pytest.raises(ChainError) as caught:
        structure(graph)
    error = caught.value
    assert ((error.path, error.line, error.state), error.reason) == (place, reason)


@given(graphs())
def test_self_loops(graph):
    before = {state: list(row) for state, row in graph.successors.items()}
    looped = graph.with_self_loops()
    assert looped.initial_state == graph.initial_state
    for state, row in graph.successors.items():
        new = looped.successors[state]
        assert list(new) == ([*row] if state in row else [*row, state])
        assert isinstance(new, dict) == isinstance(row, dict)
    assert structure(looped).without_staying == 0 and structure(looped).dead_ends == ()
    assert {state: list(row) for state, row in graph.successors.items()} == before


def test_staying_takes_the_share_of_a_uniform_row():
    graph = TransitionGraph({'a': {'b': 0.25, 'c': 0.75}, 'b': {}, 'c': {'c': 0.5, 'a': 0.5}},
                            'a', 'map', {'a': (0.0, 1.0)}, {'a': 3}, repeated=4)
    looped = graph.with_self_loops()
    assert looped.successors == {
        'a': {'b': pytest.approx(1 / 6), 'c': pytest.approx(1 / 2), 'a': pytest.approx(1 / 3)},
        'b': {'b': 1.0}, 'c': {'c': 0.5, 'a': 0.5}}
    assert (looped.initial_state, looped.source, looped.positions, looped.lines, looped.repeated) \
        == ('a', 'map', {'a': (0.0, 1.0)}, {'a': 3}, 4)
    complete = TransitionGraph({'a': [], 'b': []}, 'a', complete=True)
    assert complete.with_self_loops().chain() == Chain.complete(['a', 'b'], 'a')


@pytest.mark.parametrize('graph, initial, place', [
    (TransitionGraph({'a': ['a'], 'b': ['a']}), None, (None, None, None)),
    (TransitionGraph({'a': ['a']}, 'a', 'map', initial_line=1), 'c', ('map', None, 'c')),
    (TransitionGraph({'a': ['a']}, 'c', 'map', initial_line=1), None, ('map', 1, 'c')),
    (TransitionGraph({'a': ['a'], 'b': []}, 'a', 'map', lines={'b': 9}), None, ('map', 9, 'b')),
    (TransitionGraph({'a': ['a'], 'b': []}, 'a', 'map'), None, ('map', None, 'b')),
    (TransitionGraph({'a': ['a'], 'b': []}, 'a'), None, (None, None, 'b'))])
def test_a_graph_that_is_no_chain(graph, initial, place):
    with pytest.raises(ChainError) as caught:
        graph.chain(initial)
    assert (caught.value.path, caught.value.line, caught.value.state) == place
    assert caught.value.__cause__ is None


def test_the_operators_initial_state_wins():
    graph = TransitionGraph({'a': ['b'], 'b': ['a']}, 'a')
    assert graph.chain().initial_state == 'a'
    assert graph.chain('b').initial_state == 'b'


@given(graphs())
def test_states_that_no_route_reaches(graph):
    rows = {state: list(dict.fromkeys([*row, state])) for state, row in graph.successors.items()}
    start = graph.initial_state or next(iter(rows))
    missing = [state for state in rows if state not in reached(rows, start)]
    said = unreached(Chain(rows, start))
    assert (f'reaches {len(missing)} state' in said) if missing else not said


def test_from_a_chain_of_all_moves_every_state_is_reached():
    assert not unreached(Chain.complete(['a', 'b'], 'a'))
