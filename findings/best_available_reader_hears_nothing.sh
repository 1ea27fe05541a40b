#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: a subscription with qos_profile_best_available, which is there to match what
# publishers offer, hears an ordinary publisher whichever of the two is made first; or at worst, as
# long as it knows of nobody, it asks for little. What happens: where no publisher is known, it
# asks for everything: reliable, transient local, and liveliness asserted by hand, because what
# "all publishers" offer is asked for, and there are none. It stays like that. So it hears neither
# a publisher with QoSProfile(depth=10), nor sensor data, nor a latched one. Made a moment later,
# it hears each.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted); also with rmw_cyclonedds_cpp 2.2.2.
# Source: rmw_dds_common/src/qos.cpp, qos_profile_get_best_available_for_subscription
# (number_of_manual_by_topic == publishers_info->size, where both are 0). rmw/qos_profiles.h says
# that the choice is made once, and warns of races; not what is chosen where nobody is known.
# Who is hurt: whoever starts a monitor or a recorder with this profile before the robot: it hears
# nothing, until it is started again. The logs have a warning, of one policy out of three.
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
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import (DurabilityPolicy, qos_profile_best_available, qos_profile_sensor_data,
                       QoSProfile)
from std_msgs.msg import String

OFFERS = {'QoSProfile(depth=10)': QoSProfile(depth=10),
          'qos_profile_sensor_data': qos_profile_sensor_data,
          'latched': QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)}


def wait(condition, seconds=5.0):
    """Wait until a condition holds, or for some seconds; return whether it holds."""
    end = monotonic() + seconds
    while not condition() and monotonic() < end:
        sleep(0.02)
    return condition()


def heard(context, topic, offer, reader_first):
    """Return whether a reader of the best available QoS hears a publisher, and what it chose."""
    robot, monitor = (rclpy.create_node(name, context=context) for name in ('robot', 'monitor'))
    messages = []

    def read():
        monitor.create_subscription(String, topic, messages.append, qos_profile_best_available)
        assert wait(lambda: robot.count_subscribers(topic) == 1)

    def publish():
        publisher = robot.create_publisher(String, topic, offer)
        assert wait(lambda: monitor.count_publishers(topic) == 1)
        return publisher

    if reader_first:
        read()
        publisher = publish()
    else:
        publisher = publish()
        read()
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(monitor)
    end = monotonic() + 2.0
    while not messages and monotonic() < end:
        publisher.publish(String(data='dock'))
        executor.spin_once(timeout_sec=0.1)
    chosen = robot.get_subscriptions_info_by_topic(topic)[0].qos_profile
    executor.shutdown()
    for node in (robot, monitor):
        node.destroy_node()
    return bool(messages), ', '.join(policy.name for policy in (
        chosen.reliability, chosen.durability, chosen.liveliness))


context, seen = rclpy.Context(), []
rclpy.init(args=['n'], context=context)
for number, (name, offer) in enumerate(OFFERS.items()):
    for first in (True, False):
        result, chosen = heard(context, f't{number}{first:d}', offer, first)
        seen.append(result)
        print(f'  publisher {name}, {"reader" if first else "publisher"} first: the reader chose '
              f'{chosen} and hears {"it" if result else "nothing"}')
context.try_shutdown()
sys.exit(0 if seen == [False, True] * 3 else 1)
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
[ "$status" -ne 0 ] || echo 'Best available is the strictest QoS where no publisher is known yet.'
exit "$status"
