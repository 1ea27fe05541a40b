#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: callbacks of add_pre_set_parameters_callback, which may change what is to be
# set, form a chain, as they do in rclcpp: each gets what the one before it made of the list. What
# happens in rclpy: each gets the list as it was asked for; what they return is put one behind the
# other, and the last value of a name stays. So a callback that limits a speed has no effect beside
# one that only looks and returns the list, if that was added first. Nor can a callback take a
# parameter out of the list then. The setting reports success. Callbacks of
# add_on_set_parameters_callback see the parameter twice, and /parameter_events says twice that it
# changed.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/node.py, Node._call_pre_set_parameters_callback (extends one list by what each
# callback makes of the same parameter_list; the last one added is called first). In rclcpp,
# node_interfaces/node_parameters.cpp, all callbacks change one vector.
# Who is hurt: whoever limits, rounds or refuses values in one such callback, and adds another, for
# a log or a derived parameter, or uses a base class that has one: a limit that was tested alone is
# gone. Refuse in add_on_set_parameters_callback; there the first refusal counts.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-176}

cat > "$folder/look.py" <<'PYTHON'
import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient

LIMIT, ASKED = 1.0, 9.0


def limited(parameters):
    """Set a speed to LIMIT at most."""
    return [Parameter(one.name, value=min(one.value, LIMIT)) if one.name == 'speed' else one
            for one in parameters]


def without(parameters):
    """Let nobody set a speed."""
    return [one for one in parameters if one.name != 'speed']


def watched(parameters):
    """Change nothing."""
    return parameters


def speed_after(callbacks):
    """Return whether another node may set the speed to ASKED, and what it is then."""
    context = rclpy.Context()
    rclpy.init(args=['n'], context=context)
    robot, operator = (rclpy.create_node(name, context=context) for name in ('robot', 'operator'))
    robot.declare_parameter('speed', 0.5)
    for callback in callbacks:
        robot.add_pre_set_parameters_callback(callback)
    executor = SingleThreadedExecutor(context=context)
    for node in (robot, operator):
        executor.add_node(node)
    client = AsyncParameterClient(operator, 'robot')
    assert client.wait_for_services(10.0)
    answer = client.set_parameters([Parameter('speed', value=ASKED)])
    executor.spin_until_future_complete(answer, timeout_sec=10.0)
    found = answer.result().results[0].successful, robot.get_parameter('speed').value
    executor.shutdown()
    context.try_shutdown()
    return found


fine = True
for callbacks, guess in (
        ([limited], (True, LIMIT)),
        ([limited, watched], (True, LIMIT)),
        ([watched, limited], (True, ASKED)),
        ([without], (False, 0.5)),
        ([without, watched], (True, ASKED)),
        ([watched, without], (True, ASKED))):
    successful, speed = speed_after(callbacks)
    names = ', then '.join(one.__name__ for one in callbacks)
    print(f'  callbacks {names}; {ASKED} is asked for: '
          f'{"success" if successful else "refused"}, and the speed is {speed}')
    fine &= (successful, speed) == guess
sys.exit(0 if fine else 1)
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
[ "$status" -ne 0 ] || echo 'What one callback changed, another one brings back.'
exit "$status"
