# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whole words by the adaptive policy: signals are drawn, and reports decoded from them."""
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, log, prod
from threading import Lock
from typing import TypeAlias

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.online.causal_law import Causal
from symdp_ros.core.online.steps import OnlineSteps
from symdp_ros.core.zones import Signal, Told, WAITING
from symdp_ros.errors import ConfigurationError

_Signals: TypeAlias = tuple[Signal, ...]
MOST_HISTORIES = 100_000  # of signals, that are looked at one by one
END = ''                 # in place of a symbol: the word ends


class SignalLaw:
    """
    How likely signals are, by replaying them.

    :param online: an adaptive mechanism, whose word is not touched.
    """

    def __init__(self, online: OnlineSteps):
        self._online, self._lock = online.another(), Lock()
        self._rows: dict[tuple[_Signals, tuple[str | None, ...], str | None],
                         dict[Signal, Fraction]] = {}
        self._zones, self._initial = online.privacy.zones, online.chain.initial_state

    def everything(self, length: int) -> list[_Signals]:
        """
        Return all signals that words of some length can have; with zones, in all zones.

        :raises ConfigurationError: they are more than 10⁵.
        """
        some = [None] if self._zones is None else [s for s, *_ in self._zones.values()]
        return self._everything([some] * length)

    def of(self, like: Word) -> list[_Signals]:
        """
        Return all signals that a word can have.

        :param like: the word, or another one that can have the same signals (`alike`).
        :raises ConfigurationError: as `everything`.
        """
        return self._everything([[symbol] for symbol in like])

    def alike(self, word: Word) -> tuple[str | None, ...]:
        """Return a word that can have the same signals: one for all words with the same zones."""
        if self._zones is None:
            return (None,) * len(word)
        told, like = self._initial, []
        for symbol in word:
            told = told if symbol is None else symbol
            like.append(self._zones[self._zones.of(told)][0])
        return tuple(like)

    def _everything(self, word: Sequence[Sequence[str | None]]) -> list[_Signals]:
        """Return all signals of words whose every symbol is one of some."""
        length = len(word)
        possible = [(_Signals(), symbol) for symbol in word[0]] if word else []
        for t in range(1, length + 1):
            longer = list[tuple[_Signals, str | None]]()
            for before, symbol in possible:
                longer += [((*before, z), following)
                           for following in (word[t] if t < length else [END])
                           for z in self._after(before, (symbol,), following)]
                if len(longer) > MOST_HISTORIES:
                    raise ConfigurationError(
                        'the probability of what the policy adaptive publishes is that of all '
                        f'signals it may be decoded from: of words of {length} symbols there are '
                        f'more than {MOST_HISTORIES:,}', setting='policy')
            possible = longer
        return [signals for signals, _ in possible] if word else [()]

    def exact_probabilities(self, word: Word, outputs: Sequence[_Signals]) -> list[Fraction]:
        """Return P[signals | word] of some signals that are possible."""
        following = *self.alike(word)[1:], END
        return [prod((self._chance(word, signals, t, following[t]) for t in range(len(word))),
                     start=Fraction(1)) for signals in outputs]

    def _chance(self, word: Word, signals: _Signals, t: int, following: str | None) -> Fraction:
        """Return the probability of one signal, given those before."""
        begin = t
        while begin and (signals[begin - 1] == WAITING or isinstance(signals[begin - 1], Told)):
            begin -= 1
        row = self._after(tuple(signals[:t]), tuple(word[begin:t + 1]), following)
        return row.get(signals[t], Fraction(0))

    def _after(self, signals: _Signals, symbols: tuple[str | None, ...],
               following: str | None) -> dict[Signal, Fraction]:
        """
        Return the next row of a symbol.

        :param symbols: of the block under way, this one the last.
        :param following: a symbol of the zone that is told after it, or `END`.
        """
        given = signals, symbols, following
        row = self._rows.get(given)
        if row is None:
            before = (None,) * (len(signals) + 1 - len(symbols))
            with self._lock:  # several threads may ask
                self._online.replay(signals, word=(*before, *symbols[:-1]))
                for _ in range(self._online.ticks_left):
                    self._online.tick()
                ends = following is END or self._online.ends_block(symbols[-1], following)
                row = self._online.exact_current_distribution(symbols[-1], ends)
            self._rows[given] = row
        return row


class CausalAdaptive(Causal):
    """
    The adaptive policy over a whole word.

    The probability of a word of reports is a sum over all signals that it is decoded from: they
    are tried one by one, if there are not too many. Errors have no exact recursion, as
    the belief has infinitely many values; `analysis.accuracy` simulates them.
    """

    is_simulated = True

    @cached_property
    def of_signals(self) -> SignalLaw:
        """Return how likely the signals of a word are."""
        return SignalLaw(self.online)

    def simulated(self, symbols: ShortInts, offsets: Ints, random: RandomBits) -> ShortInts:
        drawing, each = self.online.another(random=random), self.online.stride
        reports, _ = drawing.draw_signals(symbols, offsets)
        # Those of the symbols alone.
        lengths = np.diff(offsets)
        sizes = np.where(lengths > 0, (lengths - 1) * each + 1, 0)
        begins = np.cumsum(sizes) - sizes
        places = np.repeat(begins - each * offsets[:-1], lengths) + each * np.arange(offsets[-1])
        at_places: ShortInts = reports[places]
        return at_places

    def likelihood_ratio(self, length: int) -> None:
        return None

    def distance_steps(self, length: int) -> int:
        return 0

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        chances = self._reports(word)
        return [chances[tuple(output)] for output in outputs]

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        chance = self._reports(word)[tuple(output)]
        return log(chance.numerator) - log(chance.denominator) if chance else -inf

    def errors(self, columns: Ints, variances: bool) -> None:
        return None

    def distance_distribution(self, word: Word) -> Floats:
        chances = np.zeros(len(word) + 1)
        for output, chance in self._reports(word).items():
            chances[sum(s != o for s, o in zip(
                word, output[::self.online.stride], strict=True))] += float(chance)
        return chances

    def _reports(self, word: Word) -> defaultdict[tuple[str, ...], Fraction]:
        """Return the probability of each word of reports."""
        decoded = self._decoded(self.of_signals.alike(word))
        by_report: defaultdict[tuple[str, ...], Fraction] = defaultdict(Fraction)
        chances = self.of_signals.exact_probabilities(word, [*decoded])
        for output, chance in zip(decoded.values(), chances, strict=True):
            by_report[output] += chance
        return by_report

    @cached_property
    def _decoded(self) -> Callable[[Word], dict[_Signals, tuple[str, ...]]]:
        @lru_cache(maxsize=4)
        def decoded(like: Word) -> dict[_Signals, tuple[str, ...]]:
            online = self.online.another()
            return {signals: tuple(online.decode(signals)) for signals in self.of_signals.of(like)}

        return decoded
