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
        raise ChainError('the file is not UTF-8 text', path=shown) from None
