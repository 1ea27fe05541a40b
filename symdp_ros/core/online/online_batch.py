# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many words at once: the tables and the draws of the online mechanism for its loops."""
import numpy as np
from symdp_ros.core.annotations import Ints, Numbers, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import batch_in_numpy, in_c
from symdp_ros.core.online.batch_in_numpy import IDENTITY, LANES, LAST, OFFSET, SEARCH, TABLE
from symdp_ros.core.online.response import Response
from symdp_ros.core.online.targets import DENSE_STATES, SparseTargets, Targets
from symdp_ros.core.word_arrays import chunks, WordBits

_TOGETHER = 1 << 19  # symbols


class OnlineBatch:
    """
    Draws words from the online mechanism.

    In the integers of the proof in `core.online.response`, scaled up to all of 32 or 64 bits.

    :param chain: the public chain.
    :param targets: the table of targets, or None where every target is the symbol itself.
    :param width: 30 or 60, the bits that the responses were fitted to.
    :param responses: the `Response` for each number of successors.
    """

    def __init__(self, chain: Chain, targets: Targets | None, width: int,
                 responses: dict[int, Response]):
        self._chain = chain
        self._dtype: type[np.uint32 | np.uint64] = np.uint32 if width == 30 else np.uint64
        n = len(chain)
        self._aims: tuple[int, Numbers, Numbers, Numbers]
        rows = {count: self._row(response) for count, response in responses.items()}
        empty: Numbers = np.zeros(1, np.uint32)
        if not chain.stores_edges:
            self._rows: Numbers = np.array([rows[n]], np.uint64)
            self._targets: Numbers = np.arange(n, dtype=np.uint32)
            self._aims = IDENTITY, empty, empty, empty
            return
        offsets, edges = chain.csr()
        self._rows = np.array([rows[count] for count in chain.out_degrees().tolist()], np.uint64)
        self._rows[:, OFFSET] = offsets[:-1]
        self._targets = edges.astype(np.uint32)
        if n <= DENSE_STATES:
            table: Numbers = np.zeros((n, n + 1), np.uint32)
            if targets is None:
                sources = np.repeat(np.arange(n), np.diff(offsets))
                table[sources, edges + 1] = 1 + np.arange(len(edges))
            else:
                for o in range(n):
                    codes: Numbers = np.asarray(memoryview(targets.row(o))).astype(np.uint32)
                    aims = np.where(codes > 0, codes + np.uint32(offsets[o]), 0)
                    table[o, 1:] = aims[:-1]  # the last code is that of the unknown symbol
            self._aims = TABLE, table.ravel(), empty, empty
        elif targets is None:
            sources = np.repeat(np.arange(n), np.diff(offsets))
            order = np.lexsort((edges, sources))
            self._aims = (SEARCH, (1 + order).astype(np.uint32), offsets.astype(np.uint32),
                          self._targets[order] + np.uint32(1))
        elif isinstance(targets, SparseTargets):
            first, symbols, some = targets.pairs()
            aims = some + np.repeat(offsets[:-1], np.diff(first))
            self._aims = (SEARCH, np.where(some > 0, aims, 0).astype(np.uint32),
                          first.astype(np.uint32), (symbols + 1).astype(np.uint32))

    def _row(self, response: Response) -> list[int]:
        """Return the integers of a response for draws from the whole type, as in `Response`."""
        response = Response.of_weights(response.count, response.a, response.b,
                                       int(np.iinfo(self._dtype).max))
        return [response.limit - 1, response.weight, response.cut, 0]

    def draw(self, symbols: ShortInts, offsets: Ints, bits: WordBits,
             together: int = _TOGETHER) -> ShortInts:
        """
        Return private words for some words.

        :param bits: of the words.
        :param together: at most so many symbols are drawn at once, or one word.
        :return: int32, shape (total,).
        """
        out = np.empty(len(symbols), np.int32)
        for some in chunks(offsets, together):
            begin, end = offsets[some.start], offsets[some.stop]
            self._draw(symbols[begin:end], offsets[some.start:some.stop + 1] - begin,
                       bits[some], out[begin:end])
        return out

    def _draw(self, symbols: ShortInts, offsets: Ints, bits: WordBits, out: ShortInts) -> None:
        initial = self._chain.state_index[self._chain.initial_state]
        lengths = np.diff(offsets)
        first = np.zeros(len(symbols), np.uint8)
        first[offsets[:-1][lengths > 0]] = 1
        cuts = np.searchsorted(offsets, np.arange(1, LANES) * len(symbols) // LANES)
        segments = np.concatenate([[0], offsets[cuts], [len(symbols)]])
        raw = bits.fill(lengths, self._dtype)
        places, again = bits.fill_again(raw, offsets, int(self._rows[:, LAST].min()))
        (in_c.compiled or batch_in_numpy).draw(
            symbols, first, segments, self._dtype is np.uint64, raw, places, again, *self._aims,
            self._rows, self._targets, initial, out.view(np.uint32))
