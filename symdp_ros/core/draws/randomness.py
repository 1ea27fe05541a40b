# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uniform random integers from the operating system, in bulk."""
from collections.abc import Callable
import os
from typing import Any
import weakref

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Numbers, RandomBits

_FIRST_BYTES, _MOST_BYTES = 512, 8192  # of a buffer, which doubles
_live: 'weakref.WeakSet[RandomIntegers]' = weakref.WeakSet()


class RandomIntegers:
    """
    A buffered source of uniform integers below a limit, by rejection.

    `buffer.pop()` hands out the next one; where it raises IndexError, `fill()` fills the buffer. A
    fork discards the buffer in the child, so that two processes never share random bits.

    :param width: 30 or 60 bits, of which each integer is made.
    :param limit: from 1 to 2^width.
    :param random: an object with `getrandbits`, or None for the operating system's randomness.
    :param read: maps an array of integers to the items of the buffer, one for each.
    """

    def __init__(self, width: int, limit: int, random: RandomBits | None = None,
                 read: Callable[[Numbers], list[Any]] = np.ndarray.tolist):
        self._dtype, self._shift = {30: ('<u4', 2), 60: ('<u8', 4)}[width]
        self._limit, self._random, self._bytes = limit, random, _FIRST_BYTES
        self._read = read
        self.buffer: list[Any] = []
        _live.add(self)

    def fill(self) -> None:
        """Fill the buffer, where it is empty."""
        while not self.buffer:
            if self._random is None:
                raw = os.urandom(self._bytes)
            else:
                raw = self._random.getrandbits(8 * self._bytes).to_bytes(self._bytes, 'little')
            self._bytes = min(2 * self._bytes, _MOST_BYTES)
            drawn: npt.NDArray[Any] = np.frombuffer(raw, self._dtype) >> self._shift
            self.buffer.extend(self._read(drawn[drawn < self._limit]))


def _discard_buffers() -> None:
    for source in _live:
        source.buffer.clear()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_discard_buffers)
