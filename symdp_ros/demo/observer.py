# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a demo reads: only a demo may, as `region` is the sensitive topic."""
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import signal
import time

from symdp_ros.demo.processes import DemoError
from symdp_ros.ros.process.stop_signals import stop_signals

_PATIENCE = 90.0      # seconds for all nodes to start, or to catch up
_IN_TURN = 0.002      # seconds that one domain of several is listened to


class Observer:
    """
    ROS nodes, one in each domain, that read topics of some robots.

    :param domains: topic → the ROS domain in which it is read.
    :param robots: their namespaces.
    :param namespace: of the nodes, whose name is `demo`.
    :ivar words: topic → robot → what was published, in order.
    :ivar true_before: robot → for each private region, how many true ones had come before it.
    :ivar nodes: topic → the node that reads it.
    """

    def __init__(self, domains: Mapping[str, int], robots: Sequence[str], namespace: str = '/'):
        self._domains, self._robots, self._namespace = domains, robots, namespace
        self.words: dict[str, dict[str, list[str]]] = {
            topic: {robot: [] for robot in robots} for topic in domains}
        self.true_before: dict[str, list[int]] = {robot: [] for robot in robots}

    def __enter__(self) -> 'Observer':
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from std_msgs.msg import String
        from symdp_ros.ros.process.shared_memory import fresh_ports

        latched = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._executors = {}
        by_domain = {}
        for domain in set(self._domains.values()):
            context = Context()
            rclpy.init(args=[], context=context, domain_id=domain)
            with fresh_ports(domain):
                by_domain[domain] = rclpy.create_node(
                    'demo', namespace=self._namespace, context=context, enable_rosout=False,
                    start_parameter_services=False)
            self._executors[domain] = SingleThreadedExecutor(context=context)
            self._executors[domain].add_node(by_domain[domain])
        self.nodes = {topic: by_domain[domain] for topic, domain in self._domains.items()}
        for topic, words in self.words.items():
            for robot, word in words.items():
                def read(message, word=word, topic=topic, robot=robot):
                    word.append(message.data)
                    if topic == 'private_region':
                        self.true_before[robot].append(len(self.words['region'][robot]))

                self.nodes[topic].create_subscription(String, f'/{robot}/{topic}', read, latched)
        return self

    def __exit__(self, *exception):
        import rclpy

        for node in set(self.nodes.values()):
            executor = self._executors[node.context.get_domain_id()]
            executor.remove_node(node)
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown(context=node.context)

    def pairs(self, robot: str) -> list[tuple[str, str]]:
        """Return where the robot was and where others saw it, for each private region."""
        true, private = (self.words[topic][robot] for topic in ('region', 'private_region'))
        return [(true[count - 1], seen) for count, seen in zip(
            self.true_before[robot], private, strict=True) if count]

    def are_published(self, topic: str) -> bool:
        """Return whether all robots publish a topic."""
        return all(self.nodes[topic].count_publishers(f'/{robot}/{topic}')
                   for robot in self._robots)

    def spin(self, seconds, *processes):
        """Receive messages for some time, while the processes run."""
        until = time.monotonic() + seconds
        with _deferred_signals() as sent:
            while not sent and (left := until - time.monotonic()) > 0:
                for executor in self._executors.values():
                    executor.spin_once(timeout_sec=left if len(self._executors) == 1 else _IN_TURN)
        for process in processes:
            process.check(running=True)

    def wait(self, condition, *processes):
        """
        Receive messages until the condition holds.

        :raises DemoError: it does not, within a minute and a half.
        """
        until = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > until:
                raise DemoError('the nodes do not receive from each other: is something blocking '
                                'loopback multicast or shared memory?')
            self.spin(0.05, *processes)


@contextmanager
def _deferred_signals() -> Iterator[list[int]]:
    """
    Let signals that ask to stop wait for the end of the block; yield the list of those sent.

    Their handlers raise exceptions. If one came while rclpy hands over a message, the message
    would be lost, and the demo would wait for it; or rclpy would raise another error instead.
    """
    sent: list[int] = []
    handlers = {number: signal.signal(number, lambda number, frame: sent.append(number))
                for number in stop_signals()}
    try:
        yield sent
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for sent_number in sent:
            signal.raise_signal(sent_number)
