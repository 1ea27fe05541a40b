# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact draws from integer weights, by any source of random bits with `getrandbits`."""
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from symdp_ros.core.annotations import RandomBits


def draw_below(count: int, random: RandomBits) -> int:
    """Return a uniform integer in 0 … count−1, by rejection; count ≥ 1."""
    width = (count - 1).bit_length()
    drawn = random.getrandbits(width) if width else 0
    while drawn >= count:
        drawn = random.getrandbits(width)
    return drawn


def draw_index(weights: Sequence[int], random: RandomBits, drawn: int = 0, width: int = 0) -> int:
    """
    Return i with probability weights[i] / sum(weights), exactly.

    The weights lie side by side, and a uniform point falls on one of them: bits of the point are
    drawn until it is decided on which.

    :param weights: integers ≥ 0 of any size, not all 0.
    :param drawn: the first `width` bits of the point, where they have been drawn already.
    """
    ends = list(accumulate(weights))
    while True:
        i = bisect_right(ends, drawn * ends[-1] >> width)
        if (drawn + 1) * ends[-1] <= ends[i] << width:
            return i
        drawn, width = drawn << 64 | random.getrandbits(64), width + 64


def as_integers(weights: np.ndarray, exponents: np.ndarray) -> list[int]:
    """
    Return weights·2^exponents as integers, exactly, up to a common power of two.

    :param weights: float64, each 0 or in [1/2, 2).
    :param exponents: int64, same shape.
    """
    lowest = int(exponents.min())
    integers = (weights * 2.0**53).astype(np.int64).tolist()
    return [w << e - lowest for w, e in zip(integers, exponents.tolist(), strict=True)]
