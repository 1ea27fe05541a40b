# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offline mechanisms: a private word for a whole logged word."""
from collections.abc import Iterable
from importlib import import_module
from math import inf

import numpy.typing as npt
from symdp_ros.core.annotations import RandomBits, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.mechanism import listed_word, Mechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import (BASES, check_choice, check_learn, check_reports, check_trust,
                                     check_zones, DEFAULT_BASE, DEFAULT_LEARN, DEFAULT_POLICY,
                                     DEFAULT_TRUST, POLICIES, SELECTIONS)
from symdp_ros.core.word_arrays import checked, WordBits
from symdp_ros.errors import ConfigurationError


class OfflineMechanism(Mechanism):
    """
    Word ε-differentially private release of a whole word, as a feasible word of equal length.

    selection='exponential' (paper, Mechanisms 1 and 3): P[o] ∝ h(o)·B^{d(w, o)}, B = e^{−ε/2k}, by
    one backward and one forward pass, in O(n·|E|) time, and O(√n) rows of memory where words are
    long (`core.offline.backward`). base='chain': h is how likely a hidden switch between public
    models of how a robot moves makes o (`core.models`), which errs far less where robots stay, or
    have habits that the chain names. base='counting': h = 1, as published. Where all words over
    one alphabet are feasible (`Chain.is_alphabet`: the complete chain, and whatever chain is
    complete where words can go) and h is the same for all, the normaliser is a product of one
    factor for each position, so there B = e^{−ε/k} keeps the promised ε; the paper's B would keep
    ε/2. The positions are then independent, and it is the same distribution as the online
    mechanism's, which draws it.

    selection='causal': the online mechanism over the word, with its `policy`.

    With `privacy.zones` outputs have the zones of the word wherever a route has them
    (`core.zones`): selection 'exponential', or 'causal' with the policy 'adaptive'.

    **Privacy.** For all adjacent words and all outputs P[o|w] ≤ e^ε·P[o|w'], as drawn, rounding
    included: the exponential mechanism reserves 5·n·(N + 4M + 12)·2⁻⁵³ of ε for it (N: the largest
    number of successors; M: 1, or 8 with several models); causal release and an alphabet's
    exponential mechanism draw in integers. B is at least 2⁻⁴⁰ (8N·2⁻⁶⁰ where drawn in integers).
    At ε = 0 the output does not depend on the word in any bit. Every feasible output has a
    positive probability. It does not depend on P being right. The proofs are in those modules.

    It may be used from several threads at once.

    Unknown symbols are None: unlike every state. The time of a release depends on the length and
    on what is released: run releases on a schedule.

    :param chain: the public chain.
    :param privacy: ε and k; for a word of n < k symbols by itself, `Privacy.for_length` promises
        the same with fewer errors.
    :param selection: 'exponential' or 'causal'.
    :param base: of 'exponential' alone: 'chain' or 'counting'.
    :param trust: from 0 to 1, the weight of the chain's P, where it names one; the rest goes to
        the models that need no knowledge, so that a robot that leaves its habits is followed; of
        base 'chain', and of 'causal' with the policy 'adaptive'.
    :param policy: of the online mechanism; used by 'causal' alone.
    :param reports: ≥ 1, how many private symbols there are for each symbol, as of
        `OnlineMechanism`; more than one with 'causal' and 'adaptive' alone.
    :param learn: as of `OnlineMechanism`; 'own' with 'causal' and 'adaptive' alone.
    :param random: an object with `getrandbits`, for tests; None: the operating system.
    :raises ChainError, PrivacyError: something else is passed as chain or privacy.
    :raises ConfigurationError: unknown selection, base or policy; `trust` out of range; zones with
        what does not know them, or with `Chain.complete`; moves to learn with what learns none.
    """

    def __init__(self, chain: Chain, privacy: Privacy, *, selection: str = 'exponential',
                 base: str = DEFAULT_BASE, trust: float = DEFAULT_TRUST,
                 policy: str = DEFAULT_POLICY, reports: int = 1, learn: str = DEFAULT_LEARN,
                 random: RandomBits | None = None):
        check_choice('selection', selection, tuple(SELECTIONS))
        check_choice('base', base, BASES)
        check_choice('policy', policy, POLICIES)
        check_trust(trust)
        super().__init__(chain, privacy)
        name, setting = (policy, 'policy') if selection == 'causal' else (selection, 'selection')
        check_reports(name, reports)
        check_learn(name, learn)
        check_zones(name, setting, privacy.zones)
        self._selection, self._base, self._trust = selection, base, float(trust)
        module = import_module(f'symdp_ros.core.offline.{selection}')
        self._law: Law = module.law(chain, privacy, random, base=base, trust=self._trust,
                                    policy=policy, reports=reports, learn=learn)

    @property
    def selection(self) -> str:
        """Return 'exponential' or 'causal'."""
        return self._selection

    @property
    def base(self) -> str:
        """Return 'chain' or 'counting': the base measure of 'exponential'."""
        return self._base

    @property
    def trust(self) -> float:
        """Return the weight of P among the models of the base 'chain', from 0 to 1."""
        return self._trust

    @property
    def online(self) -> OnlineMechanism | None:
        """Return what causal release draws with, and exponential on an alphabet; else None."""
        online: OnlineMechanism | None = self.law.online
        return online

    def __repr__(self) -> str:
        more = '' if self.online is None else f', policy={self.online.policy!r}' + (
            f', learn={self.online.learn!r}' * (self.online.learn != DEFAULT_LEARN))
        if 'base' in SELECTIONS[self.selection] and self.online is None:
            more = f', base={self.base!r}' + (
                f', trust={self.trust!r}' if self.base == 'chain' else '')
        return (f'OfflineMechanism({self.chain}, {self.privacy}, selection={self.selection!r}'
                f'{more})')

    def ratio(self, length: int) -> float:
        """
        Return R = 1/B for words of this length, as drawn with: a float in [1, 2⁴⁰].

        :raises ConfigurationError: where it draws with an online mechanism.
        """
        ratio = self.law.ratio(length)
        if ratio is None:
            raise ConfigurationError('an online mechanism has no ratio 1/B')
        return ratio

    def privatize(self, word: Iterable[str | None]) -> list[str]:
        """
        Return a private word, feasible from the initial state, as long as the word.

        With several `reports` for each symbol, a word of n symbols has (n − 1)·reports + 1; with
        zones there is a symbol for each of them, as of `OnlineMechanism.step`.

        :param word: any symbols of the chain, feasible or not; None: unknown.
        :raises UnknownSymbolError: a symbol is no state; checked before anything is drawn.
        """
        return self.law.draw(self._checked(word))

    def privatize_many(self, symbols: npt.ArrayLike, offsets: npt.ArrayLike,
                       bits: WordBits | None = None) -> ShortInts:
        """
        Return private words for many sensitive words at once, as `privatize` for each.

        :param symbols: integers, shape (total,): positions in `chain.states`, −1: unknown.
        :param offsets: integers, shape (words + 1,): word i is symbols[offsets[i]:offsets[i+1]].
        :param bits: random bits of each word (`core.word_arrays`); None: new ones.
        :return: int32, shape (total,): positions in `chain.states`; longer with `reports`.
        :raises UnknownSymbolError: a symbol is none of these; checked before anything is drawn.
        :raises ConfigurationError: arrays of another kind or shape; bits of fewer or more words.
        """
        words, ends = checked(symbols, offsets, len(self._chain))
        return self.law.draw_many(words, ends, bits)

    def log_probability(self, word: Iterable[str | None], output: Iterable[str]) -> float:
        """
        Return ln P[output | word]; −inf where the output is not feasible, or of another length.

        Off by rounding to at most 10⁻⁹.

        :raises UnknownSymbolError: a symbol of the word is no state.
        """
        word, output = self._checked(word), listed_word(output)
        each = 1 if self.online is None else self.online.stride
        length = each * (len(word) - 1) + 1 if word else 0
        if len(output) != length or not self._chain.is_feasible(output):
            return -inf
        return min(0.0, self.law.log_probability(word, output))
