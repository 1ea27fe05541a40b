#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: where all goals of an action are to be canceled, a server in rclpy asks its
# cancel_callback for each; those that it accepts are canceled, and stand in the answer. What
# happens: after each goal that the callback refuses, the next one is passed over. It is not asked
# for and goes on, though the callback would have accepted it; and yet the answer says that it is
# being canceled. Of four goals whose callback refuses the first, the second goes on. Where it
# refuses all, the answer names the second and the fourth. And the code of the answer is always
# ERROR_NONE, also where a single goal was refused; CancelGoal.srv has ERROR_REJECTED for that.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/action/server.py, ActionServer._execute_cancel_request (removes refused goals from
# the list goals_canceling while it loops over that list; leaves return_code as rcl has set it).
# Who is hurt: whoever stops a robot by canceling all goals, as operators and fleet managers do: an
# arm whose move must be ended refuses, and the drive behind it goes on. Who waits for the status
# CANCELED of what the answer names waits until the goal is reached.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-177}

cat > "$folder/look.py" <<'PYTHON'
import sys
from threading import Event, Thread
from time import monotonic, sleep

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from test_msgs.action import Fibonacci


def wait(ready):
    """Wait until a condition holds, 10 s at most."""
    end = monotonic() + 10.0
    while not ready() and monotonic() < end:
        sleep(0.02)
    assert ready()


def canceled(goals, refused):
    """Cancel all goals; return which were asked for, named and canceled, and the code."""
    context, asked, ended = rclpy.Context(), [], Event()
    rclpy.init(args=['n'], context=context)
    robot, operator = (rclpy.create_node(name, context=context) for name in ('robot', 'operator'))

    def execute(goal):
        while not ended.is_set() and not goal.is_cancel_requested:
            sleep(0.02)
        goal.canceled() if goal.is_cancel_requested else goal.succeed()
        return Fibonacci.Result()

    def cancel(goal):
        asked.append(goal.request.order)
        return CancelResponse.REJECT if goal.request.order in refused else CancelResponse.ACCEPT

    server = ActionServer(robot, Fibonacci, 'move', execute, cancel_callback=cancel,
                          callback_group=ReentrantCallbackGroup())
    client = ActionClient(operator, Fibonacci, 'move')
    stop = operator.create_client(CancelGoal, 'move/_action/cancel_goal')
    executor = MultiThreadedExecutor(goals + 2, context=context)
    for node in (robot, operator):
        executor.add_node(node)
    thread = Thread(target=executor.spin)
    thread.start()
    assert client.wait_for_server(10.0) and stop.wait_for_service(10.0)
    handles = {}
    for order in range(1, goals + 1):
        accepted = client.send_goal_async(Fibonacci.Goal(order=order))
        wait(accepted.done)
        handles[order] = accepted.result()
    orders = {bytes(handle.goal_id.uuid): order for order, handle in handles.items()}
    answer = stop.call_async(CancelGoal.Request())  # neither an id nor a time: all
    wait(answer.done)
    sleep(1.0)
    named = [orders[bytes(info.goal_id.uuid)] for info in answer.result().goals_canceling]
    done = [order for order, handle in handles.items()
            if handle.status == GoalStatus.STATUS_CANCELED]
    ended.set()
    wait(lambda: all(handle.status in (GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_SUCCEEDED)
                     for handle in handles.values()))
    executor.shutdown()
    thread.join()
    server.destroy()
    context.try_shutdown()
    return asked, sorted(named), done, answer.result().return_code


def listed(goals):
    """Return goals as text."""
    return ', '.join(map(str, goals)) or 'none'


fine = True
for goals, refused, guess in (
        (4, set(), ([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4])),
        (2, {1}, ([1], [2], [])),
        (4, {1}, ([1, 3, 4], [2, 3, 4], [3, 4])),
        (4, {1, 2, 3, 4}, ([1, 3], [2, 4], [])),
        (1, {1}, ([1], [], []))):
    asked, named, done, code = canceled(goals, refused)
    print(f'  goals 1 to {goals}; the callback refuses {listed(refused)}: it is asked for '
          f'{listed(asked)}; the answer names {listed(named)}, code {code}; canceled: '
          f'{listed(done)}')
    fine &= (asked, named, done) == guess and code == CancelGoal.Response.ERROR_NONE
sys.exit(0 if fine else 1)
PYTHON

status=0
for pinned in 'ros-rclpy[fastrtps]==7.1.6 ros-test-msgs==2.0.3' \
              'ros-rclpy[fastrtps]==9.1.2 ros-test-msgs==2.3.0'; do
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
[ "$status" -ne 0 ] || echo 'Goals behind a refused one go on, and are named as canceled.'
exit "$status"
