# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings made by an independent writer."""
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

STORAGES = {'sqlite3': StoragePlugin.SQLITE3, 'mcap': StoragePlugin.MCAP}
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


def stamped(store, *poses):
    """Return (stamp, message) with the pose (x, y, frame) of each."""
    types = store.types
    return [(stamp, (
        types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](0, 0), frame),
        types['geometry_msgs/msg/Pose'](types['geometry_msgs/msg/Point'](x, y, 0.0),
                                        types['geometry_msgs/msg/Quaternion'](0, 0, 0, 1))))
            for stamp, (x, y, frame) in enumerate(poses)]
