# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Leaving a topic without taking along what is still on its way."""
from contextlib import suppress

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher

_PATIENCE = Duration(seconds=0.5)  # for readers that are there and do not answer


def destroy_when_delivered(node: Node, publisher: Publisher) -> None:
    """
    Destroy a publisher, once its reliable readers have what was published, or after half a second.

    A writer that ends takes along what a busy reader has not fetched.
    """
    with suppress(RuntimeError):  # a middleware that does not tell, such as Zenoh
        publisher.wait_for_all_acked(_PATIENCE)
    node.destroy_publisher(publisher)
