# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Stamps: integers, in nanoseconds.

Recordings hold such integers. They are exact, and after a day a tick every 0.1 s is still at its
exact time; with seconds as floats neither is true.
"""
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from numbers import Real
import re

from symdp_ros.errors import ConfigurationError, LogError

LARGEST = 2**63 - 1  # what a recording can hold
#: What every reader says of stamps beyond it.
OUT_OF_RANGE = ('a stamp lies before 1677-09-22 or after 2262-04-11, which nanoseconds in 64 bits '
                'cannot say: correct it')

#: Unit of numbers in text logs → nanoseconds that it has, as a power of ten.
UNITS = {'s': 9, 'ms': 6, 'us': 3, 'ns': 0}
#: Nanoseconds since 1970: from 1990 to 2100. Such numbers in two units have no number in common.
_DATES = 631_152_000 * 10**9, 4_102_444_800 * 10**9
_ISO = re.compile(r'(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,18}))? ?'
                  r'(?:(Z)|([+-])(\d\d):?(\d\d))?', re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r'(\d{1,10})(?:\.(\d{0,9}))?', re.ASCII)
_NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?', re.ASCII | re.IGNORECASE)


def is_time(text: str) -> bool:
    """Return whether a text is a time of ISO 8601, such as 2025-11-10T17:15:41.35Z."""
    return _ISO.fullmatch(text) is not None


def from_column(numbered: Sequence[tuple[int, str]], unit: str = '') -> list[int]:
    """
    Return the stamps of a text log, which must never decrease.

    Numbers are seconds. Where one is too large for that, and all are dates from 1990 to 2100 in
    milli-, micro- or nanoseconds, they are those. Times of ISO 8601 name a zone all, or none:
    then they are taken for UTC.

    :param numbered: (line, text of the stamp).
    :param unit: of the numbers, one of `UNITS`; '': as above.
    :raises LogError: with the line: no such stamp, or it is smaller than that before.
    """
    if numbered and not unit and is_time(numbered[0][1]):
        times = _times(numbered)
    else:
        digits = UNITS[unit or 's']
        stamps = [from_text(text, digits) for _, text in numbered]
        if None in stamps and not unit:
            stamps = _dates(numbered) or stamps
        times = []
        for (line, text), stamp in zip(numbered, stamps, strict=True):
            if stamp is None and _NUMBER.fullmatch(text):
                raise LogError(OUT_OF_RANGE + (
                    ', or its unit (--stamp-unit)' if unit else
                    '. If stamps are no seconds, say their unit, ms, us or ns (--stamp-unit, '
                    'stamp_unit)'), line=line)
            if stamp is None:
                raise LogError(
                    'a stamp is not a number' if unit else
                    'a stamp is not a number of seconds, such as 12.5, nor a time such as '
                    '2025-11-10T17:15:41.35Z', line=line)
            times.append(stamp)
    check_order((line, stamp) for (line, _), stamp in zip(numbered, times, strict=True))
    return times


def _dates(numbered: Sequence[tuple[int, str]]) -> list[int | None] | None:
    """Return the stamps in the unit in which all are dates; None: there is none."""
    for unit in ('ms', 'us', 'ns'):
        stamps = [from_text(text, UNITS[unit]) for _, text in numbered]
        if all(stamp is not None and _DATES[0] <= stamp <= _DATES[1] for stamp in stamps):
            return stamps
    return None


def _times(numbered: Sequence[tuple[int, str]]) -> list[int]:
    times = []
    zoned = None
    for line, text in numbered:
        parts = _ISO.fullmatch(text)
        if parts is None:
            raise LogError('a stamp is not a time as that of the first line is', line=line)
        date, clock, rest, utc, sign, hours, minutes = parts.groups()
        try:
            since = datetime.fromisoformat(f'{date}T{clock}') - datetime(1970, 1, 1)
        except ValueError:
            raise LogError('a stamp is no time that there is', line=line) from None
        if zoned not in (None, bool(utc or sign)):
            raise LogError('a stamp names its zone, and others name none: give all, or no, '
                           'stamps a zone', line=line)
        zoned = bool(utc or sign)
        if sign:
            ahead = timedelta(hours=int(hours), minutes=int(minutes))
            since -= ahead if sign == '+' else -ahead
        fraction = int((rest or '0')[:9].ljust(9, '0'))
        stamp = (since.days * 86_400 + since.seconds) * 10**9 + fraction
        if abs(stamp) > LARGEST:
            raise LogError(OUT_OF_RANGE, line=line)
        times.append(stamp)
    return times


def from_text(number: str, digits: int = 9) -> int | None:
    """
    Return the stamp of a decimal number of seconds; None: it is no number, or out of range.

    :param digits: a unit is 10^digits nanoseconds.
    """
    # Nearly all; several times faster than Decimal.
    if digits == 9 and (plain := _PLAIN.fullmatch(number)):
        whole, rest = plain.groups('')
        stamp = int(whole + rest.ljust(9, '0'))
        return stamp if stamp <= LARGEST else None
    if not _NUMBER.fullmatch(number):  # NaN and infinity among them
        return None
    nanoseconds = Decimal(number).scaleb(digits)
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
