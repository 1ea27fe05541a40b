# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialized messages (CDR), copied with other headers.

A message is walked by the definition of its type. Its values are copied as they are, also texts
that are not UTF-8; what pads them is written anew. The format: OMG formal/02-06-51, section 9.3.
"""
from collections.abc import Callable, Mapping
from struct import Struct

from symdp_ros.messages.fields import FieldType

#: The type of every header, and that of its stamp.
HEADER, TIME = 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'
_SIZES = {'boolean': 1, 'octet': 1, 'int8': 1, 'uint8': 1, 'int16': 2, 'uint16': 2, 'int32': 4,
          'uint32': 4, 'int64': 8, 'uint64': 8, 'float': 4, 'double': 8}
_INTEGERS = {'octet': '<B', 'int8': '<b', 'uint8': '<B', 'int16': '<h', 'uint16': '<H',
             'int32': '<i', 'uint32': '<I', 'int64': '<q', 'uint64': '<Q'}
_LITTLE = b'\0\1\0\0'
#: Parameter lists and XCDR2: DDS-XTypes 1.3, table 60; 0 and 1 are plain CDR.
_OTHER_ENCAPSULATIONS = {bytes((0, number)) for number in range(2, 12)}
_DEEPEST = 50  # messages within messages
_MOST_PADDING = 3  # bytes after a message, which some middlewares add


#: Message type → its fields by name, in order.
Layout = Mapping[str, Mapping[str, FieldType]]


def check(message_type: str, fields: Layout) -> None:
    """
    Check that messages of a type can be walked.

    :raises ValueError: a type without a definition, or that contains itself; a list that is
        always empty (each value has a byte, so that no message takes long); a header with other
        fields; a text of wide characters, which middlewares write in different ways.
    """
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name == 'string' or name in _SIZES:
            return 0
        if name not in depths:
            if not fields.get(name) or any(field.size == 0 for field in fields[name].values()):
                raise ValueError('it is not known how these messages are made')
            if name == HEADER and fields[name] != {'stamp': FieldType(TIME),
                                                   'frame_id': FieldType('string')}:
                raise ValueError('its header has other fields than those of ROS')
            if name == TIME and list(fields[name].values()) != [FieldType('int32'),
                                                                FieldType('uint32')]:
                raise ValueError('its time has other fields than those of ROS')
            depths[name] = _DEEPEST  # until it is known, so that a circle is too deep
            depths[name] = 1 + max(depth(field.name) for field in fields[name].values())
        if depths[name] >= _DEEPEST:
            raise ValueError('it contains itself, or too much')
        return depths[name]

    depth(message_type)


def path_to(wanted: str, message_type: str, fields: Layout) -> str:
    """Return the dotted path to a field of a type, outside of headers; '': there is none."""
    seen = {HEADER}

    def path(name: str) -> str:
        seen.add(name)
        for field, kind in fields.get(name, {}).items():
            below = wanted if kind.name == wanted else '' if kind.name in seen else path(kind.name)
            if below:
                return field if kind.name == wanted else f'{field}.{below}'
        return ''

    return '' if message_type == HEADER else path(message_type)


def encoder(field: FieldType) -> Callable[[str], bytes] | None:
    """
    Return a function from a symbol to a message whose only field is of this type; or None.

    The function raises ValueError or struct.error for a symbol that does not fit.
    """
    if field.is_list:
        return None
    if field.name == 'string':
        def text(symbol: str) -> bytes:
            data = symbol.encode() + b'\0'
            return _LITTLE + len(data).to_bytes(4, 'little') + data

        return text
    if field.name == 'boolean':
        return lambda symbol: _LITTLE + bytes([('false', 'true').index(symbol)])
    if field.name not in _INTEGERS:
        return None
    number = Struct(_INTEGERS[field.name])
    return lambda symbol: _LITTLE + number.pack(int(symbol))


def may_be_longer(fields: Layout) -> bool:
    """Return whether messages of a type may be longer than `_MOST_PADDING` explains."""
    return any(field.sequence and _SIZES.get(field.name) == 8
               for each in fields.values() for field in each.values())


def encapsulation_problem(data: bytes) -> str:
    """Return what is wrong if a message is written in another way than plain CDR; '': nothing."""
    if data[:2] not in _OTHER_ENCAPSULATIONS:
        return ''
    return ('holds a message that is written as a parameter list or in XCDR2, as programs without '
            'ROS can do, and rosbag2 records it so: republish the region as std_msgs/msg/String')


def without_rest(data: bytes, message_type: str, fields: Layout) -> bytes:
    """
    Return a message without what follows it; parameters and errors as `with_other_headers`.

    A message that is followed by more than is known to happen is one of another type: an error.
    """
    return data[:_walked(data, message_type, fields, lambda stamp: 0).place]


def with_other_headers(data: bytes, message_type: str, fields: Layout,
                       stamp: Callable[[int], int]) -> bytes:
    """
    Return a message in which each header has another stamp and no frame.

    :param fields: of a type that was checked.
    :param stamp: from a header's stamp, in nanoseconds, to another.
    :raises ValueError: the bytes are not such a message.
    """
    return bytes(_walked(data, message_type, fields, stamp).made)


def _walked(data: bytes, message_type: str, fields: Layout,
            stamp: Callable[[int], int]) -> '_Walk':
    if data[:2] not in (b'\0\0', b'\0\1'):
        raise ValueError('another encoding')
    walk = _Walk(data, fields, stamp)
    walk.copy_message(message_type)
    if max(walk.place, walk.reserved) + _MOST_PADDING < len(data):
        raise ValueError('it is longer than its type')
    return walk


class _Walk:
    """
    A message that is being copied; places count from the begin of its data.

    :ivar place: the next byte to read; `made`: the copy so far.
    :ivar reserved: the size of the buffer that rmw_fastrtps reserves for what was read: as if an
        empty list of 8-byte values were aligned. `serialize_message` of rclcpp and rclpy returns
        all of it; what follows the message stood in the memory of that process before.
    """

    def __init__(self, data: bytes, fields: Layout, stamp: Callable[[int], int]):
        self._data, self._fields, self._stamp = data, fields, stamp
        self._order = 'little' if data[1] else 'big'
        self.place, self.reserved, self.made = 4, 4, bytearray(data[:2] + b'\0\0')

    def copy_message(self, message_type: str) -> None:
        if message_type == HEADER:
            self._copy_header()
            return
        for field in self._fields[message_type].values():
            count = 1 if field.size is None else field.size
            if field.sequence:
                count = self._length()
                self._write(count)
            self._copy_values(field.name, count)

    def _copy_values(self, base: str, count: int) -> None:
        size = _SIZES.get(base)
        if size is not None:
            if count:
                self._align(size)
                self._fill(size)
                self.made += self._take(count * size)
            else:
                self.reserved += (4 - self.reserved) % size
            return
        for _ in range(count):
            if base == 'string':
                length = self._length()
                self._write(length)
                self.made += self._take(length)
            else:
                self.copy_message(base)

    def _copy_header(self) -> None:
        self._align(4)
        seconds = int.from_bytes(self._take(4), self._order, signed=True)  # type: ignore[arg-type]
        stamp = self._stamp(seconds * 10**9 + self._length())
        self._take(self._length())
        for number in (*divmod(stamp, 10**9), 1):
            self._write(number)
        self.made += b'\0'  # an empty text and its end

    def _length(self) -> int:
        self._align(4)
        return int.from_bytes(self._take(4), self._order)  # type: ignore[arg-type]

    def _write(self, number: int) -> None:
        self._fill(4)
        self.made += number.to_bytes(4, self._order)  # type: ignore[arg-type]

    def _take(self, size: int) -> bytes:
        begin = self.place
        self.place += size
        self.reserved += size
        if self.place > len(self._data):
            raise ValueError('cut off')
        return self._data[begin:self.place]

    def _align(self, size: int) -> None:
        self.place += (4 - self.place) % size
        self.reserved += (4 - self.reserved) % size

    def _fill(self, size: int) -> None:
        self.made += bytes((4 - len(self.made)) % size)
