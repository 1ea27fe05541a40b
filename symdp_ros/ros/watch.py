# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes that subscribe to, or publish on, a topic."""
from collections import Counter
from collections.abc import Sequence

from symdp_ros.core.printable import printable

NAMELESS = 'a node without a name'
UNKNOWN = '_NODE_NAME_UNKNOWN_'  # rmw's for a node not announced yet, or no ROS node at all


def other_subscribers(node, topic: str, own: int) -> list[str]:
    """
    Return the full names of nodes that subscribe to a topic, each once.

    :param own: how many of the subscriptions are this node's; they do not count.
    """
    names = Counter(_full_name(info) for info in node.get_subscriptions_info_by_topic(topic))
    names[node.get_fully_qualified_name()] -= own
    return sorted(name for name, count in names.items() if count > 0)


def publisher_names(infos) -> list[str]:
    """Return the full names of the nodes that publish, each once."""
    return sorted({_full_name(info) for info in infos})


def is_unnamed(info) -> bool:
    """Return whether the node of a publisher has no name, or none yet."""
    return info.node_name == UNKNOWN


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names as a message shows them: the first few, and how many others there are."""
    shown = ', '.join(names[:most])
    return shown if len(names) <= most else f'{shown} and {len(names) - most} more'


def _full_name(info) -> str:
    if is_unnamed(info):
        return NAMELESS
    return printable(f'{info.node_namespace.rstrip("/")}/{info.node_name}')
