# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A transition graph as a file gives it, before it is known to be a chain; its structure."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Any, TypeAlias

import numpy as np
from symdp_ros.core.chain import Chain, EMPTY
from symdp_ros.core.naming import instead_of, one_of
from symdp_ros.errors import ChainError
from symdp_ros.maps.positions import Corners

Row: TypeAlias = Mapping[str, float] | list[str]  # successors, with or without probabilities


@dataclass(repr=False)
class TransitionGraph:
    """
    States and moves as read from a file. Dead ends are allowed here; a `Chain` has none.

    :param successors: for each state, the states that can follow (a list), or a mapping from
        them to their probabilities.
    :param initial_state: where the file names one, else None.
    :param source: the file, for messages.
    :param positions: (x, y) of the states in metres, where the file has them; none is beyond
        `maps.positions.FARTHEST`.
    :param lines: the line of the file at which a state is described, where known.
    :param initial_line: that of the initial state.
    :param complete: every state can follow every state; `successors` is then empty lists.
    :param repeated: how many moves the file lists more than once.
    :param unnamed: the states that the map gives no name, so that they got a label; None where
        its format names all.
    :param tick: how long one step takes, in seconds, where the file says so.
    :param moves: where the file is that of reports, the most moves between two of them.
    :param levels: the floor of each state that is on one, by name.
    :param polygons: the corners of each state that is drawn as a polygon, in metres.
    :param zones: the zone of each state whose polygon names one (`maps.zones`).
    :param pruned: the states that were left out (`maps.dead_ends`), in the order of the file.
    :param about: what was read: the format, and what its reader found out, for people.
    :param unaligned: why positions of robots cannot be compared with those of the states; ''
        where they can.
    """

    successors: Mapping[str, Row]
    initial_state: str | None = None
    source: str = ''
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    complete: bool = False
    repeated: int = 0
    initial_line: int | None = None
    unnamed: frozenset[str] | None = None
    tick: float | None = None
    moves: int | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    polygons: Mapping[str, Corners] = field(default_factory=dict)
    zones: Mapping[str, str] = field(default_factory=dict)
    pruned: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    unaligned: str = ''

    def __repr__(self) -> str:
        edges = sum(map(len, self.successors.values()))
        source = f'{self.source}: ' if self.source else ''
        return (f'<TransitionGraph: {source}{len(self.successors)} states, '
                f'{"all follow all" if self.complete else f"{edges} edges"}>')

    def with_self_loops(self) -> 'TransitionGraph':
        """
        Return the graph in which every state can also follow itself.

        In a row of probabilities, staying gets what a uniform row would give it, 1/(N+1), and
        the others share the rest in their proportions.
        """
        def with_loop(state: str, row: Row) -> Row:
            if state in row:
                return row
            if not isinstance(row, Mapping):
                return [*row, state]
            share = 1 / (len(row) + 1)
            return {**{s: p * (1 - share) for s, p in row.items()}, state: share}

        if self.complete:
            return self
        looped = {state: with_loop(state, row) for state, row in self.successors.items()}
        return replace(self, successors=looped)

    def with_staying(self) -> 'TransitionGraph':
        """Return `with_self_loops`, unless the map names probabilities: those say who stays."""
        named = any(isinstance(row, Mapping) for row in self.successors.values())
        return self if named else self.with_self_loops()

    def with_stay(self, chance: float) -> 'TransitionGraph':
        """
        Return the graph in which every state follows itself with a probability.

        The moves of a state share the rest. Where a uniform row gives staying more, it has that.

        :raises ChainError: the graph has probabilities of its own.
        """
        named = [s for s, row in self.successors.items() if isinstance(row, Mapping)]
        if named:
            raise self.problem(f'state {named[0]!r} has probabilities of its own, which tell how '
                               'long the robot stays: leave stay out', named[0])

        def with_chance(state: str, row: Row) -> Row:
            moves = [s for s in (self.successors if self.complete else row) if s != state]
            share = max(chance, 1 / (len(moves) + 1)) if moves else 1.0
            return {**{s: (1 - share) / len(moves) for s in moves}, state: share}

        rows = {state: with_chance(state, row) for state, row in self.successors.items()}
        return replace(self, successors=rows, complete=False)

    def chain(self, initial_state: str | None = None) -> Chain:
        """
        Return the chain of this graph.

        :param initial_state: used where the graph names none, or instead of its own.
        :raises ChainError: as the constructor does, with the file and the line.
        """
        initial_state = self.initial_state if initial_state is None else initial_state
        if initial_state is None:
            raise self.problem(EMPTY if not self.successors else (
                f'the file names no initial state: give {one_of(self.successors)}, as '
                'initial_state (--initial-state)'))
        if self.successors and initial_state == self.initial_state not in self.successors:
            raise self.problem(f'the initial state {initial_state!r} is not a state of the chain: '
                               + instead_of(initial_state, self.successors), initial_state,
                               self.initial_line)
        try:
            if self.complete:
                return Chain.complete(self.successors, initial_state)
            return Chain(self.successors, initial_state)
        except ChainError as error:
            raise self.problem(error.reason, error.state) from None

    def problem(self, reason: str, state: str | None = None,
                line: int | None = None) -> ChainError:
        """Return the error with the file, and the line of the state, as far as they are known."""
        if state is not None:
            line = self.lines.get(state, line)
        return ChainError(reason, state=state, path=self.source or None, line=line)


def merged(states: Iterable[str],
           moves: Iterable[tuple[str, str]]) -> tuple[dict[str, list[str]], int]:
    """
    Return state → the states that can follow, and how many moves were listed more than once.

    :param moves: from state to state.
    """
    rows: dict[str, dict[str, None]] = {state: {} for state in states}  # ordered sets
    repeated = 0
    for start, end in moves:
        repeated += end in rows[start]
        rows[start][end] = None
    return {state: list(row) for state, row in rows.items()}, repeated


@dataclass(frozen=True)
class Structure:
    """What `symdp check` shows of a graph. Counts are of states, unless stated otherwise."""

    states: int
    edges: int
    out_degrees: tuple[int, int, float]  # smallest, largest, mean
    isolated: tuple[str, ...]            # no move in or out, and no staying
    dead_ends: tuple[str, ...]           # no move out, but some in
    unreachable: tuple[str, ...] | None  # from the initial state; None where there is none
    strong_components: int
    period: int | None                   # of a strongly connected graph
    without_staying: int                 # states that cannot follow themselves
    single_move: tuple[str, ...]         # exactly one state can follow: nothing to hide it among
    repeated: int                        # edges listed more than once, merged


def structure(graph: TransitionGraph) -> Structure:
    """
    Measure a graph: degrees, dead ends, reachability, strong components, period.

    :raises ChainError: where the graph has no states or a move leads to an unknown state.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    names = list(graph.successors)
    if not names:
        raise graph.problem('there are no states: list at least one')
    index = {name: i for i, name in enumerate(names)}
    initial = graph.initial_state
    if initial is not None and initial not in index:
        raise graph.problem(f'the initial state {initial!r} is not a state: '
                            f'{instead_of(initial, index)}', initial, graph.initial_line)
    if graph.complete:
        n = len(names)
        return Structure(n, n * n, (n, n, float(n)), (), (), None if initial is None else (),
                         1, 1, 0, tuple(names) if n == 1 else (), 0)
    rows, columns = [], []
    for name, row in graph.successors.items():
        for target in row:
            if target not in index:
                raise graph.problem(f'state {name!r} lists the successor {target!r}, which is '
                                    'not a state', name)
            rows.append(index[name])
            columns.append(index[target])
    n = len(names)
    matrix = csr_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(n, n))
    matrix.data[:] = 1
    out = np.diff(matrix.indptr)
    staying = matrix.diagonal() > 0
    incoming = np.bincount(matrix.indices, minlength=n)
    leaves, entered = out - staying > 0, incoming - staying > 0
    components, _ = connected_components(matrix, directed=True, connection='strong')
    unreachable = None
    if initial is not None:
        reached = np.zeros(n, bool)
        reached[breadth_first_order(matrix, index[initial], return_predecessors=False)] = True
        unreachable = tuple(names[i] for i in np.flatnonzero(~reached))
    return Structure(
        states=n, edges=int(matrix.nnz),
        out_degrees=(int(out.min()), int(out.max()), float(out.mean())),
        isolated=tuple(names[i] for i in np.flatnonzero(~leaves & ~entered & (out == 0))),
        dead_ends=tuple(names[i] for i in np.flatnonzero((out == 0) & entered)),
        unreachable=unreachable, strong_components=int(components),
        period=_period(matrix) if components == 1 and matrix.nnz else None,
        without_staying=int((~staying).sum()),
        single_move=tuple(names[i] for i in np.flatnonzero(out == 1)), repeated=graph.repeated)


def _period(matrix: Any) -> int:
    """Return the period of a strongly connected graph: the gcd of depth(u) + 1 − depth(v)."""
    from scipy.sparse.csgraph import breadth_first_order

    order, parents = breadth_first_order(matrix, 0)
    depth = np.zeros(matrix.shape[0], np.int64)
    for node in order[1:]:
        depth[node] = depth[parents[node]] + 1
    sources = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return gcd(*np.unique(np.abs(depth[sources] + 1 - depth[matrix.indices])).tolist())
