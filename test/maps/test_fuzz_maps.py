# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Maps and chain files at random: written, read again, and damaged.

A file that is as it should be gives the graph that it was written from. Of a damaged one the
reader may make another graph, or refuse it with one line that begins with the file; nothing else
ever comes out, and no more than a graph can have.
"""
import json
from math import isfinite

from damage import damaged
from long_runs import fuzz
from symdp_ros import Chain, ChainError, ConfigurationError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.graph import structure, TransitionGraph
from symdp_ros.maps.regions import read_locator, read_places

NAMES = ('dock', 'aisle 1', '7', 'no', 'null', '1e3', 'Küche', '厨房', "o'clock", 'a: b', '- x',
         '#9', '"q"',
         '\\', '{}', '[red]', '$x_1$', '~', '<<', '0x1F', '2024-05-01', 'x' * 200, '🤖', '=',
         '%a', '@b', '`', '|', '>', '?', '!x', '&y', '*z', ',', ' leading')


def quoted(name):
    return json.dumps(name, ensure_ascii=False)


def a_graph(random, names=None) -> dict[str, list[str]]:
    """Return state → successors, some of them listed nowhere else, all different."""
    count = random.randint(1, 8)
    names = names or random.sample(NAMES, count)
    return {name: random.sample(names, random.randint(0, min(3, len(names)))) for name in names}


def chain_file(random):
    graph = a_graph(random)
    initial = random.choice(list(graph))
    rows = []
    for state, row in graph.items():
        if row and random.random() < 0.3:
            chances = ', '.join(f'{quoted(target)}: {1 / len(row)!r}' for target in row)
            rows.append(f'  {quoted(state)}: {{{chances}}}')
        else:
            rows.append(f'  {quoted(state)}: [{", ".join(map(quoted, row))}]')
    text = f'initial_state: {quoted(initial)}\ntransitions:\n' + '\n'.join(rows) + '\n'
    return '.yaml', text, graph


def alphabet(random):
    names = list(a_graph(random))
    text = f'initial_state: {quoted(names[0])}\nsymbols: [{", ".join(map(quoted, names))}]\n'
    return '.yml', text, {name: [] for name in names}


def nodes(random, graph, indent):
    for name, row in graph.items():
        edges = ', '.join(f'{{edge_id: e, node: {quoted(target)}}}' for target in row)
        yield (f'{indent}- meta: {{node: {quoted(name)}}}\n{indent}  node:\n{indent}    edges: '
               f'[{edges}]\n{indent}    name: {quoted(name)}\n{indent}    pose: {{position: {{x: '
               f'{random.uniform(-9, 9)!r}, y: {random.randint(-9, 9)}, z: 0.0}}}}\n')


def tmap2(random):
    graph = a_graph(random)
    return '.tmap2', 'nodes:\n' + ''.join(nodes(random, graph, '')) + 'pointset: p\n', graph


def strands(random):
    graph = a_graph(random)
    return '.yaml', ''.join(nodes(random, graph, '')), graph


def nav2(random):
    graph = a_graph(random, [str(number) for number in range(random.randint(1, 8))])
    features = [{'type': 'Feature', 'properties': {'id': int(name), 'frame': 'map'},
                 'geometry': {'type': 'Point', 'coordinates': [random.random(), random.random()]}}
                for name in graph]
    features += [{'type': 'Feature', 'properties': {'id': 9, 'startid': int(start),
                                                    'endid': int(end)},
                  'geometry': {'type': 'MultiLineString', 'coordinates': [[[0, 0], [1, 1]]]}}
                 for start, row in graph.items() for end in row]
    return '.geojson', json.dumps({'type': 'FeatureCollection', 'features': features}), graph


def patrolling(random):
    graph = a_graph(random, [str(number) for number in range(random.randint(1, 8))])
    lines = [f'{len(graph)} 100 80 0.05', *(['-1.5 2'] if random.random() < 0.5 else [])]
    for name, row in graph.items():
        lines.append(f'{name} {random.randint(0, 99)} {random.randint(0, 79)} {len(row)} '
                     + ' '.join(f'{target} {random.choice("NSEW")} 12' for target in row))
    return '.graph', '\n'.join(lines), graph


def building(random):
    graph = {state: row for state, row in a_graph(random).items() if row}
    if not graph:
        return building(random)
    names = list(dict.fromkeys([*graph, *(target for row in graph.values() for target in row)]))
    vertices = ', '.join(f'[{random.randint(0, 99)}, {random.random()!r}, 0.0, {quoted(name)}]'
                         for name in names)
    lanes = ', '.join(f'[{names.index(start)}, {names.index(end)}, {{graph_idx: [2, 0], '
                      'bidirectional: [4, false]}]' for start, row in graph.items() for end in row)
    text = (f'levels:\n  L1:\n    vertices: [{vertices}]\n    lanes: [{lanes}]\n'
            '    measurements: []\nlifts: {}\nname: house\n')
    return '.building.yaml', text, {name: graph.get(name, []) for name in names}


def regions(random):
    cells = random.sample([(x, y) for x in range(4) for y in range(4)], random.randint(1, 8))
    names = random.sample(NAMES, len(cells))
    graph = {name: [other for other, (u, v) in zip(names, cells, strict=True)
                    if abs(u - x) + abs(v - y) == 1]
             for name, (x, y) in zip(names, cells, strict=True)}
    lines = []
    for name, (x, y) in zip(names, cells, strict=True):
        ring = f'[[{x}, {y}], [{x + 1}.0, {y}], [{x + 1}, {y + 1}], [{x}, {y + 1}]]'
        lines.append(f'  {quoted(name)}: ' + (f'{{polygon: {ring}, level: L1}}' if
                                              random.random() < 0.5 else ring))
    return '.regions.yaml', 'regions:\n' + '\n'.join(lines) + '\n', graph


def layout(random):
    graph = a_graph(random)
    nodes = [{'nodeId': name, 'nodePosition': {'x': random.random(), 'y': -1}} for name in graph]
    edges = [{'edgeId': 'e', 'startNodeId': start, 'endNodeId': end}
             for start, row in graph.items() for end in row]
    return '.lif', json.dumps({'layouts': [{'nodes': nodes, 'edges': edges}]}), graph


def navigation_graph(random):
    graph = {state: row for state, row in a_graph(random).items() if row}
    if not graph:
        return navigation_graph(random)
    names = list(dict.fromkeys([*graph, *(target for row in graph.values() for target in row)]))
    vertices = ', '.join(f'[{random.randint(0, 99)}, {random.random()!r}, '
                         f'{{name: {quoted(name)}}}]' for name in names)
    lanes = ', '.join(f'[{names.index(start)}, {names.index(end)}, {{}}]'
                      for start, row in graph.items() for end in row)
    return ('.yaml', f'levels: {{L1: {{vertices: [{vertices}], lanes: [{lanes}]}}}}\n',
            {name: graph.get(name, []) for name in names})


WRITERS = (tmap2, strands, nav2, patrolling, building, regions, layout, navigation_graph)


def moves(graph: TransitionGraph) -> dict[str, list[str]]:
    return {state: list(row) for state, row in graph.successors.items()}


def check_refusal(error, file):
    message = str(error)
    assert message.isprintable() and len(message) < 2100, ascii(message)
    assert message.startswith((str(file), f"'{file}'")), message


def check_graph(found, file):
    """Everything that is done with a graph must work, or be refused."""
    assert isinstance(found, TransitionGraph) and found.source == str(file)
    assert all(isfinite(x) and isfinite(y) for x, y in found.positions.values())
    assert set(found.unnamed or ()) <= set(found.successors)
    try:
        assert read_locator(found).locate(0.5, 0.5) in {None, *found.successors}
    except ConfigurationError as error:
        assert not read_places(found)
        check_refusal(error, file)
    for graph in (found, found.with_self_loops()):
        try:
            measured = structure(graph)
            chain = graph.chain(next(iter(graph.successors)))
        except ChainError as error:
            check_refusal(error, file)
            continue
        assert measured.states == len(chain) and measured.edges == chain.edge_count
        assert chain.is_feasible([chain.successors(chain.initial_state)[0]])
        assert all(abs(sum(chain.probabilities(state).values()) - 1) < 1e-6
                   for state in chain.states)


def read(file, random):
    options = {'self_loops': random.random() < 0.2, 'prune': random.random() < 0.2,
               'initial_state': random.choice((None, None, 'dock', '0', '\x1b', '')),
               'graph': random.choice((None, None, 0, -1, 2**70)),
               'level': random.choice((None, None, 'L1', '\udcff'))}
    try:
        return read_graph(file, **options)
    except ChainError as error:
        check_refusal(error, file)
        return None


def test_maps(tmp_path):
    suffixes = '.yaml', '.tmap', '.graph', '.geojson', '.lif'

    def case(random):
        suffix, text, graph = random.choice(WRITERS)(random)
        file = tmp_path / f'map{suffix}'
        file.write_text(text, 'utf-8')
        assert moves(read_graph(file)) == graph
        if random.random() < 0.05:
            file = tmp_path / f'map{random.choice(suffixes)}'
        file.write_bytes(damaged(random, text.encode()))
        if (found := read(file, random)) is not None:
            check_graph(found, file)

    fuzz(case)


def test_chain_files(tmp_path):
    def case(random):
        suffix, text, graph = random.choice((chain_file, chain_file, alphabet))(random)
        file = tmp_path / f'chain{suffix}'
        file.write_text(text, 'utf-8')
        assert moves(read_graph(file)) == graph
        file.write_bytes(damaged(random, text.encode()))
        if (found := read(file, random)) is not None:
            check_graph(found, file)
        for reader in (Chain.from_yaml, read_chain):
            try:
                assert isinstance(reader(file), Chain)
            except ChainError as error:
                check_refusal(error, file)

    fuzz(case)
