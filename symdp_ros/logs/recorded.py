"""What one storage file of a recording holds of one topic."""
from dataclasses import dataclass, field


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

    def add(self, other: 'Recorded') -> None:
        """Add what another file of the same recording holds."""
        self.types |= other.types
        self.encodings |= other.encodings
        self.definitions |= other.definitions
        self.messages += other.messages
