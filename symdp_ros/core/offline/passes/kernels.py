# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiled loops of the offline mechanisms: import only where a route is privatized (numba is slow).

States are numbered from 1 as in `core.offline.reachable`; state 0 is padding, with weight 0:
unknown symbols and the padding of `columns` point to it. What the loops share:

    word      int64 (n,)            w_1…w_n
    edges     (offsets, targets, columns, long_rows, reach, weights, column_weights), of which
    offsets   int64 (states+2,)     the successors of s are targets[offsets[s]:offsets[s+1]]
    targets   uint32 (edges,)
    columns   uint16 or uint32 (D, states+1)  the first D successors of each state, padded with 0;
                                    D = 0 on small chains, which are swept row by row
    long_rows int64 (·,)            the states with more than D successors, ascending
    reach     int64 (levels,)       reach[t]: the states 1…reach[t] are within t moves of s_0
    weights   float32 (edges,)      h(s'|s) of each edge; float64 (0,): h = 1, and the loops are
                                    compiled without multiplications (`has_weights`)
    column_weights  float32 (D, states+1)  those of the columns; (0, 1) where h = 1
    period    1, or that of the chain: then no weights are computed but those of the states that a
              walk can be in after just as many moves, and the others in a row mean nothing
    W         float64 (rows, ·)     weights of the states at one position in each row
    E         int32, as W           exponents of two: the weight is W·2^E; shape (1, 1): not used

    together  float64 (spacing − alone, ·, SEGMENTS)  where alone > 0: weights of these segments

Rows of W: row i is position i·spacing, the last of them n. Then `sweep` has two rows to work in;
`walk` has, in their place, those of the segment that is being walked. Where alone > 0, these are
its first `alone` positions; `together` has the others, with those of the segments that come
next, and row 0 of W, which belongs to no position, is a copy of the first of them.
"""
from collections.abc import Callable
from math import frexp, ldexp
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled, inlined, numba, ONE, ZERO
from symdp_ros.core.offline.passes.four_states import gather_four
from symdp_ros.core.offline.passes.segments import add_rows, add_weighted, SEGMENTS
from symdp_ros.core.offline.reachable import Edges, NO_WEIGHTS

_FAR = 255                         # weights further apart than 2⁻²⁵⁵ are left out of a sum
_POWERS = np.append(2.0**-np.arange(_FAR), 0.0)
_TOP = 800                          # rescaled rows have their largest weight just below 2⁸⁰⁰
_NEVER = np.int32(-2**30)          # the exponent of zero
LANES = 32                         # words that are swept side by side


def has_weights(weights: Weights | Floats) -> bool:
    """Tell weights of moves from `NO_WEIGHTS`."""
    return weights.dtype != NO_WEIGHTS.dtype


def _constant(weights: Any) -> Callable[[Any], bool]:
    """Compile `has_weights` to a constant, so that the compiler drops the loops of no use."""
    def yes(weights: Any) -> bool:
        return True

    def no(weights: Any) -> bool:
        return False

    return yes if weights.dtype == numba.float32 else no


if numba is not None:
    numba.extending.overload(has_weights, inline='always')(_constant)


@compiled
def _reached(reach: Ints, position: int) -> int:
    reached: int = reach[min(position, len(reach) - 1)]
    return reached


@compiled
def _gather_rows(offsets: Ints, targets: Numbers, weights: Weights | Floats, after: Floats,
                 here: Floats, count: int) -> None:
    """here[s] = Σ h(s'|s)·after[s'] over the successors s' of s = 1…count."""
    one = np.uint64(1)  # unsigned indices need not be looked at for their sign
    s, e = one, np.uint64(offsets[1])
    while s <= np.uint64(count):
        end = np.uint64(offsets[s + one])
        total = 0.0
        if has_weights(weights):
            while e < end:
                total += after[targets[e]] * weights[e]
                e += one
        else:
            while e < end:
                total += after[targets[e]]
                e += one
        here[s] = total
        s += one


@inlined
def _gather_columns(columns: Numbers, after: Floats, here: Floats, count: int) -> None:
    """here[s] = Σ after[s'] over the successors s' of s = 1…count in the columns."""
    width = len(columns)
    first = width % 4
    if first == 0:
        a, b, c, d = columns[0], columns[1], columns[2], columns[3]
        for s in range(1, count + 1):
            here[s] = after[a[s]] + after[b[s]] + after[c[s]] + after[d[s]]
        first = 4
    elif first == 1:
        a = columns[0]
        for s in range(1, count + 1):
            here[s] = after[a[s]]
    elif first == 2:
        a, b = columns[0], columns[1]
        for s in range(1, count + 1):
            here[s] = after[a[s]] + after[b[s]]
    else:
        a, b, c = columns[0], columns[1], columns[2]
        for s in range(1, count + 1):
            here[s] = after[a[s]] + after[b[s]] + after[c[s]]
    for j in range(first, width, 4):
        a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for s in range(1, count + 1):
            here[s] = here[s] + after[a[s]] + after[b[s]] + after[c[s]] + after[d[s]]


@inlined
def _gather_weighted(columns: Numbers, weights: Weights, after: Floats, here: Floats,
                     count: int) -> None:
    """As `_gather_columns`, with the weights of the columns."""
    fours = count - count % 4
    for s in range(1, fours + 1, 4):
        gather_four(columns, weights, after, here, s)
    for s in range(fours + 1, count + 1):
        total = 0.0
        for j in range(len(columns)):
            total += after[columns[j, s]] * weights[j, s]
        here[s] = total


@compiled
def _gather(edges: Edges, after: Floats, here: Floats, count: int) -> None:
    """here[s] = Σ h(s'|s)·after[s'] over the successors s' of s = 1…count."""
    offsets, targets, columns, _, _, weights, column_weights = edges
    if len(columns):
        if has_weights(weights):
            _gather_weighted(columns, column_weights, after, here, count)
        else:
            _gather_columns(columns, after, here, count)
        _gather_rest(edges, after, here, count)
    else:
        _gather_rows(offsets, targets, weights, after, here, count)


@inlined
def _gather_rest(edges: Edges, after: Floats, here: Floats, count: int) -> None:
    """Add the successors that are not in the columns."""
    offsets, targets, columns, long_rows, _, weights, _ = edges
    for s in long_rows:
        if s > count:
            break
        here[s] = _sum(here[s], offsets[s] + len(columns), offsets[s + 1], targets, weights, after)


@inlined
def _sum(total: float, first: int, last: int, targets: Numbers, weights: Weights | Floats,
         after: Floats) -> float:
    """Return total + Σ h·after[s'] over some edges."""
    if has_weights(weights):
        for e in range(first, last):
            total += after[targets[e]] * weights[e]
    else:
        for e in range(first, last):
            total += after[targets[e]]
    return total


@compiled
def _top_level(reach: Ints, period: int, position: int) -> int:
    """Return the last level whose states just `position` moves can lead to."""
    top = min(position, len(reach) - 1)
    return top - (top - position) % period


@compiled
def _gather_class(edges: Edges, period: int, position: int, after: Floats, here: Floats) -> None:
    """As `_gather`, of the states that just `position` moves lead to: every `period`th level."""
    offsets, targets, columns, _, reach, weights, column_weights = edges
    top = _top_level(reach, period, position)
    for level in range(top, -1, -period):
        before = reach[level - 1] if level > 0 else 0
        count = reach[level] - before
        if len(columns) == 0:
            _gather_rows(offsets[before:], targets, weights, after, here[before:], count)
        elif has_weights(weights):
            _gather_weighted(columns[:, before:], column_weights[:, before:], after, here[before:],
                             count)
        else:
            _gather_columns(columns[:, before:], after, here[before:], count)
    if len(columns):
        _gather_rest(edges, after, here, reach[top])


@compiled
def _highest(reach: Ints, period: int, position: int, here: Floats) -> float:
    """Return the largest weight of the states that just `position` moves can lead to."""
    highest = 0.0
    for level in range(_top_level(reach, period, position), -1, -period):
        before = reach[level - 1] if level > 0 else 0
        highest = max(highest, here[before + 1:reach[level] + 1].max())
    return highest


@compiled
def _gather_some(some: Ints, edges: Edges, after: Floats, here: Floats) -> None:
    """As `_gather`, for the states listed in `some`."""
    offsets, targets, _, _, _, weights, _ = edges
    for s in some:
        here[s] = _sum(0.0, offsets[s], offsets[s + 1], targets, weights, after)


@compiled
def _gather_together(edges: Edges, after: Floats, here: Floats, count: int) -> None:
    """As `_gather`, for SEGMENTS segments."""
    offsets, targets, columns, long_rows, _, weights, column_weights = edges
    width, padding = len(columns), np.zeros_like(columns[0])
    for j in range(0, width, 4):
        a = columns[j]
        b = columns[j + 1] if width - j > 1 else padding
        c = columns[j + 2] if width - j > 2 else padding
        d = columns[j + 3] if width - j > 3 else padding
        if has_weights(weights):
            h = column_weights[j:j + 4]  # of the padding, any weight will do
            v, w, x = h[min(1, len(h) - 1)], h[min(2, len(h) - 1)], h[min(3, len(h) - 1)]
            start, moved = (here, 1) if j else (after, 0)
            for s in range(1, count + 1):
                add_weighted(here, s, start, s * moved, after, a[s], b[s], c[s], d[s],
                             h[0, s], v[s], w[s], x[s])
        elif j == 0:
            for s in range(1, count + 1):
                add_rows(here, s, after, 0, after, a[s], b[s], c[s], d[s])
        else:
            for s in range(1, count + 1):
                add_rows(here, s, here, s, after, a[s], b[s], c[s], d[s])
    for s in long_rows:
        if s > count:
            break
        for e in range(offsets[s] + width, offsets[s + 1]):
            if has_weights(weights):
                add_weighted(here, s, here, s, after, targets[e], 0, 0, 0, weights[e], 0.0, 0.0,
                             0.0)
            else:
                add_rows(here, s, here, s, after, targets[e], 0, 0, 0)


@compiled
def _recompute_together(begin: int, alone: int, word: Ints, edges: Edges, ratio: float,
                        spacing: int, W: Floats, scale: ShortInts, together: Floats) -> None:
    """
    Fill `together` with the weights that `sweep` left out, of the segments from `begin` on.

    together[t − alone − 1, s, i] is the weight of s at position t of segment i, t > alone. What it
    holds for positions after n means nothing. The weight of state 0 must be 0 before.
    """
    n, reach = len(word), edges[4]
    for ahead in range(spacing - 1, alone, -1):
        here, after = together[ahead - alone - 1], together[ahead - alone]
        for i in range(SEGMENTS):
            t = begin + i * spacing + ahead
            if t + 1 == n or ahead + 1 == spacing and t < n:
                count = _reached(reach, t + 1)
                for s in range(1, count + 1):
                    after[s, i] = W[(t + spacing) // spacing, s]
        # Beyond n − 1, a state may have successors that no row of W has a place for.
        most = _reached(reach, min(begin + (SEGMENTS - 1) * spacing + ahead, n - 1))
        _gather_together(edges, after, here, most)
        for i in range(SEGMENTS):
            t = begin + i * spacing + ahead
            if t < n:
                count = _reached(reach, t)
                if scale[t] != 0:
                    factor = ldexp(1.0, -int(scale[t]))
                    for s in range(1, count + 1):
                        here[s, i] *= factor
                if word[t - 1] <= count:
                    here[word[t - 1], i] *= ratio


@compiled
def _gather_wide(edges: Edges, after: Floats, after_exponent: ShortInts, here: Floats,
                 here_exponent: ShortInts, count: int) -> None:
    """As `_gather`, with one exponent for each state, and weights in [1, 2) (or times R)."""
    offsets, targets, columns, long_rows, _, weights, column_weights = edges
    for s in range(1, count + 1):
        here_exponent[s] = _NEVER
    for j in range(len(columns)):
        a = columns[j]
        for s in range(1, count + 1):
            here_exponent[s] = max(here_exponent[s], after_exponent[a[s]])
    for s in range(1, count + 1):
        here[s] = 0.0
    for j in range(len(columns)):
        a = columns[j]
        if has_weights(weights):
            h = column_weights[j]
            for s in range(1, count + 1):
                gap = here_exponent[s] - after_exponent[a[s]]
                here[s] += after[a[s]] * h[s] * _POWERS[min(gap, _FAR)]
        else:
            for s in range(1, count + 1):
                gap = here_exponent[s] - after_exponent[a[s]]
                here[s] += after[a[s]] * _POWERS[min(gap, _FAR)]
    for s in long_rows:
        if s > count:
            break
        highest = here_exponent[s]
        for e in range(offsets[s], offsets[s + 1]):
            highest = max(highest, after_exponent[targets[e]])
        total = 0.0
        for e in range(offsets[s], offsets[s + 1]):
            gap = highest - after_exponent[targets[e]]
            total += _weighted(after[targets[e]], weights, e) * _POWERS[min(gap, _FAR)]
        here[s], here_exponent[s] = total, highest
    bits = here.view(np.int64)
    for s in range(1, count + 1):
        exponent = (bits[s] >> 52) - 1023
        here_exponent[s] += exponent
        bits[s] -= exponent << 52


@compiled
def _rescale(here: Floats, count: int, exponent: int) -> None:
    factor = ldexp(1.0, -int(exponent))
    for s in range(1, count + 1):
        here[s] *= factor


@compiled
def sweep(word: Ints, edges: Edges, period: int, ratio: float, spacing: int, rescale_every: int,
          wide: bool, W: Floats, E: ShortInts, scale: ShortInts) -> tuple[int, int]:
    """
    Fill the rows of W (and E) from position n down to 1.

    Row t holds b_t(s)·V_t(s) for the states that t moves can lead to, b_t being `ratio` at
    w_t and 1 elsewhere. scale, int32 (n+1,): the power of two by which row t was divided on top of
    what row t+1 was. Return the sum of `scale`, and the row of position 1.
    """
    n = len(word)
    offsets, targets, columns, _, reach, weights, _ = edges
    last = (n + spacing - 1) // spacing
    row, total_scale = last, 0
    for t in range(n, 0, -1):
        count = _reached(reach, t)
        scale[t] = 0
        if t == n:
            W[row, 1:count + 1] = 1.0
            if wide:
                E[row, 1:count + 1] = 0
        else:
            after = row
            row = t // spacing if t % spacing == 0 else last + 1 + t % 2
            if wide:
                _gather_wide(edges, W[after], E[after], W[row], E[row], count)
            else:
                if period > 1:
                    _gather_class(edges, period, t, W[after], W[row])
                elif len(columns) == 0:  # on small chains, passing a tuple takes as long
                    _gather_rows(offsets, targets, weights, W[after], W[row], count)
                else:
                    _gather(edges, W[after], W[row], count)
                if t % rescale_every == 0:
                    if period > 1:
                        highest = _highest(reach, period, t, W[row])
                    else:
                        highest = W[row, 1:count + 1].max()
                    exponent = frexp(highest)[1] - _TOP
                    _rescale(W[row], count, exponent)
                    scale[t] = exponent
                    total_scale += exponent
        W[row, 0] = 0.0
        if wide:
            E[row, 0] = _NEVER
        if word[t - 1] <= count:
            W[row, word[t - 1]] *= ratio
    return total_scale, row


@compiled
def _cone(state: int, depth: int, edges: tuple[Ints, Numbers], cone: Ints, sizes: Ints,
          mark: Ints, stamp: int, most: int) -> int:
    """
    List the states within 0, 1, …, depth moves of a state: cone[:sizes[j]] is within j.

    Return the first j at which there are more than `most`, or depth + 1.
    """
    offsets, targets = edges
    cone[0], mark[state], size, tried = state, stamp, 1, 0
    sizes[0] = 1
    for j in range(1, depth + 1):
        known = size
        for i in range(tried, known):
            for e in range(offsets[cone[i]], offsets[cone[i] + 1]):
                s = targets[e]
                if mark[s] != stamp:
                    mark[s] = stamp
                    cone[size] = s
                    size += 1
        tried = known
        sizes[j] = size
        if size > most:
            return j
    return depth + 1


@compiled
def _recompute(begin: int, end: int, state: int, word: Ints, edges: Edges, period: int,
               ratio: float, wide: bool, W: Floats, E: ShortInts, scale: ShortInts, end_row: int,
               base: int, cone: Ints, sizes: Ints, mark: Ints, most: int) -> None:
    """Fill the rows begin < t < end, from base on, as far as a walk from `state` can see them."""
    dense_from, reach = 0, edges[4]
    if not wide:
        dense_from = _cone(state, end - begin - 1, edges[:2], cone, sizes, mark, begin + 1, most)
    after = end_row
    for t in range(end - 1, begin, -1):
        row, ahead, count = base + t - begin - 1, t - begin, _reached(reach, t)
        if wide:
            _gather_wide(edges, W[after], E[after], W[row], E[row], count)
            E[row, 0] = _NEVER
        elif ahead >= dense_from:
            if period > 1:
                _gather_class(edges, period, t, W[after], W[row])
            else:
                _gather(edges, W[after], W[row], count)
            if scale[t] != 0:
                _rescale(W[row], count, scale[t])
        else:
            step = period if period > 1 else ahead + 1
            for j in range(ahead, -1, -step):
                some = cone[sizes[j - 1] if period > 1 and j > 0 else 0:sizes[j]]
                _gather_some(some, edges, W[after], W[row])
                if scale[t] != 0:
                    factor = ldexp(1.0, -int(scale[t]))
                    for s in some:
                        W[row, s] *= factor
        W[row, 0] = 0.0
        if word[t - 1] <= count:
            W[row, word[t - 1]] *= ratio
        after = row


@inlined
def _weighted(value: float, weights: Weights | Floats, e: int) -> float:
    """Return h·value for an edge."""
    return value * weights[e] if has_weights(weights) else value


@inlined
def _choose(first: int, last: int, targets: Numbers, weights: Weights | Floats, W: Floats,
            row: int, lane: int, bits: np.uint64) -> int:
    """
    Return the edge that the point bits/2⁶⁴ falls on, or -1 where 53 bits are not enough.

    The edges first…last−1 lie side by side, each as long as h times the weight of its target s,
    which is W[row, s, lane]. Whatever was rounded or left out moves an end by less than `margin`,
    and so do the bits not looked at. No branch depends on the bits.
    """
    total = 0.0
    for e in range(first, last):
        total += _weighted(W[row, targets[e], lane], weights, e)
    point = np.float64(bits >> np.uint64(11)) * (total * 2.0**-53)
    margin = (4 * (last - first) + 8) * (total * 2.0**-53)
    below, above = point - margin, point + margin
    right = 0.0
    passed = unsure = 0
    for e in range(first, last - 1):
        right += _weighted(W[row, targets[e], lane], weights, e)
        passed += right <= below
        unsure += right < above
    return first + passed if unsure == passed else -1


@compiled
def _choose_wide(first: int, last: int, targets: Numbers, weights: Weights | Floats, W: Floats,
                 exponents: ShortInts, bits: np.uint64) -> int:
    """As `_choose`, with one exponent for each state."""
    highest, lengths = _NEVER, np.empty(last - first)
    for e in range(first, last):
        highest = max(highest, exponents[targets[e]])
    for e in range(first, last):
        gap = highest - exponents[targets[e]]
        lengths[e - first] = _weighted(W[targets[e]], weights, e) * _POWERS[min(gap, _FAR)]
    chosen = choose(lengths, last - first, bits)
    return first + chosen if chosen >= 0 else -1


@compiled
def choose(lengths: Floats, many: int, bits: np.uint64) -> int:
    """As `_choose`, among intervals of these lengths: the first `many` of them."""
    total = right = 0.0
    for i in range(many):
        total += lengths[i]
    point = np.float64(bits >> np.uint64(11)) * (total * 2.0**-53)
    margin = (4 * many + 8) * (total * 2.0**-53)
    below, above = point - margin, point + margin
    passed = unsure = 0
    for i in range(many - 1):
        right += lengths[i]
        passed += right <= below
        unsure += right < above
    return passed if unsure == passed else -1


@compiled
def _copy_lane(together: Floats, lane: int, here: Floats) -> None:
    for s in range(len(here)):  # one line for the slice would take seconds to compile
        here[s] = together[s, lane]


@compiled
def walk(position: int, state: int, word: Ints, bits: Numbers, edges: Edges, period: int,
         ratio: float, spacing: int, alone: int, wide: bool, W: Floats, E: ShortInts,
         scale: ShortInts, together: Floats, out: Ints) -> tuple[int, int, int]:
    """
    Walk forward from a state at a position; W must hold what `sweep` left there.

    bits, uint64 (n,): 64 random bits for each position. out, int64 (n,): the states walked.
    Return (position, state, row): how far it came; where that is not n, the next state cannot be
    told from its bits, and row of W is that of the next position.
    """
    n, offsets, targets, weights = len(word), edges[0], edges[1], edges[5]
    last = (n + spacing - 1) // spacing
    base = last + 1
    size = W.shape[1] if spacing > 1 else 1
    cone, mark = np.empty(size, np.int64), np.zeros(size, np.int64)
    sizes = np.empty(spacing + 1, np.int64)
    columns_of_W = W.reshape((W.shape[0], W.shape[1], 1))
    first, beyond = n, n  # the positions that the segments in `together` are from and to
    while position < n:
        begin = position // spacing * spacing
        end = min(begin + spacing, n)
        end_row = (end + spacing - 1) // spacing
        if alone > 0 and end > begin + alone + 1:
            if not first <= begin < beyond:
                first, beyond = begin, begin + SEGMENTS * spacing
                _recompute_together(first, alone, word, edges, ratio, spacing, W, scale, together)
            i, seen, seen_row = (begin - first) // spacing, begin + alone + 1, 0
            _copy_lane(together[0], i, W[seen_row])
        else:
            i, seen, seen_row = 0, end, end_row
        if seen - position > 1:
            _recompute(position, seen, state, word, edges, period, ratio, wide, W, E, scale,
                       seen_row, base, cone, sizes, mark, size // 8)
        for t in range(position + 1, end + 1):
            row = end_row if t == end else base + t - position - 1
            if wide:
                e = _choose_wide(offsets[state], offsets[state + 1], targets, weights, W[row],
                                 E[row], bits[t - 1])
            elif seen <= t < end:
                e = _choose(offsets[state], offsets[state + 1], targets, weights, together,
                            t - begin - alone - 1, i, bits[t - 1])
            else:
                e = _choose(offsets[state], offsets[state + 1], targets, weights, columns_of_W,
                            row, 0, bits[t - 1])
            if e < 0:
                if seen <= t < end:
                    row = seen_row
                    _copy_lane(together[t - begin - alone - 1], i, W[row])
                return t - 1, state, row
            reached: Any = np.int64(targets[e])
            state = reached
            out[t - 1] = state
        position = end
    return n, state, 0


@compiled
def route(word: Ints, bits: Numbers, edges: Edges, period: int, ratio: float, spacing: int,
          alone: int, rescale_every: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts,
          together: Floats, out: Ints) -> tuple[int, int, int]:
    """Sweep, then walk from s_0."""
    sweep(word, edges, period, ratio, spacing, rescale_every, wide, W, E, scale)
    return walk(ZERO, ONE, word, bits, edges, period, ratio, spacing, alone, wide, W, E, scale,
                together, out)


@compiled
def _sweep_lanes(n: int, words: Numbers, edges: Edges, ratios: Floats, rescale_every: int,
                 W: Floats) -> None:
    """
    Fill rows n−1 … 0 of W for all lanes: the backward pass of `core.offline.backward`.

    The words end together, at n. Row t, for the states s that can be reached in t+1 moves, holds
    the weight of s in each lane.
    """
    offsets, targets, _, _, reach, weights, _ = edges
    padding = np.uint32(0)
    for t in range(n - 1, -1, -1):
        count = _reached(reach, t + 1)
        here = W[t]
        here[0] = 0.0
        if t == n - 1:
            here[1:count + 1] = 1.0
        else:
            after = W[t + 1]
            for s in range(1, count + 1):
                # Four successors at a time; in place of those that are missing, state 0.
                first, end = offsets[s], offsets[s + 1]
                if has_weights(weights):
                    here[s] = 0.0
                    for e in range(first, end):
                        a, h = targets[e], weights[e]
                        for lane in range(LANES):
                            here[s, lane] += after[a, lane] * h
                    continue
                for e in range(first, end, 4):
                    a = targets[e]
                    b = targets[e + 1] if end - e > 1 else padding
                    c = targets[e + 2] if end - e > 2 else padding
                    d = targets[e + 3] if end - e > 3 else padding
                    if e == first:
                        for lane in range(LANES):
                            here[s, lane] = (after[a, lane] + after[b, lane] + after[c, lane]
                                             + after[d, lane])
                    else:
                        for lane in range(LANES):
                            here[s, lane] = (here[s, lane] + after[a, lane] + after[b, lane]
                                             + after[c, lane] + after[d, lane])
            if (n - 1 - t) % rescale_every == rescale_every - 1:
                for lane in range(LANES):
                    highest = 0.0
                    for s in range(1, count + 1):
                        highest = max(highest, here[s, lane])
                    factor = ldexp(1.0, _TOP - frexp(highest)[1])
                    for s in range(1, count + 1):
                        here[s, lane] *= factor
        for lane in range(LANES):
            if words[t, lane] <= count:
                here[words[t, lane], lane] *= ratios[lane]


@compiled
def exponential(symbols: ShortInts, begins: Ints, lengths: Ints, ratios: Floats, places: Ints,
                bits: Numbers, numbers: Numbers, positions: ShortInts, edges: Edges,
                rescale_every: int, W: Floats, group: int, at: Ints, states: Ints,
                out: ShortInts) -> int:
    """
    Draw words from the exponential mechanism, LANES of them side by side.

    symbols  int32 (total,)   the sensitive words: positions of states; −1: unknown
    begins   int64 (words,)   where each word begins in `symbols`
    lengths  int64 (words,)   ascending; like lengths are swept together
    ratios   float64 (words,) R of each word
    places   int64 (words+1,) where each word's bits begin
    bits     uint64 (·,)      64 random bits for each symbol
    numbers  uint32 (all states+1,)  the number of each position + 1
    positions int32 (states+1,)      the position of each number
    W        float64 (longest, states+1, LANES) to work in
    group    the first group of LANES words that is not done yet
    at       int64 (LANES,)  of that group: how many symbols are drawn; −1: not swept yet
    states   int64 (LANES,)  of that group: the last private symbols
    out      int32 (total,)   is filled
    The others as in `core.offline.passes.kernels`.

    Return the group in which 53 bits were not enough for some symbols, or the number of groups. In
    that group, `at` and `states` hold the place; the weights of what is next for lane l are in the
    row of W that is as far from the end of the group's longest word as it is from the end of l's.
    """
    lanes, offsets, targets, weights = LANES, edges[0], edges[1], edges[5]
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
            _sweep_lanes(n, words, edges, lane_ratios, rescale_every, W)
            at[:], states[:] = 0, 1
        for t in range(n):
            for lane in range(many):
                i = t - n + lengths[first + lane]
                if i != at[lane]:
                    continue
                state = states[lane]
                edge = _choose(offsets[state], offsets[state + 1], targets, weights, W, t, lane,
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


@compiled
def count_step(symbol: int, edges: Edges, count: int, width_after: int, width: int, after: Floats,
               after_exponent: ShortInts, here: Floats, here_exponent: ShortInts) -> None:
    """
    here[s, e] = Σ h(s'|s)·after[s', e − [s' ≠ symbol]] over the successors s' of s = 1…count.

    Each entry is a float64 in [1, 2), or 0, times 2^exponent (int32). Entries e < width_after of
    `after` are read, entries e < width of `here` written; width ≤ width_after + 1.
    """
    offsets, targets, _, _, _, weights, _ = edges
    total, factor, factor_after = np.empty(width), np.empty(width), np.empty(width)
    total_bits = total.view(np.int64)
    factor_bits, after_bits = factor.view(np.int64), factor_after.view(np.int64)
    highest = np.empty(width, np.int32)
    for s in range(1, count + 1):
        total[:] = 0.0
        highest[:] = _NEVER
        for e in range(offsets[s], offsets[s + 1]):
            s_after = targets[e]
            shift = 0 if s_after == symbol else 1
            many = min(width_after, width - shift)
            own, own_exponent = after[s_after], after_exponent[s_after]
            for i in range(many):
                a, b = np.int64(highest[i + shift]), np.int64(own_exponent[i])
                top = max(a, b)
                factor_bits[i] = max(np.int64(0), 1023 - (top - a)) << 52
                after_bits[i] = max(np.int64(0), 1023 - (top - b)) << 52
                highest[i + shift] = top
            if has_weights(weights):
                for i in range(many):
                    factor_after[i] *= weights[e]
            for i in range(many):
                total[i + shift] = total[i + shift] * factor[i] + own[i] * factor_after[i]
        for i in range(width):
            grown = ((total_bits[i] >> 52) & 0x7ff) - 1023
            zero = total_bits[i] == 0
            here_exponent[s, i] = _NEVER if zero else highest[i] + grown
            total_bits[i] = 0 if zero else total_bits[i] - (grown << 52)
        for i in range(width):  # one line for the slice would take seconds to compile
            here[s, i] = total[i]
