# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Chains from the files that robots already have: one reader for each kind of map."""
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from symdp_ros.core.chain import Chain
from symdp_ros.errors import ChainError
from symdp_ros.files.text_file import FilePath
from symdp_ros.files.yaml_reader import compose_yaml, keys_of
from symdp_ros.maps import chain_file, regions
from symdp_ros.maps.dead_ends import prune as pruned, require_moves
from symdp_ros.maps.formats import nav2, patrolling_sim, rmf, strands, tmap2
from symdp_ros.maps.formats.map_format import MapFormat, YAML_SUFFIXES
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import Reports
import yaml

_CHAIN_FILE = MapFormat('a chain file', 'initial_state and transitions',
                        chain_file.graph_from_node,
                        recognises=lambda root: bool(keys_of(root) & set(chain_file.KEYS)))

#: Every kind of map that can be read. Of those that recognise a file, the first reads it.
FORMATS = (rmf.FORMAT, tmap2.FORMAT, strands.FORMAT, regions.FORMAT, _CHAIN_FILE, nav2.FORMAT,
           patrolling_sim.FORMAT)

SUFFIXES = YAML_SUFFIXES + tuple(suffix for kind in FORMATS for suffix in kind.suffixes)


def read_graph(path: FilePath, *, initial_state: str | None = None, self_loops: bool = False,
               graph: int | None = None, level: str | None = None,
               prune: bool = False) -> TransitionGraph:
    """
    Read a chain file (`maps.chain_file`) or a map of another tool (the modules of this folder).

    :param initial_state: used where the file names none, or instead of its own.
    :param self_loops: every state can also follow itself (after pruning).
    :param graph: building maps only: which graph, where there are several.
    :param level: building maps only: this floor alone.
    :param prune: leave out isolated and dead-end states, repeatedly; `pruned` of
        the result names them.
    :raises ChainError: with the file and the place in it.
    """
    if not isinstance(initial_state, str | None):
        raise ChainError(f'initial_state is {initial_state!r}: write it as a string, '
                         f'{str(initial_state)!r}')
    found = _read(path, {'graph': graph, 'level': level})
    if initial_state is not None:
        found = replace(found, initial_state=initial_state, initial_line=None)
    if prune:
        found = pruned(found)
    return found.with_self_loops() if self_loops else found


def read_chain(path: FilePath, initial_state: str | None = None, *, self_loops: bool = False,
               graph: int | None = None, level: str | None = None, prune: bool = False,
               reports: Reports | None = None) -> Chain:
    """
    Read a file as `read_graph` does and make a chain of it.

    :param reports: for `sampling: period`, when the robot reports: the chain is that of reports.
    :raises ChainError: with the file and the place in it.
    :raises ConfigurationError: the reports do not fit the steps of the chain.
    """
    found = read_graph(path, initial_state=initial_state, self_loops=self_loops, graph=graph,
                       level=level, prune=prune)
    require_moves(found)
    return found.chain() if reports is None else reports.chain(found)


def _read(path: FilePath, choices: Mapping[str, int | str | None]) -> TransitionGraph:
    suffix = Path(path).suffix.lower()
    arguments: tuple[object, ...]
    if suffix not in SUFFIXES:
        raise ChainError('unknown kind of file: it should end in one of ' + ', '.join(SUFFIXES),
                         path=path)
    if suffix in YAML_SUFFIXES:
        root = compose_yaml(path)
        kind, arguments = _recognised(root, path), (root, str(path))
    else:
        kind, arguments = next(kind for kind in FORMATS if suffix in kind.suffixes), (path,)
    for name, value in choices.items():
        if value is not None and name not in kind.choices:
            raise ChainError(f'{name} is for building maps, which can hold several; this is '
                             f'{kind.name}: leave {name} out', path=path)
    return kind.read(*arguments, **{name: choices[name] for name in kind.choices})


def _recognised(root: yaml.Node, path: FilePath) -> MapFormat:
    of_yaml = [kind for kind in FORMATS if kind.recognises]
    for kind in of_yaml:
        if kind.recognises and kind.recognises(root):
            return kind
    if {'image', 'resolution'} <= keys_of(root):
        raise ChainError('this is the picture of a map for the map server: it names no places '
                         'and no moves between them. Write a chain file, or draw a Nav2 route '
                         'graph on it', path=path)
    raise ChainError('the file is none of these: ' + ', '.join(
        f'{kind.name} ({kind.mark})' for kind in of_yaml), path=path)
