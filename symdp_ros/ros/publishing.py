# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Destroying a publisher after its messages are delivered."""
from contextlib import suppress

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher

_PATIENCE = Duration(seconds=0.5)  # for subscribers that do not acknowledge


def destroy_when_delivered(node: Node, publisher: Publisher) -> None:
    """
    Destroy a publisher once reliable subscribers have its messages, or after half a second.

    Messages that a busy subscriber has not fetched by then are lost.
    """
    with suppress(RuntimeError):  # not supported by every middleware, such as Zenoh
        publisher.wait_for_all_acked(_PATIENCE)
    node.destroy_publisher(publisher)
