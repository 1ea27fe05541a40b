# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The name of each region, or an integer."""
from rclpy.qos_overriding_options import QoSOverridingOptions
from symdp_ros.core.annotations import Floats
from symdp_ros.messages.fields import message_class
from symdp_ros.options import KEPT_REGIONS, message_type_of
from symdp_ros.ros.graph.qos_overrides import check_qos_overrides, OVERRIDABLE
from symdp_ros.ros.outputs.publication import latched, Publication
from symdp_ros.ros.region_messages import region_writer


class Output:
    """Publishes the name of each region."""

    def __init__(self, wanted: Publication):
        node, topic, settings = wanted.node, wanted.topic, wanted.settings
        check_qos_overrides(node, 'publisher', topic)
        kind = message_class(message_type_of('string', settings))
        self._write = region_writer(kind, wanted.chain.states, settings['symbol_map'])
        self._publisher = node.create_publisher(
            kind, topic, latched(KEPT_REGIONS),
            qos_overriding_options=QoSOverridingOptions(OVERRIDABLE))
        self.publishers = [self._publisher]

    def publish(self, region: str, beliefs: Floats | None) -> None:
        """Publish the name of a region."""
        self._publisher.publish(self._write(region))
