#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: -p on the command line replaces what files have said, and of two files the later
# one counts. What happens: values are kept by name of a node (/**, /*, n, /robot/n), and applied
# in the order in which each name was first seen. -p NAME:=VALUE means the name /**. So where a
# file has /** first and then the node's own name, -p has no effect on what stands under the own
# name, and no message says so; where the file has the own name alone, it has. A later file with
# /** changes nothing either, if an earlier one already had /**.
#
# Seen with ros-rclpy 7.1.6 (Jazzy, rcl 9.2.8) and 9.1.2 (Kilted, rcl 10.1.3).
# Source: rcl_yaml_param_parser/src/parse.c, find_node (a name that is known keeps its place);
# rclpy/src/rclpy/node.cpp, _populate_node_parameters_from_rcl_params (applied in that order).
# Who is hurt: whoever starts a node with a file of defaults (/**) and a file of the robot (its own
# name), and then overrides a value by hand or from a launch file, which also writes /**.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-185}

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


def gain(*said):
    """Return the value of `gain` after files, each {name of a node: what it says}, and rules."""
    words = []
    for number, one in enumerate(said):
        if isinstance(one, str):
            words += ['-p', one]
            continue
        file = os.path.join(os.environ['HOME'], f'{number}.yaml')
        with open(file, 'w') as target:
            for name, text in one.items():
                target.write(f'{name}:\n  ros__parameters:\n    {text}\n')
        words += ['--params-file', file]
    context = rclpy.Context()
    rclpy.init(args=['n', '--ros-args', *words], context=context)
    node = Values(context)
    value = node.get_parameter('gain').value
    node.destroy_node()
    context.try_shutdown()
    return value


seen = []
for said, guess in (
        (({'n': 'gain: 2.0'}, 'gain:=0.5'), 0.5),
        (({'/**': 'other: 1', 'n': 'gain: 2.0'}, 'gain:=0.5'), 2.0),
        (({'/**': 'other: 1'}, {'/n': 'gain: 2.0'}, 'gain:=0.5'), 2.0),
        (({'/**': 'gain: 1.0'}, {'n': 'gain: 2.0'}, {'/**': 'gain: 0.5'}), 2.0),
        (('other:=1', {'n': 'gain: 2.0'}, 'gain:=0.5'), 2.0),
        (({'n': 'gain: 2.0'}, {'/**': 'gain: 1.0'}, 'n:gain:=0.5'), 1.0)):
    value = gain(*said)
    words = '; '.join(f'-p {one}' if isinstance(one, str) else 'file: ' + ', '.join(
        f'{name}: {{{text}}}' for name, text in one.items()) for one in said)
    print(f'  {words}: the node has {value!r}')
    seen.append(value == guess)
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
[ "$status" -ne 0 ] || echo 'What counts is where the name of a node was first seen.'
exit "$status"
