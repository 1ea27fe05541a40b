# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What `privatizer` publishes for each region: its name, position, picture, any message.

Everything here is made from private regions, or from beliefs, and from public settings. Stamps are
the time of publishing, on the node's clock.
"""
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.dead_ends import some_states
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.positions import Place
from symdp_ros.messages.fields import name_of_type
from symdp_ros.options import OUTPUT_KINDS, output_topic
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.outputs.publication import Publication

#: The map, and where its states are; None and empty where outputs are names alone.
OfMap: TypeAlias = tuple[TransitionGraph | None, Mapping[str, Place]]


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


def read_for_outputs(settings: Mapping[str, Any]) -> OfMap:
    """Return what the outputs need of the map, and load their modules."""
    for name in settings['outputs']:
        _module(name)
    if {*settings['outputs']} <= {'string'}:
        return None, {}
    map_settings = MapSettings.of(settings)
    graph = map_settings.read()
    return graph, map_settings.places(graph)


def _module(name: str) -> ModuleType:
    return import_module(f'symdp_ros.ros.outputs.{name}_output')


class Outputs:
    """
    The topics of one node, each made by `ros.outputs.NAME_output`.

    :param settings: values of the options `OUTPUT_OPTIONS` and of the map.
    :param of_map: what `read_for_outputs` returned.
    :raises ConfigurationError: an option is wrong, or the map lacks what it needs.
    """

    def __init__(self, node, settings: Mapping[str, Any], chain: Chain, of_map: OfMap):
        self._node, self._made = node, []
        wanted = dict.fromkeys(settings['outputs'])
        if settings['output_template'] and 'custom' not in wanted:
            raise ConfigurationError("output_template needs 'custom' among the outputs")
        graph, places = of_map
        missing = [state for state in chain.states if state not in places]
        placed = [name for name, kind in OUTPUT_KINDS.items() if kind.needs_positions]
        if missing and wanted.keys() & placed:
            raise ConfigurationError(
                f'outputs: the map has no position of {some_states(missing)}: leave '
                f'{" and ".join(placed)} out, or give a regions_file')
        try:
            for name in wanted:
                self._made.append(_module(name).Output(Publication(
                    node, output_topic(name), settings, chain, graph, places)))
        except ConfigurationError:
            self.destroy()
            raise

    @property
    def topics(self) -> str:
        """Return the topics and their types, for a log."""
        return ', '.join(f'{publisher.topic_name} ({name_of_type(publisher.msg_type)})'
                         for made in self._made for publisher in made.publishers[:1])

    def publish(self, region: str, beliefs: Floats | None = None) -> None:
        """
        Publish a region.

        :param beliefs: with policy adaptive, the probability of each state of the chain.
        """
        for made in self._made:
            made.publish(region, beliefs)

    def destroy(self) -> None:
        """Stop publishing, once everything is delivered."""
        for made in self._made:
            for publisher in made.publishers:
                destroy_when_delivered(self._node, publisher)
        self._made = []
