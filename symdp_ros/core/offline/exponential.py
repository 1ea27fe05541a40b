# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism over whole words (paper, Mechanisms 1 and 3), as one law."""
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import ceil, inf, log, prod, sqrt
from random import SystemRandom

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Weights, Word
from symdp_ros.core.base_measure import move_weights
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.distances import ChainWords
from symdp_ros.core.offline.exponential_batch import ExponentialBatch
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain
from symdp_ros.core.offline.words import distance, numbers
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.online.moments import forward, Move
from symdp_ros.core.privacy import Privacy


_SMALLEST = 1e-290  # weight, over the largest at its position, that floats hold with all digits
_NOTHING = 1e-18    # probability that is left out of a sum


def law(chain: Chain, privacy: Privacy, random: RandomBits | None, *, base: str, trust: float,
        **_: object) -> Law:
    """
    Return the law of the selection 'exponential'.

    Where all words over one alphabet are feasible, and h is the same for all, it is the online
    mechanism's (`OfflineMechanism`).
    """
    if chain.stores_edges:
        found = Exponential(chain, privacy, trust if base == 'chain' else None, random)
        if not (chain.is_alphabet and found.is_counting):
            return found
    return OnlineMechanism(chain, privacy, policy='paper', random=random).law


class Exponential(Law):
    """
    P[o] ∝ h(o)·R^{matches} on a chain that stores its edges.

    :param trust: of the base measure h of the chain (`core.base_measure`); None: h = 1.
    :param sizes: of the loops.
    """

    loss_bound = 'range'

    def __init__(self, chain: Chain, privacy: Privacy, trust: float | None,
                 random: RandomBits | None = None, *, sizes: LoopSizes = LoopSizes()):
        self._chain, self._random = chain, random
        self._reachable = ReachableChain(chain, sizes)
        self._weights, weights = None, None
        if trust is not None:
            self._weights = move_weights(chain, trust)
            weights = self._reachable.of_moves(chain, self._weights)
            if (weights == weights[0]).all():  # h is the same for all words
                self._weights, weights = None, None
        self._sampler = BackwardSampler(self._reachable, privacy.epsilon_per_symbol,
                                        SystemRandom() if random is None else random, weights)
        self._words = ChainWords(self._reachable, self._sampler.edges)
        self._batch = ExponentialBatch(self._reachable, self._sampler)

    @property
    def is_counting(self) -> bool:
        """Return whether h is the same for all feasible words."""
        return self._weights is None

    def ratio(self, length: int) -> float:
        return self._sampler.ratio(length)

    likelihood_ratio = ratio

    def distance_steps(self, length: int) -> int:
        return length**2 * self._chain.edge_count

    def draw(self, word: Word) -> list[str]:
        label = self._words.label
        return [label[i] for i in self._sampler.draw(numbers(self._words, word))]

    def draw_many(self, symbols: ShortInts, offsets: Ints) -> ShortInts:
        return self._batch.draw(symbols, offsets, self._random)

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        matches = len(word) - distance(word, output)
        return (self._log_base(output) + matches * log(self.ratio(len(word)))
                - self._sampler.log_normalizer(numbers(self._words, word)))

    def _log_base(self, output: Sequence[str]) -> float:
        """Return ln h of a feasible output."""
        if self._weights is None:
            return 0.0
        index = self._chain.state_index
        offsets, targets = self._chain.csr()
        total, here = 0.0, index[self._chain.initial_state]
        for there in map(index.__getitem__, output):
            row = targets[offsets[here]:offsets[here + 1]]
            total += log(self._weights[offsets[here] + int(np.argmax(row == there))])
            here = there
        return total

    def distance_distribution(self, word: Word) -> Floats:
        counts = self._words.counts(numbers(self._words, word))
        weights = counts.log - counts.present * log(self.ratio(len(word)))
        result = np.zeros(len(word) + 1)
        result[counts.present] = np.exp(weights - weights.max())
        result /= result.sum()
        return result

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        """By equation (2) of `core.offline.backward`, from the weights in float64."""
        number, initial = self._reachable.number, self._chain.initial_state
        steps = self._sampler.chances(numbers(self._words, word))
        return [prod((step[number[before], number[o]] for step, before, o in zip(
            steps, (initial, *output), output, strict=False)), start=Fraction(1))
            for output in outputs]

    def errors(self, columns: Ints, variances: bool = True) -> tuple[Floats, Floats | None]:
        found = exponential_errors(self._chain, columns, self.ratio(len(columns)), self._weights,
                                   variances)
        assert found is not None  # every Z will do
        return found[:2]


class _TooWide(Exception):
    """Weights at one position are too far apart for floats; raised and caught here alone."""


def exponential_errors(chain: Chain, columns: Ints, ratio: float, base: Weights | None,
                       variances: bool = True, least: float = -inf
                       ) -> tuple[Floats, Floats | None, Floats] | None:
    """
    Return errors and variances as `core.law.Law.errors`, and ln Z of each word.

    None, early, where no word has a ln Z of at least `least`.

    From o_{t−1} the mechanism moves to o_t with a probability proportional to
    h(o_t|o_{t−1})·b_t(o_t)·V_t(o_t) (`core.offline.backward`). V is kept at every √n-th position;
    those between are computed again. Where a float cannot hold it, its logarithm is kept.

    :param ratio: R.
    :param base: h of each move in the order of `chain.csr()`; None: h = 1.
    """
    for moves_of in _moves, _logarithmic_moves:
        try:
            log_sums, moves = moves_of(chain, columns, ratio, base)
            return (None if (log_sums < least).all() else
                    (*forward(chain, columns, moves, variances), log_sums))
        except _TooWide:
            continue
    raise AssertionError  # logarithms are never too wide


def _moves(chain: Chain, columns: Ints, ratio: float,
           base: Weights | None) -> tuple[Floats, Iterator[Move]]:
    from scipy.sparse import csr_array

    n, (length, count) = len(chain), columns.shape
    offsets, successors = chain.csr()
    weights = np.ones(len(successors)) if base is None else base.astype(np.float64)
    matrix = csr_array((weights, successors, offsets), shape=(n, n))
    transposed = csr_array(matrix.T)

    def weighed(after: Floats, t: int) -> Floats:
        """Return b_t·V_t."""
        found: Floats = after.copy()
        known = np.flatnonzero(columns[t] < n)
        found[columns[t, known], known] *= ratio
        return found

    def back(after: Floats, t: int) -> tuple[Floats, Floats]:
        """Return V before position t over its largest, and ln of that."""
        before: Floats = matrix @ weighed(after, t)
        highest: Floats = before.max(axis=0)
        if (highest < _SMALLEST).any():
            raise _TooWide
        before /= highest
        return before, np.log(highest)

    def move_at(after: Floats, t: int) -> Move:
        there = weighed(after, t)
        sums = matrix @ there
        lost = sums < _SMALLEST
        sums[lost] = np.inf

        def move(mass: Floats) -> Floats:
            if (np.abs(mass[lost]) > _NOTHING).any():
                raise _TooWide
            moved: Floats = there * (transposed @ (mass / sums))
            return moved

        return move

    values, log_scale, moves = _swept(length, np.ones((n, count)), back, move_at)
    start = values[chain.state_index[chain.initial_state]]
    if (start < _SMALLEST).any():
        raise _TooWide
    return log_scale + np.log(start), moves


def _logarithmic_moves(chain: Chain, columns: Ints, ratio: float,
                       base: Weights | None) -> tuple[Floats, Iterator[Move]]:
    """As `_moves`, by the logarithm of V."""
    from scipy.sparse import csr_array

    n, (length, count) = len(chain), columns.shape
    offsets, successors = chain.csr()
    starts, degrees = offsets[:-1], np.diff(offsets)
    onto = csr_array((np.ones(len(successors)), (successors, np.arange(len(successors)))),
                     shape=(n, len(successors)))
    each_row = csr_array((np.ones(len(successors)), np.arange(len(successors)), offsets),
                         shape=(n, len(successors)))  # adds up faster than `reduceat` does
    words = np.arange(count)
    log_base = None if base is None else np.log(base.astype(np.float64))[:, None]

    def weighed(after: Floats, t: int) -> tuple[Floats, Floats]:
        """Return h(s'|s)·b_t(s')·V_t(s') of each edge over the row's largest, and ln of that."""
        weights = np.append(after, np.full((1, count), -inf), axis=0)
        weights[columns[t], words] += log(ratio)
        weights = weights[successors]
        if log_base is not None:
            weights += log_base
        largest = np.maximum.reduceat(weights, starts)
        return np.exp(weights - np.repeat(largest, degrees, axis=0)), largest

    def back(after: Floats, t: int) -> tuple[Floats, Floats]:
        """Return ln V before position t over its largest, and that."""
        weights, largest = weighed(after, t)
        before: Floats = largest + np.log(each_row @ weights)
        highest: Floats = before.max(axis=0)
        return before - highest, highest

    def move_at(after: Floats, t: int) -> Move:
        chances, _ = weighed(after, t)
        chances /= np.repeat(each_row @ chances, degrees, axis=0)

        def move(mass: Floats) -> Floats:
            moved: Floats = onto @ (chances * np.repeat(mass, degrees, axis=0))
            return moved

        return move

    values, log_scale, moves = _swept(length, np.zeros((n, count)), back, move_at)
    return log_scale + values[chain.state_index[chain.initial_state]], moves


def _swept(length: int, values: Floats, back: Callable[[Floats, int], tuple[Floats, Floats]],
           move_at: Callable[[Floats, int], Move]) -> tuple[Floats, Floats, Iterator[Move]]:
    """
    Return V before the first position, the ln of what it was divided by, and the moves.

    :param values: V after the last position, as all that follows: itself, or its logarithm.
    :param back: from V after a position to V before it, and ln of what it was divided by.
    :param move_at: from V after a position to the move there.
    """
    spacing = max(1, ceil(sqrt(length)))
    kept, log_scale = dict[int, Floats](), np.zeros(values.shape[1])
    for t in range(length - 1, -1, -1):
        if t % spacing == spacing - 1 or t == length - 1:
            kept[t] = values
        values, log_divisor = back(values, t)
        log_scale += log_divisor

    def moves() -> Iterator[Move]:
        for begin in range(0, length, spacing):
            end = min(begin + spacing, length)
            after = [kept.pop(end - 1)]
            for t in range(end - 1, begin, -1):
                after.append(back(after[-1], t)[0])
            for t in range(begin, end):
                yield move_at(after.pop(), t)

    return values, log_scale, moves()
