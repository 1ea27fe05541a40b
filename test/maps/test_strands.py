# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""STRANDS topological maps: the shared map's numbers, damage."""

import pytest
from refusals import refused
from shared_data import shared
from symdp_ros import ChainError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.graph import structure


MAP = """\
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


@pytest.fixture
def file(tmp_path):
    file = tmp_path / 'home.yaml'
    file.write_text(MAP)
    return file


def test_the_shared_map():
    path = shared('strands', 'aaf_HAN_y4.yaml')
    found = read_graph(path)
    measured = structure(found)
    assert (measured.states, measured.edges, measured.repeated) == (110, 290, 0)
    assert measured.isolated == tuple(f'WayPoint{number}' for number in range(69, 75))
    assert found.positions['Ambulanz'] == (-8.9677696228, 14.7758226395)
    assert found.successors['Ambulanz'][:2] == ['WayPoint9', 'WayPoint67']
    chain = read_chain(path, 'ChargingPoint', prune=True)
    assert len(chain) == 104 and chain.edge_count == 290


def test_states_edges_and_positions(file):
    found = read_graph(file)
    assert found.successors == {'Dock': ['Hall'], 'Hall': ['Dock', 'Attic'], 'Attic': []}
    assert found.positions == {'Dock': (1.5, -2), 'Hall': (4, 0.5), 'Attic': (0.1, 7)}
    assert found.lines == {'Dock': 7, 'Hall': 15, 'Attic': 20}
    assert found.repeated == 1 and found.initial_state is None


@pytest.mark.parametrize('old, new, line, text', [
    ('node: Attic}\n    name', 'node: Loft}\n    name', 14, "'Loft', which is not in the file"),
    ('    name: Hall', '    name: Dock', 15, "'Dock' is listed twice (first in line 7)"),
    ('    name: Hall', '    named: Hall', 11, 'the node has no name'),
    ('    edges: []', '    edges: {a: b}', 19, 'edges must be a list'),
    ('pose: {position: {x: 4, y: 0.5}}', 'pose: {}', 16, 'the pose has no position'),
    ('- meta: {map: ward, node: Attic, pointset: home}\n  node', '- note', 17, 'has no node'),
])
def test_damage_is_reported_with_its_line(file, old, new, line, text):
    assert MAP.count(old) == 1
    file.write_text(MAP.replace(old, new))
    with refused(ChainError, text, path=file, line=line):
        read_graph(file)
