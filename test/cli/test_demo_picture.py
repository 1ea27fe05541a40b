# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The map of `symdp demo` in a terminal."""
from in_process import ROOT
import pytest
from rich.console import Console
from symdp_ros.demo.picture import Picture
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph


def lines(graph, true, private, width=80, height=24):
    """Return the map without its legend."""
    return Picture(graph, Console(width=width, height=height)).draw(
        true, private).plain.splitlines()[:-1]


@pytest.mark.parametrize('width, height', [(80, 24), (120, 40)])
def test_places_stand_where_they_are(width, height):
    found = lines(read_graph(ROOT / 'config' / 'depot.geojson'), '20', '31', width, height)
    assert len(found) <= height - 11 and max(map(len, found)) < width
    text = '\n'.join(found)
    assert [text.count(mark) for mark in ('T 20', 'P 31', 'T', 'P', '•')] == [1, 1, 1, 1, 20]
    row = {name: next(i for i, line in enumerate(found) if name in line.split() or
                      f'• {name}─' in line) for name in ('33', '9', '8', '5')}
    assert row['33'] < row['9'] < row['8'] < row['5']  # y grows upwards
    assert found[row['5']].index('• 0') < found[row['5']].index('• 10') < (
        found[row['5']].index('• 5'))
    assert 'B 20' in '\n'.join(lines(read_graph(ROOT / 'config' / 'depot.geojson'), '20', '20'))


def test_names_that_would_cover_others_are_left_out():
    """But not those of the places where the robots are."""
    states = [f'place {i}' for i in range(30)]
    graph = TransitionGraph({state: states for state in states},
                            positions={state: (i, 0) for i, state in enumerate(states)})
    [line] = lines(graph, 'place 14', 'place 29')
    assert 'P' in line and 'T' in line and 'place 29' in line


def test_a_list_without_positions():
    graph = read_graph(ROOT / 'config' / 'warehouse.chain.yaml')
    text = '\n'.join(lines(graph, 'dock', 'gate'))
    assert 'T dock' in text and 'P gate' in text and '• charger' in text and '─' not in text
    states = [f's{i}' for i in range(2_000)]
    found = lines(TransitionGraph({state: states[:1] for state in states}), 's0', 's1999')
    assert len(found) <= 13 and 'P s1999' in '\n'.join(found)


def test_wide_letters_keep_the_columns():
    graph = TransitionGraph({'倉庫': ['門'], '門': ['倉庫']},
                            positions={'倉庫': (0, 0), '門': (10, 0)})
    [line] = lines(graph, '倉庫', '門')
    assert 'T 倉庫' in line and 'P 門' in line
