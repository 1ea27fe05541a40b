# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""patrolling_sim graphs: the shared maps' numbers, both headers, strictness."""
from itertools import combinations, product
from pathlib import Path

import pytest
from refusals import refused
from shared_data import shared, shared_case
from symdp_ros import ChainError
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import structure


#: From the maps' own description: states, edges, period.
MAPS = {'1r5': (12, 22, 2), 'grid': (25, 80, 2), 'cumberland': (40, 88, 1)}

VERTICES = '0\n20\n150\n1\n1\nE\n15\n\n1\n35\n152.5\n2\n0\nW\n15\n2\nNE\n140\n\n2\n54\n81\n0\n'
SIX = '3\n239\n249\n0.5\n-10\n2.5\n\n' + VERTICES
FOUR = '3\n239\n249\n0.5\n\n' + VERTICES


@pytest.fixture
def read(tmp_path):
    def read(text):
        file = tmp_path / 'small.graph'
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_graph(file)
    return read


@pytest.mark.parametrize('name', MAPS)
def test_the_shared_maps(name):
    file = shared('patrolling_sim', f'{name}.graph')
    measured = structure(read_graph(file))
    assert (measured.states, measured.edges, measured.period) == MAPS[name]
    assert measured.strong_components == 1


@pytest.mark.parametrize('name', MAPS)
def test_the_shared_maps_in_the_other_form(name, read):
    file = shared('patrolling_sim', f'{name}.graph')
    lines = file.read_text().splitlines(keepends=True)
    assert read(''.join(lines[:4] + lines[6:])).successors == read_graph(file).successors


@pytest.mark.parametrize('text, x, y', [(SIX, 0, 77.5), (FOUR, 10, 75),
                                        (SIX.replace('\n', '\r\n'), 0, 77.5),
                                        (' '.join(FOUR.split()), 10, 75)])
def test_both_headers(read, text, x, y):
    found = read(text)
    assert found.successors == {'0': ['1'], '1': ['0', '2'], '2': []}
    assert found.positions['0'] == (x, y)
    assert found.lines['1'] == (1 if len(text.splitlines()) == 1 else
                                16 if x == 0 else 14)
    assert structure(found).dead_ends == ('2',)


@pytest.mark.parametrize('old, new, line, text', [
    ('3\n239', '0\n239', 1, 'the number of vertices is'),
    ('3\n239', '3.5\n239', 1, 'the number of vertices is'),
    ('3\n239', '2\n239', 23, 'the neighbour 2, but the file has the vertices 0 to 1'),
    ('3\n239', '4\n239', 30, 'the file ends where the id of vertex 3 should be'),
    ('239', '-239', 2, 'the width of the image is'),
    ('0.5\n', '0\n', 4, 'the resolution is'),
    ('-10\n', 'nan\n', 5, 'the offset is'),
    ('152.5\n2', '152.5\n1', 24, 'x of vertex 2 is'),
    ('1\n1\nE', '1\n1\nEast', 13, 'no direction'),
    ('1\n1\nE\n15', '1\n1\n15', 13, 'no direction'),
    ('1\n1\nE\n15', '1\n1\nE\nfar', 14, 'the cost'),
    ('54\n81\n0\n', '54\n81\n0\n9\n', 31, "'9' follows after the last of 3 vertices"),
    ('54\n81\n0\n', '54\n81\n٣\n', 30, 'the degree of vertex 2'),
    pytest.param('54\n81\n0\n', f'54\n81\n{"9" * 5000}\n', 30, 'the degree of vertex 2', id='9…'),
    ('\n2\n54', '\n3\n54', 27, 'the id of vertex 2 must be 2'),
])
def test_damage_is_reported_with_its_line(read, old, new, line, text):
    assert SIX.count(old) == 1
    with refused(ChainError, text, line=line) as caught:
        read(SIX.replace(old, new))
    assert Path(caught.value.path).name == 'small.graph' and len(str(caught.value)) < 300


#: The forms of the header, with and without heights.
FORMS = [(corner, heights) for corner in ('', '-1 2\n') for heights in (False, True)]


def written(graph, corner, heights):
    """Return the text of a graph in one of the forms."""
    lines = [f'{len(graph)} 9 9 0.5\n{corner}']
    for name, row in graph.items():
        lines.append(f'{name} {name} 4.5 {"-0.5 " * heights}{len(row)} '
                     + ' '.join(f'{end} N 2' for end in row))
    return '\n'.join(lines) + '\n'


@pytest.mark.parametrize('corner, heights', FORMS)
@pytest.mark.parametrize('size', [1, 2, 3])
def test_every_small_graph_is_read_in_every_form(read, size, corner, heights):
    rows = [row for count in range(size + 1) for row in combinations(range(size), count)]
    for chosen in product(rows, repeat=size):
        graph = {str(i): [str(end) for end in row] for i, row in enumerate(chosen)}
        found = read(written(graph, corner, heights))
        assert found.successors == graph
        assert found.positions['0'] == ((-1, 4.25) if corner else (0, 2.25))
        assert ('heights left out' in found.about[1]) == heights


def test_the_case_of_heights():
    found = read_graph(shared_case('23-patrolling-3d', 'two.graph'))
    assert found.successors == {'0': ['1'], '1': ['0']}
    assert found.positions == {'0': (-8.5, 2.7), '1': (-5.8, 2.7)}


def test_repeated_edges_are_merged(read):
    found = read(FOUR.replace('2\nNE\n140', '0\nNE\n140'))
    assert found.successors['1'] == ['0'] and found.repeated == 1


@pytest.mark.parametrize('text', [SIX, FOUR])
def test_a_file_that_is_cut_off_is_refused(read, text):
    lines = text.splitlines(keepends=True)
    for end in range(len(lines)):
        with pytest.raises(ChainError) as caught:
            read(''.join(lines[:end]))
        assert Path(caught.value.path).name == 'small.graph'


def test_a_file_that_is_no_text(read):
    with refused(ChainError, 'not UTF-8'):
        read(b'\xff\xfe3')
    with refused(ChainError, 'is empty'):
        read('\n\n')
