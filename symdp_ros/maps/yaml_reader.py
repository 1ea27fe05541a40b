"""
Reading composed YAML (`core.chain_file.compose_yaml`): what is not as it should be has a line.

No tag makes an object; keys that a map's reader does not ask for are not looked at.
"""
from math import isfinite

import yaml

from symdp_ros.core.errors import ChainError

_TAG = 'tag:yaml.org,2002:'
_TEXT = tuple(_TAG + kind for kind in ('str', 'int', 'float', 'bool', 'timestamp'))
_MOST_ENTRIES = 2_000_000  # of all lists and maps together: aliases can repeat them without end


class YamlReader:
    """Reads the nodes of one file; `what` says in messages which node it is."""

    def __init__(self, source: str):
        self._source = source
        self._left = _MOST_ENTRIES

    def error(self, node, text) -> ChainError:
        """Return the error that begins with the file and the line of the node."""
        return ChainError(f'{self._source}, line {node.start_mark.line + 1}: {text}')

    def cut_off(self, root, text) -> ChainError:
        """Return the error for what is missing at the end of the file."""
        return ChainError(f'{self._source}, line {root.end_mark.line + 1}: {text}: the file is '
                          'probably cut off')

    def fields(self, node, what: str, *required: str) -> dict[str, yaml.Node]:
        """Return the value of each key of a map; the keys as they are written."""
        if not isinstance(node, yaml.MappingNode) or node.tag != f'{_TAG}map':
            raise self.error(node, f'{what} must be a map')
        self._count(node)
        found = {}
        for key_node, value in node.value:
            key = self.text(key_node, f'a key of {what}')
            if key in found:
                raise self.error(key_node, f'{what} has {key!r} twice: keep one')
            found[key] = value
        for key in required:
            if key not in found:
                raise self.error(node, f'{what} has no {key}: the file is damaged or cut off')
        return found

    def items(self, node, what: str, least: int = 0) -> list[yaml.Node]:
        """Return the entries of a list of at least some length."""
        if not isinstance(node, yaml.SequenceNode) or node.tag != f'{_TAG}seq':
            raise self.error(node, f'{what} must be a list')
        self._count(node)
        if len(node.value) < least:
            raise self.error(node, f'{what} has {len(node.value)} entries where {least} are needed')
        return node.value

    def text(self, node, what: str) -> str:
        """Return a scalar as it is written; not empty, and not null."""
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _TEXT:
            raise self.error(node, f'{what} must be a name')
        if not node.value:
            raise self.error(node, f'{what} is empty: give it a name')
        return node.value

    def integer(self, node, what: str) -> int:
        """Return a whole number, at least 0."""
        if isinstance(node, yaml.ScalarNode) and node.tag == f'{_TAG}int':
            try:
                value = int(node.value)
                if value >= 0:
                    return value
            except ValueError:
                pass
        raise self.error(node, f'{what} must be a whole number of at least 0')

    def number(self, node, what: str) -> float:
        """Return a finite number."""
        if isinstance(node, yaml.ScalarNode) and not node.style and node.tag in _TEXT:
            try:
                value = float(node.value)  # YAML 1.1 takes 1e-3 for a string
                if isfinite(value):
                    return value
            except ValueError:
                pass
        raise self.error(node, f'{what} must be a finite number')

    def boolean(self, node, what: str) -> bool:
        """Return true or false."""
        if isinstance(node, yaml.ScalarNode) and node.tag == f'{_TAG}bool':
            return node.value.lower() in ('true', 'yes', 'on')
        raise self.error(node, f'{what} must be true or false')

    def is_null(self, node) -> bool:
        """Return whether there is no value."""
        return node.tag == f'{_TAG}null'

    def is_empty(self, node) -> bool:
        """Return whether there is nothing: no node, null, or an empty string, list or map."""
        return node is None or not node.value or self.is_null(node)

    def _count(self, node):
        self._left -= len(node.value)
        if self._left < 0:
            raise self.error(node, f'the file has more than {_MOST_ENTRIES:,} entries with what '
                             'its aliases repeat')
