# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the text of a map."""
import os
from pathlib import Path
from typing import TypeAlias

from symdp_ros.errors import ChainError, LogError, printable
from symdp_ros.files.regular_file import RegularFile

FilePath: TypeAlias = str | os.PathLike[str]

_LARGEST = 64_000_000  # bytes; the largest map that is known has less than a hundredth
#: How files begin that are taken for maps, and are none.
_BINARY = ((b'\x89PNG', 'a picture (PNG)'), (b'\xff\xd8\xff', 'a picture (JPEG)'),
           (b'P5', 'a picture (PGM)'), (b'%PDF', 'a document (PDF)'),
           (b'SQLite format 3', 'a database (SQLite), such as a recording or a GeoPackage'),
           (b'\x89MCAP', 'a recording (MCAP)'), (b'PK\3\4', 'a zip archive'),
           (b'\x1f\x8b', 'compressed (gzip): unpack it'),
           (b'\xff\xfe', 'text in UTF-16: save it as UTF-8'))


def read_map_text(path: FilePath) -> str:
    """
    Return the text of a file: UTF-8, with or without a byte order mark.

    :raises ChainError: it is missing, unreadable, no regular file (one that is not would be
        waited for), larger than 64 MB, or not UTF-8.
    """
    shown = printable(path)
    try:
        with RegularFile(Path(path)) as file:
            content = file.read(_LARGEST + 1)
    except LogError:
        raise ChainError('it is not a file', path=shown) from None
    except OSError as error:
        raise ChainError(f'the file cannot be read: {error.strerror}', path=shown) from None
    except ValueError:  # a zero byte, or a character that cannot be encoded
        raise ChainError(f"'{shown}' is not a valid file name") from None
    if len(content) > _LARGEST:
        raise ChainError(f'the file has more than {_LARGEST / 1e6:.0f} MB: it is too large for a '
                         'map', path=shown)
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError:
        what = next((what for start, what in _BINARY if content.startswith(start)), '')
        raise ChainError('the file is not UTF-8 text' + (what and f': it seems to be {what}'),
                         path=shown) from None
