# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Destroying a publisher after its messages are delivered."""
from contextlib import suppress
from math import inf
from time import monotonic

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from symdp_ros.ros.live.watchdog import ends_if_stuck

_PATIENCE = Duration(seconds=0.5)  # for subscribers that do not acknowledge
_LITTLE = Duration(seconds=0.05)   # after a wait in vain
_SOON = 5.0                        # seconds
_STUCK = 20.0                      # seconds; it takes milliseconds
_in_vain_at = -inf                 # when the last wait in vain ended, in seconds


def destroy_when_delivered(node: Node, publisher: Publisher) -> None:
    """
    Destroy a publisher once reliable subscribers have its messages, or after half a second.

    Messages that a busy subscriber has not fetched by then are lost. (rmw_zenoh_cpp does not wait:
    it answers at once, and has given the messages to TCP by then.) Publishers that are destroyed
    soon after a wait in vain wait less: a program that hangs may subscribe to many robots, and
    the end of a fleet must not take half a second for each.
    """
    global _in_vain_at
    patience = _LITTLE if monotonic() - _in_vain_at < _SOON else _PATIENCE
    with suppress(RuntimeError):  # not supported by every middleware
        if not publisher.wait_for_all_acked(patience):
            _in_vain_at = monotonic()
    with ends_if_stuck(_STUCK):
        node.destroy_publisher(publisher)
