# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What `privatizer` and `belief` publish for each region: its name, position, picture, any message.

Everything here is made from private regions, or from beliefs, and from public settings. Stamps are
the time of publishing, on the node's clock.
"""
from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.dead_ends import listed
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.messages.fields import message_class
from symdp_ros.options import output_topic
from symdp_ros.ros.adaptive_subscription import check_qos_overrides, OVERRIDABLE
from symdp_ros.ros.messages import full_name, region_writer
from symdp_ros.ros.publishing import destroy_when_delivered

if TYPE_CHECKING:
    from symdp_ros.core.annotations import Floats
    from symdp_ros.core.chain import Chain

_STRING = 'std_msgs/msg/String'


def check_topics(published: Sequence[str], read: Sequence[str]) -> None:
    """
    Check that a node publishes each output on a topic of its own, and none where it reads.

    :param published: full names.
    :param read: the topics that come in, in the same ROS domain.
    :raises ConfigurationError: it does not.
    """
    for topic in published:
        if topic in read:
            raise ConfigurationError(f'{topic} would be both an input and an output: remap one '
                                     'of them')
        if published.count(topic) > 1:
            raise ConfigurationError(f'two outputs would both go to {topic}: remap one of them')


class Outputs:
    """
    The topics of one node, `PREFIX_region` and, if asked for, its `_pose`, `_markers`, `_custom`.

    :param prefix: 'private' or 'believed'.
    :param settings: values of the options `OUTPUT_OPTIONS` and of the map.
    :param depth: how many regions late readers get.
    :param overridable: whether parameters can override the QoS of `PREFIX_region`.
    :raises ConfigurationError: an option is wrong, or the map lacks what it needs.
    """

    def __init__(self, node, prefix: str, settings: Mapping[str, Any], chain: 'Chain', *,
                 depth: int, overridable: bool = False):
        self._node, self._made = node, []
        wanted = dict.fromkeys(settings['outputs'])
        if settings['output_template'] and 'custom' not in wanted:
            raise ConfigurationError("output_template needs 'custom' among the outputs")
        placed = wanted.keys() & {'pose', 'markers', 'custom'}
        graph, places = None, {}
        if placed:
            place = MapSettings.of(settings)
            graph = place.read()
            places = place.places(graph)
        missing = [state for state in chain.states if state not in places]
        if missing and wanted.keys() & {'pose', 'markers'}:
            raise ConfigurationError(
                f'outputs: the map has no position of {listed(missing)}: leave pose and markers '
                'out, or give a regions_file')
        for name in wanted:
            self._made.append(self._output(name, output_topic(prefix, name), prefix, settings,
                                           chain, graph, places, depth, overridable))

    def _output(self, name, topic, prefix, settings, chain, graph, places, depth, overridable):
        node, frame = self._node, settings['map_frame']
        if name == 'string':
            if overridable:
                check_qos_overrides(node, 'publisher', topic)
            return _Names(node, topic, name_type(settings), chain, settings['symbol_map'], depth,
                          overridable)
        if name == 'pose':
            from symdp_ros.ros.pose_output import Poses

            return Poses(node, topic, chain, places, frame)
        if name == 'markers':
            from symdp_ros.ros.markers import Markers

            return Markers(node, topic, prefix, graph, places, frame)
        from symdp_ros.ros.templates import Messages

        return Messages(node, topic, settings, chain, places, depth)

    @property
    def topics(self) -> str:
        """Return the topics and their types, for a log."""
        return ', '.join(f'{publisher.topic_name} ({full_name(publisher.msg_type)})'
                         for made in self._made for publisher in made.publishers[:1])

    def publish(self, region: str, beliefs: 'Floats | None' = None) -> None:
        """
        Publish a region.

        :param beliefs: of `belief`, the probability of each state of the chain.
        """
        for made in self._made:
            made.publish(region, beliefs)

    def destroy(self) -> None:
        """Stop publishing, once everything is delivered."""
        for made in self._made:
            for publisher in made.publishers:
                destroy_when_delivered(self._node, publisher)
        self._made = []


def name_type(settings: Mapping[str, Any]) -> str:
    """Return the type of the topic with the names of regions."""
    return _STRING if 'custom' in settings['outputs'] else settings['output_type']


def latched(depth: int) -> QoSProfile:
    """Return the QoS of a topic that gives late readers what was published before."""
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class _Names:
    """The name of each region, or an integer."""

    def __init__(self, node, topic: str, type_name: str, chain: 'Chain',
                 symbol_map: Sequence[str], depth: int, overridable: bool):
        kind = message_class(type_name)
        self._write = region_writer(kind, chain.states, symbol_map)
        self._publisher = node.create_publisher(
            kind, topic, latched(depth),
            qos_overriding_options=QoSOverridingOptions(OVERRIDABLE) if overridable else None)
        self.publishers = [self._publisher]

    def publish(self, region: str, beliefs: 'Floats | None') -> None:
        self._publisher.publish(self._write(region))
