# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops of the adaptive policy (`core.online.adaptive`): import only where one is about to run.

offsets, successors   the chain's edges (`Chain.csr`)
moves      (edges,)    P̃
first, symbols, X, match   as in `core.online.planned`
shares     (3, ·)      by |T|: a/T, b/T, 1/|T|
codes      (states,)   of each symbol, the place of its target in T, from 1; 0 for none
joined     (·,)        of each successor, the round in which it joined the set
"""
import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.compiling import compiled
from symdp_ros.core.online.targets import Codes

DISCOUNT = 0.9

_LEAST = 1e-9         # probability of a state that counts in the choice of a set
_IMPOSSIBLE = 1e-200  # a probability that counts as 0
_TIE = 1e-12
_ALL_TRIED = 16       # states that can follow, up to which all are tried in every round
_LOOKED_AHEAD = 8     # states that can follow, up to which what comes next is looked at


@compiled
def _move(belief: Floats, least: float, place: int, size: int, codes: Codes, shares: Floats,
          offsets: Ints, successors: ShortInts, moves: Floats, after: Floats) -> float:
    """
    Return the probability of the output at a place of T; put f after it, times that, in `after`.

    size: of T; 0: there is no output, and the belief is that of s_{t−1} already.
    """
    for s in range(len(after)):
        after[s] = 0.0
    total = 0.0
    for s in range(len(belief)):
        chance = belief[s]
        if chance > least:
            if size > 0:
                code = np.int64(codes[s])
                chance *= shares[2, size] if code == 0 else shares[1 if code == place else 0, size]
            total += chance
            for e in range(offsets[s], offsets[s + 1]):
                after[successors[e]] += chance * moves[e]
    return total


@compiled
def _grow(output: int, belief: Floats, offsets: Ints, successors: ShortInts, first: Ints,
          symbols: ShortInts, X: Floats, match: Floats, shares: Floats, joined: Floats,
          means: Floats, work: Floats, near: Floats, some: Ints) -> tuple[float, int]:
    """Return the largest value (1) of the sets that grow state by state, and that one's size."""
    known, best, spread = work[0], work[1], work[2]
    begin = offsets[output]
    count = offsets[output + 1] - begin
    n = 0  # of the states that count; near[j, i] is X of these
    for s in range(len(belief)):
        if belief[s] > _LEAST:
            some[n] = s
            known[n] = belief[s]
            best[n] = 0.0
            n += 1
    dense = len(symbols) == 0
    for j in range(count):
        c = np.int64(successors[begin + j])
        row = spread
        if dense:
            row = X[first[c]:first[c + 1]]
        else:
            for i in range(first[c], first[c + 1]):
                row[symbols[i]] = X[i]
            row[c] = match[c]
        mean = 0.0
        for i in range(n):
            near[j, i] = row[some[i]]
            mean += known[i] * near[j, i]
        means[j] = mean
        joined[j] = 0.0
        if not dense:
            for i in range(first[c], first[c + 1]):
                row[symbols[i]] = 0.0
            row[c] = 0.0
    largest, chosen, together = -1.0, 0, 0.0
    for m in range(1, count + 1):
        value, which = -1.0, 0
        if count > _ALL_TRIED:
            for j in range(count):
                if joined[j] == 0.0 and means[j] > value + _TIE:
                    value, which = means[j], j
        for j in range(count):
            if joined[j] == 0.0 and (count <= _ALL_TRIED or j == which):
                covered = 0.0
                for i in range(n):
                    covered += known[i] * max(best[i], near[j, i])
                found = (shares[0, m] * (together + means[j])
                         + (shares[1, m] - shares[0, m]) * covered)
                if count > _ALL_TRIED or found > value + _TIE:
                    value, which = found, j
        joined[which] = m
        together += means[which]
        for i in range(n):
            best[i] = max(best[i], near[which, i])
        if value > largest + _TIE:
            largest, chosen = value, m
    return largest, chosen


@compiled
def _aim(output: int, rounds: int, joined: Floats, offsets: Ints, successors: ShortInts,
         first: Ints, symbols: ShortInts, X: Floats, match: Floats, codes: Codes, subset: Ints,
         best: Floats) -> int:
    """Put the set of so many rounds into `subset`, its targets into `codes`; return its size."""
    for s in range(len(best)):
        best[s] = 0.0
        codes[s] = 0
    begin, size = offsets[output], 0
    for j in range(offsets[output + 1] - begin):
        if joined[j] > rounds:
            continue
        c = np.int64(successors[begin + j])
        subset[size] = c
        size += 1
        if len(symbols) == 0:
            for s in range(len(best)):
                if X[first[c] + s] > best[s] + _TIE:
                    best[s] = X[first[c] + s]
                    codes[s] = size
        else:
            for i in range(first[c], first[c + 1]):
                s = np.int64(symbols[i])
                if s != c and X[i] > best[s] + _TIE:
                    best[s] = X[i]
                    codes[s] = size
            if match[c] > best[c] + _TIE:
                best[c] = match[c]
                codes[c] = size
    return size


@compiled
def advance(output: int, size: int, offsets: Ints, successors: ShortInts, moves: Floats,
            first: Ints, symbols: ShortInts, X: Floats, match: Floats, shares: Floats,
            belief: Floats, codes: Codes, subset: Ints, work: Floats, near: Floats, some: Ints,
            sums: Floats) -> int:
    """
    Take an output in: move the belief, choose set and targets; return the size of the set.

    size is that of the set which the output was drawn from. 0: it was not drawn, and the belief is
    that of s_{t−1} already; −1: it is that of s_t, and stays.
    """
    place = 0
    for i in range(size):
        if subset[i] == output:
            place = i + 1
    after, joined, joined_later, means = work[3], sums[0], sums[1], sums[2]
    if size >= 0:
        total = _move(belief, _IMPOSSIBLE, place, size, codes, shares, offsets, successors, moves,
                      after)
        for s in range(len(belief)):
            belief[s] = after[s] / total
    _, chosen = _grow(output, belief, offsets, successors, first, symbols, X, match, shares,
                      joined, means, work, near, some)
    count = offsets[output + 1] - offsets[output]
    if len(symbols) == 0 and 1 < count <= _LOOKED_AHEAD:
        largest = -1.0
        for m in range(1, count + 1):
            _aim(output, m, joined, offsets, successors, first, symbols, X, match, codes, subset,
                 work[1])
            value = 0.0
            for place in range(1, m + 1):
                c = subset[place - 1]
                code = np.int64(codes[c])
                value += belief[c] * (shares[2, m] if code == 0 else
                                      shares[1 if code == place else 0, m])
                _move(belief, _LEAST, place, m, codes, shares, offsets, successors, moves, after)
                later, _ = _grow(c, after, offsets, successors, first, symbols, X, match, shares,
                                 joined_later, means, work, near, some)
                value += DISCOUNT * later
            if value > largest + _TIE:
                largest, chosen = value, m
    return _aim(output, chosen, joined, offsets, successors, first, symbols, X, match, codes,
                subset, work[1])
