# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Stamps: integers, in nanoseconds.

Recordings hold such integers. They are exact, and after a day a tick every 0.1 s is still at its
exact time; with seconds as floats neither is true.
"""
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from numbers import Real
import re

from symdp_ros.errors import ConfigurationError, LogError

LARGEST = 2**63 - 1  # what a recording can hold
_PLAIN = re.compile(r'(\d{1,10})(?:\.(\d{0,9}))?', re.ASCII)
_NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?', re.ASCII | re.IGNORECASE)


def from_text(seconds: str) -> int | None:
    """Return the stamp of a decimal number of seconds; None: it is no number, or out of range."""
    if plain := _PLAIN.fullmatch(seconds):  # nearly all; several times faster than Decimal
        whole, rest = plain.groups('')
        stamp = int(whole + rest.ljust(9, '0'))
        return stamp if stamp <= LARGEST else None
    if not _NUMBER.fullmatch(seconds):  # NaN and infinity among them
        return None
    nanoseconds = Decimal(seconds).scaleb(9)
    return int(nanoseconds.to_integral_value()) if abs(nanoseconds) <= LARGEST else None


def to_text(stamp: int) -> str:
    """Return a stamp >= 0 as a decimal number of seconds, such as 12.5, without rounding."""
    seconds, rest = divmod(stamp, 10**9)
    return f'{seconds}.{rest:09}'.rstrip('0') if rest else f'{seconds}.0'


def from_seconds(seconds: float, name: str, *, zero: bool = False) -> int:
    """
    Return a setting in seconds as nanoseconds: its shortest decimal, exactly.

    :raises ConfigurationError: not a finite number > 0, or below half a nanosecond; 0 is
        allowed where `zero` is set.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise ConfigurationError(f'{name} must be a number of seconds, not a '
                                 f'{type(seconds).__name__}', setting=name)
    if isfinite(seconds) and 0 <= seconds <= LARGEST // 10**9:
        stamp = from_text(repr(float(seconds)))
        if stamp is not None and (stamp > 0 or zero and seconds == 0):
            return stamp
    raise ConfigurationError(f'{name} is {seconds!r}: it must be a number of seconds '
                             + ('>= 0, where 0 means never' if zero else '> 0'), setting=name)


def check_order(stamps: Iterable[tuple[int, int]]) -> None:
    """
    Check that the stamps of a text log, given as (line, stamp), never decrease.

    Sorting them instead could mix two patrols, or the halves of one whose clock was set back.
    Recordings are sorted: their order on disk means nothing.
    """
    last = -LARGEST
    for line, stamp in stamps:
        if stamp < last:
            raise LogError('a stamp is smaller than that of the line before: sort the lines, or '
                           'split the file where its clock was set back', line=line)
        last = stamp
