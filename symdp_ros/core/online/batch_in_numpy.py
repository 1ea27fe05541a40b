# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The online mechanism over many words at once, in NumPy: for where there is no `_online`.

All words take their t-th symbol together.
"""
import numpy as np
from symdp_ros.core.annotations import Ints, Numbers, ShortInts

LANES = 6                          # words that C walks side by side
TABLE, IDENTITY, SEARCH = range(3)  # how the target of a symbol is found
LAST, WEIGHT, CUT, OFFSET = range(4)  # columns of `rows`


def draw(symbols: ShortInts, first: Numbers, segments: Ints, is_wide: bool, raw: Numbers,
         places: Ints, again: Numbers, kind: int, aims: Numbers, starts: Numbers, known: Numbers,
         rows: Numbers, targets: Numbers, initial: int, out: Numbers) -> None:
    """
    Draw one private symbol for each sensitive one, by the online mechanism.

    symbols   int32 (total,) positions of states; −1: unknown
    first     uint8 (total,) 1 where a word begins
    segments  int64 (LANES+1,)   lane l walks segments[l]:segments[l+1]
    raw       uint32, or uint64 where `is_wide`, (total,)   one draw for each symbol
    places    int64 (some,)  of the draws above the least limit, ascending
    again     as raw, (attempts, some)   other draws for them, until one is not above it
    kind      TABLE: aims[o·(states+1) + s+1] is 1 + the edge to the target of s, 0 for none;
              SEARCH: the same in aims, where s+1 is among known[starts[o]:starts[o+1]], ascending;
              IDENTITY: the target of every known s is s (a complete chain; `rows` has one row)
    aims, starts, known   uint32
    rows      uint64 (states, 4)    of each previous symbol, limit−1, weight and cut of its
                             `Response`, and the first of its edges
    targets   uint32 (edges,)       where edges lead
    initial                  the initial state
    out       uint32 (total,) is filled
    """
    begins = np.flatnonzero(first)
    lengths = np.diff(np.append(begins, len(symbols)))
    order = np.argsort(-lengths, kind='stable')
    begins, lengths = begins[order], lengths[order]
    here = np.full(len(begins), initial)
    width = len(rows) + 1
    if kind == SEARCH:  # of all o, one after the other
        ends = starts.astype(np.int64)
        sources = np.repeat(np.arange(len(rows)), ends[1:] - ends[:-1])
        pairs = sources * width + known
    for t in range(int(lengths.max(initial=0))):
        many = int(np.searchsorted(-lengths, -t, 'left'))  # words that go on
        x, o = begins[:many] + t, here[:many]
        s = symbols[x].astype(np.int64) + 1
        aim: Ints
        if kind == TABLE:
            aim = aims[o * width + s].astype(np.int64)
        elif kind == IDENTITY:
            o, aim = np.zeros(many, np.int64), s
        else:
            pair = np.minimum(np.searchsorted(pairs, o * width + s), len(pairs) - 1)
            aim = np.where(pairs[pair] == o * width + s, aims[pair], 0)
        row, drawn = rows[o], raw[x].astype(np.uint64)
        attempt = 0
        while len(rejected := np.flatnonzero(drawn > row[:, LAST])):
            drawn[rejected] = again[attempt, np.searchsorted(places, x[rejected])]
            attempt += 1
        place = drawn // row[:, WEIGHT]
        hit = (drawn - place * row[:, WEIGHT] >= row[:, CUT]) & (aim != 0)
        edge = np.where(hit, aim - 1, (row[:, OFFSET] + place).astype(np.int64))
        here[:many] = out[x] = targets[edge]
