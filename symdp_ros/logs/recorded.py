# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a recording, and the messages of one topic in them."""
from dataclasses import dataclass, field

from symdp_ros.logs import bounds

METADATA = 'metadata.yaml'


@dataclass(repr=False)
class Recorded:
    """
    The messages of one topic, and what decodes them.

    `definitions` maps message types to their (format, text), format `ros2msg` or `ros2idl`.
    """

    types: set[str] = field(default_factory=set)
    encodings: set[str] = field(default_factory=set)
    definitions: dict[str, tuple[str, str]] = field(default_factory=dict)
    messages: list[tuple[int, bytes]] = field(default_factory=list)  # (stamp, serialized)
    size: int = 0  # bytes of the messages

    def __repr__(self) -> str:
        return f'<Recorded: {len(self.messages)} messages>'

    def add_message(self, stamp: int, data: bytes) -> None:
        """
        Add a message.

        :raises LogError: there are too many, or they are too large.
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
