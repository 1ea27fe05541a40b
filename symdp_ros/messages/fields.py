# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of ROS messages, by their classes alone: only the package of a type is imported."""
from collections.abc import Callable, Collection
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from symdp_ros.errors import ConfigurationError

_SEQUENCE = re.compile(r'sequence<(?P<of>[^,]+?)(, *(?P<most>\d+))?>')
_ARRAY = re.compile(r'(?P<of>.+)\[(?P<size>\d+)\]')
_BOUND = re.compile(r'<\d+>')
_TYPE = re.compile(r'(\w+)/(?:(msg|action)/)?(\w+)', re.ASCII)
_FEEDBACK = '_FeedbackMessage'
#: Integer types → smallest and largest value.
INTEGERS = {
    **{f'uint{bits}': (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f'int{bits}': (-2**(bits - 1), 2**(bits - 1) - 1) for bits in (8, 16, 32, 64)}}
_INTEGER = re.compile(r'0|-?[1-9]\d{0,19}', re.ASCII)


class FieldType(NamedTuple):
    """
    The type of a field.

    :param name: of it, or of its elements if it is a list: string, boolean, octet, float, double,
        int8, …, or that of a message, which contains a slash.
    :param size: it is a list of this length.
    :param sequence: it is a list of any length, or of up to `most` elements where that is known.
    """

    name: str
    size: int | None = None
    sequence: bool = False
    most: int | None = None

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return self.sequence or self.size is not None

    @property
    def is_message(self) -> bool:
        """Whether it is a message."""
        return '/' in self.name and not self.is_list

    def __str__(self) -> str:
        return f'list of {self.name}' if self.is_list else self.name


class Message(Protocol):
    """A ROS message."""

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the type of each field."""


def full_type(name: str) -> str:
    """
    Return the name of a type in recordings: std_msgs/msg/String for that or std_msgs/String.

    That of an action, such as nav2_msgs/action/FollowPath, stands for its feedback.

    :raises ConfigurationError: it is no message type.
    """
    match = _TYPE.fullmatch(name)
    if not match:
        raise ConfigurationError(f'{name!r} is no message type: write it as std_msgs/msg/String, '
                                 'or, for the feedback of an action, nav2_msgs/action/FollowPath',
                                 setting='message_type')
    package, folder, wanted = match.groups()
    feedback = _FEEDBACK if folder == 'action' and not wanted.endswith(_FEEDBACK) else ''
    return f'{package}/{folder or "msg"}/{wanted}{feedback}'


def message_class(name: str) -> type[Message]:
    """
    Return the message class of a type name such as std_msgs/msg/String.

    The name of an action, such as nav2_msgs/action/FollowPath, stands for its feedback messages,
    which have the fields goal_id and feedback.

    :raises ConfigurationError: no such name, package or message.
    """
    package, folder, wanted = full_type(name).split('/')
    wanted = wanted.removesuffix(_FEEDBACK) if folder == 'action' else wanted
    module = interfaces(package, folder)
    if module is None:
        raise ConfigurationError(f'the package {package!r} of the message type {name} is not '
                                 'found: is its workspace sourced?', setting='message_type')
    kind: Any = getattr(module, wanted, None)
    if folder == 'action':
        kind = getattr(getattr(kind, 'Impl', None), 'FeedbackMessage', None)
    if not hasattr(kind, 'get_fields_and_field_types'):
        alike = get_close_matches(wanted, [name for name in dir(module) if name[0].isupper()])
        raise ConfigurationError(
            f'the package {package!r} has no {"action" if folder == "action" else "message"} '
            f'{wanted!r}' + (f': did you mean {alike[0]!r}?' if alike else ''),
            setting='message_type')
    return kind  # type: ignore[no-any-return]  # of a module that is imported by name


def interfaces(package: str, folder: str) -> ModuleType | None:
    """
    Return the module with the messages, services or actions of a package; None: it is not found.

    The name may come from others, from the ROS graph or a recording. So no package without such a
    folder is imported.

    :param folder: 'msg', 'srv' or 'action'.
    """
    try:
        spec = find_spec(package)
        places = spec and spec.submodule_search_locations
        if any(Path(place, folder).is_dir() for place in places or ()):
            return import_module(f'{package}.{folder}')
    except (ImportError, TypeError, ValueError):  # ValueError: of __main__
        pass
    return None


def name_of_type(message_type: type) -> str:
    """Return std_msgs/msg/String for the class of that message: its name in the ROS graph."""
    package, folder = message_type.__module__.split('.')[:2]
    return f'{package}/{folder}/{message_type.__name__}'


def fields_of(message_type: type[Message]) -> Callable[[str], dict[str, FieldType]]:
    """Return a function from the name of a type, this or one inside it, to its fields."""
    def fields(name: str) -> dict[str, FieldType]:
        own_type = message_type if name == name_of_type(message_type) else _nested_class(name)
        return own_fields(own_type)

    return fields


def own_fields(message_type: type[Message]) -> dict[str, FieldType]:
    """Return the fields of a message class."""
    return {field: _field_type(kind)
            for field, kind in message_type.get_fields_and_field_types().items()}


def _nested_class(name: str) -> type[Message]:
    package, _, inner = name.partition('/')
    if not inner.endswith('_Feedback'):  # no message's own name has an underscore
        return message_class(name)
    action: Any = getattr(import_module(f'{package}.action'), inner.removesuffix('_Feedback'))
    return action.Feedback  # type: ignore[no-any-return]  # of a module that is imported by name


def _field_type(kind: str) -> FieldType:
    if match := _SEQUENCE.fullmatch(kind):
        return FieldType(_BOUND.sub('', match['of']), sequence=True,
                         most=int(match['most']) if match['most'] else None)
    if match := _ARRAY.fullmatch(kind):
        return FieldType(_BOUND.sub('', match['of']), int(match['size']))
    return FieldType(_BOUND.sub('', kind))


def can_be(text: str, kind: str) -> bool:
    """Return whether a value of a type can read so."""
    if kind in ('string', 'wstring'):
        return True
    if kind == 'boolean':
        return text in ('true', 'false')
    least, most = (0, 255) if kind == 'octet' else INTEGERS[kind]
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
