# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that no person types: odd names of files, states that look like markup, full disks."""
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
import os
from pathlib import Path
import subprocess
import sys

from in_process import ROOT, run_symdp
import pytest
from symdp_ros.cli.main import main


#: Each subcommand that reads a chain, with what else it needs.
COMMANDS = {'check': [], 'chain': ['-o', 'new.yaml'], 'demo': [],
            'calibrate': ['--initial-state', 'a'],
            'automaton': ['--word', 'a', '--distance', '0', '--initial-state', 'a']}
FILES = {
    'a name of odd bytes': (b'/nowhere/\xff\x1b[31m\n\xe2\x80\xae.yaml',
                            '/nowhere/\\xff\\x1b[31m\\n\\u202e.yaml: the file cannot be read'),
    'a long name': (b'/' + b'x' * 3000 + b'.geojson', 'File name too long'),
    'a long path': (b'/' + b'/x' * 3000 + b'.graph', 'File name too long'),
    'a package of an odd name': (b'package://../a.yaml', "package '..' is not found"),
    'a package without a name': (b'package:///a.yaml', "package '' is not found"),
    'a package of odd bytes': (b'package://\xff\x1b/a.yaml', r"package '\xff\x1b' is not found"),
    'a missing file of a package': (b'package://symdp_ros/a.yaml', 'a.yaml: the file cannot be'),
    'no name': (b'', 'it is not a file'),
}


def symdp(*arguments, stdout=subprocess.PIPE, **environment):
    return subprocess.run([sys.executable, '-m', 'symdp_ros.cli.main', *arguments], stdout=stdout,
                          stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **environment})


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize('kind', FILES)
def test_odd_files(command, kind):
    if command == 'demo':
        pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    file, text = FILES[kind]
    if kind == 'a name of odd bytes' and command == 'check':
        run = symdp(command, file, *COMMANDS[command])
        said, run.stdout = run.stderr.decode(), run.stdout.decode()
    else:
        run = run_symdp(command, os.fsdecode(file), *COMMANDS[command])
        said = run.stderr
    assert run.returncode == 1 and run.stdout == ''
    assert said.startswith(f'symdp {command}: ') and said[:-1].isprintable() and len(said) < 400
    assert text in said or command == 'demo' and 'rename it' in said


def test_what_argparse_quotes_is_one_line():
    run = symdp('check', b'a.yaml', b'\x1b[31m\n\xff')
    assert run.returncode == 2
    assert run.stderr.decode().endswith(r'unrecognized arguments: \x1b[31m\n\xff' + '\n')


def test_a_file_of_odd_bytes_is_checked(tmp_path):
    file = os.fsencode(tmp_path) + b'/\xff\n\x1b.yaml'
    with open(file, 'w') as chain:
        chain.write('initial_state: a\ntransitions: {a: [a, Küche], Küche: [a]}\n')
    run = symdp('check', file, PYTHONIOENCODING='ascii')
    assert run.returncode == 0 and run.stderr == b''
    assert rb'/\xff\n\x1b.yaml' in run.stdout and b'K\\xfcche' in run.stdout
    with redirect_stdout(TextIOWrapper(BytesIO(), encoding='ascii')) as out:
        assert main(['calibrate', os.fsdecode(file), '--length', '3', '--walks', '2']) == 0
        assert b'how it moves' in out.buffer.getvalue()
    assert run_symdp('check', os.fsdecode(file), '--states').stdout == 'a\nKüche\n'


def test_a_full_disk_is_said():
    if not Path('/dev/full').exists():
        pytest.skip('there is no /dev/full on this machine')
    with open('/dev/full', 'wb') as full:
        run = symdp('check', 'config/warehouse.chain.yaml', stdout=full)
    assert run.returncode == 1
    assert run.stderr == b'symdp check: the output cannot be written: No space left on device\n'


def test_a_closed_output_is_no_error():
    run = subprocess.run(['sh', '-c', f'exec "{sys.executable}" -m symdp_ros.cli.main check '
                          'config/warehouse.chain.yaml >&-'], stderr=subprocess.PIPE, cwd=ROOT)
    assert run.returncode == 0 and run.stderr == b''


def test_states_that_look_like_markup_or_formulas(tmp_path):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figures')
    from symdp_ros.figures.routes import draw_routes
    from symdp_ros.maps.graph import TransitionGraph

    file = tmp_path / 'odd.yaml'
    file.write_text('initial_state: "$a^$"\ntransitions: {"$a^$": ["$a^$", "[/]"], '
                    '"[/]": ["$a^$"]}\n')
    arguments = ['automaton', file, '--word', '$a^$,[/]', '--distance', '0']
    run = run_symdp(*arguments)
    assert run.returncode == 0 and '[/]' in run.stdout
    run = run_symdp(*arguments, '--dot')
    assert run.returncode == 0 and '"[/]' in run.stdout
    graph = TransitionGraph({'$a^$': ['[/]'], '[/]': ['$a^$']},
                            positions={'$a^$': (0, 0), '[/]': (1, 1)})
    draw_routes(graph, {'true': ['$a^$', '[/]']}, tmp_path / 'b.svg')


def test_the_demo_shows_states_that_look_like_markup():
    from types import SimpleNamespace

    from rich.console import Console
    from symdp_ros import Chain
    from symdp_ros.demo.one_robot import Screen
    from symdp_ros.maps.graph import TransitionGraph

    rows = {'[/]': ['[red]', '[/]'], '[red]': ['[/]']}
    os.environ.setdefault('ROS_DOMAIN_ID', '0')
    screen = Screen(Chain(rows, '[/]'), TransitionGraph(rows), SimpleNamespace(
        chain_file='[/].yaml', epsilon=1.0, protect=1.0, period=2.0, period_of_reports=1.0))
    screen.console = Console(width=200)
    with screen.console.capture() as captured:
        screen.console.print(screen.picture([('[/]', '[red]')], '[/]', 'title'))
        screen.summary(['[red]', '[/]'], [('[/]', '[red]')], '[/]')
    said = captured.get()
    assert 'T [/]' in said and 'P [red]' in said and 'at [red], which is wrong' in said
    assert 'Meanwhile others saw it at [red] (1 s)' in said


@pytest.mark.parametrize('option, value, instead', [
    ('--mechanism', 'permute_and_flip', 'take exponential'),
    ('--policy', 'planned', 'take the policy adaptive')])
def test_what_earlier_versions_had(option, value, instead):
    run = run_symdp('release', 'a.csv', '--map', 'a.yaml', '--epsilon', '1', '-o', 'out', option,
                    value, COLUMNS='1000')
    assert run.returncode == 2 and 'this version no longer has' in run.stderr
    assert instead in run.stderr
