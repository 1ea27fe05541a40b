# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of a ROS domain, by names and types alone: nothing is subscribed to or called."""
from dataclasses import dataclass, field
import time

from rclpy.node import Node
from symdp_ros.ros.graph.joining import joined
from symdp_ros.ros.graph.watch import (BARE, full_name, NAMELESS, problem_of, publishers, REFUSED,
                                       subscriptions)


@dataclass
class Channel:
    """
    A topic, or a service, under one type.

    :ivar sources: the nodes that publish it, or offer it.
    :ivar readers: the nodes that subscribe to it, or call it.
    """

    name: str
    type_name: str
    sources: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)


@dataclass
class LiveGraph:
    """
    The nodes, topics and services of a ROS domain.

    :ivar problems: what could not be listed → why. Who has an endpoint there is then
        `watch.NAMELESS`.
    """

    nodes: set[str]
    topics: list[Channel]
    services: list[Channel]
    problems: dict[str, str] = field(default_factory=dict)


def look(domain: int, seconds: float) -> LiveGraph:
    """
    Join a ROS domain and return what is there after some seconds, without the own node.

    :raises ConfigurationError: the domain cannot be joined.
    """
    with joined(domain, 'symdp_doctor') as node:
        time.sleep(seconds)  # other threads receive what nodes announce
        return _graph(node)


def _graph(node: Node) -> LiveGraph:
    own = node.get_fully_qualified_name()
    problems: dict[str, str] = {}

    def listed(what, ask):
        try:
            return ask()
        except REFUSED as error:
            problems[what] = problem_of(error)
            return []

    names = {pair for pair in listed('the nodes', node.get_node_names_and_namespaces)
             if full_name(*pair) != own}
    topics: dict[tuple[str, str], Channel] = {}
    services: dict[tuple[str, str], Channel] = {}

    def add(channels, side, name, type_name, who):
        key = name, type_name
        getattr(channels.setdefault(key, Channel(*key)), side).add(who)

    for topic, types in listed('the topics', node.get_topic_names_and_types):
        for ends, side in ((publishers(node, topic, None), 'sources'),
                           (subscriptions(node, topic, None), 'readers')):
            for info in ends.infos:
                if (name := full_name(info.node_name, info.node_namespace)) != own:
                    add(topics, side, topic, info.topic_type, name)
                    if name not in (NAMELESS, BARE):
                        names.add((info.node_name, info.node_namespace))
            if ends.problem:
                problems[topic] = ends.problem
                for each in types:
                    add(topics, side, topic, each, NAMELESS)
    for name, namespace in names:
        for ask, side in ((node.get_service_names_and_types_by_node, 'sources'),
                          (node.get_client_names_and_types_by_node, 'readers')):
            try:
                names_and_types = ask(name, namespace)
            except REFUSED:  # the node has ended meanwhile, or is two of one name
                continue
            for service, types in names_and_types:
                for each in types:
                    add(services, side, service, each, full_name(name, namespace))
    for service, types in listed('the services', node.get_service_names_and_types
                                 ) if 'the nodes' in problems else ():
        for each in types:
            if (service, each) not in services:
                add(services, 'sources', service, each, NAMELESS)
    return LiveGraph({full_name(*pair) for pair in names}, [topics[key] for key in sorted(topics)],
                     [services[key] for key in sorted(services)], problems)
