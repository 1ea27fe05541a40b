# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
rosbag2 recordings: directories with metadata.yaml, and bare storage files.

Two libraries read and write them: `rosbag2_py` where it is installed, as ROS 2 does, else the
Python packages `rosbags` and `mcap`. Everything that does not depend on the library is here: which
files belong to a recording, checks of what was found, names and stamps of what is written. Topics
are matched by name, and the number of messages must be that of metadata.yaml.
"""
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path, PurePosixPath
from struct import error
from typing import Protocol

from symdp_ros.errors import ConfigurationError, LogError, printable
from symdp_ros.files.bounds import MOST_METADATA
from symdp_ros.files.regular_file import (file_stamp, is_other_file, kind_of, MOST_OF_KIND,
                                          NO_REGULAR_FILE, RegularFile)
from symdp_ros.logs.recordings import cdr, sqlite3_file, with_rosbag2, with_rosbags
from symdp_ros.logs.recordings.recorded import (full_topic, METADATA, Recorded, RecordedMessage,
                                                Topic)
from symdp_ros.logs.recordings.storage import scan as scan_storage, STORAGES
from symdp_ros.logs.recordings.unpack import Allowance
from symdp_ros.logs.recordings.wanted import Value, Values, Wanted
from symdp_ros.messages.fields import FieldType, full_type, INTEGERS
from symdp_ros.words import stamps
import yaml

_STORAGE_OF = {suffix: storage for storage, suffix in STORAGES.items()}
_SHOWN = 10  # topics
#: Encodings of messages that other programs write into MCAP files.
_FOREIGN = {'json': 'JSON', 'protobuf': 'Protobuf', 'flatbuffer': 'FlatBuffers', 'cbor': 'CBOR',
            'msgpack': 'MessagePack', 'ros1': 'the encoding of ROS 1'}
_FileScan = Callable[[Path, str, Collection[str]], Iterator[Topic | RecordedMessage]]


class Library(Protocol):
    """One way to read and write recordings; a module has these functions."""

    def is_installed(self) -> bool:
        """Return whether it can be used here."""

    def scan(self, path: Path, storage: str,
             topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
        """
        Yield every topic of a storage file, a regular one, and the messages of some.

        :raises LogError: it is cut off, damaged, being written, too large, or no such file.
        """

    def decode(self, message_type: str, definitions: Mapping[str, tuple[str, str]],
               wanted: Wanted, messages: Iterable[bytes]) -> Values | None:
        """
        Return what is wanted of each serialized message; None where one is no such message.

        :raises LogError: an unknown type; what is wanted is not in it.
        """

    def fields(self, message_type: str) -> Mapping[str, FieldType]:
        """
        Return the fields of a type in which a word can be written.

        :raises ConfigurationError: it is not known.
        """

    def write(self, directory: Path, messages: Sequence[tuple[int, bytes]], storage: str,
              topic: str, message_type: str, record: str) -> None:
        """
        Write (stamp, serialized) into `private_0.db3` or `.mcap`, and metadata.yaml.

        :param record: what the recording says of itself; '': nothing.
        """


#: The first of these that is installed is used.
LIBRARIES: tuple[Library, ...] = (with_rosbag2, with_rosbags)


def library() -> Library:
    """
    Return the library that reads and writes recordings here.

    :raises LogError: none is installed.
    """
    for candidate in LIBRARIES:
        if candidate.is_installed():
            return candidate
    raise LogError('recordings need rosbag2_py, which belongs to ROS 2, or the Python packages '
                   'rosbags and mcap: source a ROS 2 that has it, or pip install '
                   "'symdp_ros[bags]'")


def read(path: Path, topic: str, message_type: str | None,
         wanted: Wanted) -> list[tuple[int, Value]]:
    """
    Return (stamp, value) of every message of a topic that is input, in the order of their stamps.

    The stamp is when it was recorded. The order on disk means nothing: recorders write from
    several threads. Messages of one stamp keep the order on disk.

    :raises LogError, ConfigurationError: as `read_log`.
    """
    message_type = message_type and full_type(message_type)
    using, topic = library(), full_topic(topic)
    recorded = Recorded.of(scan(path, (topic,), using.scan), topic)
    kind = _checked_type(recorded, topic, message_type)
    if not recorded.messages:
        raise LogError(f'the topic {topic} has no messages')
    if not all(type(stamp) is int and type(data) is bytes for stamp, data in recorded.messages):
        raise LogError(f'the topic {topic} is damaged: it holds a stamp that is no integer, or a '
                       'message that is not bytes')
    if any(abs(stamp) > stamps.LARGEST for stamp, _ in recorded.messages):
        raise LogError(f'the topic {topic}: {stamps.OUT_OF_RANGE}')
    if problem := next(filter(None, (
            cdr.encapsulation_problem(data) for _, data in recorded.messages)), ''):
        raise LogError(f'the topic {topic} {problem}')
    messages = sorted(recorded.messages, key=itemgetter(0))
    values = using.decode(kind, recorded.definitions, wanted, (data for _, data in messages))
    if values is None:
        raise LogError(f'the topic {topic} holds a message that is no {printable(kind)}: it is '
                       'damaged, or the recorder had another definition of the type')
    if not values:
        raise LogError(f'no message of the topic {topic} is input: none has the elements and '
                       'values that field and where ask for')
    return [(messages[number][0], value) for number, value in values]


def write(directory: Path, word: Sequence[str], period: int, storage: str, topic: str,
          message_type: str, record: str) -> None:
    """
    Write a word into an empty directory; parameters as in `write_log`.

    The files have fixed names, which say nothing about where the word came from.
    """
    using = library()
    serialized = _serialized(word, using.fields(message_type), message_type)
    using.write(directory, [(i * period, serialized[symbol]) for i, symbol in enumerate(word)],
                storage, full_topic(topic), message_type, record)


class _Metadata:
    """
    What metadata.yaml holds.

    All scalars are read as strings: numbers, dates and merged keys of YAML can cause endless work.

    :ivar announced: topic → how many messages it has.
    :raises LogError: it is cut off, or not that of a recording.
    """

    def __init__(self, path: Path):
        with RegularFile(path) as file:
            if file.size > MOST_METADATA:
                raise LogError(f'{METADATA} is larger than {MOST_METADATA >> 20} MiB: it is not '
                               'that of a recording')
            text = file.read()
        if kind := kind_of(text):
            raise LogError(f'{METADATA} {kind}')
        try:
            info = yaml.load(text.decode(), Loader=yaml.BaseLoader)['rosbag2_bagfile_information']
            self.names = [PurePosixPath(name).name for name in info['relative_file_paths']]
            self.announced, self.topics = Counter[str](), list[Topic]()
            for entry in info['topics_with_message_count']:
                topic = entry['topic_metadata']
                self.topics.append(Topic(topic['name'], topic['type'],
                                         topic['serialization_format']))
                self.announced[full_topic(topic['name'])] += _count(entry['message_count'])
            self.storage = info['storage_identifier'] or self._storage_of_files()
            self.mode = (info.get('compression_mode') or '').lower()
            # A file that is named a thousand times would be read a thousand times.
            problem = (not all(isinstance(text, str) for topic in self.topics for text in topic)
                       or not self.names or len(set(self.names)) < len(self.names)
                       or not isinstance(self.storage, str))
        except Exception:  # anything may stand in a damaged file
            problem = True
        if problem:
            raise LogError(f'{METADATA} is cut off or not that of a recording: `ros2 bag reindex` '
                           'can write a new one')

    def _storage_of_files(self) -> str:
        """Return the storage by the names of the files: Humble's `ros2 bag reindex` names none."""
        storages = {_STORAGE_OF.get(PurePosixPath(name).suffix, '') for name in self.names}
        return storages.pop() if len(storages) == 1 else ''


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 19:
        raise ValueError('no number of messages')
    return int(text)


def scan(path: Path, topics: Collection[str],
         scan_file: _FileScan = scan_storage) -> Iterator[Topic | RecordedMessage]:
    """
    Yield every topic of a recording, and the messages of some; they are not held in memory.

    A topic may be yielded several times. Names of topics have a slash first, and those of types
    three parts, however they were recorded.

    :param topics: with their slash.
    :param scan_file: that of a library; default: without rosbag2_py.
    :raises LogError: as `read_log`, and if the recording changes meanwhile.
    """
    spelled: dict[str, str] = {}
    if not path.is_dir():
        yield from _named(_scan_unchanged(path, _STORAGE_OF[path.suffix], topics, scan_file),
                          topics, spelled)
        return
    metadata, files = _files(path)
    yield from _named(metadata.topics, (), {})
    allowance = Allowance(sum(file.stat().st_size for file in files))
    counts = Counter[str]()
    for file in files:
        for item in _named(_scan_unchanged(file, metadata.storage, topics, scan_file),
                           topics, spelled):
            if isinstance(item, RecordedMessage):
                counts[item.topic] += 1
                if metadata.mode == 'message':
                    data = allowance.unpack('zstd', item.data)
                    if data is None:
                        raise LogError('it holds a compressed message that is damaged: copy the '
                                       'recording from the robot again')
                    item = item._replace(data=data)
            yield item
    for topic in topics:
        if counts[topic] != metadata.announced[topic]:
            raise LogError(f'the topic {topic} has {counts[topic]} messages where {METADATA} '
                           f'announces {metadata.announced[topic]}: copy the recording from the '
                           'robot again; or, to take what is there, `ros2 bag reindex`')


def _named(items: Iterable[Topic | RecordedMessage], topics: Collection[str],
           spelled: dict[str, str]) -> Iterator[Topic | RecordedMessage]:
    """
    Yield the same with names as ROS has them: /region and std_msgs/msg/String.

    Programs that use rosbag2's writer may name a topic `region`; and other writers of MCAP, a type
    `std_msgs/String`.

    :param spelled: topic → how it is spelled, which is added to.
    :raises LogError: one of the topics is there in both spellings: they may be different ones.
    """
    for item in items:
        if isinstance(item, RecordedMessage):
            yield item if item.topic[:1] == '/' else item._replace(topic=f'/{item.topic}')
            continue
        name = item.name if item.name[:1] == '/' else f'/{item.name}'
        if name in topics and spelled.setdefault(name, item.name) != item.name:
            raise LogError(f'it has both a topic {name} and a topic {name[1:]}, which are one in '
                           'ROS: copy one of them into a recording of its own, with the list '
                           '`topics` of `ros2 bag convert`')
        package, *rest = item.type.split('/')
        yield item._replace(name=name,
                            type=f'{package}/msg/{rest[0]}' if len(rest) == 1 else item.type)


def _scan_unchanged(path: Path, storage: str, topics: Collection[str],
                    scan_file: _FileScan) -> Iterator[Topic | RecordedMessage]:
    before = file_stamp(path)
    yield from scan_file(path, storage, [*topics, *(name[1:] for name in topics)])
    if file_stamp(path) != before or sqlite3_file.is_open(path):
        raise LogError(f'{path.name} was changed while it was being read: stop its recorder first')


def _files(path: Path) -> tuple[_Metadata, list[Path]]:
    """Return the metadata and the files of a recording that is a directory."""
    metadata = _Metadata(path / METADATA)
    if metadata.storage not in STORAGES:
        raise LogError(f'its storage, {printable(metadata.storage) or "which is not named"}, is '
                       'neither sqlite3 nor mcap: convert it with `ros2 bag convert`')
    if metadata.mode not in ('', 'none', 'message'):
        raise LogError('its files are compressed as a whole: convert it with `ros2 bag convert`, '
                       'or decompress them with `zstd -d FILE.zstd -o FILE` and '
                       'read the files')
    files = [path / name for name in metadata.names]
    for file in files:
        if is_other_file(file):
            raise LogError(f'{METADATA} names a file that cannot be read: {NO_REGULAR_FILE}')
        if not file.is_file():
            raise LogError(_missing_file(file, metadata.names))
    return metadata, files


def _missing_file(file: Path, names: Collection[str]) -> str:
    """Return what to do about a file of a recording that is missing: it may be there renamed."""
    problem = f'{METADATA} names the file {printable(file.name)}, which is missing'
    for other in sorted(file.parent.iterdir()):
        if other.name in names or not any(suffix in other.suffixes for suffix in _STORAGE_OF):
            continue
        kind = ''
        with suppress(OSError, LogError), RegularFile(other) as opened:
            kind = kind_of(opened.read(MOST_OF_KIND))
        shown = printable(other.name)
        if kind and not other.name.endswith(tuple(_STORAGE_OF)):
            return f'{problem}; {shown} is there, which {kind}'
        return (f'{problem}; {shown} is there, which it does not name: give it that name again, '
                f'write a new {METADATA} with `ros2 bag reindex`, or release {shown} by itself')
    return f'{problem}: copy the whole recording'


def _checked_type(recorded: Recorded, topic: str, message_type: str | None) -> str:
    """Return the message type of the topic."""
    if not recorded.types:
        raise LogError(f'it has no topic {topic}{other_topics(topic, recorded.topics)}')
    for encoding in recorded.encodings:
        if problem := encoding_problem(encoding):
            raise LogError(f'the topic {topic} {problem}')
    if len(recorded.types) > 1:
        raise LogError(f'the topic {topic} was recorded with several message types: record it '
                       'again with one')
    kind, = recorded.types
    if message_type not in (None, kind):
        raise LogError(f'the topic {topic} holds {printable(kind)}, not {message_type}: correct '
                       'message_type')
    return kind


def other_topics(topic: str, topics: Collection[str]) -> str:
    """Return the end of a sentence about a topic that a recording does not have."""
    if not topics:
        return ': it has none'
    close = get_close_matches(topic, filter(str.isprintable, topics), 1)
    shown = [printable(name, 100) for name in sorted(topics)[:_SHOWN]]
    more = [f'{len(topics) - _SHOWN} more'] if len(topics) > _SHOWN else []
    hint = ('. rosbag2 records topics of actions, which are hidden, only with '
            '--include-hidden-topics' if '/_action/' in topic else '')
    return (f'; did you mean {close[0]}? It' if close else ': it') + (
        f' has {", ".join([*shown, *more])}{hint}')


def encoding_problem(encoding: str) -> str:
    """Return why messages of an encoding cannot be read, and what to do; '': they can be."""
    if encoding == 'cdr':
        return ''
    if encoding in _FOREIGN:
        return (f'is not serialized as cdr: it holds {_FOREIGN[encoding]}, which `ros2 bag '
                'convert` cannot read either. Write the stamps and regions in it to a .csv or '
                '.jsonl log, and release that (docs/logs.md shows how)')
    return (f'is not serialized as cdr, but as {printable(encoding) or "nothing that is named"}: '
            'convert it with `ros2 bag convert` where its converter is installed')


def _serialized(word: Sequence[str], fields: Mapping[str, FieldType],
                message_type: str) -> dict[str, bytes]:
    """Return the message for each symbol of a word."""
    kind = fields['data'] if list(fields) == ['data'] else FieldType('')
    encode = cdr.encoder(kind) if str(kind) in {'string', *INTEGERS} else None
    if encode is None:
        raise ConfigurationError(f'{message_type} cannot hold a symbol: take a standard type with '
                                 'one field, data, that is a string or an integer, such as '
                                 'std_msgs/msg/String', setting='message_type')
    serialized: dict[str, bytes] = {}
    with suppress(ValueError, error):
        for symbol in set(word):
            serialized[symbol] = encode(symbol)
    if len(serialized) < len(set(word)):
        raise LogError(f'a symbol of the word does not fit into a {message_type}: map the symbols '
                       'to integers of its range, or choose std_msgs/msg/String')
    return serialized
