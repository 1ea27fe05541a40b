# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings without ROS: storage files read and written here, messages by the package rosbags.

The storage files are not read through `rosbags`: it matches the topics of metadata.yaml and of
the storage by their quality-of-service profiles too. Where these differ (as in rosbag2's own test
recordings), it yields no message and no error.
"""
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from symdp_ros.files import child
from symdp_ros.logs.recordings import qos
from symdp_ros.logs.recordings.recorded import METADATA, RECORD, RecordedMessage, Topic
from symdp_ros.logs.recordings.storage import FILES, scan, STORAGES  # noqa: F401 (`Library.scan`)
from symdp_ros.logs.recordings.wanted import Values, Wanted
from symdp_ros.messages.fields import FieldType
import yaml

_VERSION = 5  # of metadata.yaml: every rosbag2 since Galactic reads it


def is_installed() -> bool:
    """Return whether recordings can be read and written so."""
    return all(find_spec(package) for package in ('rosbags', 'mcap'))


def decode(message_type: str, definitions: Mapping[str, tuple[str, str]], wanted: Wanted,
           messages: Iterable[bytes]) -> Values | None:
    """
    Return what is wanted of each message: `Library.decode`.

    Code is generated from the definitions in a recording, and a few bytes of them can cause
    endless work. So they are used in a child process.
    """
    from symdp_ros.logs.recordings.serialized import decode_messages, is_standard

    if is_standard(message_type):
        return decode_messages(message_type, {}, wanted, messages)
    messages = list(messages)
    values: Values | None = child.call(
        decode_messages, message_type, dict(definitions), tuple(wanted), messages,
        size=sum(map(len, messages)))
    return values


def fields(message_type: str) -> dict[str, FieldType]:
    """Return the fields of a standard type; of any other, none."""
    from symdp_ros.logs.recordings.serialized import layout

    return layout(message_type).get(message_type, {})


def write(directory: Path, messages: Sequence[tuple[int, bytes]], storage: str, topic: str,
          message_type: str, record: str = '') -> None:
    """Write (stamp, serialized) into the files of a recording."""
    from symdp_ros.logs.recordings.serialized import definition_of

    definition, type_hash = definition_of(message_type)
    described = Topic(topic, message_type, 'cdr', qos.DEFAULT, type_hash, 'ros2msg', definition)
    write_topics(directory, storage, [described], (
        RecordedMessage(topic, *message) for message in messages), record)


def write_topics(directory: Path, storage: str, topics: Sequence[Topic],
                 messages: Iterable[RecordedMessage], record: str = '') -> None:
    """
    Write the files of a recording.

    :param messages: those of all topics; the earliest has the stamp 0.
    :param record: what it says of itself.
    """
    counts, last = dict.fromkeys((topic.name for topic in topics), 0), 0

    def counted() -> Iterator[RecordedMessage]:
        nonlocal last
        for message in messages:
            counts[message.topic] += 1
            last = max(last, message.stamp)
            yield message

    file = directory / f'private_0{STORAGES[storage]}'
    FILES[storage].write(file, topics, counted(), record)
    (directory / METADATA).write_text(_metadata(storage, file.name, topics, counts, last, record),
                                      encoding='utf-8')


def _metadata(storage: str, file: str, topics: Sequence[Topic], counts: Mapping[str, int],
              duration: int, record: str) -> str:
    """Return the text of metadata.yaml."""
    extent = {'starting_time': {'nanoseconds_since_epoch': 0},
              'duration': {'nanoseconds': duration}, 'message_count': sum(counts.values())}
    text: str = yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': _VERSION,
        'storage_identifier': storage,
        'relative_file_paths': [file],
        **extent,
        'topics_with_message_count': [{
            'topic_metadata': {
                'name': topic.name, 'type': topic.type, 'serialization_format': topic.encoding,
                'offered_qos_profiles': topic.qos, 'type_description_hash': topic.type_hash},
            'message_count': counts[topic.name]} for topic in topics],
        'compression_format': '',
        'compression_mode': '',
        'files': [{'path': file, **extent}],
        **({'custom_data': {RECORD: record}} if record else {}),
    }}, sort_keys=False)
    return text
