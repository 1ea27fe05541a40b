# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Publishers that come and go, for the soak: python storm.py SEED SECONDS [TEXT …].

Each publisher, of some QoS, publishes the texts once on `region`; then it goes. Subscribers to
`region` and to `private_region` stay: where one goes while a publisher of its topic comes, Fast
DDS 2.14 may crash (its issue 3303). The process ends at SIGTERM, after some seconds, or with the
one that started it.
"""
import ctypes
import random
import signal
import sys
import time

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

PUBLISHERS, SUBSCRIBERS = 50, 20
_PR_SET_PDEATHSIG = 1  # prctl(2)


def main(seed, seconds, *texts):
    until = time.monotonic() + float(seconds)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    choose = random.Random(int(seed))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    node = rclpy.create_node(f'storm_{seed}')

    def qos():
        return QoSProfile(
            depth=choose.choice([1, 10, 1000]),
            reliability=choose.choice([ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT]),
            durability=choose.choice([DurabilityPolicy.VOLATILE,
                                      DurabilityPolicy.TRANSIENT_LOCAL]))

    for _ in range(SUBSCRIBERS):
        node.create_subscription(String, choose.choice(['region', 'private_region']),
                                 lambda message: None, qos())
    while not over and time.monotonic() < until:
        publishers = [node.create_publisher(String, 'region', qos()) for _ in range(PUBLISHERS)]
        for publisher in publishers:
            for text in texts:
                publisher.publish(String(data=text))
        time.sleep(choose.choice([0, 0.01, 0.05, 0.2]))
        for publisher in publishers:
            node.destroy_publisher(publisher)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main(*sys.argv[1:])
