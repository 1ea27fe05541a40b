# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A process that publishes regions and receives private ones, for `bench.nodes`.

`python probe.py NAME… --ros-args …` publishes on `NAME/region` and receives `NAME/private_region`
for each name. Each line of its input is a JSON list, the name of a method of `Probe` and its
arguments; each answer is a line of JSON.
"""
import json
import os
import sys
import threading
import time

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from std_msgs.msg import String

_PATIENCE = 20.0  # seconds for what should take a moment
_REPAIR = 4.0     # what was lost on the way is sent again after a heartbeat: every 3 s, or sooner


class Probe:
    """Publishers and subscriptions, reliable, for some names."""

    def __init__(self, names):
        self._node = rclpy.create_node('probe')
        self._executor = EventsExecutor()
        self._executor.add_node(self._node)
        qos = QoSProfile(depth=100_000)  # what is lost is lost by others
        self._publishers, self._subscriptions = {}, {}
        self._received = dict.fromkeys(names, 0)
        for name in names:
            self._publishers[name] = self._node.create_publisher(String, f'{name}/region', qos)
            self._subscriptions[name] = self._node.create_subscription(
                String, f'{name}/private_region', self._counter(name), qos, raw=True)

    def _counter(self, name):
        received = self._received

        def count(message):
            received[name] += 1

        return count

    def _spin_until(self, condition, patience=_PATIENCE):
        until = time.monotonic() + patience
        while not condition():
            if time.monotonic() > until:
                return False
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def connect(self):
        """Return whether every publisher gets a reader, and every subscription a writer."""
        return self._spin_until(lambda: all(
            publisher.get_subscription_count() >= 1 for publisher in self._publishers.values()
        ) and all(subscription.get_publisher_count() >= 1
                  for subscription in self._subscriptions.values()))

    def ping(self, name: str, regions: list[str]):
        """Publish each region when the one before was answered; return the seconds of each."""
        publish, received, spin = (self._publishers[name].publish, self._received,
                                   self._executor.spin_once)
        clock, seconds = time.perf_counter, []
        for message in map(_serialized, regions):
            answered = received[name] + 1
            begin = clock()
            publish(message)
            while received[name] < answered:
                spin(timeout_sec=1.0)
                if clock() > begin + _PATIENCE:
                    raise TimeoutError(name)
            seconds.append(clock() - begin)
        return seconds

    def send(self, name: str, regions: list[str], count: int, rate: float):
        """
        Publish so many messages, a few each millisecond; return the seconds that took.

        One by one, the sender would sleep so often that it takes the processor from the others.
        """
        publish = self._publishers[name].publish
        messages = [*map(_serialized, regions)]
        clock, kinds, together = time.perf_counter, len(messages), max(1, round(rate / 1_000))
        begin = clock()
        for first in range(0, count, together):
            ahead = begin + first / rate - clock()
            if ahead > 0:
                time.sleep(ahead)
            for number in range(first, min(first + together, count)):
                publish(messages[number % kinds])
        return max(clock() - begin, count / rate)

    def receive(self, name: str, count: int):
        """Return how many messages came of so many, when all are there or none comes any more."""
        received, before = self._received, self._received[name]
        while received[name] < before + count:
            now = received[name]
            self._spin_until(lambda: received[name] > now,
                             _REPAIR if now > before else _PATIENCE)
            if received[name] == now:
                break
        return received[name] - before

    def publish_always(self, region: str, period: float):
        """From now on, publish a region for every name, once every period (seconds)."""
        message = _serialized(region)

        def publish():
            while True:
                for publisher in self._publishers.values():
                    publisher.publish(message)
                time.sleep(period)

        threading.Thread(target=publish, daemon=True).start()

    def first(self, name: str):
        """Return when the next message came (CLOCK_MONOTONIC, seconds)."""
        received, before = self._received, self._received[name]
        if not self._spin_until(lambda: received[name] > before):
            raise TimeoutError(name)
        return time.monotonic()

    def silent(self, name: str):
        """Return whether the writer of the private regions is gone, and all was received."""
        gone = self._spin_until(lambda: not self._subscriptions[name].get_publisher_count())
        self._spin_until(lambda: False, 0.1)
        return gone


def _serialized(region):
    return serialize_message(String(data=region))


def main():
    """Answer until the input ends."""
    rclpy.init()
    probe = Probe(sys.argv[1:sys.argv.index('--ros-args')])
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        print(json.dumps(getattr(probe, method)(*arguments)), flush=True)
    os._exit(0)  # whatever its threads are at


if __name__ == '__main__':
    main()
