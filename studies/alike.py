# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a row that is measured again agrees with one of a page."""
from collections.abc import Sequence
from math import hypot
from typing import Any

_SIGMAS = 6.0             # standard errors: exceeded with a chance of 10⁻⁸
_RELATIVE, _MORE = 0.25, 0.05  # of numbers without a standard error


def is_among(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> bool:
    """
    Return whether one of the rows has the same names, and about the same numbers.

    Draws may come in another order than when a page was made. In a list, the second number is the
    standard error of the first.
    """
    return any(_alike(row, other) for other in rows)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(
            _alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return False
        pairs = [*zip(one, other, strict=True)]
        if len(one) >= 2 and all(isinstance(each, float) for each in (*one[:2], *other[:2])):
            if abs(one[0] - other[0]) > _SIGMAS * hypot(one[1], other[1]) + 1e-3:
                return False
            pairs = pairs[2:]
        return all(_alike(*pair) for pair in pairs)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= _RELATIVE * max(abs(one), abs(other)) + _MORE
    return bool(one == other)
