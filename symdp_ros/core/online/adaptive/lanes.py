# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums for all models at a time: one in each lane."""
from typing import Any

from symdp_ros.core.annotations import Floats, Weights
from symdp_ros.core.compiled.compiling import numba
from symdp_ros.core.compiled.vectors import lane_sum, Lanes


def _total(joint: Floats, s: int) -> float:
    """Return Σ_m joint[s, m]."""
    found: float = lane_sum(joint[s])
    return found


def _mix(mixed: Floats, joint: Floats, s: int, switch: Floats, factor: float) -> None:
    """mixed[s, m] = factor·(switch[0, m]·joint[s, m] + switch[1, m]·Σ joint[s])."""
    mixed[s] = (switch[0] * joint[s] + switch[1] * lane_sum(joint[s])) * factor


def _follow(after: Floats, there: int, joint: Floats, s: int, weights: Weights, e: int) -> None:
    """after[there, m] += joint[s, m]·weights[e, m]."""
    after[there] += joint[s] * weights[e]


def _weigh(here: Floats, joint: Floats, s: int, factor: float) -> float:
    """here[s, m] *= factor; return Σ_m joint[s, m]·here[s, m]."""
    here[s] *= factor
    found: float = lane_sum(joint[s] * here[s])
    return found


def _total_intrinsic(typing_context: Any, joint: Any, s: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        zero = context.get_constant(row, 0)
        return lanes.total(lanes.load(lanes.place(0, arguments[1], zero)))

    row = numba.types.intp
    return numba.types.float64(joint, row), generate


def _mix_intrinsic(typing_context: Any, mixed: Any, joint: Any, s: Any, switch: Any,
                   factor: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        _, _, s, _, factor = arguments
        zero, one = context.get_constant(row, 0), context.get_constant(row, 1)
        values = lanes.load(lanes.place(1, s, zero))
        kept = builder.fmul(lanes.load(lanes.place(3, zero, zero)), values)
        drawn = builder.fmul(lanes.load(lanes.place(3, one, zero)),
                             lanes.alike(lanes.total(values)))
        lanes.store(builder.fmul(builder.fadd(kept, drawn), lanes.alike(factor)),
                    lanes.place(0, s, zero))
        return context.get_dummy_value()

    row, double = numba.types.intp, numba.types.float64
    return numba.types.void(mixed, joint, row, switch, double), generate


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


def _weigh_intrinsic(typing_context: Any, here: Any, joint: Any, s: Any,
                     factor: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder, signature, arguments)
        _, _, s, factor = arguments
        zero = context.get_constant(row, 0)
        place = lanes.place(0, s, zero)
        values = builder.fmul(lanes.load(place), lanes.alike(factor))
        lanes.store(values, place)
        return lanes.total(builder.fmul(lanes.load(lanes.place(1, s, zero)), values))

    row, double = numba.types.intp, numba.types.float64
    return double(here, joint, row, double), generate


total, mix, follow, weigh = map(numba.extending.intrinsic, (
    _total_intrinsic, _mix_intrinsic, _follow_intrinsic, _weigh_intrinsic
    )) if numba else (_total, _mix, _follow, _weigh)
