# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Parameters whose last value on the command line is not the one that ROS takes.

rcl (Jazzy 9.2.8, Kilted 10.1.3: rcl_yaml_param_parser/src/parse.c, rclpy/src/rclpy/node.cpp) keeps
one value of each type under each name of a node (`/**`, `/robot/node`, …) and takes true or false
before an integer, that before a decimal number, a text, and lists. It applies the names of nodes
in the order in which it first saw each, whatever came last. An empty list, and what a nested map
repeats, leave an earlier value as it is. An operator means the value that was said last: so the
arguments are read here again, in order, and compared with the values that the node has.
"""
from collections.abc import Iterator, Sequence
import ctypes
from dataclasses import dataclass
from math import isnan
import os
import re
from typing import Any

from rclpy.node import Node
from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.files.text_file import read_map_text
from symdp_ros.files.yaml_reader import LOADER, TAG
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.rclpy_private import arguments_of, overrides_of
import yaml

_OPTIONS = {option.name: option for options in PARAMETERS.values() for option in options}
_WITH_VALUE = ('-r', '--remap', '--log-level', '--log-config-file', '--log-file-name', '-e',
               '--enclave')
_RULE = re.compile(r'(?:(\w+):(?!=))?(.+?):=(.*)', re.DOTALL | re.ASCII)
_PARAMETERS_KEY = 'ros__parameters'
_EVERY_NODE = '/**'
_TRUE, _FALSE = (
    frozenset(spelling for word in words for spelling in (word, word.title(), word.upper()))
    for words in (('y', 'yes', 'true', 'on'), ('n', 'no', 'false', 'off')))
_DOTTED = frozenset(sign + spelling for sign in ('', '+', '-')
                    for spelling in ('.inf', '.Inf', '.INF')) | {'.nan', '.NaN', '.NAN'}
_LIBC = ctypes.CDLL(None, use_errno=True)  # what rcl itself reads numbers with
_LIBC.strtoll.restype, _LIBC.strtod.restype = ctypes.c_longlong, ctypes.c_double
_UNREADABLE = object()  # a list of lists or maps
_LONGEST_VALUE = 80  # characters


@dataclass(frozen=True)
class _Said:
    """A value of a parameter for a node: under which name of it, what, how written, and where."""

    node: str
    name: str
    value: Any
    text: str | list[str]
    where: str


def order_problems(node: Node, arguments: Sequence[str]) -> list[str]:
    """
    Return a sentence for each parameter of a node whose value is not the one that was said last.

    And for each one that is a text, but was written so that ROS reads it as something else: the
    state 010 as the number 8.

    :param arguments: the command line that rclpy was initialized with.
    :raises ConfigurationError: a file of parameters cannot be read here.
    """
    said: dict[str, list[_Said]] = {}
    for one in _said_by(arguments):
        if _is_for(one.node, node.get_fully_qualified_name()):
            said.setdefault(one.name, []).append(one)
    taken = overrides_of(node)
    problems = [_mismatch(name, given, taken.get(name)) or _misread(name, given[-1])
                for name, given in said.items()]
    problems += [
        f'ROS takes {printable(name)}: {_shown(taken[name])}, which stands so in no argument of '
        'this node: give each node in a file one ros__parameters, with plain values and lists'
        for name in arguments_of(node) if name not in said and taken.get(name) is not None]
    return [problem for problem in problems if problem]


def _said_by(arguments: Sequence[str]) -> Iterator[_Said]:
    """Yield all values of parameters, for any node, in the order of the arguments."""
    words, is_ros = iter(arguments), False
    for word in words:
        if word == '--ros-args':
            is_ros = True
        elif word == '--':
            is_ros = False
        elif is_ros and word in _WITH_VALUE:
            next(words, None)
        elif is_ros and word in ('-p', '--param'):
            rule = next(words, '')
            parsed = _RULE.fullmatch(rule)
            if parsed:
                yield from _said_in(parsed[3], f'-p {printable(rule)}', parsed[1] or _EVERY_NODE,
                                    parsed[2])
        elif is_ros and word == '--params-file':
            yield from _said_in_file(next(words, ''))


def _said_in_file(path: str) -> Iterator[_Said]:
    try:
        text = read_map_text(path)
    except ChainError as error:
        raise ConfigurationError(f'{error}, to find out which values it sets: write the '
                                 'parameters to a file of their own') from None
    shown = printable(path)
    if os.path.basename(path).startswith('launch_params_'):
        shown = f'an argument or parameter of launch, which wrote it to {shown}'
    yield from _said_in(text, shown)


def _said_in(text: str, source: str, node: str = '', name: str | None = None) -> Iterator[_Said]:
    """
    Yield what YAML says, as it stands there.

    :param name: of the parameter whose value it is; None: it is a whole file.
    """
    # Of each map that is open: the name of a node; above ros__parameters None, below it what
    # names begin with; the key whose value comes next.
    maps: list[tuple[str, str | None, str | None]] = [] if name is None else [(node, '', name)]
    depth, items, line = 0, [], 0  # of a list
    try:
        for event in yaml.parse(text, Loader=LOADER):
            value = None
            line = line if depth else event.start_mark.line + 1
            if depth:
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
                items.append(event)
                value = None if depth else items[:-1]
            elif isinstance(event, yaml.SequenceStartEvent):
                depth, items = 1, []
            elif isinstance(event, yaml.MappingStartEvent):
                maps.append(_below(*maps[-1]) if maps else ('', None, None))
            elif isinstance(event, yaml.MappingEndEvent):
                maps.pop()
                maps[-1:] = [(*maps[-1][:2], None)] if maps else []
            elif isinstance(event, yaml.ScalarEvent) and maps:
                if maps[-1][2] is None:
                    maps[-1] = *maps[-1][:2], event.value
                else:
                    value = event
            if value is not None and maps:
                of_node, prefix, key = maps[-1]
                if prefix is not None and key is not None:
                    yield _Said(of_node, prefix + key, *_meaning(value),
                                source if name is not None else f'{source}, line {line}')
                maps[-1] = of_node, prefix, None
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        raise ConfigurationError(f'{source}{f", line {mark.line + 1}" if mark else ""}: it is not '
                                 'valid YAML') from None


def _below(node: str, prefix: str | None, key: str | None) -> tuple[str, str | None, None]:
    """Return what stands for a map that is the value of a key in another."""
    key = key or ''
    if prefix is not None:
        return node, f'{prefix}{key}.', None
    if key.startswith(_PARAMETERS_KEY):
        return node, '', None
    return (f'{node}{key}' if not node or node.endswith('/') else f'{node}/{key}'), None, None


def _meaning(value: Any) -> tuple[Any, str | list[str]]:
    """Return what rcl alone makes of a value, and how it is written."""
    if isinstance(value, list):
        if not all(isinstance(item, yaml.ScalarEvent) for item in value):
            return _UNREADABLE, 'a list of lists or maps'
        return [_scalar(item) for item in value], [item.value for item in value]
    return _scalar(value), value.value


def _scalar(event: yaml.ScalarEvent) -> bool | int | float | str:
    text = event.value
    kind = (event.tag or '').removeprefix(TAG)
    is_quoted = event.style in ('"', "'") and kind not in ('bool', 'int', 'float')
    if kind == 'str' or is_quoted or not text:
        return text
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    for read, *more in ((_LIBC.strtoll, 0), (_LIBC.strtod,)):
        number = text
        if not more and text in _DOTTED:
            number = text.replace('.', '')
        data = number.encode(errors='surrogatepass')
        end = ctypes.c_char_p()
        ctypes.set_errno(0)
        parsed = read(data, ctypes.byref(end), *more)
        if ctypes.get_errno() == 0 and not end.value:
            return parsed
    return text


def _is_for(key: str, node: str) -> bool:
    """Return whether a name in a file or argument means a node, as rclpy finds it out."""
    pattern = (key if key[:1] == '/' else f'/{key}').replace('/*', r'(/\w+)')
    try:
        return re.fullmatch(pattern, node, re.ASCII) is not None
    except re.error:
        return False


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, Sequence) and not isinstance(other, str):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, str) != isinstance(other, str):  # an option takes 8 and '8' alike
        return {type(one), type(other)} == {str, int} and str(one) == str(other)
    if isinstance(one, float) and isinstance(other, float) and isnan(one):
        return isnan(other)
    return bool(one == other)


def _mismatch(name: str, said: list[_Said], taken: Any) -> str:
    """Return what is wrong where ROS takes another value than the last one; else ''."""
    last = said[-1]
    if last.value == []:
        if taken is None and (name not in _OPTIONS or _OPTIONS[name].default == []):
            return ''
        instead = 'takes none' if taken is None else f'takes {_shown(taken)}'
        return (f'{name} is an empty list ({last.where}), which ROS passes to no node: it '
                f'{instead}; leave it out everywhere, or give it a value')
    if _is_same(last.value, taken) or isinstance(taken, bytes):
        return ''
    what = (f'{printable(name)} was last said to be {_shown(last.text)} ({last.where}), but ROS '
            f'takes ')
    if last.value is _UNREADABLE:
        return f'{what}{_shown(taken)}: it reads plain lists alone'
    other = next((one for one in reversed(said) if _is_same(one.value, taken)), None)
    if other is None:
        return f'{what}{_shown(taken)}: write it once, as a plain value or list'
    what += f'{_shown(other.text)} ({other.where}): '
    remove = f'leave {printable(name)} out there'
    if other.node != last.node:
        return (f'{what}it applies the names of nodes in the order in which it first saw each, '
                f'and {printable(last.node)} came before {printable(other.node)}; {remove}, or '
                f'set it under {printable(other.node)} last')
    if type(other.value) is type(last.value):
        return f'{what}what a nested map repeats counts more for it; {remove}'
    as_decimal = isinstance(last.value, float) and type(other.value) is int
    return (f'{what}of values of several types it takes true or false first, else an integer, a '
            f'decimal number, a text, a list; {remove}'
            + (f', or write it as {float(other.value)}' if as_decimal else ''))


def _misread(name: str, last: _Said) -> str:
    """Return what is wrong where a text was written as something else; else ''."""
    option = _OPTIONS.get(name)
    if option is None or option.kind not in (str, list):
        return ''
    if option.kind is str and isinstance(last.value, (bool, int, float)):
        if type(last.value) is int and last.text == str(last.value):
            return ''
        text, quoted = str(last.text), _quoted(str(last.text))
    elif option.kind is list and isinstance(last.value, list) and not all(
            isinstance(item, str) for item in last.value):
        text = f'[{", ".join(last.text)}]'
        quoted = f'[{", ".join(map(_quoted, last.text))}]'
    else:
        return ''
    return (f'{name} is written {printable(text, _LONGEST_VALUE)} ({last.where}), which ROS reads '
            f'as {_shown(last.value)}: quote it, in a file {name}: '
            f'{printable(quoted, _LONGEST_VALUE)}, on a command line '
            f'-p "{name}:={printable(quoted, _LONGEST_VALUE)}"')


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        value = f'[{", ".join(map(str, value))}]'
    return 'no value' if value is None else printable(value, _LONGEST_VALUE)
