#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: what a publisher sends with the QoS policy `lifespan` of 1 s is not delivered
# when it is older; a subscription needs to say nothing, as in DDS lifespan belongs to the sender.
# What happens under Fast DDS: the publisher forgets the message after 1 s, so that a latched one
# is gone for who comes late. But a message that has reached the queue of a subscription in time
# stays there for as long as the subscription's own lifespan says, and that is for ever where it
# says nothing: a node that was busy for 2.5 s gets it then. A lifespan of the subscription alone
# is no error, as one would guess from DDS: it drops what has waited longer.
#
# Seen with ros-rclpy 7.1.6 (Jazzy, Fast DDS 2.14.5) and 9.1.2 (Kilted, Fast DDS 3.2.3), between
# two processes.
# Source: Fast DDS, src/cpp/fastdds/subscriber/DataReaderImpl.cpp (lifespan_timer_ and
# lifespan_duration_us_ come from the QoS of the reader; that of the writer is not looked at). In
# the DDS specification 1.4, 2.2.3.16, expired samples also leave the caches of readers.
# Who is hurt: whoever gives a command or a position a lifespan, so that a robot does not act on a
# stale one: where its callbacks are busy for a while, which is what the lifespan is for, it does.
# Set the lifespan on both sides, or look at the time of the message.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-175}

cat > "$folder/look.py" <<'PYTHON'
import subprocess
import sys
from time import monotonic, sleep

import rclpy
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

LIFESPAN, BUSY, MESSAGES = 1.0, 2.5, 3


def profile(limited):
    """Return a latched QoS profile, with a lifespan or none."""
    return QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                      lifespan=Duration(seconds=LIFESPAN if limited else 0.0))


def send(limited, early):
    """Publish commands, when somebody listens or at once, and stay until the input ends."""
    context = rclpy.Context()
    rclpy.init(args=['n'], context=context)
    publisher = rclpy.create_node('operator', context=context).create_publisher(
        String, 'command', profile(limited))
    end = monotonic() + 10.0
    while not early and publisher.get_subscription_count() < 1 and monotonic() < end:
        sleep(0.02)
    sleep(1.0)
    for _ in range(MESSAGES):
        publisher.publish(String(data='go'))
    print('sent', flush=True)
    sys.stdin.read()


def heard(sent_limited, heard_limited, late):
    """Return how many commands a callback gets BUSY seconds after they were sent."""
    context, messages = rclpy.Context(), []
    rclpy.init(args=['n'], context=context)
    node, executor = rclpy.create_node('robot', context=context), SingleThreadedExecutor(
        context=context)
    executor.add_node(node)

    def listen():
        node.create_subscription(String, 'command', messages.append, profile(heard_limited))

    if not late:
        listen()
    with subprocess.Popen([sys.executable, __file__, str(int(sent_limited)), str(int(late))],
                          text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as operator:
        assert operator.stdout.readline() == 'sent\n'
        sleep(BUSY)  # another callback of the robot
        if late:
            listen()
        end = monotonic() + 2.0
        while monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        operator.stdin.close()
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()
    return len(messages)


if len(sys.argv) > 1:
    send(sys.argv[1] == '1', sys.argv[2] == '1')
    sys.exit()
fine = True
for sent_limited, heard_limited, late, guess in (
        (False, False, False, MESSAGES), (True, True, False, 0), (False, True, False, 0),
        (True, False, False, MESSAGES), (True, False, True, 0)):
    found = heard(sent_limited, heard_limited, late)
    names = [f'lifespan {LIFESPAN} s' if limited else 'no lifespan'
             for limited in (sent_limited, heard_limited)]
    print(f'  publisher: {names[0]}, {"late " if late else ""}subscription: {names[1]}: '
          f'{BUSY} s after {MESSAGES} messages were sent, {found} are delivered')
    fine &= found == guess
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
[ "$status" -ne 0 ] || echo 'The lifespan of a publisher ends where the queue begins.'
exit "$status"
