# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where to draw the states of a map: at their positions, or, where it has none, a layout."""
from math import cos, pi, sin

import numpy as np
from symdp_ros.core.annotations import Floats
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.positions import Corners, Position

_MOST_STATES = 2_000  # that are laid out by their distances; more: in a circle
_ROUNDS = 200
_BETWEEN_FLOORS = 1.15  # of the width of the widest floor


def drawn_places(graph: TransitionGraph
                 ) -> tuple[dict[str, Position], dict[str, Corners], bool]:
    """
    Return where to draw each state, the polygons, and whether lengths are metres.

    Floors lie side by side, in the order of their names. Where any state has no position, all are
    laid out: places that are few moves apart lie close together.
    """
    if not all(state in graph.positions for state in graph.successors):
        return _layout(graph), {}, False
    floors = sorted({*graph.levels.values()})
    xs = [x for x, _ in graph.positions.values()]
    xs += [x for corners in graph.polygons.values() for x, _ in corners]
    step = _BETWEEN_FLOORS * (max(xs) - min(xs)) if len(floors) > 1 else 0.0

    def shift(state: str) -> float:
        return step * floors.index(graph.levels[state]) if state in graph.levels else 0.0

    return ({state: (x + shift(state), y) for state in graph.successors
             for x, y in [graph.positions[state]]},
            {state: tuple((x + shift(state), y) for x, y in corners)
             for state, corners in graph.polygons.items() if state in graph.successors}, True)


def _layout(graph: TransitionGraph) -> dict[str, Position]:
    states = [*graph.successors]
    n = len(states)
    around = np.array([(cos(2 * pi * i / n), sin(2 * pi * i / n)) for i in range(n)])
    places = around if graph.complete or n < 3 or n > _MOST_STATES else _by_distances(
        _distances(graph), around * n / 4)
    return {state: (float(x), float(y)) for state, (x, y) in zip(states, places, strict=True)}


def _distances(graph: TransitionGraph) -> Floats:
    """Return the fewest moves between any two states, in either direction: shape (n, n)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    index = {state: i for i, state in enumerate(graph.successors)}
    pairs = np.array([(index[a], index[b]) for a, row in graph.successors.items()
                      for b in row]).reshape(-1, 2)
    moves: Floats = shortest_path(
        csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(index),) * 2),
        directed=False, unweighted=True)
    most = moves[np.isfinite(moves)].max()
    return np.where(np.isfinite(moves), moves, most + 1)


def _by_distances(wanted: Floats, places: Floats) -> Floats:
    """
    Return places whose distances are about the wanted ones (SMACOF; de Leeuw 1977).

    Begins with classical scaling (Torgerson 1952), beside a little of the places given, so that
    states of equal distances do not fall together.
    """
    squares = wanted**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)) + 0.01 * places
    for _ in range(_ROUNDS):
        lengths = np.linalg.norm(places[:, None] - places, axis=2)
        ratios = np.divide(wanted, lengths, out=np.zeros_like(wanted), where=lengths > 1e-9)
        places = (ratios.sum(axis=1)[:, None] * places - ratios @ places) / len(places)
    return places
