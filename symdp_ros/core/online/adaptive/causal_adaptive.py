# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Causal release by the adaptive policy: each row depends on all outputs before it."""
from collections.abc import Sequence
from fractions import Fraction
from math import inf, log, prod

from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.online.causal import Causal
from symdp_ros.errors import ConfigurationError


class CausalAdaptive(Causal):
    """
    The adaptive policy over a whole word.

    Probabilities are those along one output, by `OnlineMechanism.replay`. Errors have no exact
    recursion: the belief has infinitely many values; `analysis.accuracy` simulates them.
    """

    is_simulated = True

    def simulated(self, symbols: ShortInts, offsets: Ints, random: RandomBits) -> ShortInts:
        return self.online.another(random=random).privatize_many(symbols, offsets)

    def likelihood_ratio(self, length: int) -> None:
        return None

    def distance_steps(self, length: int) -> int:
        return 0

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        online = self.online.another()
        rows: dict[tuple[str, ...], dict[str, Fraction]] = {}
        for t, symbol in enumerate(word):
            for before in {tuple(output[:t]) for output in outputs}:
                if t == 0 or rows[before[:-1]].get(before[-1]):
                    online.replay(before)
                    rows[before] = online.exact_current_distribution(symbol)
                else:
                    rows[before] = {}
        return [prod((rows[tuple(output[:t])].get(o, Fraction(0)) for t, o in enumerate(output)),
                     start=Fraction(1)) for output in outputs]

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        online, total = self.online.another(), 0.0
        for symbol, o in zip(word, output, strict=True):
            chance = online.exact_current_distribution(symbol).get(o)
            if chance is None:
                return -inf
            total += log(chance)
            online.advance(o)
        return total

    def errors(self, columns: Ints, variances: bool = True) -> None:
        return None

    def distance_distribution(self, word: Word) -> Floats:
        raise ConfigurationError('the policy adaptive has no exact distance distribution: '
                                 '`accuracy` simulates the mean and the variance',
                                 setting='policy')
