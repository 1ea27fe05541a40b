# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism over whole words (paper, Mechanisms 1 and 3), as one law."""
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, inf, log, prod, sqrt
from random import SystemRandom

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.batch import ExponentialBatch
from symdp_ros.core.offline.distances import ChainWords
from symdp_ros.core.offline.moments import forward, Move
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.offline.words import distance, numbers
from symdp_ros.core.privacy import Privacy


class Exponential:
    """P[o] ∝ R^{matches} on a chain that is no alphabet (a `core.law.Law`)."""

    online = None

    def __init__(self, chain: Chain, privacy: Privacy, random: RandomBits | None = None):
        self._chain, self._random = chain, random
        self._reachable = ReachableChain(chain)
        self._words = ChainWords(self._reachable)
        self._sampler = BackwardSampler(self._reachable, privacy.epsilon_per_symbol,
                                        SystemRandom() if random is None else random)
        self._batch = ExponentialBatch(self._reachable, self._sampler)

    def ratio(self, length: int) -> float:
        return self._sampler.ratio(length)

    likelihood_ratio = ratio

    def counting_steps(self, length: int) -> int:
        return 0

    def distance_steps(self, length: int) -> int:
        return length**2 * self._chain.edge_count

    def draw(self, word: Word) -> list[str]:
        label = self._words.label
        return [label[i] for i in self._sampler.draw(numbers(self._words, word))]

    def draw_many(self, symbols: ShortInts, offsets: Ints) -> ShortInts:
        return self._batch.draw(symbols, offsets, self._random)

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        matches = len(word) - distance(word, output)
        return (matches * log(self.ratio(len(word)))
                - self._sampler.log_normalizer(numbers(self._words, word)))

    def distance_distribution(self, word: Word) -> Floats:
        counts = self._words.counts(numbers(self._words, word))
        weights = counts.log - counts.present * log(self.ratio(len(word)))
        result = np.zeros(len(word) + 1)
        result[counts.present] = np.exp(weights - weights.max())
        result /= result.sum()
        return result

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        """By equation (2) of `core.offline.backward`, from the weights in float64."""
        chain, number = self._reachable, self._reachable.number
        weights = self._sampler.weights(numbers(self._words, word))
        steps = [{(before, o): row[o] / sum(row[s] for s in chain.successors(before).tolist())
                  for before in known for o in chain.successors(before).tolist()}
                 for known, row in zip(([1], *weights), weights, strict=False)]
        initial = self._chain.initial_state
        return [prod((step[number[before], number[o]] for step, before, o in zip(
            steps, (initial, *output), output, strict=False)), start=Fraction(1))
            for output in outputs]

    def errors(self, columns: Ints, variances: bool = True) -> tuple[Floats, Floats | None]:
        moves = _moves(self._chain, columns, log(self.ratio(len(columns))))
        return forward(self._chain, columns, moves, variances)


def _moves(chain: Chain, columns: Ints, log_ratio: float) -> Iterator[Move]:
    """
    Yield the moves of the exponential mechanism, for `core.offline.moments`.

    It moves from o_{t−1} to o_t with a probability proportional to b_t(o_t)·V_t(o_t)
    (`core.offline.backward`). Here V is kept by its logarithm: at every √n-th position; those
    between are computed again.
    """
    from scipy.sparse import csr_array

    n, (length, count) = len(chain), columns.shape
    offsets, successors = chain.csr()
    starts, degrees = offsets[:-1], np.diff(offsets)
    onto = csr_array((np.ones(len(successors)), (successors, np.arange(len(successors)))),
                     shape=(n, len(successors)))
    each_row = csr_array((np.ones(len(successors)), np.arange(len(successors)), offsets),
                         shape=(n, len(successors)))  # adds up faster than `reduceat` does
    words = np.arange(count)

    def weighed(after: Floats, t: int) -> tuple[Floats, Floats]:
        """Return b_t(s')V_t(s') for each edge over the largest of its row, and ln of that."""
        weights = np.append(after, np.full((1, count), -inf), axis=0)
        weights[columns[t], words] += log_ratio
        weights = weights[successors]
        largest = np.maximum.reduceat(weights, starts)
        return np.exp(weights - np.repeat(largest, degrees, axis=0)), largest

    def back(after: Floats, t: int) -> Floats:
        weights, largest = weighed(after, t)
        before: Floats = largest + np.log(each_row @ weights)
        before -= before.max(axis=0)
        return before

    spacing = max(1, ceil(sqrt(length)))
    kept = {}
    values = np.zeros((n, count))
    for t in range(length - 1, -1, -1):
        if t % spacing == spacing - 1 or t == length - 1:
            kept[t] = values  # ln V after position t, from 0
        values = back(values, t)
    for begin in range(0, length, spacing):
        end = min(begin + spacing, length)
        after = [kept.pop(end - 1)]
        for t in range(end - 1, begin, -1):
            after.append(back(after[-1], t))
        for t in range(begin, end):
            chances, _ = weighed(after.pop(), t)
            chances /= np.repeat(each_row @ chances, degrees, axis=0)

            def move(mass: Floats, chances: Floats = chances) -> Floats:
                moved: Floats = onto @ (chances * np.repeat(mass, degrees, axis=0))
                return moved

            yield move
