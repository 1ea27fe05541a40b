"""Who else listens to, or publishes on, a topic."""
from collections import Counter


def other_subscribers(node, topic: str, own: int) -> list[str]:
    """
    Return the full names of nodes that subscribe to a topic, this node's `own` subscriptions apart.

    A node with several subscriptions is listed once.
    """
    names = Counter(_full_name(info) for info in node.get_subscriptions_info_by_topic(topic))
    names[node.get_fully_qualified_name()] -= own
    return sorted(name for name, count in names.items() if count > 0)


def _full_name(info) -> str:
    if info.node_name == '_NODE_NAME_UNKNOWN_':  # not announced yet, or no ROS node at all
        return 'a reader without a name'
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
