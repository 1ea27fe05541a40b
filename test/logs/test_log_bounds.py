# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that would take all memory or time (pipes, devices, bombs) are refused within bounds."""
from contextlib import closing
import os
import resource
import socket
import sqlite3
import struct

from forked import forked
import lz4.frame
import pytest
from recordings import both, own_types, STORAGES
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
from symdp_ros.files import bounds, child
from symdp_ros.files.regular_file import RegularFile
from symdp_ros.logs import list_logs, LogError, LogState, read_log, write_log
from symdp_ros.logs.recordings import (rosbag, sqlite3_file, unpack, with_rosbag2,
                                       with_rosbags)
import yaml

WORD = ['dock', 'gate', 'aisle_1']
SUFFIXES = ['.csv', '.jsonl', '.db3', '.mcap']
MAGIC = b'\x89MCAP0\r\n'


def failure(path, **settings):
    with pytest.raises(LogError) as caught:
        read_log(path, **{'topic': 'region', **settings})
    assert caught.value.__context__ is None
    return caught.value.reason


@pytest.fixture(scope='module')
def reason_in_little_memory():
    """Return a function that gives the reason, or None; what reads may take 500 MB more."""
    with forked(LITTLE_MEMORY) as run:
        yield lambda path: run(path)[1]


LITTLE_MEMORY = """
import rosbags.typesys, zstandard, lz4.frame
from symdp_ros.files.child import limit_memory
from symdp_ros.logs import LogError, read_log
import symdp_ros.logs.recordings.with_rosbags
def run(path):
    limit_memory(500 << 20)
    try:
        read_log(path)
    except LogError as error:
        return error.reason
"""


# what is no regular file

def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to('/dev/zero')


def link_to_a_fifo(path):
    os.mkfifo(path.parent / '.pipe')
    path.symlink_to(path.parent / '.pipe')


def unix_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


others = pytest.mark.parametrize('make', [fifo, device, link_to_a_fifo, unix_socket])


@others
@pytest.mark.parametrize('suffix', SUFFIXES)
def test_what_is_no_regular_file_is_no_log(tmp_path, make, suffix):
    path = tmp_path / f'log{suffix}'
    make(path)
    assert 'it is no regular file' in failure(path)
    skipped, = list_logs(tmp_path).skipped
    assert skipped.state is LogState.UNUSABLE and 'it is no regular file' in skipped.reason


@others
@both
@pytest.mark.parametrize('part', ['metadata.yaml', 'data'])
def test_nor_part_of_a_recording(tmp_path, make, storage, part):
    bag = tmp_path / 'bag'
    write_log(bag, WORD, format=storage, topic='region')
    suffix = {'sqlite3': 'db3', 'mcap': 'mcap'}[storage]
    path = bag / (part if part != 'data' else f'private_0.{suffix}')
    path.unlink()
    make(path)
    assert 'no regular file' in failure(bag)


def test_links_to_logs_are_followed(tmp_path):
    (tmp_path / 'elsewhere').mkdir()
    write_log(tmp_path / 'elsewhere' / 'log.csv', WORD, format='csv')
    (tmp_path / 'link.csv').symlink_to(tmp_path / 'elsewhere' / 'log.csv')
    (tmp_path / 'dangling.csv').symlink_to(tmp_path / 'nowhere')
    assert [value for _, value in read_log(tmp_path / 'link.csv')] == WORD
    assert 'there is no such file' in failure(tmp_path / 'dangling.csv')


def test_a_file_ends_at_the_size_it_had(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_bytes(b'0123456789')
    with RegularFile(path) as file, open(path, 'ab') as growing:
        assert file.read(3) == b'012'
        growing.write(b'and more')
        growing.flush()
        assert file.read_last(4) == b'6789'
        assert list(file.pieces(100)) == [b'3456789']
        assert file.read() == b'' and file.read(5) == b''


@pytest.mark.parametrize('suffix', SUFFIXES[:2])
def test_a_log_that_grows_all_the_time(tmp_path, monkeypatch, suffix):
    path = tmp_path / f'log{suffix}'
    write_log(path, WORD, format=suffix[1:])
    read = RegularFile.read

    def growing(file, size=None):
        with open(path, 'ab') as writer:
            writer.write(b'9,half a l')
        return read(file, size)

    monkeypatch.setattr(RegularFile, 'read', growing)
    assert [value for _, value in read_log(path)] == WORD


# bombs

def compressed(kind, size):
    """Return so many bytes, some MiB, in few: one record that nobody knows, of zeros."""
    head = struct.pack('<BQ', 200, size - 9)
    if kind == 'zstd':  # RFC 8878: after the head, each block stands for up to 128 KiB of zeros
        def zeros(count, last=0):
            return (count << 3 | 1 << 1 | last).to_bytes(3, 'little') + b'\0'

        most = 1 << 17
        return (b'\x28\xb5\x2f\xfd\0\x38' + (9 << 3).to_bytes(3, 'little') + head
                + zeros(most - 9) + zeros(most) * ((size >> 17) - 2) + zeros(most, last=1))
    packer = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX1MB,
                                          block_linked=False, auto_flush=True)
    begin, first = packer.begin(), packer.compress(head + bytes((1 << 20) - 9))
    return begin + first + packer.compress(bytes(1 << 20)) * ((size >> 20) - 1) + packer.flush()


def mcap_of(path, *chunks):
    """Write an MCAP file of chunks (compression, announced size, data)."""
    def record(opcode, content):
        return struct.pack('<BQ', opcode, len(content)) + content

    def text(value):
        return struct.pack('<I', len(value)) + value

    content = record(1, text(b'ros2') + text(b'test'))
    for kind, size, data in chunks:
        content += record(6, struct.pack('<QQQI', 0, 0, size, 0) + text(kind.encode())
                          + struct.pack('<Q', len(data)) + data)
    path.write_bytes(MAGIC + content + record(15, bytes(4)) + record(2, bytes(20)) + MAGIC)
    return path


@pytest.mark.parametrize('kind', ['zstd', 'lz4'])
def test_a_chunk_that_unpacks_to_gigabytes(tmp_path, reason_in_little_memory, kind):
    size = 3 << 30
    path = mcap_of(tmp_path / 'bomb.mcap', (kind, size, compressed(kind, size)))
    assert path.stat().st_size < size / 200
    assert 'unpacks to more than 256 MiB' in reason_in_little_memory(path)


@pytest.mark.parametrize('kind', ['zstd', 'lz4'])
def test_many_chunks_that_unpack_to_too_much(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(unpack, 'MOST_UNPACKED_IN_ALL', 64 << 20)
    size = 12 << 20
    chunk = kind, size, compressed(kind, size)
    assert 'has no topic' in failure(mcap_of(tmp_path / 'a.mcap', *[chunk] * 5))
    assert 'all of it to more than 64 MiB' in failure(mcap_of(tmp_path / 'b.mcap', *[chunk] * 6))


@pytest.mark.parametrize('kind', ['zstd', 'lz4'])
@pytest.mark.parametrize('announced', [0, 10, 1 << 20, (1 << 20) + 1, 1 << 40, (1 << 64) - 1])
def test_a_chunk_that_has_not_the_size_it_announces(tmp_path, kind, announced):
    data = compressed(kind, 2 << 20)
    for data in (data, data[:-9], b'', bytes(100)):
        path = mcap_of(tmp_path / 'bomb.mcap', (kind, announced, data))
        if (announced, data) != (0, b''):
            assert 'is damaged' in failure(path)


def test_a_frame_that_lies_about_its_size(tmp_path, reason_in_little_memory):
    frame = b'\x28\xb5\x2f\xfd\xe0' + struct.pack('<Q', 1 << 40) + b'\x03\x00\x00\x00'
    path = mcap_of(tmp_path / 'bomb.mcap', ('zstd', 1 << 20, frame))
    assert 'is damaged' in reason_in_little_memory(path)


# what another program is to read: rosbag2_py, in a child process

@pytest.fixture
def children(monkeypatch):
    """Return the calls of child processes that read through rosbag2_py; none is started."""
    calls = []

    def call(*arguments, size):
        calls.append((*arguments, size))
        return ([('/region', 'std_msgs/msg/String', 'cdr')],
                [('/region', 0, b'a'), ('/region', 1, b'b')])

    monkeypatch.setattr(child, 'call', call)
    monkeypatch.setattr(with_rosbag2, 'is_installed', lambda: True)
    monkeypatch.setattr(with_rosbag2, 'decode', lambda *arguments: [
        (number, data.decode()) for number, data in enumerate(arguments[3])])
    monkeypatch.setattr(rosbag, 'LIBRARIES', (with_rosbag2,))
    return calls


@both
def test_another_program_reads_files_that_are_within_the_bounds(tmp_path, children, storage):
    bag = tmp_path / 'bag'
    bag.mkdir()
    with_rosbags.write(bag, [(0, b'a'), (1, b'b')], storage, '/region', 'std_msgs/msg/String')
    [file] = (path for path in bag.iterdir() if path.name != 'metadata.yaml')
    for path in (bag, file):
        assert read_log(path, topic='region') == [(0, 'a'), (1, 'b')]
    assert [call[1:] for call in children] == [
        (str(file), storage, ['/region', 'region'], file.stat().st_size)] * 2


CHUNKS = {
    'vast': ([('zstd', 1 << 40, b'x')], 'more than 256 MiB'),
    'the largest': ([('lz4', (1 << 64) - 1, b'x')], 'more than 256 MiB'),
    'vast together': ([('zstd', 200 << 20, b'x')] * 6, '1024 MiB'),
    'vast, not compressed': ([('', 1 << 40, b'x')], 'is damaged'),
    'a long name': ([('x' * 100, 10, b'x')], 'is damaged'),
}


@pytest.mark.parametrize('chunks, reason', CHUNKS.values(), ids=CHUNKS)
def test_sizes_are_checked_before_another_program_reads(tmp_path, children, chunks, reason):
    assert reason in failure(mcap_of(tmp_path / 'bomb.mcap', *chunks))
    assert children == []


def test_records_are_checked_before_another_program_reads(tmp_path, children):
    whole = mcap_of(tmp_path / 'a.mcap', ('zstd', 10, b'x')).read_bytes()
    (tmp_path / 'a.mcap').write_bytes(whole[:8] + struct.pack('<BQ', 5, 1 << 63) + whole[8:])
    assert 'is damaged' in failure(tmp_path / 'a.mcap')
    (tmp_path / 'a.mcap').write_bytes(whole[:-1])
    assert 'is cut off' in failure(tmp_path / 'a.mcap')
    assert children == []


def test_databases_are_checked_before_another_program_reads(tmp_path, children):
    path = tmp_path / 'a.db3'
    with closing(sqlite3.connect(path)) as db:
        db.execute('CREATE TABLE topics(id, name, type, serialization_format)')
        db.execute('CREATE VIEW messages AS SELECT zeroblob(1000000000) data')
        db.commit()
    assert 'no rosbag2 recording' in failure(path)
    assert children == []


def test_messages_that_another_program_found_are_counted(tmp_path, children, monkeypatch):
    path = mcap_of(tmp_path / 'a.mcap')
    monkeypatch.setattr(bounds, 'MOST_SYMBOLS', 1)
    assert 'more than 1 symbols' in failure(path)
    monkeypatch.setattr(bounds, 'MOST_BYTES', 1)
    assert 'split it' in failure(path)


def test_a_database_that_is_written_in_wal_mode(tmp_path, monkeypatch):
    """Before it is read, or while it is."""
    write_log(tmp_path / 'bag', WORD, format='sqlite3', topic='region')
    path = tmp_path / 'bag' / 'private_0.db3'
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute('PRAGMA journal_mode = WAL')
        assert len(read_log(path, topic='region')) == 3
        read = sqlite3_file.scan

        def read_and_write(*arguments):
            recorded = list(read(*arguments))
            db.execute('INSERT INTO messages SELECT NULL, topic_id, timestamp, data FROM messages')
            return recorded

        monkeypatch.setattr(sqlite3_file, 'scan', read_and_write)
        assert 'was changed while it was being read' in failure(path)
        assert "a writer's journal" in failure(path)
        db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        monkeypatch.setattr(sqlite3_file, 'scan', read)
        assert len(read_log(path, topic='region')) == 6


@both
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, storage):
    write_log(tmp_path / 'bag', WORD, format=storage, topic='region')
    scan = with_rosbags.scan

    def scan_and_change(path, *arguments):
        yield from scan(path, *arguments)
        os.utime(path)

    monkeypatch.setattr(with_rosbags, 'scan', scan_and_change)
    monkeypatch.setattr(rosbag, 'LIBRARIES', (with_rosbags,))
    assert 'was changed while it was being read' in failure(tmp_path / 'bag')


def test_an_unknown_compression(tmp_path):
    path = mcap_of(tmp_path / 'a.mcap', ('brotli', 10, bytes(10)))
    assert 'neither with zstd nor with lz4' in failure(path)


@both
def test_messages_that_unpack_to_too_much(tmp_path, monkeypatch, storage):
    monkeypatch.setattr(unpack, 'MOST_UNPACKED_IN_ALL', 64 << 20)
    store = get_typestore(Stores.LATEST)
    with Writer(tmp_path / 'bag', version=8, storage_plugin=STORAGES[storage]) as writer:
        region = writer.add_connection('/region', 'std_msgs/msg/String', typestore=store)
        for stamp in range(6):
            writer.write(region, stamp, compressed('zstd', 12 << 20))
    metadata = tmp_path / 'bag' / 'metadata.yaml'
    info = yaml.safe_load(metadata.read_text())
    info['rosbag2_bagfile_information'] |= {'compression_mode': 'message',
                                            'compression_format': 'zstd'}
    metadata.write_text(yaml.safe_dump(info))
    assert 'all of it to more than 64 MiB' in failure(tmp_path / 'bag')


def test_compressed_messages_that_are_damaged(tmp_path):
    store = get_typestore(Stores.LATEST)
    writer = Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with writer:
        region = writer.add_connection('/region', 'std_msgs/msg/String', typestore=store)
        writer.write(region, 0, store.serialize_cdr(store.types['std_msgs/msg/String']('dock'),
                                                    'std_msgs/msg/String'))
    assert [value for _, value in read_log(tmp_path / 'bag')] == ['dock']
    with closing(sqlite3.connect(tmp_path / 'bag' / 'bag.db3')) as db:
        data, = db.execute('SELECT data FROM messages').fetchone()
        for damaged in (data[:-1], data[:4], b'', b'none'):
            db.execute('UPDATE messages SET data = ?', (damaged,))
            db.commit()
            assert 'a compressed message that is damaged' in failure(tmp_path / 'bag')


def test_a_file_compressed_as_a_whole_is_not_unpacked(tmp_path):
    store = get_typestore(Stores.LATEST)
    writer = Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(CompressionMode.FILE, CompressionFormat.ZSTD)
    with writer:
        writer.add_connection('/region', 'std_msgs/msg/String', typestore=store)
    [file] = (tmp_path / 'bag').glob('*.zstd')
    file.write_bytes(compressed('zstd', 1 << 30))
    assert 'zstd -d' in failure(tmp_path / 'bag')


@pytest.mark.parametrize('made', [
    ['CREATE VIEW messages AS SELECT 1 topic_id, 1 timestamp, zeroblob(1000000000) data'],
    ['CREATE VIRTUAL TABLE messages USING fts5(topic_id, timestamp, data)'],
    ['CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, '
     'data BLOB AS (zeroblob(1000000000)))',
     *['INSERT INTO messages (topic_id, timestamp) VALUES (1, 1)'] * 9],
])
def test_databases_that_compute_what_they_hold(tmp_path, made):
    write_log(tmp_path / 'bag', WORD, format='sqlite3', topic='region')
    file = tmp_path / 'bag' / 'private_0.db3'
    with closing(sqlite3.connect(file)) as db:
        try:
            db.execute('DROP TABLE messages')
            for statement in made:
                db.execute(statement)
        except sqlite3.OperationalError as error:
            pytest.skip(f'this SQLite cannot make it: {error}')
        db.commit()
    assert 'no rosbag2 recording' in failure(file) or 'no recorder makes' in failure(file)


def test_a_database_whose_checks_take_memory(tmp_path, reason_in_little_memory):
    write_log(tmp_path / 'bag', WORD, format='sqlite3', topic='region')
    file = tmp_path / 'bag' / 'private_0.db3'
    with closing(sqlite3.connect(file)) as db:
        db.execute('PRAGMA writable_schema = ON')
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'data BLOB', "
                   "'data BLOB CHECK (length(randomblob(990000000)) > 0)') WHERE name='messages'")
        db.commit()
    assert reason_in_little_memory(file) == 'None'


def test_an_index_is_not_asked_what_was_recorded(tmp_path):
    """One that was damaged could leave rows out, or name one of them a million times."""
    write_log(tmp_path / 'bag', WORD, format='sqlite3', topic='region')
    file = tmp_path / 'bag' / 'private_0.db3'
    with closing(sqlite3.connect(file)) as db:
        db.execute('CREATE TABLE spare(x)')
        empty, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'spare'").fetchone()
        db.execute('PRAGMA writable_schema = ON')
        db.execute("DELETE FROM sqlite_master WHERE name = 'spare'")
        db.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'timestamp_idx'", (empty,))
        db.commit()
    try:
        values = [value for _, value in read_log(file, topic='region')]
    except LogError:
        return  # found by SQLite's own check
    assert values == WORD


def test_more_than_the_bounds(tmp_path, monkeypatch):
    paths = []
    for form in ('csv', 'jsonl', 'sqlite3', 'mcap'):
        paths.append(tmp_path / f'log.{form}' if form in ('csv', 'jsonl') else tmp_path / form)
        write_log(paths[-1], WORD, format=form, topic='region')
    monkeypatch.setattr(bounds, 'MOST_SYMBOLS', 2)
    for path in paths:
        assert 'more than 2 symbols' in failure(path)
    monkeypatch.setattr(bounds, 'MOST_SYMBOLS', 3)
    for path in paths:
        assert len(read_log(path, topic='region')) == 3
    monkeypatch.setattr(bounds, 'MOST_BYTES', 20)
    for path in paths:
        assert 'split it' in failure(path)


# endless work

def test_a_stamp_of_very_many_digits(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text(f'stamp,symbol\n{"1" * 130_000}x,dock\n')
    assert 'a stamp is not a number' in failure(path)


DEFINITIONS = {
    'code without end': 'string[200000000] name', 'a vast list': 'uint8[999999999999] name',
    'itself': 'own_msgs/Own again', 'a long name': 'string ' + 'a' * 200_000 + '!',
    'much text': '#' * 300_000}


@pytest.mark.parametrize('definition', DEFINITIONS.values(), ids=DEFINITIONS)
def test_definitions_of_types_that_ask_for_endless_work(tmp_path, monkeypatch, definition):
    monkeypatch.setattr(child, 'MEMORY', 200 << 20)
    store = own_types({'own_msgs/msg/Own': 'string name\n'})
    with Writer(tmp_path / 'bag', version=8, storage_plugin=StoragePlugin.SQLITE3) as writer:
        region = writer.add_connection('/region', 'own_msgs/msg/Own', typestore=store)
        writer.write(region, 0, b'\0\1\0\0\5\0\0\0dock\0')
    assert [value for _, value in read_log(tmp_path / 'bag', field='name')] == ['dock']
    with closing(sqlite3.connect(tmp_path / 'bag' / 'bag.db3')) as db:
        db.execute('UPDATE message_definitions SET encoded_message_definition = ?', (definition,))
        db.commit()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert failure(tmp_path / 'bag', field='name')
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


METADATA = [
    'a: &a [1, 1]\nb: &b [*a, *a]\nc: &c [*b, *b]\n', '[' * 100_000, '- ' * 100_000,
    '{a: ' * 50_000, 'rosbag2_bagfile_information: {version: ' + '1:' * 100_000 + '1}',
    'rosbag2_bagfile_information: {version: ' + '1' * 400_000 + '}',
    'b0: &b0 {x: 1}\n' + ''.join(
        f'b{i + 1}: &b{i + 1} {{<<: [{", ".join([f"*b{i}"] * 9)}]}}\n' for i in range(12))
    + 'rosbag2_bagfile_information: *b12\n']


@pytest.mark.parametrize('text', METADATA, ids=range(len(METADATA)))
def test_metadata_that_asks_for_endless_work(tmp_path, text):
    bag = tmp_path / 'bag'
    write_log(bag, WORD, format='mcap', topic='region')
    (bag / 'metadata.yaml').write_text(text)
    assert 'is cut off or not that of a recording' in failure(bag)


def test_metadata_that_names_a_file_many_times_or_is_large(tmp_path):
    bag = tmp_path / 'bag'
    write_log(bag, WORD, format='mcap', topic='region')
    metadata = bag / 'metadata.yaml'
    text = metadata.read_text()
    assert text.count('- private_0.mcap') == 1
    metadata.write_text(text.replace('- private_0.mcap', '- private_0.mcap\n' * 2))
    assert 'is cut off or not that of a recording' in failure(bag)
    metadata.write_text('x' * ((1 << 22) + 1))
    assert 'larger than 4 MiB' in failure(bag)


def test_records_that_are_longer_than_their_file(tmp_path):
    whole = mcap_of(tmp_path / 'a.mcap', ('', 0, b'')).read_bytes()
    for place in range(8, len(whole) - 16):
        for size in (1 << 40, (1 << 63) + 5, (1 << 64) - 1):
            damaged = whole[:place] + struct.pack('<Q', size) + whole[place + 8:]
            (tmp_path / 'b.mcap').write_bytes(damaged)
            assert failure(tmp_path / 'b.mcap')
