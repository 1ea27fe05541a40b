"""Chains from the files that robots already have: one reader for each kind of map."""
from pathlib import Path

from symdp_ros.core.chain import Chain
from symdp_ros.core.chain_file import read_chain_file
from symdp_ros.core.errors import ChainError
from symdp_ros.core.graph import TransitionGraph
from symdp_ros.maps.nav2 import read_nav2_graph

#: File name suffixes and their readers.
READERS = {
    '.geojson': read_nav2_graph,
    '.json': read_nav2_graph,
    '.yaml': read_chain_file,
    '.yml': read_chain_file,
}


def read_graph(path, *, self_loops: bool = False) -> TransitionGraph:
    """
    Read a chain file (`core.chain_file`) or a Nav2 route graph (`maps.nav2`), by its suffix.

    :param self_loops: every state can also follow itself.
    :raises ChainError: with the file and the place in it.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise ChainError(f'{path}: unknown kind of file: it should end in one of '
                         + ', '.join(READERS))
    graph = reader(path)
    return graph.with_self_loops() if self_loops else graph


def read_chain(path, initial_state: str | None = None, *, self_loops: bool = False) -> Chain:
    """
    Read a file as `read_graph` does and make a chain of it.

    :param initial_state: used where the file names none, or instead of its own.
    :raises ChainError: with the file and the place in it.
    """
    return Chain.from_graph(read_graph(path, self_loops=self_loops), initial_state)
