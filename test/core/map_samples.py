# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small maps of every format, for tests."""
import json

POINTS = [{'properties': {'id': i, 'startid': -1, 'endid': None},
           'geometry': {'type': 'Point', 'coordinates': [5 * i, 0]}} for i in (0, 1)]


def collection(*features, **more):
    return json.dumps({'type': 'FeatureCollection', 'features': [*POINTS, *features], **more})


def edge(start, end, kind='LineString', **more):
    return {'properties': {'id': 9, 'startid': start, 'endid': end, **more},
            'geometry': {'type': kind, 'coordinates': [[0, 0], [5, 0]]}}


LOOP = edge(0, 1), edge(1.0, 0.0, 'MultiLineString')
POLYGON = {'properties': {'name': 'keepout'}, 'geometry': {'type': 'Polygon', 'coordinates': []}}


def layout(nodes=('N1', 'N2'), edges=(('N1', 'N2'), ('N2', 'N1')), **more):
    return {'layoutId': 'L', **more, 'nodes': [
        {'nodeId': name, 'nodePosition': {'x': 5.0 * i, 'y': 0}} for i, name in enumerate(nodes)],
        'edges': [{'edgeId': start + end, 'startNodeId': start, 'endNodeId': end}
                  for start, end in edges]}


def lif(*layouts):
    return json.dumps({'metaInformation': {'lifVersion': '1.0.0'}, 'layouts': layouts})


def building(text, lanes='[[0, 1, {bidirectional: [4, true]}]]', more=''):
    return (f'{text}\nlevels:\n  L1:\n    measurements: [[0, 1, {{distance: [3, 5.0]}}]]\n'
            f'    vertices: [[0, 0, 0, a], [100, 0, 0, b]]\n    lanes: {lanes}\n'
            f'{more}name: house\n')


LEVEL = ('  L2:\n    {}vertices: [[50, 0, 0, c], [150, 0, 0, d]]\n'
         '    lanes: [[0, 1, {{bidirectional: [4, true]}}]]\n')
FIDUCIALS = 'fiducials: [[{}, 0, p], [{}, 0, q]]'
BUILDING = building('coordinate_system: reference_image')

NODES = """\
- meta: {map: m}
  node: {name: a, edges: [{node: b}], pose: {position: {x: 0, y: 0}}}
- meta: {map: m}
  node: {name: b, edges: [{node: a}], pose: {position: {x: 5, y: 0}}}
"""
TMAP2 = f'nodes:\n{NODES}pointset: p\n'


def nav_graph(options='{name: b}', lanes='[[0, 1, {}], [1, 0, {}]]', top=''):
    return (f'{top}levels:\n  L1: {{vertices: [[0, 0, {{name: a}}], [5, 0, {options}]], '
            f'lanes: {lanes}}}\n')


ROOMS = 'regions:\n  a: [[0, 0], [2, 0], [2, 2], [0, 2]]\n  b: {}\n'
RIGHT = '[[2, 0], [4, 0], [4, 2], [2, 2]]'
PLAIN = '2 9 9 1 {}0 0 0 {}1 1 E 5 1 5 0 {}1 0 W 5'

#: Format → what a sample of it has, the sample, and how many states and moves are read of it, or
#: what the refusal says.
SAMPLES = {
    'a chain file': [
        ('successors', 'transitions: {a: [b], b: [a]}', (2, 2)),
        ('probabilities', 'transitions: {a: {b: 0.5, a: 0.5}, b: [a]}', (2, 3)),
        ('alphabets', 'symbols: [a, b]', (2, 0)),
        ('unknown keys', 'transitions: {a: [a]}\nmoves_of: 3', 'unknown key'),
        ('moves to unknown states', 'transitions: {a: [z]}', None),
    ],
    'a regions file': [
        ('polygons that touch', ROOMS.format(RIGHT), (2, 2)),
        ('floors', ROOMS.format('{polygon: ' + RIGHT + ', level: L1}'), (2, 2)),
        ('polygons that overlap', ROOMS.format('[[1, 0], [4, 0], [4, 2], [1, 2]]'), 'overlaps'),
        ('holes', ROOMS.format(f'[{RIGHT}]'), 'holes'),
    ],
    'a Nav2 route graph': [
        ('Points as nodes, lines as edges', collection(*LOOP), (2, 2)),
        ('other geometries beside them (left out)', collection(*LOOP, POLYGON), (2, 2)),
        ('lines without ids beside edges (left out)',
         collection(*LOOP, edge(None, None)), (2, 2)),
        ('lines none of which has ids', collection(edge(None, None)), 'without startid and endid'),
        ('ids that are texts', collection(edge('0', '1')), 'must be an integer'),
        ('poses where nodes are in different frames', collection(
            {'properties': {'id': 2, 'frame': 'odom'}, 'geometry': POINTS[0]['geometry']},
            *LOOP, edge(1, 2), edge(2, 1)), 'unaligned'),
        ('edges to unknown nodes', collection(edge(0, 7)), 'which is not in the file'),
    ],
    'an Open-RMF building map': [
        ('drawings with measurements', BUILDING, (2, 2)),
        ('one-way lanes', building('', '[[0, 1, {}], [1, 0, {}]]'), (2, 2)),
        ('floors aligned by fiducials', building('', more=LEVEL.format(
            FIDUCIALS.format(50, 150) + '\n    ')).replace(
                '    measurements', f'    {FIDUCIALS.format(0, 100)}\n    measurements'), (4, 4)),
        ('cartesian_meters', building('coordinate_system: cartesian_meters'), (2, 2)),
        ('wgs84 (with pyproj)', building(
            'coordinate_system: wgs84\nparameters: {generate_crs: [1, "EPSG:3857"]}'), (2, 2)),
        ('poses on floors without two common fiducials', building('', more=LEVEL.format('')),
         'unaligned'),
        ('poses in web_mercator', building('coordinate_system: web_mercator'), 'unaligned'),
        ('other coordinate systems', building('coordinate_system: feet'), 'coordinate_system'),
    ],
    'an Open-RMF navigation graph': [
        ('with building_name', nav_graph(top='building_name: house\n'), (2, 2)),
        ('without', nav_graph(), (2, 2)),
        ('`is_bidirectional`', nav_graph(lanes='[[0, 1, {is_bidirectional: true}]]'), (2, 2)),
        ('lifts', nav_graph('{name: b, lift: up}') +
         '  L2: {vertices: [[5, 0, {lift: up}]], lanes: [[0, 0, {}]]}\n', (3, 5)),
        ('lanes to unknown vertices', nav_graph(lanes='[[0, 7, {}]]'), 'joins vertex 7'),
    ],
    'an LCAS topological map': [
        ('tmap2', TMAP2, (2, 2)),
        ('`transformation`', TMAP2 + 'transformation: {translation: {x: 1, y: 2, z: 0}, rotation: '
         '{x: 0, y: 0, z: 1, w: 0}}\n', (2, 2)),
        ('a rotation that tilts', TMAP2 + 'transformation: {rotation: {x: 1, y: 0, z: 0, w: 1}}\n',
         'tilts'),
        ('edges to unknown nodes', TMAP2.replace('{node: b}', '{node: c}'), 'not in the'),
    ],
    'a STRANDS topological map': [
        ('a list of nodes', NODES, (2, 2)),
        ('edges to unknown nodes', NODES.replace('{node: b}', '{node: c}'), 'not in the'),
    ],
    'a VDMA layout (LIF)': [
        ('one layout', lif(layout()), (2, 2)),
        ('edges between layouts', lif(layout(), layout(['N3'], [('N3', 'N1')])), (3, 3)),
        ('ids that are used twice', lif(layout(), layout()), 'listed twice'),
        ('edges to unknown nodes', lif(layout(edges=[('N1', 'N9')])), 'not in the file'),
    ],
    'a patrolling_sim graph': [
        ('headers of 4 numbers', PLAIN.format('', '', ''), (2, 2)),
        ('of 6', PLAIN.format('-3 4 ', '', ''), (2, 2)),
        ('3dpatrolling (heights left out)', PLAIN.format('', '0.5 ', '-1 '), (2, 2)),
        ('tokens left over or missing', PLAIN.format('', '', '') + ' 7', 'follows after'),
    ],
}
