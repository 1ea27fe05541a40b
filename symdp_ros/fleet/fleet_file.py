# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The fleet file: the settings of many robots in one YAML file.

    fleet_domain: 50                 # ROS domain of all private topics
    ledger_file: fleet.ledger        # every word is charged there
    state_dir: state                 # words are kept here, not in ROS_HOME
    defaults: {chain_file: depot.geojson, epsilon: 2.0}
    robots:
      tb1: {domain: 41, preset: nav2_route, region: /compute_and_track_route/_action/feedback}
      tb2: {domain: 42, epsilon: 1.0, subject: team_a}

`defaults` and each robot take the same keys: every parameter of `privatizer`, its topics (what
they are remapped to), `domain` and `preset`. A robot's own value goes before that in `defaults`,
which goes before the preset's. Paths are relative to the file. No ROS is needed to read it.
"""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
import os
from pathlib import Path
import re
from typing import Any

from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.files.durable import make_directory
from symdp_ros.files.resources import resolve_path, share_directory
from symdp_ros.files.text_file import FilePath
from symdp_ros.files.yaml_reader import compose_yaml, TAG, YamlReader
from symdp_ros.maps.zones import LEVELS
from symdp_ros.options import (INPUT, LARGEST_INTEGER, LEDGER_FILE, NO_FILE, Option,
                               OUTPUT_DOMAIN, PARAMETERS, private_topics, SUBJECT_BUDGET, TOPICS,
                               USE_SIM_TIME)
import yaml

_NODE = 'privatizer'
_QOS = 'qos_overrides.'
_PARAMETERS = {option.name: option for option in (*PARAMETERS[_NODE], USE_SIM_TIME)}
_TOPICS = {option.name: option for option in TOPICS[_NODE]}
_DOMAIN = Option('domain', int, -1, 'the ROS domain of the robot', least=0, most=232)
_PRESET = Option('preset', str, '', 'parameters for a kind of robot software')
_OF_ROBOTS = {**_PARAMETERS, **_TOPICS, 'domain': _DOMAIN, 'preset': _PRESET}
_STATE_DIR = Option('state_dir', str, '', 'the folder of the state files; if not set: '
                    'ROS_HOME, as for a privatizer', unit='file')
_OF_FLEET = {option.name: option for option in (
    replace(OUTPUT_DOMAIN, name='fleet_domain'), LEDGER_FILE, SUBJECT_BUDGET, _STATE_DIR)}
_NO_PATHS = ('zones_file', LEVELS), ('state_file', NO_FILE)
_ROBOT_NAME = re.compile('[A-Za-z][A-Za-z0-9_]{0,99}')


@dataclass(frozen=True)
class Robot:
    """
    One robot of a fleet.

    `domain` is its ROS domain, None for that of the process; `parameters` are those of its
    `privatizer` that are set, checked; `remappings` topic → what it is remapped to.
    """

    name: str
    domain: int | None
    parameters: Mapping[str, Any]
    remappings: Mapping[str, str]

    @property
    def namespace(self) -> str:
        """Return the namespace of its nodes and topics."""
        return f'/{self.name}'

    def topic(self, name: str) -> str:
        """Return the full name of one of its topics: `region`, `private_region` and so on."""
        topic = self.remappings.get(name, name)
        return topic if topic.startswith('/') else f'{self.namespace}/{topic}'

    @property
    def raw_topics(self) -> tuple[str, ...]:
        """Return the topics that its `privatizer` reads."""
        if self.parameters.get('broker'):
            return ()
        if self.parameters.get('base_frame'):
            return '/tf', '/tf_static'
        return self.topic(self._value(INPUT)),

    @property
    def private_topics(self) -> list[tuple[str, str]]:
        """Return the topics that its `privatizer` publishes, and their types."""
        values = {option.name: self._value(option) for option in PARAMETERS[_NODE]}
        return [(self.topic(topic), kind) for topic, kind in private_topics(values).items()]

    @property
    def output_domain(self) -> int | None:
        """Return the ROS domain where it publishes; None: that of its process."""
        domain = self._value(OUTPUT_DOMAIN)
        return self.domain if domain == OUTPUT_DOMAIN.default else domain

    def _value(self, option: Option) -> Any:
        return self.parameters.get(option.name, option.default)


@dataclass(frozen=True)
class Fleet:
    """A fleet file: its robots by name, and the folder of their state files (or None)."""

    robots: Mapping[str, Robot]
    state_dir: Path | None

    def make_state_dir(self) -> None:
        """
        Make the folder of the state files, if it does not exist.

        :raises ConfigurationError: it cannot be made.
        """
        if self.state_dir is not None:
            make_directory(resolve_path(str(self.state_dir)), 0o700)


def read_fleet(path: FilePath, domain: int | None = None,
               overrides: Mapping[str, Any] | None = None) -> Fleet:
    """
    Read a fleet file.

    :param domain: the ROS domain of robots for which the file names none, where it is known.
    :param overrides: parameters of every robot, whatever the file says.
    :raises ConfigurationError: with file and line: it cannot be read, a key is unknown, a value
        is wrong, a required one is missing, two robots publish or store in the same place, or
        something private would be published where a region is read.
    """
    try:
        fleet = _Reader(path).fleet(compose_yaml(path, plain=True), domain)
    except ChainError as error:
        raise ConfigurationError(error.reason, path=error.path, line=error.line) from None
    return replace(fleet, robots={
        name: replace(robot, parameters={**robot.parameters, **(overrides or {})})
        for name, robot in fleet.robots.items()})


class _Reader(YamlReader):
    """The parts of a fleet file, or of a preset."""

    def __init__(self, path: FilePath):
        super().__init__(str(path))
        self._folder = Path(os.path.realpath(path)).parent  # unlike `resolve`, it takes loops

    def fleet(self, root: yaml.Node, domain: int | None) -> Fleet:
        top = self.entries(root, 'the file', 'robots: {NAME: {…}, …}')
        nested = {name: top.pop(name)[1] for name in ('defaults', 'robots') if name in top}
        of_fleet = self._values(top, _OF_FLEET, 'the file', ('defaults', 'robots'))
        if 'robots' not in nested:
            raise self.error(root, 'the file has no robots: add robots: {NAME: {…}, …}')
        defaults = self._settings(nested.get('defaults'), 'defaults')
        entries = self.entries(nested['robots'], 'robots', 'NAME: {…}')
        robots = {name: self._robot(name, line, node, of_fleet, defaults, domain)
                  for name, (line, node) in entries.items()}
        self._check_places(robots, {name: line for name, (line, _) in entries.items()})
        if not robots:
            raise self.error(nested['robots'], 'robots is empty: add NAME: {…}')
        folder = of_fleet.get('state_dir')
        return Fleet(robots, Path(folder) if folder else None)

    def _check_places(self, robots: dict[str, Robot], lines: dict[str, int]) -> None:
        """Refuse robots that publish or store in one place, or publish where a region is."""
        taken: dict[tuple[Any, ...], str] = {}
        outer = {robot.parameters.get('output_domain') for robot in robots.values()}
        readers = {(robot.domain, topic): name for name, robot in robots.items()
                   for topic in robot.raw_topics}
        for name, robot in robots.items():
            for place, what in _places(robot):
                if place in taken:
                    both = f'{name} and {taken[place]} both {what}: give each robot its own'
                    twice = f'{name} would {what} twice: give each of its outputs its own topic'
                    raise self._at(lines[name], twice if taken[place] == name else both)
                taken[place] = name
                if place in readers:
                    raise self._at(lines[name], f'{name} would {what}, where the region of '
                                   f'{readers[place]} comes in: give it another topic')
            if robot.domain is not None and robot.domain in outer:
                raise self._at(lines[name], f'{name} is in the domain {robot.domain}, where '
                               'private topics go (fleet_domain or output_domain), so anyone '
                               'there could receive its region: give it another domain (without '
                               'one, it is in that of ROS_DOMAIN_ID)')

    def _robot(self, name: str, line: int, node: yaml.Node, of_fleet: dict[str, Any],
               defaults: dict[str, Any], domain: int | None) -> Robot:
        if not _ROBOT_NAME.fullmatch(name):
            raise self._at(line, f'{printable(repr(name))} cannot be the name of a robot, as it '
                           'becomes a namespace: letters, digits and _, first a letter, at most '
                           '100')
        own = self._settings(node, name)
        values = {**own.get('preset', defaults.get('preset', {})), **_for_all(of_fleet, name),
                  **defaults, **own}
        for option in _PARAMETERS.values():
            if option.default is None and option.name not in values:
                raise self._at(line, f'{name} has no {option.name}, and neither have the '
                               f'defaults: {option.description}')
        if not values.get('ledger_file'):
            for key in ('subject', 'subject_budget', 'renew'):
                if values.get(key):
                    raise self._at(line, f'{name} has a {key}, which needs a ledger_file')
        return Robot(
            name, values.get('domain', domain),
            {key: value for key, value in values.items() if key not in ('domain', 'preset')
             and key not in _TOPICS},
            {key: value for key, value in values.items() if key in _TOPICS})

    def _settings(self, node: yaml.Node | None, what: str) -> dict[str, Any]:
        """Return the values in `defaults`, or of one robot."""
        if node is None or self.is_null(node):
            return {}
        return self._values(self.entries(node, what, 'parameter: value'), _OF_ROBOTS, what)

    def _values(self, entries: dict[str, tuple[int, yaml.Node]], options: dict[str, Option],
                what: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, (line, node) in entries.items():
            option = options.get(key)
            if option is None and key.startswith(_QOS) and options is _OF_ROBOTS:
                values[key] = self._value(node, key)
                if isinstance(values[key], list) or isinstance(values[key], int) and abs(
                        values[key]) > LARGEST_INTEGER:
                    raise self._at(line, f'{key} must be a text, a number, true or false')
                continue
            if option is None:
                raise self._at(line, f'{what} has the unknown key {printable(repr(key))}: '
                               + _instead(key, [*options, *more]))
            try:
                value = option.check(self._value(node, key, option.kind))
                values[key] = _preset(value) if key == 'preset' else (
                    self._path(value) if option.unit == 'file' and (key, value) not in _NO_PATHS
                    else value)
            except ConfigurationError as error:
                raise self._at(line, str(error)) from None
            if key in _TOPICS and not re.fullmatch('/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_]'
                                                   '[A-Za-z0-9_]*)*', value):
                raise self._at(line, f'{key} is {printable(repr(value))}, which is no name of a '
                               'topic')
        return values

    def _value(self, node: yaml.Node, key: str, kind: type | None = None) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, f'an entry of {key}') for item in self.items(node, key)]
        if not isinstance(node, yaml.ScalarNode) or self.is_null(node):
            raise self.error(node, f'{key} must have a value')
        if kind is str and node.tag == f'{TAG}int':
            return node.value  # as it is written: 007
        if kind is float and node.tag == f'{TAG}str' and not node.style:
            return self.number(node, key)  # YAML 1.1 takes 1e-3 for a string
        return self.scalar(node, key)

    def _path(self, text: str) -> str:
        if '\0' in text:
            raise ConfigurationError(f'{printable(repr(text))} is no name of a file')
        absolute = not text or text.startswith(('package://', '~'))
        return text if absolute else str(self._folder / text)

    def _at(self, line: int, text: str) -> ChainError:
        return ChainError(text, path=self._source, line=line)

    def preset(self, root: yaml.Node) -> dict[str, Any]:
        """Return what a preset sets: a parameter file for every node."""
        _, nodes = self.entries(root, 'the file')['/**']
        _, parameters = self.entries(nodes, '/**')['ros__parameters']
        return self._settings(parameters, 'ros__parameters')


def _for_all(of_fleet: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the parameters of a robot that the keys of the fleet decide."""
    values: dict[str, Any] = {key: of_fleet[key] for key in ('ledger_file', 'subject_budget')
                              if key in of_fleet}
    values['parameter_services'] = False  # a megabyte for each robot of a process
    if 'ledger_file' in of_fleet:
        values['subject'] = name
    if 'fleet_domain' in of_fleet:
        values['output_domain'] = of_fleet['fleet_domain']
    if of_fleet.get('state_dir'):
        values['state_file'] = str(Path(of_fleet['state_dir']) / f'{name}.word')
    return values


def _places(robot: Robot) -> list[tuple[tuple[Any, ...], str]]:
    """Return what no other robot may have: where it publishes and stores; and words for it."""
    places: list[tuple[tuple[Any, ...], str]] = [
        ((robot.output_domain, topic), f'publish {topic}') for topic, _ in robot.private_topics]
    if robot.parameters.get('broker'):
        topic = robot.parameters.get('state_topic')
        places.append((('broker', topic), f'publish a private state beside {topic}'))
    file = robot.parameters.get('state_file')
    if file not in (None, '', NO_FILE):  # by whatever path
        real = os.path.realpath(os.path.expanduser(file))
        places.append((('file', real), f'store their word in {file}'))
    return places


def _preset(name: str) -> dict[str, Any]:
    folder = share_directory('symdp_ros') / 'config' / 'presets'
    names = sorted(file.stem for file in folder.glob('*.yaml')
                   if not file.stem.endswith('.chain'))
    if name not in names:
        raise ConfigurationError(f'there is no preset {printable(repr(name))}: '
                                 + _instead(name, names))
    file = folder / f'{name}.yaml'
    return _Reader(file).preset(compose_yaml(file, plain=True))


def _instead(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, 1)
    return f'did you mean {close[0]}?' if close else f'the known ones are {", ".join(names)}'
