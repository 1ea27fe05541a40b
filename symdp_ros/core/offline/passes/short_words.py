# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some loops of `core.offline.passes.kernels` in NumPy, for short words: there is nothing to compile.

They have the same parameters and the same results, bit by bit: of each state, the first successor
is added, then the second, and so on, of all states at once. Every position must have a row of its
own: spacing = 1.
"""
from collections.abc import Callable
from math import frexp, ldexp

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.offline.reachable import Edges

_FAR = 255                          # as in `core.offline.passes.kernels`
_POWERS = np.append(2.0**-np.arange(_FAR), 0.0)
_TOP = 800
_NEVER = np.int32(-2**30)


@np.errstate(over='ignore')  # of states of other classes
def sweep(word: Ints, edges: Edges, period: int, ratio: float, spacing: int, rescale_every: int,
          wide: bool, W: Floats, E: ShortInts, scale: ShortInts) -> tuple[int, int]:
    """As `core.offline.passes.kernels.sweep`; states of other classes have weights, too."""
    columns, weights = _columns(edges)

    def gather(t: int, states: slice) -> None:
        if wide:
            _gather_wide(columns[:, states], weights[:, states], W[t + 1], E[t + 1], W[t, states],
                         E[t, states])
        else:
            _gather(columns[:, states], weights[:, states], W[t + 1], W[t, states])

    return swept(word, edges[4], period, ratio, rescale_every, wide, W, E, scale, gather), 1


def swept(word: Ints, reach: Ints, period: int, ratio: float, rescale_every: int, wide: bool,
          W: Floats, E: ShortInts, scale: ShortInts,
          gather: Callable[[int, slice], None]) -> int:
    """
    Fill W (and E), and return the sum of `scale`.

    :param gather: fills row t of some states from row t + 1.
    """
    n, total_scale = len(word), 0
    for t, symbol in zip(range(n, 0, -1), word[::-1].tolist(), strict=True):
        count, here = int(reach[min(t, len(reach) - 1)]), W[t]
        scale[t] = 0
        states = slice(1, count + 1)
        if t == n:
            here[states] = 1.0
            if wide:
                E[t, states] = 0
        else:
            gather(t, states)
            if not wide and t % rescale_every == 0:
                exponent = frexp(_highest(reach, period, t, here))[1] - _TOP
                here[states] *= ldexp(1.0, -exponent)
                scale[t] = exponent
                total_scale += exponent
        here[0] = 0.0
        if wide:
            E[t, 0] = _NEVER
        if symbol <= count:
            here[symbol] *= ratio
    return total_scale


def walk(position: int, state: int, word: Ints, bits: Numbers, edges: Edges, period: int,
         ratio: float, spacing: int, alone: int, wide: bool, W: Floats, E: ShortInts,
         scale: ShortInts, together: Floats, out: Ints) -> tuple[int, int, int]:
    """As `core.offline.passes.kernels.walk`."""
    offsets, targets, _, _, _, weights, _ = edges
    points: list[float] = (bits >> np.uint64(11)).astype(np.float64).tolist()
    for t in range(position + 1, len(word) + 1):
        first, last = int(offsets[state]), int(offsets[state + 1])
        there = targets[first:last]
        values = W[t, there]
        if len(weights):
            values = values * weights[first:last]
        if wide:
            exponents = E[t, there]
            values = values * _POWERS[np.minimum(exponents.max() - exponents, _FAR)]
        i = choose(values, points[t - 1])
        if i < 0:
            return t - 1, state, t
        state = int(there[i])
        out[t - 1] = state
    return len(word), state, 0


def route(word: Ints, bits: Numbers, edges: Edges, period: int, ratio: float, spacing: int,
          alone: int, rescale_every: int, wide: bool, W: Floats, E: ShortInts, scale: ShortInts,
          together: Floats, out: Ints) -> tuple[int, int, int]:
    """As `core.offline.passes.kernels.route`."""
    sweep(word, edges, period, ratio, spacing, rescale_every, wide, W, E, scale)
    return walk(0, 1, word, bits, edges, period, ratio, spacing, alone, wide, W, E, scale,
                together, out)


def count_step(symbol: int, edges: Edges, count: int, width_after: int, width: int, after: Floats,
               after_exponent: ShortInts, here: Floats, here_exponent: ShortInts) -> None:
    """As `core.offline.passes.kernels.count_step`."""
    offsets, targets, _, _, _, weights, _ = edges
    total, highest = np.zeros((count, width)), np.full((count, width), _NEVER)
    degrees = np.diff(offsets[1:count + 2])
    for j in range(int(degrees.max())):
        rows = np.flatnonzero(degrees > j)
        edge = offsets[1:count + 1][rows] + j
        there = targets[edge]
        own = np.zeros((len(rows), width))
        own_exponent = np.full((len(rows), width), _NEVER)
        for shift, some in (0, there == symbol), (1, there != symbol):
            many = min(width_after, width - shift)
            own[some, shift:shift + many] = after[there[some], :many]
            own_exponent[some, shift:shift + many] = after_exponent[there[some], :many]
        if len(weights):
            own_weights = weights[edge, None].astype(np.float64)
        old = highest[rows]
        top = np.maximum(old, own_exponent)
        factor = _power(top - own_exponent)
        if len(weights):
            factor *= own_weights
        total[rows] = total[rows] * _power(top - old) + own * factor
        highest[rows] = top
    bits = total.view(np.int64)
    grown = ((bits >> 52) & 0x7ff) - 1023
    zero = bits == 0
    here_exponent[1:count + 1, :width] = np.where(zero, _NEVER, highest + grown)
    bits -= np.where(zero, 0, grown << 52)
    here[1:count + 1, :width] = total


def _columns(edges: Edges) -> tuple[Ints, Floats]:
    """
    Return the successors of each state, and the weights of these moves; none where h = 1.

    :return: int64 (most successors, states + 1), padded with 0; float64, as many or (0, ·).
    """
    offsets, targets, _, _, _, weights, _ = edges
    columns, factors = padded(offsets, targets, weights)
    return columns, factors if len(weights) else factors[:0]


def padded(offsets: Ints, targets: Numbers, values: Weights | Floats) -> tuple[Ints, Floats]:
    """
    Return the successors of each state, and what each of these moves has: 0 where there is none.

    :param values: shape (edges, …).
    :return: int64 (most successors, states + 1), padded with 0; float64, as many and (…).
    """
    degrees = np.diff(offsets)
    there = np.arange(degrees.max())[:, None] < degrees
    columns = np.zeros(there.shape, np.int64)
    edge = (offsets[:-1] + np.arange(len(columns))[:, None])[there]
    columns[there] = targets[edge]
    factors = np.zeros((*there.shape, *values.shape[1:]))
    if len(values):
        factors[there] = values[edge]
    return columns, factors


def _gather(columns: Ints, weights: Floats, after: Floats, here: Floats) -> None:
    """here[s] = Σ h(s'|s)·after[s'] over the successors s' of s."""
    here[:] = 0.0
    for j, states in enumerate(columns):
        term = after[states]
        if len(weights):
            term *= weights[j]
        here += term


def _gather_wide(columns: Ints, weights: Floats, after: Floats,
                 after_exponent: ShortInts, here: Floats, here_exponent: ShortInts) -> None:
    """As `_gather`, with one exponent for each state."""
    exponents = after_exponent[columns]
    exponents.max(axis=0, out=here_exponent)
    here[:] = 0.0
    for j, states in enumerate(columns):
        term = after[states]
        if len(weights):
            term *= weights[j]
        term *= _POWERS[np.minimum(here_exponent - exponents[j], _FAR)]
        here += term
    bits = here.view(np.int64)
    grown = (bits >> 52) - 1023
    here_exponent += grown.astype(np.int32)
    bits -= grown << 52


def _highest(reach: Ints, period: int, position: int, here: Floats) -> float:
    """Return the largest weight of the states that just `position` moves can lead to."""
    top = min(position, len(reach) - 1)
    top -= (top - position) % period
    if period == 1:
        return float(here[1:reach[top] + 1].max())
    return max(float(here[(reach[level - 1] if level else 0) + 1:reach[level] + 1].max())
               for level in range(top, -1, -period))


def choose(values: Floats, point: float) -> int:
    """As `kernels._choose`: the index of the value that the point falls on, or −1."""
    right = np.add.accumulate(values)
    unit = right[-1] * 2.0**-53
    margin = (4 * len(values) + 8) * unit
    passed = int(np.count_nonzero(right[:-1] <= point * unit - margin))
    unsure = int(np.count_nonzero(right[:-1] < point * unit + margin))
    return passed if passed == unsure else -1


def _power(gap: npt.NDArray[np.int32]) -> Floats:
    """Return 2^−gap, 0 from a gap of 1,023 on."""
    bits = np.maximum(1023 - gap.astype(np.int64), 0) << 52
    found: Floats = bits.view(np.float64)
    return found
