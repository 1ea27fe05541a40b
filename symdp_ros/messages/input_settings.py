# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of input: which messages, live and recorded, hold a region, and where."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.symbols import parse_symbol_map, symbol_table
from symdp_ros.settings import settings_of

_NAME_TYPE, _POSE_TYPE = 'std_msgs/msg/String', 'geometry_msgs/msg/PoseStamped'
_OF_POSES = ('hysteresis', 'max_distance', 'level_field', 'base_frame')


@dataclass(frozen=True)
class InputSettings:
    """
    What is read from messages, and from rows of text logs.

    :param kind: 'region', where messages name the region, or 'pose', where they hold a position:
        the option `input`. With 'pose', `symbol_map` and `no_region` are not used.
    :param topic: before remapping; of recordings, the topic itself.
    :param message_type: None: of recordings, the type that was recorded.
    :param field, where: paths and conditions (`messages.field_paths`).
    :param symbol_map: 'value=state' items.
    :param no_region: values that mean that no region is known.
    :param hysteresis, max_distance: metres, as of `maps.positions.Locator`.
    :param level_field: path to the name of the floor; '': there is none.
    :param map_frame: the frame that positions must be in.
    :param base_frame: live, take the pose of this frame from TF; '': from messages.
    :param broker: live, the address of an MQTT broker, where states of VDA 5050 come in, of
        `state_topic`; `broker_login`: a file, ''. '': messages come in by ROS.
    :param refuse_frames: as in `logs.read_log`: not for nodes, whose callers read why a log
        failed.
    :param stamp_key, symbol_key: columns or keys of text logs.
    :param stamp_unit: of their stamps, as in `logs.read_log`.
    """

    kind: str = 'region'
    topic: str = 'region'
    message_type: str | None = None
    field: str = 'data'
    where: tuple[str, ...] = ()
    symbol_map: tuple[str, ...] = ()
    no_region: tuple[str, ...] = ('none', '')
    hysteresis: float = 0.0
    max_distance: float = 0.0
    level_field: str = ''
    map_frame: str = 'map'
    base_frame: str = ''
    broker: str = ''
    state_topic: str = ''
    broker_login: str = ''
    refuse_frames: bool = False
    stamp_key: str = 'stamp'
    stamp_unit: str = ''
    symbol_key: str = 'symbol'

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'InputSettings':
        """Return those among the values of options; poses have a topic and type of their own."""
        given = settings_of(cls, values, kind='input')
        if not given.is_pose:
            return given
        return replace(
            given, topic='pose' if given.topic == cls.topic else given.topic,
            message_type=_POSE_TYPE if given.message_type == _NAME_TYPE else given.message_type)

    @property
    def is_pose(self) -> bool:
        """Return whether messages hold a position."""
        return self.kind == 'pose'

    @property
    def is_shared(self) -> bool:
        """Return whether several robots may publish on the topic, and messages are selected."""
        return bool(self.where) or '=' in self.field

    @property
    def elsewhere(self) -> str:
        """Return what is read live, where that is no topic of ROS; '' where it is one."""
        return self.state_topic if self.broker else self.base_frame and f'TF of {self.base_frame}'

    def check_broker(self) -> None:
        """
        Refuse what does not go together with a broker, or without one.

        :raises ConfigurationError: `state_topic` without a broker, or what is of ROS with one.
        """
        of_ros = {'message_type': self.message_type not in (None, _NAME_TYPE, _POSE_TYPE),
                  'field': self.field != InputSettings.field, 'where': self.where,
                  'base_frame': self.base_frame}
        of_mqtt = {'state_topic': self.state_topic, 'broker_login': self.broker_login}
        for name, given in (of_ros if self.broker else of_mqtt).items():
            if given:
                raise ConfigurationError(
                    f'{name} is not for states of a broker: leave it out' if self.broker else
                    f'{name} needs a broker', setting=name)

    def refuse_others(self, *names: str) -> None:
        """
        Refuse what is set of these fields, and is not for this kind of input.

        :raises ConfigurationError: a field of poses is set for regions, or `symbol_map` for poses.
        """
        others = ('symbol_map',) if self.is_pose else _OF_POSES
        for name in names:
            if name in others and getattr(self, name):
                raise ConfigurationError(f'{name} is not for input: {self.kind}: leave it out',
                                         setting=name)

    def table(self, states: Iterable[str]) -> dict[str, str]:
        """
        Return value → state, as `messages.symbols.symbol_table`.

        :raises ConfigurationError: the items of `symbol_map` or `no_region` are not valid.
        """
        if self.is_pose:  # its values are states, or None
            return symbol_table(states)
        return symbol_table(states, parse_symbol_map(self.symbol_map), self.no_region)

    def values(self, states: Iterable[str]) -> dict[str, str]:
        """Return state → the value that stands for it in recorded messages."""
        mapped = {} if self.is_pose else parse_symbol_map(self.symbol_map)
        first = {state: value for value, state in reversed(mapped.items())}
        return {state: first.get(state, state) for state in states}

    def described_names(self) -> dict[str, Any]:
        """Return which state a value means, for people to read."""
        return {'no_region': sorted(self.no_region), 'symbol_map': sorted(self.symbol_map)}

    def described(self) -> dict[str, Any]:
        """Return what the regions in a log depend on besides the map, for people to read."""
        described = {**self.described_names(), 'topic': f'/{self.topic.lstrip("/")}',
                     'field': self.field}
        if self.where:
            described['where'] = sorted(self.where)
        if self.is_pose:
            described |= {'input': self.kind, 'hysteresis': self.hysteresis,
                          'max_distance': self.max_distance, 'level_field': self.level_field,
                          'map_frame': self.map_frame}
        return described
