#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: rclpy's serialize_message returns the message and nothing else, as it goes over
# the network and into a bag. What happens: under rmw_fastrtps it returns the whole buffer, whose
# size is an estimate. The estimate aligns a list of 8-byte values (float64, int64, uint64) also
# where the list is empty, so that the bytes are 4, 8 or more longer than the message. The rest
# means nothing; rclpy ignores it. rosbags refuses more than three bytes of it as a message of
# another size, so a valid bag, written as the tutorial of rosbag2 shows (writer.write with
# serialize_message), cannot be read with it.
#
# Seen with ros-rclpy 7.1.6 (Jazzy, rmw_fastrtps) and rosbags 0.11.9.
# Source: rmw_fastrtps_shared_cpp/src/rmw_serialize.cpp, __rmw_serialize (buffer_length is the
# estimate, not what was written); rosidl_typesupport_fastrtps_c, get_serialized_size of a
# sequence; rosbags/typesys/store.py, deserialize_cdr (`pos + 4 + 3 < len(rawdata)`).
# Who is hurt: whoever reads such bags without ROS (a joint state without effort is enough), and
# whoever compares or signs messages by their bytes.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import sys

from rclpy.serialization import deserialize_message, serialize_message
from rosbags.serde import SerdeError
from rosbags.typesys import get_typestore, Stores
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

store, seen = get_typestore(Stores.ROS2_JAZZY), []


def outcome(data, kind):
    """Return what rosbags says of a message."""
    try:
        store.deserialize_cdr(data, kind)
    except SerdeError as error:
        return f'refuses it: {error}'
    return 'reads it'


for message, kind, size in (
        (String(data='dock'), 'std_msgs/msg/String', 13),
        (Float64MultiArray(data=[1.0]), 'std_msgs/msg/Float64MultiArray', 28),
        (Float64MultiArray(), 'std_msgs/msg/Float64MultiArray', 16),
        (JointState(name=['arm'], position=[1.0], velocity=[1.0]), 'sensor_msgs/msg/JointState',
         64)):
    data = serialize_message(message)
    assert deserialize_message(data, type(message)) == message
    # what rosbags makes of the same message, byte by byte
    alone = bytes(store.serialize_cdr(store.deserialize_cdr(data[:size], kind), kind))
    assert len(alone) == size
    said = outcome(data, kind)
    print(f'  {kind}: {len(data)} bytes, of which the message is {size}; rclpy reads '
          f'it, rosbags {said}')
    seen.append((len(data) - size, said.startswith('refuses')))
sys.exit(0 if seen == [(0, False), (0, False), (4, True), (4, True)] else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='ros-rclpy[fastrtps]==7.1.6 ros-std-msgs==5.3.6 ros-sensor-msgs==5.3.6 rosbags==0.11.9'
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" "$folder/look.py"; then
    echo 'serialize_message returns more than the message, and rosbags refuses it.'
else
    echo 'It has changed.'
    exit 1
fi
