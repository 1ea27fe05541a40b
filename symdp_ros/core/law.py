# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a mechanism tells of itself, so that accuracy, calibration and audit need not know it."""
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np


class Law(Protocol):
    """
    How a mechanism privatizes whole words: draws, and the probability of what it draws.

    A word is a sequence of states, None where the symbol is unknown; words are checked by the
    caller. Outputs are feasible and as long as the word.
    """

    def counting_steps(self, length: int) -> int:
        """Return how many steps counting words takes for one release; 0: it counts none."""

    def distance_steps(self, length: int) -> int:
        """Return how many steps `distance_distribution` takes; 0: not many."""

    def draw(self, word: Sequence[str | None]) -> list[str]:
        """Return a private word."""

    def draw_many(self, symbols: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return private words: int32 positions in `chain.states`; arrays as in `core.batch`."""

    def log_probability(self, word: Sequence[str | None], output: Sequence[str]) -> float:
        """Return ln P[output | word]."""

    def exact_probabilities(self, word: Sequence[str | None],
                            outputs: Sequence[Sequence[str]]) -> list[Fraction] | None:
        """Return P[output | word] of each output, as drawn; None: it is known in floats alone."""

    def distance_distribution(self, word: Sequence[str | None]) -> np.ndarray:
        """Return P[d(word, output) = ℓ]: float64, shape (n + 1,)."""

    def errors(self, columns: np.ndarray,
               variances: bool = True) -> tuple[np.ndarray, np.ndarray | None] | None:
        """
        Return the chance of an error at each position, and the variance of their number.

        :param columns: words of one length n: int64, shape (n, words), positions in
            `chain.states`, and their number for an unknown symbol.
        :param variances: whether these are wanted; they take twice as long again.
        :return: P[o_t ≠ w_t], shape (n, words); Var[d], shape (words,), or None where it is not
            wanted. None where the outputs are no Markov chain, given the word.
        """
