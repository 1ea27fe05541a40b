# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Targets: for each sensitive symbol and previous private symbol, the feasible state to aim at.

A table of targets is computed from the public chain alone, before the first symbol, and holds,
for the pair (o, s), a code: 0 for no target (uniform), j+1 for the j-th of `successors(o)`. Each
policy has a module that makes its table.
"""
from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from symdp_ros.core.annotations import Ints, Numbers, ShortInts

Row: TypeAlias = 'bytes | bytearray | array[int]'  # codes of one o, as Python indexes fastest
Codes: TypeAlias = Numbers

DENSE_STATES = 2_000    # up to which every pair has a code
MOST_PAIRS = 4_000_000  # that a table for more states holds


class DenseTargets:
    """A code for every pair."""

    radius: int | None = None
    kept_rows: int | None = None  # no limit on cached rows: all are there

    def __init__(self, rows: Sequence[Row]):
        """Take, for each o, the codes of all s, and a 0 for the unknown symbol."""
        self._rows = rows

    @property
    def nbytes(self) -> int:
        """Return the memory of the table in bytes."""
        return sum(memoryview(row).nbytes for row in self._rows)

    def row(self, previous: int) -> Row:
        """Return the codes of one o: a sequence of states + 1 integers, the last one 0."""
        return self._rows[previous]

    def column(self, symbol: int) -> Codes:
        """Return the codes of one s for every o: shape (states,)."""
        return np.array([row[symbol] for row in self._rows])


class SparseTargets:
    """The codes of the pairs within a radius."""

    def __init__(self, pairs: Ints, codes: Numbers, states: int, radius: int):
        """
        Take the pairs that are kept.

        :param pairs: o·states + s of each pair, ascending.
        :param codes: uint32, their codes, same shape.
        """
        self.radius = radius
        self.kept_rows = max(16, 2**25 // states)
        self._states = states
        self._first = np.searchsorted(pairs, np.arange(states + 1, dtype=np.int64) * states)
        self._symbols = (pairs % states).astype(np.int32)
        self._codes = codes if codes.max() > 255 else codes.astype(np.uint8)

    @property
    def nbytes(self) -> int:
        """Return the memory of the table in bytes."""
        return self._first.nbytes + self._symbols.nbytes + self._codes.nbytes

    def pairs(self) -> tuple[Ints, ShortInts, Codes]:
        """
        Return (first, symbols, codes): o has the pairs first[o] … first[o+1]−1, by symbol.

        :return: int64 (states + 1,), int32 and integer codes, one for each pair.
        """
        return self._first, self._symbols, self._codes

    def row(self, previous: int) -> Row:
        """Return the codes of one o: a sequence of states + 1 integers, the last one 0."""
        row = np.zeros(self._states + 1, self._codes.dtype)
        here = slice(self._first[previous], self._first[previous + 1])
        row[self._symbols[here]] = self._codes[here]
        return as_row(row)

    def column(self, symbol: int) -> Codes:
        """Return the codes of one s for every o: shape (states,)."""
        column = np.zeros(self._states, self._codes.dtype)
        at = np.flatnonzero(self._symbols == symbol)
        column[np.searchsorted(self._first, at, 'right') - 1] = self._codes[at]
        return column


Targets: TypeAlias = DenseTargets | SparseTargets


def as_row(codes: Codes) -> Row:
    """Return codes as what Python indexes fastest."""
    return codes.tobytes() if codes.dtype == np.uint8 else array('I', codes.tobytes())


def feasible_row(successors: list[int], states: int) -> Row:
    """Return the codes of one o where only its successors are targets, of themselves, as `row`."""
    codes: Codes = np.zeros(states + 1, np.uint8 if len(successors) <= 255 else np.uint32)
    codes[successors] = np.arange(1, len(successors) + 1)
    return as_row(codes)
