# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of patrols with many topics, made by an independent writer; and their releases."""
from contextlib import suppress

import numpy as np
from recordings import STORAGES
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionMode, Writer
from rosbags.typesys import get_typestore, Stores
from symdp_ros.logs import Keep, KeptTopics, write_with_topics

STORE = get_typestore(Stores.LATEST)
TYPES = STORE.types
START = 1_700_000_000_123_456_789  # nanoseconds; no part of it may be in a release
SECOND = 10**9
WORD = ['dock', 'gate', 'aisle', 'dock']
VALUES = {state: state for state in WORD}


def header(stamp, frame='base_r7'):
    return TYPES['std_msgs/msg/Header'](
        TYPES['builtin_interfaces/msg/Time'](*divmod(stamp, SECOND)), frame)


def string(text):
    return 'std_msgs/msg/String', TYPES['std_msgs/msg/String'](text)


def battery(stamp, voltage=24.5, frame='base_r7'):
    kind = 'sensor_msgs/msg/BatteryState'
    return kind, TYPES[kind](header(stamp, frame), voltage, *[1.0] * 6, 1, 1, 1, True,
                             np.array([3.5, 3.75], np.float32), np.array([], np.float32), 'left',
                             'serial')


def diagnostics(stamp):
    kind = 'diagnostic_msgs/msg/DiagnosticArray'
    values = [TYPES['diagnostic_msgs/msg/KeyValue']('a', 'büro')]
    status = TYPES['diagnostic_msgs/msg/DiagnosticStatus'](1, 'motor', 'warm', 'id', values)
    return kind, TYPES[kind](header(stamp, 'odd'), [status, status])


def transforms(stamp):
    kind = 'tf2_msgs/msg/TFMessage'
    transform = TYPES['geometry_msgs/msg/Transform'](
        TYPES['geometry_msgs/msg/Vector3'](1.0, 2.0, 3.0),
        TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0))
    return kind, TYPES[kind]([
        TYPES['geometry_msgs/msg/TransformStamped'](header(stamp + i, frame), 'base', transform)
        for i, frame in enumerate(['map', 'odometry'])])


def write_bag(path, storage, messages, *, store=STORE, empty=(), custom=None, qos=(),
              compression=CompressionMode.NONE, version=9):
    """
    Record (topic, stamp, (type, message)); a message may be bytes.

    :param empty: (topic, type) without messages.
    """
    writer = Writer(path, version=version, storage_plugin=STORAGES[storage])
    if compression != CompressionMode.NONE:
        from rosbags.rosbag2 import CompressionFormat
        writer.set_compression(compression, CompressionFormat.ZSTD)
    connections = {}
    with writer:
        for key, value in (custom or {}).items():
            writer.set_custom_data(key, value)

        def connection(topic, kind):
            if (topic, kind) not in connections:
                connections[topic, kind] = writer.add_connection(
                    topic, kind, typestore=store, offered_qos_profiles=qos)
            return connections[topic, kind]

        for topic, kind in empty:
            connection(topic, kind)
        for topic, stamp, (kind, message) in messages:
            data = message if isinstance(message, bytes) else bytes(
                store.serialize_cdr(message, kind))
            writer.write(connection(topic, kind), stamp, data)
    return path


def patrol(word=WORD, start=START, secret='in the vault'):
    """Return the messages of a patrol; those of `/secret` and `/tf` are not for others."""
    messages = []
    for i, symbol in enumerate(word):
        now = start + i * SECOND
        messages += [
            ('/secret', now - 10**6, string(f'{secret} {i}')), ('/tf', now - 10, transforms(now)),
            ('/region', now, string(symbol)),
            ('/battery_state', now + 10**6, battery(now + 10**6)),
            ('/name', now + 2 * 10**6, string('the robot')),
            ('/diagnostics', now + 3 * 10**8, diagnostics(now + 3 * 10**8))]
    return messages


def hand_on(source, target, *topics, storage='mcap', anyway=(), coarse=0.0, strict=True,
            word=WORD, field='data', values=None, region='region', period=1.0):
    """Write a release of a recording with kept topics; return what became of each topic."""
    with KeptTopics(source, Keep.of(topics, anyway, coarse), region, strict=strict) as kept:
        return write_with_topics(target, word, kept, format=storage, period=period, field=field,
                                 values=values or dict(VALUES))


def read_bag(path, store=STORE):
    """Return topic → (stamp, serialized), as `rosbags` reads them; and topic → type."""
    with AnyReader([path]) as reader:
        found = {connection.topic: [] for connection in reader.connections}
        types = {connection.topic: connection.msgtype for connection in reader.connections}
        with suppress(StopIteration):
            for connection, stamp, data in reader.messages():
                found[connection.topic].append((stamp, bytes(data)))
    return found, types
