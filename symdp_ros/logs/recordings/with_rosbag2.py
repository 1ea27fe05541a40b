# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings through rosbag2_py, which belongs to ROS 2: any message type that is installed.

Its C++ code reads in a child process, and only files that were checked here. What it writes is
read again here, as it does not report a full disk.
"""
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
import os
from pathlib import Path
import re
from typing import Any

from symdp_ros.errors import ConfigurationError, LogError, printable
from symdp_ros.files import bounds, child
from symdp_ros.logs.recordings.recorded import (METADATA, RECORD, Recorded, RecordedMessage,
                                                Topic)
from symdp_ros.logs.recordings.storage import FILES, scan as scan_storage, STORAGES
from symdp_ros.logs.recordings.wanted import Values, values_of, Wanted
from symdp_ros.messages.fields import fields_of, FieldType, message_class, name_of_type

_TYPE = re.compile(r'([a-z]\w*)/(?:msg|action)/[A-Za-z]\w*', re.ASCII)
_TOPIC = re.compile(r'[\w/]+', re.ASCII)


def is_installed() -> bool:
    """Return whether recordings can be read and written so."""
    return all(find_spec(package) for package in ('rosbag2_py', 'rclpy', 'ament_index_python'))


def scan(path: Path, storage: str,
         topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
    """Yield every topic of a storage file, and the messages of some."""
    FILES[storage].check(path)
    topics_there, messages = child.call(_scan, str(path), storage, list(topics),
                                        size=path.stat().st_size)
    yield from (Topic(*topic) for topic in topics_there)
    yield from (RecordedMessage(*message) for message in messages)


def decode(message_type: str, definitions: Mapping[str, tuple[str, str]], wanted: Wanted,
           messages: Iterable[bytes]) -> Values | None:
    """Return what is wanted of each message, by the installed type: `Library.decode`."""
    messages = list(messages)
    return child.call(_decode, message_type, tuple(wanted), messages,
                      size=sum(map(len, messages)))


def fields(message_type: str) -> dict[str, FieldType]:
    """Return the fields of an installed type, a bounded string as another type than a string."""
    known = message_class(message_type).get_fields_and_field_types()
    return {name: FieldType(kind) for name, kind in known.items()}


def write(directory: Path, messages: Sequence[tuple[int, bytes]], storage: str, topic: str,
          message_type: str, record: str = '') -> None:
    """Write a recording; raise LogError where it could not be written whole."""
    import rosbag2_py

    # rosbag2 makes the directory itself, and its files are named after it.
    made, written = directory / 'private', False
    try:
        writer = rosbag2_py.SequentialWriter()
        writer.open(rosbag2_py.StorageOptions(uri=str(made), storage_id=storage,
                                              custom_data={RECORD: record} if record else {}),
                    rosbag2_py.ConverterOptions('cdr', 'cdr'))
        writer.create_topic(rosbag2_py.TopicMetadata(
            id=0, name=topic, type=message_type, serialization_format='cdr'))
        for stamp, data in messages:
            writer.write(topic, data, stamp)
        writer.close()
        file = directory / f'private_0{STORAGES[storage]}'
        os.rename(made / file.name, file)
        os.rename(made / METADATA, directory / METADATA)
        os.rmdir(made)
        reread = Recorded.of(scan_storage(file, storage, (topic,)), topic)
        written = reread.messages == list(messages)
    except (RuntimeError, OSError, LogError):  # pybind11 turns C++ errors into RuntimeError
        pass
    if not written:
        raise LogError('it cannot be written: the disk is full, or fails')


def _scan(path: str, storage: str, topics: list[str]) -> tuple[
        list[tuple[str, str, str]], list[tuple[str, int, bytes]]]:
    """Return (name, type, encoding) of topics, (topic, stamp, data) of messages: in a child."""
    import rosbag2_py

    reader = rosbag2_py.SequentialReader()
    reader.open(rosbag2_py.StorageOptions(uri=path, storage_id=storage),
                rosbag2_py.ConverterOptions('', ''))
    topics_there = [(topic.name, topic.type, topic.serialization_format)
                    for topic in reader.get_all_topics_and_types()]
    if all(map(_TOPIC.fullmatch, topics)):  # they become part of an SQL statement
        reader.set_filter(rosbag2_py.StorageFilter(topics=topics))
    messages, size = list[tuple[str, int, bytes]](), 0
    has_some = any(name in topics for name, *_ in topics_there)
    while has_some and reader.has_next():
        name, data, stamp = reader.read_next()[:3]
        if name in topics:  # the filter lets service events pass
            size += len(data)
            bounds.check_size(size)
            messages.append((name, stamp, data))
            bounds.check_count(len(messages))
    return topics_there, messages


def _decode(message_type: str, wanted: Sequence[Any], messages: list[bytes]) -> Values | None:
    from ament_index_python import has_resource
    from rclpy.serialization import deserialize_message

    match, problem = _TYPE.fullmatch(message_type), None
    # The recording names a module that is imported: only one of messages is.
    if not match or not has_resource('rosidl_interfaces', match[1]):
        raise LogError(f'the message type {printable(message_type)} is not installed: source a '
                       'workspace that has it')
    try:
        known = message_class(message_type)
    except ConfigurationError as error:
        problem = str(error)
    if problem:
        raise LogError(problem)
    read = Wanted(*wanted).reader(fields_of(known), name_of_type(known))
    read_messages = []
    for data in messages:
        try:
            message = deserialize_message(data, known)
        except Exception:  # rclpy documents no set of errors
            return None
        read_messages.append(read(message))
    return values_of(read_messages)
