# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops over values of some pairs (o, s), of `adaptive.expected_matches`; C has them as well.

first, symbols   a pair is numbered by row: those of o are first[o] … first[o+1] − 1, their symbols
                 in `symbols`
offsets, successors    the edges of the chain (`Chain.csr`)
U, X       (pairs,)      as in equation (1) there
match      (states,)     X(c, c), whether or not that is a pair
"""
from collections.abc import Iterator

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.neighbours import edges_of

_NUMBERS = 1 << 18  # that are spread out at once


def earn(first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts, moves: Floats,
         discount: float, U: Floats, X: Floats, match: Floats) -> None:
    """X from U, equation (1)."""
    for states in _parts(len(match)):
        pairs = slice(first[states[0]], first[states[-1] + 1])
        room = _spread(states, first, symbols, U)
        rows = np.repeat(np.arange(len(states)), np.diff(first)[states])
        rows = np.append(np.arange(len(states)), rows)
        ends: Ints = np.append(states, symbols[pairs].astype(np.int64))
        later = np.zeros(len(rows))
        for some, edges in _ranks(ends, offsets):
            later[some] += moves[edges] * room[rows[some], successors[edges]]
        later *= discount
        match[states] = 1.0 + later[:len(states)]
        X[pairs] = np.where(ends == states[rows], match[ends], later)[len(states):]


def improve(first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts, others: Floats,
            gain: Floats, U: Floats, X: Floats, match: Floats) -> float:
    """U from X, equation (1); return its largest change."""
    largest = -np.inf
    for states in _parts(len(match)):
        pairs = slice(first[states[0]], first[states[-1] + 1])
        rows = np.repeat(states, np.diff(first)[states])
        total, best = np.zeros(len(rows)), np.zeros(len(rows))
        for some, x in _later(states, first, symbols, offsets, successors, X, match):
            total[some] += x
            best[some] = np.maximum(best[some], x)
        value = others[rows] * total + gain[rows] * best
        largest = max(largest, float((value - U[pairs]).max(initial=-np.inf)))
        U[pairs] = value
    return largest


def _parts(count: int) -> Iterator[Ints]:
    """Yield some of the states at a time."""
    size = max(1, _NUMBERS // max(1, count))
    for begin in range(0, count, size):
        yield np.arange(begin, min(begin + size, count))


def _ranks(states: Ints, offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield which of these states have a first move, a second one, and so on, and these moves."""
    begins, degrees = offsets[states], offsets[states + 1] - offsets[states]
    for rank in range(int(degrees.max(initial=0))):
        some = np.flatnonzero(degrees > rank)
        yield some, begins[some] + rank


def _spread(states: Ints, first: Ints, symbols: ShortInts, values: Floats,
            match: Floats | None = None) -> Floats:
    """Return the values of the rows of some states, by symbol: 0 where there is no pair."""
    room, pairs = np.zeros((len(states), len(first) - 1)), edges_of(first, states)
    rows = np.repeat(np.arange(len(states)), np.diff(first)[states])
    room[rows, symbols[pairs]] = values[pairs]
    if match is not None:
        room[np.arange(len(states)), states] = match[states]
    return room


def _later(states: Ints, first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts,
           X: Floats, match: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Yield X(c, s) for the pairs (o, s) of some o, for each rank of c: their places, X."""
    counts = np.diff(first)[states]
    begins = np.cumsum(counts) - counts
    for some, edges in _ranks(states, offsets):
        room = _spread(successors[edges].astype(np.int64), first, symbols, X, match)
        rows = np.repeat(np.arange(len(some)), counts[some])
        places = edges_of(np.append(begins, begins[-1] + counts[-1]), some)
        yield places, room[rows, symbols[first[states[0]] + places]]
