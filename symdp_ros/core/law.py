# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What accuracy, calibration and audit ask of a mechanism."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TYPE_CHECKING

from symdp_ros.core.annotations import Floats, Ints, ShortInts, Word

if TYPE_CHECKING:
    from symdp_ros.core.online import OnlineMechanism


class Law(Protocol):
    """
    How a mechanism privatizes whole words: draws, and the probability of what it draws.

    A word is a sequence of states, None where the symbol is unknown; words are checked by the
    caller. Outputs are feasible and as long as the word.
    """

    @property
    def online(self) -> OnlineMechanism | None:
        """Return the online mechanism that draws, where one does."""

    @property
    def loss_bound(self) -> str:
        """Return which of `core.accounting.BOUNDS` holds for it."""

    def ratio(self, length: int) -> float | None:
        """Return R = 1/B as drawn with; None where an online mechanism draws."""

    def likelihood_ratio(self, length: int) -> float | None:
        """Return R where P[output | word] = h(output)·R^matches / Z(word), or None."""

    def counting_steps(self, length: int) -> int:
        """Return how many steps counting words takes for one release; 0: it counts none."""

    def distance_steps(self, length: int) -> int:
        """Return how many steps `distance_distribution` takes; 0: not many."""

    def draw(self, word: Word) -> list[str]:
        """Return a private word."""

    def draw_many(self, symbols: ShortInts, offsets: Ints) -> ShortInts:
        """Return private words: positions in `chain.states`; arrays as in `core.batch`."""

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        """Return ln P[output | word]."""

    def exact_probabilities(self, word: Word,
                            outputs: Sequence[Sequence[str]]) -> list[Fraction] | None:
        """Return P[output | word] of each output, as drawn; None: it is known in floats alone."""

    def distance_distribution(self, word: Word) -> Floats:
        """Return P[d(word, output) = ℓ]: shape (n + 1,)."""

    def errors(self, columns: Ints, variances: bool = True) -> tuple[Floats, Floats | None] | None:
        """
        Return the chance of an error at each position, and the variance of their number.

        :param columns: words of one length n: shape (n, words), positions in `chain.states`, and
            their number for an unknown symbol.
        :param variances: whether to compute them, which triples the time.
        :return: P[o_t ≠ w_t], shape (n, words); Var[d], shape (words,), or None where it is not
            wanted. NaN for the words given which the outputs are no Markov chain; None where
            all are such.
        """
