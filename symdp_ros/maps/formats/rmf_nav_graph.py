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
from symdp_ros.maps.formats.rmf import assembled, floors_text, Lane, Level, Vertex
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
    for index, item in enumerate(_list(reader, fields, 'vertices', name)):
        what = f'vertex {index} of {name}'
        entries = reader.items(item, what, 2)
        options = _options(reader, entries, what)
        label, lift = ('' if reader.is_empty(options.get(key)) else reader.text(
            options[key], f'the {key} of {what}') for key in ('name', 'lift'))
        vertices.append(Vertex(name, index, label, lift, reader.number(entries[0], f'x of {what}'),
                               reader.number(entries[1], f'y of {what}'), item))
    for item in _list(reader, fields, 'lanes', name):
        what = f'a lane of {name}'
        entries = reader.items(item, what, 2)
        start, end = (reader.integer(entry, f'an end of {what}') for entry in entries[:2])
        if max(start, end) >= len(vertices):
            raise reader.error(item, f'{what} joins vertex {max(start, end)}, but the level has '
                               f'{len(vertices)}: the file is damaged or cut off')
        both = _options(reader, entries, what).get('is_bidirectional')
        lanes.append(Lane(vertices[start], vertices[end], 0, not reader.is_empty(both)
                          and reader.boolean(both, 'is_bidirectional')))
    return Level(vertices, lanes)


def _list(reader: YamlReader, fields: dict[str, yaml.Node], key: str,
          level: str) -> list[yaml.Node]:
    return [] if reader.is_empty(fields.get(key)) else reader.items(
        fields[key], f'{key} of {level}')


def _options(reader: YamlReader, entries: list[yaml.Node], what: str) -> dict[str, yaml.Node]:
    return {} if len(entries) < 3 or reader.is_empty(entries[2]) else reader.fields(
        entries[2], f'the options of {what}')


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
