# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a chain that a word can visit, numbered for the pass over whole words."""
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import Models
from symdp_ros.core.neighbours import edges_of

MODEL_LANES = 8  # of several models; those that there are not weigh 0
_HUBS = 0, .25, .5, .75  # which of the states are tried
_MOST_MOVES = 1_000      # to a hub, and from it


class Moves(NamedTuple):
    """
    The moves between numbered states, and h (`core.models`): what loops over a word read.

    offsets: the moves from s are offsets[s]…offsets[s+1]−1; int64, shape (states + 2,).
    targets: uint32, shape (moves,). weights: P_m(s'|s), float32, shape (moves, lanes); a lane for
    each model. Where all follow all and no moves are stored: offsets and targets are empty, and
    weights, shape (2, lanes), are those of each other state and of staying. keep: 1 − ρ.
    switch: ρ·q(m); prior: q(m); float64, shape (lanes,).
    """

    offsets: Ints
    targets: Numbers
    weights: Weights
    keep: float
    switch: Floats
    prior: Floats

    @property
    def lanes(self) -> int:
        """Return 1, or `MODEL_LANES`."""
        return len(self.prior)

    def from_state(self, state: int, states: int) -> tuple[Ints | Numbers, Weights]:
        """Return the targets of the moves from a state, and their weights."""
        if len(self.offsets):
            edges = slice(*self.offsets[state:state + 2].tolist())
            return self.targets[edges], self.weights[edges]
        weights = np.repeat(self.weights[:1], states, axis=0)
        weights[state - 1] = self.weights[1]
        return np.arange(1, states + 1), weights

    def most_in_a_row(self, states: int) -> float:
        """Return the largest sum of the weights of one state in one model."""
        weights = self.weights.astype(np.float64)
        if len(self.offsets):
            return float(np.add.reduceat(weights, self.offsets[1:-1]).max())
        return float(((states - 1) * weights[0] + weights[1]).max())


@dataclass(frozen=True)
class LoopSizes:
    """Sizes above which loops work otherwise, to save time or memory; the draws stay the same."""

    spread_bits: int = 1_550  # between the weights at one position, of the 2,045 of a float64
    stored_bytes: int = 96_000_000  # of the weights of a word; above, they are computed twice
    side_by_side_bytes: int = 1 << 25  # of words that are swept together; else they go one by one


class ReachableChain:
    """
    The states that can be reached from s_0, numbered from 1.

    Number 0 stands for unknown symbols and for states that cannot be reached, which no output
    ever matches. The order is breadth-first: so the states within t moves are 1…reach[t], and
    loops over a position go over a prefix. With zones, those of each zone stand together, and
    loops go over the zone of the position.

    Arrays: offsets, targets (as `Moves`), reach; O(moves) memory.

    :param chain: where it stores no edges, all states are numbered in their order.
    :param sizes: of the loops over it.
    :param zone_of: the zone of each state of the chain; None: there are no zones.
    """

    def __init__(self, chain: Chain, sizes: LoopSizes = LoopSizes(), zone_of: Ints | None = None):
        self.sizes = sizes
        states, index = chain.states, chain.state_index
        self.zone_starts: Ints | None = None
        if chain.stores_edges:
            offsets, targets = chain.csr()
            order, self.reach = _breadth_first(offsets, targets, index[chain.initial_state])
        else:
            order, self.reach = np.arange(len(states)), np.array([len(states)])
        if zone_of is not None:
            order = order[np.argsort(zone_of[order], kind='stable')]
            #: the first number of each zone, and one after the last
            self.zone_starts = 1 + np.searchsorted(zone_of[order], np.arange(zone_of.max() + 2))
        number = np.zeros(len(states), np.int64)
        number[order] = np.arange(1, len(order) + 1)
        #: that of s_0
        self.initial = int(number[index[chain.initial_state]])
        self.offsets, self.targets = np.empty(0, np.int64), np.empty(0, np.uint32)
        self.most_successors = len(states)
        if chain.stores_edges:
            degrees = np.diff(offsets)[order]
            self.offsets = np.zeros(len(order) + 2, np.int64)
            np.cumsum(degrees, out=self.offsets[2:])
            self.targets = number[targets[edges_of(offsets, order)]].astype(np.uint32)
            self.most_successors = int(degrees.max())
        #: position in `chain.states`, plus 1 → number: uint32; that of 0 (unknown) is 0.
        self.numbers = np.concatenate([[0], number]).astype(np.uint32)
        #: number → position: int32; that of 0 is −1.
        self.positions = np.concatenate([[-1], order]).astype(np.int32)
        #: label → number, of every state of the chain; None → 0.
        self.number: dict[str | None, int] = dict(zip(states, number.tolist(), strict=True))
        self.number[None] = 0
        #: number → label; that of 0 means nothing.
        self.label = ['', *(states[i] for i in order.tolist())]

    def __len__(self) -> int:
        """Return the number of states that can be reached."""
        return len(self.label) - 1

    def reached(self, position: int) -> int:
        """Return how many states can be reached in at most that many moves."""
        return int(self.reach[min(position, len(self.reach) - 1)])

    def successors(self, state: int) -> Numbers:
        """Return the numbers of the successors: uint32."""
        if not len(self.offsets):
            return np.arange(1, len(self) + 1, dtype=np.uint32)
        return self.targets[self.offsets[state]:self.offsets[state + 1]]

    def moves(self, models: Models) -> Moves:
        """Return the moves, with the models of the chain in as many lanes as loops have."""
        order = slice(None) if not len(self.offsets) else edges_of(
            models.offsets, self.positions[1:].astype(np.int64))
        lanes = 1 if len(models) == 1 else MODEL_LANES
        more = (0, lanes - len(models))
        weights = np.ascontiguousarray(np.pad(models.weights.T[order], ((0, 0), more)))
        return Moves(self.offsets, self.targets, weights, models.keep,
                     np.pad(models.switch, more), np.pad(models.prior, more))

    @cached_property
    def mixing_moves(self) -> int | None:
        """
        Return some r for which C^r(s) is the same for all states s; None: no such r.

        C^r(s) is what can be reached from s in exactly r moves. All of it is within T, what can be
        reached in i moves from anywhere, for i ≤ r. If from any state a moves lead to one hub ∈ T,
        and b moves from the hub to all of T, then C^r(s) is T for r ≥ max(i, a + b). A few hubs
        are tried, and up to 1,000 moves from each.
        """
        if not len(self.offsets):
            return 1
        everyone = np.arange(len(self) + 1) > 0
        rows = np.repeat(np.arange(1, len(self) + 1), np.diff(self.offsets[1:]))

        def image(some: Booleans) -> Booleans:
            result = np.zeros_like(some)
            result[self.targets[some[rows]]] = True
            return result

        def preimage(some: Booleans) -> Booleans:
            result = np.zeros_like(some)
            result[rows[some[self.targets]]] = True
            return result

        past, stable = everyone, 1
        while not ((fixed := image(past)) == past).all():
            past, stable = fixed, stable + 1
            if stable > _MOST_MOVES:
                return None
        bounds = []
        for i in np.flatnonzero(fixed)[[int(q * (fixed.sum() - 1)) for q in _HUBS]]:
            hub = np.arange(len(self) + 1) == i
            to = _moves_until(hub, preimage, everyone)
            onward = None if to is None else _moves_until(hub, image, fixed)
            if to is None or onward is None:
                return None
            bounds.append(max(stable, to + onward))
        return min(bounds)


def _moves_until(some: Booleans, step: Callable[[Booleans], Booleans],
                 wanted: Booleans) -> int | None:
    for moves in range(1, _MOST_MOVES):
        some = step(some)
        if (some == wanted).all():
            return moves
    return None


def _breadth_first(offsets: Ints, targets: ShortInts, initial: int) -> tuple[Ints, Ints]:
    """Return the states in the order they are reached, and how many are within 0, 1, … moves."""
    seen = np.zeros(len(offsets) - 1, bool)
    level = np.array([initial])
    levels = []
    while len(level):
        seen[level] = True
        levels.append(level)
        followers = targets[edges_of(offsets, level)]
        level = np.unique(followers[~seen[followers]]).astype(np.int64)
    return np.concatenate(levels), np.cumsum([len(level) for level in levels])
