# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What accuracy, calibration and audit ask of a mechanism."""
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.word_arrays import WordBits


class Law(Protocol):
    """
    How a mechanism privatizes whole words: draws, and the probability of what it draws.

    A word is a sequence of states, None where the symbol is unknown; words are checked by the
    caller. Outputs are feasible and as long as the word (longer with several `reports`). Methods
    that return None or 0 here are defaults, for laws that do not support the query.
    """

    #: which of `core.accounting.BOUNDS` holds for it
    loss_bound: str
    #: what `core.accounting.rho_of` needs besides: m of 'symbols', L of 'blocks'
    response_values: int = 2
    #: the online mechanism that draws, where one does
    online: Any = None
    #: the law of the signals that outputs are decoded from, where these are drawn
    #: (`core.online.adaptive.causal_adaptive.SignalLaw`)
    of_signals: Any = None

    def ratio(self, length: int) -> float | None:
        """Return R = 1/B as drawn with; None where an online mechanism draws."""
        return None

    def likelihood_ratio(self, length: int) -> float | None:
        """Return R where P[output | word] = h(output)·R^matches / Z(word), or None."""
        return None

    def distance_steps(self, length: int) -> int:
        """Return how many steps `distance_distribution` takes; 0: not many."""
        return 0

    def draw(self, word: Word) -> list[str]:
        """Return a private word."""

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        """
        Return private words: positions in `chain.states`; arrays as in `core.word_arrays`.

        :param bits: of the words; None: new ones.
        """

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        """Return ln P[output | word]."""

    def exact_probabilities(self, word: Word,
                            outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        """Return P[output | word] of each output, as drawn."""

    def distance_distribution(self, word: Word) -> Floats:
        """Return P[d(word, output) = ℓ]: shape (n + 1,)."""

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None] | None:
        """
        Return the chance of an error at each position, and the variance of their number.

        :param columns: words of one length n: shape (n, words), positions in `chain.states`, and
            their number for an unknown symbol.
        :param variances: whether to compute them, which triples the time.
        :return: P[o_t ≠ w_t], shape (n, words); Var[d], shape (words,), or None where it is not
            wanted. None: they are simulated.
        """
        return None

    #: whether `errors` and `distance_distribution` are not known, so that errors are simulated
    is_simulated: bool = False

    def simulated(self, symbols: ShortInts, offsets: Ints, random: RandomBits) -> ShortInts:
        """Return private words as `draw_many`, drawn with `random`, where `is_simulated`."""
        raise TypeError(f'the errors of {type(self).__name__} are known')
