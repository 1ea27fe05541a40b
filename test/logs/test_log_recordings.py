# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 recordings: rosbag2's own, and some made by an independent writer."""
import contextlib
from pathlib import Path
import shutil
import sqlite3

from mcap.writer import IndexType, Writer as McapWriter
import numpy as np
import pytest
from recordings import both, failure, own_types, record, SECRET, STORAGES
from refusals import refused
from rosbags.rosbag2 import CompressionMode, Writer
from rosbags.typesys import get_typestore, Stores
from symdp_ros.errors import ConfigurationError
from symdp_ros.logs import LogError, read_log, write_log
import yaml

REAL = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'rosbag2_tests'
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f'{REAL} is absent')
SUFFIX = {'sqlite3': '.db3', 'mcap': '.mcap'}
pytestmark = pytest.mark.usefixtures('library')


def values(path, **settings):
    return [value for _, value in read_log(path, **settings)]


# rosbag2's own test recordings

@needs_real
@pytest.mark.parametrize('name', ['sqlite3_talker', 'sqlite3_talker/talker.db3',
                                  'mcap_talker', 'mcap_talker/talker.mcap'])
def test_the_talkers(name):
    log = read_log(REAL / name, topic='topic', message_type='std_msgs/String')
    assert [value for _, value in log] == [f'Hello, world! {i}' for i in range(10)]
    assert log[0][0] == 1585866235112609068 and log[-1][0] == 1585866239643508139
    assert values(REAL / name, topic='/rosout', field='level') == ['20'] * 10


@needs_real
@pytest.mark.parametrize('name, settings, reason', [
    ('sqlite3_talker', {'topic': 'region'}, 'has no topic /region'),
    ('mcap_talker', {'topic': 'region'}, 'has no topic /region'),
    ('mcap_talker', {'topic': 'topik'}, 'has no topic /topik; did you mean /topic?'),
    ('sqlite3_talker', {'topic': 'parameter_events'}, 'has no messages'),
    ('mcap_talker/talker.mcap', {'topic': 'parameter_events'}, 'has no messages'),
    ('mcap_talker', {'topic': 'topic', 'message_type': 'std_msgs/msg/UInt8'},
     'holds std_msgs/msg/String, not std_msgs/msg/UInt8'),
    ('sqlite3_talker', {'topic': 'topic', 'field': 'state'}, 'has no field'),
    ('empty_bag', {'topic': 'rosout', 'field': 'name'}, 'has no messages'),
    ('empty_bag/empty_bag_0.db3', {'topic': 'topic'}, 'has no topic'),
    ('sqlite3_wrong_rmw_test', {'topic': 'test_topic', 'field': 'int32_value'},
     'not serialized as cdr'),
    ('mcap_wrong_rmw_test', {'topic': 'test_topic', 'field': 'int32_value'},
     'not serialized as cdr'),
    ('mcap_wrong_rmw_test/wrong_rmw_test_0.mcap',
     {'topic': 'test_topic', 'field': 'int32_value'}, 'not serialized as cdr'),
    ('sqlite3_wrong_rmw_test/wrong_rmw_test_0.db3',
     {'topic': 'test_topic', 'field': 'int32_value'}, 'does not hold its definition'),
])
def test_what_must_fail(name, settings, reason):
    assert reason in failure(REAL / name, **settings)


@needs_real
@pytest.mark.parametrize('name', ['sqlite3_talker/talker.db3', 'mcap_talker/talker.mcap'])
def test_a_talker_cut_off(tmp_path, name):
    whole = (REAL / name).read_bytes()
    path = tmp_path / Path(name).name
    for size in [*range(0, len(whole), 211), len(whole) - 1]:
        path.write_bytes(whole[:size])
        assert failure(path, topic='topic')


@needs_real
@both
def test_fewer_messages_than_announced(tmp_path, storage):
    bag = shutil.copytree(REAL / f'{storage}_talker', tmp_path / 'bag',
                          copy_function=shutil.copyfile)
    bag.chmod(0o755)
    metadata = bag / 'metadata.yaml'
    info = yaml.safe_load(metadata.read_text())
    for entry in info['rosbag2_bagfile_information']['topics_with_message_count']:
        entry['message_count'] += 1
    metadata.write_text(yaml.safe_dump(info))
    assert ('the topic /topic has 10 messages where metadata.yaml announces 11'
            in failure(bag, topic='topic'))


# types and fields

@pytest.mark.parametrize('message_type, fields, expected', [
    ('std_msgs/msg/String', [('dock',), ('',), ('ü ',)], ['dock', '', 'ü ']),
    ('std_msgs/msg/UInt8', [(0,), (200,)], ['0', '200']),
    ('std_msgs/msg/Int64', [(-2**63,), (5,)], [str(-2**63), '5']),
    ('std_msgs/msg/Bool', [(True,), (False,)], ['true', 'false']),
    ('std_msgs/msg/Byte', [(7,), (-56,)], ['7', '200']),
    ('std_msgs/msg/Char', [(65,), (200,)], ['65', '200']),
])
def test_values_become_strings(tmp_path, message_type, fields, expected):
    bag = record(tmp_path / 'bag', 'mcap', list(enumerate(fields)), message_type)
    assert read_log(bag) == list(enumerate(expected))
    assert read_log(bag / 'bag.mcap', message_type=message_type) == list(enumerate(expected))


def test_fields_inside_fields_and_lists(tmp_path):
    store = get_typestore(Stores.LATEST)
    layout = store.types['std_msgs/msg/MultiArrayLayout']([], 0)
    modes = [(i, (layout, np.array(row, np.uint8)))
             for i, row in enumerate([[1, 2], [3], [200, 9]])]
    bag = record(tmp_path / 'modes', 'mcap', modes, 'std_msgs/msg/UInt8MultiArray')
    assert values(bag, field='data[0]') == ['1', '3', '200']
    assert values(bag, field='data[1]') == ['2', None, '9']  # the list is too short: unknown
    assert values(bag, field='layout.data_offset') == ['0', '0', '0']

    pair = store.types['diagnostic_msgs/msg/KeyValue']
    messages = [(5, (2, 'robot', '', '', [pair('region', 'dock'), pair('mode', 'idle')]))]
    bag = record(tmp_path / 'status', 'mcap', messages, 'diagnostic_msgs/msg/DiagnosticStatus')
    assert read_log(bag, field='values[1].value') == [(5, 'idle')]
    assert values(bag, field='level') == ['2']


@pytest.mark.parametrize('field, reason', [
    ('pose.position.x', 'is of type double: regions are discrete'),
    ('pose.position', 'is a whole geometry_msgs/msg/Point: name one of its fields, x, y, z'),
    ('covariance', 'is a list: add an [index]'),
    ('covariance[3]', 'is of type double: regions are discrete'),
    ('pose[0]', 'which is not a list'),
    ('pose.position.x.y', "there is no 'y' inside"),
    ('covariance.x', "there is no 'x' inside"),
    ('nothing', 'has no field'),
    ('nothing', 'to take the region from it, set input: pose'),
    ('pose..x', 'neither name, name[index] nor'),
    ('', 'it is a whole geometry_msgs/msg/PoseWithCovariance: name one of'),
    ('__class__', 'neither name, name[index] nor'),
])
def test_fields_that_hold_no_region(tmp_path, field, reason):
    store = get_typestore(Stores.LATEST)
    types = store.types
    pose = types['geometry_msgs/msg/Pose'](types['geometry_msgs/msg/Point'](0, 0, 0),
                                           types['geometry_msgs/msg/Quaternion'](0, 0, 0, 1))
    bag = record(tmp_path / 'bag', 'mcap', [(0, (pose, np.zeros(36)))],
                 'geometry_msgs/msg/PoseWithCovariance')
    assert reason in failure(bag, field=field)


OWN = {'fleet_msgs/msg/State': 'std_msgs/Header header\nuint8 mode\nfleet_msgs/Place place\n'
                               'string from\n',
       'fleet_msgs/msg/Place': 'string<=20 name\nfloat64 x\n'}


@both
def test_a_type_that_only_the_recording_defines(tmp_path, storage):
    store = own_types(OWN)
    now = store.types['builtin_interfaces/msg/Time'](1, 2)
    header = store.types['std_msgs/msg/Header'](now, 'map')
    place = store.types['fleet_msgs/msg/Place']
    messages = [(i, (header, i, place(name, 0.5), 'y')) for i, name in enumerate(['dock', 'hall'])]
    bag = record(tmp_path / 'bag', storage, messages, 'fleet_msgs/msg/State', store=store)
    assert values(bag, field='place.name', message_type='fleet_msgs/State') == ['dock', 'hall']
    assert values(bag, field='mode') == ['0', '1']
    assert values(bag, field='from') == ['y', 'y']
    assert 'double' in failure(bag, field='place.x')


def test_a_type_that_nothing_defines(tmp_path):
    store = own_types(OWN)
    bag = record(tmp_path / 'bag', 'sqlite3', [(0, (SECRET, 0.5))], 'fleet_msgs/msg/Place',
                 store=store)
    for statement, why in (
            ("UPDATE message_definitions SET encoded_message_definition = 'string',"
             "encoding = 'ros2msg'", 'which cannot be read: it is damaged'),
            ("UPDATE message_definitions SET encoding = 'x'", 'in the form x'),
            ("UPDATE message_definitions SET encoding = ''", 'does not hold its definition'),
            ('DELETE FROM message_definitions', 'does not hold its definition'),
            ('DROP TABLE message_definitions', 'does not hold its definition')):
        with sqlite3.connect(bag / 'bag.db3') as db:
            db.execute(statement)
        assert why in failure(bag, field='name')


def test_a_message_type_that_is_none(tmp_path):
    bag = record(tmp_path / 'bag', 'mcap', [(0, ('dock',))])
    with refused(ConfigurationError, setting='message_type'):
        read_log(bag, message_type='String')


@both
def test_a_foreign_message(tmp_path, storage):
    """The bytes of one type under the name of another."""
    store = get_typestore(Stores.LATEST)
    with Writer(tmp_path / 'bag', version=8, storage_plugin=STORAGES[storage]) as writer:
        region = writer.add_connection('/region', 'std_msgs/msg/UInt8', typestore=store)
        writer.write(region, 0, store.serialize_cdr(
            store.types['std_msgs/msg/String'](SECRET), 'std_msgs/msg/String'))
    assert 'holds a message that is no std_msgs/msg/UInt8' in failure(tmp_path / 'bag')


# order, files, compression

@both
def test_messages_are_read_in_the_order_of_their_stamps(tmp_path, storage):
    bag = record(tmp_path / 'bag', storage,
                 [(20, ('c',)), (10, ('a',)), (20, ('d',)), (15, ('b',))])
    assert read_log(bag) == [(10, 'a'), (15, 'b'), (20, 'c'), (20, 'd')]


@both
def test_a_recording_in_several_files(tmp_path, storage):
    first = record(tmp_path / 'first', storage, [(0, ('a',)), (1, ('b',))])
    second = record(tmp_path / 'second', storage, [(2, ('c',))])
    info = yaml.safe_load((first / 'metadata.yaml').read_text())
    bag = info['rosbag2_bagfile_information']
    shutil.copy(second / f'second{SUFFIX[storage]}', first)
    bag['relative_file_paths'].append(f'first/second{SUFFIX[storage]}')  # as before version 4
    assert bag['topics_with_message_count'][1]['topic_metadata']['name'] == '/region'
    bag['topics_with_message_count'][1]['message_count'] = 3
    (first / 'metadata.yaml').write_text(yaml.safe_dump(info))
    assert values(first) == ['a', 'b', 'c']
    (first / f'second{SUFFIX[storage]}').unlink()
    assert (f'names the file second{SUFFIX[storage]}, which is missing: copy the whole'
            in failure(first))


def test_compression(tmp_path):
    messages = [(0, ('dock',)), (1, (SECRET,))]
    for storage, mode in (('sqlite3', CompressionMode.MESSAGE), ('mcap', CompressionMode.STORAGE)):
        bag = record(tmp_path / mode.name, storage, messages, compression=mode)
        assert read_log(bag) == [(0, 'dock'), (1, SECRET)]
    bag = record(tmp_path / 'file', 'sqlite3', messages, compression=CompressionMode.FILE)
    assert 'zstd -d' in failure(bag)


# damage

@both
@pytest.mark.parametrize('bare', [False, True])
def test_cut_off_anywhere(tmp_path, storage, bare):
    """Never a wrong word: a recording that is cut off is refused, or read as a whole."""
    word = [f'{SECRET}_{i}' for i in range(40)]
    bag = record(tmp_path / 'bag', storage, [(i, (symbol,)) for i, symbol in enumerate(word)])
    file = bag / f'bag{SUFFIX[storage]}'
    whole = file.read_bytes()
    for size in (*range(0, len(whole), len(whole) // 50), len(whole) - 1):
        file.write_bytes(whole[:size])
        assert failure(file if bare else bag)
    file.write_bytes(whole)
    assert values(file if bare else bag) == word


@both
def test_metadata_cut_off_anywhere(tmp_path, storage):
    word = [f'{SECRET}_{i}' for i in range(12)]
    bag = tmp_path / 'bag'
    write_log(bag, word, format=storage, topic='region')
    metadata = bag / 'metadata.yaml'
    whole = metadata.read_bytes()
    for size in range(0, len(whole), 11):
        metadata.write_bytes(whole[:size])
        try:
            assert values(bag) == word  # what is missing was not needed
        except LogError as error:
            assert error.__context__ is None and SECRET not in str(error)


@both
def test_damage_inside(tmp_path, storage):
    """Bytes that have turned: refused, or read as some list of values; never another error."""
    bag = record(tmp_path / 'bag', storage, [(i, (f'{SECRET}_{i}',)) for i in range(40)])
    file = bag / f'bag{SUFFIX[storage]}'
    whole = file.read_bytes()
    for offset in range(0, len(whole), len(whole) // 50):
        damaged = bytearray(whole)
        damaged[offset:offset + 4] = b'\xff' * len(damaged[offset:offset + 4])
        file.write_bytes(damaged)
        try:
            assert len(values(bag)) == 40
        except LogError as error:
            assert error.__context__ is None and SECRET not in str(error)


def bare_mcap(path, *, more_announced=0, **options):
    with open(path, 'wb') as file:
        writer = McapWriter(file, **options)
        writer.start('ros2', 'test')
        schema = writer.register_schema('std_msgs/msg/String', 'ros2msg', b'string data')
        channel = writer.register_channel('/region', 'cdr', schema)
        for i in range(5):
            writer.add_message(channel, i, b'\0\1\0\0\2\0\0\0' + bytes([97 + i, 0]), i)
        writer._Writer__statistics.message_count += more_announced
        writer.finish()
    return path


def test_mcap_files_of_other_layouts(tmp_path):
    for i, options in enumerate([{'use_chunking': False}, {'use_statistics': False},
                                 {'repeat_channels': False, 'repeat_schemas': False},
                                 {'index_types': IndexType.ALL & ~IndexType.MESSAGE},
                                 {'index_types': IndexType.NONE}]):
        assert values(bare_mcap(tmp_path / f'{i}.mcap', **options)) == list('abcde')


def test_a_bare_mcap_file_with_fewer_messages_than_it_announces(tmp_path):
    path = bare_mcap(tmp_path / 'log.mcap', more_announced=1)
    assert 'holds 5 messages where its statistics announce 6' in failure(path)


def test_a_database_closed_in_wal_mode(tmp_path):
    """What rosbag2's preset `resilient` leaves."""
    bag = record(tmp_path / 'bag', 'sqlite3', [(0, ('dock',))])
    with contextlib.closing(sqlite3.connect(bag / 'bag.db3')) as db:
        assert db.execute('PRAGMA journal_mode = WAL').fetchone() == ('wal',)
        db.execute('UPDATE topics SET offered_qos_profiles = ""')
        db.commit()
    assert values(bag) == ['dock'] and len(list(bag.iterdir())) == 2


def test_damage_that_checksums_find(tmp_path):
    path = bare_mcap(tmp_path / 'log.mcap')
    assert values(path) == list('abcde')
    whole = path.read_bytes()
    at = whole.index(b'\x28\xb5\x2f\xfd') + 40  # inside the compressed chunk
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    assert failure(path)


@both
def test_a_recording_that_is_open_in_its_writer(tmp_path, storage):
    bag = record(tmp_path / 'bag', storage, [(0, (SECRET,))])
    file = bag / f'bag{SUFFIX[storage]}'
    if storage == 'sqlite3':
        (bag / 'bag.db3-wal').write_bytes(b'some pages')
        reason = "a writer's journal"
    else:
        file.write_bytes(file.read_bytes()[:-8])
        reason = 'still being written'
    assert reason in failure(file) and reason in failure(bag)
    (bag / 'metadata.yaml').unlink()
    assert 'still being recorded' in failure(bag)


@pytest.mark.parametrize('name', ['log.db3', 'log.mcap'])
@pytest.mark.parametrize('content', [b'', b'stamp,symbol\n', b'SQLite format 3\0' + bytes(200),
                                     b'\x89MCAP0\r\n' * 2, b'\x89MCAP0\r\n' * 9])
def test_files_that_are_no_recording(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert failure(tmp_path / name)


def test_other_databases(tmp_path):
    with sqlite3.connect(tmp_path / 'log.db3') as db:
        db.execute(f'CREATE TABLE {SECRET} (a)')
    assert 'no rosbag2 recording' in failure(tmp_path / 'log.db3')


def test_paths_with_characters_that_a_uri_reserves(tmp_path):
    folder = tmp_path / 'a?b#c%20d'
    folder.mkdir()
    bag = folder / 'log'
    write_log(bag, ['dock'], format='sqlite3')
    assert values(bag, topic='private_region') == ['dock']


@pytest.mark.parametrize('naming, refused', [
    (None, False), (['dock', 'gate'], True), (['dock', '7'], False), (['256', '-1', '01'], True)])
def test_a_type_none_of_whose_values_names_a_state_is_refused(tmp_path, naming, refused):
    """By the type and the settings alone, whatever the recording holds."""
    write_log(tmp_path / 'modes', ['3', '7'], format='mcap', topic='region',
              message_type='std_msgs/msg/UInt8')
    if refused:
        reason = failure(tmp_path / 'modes', naming=naming)
        assert "no value of the field 'data', a uint8, names a state" in reason
    else:
        assert [value for _, value in read_log(tmp_path / 'modes', topic='region',
                                               naming=naming)] == ['3', '7']
