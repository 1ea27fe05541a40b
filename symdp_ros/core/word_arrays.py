# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Many words at once: how they are given, and the random bits that they are drawn with.

Words stand one after another in one array of int32, the positions of their symbols in
`chain.states`, −1 for an unknown one; word i is symbols[offsets[i]:offsets[i+1]].

Each word has a name of 96 bits, and its random bits are AES-256 in counter mode with the name as
nonce: what is drawn for a word depends on the key, its name and its symbols alone, not on the
words beside it. Without a key that the caller keeps, each call takes a new one from the operating
system: no state outlives the call, and nothing of it can be shared with a fork.
"""
from collections.abc import Iterator
from hashlib import blake2b
import os
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints, RandomBits, ShortInts
from symdp_ros.errors import ConfigurationError, UnknownSymbolError

KEY_BYTES, NAME_BYTES = 32, 12

_Unsigned = TypeVar('_Unsigned', bound=np.unsignedinteger[Any])
_BLOCK = 16   # bytes
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


class WordBits:
    """
    Random bits for many words.

    :param names: uint8, shape (words, 12): of each word, all different; or how many words there
        are, which are then named by their numbers.
    :param key: 32 bytes, under which no other words have these names; None: a new one.
    """

    def __init__(self, names: npt.NDArray[np.uint8] | int, key: bytes | None = None):
        if isinstance(names, int):
            numbers = np.arange(names, dtype='>u8').view(np.uint8).reshape(-1, 8)
            names = np.zeros((names, NAME_BYTES), np.uint8)
            names[:, -8:] = numbers
        self._names, self._key = names, os.urandom(KEY_BYTES) if key is None else key

    @classmethod
    def of_words(cls, words: int, bits: 'WordBits | None',
                 random: RandomBits | None = None) -> 'WordBits':
        """
        Return the bits that are given for so many words, or, for None, new ones.

        :param random: for tests, where a new key is drawn from; None: the operating system.
        :raises ConfigurationError: bits of another number of words: some would be drawn alike.
        """
        if bits is None:
            return cls(words, None if random is None else random.getrandbits(
                8 * KEY_BYTES).to_bytes(KEY_BYTES, 'little'))
        if len(bits) != words:
            raise ConfigurationError(f'bits are of {len(bits)} words, not of {words}: give each '
                                     'word a name of its own', setting='bits')
        return bits

    def __len__(self) -> int:
        """Return how many words there are."""
        return len(self._names)

    def __getitem__(self, words: slice | Ints) -> 'WordBits':
        """Return the bits of some of the words."""
        return WordBits(self._names[words], self._key)

    def _cipher(self, mode: Any, attempt: int) -> Any:
        from cryptography.hazmat.primitives.ciphers import algorithms, Cipher

        key = blake2b(self._key, digest_size=KEY_BYTES, salt=b'%d' % attempt).digest()
        return Cipher(algorithms.AES(key), mode).encryptor()

    def fill(self, lengths: Ints, dtype: type[_Unsigned]) -> npt.NDArray[_Unsigned]:
        """Return an integer for each symbol of words of these lengths, one word after another."""
        each = _BLOCK // np.dtype(dtype).itemsize
        counts = -(-lengths // each)  # of blocks
        raw, counters = _empty_blocks(int(counts.sum()))
        self._name_blocks(counters, np.repeat(np.arange(len(counts)), counts), _inside(counts))
        drawn: npt.NDArray[_Unsigned] = self._encrypt(raw, 0).view(dtype)
        if not (lengths % each).any():
            return drawn
        return drawn[np.repeat(each * (np.cumsum(counts) - counts), lengths) + _inside(lengths)]

    def fill_again(self, drawn: npt.NDArray[_Unsigned], offsets: Ints,
                   limit: int) -> tuple[Ints, npt.NDArray[_Unsigned]]:
        """
        Return other integers for those of `fill` that are above a limit.

        :return: their places, ascending; integers, shape (attempts, places): in each column, the
            first redraw that is not above the limit, after those that were.
        """
        each, places = _BLOCK // drawn.itemsize, np.flatnonzero(drawn > limit)
        counters = np.empty((len(places), 4), '<u4')
        words = np.searchsorted(offsets, places, 'right') - 1
        numbers, inside = np.divmod(places - offsets[words], each)
        self._name_blocks(counters, words, numbers)
        attempts: list[npt.NDArray[_Unsigned]] = []
        left = np.arange(len(places))
        while len(left):
            raw, blocks_left = _empty_blocks(len(left))
            np.take(counters, left, 0, blocks_left, mode='clip')
            others = np.empty(len(places), drawn.dtype)
            others[left] = self._encrypt(raw, len(attempts) + 1).view(drawn.dtype).reshape(
                -1, each)[np.arange(len(left)), inside[left]]
            attempts.append(others)
            left = left[others[left] > limit]
        return places, np.array(attempts, drawn.dtype).reshape(len(attempts), len(places))

    def _name_blocks(self, counters: npt.NDArray[np.uint32], words: Ints, numbers: Ints) -> None:
        """Fill blocks, shape (blocks, 4): the name of the word, then which of its blocks it is."""
        np.take(self._names.view('<u4'), words, 0, counters[:, :3], mode='clip')
        counters[:, 3] = numbers.astype('>u4').view('<u4')

    def _encrypt(self, raw: npt.NDArray[np.uint8], attempt: int) -> npt.NDArray[np.uint8]:
        """Encrypt what `_empty_blocks` has returned, in its place."""
        from cryptography.hazmat.primitives.ciphers import modes

        if size := len(raw) - _MARGIN:
            self._cipher(modes.ECB(), attempt).update_into(raw[:size], raw)
        return raw[:size]

    def stream(self, word: int, skip: int = 0) -> RandomBits:
        """Return the bits of a word as a source; `skip`: so many of its bytes are used."""
        from cryptography.hazmat.primitives.ciphers import modes

        stream = _Stream(self._cipher(modes.CTR(
            self._names[word].tobytes() + bytes(_BLOCK - NAME_BYTES)), 0))
        if skip:
            stream.getrandbits(8 * skip)
        return stream


def _inside(lengths: Ints) -> Ints:
    """Return 0, 1, … of each length, one after the other."""
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.arange(len(begins)) - begins


def _empty_blocks(blocks: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Return a buffer for so many blocks, and the same as integers, shape (blocks, 4)."""
    raw = np.empty(_BLOCK * blocks + _MARGIN, np.uint8)
    return raw, raw[:_BLOCK * blocks].view('<u4').reshape(-1, 4)


class _Stream:
    """A source of random bits: zeros, encrypted."""

    def __init__(self, encryptor: Any):
        self._encryptor = encryptor

    def getrandbits(self, width: int, /) -> int:
        """Return an integer below 2^width."""
        size = -(-width // 8)
        raw = self._encryptor.update(bytes(size))
        return int.from_bytes(raw, 'little') >> (8 * size - width)


def chunks(offsets: Ints, size: int) -> Iterator[slice]:
    """Yield slices of words that hold at most `size` symbols, or one word, each."""
    begin, words = 0, len(offsets) - 1
    while begin < words:
        end = int(np.searchsorted(offsets, offsets[begin] + size, 'right')) - 1
        end = max(end, begin + 1)
        yield slice(begin, end)
        begin = end
