# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nav2 Route Server graphs (GeoJSON).

Features with `id` and a Point are nodes; features with `startid` and `endid` are directed edges
(a LineString or a MultiLineString: Nav2 reads the ids alone, and so does this reader). States are
the node ids as strings, in the order of the file. A graph names no initial state.
"""
from collections.abc import Callable
import json
from math import isfinite
from typing import Any

from symdp_ros.errors import ChainError, printable
from symdp_ros.files.text_file import FilePath, read_map_text
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import TransitionGraph


def read_nav2_graph(path: FilePath) -> TransitionGraph:
    """
    Read a Nav2 route graph; repeated edges are merged and counted.

    :raises ChainError: with the file, and the feature's number (from 0) where there is one.
    """
    features = _features(path)
    positions, edges = {}, []
    for number, feature in enumerate(features):
        def problem(text: str, number: int = number) -> ChainError:
            return ChainError(f'feature {number}: {text}', path=path)

        properties = feature.get('properties') if isinstance(feature, dict) else None
        if not isinstance(properties, dict):
            raise problem('it has no properties: a node needs an id, an edge startid and endid')
        if 'startid' in properties or 'endid' in properties:
            edges.append((problem, _identifier(properties, 'startid', problem),
                          _identifier(properties, 'endid', problem)))
            continue
        node = _identifier(properties, 'id', problem)
        if node in positions:
            raise problem(f'node {node} is listed twice: give each node an id of its own')
        positions[node] = _point(feature, problem)
    successors: dict[str, dict[str, None]] = {node: {} for node in positions}  # ordered sets
    repeated = 0
    for problem, start, end in edges:
        for node in (start, end):
            if node not in successors:
                raise problem(f'the edge joins node {node}, which is not in the file')
        repeated += end in successors[start]
        successors[start][end] = None
    return TransitionGraph({node: list(row) for node, row in successors.items()}, None, str(path),
                           positions, repeated=repeated)


def _features(path: FilePath) -> list[Any]:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ChainError('an object of the file has a key twice', path=path)
        return dict(pairs)

    try:
        document = json.loads(read_map_text(path), object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise ChainError(f'the file is not valid JSON: {error.msg}', path=path,
                         line=error.lineno) from None
    except ChainError:
        raise
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        raise ChainError('the file is nested too deeply, or has a number that is too long',
                         path=path) from None
    features = document.get('features') if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise ChainError('the file is JSON, but no GeoJSON FeatureCollection with a list of '
                         'features', path=path)
    return features


def _identifier(properties: dict[str, Any], key: str, problem: Callable[[str], ChainError]) -> str:
    value = properties.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise problem(f'{key} is {printable(repr(value), 40)}: it must be an integer of at least '
                      '0')
    return str(value)


def _point(feature: dict[str, Any], problem: Callable[[str], ChainError]) -> tuple[float, float]:
    geometry = feature.get('geometry')
    if not isinstance(geometry, dict) or geometry.get('type') != 'Point':
        raise problem('it has no startid and endid, so it is a node, and needs a Point')
    coordinates = geometry.get('coordinates')
    if isinstance(coordinates, list) and len(coordinates) >= 2:
        x, y = map(_finite, coordinates[:2])
        if x is not None and y is not None:
            return x, y
    raise problem('its coordinates must be two finite numbers, [x, y]')


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:  # an integer of hundreds of digits
        return None


FORMAT = MapFormat('a Nav2 route graph', '.geojson', read_nav2_graph,
                   suffixes=('.geojson', '.json'))
