"""Chains from the files that robots already have: one reader for each kind of map."""
from dataclasses import replace
from pathlib import Path

import yaml

from symdp_ros.core.chain import Chain
from symdp_ros.core.chain_file import compose_yaml, graph_from_node
from symdp_ros.core.errors import ChainError
from symdp_ros.core.graph import TransitionGraph
from symdp_ros.maps.map_graph import prune as pruned
from symdp_ros.maps.map_graph import require_moves
from symdp_ros.maps.nav2 import read_nav2_graph
from symdp_ros.maps.patrolling_sim import read_patrolling_graph
from symdp_ros.maps.rmf import building_graph
from symdp_ros.maps.tmap2 import tmap2_graph

#: File name suffixes; what a YAML file is, its top-level keys tell.
SUFFIXES = ('.yaml', '.yml', '.tmap2', '.geojson', '.json', '.graph')


def read_graph(path, *, initial_state: str | None = None, self_loops: bool = False,
               graph: int | None = None, level: str | None = None,
               prune: bool = False) -> TransitionGraph:
    """
    Read a chain file (`core.chain_file`) or a map of another tool (the modules of this folder).

    :param initial_state: used where the file names none, or instead of its own.
    :param self_loops: every state can also follow itself (after pruning).
    :param graph: building maps only: which graph, where there are several.
    :param level: building maps only: this floor alone.
    :param prune: leave out isolated and dead-end states, repeatedly; the result is a `MapGraph`
        whose `pruned` names them.
    :raises ChainError: with the file and the place in it.
    """
    found = _read(path, graph, level)
    if initial_state is not None:
        found = replace(found, initial_state=initial_state, initial_line=None)
    if prune:
        found = pruned(found)
    return found.with_self_loops() if self_loops else found


def read_chain(path, initial_state: str | None = None, *, self_loops: bool = False,
               graph: int | None = None, level: str | None = None, prune: bool = False) -> Chain:
    """
    Read a file as `read_graph` does and make a chain of it.

    :raises ChainError: with the file and the place in it.
    """
    found = read_graph(path, initial_state=initial_state, self_loops=self_loops, graph=graph,
                       level=level, prune=prune)
    require_moves(found)
    return Chain.from_graph(found)


def _read(path, graph, level) -> TransitionGraph:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ChainError(f'{path}: unknown kind of file: it should end in one of '
                         + ', '.join(SUFFIXES))
    if suffix in ('.geojson', '.json'):
        _refuse_choices(path, 'a Nav2 route graph', graph, level)
        return read_nav2_graph(path)
    if suffix == '.graph':
        _refuse_choices(path, 'a patrolling_sim graph', graph, level)
        return read_patrolling_graph(path)
    root = compose_yaml(path)
    keys = {key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)} if isinstance(
        root, yaml.MappingNode) else set()
    if 'levels' in keys:
        return building_graph(root, str(path), graph=graph, level=level)
    if 'nodes' in keys:
        _refuse_choices(path, 'an LCAS topological map', graph, level)
        return tmap2_graph(root, str(path))
    if keys and not keys & {'initial_state', 'transitions', 'symbols'}:
        raise ChainError(f'{path}: the file is no chain file (initial_state and transitions), '
                         'building map (levels) or LCAS topological map (nodes)')
    _refuse_choices(path, 'a chain file', graph, level)
    return graph_from_node(root, str(path))


def _refuse_choices(path, kind, graph, level):
    for name, value in (('graph', graph), ('level', level)):
        if value is not None:
            raise ChainError(f'{path}: {name} is for building maps, which can hold several; this '
                             f'is {kind}: leave {name} out')
