# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a recording, and the topics and messages in them."""
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from symdp_ros.files import bounds

METADATA = 'metadata.yaml'
#: The name under which a release says of itself how it was made.
RECORD = 'symdp_ros'


def full_topic(name: str) -> str:
    """Return the name of a topic with its slash: `region` and `/region` are one topic."""
    return f'/{name.lstrip("/")}'


class Topic(NamedTuple):
    """
    What a storage file holds about a topic.

    :param qos: the profiles of its publishers, YAML.
    :param form: of the definition of its type, `ros2msg` or `ros2idl`; '': there is none.
    """

    name: str
    type: str  # noqa: A003 (a public name)
    encoding: str = 'cdr'
    qos: str = ''
    type_hash: str = ''
    form: str = ''
    definition: str = ''


class RecordedMessage(NamedTuple):
    """A serialized message, and when it was recorded, in nanoseconds."""

    topic: str
    stamp: int
    data: bytes


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
    topics: set[str] = field(default_factory=set)  # the names of all topics

    def __repr__(self) -> str:
        return f'<Recorded: {len(self.messages)} messages>'

    @classmethod
    def of(cls, items: Iterable[Topic | RecordedMessage], topic: str) -> 'Recorded':
        """Return what there is of one topic; raise LogError: too many messages, or too large."""
        recorded = cls()
        for item in items:
            if isinstance(item, RecordedMessage):
                recorded.size += len(item.data)
                recorded.messages.append((item.stamp, item.data))
                bounds.check_size(recorded.size)
                bounds.check_count(len(recorded.messages))
                continue
            recorded.topics.add(item.name)
            if item.name == topic:
                recorded.types.add(item.type)
                recorded.encodings.add(item.encoding)
                if item.form:
                    recorded.definitions[item.type] = item.form, item.definition
        return recorded
