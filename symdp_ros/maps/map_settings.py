# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which map: for nodes and the command line alike."""
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symdp_ros.files.resources import resolve_path
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.positions import Locator, Place
from symdp_ros.maps.regions import read_locator, read_places
from symdp_ros.maps.zones import LEVELS, read_zones, States
from symdp_ros.settings import settings_of


@dataclass(frozen=True)
class MapSettings:
    """
    Which map, which part of it, and where its regions are.

    :param chain_file, regions_file, zones_file: a path, or package://PACKAGE/PATH; '': none.
        `zones_file` may be 'levels' (`maps.zones`).
    :param graph: −1: the only one.

    The others are those of `maps.read_graph`; '' stands for None.
    """

    chain_file: str
    initial_state: str = ''
    self_loops: bool = False
    graph: int = -1
    level: str = ''
    prune: bool = False
    regions_file: str = ''
    zones_file: str = ''

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'MapSettings':
        """Return those among the values of options."""
        return settings_of(cls, values)

    @property
    def path(self) -> Path:
        """
        Return the path of the map.

        :raises ConfigurationError: the package is not found.
        """
        return resolve_path(self.chain_file)

    def read(self) -> TransitionGraph:
        """
        Return the map; its initial state may be None.

        :raises ChainError, ConfigurationError: with the file and the reason.
        """
        return read_graph(self.path, initial_state=self.initial_state or None,
                          self_loops=self.self_loops, graph=None if self.graph < 0 else self.graph,
                          level=self.level or None, prune=self.prune)

    def places(self, graph: TransitionGraph) -> dict[str, Place]:
        """Return where the states of the map are; as `maps.regions.read_places`."""
        return read_places(graph, self._regions)

    def locator(self, graph: TransitionGraph, hysteresis: float, max_distance: float) -> Locator:
        """Return what finds the state of a position; as `maps.regions.read_locator`."""
        return read_locator(graph, self._regions, hysteresis=hysteresis,
                            max_distance=max_distance)

    def zones(self) -> States | None:
        """
        Return the zones of the states of the map; None: there are none.

        :raises ChainError, ConfigurationError: as `read`, and `maps.zones.read_zones`.
        """
        if not self.zones_file:
            return None
        return read_zones(self.read(), LEVELS if self.zones_file == LEVELS
                          else resolve_path(self.zones_file))

    @property
    def _regions(self) -> Path | None:
        return resolve_path(self.regions_file) if self.regions_file else None
