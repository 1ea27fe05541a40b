# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism over whole words (paper, Mechanisms 1 and 3), as one law."""
from collections.abc import Sequence
from fractions import Fraction
from math import log
from random import SystemRandom

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.distances import ChainWords, distance, numbers
from symdp_ros.core.offline.exponential_errors import exponential_distances, exponential_errors
from symdp_ros.core.offline.exponential_in_zones import ExponentialInZones
from symdp_ros.core.offline.model_backward import ModelSampler
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.word_arrays import WordBits


def law(chain: Chain, privacy: Privacy, random: RandomBits | None, *, base: str, trust: float,
        **_: object) -> Law:
    """
    Return the law of the selection 'exponential'.

    Where all words over one alphabet are feasible, and h is the same for all, it is the online
    mechanism's (`OfflineMechanism`); with zones there is a law for all chains.
    """
    if privacy.zones is not None:
        return ExponentialInZones(chain, privacy, trust if base == 'chain' else None, random)
    if chain.stores_edges:
        found = Exponential(chain, privacy, trust if base == 'chain' else None, random)
        if not (chain.is_alphabet and found.is_counting):
            return found
    return OnlineMechanism(chain, privacy, policy='paper', random=random).law


class Exponential(Law):
    """
    P[o] ∝ h(o)·R^{matches} on a chain that stores its edges.

    :param trust: the weight of the chain's P, for the base measure h (`core.models`); None: h = 1.
    :param sizes: of the loops.
    """

    loss_bound = 'range'

    def __init__(self, chain: Chain, privacy: Privacy, trust: float | None,
                 random: RandomBits | None = None, *, sizes: LoopSizes = LoopSizes()):
        self._chain, self._random = chain, random
        self._reachable = ReachableChain(chain, sizes)
        self._models = None if trust is None else chain.models(trust)
        epsilon, bits = privacy.epsilon_per_symbol, SystemRandom() if random is None else random
        self._sampler: BackwardSampler | ModelSampler
        if self._models is not None and len(self._models) > 1:
            self._sampler = ModelSampler(self._reachable, self._models, epsilon, bits)
            self._words = ChainWords(self._reachable)
            return
        weights = None
        if self._models is not None:
            weights = self._reachable.of_moves(chain, self._models.weights[0])
            if (weights == weights[0]).all():  # h is the same for all words
                self._models, weights = None, None
        self._sampler = BackwardSampler(self._reachable, epsilon, bits, weights)
        self._words = ChainWords(self._reachable, self._sampler.edges)

    @property
    def is_counting(self) -> bool:
        """Return whether h is the same for all feasible words."""
        return self._models is None

    def ratio(self, length: int) -> float:
        return self._sampler.ratio(length)

    likelihood_ratio = ratio

    def distance_steps(self, length: int) -> int:
        return length**2 * self._chain.edge_count

    def draw(self, word: Word) -> list[str]:
        label = self._words.label
        return [label[i] for i in self._sampler.draw(numbers(self._words, word))]

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        if bits is None:
            bits = WordBits.of_numbers(len(offsets) - 1, self._random)
        return self._sampler.draw_many(symbols, offsets, bits)

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        matches = len(word) - distance(word, output)
        index = self._chain.state_index
        route = [index[state] for state in (self._chain.initial_state, *output)]
        log_base = 0.0 if self._models is None else self._models.log_measure(route)
        return (log_base + matches * log(self.ratio(len(word)))
                - self._sampler.log_normalizer(numbers(self._words, word)))

    def distance_distribution(self, word: Word) -> Floats:
        if isinstance(self._sampler, ModelSampler):
            return exponential_distances(self._chain, word, self.ratio(len(word)), self._models)
        counts = self._words.counts(numbers(self._words, word))
        weights = counts.log - counts.present * log(self.ratio(len(word)))
        result = np.zeros(len(word) + 1)
        result[counts.present] = np.exp(weights - weights.max())
        result /= result.sum()
        return result

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        return self._sampler.probabilities(
            numbers(self._words, word), [numbers(self._words, output) for output in outputs])

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None]:
        found = exponential_errors(self._chain, columns, self.ratio(len(columns)), self._models,
                                   variances)
        assert found is not None  # every Z will do
        return found[:2]
