# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading YAML as a graph of nodes: every problem has a line, and memory is bounded.

Files are composed, never constructed: no tag can make an object. Keys that a reader does not ask
for are ignored. Bounds far above those of real maps, as a small file could otherwise fill the
memory: a file has at most 5,000,000 keys and values; what is read of it has at most 2,000,000
entries of lists and maps, those that an alias repeats counted each time; a name has at most 1,000
characters; lists are nested at most 50 deep. Maps of other tools hold aliases and tags. What is
written for this package alone (fleet files, templates, lists of arguments) is plain: it has no
alias, and no tags but those that parameter files of ROS have, `!!str`, `!!int`, `!!float` and
`!!bool`.
"""
from collections.abc import Callable
from math import isfinite
from typing import Any

from symdp_ros.errors import ChainError, printable
from symdp_ros.files.text_file import FilePath, read_map_text
import yaml

TAG = 'tag:yaml.org,2002:'
_TEXT = tuple(TAG + kind for kind in ('str', 'int', 'float', 'bool', 'timestamp'))
_PLAIN_TAGS = {f'{TAG}{kind}': f'!!{kind}' for kind in ('str', 'int', 'float', 'bool')}
_MOST_NODES = 5_000_000
_MOST_ENTRIES = 2_000_000
_LONGEST_NAME = 1000
_LONGEST_NUMBER = 100
_DEEPEST = 50
#: Gives events and nodes; the one in C is faster.
LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_Constructor = yaml.constructor.SafeConstructor


def compose_yaml(path: FilePath, *, plain: bool = False, text: str | None = None) -> yaml.Node:
    """
    Return the YAML node graph of a file; an alias is the node that it repeats.

    :param plain: refuse aliases, and explicit tags but `!!str`, `!!int`, `!!float` and `!!bool`.
    :param text: of the file, where it was read already.
    :raises ChainError: the file cannot be read, is not YAML, or exceeds a bound of this module.
    """
    return _composed(read_map_text(path) if text is None else text, str(path), plain)


def yaml_value(text: str, source: str) -> Any:
    """
    Return what plain YAML says: texts, numbers, true or false, None, lists and maps of them.

    :param source: what the text is, for messages.
    :raises ChainError: it is not YAML, is not plain, or exceeds a bound.
    """
    return YamlReader(source).value(_composed(text, source, True), 'it')


def _composed(text: str, source: str, plain: bool) -> yaml.Node:
    try:
        _check_events(text, source, plain)
        node = yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        what = getattr(error, 'problem', None) or getattr(error, 'reason', None) or 'it is damaged'
        raise ChainError(f'it is not valid YAML: {what}', path=source,
                         line=mark.line + 1 if mark else None) from None
    except UnicodeEncodeError:  # half a character
        raise ChainError('it is not valid YAML: it is not UTF-8 text', path=source) from None
    if node is None:
        raise ChainError('it is empty', path=source)
    return node


def _check_events(text: str, source: str, plain: bool) -> None:
    # Before composing, which takes memory for each node, and recurses, in C: it would end the
    # process on a file that is nested deeply.
    depth = nodes = 0
    for event in yaml.parse(text, Loader=LOADER):
        if plain and isinstance(event, yaml.AliasEvent):
            raise ChainError(f'the alias *{printable(event.anchor)} stands there: write the value '
                             'itself', path=source, line=event.start_mark.line + 1)
        tag = getattr(event, 'tag', None)
        if plain and tag and tag not in _PLAIN_TAGS:
            shown = printable(tag.replace(TAG, '!!', 1))
            raise ChainError(f'the tag {shown} stands there: write the value itself; the tags '
                             f'{", ".join(_PLAIN_TAGS.values())} are known',
                             path=source, line=event.start_mark.line + 1)
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST or nodes > _MOST_NODES:
            problem = (f'has more than {_MOST_NODES:,} entries: it is too large for a map'
                       if depth <= _DEEPEST else 'is nested too deeply for a map')
            raise ChainError(f'the file {problem}', path=source, line=event.start_mark.line + 1)


def keys_of(root: yaml.Node) -> set[str]:
    """Return the keys of a map as they are written; none of what is no map."""
    return {key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)} if isinstance(
        root, yaml.MappingNode) else set()


class YamlReader:
    """
    Reads the nodes of one file; `what` says in messages which node it is.

    Every method raises ChainError, with file and line, where a node is not as it should be.
    """

    def __init__(self, source: str):
        self._source = source
        self._left = _MOST_ENTRIES

    def error(self, node: yaml.Node, text: str) -> ChainError:
        """Return the error with the file and the line of the node."""
        return ChainError(text, path=self._source, line=line_of(node))

    def cut_off(self, root: yaml.Node, text: str) -> ChainError:
        """Return the error for what is missing at the end of the file."""
        return ChainError(f'{text}: the file is probably cut off', path=self._source,
                          line=root.end_mark.line + 1)

    def fields(self, node: yaml.Node, what: str, *required: str) -> dict[str, yaml.Node]:
        """Return the value of each key of a map; the keys as they are written."""
        values = {key: value for key, (_, value) in self.entries(node, what).items()}
        for key in required:
            if key not in values:
                raise self.error(node, f'{what} has no {key}: the file is damaged or cut off')
        return values

    def entries(self, node: yaml.Node, what: str, form: str = '',
                read_key: Callable[[yaml.Node], str] | None = None
                ) -> dict[str, tuple[int, yaml.Node]]:
        """
        Return key → (its line, value) of a map without repeated keys.

        :param form: what the map should look like, for the message where it is none.
        :param read_key: reads a key node; default: `text`.
        """
        if not isinstance(node, yaml.MappingNode) or node.tag != f'{TAG}map':
            raise self.error(node, f'{what} must be a map' + (form and f' of the form {form}'))
        self._count(node)
        by_key: dict[str, tuple[int, yaml.Node]] = {}
        for key_node, value in node.value:
            key = read_key(key_node) if read_key else self.text(key_node, f'a key of {what}')
            if key in by_key:
                raise self.error(key_node, f'{key!r} is listed twice (first in line '
                                 f'{by_key[key][0]}): list it once')
            by_key[key] = line_of(key_node), value
        return by_key

    def items(self, node: yaml.Node, what: str, least: int = 0,
              example: str = '') -> list[yaml.Node]:
        """Return the entries of a list of at least some length."""
        if not isinstance(node, yaml.SequenceNode) or node.tag != f'{TAG}seq':
            raise self.error(node, f'{what} must be a list' + (example and f', such as {example}'))
        self._count(node)
        entries: list[yaml.Node] = node.value
        if len(entries) < least:
            raise self.error(node, f'{what} has {len(entries)} entries where {least} are needed')
        return entries

    def fields_if_any(self, node: yaml.Node | None, what: str) -> dict[str, yaml.Node]:
        """Return `fields`; none where there is nothing."""
        return {} if node is None or self.is_empty(node) else self.fields(node, what)

    def items_if_any(self, node: yaml.Node | None, what: str) -> list[yaml.Node]:
        """Return `items`; none where there is nothing."""
        return [] if node is None or self.is_empty(node) else self.items(node, what)

    def text_if_any(self, node: yaml.Node | None, what: str) -> str:
        """Return `text`; '' where there is nothing."""
        return '' if node is None or self.is_empty(node) else self.text(node, what)

    def text(self, node: yaml.Node, what: str) -> str:
        """Return a scalar as it is written; not empty, and not null."""
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _TEXT:
            raise self.error(node, f'{what} must be a name')
        if not node.value:
            raise self.error(node, f'{what} is empty: give it a name')
        return self.short(node, what)

    def short(self, node: yaml.ScalarNode, what: str) -> str:
        """Return a scalar as it is written, where it is no longer than a name may be."""
        if len(node.value) > _LONGEST_NAME:
            raise self.error(node, f'{what} has {len(node.value):,} characters: give it a name of '
                             f'at most {_LONGEST_NAME:,}')
        return str(node.value)

    def integer(self, node: yaml.Node, what: str) -> int:
        """Return a whole number, at least 0."""
        if isinstance(node, yaml.ScalarNode) and node.tag == f'{TAG}int':
            try:
                value = int(node.value)
                if value >= 0:
                    return value
            except ValueError:
                pass
        raise self.error(node, f'{what} must be a whole number of at least 0')

    def number(self, node: yaml.Node, what: str) -> float:
        """Return a finite number."""
        if isinstance(node, yaml.ScalarNode) and not node.style and node.tag in _TEXT:
            try:
                value = float(node.value)  # YAML 1.1 takes 1e-3 for a string
                if isfinite(value):
                    return value
            except ValueError:
                pass
        raise self.error(node, f'{what} must be a finite number')

    def boolean(self, node: yaml.Node, what: str) -> bool:
        """Return true or false."""
        if isinstance(node, yaml.ScalarNode) and node.tag == f'{TAG}bool':
            return str(node.value).lower() in ('true', 'yes', 'on')
        raise self.error(node, f'{what} must be true or false')

    def value(self, node: yaml.Node, what: str) -> Any:
        """Return what a node of plain YAML says; None where it says nothing."""
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(value, key)
                    for key, (_, value) in self.entries(node, what).items()}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f'an entry of {what}') for item in self.items(node, what)]
        return None if self.is_null(node) else self.scalar(node, what)

    def scalar(self, node: yaml.Node, what: str) -> str | int | float | bool:
        """Return a number, true or false, or else the text as it is written: a date is a text."""
        if node.tag not in (f'{TAG}int', f'{TAG}float', f'{TAG}bool'):
            return str(node.value)
        try:
            if len(node.value) <= _LONGEST_NUMBER:
                number: int | float | bool = _Constructor().construct_object(node)
                return number
        except (ValueError, LookupError):  # such as 0b_, !!bool maybe, !!int ''
            pass
        raise self.error(node, f'{what} must be true or false' if node.tag == f'{TAG}bool' else
                         f'{what} is a number that cannot be read: quote it if it is a text')

    def is_null(self, node: yaml.Node) -> bool:
        """Return whether there is no value."""
        return str(node.tag) == f'{TAG}null'

    def is_empty(self, node: yaml.Node | None) -> bool:
        """Return whether there is nothing: no node, null, or an empty string, list or map."""
        return node is None or not node.value or self.is_null(node)

    def _count(self, node: yaml.CollectionNode) -> None:
        self._left -= len(node.value)
        if self._left < 0:
            raise self.error(node, f'the file has more than {_MOST_ENTRIES:,} entries with what '
                             'its aliases repeat')


def line_of(node: yaml.Node) -> int:
    """Return the line of a node, from 1."""
    return int(node.start_mark.line) + 1
