# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where a position is in a message, by the fields of its type; the same live and in logs."""
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Protocol

from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.field_paths import (Fields, find_field, input_reader, meets, NotInput,
                                            number_at, split, symbol_at)
from symdp_ros.messages.fields import FieldType

#: Fields that lead to a position, in the order in which they are tried.
_ON_THE_WAY = ('position', 'pose', 'point', 'translation', 'transform', 'location')

#: (x, y, name of the floor or None), in metres.
FloorPosition = tuple[float, float, str | None]


class RegionLocator(Protocol):
    """What finds the region of a position; `maps.positions` makes it."""

    def locate(self, x: float, y: float, level: str | None = None) -> str | None:
        """Return the region of a position, None where it is in none; it never raises."""


def is_whole_message(fields: Fields, message_type: str, field: str) -> bool:
    """Return whether the option `field` stands for the whole message, as its default does."""
    return field == '' or field == 'data' and 'data' not in fields(message_type)


def pose_advice(fields: Fields, message_type: str) -> str:
    """Return advice where no region was found in a message: it may hold a position."""
    try:
        _path_to_coordinates(fields, message_type, '')
    except ConfigurationError:
        return ''
    return '. The message holds a position: to take the region from it, set input: pose'


def position_reader(fields: Fields, message_type: str, field: str, *, where: Iterable[str] = (),
                    level_field: str = '', map_frame: str = 'map',
                    on_foreign_frame: Callable[[str], None] = lambda frame: None
                    ) -> Callable[[Any], FloorPosition | None | NotInput]:
    """
    Return a function from a message to the position in it.

    The function returns None where a coordinate is not finite or a list is too short, and where
    the coordinates are in another frame than the map's; that frame is passed on before. It returns
    NOT_INPUT where an element that a path selects is not there, or a condition is not met.

    :param field: path to what has x and y, or leads there by `position`, `pose` and the like; ''
        is the whole message.
    :param level_field: path to the name of the floor, from the whole message; '': there is none.
    :param map_frame: the frame_id that the header has, if there is one. Of several headers, the
        innermost on the way to x and y counts.
    :raises ConfigurationError: there is no x and y; a path or condition is malformed.
    """
    if is_whole_message(fields, message_type, field):
        field = ''
    path = _path_to_coordinates(fields, message_type, field)
    x, y = (number_at(fields, message_type, f'{path}.{name}' if path else name) for name in 'xy')
    frame, level = _frame_of(fields, message_type, path), None
    if level_field:
        level, _ = symbol_at(fields, message_type, level_field)
    wanted = map_frame.removeprefix('/')

    def read(message: Any) -> FloorPosition | None:
        position = x(message), y(message), None if level is None else level(message)
        if frame is not None:
            frame_of_message = frame(message)
            if frame_of_message.removeprefix('/') != wanted:
                on_foreign_frame(frame_of_message)
                return None
        return position if isfinite(position[0]) and isfinite(position[1]) else None

    return input_reader(read, meets(fields, message_type, where))


def _path_to_coordinates(fields: Fields, message_type: str, field: str) -> str:
    """Return the path to what has x and y."""
    path, here = field, find_field(fields, message_type, field).type
    while here.is_message:
        known = fields(here.name)
        if 'x' in known and 'y' in known:
            return path
        name = next((name for name in _ON_THE_WAY
                     if known.get(name, FieldType('')).is_message), None)
        if name is None:
            what = f'the field {field!r}' if field else f'a {message_type}'
            raise ConfigurationError(
                f'{what} leads to no position: {here} has neither x and y nor one of '
                f'{", ".join(_ON_THE_WAY)}; it has {", ".join(known) or "no fields"}. Set field '
                'to the path to what has x and y')
        path, here = f'{path}.{name}' if path else name, known[name]
    raise ConfigurationError(f'field {field!r}: it is of type {here}: it must lead to what has x '
                             'and y')


def _frame_of(fields: Fields, message_type: str, path: str) -> Callable[[Any], str] | None:
    """Return a function from a message to the frame of the innermost header on a path."""
    steps = split(path)
    for count in range(len(steps), -1, -1):
        above = '.'.join(steps[:count])
        here = find_field(fields, message_type, above).type
        header = fields(here.name).get('header') if here.is_message else None
        if header and header.is_message and fields(header.name).get('frame_id') == FieldType(
                'string'):
            inner = f'{above}.header.frame_id' if above else 'header.frame_id'
            return symbol_at(fields, message_type, inner)[0]
    return None
