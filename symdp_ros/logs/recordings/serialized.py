# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialized messages, without ROS: how they are made, and reading a field of one.

The standard message types are known. The definitions of others are taken from the recording.
"""
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
import re
from typing import Any, TYPE_CHECKING

from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_idl, get_types_from_msg, get_typestore, Stores
from symdp_ros.errors import LogError, printable
from symdp_ros.files import bounds, child
from symdp_ros.logs.recordings import cdr
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


#: What to do where a definition is not held by the recording, and where it cannot be read.
RECORD_DEFINITION = 'record it as mcap, or with ROS 2 Iron or later'
_READ_ELSEWHERE = 'read it where rosbag2_py and its package are installed'
#: What middlewares serialize in different ways.
_OF_SEVERAL_FORMS = {'wstring': 'a text of wide characters (wstring)', 'wchar': 'a wide character',
                     'float128': 'a long double'}
_LINE = re.compile(r'\r\n?|\n')
_INCLUDE = re.compile('^#.*', re.MULTILINE)  # in IDL; what is included is in the recording
_SEPARATOR = re.compile(r'={3,}')
_BEGIN = re.compile(r'(MSG|IDL):\s*(\S+)')


def is_standard(message_type: str) -> bool:
    """Return whether a type is known without a definition."""
    return message_type in _standard_types().fielddefs


def decode_messages(message_type: str, definitions: Mapping[str, tuple[str, str]],
                    wanted: tuple[Any, ...], messages: Iterable[bytes]) -> Values | None:
    """
    Return what is wanted of each message, or None where one is no such message.

    :param wanted: a `Wanted`, or what it is made of, as child processes get it.
    """
    decode = decoder(message_type, definitions, Wanted(*wanted))
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
    read = wanted.reader(lambda name: {field: _field_type(*kind) for field, kind
                                       in store.fielddefs[name][1]}, message_type)
    fields = {name: {field: FieldType(*kind) for field, kind in of_type.items()}
              for name, of_type in _reached(message_type, store.fielddefs).items()}
    if cdr.may_be_longer(fields):
        cdr.check(message_type, fields)
        return lambda data: read(store.deserialize_cdr(
            cdr.without_rest(data, message_type, fields), message_type))
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
    :raises LogError: the definition cannot be read.
    """
    # A few bytes of a definition can cause endless work: it is read in a child process.
    fields_of = (child.call(_plain_layout, message_type, form, text) if form
                 else _plain_layout(message_type, '', ''))
    return {name: {field: FieldType(*kind) for field, kind in fields.items()}
            for name, fields in fields_of.items()}


def _plain_layout(message_type: str, form: str,
                  text: str) -> dict[str, dict[str, tuple[Any, ...]]]:
    """Return the same in plain tuples; any error, or none in a long time, where it is damaged."""
    known = dict(_standard_types().fielddefs)
    if form:
        # Some recorders leave out the definition of times; whatever else is missing is not known.
        known = {name: fields for name, fields in known.items()
                 if name.startswith('builtin_interfaces/')} | _parsed(message_type, form, text)
        _check_known(message_type, known)
    return _reached(message_type, known)


def _reached(message_type: str, known: 'Typesdict') -> dict[str, dict[str, tuple[Any, ...]]]:
    """Return the fields of a type and of all types in it that are known."""
    fields_of: dict[str, dict[str, tuple[Any, ...]]] = {}
    wanted = [message_type]
    while wanted:
        name = wanted.pop()
        if name in known and name not in fields_of:
            fields_of[name] = {field: tuple(_field_type(*kind))
                               for field, kind in known[name][1]} or dict(_NO_FIELDS)
            wanted += [kind[0] for kind in fields_of[name].values()]
    return fields_of


def _parsed(message_type: str, form: str, text: str) -> 'Typesdict':
    """
    Return what a definition in a recording defines.

    :raises LogError: it cannot be read.
    """
    bounds.check_definition(text)
    if form not in ('ros2msg', 'ros2idl'):
        raise LogError(f'the recording holds its definition in the form {printable(form)}, which '
                       'cannot be read here')
    types: Typesdict = {}
    try:
        for kind, name, part in _parts('IDL' if form == 'ros2idl' else 'MSG', message_type, text):
            types |= (get_types_from_idl(_INCLUDE.sub('', part)) if kind == 'IDL'
                      else get_types_from_msg(part, name))
        if message_type in types:
            return types
    except Exception:  # damaged text: the parser may raise anything
        pass
    raise LogError('the recording holds its definition, which cannot be read: it is damaged, or '
                   f'not written as {form}')


def _parts(kind: str, message_type: str, text: str) -> list[tuple[str, str, str]]:
    """
    Return (MSG or IDL, type, text) of each definition in the text that a recording holds.

    Between two is a line of equal signs, and then `MSG: type` or `IDL: type`. Writers differ in
    line ends, in the length of the line, and in blank lines about it.
    """
    parts, lines, between = list[tuple[str, str, list[str]]](), list[str](), False
    parts.append((kind, message_type, lines))
    for line in map(str.strip, _LINE.split(text.removeprefix('\ufeff'))):
        begin = _BEGIN.fullmatch(line) if between else None
        if begin:
            lines = []
            parts.append((begin[1], begin[2], lines))
        if not begin and not _SEPARATOR.fullmatch(line):
            lines.append(line)
        between = bool(_SEPARATOR.fullmatch(line)) or between and not line
    if len(parts) > 1 and not any(parts[0][2]):  # IDL definitions begin with such a line
        del parts[0]
    return [(kind, name, '\n'.join(lines)) for kind, name, lines in parts]


def _check_known(message_type: str, known: 'Typesdict') -> None:
    """Refuse a type whose definition names types that are not known, or have several forms."""
    for name, fields in _reached(message_type, known).items():
        for field, kind in fields.items():
            base = kind[0]
            if (what := _OF_SEVERAL_FORMS.get(base.rpartition('/')[2])) and base not in known:
                raise LogError(f'the field {printable(field)} of {printable(name)} is {what}, '
                               'which each middleware writes in its own way')
            if '/' in base and base not in known:
                raise LogError('the recording holds its definition, but not that of '
                               f'{printable(base)}, which is in it')


@lru_cache(maxsize=1)
def _standard_types() -> 'Typestore':
    return get_typestore(Stores.LATEST)


def _store(message_type: str, definitions: Mapping[str, tuple[str, str]]) -> 'Typestore':
    store = _standard_types()
    if message_type in store.fielddefs:
        return store
    store, (form, text) = get_typestore(Stores.LATEST), definitions.get(message_type, ('', ''))
    if not form and '/action/' in message_type:
        raise LogError(f'the recording does not hold the definition of {printable(message_type)}: '
                       'rosbag2 does not record those of actions. Read it where rosbag2_py and '
                       'the package of the action are installed, or republish the region as '
                       'std_msgs/msg/String')
    problem = '' if form else 'the recording does not hold its definition'
    try:
        if form:
            types = _parsed(message_type, form, text)
            _check_known(message_type, store.fielddefs | types)
            store.register({name: fields for name, fields in types.items()
                            if name not in store.fielddefs})
            store.get_msgdef(message_type)
    except LogError as error:
        problem = error.reason
    except Exception:  # such as that of a type that contains itself
        problem = 'the recording holds its definition, which cannot be read'
    if problem:
        raise LogError(f'the message type {printable(message_type)} is not a standard one, and '
                       f'{problem}: {_READ_ELSEWHERE if form else RECORD_DEFINITION}, or '
                       'republish the region as std_msgs/msg/String')
    return store


def _field_type(kind: Nodetype, detail: Any) -> FieldType:
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        return _field_type(*detail[0])._replace(
            size=detail[1] if kind == Nodetype.ARRAY else None,
            sequence=kind == Nodetype.SEQUENCE)
    name = detail if kind == Nodetype.NAME else detail[0]
    return FieldType(_IDL.get(name, name))
