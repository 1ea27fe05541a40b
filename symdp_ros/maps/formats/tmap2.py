# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
LCAS topological maps (tmap2, YAML).

`nodes` is a list; each has a `node` with a `name`, a `pose` and `edges`, whose `node` is the name
of the one they lead to. States are the names, in the order of the file. A map names no initial
state.

Poses are in the frame `topo_map` (`transformation.child`), which `transformation` moves and turns
in `map` (`parent`), where robots report theirs. topological_navigation publishes it as such; its
own localisation compares the robot, in that frame, with the poses. So positions are transformed,
whatever `parent_frame` a node names: the goals and markers of topological_navigation take that,
and always write the parent there.
"""
from dataclasses import replace
from math import isfinite

from symdp_ros.files.yaml_reader import keys_of, line_of, YamlReader
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import merged, TransitionGraph
import yaml


def tmap2_graph(root: yaml.Node, source: str) -> TransitionGraph:
    """
    Return the graph of a composed tmap2 file; edges between the same nodes are merged and counted.

    :raises ChainError: with file and line: not of this form, a name that is used twice, an edge
        to a node that is not in the file.
    """
    reader = YamlReader(source)
    top = reader.fields(root, 'the map', 'nodes')
    if not {'pointset', 'transformation'} & set(top):
        raise reader.cut_off(root, 'the map ends without the pointset and transformation that '
                             'come after its nodes')
    nodes = graph_of_nodes(reader, top['nodes'], source,
                           ('LCAS topological map (tmap2)', 'metres'))
    if reader.is_empty(top.get('transformation')):
        return nodes
    return _transformed(nodes, reader, top['transformation'])


def _transformed(graph: TransitionGraph, reader: YamlReader, node: yaml.Node) -> TransitionGraph:
    """Return the graph with its positions in the parent frame, seen from above."""
    fields = reader.fields(node, 'transformation')

    def numbers(key: str, names: str, default: float) -> list[float]:
        if reader.is_empty(fields.get(key)):
            return [default if name == names[-1] else 0.0 for name in names]
        parts = reader.fields(fields[key], key, *names)
        return [reader.number(parts[name], f'{name} of {key}') for name in names]

    x, y, _ = numbers('translation', 'xyz', 0.0)
    i, j, k, w = numbers('rotation', 'xyzw', 1.0)
    squares = i * i + j * j + k * k + w * w
    if not (isfinite(squares) and squares > 1e-12):
        raise reader.error(fields['rotation'], 'rotation is no quaternion: x, y, z, w must not be '
                           'all 0')
    if (x, y, i, j, k) == (0, 0, 0, 0, 0):
        return graph
    if (i * i + j * j) / squares > 1e-6:
        raise reader.error(fields['rotation'], 'rotation tilts the map: it must turn it about the '
                           'z axis')
    cosine, sine = (w * w - k * k) / (w * w + k * k), 2 * w * k / (w * w + k * k)
    return replace(graph, about=(*graph.about, 'moved by its transformation'), positions={
        name: (x + cosine * u - sine * v, y + sine * u + cosine * v)
        for name, (u, v) in graph.positions.items()})


def graph_of_nodes(reader: YamlReader, nodes: yaml.Node, source: str,
                   about: tuple[str, ...]) -> TransitionGraph:
    """
    Return the graph of a list of nodes, as tmap2 and the older STRANDS maps write them alike.

    :raises ChainError: as `tmap2_graph` does.
    """
    positions: dict[str, tuple[float, float]] = {}
    lines: dict[str, int] = {}
    edges: list[tuple[str, str, yaml.Node]] = []
    for entry in reader.items(nodes, 'nodes'):
        node = reader.fields(reader.fields(entry, 'an entry of nodes', 'node')['node'], 'the node',
                             'name', 'edges', 'pose')
        name = reader.text(node['name'], 'the name of a node')
        if name in positions:
            raise reader.error(node['name'], f'the node {name!r} is listed twice (first in line '
                               f'{lines[name]}): give each a name of its own')
        lines[name] = line_of(node['name'])
        positions[name] = _position(reader, node['pose'])
        for edge in reader.items_if_any(node['edges'], 'edges'):
            end = reader.fields(edge, 'the edge', 'node')['node']
            edges.append((name, reader.text(end, 'the node of an edge'), end))
    for _, end, place in edges:
        if end not in positions:
            raise reader.error(place, f'the edge leads to the node {end!r}, which is not in the '
                               'file: add the node, or remove the edge')
    successors, repeated = merged(positions, ((start, end) for start, end, _ in edges))
    return TransitionGraph(successors, None, source, positions, lines, repeated=repeated,
                           about=about)


def _position(reader: YamlReader, pose: yaml.Node) -> tuple[float, float]:
    position = reader.fields(pose, 'the pose', 'position')['position']
    fields = reader.fields(position, 'the position', 'x', 'y')
    return reader.number(fields['x'], 'x'), reader.number(fields['y'], 'y')


FORMAT = MapFormat('an LCAS topological map', 'nodes', tmap2_graph,
                   lambda root: 'nodes' in keys_of(root)
                   and not keys_of(root) & {'directed', 'edges', 'links'})
