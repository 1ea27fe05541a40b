#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: once=True and throttle_duration_sec=60.0 limit how often a line of code logs,
# whatever logger it calls them on: node.get_logger(), its get_child('drive'), or
# rclpy.logging.get_logger('robot'), as in C++, where the line alone counts. What happens in rclpy:
# what was logged when is kept in the logger object. node.get_logger() returns the same one each
# time, so there the limit holds. The other two return a new object for each call, so a line that
# names them where it logs has no limit at all: five calls, five messages, and no error. With a
# child that is kept in a variable the limit holds.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted).
# Source: rclpy/impl/rcutils_logger.py, RcutilsLogger (contexts is of the object; get_child makes
# one anew); rclpy/logging.py, get_logger (is get_child of the root logger).
# Who is hurt: whoever names the parts of a node by child loggers, and throttles a warning of a
# callback: at 100 messages a second it is written 100 times a second, to the disk and to /rosout.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-179}

cat > "$folder/look.py" <<'PYTHON'
import sys

import rclpy
from rclpy.logging import get_logger
from rclpy.node import Node

rclpy.init(args=['n'])
node, seen = Node('robot'), []
kept = node.get_logger().get_child('drive')
for how, logger, guess in (
        ('node.get_logger()', node.get_logger, 1),
        ("node.get_logger().get_child('drive')",
         lambda: node.get_logger().get_child('drive'), 5),
        ("rclpy.logging.get_logger('robot')", lambda: get_logger('robot'), 5),
        ('a child in a variable', lambda: kept, 1)):
    once = sum([logger().warning('slow', once=True) for _ in range(5)])
    limited = sum([logger().warning('slow', throttle_duration_sec=60.0) for _ in range(5)])
    print(f'  {how}: logged are {once} of 5 calls with once=True, {limited} of 5 with '
          'throttle_duration_sec=60.0')
    seen += [once == guess, limited == guess]
node.destroy_node()
rclpy.shutdown()
sys.exit(0 if all(seen) else 1)
PYTHON

status=0
for pinned in 'ros-rclpy[fastrtps]==7.1.6' 'ros-rclpy[fastrtps]==9.1.2'; do
    python3 -m venv "$folder/venv" || exit 2
    "$folder/venv/bin/pip" install -q --disable-pip-version-check "$pinned" \
        2>"$folder/pip.log" || { cat "$folder/pip.log" >&2; exit 2; }
    echo "$pinned"
    if ! "$folder/venv/bin/python" "$folder/look.py" 2>"$folder/log"; then
        echo '  this version behaves otherwise'
        status=1
    fi
    rm -rf "$folder/venv"
done
[ "$status" -ne 0 ] || echo 'A logger that is made anew for each message limits nothing.'
exit "$status"
