#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: the event `message_lost` of a ROS 2 subscription tells that messages were lost,
# and one that reports none has had them all. What happens where a callback is slower than its
# topic (rclpy, Fast DDS): the queue of the subscription is full, each new message replaces an old
# one, and no event comes: of 50 messages, 48 never reach the callback, and the count of lost ones
# stays 0; best effort and reliable alike. The numbers that the middleware gives the messages
# (publication_sequence_number, the second argument of a callback) show the gap.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted), rmw_fastrtps_cpp.
# Source: Fast DDS 2.14.5, src/cpp/fastdds/subscriber/history/DataReaderHistory.cpp,
# received_change_keep_last (removes the oldest change of a full history, and notes nothing);
# DataReaderImpl.cpp, update_sample_lost_status (is called only for what never reached the reader).
# Who is hurt: who records, counts or supervises by this event: what a busy process drops, the most
# frequent loss on one machine, is not in it.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-183}

cat > "$folder/look.py" <<'PYTHON'
import sys
from time import monotonic, sleep

import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

MESSAGES, QUEUE = 50, 2


def heard_and_lost(reliability, queue):
    """Return the numbers of the messages that a callback gets, and what the event counts."""
    context = rclpy.Context()
    rclpy.init(args=['n'], context=context)
    node, executor = rclpy.create_node('n', context=context), SingleThreadedExecutor(
        context=context)
    executor.add_node(node)
    heard, lost = [], []
    node.create_subscription(
        String, 'region', lambda message, info: heard.append(info['publication_sequence_number']),
        QoSProfile(depth=queue, reliability=reliability),
        event_callbacks=SubscriptionEventCallbacks(
            message_lost=lambda event: lost.append(event.total_count)))
    publisher = node.create_publisher(
        String, 'region', QoSProfile(depth=MESSAGES, reliability=reliability))
    end = monotonic() + 10.0
    while publisher.get_subscription_count() < 1 and monotonic() < end:
        sleep(0.02)
    for _ in range(MESSAGES):
        publisher.publish(String(data='dock'))
        sleep(0.005)
    sleep(0.5)  # a callback that takes long
    end = monotonic() + 2.0
    while monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()
    return heard, sum(lost)


fine = True
for reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT):
    for queue in (MESSAGES, QUEUE):
        heard, lost = heard_and_lost(reliability, queue)
        print(f'  {reliability.name}, a queue of {queue}: {MESSAGES} messages sent, numbers '
              f'{heard[0]} to {heard[-1]} are heard, the event counts {lost} lost')
        fine &= lost == 0 and heard == [*range(MESSAGES - queue + 1, MESSAGES + 1)]
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
[ "$status" -ne 0 ] || echo 'What a full queue drops is not counted as lost.'
exit "$status"
