# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
From the values of parameters to a chain.

What computes is imported when it is first needed: then the node exists already, and other nodes
can discover it meanwhile.
"""
from collections.abc import Mapping
from typing import Any, TYPE_CHECKING

from symdp_ros.options import map_choices, reports_of
from symdp_ros.ros.resources import resolve_path

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.regions import Locator, Place


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
    from symdp_ros.maps import read_graph
    from symdp_ros.maps.regions import read_locator, read_places

    graph = read_graph(resolve_path(settings['chain_file']), **map_choices(settings))
    file = resolve_path(settings['regions_file']) if settings['regions_file'] else None
    return read_locator(graph, file, hysteresis=settings['hysteresis'],
                        max_distance=settings['max_distance']), read_places(graph, file)
