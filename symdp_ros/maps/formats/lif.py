# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Layouts in VDMA's Layout Interchange Format (LIF, JSON), which fleets of VDA 5050 exchange.

`layouts` is a list; each has `nodes` with a `nodeId` and a `nodePosition` in metres, and `edges`,
one way each, from `startNodeId`, in the same layout, to `endNodeId`, which may be in another. Node
ids differ within a file. The edges of all types of vehicles count. States are the node ids, in the
order of the file: they are the `lastNodeId` of VDA 5050. The floor of a node is its `mapId`, as in
`agvPosition`; without one, in a file of several layouts, `layoutLevelId` or else `layoutId`.
A layout names no initial state.
"""
from collections.abc import Iterator
from typing import Any

from symdp_ros.errors import ChainError, printable
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.formats.nav2 import finite
from symdp_ros.maps.graph import merged, TransitionGraph
from symdp_ros.maps.positions import Position

_LONGEST_NAME = 1000


def lif_graph(document: dict[str, Any], source: str) -> TransitionGraph:
    """
    Return the graph of all layouts of a file; edges that are listed twice are merged and counted.

    :raises ChainError: with the file, and the layout and the number of the node or edge in it,
        both from 0.
    """
    layouts = document['layouts']
    positions: dict[str, Position] = {}
    levels: dict[str, str] = {}
    for where, node, layout in _entries(layouts, 'nodes', source):
        name = _name(node, 'nodeId', where, source)
        if name in positions:
            raise ChainError(f'{where}: node {name!r} is listed twice: give each node an id of '
                             'its own', path=source)
        place = node.get('nodePosition')
        x, y = (finite(place.get(key)) for key in 'xy') if isinstance(place, dict) else (None,) * 2
        if x is None or y is None:
            raise ChainError(f'{where}: its nodePosition must have finite numbers x and y',
                             path=source)
        positions[name] = x, y
        level = node.get('mapId') or len(layouts) > 1 and (
            layout.get('layoutLevelId') or layout.get('layoutId'))
        if isinstance(level, str):
            levels[name] = level[:_LONGEST_NAME]
    if not positions:
        raise ChainError('its layouts have no nodes', path=source)
    moves: list[tuple[str, str]] = []
    for where, edge, _ in _entries(layouts, 'edges', source):
        start, end = (_name(edge, key, where, source) for key in ('startNodeId', 'endNodeId'))
        for name in (start, end):
            if name not in positions:
                raise ChainError(f'{where}: it joins node {name!r}, which is not in the file',
                                 path=source)
        moves.append((start, end))
    successors, repeated = merged(positions, moves)
    return TransitionGraph(
        successors, None, source, positions, repeated=repeated, levels=levels,
        about=('VDMA layout (LIF)', counted(len(layouts), 'layout'), 'metres'))


def _entries(layouts: list[Any], key: str,
             source: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each node or edge: where it is, for messages; itself; its layout."""
    for number, layout in enumerate(layouts):
        entries = (layout.get(key) or []) if isinstance(layout, dict) else None
        if not isinstance(entries, list):
            raise ChainError(f'layout {number}: it must have a list of {key}', path=source)
        for position, entry in enumerate(entries):
            where = f'layout {number}, {key} {position}'
            if not isinstance(entry, dict):
                raise ChainError(f'{where}: it must be an object', path=source)
            yield where, entry, layout


def _name(entry: dict[str, Any], key: str, where: str, source: str) -> str:
    value = entry.get(key)
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME:
        return value
    raise ChainError(f'{where}: {key} is {printable(repr(value), 40)}: it must be a text of 1 to '
                     f'{_LONGEST_NAME:,} characters', path=source)


def _is_lif(document: object) -> bool:
    return isinstance(document, dict) and isinstance(document.get('layouts'), list)


FORMAT = MapFormat('a VDMA layout (LIF)', 'JSON with layouts', lif_graph, _is_lif, 'json',
                   ('.lif',))
