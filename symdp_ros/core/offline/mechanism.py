"""The offline mechanisms: a private word for a whole logged word."""
from collections.abc import Iterable
from fractions import Fraction
from math import inf, log
from random import SystemRandom

import numpy as np

from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import ConfigurationError, UnknownSymbolError
from symdp_ros.core.exact_draw import draw_below
from symdp_ros.core.offline.backward import BackwardSampler, match_ratio
from symdp_ros.core.offline.batch import ExponentialBatch
from symdp_ros.core.offline.distances import AlphabetWords, ChainWords
from symdp_ros.core.offline.noisy_maximum import (draw_distance, log_probabilities,
                                                   rounding_reserve)
from symdp_ros.core.offline.reachable import ReachableChain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

SELECTIONS = ('exponential', 'permute_and_flip', 'causal')

#: n²·|E| up to which the words at every distance are counted.
MOST_COUNTING_STEPS = 10**10


class OfflineMechanism:
    """
    Word ε-differentially private release of a whole word, as a feasible word of equal length.

    selection='exponential' (paper, Mechanisms 1 and 3): P[o] ∝ B^{d(w, o)}, B = e^{−ε/2k}, by one
    backward and one forward pass, in O(n·|E|) time and O(√n) rows of memory
    (`core.offline.backward`). On the complete chain the normaliser does not depend on w (each
    position has one of its own), so there B = e^{−ε/k} keeps the promised ε; the paper's B would
    keep ε/2. The positions are then independent, and it is the same distribution as the online
    mechanism's, which draws it.

    selection='permute_and_flip': the noisy maximum of −d(w, o), which errs no more than the
    exponential mechanism with the same B (`core.offline.noisy_maximum`). It counts the words at
    every distance, O(n²·|E|) time, so long words are refused.

    selection='causal': the online mechanism over the word, with its `policy`.

    **Privacy.** For all adjacent words and all outputs P[o|w] ≤ e^ε·P[o|w'], as drawn, rounding
    included: the exponential mechanism reserves 5·n·(N+1)·2⁻⁵³ of ε for it (N: the largest number
    of successors), permute-and-flip 5·n·(N+1)·2⁻⁵³·(1 + L) with L = n·(bits of N + min(ε/2k, 28));
    causal release and the complete chain's exponential mechanism draw in integers. B is at least
    2⁻⁴⁰ (about 2⁻⁶⁰ where drawn in integers). At ε = 0 the output does not depend on the word in
    any bit. Every feasible output has a positive probability. The proofs are in those modules.

    Unknown symbols are None: unlike every state. The time of a release depends on the length and
    on what is released; with permute-and-flip also on its distance and on how many words lie at
    each distance: run releases on a schedule.

    :param chain: the public chain.
    :param privacy: ε and k.
    :param selection: 'exponential', 'permute_and_flip' or 'causal'.
    :param policy: of the online mechanism; used by 'causal' alone.
    :param random: an object with `getrandbits`, for tests; None: the operating system.
    :raises ConfigurationError: unknown selection or policy.
    """

    def __init__(self, chain: Chain, privacy: Privacy, *, selection: str = 'exponential',
                 policy: str = 'guided', random=None):
        if selection not in SELECTIONS:
            raise ConfigurationError(f'selection must be one of {", ".join(SELECTIONS)}, '
                                     f'not {selection!r}')
        self._chain, self._privacy, self._selection = chain, privacy, selection
        self._symbols = frozenset((*chain.states, None))
        complete = chain.edge_count == len(chain)**2
        if selection == 'causal' or selection == 'exponential' and complete:
            online = OnlineMechanism(chain, privacy, random=random,
                                     policy=policy if selection == 'causal' else 'paper')
            self._law = _Causal(online, complete)
        else:
            if complete:
                words = AlphabetWords(chain)
            else:
                reachable = ReachableChain(chain)
                words = ChainWords(reachable)
            per_symbol = privacy.epsilon_per_symbol
            if selection == 'exponential':
                self._law = _Exponential(words, reachable, per_symbol, random)
            else:
                random = SystemRandom() if random is None else random
                self._law = _PermuteAndFlip(
                    words, chain, per_symbol, random,
                    None if complete else BackwardSampler(reachable, Fraction(0), random))

    @property
    def chain(self) -> Chain:
        """The chain."""
        return self._chain

    @property
    def privacy(self) -> Privacy:
        """ε and k."""
        return self._privacy

    @property
    def selection(self) -> str:
        """'exponential', 'permute_and_flip' or 'causal'."""
        return self._selection

    @property
    def online(self) -> OnlineMechanism | None:
        """What causal release draws with, and exponential on a complete chain; else None."""
        return getattr(self._law, '_online', None)

    def ratio(self, length: int) -> float:
        """
        Return R = 1/B for words of this length, as drawn with: a float in [1, 2⁴⁰].

        :raises ConfigurationError: where it draws with an online mechanism.
        """
        if self.online is not None:
            raise ConfigurationError('an online mechanism has no ratio 1/B')
        return self._law.ratio(length)

    def check(self, length: int) -> None:
        """
        Refuse words that are too long to be privatized: to be called before anything is spent.

        :raises ConfigurationError: permute-and-flip, where n²·|E| > 10¹⁰.
        """
        if self._selection == 'permute_and_flip':
            self._check_counting(length)

    def privatize(self, word: Iterable[str | None]) -> list[str]:
        """
        Return a private word, feasible from the initial state, as long as the word.

        :param word: any symbols of the chain, feasible or not; None: unknown.
        :raises UnknownSymbolError: a symbol is no state; checked before anything is drawn.
        :raises ConfigurationError: as `check`.
        """
        word = self._checked(word)
        self.check(len(word))
        return self._law.draw(word)

    def privatize_many(self, symbols: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """
        Return private words for many sensitive words at once, as `privatize` for each.

        :param symbols: integers, shape (total,): positions in `chain.states`, −1: unknown.
        :param offsets: integers, shape (words + 1,): word i is symbols[offsets[i]:offsets[i+1]].
        :return: int32, shape (total,): positions in `chain.states`.
        :raises UnknownSymbolError: a symbol is none of these; checked before anything is drawn.
        :raises ConfigurationError: arrays of another kind or shape; as `check`.
        """
        from symdp_ros.core.batch import checked

        symbols, offsets = checked(symbols, offsets, len(self._chain))
        self.check(int(np.diff(offsets).max(initial=0)))
        return self._law.draw_many(symbols, offsets)

    def log_probability(self, word: Iterable[str | None], output: Iterable[str]) -> float:
        """
        Return ln P[output | word]; −inf where the output is not feasible, or of another length.

        Off by rounding to at most 10⁻⁹, for words that are not refused.

        :raises UnknownSymbolError: a symbol of the word is no state.
        :raises ConfigurationError: as `check`.
        """
        word, output = self._checked(word), list(output)
        self.check(len(word))
        if len(output) != len(word) or not self._chain.is_feasible(output):
            return -inf
        return min(0.0, self._law.log_probability(word, output))

    def distance_distribution(self, word: Iterable[str | None]) -> np.ndarray:
        """
        Return P[d(word, output) = ℓ]: float64, shape (n+1,), summing to 1 up to rounding.

        :raises UnknownSymbolError: a symbol of the word is no state.
        :raises ConfigurationError: n²·|E| > 10¹⁰, where the positions are not independent.
        """
        word = self._checked(word)
        self.check(len(word))
        if not self._law.positions_are_independent:
            self._check_counting(len(word))
        return self._law.distance_distribution(word)

    def _checked(self, word):
        word = list(word)
        if not self._symbols.issuperset(word):
            raise UnknownSymbolError
        return word

    def _check_counting(self, length):
        steps = length**2 * self._chain.edge_count
        if steps > MOST_COUNTING_STEPS:
            raise ConfigurationError(
                f'counting the words of length {length} at every distance, on a chain of '
                f'{self._chain.edge_count} moves, takes n²·|E| = {steps:.1e} steps, more than '
                '10¹⁰: shorten the word, or release it with the selection exponential or causal')


class _Causal:
    """The online mechanism over a word."""

    def __init__(self, online, complete):
        self._online, self.positions_are_independent = online, complete
        self.draw, self.draw_many = online.privatize, online.privatize_many

    def log_probability(self, word, output):
        before = [self._online.chain.initial_state, *output]
        return sum(log(self._online.exact_distribution(symbol, previous)[o])
                   for symbol, previous, o in zip(word, before, output, strict=False))

    def distance_distribution(self, word):
        """By forward recursion over (state, distance); over the distance on a complete chain."""
        if self.positions_are_independent:
            return self._of_independent_positions(word)
        from scipy.sparse import csr_array

        online, chain = self._online, self._online.chain
        offsets, targets = chain.csr()
        shape = len(chain), len(chain)
        moves = csr_array((np.ones(len(targets)), targets, offsets), shape=shape).T
        uniform = 1 / np.diff(offsets)
        others, gain = online.weights()
        joint = np.zeros((len(chain), len(word) + 1))
        joint[chain.state_index[chain.initial_state], 0] = 1
        for symbol in word:
            aims = online.target_positions(symbol)
            aimed = np.flatnonzero(aims >= 0)
            each = np.where(aims >= 0, others, uniform)
            moved = moves @ (each[:, None] * joint)
            moved += csr_array((gain[aimed], (aims[aimed], aimed)), shape=shape) @ joint
            joint[:, 0], joint[:, 1:] = 0, moved[:, :-1]
            if symbol is not None:
                joint[chain.state_index[symbol]] = moved[chain.state_index[symbol]]
        return joint.sum(axis=0)

    def _of_independent_positions(self, word):
        initial = self._online.chain.initial_state
        match = float(self._online.exact_distribution(initial, initial)[initial])
        distribution = np.zeros(len(word) + 1)
        distribution[0] = 1
        for symbol in word:
            chance = 0 if symbol is None else match
            distribution[1:] = (1 - chance) * distribution[:-1] + chance * distribution[1:]
            distribution[0] *= chance
        return distribution


class _Exponential:
    """P[o] ∝ R^{matches} on a chain that is not complete."""

    positions_are_independent = False

    def __init__(self, words, reachable, epsilon_per_symbol, random):
        self._words, self._random = words, random
        self._sampler = BackwardSampler(reachable, epsilon_per_symbol,
                                        SystemRandom() if random is None else random)
        self._batch = ExponentialBatch(reachable, self._sampler)
        self.ratio = self._sampler.ratio

    def draw(self, word):
        label = self._words.label
        return [label[i] for i in self._sampler.draw(_numbers(self._words, word))]

    def draw_many(self, symbols, offsets):
        return self._batch.draw(symbols, offsets, self._random)

    def log_probability(self, word, output):
        matches = len(word) - _distance(word, output)
        return (matches * log(self.ratio(len(word)))
                - self._sampler.log_normalizer(_numbers(self._words, word)))

    def distance_distribution(self, word):
        counts = self._words.counts(_numbers(self._words, word))
        weights = counts.log - counts.present * log(self.ratio(len(word)))
        result = np.zeros(len(word) + 1)
        result[counts.present] = np.exp(weights - weights.max())
        return result / result.sum()


class _PermuteAndFlip:
    """The noisy maximum; uniform: draws feasible words uniformly, without looking at the word."""

    positions_are_independent = False

    def __init__(self, words, chain, epsilon_per_symbol, random, uniform):
        self._words, self._chain, self._random, self._uniform = words, chain, random, uniform
        self._epsilon_per_symbol = epsilon_per_symbol

    def ratio(self, length):
        reserve = rounding_reserve(length, self._words.most_successors, self._epsilon_per_symbol)
        return match_ratio(self._epsilon_per_symbol, reserve)

    def draw(self, word):
        ratio = self.ratio(len(word))
        if ratio == 1:
            output = self._draw_uniformly(len(word))
        else:
            numbers = _numbers(self._words, word)
            distance = draw_distance(self._words.counts(numbers), ratio, self._random)
            output = self._words.draw(numbers, distance, self._random)
        return [self._words.label[i] for i in output]

    def draw_many(self, symbols, offsets):
        states, index = (*self._chain.states, None), self._chain.state_index  # −1 is the last
        out = np.empty(len(symbols), np.int32)
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            word = self.draw([states[i] for i in symbols[begin:end].tolist()])
            out[begin:end] = [index[symbol] for symbol in word]
        return out

    def _draw_uniformly(self, length):
        if self._uniform is not None:
            return self._uniform.draw([0] * length)
        return [1 + draw_below(self._words.most_successors, self._random) for _ in range(length)]

    def log_probability(self, word, output):
        counts = self._words.counts(_numbers(self._words, word))
        return float(log_probabilities(counts, self.ratio(len(word)))[_distance(word, output)])

    def distance_distribution(self, word):
        counts = self._words.counts(_numbers(self._words, word))
        result = np.zeros(len(word) + 1)
        logs = log_probabilities(counts, self.ratio(len(word)))[counts.present]
        result[counts.present] = np.exp(counts.log + logs)
        return result / result.sum()


def _numbers(words, word):
    return [words.number[symbol] for symbol in word]


def _distance(word, output):
    return sum(a != b for a, b in zip(word, output, strict=True))
