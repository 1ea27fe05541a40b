# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A live node loads no large library: its memory is the robot's."""
import os
from pathlib import Path
import re
import subprocess
import sys

from geometry_msgs.msg import PoseStamped
from harness import arguments_of, ROOT, send, wait_until
import pytest

CLINIC = ROOT / 'config' / 'clinic.regions.yaml'
LARGE = 'numba', 'llvmlite', 'scipy', 'pyarrow'
DEPOT = {'chain_file': ROOT / 'config' / 'depot.geojson', 'initial_state': '1',
         'self_loops': 'true', 'epsilon': 2.0, 'adjacency': 1}


def loaded(pid):
    """Return which of the large libraries a process has mapped."""
    maps = Path(f'/proc/{pid}/maps').read_text()
    return sorted({name for name in LARGE if re.search(rf'/{name}(\.libs)?/', maps)})


@pytest.fixture
def bare(world, tmp_path):
    """Return a function that starts a privatizer in a process that has imported nothing."""
    runs = []

    def start(**parameters):
        log = tmp_path / f'{len(runs)}.log'
        with log.open('wb') as out:
            run = subprocess.Popen(
                [sys.executable, '-m', 'symdp_ros.nodes.privatizer', '--ros-args',
                 *arguments_of(parameters)],
                stdout=out, stderr=out, cwd=ROOT,
                env={**os.environ, 'ROS_DOMAIN_ID': str(world.domain),
                     'ROS_HOME': str(tmp_path)})
        runs.append(run)

        def active():
            assert run.poll() is None, log.read_text()
            return 'active' in log.read_text()

        wait_until(active, 'an active node')
        return run

    yield start
    for run in runs:
        run.terminate()
        run.wait()


@pytest.mark.parametrize('more', [
    {'policy': 'adaptive', 'delay': 3, 'outputs': '[string, pose, markers, belief]'},
    {'policy': 'guided', 'outputs': '[string, markers]'}], ids=['adaptive', 'guided'])
def test_regions(bare, world, more):
    run = bare(**DEPOT, **more)
    private, publisher = world.listen(), world.publisher()
    for i, region in enumerate('12345', 1):
        send(publisher, region)
        world.wait_until(lambda due=i - more.get('delay', 0): len(private) >= due, 'regions')
    assert loaded(run.pid) == []


def test_zones_and_two_clocks(bare, world):
    run = bare(chain_file=CLINIC, zones_file=CLINIC, self_loops='true', epsilon=1.0,
               policy='adaptive', outputs='[string, markers, belief]', sampling='period',
               period=0.2, protect=0.4, report_period=0.1)
    private = world.listen()
    world.latch('lift')
    world.wait_until(lambda: len(private) > 3, 'private regions')
    assert loaded(run.pid) == []


def test_positions_and_the_policy_that_suits(bare, world):
    run = bare(**DEPOT, input='pose', outputs='[string, pose, markers]')
    private = world.listen()
    world.publisher('pose', PoseStamped).publish(PoseStamped())
    world.wait_until(lambda: private, 'a private region')
    assert loaded(run.pid) == []
