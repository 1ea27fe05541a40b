# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The bare relay that `privatizer` is measured against: a process that needs rclpy alone.

`python relay.py --ros-args …` reads `region` and publishes `private_region`, with the QoS, the
executor and the loop that `privatizer` has.
"""
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String


def main():
    """Relay until SIGINT."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('relay')
    publisher = node.create_publisher(
        String, 'private_region',
        QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    node.create_subscription(String, 'region', publisher.publish, QoSProfile(depth=16_000))
    executor = EventsExecutor()
    executor.add_node(node)
    try:
        while True:
            executor.spin_once(timeout_sec=0.1)
    except KeyboardInterrupt:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
