# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Listening to a topic for some seconds, for an operator's terminal."""
from collections.abc import Callable
from time import monotonic

from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from symdp_ros.errors import ConfigurationError, printable, raising
from symdp_ros.messages.fields import message_class
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription
from symdp_ros.ros.graph.joining import joined
from symdp_ros.ros.graph.watch import publishers
from symdp_ros.ros.region_messages import deserialized

_LOOK = 0.1  # seconds between looks for a publisher


def listen(domain: int, topic: str, seconds: float,
           take: Callable[[type], Callable[[object], None]]) -> str:
    """
    Pass on the messages of a topic, from its first publisher on for some seconds.

    What was published before is asked for, too.

    :param seconds: also how long a publisher is waited for; may be infinite.
    :param take: from the class of the messages to what is called with each; None: a message that
        cannot be read.
    :return: the type of the messages.
    :raises ConfigurationError: the domain cannot be joined, the topic is no name of one, nobody
        publishes it, under several types, or under one that is not installed.
    """
    with joined(domain, 'symdp_check') as node, raising(
            ConfigurationError, f'{printable(topic)} cannot be listened to',
            (RuntimeError, ValueError)):
        topic = node.resolve_topic_name(topic)
        # It ends before its context: else rclpy may print an error.
        with SingleThreadedExecutor(context=node.context) as executor:
            executor.add_node(node)
            type_name = _type_of(node, executor, topic, seconds, domain)
            message_type = message_class(type_name)
            taken = take(message_type)
            subscription = AdaptiveSubscription(
                node, message_type, topic, lambda data: taken(deserialized(data, message_type)),
                latched=True)
            until = monotonic() + seconds
            while (left := until - monotonic()) > 0:
                executor.spin_once(timeout_sec=min(left, 1.0))
            subscription.destroy()
        return type_name


def _type_of(node: Node, executor: Executor, topic: str, seconds: float,
             domain: int) -> str:
    until = monotonic() + seconds
    while not node.count_publishers(topic) and monotonic() < until:
        executor.spin_once(timeout_sec=_LOOK)
    endpoints = publishers(node, topic, None)
    types = sorted({str(info.topic_type) for info in endpoints.infos})
    if endpoints.problem:  # its publishers cannot be listed: also the types of its readers
        types = dict(node.get_topic_names_and_types()).get(topic, [])
    if not types:
        raise ConfigurationError(
            f'nobody publishes {printable(topic)} in ROS domain {domain}: give the number of '
            'another --domain, another topic, or more --seconds')
    if len(types) > 1:
        raise ConfigurationError(f'{printable(topic)} has several types: '
                                 f'{printable(", ".join(types), 300)}')
    return types[0]
