# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The online mechanism over many words at once, compiled: import only where that is done.

Words stand one after another in flat arrays; several *lanes* are walked side by side, so that one
lane's arithmetic hides the latency of another's.
"""
import numpy as np
from symdp_ros.core.annotations import Ints, Number, Numbers, ShortInts
from symdp_ros.core.compiled.compiling import compiled

LANES = 6
TABLE, IDENTITY, SEARCH = 0, 1, 2  # how the target of a symbol is found
LAST, WEIGHT, CUT, OFFSET = range(4)  # columns of `rows`


@compiled
def _search(aims: Numbers, starts: Numbers, known: Numbers, o: Number, s: Number) -> Number:
    """
    Return what is in `aims` for the previous symbol o and s, by bisection of `known`.

    How many steps it takes depends on o alone.
    """
    number = aims.dtype.type
    low, left = np.int64(starts[o]), np.int64(starts[o + number(1)]) - np.int64(starts[o])
    nothing: Number = number(0)
    if left == 0:
        return nothing
    while left > 1:
        half = left // 2
        low += half * np.int64(known[low + half - 1] < s)
        left -= half
    found: Number = aims[low] * number(known[low] == s)
    return found


@compiled
def online(symbols: ShortInts, first: Numbers, segments: Ints, raw: Numbers, places: Ints,
           again: Numbers, kind: int, aims: Numbers, starts: Numbers, known: Numbers,
           rows: Numbers, targets: Numbers, start: int, out: Numbers) -> None:
    """
    Draw one private symbol for each sensitive one, by the online mechanism.

    All integers are unsigned, of the type of the draws (uint32 or uint64), but where noted.

    symbols   int32 (total,) positions of states; −1: unknown
    first     uint8 (total,) 1 where a word begins
    segments  int64 (LANES+1,)   lane l walks segments[l]:segments[l+1]
    raw       (total,)       one draw for each symbol
    places    int64 (some,)  of the draws above the least limit, ascending
    again     (attempts, some)   other draws for them, until one is not above it
    kind      TABLE: aims[o·(states+1) + s+1] is 1 + the edge to the target of s, 0 for none;
              SEARCH: the same in aims, where s+1 is among known[starts[o]:starts[o+1]], ascending;
              IDENTITY: the target of every known s is s (a complete chain; `rows` has one row)
    rows      (states, 4)    of each previous symbol, limit−1, weight and cut of its `Response`,
                             and the first of its edges
    targets   (edges,)       where edges lead
    start                    the initial state
    out       uint32 (total,) is filled
    """
    number = raw.dtype.type
    one, none, initial = number(1), number(0), number(start)
    width = number(len(rows) + 1)
    most = 0
    for lane in range(LANES):
        most = max(most, segments[lane + 1] - segments[lane])
    here, ends = np.zeros(LANES, raw.dtype), segments[1:].astype(np.uint64)
    for i in range(most):
        for lane in range(LANES):
            x = np.uint64(segments[lane] + i)
            if x >= ends[lane]:
                continue
            o = initial if first[x] else here[lane]
            s = number(symbols[x] + 1)
            if kind == TABLE:
                aim = aims[o * width + s]
            elif kind == IDENTITY:
                o, aim = none, s
            else:
                aim = _search(aims, starts, known, o, s)
            drawn = raw[x]
            if drawn > rows[o, LAST]:
                attempt, rejected = 0, np.searchsorted(places, np.int64(x))
                while drawn > rows[o, LAST]:
                    drawn = again[attempt, rejected]
                    attempt += 1
            # No branch from here on depends on the symbol: all is drawn at the same cost.
            place = drawn // rows[o, WEIGHT]
            hit = number(drawn - place * rows[o, WEIGHT] >= rows[o, CUT]) & number(aim != none)
            edge = rows[o, OFFSET] + place
            edge += hit * (aim - one - edge)
            here[lane] = targets[edge]
            out[x] = here[lane]
