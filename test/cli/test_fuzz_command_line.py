# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Random arguments to every subcommand of `symdp`, odd files and odd bytes among them.

Whatever is typed, the exit status is 0, 1 or 2, and what is wrong is said in lines that can be
printed; never a traceback. The subcommands and options are those that the parser knows, so that
new ones are tried, too.
"""
import argparse
from contextlib import contextmanager
import io
import os
import signal
import sys

from long_runs import fuzz
import pytest
from symdp_ros.cli.main import main, make_parser
from symdp_ros.demo.observer import Observer
from symdp_ros.demo.processes import DemoError

_PATIENCE = 120  # seconds until a command counts as hanging

NUMBERS = ('0', '1', '2', '3', '5', '0.5', '2.0', '1e-300', '1e300', '-1', '-0.0', 'nan', 'inf',
           '-inf', '1_0', '٣', ' 2', '0x10', '', 'x', '9' * 400, '1.5.2', '1e', '--', '½')
SMALL = ('-1', '0', '1', '2', '3', '7', 'x', '', '1.5', 'nan', '9' * 5000)
TEXTS = ('', 'a', 'b', 'a,b', 'a,b,a,a', 'dock', 'x=a', '=', 'x=', 'a=b=c', 'data', 'data[0]', '.',
         '[', 'a.b[9999999999999999999]', '\0', '\n', '\x1b[31m', '\udcff', '\u202e', '🤖', '%s',
         '%(prog)s', '{}', '{0}', '-', '--', '-x', '--help', '@file', '*', '~', '~nobody/x',
         '$HOME',
         "'", '"', 'x' * 300, 'x' * 70_000, ' ', 'std_msgs/msg/String', 'no/msg/Type', 'stamp',
         'symbol', '\\', 'a' * 300 + '/b', 'NaN', 'None', 'true')

#: What lets a command go on, by the destination of the argument; others are tried more seldom.
PLAUSIBLE = {
    ('isolate', 'file'): ('fleet.yaml',), ('isolate', 'to_domain'): ('3', '5'),
    'file': ('good.yaml', 'modes.yml', 'odd \udcff\n\x1b.yaml'), 'initial_state': ('a', 'b'),
    ('ledger', 'file'): ('new.ledger', 'old.ledger'), 'epsilon': ('0', '0.5', '2', '9'),
    'adjacency': ('1', '2', '4'), 'length': ('1', '3', '6'), 'walks': ('2', '4'),
    'word': ('log.csv', 'log.jsonl'), ('automaton', 'word'): ('a,b,b', 'a', 'b,a,c,b'),
    'distance': ('0', '1', '2'), 'target_error': ('0.1', '0.5'), 'plot': ('new.png', 'new.svg'),
    'figure': ('new.svg',),
    'logs': ('log.csv', 'log.jsonl', 'logs', 'bad.csv'), 'output': ('out', 'new'),
    ('chain', 'output'): ('new.chain.yaml', 'new.yml'), 'regions': ('rooms.yaml', 'good.yaml'),
    'ledger': ('new.ledger',), 'subject': ('robot', 'r\udcff', '\x1b'),
    'budget': ('0', '3', '100'),
    'subject_budget': ('0', '3', '100'), 'symbol_map': ('x=a', '0=b'), 'duration': ('1',),
    'rate': ('5',), 'period': ('0.5', '1'), 'stamp_key': ('stamp',), 'symbol_key': ('symbol',),
}
RARE = {'length': 1.0, 'walks': 1.0, 'target_error': 0.02, 'graph': 0.02, 'level': 0.02,
        'prune': 0.02, 'ledger': 0.5, 'subject': 0.5, 'help': 0.0,
        'initial_state': 0.5, 'route_key': 0.02, 'position_key': 0.02}
SKIPPED = {'--scheduler',  # waits for a cluster
           '--help', '--version'}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Make files of every kind in a working directory; return their names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('ROS_DOMAIN_ID', '0')
    # No nodes are started: all that comes before is tried.
    monkeypatch.setattr(Observer, '__enter__', lambda self: _no_nodes())
    monkeypatch.setattr(Observer, '__exit__', lambda self, *exception: None)
    for module in 'live_graph', 'listening', 'calling':
        monkeypatch.setitem(sys.modules, f'symdp_ros.ros.graph.{module}', None)
    chain = 'initial_state: a\ntransitions: {a: [a, b], b: [a, c], c: {b: 0.5, c: 0.5}}\n'
    contents = {
        'good.yaml': chain, 'modes.yml': 'initial_state: a\nsymbols: [a, b, c]\n',
        'rooms.yaml': 'regions: {a: [[0, 0], [1, 0], [1, 1]], b: [[1, 0], [1, 1], [2, 0]]}\n',
        'ends.yaml': 'transitions: {a: [b], b: []}\n',
        'odd \udcff\n\x1b.yaml': chain, 'damaged.yaml': chain[:40], 'empty.yaml': '',
        'nav.geojson': '{"features": [{"properties": {"id": 0}, "geometry": {"type": "Point", '
                       '"coordinates": [0, 0]}}, {"properties": {"startid": 0, "endid": 0}}]}',
        'bad.geojson': '{"features": [{"properties": {"id": {}}}]}', 'no.graph': '1 2 3',
        'log.csv': 'stamp,symbol\n0,a\n1,b\n2,c\n', 'log.jsonl': '{"stamp": 0, "symbol": "a"}\n',
        'bad.csv': 'stamp,symbol\n0\n', 'binary.csv': '\0\x01\x02\udcff', 'no.mcap': 'not a bag',
        'fleet.yaml': 'fleet_domain: 5\ndefaults: {chain_file: good.yaml, epsilon: 1}\n'
                      'robots: {r1: {domain: 1}, r2: {domain: 2}}\n',
        'no.db3': 'no database', 'no.parquet': 'PAR1', 'old.ledger': 'no ledger',
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, 'utf-8', 'surrogateescape')
    for directory in ('logs', 'out', 'full.parquet', 'dir.yaml'):
        (tmp_path / directory).mkdir()
    (tmp_path / 'logs' / 'a.csv').write_text(contents['log.csv'])
    (tmp_path / 'logs' / 'odd \udcff.csv').write_text(contents['log.csv'])
    for name in ('pipe.csv', 'pipe.yaml', 'logs/pipe.jsonl'):
        os.mkfifo(tmp_path / name)
    (tmp_path / 'loop.yaml').symlink_to('loop.yaml')
    return (*contents, 'logs', 'out', 'full.parquet', 'dir.yaml', 'pipe.csv', 'pipe.yaml',
            'loop.yaml', 'nowhere', 'nowhere/x.csv', 'new.ledger', 'out/new.ledger', 'new.svg',
            'new.png', 'nowhere/new.png', 'out/new.parquet', 'new.txt', '.', '..', 'good.yaml/x',
            'package://symdp_ros/config/warehouse.chain.yaml', 'package://', 'package://x/y.yaml',
            'package://\udcff/y.yaml', '/dev/null', '/dev/zero', '/proc/self/mem')


def _no_nodes():
    raise DemoError('no nodes in this test')


def commands():
    """Return name → parser of every subcommand."""
    [action] = [action for action in make_parser()._actions
                if isinstance(action, argparse._SubParsersAction)]
    return action.choices


def a_value(random, command, action, files):
    plausible = PLAUSIBLE.get((command, action.dest)) or PLAUSIBLE.get(action.dest)
    if random.random() < 0.85 and (plausible or action.choices):
        return str(random.choice(plausible or list(action.choices)))
    if action.type is int and random.random() < 0.9:
        return random.choice(SMALL)
    if action.type is float and random.random() < 0.9:
        return random.choice(NUMBERS)
    return random.choice(random.choice((files, files, TEXTS, NUMBERS)))


def an_argument_list(random, parsers, files):
    """Return arguments: mostly of a form that the parser takes, so that the command runs."""
    command = random.choice(list(parsers))
    arguments = []
    for action in parsers[command]._actions:
        if SKIPPED & set(action.option_strings):
            continue
        if not (action.required or random.random() < RARE.get(action.dest, 0.1)):
            continue
        name = [random.choice(action.option_strings)] if action.option_strings else []
        if name and action.nargs == 0:
            arguments.append(name)
            continue
        for _ in range(random.choice((1, 1, 1, 2)) if action.nargs == '+' else 1):
            value = a_value(random, command, action, files)
            arguments.append([f'{name[0]}={value}'] if name and random.random() < 0.5
                             else [*name, value])
    random.shuffle(arguments)
    flat = [command, *(part for argument in arguments for part in argument)]
    if random.random() < 0.05:
        flat.insert(random.randrange(len(flat) + 1), random.choice(TEXTS))
    if random.random() < 0.05:
        del flat[random.randrange(len(flat))]
    return flat


@contextmanager
def a_terminal():
    """Give the two streams that a command writes to; whoever hangs is stopped."""
    streams = [io.TextIOWrapper(io.BytesIO(), 'utf-8', write_through=True) for _ in range(2)]
    before = sys.stdout, sys.stderr
    handlers = {number: signal.getsignal(number)
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(_PATIENCE)
    sys.stdout, sys.stderr = streams
    try:
        yield streams
    finally:
        sys.stdout, sys.stderr = before
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _hangs(number, frame):
    raise AssertionError(f'the command hangs: nothing in {_PATIENCE} s')


def test_command_line(place):
    parsers = commands()

    def case(random):
        arguments = an_argument_list(random, parsers, place)
        with a_terminal() as streams:
            try:
                status = main(arguments)
            except SystemExit as end:
                status = end.code
            except BaseException as error:
                raise AssertionError(f'{arguments!a}: {type(error).__name__}: {error}') from error
        output, errors = (stream.buffer.getvalue().decode() for stream in streams)
        said = f'{arguments!a}: {status}\n{ascii(output)}\n{ascii(errors)}'
        assert status in (0, 1, 2), said
        assert 'Traceback' not in output + errors, said
        assert all(line.isprintable() for line in errors.split('\n')), said
        assert status != 1 or f'symdp {arguments[0]}: ' in errors or output, said
        assert status != 2 or errors.startswith(('usage: symdp', 'symdp ')), said

    fuzz(case)
