# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp learn --released`: a chain from what is public already."""
from hashlib import sha256
import os
from pathlib import Path
from random import Random
import shutil

import pytest
from symdp_ros import read_chain
from symdp_ros.cli.main import main

STATES = [f's{i}' for i in range(8)]
MAP = 'initial_state: s0\ntransitions:\n' + ''.join(
    f'  {s}: [{s}, {STATES[(i + 1) % 8]}, {STATES[i - 1]}]\n' for i, s in enumerate(STATES))
SETTINGS = ['--map', 'map.chain.yaml', '--epsilon', '3', '--adjacency', '1']
GUIDED = ['--mechanism', 'causal', '--policy', 'guided']


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with 20 released logs of a robot that goes round, and their ledger."""
    place, before = tmp_path_factory.mktemp('released'), os.getcwd()
    (place / 'map.chain.yaml').write_text(MAP)
    (place / 'logs').mkdir()
    random = Random(5)
    for day in range(20):
        here, lines = 0, ['stamp,symbol']
        for second in range(60):
            here = (here + random.choices((0, 1, -1), (5, 90, 5))[0]) % 8
            lines.append(f'{1000 * day + second},s{here}')
        (place / 'logs' / f'day_{day}.csv').write_text('\n'.join(lines) + '\n')
    os.chdir(place)
    try:
        assert main(['release', 'logs', *SETTINGS, '--mechanism', 'exponential', '-o', 'out',
                     '--ledger', 'spent', '--subject', 'r1']) == 0
    finally:
        os.chdir(before)
    return place


@pytest.fixture
def place(folder, tmp_path, monkeypatch):
    """Return a copy of the folder, as the working directory."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learn(*more, settings=SETTINGS, output='robot.chain.yaml', released='out'):
    return main(['learn', '--released', released, *settings, '-o', output, *more])


def contents(*names):
    """Return a hash of every file in some directories, and of some files."""
    files = [file for name in names for file in (
        sorted(Path(name).rglob('*')) if os.path.isdir(name) else [Path(name)])]
    return {str(file): sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}


def test_a_chain_that_costs_nothing(place, capsys):
    spent = [name for name in os.listdir() if name.startswith('spent')]
    before = contents('out', 'logs', *spent)
    assert learn('--mechanism', 'exponential') == 0
    assert ('learned from 20 private routes, 1,200 symbols: it costs no ε'
            in capsys.readouterr().out)
    assert contents('out', 'logs', *spent) == before
    assert sorted(os.listdir()) == sorted([*spent, 'logs', 'map.chain.yaml', 'out',
                                           'robot.chain.yaml'])
    text = Path('robot.chain.yaml').read_text()
    for part in ('it costs no ε', 'charged to no subject', 'Routes: 20', 'ε = 3, k = 1',
                 'mechanism exponential, base auto; how it moves: '):
        assert part in text.partition('initial_state')[0]
    learned = read_chain('robot.chain.yaml')
    plain = read_chain('map.chain.yaml')
    assert all(learned.successors(s) == plain.successors(s) for s in plain.states)
    for i, state in enumerate(STATES):
        assert learned.probabilities(state)[STATES[(i + 1) % 8]] > 0.75
    assert learn('--mechanism', 'exponential', output='again.chain.yaml') == 0
    assert Path('again.chain.yaml').read_text() == text


def test_it_is_a_map_like_any_other(place, capsys):
    assert learn('--mechanism', 'exponential') == 0
    assert main(['release', 'logs/day_3.csv', '--map', 'robot.chain.yaml', '--epsilon', '1',
                 '--adjacency', '1', '--trust', '0.9', '-o', 'next', '--ledger', 'spent',
                 '--subject', 'r1']) == 0
    assert main(['check', 'robot.chain.yaml']) == 0


@pytest.mark.parametrize('form', ['jsonl', 'mcap'])
def test_other_formats_and_periods(place, form):
    if form == 'mcap':
        pytest.importorskip('mcap')
    assert main(['release', 'logs', *SETTINGS, *GUIDED, '-o', form, '--format', form,
                 '--sampling', 'period', '--period', '2']) == 0
    every = ['--sampling', 'period', '--period', '2', *GUIDED]
    assert learn(*every, released=form) == 0
    assert 'tick: 2.0' in Path('robot.chain.yaml').read_text()
    assert learn(*GUIDED, released=form, output='b.chain.yaml') == 1
    assert not os.path.exists('b.chain.yaml')


@pytest.mark.parametrize('more, said', [
    (['logs'], 'leave out logs'),
    (['--ledger', 'spent'], '--ledger is for logs'),
    (['--subject', 'r1'], '--subject is for logs'),
    (['--unit', 'log'], '--unit is for logs'),
    (['--clip', '7'], '--clip is for logs'),
    (['--input', 'pose'], '--input is for logs'),
    (['--period', '2'], '--period is for --sampling period'),
    (['--sampling', 'period', '--period', '2'], '000001.private.csv'),
    (['--mechanism', 'causal', '--policy', 'adaptive'], 'policy adaptive'),
    (['-o', 'robot.txt'], 'chain.yaml'),
    (['-o', 'missing/robot.chain.yaml'], 'make it first'),
    (['-o', 'map.chain.yaml'], 'is there already'),
    (['--released', 'empty'], 'empty: there is no release'),
    (['--released', 'missing'], 'missing: the directory cannot be read'),
    (['--released', 'logs'], 'day_0.csv: it is no release')])
def test_what_is_refused(place, capsys, more, said):
    (place / 'empty').mkdir()
    before = contents('.')
    assert learn(*more) == 1
    assert said in capsys.readouterr().err
    assert contents('.') == before


@pytest.mark.parametrize('name, text, said', [
    ('notes.txt', 'hello', 'notes.txt: it is no release'),
    ('walks.parquet', 'PAR1', 'walks.parquet: it is no release'),
    ('x.private.csv', 'stamp,symbol\n0.0,s1\n1.0,hall\n', 'x.private.csv: hall is no state'),
    ('x.private.csv', 'stamp,symbol\n0.0,s1\n1.0,s3\n', 'x.private.csv: it makes moves'),
    ('x.private.csv', 'stamp,symbol\n7.0,s1\n8.0,s2\n', 'x.private.csv: it is no release'),
    ('x.private.csv', 'stamp,symbol\n0.0,s1', 'x.private.csv: its last line has no line end')])
def test_files_that_are_no_releases_of_this_map(place, capsys, name, text, said):
    (place / 'out' / name).write_text(text)
    assert learn() == 1
    assert said in capsys.readouterr().err
    assert not os.path.exists('robot.chain.yaml')


@pytest.mark.parametrize('arguments, said', [
    (['logs'], 'give --ledger'), ([], 'there is nothing to learn from'),
    (['logs', '--ledger', 'x', '--subject', 'r1', '--base', 'counting'], '--base says how')])
def test_logs_without_what_they_need(place, capsys, arguments, said):
    assert main(['learn', *arguments, *SETTINGS, '-o', 'robot.chain.yaml']) == 1
    assert said in capsys.readouterr().err
