# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The nodes, driven by the calls that Nav2's lifecycle manager makes; the manager itself is not run.

As in nav2_lifecycle_manager/src/lifecycle_manager.cpp and nav2_util/src/
lifecycle_service_client.cpp of Jazzy and Kilted, with `bond_timeout: 0.0`: services are found by
the names of the nodes, and what a transition achieved is read from get_state, not from its
response. Kilted's gives each call 5 s.
"""
from functools import partial
import os
from pathlib import Path
import signal
import sys

from harness import ROOT, send
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import GetState
import pytest
from rclpy.lifecycle import TransitionCallbackReturn

REACHES = {
    Transition.TRANSITION_CONFIGURE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_CLEANUP: State.PRIMARY_STATE_UNCONFIGURED,
    Transition.TRANSITION_ACTIVATE: State.PRIMARY_STATE_ACTIVE,
    Transition.TRANSITION_DEACTIVATE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: State.PRIMARY_STATE_FINALIZED,
}


class Manager:
    """What of the manager is visible to the nodes."""

    def __init__(self, world, names):
        self._world, self._names = world, names
        for name in names:  # it waits for the services before all else
            world.wait_until(world.client(GetState, f'{name}/get_state').service_is_ready, name)

    def startup(self):
        return (self._change_all(Transition.TRANSITION_CONFIGURE)
                and self._change_all(Transition.TRANSITION_ACTIVATE))

    def pause(self):
        return self._change_all(Transition.TRANSITION_DEACTIVATE)

    def resume(self):
        return self._change_all(Transition.TRANSITION_ACTIVATE)

    def reset(self):
        return (self._change_all(Transition.TRANSITION_DEACTIVATE)
                and self._change_all(Transition.TRANSITION_CLEANUP))

    def shutdown(self):
        """Go on where one fails, as the manager does; return whether all was reached."""
        return all([self._change_all(Transition.TRANSITION_DEACTIVATE),
                    self._change_all(Transition.TRANSITION_CLEANUP),
                    self._change_all(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)])

    def _change_all(self, transition):
        upward = transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
        return all(self._change(name, transition)
                   for name in (self._names if upward else reversed(self._names)))

    def _change(self, name, transition):
        self._world.change(name, transition)
        state = self._world.call(GetState, f'{name}/get_state', GetState.Request())
        return state.current_state.id == REACHES[transition]


def started(world, chain_file, **parameters):
    """Start two nodes; return their names in the order in which they are managed."""
    for folder in 'logs', 'releases':
        chain_file.with_name(folder).mkdir()
    parameters = {'chain_file': chain_file, 'epsilon': 50.0, 'autostart': 'false', **parameters}
    world.start('privatizer', '-r', '__ns:=/robot_1', **parameters)
    world.start('log_release', **parameters, log_dir=chain_file.with_name('logs'),
                release_dir=chain_file.with_name('releases'), subject='robot_1',
                ledger_file=chain_file.with_name('ledger'))
    return ['robot_1/privatizer', 'log_release']


def test_all_that_the_manager_can_be_asked(world, chain_file):
    manager = Manager(world, started(world, chain_file))
    private = world.listen('robot_1/private_region')
    assert manager.startup()
    send(world.publisher('robot_1/region'), 'a', 'b')
    world.wait_until(lambda: private[-2:] == ['a', 'b'], 'two regions')
    assert manager.pause()
    world.wait_until(lambda: world.node.count_subscribers('robot_1/region') == 0,
                     'nobody to read the region')
    assert manager.resume()
    assert manager.reset()
    assert manager.startup()
    assert manager.shutdown()
    assert all(run.process.poll() is None for run in world.runs)
    assert all(run.stop() == 0 for run in world.runs)


def test_startup_fails_where_a_node_has_started_itself(world, chain_file):
    manager = Manager(world, started(world, chain_file, autostart='true')[:1])
    world.runs[0].wait_for('active')
    assert not manager.startup()
    assert world.runs[0].process.poll() is None


DEPOT = {'chain_file': ROOT / 'config' / 'depot.geojson', 'initial_state': '1',
         'self_loops': 'true'}
#: Seconds of the processor: other programs do not count.
LIGHT = 0.5


def processor_time(run):
    """Return how long a node has run on a processor, in seconds, all threads together."""
    fields = Path(f'/proc/{run.process.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@pytest.mark.parametrize('more', [
    {}, {'policy': 'guided'},
    {'input': 'pose', 'message_type': 'geometry_msgs/msg/PoseStamped', 'sampling': 'period',
     'delay': 2}])
def test_a_privatizer_is_configured_soon_whatever_is_chosen(world, more):
    run = world.start('privatizer', **DEPOT, epsilon=2.0, autostart='false', **more)
    manager = Manager(world, ['privatizer'])
    for _ in range(2):
        before = processor_time(run)
        assert manager.startup()
        assert processor_time(run) - before < LIGHT
        assert manager.reset()


def test_log_release_is_configured_soon(world, chain_file):
    started(world, chain_file)
    run = world.runs[1]
    manager = Manager(world, ['log_release'])
    before = processor_time(run)
    assert manager.startup()
    assert processor_time(run) - before < LIGHT


def test_what_was_wrong_at_the_start_is_said_by_configure_and_can_be_mended(world, chain_file):
    whole = chain_file.read_text()
    chain_file.write_text('initial_state: a\n')
    run = world.start('privatizer', chain_file=chain_file, epsilon=2.0, autostart='false')
    manager = Manager(world, ['privatizer'])
    assert chain_file.name not in run.log
    assert not manager.startup()
    run.wait_for(chain_file.name)
    chain_file.write_text(whole)
    assert manager.startup()
    run.wait_for('4 states')


def test_a_map_that_has_changed_is_read_at_the_next_configure(world, chain_file):
    run = world.start('privatizer', chain_file=chain_file, epsilon=2.0, autostart='false')
    manager = Manager(world, ['privatizer'])
    assert manager.startup() and manager.reset()
    chain_file.write_text('initial_state: a\ntransitions: {a: [a, b], b: [a]}\n')
    assert manager.startup()
    run.wait_for('2 states')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_node_that_prepares(world, chain_file, number):
    """On a map so large that tables take long."""
    chain_file.write_text('initial_state: s0\ntransitions:\n' + ''.join(
        f'  s{i}: [s{i}, s{(i + 1) % 2100}]\n' for i in range(2100)))
    run = world.start('privatizer', chain_file=chain_file, epsilon=2.0, policy='adaptive',
                      autostart='false')
    world.wait_until(lambda: 'privatizer' in world.node.get_node_names(), 'a node that prepares')
    assert run.stop(number) == 0
    assert 'Traceback' not in run.log and 'active' not in run.log


#: What of bondpy 4.0 is used (bondpy/bondpy.py of bond_core, branch ros2), in the same words; the
#: real one was not run with a manager: no package index here has it, nor its message.
BONDPY = """
import threading
from std_msgs.msg import String


class Bond:

    made = 0

    def __init__(self, node, topic, bond_id, on_broken=None, on_formed=None):
        Bond.made += 1
        self._text = f'{bond_id} {Bond.made}'
        self.node, self.topic, self._over = node, topic, threading.Event()
        self.pub = node.create_publisher(String, topic, 1)

    def start(self):
        self.sub = self.node.create_subscription(String, self.topic, lambda message: None, 1)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._over.wait(self.heartbeat_period):
            self.pub.publish(String(data=self._text))

    def shutdown(self):
        self.sub.destroy()
        self._over.set()
        self._thread.join()
        self.pub.destroy()
"""


@pytest.fixture
def bondpy(tmp_path, monkeypatch):
    (tmp_path / 'packages' / 'bondpy').mkdir(parents=True)
    (tmp_path / 'packages' / 'bondpy' / '__init__.py').touch()
    (tmp_path / 'packages' / 'bondpy' / 'bondpy.py').write_text(BONDPY)
    monkeypatch.syspath_prepend(tmp_path / 'packages')
    yield
    for name in 'bondpy', 'bondpy.bondpy':
        sys.modules.pop(name, None)


@pytest.fixture
def bonding(privatizer_here, chain_file, bondpy):
    """Give a function that makes a privatizer in this process that finds a bondpy."""
    return partial(privatizer_here, '/tb1', chain_file=str(chain_file), epsilon=1.0,
                   policy='guided')


def test_a_node_that_a_manager_drives_keeps_a_bond_while_it_is_active(world, bonding):
    node, heard = bonding(autostart=False), world.listen('/tb1/bond', qos=10)
    for number in 1, 2:
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        world.wait_until(lambda: heard[-2:] == [f'privatizer {number}'] * 2, 'heartbeats')
        assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        world.wait_until(lambda: not world.node.count_publishers('/tb1/bond'), 'an end')
        assert not [entity for entity in (*node.publishers, *node.subscriptions)
                    if entity.topic_name == '/tb1/bond']
        assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS


def test_a_node_that_starts_itself_makes_no_bond(bonding):
    node = bonding()
    assert node.autostart()
    assert node.count_publishers('/tb1/bond') == 0


def test_without_the_message_of_the_bond_a_node_is_active_all_the_same(bonding, monkeypatch,
                                                                       capfd):
    from bondpy.bondpy import Bond

    monkeypatch.setattr(Bond, 'start', lambda bond: 1 / 0)
    node = bonding(autostart=False)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert 'no bond to a lifecycle manager: an error of type Zero' in capfd.readouterr().err
