# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The package's own chain file.

    initial_state: dock
    transitions:            # a list: the states that can follow; or a map: their probabilities
      dock: {dock: 0.2, aisle_1: 0.8}
      aisle_1: [aisle_1, dock]

or, for an alphabet in which every symbol can follow every symbol,

    initial_state: idle
    symbols: [idle, driving, charging]

With `self_loops: true`, every state can also follow itself (`TransitionGraph.with_self_loops`).
`tick: 1.0` says how many seconds one step takes. `moves: 3` says that a step is one report, within
three moves of the one before (`maps.reports`): that is then not applied again.

The YAML is composed, never constructed: no tag can make an object, and every message can name
its line. Labels must be strings as YAML sees them; `no`, `1` or `null` have to be quoted.
"""
from collections.abc import Mapping
from math import isfinite

from symdp_ros.core.chain import Chain
from symdp_ros.errors import ChainError
from symdp_ros.files.text_file import FilePath
from symdp_ros.files.yaml_reader import compose_yaml, keys_of, line_of, TAG, YamlReader
from symdp_ros.maps.graph import TransitionGraph
import yaml

_Dumper = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)

KEYS = ('initial_state', 'transitions', 'symbols', 'self_loops', 'tick', 'moves')


def _read_chain(path: FilePath, initial_state: str | None, self_loops: bool) -> Chain:
    """Return what `Chain.from_yaml` does."""
    root = compose_yaml(path)
    if (keys := keys_of(root)) and not keys & set(KEYS):
        raise ChainError('this is no chain file: read maps of other tools with '
                         'symdp_ros.read_chain', path=path)
    graph = graph_from_node(root, str(path))
    return (graph.with_self_loops() if self_loops else graph).chain(initial_state)


Chain.read_file = _read_chain


def graph_from_node(root: yaml.Node, source: str) -> TransitionGraph:
    """
    Return the graph of a composed chain file.

    :raises ChainError: with file and line, for a file that is not of this form, repeats a key, or
        exceeds a bound of `files.yaml_reader`.
    """
    reader = _ChainReader(source)
    top = reader.entries(root, 'the file', 'initial_state and transitions', reader.label)
    for key, (line, _) in top.items():
        if key not in KEYS:
            raise ChainError(f'unknown key {key!r}: a chain file has the keys ' + ', '.join(KEYS),
                             path=source, line=line)
    top = {key: node for key, (_, node) in top.items()}
    initial, initial_line = None, None
    if 'initial_state' in top and not reader.is_null(top['initial_state']):
        initial = reader.label(top['initial_state'])
        initial_line = line_of(top['initial_state'])
    if ('transitions' in top) == ('symbols' in top):
        raise ChainError('a chain file has either transitions (which state can follow which) or '
                         'symbols (all can follow all)', path=source)
    self_loops = 'self_loops' in top and reader.boolean(top['self_loops'], 'self_loops')
    tick = reader.seconds(top['tick']) if 'tick' in top else None
    moves = reader.count(top['moves']) if 'moves' in top else None
    if moves is not None and tick is None:
        raise reader.error(top['moves'], 'moves is for a chain of reports: give tick, the seconds '
                           'between two reports, too')
    if 'symbols' in top:
        names = reader.labels(top['symbols'], 'symbols')
        return TransitionGraph({name: [] for name in names}, initial, source, complete=True,
                               initial_line=initial_line, tick=tick, moves=moves,
                               about=('chain file',))
    rows = reader.entries(top['transitions'], 'transitions', 'state: [successor, …]', reader.label)
    graph = TransitionGraph({state: reader.row(state, node) for state, (_, node) in rows.items()},
                            initial, source, initial_line=initial_line,
                            lines={state: line for state, (line, _) in rows.items()},
                            tick=tick, moves=moves, about=('chain file',))
    return graph.with_self_loops() if self_loops else graph


def chain_text(graph: TransitionGraph) -> str:
    """Return a graph as the text of a chain file."""
    top: dict[str, object] = {}
    for name in ('initial_state', 'tick', 'moves'):
        if getattr(graph, name) is not None:
            top[name] = getattr(graph, name)
    if graph.complete:
        top['symbols'] = list(graph.successors)
    else:
        top['transitions'] = {state: dict(row) if isinstance(row, Mapping) else list(row)
                              for state, row in graph.successors.items()}
    text: str = yaml.dump(top, Dumper=_Dumper, default_flow_style=None, sort_keys=False,
                          allow_unicode=True, width=2**31 - 1)
    return text


class _ChainReader(YamlReader):
    """The parts of a chain file."""

    def row(self, state: str, node: yaml.Node) -> list[str] | dict[str, float]:
        """Return one row of transitions: a list of labels, or label → probability."""
        if isinstance(node, yaml.MappingNode):
            row = self.entries(node, f'the row of {state!r}', '{successor: probability, …}',
                               self.label)
            return {target: self.probability(value) for target, (_, value) in row.items()}
        return self.labels(node, f'the row of {state!r}')

    def labels(self, node: yaml.Node, what: str) -> list[str]:
        labels: dict[str, None] = {}
        for item in self.items(node, what, example='[dock, aisle_1]'):
            label = self.label(item)
            if label in labels:
                raise self.error(item, f'{what} lists {label!r} twice: list it once')
            labels[label] = None
        return list(labels)

    def label(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, 'a label must be a string, not a list or a map')
        if not node.value:
            raise self.error(node, 'a label is empty: give the state a name')
        label = self.short(node, 'a label')
        if node.tag != f'{TAG}str':
            kind = node.tag.rpartition(':')[2]
            raise self.error(node, f'YAML reads the label {label} as a value of type {kind}: '
                             f'quote it, "{label}"')
        return label

    def probability(self, node: yaml.Node) -> float:
        """Return a number; the chain checks that it is a probability."""
        number = self._number(node)
        if number is None:
            raise self.error(node, 'a probability must be a number, such as 0.25')
        return number

    def seconds(self, node: yaml.Node) -> float:
        number = self._number(node)
        if number is None or not (isfinite(number) and number > 0):
            raise self.error(node, 'tick must be a number of seconds above 0, such as 1.0')
        return number

    def count(self, node: yaml.Node) -> int:
        number = self._number(node)
        if number is None or not (isfinite(number) and number >= 1 and number == int(number)):
            raise self.error(node, 'moves must be a whole number, at least 1')
        return int(number)

    @staticmethod
    def _number(node: yaml.Node) -> float | None:
        numeric = isinstance(node, yaml.ScalarNode) and not node.style and (  # plain, unquoted
            node.tag in (f'{TAG}int', f'{TAG}float', f'{TAG}str'))
        if numeric:
            try:
                # YAML 1.1 writes .inf and .nan with a dot, and takes 1e-3 for a string.
                return float(node.value.replace('.inf', 'inf').replace('.nan', 'nan'))
            except ValueError:
                pass
        return None
