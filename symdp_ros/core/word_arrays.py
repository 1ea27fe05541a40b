# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Many words at once: how they are given, and the random bits that they are drawn with.

Words stand one after another in one array of int32, the positions of their symbols in
`chain.states`, −1 for an unknown one; word i is symbols[offsets[i]:offsets[i+1]].

Randomness is a stream of AES-256 in counter mode under a key from the operating system, a new one
for each call: no state outlives the call, and nothing of it can be shared with a fork.
"""
from collections.abc import Iterator
import os
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints, Numbers, RandomBits, ShortInts
from symdp_ros.errors import ConfigurationError, UnknownSymbolError

_Unsigned = TypeVar('_Unsigned', bound=Numbers)
_MARGIN = 15  # bytes that cryptography asks for beyond what it writes, up to 42


def checked(symbols: npt.ArrayLike, offsets: npt.ArrayLike,
            states: int) -> tuple[ShortInts, Ints]:
    """
    Return words as contiguous int32 and int64 arrays.

    :raises ConfigurationError: not arrays of integers, or offsets that are not ascending from 0
        to the number of symbols.
    :raises UnknownSymbolError: a symbol that is neither −1 nor a position in `states`.
    """
    words: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    try:
        words, ends = np.asarray(symbols), np.asarray(offsets)
    except ValueError:  # lists of unequal length
        words = ends = np.empty((0, 0))
    for name, array in (('symbols', words), ('offsets', ends)):
        if array.ndim != 1 or array.dtype.kind not in 'iu' and array.size:
            raise ConfigurationError(f'{name} must be an array of integers with one axis',
                                     setting=name)
    if not (len(ends) and ends[0] == 0 and ends[-1] == len(words)
            and (ends[1:] >= ends[:-1]).all()):
        raise ConfigurationError('offsets must ascend from 0 to the number of symbols',
                                 setting='offsets')
    if len(words) and not (words.min() >= -1 and words.max() < states):
        raise UnknownSymbolError
    return np.ascontiguousarray(words, np.int32), np.ascontiguousarray(ends, np.int64)


class RandomStream:
    """
    Random integers in bulk.

    :param random: None, or, for tests, an object with `getrandbits` in place of the stream.
    """

    def __init__(self, random: RandomBits | None = None):
        self._random = random
        if random is None:
            from cryptography.hazmat.primitives.ciphers import algorithms, Cipher, modes

            key, counter = os.urandom(32), os.urandom(16)
            self._encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def fill(self, array: _Unsigned) -> _Unsigned:
        """Fill an array of unsigned integers with random bits, and return it."""
        if self._random is not None:
            size = array.nbytes
            raw = self._random.getrandbits(8 * size).to_bytes(size, 'little')
            array[...] = np.frombuffer(raw, array.dtype).reshape(array.shape)
        elif array.size:
            array[...] = 0
            view = memoryview(array.data).cast('B')
            body = max(0, len(view) - _MARGIN)
            if body:
                self._encryptor.update_into(view[:body], view)  # in place: the stream itself
            view[body:] = self._encryptor.update(view[body:])
        return array

    def getrandbits(self, width: int) -> int:
        """Return an integer below 2^width."""
        size = -(-width // 8)
        raw = self.fill(np.empty(size, np.uint8)).tobytes()
        return int.from_bytes(raw, 'little') >> (8 * size - width)


def chunks(offsets: Ints, size: int) -> Iterator[slice]:
    """Yield slices of words that hold about `size` symbols each."""
    begin, words = 0, len(offsets) - 1
    while begin < words:
        end = int(np.searchsorted(offsets, offsets[begin] + size, 'right')) - 1
        end = min(max(end, begin + 1), words)
        yield slice(begin, end)
        begin = end
