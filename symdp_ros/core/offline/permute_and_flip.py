# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Permute-and-flip over whole words, as one law."""
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log
from random import SystemRandom

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.exact_draw import draw_below
from symdp_ros.core.law import Law
from symdp_ros.core.mechanism import MOST_COUNTING_STEPS
from symdp_ros.core.models import counting_model
from symdp_ros.core.offline.backward import match_ratio, WordSampler
from symdp_ros.core.offline.distances import (AlphabetWords, ChainWords, Counts, distance,
                                              numbers)
from symdp_ros.core.offline.exponential_errors import exponential_errors
from symdp_ros.core.offline.noisy_maximum import draw_distance, log_probabilities, rounding_reserve
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.word_arrays import WordBits

_MANY_WORDS = 22.0  # ln Z, from which on 2/Z is below 10⁻⁹


def law(chain: Chain, privacy: Privacy, random: RandomBits | None, **_: object) -> Law:
    """Return the law of the selection 'permute_and_flip'."""
    return PermuteAndFlip(chain, privacy, random)


class PermuteAndFlip(Law):
    """The noisy maximum of −d(w, o) (`core.offline.noisy_maximum`)."""

    loss_bound = 'pure'

    def __init__(self, chain: Chain, privacy: Privacy, random: RandomBits | None = None):
        self._chain = chain
        self._random = SystemRandom() if random is None else random
        self._epsilon_per_symbol = privacy.epsilon_per_symbol
        self._kept_counts: dict[tuple[str | None, ...], Counts] | None = None
        self._words: AlphabetWords | ChainWords
        #: draws feasible words uniformly, without looking at the word
        self._uniform: WordSampler | None = None
        if chain.is_alphabet:
            self._words = AlphabetWords(chain)
        else:
            reachable = ReachableChain(chain)
            self._words = ChainWords(reachable)
            self._uniform = WordSampler(reachable, counting_model(*chain.csr()), Fraction(0),
                                        self._random)

    def counting_steps(self, length: int) -> int:
        return length if self._uniform is None else length**2 * self._chain.edge_count

    def keep_counts(self, counts: dict[tuple[str | None, ...], Counts]) -> None:
        self._kept_counts = counts

    def distance_steps(self, length: int) -> int:
        return self.counting_steps(length)

    def ratio(self, length: int) -> float:
        reserve = rounding_reserve(self._words.rounding(length), length,
                                   self._words.most_successors, self._epsilon_per_symbol)
        return match_ratio(self._epsilon_per_symbol, reserve)

    def draw(self, word: Word, random: RandomBits | None = None) -> list[str]:
        ratio, random = self.ratio(len(word)), random or self._random
        if ratio == 1:
            output = self._draw_uniformly(len(word), random)
        else:
            chosen = draw_distance(self._counts(word), ratio, random)
            output = self._words.draw(numbers(self._words, word), chosen, random)
        return [self._words.label[i] for i in output]

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        states, index = (*self._chain.states, None), self._chain.state_index  # −1 is the last
        if bits is None:
            bits = WordBits.of_numbers(len(offsets) - 1, self._random)
        out = np.empty(len(symbols), np.int32)
        for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
            word = self.draw([states[i] for i in symbols[begin:end].tolist()], bits.stream(i))
            out[begin:end] = [index[symbol] for symbol in word]
        return out

    def _draw_uniformly(self, length: int, random: RandomBits) -> list[int]:
        if self._uniform is not None:
            found: list[int] = self._uniform.draw(self._uniform.word([0] * length),
                                                  random).tolist()
            return found
        return [1 + draw_below(self._words.most_successors, random) for _ in range(length)]

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        return float(self._log_probabilities(tuple(word))[distance(word, output)])

    @cached_property
    def _log_probabilities(self) -> Callable[[tuple[str | None, ...]], Floats]:
        @lru_cache(maxsize=1)  # often asked for one output after another
        def of(word: tuple[str | None, ...]) -> Floats:
            return log_probabilities(self._counts(word), self.ratio(len(word)))

        return of

    def _counts(self, word: Word) -> Counts:
        if self._kept_counts is None:
            return self._words.counts(numbers(self._words, word))
        key = tuple(word)
        if key not in self._kept_counts:
            self._kept_counts[key] = self._words.counts(numbers(self._words, word))
        return self._kept_counts[key]

    def distance_distribution(self, word: Word) -> Floats:
        counts = self._counts(word)
        result = np.zeros(len(word) + 1)
        logs = self._log_probabilities(tuple(word))[counts.present]
        result[counts.present] = np.exp(counts.log + logs)
        result /= result.sum()
        return result

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None] | None:
        """
        Return those of the exponential mechanism, with R and h = 1, where no float differs.

        With p_o = R^{−(d(w, o) − d_min)}, Z the sum of all p_o and Q ≤ Z that of their squares,
        equation (2) of `core.offline.noisy_maximum` is P[o] = p_o ∫₀¹ Π_{r≠o} (1 − p_r x) dx,
        at least p_o ∫₀^{1/2} e^{−xZ}(1 − x²Q) dx ≥ p_o/Z·(1 − e^{−Z/2} − 2/Z). The exponential
        mechanism has p_o/Z: so the two differ by 2/Z + e^{−Z/2} in total variation, and as much at
        each position. Z is at least Σ_o R^{matches(w, o)} / R^n.
        """
        length = len(columns)
        if self._uniform is None or self.counting_steps(length) > MOST_COUNTING_STEPS:
            return None
        ratio = self.ratio(length)
        least = _MANY_WORDS + length * log(ratio)
        found = exponential_errors(self._chain, columns, ratio, None, variances, least)
        if found is None:
            return None
        errors, variance, log_sums = found
        few = log_sums < least
        errors[:, few] = np.nan
        if variance is not None:
            variance[few] = np.nan
        return errors, variance
