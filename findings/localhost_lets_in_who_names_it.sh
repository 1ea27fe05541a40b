#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: what a node with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST publishes stays on its
# machine. What happens: its sockets are open to the network, and it answers whoever calls. A node
# on another machine that has the first one's address in ROS_STATIC_PEERS gets every message; no
# setting on the first machine allowed that, and nothing there says so.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) on Fast DDS 2.14.5 (rmw_fastrtps_cpp 8.4.3; the same with
# ROS_LOCALHOST_ONLY=1), and on Cyclone DDS 0.10.5 (rmw_cyclonedds_cpp 2.2.2).
# Source: rmw_cyclonedds_cpp/src/rmw_node.cpp, check_create_domain (no multicast, localhost as a
# peer, and no interface is left out).
# Who is hurt: whoever keeps a sensitive topic on a robot by this setting.
# What helps: a network that others cannot reach, a firewall for the UDP ports from 7400 on, or an
# interface: for Cyclone DDS
#   CYCLONEDDS_URI='<General><Interfaces><NetworkInterface name="lo"/></Interfaces></General>',
# for Fast DDS a profile whose transport has 127.0.0.1 as its interfaceWhiteList. The last two were
# tried with this script: nothing arrives.
#
# It needs ip, unshare and nsenter, and a kernel that allows user namespaces: two networks that are
# joined by a cable stand for two machines. PYTHON names another python with rclpy to be tried.
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
if [ -z "${IN_A_NETWORK-}" ]; then
    unshare -Urnm true && command -v ip nsenter > /dev/null || exit 2
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    export HOME=$folder IN_A_NETWORK=1
    [ -z "${PYTHON-}" ] || { unshare -Urnm bash "$0"; exit; }
    status=0
    for pinned in 'ros-rclpy[fastrtps]==7.1.6 ros-std-msgs==5.3.6' \
                  'ros-rclpy[fastrtps]==9.1.2 ros-std-msgs==5.5.1'; do
        python3 -m venv "$folder/venv" || exit 2
        # shellcheck disable=SC2086
        "$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned \
            2>"$folder/pip.log" || { cat "$folder/pip.log" >&2; exit 2; }
        echo "$pinned"
        PYTHON=$folder/venv/bin/python unshare -Urnm bash "$0" || status=$?
        rm -rf "$folder/venv"
    done
    exit "$status"
fi
export ROS_DOMAIN_ID=5
unset ROS_STATIC_PEERS ROS_LOCALHOST_ONLY
cat > "$HOME/node.py" <<'PYTHON'
import sys
import time

import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node(sys.argv[1])
publisher, heard = node.create_publisher(String, sys.argv[2], 10), []
node.create_subscription(String, sys.argv[3], heard.append, 10)
until = time.monotonic() + 8
while time.monotonic() < until:
    publisher.publish(String(data='at the dock'))
    rclpy.spin_once(node, timeout_sec=0.1)
print(len(heard))
PYTHON

unshare -n sleep 60 &  # the other machine
other=$!
trap 'kill $other' EXIT
sleep 0.5
ip link set lo up
ip link add cable type veth peer name cable netns $other
ip addr add 10.9.0.1/24 dev cable
ip link set cable up
nsenter -t $other -n sh -c 'ip link set lo up; ip addr add 10.9.0.2/24 dev cable
                            ip link set cable up'
mount -t tmpfs tmpfs /dev/shm

heard() {  # what the other machine hears, with these peers
    ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST "$PYTHON" "$HOME/node.py" \
        robot region nothing > /dev/null &
    robot=$!
    nsenter -t $other -n unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm; exec "$@"' sh env \
        ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET ROS_STATIC_PEERS="$1" \
        "$PYTHON" "$HOME/node.py" other else region | tail -n 1
    wait $robot
}

without=$(heard '') || exit 2
with=$(heard 10.9.0.1) || exit 2
echo "messages that arrive on the other machine: $without; if it names this one: $with"
[ "$without" = 0 ] && [ "$with" -gt 0 ]
