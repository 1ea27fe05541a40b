# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp zones`, and what `symdp check` and `symdp calibrate` say of zones."""
from pathlib import Path
import re

from explored_page import in_short_time
from in_process import run_symdp
import pytest
from symdp_ros import Chain
from symdp_ros.maps import read_graph
from symdp_ros.maps.zones import Doors, doors, read_zones

CLINIC = Path(__file__).resolve().parents[2] / 'config' / 'clinic.regions.yaml'
ZONED = (CLINIC, '--self-loops', '--zones', CLINIC)  # short for --zones-file


def symdp(*arguments):
    return run_symdp(*arguments, COLUMNS='200')


def rows(run):
    """Return zone → the other cells of its row."""
    found = [[cell.strip() for cell in line.split('│')[1:-1]]
             for line in run.stdout.split('zones: ')[1].splitlines() if line.startswith('│')]
    return {row[0]: row[1:] for row in found}


def test_the_command_in_the_sample_file():
    [line] = [line for line in CLINIC.read_text().splitlines() if line.startswith('#   symdp ')]
    run = symdp(*(CLINIC if word.endswith('.yaml') else word for word in line.split()[2:]))
    assert run.returncode == 0 and set(rows(run)) == {'hall', 'east_ward', 'west_ward'}


def test_what_is_proposed_can_be_used(tmp_path):
    file = tmp_path / 'zones.yaml'
    run = symdp('zones', CLINIC, '--size', '10', '-o', file)
    assert run.returncode == 0 and '3 zones of 4 to 10 places' in run.stderr
    graph = read_graph(CLINIC)
    assert {frozenset(states) for states in read_zones(graph, file).values()} == {
        frozenset(states) for states in read_zones(graph, CLINIC).values()}  # the wards
    printed = symdp('zones', CLINIC, '--size', '10')
    assert printed.stdout in file.read_text() and printed.returncode == 0
    again = symdp('zones', CLINIC, '-o', file)
    assert again.returncode == 1 and str(file) in again.stderr


def test_the_doors_of_zones():
    chain = Chain({'a': ['a', 'b'], 'b': ['c', 'd'], 'c': ['c', 'd', 'a'], 'd': ['d', 'b']}, 'a')
    assert doors(chain, {'west': ['a', 'b'], 'east': ['c', 'd']}) == {
        'west': Doors(('a', 'b'), ('b',)),  # left by b alone, entered by a and b
        'east': Doors(('c', 'd'), ())}
    assert doors(Chain.complete(['a', 'b'], 'a'), {'all': ['a', 'b']}) == {'all': Doors((), ())}


def test_check_says_what_each_zone_hides(tmp_path):
    none, more = (symdp('check', *ZONED, '--epsilon', epsilon, '--adjacency',
                  '1') for epsilon in ('0', '6'))
    assert none.returncode == more.returncode == 0
    assert 'zones: 3; ε = 0, k = 1\n' in none.stdout
    found, sure = rows(none), rows(more)
    assert found['east_ward'][:3] == ['10', '1', 'east_corridor_1']
    assert found['hall'][:3] == ['4', '1', 'lobby']
    for zone, cells in found.items():
        before, after = cells[3].split(' → ')
        assert before == after  # nothing but the zones is told
        assert all(float(end) > 0.97 for end in re.split('–', sure[zone][3].split(' → ')[1]))
    single = tmp_path / 'zones.yaml'
    single.write_text(f'zones:\n  one: [lift]\n  rest: {[*read_graph(CLINIC).successors][2:]}\n'
                      '  two: [lobby]\n')
    run = symdp('check', CLINIC, '--self-loops', '--zones-file', single, '--protect', '2')
    assert run.returncode == 0
    assert 'nothing is hidden in a zone of one region: lift, lobby' in run.stdout


def test_calibrate_knows_zones():
    run = symdp('calibrate', *ZONED, '--length', '5', '--walks', '4', '--epsilon', '1')
    assert run.returncode == 0 and rows(run).keys() == {'hall', 'east_ward', 'west_ward'}
    assert 'live, guided' not in run.stdout and 'live, paper' not in run.stdout
    assert '│live, adaptive, delay 3 │' in run.stdout and '│causal, adaptive ' in run.stdout
    assert '(live, adaptive)' in run.stdout


def test_calibrate_says_what_a_visit_keeps_with_zones():
    with in_short_time():
        run = symdp('calibrate', *ZONED, '--protect', '2', '--stay', '10', '--epsilon', '1')
    assert run.returncode == 0 and rows(run)
    assert 'two routes that pass through the same zones at the same times' in run.stdout
    assert f'zones_file: {CLINIC}' in run.stdout


@pytest.mark.parametrize('command', ['check', 'calibrate'])
def test_zones_that_cannot_be_read(tmp_path, command):
    (tmp_path / 'zones.yaml').write_text('zones:\n  hall: [lift]\n')
    run = symdp(command, CLINIC, '--self-loops', '--zones-file', tmp_path / 'zones.yaml')
    assert run.returncode == 1 and 'lie in no zone' in run.stderr
    assert len(run.stderr.splitlines()) == 1
