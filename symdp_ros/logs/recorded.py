# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the files of a recording are, and what one of them holds of one topic."""
from dataclasses import dataclass, field

from symdp_ros.logs import bounds

METADATA = 'metadata.yaml'
#: The kinds of storage → how their files end.
STORAGES = {'sqlite3': '.db3', 'mcap': '.mcap'}


@dataclass
class Recorded:
    """
    The messages of one topic, and what is needed to decode them.

    `definitions` maps message types to their (format, text), format `ros2msg` or `ros2idl`.
    """

    types: set[str] = field(default_factory=set)
    encodings: set[str] = field(default_factory=set)
    definitions: dict[str, tuple[str, str]] = field(default_factory=dict)
    messages: list[tuple[int, bytes]] = field(default_factory=list)  # (stamp, serialized)
    size: int = 0  # bytes of the messages

    def hold(self, stamp: int, data: bytes) -> None:
        """
        Add a message.

        :raises LogError: these are too many, or too large.
        """
        self.size += len(data)
        bounds.check_size(self.size)
        self.messages.append((stamp, data))
        bounds.check_count(len(self.messages))

    def add(self, other: 'Recorded') -> None:
        """Add what another file of the same recording holds."""
        self.types |= other.types
        self.encodings |= other.encodings
        self.definitions |= other.definitions
        self.messages += other.messages
        self.size += other.size
        bounds.check_size(self.size)
        bounds.check_count(len(self.messages))
