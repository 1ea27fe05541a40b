# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many words at once: the draws of the exponential mechanism in compiled loops."""
from math import prod

import numpy as np
from symdp_ros.core.annotations import Ints, RandomBits, ShortInts
from symdp_ros.core.draws.exact_draw import as_integers, draw_index
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.word_arrays import chunks, WordBits

_CHUNK = 1 << 18        # symbols drawn together: what they need stays in the cache


class ExponentialBatch:
    """
    Draws words from the exponential mechanism on a chain that is not complete.

    Words of like length are swept side by side. Where they cannot be (one exponent for each state
    is needed, or too much memory), they are drawn one by one.

    :param sampler: draws single words from the mechanism, on the same chain.
    """

    def __init__(self, chain: ReachableChain, sampler: BackwardSampler):
        self._chain, self._sampler = chain, sampler

    def draw(self, symbols: ShortInts, offsets: Ints, bits: WordBits) -> ShortInts:
        """As `core.online.online_batch.OnlineBatch.draw`."""
        lengths, out = np.diff(offsets), np.empty(len(symbols), np.int32)
        order = np.argsort(lengths, kind='stable')
        order = order[lengths[order] > 0]
        ends = np.cumsum(lengths[order])
        for some in chunks(np.concatenate([[0], ends]), _CHUNK):
            self._draw(symbols, offsets[order[some]], lengths[order[some]], bits[order[some]],
                       out)
        return out

    def _draw(self, symbols: ShortInts, begins: Ints, lengths: Ints, bits: WordBits,
              out: ShortInts) -> None:
        """Draw the words of ascending lengths that begin at `begins`."""
        from symdp_ros.core.offline.passes import kernels

        chain, longest = self._chain, int(lengths[-1])
        plan, lanes = self._sampler.plan(longest), kernels.LANES
        shape = longest, chain.reached(longest) + 1, lanes
        if plan.wide or plan.period > 1 or 8 * prod(shape) > chain.sizes.lanes_bytes:
            for i, (begin, length) in enumerate(zip(
                    begins.tolist(), lengths.tolist(), strict=True)):
                here = slice(begin, begin + length)
                word = chain.numbers[symbols[here] + 1].tolist()
                out[here] = chain.positions[self._sampler.draw(word, bits.stream(i))]
            return
        different, which = np.unique(lengths, return_inverse=True)
        ratios = np.array([self._sampler.ratio(length) for length in different.tolist()])[which]
        drawn = np.concatenate([[0], np.cumsum(lengths)])
        raw = bits.fill(lengths, np.uint64)
        more: dict[int, RandomBits] = {}  # of words
        W = np.empty(shape)
        group, groups = 0, -(-len(begins) // lanes)
        at, states = np.full(lanes, -1), np.ones(lanes, np.int64)
        while True:
            group = kernels.exponential(
                symbols, begins, lengths, ratios, drawn, raw, chain.numbers, chain.positions,
                self._sampler.edges, plan.rescale_every, W, group, at, states, out)
            if group == groups:
                return
            some = slice(group * lanes, (group + 1) * lanes)
            for lane, (begin, length, place) in enumerate(zip(
                    begins[some].tolist(), lengths[some].tolist(), drawn[some].tolist(),
                    strict=False)):
                if at[lane] < length:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
                    i = int(at[lane])
                    row = int(lengths[some][-1]) - length + i
                    weights = as_integers(*self._sampler.moves(W[row, :, lane], 0, states[lane]))
                    word = group * lanes + lane
                    stream = more.setdefault(word, bits.stream(word, 8 * length))
                    chosen = draw_index(weights, stream, int(raw[place + i]) >> 11, 53)
                    states[lane] = chain.successors(states[lane])[chosen]
                    out[begin + i] = chain.positions[states[lane]]
                    at[lane] += 1
