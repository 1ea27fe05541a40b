# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Publishing in another ROS domain, where nothing else of this process is to be seen."""
from rclpy.context import Context
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from symdp_ros.ros.live.watchdog import ends_if_stuck
from symdp_ros.ros.process.shared_memory import fresh_ports
from symdp_ros.ros.rclpy_private import (declare_qos_parameters, share_overrides,
                                         stop_parameter_events)

_STUCK = 20.0  # seconds; leaving takes milliseconds

_contexts: dict[int, Context] = {}  # domain → the one context that this process has there


def context_of(domain: int) -> Context:
    """
    Return the context of this process in a ROS domain, for `leave_domains` to shut down.

    Nodes share it: each context has threads and discovery traffic of its own.
    """
    if domain not in _contexts:
        context = Context()
        # No arguments: remappings and parameters on the command line are for other nodes.
        context.init([], initialize_logging=False, domain_id=domain)
        _contexts[domain] = context
    return _contexts[domain]


def leave_domains() -> None:
    """Shut all contexts down that `context_of` made; no node is in them any more."""
    while _contexts:
        _contexts.popitem()[1].try_shutdown()


class OuterNode(Node):
    """
    A node in the output domain that has publishers, and nothing else.

    It has no services, no parameters that others could read, no /rosout and no /parameter_events.
    Names of topics, overrides of QoS and the clock are those of the inner node, whose name and
    namespace it has.

    :param inner: the node whose messages go out here.
    """

    def __init__(self, inner: Node, domain: int):
        self._inner, self._is_made = inner, False
        with fresh_ports(domain):
            super().__init__(
                inner.get_name(), namespace=inner.get_namespace(), context=context_of(domain),
                use_global_arguments=False, enable_rosout=False, start_parameter_services=False,
                parameter_overrides=[Parameter('start_type_description_service', value=False)])
        self._is_made = True
        share_overrides(inner, self)
        stop_parameter_events(self)

    def leave(self) -> None:
        """Leave the domain."""
        with ends_if_stuck(_STUCK):
            self.destroy_node()

    def create_publisher(self, msg_type, topic: str, qos_profile: QoSProfile | int, *,
                         qos_overriding_options: QoSOverridingOptions | None = None,
                         **kwargs) -> Publisher:
        """Make a publisher of what would be the topic of the inner node, with its QoS."""
        name = self.resolve_topic_name(topic)
        if qos_overriding_options is not None:  # the parameters belong to the inner node
            assert isinstance(qos_profile, QoSProfile)
            declare_qos_parameters(self._inner, name, qos_profile, qos_overriding_options)
        # No events: no executor spins this node.
        return super().create_publisher(
            msg_type, name, qos_profile,
            event_callbacks=PublisherEventCallbacks(use_default_callbacks=False), **kwargs)

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """Return the full name that the inner node gives a topic."""
        return self._inner.resolve_topic_name(topic, only_expand=only_expand)

    def get_clock(self):
        """
        Return the clock of the inner node: it may be simulated.

        While this node is made, it is its own: the constructor of rclpy gives it to a time source
        (of 10.0, by this method), which would set a simulated clock to the system's time.
        """
        return self._inner.get_clock() if self._is_made else super().get_clock()
