"""Reading the text of a map."""
from pathlib import Path

from symdp_ros.core.errors import ChainError


def read_map_text(path) -> str:
    """
    Return the text of a file: UTF-8, with or without a byte order mark.

    :raises ChainError: it is missing, unreadable, no regular file (one that is not would be
        waited for), or not UTF-8.
    """
    path = Path(path)
    try:
        other = path.exists() and not path.is_file()
    except ValueError:  # a path that no file can have
        raise ChainError(f'{str(path)!r} is no name of a file') from None
    if other:
        raise ChainError(f'{path}: it is not a file')
    try:
        return path.read_text(encoding='utf-8-sig')
    except OSError as error:
        raise ChainError(f'{path}: the file cannot be read: {error.strerror}') from None
    except UnicodeDecodeError:
        raise ChainError(f'{path}: the file is not UTF-8 text') from None
