# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Weighted sums over the successors of four states at a time."""
from typing import Any

from symdp_ros.core.annotations import Floats, Numbers, Weights
from symdp_ros.core.compiled.compiling import numba

_STATES = 4  # as many as one multiplication of the processor multiplies


def _gather_four(columns: Numbers, weights: Weights, after: Floats, here: Floats,
                 s: int) -> None:
    """here[i] = Σ_j weights[j, i]·after[columns[j, i]] for i = s…s+3, from the first j on."""
    for i in range(s, s + _STATES):
        total = 0.0
        for j in range(len(columns)):
            total += after[columns[j, i]] * weights[j, i]
        here[i] = total


def _intrinsic(typing_context: Any, columns: Any, weights: Any, after: Any, here: Any,
               s: Any) -> tuple[Any, Any]:
    """As `_gather_four`, with vector operations: left to itself, the compiler uses none."""
    from llvmlite import ir
    from numba.core import cgutils

    row, double = numba.types.intp, ir.DoubleType()
    signature = numba.types.void(columns, weights, after, here, row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def place(array: int, *index: Any) -> Any:
            kind = signature.args[array]
            whole = context.make_array(kind)(context, builder, arguments[array])
            return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]  # of numba
                context, builder, kind, whole, index)

        def four(kind: Any, pointer: Any) -> Any:
            return builder.bitcast(pointer, ir.VectorType(kind, _STATES).as_pointer())

        vector, first = ir.VectorType(double, _STATES), arguments[4]
        states = [builder.add(first, context.get_constant(row, i)) for i in range(_STATES)]
        shape = context.make_array(columns)(context, builder, arguments[0]).shape
        total = cgutils.alloca_once_value(  # type: ignore[no-untyped-call]  # of numba
            builder, ir.Constant(vector, [0.0] * _STATES))
        with cgutils.for_range(builder, builder.extract_value(shape, 0)) as loop:
            values = ir.Constant(vector, ir.Undefined)
            for i, state in enumerate(states):
                target = builder.zext(builder.load(place(0, loop.index, state)),
                                      context.get_value_type(row))
                values = builder.insert_element(values, builder.load(place(2, target)),
                                                ir.Constant(ir.IntType(32), i))
            factors = builder.load(four(ir.FloatType(), place(1, loop.index, first)), align=4)
            product = builder.fmul(values, builder.fpext(factors, vector))
            builder.store(builder.fadd(builder.load(total), product), total)
        builder.store(builder.load(total), four(double, place(3, first)), align=8)
        return context.get_dummy_value()

    return signature, generate


gather_four = numba.extending.intrinsic(_intrinsic) if numba else _gather_four
