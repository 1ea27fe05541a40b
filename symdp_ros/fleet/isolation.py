# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Configurations of other tools that let nothing but private topics out of a fleet.

- SROS 2: a policy file, https://github.com/ros2/sros2 (sros2/policy/schemas/policy.xsd).
- zenoh-bridge-ros2dds: https://github.com/eclipse-zenoh/zenoh-plugin-ros2dds (DEFAULT_CONFIG.json5
  and src/config.rs). A name in a list is a regular expression for a whole topic; names of ROS
  topics hold no character with a meaning there. An interface that is in no list of `allow` is
  not routed, whoever asks for it.
- domain_bridge: https://github.com/ros2/domain_bridge (parse_domain_bridge_yaml_config.cpp).
"""
import json
from xml.etree import ElementTree

from symdp_ros.errors import ConfigurationError
from symdp_ros.fleet.fleet_file import Fleet
from symdp_ros.options import KEPT_REGIONS

_LIFECYCLE = ('change_state', 'get_available_states', 'get_available_transitions', 'get_state',
              'get_transition_graph')
_PARAMETERS = ('describe_parameters', 'get_parameter_types', 'get_parameters', 'list_parameters',
               'set_parameters', 'set_parameters_atomically')
_OF_ALL = ('get_type_description',)


def sros2_policy(fleet: Fleet) -> dict[str, str]:
    """
    Return the name and text of a policy file.

    Enclaves: `/ROBOT/privatizer` may subscribe to the raw topic and publish the private ones,
    `/ROBOT/region_source` may publish the raw topic, `/reader` may subscribe to all private
    topics. What no rule allows is denied. No reader may subscribe to /rosout and
    /parameter_events: their content is not known.
    """
    policy = ElementTree.Element('policy', version='0.2.0')
    enclaves = ElementTree.SubElement(policy, 'enclaves')
    private: dict[str, None] = {}
    for robot in fleet.robots.values():
        topics = [topic for topic, _ in robot.private_topics]
        private.update(dict.fromkeys(topics))
        services = _LIFECYCLE + _OF_ALL + (
            _PARAMETERS if robot.parameters.get('parameter_services', True) else ())
        _enclave(enclaves, robot.namespace, 'privatizer', services,
                 publish=(*topics, '/diagnostics', '~/transition_event'),
                 subscribe=robot.raw_topics)
        _enclave(enclaves, robot.namespace, 'region_source', _OF_ALL + _PARAMETERS,
                 publish=robot.raw_topics, subscribe=('/parameter_events',))
    _enclave(enclaves, '/', 'reader', _OF_ALL + _PARAMETERS, subscribe=tuple(private))
    ElementTree.indent(policy)
    return {'policy.xml': '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<!-- Made by `symdp isolate`. `region_source` stands for the node that publishes the '
            'raw topic, and\n     `reader` for nodes that may see only what is private: give them '
            'the real names. Allow no other\n     enclave to subscribe to a raw topic. -->\n'
            + ElementTree.tostring(policy, 'unicode') + '\n'}


def _enclave(enclaves, namespace, node, services, publish=(), subscribe=()):
    enclave = ElementTree.SubElement(enclaves, 'enclave',
                                     path=f'{namespace.rstrip("/")}/{node}')
    profile = ElementTree.SubElement(ElementTree.SubElement(enclave, 'profiles'), 'profile',
                                     ns=namespace, node=node)
    for rule, names in (
            ({'publish': 'ALLOW'}, (*publish, '/rosout', '/parameter_events')),
            ({'subscribe': 'ALLOW'}, (*subscribe, '/clock'))):
        topics = ElementTree.SubElement(profile, 'topics', rule)
        for name in names:
            ElementTree.SubElement(topics, 'topic').text = name
    replies = ElementTree.SubElement(profile, 'services', reply='ALLOW')
    for name in services:
        ElementTree.SubElement(replies, 'service').text = f'~/{name}'


def zenoh_bridges(fleet: Fleet) -> dict[str, str]:
    """
    Return the names and texts of configurations of zenoh-bridge-ros2dds.

    One for each ROS domain in which privatizers publish: it lets the private topics out. And one
    for the readers' side: it lets the same topics in.
    """
    by_domain: dict[int | None, list[str]] = {}
    for robot in fleet.robots.values():
        by_domain.setdefault(robot.output_domain, []).extend(
            topic for topic, _ in robot.private_topics)
    texts = {}
    for domain, topics in by_domain.items():
        name = 'robots' if domain is None else f'domain-{domain}'
        texts[f'zenoh-bridge-ros2dds.{name}.json5'] = _zenoh(
            'Lets the private topics out' + (
                '; the ROS domain is that of ROS_DOMAIN_ID' if domain is None else ''),
            {} if domain is None else {'domain': domain}, publishers=topics)
    everything = list(dict.fromkeys(topic for topics in by_domain.values() for topic in topics))
    texts['zenoh-bridge-ros2dds.readers.json5'] = _zenoh(
        "For the readers' side: lets the private topics in; the ROS domain is that of "
        'ROS_DOMAIN_ID', {}, subscribers=everything)
    return texts


def _zenoh(what: str, settings, publishers=(), subscribers=()) -> str:
    allow = {'publishers': list(publishers), 'subscribers': list(subscribers),
             'service_servers': [], 'service_clients': [], 'action_servers': [],
             'action_clients': []}
    return (f'// Made by `symdp isolate`. {what}.\n'
            + json.dumps({'plugins': {'ros2dds': {**settings, 'allow': allow}}}, indent=2) + '\n')


def domain_bridges(fleet: Fleet, to_domain: int | None = None) -> dict[str, str]:
    """
    Return the name and text of a configuration of domain_bridge for each ROS domain of readers.

    The private topics go from the domain where they are published. If that is the readers'
    already, they go from the robot's own domain, as they would without `output_domain`.

    :param to_domain: the readers' domain; None: `output_domain` of each robot.
    :raises ConfigurationError: it is not known from which domain, or to which, topics go.
    """
    topics: dict[int, dict[str, object]] = {}
    for robot in fleet.robots.values():
        to = robot.parameters.get('output_domain', -1) if to_domain is None else to_domain
        source = robot.domain if robot.output_domain == to else robot.output_domain
        if to == -1 or source is None or source == to:
            raise ConfigurationError(
                f'{robot.name}: a bridge needs two ROS domains: give the robot its domain in the '
                'fleet file, and another one to the readers (fleet_domain, or --to-domain)')
        for topic, type_name in robot.private_topics:
            if topic in topics.setdefault(to, {}):
                raise ConfigurationError(f'two robots would publish {topic} in ROS domain {to}: '
                                         'remap one of them')
            topics[to][topic] = {'type': type_name, 'from_domain': source, 'to_domain': to,
                                 'qos': {'depth': KEPT_REGIONS}}
    # JSON is YAML, too.
    return {f'domain_bridge.to-{to}.yaml':
            '# Made by `symdp isolate`. A privatizer with output_domain publishes there itself: '
            'set it to -1\n# for those whose topics this bridge is to carry there.\n'
            f'name: symdp_ros_to_{to}\ntopics:\n' + ''.join(
                f'  {topic}: {json.dumps(settings)}\n' for topic, settings in of_domain.items())
            for to, of_domain in topics.items()}
