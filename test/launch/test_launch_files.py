# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The launch files, run for real where launch_ros is importable and the package is installed."""
from importlib.util import find_spec
import os
from pathlib import Path
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time

from harness import free_domain, PATIENCE, rclpy
import pytest
from python_path import python_path
from symdp_ros.options import LAUNCH, PARAMETERS, TOPICS

ROOT = Path(__file__).resolve().parents[2]
NODES = 'privatizer', 'log_release'
RUN = ('import sys; from launch import LaunchService, LaunchDescription\n'
       'from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration\n'
       'service = LaunchService()\n'
       'service.include_launch_description(LaunchDescription([\n'
       '    SetLaunchConfiguration("sigkill_timeout", "150"),\n'  # processors may be busy
       '    IncludeLaunchDescription(sys.argv[1],\n'
       '    launch_arguments=[a.split(":=", 1) for a in sys.argv[2:]])]))\n'
       'sys.exit(service.run())')

pytestmark = pytest.mark.skipif(not find_spec('launch_ros'), reason='launch_ros is not installed')


def names_of(node):
    return {option.name for option in (*LAUNCH, *TOPICS[node], *PARAMETERS[node])} | {
        'use_sim_time'}


@pytest.mark.parametrize('node', NODES)
def test_every_parameter_and_topic_is_an_argument_with_a_description(node):
    file = ROOT / 'launch' / f'{node}.launch.py'
    description = runpy.run_path(str(file))['generate_launch_description']()
    found = [(argument.name, argument.description)
             for argument in description.get_launch_arguments()]
    assert len(found) == len(dict(found)) and set(dict(found)) == names_of(node)
    assert all(dict(found).values())


@pytest.mark.parametrize('node', [*NODES, 'demo'])
def test_show_args(node):
    if not shutil.which('ros2'):
        pytest.skip('the command ros2 is not installed')
    done = subprocess.run(
        ['ros2', 'launch', str(ROOT / 'launch' / f'{node}.launch.py'), '--show-args'],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = names_of(node if node in NODES else 'privatizer')
    assert {f"'{name}':" for name in expected} <= set(done.stdout.split())


@pytest.fixture
def launched(tmp_path):
    """Give a function that starts a launch file and returns its process and its log file."""
    from ament_index_python.packages import get_package_prefix, PackageNotFoundError

    try:
        get_package_prefix('symdp_ros')
    except (PackageNotFoundError, LookupError):
        pytest.skip('the package is not installed in a sourced workspace')
    processes = []

    def start(file, *arguments):
        """Start a file of this package, or one that is given as a path."""
        log = tmp_path / f'{len(processes)}.log'
        environment = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                       'ROS_DOMAIN_ID': str(free_domain()),
                       'ROS_HOME': str(tmp_path / 'ros')}
        with log.open('wb') as output:
            process = subprocess.Popen(
                [sys.executable, '-c', RUN, str(ROOT / 'launch' / file), *arguments],
                stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=tmp_path,
                start_new_session=True)
        processes.append(process)
        return process, log

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(process, log, text):
    until = time.monotonic() + PATIENCE
    while text not in log.read_text():
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.05)


def pid_in(log):
    [pid] = re.findall(r'process started with pid \[(\d+)\]', log.read_text())
    return int(pid)


def stop(process):
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does; launch itself does not pass it on
    return process.wait(PATIENCE)


def test_privatizer(launched, tmp_path):
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson', 'initial_state:=0',
        'epsilon:=2', 'self_loops:=true', 'adjacency:=2', 'policy:=paper', 'namespace:=r1',
        f'state_file:={tmp_path}/word', 'sampling:=period', 'period:=0.5')
    wait_for(process, log, '[r1.privatizer]: active')
    assert settings_of(process, log, 'r1') == 'ε = 2, k = 2, policy paper. '
    assert stop(process) == 0 and 'finished cleanly' in log.read_text()


def test_a_launch_that_says_how_long_a_visit_is_hidden(launched):
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson', 'initial_state:=0',
        'protect:=30.0', 'epsilon:=2.0')
    wait_for(process, log, '[privatizer]: active')
    assert 'during any 30 s' in log.read_text() and 'one every 1 s' in log.read_text()
    assert stop(process) == 0


def test_a_launch_that_does_not_say_what_is_hidden(launched):
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson', 'initial_state:=0',
        'epsilon:=2.0')
    assert process.wait(PATIENCE) == 1
    assert 'say what is hidden: protect: 30.0 hides any visit of 30 s' in log.read_text()


def test_parameters_from_a_file(launched):
    process, log = launched('privatizer.launch.py', 'epsilon:=0.5',
                            'params_file:=package://symdp_ros/config/privatizer.yaml')
    wait_for(process, log, 'active')
    assert 'warehouse.chain.yaml: 6 states' in log.read_text()
    assert 'with ε = 0.5: an observer' in log.read_text()  # the argument goes before the file
    stop(process)


def test_an_argument_without_effect_is_named(launched, tmp_path):
    """After an integer, ROS takes no decimal number; launch writes arguments to a file."""
    file = tmp_path / 'p.yaml'
    file.write_text('/privatizer:\n  ros__parameters:\n    epsilon: 2\n'
                    f'    chain_file: {ROOT}/config/warehouse.chain.yaml\n')
    process, log = launched('privatizer.launch.py', 'epsilon:=0.5', f'params_file:={file}')
    assert process.wait(PATIENCE) == 1
    assert 'epsilon was last said to be 0.5 (an argument or parameter of launch' in log.read_text()
    assert f'but ROS takes 2 ({file}, line 3)' in log.read_text()


def test_names_that_look_like_numbers(launched, tmp_path):
    file = tmp_path / 'numbers.chain.yaml'
    file.write_text("symbols: ['08', 'n']\n")
    process, log = launched('privatizer.launch.py', f'chain_file:={file}', 'initial_state:=08',
                            'epsilon:=1', 'protect:=0.5', 'no_region:=["1e3", "y"]',
                            'policy:=guided')
    wait_for(process, log, 'active')
    stop(process)


def test_lists_are_written_as_in_yaml(launched):
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/warehouse.chain.yaml', 'epsilon:=1',
        'protect:=0.5', "symbol_map:=['1=nowhere']")
    assert process.wait(PATIENCE) == 1
    assert 'nowhere' in log.read_text()


def test_log_release(launched, tmp_path):
    for name in 'logs', 'releases':
        (tmp_path / name).mkdir()
    process, log = launched(
        'log_release.launch.py', f'params_file:={ROOT}/config/privatizer.yaml',
        f'log_dir:={tmp_path}/logs', f'release_dir:={tmp_path}/releases',
        f'ledger_file:={tmp_path}/ledger', 'subject:=tb1', 'namespace:=r1',
        "no_region:=[none, '']")
    wait_for(process, log, '[r1.log_release]: active')
    assert stop(process) == 0, log.read_text()


def test_the_node_is_started_again(launched, tmp_path):
    """And goes on with the word of its state file."""
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/warehouse.chain.yaml', 'epsilon:=2',
        'protect:=0.5', f'state_file:={tmp_path}/word', 'respawn:=true', 'respawn_delay:=0.1')
    wait_for(process, log, '[privatizer]: active')
    os.kill(pid_in(log), signal.SIGKILL)
    wait_for(process, log, 'the word goes on')
    until = time.monotonic() + PATIENCE
    while log.read_text().count('[privatizer]: active') < 2:
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.05)
    assert stop(process) == 0, log.read_text()


def test_the_status_is_1_where_the_node_is_killed(launched):
    process, log = launched('privatizer.launch.py', 'epsilon:=1', 'protect:=0.5',
                            f'chain_file:={ROOT}/config/warehouse.chain.yaml')
    wait_for(process, log, '[privatizer]: active')
    os.kill(pid_in(log), signal.SIGKILL)
    assert process.wait(PATIENCE) == 1
    assert 'privatizer-1 ended with status -9' in log.read_text()


def test_the_status_is_1_where_the_node_fails(launched):
    process, log = launched('privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson')
    assert process.wait(PATIENCE) == 1
    assert 'epsilon is not set' in log.read_text()
    assert 'privatizer-1 ended with status 1' in log.read_text()


@pytest.mark.parametrize('argument, said', [
    ('epsilon:=abc', "epsilon is the string 'abc': it must be a number"),
    ('params_file:=nowhere.yaml', 'params_file:=nowhere.yaml: there is no such file'),
    ('respawn:=maybe', "respawn is the string 'maybe': it must be true or false"),
    ('no_region:=none', "no_region is the string 'none': it must be a list of strings"),
    ('no_region:=[]', 'no_region:=[]: ROS passes no empty list to a node'),
    ('no_region:=[[', "no_region is the string '[[': it must be a list of strings"),
    ('outputs:=[strings]', "outputs names 'strings': each must be one of string, pose"),
    ('zzz:=2', 'has no argument zzz: it has no effect')])
def test_an_argument_that_is_wrong_is_named(launched, argument, said):
    process, log = launched('privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson',
                            'initial_state:=0', argument)
    assert process.wait(PATIENCE) == 1 and said in log.read_text()


def write_parameters(file, **parameters):
    file.write_text('/**/privatizer:\n  ros__parameters:\n'
                    f'    chain_file: {ROOT}/config/warehouse.chain.yaml\n    adjacency: 1\n'
                    + ''.join(f'    {name}: {value}\n' for name, value in parameters.items()))


def test_two_robots_as_documented(launched, tmp_path):
    page = (ROOT / 'docs' / 'robots.md').read_text()
    code = page.split('```python\n# two_robots.launch.py\n')[1]
    file = tmp_path / 'two_robots.launch.py'
    file.write_text(code.split('```')[0])
    write_parameters(tmp_path / 'robot_1.yaml', epsilon=0.5, state_file=tmp_path / 'word')
    write_parameters(tmp_path / 'robot_2.yaml', epsilon=-1)
    process, log = launched(file)
    # Robot 2 has none of robot 1's parameters; robot 1 goes on without it; the status tells of it.
    wait_for(process, log, '[robot_2.privatizer]: epsilon is -1.0')
    wait_for(process, log, 'privatizer-2 ended with status 1')
    wait_for(process, log, '[robot_1.privatizer]: active')
    assert 'ε = 0.5' in log.read_text()
    assert stop(process) == 1


PYTHON_INCLUDES = """
from launch import LaunchDescription
from launch.actions import (DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction,
                            SetLaunchConfiguration)
from launch.substitutions import LaunchConfiguration

FILE = {folder!r} + '/privatizer.launch.py'


def show(context):
    print('left:', dict(sorted((name, value) for name, value in
                               context.launch_configurations.items() if 'timeout' not in name)))


def include(**arguments):
    return [IncludeLaunchDescription(FILE, launch_arguments=arguments.items()),
            OpaqueFunction(function=show)]


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('policy', default_value='paper'),
        SetLaunchConfiguration('private_region', 'shared'),
        *include(namespace='r1', chain_file={chain!r}, epsilon='3', policy='adaptive',
                 protect='0.5', private_region='r1_private', zzz='7'),
        *include(namespace='r2', params_file={parameters!r}),
        *include(namespace='r3', params_file={parameters!r}, epsilon='3',
                 policy=LaunchConfiguration('policy'))])
"""
XML_INCLUDES = """<launch>
  <arg name="policy" default="paper"/>
  <let name="private_region" value="shared"/>
  <include file="{folder}/privatizer.launch.py">
    <arg name="namespace" value="r1"/><arg name="chain_file" value="{chain}"/>
    <arg name="epsilon" value="3"/><arg name="policy" value="adaptive"/>
    <arg name="protect" value="0.5"/>
    <arg name="private_region" value="r1_private"/><arg name="zzz" value="7"/>
  </include>
  <include file="{folder}/privatizer.launch.py">
    <arg name="namespace" value="r2"/><arg name="params_file" value="{parameters}"/>
  </include>
  <include file="{folder}/privatizer.launch.py">
    <arg name="namespace" value="r3"/><arg name="params_file" value="{parameters}"/>
    <arg name="epsilon" value="3"/><arg name="policy" value="$(var policy)"/>
  </include>
</launch>
"""
YAML_INCLUDES = """launch:
- arg: {{name: policy, default: paper}}
- let: {{name: private_region, value: shared}}
- include:
    file: {folder}/privatizer.launch.py
    arg:
    - {{name: namespace, value: r1}}
    - {{name: chain_file, value: {chain}}}
    - {{name: epsilon, value: '3'}}
    - {{name: policy, value: adaptive}}
    - {{name: protect, value: '0.5'}}
    - {{name: private_region, value: r1_private}}
    - {{name: zzz, value: '7'}}
- include:
    file: {folder}/privatizer.launch.py
    arg: [{{name: namespace, value: r2}}, {{name: params_file, value: {parameters}}}]
- include:
    file: {folder}/privatizer.launch.py
    arg:
    - {{name: namespace, value: r3}}
    - {{name: params_file, value: {parameters}}}
    - {{name: epsilon, value: '3'}}
    - {{name: policy, value: $(var policy)}}
"""
INCLUDES = {'py': PYTHON_INCLUDES, 'xml': XML_INCLUDES, 'yaml': YAML_INCLUDES}
NOT_TAKEN = 'privatizer.launch.py takes only what is passed to it. Set elsewhere, and not taken: '


def settings_of(process, log, robot, topic='private_region'):
    """Wait until a robot is active; return 'ε = …, k = …, policy …. ' of its lines."""
    wait_for(process, log, f'publishes /{robot}/{topic} ')
    said = '\n'.join(line for line in log.read_text().splitlines()
                     if f'[{robot}.privatizer]: ' in line)
    [epsilon] = re.findall(r'with ε = ([\d.]+): an observer', said)
    [(k, policy)] = re.findall(r'moves; k = (\d+), policy (\w+);', said)
    return f'ε = {epsilon}, k = {k}, policy {policy}. '


@pytest.mark.parametrize('kind', INCLUDES)
def test_arguments_of_an_include_are_its_own(launched, tmp_path, kind):
    write_parameters(tmp_path / 'parameters.yaml', epsilon=0.25, policy='guided')
    file = tmp_path / f'includes.launch.{kind}'
    file.write_text(INCLUDES[kind].format(
        folder=str(ROOT / 'launch'), chain=str(ROOT / 'config' / 'warehouse.chain.yaml'),
        parameters=str(tmp_path / 'parameters.yaml')))
    process, log = launched(file, 'adjacency:=2')  # of the including file: it reaches no robot
    for robot, settings, topic in (('r1', 'ε = 3, k = 1, policy adaptive', 'r1_private'),
                                   ('r2', 'ε = 0.25, k = 1, policy guided', 'private_region'),
                                   ('r3', 'ε = 3, k = 1, policy paper', 'private_region')):
        assert settings in settings_of(process, log, robot, topic)
    text = log.read_text()
    assert text.count('has no argument') == 1
    assert 'privatizer.launch.py has no argument zzz: it has no effect' in text
    for names in 'adjacency', 'adjacency, policy, private_region', 'adjacency, private_region':
        assert text.count(f'{NOT_TAKEN}{names}\n') == 1
    if kind == 'py':  # what the including file itself has set is still as it was
        assert text.count("left: {'adjacency': '2', 'policy': 'paper', 'private_region': "
                          "'shared'}") == 3
    assert stop(process) == 0, log.read_text()


BRINGUP = """<launch>
  <arg name="delay" default="5"/>
  <arg name="period" default="0.1"/>
  <include file="{folder}/robot.launch.xml">
    <arg name="robot" value="tb1"/><arg name="epsilon" value="9"/><arg name="adjacency" value="7"/>
  </include>
  <include file="{folder}/robot.launch.xml"><arg name="robot" value="tb2"/></include>
</launch>
"""
ROBOT = """<launch>
  <arg name="robot"/>
  <include file="{launch}/privatizer.launch.py">
    <arg name="namespace" value="$(var robot)"/>
    <arg name="params_file" value="{folder}/$(var robot).yaml"/>
    {more}
  </include>
</launch>
"""


def write_bringup(folder, more=''):
    for name, text in ('bringup', BRINGUP), ('robot', ROBOT):
        (folder / f'{name}.launch.xml').write_text(
            text.format(folder=folder, launch=ROOT / 'launch', more=more))
    for robot, epsilon in ('tb1', 1.0), ('tb2', 0.25):
        write_parameters(folder / f'{robot}.yaml', epsilon=epsilon, policy='guided')
    return folder / 'bringup.launch.xml'


def test_what_files_above_have_set_is_not_taken(launched, tmp_path):
    process, log = launched(write_bringup(tmp_path))
    assert 'ε = 1, k = 1, policy guided. ' in settings_of(process, log, 'tb1')
    assert 'ε = 0.25, k = 1, policy guided. ' in settings_of(process, log, 'tb2')
    assert log.read_text().count(f'{NOT_TAKEN}adjacency, delay, epsilon, period\n') == 2
    assert stop(process) == 0, log.read_text()


def test_what_is_passed_with_the_value_that_is_set_already_is_taken(launched, tmp_path):
    process, log = launched(write_bringup(
        tmp_path, '<arg name="adjacency" value="$(var adjacency)"/>'))
    assert 'ε = 1, k = 7, policy guided. ' in settings_of(process, log, 'tb1')
    assert stop(process) == 0, log.read_text()


ONE_SOURCE = """
from launch import LaunchDescription
from launch.actions import (GroupAction, IncludeLaunchDescription, OpaqueFunction,
                            RegisterEventHandler)
from launch.event_handlers import OnExecutionComplete
from launch.launch_description_sources import PythonLaunchDescriptionSource

SOURCE = PythonLaunchDescriptionSource({folder!r} + '/privatizer.launch.py')


def include(**arguments):
    return IncludeLaunchDescription(SOURCE, launch_arguments=arguments.items())


def generate_launch_description():
    later = OpaqueFunction(function=lambda context: None)
    return LaunchDescription([
        include(namespace='r1', chain_file={chain!r}, epsilon='3', protect='0.5',
                policy='guided'),
        GroupAction([include(namespace='r2', chain_file={chain!r}, epsilon='1',
                             policy='guided', adjacency='2')]),
        RegisterEventHandler(OnExecutionComplete(target_action=later, on_completion=[
            include(namespace='r3', chain_file={chain!r}, epsilon='2', protect='0.5',
                    policy='guided')])),
        later])
"""


def test_includes_may_share_a_source_stand_in_groups_and_follow_events(launched, tmp_path):
    file = tmp_path / 'includes.launch.py'
    file.write_text(ONE_SOURCE.format(folder=str(ROOT / 'launch'),
                                      chain=str(ROOT / 'config' / 'warehouse.chain.yaml')))
    process, log = launched(file)
    for robot, settings in (('r1', 'ε = 3, k = 1'), ('r2', 'ε = 1, k = 2'),
                            ('r3', 'ε = 2, k = 1')):
        assert settings in settings_of(process, log, robot)
    assert NOT_TAKEN not in log.read_text()
    assert stop(process) == 0, log.read_text()


def test_without_an_include_nothing_is_taken(tmp_path):
    run = ('import runpy, sys; from launch import LaunchDescription, LaunchService\n'
           'from launch.actions import SetLaunchConfiguration\n'
           'description = runpy.run_path(sys.argv[1])["generate_launch_description"]()\n'
           'service = LaunchService()\n'
           'service.include_launch_description(LaunchDescription([\n'
           '    SetLaunchConfiguration("epsilon", "9"), description]))\n'
           'sys.exit(service.run())')
    done = subprocess.run(
        [sys.executable, '-c', run, str(ROOT / 'launch' / 'privatizer.launch.py')], cwd=tmp_path,
        capture_output=True, text=True, env={**os.environ, 'ROS_LOG_DIR': str(tmp_path),
                                             'PYTHONPATH': python_path(ROOT)})
    text = done.stdout + done.stderr
    assert done.returncode == 1 and 'process started' not in text
    assert 'privatizer.launch.py: launch does not say which arguments are passed' in text


@pytest.mark.parametrize('file', ['privatizer', 'demo'])
def test_a_mistyped_argument_stops_the_launch(launched, file):
    process, log = launched(f'{file}.launch.py', 'epsillon:=0.5',
                            'params_file:=package://symdp_ros/config/privatizer.yaml')
    assert process.wait(PATIENCE) == 1
    text = log.read_text()
    assert 'process started' not in text
    assert f'{file}.launch.py: there is no argument epsillon: did you mean epsilon?' in text


def test_arguments_that_others_know_or_nobody_stop_nothing(launched):
    """As do those that launch itself reads, which have their effect."""
    process, log = launched(
        'privatizer.launch.py', 'params_file:=package://symdp_ros/config/privatizer.yaml',
        'log_dir:=x', 'epsilon_of_others:=1', 'robot_model:=x', 'launch-prefix:=env MARK=1',
        'policy:=guided', 'log_level:=WARN', 'namespace:=')
    wait_for(process, log, 'process started with pid')
    environment = Path('/proc', str(pid_in(log)), 'environ')
    until = time.monotonic() + PATIENCE
    while b'MARK=1' not in environment.read_bytes():
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.05)
    text = log.read_text()
    assert text.count('has no argument') == 3 and 'argument launch-prefix' not in text
    stop(process)


def test_a_wrong_argument_of_the_second_include_stops_the_first(launched, tmp_path):
    file = tmp_path / 'includes.launch.py'
    file.write_text(PYTHON_INCLUDES.format(
        folder=str(ROOT / 'launch'), chain=str(ROOT / 'config' / 'warehouse.chain.yaml'),
        parameters=str(tmp_path / 'nowhere.yaml')))
    process, log = launched(file)
    assert process.wait(PATIENCE) == 1
    assert f'privatizer.launch.py: params_file:={tmp_path}/nowhere.yaml: there is no' in \
        log.read_text()
    for pid in re.findall(r'process started with pid \[(\d+)\]', log.read_text()):
        assert not Path('/proc', pid).exists()


def test_demo(launched):
    process, log = launched('demo.launch.py', 'period:=0.05')
    wait_for(process, log, 'active')
    assert stop(process) == 0, log.read_text()


def test_the_demo_ends_with_its_privatizer(launched):
    process, log = launched('demo.launch.py', 'region:=x', 'private_region:=x')
    assert process.wait(PATIENCE) == 1 and 'remap one of them' in log.read_text()
    assert 'process has finished cleanly' in log.read_text()  # the patrol


@pytest.mark.parametrize('processes', ['one', 'each'])
def test_a_fleet(launched, tmp_path, processes):
    (tmp_path / 'fleet.yaml').write_text(f"""
state_dir: state
defaults: {{chain_file: {ROOT}/config/depot.geojson, initial_state: '0', epsilon: 2, protect: 30,
           where: []}}
robots:
  tb1: {{domain: {free_domain()}, no_region: [none], where: ['data=1']}}
  tb2: {{private_region: /fleet/tb2, epsilon: 1}}
  tb3: {{chain_file: none.yaml}}
""".replace(',\n           where: []', '' if processes == 'each' else ', where: []'))
    process, log = launched('fleet.launch.py', f'fleet:={tmp_path}/fleet.yaml',
                            f'processes:={processes}')
    wait_for(process, log, '[tb1.privatizer]: active')
    wait_for(process, log, '[tb2.privatizer]: active: reads /tb2/region (std_msgs/msg/String), '
             'publishes /fleet/tb2')
    wait_for(process, log, 'none.yaml: the file cannot be read')
    assert len(re.findall('process started with pid', log.read_text())) == (
        1 if processes == 'one' else 3)
    assert sorted(file.name for file in (tmp_path / 'state').iterdir()) == ['tb1.word', 'tb2.word']
    assert stop(process) == (0 if processes == 'one' else 1), log.read_text()
    assert log.read_text().count('finished cleanly') == (1 if processes == 'one' else 2)


@pytest.mark.parametrize('processes', ['one', 'each'])
def test_simulated_time_of_a_fleet(launched, tmp_path, processes):
    domain = free_domain()
    (tmp_path / 'fleet.yaml').write_text(f"""
defaults: {{chain_file: {ROOT}/config/warehouse.chain.yaml, epsilon: 2, protect: 0.5,
           policy: guided, domain: {domain}}}
robots: {{tb1: {{}}, tb2: {{use_sim_time: false}}}}
""")
    process, log = launched('fleet.launch.py', f'fleet:={tmp_path}/fleet.yaml',
                            f'processes:={processes}', 'use_sim_time:=true', 'log_level:=INFO')
    for robot in 'tb1', 'tb2':
        wait_for(process, log, f'[{robot}.privatizer]: active')
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node, until = rclpy.create_node('observer', context=context), time.monotonic() + PATIENCE
    while node.count_subscribers('/clock') != 2:
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.05)
    node.destroy_node()
    rclpy.shutdown(context=context)
    assert stop(process) == 0, log.read_text()


def test_a_fleet_file_that_is_wrong(launched, tmp_path):
    (tmp_path / 'fleet.yaml').write_text('robots:\n  tb1: {epsilom: 1}\n')
    for processes in 'one', 'each':
        process, log = launched('fleet.launch.py', f'fleet:={tmp_path}/fleet.yaml',
                                f'processes:={processes}')
        assert process.wait(PATIENCE) == 1
        assert "fleet.yaml, line 2: tb1 has the unknown key 'epsilom'" in log.read_text()
