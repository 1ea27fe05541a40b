# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words as the numbers of their states, and how far apart two are."""


def numbers(words, word) -> list[int]:
    """Return the number of each symbol, as `words` (`core.offline.distances`) has it."""
    return [words.number[symbol] for symbol in word]


def distance(word, output) -> int:
    """Return the Hamming distance of two words of one length."""
    return sum(a != b for a, b in zip(word, output, strict=True))
