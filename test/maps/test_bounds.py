# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small files that would fill the memory, and names of files that no system takes: refused."""
import json

import pytest
from refusals import refused
from symdp_ros import ChainError
from symdp_ros.maps import read_graph


def names(count):
    return [f's{number}' for number in range(count)]


def chain_of_aliases(count):
    rows = ''.join(f'  {name}: *row\n' for name in names(count))
    return f'initial_state: a\ntransitions:\n  a: &row [a, {", ".join(names(count))}]\n{rows}'


def chances_of_aliases():
    row = ', '.join(f'{name}: 1' for name in names(300))
    rows = ''.join(f'  {name}: *row\n' for name in names(300))
    return f'transitions:\n  a: &row {{{row}}}\n{rows}'


def nodes_of_aliases(top='nodes:\n', end='pointset: p\n'):
    edges = ', '.join(['{node: a}'] * 300)
    node = '- node: {{name: {}, pose: {{position: {{x: 0, y: 0}}}}, edges: {}}}\n'.format
    return (top + node('a', f'&edges [{edges}]')
            + ''.join(node(name, '*edges') for name in names(300)) + end)


def crowded_lift():
    vertices = ', '.join(['[0, 0, 0, "", *cabin]'] * 501)
    lanes = ', '.join(f'[{number}, {number}]' for number in range(501))
    levels = ', '.join(f'L{level}: {{vertices: {"&v " if not level else ""}'
                       f'{f"[{vertices}]" if not level else "*v"}, lanes: [{lanes}]}}'
                       for level in range(2))
    return (f'cabin: &cabin {{lift_cabin: [1, up]}}\nlevels: {{{levels}}}\nname: house\n'
            'lifts: {up: {level_doors: {L0: [d], L1: [d]}}}\n')


def levels_of_aliases():
    vertices = ', '.join(['[0, 0, 0, ""]'] * 300)
    levels = ', '.join(f'{name}: *level' for name in names(300))
    return (f'levels: {{a: &level {{vertices: [{vertices}], lanes: [[0, 1]]}}, {levels}}}\n'
            'name: house\n')


def corners_of_aliases():
    corners = ', '.join(f'[{number}, {number**2}]' for number in range(300))
    rows = ''.join(f'  {name}: *corners\n' for name in names(300))
    return f'regions:\n  a: &corners [{corners}]\n{rows}'


@pytest.mark.parametrize('name, make, text', [
    ('chain.yaml', lambda: chain_of_aliases(1500), '2,000,000 entries with what its aliases'),
    ('house.yaml', crowded_lift, "the lift 'up' has 1,002 vertices in its cabin")])
def test_what_a_file_can_take_is_bounded(tmp_path, name, make, text):
    file = tmp_path / name
    file.write_text(make())
    with refused(ChainError, text, path=file):
        read_graph(file)


def test_a_vast_file_is_not_read(tmp_path):
    file = tmp_path / 'map.geojson'
    with open(file, 'wb') as vast:
        vast.truncate(1 << 40)
    with refused(ChainError, 'more than 64 MB', path=file):
        read_graph(file)


@pytest.mark.parametrize('name, make', [
    ('chain.yaml', lambda: chain_of_aliases(300)), ('chain.yaml', chances_of_aliases),
    ('map.tmap2', nodes_of_aliases), ('old.yaml', lambda: nodes_of_aliases('', '')),
    ('house.yaml', corners_of_aliases), ('house.yaml', levels_of_aliases),
])
def test_every_reader_counts_what_aliases_repeat(tmp_path, monkeypatch, name, make):
    monkeypatch.setattr('symdp_ros.files.yaml_reader._MOST_ENTRIES', 10_000)
    file = tmp_path / name
    file.write_text(make())
    with refused(ChainError, '10,000 entries with what its aliases', path=file):
        read_graph(file)


@pytest.mark.parametrize('name, content', [
    ('chain.yaml', 'initial_state: NAME\nsymbols: [a]\n'),
    ('chain.yaml', 'transitions: {? NAME : [a]}\n'),
    ('map.tmap2', 'nodes: [{node: {name: NAME, edges: [], pose: {}}}]\npointset: p\n'),
    ('house.yaml', 'levels: {L: {vertices: [[0, 0, 0, NAME]]}}\nname: house\n'),
    ('house.yaml', 'levels: {? NAME : {vertices: [[0, 0, 0, ""]]}}\nname: house\n'),
    ('house.yaml', 'regions: {? NAME : [[0, 0], [1, 0], [1, 1]]}\n'),
])
def test_names_are_at_most_1000_characters_long(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content.replace('NAME', 'n' * 1001))
    with refused(ChainError, 'has 1,001 characters: give it a name of at most 1,000', path=file):
        read_graph(file)


def test_what_a_file_holds_is_counted_before_it_takes_memory(tmp_path, monkeypatch):
    monkeypatch.setattr('symdp_ros.files.yaml_reader._MOST_NODES', 1000)
    file = tmp_path / 'chain.yaml'
    file.write_text(f'initial_state: s0\nsymbols: [{", ".join(names(994))}]\n')
    assert len(read_graph(file).successors) == 994
    file.write_text(f'initial_state: s0\nsymbols: [{", ".join(names(996))}]\n')
    with refused(ChainError, 'the file has more than 1,000 entries', line=2):
        read_graph(file)


NAMES = {
    'zero byte': ('a\0b', r"'a\x00b{}' is not a valid file name"),
    'surrogate': ('\ud800', r"'\ud800{}' is not a valid file name"),
    'long': ('x' * 3000, 'characters): the file cannot be read: File name too'),
    'long path': ('/'.join(['d' * 200] * 30), '): the file cannot be read: File name too long'),
    'odd': ('\udcff\x1b[31m\n\u202e', r'\xff\x1b[31m\n\u202e{}: the file cannot be read: No such'),
}


@pytest.mark.parametrize('suffix', ['.yaml', '.tmap', '.graph', '.geojson', '.lif'])
@pytest.mark.parametrize('kind', NAMES)
def test_names_that_no_file_has(tmp_path, monkeypatch, suffix, kind):
    monkeypatch.chdir(tmp_path)
    name, text = NAMES[kind]
    with pytest.raises(ChainError) as caught:
        read_graph(name + suffix)
    message = str(caught.value)
    assert text.replace('{}', suffix) in message and message.isprintable() and len(message) < 300


@pytest.mark.parametrize('suffix', ['.yaml', '.graph', '.geojson'])
def test_a_name_of_any_bytes_can_be_read(tmp_path, suffix):
    contents = {'.yaml': 'transitions: {a: [a]}', '.graph': '1 9 9 0.5 0 3 4 1 0 N 5',
                '.geojson': '{"features": [{"properties": {"id": 0}, "geometry": {"type": "Point",'
                            ' "coordinates": [0, 0]}}]}'}
    file = tmp_path / f'\udcff\n\u202e{suffix}'
    file.write_text(contents[suffix])
    assert len(read_graph(file).successors) == 1


POINT = {'type': 'Point', 'coordinates': [0, 0]}


@pytest.mark.parametrize('feature, text', [
    ({'properties': {'id': 1}, 'geometry': {'type': 'Point', 'coordinates': bad}},
     'feature 0: its coordinates must be two finite numbers')
    for bad in ({}, {'0': 0}, '12', ['1', '2'], [True, False], [0], [], None, 5, [[0, 0], [1, 1]],
                [{}, {}], [0, float('nan')], [0, float('inf')], [10**400, 0], [None, None])
] + [
    ({'properties': {'id': 1}, 'geometry': bad}, 'feature 0: ')
    for bad in (None, [], 'Point', {}, {'type': ['Point']}, {'type': {}}, {'type': None})
] + [
    ({'properties': {'id': bad}, 'geometry': POINT}, 'feature 0: id is ')
    for bad in (-1, 1.5, '1', True, None, [], {}, [1], {'a': 1}, 'x' * 1_000_000)
] + [
    ({'properties': {'startid': 1, 'endid': bad}}, 'feature 0: endid is ')
    for bad in (-1, 1.5, '1', None, [], {})
] + [
    (bad, 'feature 0: it has no ') for bad in (None, [], 5, 'a', {}, {'properties': []})
])
def test_malformed_features(tmp_path, feature, text):
    file = tmp_path / 'map.geojson'
    file.write_text(json.dumps({'features': [feature]}))
    with pytest.raises(ChainError) as caught:
        read_graph(file)
    assert text in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize('document', [None, 5, 'a', [], {}, {'features': {}}, {'features': None},
                                      {'features': 'abc'}])
def test_json_that_is_no_collection(tmp_path, document):
    file = tmp_path / 'map.json'
    file.write_text(json.dumps(document))
    with refused(ChainError, 'the file is none of these: ', path=file):
        read_graph(file)
