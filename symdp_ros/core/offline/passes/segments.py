# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of float64 in rows: one number for each of `SEGMENTS` segments of a word."""
from typing import Any

from symdp_ros.core.annotations import Floats
from symdp_ros.core.compiled.compiling import numba

SEGMENTS = 4  # as many as one addition of the processor adds


def _add_rows(here: Floats, s: int, start: Floats, from_: int, after: Floats, a: int, b: int,
              c: int, d: int) -> None:
    """Set the row here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]."""
    here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]


def _add_weighted(here: Floats, s: int, start: Floats, from_: int, after: Floats, a: int, b: int,
                  c: int, d: int, u: float, v: float, w: float, x: float) -> None:
    """As `_add_rows`, of u·after[a], v·after[b], w·after[c] and x·after[d]."""
    here[s] = start[from_] + after[a] * u + after[b] * v + after[c] * w + after[d] * x


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from llvmlite import ir
    from numba.core import cgutils

    vector = ir.VectorType(ir.DoubleType(), SEGMENTS)

    def row(array: int, index: int) -> Any:
        kind = signature.args[array]
        whole = context.make_array(kind)(context, builder, arguments[array])
        first = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]  # of numba
            context, builder, kind, whole,
            [arguments[index], context.get_constant(numba.types.intp, 0)])
        return builder.bitcast(first, vector.as_pointer())

    total = builder.load(row(2, 3), align=8)
    for index in range(5, 9):
        term = builder.load(row(4, index), align=8)
        if len(arguments) > 9:
            factors = ir.Constant(vector, ir.Undefined)
            for i in range(SEGMENTS):
                factors = builder.insert_element(factors, arguments[index + 4],
                                                 ir.Constant(ir.IntType(32), i))
            term = builder.fmul(term, factors)
        total = builder.fadd(total, term)
    builder.store(total, row(0, 1), align=8)
    return context.get_dummy_value()


def _add_rows_intrinsic(typing_context: Any, here: Any, s: Any, start: Any, from_: Any, after: Any,
                        a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """As `_add_rows`, with vector additions: left to itself, the compiler makes no use of them."""
    row = numba.types.intp
    return numba.types.void(here, row, start, row, after, row, row, row, row), _generate


def _add_weighted_intrinsic(typing_context: Any, here: Any, s: Any, start: Any, from_: Any,
                            after: Any, a: Any, b: Any, c: Any, d: Any, u: Any, v: Any, w: Any,
                            x: Any) -> tuple[Any, Any]:
    """As `_add_weighted`, with vector operations."""
    row, double = numba.types.intp, numba.types.float64
    return numba.types.void(here, row, start, row, after, row, row, row, row, double, double,
                            double, double), _generate


add_rows, add_weighted = (
    (numba.extending.intrinsic(_add_rows_intrinsic),
     numba.extending.intrinsic(_add_weighted_intrinsic)) if numba else (_add_rows, _add_weighted))
