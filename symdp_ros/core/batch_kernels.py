"""
Compiled loops over many words at once: import only where words are privatized in bulk.

Words stand one after another in flat arrays; several *lanes* are walked side by side, so that one
lane's arithmetic hides the latency of another's.
"""
from math import frexp, ldexp

import numpy as np

from symdp_ros.core.kernels import choose, compiled, reached, TOP

LANES = 4         # of the online mechanism
LANES_SWEPT = 32  # of the exponential mechanism
TABLE, IDENTITY, SEARCH = 0, 1, 2  # how the target of a symbol is found
LAST, THRESHOLD, UNIFORM_WEIGHT, WEIGHT, OFFSET = range(5)  # columns of `rows`


@compiled
def _search(aims, starts, known, o, s):
    """Return what is in `aims` for the previous symbol o and s, by bisection of `known`."""
    low, high = np.int64(starts[o]), np.int64(starts[o + 1])
    end = high
    while low < high:
        middle = (low + high) // 2
        if known[middle] < s:
            low = middle + 1
        else:
            high = middle
    return aims[low] if low < end and known[low] == s else aims.dtype.type(0)


@compiled
def online(symbols, first, segments, raw, spare, kind, aims, starts, known, rows, targets, start,
           at, states, out):
    """
    Draw one private symbol for each sensitive one, by the online mechanism.

    All integers are unsigned and of one type, that of the draws (uint32 or uint64), unless said.

    symbols   int32 (total,) positions of states; −1: unknown
    first     uint8 (total,) 1 where a word begins
    segments  int64 (LANES+1,)   lane l walks segments[l]:segments[l+1]
    raw       (total,)       one draw for each symbol
    spare     (·,)           further draws, in place of those that are rejected
    kind      TABLE: aims[o·(states+1) + s+1] is 1 + the edge to the target of s, 0 for none;
              SEARCH: the same in aims, where s+1 is among known[starts[o]:starts[o+1]], ascending;
              IDENTITY: the target of every known s is s (a complete chain; `rows` has one row)
    rows      (states, 5)    of each previous symbol, the integers of its `Response`, and the
                             first of its edges
    targets   (edges,)       where edges lead
    start                    the initial state
    at        int64 (2,)     where to go on: (step, lane); what is left of both when done
    states    (LANES,)       the previous private symbol of each lane
    out       uint32 (total,) is filled

    Return whether all is drawn; if not, call again with other `spare` draws and all else as left.
    """
    number = raw.dtype.type
    one, none, initial = number(1), number(0), number(start)
    width = number(len(rows) + 1)
    most = 0
    for lane in range(LANES):
        most = max(most, segments[lane + 1] - segments[lane])
    used, begin = 0, at[1]
    here, ends = states.copy(), segments[1:].astype(np.uint64)
    for i in range(at[0], most):
        for lane in range(LANES):
            x = np.uint64(segments[lane] + i)
            if x >= ends[lane] or lane < begin:
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
            while drawn > rows[o, LAST]:
                if used == len(spare):
                    at[0], at[1] = i, lane
                    states[:] = here
                    return False
                drawn = spare[used]
                used += 1
            # No branch depends on the symbol: all that is drawn comes at the same cost.
            aimed = number(aim != none)
            edge = rows[o, OFFSET] + drawn // rows[o, number(UNIFORM_WEIGHT) + aimed]
            hit = number(drawn >= rows[o, THRESHOLD]) & aimed
            edge = aim - one if hit else edge
            here[lane] = targets[edge]
            out[x] = here[lane]
        begin = 0
    at[0], at[1] = most, 0
    return True


@compiled
def _sweep(n, words, targets, offsets, reach, ratios, rescale_every, W):
    """
    Fill rows n−1 … 0 of W: the backward pass of `core.backward`, equation 1, for all lanes.

    The words end together, at n. Row t, for the states s that can be reached in t+1 moves, holds
    the weight of s in each lane.
    """
    nobody = np.uint32(0)
    for t in range(n - 1, -1, -1):
        count = reached(reach, t + 1)
        here = W[t]
        here[0] = 0.0
        if t == n - 1:
            here[1:count + 1] = 1.0
        else:
            after = W[t + 1]
            for s in range(1, count + 1):
                # Four successors at a time; in place of those that are missing, nobody.
                first, end = offsets[s], offsets[s + 1]
                for e in range(first, end, 4):
                    a = targets[e]
                    b = targets[e + 1] if end - e > 1 else nobody
                    c = targets[e + 2] if end - e > 2 else nobody
                    d = targets[e + 3] if end - e > 3 else nobody
                    if e == first:
                        for lane in range(LANES_SWEPT):
                            here[s, lane] = (after[a, lane] + after[b, lane] + after[c, lane]
                                             + after[d, lane])
                    else:
                        for lane in range(LANES_SWEPT):
                            here[s, lane] = (here[s, lane] + after[a, lane] + after[b, lane]
                                             + after[c, lane] + after[d, lane])
            if (n - 1 - t) % rescale_every == rescale_every - 1:
                for lane in range(LANES_SWEPT):
                    highest = 0.0
                    for s in range(1, count + 1):
                        highest = max(highest, here[s, lane])
                    factor = ldexp(1.0, TOP - frexp(highest)[1])
                    for s in range(1, count + 1):
                        here[s, lane] *= factor
        for lane in range(LANES_SWEPT):
            if words[t, lane] <= count:
                here[words[t, lane], lane] *= ratios[lane]


@compiled
def exponential(symbols, begins, lengths, ratios, places, bits, numbers, positions, targets,
                offsets, reach, rescale_every, W, group, at, states, out):
    """
    Draw words from the exponential mechanism, LANES_SWEPT of them side by side.

    symbols  int32 (total,)   the sensitive words: positions of states; −1: unknown
    begins   int64 (words,)   where each word begins in `symbols`
    lengths  int64 (words,)   ascending; like lengths are swept together
    ratios   float64 (words,) R of each word
    places   int64 (words+1,) where each word's bits begin
    bits     uint64 (·,)      64 random bits for each symbol
    numbers  uint32 (all states+1,)  the number of each position + 1
    positions int32 (states+1,)      the position of each number
    W        float64 (longest, states+1, LANES_SWEPT) to work in
    group    the first group of LANES_SWEPT words that is not done yet
    at       int64 (LANES_SWEPT,)  of that group: how many symbols are drawn; −1: not swept yet
    states   int64 (LANES_SWEPT,)  of that group: the last private symbols
    out      int32 (total,)   is filled
    The others as in `core.kernels`.

    Return the group in which 53 bits could not tell some next symbols, or the number of groups.
    In that group, `at` and `states` say where; the weights of what is next for lane l are in the
    row of W that is as far from the end of the group's longest word as it is from the end of l's.
    """
    lanes = LANES_SWEPT
    groups = (len(begins) + lanes - 1) // lanes
    words = np.empty((len(W), lanes), np.uint32)
    lane_ratios = np.ones(lanes)
    while group < groups:
        first = group * lanes
        many = min(lanes, len(begins) - first)
        n = lengths[first + many - 1]
        if at[0] < 0:
            words[:n] = 0
            for lane in range(many):
                begin, shift = begins[first + lane], n - lengths[first + lane]
                for t in range(lengths[first + lane]):
                    words[shift + t, lane] = numbers[symbols[begin + t] + 1]
                lane_ratios[lane] = ratios[first + lane]
            _sweep(n, words, targets, offsets, reach, lane_ratios, rescale_every, W)
            at[:], states[:] = 0, 1
        for t in range(n):
            here = W[t]
            for lane in range(many):
                i = t - n + lengths[first + lane]
                if i != at[lane]:
                    continue
                state = states[lane]
                edge = choose(offsets[state], offsets[state + 1], targets, here, lane,
                              bits[places[first + lane] + i])
                if edge >= 0:
                    states[lane] = targets[edge]
                    out[begins[first + lane] + i] = positions[targets[edge]]
                    at[lane] += 1
        for lane in range(many):
            if at[lane] < lengths[first + lane]:
                return group
        at[0] = -1
        group += 1
    return groups
