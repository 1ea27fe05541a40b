# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Chains from the files that robots already have: one reader for each kind of map."""
from collections.abc import Mapping
from dataclasses import replace
import json
from pathlib import Path
from typing import Any

from symdp_ros.core.chain import Chain
from symdp_ros.errors import ChainError
from symdp_ros.files.text_file import FilePath, read_map_text
from symdp_ros.files.yaml_reader import compose_yaml, keys_of
from symdp_ros.maps import chain_file, regions
from symdp_ros.maps.dead_ends import prune as pruned, require_moves
from symdp_ros.maps.formats import (lif, nav2, patrolling_sim, rmf, rmf_nav_graph, strands,
                                    tmap2)
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.other_files import by_keys, by_text
from symdp_ros.maps.positions import FARTHEST
from symdp_ros.maps.reports import Reports
import yaml

_CHAIN_FILE = MapFormat('a chain file', 'initial_state and transitions',
                        chain_file.graph_from_node,
                        lambda root: bool(keys_of(root) & set(chain_file.KEYS)))

#: Every kind of map that can be read. Of those that recognise a file, the first reads it.
FORMATS = (rmf_nav_graph.FORMAT, rmf.FORMAT, tmap2.FORMAT, strands.FORMAT, regions.FORMAT,
           _CHAIN_FILE, nav2.FORMAT, lif.FORMAT, patrolling_sim.FORMAT)


def read_graph(path: FilePath, *, initial_state: str | None = None, self_loops: bool = False,
               graph: int | None = None, level: str | None = None,
               prune: bool = False) -> TransitionGraph:
    """
    Read a chain file (`maps.chain_file`) or a map of another tool (the modules of this folder).

    :param initial_state: used where the file names none, or instead of its own.
    :param self_loops: every state can also follow itself (after pruning).
    :param graph: building maps only: which graph, where there are several.
    :param level: building maps and navigation graphs only: this floor alone.
    :param prune: leave out isolated and dead-end states, repeatedly; `pruned` of
        the result names them.
    :raises ChainError: with the file and the place in it.
    """
    if not isinstance(initial_state, str | None):
        raise ChainError(f'initial_state is {initial_state!r}: write it as a string, '
                         f'{str(initial_state)!r}')
    read = _read(path, {'graph': graph, 'level': level})
    if initial_state is not None:
        read = replace(read, initial_state=initial_state, initial_line=None)
    if prune:
        read = pruned(read)
    return read.with_self_loops() if self_loops else read


def read_chain(path: FilePath, initial_state: str | None = None, *, self_loops: bool = False,
               graph: int | None = None, level: str | None = None, prune: bool = False,
               reports: Reports | None = None) -> Chain:
    """
    Read a file as `read_graph` does and make a chain of it.

    :param reports: for `sampling: period`, when the robot reports: the chain is that of reports.
    :raises ChainError: with the file and the place in it.
    :raises ConfigurationError: the reports do not fit the steps of the chain.
    """
    read = read_graph(path, initial_state=initial_state, self_loops=self_loops, graph=graph,
                      level=level, prune=prune)
    require_moves(read)
    return read.chain() if reports is None else reports.chain(read)


def _read(path: FilePath, choices: Mapping[str, int | str | None]) -> TransitionGraph:
    kind, content = _recognised(read_map_text(path), path)
    for name, value in choices.items():
        if value is not None and name not in kind.choices:
            raise ChainError(f'{name} is for building maps, which can hold several; this is '
                             f'{kind.name}: leave {name} out', path=path)
    read = kind.read(content, str(path), **{name: choices[name] for name in kind.choices})
    return replace(read, positions={state: (x, y) for state, (x, y) in read.positions.items()
                                    if abs(x) <= FARTHEST and abs(y) <= FARTHEST})


def _recognised(text: str, path: FilePath) -> tuple[MapFormat, Any]:
    """Return the format of a file, and its content in the form that the reader takes."""
    if not text.strip():
        raise ChainError('it is empty', path=path)
    suffix = Path(path).suffix.lower()
    named = next((kind for kind in FORMATS if suffix in kind.suffixes), None)
    if kind := _first('text', text):
        return kind, text
    document = _json(text, path, named is not None and named.content == 'json') if (
        text.lstrip()[0] in '{[') else None
    if document is not None and (kind := _first('json', document)):
        return kind, document
    if what := by_text(text):
        raise ChainError(f'this is no map: it seems to be {what}', path=path)
    try:
        root = compose_yaml(path, text=text)
    except ChainError:
        if named is None or named.content != 'text':
            raise
        return named, text
    if kind := _first('yaml', root):
        return kind, root
    below = root.value[0][1] if isinstance(root, yaml.MappingNode) and root.value else root
    if what := by_keys(keys_of(root), keys_of(below)):
        raise ChainError(f'this is no map: it seems to be {what}', path=path)
    if named is not None and named.content == 'text':
        return named, text
    raise ChainError('the file is none of these: ' + ', '.join(
        f'{kind.name} ({kind.mark})' for kind in FORMATS), path=path)


def _first(content: str, document: Any) -> MapFormat | None:
    """Return the first format with such content that recognises a file."""
    return next((kind for kind in FORMATS if kind.content == content
                 and kind.recognises(document)), None)


def _json(text: str, path: FilePath, must_be: bool) -> Any:
    """Return what a JSON text holds; None: it is no JSON, and its name does not say so."""
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ChainError('an object of the file has a key twice', path=path)
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=members)
    except ChainError:
        raise
    except json.JSONDecodeError as error:
        problem = ChainError(f'the file is not valid JSON: {error.msg}', path=path,
                             line=error.lineno)
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        problem = ChainError('the file is nested too deeply, or has a number that is too long',
                             path=path)
    if must_be:
        raise problem
    return None
