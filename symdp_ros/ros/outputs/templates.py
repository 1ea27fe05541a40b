# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages of any type, filled from a template: a coordinator's own message.

A template is YAML: the fields of the message that are not left as they are. In a text,

    {region}  is the region, or what `symbol_map` gives for it, where the field is a number
    {next}    is a region that can follow it, drawn by the chain's probabilities from the region
              alone: nothing of the true one is in it
    {x}, {y}  are where the region is, in metres; {next_x}, {next_y} where the next one is
    {seconds} is the time of publishing, in seconds

and `stamp` in place of a time is the time of publishing. A header that the template leaves out
gets that time and `map_frame`.
"""
from collections.abc import Callable, Mapping
from math import isfinite
import re
from typing import Any

from builtin_interfaces.msg import Time
from std_msgs.msg import Header
from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.files.yaml_reader import yaml_value
from symdp_ros.messages.fields import FieldType, INTEGERS, message_class, name_of_type, own_fields

_PLACEHOLDER = re.compile(r'\{(\w+)\}')
_NAMES = ('region', 'next', 'x', 'y', 'next_x', 'next_y', 'seconds')
_OF_REGION = re.compile(r'\{(region|next|x|y|next_x|next_y)\}')
_REGIONS = re.compile(r'\{(region|next)\}')
_TEXTS = ('string', 'wstring')
_FLOATS = ('float', 'double')

Fill = Callable[[Mapping[str, Any]], Any]


class Symbol(str):
    """A region, with its value where a field is a number."""

    value: str

    def __new__(cls, label: str, value: str | None) -> 'Symbol':
        symbol = super().__new__(cls, label)
        symbol.value = label if value is None else value
        return symbol


def template_filler(text: str, message_type: Any, frame: str) -> Fill:
    """
    Return a function from values (`_NAMES` and `stamp`) to a message.

    :param text: the template, YAML.
    :param frame: of headers that the template leaves out.
    :raises ConfigurationError: it is no YAML, depends on no region, names a field that the type
        lacks, or an unknown placeholder. The function raises it where a value does not fit a
        field.
    """
    if not text.strip():
        raise ConfigurationError('outputs: custom needs an output_template, a text such as '
                                 """'{data: "{region}"}', with all its quotes""")
    try:
        template = yaml_value(text, 'output_template')
    except ChainError as error:
        raise ConfigurationError(str(error)) from None
    filler = _of_message(template, message_type, '', frame)
    if not _OF_REGION.search(text):
        _refuse('', 'nothing in it depends on the region, so all messages would be equal: write '
                '{region}, {next}, or {x} and {y} in a text')
    return filler


def _of_message(template, message_type, path, frame):
    fields = own_fields(message_type)
    if not isinstance(template, dict):
        _refuse(path, f'{printable(repr(template), 80)} is no {name_of_type(message_type)}: write '
                f'its fields, such as {{{next(iter(fields), "")}: …}}')
    for name in template:
        if name not in fields:
            _refuse(path, f'{name_of_type(message_type)} has no field '
                    f'{printable(repr(name), 60)}; it has {", ".join(fields)}')
    fills = {name: _of_field(value, fields[name], f'{path}.{name}'.lstrip('.'), frame)
             for name, value in template.items()}
    if 'header' not in template and fields.get('header') == FieldType('std_msgs/Header'):
        fills['header'] = lambda values: Header(stamp=values['stamp'], frame_id=frame)

    def fill(values):
        message = message_type()
        for name, make in fills.items():
            try:
                setattr(message, name, make(values))
            except ConfigurationError:
                raise
            except (AssertionError, TypeError, OverflowError, ValueError) as error:
                _refuse(f'{path}.{name}'.lstrip('.'), printable(error, 300))
        return message

    return fill


def _of_field(value, kind, path, frame):
    if kind.is_list:
        if not isinstance(value, list):
            _refuse(path, f'{printable(repr(value), 80)} is no list')
        # rclpy checks neither: of a list that is too short it sends the memory behind it.
        if kind.size is not None and len(value) != kind.size:
            _refuse(path, f'it has {len(value)} values: a {kind.name}[{kind.size}] has '
                    f'{kind.size}')
        if kind.most is not None and len(value) > kind.most:
            _refuse(path, f'it has {len(value)} values: a sequence<{kind.name}, {kind.most}> has '
                    f'at most {kind.most}')
        items = [_of_field(item, FieldType(kind.name), f'{path}[{i}]', frame)
                 for i, item in enumerate(value)]
        return lambda values: [item(values) for item in items]
    if kind.is_message:
        if value == 'stamp' and kind.name == 'builtin_interfaces/Time':
            return lambda values: values['stamp']
        return _of_message(value, Time if kind.name == 'builtin_interfaces/Time'
                           else message_class(kind.name), path, frame)
    return _of_scalar(value, kind.name, path)


def _of_scalar(value, kind, path):
    if isinstance(value, (dict, list)) or value is None:
        unquoted = value and isinstance(value, dict) and value.keys() <= set(_NAMES)
        _refuse(path, f'{printable(repr(value), 80)} is no {kind}'
                + (f': write "{{{next(iter(value))}}}" in quotes' if unquoted else ''))
    text = value if isinstance(value, str) else None
    for name in _PLACEHOLDER.findall(text or ''):
        if name not in _NAMES:
            _refuse(path, f'there is no {{{printable(name, 60)}}}: it can be '
                    + ', '.join(f'{{{known}}}' for known in _NAMES))
    if text is None or not _PLACEHOLDER.search(text):
        constant = _converted(value, kind, path)
        return lambda values: constant

    advice = ': give the value of each region in symbol_map' if _REGIONS.search(text) else ''

    def fill(values):
        def shown(match):
            value_there = values.get(match[1])
            if value_there is None:
                _refuse(path, f'the map has no position of {printable(str(values["region"]), 60)}')
            return value_there.value if isinstance(value_there, Symbol) and kind not in _TEXTS \
                else str(value_there)

        return _converted(_PLACEHOLDER.sub(shown, text), kind, path, advice)

    return fill


def _converted(value, kind, path, advice=''):
    """Return a value as a field of a primitive type has it."""
    if kind in _TEXTS:
        return value if isinstance(value, str) else printable(str(value))
    if kind == 'boolean':
        if str(value).lower() in ('true', 'false'):
            return str(value).lower() == 'true'
    elif kind in _FLOATS:
        try:
            number = float(value)
        except ValueError:
            number = float('nan')
        if isfinite(number):
            return number
    else:
        least, most = INTEGERS.get(kind, (0, 255))
        try:
            number = int(value)
        except (ValueError, OverflowError):  # OverflowError: infinite
            number = most + 1
        if least <= number <= most and (isinstance(value, str) or number == value):
            return bytes([number]) if kind == 'octet' else number
    _refuse(path, f'{printable(repr(str(value)), 80)} is no {kind}{advice}')


def _refuse(path, problem):
    raise ConfigurationError(f'output_template{": " + path if path else ""}: {problem}')
