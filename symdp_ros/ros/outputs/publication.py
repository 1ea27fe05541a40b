# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an output is made from, whichever it is."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile
from symdp_ros.core.chain import Chain
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.positions import Place


@dataclass(frozen=True)
class Publication:
    """
    One topic that goes out.

    :param node: that publishes it.
    :param settings: values of the options `OUTPUT_OPTIONS` and of the map.
    :param graph: the map, and `places` of its states; None and empty if names alone are published.
    """

    node: Any
    topic: str
    settings: Mapping[str, Any]
    chain: Chain
    graph: TransitionGraph | None
    places: Mapping[str, Place]


def latched(depth: int) -> QoSProfile:
    """Return the QoS of a topic that gives late readers the last messages, so many."""
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)
