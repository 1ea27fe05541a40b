# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words as the numbers of their states, and how far apart two are."""
from collections.abc import Sequence
from typing import Protocol

from symdp_ros.core.annotations import Word


class Numbered(Protocol):
    """Words as lists of numbers (`core.offline.distances`)."""

    number: dict[str | None, int]


def numbers(words: Numbered, word: Word) -> list[int]:
    """Return the number of each symbol, as `words` (`core.offline.distances`) has it."""
    return [words.number[symbol] for symbol in word]


def distance(word: Word, output: Sequence[str]) -> int:
    """Return the Hamming distance of two words of one length."""
    return sum(a != b for a, b in zip(word, output, strict=True))
