# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where states are drawn."""
from math import dist

import pytest
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.layout import drawn_places

RING = {s: ['abcdefgh'[i - 1], 'abcdefgh'[(i + 1) % 8]] for i, s in enumerate('abcdefgh')}


def test_positions_are_kept():
    graph = TransitionGraph({'a': ['b'], 'b': ['a']}, 'a', positions={'a': (1, 2), 'b': (3, 4)},
                            polygons={'a': ((0, 0), (2, 0), (2, 4))})
    assert drawn_places(graph) == ({'a': (1, 2), 'b': (3, 4)}, {'a': ((0, 0), (2, 0), (2, 4))},
                                   True)


def test_floors_lie_side_by_side():
    graph = TransitionGraph({'a': ['b'], 'b': ['a', 'c'], 'c': ['b']}, 'a',
                            positions={'a': (0, 0), 'b': (4, 1), 'c': (0, 0)},
                            levels={'a': 'L1', 'b': 'L1', 'c': 'L2'})
    places, _, metres = drawn_places(graph)
    assert metres and places == {'a': (0, 0), 'b': (4, 1), 'c': (pytest.approx(4.6), 0)}


def test_a_ring_without_positions_is_drawn_as_one():
    places, polygons, metres = drawn_places(TransitionGraph(RING, 'a'))
    assert not metres and not polygons
    centre = [sum(at[i] for at in places.values()) / 8 for i in (0, 1)]
    assert max(dist(at, centre) for at in places.values()) < 1.05 * min(
        dist(at, centre) for at in places.values())
    beside = [dist(places[s], places[other]) for s, row in RING.items() for other in row]
    assert max(beside) < 1.05 * min(beside)
    assert min(dist(places[a], places[b]) for a in RING for b in RING if a < b) == pytest.approx(
        min(beside))  # neighbours are nearest
    assert drawn_places(TransitionGraph(RING, 'a'))[0] == places


@pytest.mark.parametrize('graph', [
    TransitionGraph({'a': []}, 'a'), TransitionGraph({'a': ['b'], 'b': ['a']}, 'a'),
    TransitionGraph({s: [] for s in 'abcde'}, 'a', complete=True),
    TransitionGraph({'a': ['b'], 'b': ['a'], 'c': ['d'], 'd': ['c']}, 'a'),
    TransitionGraph({**RING, 'z': ['a']}, 'a', positions={'z': (0.0, 0.0)})])
def test_no_two_states_fall_together(graph):
    places, _, metres = drawn_places(graph)
    assert not metres and [*places] == [*graph.successors]
    assert min((dist(places[a], places[b]) for a in places for b in places if a < b),
               default=1) > 0.2
