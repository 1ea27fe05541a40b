# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Zones: which places of a map are told apart by zone alone (`core.privacy`).

    zones:
      ward_a: [room_1, room_2, corridor_a]
      ward_b: [room_3, room_4, corridor_b]

Every state of the map lies in one zone. In place of such a file, the floors of a map can be the
zones (`levels`), and the polygons of a regions file can name theirs (`zone: ward_a`).
"""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from symdp_ros.core.chain import Chain
from symdp_ros.core.naming import instead_of, quoted
from symdp_ros.core.zones import Zones
from symdp_ros.errors import ChainError
from symdp_ros.files.text_file import FilePath
from symdp_ros.files.yaml_reader import compose_yaml, keys_of, YamlReader
from symdp_ros.maps.dead_ends import counted, some_states
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.regions import polygons_of, regions_graph
import yaml

LEVELS = 'levels'  # in place of a file: the floors of the map

_SHOWN = 5  # states in a message

States: TypeAlias = Mapping[str, tuple[str, ...]]  # zone → its states


def read_zones(graph: TransitionGraph, zones_file: FilePath) -> States:
    """
    Return the zones of the states of a graph, in the order in which they are named.

    States that were pruned are left out.

    :param zones_file: a file of zones, or a regions file whose polygons name theirs; 'levels':
        the floors of the map.
    :raises ChainError: with file and line: the file cannot be read or is not of this form; a state
        is named that the map does not have, or twice; a state lies in no zone.
    """
    if zones_file == LEVELS:
        if not graph.levels:
            raise graph.problem('the map has no floors: give a file of zones in place of levels')
        return _by_zone(graph, graph.levels, graph.source, 'floor')
    root = compose_yaml(zones_file)
    if 'regions' in keys_of(root):
        regions = regions_graph(root, str(zones_file))
        polygons_of(graph, regions)  # checks their names
        return _by_zone(graph, regions.zones, str(zones_file), 'zone')
    return _by_zone(graph, _zones_of_states(graph, root, str(zones_file)), str(zones_file), 'zone')


def zones_sentences(zones: Zones) -> tuple[str, str]:
    """Return what zones tell, and which hide nothing ('' where each hides something)."""
    sizes = sorted(map(len, zones.values()))
    least, most = sizes[0], sizes[-1]
    places = f'{least} to {most} regions' if least < most else counted(most, 'region')
    alone = f'nothing is hidden in a zone of one region: {some_states(zones.alone)}'
    return (f'zones: {len(zones)}, of {places} each. Which zone the robot is in is told exactly; '
            'ε protects which region of it', alone if zones.alone else '')


def zones_text(zones: States) -> str:
    """Return zones as the text of a file."""
    return yaml.safe_dump({'zones': {zone: list(states) for zone, states in zones.items()}},
                          default_flow_style=None, sort_keys=False, allow_unicode=True,
                          width=99)


def _zones_of_states(graph: TransitionGraph, root: yaml.Node, source: str) -> dict[str, str]:
    reader = YamlReader(source)
    top = reader.fields(root, 'the file', 'zones')
    for key in top:
        if key != 'zones':
            raise ChainError(f'unknown key {key!r}: a file of zones has the key zones',
                             path=source)
    zone_of: dict[str, str] = {}
    for zone, (_, node) in reader.entries(top['zones'], 'zones', 'zone: [state, …]').items():
        for item in reader.items(node, f'the zone {zone!r}', 1, '[room_1, room_2]'):
            state = reader.text(item, f'a state of {zone!r}')
            if state in zone_of:
                raise reader.error(item, f'{state!r} is in the zone {zone_of[state]!r}, too: list '
                                   'it once')
            if state not in graph.successors and state not in graph.pruned:
                raise reader.error(item, f'the zone {zone!r} names {state!r}, which is no state '
                                   f'of the map: {instead_of(state, graph.successors)}')
            zone_of[state] = zone
    return zone_of


def _by_zone(graph: TransitionGraph, zones: Mapping[str, str], source: str, what: str) -> States:
    missing = [state for state in graph.successors if state not in zones]
    if missing:
        shown = ', '.join(map(quoted, missing[:_SHOWN])) + (', …' if missing[_SHOWN:] else '')
        raise ChainError(f'{len(missing)} of {len(graph.successors)} states lie in no {what}: '
                         f'{shown}', state=missing[0], path=source or None)
    states_of: dict[str, list[str]] = {}
    for state, zone in zones.items():
        if state in graph.successors:
            states_of.setdefault(zone, []).append(state)
    return {zone: tuple(states) for zone, states in states_of.items()}


@dataclass(frozen=True)
class Doors:
    """
    What the map gives away of a zone.

    :param places: the states by which it can be entered from another zone, or left for one.
    :param known: those that are the only way between two zones: who passes is known to be there.
    """

    places: tuple[str, ...]
    known: tuple[str, ...]


def doors(chain: Chain, zones: Mapping[str, Iterable[str]]) -> dict[str, Doors]:
    """
    Return the doors of each zone.

    :param zones: a partition of the states of the chain (`core.zones.Zones.numbers` checks it).
    """
    zone_of = {state: zone for zone, states in zones.items() for state in states}
    ways: dict[tuple[str, str, str], set[str]] = {}  # (zone, other, in or out) → states of zone
    for state in chain.states:
        for there in chain.successors(state) if chain.stores_edges else ():
            here, other = zone_of[state], zone_of[there]
            if here != other:
                ways.setdefault((here, other, 'out'), set()).add(state)
                ways.setdefault((other, here, 'in'), set()).add(there)
    doors_of = {}
    for zone in zones:
        of_zone = [states for (at, *_), states in ways.items() if at == zone]
        places = set[str]().union(*of_zone)
        known = set[str]().union(*(states for states in of_zone if len(states) == 1))
        doors_of[zone] = Doors(*(tuple(state for state in chain.states if state in some)
                                 for some in (places, known)))
    return doors_of
