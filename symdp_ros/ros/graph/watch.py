# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The nodes that subscribe to, or publish on, a topic.

Everything in the graph was announced by somebody, also by participants that are no ROS nodes:
rclpy raises an exception where a name in it is not UTF-8. Here alone it is asked for endpoints.
"""
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.exceptions import NameValidationException
from symdp_ros.errors import printable

NAMELESS = 'a node without a name'
BARE = 'a program without ROS'
UNKNOWN = '_NODE_NAME_UNKNOWN_'  # rmw's for a node not announced yet, or no ROS node at all
_BARE = '_CREATED_BY_BARE_DDS_APP_'   # rmw's for what a participant has that tells of no nodes
NO_NAME = 'ROS allows no such name'
NO_TEXT = 'a participant announces a name that is no text'

_MOST = 100  # endpoints of a topic that a running node lists: a thousand would take 0.2 s
#: What rclpy raises for names that are not UTF-8 or not ROS's, and for QoS that it does not know.
REFUSED = (ValueError, OverflowError, TypeError, RuntimeError, NameValidationException)


@dataclass(frozen=True)
class Endpoints:
    """
    The publishers, or subscriptions, of a topic.

    :ivar count: how many there are.
    :ivar infos: what rclpy knows of each; none of them where there is a `problem`.
    :ivar problem: why they cannot be listed; '' if they can.
    """

    count: int
    infos: Sequence[Any]
    problem: str = ''


def publishers(node, topic: str, most: int | None = _MOST) -> Endpoints:
    """Return the publishers of a topic; of more than `most`, only the number. Never raises."""
    return _endpoints(node.count_publishers, node.get_publishers_info_by_topic, topic, most)


def subscriptions(node, topic: str, most: int | None = _MOST) -> Endpoints:
    """Return the subscriptions of a topic; of more than `most`, only the number. Never raises."""
    return _endpoints(node.count_subscribers, node.get_subscriptions_info_by_topic, topic, most)


def problem_of(error: Exception) -> str:
    """Return in words why rclpy could not list what is in the graph."""
    return NO_TEXT if isinstance(error, UnicodeDecodeError) else (
        f'a participant announces what rclpy cannot read ({type(error).__name__})')


def other_names(node, infos, own: int) -> list[str]:
    """
    Return the full names of the nodes of subscriptions, each once.

    :param own: how many of the subscriptions are this node's; they do not count.
    """
    names = Counter(map(_node_name, infos))
    names[node.get_fully_qualified_name()] -= own
    return sorted(name for name, count in names.items() if count > 0)


def publisher_names(infos) -> list[str]:
    """Return the full names of the nodes that publish, each once."""
    return sorted({_node_name(info) for info in infos})


def some_names(names: Sequence[str], most: int = 5) -> str:
    """Return names as a message shows them: the first few, and how many others there are."""
    shown = ', '.join(names[:most])
    return shown if len(names) <= most else f'{shown} and {len(names) - most} more'


def full_name(name: str, namespace: str) -> str:
    """Return the full name of a node; where rmw gives a name of its own, what this stands for."""
    return {UNKNOWN: NAMELESS, _BARE: BARE}.get(name) or f'{namespace.rstrip("/")}/{name}'


def _node_name(info) -> str:
    return printable(full_name(info.node_name, info.node_namespace))


def _endpoints(count: Callable[[str], int], listing: Callable[[str], Sequence[Any]], topic: str,
               most: int | None) -> Endpoints:
    try:
        number = count(topic)
    except (ValueError, NameValidationException):  # of a participant that is no ROS node
        return Endpoints(0, (), NO_NAME)
    if most is not None and number > most:
        return Endpoints(number, (), f'there are more than {most}')
    try:
        infos = listing(topic)
    except REFUSED as error:
        return Endpoints(number, (), problem_of(error))
    return Endpoints(len(infos), infos)
