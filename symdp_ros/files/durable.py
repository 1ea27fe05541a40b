# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writing what must survive a crash."""
import os
from pathlib import Path


def make_durable(path: Path) -> None:
    """
    Make a release durable, file or directory, whose times of modification become the epoch.

    :raises OSError: it cannot be written.
    """
    for file in (*(sorted(path.iterdir()) if path.is_dir() else ()), path):
        flush(file, epoch=True)


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
