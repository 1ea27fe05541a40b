# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Open-RMF buildings: the shared maps' numbers, labels, lifts, positions, damage."""
from pathlib import Path
import sys

from hypothesis import given
from hypothesis import strategies as st
import pytest
from refusals import refused
from shared_data import shared, shared_case
from symdp_ros import ChainError, ConfigurationError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.formats.rmf_frame import aligned, Fiducial, Similarity
from symdp_ros.maps.graph import structure
from symdp_ros.maps.regions import read_locator


#: From the maps' own description: file, graph → states, edges, named, period.
MAPS = {
    ('office', None): (29, 60, 14, 1),
    ('hotel', 0): (55, 116, 10, 1),
    ('hotel', 1): (20, 38, 5, 2),
    ('hotel', 2): (54, 114, 9, 1),
    ('triple_H', None): (23, 44, 8, 2),
}

#: Two floors, one lift that stops at both, one that has doors on one alone; two graphs.
BUILDING = """\
coordinate_system: reference_image
levels:
  L1:
    elevation: 0
    lanes:
      - [1, 2, {bidirectional: [4, true], graph_idx: [2, 0], orientation: [1, ""]}]
      - [2, 3, {bidirectional: [4, false], graph_idx: [2, 0]}]
      - [3, 1, {graph_idx: [2, 0]}]
      - [3, 1, {graph_idx: [2, 0]}]
      - [3, 4, {bidirectional: [4, true], graph_idx: [2, 0]}]
      - [1, 2, {bidirectional: [4, true], graph_idx: [2, 2]}]
    measurements:
      - [0, 1, {distance: [3, 5]}]
    vertices:
      - [0, 0, 0, ""]
      - [60, 80, 0, hall]
      - [20, 10, 0, "", {lift_cabin: [1, lift_a]}]
      - [30, 10, 0, "", {lift_cabin: [1, lift_b]}]
      - [40, 10, 0, 12, {is_charger: [4, true]}]
    walls:
      - [0, 1, {alpha: [3, 1]}]
  L2:
    elevation: 8
    lanes:
      - [0, 1, {bidirectional: [4, true], graph_idx: [2, 0]}]
      - [0, 2, {bidirectional: [4, true]}]
    vertices:
      - [20, 10, 0, "", {lift_cabin: [1, lift_a]}]
      - [30, 10, 0, hall, {lift_cabin: [1, lift_b]}]
      - [50, 25, 0, ""]
lifts:
  lift_a: {level_doors: {L1: [door_a], L2: [door_a]}, x: 20, y: 10}
  lift_b: {level_doors: {L1: [door_b], L2: []}, x: 30, y: 10}
name: house
"""


@pytest.fixture
def building(tmp_path):
    """Return a function that writes a building, with replacements, and reads it."""
    def read(*replacements, text=BUILDING, **options):
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / 'house.building.yaml'
        file.write_text(text)
        return read_graph(file, **options)
    return read


@pytest.mark.parametrize('name, graph', MAPS)
def test_the_shared_maps(name, graph):
    file = shared('rmf', f'{name}.building.yaml')
    found = read_graph(file, graph=graph)
    measured = structure(found)
    named = sum(state not in found.unnamed for state in found.successors)
    assert (measured.states, measured.edges, named, measured.period) == MAPS[name, graph]
    assert measured.strong_components == 1 and not measured.isolated and not measured.dead_ends
    assert set(found.positions) == set(found.lines) == set(found.successors)


def test_floors_of_a_shared_map_join_only_through_lifts():
    file = shared('rmf', 'hotel.building.yaml')
    floors = [read_graph(file, graph=0, level=level) for level in ('L1', 'L2', 'L3')]
    assert sum(len(floor.successors) for floor in floors) == 55
    assert sum(structure(floor).edges for floor in floors) == 116 - 2 * 3 * 2
    with refused(ChainError, 'the graphs 0 (55 states, 116 moves), 1 (20 states, 38 moves), '
                 '2 (54 states, 114 moves): choose one', path=file):
        read_graph(file)


def test_states_moves_and_lifts(building):
    found = building(graph=0)
    assert {state: set(row) for state, row in found.successors.items()} == {
        'L1/hall': {'L1/2'}, 'L1/2': {'L1/hall', 'L1/3', 'L2/0'}, 'L1/3': {'L1/hall', '12'},
        '12': {'L1/3'}, 'L2/0': {'L2/hall', 'L2/2', 'L1/2'}, 'L2/hall': {'L2/0'},
        'L2/2': {'L2/0'}}
    assert found.unnamed == {'L1/2', 'L1/3', 'L2/0', 'L2/2'}
    assert found.repeated == 1
    assert found.lines['L1/hall'] == 16 and found.initial_state is None
    assert list(found.successors) == ['L1/hall', 'L1/2', 'L1/3', '12', 'L2/0', 'L2/hall', 'L2/2']
    assert read_chain(found.source, '12', graph=0).is_feasible(['L1/3', 'L1/hall', 'L1/2'])


def test_one_level_and_another_graph(building):
    assert building(graph=2).successors == {'hall': ['L1/2'], 'L1/2': ['hall']}
    upper = building(level='L2')
    assert set(upper.successors) == {'L2/0', 'hall', 'L2/2'}  # one hall alone: its name will do
    assert upper.successors['L2/0'] == ['hall', 'L2/2']


def test_names_that_are_used_again(building):
    found = building(('[40, 10, 0, 12,', '[40, 10, 0, hall,'), graph=0)
    assert list(found.successors) == ['L1/1/hall', 'L1/2', 'L1/3', 'L1/4/hall', 'L2/0', 'L2/hall',
                                      'L2/2']
    found = building(('[40, 10, 0, 12,', '[40, 10, 0, L1/2,'), graph=0)
    assert 'L1/2' in found.unnamed and 'L1/L1/2' in found.successors


def test_positions(building):
    found = building(graph=0)
    assert found.positions['L1/hall'] == pytest.approx((3, -4))  # 5 m for 100 pixels
    assert 'L2 lies: it shares fewer than two fiducials' in found.unaligned
    assert building(graph=0, level='L1').unaligned == ''
    metres = building(('reference_image', 'cartesian_meters'), graph=0)
    assert metres.positions['L2/2'] == (50, 25) and not metres.unaligned
    found = building(('measurements:', 'walls_of_old:'), graph=0, level='L1')
    assert found.positions['hall'] == (60, -80)
    assert found.about == ('Open-RMF building map', 'floor L1',
                           'pixels taken for metres: no measurements')


def on_one_frame(building, fiducials, **options):
    return building(('    elevation: 0', '    fiducials: [[0, 0, a], [100, 0, b], [7, 60, c]]'),
                    ('    elevation: 8', f'    fiducials: {fiducials}'), graph=0, **options)


@pytest.mark.parametrize('options', [{}, {'level': 'L2'}])
@pytest.mark.parametrize('fiducials, x, y', [
    ('[[0, 0, a], [100, 0, b]]', 2.5, -1.25),
    ('[[10, 0, a], [110, 0, b], [500, 9, d]]', 2, -1.25),        # moved
    ('[[0, 0, a], [200, 0, b], [14, 120, c]]', 1.25, -0.625),    # twice the pixels
    ('[[0, 0, a], [0, -100, b], [60, -7, c]]', -1.25, -2.5),     # turned
])
def test_fiducials_align_floors(building, fiducials, x, y, options):
    found = on_one_frame(building, fiducials, **options)
    assert found.positions['L2/2'] == pytest.approx((x, y))
    assert found.unaligned == '' and ('aligned by fiducials' in found.about[1])


@given(st.floats(-3, 3), st.floats(0.1, 10), st.floats(-500, 500), st.floats(-500, 500),
       st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), min_size=2, max_size=5,
                unique=True))
def test_a_level_that_was_moved_and_turned_comes_back(angle, size, x, y, points):
    moved = Similarity(angle, size, x, y)
    there = [Fiducial(str(i), *point) for i, point in enumerate(points)]
    level = [Fiducial(str(i), *moved.of(point)) for i, point in enumerate(points)]
    back = aligned(there, level[::-1], 0.05)
    for point in points:
        assert back.of(moved.of(point)) == pytest.approx((0.05 * point[0], 0.05 * point[1]),
                                                         abs=1e-6)


@pytest.mark.parametrize('fiducials, text', [
    ('[[0, 0, a], [0, 0, b]]', 'level L2: the fiducials a and b are at one place'),
    ('[[0, 0, a, 1], [x, 0, b]]', 'x of a fiducial of L2 must be a finite number'),
    ('[[0, 0], [1, 0, b]]', 'has 2 entries where 3 are needed'),
    ('[' + '[0, 0, a], ' * 1001 + ']', 'more than 1,000 fiducials'),
])
def test_fiducials_that_align_nothing(building, fiducials, text):
    with refused(ChainError, text):
        on_one_frame(building, fiducials)


@pytest.mark.parametrize('fiducials', ['[]', '[[0, 0, a]]', '[[0, 0, d], [9, 9, e]]'])
def test_a_floor_that_is_not_aligned_has_no_poses(building, fiducials):
    found = on_one_frame(building, fiducials)
    assert 'not all aligned' in found.about[1]
    with refused(ConfigurationError, 'nobody knows where floor L2 lies', setting='regions_file'):
        read_locator(found)


#: Where rmf_building_map_tools 1.13 has places of the shared hotel.
HOTEL = {'lobby': (19.487510544650704, -29.55131556299923),
         'L2_room1': (14.180244341817007, -8.287929592169741),
         'L2_master_suite': (4.486041602831425, -36.52785429275847),
         'L3_room15': (29.22172550936035, -32.828225980276486)}


def test_the_hotel_is_where_open_rmf_has_it():
    file = shared('rmf', 'hotel.building.yaml')
    found = [read_graph(file, graph=number) for number in range(3)]
    for name, place in HOTEL.items():
        positions = [graph.positions[name] for graph in found if name in graph.positions]
        assert positions and all(at == pytest.approx(place, abs=1e-9) for at in positions)


#: (longitude, latitude) and the projection → where rmf_building_map_tools 1.13 has it.
GLOBE = [('EPSG:3414', 103.7, (13162.824539645333, 31373.305238565692)),
         ('EPSG:3414', 103.701, (13274.115870372889, 31373.299384871592)),
         ('EPSG:32648', 103.701, (143726.48069014392, 355478.3268106844))]  # x and y exchanged


@pytest.fixture
def globe(building):
    """Return a function that reads the building in degrees."""
    def read(crs, east=103.7, **options):
        return building(
            ('reference_image', 'wgs84'), ('[50, 25, 0', f'[{east}, 1.3, 0'),
            ('[20, 10, 0', '[103.7, 1.3, 0'), ('[30, 10, 0', '[103.7, 1.3, 0'),
            ('[40, 10, 0', '[103.7, 1.3, 0'), ('[60, 80, 0', '[103.7, 1.3, 0'),
            ('name: house', f'name: house\nparameters: {crs}'), graph=0, **options)
    return read


@pytest.mark.parametrize('crs, east, place', GLOBE)
def test_degrees_are_projected(globe, crs, east, place):
    pytest.importorskip('pyproj', reason='pyproj is not installed')
    found = globe(f'{{generate_crs: [1, "{crs}"], suggested_offset_x: [3, 22000]}}', east)
    assert found.positions['L2/2'] == pytest.approx(place, abs=1e-4) and not found.unaligned
    assert found.about[2] == f'metres of {crs}'


@pytest.mark.parametrize('crs, east, text', [
    ('{generate_crs: [1, EPSG:99]}', 1, 'generate_crs EPSG:99 is no projection that PROJ knows'),
    ('{generate_crs: [1, "EPSG:3414"]}', 1e300, 'does not hold all vertices'),
    ('{generate_crs: [2, "EPSG:3414"]}', 1, 'generate_crs must be of type 1')])
def test_a_projection_that_does_not_fit(globe, crs, east, text):
    pytest.importorskip('pyproj', reason='pyproj is not installed')
    with refused(ChainError, text):
        globe(crs, east)


@pytest.mark.parametrize('system, hides, text', [
    ('wgs84', False, 'names no projection'), ('web_mercator', False, 'convert it to wgs84'),
    ('wgs84', True, 'need the Python package pyproj')])
def test_a_building_without_a_frame_has_no_poses(building, monkeypatch, system, hides, text):
    more = ()
    if hides:
        monkeypatch.setitem(sys.modules, 'pyproj', None)
        more = ('name: house', 'name: house\nparameters: {generate_crs: [1, "EPSG:3414"]}'),
    found = building(('reference_image', system), *more, graph=0)
    assert len(found.successors) == 7 and not found.positions
    with refused(ConfigurationError, text, setting='regions_file'):
        read_locator(found)


def test_floors_of_the_case_are_aligned():
    file = shared_case('07-rmf-floors-not-aligned', 'two.building.yaml')
    for level in (None, 'L2'):
        found = read_graph(file, level=level).positions
        assert found['a2'] == pytest.approx((0, 0)) and found['b2'] == pytest.approx((10, 0))


@pytest.mark.parametrize('old, new, line, text', [
    ('levels:', 'levels: []\nfloors:', 2, 'levels must be a map'),
    ('  L2:\n', '  L1:\n', 22, "'L1' is listed twice (first in line 3)"),
    ('- [1, 2, {bidirectional: [4, true], graph_idx: [2, 0], o', '- [1, 9, {o', 6,
     'joins vertex 9'),
    ('- [2, 3, {bid', '- [2, -3, {bid', 7, 'whole number of at least 0'),
    ('- [2, 3, {bid', '- [2, x, {bid', 7, 'whole number of at least 0'),
    ('bidirectional: [4, false]', 'bidirectional: [4, maybe]', 7, 'must be true or false'),
    ('bidirectional: [4, false]', 'bidirectional: [1, "false"]', 7, 'must be of type 4'),
    ('bidirectional: [4, false]', 'bidirectional: true', 7, 'bidirectional must be a list'),
    ('[3, 1, {graph_idx: [2, 0]}]\n      - [3, 1', '[3]\n      - [3, 1', 8, '2 are needed'),
    ('[2, 2]', '[2, -1]', 11, 'graph_idx must be a whole number'),
    ('[2, 2]', '[2, !!python/name:os.system 1]', 11, 'graph_idx must be a whole number'),
    ('distance: [3, 5]', 'distance: [3, 0]', 13, 'a measurement must'),
    ('distance: [3, 5]', 'length: [3, 5]', 13, 'no distance'),
    ('- [0, 1, {distance', '- [1, 1, {distance', 13, 'a measurement must'),
    ('[60, 80, 0, hall]', '[60, 80]', 16, '4 are needed'),
    ('[60, 80, 0, hall]', '[60, .inf, 0, hall]', 16, 'must be a finite number'),
    ('[60, 80, 0, hall]', '[60, 80, 0, [hall]]', 16, 'must be a name'),
    ('[60, 80, 0, hall]', '[60, 80, 0, !door hall]', 16, 'must be a name'),
    ('- [60, 80, 0, hall]', '- &a [60, 80, 0, hall, {<<: *a}]', 16, 'must be a name'),
    ('[1, lift_a]}]\n      - [30, 10, 0, "",', '[1, lift_c]}]\n      - [30, 10, 0, "",', 17,
     "the lift 'lift_c', which is not in the file"),
    ('lift_a: {level', 'lift_x: {level', 17, "the lift 'lift_a', which is not in the file"),
    ('name: house', 'name:', None, 'probably cut off'),
    ('reference_image', '[]', 1, 'coordinate_system must be a name'),
    ('reference_image', 'pixels', 1, 'coordinate_system pixels is none that Open-RMF has'),
    ('name: house', 'name: house\nreference_level_name: L7', 35, "'L7' is not in the file"),
    ('- [50, 25, 0, ""]', '- [50, 25, 0, "a', None, 'not valid YAML'),
])
def test_damage_is_reported_with_its_line(building, old, new, line, text):
    with refused(ChainError, text, **{} if line is None else {'line': line}) as caught:
        building((old, new), graph=0)
    assert Path(caught.value.path).name == 'house.building.yaml'


@pytest.mark.parametrize('options, text', [
    ({}, 'the graphs 0 (7 states, 12 moves), 2 (2 states, 2 moves): choose one'),
    ({'graph': 1}, 'there is no graph 1: choose one of 0 (7 states, 12 moves), 2 (2'),
    ({'graph': -1}, 'there is no graph -1'),
    ({'graph': 2, 'level': 'L2'}, 'level L2: there is no graph 2: choose one of 0'),
    ({'graph': 0, 'level': 'L3'}, "there is no level 'L3': it has L1 ("),
])
def test_wrong_choices(building, options, text):
    with refused(ChainError, text, line=None) as caught:
        building(**options)
    assert Path(caught.value.path).name == 'house.building.yaml'


def test_no_lanes(building):
    with refused(ChainError, 'there are no lanes'):
        building(text='levels: {L1: {vertices: [[0, 0, 0, a]], lanes: []}}\nname: house\n')
    with refused(ChainError, 'there are no lanes'):
        building(text='levels: {}\nname: house\n')


def test_a_file_that_is_cut_off_is_refused(building):
    lines = BUILDING.splitlines(keepends=True)
    for end in range(1, len(lines)):
        with pytest.raises(ChainError):
            building(text=''.join(lines[:end]), graph=0)
