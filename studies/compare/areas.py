# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The maps that are compared on: all of shared/data, and two towns."""
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from studies.compare.section import DATA, Skipped
from studies.paper.town import CHAIN_FILE, SPARSE_FILE
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ChainError
from symdp_ros.maps import read_graph, SUFFIXES
from symdp_ros.maps.graph import TransitionGraph

TOWN, SPARSE = 'town', 'sparse town'  # the second one without staying
_TOWNS = {TOWN: CHAIN_FILE, SPARSE: SPARSE_FILE}


@dataclass(frozen=True)
class Area:
    """A map; all but the sparse town with staying."""

    name: str
    graph: TransitionGraph

    def chain(self, k: int) -> Chain:
        """Return the chain of a robot that stays k symbols on average; k = 1: moves all alike."""
        graph = self.graph
        if k > 1 and self.name != SPARSE:
            plain = {state: list(row) for state, row in graph.successors.items()}
            graph = TransitionGraph(plain, graph.initial_state).with_stay(1 - 1 / k)
        return graph.chain(graph.initial_state or next(iter(graph.successors)))

    @cached_property
    def moves(self) -> Floats:
        """Return the fewest moves from each state to each, in either direction of each edge."""
        states = list(self.graph.successors)
        index = {state: i for i, state in enumerate(states)}
        edges = np.array([(index[s], index[t]) for s, row in self.graph.successors.items()
                          for t in row]).T
        joined = csr_array((np.ones(edges.shape[1]), edges), shape=(len(states), len(states)))
        return shortest_path(joined, directed=False, unweighted=True)

    @cached_property
    def metres(self) -> Floats | None:
        """Return the distance of each state to each; None where places are not known."""
        if set(self.graph.successors) - set(self.graph.positions):
            return None
        at = self.positions
        return np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))

    @property
    def positions(self) -> Floats:
        """Return the places in metres: shape (states, 2)."""
        return np.array([self.graph.positions[state] for state in self.graph.successors])


@cache
def area(name: str) -> Area:
    """Return the map of a name of `names`."""
    if name in _TOWNS:
        return Area(name, read_graph(_TOWNS[name]))
    file, _, number = name.partition(' ')
    return Area(name, read_graph(DATA / file, prune=True, self_loops=True,
                                 graph=int(number) if number else None))


def names() -> list[str]:
    """Return the names of all maps."""
    if not DATA.is_dir():
        raise Skipped(f'the maps are not there: {DATA.name}')
    found = []
    for path in sorted(DATA.rglob('*')):
        name = path.relative_to(DATA).as_posix()
        if path.suffix.lower() in SUFFIXES and 'rosbag2' not in name:
            whole = [name] if _is_chain(name) else [f'{name} {i}' for i in range(3)]
            found += filter(_is_chain, whole)  # the others are no maps
    return [*found, TOWN, SPARSE]


def _is_chain(name: str) -> bool:
    try:
        area(name).chain(1)
    except ChainError:
        return False
    return True


def words(chain: Chain, length: int, walks: int) -> ShortInts:
    """Return walks by P as positions in `states`: shape (walks, length)."""
    index = chain.state_index
    return np.array([[index[s] for s in walk] for walk in patrols(chain, length, walks)], np.int32)
