# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of float64 in rows: one number for each of `SEGMENTS` segments of a word."""
from collections.abc import Callable
from typing import Any

from symdp_ros.core.annotations import Floats
from symdp_ros.core.compiling import numba

SEGMENTS = 4  # as many as one addition of the processor adds


def _add_rows(here: Floats, s: int, start: Floats, from_: int, after: Floats, a: int, b: int,
              c: int, d: int) -> None:
    """Set the row here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]."""
    here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]


def _add_weighted(here: Floats, s: int, after: Floats, a: int, weight: float) -> None:
    """Add weight·after[a] to the row here[s]."""
    here[s] += after[a] * weight


def _rows(context: Any, builder: Any, signature: Any, arguments: Any) -> Callable[[int, int], Any]:
    """Return what gives a pointer to a row, by the numbers of the arguments array and index."""
    from llvmlite import ir
    from numba.core import cgutils

    def place(array: int, index: int) -> Any:
        kind = signature.args[array]
        whole = context.make_array(kind)(context, builder, arguments[array])
        first = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]  # of numba
            context, builder, kind, whole,
            [arguments[index], context.get_constant(numba.types.intp, 0)])
        return builder.bitcast(first, ir.VectorType(ir.DoubleType(), SEGMENTS).as_pointer())

    return place


def _add_rows_intrinsic(typing_context: Any, here: Any, s: Any, start: Any, from_: Any, after: Any,
                        a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """As `_add_rows`, with vector additions: left to itself, the compiler makes no use of them."""
    row = numba.types.intp
    signature = numba.types.void(here, row, start, row, after, row, row, row, row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _rows(context, builder, signature, arguments)
        total = builder.load(place(2, 3), align=8)
        for index in range(5, 9):
            total = builder.fadd(total, builder.load(place(4, index), align=8))
        builder.store(total, place(0, 1), align=8)
        return context.get_dummy_value()

    return signature, generate


def _add_weighted_intrinsic(typing_context: Any, here: Any, s: Any, after: Any, a: Any,
                            weight: Any) -> tuple[Any, Any]:
    """As `_add_weighted`, with vector operations."""
    row = numba.types.intp
    signature = numba.types.void(here, row, after, row, numba.types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        place = _rows(context, builder, signature, arguments)
        factors = ir.Constant(ir.VectorType(ir.DoubleType(), SEGMENTS), ir.Undefined)
        for i in range(SEGMENTS):
            factors = builder.insert_element(factors, arguments[4],
                                             ir.Constant(ir.IntType(32), i))
        product = builder.fmul(builder.load(place(2, 3), align=8), factors)
        total = builder.fadd(builder.load(place(0, 1), align=8), product)
        builder.store(total, place(0, 1), align=8)
        return context.get_dummy_value()

    return signature, generate


add_rows, add_weighted = (
    (numba.extending.intrinsic(_add_rows_intrinsic),
     numba.extending.intrinsic(_add_weighted_intrinsic)) if numba else (_add_rows, _add_weighted))
