# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism over whole words (paper, Mechanisms 1 and 3), as one law.

**Privacy** (the draws and their rounding: `core.offline.backward`). For adjacent words h(o) is the
same, R^{matches} differs by a factor of at most R^k, and so does its sum over the words that can
be drawn: with 2k·ln R ≤ ε no probability differs by more than e^ε.

With zones (`core.zones`), a word has at each position the zone of its symbol; an unknown symbol
that of the one before. Words are drawn among O(w), the feasible words whose t-th state lies in
zone_t wherever a route has it. If w and w' are adjacent, at each place both symbols lie in one
zone. Then the zones told are the same, so R_t is, a function of them, and O(w) = O(w'). (Words of
other zones have outputs of which none is common, where both have routes: the zones are told.)
Where all words over one alphabet are feasible and h is the same for all, P[o] is a product of one
factor for each position, b_t(o_t) over a sum that is R + N_t − 1, or N_t where w_t is no such
state: randomized response, for which k factors differ by at most R (`core.online.response`,
Claim). There ln R ≤ ε/k will do.
"""
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf, log
from random import SystemRandom

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.models import counting_model, Models
from symdp_ros.core.offline.backward import WordSampler
from symdp_ros.core.offline.exponential_errors import exponential_distances, exponential_errors
from symdp_ros.core.offline.passes import PassWord
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain
from symdp_ros.core.offline.zone_words import ZoneWords
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.word_arrays import WordBits
from symdp_ros.errors import ConfigurationError


def law(chain: Chain, privacy: Privacy, random: RandomBits | None, *, base: str, trust: float,
        **_: object) -> Law:
    """
    Return the law of the selection 'exponential'.

    Where all words over one alphabet are feasible, and h is the same for all, it is the online
    mechanism's (`OfflineMechanism`); with zones there is a law for all chains.
    """
    if chain.stores_edges or privacy.zones is not None or base == 'chain':
        exponential = Exponential(chain, privacy, trust if base == 'chain' else None, random)
        if privacy.zones is not None or not (chain.is_alphabet and exponential.is_counting):
            return exponential
    return OnlineMechanism(chain, privacy, policy='paper', random=random).law


class Exponential(Law):
    """
    P[o] ∝ h(o)·R^{matches}.

    :param trust: the weight of the chain's P, for the base measure h (`core.models`); None: h = 1.
    :param sizes: of the loops.
    :raises ConfigurationError: the chain stores no edges, and there are zones, or h = 1.
    """

    loss_bound = 'range'

    def __init__(self, chain: Chain, privacy: Privacy, trust: float | None,
                 random: RandomBits | None = None, *, sizes: LoopSizes = LoopSizes()):
        if not chain.stores_edges and (privacy.zones is not None or trust is None):
            raise ConfigurationError('with zones, a chain made by Chain.complete cannot be used: '
                                     'list its moves', setting='zones')
        self._chain, self._random = chain, random
        self._zone_of = None if privacy.zones is None else privacy.zones.numbers(chain)
        self._reachable = ReachableChain(chain, sizes, self._zone_of)
        initial = chain.state_index[chain.initial_state]
        self._zones: ZoneWords | None = None
        if self._zone_of is not None:
            self._zones = ZoneWords(self._reachable, self._zone_of, initial)
        models = counting_model(*chain.csr()) if trust is None else chain.models(trust)
        #: whether h is the same for all feasible words
        self.is_counting = len(models) == 1 and self._is_even(models)
        if self.is_counting and chain.stores_edges:
            models = counting_model(*chain.csr())
        self._models = models
        is_response = self._zones is not None and self.is_counting and chain.is_alphabet
        if is_response:
            self.loss_bound = 'symbols'
        self._sampler = WordSampler(self._reachable, self._models, privacy.epsilon_per_symbol,
                                    SystemRandom() if random is None else random, is_response)

    def _is_even(self, models: Models) -> bool:
        """Return whether all moves that a word can make weigh the same."""
        weights = self._reachable.moves(models).weights[:, 0]
        return bool((weights == weights[0]).all())

    def ratio(self, length: int) -> float:
        return self._sampler.plan(length).ratio

    def likelihood_ratio(self, length: int) -> float | None:
        return None if self._zones is not None else self.ratio(length)

    def distance_steps(self, length: int) -> int:
        return length**2 * self._chain.edge_count

    def draw(self, word: Word) -> list[str]:
        label = self._reachable.label
        return [label[i] for i in self._sampler.draw(self._pass_word(word)).tolist()]

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        bits = WordBits.of_words(len(offsets) - 1, bits, self._random)
        if self._zones is None:
            return self._sampler.draw_many(symbols, offsets, bits)
        out = np.empty_like(symbols)
        for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
            word = self._of_positions(symbols[begin:end].astype(np.int64))
            out[begin:end] = self._reachable.positions[self._sampler.draw(word, bits.stream(i))]
        return out

    def _positions(self, word: Word) -> Ints:
        """Return the position of each symbol in `chain.states`; −1: unknown."""
        index = self._chain.state_index
        return np.array([-1 if symbol is None else index[symbol] for symbol in word], np.int64)

    def _of_positions(self, positions: Ints) -> PassWord:
        zones = None if self._zones is None else self._zones.of(positions)
        return self._sampler.word(self._reachable.numbers[positions + 1], zones)

    def _pass_word(self, word: Word) -> PassWord:
        if self._zones is not None:
            return self._of_positions(self._positions(word))
        number = self._reachable.number
        return self._sampler.word([number[symbol] for symbol in word])

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        made = self._pass_word(word)
        route = np.array([self._reachable.number[symbol] for symbol in output], np.int64)
        if not ((made.begins <= route) & (route < made.ends)).all():
            return -inf
        positions = self._reachable.positions[[self._reachable.initial, *route.tolist()]]
        return (self._models.log_measure(positions.tolist())
                + int((route == made.symbols).sum()) * log(made.ratio)
                - self._sampler.log_normalizer(made))

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        number = self._reachable.number
        return self._sampler.probabilities(
            self._pass_word(word), [[number[symbol] for symbol in output] for output in outputs])

    def _in_zones(self, columns: Ints) -> tuple[Ints, Ints] | None:
        """Return the zones told of each word, shape (n, words), and the zone of each state."""
        if self._zones is None or self._zone_of is None:
            return None
        return np.stack([self._zones.of(np.where(word < len(self._chain), word, -1))
                         for word in columns.T], axis=1), self._zone_of

    def distance_distribution(self, word: Word) -> Floats:
        positions = self._positions(word)
        columns = np.where(positions < 0, len(self._chain), positions).reshape(-1, 1)
        return exponential_distances(self._chain, columns, self.ratio(len(word)), self._models,
                                     self._in_zones(columns))

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None]:
        return exponential_errors(self._chain, columns, self.ratio(len(columns)), self._models,
                                  variances, self._in_zones(columns))
