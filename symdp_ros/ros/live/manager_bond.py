# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The bond that Nav2's lifecycle manager keeps with each node: both send heartbeats on a topic.

It needs the ROS package bondpy (4.0 or later), which is optional. Topic, id and seconds are those
of Nav2's own nodes (Lyrical; `createBond` in nav2_ros_common/lifecycle_node.hpp).
"""
from rclpy.node import Node

_TOPIC = 'bond'    # in the namespace of the node, as the manager's is in the manager's
_PERIOD = 0.25     # seconds from one heartbeat to the next
_NEVER = 1e6       # seconds without one of the manager's; Nav2's nodes end no bond, either


class ManagerBond:
    """
    A bond of a node, from now on until `end`; none where bondpy is not installed.

    A manager with `bond_timeout: 0.0` makes none: the heartbeats then end after ten seconds.
    """

    def __init__(self, node: Node):
        self._node, self._bond = node, None
        try:
            from bondpy.bondpy import Bond
        except ImportError:  # not there, or that of ROS 1
            return
        try:
            bond = Bond(node, _TOPIC, node.get_name())
            bond.heartbeat_period, bond.heartbeat_timeout = _PERIOD, _NEVER
            bond.start()
            self._bond = bond
        except Exception as error:  # such as a rule of SROS 2: the node does its work without
            node.get_logger().warning('there is no bond to a lifecycle manager: an error of type '
                                      f'{type(error).__name__}')

    def end(self) -> None:
        """Tell the manager that the node is no longer active."""
        if self._bond is not None:
            self._bond.shutdown()
            # It leaves them in the node's lists, where an executor would look at them.
            self._node.destroy_subscription(self._bond.sub)
            self._node.destroy_publisher(self._bond.pub)
            self._bond = None
