# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of storage files of recordings."""
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from symdp_ros.logs import mcap_file, sqlite3_file
from symdp_ros.logs.recorded import Recorded


class StorageFile(Protocol):
    """A kind of storage file; a module has these functions."""

    def read(self, path: Path, topic: str) -> Recorded:
        """Return what the file holds of a topic; raise LogError as `check`."""

    def check(self, path: Path) -> None:
        """Check that another program can read the file within bounds; raise LogError if not."""

    def write(self, path: Path, topic: Mapping[str, str], definition: str,
              messages: Iterable[tuple[int, bytes]]) -> None:
        """Write a new file with one topic."""


#: kind of storage → how its files end.
STORAGES = {'sqlite3': '.db3', 'mcap': '.mcap'}
#: kind of storage → its module.
FILES: dict[str, StorageFile] = {'sqlite3': sqlite3_file, 'mcap': mcap_file}
