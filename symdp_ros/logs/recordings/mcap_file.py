# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
rosbag2 storage files of the kind mcap: read here, written by the Python package mcap.

They are read from end to end, with their checksums and counts: their index may be absent, or
incomplete. The package mcap is not used for that: rosdep has no key for it, so a ROS 2 with
rosbag2_py may lack it; its reader takes five times as long, and holds all records of a chunk in
memory, and attachments. The format: https://mcap.dev/spec.
"""
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct
import zlib

from symdp_ros.errors import LogError, printable
from symdp_ros.files import bounds
from symdp_ros.files.regular_file import kind_of, MOST_OF_KIND, RegularFile
from symdp_ros.logs.recordings.recorded import RECORD, RecordedMessage, Topic
from symdp_ros.logs.recordings.unpack import Allowance

_MAGIC = b'\x89MCAP0\r\n'
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = range(1, 7)
_STATISTICS, _DATA_END = 11, 15
_WANTED = {_HEADER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _STATISTICS, _DATA_END}
_CHUNK_START = 64  # bytes of a chunk that hold its sizes and the name of its compression
_OPCODE_AND_SIZE, _MESSAGE_START, _MESSAGE_SIZE = Struct('<BQ'), Struct('<H4xQ'), 22
_U16, _U16_TWICE, _U32, _U64 = Struct('<H'), Struct('<HH'), Struct('<I'), Struct('<Q')
_CHUNK_SIZES = Struct('<QI')


def is_being_written(path: Path) -> bool:
    """Return whether a file begins as one, and lacks the end mark that its writer writes last."""
    with RegularFile(path) as file:
        return not _is_whole(file) and _MAGIC.startswith(file.read(len(_MAGIC)))


def scan(path: Path, topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
    """
    Yield every topic of the file, and the messages of some, in the order on disk.

    :raises LogError: as `check`, or it holds another number of messages than it announces.
    """
    with RegularFile(path) as file:
        _check_ends(file)
        yield from _scan(file, topics)


def check(path: Path) -> None:
    """
    Check that another program can read a file within bounds: by the sizes that it announces.

    :raises LogError: it is cut off or damaged, or unpacks to too much (`unpack.Allowance`).
    """
    with RegularFile(path) as file:
        _check_ends(file)
        allowance, opcode = Allowance(file.size), 0
        while opcode != _FOOTER:
            _, opcode, size = _head(file)
            end = file.left - size
            if opcode == _CHUNK:
                content = file.read(min(size, _CHUNK_START))
                announced, = _U64.unpack_from(content, 16)
                kind = next(_fields(content, 28)).decode()
                if not kind and announced > size:
                    raise _damaged(file)
                allowance.take(announced, announced if kind else 0)
            file.skip(file.left - end)


def _check_ends(file: RegularFile) -> None:
    begin = file.read(len(_MAGIC))
    if begin != _MAGIC:
        kind = kind_of(begin + file.read(MOST_OF_KIND))
        raise LogError(f'{file.name} {kind or "is empty, cut off or no MCAP file"}')
    if not _is_whole(file):
        raise LogError(f'{file.name} is cut off or still being written: wait for its writer, or '
                       'repair it with `mcap recover`')


def _is_whole(file: RegularFile) -> bool:
    return file.size > 2 * len(_MAGIC) and file.read_last(len(_MAGIC)) == _MAGIC


def _scan(file: RegularFile, topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
    allowance = Allowance(file.size)
    schemas: dict[int, tuple[str, str, str]] = {}
    names: dict[int, str] = {}
    count, announced = 0, None
    for opcode, content in _records(file, allowance):
        if opcode == _MESSAGE:
            channel, stamp = _MESSAGE_START.unpack_from(content)
            count += 1
            if names[channel] in topics:
                yield RecordedMessage(names[channel], stamp, content[_MESSAGE_SIZE:])
        elif opcode == _SCHEMA:
            fields = list(_fields(content, 2))
            schemas[_U16.unpack_from(content)[0]] = (
                fields[0].decode(), fields[1].decode(), fields[2].decode(errors='replace'))
        elif opcode == _CHANNEL:
            number, schema = _U16_TWICE.unpack_from(content)
            name, encoding, *more = _fields(content, 4)
            texts = [text.decode() for part in more for text in _fields(part)]
            about = dict(zip(texts[::2], texts[1::2], strict=True))
            names[number] = name.decode()
            message_type, form, definition = schemas.get(schema, ('', '', ''))
            yield Topic(names[number], message_type, encoding.decode(),
                        about.get('offered_qos_profiles', ''), about.get('topic_type_hash', ''),
                        form, definition)
        elif opcode == _STATISTICS:
            announced, = _U64.unpack_from(content)
        elif opcode == _HEADER:
            profile = next(_fields(content)).decode()
            if profile not in ('ros2', ''):
                raise LogError(f'{file.name} is an MCAP file, but no ROS 2 recording: its profile '
                               f'is {printable(profile)}')
    if announced not in (None, count):
        raise LogError(f'{file.name} holds {count} messages where its statistics announce '
                       f'{announced}: it is damaged')


def _records(file: RegularFile, allowance: Allowance) -> Iterator[tuple[int, bytes]]:
    """
    Yield (opcode, content) of the wanted records, those of chunks in their place.

    :param file: its first magic was read.
    """
    checksum = zlib.crc32(_MAGIC)
    while True:
        before, (head, opcode, size) = checksum, _head(file)
        checksum = zlib.crc32(head, checksum)
        content = b''
        if opcode in _WANTED:
            content = file.read(size)
            checksum = zlib.crc32(content, checksum)
        else:
            for piece in file.pieces(size):
                checksum = zlib.crc32(piece, checksum)
        if opcode == _DATA_END and _U32.unpack_from(content)[0] not in (0, before):
            raise _damaged(file)
        if opcode == _CHUNK:
            yield from _chunk_records(file, content, allowance)
        elif opcode == _FOOTER:
            return
        elif content:
            yield opcode, content


def _head(file: RegularFile) -> tuple[bytes, int, int]:
    """Return the head of the next record, its opcode, and the size of its content."""
    head = file.read(_OPCODE_AND_SIZE.size)
    opcode, size = _OPCODE_AND_SIZE.unpack(head) if len(head) == _OPCODE_AND_SIZE.size else (0, 0)
    if opcode == 0 or size > file.left:
        raise _damaged(file)
    if opcode in _WANTED:
        bounds.check_size(size)
    return head, opcode, size


def _chunk_records(file: RegularFile, content: bytes,
                   allowance: Allowance) -> Iterator[tuple[int, bytes]]:
    size, checksum = _CHUNK_SIZES.unpack_from(content, 16)
    kind = next(_fields(content, 28))
    place = 32 + len(kind)
    data = content[place + 8:place + 8 + _U64.unpack_from(content, place)[0]]
    unpacked = allowance.unpack(kind.decode(), data, size)
    if unpacked is None or checksum not in (0, zlib.crc32(unpacked)):
        raise _damaged(file)
    place = 0
    while place < size:
        opcode, length = _OPCODE_AND_SIZE.unpack_from(unpacked, place)
        place += _OPCODE_AND_SIZE.size
        if opcode == 0 or length > size - place:
            raise _damaged(file)
        if opcode in (_SCHEMA, _CHANNEL, _MESSAGE):
            yield opcode, unpacked[place:place + length]
        place += length


def _damaged(file: RegularFile) -> LogError:
    return LogError(f'{file.name} is damaged: copy it from the robot again, or repair it with '
                    '`mcap recover`')


def _fields(content: bytes, place: int = 0) -> Iterator[bytes]:
    """Yield the fields of a record that begin with their length, one after the other."""
    while place < len(content):
        begin = place + _U32.size
        place = begin + _U32.unpack_from(content, place)[0]
        if place > len(content):
            raise ValueError('a field is longer than its record')
        yield content[begin:place]


def write(path: Path, topics: Sequence[Topic], messages: Iterable[RecordedMessage],
          record: str = '') -> None:
    """Write a new file, not compressed: no byte depends on a compressor's version."""
    from mcap.writer import CompressionType, Writer

    with open(path, 'xb') as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start(profile='ros2', library='symdp_ros')
        if record:
            writer.add_metadata(RECORD, {'release': record})
        schemas, channels = dict[str, int](), dict[str, int]()
        for topic in topics:
            if topic.type not in schemas:
                schemas[topic.type] = writer.register_schema(topic.type, topic.form,
                                                             topic.definition.encode())
            channels[topic.name] = writer.register_channel(
                topic.name, topic.encoding, schemas[topic.type],
                {'offered_qos_profiles': topic.qos, 'topic_type_hash': topic.type_hash})
        for name, stamp, data in messages:
            writer.add_message(channels[name], stamp, data, stamp)
        writer.finish()
