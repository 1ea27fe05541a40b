# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of zones, floors and polygons as zones."""
from pathlib import Path

import pytest
from refusals import refused
from shared_data import ABSENT
from symdp_ros import ChainError
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.zones import LEVELS, read_zones, zones_text

MAP = TransitionGraph({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', '7'], '7': ['a']}, 'a',
                      'x.yaml', pruned=('gone',))
HOTEL = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'rmf' / 'hotel.building.yaml'
REGIONS = """\
regions:
  a: {polygon: [[0, 0], [1, 0], [1, 1], [0, 1]], zone: west}
  b: {polygon: [[1, 0], [2, 0], [2, 1], [1, 1]], zone: west}
  c: {polygon: [[2, 0], [3, 0], [3, 1], [2, 1]], zone: east}
  7: {polygon: [[3, 0], [4, 0], [4, 1], [3, 1]], zone: east}
"""


def test_a_file_of_zones(tmp_path):
    file = tmp_path / 'zones.yaml'
    file.write_text('zones:\n  west: [a, b, gone]\n  east: [c, 7]\n')
    zones = read_zones(MAP, file)
    assert zones == {'west': ('a', 'b'), 'east': ('c', '7')}
    file.write_text(zones_text(zones))
    assert read_zones(MAP, file) == zones


@pytest.mark.parametrize('text, line, said', [
    ('zones: {west: [a, b]}', None, "2 of 4 states lie in no zone: 'c', '7'"),
    ('zones:\n  west: [a, b, c]\n  east: [c, 7]', 3, "'c' is in the zone 'west', too"),
    ('zones:\n  west: [a, b, c, 7]\n  east: [d]', 3, "'d', which is no state of the map"),
    ('zones:\n  west: [a, b]\n  west: [c, 7]', 3, "'west' is listed twice"),
    ('zones: [a, b]', 1, 'must be a map of the form zone: [state, …]'),
    ('zones:\n  west: []', 2, 'has 0 entries'), ('zones:\n  west: {a: 1}', 2, 'must be a list'),
    ('zone: {}', 1, 'the file has no zones'), ('zones: {}\nrooms: {}', None, "key 'rooms'"),
    ('', None, 'it is empty'), ('[', 2, 'not valid YAML')])
def test_a_wrong_file(tmp_path, text, line, said):
    file = tmp_path / 'zones.yaml'
    file.write_text(text)
    with refused(ChainError, said, path=file, line=line):
        read_zones(MAP, file)


def test_polygons_name_their_zones(tmp_path):
    file = tmp_path / 'map.regions.yaml'
    file.write_text(REGIONS)
    assert read_zones(MAP, file) == {'west': ('a', 'b'), 'east': ('c', '7')}
    graph = read_graph(file, initial_state='a')
    assert read_zones(graph, file) == {'west': ('a', 'b'), 'east': ('c', '7')}
    file.write_text(REGIONS.replace(', zone: east', '', 1))
    with refused(ChainError, '1 of 4 states lie in no zone', path=file, state='c'):
        read_zones(MAP, file)
    file.write_text(REGIONS.replace('zone: west', 'zone: [west]', 1))
    with refused(ChainError, "the zone of 'a'", path=file, line=2):
        read_zones(MAP, file)


def test_floors_are_zones():
    floors = TransitionGraph({'a': ['b'], 'b': ['a']}, 'a', levels={'a': 'L1', 'b': 'L2'})
    assert read_zones(floors, LEVELS) == {'L1': ('a',), 'L2': ('b',)}
    with refused(ChainError, 'the map has no floors', path='x.yaml'):
        read_zones(MAP, LEVELS)


@pytest.mark.skipif(not HOTEL.exists(), reason=ABSENT)
def test_the_floors_of_a_building():
    graph = read_graph(HOTEL, graph=0)
    zones = read_zones(graph, LEVELS)
    assert len(zones) == 3 and sum(map(len, zones.values())) == len(graph.successors)
