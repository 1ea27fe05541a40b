# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers side by side, one in each lane of the processor, in compiled loops."""
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

LANES = 8
_LINE = 64  # bytes that the processor reads at a time


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Return an empty array from which no float64 in `LANES` lanes lies across two lines."""
    size = prod(shape) * np.dtype(dtype).itemsize
    whole = np.empty(size + _LINE, np.uint8)
    first = -whole.ctypes.data % _LINE
    return whole[first:first + size].view(dtype).reshape(shape)


def in_lanes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return columns, at most `LANES`, with columns of 0 after them: shape (rows, LANES)."""
    result = aligned((len(values), LANES), values.dtype)
    result[:, :values.shape[1]] = values
    result[:, values.shape[1]:] = 0
    return result


def lane_sum(values: npt.NDArray[Any]) -> Any:
    """Return the sum over the lanes, in the order of `Lanes.total`: shape (LANES, …) → (…)."""
    a, b, c, d, e, f, g, h = values
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


class Lanes:
    """
    Vector operations for an intrinsic of numba: left to itself, the compiler uses none.

    All arguments but the last are those of the intrinsic's code generator.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        from llvmlite import ir

        self._ir, self._context, self._builder = ir, context, builder
        self._kinds, self._arguments = signature.args, arguments
        self.kind = ir.VectorType(ir.DoubleType(), LANES)

    def place(self, array: int, *index: Any) -> Any:
        """Return the pointer to an element of an array, an argument."""
        from numba.core import cgutils

        kind = self._kinds[array]
        whole = self._context.make_array(kind)(self._context, self._builder,
                                               self._arguments[array])
        return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]  # of numba
            self._context, self._builder, kind, whole, index)

    def load(self, pointer: Any) -> Any:
        """Return the elements from one on."""
        return self._builder.load(self._builder.bitcast(pointer, self.kind.as_pointer()), align=8)

    def store(self, values: Any, pointer: Any) -> None:
        """Store them there."""
        self._builder.store(values, self._builder.bitcast(pointer, self.kind.as_pointer()),
                            align=8)

    def alike(self, number: Any) -> Any:
        """Return a number in all lanes."""
        values = self._ir.Constant(self._ir.VectorType(number.type, LANES), self._ir.Undefined)
        for i in range(LANES):
            values = self._builder.insert_element(
                values, number, self._ir.Constant(self._ir.IntType(32), i))
        return values

    def number(self, array: int, *index: Any) -> Any:
        """Return one element of an array of float32, as float64."""
        return self._builder.fpext(self._builder.load(self.place(array, *index)),
                                   self._ir.DoubleType())

    def load_float32(self, pointer: Any) -> Any:
        """Return the float32 elements from one on, as float64."""
        kind = self._ir.VectorType(self._ir.FloatType(), LANES)
        return self._builder.fpext(
            self._builder.load(self._builder.bitcast(pointer, kind.as_pointer()), align=4),
            self.kind)

    def total(self, values: Any) -> Any:
        """Return ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) of the lanes, as a number."""
        for half in (LANES // 2, LANES // 4, LANES // 8):
            values = self._builder.fadd(self._part(values, range(half)),
                                        self._part(values, range(half, 2 * half)))
        return self._builder.extract_element(values, self._ir.Constant(self._ir.IntType(32), 0))

    def _part(self, values: Any, lanes: range) -> Any:
        places = self._ir.Constant(self._ir.VectorType(self._ir.IntType(32), len(lanes)),
                                   list(lanes))
        return self._builder.shuffle_vector(
            values, self._ir.Constant(values.type, self._ir.Undefined), places)
