# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The nodes, driven by the calls that Nav2's lifecycle manager makes; the manager itself is not run.

As in nav2_lifecycle_manager/src/lifecycle_manager.cpp and nav2_util/src/
lifecycle_service_client.cpp of Jazzy, with `bond_timeout: 0.0`: services are found by the names
of the nodes, and what a transition achieved is read from get_state, not from its response.
"""
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import GetState
from std_msgs.msg import String

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
    publisher = world.publisher('robot_1/region')
    for region in ('a', 'b'):
        publisher.publish(String(data=region))
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


def test_startup_fails_where_a_node_cannot_be_configured(world, chain_file):
    chain_file.write_text('initial_state: a\n')
    manager = Manager(world, started(world, chain_file))
    assert not manager.startup()
    assert all(run.process.poll() is None for run in world.runs)


def test_startup_fails_where_a_node_has_started_itself(world, chain_file):
    manager = Manager(world, started(world, chain_file, autostart='true')[:1])
    world.runs[0].wait_for('active')
    assert not manager.startup()
    assert world.runs[0].process.poll() is None
