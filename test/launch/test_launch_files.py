# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The launch files, run for real where launch_ros is importable and the package is installed."""
import os
from pathlib import Path
import runpy
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed: no launch files to run')

from ament_index_python.packages import (  # noqa: E402, I100
    get_package_prefix,
    PackageNotFoundError,
)
from harness import free_domain, PATIENCE  # noqa: E402
from symdp_ros.options import LAUNCH, LAUNCHED_PARAMETERS, PARAMETERS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PRIVATIZER = ROOT / 'launch' / 'privatizer.launch.py'
RUN = ('import sys; from launch import LaunchService, LaunchDescription\n'
       'from launch.actions import IncludeLaunchDescription\n'
       'from launch.launch_description_sources import PythonLaunchDescriptionSource\n'
       'service = LaunchService()\n'
       'service.include_launch_description(LaunchDescription([IncludeLaunchDescription(\n'
       '    PythonLaunchDescriptionSource(sys.argv[1]),\n'
       '    launch_arguments=[a.split(":=", 1) for a in sys.argv[2:]])]))\n'
       'sys.exit(service.run())')


def test_every_argument_is_described():
    description = runpy.run_path(str(PRIVATIZER))['generate_launch_description']()
    names = {argument.name: argument.description
             for argument in description.get_launch_arguments()}
    assert {'namespace', 'use_sim_time', 'params_file', 'autostart', 'log_level', 'chain_file',
            'epsilon', 'adjacency', 'policy'} <= set(names)
    assert all(names.values())


def test_every_parameter_argument_is_a_parameter_of_the_node():
    assert {option.name for option in LAUNCHED_PARAMETERS} <= {
        'use_sim_time',  # which every node has
        *(option.name for option in PARAMETERS['privatizer'])}


@pytest.fixture
def launched(tmp_path):
    """Give a function that starts a launch file and returns its process and its log file."""
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
                       'ROS_LOG_DIR': str(tmp_path / 'ros-log')}
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


def stop(process):
    process.send_signal(signal.SIGINT)
    return process.wait(PATIENCE)


def test_privatizer(launched, tmp_path):
    process, log = launched(
        'privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson', 'initial_state:=0',
        'epsilon:=2', 'self_loops:=true', 'adjacency:=2', 'policy:=paper', 'namespace:=r1',
        f'state_file:={tmp_path}/word', 'sampling:=period', 'period:=0.5')
    wait_for(process, log, '[r1.privatizer]: active')
    assert 'ε = 2, k = 2, policy paper' in log.read_text()
    assert stop(process) == 0 and 'finished cleanly' in log.read_text()


def test_parameters_from_a_file(launched):
    process, log = launched('privatizer.launch.py', f'params_file:={ROOT}/config/privatizer.yaml',
                            'epsilon:=0.5')
    wait_for(process, log, 'active')
    assert 'warehouse.chain.yaml: 6 states' in log.read_text()
    assert 'ε = 0.5, k = 1, policy guided' in log.read_text()  # the argument goes before the file
    stop(process)


def test_the_status_is_1_where_the_node_dies(launched):
    process, log = launched('privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson')
    assert process.wait(PATIENCE) == 1
    assert 'epsilon is not set' in log.read_text()
    assert 'privatizer-1 ended with status 1' in log.read_text()


@pytest.mark.parametrize('argument, said', [
    ('epsilon:=abc', "epsilon is the string 'abc': it must be a number"),
    ('epsilon:=-1', 'epsilon is -1.0: it must be at least 0'),
    ('adjacency:=2.5', "adjacency is the string '2.5': it must be an integer"),
    ('self_loops:=maybe', "self_loops is the string 'maybe': it must be true or false"),
    ('params_file:=nowhere.yaml', 'params_file:=nowhere.yaml: there is no such file'),
    ('epsilom:=2', 'has no argument epsilom: did you mean epsilon?')])
def test_an_argument_that_is_wrong_is_named(launched, argument, said):
    process, log = launched('privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson',
                            'initial_state:=0', argument)
    assert process.wait(PATIENCE) == 1 and said in log.read_text()


def write_parameters(file, **parameters):
    file.write_text('/**/privatizer:\n  ros__parameters:\n'
                    f'    chain_file: {ROOT}/config/warehouse.chain.yaml\n'
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


@pytest.mark.parametrize('in_groups', [True, False])
def test_no_argument_of_one_include_is_left_to_the_next(launched, tmp_path, in_groups):
    file = tmp_path / 'includes.launch.py'
    names = [option.name for option in (*LAUNCH, *LAUNCHED_PARAMETERS)]
    file.write_text(f"""
from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription, OpaqueFunction

def include(**arguments):
    action = IncludeLaunchDescription({str(PRIVATIZER)!r}, launch_arguments=arguments.items())
    return GroupAction([action]) if {in_groups} else action

def tell(context):
    print('left:', sorted(set(context.launch_configurations) & set({names!r})))

def generate_launch_description():
    chain = {str(ROOT / 'config' / 'warehouse.chain.yaml')!r}
    return LaunchDescription([include(namespace='r1', chain_file=chain, initial_state='nowhere'),
                              OpaqueFunction(function=tell), include(namespace='r2')])
""")
    process, log = launched(file)
    assert process.wait(PATIENCE) == 1
    if in_groups:
        assert 'left: []' in log.read_text()
        assert '[r1.privatizer]: epsilon is not set' in log.read_text()
        assert '[r2.privatizer]: chain_file is not set' in log.read_text()
    else:  # what was passed is still set, what was not is not
        assert "left: ['chain_file', 'initial_state', 'namespace']" in log.read_text()
        assert (f'while chain_file:={ROOT}/config/warehouse.chain.yaml initial_state:=nowhere is '
                'set from') in log.read_text()


def test_demo(launched):
    process, log = launched('demo.launch.py', 'period:=0.05')
    wait_for(process, log, 'active')
    assert stop(process) == 0


def test_the_demo_ends_with_its_privatizer(launched):
    process, log = launched('demo.launch.py', 'region:=x', 'private_region:=x')
    assert process.wait(PATIENCE) == 1 and 'remap one of them' in log.read_text()
    assert 'process has finished cleanly' in log.read_text()  # the patrol
