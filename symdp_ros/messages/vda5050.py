# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
States of VDA 5050 (JSON over MQTT): where one says that the robot is, and private ones.

The node that was reached last is `lastNodeId`, '' where there is none. The position is in
`agvPosition`, from version 3 on in `mobileRobotPosition`: x and y in metres, `mapId` (the floor),
and whether they are known (`positionInitialized`, from version 3 on `localized`).

https://github.com/VDA5050/VDA5050, json_schemas/state.schema of 2.0.0, 2.1.0 and 3.0.0.
"""
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
import json
import re
from typing import Any, NamedTuple

from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.messages.poses import FloorPosition, RegionLocator

#: The only floor that a state names: what `level_field` may be.
MAP_ID = 'mapId'
_LARGEST = 1 << 20  # bytes of a state; one with a long order has some 10,000
_POSITIONS = (('agvPosition', 'positionInitialized'), ('mobileRobotPosition', 'localized'))
_VERSION = re.compile(r'v\d{1,3}', re.ASCII)
_NO_TOPIC = re.compile('[+#\0]')
_LONGEST_TOPIC = 1000


class NoStateError(ValueError):
    """A message is no state of VDA 5050, or lacks what every one has."""


class StateTopic(NamedTuple):
    """The MQTT topic of a robot's states: what it says of the robot is public."""

    above: str
    version: str
    manufacturer: str
    serial: str

    @classmethod
    def of(cls, name: str) -> 'StateTopic':
        """
        Return the parts of the name of a topic.

        :raises ConfigurationError: it is none of VDA 5050.
        """
        *above, version, manufacturer, serial, last = ['', '', '', '', *name.split('/')]
        if (last != 'state' or not (''.join(above) and manufacturer and serial)
                or not _VERSION.fullmatch(version) or _NO_TOPIC.search(name)
                or len(name) > _LONGEST_TOPIC):
            raise ConfigurationError(
                f'state_topic is {printable(repr(name))}: it must be INTERFACE/vMAJOR/'
                'MANUFACTURER/SERIAL_NUMBER/state of one robot, such as uagv/v2/KIT/0001/state',
                setting='state_topic')
        return cls('/'.join(above[4:]), version, manufacturer, serial)

    @property
    def private(self) -> str:
        """Return the topic of private states."""
        return '/'.join((*self, 'private_state'))

    def private_state(self, number: int, nanoseconds: int, region: str) -> bytes:
        """
        Return a private state: the header of VDA 5050, and the private region.

        Nothing of a state that came in is in it.

        :param number: how many there were before.
        :param nanoseconds: when it is published, since 1970.
        """
        stamp = datetime.fromtimestamp(nanoseconds // 10**6 / 1000, timezone.utc)
        return json.dumps({
            'headerId': number,
            'timestamp': stamp.isoformat(timespec='milliseconds').replace('+00:00', 'Z'),
            'version': f'{self.version[1:]}.0.0', 'manufacturer': self.manufacturer,
            'serialNumber': self.serial, 'lastNodeId': region}).encode()


def state_reader(table: Mapping[str, str], locator: RegionLocator | None,
                 level_field: str) -> Callable[[bytes], str | None]:
    """
    Return a function from a state, which may be any bytes, to its region; None: it is unknown.

    The function raises NoStateError.

    :param table: the value of `lastNodeId` → the region; not used with a locator.
    :param locator: finds the region of a position.
    :param level_field: `MAP_ID`: the position is on that floor; '': all floors count.
    :raises ConfigurationError: another `level_field`.
    """
    check_level_field(level_field)

    def region_of(payload: bytes) -> str | None:
        state = _state_of(payload)
        if locator is None:
            return table.get(state['lastNodeId'])
        position = position_of(state, bool(level_field))
        return None if position is None else locator.locate(*position)

    return region_of


def check_level_field(level_field: str) -> None:
    """
    Check that states name the floor there.

    :raises ConfigurationError: they do not.
    """
    if level_field not in ('', MAP_ID):
        raise ConfigurationError(f'level_field is {level_field!r}: states of VDA 5050 name the '
                                 f'floor in {MAP_ID}: give that, or leave it out',
                                 setting='level_field')


def position_of(state: Mapping[str, Any], with_floor: bool) -> FloorPosition | None:
    """
    Return the position that a state holds; None where it has none, or does not know it.

    :param state: numbers in it may be texts of a subclass of str, as `logs.jsonl` has them.
    """
    for name, is_known in _POSITIONS:
        part = state.get(name)
        if isinstance(part, dict):
            x, y, floor = _number(part.get('x')), _number(part.get('y')), part.get(MAP_ID)
            if part.get(is_known) is not True or x is None or y is None:
                return None
            return x, y, None if not with_floor else floor if isinstance(floor, str) else ''
    return None


def _number(value: object) -> float | None:
    if isinstance(value, str) and type(value) is not str:
        return float(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _state_of(payload: bytes) -> dict[str, Any]:
    try:
        state = json.loads(payload) if len(payload) <= _LARGEST else None
    except (ValueError, RecursionError):
        state = None
    # Raised here, without a context, which would quote the message.
    if not isinstance(state, dict) or not isinstance(state.get('lastNodeId'), str):
        raise NoStateError
    return state
