# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Logs as JSON Lines: an object per line, such as {"stamp": 12.5, "symbol": "dock"}.

Stamps are those of `words.stamps.from_column`. States of VDA 5050 are such objects, too.
"""
from collections.abc import Callable, Iterable, Sequence
import json
from pathlib import Path
from typing import Any, TypeVar

from symdp_ros.errors import LogError
from symdp_ros.files import bounds
from symdp_ros.logs.csv_log import lines
from symdp_ros.messages.poses import FloorPosition
from symdp_ros.messages.vda5050 import check_level_field, position_of
from symdp_ros.words import stamps

_Value = TypeVar('_Value')


class _Number(str):
    """A number as the text that is in the file, so that no digit is lost."""


def read(path: Path, stamp_key: str, symbol_key: str,
         unit: str = '') -> list[tuple[int, str | None]]:
    """Return (stamp, symbol) of every line; null is None, and blank lines are skipped."""
    return _read(path, stamp_key, symbol_key, unit, lambda record, line: _symbol(
        record[symbol_key], line))


def read_positions(path: Path, stamp_key: str, level_field: str,
                   unit: str = '') -> list[tuple[int, FloorPosition | None]]:
    """
    Return (stamp, position) of every line, which is a state of VDA 5050; None: it knows none.

    :raises ConfigurationError: a floor that such states do not name.
    """
    check_level_field(level_field)
    return _read(path, stamp_key, 'lastNodeId', unit, lambda record, line: position_of(
        record, bool(level_field)))


def _read(path: Path, stamp_key: str, key: str, unit: str,
          value_of: Callable[[dict[str, Any], int], _Value]) -> list[tuple[int, _Value]]:
    values: list[_Value] = []
    numbered = []
    for line, content in enumerate(lines(path, newline='\n'), 1):
        if not content.strip():
            continue
        record = _record(content)
        if record is None:
            raise LogError('a line is not a JSON object such as '
                           f'{{"{stamp_key}": 12.5, "{key}": "dock"}}', line=line)
        if stamp_key not in record or key not in record:
            raise LogError(f'a line needs the keys {stamp_key!r} and {key!r}: add them, '
                           'or name the keys that it has', line=line)
        stamp = record[stamp_key]
        is_stamp = isinstance(stamp, _Number) or isinstance(stamp, str) and stamps.is_time(stamp)
        values.append(value_of(record, line))
        numbered.append((line, stamp if is_stamp else ''))
        bounds.check_count(len(values))
    return list(zip(stamps.from_column(numbered, unit), values, strict=True))


def text(word: Sequence[str], period: int, stamp_key: str, symbol_key: str) -> Iterable[str]:
    """Return the lines of a word whose symbols are `period` nanoseconds apart."""
    stamp_key, symbol_key = json.dumps(stamp_key), json.dumps(symbol_key)
    for i, symbol in enumerate(word):
        stamp = stamps.to_text(i * period)
        yield f'{{{stamp_key}: {stamp}, {symbol_key}: {json.dumps(symbol)}}}\n'


def _record(content: str) -> dict[str, Any] | None:
    try:
        record = json.loads(content, parse_float=_Number, parse_int=_Number,
                            parse_constant=_Number, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError('a key is repeated')
    return record


def _symbol(value: Any, line: int) -> str | None:
    if isinstance(value, _Number):
        if not value.lstrip('-').isdigit():
            raise LogError('a symbol is a number that is no integer: regions are discrete; write '
                           'a string, an integer or a boolean', line=line)
        return '0' if value == '-0' else str(value)
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if value is None or isinstance(value, str):
        return value
    raise LogError('a symbol is a list or an object: write a string, an integer or a boolean',
                   line=line)
