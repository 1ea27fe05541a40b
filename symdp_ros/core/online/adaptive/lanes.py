# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums for several sets of states, or several models, at a time: one in each lane."""
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Weights
from symdp_ros.core.compiled.compiling import numba
from symdp_ros.core.compiled.vectors import lane_sum, LANES, Lanes


def _cover(known: Floats, best: Floats, near: Floats, n: int, joins: int, begin: int,
           covered: Floats) -> None:
    """
    covered[j] = Σ_{i < n} known[i]·max(best[i], near[i, j]), j = begin … begin + LANES − 1.

    best[i] is raised to near[i, joins] before, unless `joins` is below 0.
    """
    if joins >= 0:
        best[:n] = np.maximum(best[:n], near[:n, joins])
    terms = known[:n, None] * np.maximum(best[:n, None], near[:n, begin:begin + LANES])
    covered[begin:begin + LANES] = np.add.accumulate(terms)[-1] if n else 0.0  # one by one


def _add(sums: Floats, s: int, other: float, aimed: float, lane: int, weight: float) -> None:
    """sums[s, j] += weight·(aimed if j == lane else other), j < LANES."""
    chances = np.full(LANES, other)
    if lane >= 0:
        chances[lane] = aimed
    sums[s] += weight * chances


def _follow(after: Floats, there: int, joint: Floats, s: int, weights: Weights, e: int) -> None:
    """after[there, m] += joint[s, m]·weights[e, m], m < LANES."""
    after[there] += joint[s] * weights[e]


def _switch(joint: Floats, after: Floats, s: int, switch: Floats, total: float) -> float:
    """
    joint[s, m] = (switch[0, m]·after[s, m] + switch[2, m]·Σ after[s])/total, m < LANES.

    Return Σ joint[s].
    """
    joint[s] = (switch[0] * after[s] + switch[2] * lane_sum(after[s])) / total
    found: float = lane_sum(joint[s])
    return found


def _expect(joint: Floats, s: int, weights: Weights, e: int) -> float:
    """Return Σ_m joint[s, m]·weights[e, m]."""
    found: float = lane_sum(joint[s] * weights[e])
    return found


def _cover_intrinsic(typing_context: Any, known: Any, best: Any, near: Any, n: Any, joins: Any,
                     begin: Any, covered: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils

        lanes = Lanes(context, builder, signature, arguments)
        _, _, _, count, joins, begin, _ = arguments
        nothing = context.get_constant(numba.types.intp, 0)
        joining = builder.icmp_signed('>=', joins, nothing)
        column = builder.select(joining, joins, nothing)
        total = cgutils.alloca_once_value(  # type: ignore[no-untyped-call]  # of numba
            builder, ir.Constant(lanes.kind, [0.0] * LANES))
        with cgutils.for_range(builder, count) as loop:
            i = loop.index
            old = builder.load(lanes.place(1, i))
            least = builder.select(
                joining, lanes.larger(old, builder.load(lanes.place(2, i, column))), old)
            builder.store(least, lanes.place(1, i))
            values = lanes.larger(lanes.alike(least), lanes.load(lanes.place(2, i, begin)))
            product = builder.fmul(lanes.alike(builder.load(lanes.place(0, i))), values)
            builder.store(builder.fadd(builder.load(total), product), total)
        lanes.store(builder.load(total), lanes.place(6, begin))
        return context.get_dummy_value()

    row = numba.types.intp
    return numba.types.void(known, best, near, row, row, row, covered), generate


def _add_intrinsic(typing_context: Any, sums: Any, s: Any, other: Any, aimed: Any, lane: Any,
                   weight: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        lanes = Lanes(context, builder, signature, arguments)
        _, s, other, aimed, lane, weight = arguments
        numbers = ir.Constant(ir.VectorType(lane.type, LANES), list(range(LANES)))
        chances = builder.select(builder.icmp_signed('==', numbers, lanes.alike(lane)),
                                 lanes.alike(aimed), lanes.alike(other))
        here = lanes.place(0, s, context.get_constant(numba.types.intp, 0))
        lanes.store(builder.fadd(lanes.load(here), builder.fmul(chances, lanes.alike(weight))),
                    here)
        return context.get_dummy_value()

    row, double = numba.types.intp, numba.types.float64
    return numba.types.void(sums, row, double, double, row, double), generate


def _follow_intrinsic(typing_context: Any, after: Any, there: Any, joint: Any, s: Any,
                      weights: Any, e: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        _, there, _, s, _, e = arguments
        zero = context.get_constant(row, 0)
        term = builder.fmul(lanes.load(lanes.place(2, s, zero)),
                            lanes.load_float32(lanes.place(4, e, zero)))
        here = lanes.place(0, there, zero)
        lanes.store(builder.fadd(lanes.load(here), term), here)
        return context.get_dummy_value()

    row = numba.types.intp
    return numba.types.void(after, row, joint, row, weights, row), generate


def _switch_intrinsic(typing_context: Any, joint: Any, after: Any, s: Any, switch: Any,
                      total: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        _, _, s, _, total = arguments
        zero, two = context.get_constant(row, 0), context.get_constant(row, 2)
        values = lanes.load(lanes.place(1, s, zero))
        kept = builder.fmul(lanes.load(lanes.place(3, zero, zero)), values)
        drawn = builder.fmul(lanes.load(lanes.place(3, two, zero)),
                             lanes.alike(lanes.total(values)))
        values = builder.fdiv(builder.fadd(kept, drawn), lanes.alike(total))
        lanes.store(values, lanes.place(0, s, zero))
        return lanes.total(values)

    row, double = numba.types.intp, numba.types.float64
    return double(joint, after, row, switch, double), generate


def _expect_intrinsic(typing_context: Any, joint: Any, s: Any, weights: Any,
                      e: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        _, s, _, e = arguments
        zero = context.get_constant(row, 0)
        return lanes.total(builder.fmul(lanes.load(lanes.place(0, s, zero)),
                                        lanes.load_float32(lanes.place(2, e, zero))))

    row = numba.types.intp
    return numba.types.float64(joint, row, weights, row), generate


add, cover, follow, switch_models, expect = map(numba.extending.intrinsic, (
    _add_intrinsic, _cover_intrinsic, _follow_intrinsic, _switch_intrinsic, _expect_intrinsic
    )) if numba else (_add, _cover, _follow, _switch, _expect)
