# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of ROS messages, by their classes alone: only the package of a type is imported."""
from collections.abc import Callable, Collection
from importlib import import_module
import operator
import re
from typing import Any, Protocol

from symdp_ros.core.errors import ConfigurationError

_STEP = re.compile(r'(?P<name>[A-Za-z]\w*)(\[(?P<index>\d+)\])?')
_SEQUENCE = re.compile(r'sequence<(?P<of>[^,>]+)(, *\d+)?>|(?P<of2>[^\[]+)\[\d+\]')
#: Integer types → smallest and largest value.
INTEGERS = {
    **{f'uint{bits}': (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f'int{bits}': (-2**(bits - 1), 2**(bits - 1) - 1) for bits in (8, 16, 32, 64)}}
_INTEGER = re.compile(r'0|-?[1-9]\d{0,19}', re.ASCII)
_DISCRETE = {'string', 'wstring', 'boolean', 'octet', *INTEGERS}


class Message(Protocol):
    """A ROS message."""

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the type of each field."""


def message_class(name: str) -> type[Message]:
    """
    Return the message class of a type name such as std_msgs/msg/String.

    :raises ConfigurationError: no such name, package or message.
    """
    parts = name.split('/')
    if len(parts) == 2:
        parts.insert(1, 'msg')
    if len(parts) != 3 or parts[1] != 'msg' or not all(parts):
        raise ConfigurationError(f'{name!r} is no message type: write it as std_msgs/msg/String')
    try:
        found: Any = getattr(import_module(f'{parts[0]}.msg'), parts[2], None)
    except (ImportError, TypeError):
        raise ConfigurationError(f'the package {parts[0]!r} of the message type {name} is not '
                                 'found: is its workspace sourced?') from None
    if not hasattr(found, 'get_fields_and_field_types'):
        raise ConfigurationError(f'the package {parts[0]!r} has no message {parts[2]!r}')
    return found  # type: ignore[no-any-return]  # of a module that is imported by name


def field_getter(message_type: type[Message], path: str) -> tuple[Callable[[object], object], str]:
    """
    Return a function from a message to the value at a dotted path, and the type of that value.

    :raises ConfigurationError: the path does not lead to a string, an integer or a boolean.
    """
    getters: list[Callable[[Any], object]] = []
    here: type[Message] | None = message_type
    kind = ''
    for step in path.split('.'):
        match = _STEP.fullmatch(step)
        if not match:
            raise ConfigurationError(f'field {path!r}: {step!r} is neither name nor name[index]')
        if here is None:
            raise ConfigurationError(f'field {path!r}: there is no {step!r} inside a {kind}')
        fields = here.get_fields_and_field_types()
        if match['name'] not in fields:
            raise ConfigurationError(f'field {path!r}: {here.__name__} has no field '
                                     f'{match["name"]!r}; it has {", ".join(fields)}')
        getters.append(operator.attrgetter(match['name']))
        kind = fields[match['name']]
        if match['index']:
            sequence = _SEQUENCE.fullmatch(kind)
            if not sequence:
                raise ConfigurationError(f'field {path!r}: {match["name"]!r} is a {kind}, not a '
                                         'list, and has no [index]')
            getters.append(operator.itemgetter(int(match['index'])))
            kind = sequence['of'] or sequence['of2']
        here = message_class(kind) if '/' in kind and not _SEQUENCE.fullmatch(kind) else None
    kind = re.sub(r'<\d+>', '', kind)
    if kind not in _DISCRETE:
        raise ConfigurationError(f'field {path!r} is a {kind}: a region or mode must be a string, '
                                 'an integer or a boolean')
    if len(getters) == 1:
        return getters[0], kind

    def get(message: object) -> object:
        for getter in getters:
            message = getter(message)
        return message

    return get, kind


def as_symbol(value: object) -> str:
    """Return a value as a symbol: 3 is '3', a boolean 'true' or 'false'."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, bytes):  # an octet
        return str(value[0])
    return str(value)


def can_be(text: str, kind: str) -> bool:
    """Return whether a value of a type, by its ROS or IDL name, can read so."""
    if kind in ('string', 'wstring'):
        return True
    if kind in ('boolean', 'bool'):
        return text in ('true', 'false')
    least, most = (0, 255) if kind in ('octet', 'byte', 'char') else INTEGERS[kind]
    return bool(_INTEGER.fullmatch(text)) and least <= int(text) <= most


def useless_field(field: str, kind: str, values: Collection[str]) -> str | None:
    """
    Return a warning about a field that can never name a state; None where it can.

    :param values: all that name a state.
    """
    if any(can_be(value, kind) for value in values):
        return None
    return (f'no value of the field {field!r}, a {kind}, names a state of the chain: map values '
            'to states in symbol_map, as value=state')
