# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The bare relay that `privatizer` is measured against: a process that needs rclpy alone.

`python relay.py SPINNING --ros-args …` reads `region` and publishes `private_region`, with the QoS
that `privatizer` has there. SPINNING is `events`, for the executor and the loop that `privatizer`
has, or `spin`, for a plain `rclpy.spin`.
"""
import sys

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String


def main():
    """Relay until SIGINT."""
    events = sys.argv[1] == 'events'
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO if events else None)
    node = rclpy.create_node('relay')
    publisher = node.create_publisher(
        String, 'private_region',
        QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    node.create_subscription(String, 'region', publisher.publish, QoSProfile(depth=16_000))
    try:
        if not events:
            rclpy.spin(node)
        executor = EventsExecutor()
        executor.add_node(node)
        while True:
            executor.spin_once(timeout_sec=0.1)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
