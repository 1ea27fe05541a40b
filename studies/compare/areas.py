# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The maps that are compared on, all of shared/data and two towns; what they say of moves."""
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from studies.common import DATA, need_maps
from studies.paper.town import CHAIN_FILE, SPARSE_FILE
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ChainError
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph

TOWN, SPARSE = 'town', 'sparse town'  # the second one without staying
_TOWNS = {TOWN: CHAIN_FILE, SPARSE: SPARSE_FILE}
_OF_MAPS = (
    '.yaml', '.yml', '.tmap2', '.tmap', '.tplg', '.tpl', '.geojson', '.json', '.lif', '.graph')
HABIT = 0.9


def moves_alone(graph: TransitionGraph) -> TransitionGraph:
    """Return the moves of a map alone."""
    return TransitionGraph({state: list(row) for state, row in graph.successors.items()},
                           graph.initial_state)


def with_stay(graph: TransitionGraph, chance: float) -> Chain:
    """Return the chain of a map with one probability of staying for all states."""
    return moves_alone(graph).with_stay(chance).chain()


def habit(chain: Chain, seed: int = 1, chance: float = HABIT) -> Chain:
    """Return the chain with one likely move from each state, elsewhere if there is one."""
    random, rows = Random(seed), {}
    for state in chain.states:
        likely = random.choice([s for s in chain.successors(state) if s != state] or [state])
        rest = [s for s in chain.successors(state) if s != likely]
        rows[state] = {likely: chance if rest else 1.0,
                       **{s: (1 - chance) / len(rest) for s in rest}}
    return Chain(rows, chain.initial_state)


@dataclass(frozen=True)
class Area:
    """A map; all but the sparse town with staying."""

    name: str
    graph: TransitionGraph

    def chain(self, k: int) -> Chain:
        """Return the chain of a robot that stays k symbols on average; k = 1: moves all alike."""
        return (self.graph.chain() if k == 1 or self.name == SPARSE
                else with_stay(self.graph, 1 - 1 / k))

    @cached_property
    def moves(self) -> Floats:
        """Return the fewest moves from each state to each, in either direction of each edge."""
        return self.shortest(np.ones(self.edges.shape[1]))

    def shortest(self, lengths: Floats) -> Floats:
        """Return the shortest way from each state to each, where edges have these lengths."""
        size = len(self.graph.successors)
        return shortest_path(csr_array((lengths, self.edges), shape=(size, size)), directed=False)

    @cached_property
    def edges(self) -> Ints:
        """Return sources and targets of the moves from one state to another: shape (2, edges)."""
        index = {state: i for i, state in enumerate(self.graph.successors)}
        return np.array([(index[s], index[t]) for s, row in self.graph.successors.items()
                         for t in row if s != t]).T

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
    file, _, number = name.partition(' ')
    graph = read_graph(_TOWNS[name]) if name in _TOWNS else read_graph(
        DATA / file, prune=True, self_loops=True, graph=int(number) if number else None)
    graph.initial_state = graph.initial_state or next(iter(graph.successors))
    return Area(name, graph)


def names() -> list[str]:
    """Return the names of all maps."""
    need_maps()
    found = []
    for path in sorted(DATA.rglob('*')):
        name = path.relative_to(DATA).as_posix()
        if path.suffix.lower() in _OF_MAPS and 'rosbag2' not in name:
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
