#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: of a parameter that a file sets and -p sets again, the value that was said last
# is in effect. What happens: where the two have different types, the type decides. rcl keeps one
# value of each type; rclpy takes a bool first, else an integer, a double, a string, a list.
# So after `gain: 2` in a file, `-p gain:=0.5` has no effect and no message says so.
#
# Seen with ros-rclpy 7.1.6 (Jazzy, rcl 9.2.8) and 9.1.2 (Kilted, rcl 10.1.3).
# Source: rcl_yaml_param_parser/src/parse.c, parse_value (a value replaces that of its own type
# alone); rclpy/src/rclpy/node.cpp, _parameter_from_rcl_variant (the order).
# Who is hurt: whoever writes 2 for 2.0 in a file and overrides it by hand: every number of a
# node, such as a speed limit or a privacy budget, can stay what it was.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-186}

cat > "$folder/look.py" <<'PYTHON'
import os
import sys

import rclpy
from rclpy.node import Node


class Values(Node):
    """A node of the name n; every parameter that it is given is declared."""

    def __init__(self, context):
        super().__init__('n', context=context, start_parameter_services=False,
                         automatically_declare_parameters_from_overrides=True)


def gain(first, second):
    """Return the value of `gain` after a file that says `first` and a -p that says `second`."""
    file = os.path.join(os.environ['HOME'], 'n.yaml')
    with open(file, 'w') as target:
        target.write(f'/**:\n  ros__parameters:\n    gain: {first}\n')
    context = rclpy.Context()
    rclpy.init(args=['n', '--ros-args', '--params-file', file, '-p', f'gain:={second}'],
               context=context)
    node = Values(context)
    value = node.get_parameter('gain').value
    node.destroy_node()
    context.try_shutdown()
    return value


seen = []
for first, second, guess in (('2.0', '0.5', 0.5), ('2', '0.5', 2), ('30', '60.0', 30),
                             ('true', '0', True), ('1.5', 'off', False), ('7', "'08'", 7),
                             ('x', '[a, b]', 'x')):
    value = gain(first, second)
    print(f'  file: gain: {first}; then -p gain:={second}: the node has {value!r}')
    seen.append(value == guess and type(value) is type(guess))
sys.exit(0 if all(seen) else 1)
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
[ "$status" -ne 0 ] || echo 'The type decides, not what was said last.'
exit "$status"
