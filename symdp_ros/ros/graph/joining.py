# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A look into a ROS domain, for an operator's terminal."""
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from symdp_ros.errors import ConfigurationError, raising
from symdp_ros.ros.process.shared_memory import fresh_ports


@contextmanager
def joined(domain: int, name: str) -> Iterator[Node]:
    """
    Yield a node in a ROS domain that logs nothing and offers no parameters.

    :param domain: 0 to 232.
    :param name: of the node.
    :raises ConfigurationError: the domain cannot be joined.
    """
    context = Context()
    try:
        # RuntimeError: the base class of all errors of rclpy's own library.
        with raising(ConfigurationError, f'ROS domain {domain} cannot be joined',
                     RuntimeError), fresh_ports(domain):
            rclpy.init(args=[], context=context, domain_id=domain)
            node = Node(name, context=context, use_global_arguments=False, enable_rosout=False,
                        start_parameter_services=False)
        try:
            yield node
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()
