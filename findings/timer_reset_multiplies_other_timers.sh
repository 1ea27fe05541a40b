#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: Timer.reset() concerns that timer alone. What happens with rclpy's
# EventsExecutor: with each reset it looks at all timers of the same clock, and queues a call for
# each that is due; if one is queued already, one more. Each of these calls counts as a period. So
# where messages reset a watchdog, another timer is called many times in one instant after a burst
# of messages (20 messages: some 20 times), and then not at all for as many periods. A timer that
# reports once a second would be silent for 20 s. SingleThreadedExecutor keeps the time, and so do
# timers of another Clock object than the watchdog's.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/src/rclpy/events_executor/timers_manager.cpp, ClockManager::UpdateTimers (enqueues
# DispatchTimer of each timer that is due, and is what a reset enqueues) and DispatchTimer
# (rcl_timer_call, which does not ask whether the timer is due still).
# Who is hurt: whoever takes this executor, for its speed, in a node that has a watchdog: what
# should run once per period (control, diagnostics) runs many times, and then stands still.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-182}

cat > "$folder/look.py" <<'PYTHON'
import sys
from time import monotonic, sleep

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from std_msgs.msg import String

MESSAGES, PERIOD = 20, 0.1


def calls(kind, resets):
    """Return how often a timer is called at once after a burst, and its longest pause in s."""
    context = rclpy.Context()
    rclpy.init(args=['n'], context=context)
    node, executor = rclpy.create_node('n', context=context), kind(context=context)
    executor.add_node(node)
    watchdog, heard, times = node.create_timer(60.0, lambda: None), [], []

    def receive(message):
        sleep(0.01)
        if resets:
            watchdog.reset()
        heard.append(message)

    node.create_subscription(String, 'region', receive, QoSProfile(depth=MESSAGES))
    publisher = node.create_publisher(String, 'region', QoSProfile(depth=MESSAGES))
    end = monotonic() + 10.0
    while publisher.get_subscription_count() < 1 and monotonic() < end:
        sleep(0.02)
    node.create_timer(PERIOD, lambda: times.append(monotonic()))
    end = monotonic() + 5.0
    while not times and monotonic() < end:  # it runs
        executor.spin_once(timeout_sec=0.1)
    for _ in range(MESSAGES):
        publisher.publish(String(data='dock'))
    end = monotonic() + MESSAGES * (PERIOD + 0.01) + 1.5
    while monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    assert len(heard) == MESSAGES
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()
    pauses = [later - sooner for sooner, later in zip(times, times[1:])]
    # calls without a pause, with the first of them
    return 1 + sum(pause < PERIOD / 10 for pause in pauses), max(pauses)


seen = []
for kind in (SingleThreadedExecutor, EventsExecutor):
    for resets in (False, True):
        together, pause = calls(kind, resets)
        print(f'  {kind.__name__}, {MESSAGES} messages {"reset" if resets else "do not reset"} '
              f'a watchdog: another timer of {PERIOD} s is called up to {together} times at '
              f'once, and then not for {pause:.1f} s')
        seen.append((together > MESSAGES / 2, pause > MESSAGES / 2 * PERIOD))
sys.exit(0 if seen == [(False, False)] * 3 + [(True, True)] else 1)
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
[ "$status" -ne 0 ] || echo 'A reset of one timer multiplies the calls of the others.'
exit "$status"
