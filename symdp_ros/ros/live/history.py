# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The topic `private_region/history`: what the policy 'adaptive' draws by, for the node `belief`.

Each private region is published there once more (std_msgs/msg/String, latched), as JSON with

    number     of the region since the privatizer was configured, from 1
    previous   the private region before it; null: none, a new word begins with this one
    region     the private region
    belief     f (`core.online.adaptive`) before it was drawn: of each model, in each of them of
               each state in the order of the chain, float64, little-endian, in base64

Number 1 after a `previous` means that the privatizer was restarted: f is then what the models say
after `previous`, each of them as likely as at the start.

**Privacy.** f is computed from private regions and public settings alone: nothing is published
that readers of `private_region` could not compute themselves.
"""
from base64 import b64decode, b64encode
import json
from typing import NamedTuple

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from symdp_ros.core.annotations import Floats
from symdp_ros.options import history_topic
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.words.live_word import LiveWord

_FLOAT = '<f8'


class HistoryEntry(NamedTuple):
    """One message of the topic."""

    number: int
    previous: str | None
    region: str
    belief: Floats

    def text(self) -> str:
        """Return the text of the message."""
        return json.dumps({**self._asdict(), 'belief': b64encode(
            self.belief.astype(_FLOAT).tobytes()).decode('ascii')}, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> 'HistoryEntry':
        """
        Read the text of a message.

        :raises ValueError: it is none.
        """
        try:
            fields = json.loads(text)
            number, previous, region = (fields[name] for name in cls._fields[:3])
            belief = np.frombuffer(b64decode(fields['belief'], validate=True), _FLOAT)
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ValueError('no entry of a history') from None
        if not (type(number) is int and type(region) is str
                and (previous is None or type(previous) is str)):
            raise ValueError('no entry of a history')
        return cls(number, previous, region, belief.astype(np.float64))


class History:
    """
    Publishes the history of a word from here on.

    :param node: the privatizer.
    :param word: its mechanism has `tables`.
    :param depth: how many messages late readers get.

    `topic` is its name.
    """

    def __init__(self, node, word: LiveWord, depth: int):
        self._node, self._word, self._number = node, word, 0
        self._publisher = node.create_publisher(
            String, history_topic(node.resolve_topic_name('private_region')),
            QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        self.topic = self._publisher.topic_name

    def before_draw(self) -> None:
        """Keep what the next region is drawn by."""
        self._previous, belief = self._word.last, self._word.mechanism.belief
        assert belief is not None  # there are tables
        self._belief = belief

    def publish(self, region: str) -> None:
        """Publish a region that was drawn."""
        self._number += 1
        entry = HistoryEntry(self._number, self._previous, region, self._belief)
        self._publisher.publish(String(data=entry.text()))

    def destroy(self) -> None:
        """Stop publishing."""
        destroy_when_delivered(self._node, self._publisher)
