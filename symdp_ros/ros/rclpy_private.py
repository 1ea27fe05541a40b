# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that this package takes of rclpy's private parts: look here at each new rclpy."""
from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import _declare_qos_parameters, QoSOverridingOptions


def overrides_of(node: Node) -> dict[str, Any]:
    """Return the values of parameters that were given to a node, by name."""
    return {name: parameter.value for name, parameter in node._parameter_overrides.items()}


def arguments_of(node: Node) -> set[str]:
    """Return the names of the parameters that rcl found in the arguments of a node."""
    with node.handle:
        return set(node.handle.get_parameters(Parameter))


def share_overrides(giver: Node, taker: Node) -> None:
    """Give a node the parameter values of another one."""
    taker._parameter_overrides = giver._parameter_overrides


def offer_parameter_services(node: Node) -> None:
    """Make the services that a node was made without, once its parameters are declared."""
    node._parameter_service = ParameterService(node)


def stop_parameter_events(node: Node) -> None:
    """Publish changes of parameters no more."""
    node.destroy_publisher(node._parameter_event_publisher)


def declare_qos_parameters(node: Node, topic: str, qos: QoSProfile,
                           options: QoSOverridingOptions) -> None:
    """Declare the parameters that override the QoS of a publisher, and apply them to `qos`."""
    _declare_qos_parameters(Publisher, node, topic, qos, options)


def lifecycle_state(node: LifecycleNode) -> str:
    """Return the name of the state that a node is in, such as 'active'."""
    return node._state_machine.current_state[1]


def leave_graph(node: LifecycleNode) -> None:
    """Destroy a node so that others see it no longer; rclpy lets them until Python frees it."""
    node.destroy_node()
    node._state_machine.destroy_when_not_in_use()
