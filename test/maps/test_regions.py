# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Regions files: as maps, as polygons of another map, and what is refused."""
from pathlib import Path
import sys

import pytest
from refusals import refused
from shared_data import shared
from symdp_ros import ChainError, ConfigurationError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.regions import polygons_of, read_locator, read_places, read_regions

ROOT = Path(__file__).resolve().parents[2]

HOUSE = """\
initial_state: dock
regions:
  dock: [[0, 0], [4, 0], [4, 3], [0, 3]]
  aisle_1: {polygon: [[4.02, 0], [9, 0], [9, 3], [4.02, 3]], level: L1}
  aisle_2: {polygon: [[4, 0], [9, 0], [9, 3], [4, 3]], level: L2}
  12: [[9, 3], [10, 3], [10, 4], [9, 4]]          # meets the aisles at a corner
  shed: [[20, 0], [20, 1], [21, 1], [21, 0], [20, 0]]
"""


@pytest.fixture
def house(tmp_path):
    def write(*changes, text=HOUSE):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        file = tmp_path / 'house.regions.yaml'
        file.write_text(text)
        return file
    return write


def test_as_a_map(house):
    found = read_graph(house())
    assert found.successors == {'dock': ['aisle_1', 'aisle_2'], 'aisle_1': ['dock'],
                                'aisle_2': ['dock'], '12': [], 'shed': []}
    assert found.initial_state == 'dock' and found.lines['aisle_2'] == 5
    assert found.levels == {'aisle_1': 'L1', 'aisle_2': 'L2'}
    assert found.positions['dock'] == pytest.approx((2, 1.5))
    assert found.polygons['shed'] == ((20, 0), (20, 1), (21, 1), (21, 0))
    pruned = read_graph(house(), prune=True)
    assert set(pruned.polygons) == set(pruned.positions) == {'dock', 'aisle_1', 'aisle_2'}
    looped = read_chain(house(), self_loops=True)
    assert looped.is_feasible(['dock', 'aisle_2', 'dock', 'aisle_1'])
    assert read_graph(house(), self_loops=True).polygons == found.polygons
    assert read_graph(house()).with_stay(0.5).levels == found.levels


@pytest.mark.parametrize('gap, touch', [(0, True), (0.049, True), (0.051, False), (-0.04, True)])
def test_what_touches(house, gap, touch):
    text = (f'regions: {{a: [[0, 0], [1, 0], [1, 1], [0, 1]], '
            f'b: [[{1 + gap}, 0], [2, 0], [2, 1], [{1 + gap}, 1]]}}')
    assert read_graph(house(text=text)).successors['a'] == ['b'] * touch


@pytest.mark.parametrize('width, touch', [(0.21, True), (0.05, False)])
def test_how_wide_a_passage_is(house, width, touch):
    text = (f'regions: {{a: [[0, 0], [1, 0], [1, 1], [0, 1]], '
            f'b: [[1, {1 - width}], [2, {1 - width}], [2, 2], [1, 2]]}}')
    assert read_graph(house(text=text)).successors['b'] == ['a'] * touch


SQUARE = '[[0, 0], [4, 0], [4, 3], [0, 3]]'


@pytest.mark.parametrize('new, line, text', [
    ('[[0, 0], [4, 0]]', 3, "the polygon 'dock' has 2 different corners where 3 are needed"),
    ('[[0, 0], [4, 0], [0, 0]]', 3, "'dock' has 2 different corners"),
    ('[[0, 0], [4, 0], [4, 0], [0, 0]]', 3, "'dock' has 2 different corners"),
    ('[]', 3, "'dock' has 0 different corners"),
    ('[[0, 0], [4, 3], [4, 0], [0, 3]]', 3, "the polygon 'dock' crosses or touches itself"),
    ('[[0, 0], [4, 0], [2, 0]]', 3, "'dock' crosses or touches itself"),
    ('[[0, 0], [0.01, 0], [0.01, 0.001]]', 3, "the polygon 'dock' has an area of 5e-06 m²"),
    ('[[0, 0], [.nan, 0], [4, 3]]', 3, "a coordinate of 'dock' must be a finite number"),
    ('[[0, 0], [1e400, 0], [4, 3]]', 3, "a coordinate of 'dock' must be a finite number"),
    ('[[0, 0], ["4", 0], [4, 3]]', 3, "a coordinate of 'dock' must be a finite number"),
    ('[[0, 0], [1e10, 0], [4, 3]]', 3, "a corner of 'dock' is farther away than 1e+09 m"),
    ('[[0, 0], [4, 0, 1], [4, 3]]', 3, "a corner of 'dock' has 3 numbers: it must be [x, y]"),
    ('[0, 0, 4, 0, 4, 3]', 3, "a corner of 'dock' must be a list, such as [4.0, 2.5]"),
    ('[[[0, 0], [4, 0], [4, 3]], [[1, 1], [2, 1], [2, 2]]]', 3, 'holes are not supported'),
    ('4', 3, "the polygon 'dock' must be a list, such as [[0, 0]"),
    ('{corners: []}', 3, "the region 'dock' has no polygon"),
    ('{polygon: [[0, 0], [1, 0], [0, 1]], floor: 1}', 3, "'dock' has the unknown key 'floor'"),
    ('[[5, 1], [6, 1], [6, 2]]', 4, "the polygon of 'aisle_1' overlaps that of 'dock' by 0.5 m²"),
    ('[[4.02, 0], [9, 0], [9, 3], [4.02, 3]]', 4, "of 'aisle_1' is the same as that of 'dock'"),
    ('[[9, 3], [9, 0], [4.02, 0], [4.02, 3]]', 4, "of 'aisle_1' is the same as that of 'dock'"),
])
def test_polygons_that_are_refused(house, new, line, text):
    file = house((SQUARE, new))
    with refused(ChainError, text, path=file, line=line):
        read_graph(file)


@pytest.mark.parametrize('old, new, line, text', [
    ('  shed', '  dock', 7, "'dock' is listed twice (first in line 3)"),
    ('initial_state', 'start', None, "unknown key 'start': a regions file has the keys"),
    ('dock: ', '"": ', 3, 'a key of regions is empty'),
    ('initial_state: dock', 'initial_state: [dock]', 1, 'initial_state must be a name'),
])
def test_files_that_are_refused(house, old, new, line, text):
    file = house((old, new))
    with refused(ChainError, text, path=file, line=line):
        read_graph(file)


def test_an_initial_state_without_a_region(house):
    file = house(('initial_state: dock', 'initial_state: dok'))
    with refused(ChainError, path=file, line=1, state='dok'):
        read_chain(file, self_loops=True)


@pytest.mark.parametrize('regions, text', [
    (', '.join(f'r{i}: *dock' for i in range(10_000)),
     'there are 10,001 regions: at most 10,000 are allowed'),
    (', '.join(f'r{i}: {{polygon: *dock, level: {i}}}' for i in range(101)),
     'there are 101 levels: at most 100 are allowed'),
    (f'r: [{"[0, 0], " * 10_001}]', "the polygon 'r' has 10,001 corners: at most 10,000")],
    ids=['regions', 'levels', 'corners'])
def test_there_are_at_most_so_many(house, regions, text):
    file = house(text=f'regions: {{dock: &dock {SQUARE}, {regions}}}')
    with refused(ChainError, text, path=file, line=1):
        read_graph(file)


def a_map(*states, **options):
    return TransitionGraph({state: list(states) for state in states}, source='the map', **options)


def test_a_regions_file_locates_by_its_own_polygons(house):
    locator = read_locator(read_graph(house()))
    assert locator.locate(1, 1) == 'dock' and locator.locate(15, 1) is None
    assert locator.locate(5, 1, 'L2') == 'aisle_2' and locator.locate(9.5, 3.5, 'L3') == '12'
    assert read_locator(read_graph(house()), max_distance=6).locate(15, 0.5) == 'shed'


def test_polygons_of_another_map(house):
    names = ('dock', 'aisle_1', 'aisle_2', '12', 'shed', 'attic')
    graph = a_map(*names, positions={'attic': (50, 50), 'dock': (0, 0)})
    locator = read_locator(graph, house(), hysteresis=0.5)
    assert locator.locate(1, 1) == 'dock' and locator.locate(50, 50) is None
    places = read_places(graph, house())
    assert list(places) == list(names)
    assert places['attic'].corners == () and len(places['dock'].corners) == 4


def test_a_polygon_that_names_no_state(house):
    file = house()
    with refused(ChainError, "did you mean 'Dock'", path=file, line=3, state='dock'):
        read_locator(a_map('Dock', 'aisle_1', 'aisle_2', '12', 'shed'), file)
    graph = a_map('aisle_1', 'aisle_2', '12', 'shed', pruned=('dock',))
    assert set(polygons_of(graph, read_regions(house()))) == set(graph.successors)


def test_nodes_of_a_map():
    graph = a_map('a', 'b', 'c', positions={'a': (0, 0), 'b': (4, 0)}, levels={'b': 'L2'})
    assert read_locator(graph).locate(3, 0) == 'b'
    assert read_locator(graph).locate(3, 0, 'L1') == 'a'
    assert set(read_places(graph)) == {'a', 'b'}


def test_a_map_without_positions(house):
    with refused(ConfigurationError, setting='regions_file', path='the map'):
        read_locator(a_map('a'))
    empty, other = house(text='regions: {}\n'), ROOT / 'config' / 'warehouse.chain.yaml'
    with refused(ConfigurationError, setting='regions_file', path=empty):
        read_locator(a_map('a', positions={'a': (0, 0)}), empty)
    with refused(ChainError, 'this is no regions file', path=other):
        read_locator(a_map('a'), other)


@pytest.mark.parametrize('name', ['route_aws_graph', 'bringup_warehouse_graph'])
def test_every_node_of_a_real_map_is_found(name):
    file = shared('nav2', f'{name}.geojson')
    graph = read_graph(file)
    locator = read_locator(graph, hysteresis=0.05)
    for state, (x, y) in graph.positions.items():
        found = locator.locate(x, y)
        assert graph.positions[found] == pytest.approx((x, y), abs=0.05), state


def test_floors_of_a_real_building():
    file = shared('rmf', 'hotel.building.yaml')
    graph = read_graph(file, graph=0)
    assert set(graph.levels.values()) == {'L1', 'L2', 'L3'}
    assert set(graph.levels) == set(graph.successors)
    locator = read_locator(graph)
    for state, (x, y) in graph.positions.items():
        assert locator.locate(x, y, graph.levels[state]) == state
    assert locator.locate(0, 0, 'L4') is None


def test_without_shapely_a_sentence_says_what_to_install(house, monkeypatch):
    monkeypatch.setitem(sys.modules, 'shapely', None)
    file = house()
    with refused(ConfigurationError, 'install python3-shapely', path=file):
        read_graph(file)
