# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialized messages, without ROS: reading a field of one, writing a symbol into one.

The standard message types are known. The definitions of others are taken from the recording.
"""
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from keyword import iskeyword
from operator import attrgetter, itemgetter
import re
from typing import Any, TYPE_CHECKING

from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_idl, get_types_from_msg, get_typestore, Stores
from symdp_ros.core.errors import ConfigurationError, LogError
from symdp_ros.core.message_fields import useless_field
from symdp_ros.core.printable import printable
from symdp_ros.logs import bounds

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_STEP = re.compile(r'(?P<name>[A-Za-z]\w*)(\[(?P<index>\d+)\])?', re.ASCII)
_INTEGERS = {f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)}
_TO_SYMBOL: dict[str, Callable[[Any], str]] = {
    'string': str,
    'bool': lambda value: 'true' if value else 'false',
    'byte': lambda value: str(int(value) & 255),
    'octet': lambda value: str(int(value) & 255),
    'char': lambda value: str(int(value) & 255),
    **dict.fromkeys(_INTEGERS, lambda value: str(int(value))),
}


def is_standard(message_type: str) -> bool:
    """Return whether a type is known without a definition."""
    return message_type in _standard_types().fielddefs


def decode_messages(message_type: str, definitions: Mapping[str, tuple[str, str]], path: str,
                    messages: Iterable[bytes],
                    naming: Collection[str] | None = None) -> list[str | None] | None:
    """Return what `decoder` makes of each message, or None where one is no such message."""
    decode = decoder(message_type, definitions, path, naming)
    try:
        return [decode(data) for data in messages]
    except LogError:
        raise
    except Exception:  # rosbags documents no set of errors
        return None


def decoder(message_type: str, definitions: Mapping[str, tuple[str, str]], path: str,
            naming: Collection[str] | None = None) -> Callable[[bytes], str | None]:
    """
    Return a function from a serialized message (CDR) to the value of one of its fields.

    It returns None where the list is shorter than the field's index, and raises any error where
    the bytes are not such a message.

    :param definitions: those of the recording, as `Recorded` has them.
    :param path: dotted, with an [index] for an element of a list.
    :param naming: the values that name a state; None: not checked.
    :raises LogError: a type without a definition; a path that does not lead to a string, an
        integer or a boolean, or leads to a type that can have none of these values.
    """
    store = _store(message_type, definitions)
    getters, kind = _field(store, message_type, path)
    convert, problem = _TO_SYMBOL[kind], useless_field(path, kind, naming) if naming else None
    if problem:
        raise LogError(problem)

    def decode(data: bytes) -> str | None:
        value = store.deserialize_cdr(data, message_type)
        try:
            for getter in getters:
                value = getter(value)
        except IndexError:
            return None
        return convert(value)

    return decode


def encoder(message_type: str) -> tuple[Callable[[str], bytes], str, str]:
    """
    Return a function from a symbol to a serialized message, and its type's definition and hash.

    The function raises ValueError for a symbol that such a message cannot hold.

    :raises ConfigurationError: not a standard type whose only field, `data`, is a string or an
        integer.
    """
    store = _standard_types()
    fields: dict[str, Any] = dict(
        store.fielddefs[message_type][1] if message_type in store.fielddefs else ())
    kind, detail = fields['data'] if list(fields) == ['data'] else (None, ('',))
    if kind != Nodetype.BASE or detail[0] not in {'string', *_INTEGERS}:
        raise ConfigurationError(f'{message_type} cannot hold a symbol: take a standard type with '
                                 'one field, data, that is a string or an integer, such as '
                                 'std_msgs/msg/String')
    convert = str if detail[0] == 'string' else int
    message = store.types[message_type]

    def encode(symbol: str) -> bytes:
        return bytes(store.serialize_cdr(message(data=convert(symbol)), message_type,
                                         little_endian=True))

    return encode, store.generate_msgdef(message_type, ros_version=2)[0], store.hash_rihs01(
        message_type)


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
        types = {'ros2msg': lambda: get_types_from_msg(text, message_type),
                 'ros2idl': lambda: get_types_from_idl(text)}[form]()
        store.register({name: fields for name, fields in types.items()
                        if name not in store.fielddefs})
        store.get_msgdef(message_type)
        known = True
    except Exception:  # damaged text: the parser may raise anything
        pass
    if not known:
        raise LogError(f'the message type {printable(message_type)} is not a standard one, and '
                       'the recording does not hold its definition: record it as mcap, or with '
                       'ROS 2 Iron or later, or republish the region as std_msgs/msg/String')
    return store


def _field(store: 'Typestore', message_type: str,
           path: str) -> tuple[list[Callable[[Any], Any]], str]:
    """Return the getters that lead to a field, and the type of its value."""
    getters: list[Callable[[Any], Any]] = []
    kind: Nodetype = Nodetype.NAME
    detail: Any = message_type
    for step in path.split('.'):
        match = _STEP.fullmatch(step)
        if not match:
            raise LogError(f'field {path!r}: {step!r} is neither name nor name[index]')
        name = match['name']
        if kind != Nodetype.NAME:
            raise LogError(f'field {path!r}: there is no {name!r} inside a list, string or number')
        fields = dict(store.fielddefs[detail][1])
        if name not in fields:
            raise LogError(f'field {path!r}: {detail} has no field {name!r}; it has '
                           f'{_listed(fields)}')
        getters.append(attrgetter(f'{name}_' if iskeyword(name) else name))
        kind, detail = fields[name]
        if match['index']:
            if kind not in (Nodetype.ARRAY, Nodetype.SEQUENCE):
                raise LogError(f'field {path!r}: {name!r} is not a list, and has no [index]')
            getters.append(itemgetter(int(match['index'])))
            kind, detail = detail[0]
    if kind == Nodetype.NAME:
        raise LogError(f'field {path!r} is a whole {detail}: name one of its fields, '
                       f'{_listed(dict(store.fielddefs[detail][1]))}')
    if kind != Nodetype.BASE:
        raise LogError(f'field {path!r} is a list: add an [index]')
    if detail[0] not in _TO_SYMBOL:
        raise LogError(f'field {path!r} is a {detail[0]}: regions are discrete, so it must be a '
                       'string, an integer or a boolean')
    return getters, detail[0]


def _listed(names: Iterable[str]) -> str:
    return ', '.join(names) or 'none'
