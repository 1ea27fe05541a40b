# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of storage files of recordings."""
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from symdp_ros.logs.recordings import mcap_file, sqlite3_file
from symdp_ros.logs.recordings.recorded import RecordedMessage, Topic


class StorageFile(Protocol):
    """A kind of storage file; a module has these functions."""

    def scan(self, path: Path, topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
        """
        Yield every topic of the file, before its messages, and the messages of some.

        :raises LogError: as `check`.
        """

    def check(self, path: Path) -> None:
        """Check that another program can read the file within bounds; raise LogError if not."""

    def write(self, path: Path, topics: Sequence[Topic], messages: Iterable[RecordedMessage],
              record: str) -> None:
        """
        Write a new file; topics of one type have one definition, `ros2msg` or `ros2idl`.

        :param record: what it says of itself, if its format has a place for that.
        """


#: kind of storage → how its files end.
STORAGES = {'sqlite3': '.db3', 'mcap': '.mcap'}
#: kind of storage → its module.
FILES: dict[str, StorageFile] = {'sqlite3': sqlite3_file, 'mcap': mcap_file}


def scan(path: Path, storage: str,
         topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
    """Yield every topic of a file, and the messages of some; as `StorageFile.scan`."""
    return FILES[storage].scan(path, topics)
