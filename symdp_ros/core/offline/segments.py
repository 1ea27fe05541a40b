# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of float64 in rows: one number for each of `SEGMENTS` segments of a word."""
from typing import Any

from symdp_ros.core.annotations import Floats
from symdp_ros.core.compiling import numba

SEGMENTS = 4  # as many as one addition of the processor adds


def _add_rows(here: Floats, s: int, start: Floats, from_: int, after: Floats, a: int, b: int,
              c: int, d: int) -> None:
    """Set the row here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]."""
    here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]


def _intrinsic(typing_context: Any, here: Any, s: Any, start: Any, from_: Any, after: Any, a: Any,
               b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """As `_add_rows`, with vector additions: left to itself, the compiler makes no use of them."""
    from llvmlite import ir
    from numba.core import cgutils

    row = numba.types.intp
    signature = numba.types.void(here, row, start, row, after, row, row, row, row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def place(array: int, index: int) -> Any:
            kind = signature.args[array]
            whole = context.make_array(kind)(context, builder, arguments[array])
            first = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]  # of numba
                context, builder, kind, whole, [arguments[index], context.get_constant(row, 0)])
            return builder.bitcast(first, ir.VectorType(ir.DoubleType(), SEGMENTS).as_pointer())

        total = builder.load(place(2, 3), align=8)
        for index in range(5, 9):
            total = builder.fadd(total, builder.load(place(4, index), align=8))
        builder.store(total, place(0, 1), align=8)
        return context.get_dummy_value()

    return signature, generate


add_rows = numba.extending.intrinsic(_intrinsic) if numba else _add_rows
