# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
From the values of parameters to a chain.

What computes is imported when it is first needed: then the node exists already, and other nodes
can discover it meanwhile.
"""
from collections.abc import Mapping
from typing import Any, TYPE_CHECKING

from symdp_ros.files.resources import resolve_path
from symdp_ros.options import map_choices, reports_of

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain
    from symdp_ros.maps.graph import TransitionGraph
    from symdp_ros.maps.positions import Locator, Place


def chain_of(settings: Mapping[str, Any]) -> 'tuple[Chain, str]':
    """
    Return the chain that the parameters name, and the name of its file.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    from symdp_ros.maps import read_chain

    path = resolve_path(settings['chain_file'])
    reports = reports_of(settings)
    return read_chain(path, **map_choices(settings), reports=reports), path.name


def regions_of(settings: Mapping[str, Any]) -> 'tuple[Locator, dict[str, Place]]':
    """
    Return what finds the state of a position, and where the states are.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    from symdp_ros.maps.regions import read_locator

    graph, places = places_of(settings)
    file = settings['regions_file']
    return read_locator(graph, resolve_path(file) if file else None,
                        hysteresis=settings['hysteresis'],
                        max_distance=settings['max_distance']), places


def places_of(settings: Mapping[str, Any]) -> 'tuple[TransitionGraph, dict[str, Place]]':
    """
    Return the map, whose states are the chain's, and where they are, as far as that is known.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    from symdp_ros.maps import read_graph
    from symdp_ros.maps.regions import read_places

    graph = read_graph(resolve_path(settings['chain_file']), **map_choices(settings))
    file = settings['regions_file']
    return graph, read_places(graph, resolve_path(file) if file else None)
