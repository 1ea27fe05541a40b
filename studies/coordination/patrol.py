# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Six robots patrol a map, in steps, and hear each other truly, by private regions, or not at all.

At each step every robot is at a vertex; then all move to a neighbour at the same time, but each
of them is held up (it stays) with probability DELAY. The chain says exactly this, with all moves
alike: it does not know the strategy. A robot knows its own place; of the others it has `seen`:
the chance that each is at each vertex.

How idle robot j believes vertex v to be: 0 where it is itself; elsewhere one step more than
before, times the chance that none of the others is there now. It makes use of private symbols in
one of three ways (USES): it takes each for true ('symbol'); it takes what the belief filter infers
('belief'); or it does so and keeps a share HEDGE of its trust for its own eyes ('hedged'): this
share of how idle it takes a vertex to be comes from its own visits alone.
"""
from dataclasses import dataclass
from functools import cache
from math import ceil

import numpy as np
from scipy.sparse.csgraph import shortest_path
from studies.common import DATA
from studies.compare.adversary import transitions
from studies.coordination.hearing import Hearing
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_graph

MAPS = ('1r5', 'grid', 'cumberland')
STRATEGIES = ('reactive', 'sebs', 'auction')
USES = ('symbol', 'belief', 'hedged')
ROBOTS, DELAY = 6, 0.1
FEWEST = 0.1    # of SEBS: G1, the weight of a vertex that was just visited
NEAR = 2.0      # of the auction: steps of idleness that a step of distance costs
HEDGE = 0.2


@dataclass(frozen=True)
class View:
    """What robots hear of each other: 'true', 'none' or a policy, with ε, its use and delay."""

    what: str
    epsilon: float | None = None
    use: str | None = None
    delay: int = 0  # steps


class Map:
    """A patrolling map: its chains, one for the start of each robot, and its distances."""

    def __init__(self, name: str):
        rows = read_graph(DATA / 'patrolling_sim' / f'{name}.graph').successors
        self.name, size = name, len(rows)
        starts = [list(rows)[size * robot // ROBOTS] for robot in range(ROBOTS)]
        chances = {state: {**{s: (1 - DELAY) / len(row) for s in row}, state: DELAY}
                   for state, row in rows.items()}
        self.chains = [Chain(chances, start) for start in starts]
        self.starts = np.array([self.chains[0].state_index[start] for start in starts])
        self.moves = transitions(self.chains[0]).toarray()
        self.near = (self.moves > 0) & ~np.eye(size, dtype=bool)
        self.distance = shortest_path(self.near, unweighted=True)
        self.window = ceil(size / ROBOTS)

    def __len__(self) -> int:
        return len(self.near)

    @cache
    def mechanisms(self, policy: str, epsilon: float, delay: int = 0) -> list[OnlineMechanism]:
        """Return a mechanism for each robot; how robots move is known."""
        return [OnlineMechanism(chain, Privacy(epsilon), policy=policy, trust=1.0, delay=delay)
                for chain in self.chains]


@dataclass(frozen=True)
class Patrol:
    """Some runs of a patrol; every array begins with the axes (steps, runs)."""

    places: np.ndarray   # (…, robots)
    beliefs: np.ndarray  # (…, robots, vertices): what is inferred from all that is public
    seen: np.ndarray     # (…, robots, vertices): what the robots take others to be
    visited: np.ndarray  # (…, vertices): whether a robot is there
    idleness: np.ndarray  # (…, vertices): steps since a robot was there


def patrol(area: Map, strategy: str, view: View, runs: int, steps: int, seed: int) -> Patrol:
    """Simulate: the same seed gives the same patrol."""
    random = np.random.default_rng(seed)
    everyone = np.arange(ROBOTS)
    others = np.array([[i for i in everyone if i != j] for j in everyone])
    places = np.tile(area.starts, (runs, 1))
    hearing = None if view.what in ('true', 'none') else Hearing(
        area.mechanisms(view.what, view.epsilon, view.delay) * runs, seed)
    idle = np.zeros((runs, len(area)))
    believed = own = np.zeros((runs, ROBOTS, len(area)))
    hedge = HEDGE if view.use == 'hedged' else 0.0
    shape = (steps, runs, ROBOTS, len(area))
    beliefs = np.empty(shape, np.float32)
    history = Patrol(np.empty(shape[:3], np.int16), beliefs,
                     np.empty(shape, np.float32) if view.use == 'symbol' else beliefs,
                     np.empty((steps, runs, len(area)), bool),
                     np.empty((steps, runs, len(area)), np.float32))
    exactly = np.eye(len(area))
    for t in range(steps):
        at = exactly[places]
        idle = (idle + 1) * (at.max(axis=1) == 0)
        if hearing is None:
            seen = public = at if view.what == 'true' else np.zeros_like(at)
        else:
            heard = hearing.step(places.ravel()).reshape(places.shape)
            public = hearing.beliefs.reshape(at.shape)
            seen = exactly[heard] if view.use == 'symbol' else public
        history.places[t], history.beliefs[t], history.seen[t] = places, public, seen
        history.visited[t], history.idleness[t] = idle == 0, idle
        believed = (believed + 1) * (1 - seen)[:, others].prod(axis=2) * (1 - at)
        own = (own + 1) * (1 - at)
        following = _STRATEGIES[strategy](area, view, (1 - hedge) * believed + hedge * own, places,
                                          seen, 1e-6 * random.random(believed.shape))
        places = np.where(random.random(places.shape) < DELAY, places, following)
    return history


def _reactive(area, view, believed, places, seen, ties):
    """Conscientious Reactive: the neighbour that is believed to be the most idle."""
    return _best(area, places, believed + ties)


def _sebs(area, view, believed, places, seen, ties):
    """
    State Exchange Bayesian Strategy (Portugal and Rocha 2013), each edge of length 1.

    A neighbour's weight is G1·exp(ln(1/G1)·gain/G2) for a gain (its idleness) below G2, and else
    1, times 2^(R−c) / (2^R − 1) where c > 0 of the others intend to go there. True robots tell
    their intention, and decide one after the other. A private robot does not, as this would tell
    its next place: what it intends is expected by the chain.
    """
    most = 4 * len(area) / ROBOTS  # G2
    weights = FEWEST ** (1 - np.minimum(believed / most, 1)) + ties
    if view.what != 'true':
        going = seen @ area.moves
        return _best(area, places, weights * _shared(going.sum(axis=1, keepdims=True) - going))
    intended = places.copy()
    for robot in range(ROBOTS):
        going = np.eye(len(area))[np.delete(intended, robot, axis=1)].sum(axis=1)
        mine = (weights[:, robot] * _shared(going))[:, None]
        intended[:, robot] = _best(area, places[:, robot, None], mine)[:, 0]
    return intended


def _shared(going):
    return np.minimum(1, 2.0 ** (ROBOTS - going) / (2 ** ROBOTS - 1))


def _auction(area, view, believed, places, seen, ties):
    """
    Sequential single-item auction: the highest bid of all robots for all vertices wins, and so on.

    A bid is the vertex's idleness less its distance. Each robot holds the auction by itself, with
    what it believes of idleness and of the others' distances, and goes to the vertex it wins.
    """
    runs, everyone = len(places), np.arange(ROBOTS)
    exactly = np.eye(len(area))[places]
    distance = np.repeat((seen @ area.distance)[:, None], ROBOTS, axis=1)
    distance[:, everyone, everyone] = area.distance[places]
    bids = believed[:, :, None] - NEAR * distance  # run, who believes, who bids, vertex
    bids[:, everyone, everyone] -= 1e6 * exactly
    if view.what == 'none':
        target = bids[:, everyone, everyone].argmax(axis=2).ravel()
    else:
        bids = bids.reshape(runs * ROBOTS, ROBOTS, len(area))
        rows, target = np.arange(len(bids)), np.empty(len(bids), int)
        mine = np.tile(everyone, runs)
        for _ in everyone:
            winner, vertex = np.divmod(bids.reshape(len(bids), -1).argmax(axis=1), len(area))
            target[winner == mine] = vertex[winner == mine]
            bids[rows, winner] = bids[rows, :, vertex] = -1e9
    nearer = -area.distance[target.reshape(places.shape)]
    return _best(area, places, 1e3 * nearer + believed + ties)


_STRATEGIES = {'reactive': _reactive, 'sebs': _sebs, 'auction': _auction}


def _best(area, places, scores):
    """Return the neighbour of each place with the largest score."""
    return np.where(area.near[places], scores, -np.inf).argmax(axis=2)
