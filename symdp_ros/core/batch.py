"""
Many words at once: the draws of the online and the exponential mechanism in compiled loops.

Words stand one after another in one array of int32, the positions of their symbols in
`chain.states`, −1 for an unknown one; word i is symbols[offsets[i]:offsets[i+1]].

Randomness is a stream of AES-256 in counter mode under a key from the operating system, a new one
for each call: no state outlives the call, and nothing of it can be shared with a fork.
"""
import os
from math import prod

import numpy as np

from symdp_ros.core.backward import BackwardSampler
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import ConfigurationError, UnknownSymbolError
from symdp_ros.core.exact_draw import as_integers, draw_index
from symdp_ros.core.reachable import ReachableChain
from symdp_ros.core.response import Response
from symdp_ros.core.targets import DENSE_STATES

_MARGIN = 15              # bytes that cryptography asks for beyond what it writes, up to 42
_CHUNK = 1 << 18          # symbols drawn together: what they need stays in the cache
_LANES_BYTES = 1 << 25    # of weights; where more are needed, words are drawn one by one


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
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

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


class OnlineBatch:
    """
    Draws words from the online mechanism, in the same integers as `core.response` proves it for,
    scaled up to all of 32 or 64 bits.

    :param chain: the public chain.
    :param targets: the table of targets, or None where every target is the symbol itself.
    :param width: 30 or 60, the bits that the responses were fitted to.
    :param responses: the `Response` for each number of successors.
    """

    def __init__(self, chain: Chain, targets, width: int, responses: dict[int, Response]):
        from symdp_ros.core import online_kernel

        self._chain = chain
        self._dtype = {30: np.uint32, 60: np.uint64}[width]
        n = len(chain)
        rows = {count: self._row(response) for count, response in responses.items()}
        empty = np.zeros(1, self._dtype)
        if chain.is_complete:
            self._rows = np.array([rows[n]], self._dtype)
            self._targets = np.arange(n, dtype=self._dtype)
            self._aims = online_kernel.IDENTITY, empty, empty, empty
            return
        offsets, edges = chain.csr()
        self._rows = np.array([rows[count] for count in chain.out_degrees().tolist()], self._dtype)
        self._rows[:, online_kernel.OFFSET] = offsets[:-1]
        self._targets = edges.astype(self._dtype)
        if n <= DENSE_STATES:
            table = np.zeros((n, n + 1), self._dtype)
            if targets is None:
                sources = np.repeat(np.arange(n), np.diff(offsets))
                table[sources, edges + 1] = 1 + np.arange(len(edges))
            else:
                for o in range(n):
                    codes = np.asarray(memoryview(targets.row(o))).astype(self._dtype)
                    aims = np.where(codes > 0, codes + self._dtype(offsets[o]), 0)
                    table[o, 1:] = aims[:-1]  # the last code is that of the unknown symbol
            self._aims = online_kernel.TABLE, table.ravel(), empty, empty
        elif targets is None:
            sources = np.repeat(np.arange(n), np.diff(offsets))
            order = np.lexsort((edges, sources))
            self._aims = (online_kernel.SEARCH, (1 + order).astype(self._dtype),
                          offsets.astype(self._dtype), self._targets[order] + self._dtype(1))
        else:
            first, symbols, codes = targets.pairs()
            aims = codes + np.repeat(offsets[:-1], np.diff(first))
            self._aims = (online_kernel.SEARCH, np.where(codes > 0, aims, 0).astype(self._dtype),
                          first.astype(self._dtype), (symbols + 1).astype(self._dtype))

    def _row(self, response):
        """Return the integers of a response for draws from the whole type, as in `Response`."""
        count, a, total = response.count, response.a, response.total
        scale = np.iinfo(self._dtype).max // (count * total)
        return [scale * count * total - 1, scale * count * count * a, scale * total,
                scale * count * a, 0]

    def draw(self, symbols: np.ndarray, offsets: np.ndarray, random=None) -> np.ndarray:
        """
        Return private words for some words.

        :param random: for tests, an object with `getrandbits`.
        :return: int32, shape (total,).
        """
        out = np.empty(len(symbols), np.int32)
        stream = RandomStream(random)
        raw = np.empty(0, self._dtype)
        for some in _chunks(offsets, _CHUNK):
            begin, end = offsets[some.start], offsets[some.stop]
            if len(raw) < end - begin:
                raw = np.empty(end - begin, self._dtype)
            self._draw(symbols[begin:end], offsets[some.start:some.stop + 1] - begin,
                       raw[:end - begin], stream, out[begin:end])
        return out

    def _draw(self, symbols, offsets, raw, stream, out):
        from symdp_ros.core import online_kernel

        initial = self._chain.state_index[self._chain.initial_state]
        first = np.zeros(len(symbols), np.uint8)
        first[offsets[:-1][offsets[:-1] < offsets[1:]]] = 1
        lanes = online_kernel.LANES
        cuts = np.searchsorted(offsets, np.arange(1, lanes) * len(symbols) // lanes)
        segments = np.concatenate([[0], offsets[cuts], [len(symbols)]])
        states, at = np.zeros(lanes, self._dtype), np.zeros(2, np.int64)
        stream.fill(raw)
        spare = np.empty(64 + len(symbols) // 32, self._dtype)
        done = False
        while not done:
            done = online_kernel.online(
                symbols, first, segments, raw, stream.fill(spare), *self._aims,
                self._rows, self._targets, initial, at, states, out.view(np.uint32))


class ExponentialBatch:
    """
    Draws words from the exponential mechanism on a chain that is not complete.

    Words of like length are swept side by side. Where they cannot be (one exponent for each state
    is needed, or too much memory), they are drawn one by one.

    :param chain: the public chain.
    :param sampler: draws single words from the mechanism, on the same chain.
    """

    def __init__(self, chain: ReachableChain, sampler: BackwardSampler):
        self._chain, self._sampler = chain, sampler

    def draw(self, symbols: np.ndarray, offsets: np.ndarray, random=None) -> np.ndarray:
        """As `OnlineBatch.draw`."""
        stream, lengths = RandomStream(random), np.diff(offsets)
        out = np.empty(len(symbols), np.int32)
        order = np.argsort(lengths, kind='stable')
        order = order[lengths[order] > 0]
        ends = np.cumsum(lengths[order])
        for some in _chunks(np.concatenate([[0], ends]), _CHUNK):
            self._draw(symbols, offsets[order[some]], lengths[order[some]], stream, out)
        return out

    def _draw(self, symbols, begins, lengths, stream, out):
        """Draw the words of ascending lengths that begin at `begins`."""
        from symdp_ros.core import kernels

        chain, longest = self._chain, int(lengths[-1])
        plan, lanes = self._sampler.plan(longest), kernels.LANES
        shape = longest, chain.reached(longest) + 1, lanes
        if plan.wide or plan.period > 1 or 8 * prod(shape) > _LANES_BYTES:
            for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
                here = slice(begin, begin + length)
                word = chain.numbers[symbols[here] + 1]
                out[here] = chain.positions[self._sampler.draw(word, stream)]
            return
        different, which = np.unique(lengths, return_inverse=True)
        ratios = np.array([self._sampler.ratio(length) for length in different.tolist()])[which]
        drawn = np.concatenate([[0], np.cumsum(lengths)])
        bits = stream.fill(np.empty(drawn[-1], np.uint64))
        W = np.empty(shape)
        group, groups = 0, -(-len(begins) // lanes)
        at, states = np.full(lanes, -1), np.ones(lanes, np.int64)
        while True:
            group = kernels.exponential(
                symbols, begins, lengths, ratios, drawn, bits, chain.numbers, chain.positions,
                chain.targets, chain.offsets, chain.reach, plan.rescale_every, W, group, at, states,
                out)
            if group == groups:
                return
            some = slice(group * lanes, (group + 1) * lanes)
            for lane, (begin, length, place) in enumerate(zip(
                    begins[some].tolist(), lengths[some].tolist(), drawn[some].tolist(),
                    strict=False)):
                if at[lane] < length:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
                    i = int(at[lane])
                    row = int(lengths[some][-1]) - length + i
                    successors = chain.successors(states[lane])
                    weights = as_integers(*np.frexp(W[row, successors, lane]))
                    chosen = draw_index(weights, stream, int(bits[place + i]) >> 11, 53)
                    states[lane] = successors[chosen]
                    out[begin + i] = chain.positions[states[lane]]
                    at[lane] += 1


def _chunks(offsets, size):
    """Yield slices of words that hold about `size` symbols each."""
    begin, words = 0, len(offsets) - 1
    while begin < words:
        end = int(np.searchsorted(offsets, offsets[begin] + size, 'right')) - 1
        end = min(max(end, begin + 1), words)
        yield slice(begin, end)
        begin = end
