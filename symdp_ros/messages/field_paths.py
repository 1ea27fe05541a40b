# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Paths to the fields of messages, and conditions on messages; the same live and in logs.

`a.b`       the field b inside the field a
`a[3]`      an element of a list, counted from 0
`a[k.l=v]`  the first element of a list whose field k.l has the value v
`a.b=v`     a condition: the field a.b has the value v

Values are compared as symbols: an integer 3 is '3', a boolean 'true' or 'false'.
"""
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from keyword import iskeyword
from operator import attrgetter, itemgetter
import re
from typing import Any, NamedTuple, TypeVar

from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.fields import can_be, FieldType, INTEGERS

_NAME = r'[A-Za-z]\w*'
_ONE_STEP = rf'{_NAME}(?:\[[^\[\]]*\])?'
_STEP = re.compile(rf'(?P<name>{_NAME})(\[(?P<inside>[^\[\]]*)\])?', re.ASCII)
_STEPS = re.compile(rf'{_ONE_STEP}(?=\.|\Z)|[^.]*', re.ASCII)
_KEY = re.compile(rf'(?P<key>{_NAME}(?:\.{_NAME})*)=(?P<value>.*)', re.ASCII | re.DOTALL)
_CONDITION = re.compile(rf'(?P<path>{_ONE_STEP}(?:\.{_ONE_STEP})*)=(?P<value>.*)',
                        re.ASCII | re.DOTALL)
_IDENTITY = re.compile(r'name|id|.*_name|.*_id', re.ASCII)
_NUMBERS = {'float', 'double', 'float32', 'float64', *INTEGERS}


class NotInput(Enum):
    """What is read from a message that is not the one that is asked for."""

    NOT_INPUT = 'not input'


NOT_INPUT = NotInput.NOT_INPUT
#: The name of a message type → its fields.
Fields = Callable[[str], Mapping[str, FieldType]]
_Getter = Callable[[Any], Any]
_Value = TypeVar('_Value')


class NoSuchElementError(LookupError):
    """No element of a list has the value that a path selects: the message is no input."""


class Field(NamedTuple):
    """
    Where a path leads.

    :param get: from a message to the value. It raises IndexError where a list is too short, and
        NoSuchElementError.
    """

    get: _Getter
    type: FieldType  # noqa: A003 (of this tuple alone)


def find_field(fields: Fields, message_type: str, path: str) -> Field:
    """
    Return where a path leads, which may be a whole message or list.

    :param path: '' is the message itself.
    :raises ConfigurationError: it leads nowhere.
    """
    here = FieldType(message_type)
    getters: list[_Getter] = []
    for step in split(path):
        match = _STEP.fullmatch(step)
        if not match:
            raise _error(path, f'{step!r} is neither name, name[index] nor name[key=value]')
        name, inside = match['name'], match['inside']
        if not here.is_message:
            advice = f': add {_advice(here)} to the list' if here.is_list else ''
            raise _error(path, f'there is no {name!r} inside a value of type {here}{advice}')
        known = fields(here.name)
        if name not in known:
            raise _error(path, f'{here.name} has no field {name!r}; it has {_joined(known)}')
        here = known[name]
        getters.append(attrgetter(f'{name}_' if iskeyword(name) else name))
        if inside is None:
            continue
        if not here.is_list:
            raise _error(path, f'{name!r} is of type {here}, which is not a list: leave '
                               f'out [{inside}]')
        getters.append(_index(fields, here, path, name, inside)
                       if inside.isascii() and inside.isdecimal()
                       else _selection(fields, here, path, name, inside))
        here = FieldType(here.name)
    return Field(_chained(getters), here)


def symbol_at(fields: Fields, message_type: str,
              path: str) -> tuple[Callable[[Any], str], FieldType]:
    """
    Return a function from a message to the value at a path as a symbol, and the value's type.

    The function raises as `Field.get`.

    :raises ConfigurationError: the path leads to no string, integer or boolean.
    """
    get, kind = find_field(fields, message_type, path)
    if kind.is_list:
        raise _error(path, f'it is a list: add {_advice(kind)}')
    if kind.is_message:
        raise _error(path, f'it is a whole {kind}: name one of its fields, '
                           f'{_joined(fields(kind.name))}')
    if kind.name not in _TO_SYMBOL:
        raise _error(path, f'it is of type {kind}: regions are discrete, so it must be a string, '
                           'an integer or a boolean')
    convert = _TO_SYMBOL[kind.name]
    return (get if convert is None else lambda message: convert(get(message))), kind


def number_at(fields: Fields, message_type: str, path: str) -> Callable[[Any], float]:
    """
    Return a function from a message to the value at a path as a number; it raises as `Field.get`.

    :raises ConfigurationError: the path leads to no number.
    """
    get, kind = find_field(fields, message_type, path)
    if kind.is_list or kind.name not in _NUMBERS:
        raise _error(path, f'it is of type {kind}: it must be a number')
    return lambda message: float(get(message))


def meets(fields: Fields, message_type: str,
          where: Iterable[str]) -> Callable[[Any], bool] | None:
    """
    Return a function that says whether a message meets all conditions; None: there are none.

    :param where: conditions, 'path=value'.
    :raises ConfigurationError: a condition is malformed, or can never be met.
    """
    conditions = []
    for item in where:
        match = _CONDITION.fullmatch(item)
        if not match:
            raise ConfigurationError(f'where has the condition {item!r}: write it as path=value, '
                                     'such as data[0]=1', setting='where')
        try:
            conditions.append(_comparison(fields, message_type, match['path'], match['value']))
        except ConfigurationError as error:
            raise ConfigurationError(f'where has the condition {item!r}: {error}',
                                     setting='where') from None

    def met(message: Any) -> bool:
        try:
            for condition in conditions:
                if not condition(message):
                    return False
        except LookupError:  # a list is too short, or has no such element
            return False
        return True

    return met if conditions else None


def symbol_reader(fields: Fields, message_type: str, path: str,
                  where: Iterable[str] = ()) -> tuple[Callable[[Any], str | None | NotInput], str]:
    """
    Return a function from a message to the value at a path as a symbol, and the value's type.

    The function is one of `input_reader`.

    :raises ConfigurationError: the path leads to no string, integer or boolean; a condition is
        malformed.
    """
    read, kind = symbol_at(fields, message_type, path)
    return input_reader(read, meets(fields, message_type, where)), kind.name


def input_reader(read: Callable[[Any], _Value],
                 met: Callable[[Any], bool] | None) -> Callable[[Any], _Value | None | NotInput]:
    """
    Return a function from a message to what is read of it.

    It returns None where a list is too short, and NOT_INPUT where an element that a path selects
    is not there, or the conditions are not met.

    :param met: as `meets` returns it.
    """
    def value(message: Any) -> _Value | None | NotInput:
        if met is not None and not met(message):
            return NOT_INPUT
        try:
            return read(message)
        except IndexError:
            return None
        except NoSuchElementError:
            return NOT_INPUT

    return value


def split(path: str) -> list[str]:
    """Return the steps of a path: what stands between dots that are outside of brackets."""
    steps, place = [], 0
    while path:
        match = _STEPS.match(path, place)
        assert match  # of any text, perhaps an empty one
        steps.append(match[0])
        place = match.end() + 1
        if place > len(path):
            break
    return steps


def _index(fields: Fields, here: FieldType, path: str, name: str,
           inside: str) -> _Getter:
    if here.sequence and '/' in here.name:
        names = [field for field, kind in fields(here.name).items() if _IDENTITY.fullmatch(field)
                 and not kind.is_list and (kind.name == 'string' or kind.name in INTEGERS)]
        if names:
            key = min(names, key=lambda field: field not in ('name', 'id', 'robot_name'))
            raise _error(path, f'the elements of {name!r} come in no fixed order, so [{inside}] '
                         'could be now one robot and now another: select one by its name, as '
                         f'{name}[{key}=NAME]')
    return itemgetter(int(inside))


def _selection(fields: Fields, here: FieldType, path: str, name: str,
               inside: str) -> _Getter:
    match = _KEY.fullmatch(inside)
    if not match:
        raise _error(path, f'[{inside}] is neither [index] nor [key=value]')
    if '/' not in here.name:
        raise _error(path, f'the elements of {name!r} are of type {here.name} and have no field '
                     f'{match["key"]!r}: give an [index]')
    is_wanted = _comparison(fields, here.name, match['key'], match['value'])

    def select(elements: Iterable[Any]) -> Any:
        for element in elements:
            if is_wanted(element):
                return element
        raise NoSuchElementError

    return select


def _comparison(fields: Fields, message_type: str, path: str,
                value: str) -> Callable[[Any], bool]:
    read, kind = symbol_at(fields, message_type, path)
    if not can_be(value, kind.name):
        raise _error(path, f'it is of type {kind} and can never have the value {value!r}')
    return lambda message: read(message) == value


def _chained(getters: list[_Getter]) -> _Getter:
    if len(getters) == 1:
        return getters[0]

    def get(message: Any) -> Any:
        for getter in getters:
            message = getter(message)
        return message

    return get


def _octet(value: Any) -> str:
    return str(value[0] if isinstance(value, bytes) else int(value) & 255)


#: A type → what makes a symbol of its values; None: they are symbols.
_TO_SYMBOL: dict[str, Callable[[Any], str] | None] = {
    'string': None, 'wstring': None, 'octet': _octet,
    'boolean': lambda value: 'true' if value else 'false',
    **dict.fromkeys(INTEGERS, lambda value: str(int(value))),
}


def _error(path: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f'field {path!r}: {problem}')


def _advice(kind: FieldType) -> str:
    return 'a [key=value] or an [index]' if '/' in kind.name else 'an [index]'


def _joined(names: Iterable[str]) -> str:
    return ', '.join(names) or 'none'
