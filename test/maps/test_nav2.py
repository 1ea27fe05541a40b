# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nav2 graphs as its tools write them; layouts of VDMA; navigation graphs; what is no map."""
import json
from pathlib import Path

from map_samples import BUILDING, collection, edge, layout, lif, LOOP, nav_graph, POLYGON
import pytest
from refusals import refused
from shared_data import shared, shared_case
from symdp_ros import ChainError, ConfigurationError
from symdp_ros.cli.main import main
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.regions import read_locator


@pytest.fixture
def read(tmp_path):
    def read(text, name='map.json', **options):
        file = tmp_path / name
        file.write_text(text)
        return read_graph(file, **options)
    return read


@pytest.mark.parametrize('case', [
    ('01-nav2-qgis-export', 'graph.geojson'), ('04-nav2-other-feature', 'polygon.geojson'),
    ('04-nav2-other-feature', 'polygon_id.geojson'), ('22-lif', 'plant.json'),
    ('22-lif', 'plant.lif'), ('20-map-suffix', 'clinic.tmap'), ('23-patrolling-3d', 'two.graph')])
def test_cases_of_two_states_and_two_moves(case):
    found = read_graph(shared_case(*case))
    first, second = found.successors
    assert found.successors == {first: [second], second: [first]}
    assert len(found.positions) == 2 and found.about


def test_the_case_of_an_edge_layer_alone():
    with refused(ChainError, 'feature 2: it is a line without startid and endid'):
        read_graph(shared_case('30-edge-layer-alone', 'graph.geojson'))


def test_the_case_of_a_navigation_graph():
    found = read_graph(shared_case('05-rmf-nav-graph', '0.yaml'))
    assert found.successors == {'dock': ['L1/1'], 'L1/1': ['dock', 'ward'], 'ward': ['L1/1']}
    assert found.positions['ward'] == (20, -5) and set(found.levels.values()) == {'L1'}


def test_what_is_left_out_is_counted(read):
    text = {'properties': None, 'geometry': {'type': 'MultiPoint', 'coordinates': []}}
    found = read(collection(*LOOP, POLYGON, POLYGON, text, edge(None, None)))
    assert found.about == ('Nav2 route graph', 'metres',
                           'left out: 2 Polygons, 1 MultiPoint, 1 line without ids')
    assert read(collection(*LOOP, crs={'type': 'name', 'properties': {
        'name': 'urn:ogc:def:crs:OGC:1.3:CRS84'}})).about[1].endswith('(the file says degrees)')


def test_nodes_alone_are_a_graph_and_other_geometries_are_none(read):
    assert read(collection()).successors == {'0': [], '1': []}
    with refused(ChainError, 'it has no Point, and so no node: there are 1 Polygon'):
        read(json.dumps({'features': [POLYGON]}))


def test_nodes_in_other_frames(read):
    def node(number, **more):
        return {'properties': {'id': number, **more},
                'geometry': {'type': 'Point', 'coordinates': [5 * number, 0]}}

    def graph(*nodes):
        return read(json.dumps({'features': [*nodes, *LOOP]}))

    same = graph(node(0, frame='odom'), node(1, frame='odom'))
    assert same.about[1] == 'metres, in the frame odom' and not same.unaligned
    for first in ({}, {'frame': ''}, {'frame': None}, {'frame': 'map'}):
        plain = graph(node(0, **first), node(1, frame='map'))
        assert plain.about[1] == 'metres' and not plain.unaligned
        mixed = graph(node(0, **first), node(1, frame='odom'))
        assert mixed.about[1] == 'no positions' and not mixed.positions
        with refused(ConfigurationError, 'different frames, map, odom', setting='regions_file'):
            read_locator(mixed)


def test_a_node_that_is_no_point_is_named_where_an_edge_needs_it(read):
    nodes = [{'properties': {'id': i}, 'geometry': {'type': 'MultiPoint', 'coordinates': [[i, 0]]}}
             for i in (0, 1)]
    with refused(ChainError, 'joins node 0, which is not in the file (left out: 2 Multi'):
        read(json.dumps({'features': [*nodes, *LOOP]}))


def test_a_node_beyond_all_places_has_no_position(read, tmp_path):
    far = json.dumps({'features': [*(
        {'properties': {'id': i}, 'geometry': {'type': 'Point', 'coordinates': [x, 0]}}
        for i, x in enumerate((1.7e308, -1.7e308, 3))), *LOOP, edge(0, 2), edge(2, 0)]})
    assert read(far).positions == {'2': (3.0, 0.0)}
    assert main(['check', str(tmp_path / 'map.json'), '-o', str(tmp_path / 'map.svg')]) == 0


def test_every_shared_graph_is_read_alike_with_what_qgis_adds(read):
    """Nodes with startid −1, ids as fractions, a polygon: the same graph."""
    file = shared('nav2', 'route_aws_graph.geojson')
    document = json.loads(file.read_text())
    for feature in document['features']:
        properties = feature['properties']
        properties.setdefault('startid', -1)
        properties['id'] = float(properties['id'])
    document['features'].append(POLYGON)
    found, plain = read(json.dumps(document)), read_graph(file)
    assert (found.successors, found.positions) == (plain.successors, plain.positions)


def test_floors_of_a_layout(read):
    nodes = layout(['N3'], [('N3', 'N1')], layoutLevelId='2')
    nodes['nodes'][0]['mapId'] = 'upper'
    found = read(lif(layout(layoutLevelId='1'), nodes))
    assert found.levels == {'N1': '1', 'N2': '1', 'N3': 'upper'}
    assert found.successors['N3'] == ['N1'] and found.about[1] == '2 layouts'
    assert read(lif(layout(layoutLevelId='1'))).levels == {}
    assert read_locator(found).locate(0.1, 0, 'upper') == 'N3'


def node_with(**fields):
    return {**layout(), 'nodes': [{'nodeId': 'N1', 'nodePosition': {'x': 0, 'y': 0}, **fields}]}


@pytest.mark.parametrize('layouts, text', [
    ([5], 'layout 0: it must have a list of nodes'), ([{'nodes': 5}], 'a list of nodes'),
    ([{'nodes': [5]}], 'layout 0, nodes 0: it must be an object'), ([], 'have no nodes'),
    ([node_with(nodeId=5)], 'nodeId is 5: it must be a text'),
    ([node_with(nodeId='')], "nodeId is ''"), ([node_with(nodeId='x' * 1001)], '1 to 1,000'),
    ([node_with(nodePosition=None)], 'nodes 0: its nodePosition must have finite numbers'),
    ([node_with(nodePosition={'x': True, 'y': 0})], 'finite numbers'),
    ([{**layout(), 'edges': [{'startNodeId': 'N1'}]}], 'layout 0, edges 0: endNodeId is None'),
])
def test_malformed_layouts(read, layouts, text):
    with refused(ChainError, text):
        read(lif(*layouts), 'plant.lif')


def test_lifts_of_a_navigation_graph(read):
    text = nav_graph('{name: "", lift: up}') + (
        '  L2: {vertices: [[5, 0, {lift: up}], [9, 0, {name: a}]], lanes: [[0, 1, {}]]}\n'
        'lifts: {}\n')
    found = read(text, '0.yaml')
    assert {state: set(row) for state, row in found.successors.items()} == {
        'L1/a': {'L1/1'}, 'L1/1': {'L1/a', 'L2/0'}, 'L2/0': {'L2/a', 'L1/1'}, 'L2/a': set()}
    assert found.about == ('Open-RMF navigation graph', 'floors L1, L2', 'metres')
    assert list(read(text, '0.yaml', level='L2').successors) == ['L2/0', 'a']
    with refused(ChainError, "there is no level 'L3': it has L1, L2"):
        read(text, '0.yaml', level='L3')
    with refused(ChainError, 'graph is for building maps'):
        read(text, '0.yaml', graph=0)


@pytest.mark.parametrize('text, said', [
    (nav_graph('{name: [b]}'), 'the name of vertex 1 of L1 must be a name'),
    (nav_graph('5'), 'the options of vertex 1 of L1 must be a map'),
    (nav_graph(lanes='[[0]]'), 'has 1 entries where 2 are needed'),
    (nav_graph(lanes='[[0, 1, {is_bidirectional: 3}]]'), 'must be true or false'),
    (nav_graph(lanes='[]'), 'there are no lanes'),
    (nav_graph().replace('[5, 0', '[.nan, 0'), 'x of vertex 1 of L1 must be a finite number'),
])
def test_malformed_navigation_graphs(read, text, said):
    with refused(ChainError, said):
        read(text, '0.yaml')


@pytest.mark.parametrize('name', ['map', 'map.lif', 'map.tmap', 'map.graph', 'MAP.DAT'])
@pytest.mark.parametrize('text', [collection(*LOOP), lif(layout()), nav_graph(), BUILDING,
                                  '2 9 9 1 0 0 0 1 1 E 5 1 5 0 1 0 W 5',
                                  '{"transitions": {"a": ["b"], "b": ["a"]}}'])
def test_the_content_decides_and_not_the_name(read, name, text):
    assert len(read(text, name).successors) == 2


def test_json_can_be_a_chain_file(tmp_path):
    file = tmp_path / 'chain.json'
    file.write_text('{"initial_state": "a", "transitions": {"a": ["a"]}}')
    assert read_chain(file).states == ('a',)


@pytest.mark.parametrize('content, text', [
    (b'\x89PNG\r\n\x1a\n', 'it seems to be a picture (PNG)'),
    (b'SQLite format 3\0\xff', 'a database (SQLite)'), (b'\x89MCAP0\r\n', 'a recording (MCAP)'),
    (b'\xff\xfea\0', 'text in UTF-16'), (b'\xfe\0', 'not UTF-8 text'),
    (b'P5\n1 1\n255\n\x07', 'a picture (PGM)'),
    (b'image: a.pgm\nresolution: 0.05\n', 'the picture of a map'),
    (b'rosbag2_bagfile_information: {}\n', 'the metadata of a recording'),
    (b'/**: {ros__parameters: {epsilon: 1.0}}\n', 'the parameters of a node'),
    (b'rmf_fleet: {name: a}\n', 'the configuration of an Open-RMF fleet'),
    (b'zones: {a: [b]}\n', 'a zones file'),
    (b'{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"}],'
     b' "links": [{"source": "a", "target": "b"}]}', 'an undirected edge is two moves'),
    (b'{"nodes": [{"id": "a"}], "links": []}', 'an undirected edge is two moves'),
    (b'{"nodes": [{"id": "a"}], "edges": []}', 'an undirected edge is two moves'),
    (b'{"headerId": 1, "serialNumber": "x"}', 'a message of VDA 5050'),
    (b'<?xml version="1.0"?>\n<osm>', 'an OpenStreetMap or Lanelet2 map'),
    (b'<sdf>', 'a world of Gazebo'), (b'<a>', 'XML'), (b'digraph {a -> b}', 'Graphviz'),
    (b'stamp,symbol\n0,a\n', 'a table (CSV)'),
    (b'version https://git-lfs.github.com/spec/v1\n', 'Git LFS'),
])
@pytest.mark.parametrize('name', ['map.yaml', 'map.geojson', 'map'])
def test_what_is_no_map_says_what_it_seems_to_be(tmp_path, name, content, text):
    file = tmp_path / name
    file.write_bytes(content)
    with refused(ChainError, text, path=file):
        read_graph(file)


def test_the_case_of_a_transformation():
    found = read_graph(shared_case('10-tmap2-transformation', 'map.tmap2')).positions
    assert found['A'] == pytest.approx((100, 0)) and found['B'] == pytest.approx((100, 5))


@pytest.mark.parametrize('level', ['', 'L1'])
def test_the_case_of_a_floor_without_a_name(level):
    found = read_locator(read_graph(shared_case('28-floor-name-unknown', 'one.building.yaml')))
    assert found.locate(0.1, 0, level) == 'dock' and found.locate(0, 0, 'B1') is None
    assert found.unknown_levels == {'B1': 1}


def test_check_says_at_its_top_what_it_read(tmp_path, capsys):
    file, figure = tmp_path / 'house.building.yaml', tmp_path / 'map.svg'
    file.write_text(BUILDING)
    assert main(['check', str(file), '-o', str(figure)]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.split(maxsplit=1) == ['map', 'Open-RMF building map, floor L1, metres, 2 places, '
                                       'none without a way out']
    assert second.startswith('file ') and '</svg>' in figure.read_text()
    file.write_text(BUILDING.replace('reference_image', 'web_mercator'))
    assert main(['check', str(file)]) == 0
    assert 'no poses' in capsys.readouterr().out
    assert main(['check', str(file), '-o', str(tmp_path / 'map.txt')]) == 1
    assert 'ends in .svg' in capsys.readouterr().err
    file.write_text(collection(edge(0, 1)))
    assert main(['check', str(file)]) == 1
    assert ' 2 places, 1 without a way out' in capsys.readouterr().out.splitlines()[0]


def test_check_draws_in_a_terminal_where_it_fits(tmp_path, capsys, monkeypatch):
    file = tmp_path / 'map.geojson'
    file.write_text(collection(*LOOP))
    monkeypatch.setattr('sys.stdout.isatty', lambda: True)
    assert main(['check', str(file)]) == 0
    assert '• 0' in capsys.readouterr().out
    file.write_text(collection(*LOOP).replace('[5, 0]', '[0, 0]'))
    assert main(['check', str(file)]) == 0
    assert '•' not in capsys.readouterr().out


@pytest.mark.parametrize('name', ['depot.geojson', 'depot.regions.yaml'])
def test_the_samples_say_what_they_are(name):
    about = read_graph(Path(__file__).parents[2] / 'config' / name).about
    assert about[0] in ('Nav2 route graph', 'regions file') and about[1] == 'metres'
