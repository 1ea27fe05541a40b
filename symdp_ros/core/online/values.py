# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops over values of some pairs (o, s), of `core.online.planned`: import only where they run.

Where all pairs are, `core.online.dense_values` does the same.

first, symbols   a pair is numbered by row: those of o are first[o] … first[o+1] − 1, their symbols
                 in `symbols`
offsets, successors    the edges of the chain (`Chain.csr`)
U, X       (pairs,)      as in equation (1) of `core.online.planned`
work       (3, states)   a row spread out by symbol, 0 between uses; two sums
match      (states,)     X(c, c), whether or not that is a pair
"""
import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts
from symdp_ros.core.compiled.compiling import compiled


@compiled
def spread(c: int, first: Ints, symbols: ShortInts, X: Floats, match: Floats,
           row: Floats) -> Floats:
    """Return X(c, ·), shape (states,), in `row`, which is 0 before."""
    for i in range(first[c], first[c + 1]):
        row[symbols[i]] = X[i]
    row[c] = match[c]
    return row


@compiled
def clear(c: int, first: Ints, symbols: ShortInts, row: Floats) -> None:
    """Make a `row` that was spread 0 again."""
    for i in range(first[c], first[c + 1]):
        row[symbols[i]] = 0.0
    row[c] = 0.0


@compiled
def earn(first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts, moves: Floats,
         discount: float, U: Floats, X: Floats, work: Floats, match: Floats) -> None:
    """X from U, equation (1)."""
    row = work[0]
    for c in range(len(offsets) - 1):
        begin, end = first[c], first[c + 1]
        for i in range(begin, end):
            row[symbols[i]] = U[i]
        for i in range(begin - 1, end):  # the first round is for (c, c)
            s = np.int64(c)
            if i >= begin:
                s = np.int64(symbols[i])
            later = 0.0
            for e in range(offsets[s], offsets[s + 1]):
                later += moves[e] * row[np.uint32(successors[e])]
            if i < begin:
                match[c] = 1.0 + discount * later
            else:
                X[i] = match[c] if s == c else discount * later
        clear(c, first, symbols, row)


@compiled
def improve(first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts, others: Floats,
            gain: Floats, U: Floats, X: Floats, work: Floats, match: Floats) -> float:
    """U from X, equation (1); return its largest change."""
    room, total, best = work
    largest = -np.inf
    for o in range(len(offsets) - 1):
        begin, count = first[o], first[o + 1] - first[o]
        total[:count] = 0.0
        best[:count] = 0.0
        for c in successors[offsets[o]:offsets[o + 1]]:
            row = spread(c, first, symbols, X, match, room)
            for j in range(count):
                x = row[symbols[begin + j]]
                total[j] += x
                best[j] = max(best[j], x)
            clear(c, first, symbols, room)
        for j in range(count):
            value = others[o] * total[j] + gain[o] * best[j]
            largest = max(largest, value - U[begin + j])
            U[begin + j] = value
    return largest


@compiled
def choose(first: Ints, symbols: ShortInts, offsets: Ints, successors: ShortInts, tie: float,
           X: Floats, work: Floats, match: Floats) -> Numbers:
    """Return the codes of the targets."""
    room, best = work[0], work[2]
    codes = np.zeros(first[-1], np.uint32)
    for o in range(len(offsets) - 1):
        begin, count = first[o], first[o + 1] - first[o]
        best[:count] = 0.0
        for e in range(offsets[o], offsets[o + 1]):
            row = spread(successors[e], first, symbols, X, match, room)
            for j in range(count):
                x = row[symbols[begin + j]]
                if x > best[j] + tie:
                    best[j] = x
                    codes[begin + j] = e - offsets[o] + 1
            clear(successors[e], first, symbols, room)
    return codes
