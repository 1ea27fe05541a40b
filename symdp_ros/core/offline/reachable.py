# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a chain that a word can visit, numbered in the order in which it is reached."""
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.chain import Chain
from symdp_ros.core.compiled.vectors import in_lanes
from symdp_ros.core.models import Models

#: offsets, targets, columns, long_rows, reach, weights, column_weights (see `passes.kernels`)
Edges: TypeAlias = tuple[Ints, Numbers, Numbers, Ints, Ints, Weights | Floats, Weights]
#: offsets, targets, reach, weights, keep, switch (see `passes.model_kernels`)
ModelEdges: TypeAlias = tuple[Ints, Numbers, Ints, Weights, float, Floats]
#: In place of the float32 weights of moves, where no move has one: loops are compiled for a type.
NO_WEIGHTS: Floats = np.zeros(0, np.float64)


@dataclass(frozen=True)
class LoopSizes:
    """From which sizes on loops go another way, for time or memory; what is drawn is the same."""

    columns_from: int = 256  # states from which on loops over columns are faster than row by row
    spread_bits: int = 1_700  # between the weights at one position, of the 2,045 of a float64
    stored_bytes: int = 31_200_000  # a 25th of all W_t, for 10⁴ symbols on 10⁴ states
    lanes_bytes: int = 1 << 25  # of the weights of words side by side; else they go one by one
    tables_bytes: int = 1 << 26  # of the tables that are kept at once; more are computed again


class ReachableChain:
    """
    The states that can be reached from s_0, numbered from 1 in breadth-first order.

    So s_0 is 1, and the states that can be reached in at most t moves are 1…reach[t]: loops over a
    position go over a prefix. Number 0 stands for unknown symbols and for states that cannot be
    reached, which no output ever matches.

    Arrays (see `passes.kernels`): offsets, targets, columns, long_rows, reach; O(edges) memory.

    :param chain: one that stores its edges.
    :param sizes: of the loops over it.
    """

    def __init__(self, chain: Chain, sizes: LoopSizes = LoopSizes()):
        self.sizes = sizes
        offsets, targets = chain.csr()
        states, index = chain.states, chain.state_index
        order, self.reach = _breadth_first(offsets, targets, index[chain.initial_state])
        number = np.zeros(len(states), np.int64)
        number[order] = np.arange(1, len(order) + 1)
        degrees = np.diff(offsets)[order]
        self.offsets = np.zeros(len(order) + 2, np.int64)
        np.cumsum(degrees, out=self.offsets[2:])
        self.targets = number[targets[_edges_of(offsets, order)]].astype(np.uint32)
        width = _column_count(degrees) if len(order) >= sizes.columns_from else 0
        narrow = len(order) < 2**16  # the smaller, the faster
        self.columns = np.zeros((width, len(order) + 1), np.uint16 if narrow else np.uint32)
        for j in range(width):
            rows = 1 + np.flatnonzero(degrees > j)
            self.columns[j, rows] = self.targets[self.offsets[rows] + j]
        self.long_rows = 1 + np.flatnonzero(degrees > width)
        #: what `core.offline.passes.kernels` reads, where no move has a weight
        self.edges = self.weighted(NO_WEIGHTS)
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

    @cached_property
    def levels(self) -> Ints:
        """Return the least moves to each number; that of 0 means nothing."""
        return np.asarray(np.searchsorted(self.reach, np.arange(len(self) + 1)), np.int64)

    @cached_property
    def period(self) -> int:
        """
        Return the greatest p by multiples of which the lengths of all walks to a state differ.

        In t moves, a walk is among the states with levels t, t − p, …; so every edge leads from
        one of these p classes to the next.
        """
        levels = self.levels
        detours = np.repeat(levels[1:], np.diff(self.offsets[1:])) + 1 - levels[self.targets]
        return int(np.gcd.reduce(detours))

    def of_moves(self, chain: Chain, values: Weights) -> Weights:
        """Return what each move has: from the order of `chain.csr()` to that of `targets`."""
        found: Weights = values[_edges_of(chain.csr()[0], self.positions[1:].astype(np.int64))]
        return found

    def weighted(self, weights: Weights | Floats) -> Edges:
        """Return `edges` with weights: one for each of `targets`, or `NO_WEIGHTS`."""
        columns = np.zeros((len(self.columns) if len(weights) else 0, self.columns.shape[1]),
                           np.float32)
        for j in range(len(columns)):
            rows = np.flatnonzero(np.diff(self.offsets) > j)
            columns[j, rows] = weights[self.offsets[rows] + j]
        return (self.offsets, self.targets, self.columns, self.long_rows, self.reach, weights,
                columns)

    def with_models(self, models: Models) -> ModelEdges:
        """Return the edges with those models of the chain, in as many lanes as there may be."""
        order = _edges_of(models.offsets, self.positions[1:].astype(np.int64))
        return (self.offsets, self.targets, self.reach, in_lanes(models.weights.T[order]),
                models.keep, in_lanes(models.switch[None])[0])

    def successors(self, state: int) -> Numbers:
        """Return the numbers of the successors: uint32."""
        row: Numbers = self.targets[self.offsets[state]:self.offsets[state + 1]]
        return row

    @cached_property
    def mixing_moves(self) -> int | None:
        """
        Return some r for which C^r(s) is the same for all states s of a class; None: none found.

        There are as many classes as `period` says; with 1, all states are in one. C^r(s) is what
        can be reached from s in exactly r moves. All of it is within T, what can be reached in i
        moves from anywhere, for i ≤ r. If from any state some a' moves, a ≤ a' < a + period, lead
        to one hub ∈ T, and b' moves, for any b' ≥ b, from the hub to all of its class in T, then
        C^r(s) is all of its class in T for r ≥ max(i, a + b + period − 1).
        A few hubs are tried, and up to 1,000 moves from each.
        """
        everyone = np.arange(len(self) + 1) > 0
        period, of_class = self.period, self.levels % self.period
        rows = np.repeat(np.arange(1, len(self) + 1), np.diff(self.offsets[1:]))

        def image(some: Booleans) -> Booleans:
            result = np.zeros_like(some)
            result[self.targets[some[rows]]] = True
            return result

        def preimage(some: Booleans) -> Booleans:
            result = np.zeros_like(some)
            result[rows[some[self.targets]]] = True
            return result

        stable, kept = _moves_until(
            everyone, image, lambda now, past, _: bool((now == past).all()))
        if stable is None:
            return None
        found = []
        for i in np.flatnonzero(kept)[[int(q * (kept.sum() - 1)) for q in (0, .25, .5, .75)]]:
            hub, own = np.arange(len(self) + 1) == i, int(of_class[i])

            def came_from_all(now: Booleans, _: Booleans, moves: int, own: int = own) -> bool:
                return bool((now == (everyone & (of_class == (own - moves) % period))).all())

            def went_to_all(now: Booleans, _: Booleans, moves: int, own: int = own) -> bool:
                return bool((now == (kept & (of_class == (own + moves) % period))).all())

            there, _ = _moves_until(hub, preimage, came_from_all)
            onward, _ = _moves_until(hub, image, went_to_all)
            if there is None or onward is None:
                return None
            found.append(max(stable, there + onward + period - 1))
        return min(found)


def _moves_until(
        some: Booleans, step: Callable[[Booleans], Booleans],
        done: Callable[[Booleans, Booleans, int], bool]) -> tuple[int | None, Booleans]:
    for moves in range(1, 1_000):
        past, some = some, step(some)
        if done(some, past, moves):
            return moves, some
    return None, some


def _edges_of(offsets: Ints, rows: Ints) -> Ints:
    """Return the positions in `targets` of the edges of these rows, row after row: int64."""
    counts = offsets[rows + 1] - offsets[rows]
    return np.repeat(offsets[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def _breadth_first(offsets: Ints, targets: ShortInts, initial: int) -> tuple[Ints, Ints]:
    """Return the states in the order they are reached, and how many are within 0, 1, … moves."""
    seen = np.zeros(len(offsets) - 1, bool)
    level = np.array([initial])
    levels = []
    while len(level):
        seen[level] = True
        levels.append(level)
        found = targets[_edges_of(offsets, level)]
        level = np.unique(found[~seen[found]]).astype(np.int64)
    return np.concatenate(levels), np.cumsum([len(level) for level in levels])


def _column_count(degrees: Ints) -> int:
    """Return how many successors of each row go into padded columns; others cost three times."""
    rows_with_more = np.bincount(degrees)[::-1].cumsum()[::-1][1:]  # [d]: rows with > d successors
    overflow = rows_with_more[::-1].cumsum()[::-1]                  # [d]: edges beyond column d
    cost = np.arange(len(overflow)) * len(degrees) + 3 * overflow
    return 1 + int(np.argmin(np.append(cost[1:], len(overflow) * len(degrees))))
