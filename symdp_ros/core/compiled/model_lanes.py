# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Weighted sums over the successors of a state, for all models at a time."""
from typing import Any

from symdp_ros.core.annotations import Floats, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import numba
from symdp_ros.core.compiled.vectors import LANES


def _gather_models(targets: Numbers | ShortInts, weights: Weights, first: int, last: int,
                   keep: float, switch: Floats, after: Floats, here: Floats, s: int) -> None:
    """
    here[s, m] = keep·V(m) + Σ_m' switch[m']·V(m'), V(m) = Σ_e weights[e, m]·after[targets[e], m].

    Over the edges e from `first` on; the lanes are added as (0+4) + (2+6) and (1+5) + (3+7).
    """
    total = [0.0] * LANES
    for e in range(first, last):
        for m in range(LANES):
            total[m] += after[targets[e], m] * weights[e, m]
    a, b, c, d, e, f, g, h = [total[m] * switch[m] for m in range(LANES)]
    mixed = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for m in range(LANES):
        here[s, m] = keep * total[m] + mixed


def _intrinsic(typing_context: Any, targets: Any, weights: Any, first: Any, last: Any,
               keep: Any, switch: Any, after: Any, here: Any, s: Any) -> tuple[Any, Any]:
    """As `_gather_models`, with vector operations."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from symdp_ros.core.compiled.vectors import Lanes

        lanes = Lanes(context, builder, signature, arguments)
        zero, index = context.get_constant(row, 0), context.get_value_type(row)
        total = cgutils.alloca_once_value(  # type: ignore[no-untyped-call]  # of numba
            builder, ir.Constant(lanes.kind, [0.0] * LANES))
        with cgutils.for_range_slice(builder, arguments[2], arguments[3],
                                     context.get_constant(row, 1), index) as (e, _):
            there = builder.zext(builder.load(lanes.place(0, e)), index)
            term = builder.fmul(lanes.load(lanes.place(6, there, zero)),
                                lanes.load_float32(lanes.place(1, e, zero)))
            builder.store(builder.fadd(builder.load(total), term), total)
        values = builder.load(total)
        mixed = lanes.total(builder.fmul(values, lanes.load(lanes.place(5, zero))))
        values = builder.fmul(lanes.alike(arguments[4]), values)
        lanes.store(builder.fadd(values, lanes.alike(mixed)), lanes.place(7, arguments[8], zero))
        return context.get_dummy_value()

    row, double = numba.types.intp, numba.types.float64
    return numba.types.void(targets, weights, row, row, double, switch, after, here,
                            row), generate


gather_models = numba.extending.intrinsic(_intrinsic) if numba else _gather_models
