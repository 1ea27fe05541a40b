# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Logs as CSV (RFC 4180): a header with the columns `stamp` and `symbol`, and others.

Fields may also be separated by `;` or tabs, and spaces may follow the separators: the header
tells. Stamps are those of `words.stamps.from_column`.

The last line needs its line end: a file that was cut off, or is being written, could otherwise
end with half a symbol. (A file that was cut off after a whole line looks complete.)
"""
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
import csv
import io
from pathlib import Path

from symdp_ros.errors import LogError
from symdp_ros.files import bounds
from symdp_ros.files.regular_file import RegularFile
from symdp_ros.words import stamps


def read(path: Path, stamp_key: str, symbol_key: str, unit: str = '') -> list[tuple[int, str]]:
    """Return (stamp, symbol) of every row; blank lines are skipped."""
    text = lines(path, newline='')
    form = _form(text, {stamp_key, symbol_key})
    text.seek(0)
    rows = _rows(text, *form)
    _, header = next(rows, (1, list[str]()))
    if header.count(stamp_key) != 1 or header.count(symbol_key) != 1:
        raise LogError(f'its first line must be a header with the columns {stamp_key!r} and '
                       f'{symbol_key!r}, once each: add it, or name the columns that it has: '
                       'stamp_key, symbol_key (--stamp-key, --symbol-key). Where rows have no '
                       'times, number them from 0 as stamps, and say how many are hidden: '
                       'adjacency (--adjacency), as protect needs times')
    stamp_column, symbol_column = header.index(stamp_key), header.index(symbol_key)
    symbols: list[str] = []
    numbered = []
    for line, row in rows:
        if len(row) != len(header):
            raise LogError(f'a line has more or fewer fields than the {len(header)} of the '
                           'header: correct it', line=line)
        symbols.append(row[symbol_column])
        numbered.append((line, row[stamp_column].strip()))
        bounds.check_count(len(symbols))
    return list(zip(stamps.from_column(numbered, unit), symbols, strict=True))


def text(word: Sequence[str], period: int, stamp_key: str, symbol_key: str) -> Iterable[str]:
    """Return the lines of a word whose symbols are `period` nanoseconds apart."""
    yield f'{_quoted(stamp_key)},{_quoted(symbol_key)}\n'
    quoted = {symbol: _quoted(symbol) for symbol in set(word)}
    for i, symbol in enumerate(word):
        yield f'{stamps.to_text(i * period)},{quoted[symbol]}\n'


def lines(path: Path, newline: str) -> io.TextIOWrapper:
    """
    Return the text of a file, to be read line by line.

    :param newline: where lines end, as in `open`.
    :raises LogError: it is no regular file, too large, or its last line has no line end.
    """
    with RegularFile(path) as file:
        bounds.check_size(file.size)
        content = file.read()
    if content and not content.endswith((b'\n', b'\r')):
        raise LogError('its last line has no line end: it was cut off or is still being written; '
                       'if it is complete, add a newline')
    return io.TextIOWrapper(io.BytesIO(content), 'utf-8-sig', newline=newline)


def _form(text: io.TextIOWrapper, keys: set[str]) -> tuple[str, bool]:
    """Return what separates fields, and whether spaces follow it, where a header has the keys."""
    for form in ((delimiter, spaced) for spaced in (False, True) for delimiter in ',;\t'):
        text.seek(0)
        with suppress(LogError):  # with another separator, a quote may stand inside a field
            _, header = next(_rows(text, *form), (1, list[str]()))
            if keys <= set(header):
                return form
    return ',', False


def _rows(text: Iterable[str], delimiter: str, spaced: bool) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text, strict=True, delimiter=delimiter, skipinitialspace=spaced)
    with suppress(csv.Error):
        for row in reader:
            if row:
                yield reader.line_num, row
        return
    raise LogError('a line is not CSV: look for a stray or missing quote', line=reader.line_num)


def _quoted(field: str) -> str:
    # by hand: before Python 3.13 the csv module leaves a lone carriage return unquoted
    if field and not field[0].isspace() and not set(field) & set(',"\r\n'):
        return field
    return '"' + field.replace('"', '""') + '"'
