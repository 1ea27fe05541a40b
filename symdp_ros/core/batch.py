# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Many words at once: how they are given, and the random bits that they are drawn with.

Words stand one after another in one array of int32, the positions of their symbols in
`chain.states`, −1 for an unknown one; word i is symbols[offsets[i]:offsets[i+1]].

Randomness is a stream of AES-256 in counter mode under a key from the operating system, a new one
for each call: no state outlives the call, and nothing of it can be shared with a fork.
"""
import os

import numpy as np
from symdp_ros.core.errors import ConfigurationError, UnknownSymbolError

_MARGIN = 15  # bytes that cryptography asks for beyond what it writes, up to 42


def checked(symbols, offsets, states: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return words as contiguous int32 and int64 arrays.

    :raises ConfigurationError: not arrays of integers, or offsets that are not ascending from 0
        to the number of symbols.
    :raises UnknownSymbolError: a symbol that is neither −1 nor a position in `states`.
    """
    try:
        symbols, offsets = np.asarray(symbols), np.asarray(offsets)
    except ValueError:  # lists of unequal length
        symbols = offsets = np.empty((0, 0))
    for name, array in (('symbols', symbols), ('offsets', offsets)):
        if array.ndim != 1 or array.dtype.kind not in 'iu' and array.size:
            raise ConfigurationError(f'{name} must be an array of integers with one axis')
    if not (len(offsets) and offsets[0] == 0 and offsets[-1] == len(symbols)
            and (offsets[1:] >= offsets[:-1]).all()):
        raise ConfigurationError('offsets must ascend from 0 to the number of symbols')
    if len(symbols) and not (symbols.min() >= -1 and symbols.max() < states):
        raise UnknownSymbolError
    return np.ascontiguousarray(symbols, np.int32), np.ascontiguousarray(offsets, np.int64)


class RandomStream:
    """
    Random integers in bulk.

    :param random: None, or, for tests, an object with `getrandbits` in place of the stream.
    """

    def __init__(self, random=None):
        self._random = random
        if random is None:
            from cryptography.hazmat.primitives.ciphers import algorithms, Cipher, modes

            key, counter = os.urandom(32), os.urandom(16)
            self._encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def fill(self, array: np.ndarray) -> np.ndarray:
        """Fill an array of unsigned integers with random bits, and return it."""
        if self._random is not None:
            size = array.nbytes
            raw = self._random.getrandbits(8 * size).to_bytes(size, 'little')
            array[...] = np.frombuffer(raw, array.dtype).reshape(array.shape)
        elif array.size:
            array[...] = 0
            view = memoryview(array).cast('B')
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


def chunks(offsets, size):
    """Yield slices of words that hold about `size` symbols each."""
    begin, words = 0, len(offsets) - 1
    while begin < words:
        end = int(np.searchsorted(offsets, offsets[begin] + size, 'right')) - 1
        end = min(max(end, begin + 1), words)
        yield slice(begin, end)
        begin = end
