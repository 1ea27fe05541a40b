"""Uniform random integers of a fixed width, from the operating system, in bulk."""
import os
import weakref

import numpy as np

_BYTES = 8192
_live = weakref.WeakSet()


class RandomIntegers:
    """
    A buffered source of uniform integers below 2^width.

    `buffer.pop()` hands out the next one; where it raises IndexError, `refill()` fills the buffer
    and hands out the first. Callers that are fast do both themselves; others call `next()`.
    A fork discards the buffer in the child, so that two processes never share random bits.

    :param width: 30 or 60 bits.
    :param random: an object with `getrandbits`, or None for the operating system's randomness.
    """

    def __init__(self, width: int, random=None):
        self._dtype, self._shift = {30: ('<u4', 2), 60: ('<u8', 4)}[width]
        self._random = random
        self.buffer: list[int] = []
        _live.add(self)

    def refill(self) -> int:
        """Fill the buffer and return one integer from it."""
        if self._random is None:
            raw = os.urandom(_BYTES)
        else:
            raw = self._random.getrandbits(8 * _BYTES).to_bytes(_BYTES, 'little')
        self.buffer.extend((np.frombuffer(raw, self._dtype) >> self._shift).tolist())
        return self.buffer.pop()

    def next(self) -> int:
        """Return the next integer."""
        return self.buffer.pop() if self.buffer else self.refill()


def _discard_buffers():
    for source in _live:
        source.buffer.clear()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_discard_buffers)
