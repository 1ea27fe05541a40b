# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the text of a map."""
import os
from stat import S_ISREG
from typing import TypeAlias

from symdp_ros.errors import ChainError, printable

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
        content = _content(path)
    except OSError as error:
        raise ChainError(f'the file cannot be read: {error.strerror}', path=shown) from None
    except ValueError:  # a zero byte, or a character that cannot be encoded
        raise ChainError(f"'{shown}' is not a valid file name") from None
    if content is None:
        raise ChainError('it is not a file', path=shown)
    if len(content) > _LARGEST:
        raise ChainError(f'the file has more than {_LARGEST / 1e6:.0f} MB: it is too large for a '
                         'map', path=shown)
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError:
        raise ChainError('the file is not UTF-8 text', path=shown) from None


def _content(path: FilePath) -> bytes | None:
    # Without O_NONBLOCK, opening a pipe would wait for a writer.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not S_ISREG(os.fstat(number).st_mode):
            return None
        with open(number, 'rb', closefd=False) as file:
            return file.read(_LARGEST + 1)
    finally:
        os.close(number)
