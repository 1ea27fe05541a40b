# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages of any type: reading a region or position out of one, writing a region into one.

Values are compared as symbols: an integer mode 3 is '3', a boolean 'true' or 'false'.
"""
from collections.abc import Callable, Iterable
from math import isfinite
from struct import Struct
from typing import NamedTuple

from rclpy.serialization import deserialize_message, serialize_message
from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.field_paths import NotInput, symbol_reader
from symdp_ros.messages.fields import (can_be, fields_of, INTEGERS, Message, name_of_type,
                                       useless_field)
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.messages.poses import is_whole_message, pose_advice, position_reader, RegionLocator
from symdp_ros.messages.symbols import parse_symbol_map, symbol_table

_CDR_LITTLE_ENDIAN = b'\0\1'
#: Types that begin with a header → whether a string comes before x and y; bytes from x to the end.
_STAMPED = {
    'geometry_msgs/msg/PointStamped': (False, 24),
    'geometry_msgs/msg/PoseStamped': (False, 56),
    'geometry_msgs/msg/PoseWithCovarianceStamped': (False, 344),
    'geometry_msgs/msg/TransformStamped': (True, 56),
    'nav_msgs/msg/Odometry': (True, 680),
}


class RegionReader(NamedTuple):
    """
    Functions to the state that a message names; None where it names none.

    They return NOT_INPUT where the message is not one that is asked for.
    """

    read: Callable[[object], str | None | NotInput]
    #: The same of a serialized message, which may be any bytes; None if it cannot be read.
    read_serialized: Callable[[bytes], str | None | NotInput]


def region_reader(message_type: type[Message], settings: InputSettings,
                  states: Iterable[str]) -> RegionReader:
    """
    Return what reads the state that a message names; None where it names none.

    :raises ConfigurationError: the field does not lead to a string, integer or boolean, a
        condition or map item is malformed, an item names no state, a value in `no_region` also
        names a state, no value names a state.
    """
    fields, name, field = fields_of(message_type), name_of_type(message_type), settings.field
    try:
        read_symbol, kind = symbol_reader(fields, name, field, settings.where)
    except ConfigurationError as error:
        raise ConfigurationError(f'{error}{pose_advice(fields, name)}') from None
    table = settings.table(states)
    for value in parse_symbol_map(settings.symbol_map):
        if not can_be(value, kind):
            raise ConfigurationError(f'symbol_map lists the value {value!r}, which the field '
                                     f'{field!r}, a {kind}, can never have')
    problem = useless_field(field, kind, table)
    if problem is not None:
        raise ConfigurationError(problem)

    def read(message: object) -> str | None | NotInput:
        symbol = read_symbol(message)
        return table.get(symbol) if isinstance(symbol, str) else symbol

    read_any = _deserializing(message_type, read)
    if settings.where or message_type.get_fields_and_field_types() != {field: 'string'}:
        return RegionReader(read, read_any)
    # A message of one string is looked up serialized: to deserialize it would take a fifth of the
    # node's time. After four bytes of header: the length of the text and a NUL, then both.
    serialized_table = {}
    for value, state in table.items():
        text = value.encode(errors='surrogatepass') + b'\0'
        serialized_table[len(text).to_bytes(4, 'little') + text] = state

    def read_serialized(data: bytes) -> str | None | NotInput:
        if data[:2] != _CDR_LITTLE_ENDIAN:
            return read_any(data)
        return serialized_table.get(data[4:8 + int.from_bytes(data[4:8], 'little')])

    return RegionReader(read, read_serialized)


def pose_reader(message_type: type[Message], settings: InputSettings, locator: RegionLocator,
                on_foreign_frame: Callable[[str], None] = lambda frame: None) -> RegionReader:
    """
    Return what reads the state in which the position of a message lies.

    :param locator: finds the state of a position.
    :param on_foreign_frame: called with the frame of each message whose position is not in the
        frame of the map; no region is known then.
    :raises ConfigurationError: as `position_reader`.
    """
    fields, name, field = fields_of(message_type), name_of_type(message_type), settings.field
    read_position = position_reader(
        fields, name, field, where=settings.where, level_field=settings.level_field,
        map_frame=settings.map_frame, on_foreign_frame=on_foreign_frame)
    locate = locator.locate

    def read(message: object) -> str | None | NotInput:
        position = read_position(message)
        return locate(*position) if isinstance(position, tuple) else position

    read_any = _deserializing(message_type, read)
    layout = _STAMPED.get(name)
    if (layout is None or settings.where or settings.level_field
            or not is_whole_message(fields, name, field)):
        return RegionReader(read, read_any)
    # To deserialize a pose would take ten times as long as to deserialize a region's name.
    skip_string, size = layout
    frame = settings.map_frame.removeprefix('/').encode(errors='surrogatepass') + b'\0'
    starts = {len(text).to_bytes(4, 'little') + text for text in (frame, b'/' + frame)}
    unpack = Struct('<dd').unpack_from

    def read_serialized(data: bytes) -> str | None | NotInput:
        # Four bytes of header, eight of time, the frame; x and y at a multiple of eight after the
        # header. What is not so is deserialized.
        end = 16 + int.from_bytes(data[12:16], 'little')
        if data[:2] != _CDR_LITTLE_ENDIAN or data[12:end] not in starts:
            return read_any(data)
        if skip_string:
            end = -(-end // 4) * 4
            end += 4 + int.from_bytes(data[end:end + 4], 'little')
        begin = -(-(end - 4) // 8) * 8 + 4
        if len(data) < begin + size:
            return read_any(data)
        x, y = unpack(data, begin)
        return locate(x, y) if isfinite(x) and isfinite(y) else None

    return RegionReader(read, read_serialized)


def deserialized(data: bytes, message_type: type[Message]) -> object | None:
    """Return the message that some bytes are; None: they are none of this type."""
    try:
        return deserialize_message(data, message_type)
    except Exception:  # what is raised depends on the middleware
        return None


def _deserializing(message_type: type[Message], read: Callable[[object], str | None | NotInput]
                   ) -> Callable[[bytes], str | None | NotInput]:
    def read_any(data: bytes) -> str | None | NotInput:
        message = deserialized(data, message_type)
        return None if message is None else read(message)

    return read_any


def region_writer(message_type, states: Iterable[str],
                  symbol_map: Iterable[str] = ()) -> Callable[[str], bytes]:
    """
    Return a function from a state to a serialized message whose field `data` holds it.

    A message is serialized once for each state, when it is first asked for.

    :param message_type: with a string or integer field `data`. For integers, `symbol_map` is
        read backwards (the first value of a state counts), and a state that it does not list
        must be an integer by itself.
    :raises ConfigurationError: no such field; a state without a value, or out of its range.
    """
    kinds = message_type.get_fields_and_field_types()
    kind = kinds.get('data')
    if list(kinds) != ['data'] or kind not in {'string', *INTEGERS}:
        raise ConfigurationError('output_type must be a message with one field, data, that is a '
                                 'string or an integer, such as std_msgs/msg/UInt8')
    values = {state: state for state in states}
    if kind != 'string':
        values = _integers_of(values, symbol_map, *INTEGERS[kind])
    made: dict[str, bytes] = {}

    def write(state):
        message = made.get(state)
        if message is None:
            message = made[state] = serialize_message(message_type(data=values[state]))
        return message

    return write


def _integers_of(states, symbol_map, least, most):
    symbol_map = parse_symbol_map(symbol_map)
    symbol_table(states, symbol_map)  # checks the map
    values = {}
    for value, state in symbol_map.items():
        values.setdefault(state, value)
    result, seen = {}, {}
    for state in states:
        text = values.get(state, state)
        try:
            number = int(text)
        except ValueError:
            raise ConfigurationError(f'output_type is an integer type, but state {state!r} has no '
                                     'integer in symbol_map: add one as value=state') from None
        if not least <= number <= most:
            raise ConfigurationError(f'state {state!r} is {number} in output_type, which is not '
                                     f'in {least} … {most}')
        if number in seen:
            raise ConfigurationError(f'states {seen[number]!r} and {state!r} are both {number} in '
                                     'output_type: give each a value of its own')
        seen[number] = state
        result[state] = number
    return result
