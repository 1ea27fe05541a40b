# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings made by an independent writer, of words, poses and fleets."""
import traceback

import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from symdp_ros.logs import LogError, read_log

STORAGES = {'sqlite3': StoragePlugin.SQLITE3, 'mcap': StoragePlugin.MCAP}
TYPES = {
    'rmf_fleet_msgs/msg/FleetState': 'string name\nrmf_fleet_msgs/RobotState[] robots',
    'rmf_fleet_msgs/msg/RobotState': 'string name\nstring model\nrmf_fleet_msgs/RobotMode mode\n'
                                     'rmf_fleet_msgs/Location location',
    'rmf_fleet_msgs/msg/RobotMode': 'uint32 mode\nuint64 mode_request_id',
    'rmf_fleet_msgs/msg/Location': 'builtin_interfaces/Time t\nfloat32 x\nfloat32 y\n'
                                   'float32 yaw\nstring level_name\nuint64 index',
    'fleet_msgs/msg/Route_FeedbackMessage': 'unique_identifier_msgs/UUID goal_id\n'
                                            'fleet_msgs/Route_Feedback feedback',
    'fleet_msgs/msg/Route_Feedback': 'uint16 last_node_id\nuint16 next_node_id',
}
SECRET = 'zx_secret_7'
both = pytest.mark.parametrize('storage', ['sqlite3', 'mcap'])


def record(path, storage, messages, message_type='std_msgs/msg/String', *, topic='/region',
           store=None, compression=CompressionMode.NONE):
    """Record (stamp, message) with `rosbags`; a message is what its constructor takes."""
    store = store or get_typestore(Stores.LATEST)
    writer = Writer(path, version=8, storage_plugin=STORAGES[storage])
    writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        other = writer.add_connection('/other', 'std_msgs/msg/Bool', typestore=store)
        region = writer.add_connection(topic, message_type, typestore=store)
        for stamp, fields in messages:
            message = store.types[message_type](*fields)
            writer.write(region, stamp, store.serialize_cdr(message, message_type))
            writer.write(other, stamp, b'\0\1\0\0\1')
    return path


def failure(path, **settings):
    """Return the reason; nothing that is shown of the error names the secret."""
    with pytest.raises(LogError) as caught:
        read_log(path, **settings)
    error = caught.value
    assert error.__cause__ is None and error.__context__ is None
    assert SECRET not in ''.join(traceback.format_exception(error))
    line = '' if error.line is None else f', line {error.line}'
    assert str(error) == f'{path}{line}: {error.reason}'
    return error.reason


def stamped(store, *poses):
    """Return (stamp, message) with the pose (x, y, frame) of each."""
    types = store.types
    return [(stamp, (
        types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](0, 0), frame),
        types['geometry_msgs/msg/Pose'](types['geometry_msgs/msg/Point'](x, y, 0.0),
                                        types['geometry_msgs/msg/Quaternion'](0, 0, 0, 1))))
            for stamp, (x, y, frame) in enumerate(poses)]


def own_types(definitions=TYPES):
    store, types = get_typestore(Stores.LATEST), {}
    for name, definition in definitions.items():
        types |= get_types_from_msg(definition, name)
    store.register(types)
    return store


def fleets(store, *states):
    """Return (stamp, message) with the robots (name, mode, x, y, level) of each."""
    types = store.types
    time = types['builtin_interfaces/msg/Time'](0, 0)
    return [(stamp, ('fleet', [
        types['rmf_fleet_msgs/msg/RobotState'](
            name, 'model', types['rmf_fleet_msgs/msg/RobotMode'](mode, 0),
            types['rmf_fleet_msgs/msg/Location'](time, x, y, 0.0, level, 0))
        for name, mode, x, y, level in robots])) for stamp, robots in enumerate(states)]


class Corridor:
    """A locator: west of x = 0, or east of it; west until far enough, and on no other floor."""

    def __init__(self):
        self.last = None

    def locate(self, x, y, level=None):
        if level not in (None, 'L1') or abs(y) > 9:
            return None
        self.last = 'west' if x < 0 or self.last == 'west' and x < 1 else 'east'
        return self.last
