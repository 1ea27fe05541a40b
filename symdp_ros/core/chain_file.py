"""
The package's own chain file.

    initial_state: dock
    transitions:            # a list: the states that can follow; or a map: their probabilities
      dock: {dock: 0.2, aisle_1: 0.8}
      aisle_1: [aisle_1, dock]

or, for an alphabet in which every symbol can follow every symbol,

    initial_state: idle
    symbols: [idle, driving, charging]

The YAML is composed, never constructed: no tag can make an object, and every message can name
its line. Labels must be strings as YAML sees them; `no`, `1` or `null` have to be quoted.
"""
import yaml

from symdp_ros.core.errors import ChainError
from symdp_ros.core.graph import TransitionGraph
from symdp_ros.core.text_file import read_map_text

_KEYS = ('initial_state', 'transitions', 'symbols')
_TAG = 'tag:yaml.org,2002:'
_DEEPEST = 50
_Loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def read_chain_file(path) -> TransitionGraph:
    """
    Read a chain file.

    :raises ChainError: with file and line, for a file that cannot be read, is not YAML of this
        form, or repeats a key.
    """
    return graph_from_node(compose_yaml(path), str(path))


def compose_yaml(path) -> yaml.Node:
    """
    Return the YAML node graph of a file.

    :raises ChainError: the file cannot be read, or is not YAML.
    """
    text = read_map_text(path)
    try:
        _check_depth(text, path)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        where = f', line {mark.line + 1}' if mark else ''
        what = getattr(error, 'problem', None) or getattr(error, 'reason', None) or 'it is damaged'
        raise ChainError(f'{path}{where}: the file is not valid YAML: {what}') from None
    if node is None:
        raise ChainError(f'{path}: the file is empty')
    return node


def _check_depth(text, path):
    # The composer recurses, in C: it would end the process on a file that is nested deeply.
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ChainError(f'{path}, line {event.start_mark.line + 1}: the file is nested too '
                             'deeply for a chain file')


def graph_from_node(root: yaml.Node, source: str) -> TransitionGraph:
    """Return the graph of a composed chain file."""
    reader = _Reader(source)
    top = reader.mapping(root, 'the file', 'initial_state and transitions')
    for key, (line, _) in top.items():
        if key not in _KEYS:
            raise reader.error(line, f'unknown key {key!r}: a chain file has the keys '
                               + ', '.join(_KEYS))
    initial, initial_line = None, None
    if 'initial_state' in top and top['initial_state'][1].tag != f'{_TAG}null':
        initial = reader.label(top['initial_state'][1])
        initial_line = top['initial_state'][1].start_mark.line + 1
    if ('transitions' in top) == ('symbols' in top):
        raise ChainError(f'{source}: a chain file has either transitions (which state can follow '
                         'which) or symbols (all can follow all)')
    if 'symbols' in top:
        names = reader.labels(top['symbols'][1], 'symbols')
        return TransitionGraph({name: [] for name in names}, initial, source, complete=True,
                               initial_line=initial_line)
    rows = reader.mapping(top['transitions'][1], 'transitions', 'state: [successor, …]')
    return TransitionGraph({state: reader.row(state, node) for state, (_, node) in rows.items()},
                           initial, source, initial_line=initial_line,
                           lines={state: line for state, (line, _) in rows.items()})


class _Reader:
    """Reads nodes of one file; its errors name the file and the line."""

    def __init__(self, source):
        self._source = source

    def error(self, where, text) -> ChainError:
        line = where if isinstance(where, int) else where.start_mark.line + 1
        return ChainError(f'{self._source}, line {line}: {text}')

    def mapping(self, node, what, form) -> dict[str, tuple[int, yaml.Node]]:
        """Return key → (line, value node)."""
        if not isinstance(node, yaml.MappingNode) or node.tag != f'{_TAG}map':
            raise self.error(node, f'{what} must be a map of the form {form}')
        found = {}
        for key_node, value in node.value:
            key = self.label(key_node)
            line = key_node.start_mark.line + 1
            if key in found:
                raise self.error(line, f'{key!r} is listed twice (first in line {found[key][0]}): '
                                 'list it once')
            found[key] = (line, value)
        return found

    def row(self, state, node):
        """Return one row of transitions: a list of labels, or label → probability."""
        if isinstance(node, yaml.MappingNode):
            row = self.mapping(node, f'the row of {state!r}', '{successor: probability, …}')
            return {target: self.number(value) for target, (_, value) in row.items()}
        return self.labels(node, f'the row of {state!r}')

    def labels(self, node, what) -> list[str]:
        if not isinstance(node, yaml.SequenceNode) or node.tag != f'{_TAG}seq':
            raise self.error(node, f'{what} must be a list, such as [dock, aisle_1]')
        labels = {}
        for item in node.value:
            label = self.label(item)
            if label in labels:
                raise self.error(item, f'{what} lists {label!r} twice: list it once')
            labels[label] = None
        return list(labels)

    def label(self, node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, 'a label must be a string, not a list or a map')
        if not node.value:
            raise self.error(node, 'a label is empty: give the state a name')
        if node.tag != f'{_TAG}str':
            kind = node.tag.rpartition(':')[2]
            raise self.error(node, f'YAML reads the label {node.value} as a value of type {kind}: '
                             f'quote it, "{node.value}"')
        return node.value

    def number(self, node) -> float:
        numeric = isinstance(node, yaml.ScalarNode) and not node.style and (  # plain, unquoted
            node.tag in (f'{_TAG}int', f'{_TAG}float', f'{_TAG}str'))
        if numeric:
            try:
                # YAML 1.1 writes .inf and .nan with a dot, and takes 1e-3 for a string.
                return float(node.value.replace('.inf', 'inf').replace('.nan', 'nan'))
            except ValueError:
                pass
        raise self.error(node, 'a probability must be a number, such as 0.25')
