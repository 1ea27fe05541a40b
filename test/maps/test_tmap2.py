# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LCAS and STRANDS topological maps: the shared maps' numbers, damage."""
import pytest
from refusals import refused
from shared_data import shared
from symdp_ros import ChainError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.graph import structure


MAP = """\
meta:
  last_updated: 2022-03-02_10-07-31
metric_map: map_2d
name: new_map
nodes:
- meta: {map: map_2d, node: Dock, pointset: new_map}
  node:
    edges:
    - {action: NavigateToPose, config: &none [], edge_id: Dock_Hall, node: Hall}
    - {action: NavigateToPose, config: *none, edge_id: Dock_Hall_2, node: Hall}
    - {action: Undock, config: *none, edge_id: Dock_1, node: '1'}
    name: Dock
    pose:
      orientation: {w: 1.0, x: 0.0, y: 0.0, z: 0.0}
      position: {x: 1.5, y: -2.0, z: 0.0}
- meta: {map: map_2d, node: Hall, pointset: new_map}
  node:
    edges:
    - {action: NavigateToPose, edge_id: Hall_Dock, node: Dock}
    name: Hall
    pose: {position: {x: 4, y: 0.5}}
- meta: {map: map_2d, node: '1', pointset: new_map}
  node:
    edges: []
    name: '1'
    pose: {position: {x: 1e-1, y: 7}}
pointset: new_map
transformation: {child: topo_map, parent: map}
"""


@pytest.fixture(params=['small.tmap2', 'small.tmap2.yaml', 'small.YML'])
def file(request, tmp_path):
    return tmp_path / request.param


@pytest.mark.parametrize('name, states, edges', [('network_autogen.tmap2.yaml', 190, 437),
                                                 ('test.tmap2', 2, 2)])
def test_the_shared_maps(name, states, edges):
    found = read_graph(shared('lcas_tmap2', name))
    measured = structure(found)
    assert (measured.states, measured.edges) == (states, edges)
    assert measured.strong_components == 1 and not measured.repeated
    assert {'WayPoint1', 'WayPoint2'} <= set(found.successors) or 'WayPoint140' in found.successors


def test_states_edges_and_positions(file):
    file.write_text(MAP)
    found = read_graph(file)
    assert found.successors == {'Dock': ['Hall', '1'], 'Hall': ['Dock'], '1': []}
    assert found.positions == {'Dock': (1.5, -2), 'Hall': (4, 0.5), '1': (0.1, 7)}
    assert found.lines == {'Dock': 12, 'Hall': 20, '1': 25}
    assert found.repeated == 1 and found.unnamed is None
    assert structure(found).dead_ends == ('1',)


@pytest.mark.parametrize('old, new, line, text', [
    ("node: '1'}\n    name", 'node: Attic}\n    name', 11, "'Attic', which is not in the file"),
    ('    name: Hall', '    name: Dock', 20, "'Dock' is listed twice (first in line 12)"),
    ('    name: Hall', '    named: Hall', 18, 'the node has no name'),
    ('    name: Hall', '    name:', 20, 'the name of a node must be a name'),
    ('    name: Hall', '    name: !!python/object:os.x Hall', 20, 'must be a name'),
    ('    edges: []', '    edge: []', 24, 'the node has no edges'),
    ('    edges: []', '    edges: {a: b}', 24, 'edges must be a list'),
    ('edge_id: Hall_Dock, node: Dock', 'edge_id: Hall_Dock', 19, 'the edge has no node'),
    ('pose: {position: {x: 4, y: 0.5}}', 'pose: {}', 21, 'the pose has no position'),
    ('{x: 4, y: 0.5}', '{x: 4, y: .nan}', 21, 'y must be a finite number'),
    ('{x: 4, y: 0.5}', '{x: 4, x: 3, y: 0}', 21, "'x' is listed twice (first in line 21)"),
    ('nodes:\n', 'nodes: 5\nother:\n', 5, 'nodes must be a list'),
])
def test_damage_is_reported_with_its_line(tmp_path, old, new, line, text):
    assert MAP.count(old) == 1
    file = tmp_path / 'small.tmap2'
    file.write_text(MAP.replace(old, new))
    with refused(ChainError, text, path=file, line=line):
        read_graph(file)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    file = tmp_path / 'small.tmap2'
    lines = MAP.splitlines(keepends=True)
    for end in range(len(lines) - 2):
        file.write_text(''.join(lines[:end]))
        with refused(ChainError, path=file):
            read_graph(file)


# STRANDS.

#: The older form, a list: nodes are read as above.
STRANDS = """\
- meta: {map: ward, node: Dock, pointset: home, tag: [quiet]}
  node:
    edges:
    - {action: undocking, edge_id: Dock_Hall, node: Hall, top_vel: 0.55}
    localise_by_topic: {field: charging, topic: /battery_state, val: true}
    map: ward
    name: Dock
    pose: {orientation: {w: 1.0}, position: {x: 1.5, y: -2.0, z: 0.0}}
- meta: {map: ward, node: Hall, pointset: home}
  node:
    edges:
    - {action: docking, edge_id: Hall_Dock, node: Dock}
    - {action: move_base, edge_id: Hall_Dock_2, node: Dock}
    - {action: move_base, edge_id: Hall_Attic, node: Attic}
    name: Hall
    pose: {position: {x: 4, y: 0.5}}
- meta: {map: ward, node: Attic, pointset: home}
  node:
    edges: []
    name: Attic
    pose: {position: {x: 1e-1, y: 7}}
"""


def test_the_shared_map_of_strands():
    path = shared('strands', 'aaf_HAN_y4.yaml')
    found = read_graph(path)
    measured = structure(found)
    assert (measured.states, measured.edges, measured.repeated) == (110, 290, 0)
    assert measured.isolated == tuple(f'WayPoint{number}' for number in range(69, 75))
    assert found.positions['Ambulanz'] == (-8.9677696228, 14.7758226395)
    assert found.successors['Ambulanz'][:2] == ['WayPoint9', 'WayPoint67']
    chain = read_chain(path, 'ChargingPoint', prune=True)
    assert len(chain) == 104 and chain.edge_count == 290


def test_a_map_of_strands(tmp_path):
    file = tmp_path / 'home.yaml'
    file.write_text(STRANDS)
    found = read_graph(file)
    assert found.successors == {'Dock': ['Hall'], 'Hall': ['Dock', 'Attic'], 'Attic': []}
    assert found.positions == {'Dock': (1.5, -2), 'Hall': (4, 0.5), 'Attic': (0.1, 7)}
    assert found.lines == {'Dock': 7, 'Hall': 15, 'Attic': 20}
    assert found.repeated == 1 and found.initial_state is None
    file.write_text(STRANDS.replace(
        '- meta: {map: ward, node: Attic, pointset: home}\n  node', '- note'))
    with refused(ChainError, 'has no node', path=file, line=17):
        read_graph(file)
