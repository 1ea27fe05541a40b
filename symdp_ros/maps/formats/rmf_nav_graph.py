# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Open-RMF navigation graphs (`nav_graphs/0.yaml`), which fleet adapters load.

building_map_generator makes one of each graph of a building map. A vertex is [x, y, {name: …,
lift: …}] in metres, in the frame of the building; a lane [start, end, {…}] is one-way unless it
says `is_bidirectional`. Vertices in one lift on several floors lead to each other. States are
named as those of building maps (`rmf`).
"""
from dataclasses import replace
from typing import Any

from symdp_ros.errors import ChainError
from symdp_ros.files.yaml_reader import keys_of, YamlReader
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.formats.rmf import assembled, ends_of, floors_text, Lane, Level, Vertex
from symdp_ros.maps.graph import TransitionGraph
import yaml


def navigation_graph(root: yaml.Node, source: str, *, level: str | None = None) -> TransitionGraph:
    """
    Return the graph of a composed navigation graph; lanes listed twice are merged and counted.

    :param level: this floor alone; default: all, joined by lifts.
    :raises ChainError: with file and line: not of this form, or no such floor.
    """
    reader = YamlReader(source)
    levels = {name: _level(reader, name, node) for name, node in reader.fields(
        reader.fields(root, 'the navigation graph', 'levels')['levels'], 'levels').items()}
    if level is not None and level not in levels:
        raise ChainError(f'there is no level {level!r}: it has {", ".join(levels)}', path=source)
    chosen = {name: read for name, read in levels.items() if level in (None, name)}
    stops: dict[str, set[str]] = {}
    for read in chosen.values():
        for vertex in read.vertices:
            stops.setdefault(vertex.lift, set()).add(vertex.level)
    graph = assembled(reader, source, chosen, stops, graph=None, level=level)
    return replace(graph, about=('Open-RMF navigation graph',
                                 floors_text([*dict.fromkeys(graph.levels.values())]), 'metres'))


def _level(reader: YamlReader, name: str, node: yaml.Node) -> Level:
    fields = reader.fields(node, f'level {name}')
    vertices, lanes = [], []
    for index, item in enumerate(reader.items_if_any(
            fields.get('vertices'), f'vertices of {name}')):
        what = f'vertex {index} of {name}'
        entries = reader.items(item, what, 2)
        options = _options(reader, entries, what)
        label, lift = (reader.text_if_any(options.get(key), f'the {key} of {what}')
                       for key in ('name', 'lift'))
        vertices.append(Vertex(name, index, label, lift, reader.number(entries[0], f'x of {what}'),
                               reader.number(entries[1], f'y of {what}'), item))
    what = f'a lane of {name}'
    for item in reader.items_if_any(fields.get('lanes'), f'lanes of {name}'):
        entries = reader.items(item, what, 2)
        ends = ends_of(reader, item, entries, vertices, what)
        both = _options(reader, entries, what).get('is_bidirectional')
        lanes.append(Lane(*ends, 0, not reader.is_empty(both)
                          and reader.boolean(both, 'is_bidirectional')))
    return Level(vertices, lanes)


def _options(reader: YamlReader, entries: list[yaml.Node], what: str) -> dict[str, yaml.Node]:
    return reader.fields_if_any(entries[2] if len(entries) > 2 else None,
                                f'the options of {what}')


def _is_navigation_graph(root: yaml.Node) -> bool:
    """Return whether the first vertex of a file with levels ends in a map after two numbers."""
    def values(node: Any, key: str) -> list[yaml.Node]:
        return [value for name, value in node.value if name.value == key] if isinstance(
            node, yaml.MappingNode) else []

    if 'levels' not in keys_of(root):
        return False
    for levels in values(root, 'levels'):
        for _, level in levels.value if isinstance(levels, yaml.MappingNode) else ():
            for vertices in values(level, 'vertices'):
                if isinstance(vertices, yaml.SequenceNode) and vertices.value:
                    first = vertices.value[0]
                    return isinstance(first, yaml.SequenceNode) and len(first.value) == 3 and (
                        isinstance(first.value[2], yaml.MappingNode))
    return False


FORMAT = MapFormat('an Open-RMF navigation graph', 'levels, with vertices [x, y, {name: …}]',
                   navigation_graph, _is_navigation_graph, choices=('level',))
