# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a user types it, in processes of its own."""
import os
import re
import signal
import subprocess
import sys
import time

from in_process import report, ROOT, run_symdp as symdp
import pytest
from shared_data import shared, shared_case
from symdp_ros.ros.process import own_network


#: From the maps' own description: states, edges, out-degrees, period.
MAPS = {
    'route_sample_graph': (9, 24, '2 to 4, mean 2.67', 2),
    'route_turtlebot3_graph': (20, 64, '2 to 4, mean 3.20', 1),
    'route_turtlebot4_graph': (34, 78, '1 to 5, mean 2.29', 1),
    'route_aws_graph': (40, 84, '1 to 5, mean 2.10', 1),
    'bringup_warehouse_graph': (96, 172, '1 to 4, mean 1.79', 1),
}


@pytest.mark.parametrize('name', MAPS)
def test_check_tells_what_a_map_is_like(name):
    file = shared('nav2', f'{name}.geojson')
    run = symdp('check', file)
    states, edges, degrees, period = MAPS[name]
    lines = report(run)
    assert run.returncode == 0 and run.stderr == ''
    assert lines['states'] == str(states)
    assert lines['edges'].split()[0] == str(edges)
    assert ('1 listed more than once' in lines['edges']) == (name == 'route_turtlebot3_graph')
    assert lines['out-degree'] == degrees
    assert (lines['strongly connected'], lines['period']) == ('yes', str(period))
    assert (lines['isolated'], lines['dead ends']) == ('none', 'none')


def test_check_refuses_a_map_that_cannot_be_a_chain():
    file = shared('nav2', 'test_error_codes.geojson')
    run = symdp('check', file)
    assert run.returncode == 1
    assert report(run)['isolated'].startswith('400, 401, 402')
    assert report(run)['dead ends'] == '399'
    assert '12 states have no successor' in run.stderr and 'Traceback' not in run.stderr
    assert symdp('check', file, '--self-loops').returncode == 0


@pytest.mark.parametrize('given, needed', [
    (['--epsilon', '1'], 'zones-file'), (['--protect', '30'], 'zones-file'),
    (['--input', 'pose'], 'topic'), (['--where', 'id=r1'], 'topic')])
def test_what_check_would_ignore_is_refused(given, needed):
    """Someone who sets ε expects it to have an effect."""
    run = symdp('check', 'config/depot.geojson', *given)
    assert run.returncode == 1 and not run.stdout
    assert run.stderr == f'symdp check: {given[0]} needs --{needed}\n'


def test_check_tells_what_cannot_be_reached(tmp_path):
    file = tmp_path / 'one_way.yaml'
    file.write_text('initial_state: b\ntransitions: {a: [b], b: [c, b], c: [b]}\n')
    lines = report(symdp('check', file))
    assert lines['unreachable'] == 'a' and lines['strongly connected'] == 'no, 2 components'
    assert report(symdp('check', file, '--initial-state', 'a'))['unreachable'] == 'none'


@pytest.mark.parametrize('content, text', [
    ('{', 'line 1: the file is not valid JSON'),
    ('{"features": [{"properties": {"id": 1' + '0' * 5000 + '}}]}', 'a number that is too long'),
    ('{"features": [], "features": []}', 'has a key twice'),
    ('{"features": [{"properties": {"id": 9, "startid": 1, "endid": 2}}]}',
     'feature 0: the edge joins node 1, which is not in the file'),
    ('{"features": [' + ', '.join(2 * ['{"properties": {"id": 3}, "geometry": {"type": "Point", '
     '"coordinates": [0, 0]}}']) + ']}', 'feature 1: node 3 is listed twice'),
])
def test_damaged_maps(tmp_path, content, text):
    """More of them: test_bounds.py."""
    file = tmp_path / 'damaged.geojson'
    file.write_text(content)
    run = symdp('check', file)
    assert run.returncode == 1
    assert text in run.stderr and 'damaged.geojson' in run.stderr
    assert 'Traceback' not in run.stderr


def test_check_names_states_at_one_position(tmp_path):
    def building(x):
        return ('name: plant\ncoordinate_system: cartesian_meters\nlifts: {}\nlevels:\n'
                '  L1: {vertices: [[0, 0, 0, dock], [9, 0, 0, hall], [%s, 0, 0, start]], '
                'lanes: [[0, 1, {bidirectional: [4, true]}], [1, 2, {bidirectional: '
                '[4, true]}]]}\n' % x)

    file = tmp_path / 'plant.building.yaml'
    file.write_text(building(0))
    lines = report(symdp('check', file))
    assert lines['same position'] == (
        '1 place, where another one is, too: start (at dock); no pose (input: pose) leads to '
        'start')
    file.write_text(building(0.01))
    assert 'same position' not in report(symdp('check', file))
    lines = report(symdp('check', shared_case('32-two-states-one-place', 'dup.geojson')))
    assert lines['same position'].endswith('1 (at 0)')


def test_a_byte_order_mark_does_no_harm(tmp_path):
    file = tmp_path / 'marked.geojson'
    file.write_text('\ufeff' + (ROOT / 'config' / 'depot.geojson').read_text())
    assert symdp('check', file).returncode == 0


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / 'pipe.yaml')
    assert 'it is not a file' in symdp('check', tmp_path / 'pipe.yaml').stderr


@pytest.mark.parametrize('arguments, status, text', [
    (['check'], 2, 'MAP'), ([], 2, 'COMMAND'), (['dance'], 2, 'invalid choice'),
    (['relase'], 2, "did you mean 'release'?"),
    (['release', '--policy', 'guide'], 2, "did you mean 'guided'?"),
    (['release', '--epsilom', '1'], 2, '--epsilom; did you mean --epsilon?'),
    (['release', '-epsilon', '1'], 2, '-epsilon; did you mean --epsilon?'),
    (['check', 'config/depot.geojson', '--initial_stat=0'], 2, 'did you mean --initial-state?'),
    (['check', 'config/depot.geojson', '--zzz'], 2, 'unrecognized arguments: --zzz'),
    (['check', 'nowhere.yaml'], 1, 'nowhere.yaml: the file cannot be read'),
    (['check', 'README.md'], 1, 'it is not valid YAML'),
    (['demo', 'nowhere.geojson'], 1, 'nowhere.geojson: the file cannot be read'),
    (['demo', 'config/depot.geojson', '--epsilon', '-1'], 2, 'epsilon is -1.0: it must be at'),
    (['demo', 'config/depot.geojson', '--duration', 'nan'], 2, 'duration is nan: it must be'),
])
def test_wrong_usage(arguments, status, text):
    if arguments[:1] == ['demo']:
        pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    run = symdp(*arguments)
    assert run.returncode == status and text in run.stderr and 'Traceback' not in run.stderr


def test_every_option_of_every_subcommand_is_suggested(capsys):
    from symdp_ros.cli.main import COMMANDS, make_parser

    [commands] = (action.choices for action in make_parser()._actions if action.choices)
    assert len(commands) == len(COMMANDS)
    for parser in commands.values():
        for option in parser._option_string_actions:
            if not option.startswith('--'):
                continue
            wrong = option[:-1] + ('q' if option[-1] != 'q' else 'x')
            with pytest.raises(SystemExit):
                parser.parse_args([wrong, 'x'])
            assert option in capsys.readouterr().err.partition(f'{wrong}; did you mean ')[2]
    with pytest.raises(SystemExit):
        commands['check'].parse_args(['--', 'map.yaml', '--stats'])  # what follows -- is a word
    assert 'did you mean' not in capsys.readouterr().err


@pytest.mark.parametrize('command, option', [('check', ''), ('release', '--map '),
                                             ('learn', '--map ')])
def test_the_map_is_called_the_same_everywhere(command, option):
    assert f'{option}MAP' in symdp(command, '--help').stdout


def test_the_help_of_release_begins_with_an_example():
    example = symdp('release', '--help').stdout.split('for example:')[1].split('positional')[0]
    assert 'symdp release /data/patrols --map' in example


def test_the_shell_completes(tmp_path):
    pytest.importorskip('argcomplete', reason='argcomplete is not installed')
    asked = {'_ARGCOMPLETE': '1', 'COMP_TYPE': '9', 'COMP_LINE': 'symdp rel', 'COMP_POINT': '9',
             'IFS': '\n', '_ARGCOMPLETE_STDOUT_FILENAME': str(tmp_path / 'words')}
    subprocess.run([sys.executable, '-m', 'symdp_ros.cli.main'], cwd=ROOT, timeout=60, check=True,
                   env={**os.environ, **asked})
    assert (tmp_path / 'words').read_text().split() == ['release']


def test_without_ros_the_core_and_check_work():
    code = ('import sys; sys.modules["rclpy"] = None\n'
            'from symdp_ros.cli.main import main\n'
            'status = main(["check", "config/warehouse.chain.yaml"])\n'
            'status += main(["demo", "config/depot.geojson"]) - 1\n'
            'sys.exit(status)')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT,
                         timeout=60)
    assert run.returncode == 0 and 'the demo needs ROS 2' in run.stderr


def test_demo(tmp_path):
    pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    run = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'demo', 'config/depot.geojson', '--duration',
         '2', '--rate', '10', '--protect', '0.5', '--figure', tmp_path / 'routes.svg'],
        capture_output=True, text=True, cwd=ROOT, timeout=120,
        env={**os.environ, 'COLUMNS': '400', 'ROS_DOMAIN_ID': '',  # it takes a free one
             'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'})
    assert run.returncode == 0, run.stderr + run.stdout
    said = run.stdout
    assert 'Hidden: where the robot is during any 0.5 s' in said and said.index('starting') < (
        said.index(' T  the robot')) < said.index('Seen instead: a wrong place for')
    assert said.count(' T  the robot') == 1 and len(re.findall('• [0-9]', said)) in (20, 21)
    assert 'forbidden moves: 0.' in said and 'The longest stay: ' in said
    assert 'at ε = 2: an observer who thought two places equally likely' in said
    assert 'Charged: ε = 2 + 2 = 4. ' in said and 'demo has spent ε = 4, for changes ' in said
    reading = said.partition('Who reads it: ')[2]
    assert reading.startswith('not yet') or '/symdp_demo/demo' in reading
    assert (tmp_path / 'routes.svg').read_text().count('<path') > 50


def test_a_demo_is_hidden_and_ends_with_its_summary_when_it_is_interrupted(tmp_path):
    """As by Ctrl-C, at the first picture."""
    pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    demo = subprocess.Popen(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'demo', 'config/warehouse.chain.yaml',
         '--duration', '500'], cwd=ROOT,
        stdout=(tmp_path / 'out').open('w'), stderr=subprocess.STDOUT,
        env={name: value for name, value in {
            **os.environ, 'ROS_DOMAIN_ID': '', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'FORCE_COLOR': '1', 'COLUMNS': '200'}.items() if name != own_network.MARK})
    try:
        wait_for = time.monotonic() + 120
        while 'Ctrl-C' not in (tmp_path / 'out').read_text() and time.monotonic() < wait_for:
            time.sleep(0.1)
        networks = {os.stat(f'/proc/{pid}/ns/net').st_ino for pid in ('self', demo.pid)}
        demo.send_signal(signal.SIGINT)
        status = demo.wait(120)
    finally:
        demo.kill()
    text = (tmp_path / 'out').read_text()
    assert status == 0, text
    assert 'a wrong place for' in text and 'Traceback' not in text
    assert ', 6 places. ' in text and '\x1b[1;37;44mT' in text or '\x1b[1;37;45mB' in text
    assert 'forbidden moves: \x1b[32m0' in text and 'Charged' not in text
    if own_network.may_isolate():
        assert len(networks) == 2 and 'which no other program sees' in text
