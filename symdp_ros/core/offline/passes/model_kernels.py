# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiled loops of the exponential mechanism with several models (`core.offline.model_backward`).

States are numbered from 1 as in `core.offline.reachable`; a symbol 0 matches none. Each state has
one number for each model, in `LANES` lanes side by side; lanes without a model have weight 0.

    word      int64 (n,)            w_1…w_n
    edges     (offsets, targets, reach, weights, keep, switch), of which
    offsets, targets, reach         as in `core.offline.passes.kernels`
    weights   float32 (edges, LANES)  P_m(s'|s) of each edge
    keep      float                 1 − ρ
    switch    float64 (LANES,)      ρ·q(m)
    W         float64 (rows, ·, LANES)  b_t(s)·U_t(s, m) of the states at one position in each row
    E         int32 (rows, ·)       exponents of two: the weight is W·2^E; shape (1, 1): not used
    model     float64 (LANES,)      how likely each model is, given the states walked

Rows of W: row i is position i·spacing, the last of them n. Then `sweep` has two rows to work in;
`walk` has, in their place, those of the segment that is being walked.
"""
from math import frexp, ldexp

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled, inlined, ONE, ZERO
from symdp_ros.core.compiled.model_lanes import gather_models
from symdp_ros.core.compiled.vectors import LANES
from symdp_ros.core.offline.passes.kernels import _cone, _reached, choose
from symdp_ros.core.offline.reachable import ModelEdges

_FAR = 255                          # weights further apart than 2⁻²⁵⁵ are left out of a sum
_POWERS = np.append(2.0**-np.arange(_FAR), 0.0)
_TOP = 800                          # rescaled rows have their largest weight just below 2⁸⁰⁰
_NEVER = np.int32(-2**30)          # the exponent of zero


@compiled
def _gather_wide(s: int, edges: ModelEdges, after: Floats, exponents: ShortInts, here: Floats,
                 here_exponents: ShortInts) -> None:
    """As `gather_models`, with one exponent for each state, and its largest lane in [1, 2)."""
    offsets, targets, _, weights, keep, switch = edges
    highest = _NEVER
    for e in range(offsets[s], offsets[s + 1]):
        highest = max(highest, exponents[targets[e]])
    for m in range(LANES):
        here[s, m] = 0.0
    for e in range(offsets[s], offsets[s + 1]):
        power = _POWERS[min(highest - exponents[targets[e]], _FAR)]
        for m in range(LANES):
            here[s, m] += after[targets[e], m] * weights[e, m] * power
    here_exponents[s] = highest + switched(here[s], keep, switch)


@compiled
def switched(values: Floats, keep: float, switch: Floats) -> int:
    """Turn V of a state into U, its largest lane in [1, 2); return the exponent taken out."""
    mixed = added(values, switch)
    largest = 0.0
    for m in range(LANES):
        values[m] = keep * values[m] + mixed
        largest = max(largest, values[m])
    exponent = frexp(largest)[1] - 1
    factor = ldexp(1.0, -exponent)
    for m in range(LANES):
        values[m] *= factor
    return exponent


@inlined
def added(values: Floats, factors: Floats) -> float:
    """Return Σ values[m]·factors[m] over the lanes, in the order of `gather_models`."""
    total: float = (((values[0] * factors[0] + values[4] * factors[4])
                     + (values[2] * factors[2] + values[6] * factors[6]))
                    + ((values[1] * factors[1] + values[5] * factors[5])
                       + (values[3] * factors[3] + values[7] * factors[7])))
    return total


@inlined
def length_of(model: Floats, weights: Weights, there: Floats) -> float:
    """Return Σ_m model[m]·weights[m]·there[m], in the same order."""
    total: float = (((model[0] * weights[0] * there[0] + model[4] * weights[4] * there[4])
                     + (model[2] * weights[2] * there[2] + model[6] * weights[6] * there[6]))
                    + ((model[1] * weights[1] * there[1] + model[5] * weights[5] * there[5])
                       + (model[3] * weights[3] * there[3] + model[7] * weights[7] * there[7])))
    return total


@compiled
def _fill(some: Ints, count: int, edges: ModelEdges, wide: bool, after: Floats,
          after_exponents: ShortInts, here: Floats, here_exponents: ShortInts,
          exponent: int) -> None:
    """Set U, over 2^exponent, of the states listed in `some`, or of 1…count where it is empty."""
    offsets, targets, _, weights, keep, switch = edges
    if len(some):
        for s in some:
            gather_models(targets, weights, offsets[s], offsets[s + 1], keep, switch, after, here,
                          s)
        if exponent != 0:
            factor = ldexp(1.0, -int(exponent))
            for s in some:
                for m in range(LANES):
                    here[s, m] *= factor
    elif wide:
        for s in range(1, count + 1):
            _gather_wide(s, edges, after, after_exponents, here, here_exponents)
    else:
        for s in range(1, count + 1):
            gather_models(targets, weights, offsets[s], offsets[s + 1], keep, switch, after, here,
                          s)
        if exponent != 0:
            _rescale(here, count, exponent)


@compiled
def _rescale(here: Floats, count: int, exponent: int) -> None:
    factor = ldexp(1.0, -int(exponent))
    for s in range(1, count + 1):
        for m in range(LANES):
            here[s, m] *= factor


@compiled
def _begin(here: Floats, exponents: ShortInts, symbol: int, count: int, ratio: float,
           wide: bool) -> None:
    """Turn U into b·U, and make state 0 one without weight."""
    for m in range(LANES):
        here[0, m] = 0.0
    if wide:
        exponents[0] = _NEVER
    if symbol <= count:
        for m in range(LANES):
            here[symbol, m] *= ratio


@compiled
def sweep(word: Ints, edges: ModelEdges, ratio: float, spacing: int, rescale_every: int,
          wide: bool, W: Floats, E: ShortInts, scale: ShortInts) -> tuple[int, int]:
    """
    Fill the rows of W (and E) from position n down to 1.

    Row t holds b_t(s)·U_t(s, m) for the states within t moves. scale, int32 (n+1,): the power of
    two by which row t was divided on top of what row t+1 was. Return the sum of `scale`, and the
    row of position 1.
    """
    n, reach, nobody = len(word), edges[2], np.empty(0, np.int64)
    last = (n + spacing - 1) // spacing
    row, total_scale = last, 0
    for t in range(n, 0, -1):
        count = _reached(reach, t)
        scale[t] = 0
        if t == n:
            for s in range(1, count + 1):
                for m in range(LANES):
                    W[row, s, m] = 1.0
                if wide:
                    E[row, s] = 0
        else:
            after = row
            row = t // spacing if t % spacing == 0 else last + 1 + t % 2
            here = row if wide else 0
            _fill(nobody, count, edges, wide, W[after], E[after if wide else 0], W[row], E[here],
                  ZERO)
            if not wide and t % rescale_every == 0:
                highest = 0.0
                for s in range(1, count + 1):
                    for m in range(LANES):
                        highest = max(highest, W[row, s, m])
                exponent = frexp(highest)[1] - _TOP
                _rescale(W[row], count, exponent)
                scale[t] = exponent
                total_scale += exponent
        _begin(W[row], E[row if wide else 0], word[t - 1], count, ratio, wide)
    return total_scale, row


@compiled
def _recompute(begin: int, end: int, state: int, word: Ints, edges: ModelEdges, ratio: float,
               wide: bool, W: Floats, E: ShortInts, scale: ShortInts, end_row: int, base: int,
               cone: Ints, sizes: Ints, mark: Ints, most: int) -> None:
    """Fill the rows begin < t < end, from base on, as far as a walk from `state` can see them."""
    dense_from, nobody = ZERO, np.empty(0, np.int64)
    if not wide:
        dense_from = _cone(state, end - begin - 1, edges[:2], cone, sizes, mark, begin + 1, most)
    after = end_row
    for t in range(end - 1, begin, -1):
        row, ahead, count = base + t - begin - 1, t - begin, _reached(edges[2], t)
        some = nobody if ahead >= dense_from else cone[:sizes[ahead]]
        _fill(some, count, edges, wide, W[after], E[after if wide else 0], W[row],
              E[row if wide else 0], scale[t])
        _begin(W[row], E[row if wide else 0], word[t - 1], count, ratio, wide)
        after = row


@compiled
def _choose(first: int, last: int, edges: ModelEdges, wide: bool, W: Floats, E: ShortInts,
            model: Floats, lengths: Floats, bits: np.uint64) -> int:
    """
    Return the edge that the point bits/2⁶⁴ falls on, or -1 where 53 bits are not enough.

    The edges first…last−1 lie side by side, each as long as Σ_m model[m]·P_m·(b·U)(s', m)
    (`core.offline.passes.kernels.choose`).
    """
    targets, weights, highest = edges[1], edges[3], _NEVER
    if wide:
        for e in range(first, last):
            highest = max(highest, E[targets[e]])
    for e in range(first, last):
        lengths[e - first] = length_of(model, weights[e], W[targets[e]])
        if wide:
            lengths[e - first] *= _POWERS[min(highest - E[targets[e]], _FAR)]
    chosen = choose(lengths, last - first, bits)
    return first + chosen if chosen >= 0 else -1


@compiled
def learn(model: Floats, edge: int, weights: Weights, keep: float, switch: Floats) -> None:
    """Take an edge in: how likely each model is for the next one."""
    for m in range(LANES):
        model[m] *= weights[edge, m]
    total = (((model[0] + model[4]) + (model[2] + model[6]))
             + ((model[1] + model[5]) + (model[3] + model[7])))
    for m in range(LANES):
        model[m] = keep * (model[m] / total) + switch[m]


@compiled
def walk(position: int, state: int, word: Ints, bits: Numbers, edges: ModelEdges, ratio: float,
         spacing: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts, model: Floats,
         out: Ints) -> tuple[int, int, int]:
    """
    Walk forward from a state at a position; W must hold what `sweep` left there.

    bits, uint64 (n,): 64 random bits for each position. out, int64 (n,): the states walked; model
    is taken on with them. Return (position, state, row): how far it came; where that is not n, the
    next state cannot be told from its bits, and row of W is that of the next position.
    """
    n, offsets, targets = len(word), edges[0], edges[1]
    last = (n + spacing - 1) // spacing
    base = last + 1
    size = W.shape[1] if spacing > 1 else 1
    cone, mark = np.empty(size, np.int64), np.zeros(size, np.int64)
    sizes = np.empty(spacing + 1, np.int64)
    lengths = np.empty(np.diff(offsets).max())
    while position < n:
        end = min(position // spacing * spacing + spacing, n)
        end_row = (end + spacing - 1) // spacing
        if end - position > 1:
            _recompute(position, end, state, word, edges, ratio, wide, W, E, scale, end_row, base,
                       cone, sizes, mark, size // 8)
        for t in range(position + 1, end + 1):
            row = end_row if t == end else base + t - position - 1
            e = _choose(offsets[state], offsets[state + 1], edges, wide, W[row],
                        E[row if wide else 0], model, lengths, bits[t - 1])
            if e < 0:
                return t - 1, state, row
            learn(model, e, edges[3], edges[4], edges[5])
            state = np.int64(targets[e])
            out[t - 1] = state
        position = end
    return n, state, 0


@compiled
def route(word: Ints, bits: Numbers, edges: ModelEdges, ratio: float, spacing: int,
          rescale_every: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts,
          model: Floats, out: Ints) -> tuple[int, int, int]:
    """Sweep, then walk from s_0."""
    sweep(word, edges, ratio, spacing, rescale_every, wide, W, E, scale)
    return walk(ZERO, ONE, word, bits, edges, ratio, spacing, wide, W, E, scale, model, out)


@compiled
def words(word: int, position: int, state: int, numbers: Ints, lengths: Ints, bits: Numbers,
          edges: ModelEdges, ratios: Floats, rescale_every: int, W: Floats, E: ShortInts,
          scale: ShortInts, prior: Floats, model: Floats, out: Ints) -> tuple[int, int, int]:
    """
    Draw words from one on, which is swept already where the position is above 0.

    numbers, bits, out: of all words, one after another; lengths, ratios: of each. Return (word,
    position, state) where 53 bits are not enough, at the end with the number of words as `word`.
    """
    begin = lengths[:word].sum()
    while word < len(lengths):
        end = begin + lengths[word]
        some = slice(begin, end)
        if position == 0:
            sweep(numbers[some], edges, ratios[word], ONE, rescale_every, False, W, E, scale)
            state = ONE
            for m in range(LANES):
                model[m] = prior[m]
        position, state, _ = walk(position, state, numbers[some], bits[some], edges, ratios[word],
                                  ONE, False, W, E, scale, model, out[some])
        if position < lengths[word]:
            return word, position, state
        begin, position = end, ZERO
        word += 1
    return word, ZERO, state
