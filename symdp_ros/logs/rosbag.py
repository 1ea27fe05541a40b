"""
rosbag2 recordings, read and written without ROS: directories with metadata.yaml, and bare files.

The storage files are read here, not through `rosbags`: it matches the topics of metadata.yaml
and of the storage by their quality-of-service profiles too, and where these were written down
differently (as in rosbag2's own test recordings) it yields no message and no error. Topics are
matched by name, and the messages found are counted against metadata.yaml.
"""
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path, PurePosixPath

import yaml

from symdp_ros.logs import mcap_file, sqlite3_file
from symdp_ros.core.errors import LogError
from symdp_ros.logs.messages import decoder, encoder, full_name
from symdp_ros.logs.recorded import Recorded

METADATA = 'metadata.yaml'
STORAGES = {'sqlite3': ('.db3', sqlite3_file), 'mcap': ('.mcap', mcap_file)}
_BY_SUFFIX = {suffix: module for suffix, module in STORAGES.values()}
_VERSION = 5  # of metadata.yaml: every rosbag2 since Galactic reads it
_NO_LIMIT = {'sec': 0, 'nsec': 0}
_QOS = [{'history': 1, 'depth': 10, 'reliability': 1, 'durability': 2, 'deadline': _NO_LIMIT,
         'lifespan': _NO_LIMIT, 'liveliness': 1, 'liveliness_lease_duration': _NO_LIMIT,
         'avoid_ros_namespace_conventions': False}]


def read(path: Path, topic: str, message_type: str | None,
         field: str) -> list[tuple[int, str | None]]:
    """
    Return (stamp, value) of every message of a topic, in the order of their stamps.

    The stamp is when it was recorded. The order on disk means nothing: recorders write from
    several threads, and every player sorts. Messages of one stamp keep the order on disk.
    """
    topic = '/' + topic.removeprefix('/')
    if path.is_dir():
        recorded = _read_directory(path, topic)
    else:
        recorded = _BY_SUFFIX[path.suffix].read(path, topic)
    found = _checked_type(recorded, topic, message_type)
    if not recorded.messages:
        raise LogError(f'the topic {topic} has no messages')
    if not all(type(stamp) is int for stamp, _ in recorded.messages):
        raise LogError(f'the topic {topic} holds a stamp that is no integer: it is damaged')
    decode, values = decoder(found, recorded.definitions, field), []
    for stamp, data in sorted(recorded.messages, key=itemgetter(0)):
        try:
            values.append((stamp, decode(data)))
        except Exception:  # rosbags documents no set of errors
            break
    if len(values) < len(recorded.messages):
        raise LogError(f'the topic {topic} holds a message that is no {found}: it is damaged, or '
                       'its type was defined otherwise where it was recorded')
    return values


def write(directory: Path, word: Sequence[str], period: int, storage: str, topic: str,
          message_type: str) -> list[Path]:
    """
    Write a word into an empty directory, and return its files; parameters as in `write_log`.

    The files have fixed names, so that they tell nothing of where the word came from.
    """
    encode, definition, type_hash = encoder(message_type)
    serialized = _serialized(word, encode, message_type)
    suffix, module = STORAGES[storage]
    qos = yaml.safe_dump(_QOS, sort_keys=False)
    topic = {'name': '/' + topic.removeprefix('/'), 'type': message_type,
             'serialization_format': 'cdr', 'offered_qos_profiles': qos.rstrip(),
             'type_description_hash': type_hash}
    data, metadata = directory / f'private_0{suffix}', directory / METADATA
    module.write(data, topic, definition,
                 ((i * period, serialized[symbol]) for i, symbol in enumerate(word)))
    metadata.write_text(_metadata(storage, data.name, topic, len(word), (len(word) - 1) * period),
                        encoding='utf-8')
    return [data, metadata]


def _read_directory(path, topic):
    try:
        info = yaml.safe_load((path / METADATA).read_text('utf-8'))['rosbag2_bagfile_information']
        files = [path / PurePosixPath(name).name for name in info['relative_file_paths']]
        entries = [entry for entry in info['topics_with_message_count']
                   if entry['topic_metadata']['name'] == topic]
        types = {entry['topic_metadata']['type'] for entry in entries}
        encodings = {entry['topic_metadata']['serialization_format'] for entry in entries}
        announced = sum(entry['message_count'] for entry in entries)
        storage, mode = info['storage_identifier'], info.get('compression_mode') or ''
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        storage = None
    if storage is None:
        raise LogError(f'{METADATA} is cut off or not that of a recording: `ros2 bag reindex` can '
                       'write it anew')
    if storage not in STORAGES:
        raise LogError('it is stored in a way that is neither sqlite3 nor mcap: convert it with '
                       '`ros2 bag convert`')
    if mode.lower() not in ('', 'none', 'message'):
        raise LogError('its files are compressed as a whole: convert it with `ros2 bag convert`, '
                       'or decompress them with `zstd -d` and read the files')
    recorded = Recorded(types=types, encodings=encodings)
    for file in files:
        if not file.is_file():
            raise LogError(f'{METADATA} names a file that is not there: copy the whole recording')
        recorded.add(STORAGES[storage][1].read(file, topic))
    if len(recorded.messages) != announced:
        raise LogError(f'the topic {topic} has {len(recorded.messages)} messages where {METADATA} '
                       f'announces {announced}: copy the recording from the robot again; or, to '
                       'take what is there, `ros2 bag reindex`')
    if mode.lower() == 'message':
        recorded.messages = [(stamp, _decompressed(data)) for stamp, data in recorded.messages]
    return recorded


def _checked_type(recorded, topic, message_type):
    """Return the message type of the topic."""
    if not recorded.types:
        raise LogError(f'it has no topic {topic}: `ros2 bag info` lists those it has')
    if recorded.encodings != {'cdr'}:
        raise LogError(f'the topic {topic} is not serialized as cdr, but in a foreign format: '
                       'convert it with `ros2 bag convert`')
    if len(recorded.types) > 1:
        raise LogError(f'the topic {topic} was recorded with several message types: record it '
                       'again with one')
    found, = recorded.types
    if message_type is not None and full_name(message_type) != found:
        raise LogError(f'the topic {topic} holds {found}, not {full_name(message_type)}: correct '
                       'message_type')
    return found


def _decompressed(data):
    import zstandard  # mcap depends on it

    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


def _serialized(word, encode, message_type):
    serialized = {}
    for symbol in set(word):
        try:
            serialized[symbol] = encode(symbol)
        except Exception:  # struct.error, ValueError, or what else rosbags may raise
            break
    if len(serialized) < len(set(word)):
        raise LogError(f'a symbol of the word does not fit into a {message_type}: map the symbols '
                       'to integers of its range, or choose std_msgs/msg/String')
    return serialized


def _metadata(storage, file, topic, count, duration):
    """Return the text of metadata.yaml."""
    extent = {'starting_time': {'nanoseconds_since_epoch': 0},
              'duration': {'nanoseconds': duration}, 'message_count': count}
    return yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': _VERSION,
        'storage_identifier': storage,
        'relative_file_paths': [file],
        **extent,
        'topics_with_message_count': [{'topic_metadata': topic, 'message_count': count}],
        'compression_format': '',
        'compression_mode': '',
        'files': [{'path': file, **extent}],
    }}, sort_keys=False)
