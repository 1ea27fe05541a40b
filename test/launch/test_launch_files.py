"""The launch files, run for real where launch_ros is importable and the package is installed."""
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed: no launch files to run')

from ament_index_python.packages import PackageNotFoundError, get_package_prefix  # noqa: E402
from harness import free_domain  # noqa: E402

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
    names = {argument.name: argument.description for argument in description.get_launch_arguments()}
    assert {'namespace', 'use_sim_time', 'params_file', 'autostart', 'log_level', 'chain_file',
            'epsilon', 'adjacency', 'policy'} <= set(names)
    assert all(names.values())


def test_every_parameter_argument_is_a_parameter_of_the_node():
    from symdp_ros.nodes.privatizer import SETTINGS
    from symdp_ros.ros.lifecycle import AUTOSTART

    parameters = runpy.run_path(str(PRIVATIZER))['PARAMETERS']
    names = {setting.name for setting in (*SETTINGS, AUTOSTART)}
    assert set(parameters) <= names | {'use_sim_time'}  # which every node has


@pytest.fixture
def launched(tmp_path):
    """A function that starts a launch file and returns its process and its log file."""
    try:
        get_package_prefix('symdp_ros')
    except (PackageNotFoundError, LookupError):
        pytest.skip('the package is not installed in a sourced workspace')
    processes = []

    def start(file, *arguments):
        log = tmp_path / f'{len(processes)}.log'
        environment = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                       'ROS_DOMAIN_ID': str(free_domain()),
                       'ROS_LOG_DIR': str(tmp_path / 'ros-log')}
        with log.open('wb') as output:
            process = subprocess.Popen(
                [sys.executable, '-c', RUN, str(ROOT / 'launch' / file), *arguments],
                stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        processes.append(process)
        return process, log

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(process, log, text):
    until = time.monotonic() + 30
    while text not in log.read_text():
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.05)


def stop(process):
    process.send_signal(signal.SIGINT)
    return process.wait(30)


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


def test_a_missing_epsilon_is_said(launched):
    process, log = launched('privatizer.launch.py', f'chain_file:={ROOT}/config/depot.geojson')
    process.wait(30)
    assert 'epsilon is not set' in log.read_text()


def test_demo(launched):
    process, log = launched('demo.launch.py', 'period:=0.05')
    wait_for(process, log, 'active')
    assert stop(process) == 0
