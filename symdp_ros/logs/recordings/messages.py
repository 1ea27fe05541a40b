# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialized messages, without ROS: how they are made, and reading a field of one.

The standard message types are known. The definitions of others are taken from the recording.
"""
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TYPE_CHECKING

from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_idl, get_types_from_msg, get_typestore, Stores
from symdp_ros.errors import LogError, printable
from symdp_ros.files import bounds, child
from symdp_ros.logs.recordings.wanted import Value, Values, values_of, Wanted
from symdp_ros.messages.field_paths import NotInput
from symdp_ros.messages.fields import FieldType

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Typesdict
    from rosbags.typesys.store import Typestore

#: A type's name here → its IDL name, by which rclpy knows it too.
_IDL = {'bool': 'boolean', 'byte': 'octet', 'char': 'octet', 'float32': 'float',
        'float64': 'double'}

#: What stands in a message whose type has no fields.
_NO_FIELDS = {'structure_needs_at_least_one_member': tuple(FieldType('uint8'))}


def is_standard(message_type: str) -> bool:
    """Return whether a type is known without a definition."""
    return message_type in _standard_types().fielddefs


def decode_messages(message_type: str, definitions: Mapping[str, tuple[str, str]],
                    wanted: Wanted, messages: Iterable[bytes]) -> Values | None:
    """Return what is wanted of each message, or None where one is no such message."""
    decode = decoder(message_type, definitions, wanted)
    try:
        return values_of(map(decode, messages))
    except LogError:
        raise
    except Exception:  # rosbags documents no set of errors
        return None


def decoder(message_type: str, definitions: Mapping[str, tuple[str, str]],
            wanted: Wanted) -> Callable[[bytes], Value | NotInput]:
    """
    Return a function from a serialized message (CDR) to what is wanted of it.

    It raises any error where the bytes are not such a message.

    :param definitions: those of the recording, as `Recorded` has them.
    :raises LogError: a type without a definition; what is wanted is not in it.
    """
    store = _store(message_type, definitions)
    read = wanted.reader(_fields_of(store), message_type)
    return lambda data: read(store.deserialize_cdr(data, message_type))


def definition_of(message_type: str) -> tuple[str, str]:
    """Return the definition of a standard type, as recordings embed it, and its hash."""
    store = _standard_types()
    return (store.generate_msgdef(message_type, ros_version=2)[0],
            store.hash_rihs01(message_type))


@lru_cache(maxsize=100)
def layout(message_type: str, form: str = '',
           text: str = '') -> dict[str, dict[str, FieldType]]:
    """
    Return the fields of a type and of all types in it: a `cdr.Layout`; {}: it is not known.

    :param form: of the definition in a recording, `ros2msg` or `ros2idl`; '': there is none, and
        the standard type is meant.
    :raises LogError: the text is damaged.
    """
    # A few bytes of a definition can cause endless work: it is read in a child process.
    found = (child.call(_plain_layout, message_type, form, text) if form
             else _plain_layout(message_type, '', ''))
    return {name: {field: FieldType(*kind) for field, kind in fields.items()}
            for name, fields in found.items()}


def _plain_layout(message_type: str, form: str,
                  text: str) -> dict[str, dict[str, tuple[Any, ...]]]:
    """Return the same in plain tuples; any error, or none in a long time, where it is damaged."""
    known = dict(_standard_types().fielddefs)
    if form:
        bounds.check_definition(text)
        # Some recorders leave out the definition of times; whatever else is missing is not known.
        known = {name: fields for name, fields in known.items()
                 if name.startswith('builtin_interfaces/')} | _parsed(message_type, form, text)
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    wanted = [message_type]
    while wanted:
        name = wanted.pop()
        if name in known and name not in found:
            found[name] = {field: tuple(_field_type(*kind))
                           for field, kind in known[name][1]} or dict(_NO_FIELDS)
            wanted += [kind[0] for kind in found[name].values()]
    return found


def _parsed(message_type: str, form: str, text: str) -> 'Typesdict':
    if form not in ('ros2msg', 'ros2idl'):
        raise ValueError('no definition')
    if form == 'ros2idl':
        return get_types_from_idl(text)
    return get_types_from_msg(text, message_type)


@lru_cache(maxsize=1)
def _standard_types() -> 'Typestore':
    return get_typestore(Stores.LATEST)


def _store(message_type: str, definitions: Mapping[str, tuple[str, str]]) -> 'Typestore':
    store = _standard_types()
    if message_type in store.fielddefs:
        return store
    store, (form, text) = get_typestore(Stores.LATEST), definitions.get(message_type, ('', ''))
    known = False
    try:
        bounds.check_definition(text)
        types = _parsed(message_type, form, text)
        store.register({name: fields for name, fields in types.items()
                        if name not in store.fielddefs})
        store.get_msgdef(message_type)
        known = True
    except Exception:  # damaged text: the parser may raise anything
        pass
    if not known and '/action/' in message_type:
        raise LogError(f'the recording does not hold the definition of {printable(message_type)}: '
                       'rosbag2 does not record those of actions. Read it where rosbag2_py and '
                       'the package of the action are installed, or republish the region as '
                       'std_msgs/msg/String')
    if not known:
        raise LogError(f'the message type {printable(message_type)} is not a standard one, and '
                       'the recording does not hold its definition: record it as mcap, or with '
                       'ROS 2 Iron or later, or republish the region as std_msgs/msg/String')
    return store


def _fields_of(store: 'Typestore') -> Callable[[str], dict[str, FieldType]]:
    """Return a function from the name of a type to its fields."""
    def fields(name: str) -> dict[str, FieldType]:
        return {field: _field_type(*kind) for field, kind in store.fielddefs[name][1]}

    return fields


def _field_type(kind: Nodetype, detail: Any) -> FieldType:
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        return _field_type(*detail[0])._replace(
            size=detail[1] if kind == Nodetype.ARRAY else None,
            sequence=kind == Nodetype.SEQUENCE)
    name = detail if kind == Nodetype.NAME else detail[0]
    return FieldType(_IDL.get(name, name))
