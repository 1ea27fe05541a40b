# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fixtures that the tests of this folder share."""
from importlib.metadata import version
from importlib.util import find_spec
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

# Set before any rclpy is initialized: nothing may leave this machine.
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ.pop('ROS_STATIC_PEERS', None)
# With this set, much by which processes find each other is lost, and sent again: a test that
# relies on its order then fails often, not once in a thousand runs.
_PROFILES = Path(__file__).with_name(
    'lossy.xml' if 'SYMDP_TEST_LOSSY' in os.environ else 'discovery.xml')
FAST_DDS_3 = find_spec('rclpy') is not None and int(version('rclpy').partition('.')[0]) >= 9
if FAST_DDS_3:  # from Kilted on: it has another name, and so has one element
    _renamed = NamedTemporaryFile('w+', suffix='.xml')  # as long as this process
    _renamed.write(_PROFILES.read_text().replace('heartbeatPeriod', 'heartbeat_period'))
    _renamed.flush()
    os.environ['FASTDDS_DEFAULT_PROFILES_FILE'] = _renamed.name
else:
    os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'] = str(_PROFILES)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Give a ROS domain and a ROS_HOME of its own; all processes of the test end with it."""
    from harness import world_in

    monkeypatch.setenv('ROS_HOME', str(tmp_path / 'ros'))
    with world_in(tmp_path) as made:
        yield made


@pytest.fixture
def privatizer_here(world):
    """
    Give a function that makes a privatizer in this process, which `world.spin` spins.

    A fixture that gave the node itself would keep it in its domain: pytest keeps what it gives.
    """
    from rclpy.parameter import Parameter
    from symdp_ros.nodes.privatizer import Privatizer

    made = []

    def make(namespace=None, random=None, **parameters):
        made.append(Privatizer(
            context=world.context, namespace=namespace, random=random, use_global_arguments=False,
            parameter_overrides=[Parameter(name, value=value) for name, value in
                                 {'adjacency': 1, **parameters}.items()]))
        world.executor.add_node(made[-1])
        return made[-1]

    yield make
    while made:
        node = made.pop()
        node.stop()
        world.executor.remove_node(node)
        node.destroy_node()


@pytest.fixture(scope='session')
def starter(tmp_path_factory):
    """Give a process that starts nodes, one after another."""
    from starter import Starter

    made = Starter(tmp_path_factory.mktemp('starter'))
    yield made
    made.close()


@pytest.fixture
def chain_file(tmp_path) -> Path:
    """Give the four-state chain of the tests: every state can stay; no way leads from d to c."""
    file = tmp_path / 'four.chain.yaml'
    file.write_text('initial_state: a\n'
                    'transitions: {a: [a, b], b: [b, c, d], c: [c, a], d: [d, a]}\n')
    return file


@pytest.fixture
def fifty(tmp_path) -> Path:
    """Give fifty states that all follow one another: with a small ε, a second draw would show."""
    file = tmp_path / 'fifty.chain.yaml'
    file.write_text(f'initial_state: s0\nsymbols: {[f"s{i}" for i in range(50)]}\n')
    return file


@pytest.fixture
def ring(tmp_path) -> Path:
    """Give fifty states with one move from each, of .1 s: a word is a way round, and no other."""
    file = tmp_path / 'ring.chain.yaml'
    file.write_text('initial_state: s0\ntick: 0.1\ntransitions:\n' + ''.join(
        f'  s{i}: [s{(i + 1) % 50}]\n' for i in range(50)))
    return file


@pytest.fixture
def corridor(tmp_path) -> dict[str, Path]:
    """Give the files of a corridor of four states, and of its two zones, as parameters."""
    chain_file, zones_file = tmp_path / 'corridor.chain.yaml', tmp_path / 'zones.yaml'
    chain_file.write_text(
        'initial_state: a\ntransitions: {a: [a, b], b: [a, b, c], c: [b, c, d], d: [c, d]}\n')
    zones_file.write_text('zones: {west: [a, b], east: [c, d]}\n')
    return {'chain_file': chain_file, 'zones_file': zones_file}
