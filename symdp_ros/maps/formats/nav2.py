# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nav2 Route Server graphs (GeoJSON).

The geometry decides, as it does in Nav2 (nav2_route, geojson_graph_file_loader.cpp): a Point is a
node, with its `id`; a LineString or MultiLineString is a directed edge from `startid` to `endid`.
What else is in the file is left out and counted, and so are lines without `startid` and `endid`
beside lines that have them. States are the node ids as strings, in the order of the file.
A graph names no initial state.

A node may name the `frame` of its coordinates. Nav2 takes the others into that of the graph
(`route_frame`, `map`) by TF, which a file does not have. So positions are in the frame that all
nodes name, and there are none where nodes name different ones.
"""
from collections import Counter
from collections.abc import Callable
from math import isfinite
from typing import Any

from symdp_ros.errors import ChainError, printable
from symdp_ros.maps.dead_ends import counted, some_states
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import merged, TransitionGraph
from symdp_ros.maps.positions import Position

_LINES = 'LineString', 'MultiLineString'
_DEGREES = 'CRS84', '4326'
_FRAME = 'map'  # of nodes that name none


def nav2_graph(document: dict[str, Any], source: str) -> TransitionGraph:
    """
    Return the graph of a Nav2 route graph; repeated edges are merged and counted.

    :raises ChainError: with the file, and the feature's number (from 0) where there is one.
    """
    positions: dict[str, Position] = {}
    edges: list[tuple[Callable[[str], ChainError], str, str]] = []
    without_ids: list[Callable[[str], ChainError]] = []
    others: Counter[str] = Counter()
    frames: set[str] = set()
    for number, feature in enumerate(document['features']):
        def problem(text: str, number: int = number) -> ChainError:
            return ChainError(f'feature {number}: {text}', path=source)

        kind, properties = _kind(feature, problem)
        if kind not in ('Point', *_LINES):
            others[printable(kind, 40)] += 1
        elif not isinstance(properties, dict):
            raise problem('it has no properties: a node needs an id, an edge startid and endid')
        elif kind == 'Point':
            node = _identifier(properties, 'id', problem)
            if node in positions:
                raise problem(f'node {node} is listed twice: give each node an id of its own')
            positions[node] = _point(feature['geometry'], problem)
            frames.add(str(properties.get('frame') or _FRAME))
        elif properties.get('startid') is None and properties.get('endid') is None:
            without_ids.append(problem)
        else:
            edges.append((problem, _identifier(properties, 'startid', problem),
                          _identifier(properties, 'endid', problem)))
    if without_ids and not edges:
        raise without_ids[0]('it is a line without startid and endid, and so are all lines here: '
                             'let the script of Nav2 (export_shapefiles.py) or the field '
                             'calculator of QGIS fill these in')
    left_out = [f'{counted(count, kind)}' for kind, count in others.items()]
    left_out += [f'{counted(len(without_ids), "line")} without ids'] if without_ids else []
    if not positions and not edges:
        raise ChainError('it has no Point, and so no node' + (
            f': there are {", ".join(left_out)}' if left_out else ''), path=source)
    for error, *ends in edges:
        for node in ends:
            if node not in positions:
                raise error(f'the edge joins node {node}, which is not in the file' + (
                    f' (left out: {", ".join(left_out)}; a node is a Point)' if others else ''))
    successors, repeated = merged(positions, ((start, end) for _, start, end in edges))
    metres, unaligned, named = 'metres', '', some_states(sorted(frames))
    if any(name in str(document.get('crs'))[-40:] for name in _DEGREES):
        metres += ', as Nav2 takes them (the file says degrees)'
    if len(frames) > 1:
        metres, positions = 'no positions', {}
        unaligned = f'its nodes are in different frames, {named}, which Nav2 joins by TF'
    elif named not in ('', _FRAME):
        metres += f', in the frame {named}'
    about = ['Nav2 route graph', metres]
    about += [f'left out: {", ".join(left_out)}'] if left_out else []
    return TransitionGraph(successors, None, source, positions, repeated=repeated,
                           about=tuple(about), unaligned=unaligned)


def _kind(feature: object, problem: Callable[[str], ChainError]) -> tuple[str, Any]:
    """Return the type of a feature's geometry, and its properties."""
    if not isinstance(feature, dict):
        raise problem('it has no properties and no geometry')
    geometry, properties = feature.get('geometry'), feature.get('properties')
    kind = geometry.get('type') if isinstance(geometry, dict) else None
    if kind is None and isinstance(properties, dict) and 'startid' in properties:
        kind = 'LineString'  # the ids alone tell what an edge is
    if not isinstance(kind, str):
        raise problem('it has no geometry with a type: a node needs a Point, an edge a LineString')
    return kind, properties


def _identifier(properties: dict[str, Any], key: str, problem: Callable[[str], ChainError]) -> str:
    value = properties.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise problem(f'{key} is {printable(repr(value), 40)}: it must be an integer of at least '
                      '0')
    return str(value)


def _point(geometry: dict[str, Any], problem: Callable[[str], ChainError]) -> Position:
    coordinates = geometry.get('coordinates')
    if isinstance(coordinates, list) and len(coordinates) >= 2:
        x, y = map(finite, coordinates[:2])
        if x is not None and y is not None:
            return x, y
    raise problem('its coordinates must be two finite numbers, [x, y]')


def finite(value: object) -> float | None:
    """Return a finite number of a JSON document; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:  # an integer of hundreds of digits
        return None


def _is_collection(document: object) -> bool:
    return isinstance(document, dict) and isinstance(document.get('features'), list)


FORMAT = MapFormat('a Nav2 route graph', 'GeoJSON with features', nav2_graph, _is_collection,
                   'json', ('.geojson', '.json'))
