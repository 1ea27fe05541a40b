#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: a parameter qos_overrides./scan.subscription.reliability sets the QoS of the
# subscription to /scan. What happens: rclpy writes the value into the profile object that the
# program handed over. Every publisher and subscription that is made later with the same object
# has it, too, of whatever topic and node. Where that object is qos_profile_sensor_data, which
# rclpy itself offers, these are all of the process. So after an override that makes /scan
# reliable, the same node's subscription to /imu is reliable as well, and hears nothing of a driver
# that publishes best effort; after depth: 1, other topics keep one message. /imu has no parameter
# that would show it.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/qos_overriding_options.py, _override_qos_policy_with_param (setattr on what the
# caller gave); rclpy/node.py, create_subscription and create_publisher hand it on uncopied.
# Who is hurt: whoever sets the QoS of one topic by a parameter, of a node that uses one profile
# for several topics. A QoSProfile of its own for each topic avoids it.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-184}

cat > "$folder/look.py" <<'PYTHON'
import sys
from time import monotonic, sleep

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from std_msgs.msg import String


def seen(*arguments):
    """Return QoS of /imu and of /camera, and how many messages of /imu the node heard."""
    context, heard = rclpy.Context(), []
    rclpy.init(args=['n', '--ros-args', *arguments], context=context)
    driver, node, other = (rclpy.create_node(name, context=context)
                           for name in ('driver', 'n', 'other'))
    imu = driver.create_publisher(
        String, 'imu', QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT))
    node.create_subscription(
        String, 'scan', lambda message: None, qos_profile_sensor_data,
        qos_overriding_options=QoSOverridingOptions.with_default_policies())
    node.create_subscription(String, 'imu', heard.append, qos_profile_sensor_data)
    camera = other.create_publisher(String, 'camera', qos_profile_sensor_data)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    end = monotonic() + 3.0
    while not heard and monotonic() < end:
        imu.publish(String(data='turn'))
        executor.spin_once(timeout_sec=0.1)
        sleep(0.01)
    reader, = driver.get_subscriptions_info_by_topic('imu')
    qos = reader.qos_profile.reliability.name, camera.qos_profile.reliability.name
    executor.shutdown()
    for one in (driver, node, other):
        one.destroy_node()
    context.try_shutdown()
    return *qos, bool(heard)


override = 'qos_overrides./scan.subscription.reliability:=reliable'
before, after = seen(), seen('-p', override)
for name, (imu, camera, heard) in (('without it', before), (f'with -p {override}', after)):
    print(f'  {name}: the subscription to /imu is {imu} and hears '
          f'{"the driver" if heard else "nothing"}; the publisher of /camera is {camera}')
sys.exit(0 if before == ('BEST_EFFORT', 'BEST_EFFORT', True)
         and after == ('RELIABLE', 'RELIABLE', False) else 1)
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
[ "$status" -ne 0 ] || echo 'An override of one topic changes the others that share its profile.'
exit "$status"
