#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: with the QoS policy `deadline`, a subscription gets its event wherever no
# message has come for so long; so a sensor that is dead from the start is noticed like one that
# dies. What happens (rclpy, Fast DDS): before the first message there is no event, on either side:
# not without a publisher, and not with one that has promised the same deadline, is matched, and
# never sends. After one message, the events come once per deadline.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted), rmw_fastrtps_cpp.
# Source: Fast DDS 2.14.5, src/cpp/fastdds/subscriber/DataReaderImpl.cpp, on_new_cache_change_added
# (the timer of the deadline is started by a change that arrives, and by nothing else).
# Who is hurt: who supervises by deadlines in place of a timer of his own: a node that hangs before
# its first message, and a topic that is remapped wrongly, are never reported.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-184}

cat > "$folder/look.py" <<'PYTHON'
import sys
from time import monotonic

import rclpy
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from std_msgs.msg import String

DEADLINE, WAIT = 0.2, 2.0

context = rclpy.Context()
rclpy.init(args=['n'], context=context)
node, executor = rclpy.create_node('n', context=context), SingleThreadedExecutor(context=context)
executor.add_node(node)
missed, offered, heard = [], [], []
qos = QoSProfile(depth=5, deadline=Duration(seconds=DEADLINE))


def spin(condition, seconds):
    end = monotonic() + seconds
    while monotonic() < end and not condition():
        executor.spin_once(timeout_sec=0.05)


def counts(when):
    """Say how many events have come within some time; return their numbers."""
    missed.clear()
    offered.clear()
    spin(lambda: False, WAIT)
    print(f'  {when}, {WAIT:g} s, a deadline of {DEADLINE:g} s: {len(missed)} events of the '
          f'subscription, {len(offered)} of the publisher')
    return len(missed), len(offered)


node.create_subscription(
    String, 'region', heard.append, qos,
    event_callbacks=SubscriptionEventCallbacks(deadline=missed.append))
seen = [counts('no publisher')]
publisher = node.create_publisher(
    String, 'region', qos, event_callbacks=PublisherEventCallbacks(deadline=offered.append))
spin(publisher.get_subscription_count, 10.0)
assert publisher.get_subscription_count() == 1
seen.append(counts('a publisher that has sent nothing'))
publisher.publish(String(data='dock'))
spin(lambda: heard, 10.0)
assert heard
seen.append(counts('a publisher that has sent one message'))
executor.shutdown()
node.destroy_node()
context.try_shutdown()
sys.exit(0 if seen[:2] == [(0, 0), (0, 0)] and min(seen[2]) > 2 else 1)
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
[ "$status" -ne 0 ] || echo 'Who has never sent misses no deadline.'
exit "$status"
