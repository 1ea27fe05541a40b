# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of a few float64 that stand side by side: one for each of `ABREAST` segments of a word."""
from symdp_ros.core.compiling import numba

ABREAST = 4  # as many as one addition of the processor adds


def _add_abreast(here, s, start, from_, after, a, b, c, d):
    """here[s] = start[from_] + after[a] + after[b] + after[c] + after[d], rows of ABREAST float64."""
    here[s] = start[from_] + after[a] + after[b] + after[c] + after[d]


def _intrinsic(typing_context, here, s, start, from_, after, a, b, c, d):
    """As `_add_abreast`: the compiler adds one at a time where it is not told, half as fast."""
    from llvmlite import ir
    from numba.core import cgutils

    row = numba.types.intp
    signature = numba.types.void(here, row, start, row, after, row, row, row, row)

    def generate(context, builder, signature, arguments):
        def place(array, index):
            kind = signature.args[array]
            whole = context.make_array(kind)(context, builder, arguments[array])
            first = cgutils.get_item_pointer(
                context, builder, kind, whole, [arguments[index], context.get_constant(row, 0)])
            return builder.bitcast(first, ir.VectorType(ir.DoubleType(), ABREAST).as_pointer())

        total = builder.load(place(2, 3), align=8)
        for index in range(5, 9):
            total = builder.fadd(total, builder.load(place(4, index), align=8))
        builder.store(total, place(0, 1), align=8)
        return context.get_dummy_value()

    return signature, generate


add_abreast = numba.extending.intrinsic(_intrinsic) if numba else _add_abreast
