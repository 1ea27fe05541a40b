"""rosbag2 storage files of the kind mcap."""
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from symdp_ros.core.errors import LogError
from symdp_ros.logs.recorded import Recorded

_MAGIC = b'\x89MCAP0\r\n'


def _library():
    """Return the Python package mcap, which rosdep knows no key for."""
    try:
        import mcap.records
        import mcap.stream_reader
        import mcap.writer
    except ImportError:
        mcap = None
    if mcap is None:
        raise LogError('MCAP files need the Python package mcap: install it with pip')
    return mcap


def is_whole(path: Path) -> bool:
    """Return whether the file ends as an MCAP file does; its writer puts that there at last."""
    with open(path, 'rb') as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - len(_MAGIC)))
        return size > 2 * len(_MAGIC) and file.read() == _MAGIC


def read(path: Path, topic: str) -> Recorded:
    """
    Return what the file holds of a topic.

    The file is read from end to end, its checksums and counts with it, not through its index,
    which may be absent or name less than there is.

    :raises LogError: a file that is truncated or damaged, or holds fewer messages than its own
        statistics say.
    """
    with open(path, 'rb') as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise LogError(f'{path.name} is empty, cut off or no MCAP file')
        if not is_whole(path):
            raise LogError(f'{path.name} is cut off or still being written: wait for its writer, '
                           'or repair it with `mcap recover`')
        file.seek(0)
        return _read(path, file, topic)


def _read(path, file, topic):
    mcap = _library()
    records = mcap.records
    recorded, schemas, channels, counts, statistics = Recorded(), {}, {}, Counter(), None
    for record in mcap.stream_reader.StreamReader(file, validate_crcs=True,
                                                  record_size_limit=path.stat().st_size).records:
        if isinstance(record, records.Message):
            counts[record.channel_id] += 1
            if channels[record.channel_id].topic == topic:
                recorded.messages.append((record.log_time, record.data))
        elif isinstance(record, records.Schema):
            schemas[record.id] = record
        elif isinstance(record, records.Channel):
            channels[record.id] = record
        elif isinstance(record, records.Statistics):
            statistics = record
        elif isinstance(record, records.Header) and record.profile not in ('ros2', ''):
            raise LogError(f'{path.name} is an MCAP file, but no ROS 2 recording')
    if statistics and statistics.message_count != counts.total():
        raise LogError(f'{path.name} holds {counts.total()} messages where its statistics '
                       f'announce {statistics.message_count}: it is damaged')
    for channel in channels.values():
        schema = schemas.get(channel.schema_id)
        if channel.topic == topic:
            recorded.types.add(schema.name if schema else '')
            recorded.encodings.add(channel.message_encoding)
            if schema:
                recorded.definitions[schema.name] = (schema.encoding, schema.data.decode())
    return recorded


def write(path: Path, topic: Mapping[str, str], definition: str,
          messages: Iterable[tuple[int, bytes]]) -> None:
    """
    Write a new file with one topic; parameters as in `sqlite3_file.write`.

    Not compressed: the bytes then do not depend on a compressor's version.
    """
    writing = _library().writer
    with open(path, 'xb') as file:
        writer = writing.Writer(file, compression=writing.CompressionType.NONE)
        writer.start(profile='ros2', library='symdp_ros')
        schema = writer.register_schema(topic['type'], 'ros2msg', definition.encode())
        channel = writer.register_channel(
            topic['name'], topic['serialization_format'], schema,
            {'offered_qos_profiles': topic['offered_qos_profiles'],
             'topic_type_hash': topic['type_description_hash']})
        for stamp, data in messages:
            writer.add_message(channel, stamp, data, stamp)
        writer.finish()
