# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some loops of `core.offline.passes.model_kernels` in NumPy, for short words (see `short_words`).

They have the same parameters and the same results, bit by bit. Where spacing > 1, they make rows
of their own for all positions, and leave in W what the compiled loops do.
"""
import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts
from symdp_ros.core.compiled.vectors import lane_sum
from symdp_ros.core.offline.passes.short_words import choose, padded, swept
from symdp_ros.core.offline.reachable import ModelEdges

_FAR = 255                          # as in `core.offline.passes.model_kernels`
_POWERS = np.append(2.0**-np.arange(_FAR), 0.0)


def sweep(word: Ints, edges: ModelEdges, ratio: float, spacing: int, rescale_every: int,
          wide: bool, W: Floats, E: ShortInts, scale: ShortInts) -> tuple[int, int]:
    """As `core.offline.passes.model_kernels.sweep`."""
    if spacing > 1:
        rows = _rows(len(word), W, wide)
        exponent, row = sweep(word, edges, ratio, 1, rescale_every, wide, *rows, scale)
        _keep(rows, spacing, W, E, wide)
        return exponent, _leave(rows, row, spacing, W, E, wide)
    offsets, targets, reach, weights, keep, switch = edges
    columns, factors = padded(offsets, targets, weights)

    def gather(t: int, states: slice) -> None:
        after, here, gaps = W[t + 1], W[t, states], None
        if wide:
            exponents = E[t + 1][columns[:, states]]
            E[t, states] = exponents.max(axis=0)
            gaps = np.minimum(E[t, states] - exponents, _FAR)
        here[:] = 0.0
        for j, there in enumerate(columns[:, states]):
            term = after[there] * factors[j, states]
            if gaps is not None:
                term *= _POWERS[gaps[j]][:, None]
            here += term
        here[:] = keep * here + lane_sum((here * switch).T)[:, None]
        if wide:
            own = np.frexp(here.max(axis=1))[1] - 1
            here *= np.ldexp(1.0, -own)[:, None]
            E[t, states] += own

    return swept(word, reach, 1, ratio, rescale_every, wide, W, E, scale, gather), 1


def walk(position: int, state: int, word: Ints, bits: Numbers, edges: ModelEdges, ratio: float,
         spacing: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts, model: Floats,
         out: Ints) -> tuple[int, int, int]:
    """As `core.offline.passes.model_kernels.walk`; where spacing > 1, all is swept again."""
    if spacing > 1:
        rows = _rows(len(word), W, wide)
        own = np.empty_like(scale)
        sweep(word, edges, ratio, 1, 1, wide, *rows, own)  # powers of two change no digit
        position, state, row = walk(position, state, word, bits, edges, ratio, 1, wide, *rows,
                                    own, model, out)
        return position, state, _leave(rows, row, spacing, W, E, wide)
    offsets, targets = edges[:2]
    points: list[float] = (bits >> np.uint64(11)).astype(np.float64).tolist()
    for t in range(position + 1, len(word) + 1):
        first, last = int(offsets[state]), int(offsets[state + 1])
        values = lengths(slice(first, last), edges, W[t], model)
        if wide:
            exponents = E[t, targets[first:last]]
            values = values * _POWERS[np.minimum(exponents.max() - exponents, _FAR)]
        i = choose(values, points[t - 1])
        if i < 0:
            return t - 1, state, t
        learn(model, first + i, edges)
        state = int(targets[first + i])
        out[t - 1] = state
    return len(word), state, 0


def route(word: Ints, bits: Numbers, edges: ModelEdges, ratio: float, spacing: int,
          rescale_every: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts,
          model: Floats, out: Ints) -> tuple[int, int, int]:
    """As `core.offline.passes.model_kernels.route`."""
    if spacing > 1:
        rows = _rows(len(word), W, wide)
        position, state, row = route(word, bits, edges, ratio, 1, rescale_every, wide, *rows,
                                     scale, model, out)
        _keep(rows, spacing, W, E, wide)
        return position, state, _leave(rows, row, spacing, W, E, wide)
    sweep(word, edges, ratio, spacing, rescale_every, wide, W, E, scale)
    return walk(0, 1, word, bits, edges, ratio, spacing, wide, W, E, scale, model, out)


def _rows(length: int, W: Floats, wide: bool) -> tuple[Floats, ShortInts]:
    """Return W and E with a row for every position."""
    rows = length + 1, W.shape[1]
    return np.empty((*rows, W.shape[2])), np.empty(rows if wide else (1, 1), np.int32)


def _keep(rows: tuple[Floats, ShortInts], spacing: int, W: Floats, E: ShortInts,
          wide: bool) -> None:
    """Put into W and E what the compiled loops keep there, which may go on."""
    places = np.minimum(np.arange(1, _last(rows, spacing) + 1) * spacing, len(rows[0]) - 1)
    W[1:len(places) + 1] = rows[0][places]
    if wide:
        E[1:len(places) + 1] = rows[1][places]


def _leave(rows: tuple[Floats, ShortInts], row: int, spacing: int, W: Floats, E: ShortInts,
           wide: bool) -> int:
    """Put the row of a position, if it is one, into one of W and E; return its number there."""
    if row == 0:
        return 0
    there = _last(rows, spacing) + 1
    W[there] = rows[0][row]
    if wide:
        E[there] = rows[1][row]
    return there


def _last(rows: tuple[Floats, ShortInts], spacing: int) -> int:
    return -(-(len(rows[0]) - 1) // spacing)


def lengths(some: slice, edges: ModelEdges, there: Floats, model: Floats) -> Floats:
    """Return what some edges of one state are drawn by; `there` is a row of W."""
    _, targets, _, weights, _, _ = edges
    found: Floats = lane_sum((model * weights[some] * there[targets[some]]).T)
    return found


def learn(model: Floats, edge: int, edges: ModelEdges) -> None:
    """As `core.offline.passes.model_kernels.learn`."""
    weights, keep, switch = edges[3:]
    model *= weights[edge]
    model[:] = keep * (model / lane_sum(model)) + switch
