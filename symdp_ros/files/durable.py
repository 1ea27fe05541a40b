# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writing what must survive a crash."""
import os
from pathlib import Path
import secrets

from symdp_ros.errors import ConfigurationError, printable


def make_durable(path: Path) -> None:
    """
    Make a release durable, file or directory, whose times of modification become the epoch.

    :raises OSError: it cannot be written.
    """
    for file in files_in(path):
        flush(file, epoch=True)
    for directory, _, _ in os.walk(path):
        flush(directory, epoch=True)


def files_in(path: Path) -> list[Path]:
    """Return what is in a directory, and in those in it, by name; or what is no directory."""
    return sorted(Path(directory, name) for directory, _, names in os.walk(path)
                  for name in names) if path.is_dir() else [path]


def flush(path: str | Path, *, epoch: bool = False) -> None:
    """
    Make a file, or the entries of a directory, durable.

    :param epoch: its time of modification becomes the epoch.
    :raises OSError: it cannot be written.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if epoch:
            os.utime(descriptor, ns=(0, 0))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_new(output: Path) -> None:
    """
    Check that nothing is at a path, and that its directory is there.

    :raises ConfigurationError: something is, or it is not.
    """
    if os.path.lexists(output):
        raise ConfigurationError(f'{printable(output)} is there already: name another file, or '
                                 'remove it')
    if not output.parent.is_dir():
        raise ConfigurationError(f'{printable(output)} cannot be written: the directory '
                                 f'{printable(output.parent)} does not exist')


def move(source: Path, target: Path) -> None:
    """
    Move a file or directory to a path that is free.

    :raises FileExistsError: it is not free.
    """
    if os.path.lexists(target):
        raise FileExistsError(target)
    if source.is_dir():
        os.rename(source, target)
        return
    try:
        os.link(source, target)  # unlike a rename, this never replaces a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.rename(source, target)
        return
    os.unlink(source)


def write_new_file(output: Path, text: str) -> None:
    """
    Put a whole file in its place; never replace one.

    :raises ConfigurationError: something is there.
    :raises OSError: it cannot be written.
    """
    draft = output.with_name(f'.{secrets.token_hex(8)}.symdp')
    with open(draft, 'x', encoding='utf-8') as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            try:
                move(draft, output)
            except FileExistsError:
                check_new(output)
                raise
        finally:
            draft.unlink(missing_ok=True)


def make_directory(directory: Path, mode: int = 0o777) -> None:
    """
    Make a directory, and those that it lies in, where there is none.

    :raises ConfigurationError: it cannot be made.
    """
    problem = None
    try:
        directory.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        problem = error.strerror
    except RecursionError:
        problem = 'its path is too deep'
    if problem is not None:
        raise ConfigurationError(f'{printable(directory)} cannot be made: {problem}')
