# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mutated logs: errors of our own come out, or a list of values; in bounded time and memory."""
from contextlib import closing
from functools import cache
from pathlib import Path
import random
import resource
import shutil
import sqlite3
import struct
import tempfile

from long_runs import fuzz
import pytest
from recordings import Corridor, fleets, own_types, record, stamped
from symdp_ros.files import child
from symdp_ros.logs import FORMATS, list_logs, LogError, read_log, write_log

REAL = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'rosbag2_tests'
BAGS = ('sqlite3_talker', 'mcap_talker', 'sqlite3_wrong_rmw_test', 'mcap_wrong_rmw_test',
        'empty_bag')
WORD = ['dock', 'aisle_1', 'a, "b"', 'büro', 'gate'] * 8
NUMBERS = (0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40,
           (1 << 63) - 1, (1 << 64) - 1)
TEXTS = [text.encode() for text in (
    '"', '\n', '\r', '\r\n', ',', '\0', '{', '}', '[', ']', ':', '\\', '1e999', '-1', 'NaN',
    'null', '- ', '&a ', '*a', '<<: ', '? ', '!!binary ',
    '\u2028', '\ufeff', 'é', '9' * 50, 'stamp', "'",
    '../', '/', 'message_count: ', 'mcap', 'sqlite3', 'zstd')] + [b'\xff', b'\xed\xa0\x80']
MOST_MEMORY = 600 << 10  # kB that the largest case may add


def mutated(content, random_):
    """Return bytes that differ in a few places."""
    content = bytearray(content)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8, 30))):
        place = random_.randrange(len(content) + 1)
        if random_.random() < 0.3:  # headers, footers and counts
            place = random_.choice((min(place, 120), max(0, len(content) - place % 120)))
        end = place + random_.choice((1, 1, 2, 4, 8, 16, 100, 1000))
        how = random_.randrange(7)
        if how == 0:
            content[place:place + 1] = bytes([random_.randrange(256)])
        elif how == 1 and place < len(content):
            content[place] ^= 1 << random_.randrange(8)
        elif how == 2:
            number = struct.pack('<Q', random_.choice(NUMBERS))[:random_.choice((1, 2, 4, 8))]
            number = number if random_.random() < 0.5 else number[::-1]
            content[place:place + len(number)] = number
        elif how == 3:
            content[place:place] = random_.choice(TEXTS)
        elif how == 4:
            del content[place:end]
        elif how == 5:
            other = random_.randrange(len(content) + 1)
            content[place:place] = content[other:other + end - place]
        elif random_.random() < 0.2:
            del content[place:]
        if not content:
            break
    return bytes(content)


def check(path, **settings):
    """Read a log."""
    try:
        values = read_log(path, **settings)
    except LogError as error:
        assert error.__context__ is None and error.__cause__ is None
        assert str(error).isprintable() and len(str(error)) < 3000
    else:
        assert values and all(
            type(stamp) is int and (value is None or type(value) is str)
            for stamp, value in values)


def fuzz_in_bounds(case):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB

    def bounded(random_):
        with tempfile.TemporaryDirectory() as directory:
            case(random_, Path(directory))
            for log in list_logs(directory).skipped:
                assert log.name.isprintable() and log.reason.isprintable()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY

    fuzz(bounded)


@cache
def written(form):
    """Return name → content of the files of a log; '' is the name of a plain file."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / 'log'
        write_log(path, WORD, format=form, topic='region')
        files = path.iterdir() if path.is_dir() else [path]
        return {file.name if path.is_dir() else '': file.read_bytes() for file in files}


@cache
def recorded(name):
    return {file.name: file.read_bytes() for file in (REAL / name).iterdir()}


def test_text():
    def case(random_, directory):
        form = random_.choice(('csv', 'jsonl'))
        path = directory / f'log.{form}'
        path.write_bytes(mutated(written(form)[''], random_))
        check(path)

    fuzz_in_bounds(case)


def mutate_recording(files, random_, directory):
    bag = directory / 'bag'
    bag.mkdir()
    for name, content in files.items():
        (bag / name).write_bytes(content)
    victim = bag / random_.choice(sorted(files))
    victim.write_bytes(mutated(victim.read_bytes(), random_))
    return bag, victim


def test_recordings_of_our_own():
    def case(random_, directory):
        form = random_.choice(('sqlite3', 'mcap'))
        bag, victim = mutate_recording(written(form), random_, directory)
        check(bag, topic='region')
        if victim.suffix in ('.db3', '.mcap'):
            check(victim, topic='region')

    fuzz_in_bounds(case)


def test_recordings_of_rosbag2(monkeypatch):
    if not REAL.is_dir():
        pytest.skip(f'{REAL} is absent')
    monkeypatch.setattr(child, 'MEMORY', 100 << 20)  # of what reads types that nobody knows

    def case(random_, directory):
        bag, victim = mutate_recording(recorded(random_.choice(BAGS)), random_, directory)
        settings = random_.choice((
            {'topic': 'topic'}, {'topic': 'rosout', 'field': 'level'},
            {'topic': 'test_topic', 'field': 'int32_value'}))
        check(bag, **settings)
        if victim.suffix in ('.db3', '.mcap'):
            check(victim, **settings)

    fuzz_in_bounds(case)


@cache
def recorded_positions(kind, storage):
    """Return name → content of the files of a recording of poses, or of a fleet."""
    with tempfile.TemporaryDirectory() as directory:
        path, store = Path(directory) / 'bag', own_types()
        if kind == 'geometry_msgs/msg/PoseStamped':
            messages = stamped(store, *((x / 4, 0.0, 'map') for x in range(-9, 9)))
        else:
            messages = fleets(store, *([('tb1', 2, x / 4, 0.0, 'L1'), ('tb2', 3, 0.0, 0.0, 'L2')]
                                       for x in range(-9, 9)))
        record(path, storage, messages, kind, store=store)
        return {file.name: file.read_bytes() for file in path.iterdir()}


def test_recordings_of_positions(monkeypatch):
    monkeypatch.setattr(child, 'MEMORY', 100 << 20)  # of what reads types that nobody knows
    robot = 'robots[name=tb1]'
    settings = {
        'geometry_msgs/msg/PoseStamped': {},
        'rmf_fleet_msgs/msg/FleetState': {
            'field': robot, 'level_field': f'{robot}.location.level_name',
            'where': ['name=fleet']}}

    def case(random_, directory):
        kind = random_.choice(list(settings))
        bag, victim = mutate_recording(
            recorded_positions(kind, random_.choice(('sqlite3', 'mcap'))), random_, directory)
        for path in [bag, victim] if victim.suffix in ('.db3', '.mcap') else [bag]:
            check(path, locator=Corridor(), **settings[kind])

    fuzz_in_bounds(case)


def test_rows_of_a_database():
    """A file that is whole, whose tables hold what no recorder puts there."""
    values = [None, 0, -1, 1 << 62, 1.5, '', 'x', "'", b'', b'\0\1\0\0', bytes(100_000),
              b'\0\1\0\0\xff\xff\xff\x7fdock\0', b'\xff' * 20, 'std_msgs/msg/String', 'cdr',
              'std_msgs/msg/Header', 'own_msgs/msg/Own', '/region']
    columns = [('topics', 'name'), ('topics', 'type'), ('topics', 'serialization_format'),
               ('topics', 'id'), ('messages', 'topic_id'), ('messages', 'timestamp'),
               ('messages', 'data'), ('message_definitions', 'topic_type'),
               ('message_definitions', 'encoding'),
               ('message_definitions', 'encoded_message_definition')]

    def case(random_, directory):
        path = directory / 'log.db3'
        path.write_bytes(written('sqlite3')['private_0.db3'])
        with closing(sqlite3.connect(path)) as db:
            db.execute('PRAGMA ignore_check_constraints = ON')
            for _ in range(random_.randrange(1, 4)):
                table, column = random_.choice(columns)
                try:
                    db.execute(f'UPDATE OR IGNORE {table} SET {column} = ? WHERE id % ? = 0',
                               (random_.choice(values), random_.randrange(1, 5)))
                except sqlite3.Error:
                    pass
            db.commit()
        check(path, topic='region', field=random_.choice(('data', 'data[0]', 'stamp.sec')))

    fuzz_in_bounds(case)


def test_files_of_one_kind_under_the_names_of_another():
    def case(random_, directory):
        form = random_.choice(FORMATS)
        content = random_.choice(sorted(written(form).values()))
        path = directory / f'log{random_.choice((".csv", ".jsonl", ".db3", ".mcap"))}'
        path.write_bytes(content if random_.random() < 0.5 else mutated(content, random_))
        check(path)
        bag = directory / 'bag'
        bag.mkdir()
        for name in ('metadata.yaml', 'private_0.db3', 'private_0.mcap'):
            if random_.random() < 0.8:
                shutil.copyfile(path, bag / name)
        check(bag)

    fuzz_in_bounds(case)


def test_archives():
    pyarrow = pytest.importorskip('pyarrow', reason='archives need pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    from symdp_ros.release.archives.parquet_file import Archive, Columns

    @cache
    def archive(way):
        generator = random.Random(way)
        rows = [(f'r{i}', j, generator.choice('abx')) for i in range(100)
                for j in range(generator.randrange(1, 9))]
        route, position, symbol = zip(*rows, strict=True)
        ways = ({}, {'use_dictionary': False, 'compression': 'none'},
                {'compression': 'zstd', 'data_page_version': '2.0', 'write_page_checksum': True},
                {'use_dictionary': False, 'column_encoding': {
                    'symbol': 'DELTA_BYTE_ARRAY', 'route': 'DELTA_LENGTH_BYTE_ARRAY',
                    'position': 'DELTA_BINARY_PACKED'}})
        sink = pyarrow.BufferOutputStream()
        table = pyarrow.table({'route': route, 'position': position, 'symbol': symbol})
        parquet.write_table(table, sink, row_group_size=150, **ways[way])
        return sink.getvalue().to_pybytes()

    def case(random_, directory):
        path = directory / 'archive.parquet'
        path.write_bytes(mutated(archive(random_.randrange(4)), random_))
        try:
            with Archive(path, Columns()) as opened:
                opened.survey([0, 5])
                for chunk in opened.chunks(position_of={'a': 0, 'b': 1}):
                    assert chunk.offsets[-1] == chunk.rows and set(chunk.states) <= {-1, 0, 1}
        except LogError as error:
            assert error.__context__ is None and str(error).isprintable()

    fuzz_in_bounds(case)
