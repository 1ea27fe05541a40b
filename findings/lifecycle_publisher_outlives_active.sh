#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: what create_lifecycle_publisher makes publishes while its node is active, and
# drops what is published in any other state. What happens in rclpy: it follows two transitions,
# not the state. After a shutdown from active the node is finalized, and the publisher goes on.
# So it does where on_deactivate fails (the node is unconfigured), and where on_activate calls the
# inherited one, as it should, and then returns FAILURE (inactive) or raises (unconfigured). And a
# publisher that is made while the node is active drops all, until the next activation. Nothing is
# logged in any of these cases.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/lifecycle/managed_entity.py, SimpleManagedEntity (on_activate and on_deactivate set
# the flag; on_shutdown, on_error and on_cleanup are those of ManagedEntity, and leave it);
# rclpy/lifecycle/node.py, create_lifecycle_publisher (does not look at the state).
# Who is hurt: whoever lets a timer or a callback publish and trusts the lifecycle to stop it: a
# robot that its manager has shut down goes on sending where it is, or commands. Stop what
# publishes in on_shutdown and on_error, too.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-181}

cat > "$folder/look.py" <<'PYTHON'
import sys
from time import monotonic, sleep

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import String


class Robot(LifecycleNode):
    """A node with a lifecycle publisher; its activation or deactivation may fail."""

    def __init__(self, number, context, fails=None):
        super().__init__(f'robot_{number}', context=context)
        self._topic, self._fails = f'region_{number}', fails

    def make(self):
        return self.create_lifecycle_publisher(String, self._topic, 10)

    def on_configure(self, state):
        self.publisher = self.make()
        return super().on_configure(state)

    def on_activate(self, state):
        super().on_activate(state)
        if self._fails == 'activate, raises':
            raise OSError
        failed = self._fails == 'activate, FAILURE'
        return TransitionCallbackReturn.FAILURE if failed else TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state):
        if self._fails == 'deactivate, raises':
            raise OSError
        return super().on_deactivate(state)


def heard(number, context, transitions, fails=None, late=False):
    """Return the state of a node after some transitions, and how many of 3 messages are heard."""
    robot, monitor = Robot(number, context, fails), rclpy.create_node('monitor', context=context)
    states, messages = [], []
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(monitor)
    for transition in transitions:
        getattr(robot, f'trigger_{transition}')()
        states.append(robot._state_machine.current_state[1])
    publisher = robot.make() if late else robot.publisher
    monitor.create_subscription(String, publisher.topic_name, messages.append, 10)
    end = monotonic() + 10.0
    while publisher.get_subscription_count() < 1 and monotonic() < end:
        sleep(0.02)
    assert publisher.get_subscription_count() == 1
    sleep(0.5)
    for _ in range(3):
        publisher.publish(String(data='dock'))
    end = monotonic() + 1.0
    while monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for node in (robot, monitor):
        node.destroy_node()
    return states[-1], len(messages)


context, seen = rclpy.Context(), []
rclpy.init(args=['n'], context=context)
for number, (transitions, fails, late, guess) in enumerate((
        (('configure',), None, False, ('inactive', 0)),
        (('configure', 'activate'), None, False, ('active', 3)),
        (('configure', 'activate', 'deactivate'), None, False, ('inactive', 0)),
        (('configure', 'activate', 'shutdown'), None, False, ('finalized', 3)),
        (('configure', 'activate', 'deactivate'), 'deactivate, raises', False,
         ('unconfigured', 3)),
        (('configure', 'activate'), 'activate, FAILURE', False, ('inactive', 3)),
        (('configure', 'activate'), 'activate, raises', False, ('unconfigured', 3)),
        (('configure', 'activate'), None, True, ('active', 0)))):
    found = heard(number, context, transitions, fails, late)
    how = f'{", ".join(transitions)}{f" ({fails})" if fails else ""}'
    print(f'  {how}: the node is {found[0]}; of 3 messages of its publisher'
          f'{", made last," if late else ""} {found[1]} are heard')
    seen.append(found == guess)
context.try_shutdown()
sys.exit(0 if all(seen) else 1)
PYTHON

status=0
for pinned in 'ros-rclpy[fastrtps]==7.1.6 ros-std-msgs==5.3.6' \
              'ros-rclpy[fastrtps]==9.1.2 ros-std-msgs==5.5.1'; do
    python3 -m venv "$folder/venv" || exit 2
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
        cat "$folder/pip.log" >&2; exit 2; }
    echo "$pinned"
    if ! "$folder/venv/bin/python" "$folder/look.py"; then
        echo '  this version behaves otherwise'
        status=1
    fi
    rm -rf "$folder/venv"
done
[ "$status" -ne 0 ] || echo 'A lifecycle publisher publishes in states that are not active.'
exit "$status"
