# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which reader a file gets; choices that belong to another kind of file; pruning."""
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import pytest
from refusals import refused
from symdp_ros import ChainError
from symdp_ros.cli.main import main
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.dead_ends import prune
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.words.sampling_settings import SamplingSettings

FILES = {
    'chain.yaml': 'initial_state: a\ntransitions: {a: [a]}\n',
    'map.tmap2.yaml': 'nodes:\n- node: {name: a, edges: [{node: a}], pose: {position: {x: 0, y: 0}'
                      '}}\npointset: p\n',
    'house.building.yaml': 'levels: {L1: {vertices: [[0, 0, 0, a]], lanes: [[0, 0, {}]]}}\n'
                           'name: house\n',
    'nav.geojson': '{"features": [{"properties": {"id": 1}, "geometry": {"type": "Point", '
                   '"coordinates": [0, 0]}}, {"properties": {"startid": 1, "endid": 1}}]}',
    'patrol.graph': '1 9 9 0.5 0 3 4 1 0 N 5',
}

#: a and b go round; c to f lead to the dead end g at last; h leads in, i is alone.
DEAD_ENDS = """\
initial_state: a
transitions:
  a: {b: 0.5, c: 0.25, a: 0.25}
  b: [a, d]
  c: [e]
  d: [e, f]
  e: [g]
  f: [g, e]
  g: []
  h: [a]
  i: []
"""


@pytest.fixture
def dead_ends(tmp_path):
    file = tmp_path / 'dead_ends.yaml'
    file.write_text(DEAD_ENDS)
    return file


@pytest.mark.parametrize('name', FILES)
def test_each_kind_of_file_is_recognised(tmp_path, name):
    file = tmp_path / name
    file.write_text(FILES[name])
    found = read_graph(file)
    assert found.source == str(file)
    (state, row), = found.successors.items()
    assert row == [state]
    assert read_chain(file, state).states == (state,)


@pytest.mark.parametrize('choice', [{'graph': 0}, {'level': 'L1'}])
@pytest.mark.parametrize('name', FILES)
def test_graph_and_level_are_for_buildings(tmp_path, name, choice):
    file = tmp_path / name
    file.write_text(FILES[name])
    if name == 'house.building.yaml':
        assert list(read_graph(file, **choice).successors) == ['a']
        return
    with refused(ChainError, f'{next(iter(choice))} is for building maps', path=file):
        read_graph(file, **choice)


@pytest.mark.parametrize('name, content, text', [
    ('map.yaml', 'crowd_sim: {}\n', 'an Open-RMF building map (levels)'),
    ('map.yaml', 'crowd_sim: {}\n', 'a chain file (initial_state and transitions)'),
    ('map.yaml', '- name: a\n', 'the file is none of these: '),
    ('map.yaml', 'dock\n', 'the file is none of these: '),
    ('map.yaml', 'image: a.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n', 'the picture of a map'),
    ('map.yaml', '{[a]: b, levels: 1, name: c}', 'a key of the building must be a name'),
    ('map.yaml', '', 'it is empty'),
    ('map.txt', '', 'it is empty'),
    ('map.geojson', ' \n', 'it is empty'),
    ('map.graph', 'digraph {a -> b}', 'a graph for Graphviz'),
    ('map.graph', 'a b', 'the number of vertices is'),
    ('map.graph', '{a', 'the number of vertices is'),
    ('map.graph', None, 'cannot be read'),
])
def test_what_is_no_map(tmp_path, name, content, text):
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with refused(ChainError, text, path=file):
        read_graph(file)


def test_pruning_a_file(dead_ends):
    found = read_graph(dead_ends, prune=True)
    assert found.pruned == ('c', 'd', 'e', 'f', 'g', 'i')
    assert found.successors == {'a': {'b': pytest.approx(2 / 3), 'a': pytest.approx(1 / 3)},
                                'b': ['a'], 'h': ['a']}
    assert read_chain(dead_ends, prune=True).states == ('a', 'b', 'h')
    both = read_graph(dead_ends, prune=True, self_loops=True)
    assert both.pruned == found.pruned and both.successors['b'] == ['a', 'b']
    assert read_graph(dead_ends, self_loops=True, initial_state='i').successors['i'] == ['i']


def test_pruning_leaves_moves_of_probability_0_to_the_chain(tmp_path):
    file = tmp_path / 'zero.yaml'
    file.write_text('initial_state: a\ntransitions:\n  a: [b]\n  b: {c: 1.0, a: 0.0}\n  c: []\n')
    with refused(ChainError, "state 'b' gives 'a' the probability 0.0", path=file, line=4):
        read_chain(file, prune=True)


def test_the_initial_state_must_survive(dead_ends, tmp_path):
    with refused(ChainError, 'would be pruned', line=5, state='c'):
        read_graph(dead_ends, prune=True, initial_state='c')
    file = tmp_path / 'all.yaml'
    file.write_text('transitions: {a: [b], b: []}')
    with refused(ChainError, 'nothing is left after pruning', path=file, state=None):
        read_graph(file, prune=True)


def test_dead_ends_are_reported_with_what_to_do(dead_ends):
    with refused(ChainError, '2 states have no successor: g, i.', line=9, state='g') as caught:
        read_chain(dead_ends)
    assert '--prune' in str(caught.value) and '--self-loops' in str(caught.value)


rows = st.integers(1, 6).flatmap(lambda n: st.lists(
    st.lists(st.integers(0, n - 1).map(str), max_size=3, unique=True), min_size=n, max_size=n))


@given(rows)
def test_what_remains_can_be_walked_for_ever(rows):
    graph = {str(state): row for state, row in enumerate(rows)}
    walkable = set(graph)
    for _ in graph:  # has a walk of length 1, 2, …, n, and so one without end
        walkable = {state for state in walkable if walkable & set(graph[state])}
    if not walkable:
        with pytest.raises(ChainError):
            prune(TransitionGraph(graph))
        return
    found = prune(TransitionGraph(graph, positions={state: (0, 0) for state in graph}))
    assert set(found.successors) == set(found.positions) == walkable
    assert found.pruned == tuple(state for state in graph if state not in walkable)
    assert found.successors == {state: [s for s in graph[state] if s in walkable]
                                for state in graph if state in walkable}


def check(capsys, *arguments):
    """Run `symdp check`; return status, the lines `name   value` as a dict, and stderr."""
    status = main(['check', *map(str, arguments)])
    output, errors = capsys.readouterr()
    return status, {line[:20].strip(): line[20:] for line in output.splitlines()}, errors


def test_check_reports_pruning(dead_ends, capsys):
    status, lines, errors = check(capsys, dead_ends)
    assert status == 1 and lines['isolated'] == 'i' and lines['dead ends'] == 'g'
    assert '2 states have no successor' in errors and 'alternatives' not in lines
    status, lines, errors = check(capsys, dead_ends, '--prune')
    assert (status, errors) == (0, '')
    assert lines['pruned'] == '6 of 9 states: c, d, e, f, g, i' and lines['states'] == '3'
    status, lines, errors = check(capsys, dead_ends, '--prune', '--initial-state', 'e')
    assert status == 1 and "the initial state 'e' would be pruned" in errors


def test_check_reports_names_only_where_some_have_none(tmp_path, capsys):
    for name, named in (('house.building.yaml', '1 state'), ('chain.yaml', None)):
        (tmp_path / name).write_text(FILES[name])
        status, lines, _ = check(capsys, tmp_path / name)
        assert status == 0 and lines.get('named') == named
    status, lines, _ = check(capsys, tmp_path / 'house.building.yaml', '--graph', '0', '--level',
                             'L1')
    assert status == 0
    status, _, errors = check(capsys, tmp_path / 'house.building.yaml', '--graph', '3')
    assert status == 1 and 'there is no graph 3: choose one of 0' in errors


@pytest.mark.parametrize('transitions, text', [
    ('{a: [b, c], b: [a], c: [a]}', '1 position: '),
    ('{a: [b, c], b: [d], c: [e], d: [a], e: [a]}',
     '2 positions: no two routes between the same ends differ in fewer; an adjacency below 2 '
     'protects no real alternative'),
    ('{a: [b], b: [a]}', 'none: '),
])
def test_check_reports_alternatives(tmp_path, capsys, transitions, text):
    file = tmp_path / 'chain.yaml'
    file.write_text(f'initial_state: a\ntransitions: {transitions}\n')
    assert check(capsys, file)[1]['alternatives'].startswith(text)


def test_check_shows_where_nothing_can_be_hidden(tmp_path, capsys):
    file = tmp_path / 'chain.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [b, c], b: [a], c: [a, c]}\n')
    lines = check(capsys, file)[1]
    assert lines['one move only'] == 'from 1 of 3 states, where nothing can be hidden: b'
    assert lines['how it moves'].startswith('not given: six models; learn: own adds ')
    assert 'protects some' not in lines['alternatives']
    assert check(capsys, file, '--self-loops')[1]['one move only'] == 'from no state'
    file.write_text('initial_state: a\nsymbols: [a, b]\n')
    lines = check(capsys, file)[1]
    assert lines['one move only'] == 'from no state'
    assert lines['how it moves'] == 'not given: six models'
    file.write_text('initial_state: a\n'
                    'transitions: {a: {a: 0.2, b: 0.3, c: 0.5}, b: [a, b], c: [c, a]}\n')
    assert check(capsys, file)[1]['how it moves'].startswith(
        'as the map says, weight 0.8, and six models')


def test_check_names_states(dead_ends, tmp_path, capsys):
    assert main(['check', str(dead_ends), '--states']) == 0
    assert capsys.readouterr().out.split() == list('abcdefghi')
    assert main(['check', str(dead_ends), '--states', '--prune']) == 0
    assert capsys.readouterr().out.split() == ['a', 'b', 'h']
    file = tmp_path / 'map.tmap2'
    file.write_text(FILES['map.tmap2.yaml'].replace('a', '"L\\e[31m\\u202e"'))
    assert main(['check', str(file), '--states']) == 1
    assert capsys.readouterr().out == ''
    file.write_text(FILES['map.tmap2.yaml'].replace('name: a', 'name: "L\\e[31m\\u202e"')
                    .replace('node: a', 'node: "L\\e[31m\\u202e"'))
    assert main(['check', str(file), '--states']) == 0
    assert capsys.readouterr().out == 'L\\x1b[31m\\u202e\n'
    status, lines, errors = check(capsys, file)
    assert status == 1 and r"'L\x1b[31m\u202e' has characters that cannot be printed" in errors
    assert r"'L\x1b[31m\u202e'" in lines['initial state']


@pytest.mark.parametrize('arguments, text', [
    (['--initial-state', 'A'], "the initial state 'A' is not a state: did you mean 'a'?"),
    (['--initial-state', 'dock', '--prune'],
     "'dock' is not a state: name one of its 3 states, 'a', 'b' or 'h'"),
])
def test_check_says_what_may_have_been_meant(dead_ends, capsys, arguments, text):
    status, _, errors = check(capsys, dead_ends, *arguments)
    assert status == 1 and text in errors


def test_every_format_is_described_wherever_formats_are(capsys):
    from symdp_ros.maps import FORMATS
    from symdp_ros.options import CHAIN_FILE

    page = (Path(__file__).parents[2] / 'docs' / 'maps.md').read_text('utf-8')
    for text in (CHAIN_FILE.meaning, page):
        for kind in FORMATS:
            tool = kind.name.partition(' ')[2].split()[0]  # STRANDS, Nav2, chain, …
            assert tool in text, f'{tool} is missing in {text[:200]}'


def test_the_arguments_can_name_the_file_by_an_option(dead_ends, capsys):
    from argparse import ArgumentParser

    from symdp_ros.cli.maps.check import add_chain_arguments, chain_of

    parser = ArgumentParser()
    add_chain_arguments(parser, '--chain')
    options = parser.parse_args(['--chain', str(dead_ends), '--prune', '--self-loops'])
    assert chain_of(options).states == ('a', 'b', 'h')
    assert 'pruned: 6 of 9 states: c, d, e, f, g, i' in capsys.readouterr().err


def test_the_nodes_parameters(tmp_path):
    from symdp_ros.options import CHAIN

    def chain_of(values):
        return SamplingSettings.of(values).chain(MapSettings.of(values).read())

    file = tmp_path / 'house.building.yaml'
    file.write_text('levels: {L1: {vertices: [[0, 0, 0, a], [1, 1, 0, b]], lanes: [[0, 0, {}], '
                    '[1, 1, {graph_idx: [2, 1]}]]}}\nname: house\n')
    settings = {setting.name: setting.default for setting in CHAIN} | {
        'chain_file': str(file), 'initial_state': 'b'}
    assert settings['graph'] == -1 and settings['level'] == ''
    with refused(ChainError, 'the graphs 0 (1 state, 1 move), 1 (1 state, ', path=file):
        chain_of(settings)
    assert chain_of(settings | {'graph': 1, 'level': 'L1'}).states == ('b',)
