# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that show the same time, by their stamps: a change then shows in all of them."""
from collections.abc import Mapping
from fractions import Fraction

_SECOND = 10**9

#: The stamps of the first and the last entry of a log, in nanoseconds.
Span = tuple[int, int]


def most_at_once(spans: Mapping[str, Span], costs: Mapping[str, Fraction],
                 seconds: Fraction | None = None) -> tuple[Fraction, list[str]]:
    """
    Return the most that the logs cost together which one change may touch, and these logs.

    :param spans: by log.
    :param costs: of each of these logs, ≥ 0.
    :param seconds: how long a change lasts; None: a moment.
    """
    before = int((seconds or 0) * _SECOND)
    # A change that begins at t touches a log from `before` its first entry to its last one.
    events = sorted(event for log, (first, last) in spans.items() for event in (
        (first - before, 0, costs[log]), (last, 1, -costs[log])))
    most = now = Fraction(0)
    at = None
    for time, _, cost in events:
        now += cost
        if now > most:
            most, at = now, time
    return most, [] if at is None else [log for log, (first, last) in spans.items()
                                        if first - before <= at <= last]
