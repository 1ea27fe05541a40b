# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that can be handed on: what is in them, and what must not be."""
from dataclasses import replace
import os
from pathlib import Path
import random
import sqlite3

from mcap.reader import make_reader
from mcap.writer import Writer as McapWriter
import numpy as np
from patrol_bags import (battery, diagnostics, hand_on, header, patrol, read_bag, SECOND, START,
                         STORE, string, TYPES, WORD, write_bag)
import pytest
from recordings import both, own_types, STORAGES
from refusals import refused
from rosbags.interfaces import Nodetype, Qos, QosDurability, QosHistory, QosLiveliness
from rosbags.interfaces import QosReliability, QosTime
from rosbags.rosbag2 import CompressionMode
from shared_data import ABSENT
from symdp_ros.errors import ConfigurationError
from symdp_ros.logs import Keep, KeptTopics, list_logs, LogError, read_log
from symdp_ros.logs.recordings import cdr, qos
from symdp_ros.logs.recordings.serialized import layout
import yaml

SHARED = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'rosbag2_tests'
inputs = pytest.mark.parametrize('source', STORAGES)
across = pytest.mark.parametrize('source, storage', [('sqlite3', 'mcap'), ('mcap', 'sqlite3')])


def files(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def texts(serialized):
    return [STORE.deserialize_cdr(data, 'std_msgs/msg/String').data for _, data in serialized]


@across
def test_a_release_with_other_topics(tmp_path, source, storage):
    log = write_bag(tmp_path / 'log', source, patrol())
    outcomes = hand_on(log, tmp_path / 'a.private', '/battery_state', 'name', '/diagnostics',
                       storage=storage, word=['gate', 'dock', 'dock', 'gate'], period=0.5)
    found, types = read_bag(tmp_path / 'a.private')
    assert types == {'/region': 'std_msgs/msg/String', '/name': 'std_msgs/msg/String',
                     '/battery_state': 'sensor_msgs/msg/BatteryState',
                     '/diagnostics': 'diagnostic_msgs/msg/DiagnosticArray'}
    assert [stamp for stamp, _ in found['/region']] == [0, SECOND // 2, SECOND, 3 * SECOND // 2]
    assert texts(found['/region']) == ['gate', 'dock', 'dock', 'gate']
    first = START + 10**6  # the first message that is kept
    expected = {topic: [] for topic in found}
    for topic, stamp, (kind, message) in patrol():
        if hasattr(message, 'header'):
            message = replace(message, header=header(stamp - first, ''))
        if topic in expected and topic != '/region':
            expected[topic].append((stamp - first, bytes(STORE.serialize_cdr(message, kind))))
    assert {topic: found[topic] for topic in expected if topic != '/region'} == {
        topic: messages for topic, messages in expected.items() if topic != '/region'}
    assert {outcome.name: outcome.result for outcome in outcomes} == {
        '/region': 'private', '/battery_state': 'kept', '/name': 'kept', '/diagnostics': 'kept',
        '/secret': 'dropped', '/tf': 'dropped'}
    reasons = {outcome.name: outcome.reason for outcome in outcomes}
    assert 'docks' in reasons['/battery_state'] and 'places' in reasons['/diagnostics']
    assert 'frames' in reasons['/tf']
    assert list_logs(tmp_path).logs[0].id == 'log' and len(list_logs(tmp_path).logs) == 1
    assert [symbol for _, symbol in read_log(tmp_path / 'a.private')] == texts(found['/region'])


def test_readers_of_each_storage(tmp_path):
    log = write_bag(tmp_path / 'log', 'mcap', patrol())
    hand_on(log, tmp_path / 'm', '/battery_state')
    with open(tmp_path / 'm' / 'private_0.mcap', 'rb') as file:
        reader = make_reader(file, validate_crcs=True)
        assert (reader.get_header().profile, reader.get_header().library) == ('ros2', 'symdp_ros')
        summary = reader.get_summary()
        assert summary.statistics.message_count == 8
        assert summary.statistics.attachment_count == summary.statistics.metadata_count == 0
        assert {schema.name for schema in summary.schemas.values()} == {
            'std_msgs/msg/String', 'sensor_msgs/msg/BatteryState'}
        messages = [message for _, _, message in reader.iter_messages()]
        assert all(message.log_time == message.publish_time and message.sequence == 0
                   for message in messages)
        texts = {schema.name: schema.data for schema in summary.schemas.values()}
    with open(next(log.glob('*.mcap')), 'rb') as file:
        recorded = {schema.name: schema.data
                    for schema in make_reader(file).get_summary().schemas.values()}
    assert texts == {name: recorded[name] for name in texts}
    hand_on(log, tmp_path / 's', '/battery_state', storage='sqlite3')
    db = sqlite3.connect(tmp_path / 's' / 'private_0.db3')
    assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert db.execute('PRAGMA freelist_count').fetchone() == (0,)
    assert db.execute('SELECT * FROM schema').fetchall() == [(4, '')]
    assert db.execute('SELECT * FROM metadata').fetchall() == []
    stamps = [stamp for stamp, in db.execute('SELECT timestamp FROM messages ORDER BY id')]
    assert stamps == sorted(stamps) and stamps[0] == 0
    db.close()


@pytest.mark.skipif(not SHARED.exists(), reason=ABSENT)
def test_the_schemas_are_those_of_rosbag2(tmp_path):
    hand_on(write_bag(tmp_path / 'log', 'sqlite3', patrol()), tmp_path / 's', '/battery_state',
            storage='sqlite3')

    def described(path):
        db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        tables = [name for name, in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: {row[1:4] for row in db.execute(f'PRAGMA table_info({table})')}
                   for table in tables}
        db.close()
        return columns

    ours = described(tmp_path / 's' / 'private_0.db3')
    for path in SHARED.glob('*/*.db3'):
        for table, columns in described(path).items():
            assert columns <= ours[table], (path, table)
    made = yaml.safe_load((tmp_path / 's' / 'metadata.yaml').read_text())
    made = made['rosbag2_bagfile_information']
    for path in SHARED.glob('*/metadata.yaml'):
        known = yaml.safe_load(path.read_text())['rosbag2_bagfile_information']
        assert known.keys() - {'custom_data'} <= made.keys()
        for theirs in known['topics_with_message_count']:
            for topic in made['topics_with_message_count']:
                assert theirs.keys() <= topic.keys()
                assert theirs['topic_metadata'].keys() <= topic['topic_metadata'].keys()


# Headers

def invented(message_type, chance, depth=0):
    """Return a message with random values."""
    values = {}
    for name, (kind, detail) in STORE.fielddefs[message_type][1]:
        values[name] = value_of(kind, detail, chance, depth)
    return TYPES[message_type](**values)


def value_of(kind, detail, chance, depth):
    if kind == Nodetype.NAME:
        return invented(detail, chance, depth + 1)
    if kind == Nodetype.BASE:
        if detail[0] == 'string':
            return chance.choice(['', 'a', 'base', 'büro', 'x' * 9])
        if detail[0] == 'bool':
            return chance.random() < 0.5
        return chance.uniform(-9, 9) if 'float' in detail[0] else chance.randrange(100)
    [inner, detail], count = detail[0], detail[1]
    count = count if kind == Nodetype.ARRAY else chance.randrange(0, 3 if depth < 3 else 1)
    found = [value_of(inner, detail, chance, depth) for _ in range(count)]
    if inner == Nodetype.BASE and detail[0] != 'string':
        return np.array(found, {'byte': 'uint8', 'char': 'uint8', 'octet': 'uint8'}.get(
            detail[0], detail[0]))
    return found


def cleaned(message, stamp):
    """Return a message with other headers, by walking its Python attributes."""
    if isinstance(message, list):
        return [cleaned(item, stamp) for item in message]
    if not hasattr(message, '__msgtype__'):
        return message
    if message.__msgtype__ == 'std_msgs/msg/Header':
        return header(stamp(message.stamp.sec * SECOND + message.stamp.nanosec), '')
    return replace(message, **{
        name: cleaned(getattr(message, name), stamp)
        for name, _ in STORE.fielddefs[message.__msgtype__][1]})


WITH_HEADERS = sorted(name for name in STORE.fielddefs
                      if 'std_msgs/msg/Header' in layout(name))


@pytest.mark.parametrize('endianness', ['little', 'big'])
def test_headers_of_every_standard_type(endianness):
    """Against `rosbags`, which makes objects of messages and serializes them again."""
    seed = random.randrange(2**32)
    print(f'seed {seed}')
    chance = random.Random(seed)
    assert {'sensor_msgs/msg/Image', 'nav_msgs/msg/Path'} <= set(WITH_HEADERS)
    for message_type in WITH_HEADERS:
        fields = layout(message_type)
        cdr.check(message_type, fields)
        for _ in range(3):
            message = invented(message_type, chance)
            data, expected = (bytes(STORE.serialize_cdr(
                each, message_type, little_endian=endianness == 'little'))
                for each in (message, cleaned(message, lambda stamp: stamp // 7)))
            made = cdr.with_other_headers(data, message_type, fields, lambda stamp: stamp // 7)
            assert made == expected, message_type
            for size in (len(data) - 1, len(data) // 2, 5):
                if size < len(data):
                    with pytest.raises(ValueError):
                        cdr.with_other_headers(data[:size], message_type, fields, lambda s: s)
            more = 4096 if cdr.may_be_longer(fields) else 4  # for empty lists of 8-byte values
            with pytest.raises(ValueError):
                cdr.with_other_headers(data + bytes(more), message_type, fields, lambda s: s)


@inputs
def test_headers_inside_of_lists(tmp_path, source):
    log = write_bag(tmp_path / 'log', source, patrol())
    hand_on(log, tmp_path / 'out', anyway=['/tf'])
    found, _ = read_bag(tmp_path / 'out')
    assert len(found['/tf']) == 4
    for i, (stamp, data) in enumerate(found['/tf']):
        moved = STORE.deserialize_cdr(data, 'tf2_msgs/msg/TFMessage').transforms
        assert stamp == i * SECOND
        assert all((each.header.frame_id, each.child_frame_id) == ('', 'base') for each in moved)
        assert moved[0].transform.translation.z == 3.0
        stamps = [each.header.stamp.sec * SECOND + each.header.stamp.nanosec for each in moved]
        # clamped to the last message that is kept
        assert stamps == [min(i * SECOND + 10 + j, 3 * SECOND) for j in range(2)]


def test_texts_that_are_not_utf_8(tmp_path):
    kind, message = diagnostics(START)
    data = bytes(STORE.serialize_cdr(message, kind)).replace('büro'.encode(), b'b\xffr\xfe!')
    log = write_bag(tmp_path / 'log', 'mcap', [('/region', START, string('dock')),
                                               ('/diagnostics', START, (kind, data))])
    hand_on(log, tmp_path / 'out', '/diagnostics')
    assert b'b\xffr\xfe!' in (tmp_path / 'out' / 'private_0.mcap').read_bytes()


def test_stamps_of_other_clocks(tmp_path):
    """They are moved into the recording: the true time must not be left in a header."""
    log = write_bag(tmp_path / 'log', 'sqlite3', [
        ('/region', 5, string('dock')),
        *(('/battery_state', 10 * SECOND + i, battery(stamp)) for i, stamp in enumerate(
            [0, START, 10 * SECOND, 10 * SECOND + 1, 12 * SECOND])),
        ('/battery_state', 11 * SECOND, battery(11 * SECOND))])
    hand_on(log, tmp_path / 'out', '/battery_state')
    found, _ = read_bag(tmp_path / 'out')
    stamps = [STORE.deserialize_cdr(data, 'sensor_msgs/msg/BatteryState').header.stamp
              for _, data in found['/battery_state']]
    assert [stamp.sec * SECOND + stamp.nanosec for stamp in stamps] == [
        0, SECOND, 0, 1, SECOND, SECOND]


@both
def test_messages_are_sorted(tmp_path, storage):
    messages = patrol()
    log = write_bag(tmp_path / 'log', 'sqlite3', messages)
    shuffled = write_bag(tmp_path / 'shuffled', 'sqlite3',
                         sorted(messages, key=lambda message: -message[1]))
    for each in (log, shuffled):
        hand_on(each, tmp_path / f'{each.name}.out', '/name', '/diagnostics', storage=storage)
    assert files(tmp_path / 'log.out') == files(tmp_path / 'shuffled.out')


@both
def test_coarse_stamps(tmp_path, storage):
    log = write_bag(tmp_path / 'log', storage, patrol())
    hand_on(log, tmp_path / 'out', '/battery_state', '/diagnostics', '/name', storage=storage,
            coarse=2)
    found, _ = read_bag(tmp_path / 'out')
    for topic in ('/battery_state', '/diagnostics', '/name'):
        assert [stamp for stamp, _ in found[topic]] == [0, 0, 2 * SECOND, 2 * SECOND]
    for topic, kind in (('/battery_state', 'sensor_msgs/msg/BatteryState'),
                        ('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray')):
        stamps = [STORE.deserialize_cdr(data, kind).header.stamp for _, data in found[topic]]
        assert [(stamp.sec, stamp.nanosec) for stamp in stamps] == [
            (0, 0), (0, 0), (2, 0), (2, 0)]
    assert [stamp for stamp, _ in found['/region']] == [i * SECOND for i in range(4)]


def test_coarse_stamps_hide_the_order_of_topics(tmp_path):
    for name, late in (('one', '/a'), ('two', '/b')):
        log = write_bag(tmp_path / name, 'mcap', [
            ('/region', START, string('dock')), ('/c', START, string('first')),
            *((topic, START + 10**6 * (1 + (topic == late)), string('same'))
              for topic in ('/a', '/b'))])
        hand_on(log, tmp_path / f'{name}.out', '/a', '/b', '/c', coarse=1)
    assert files(tmp_path / 'one.out') == files(tmp_path / 'two.out')


# What is refused

def kept_or_why(log, topic, **more):
    with pytest.raises(LogError) as caught:
        hand_on(log, log.with_name('out'), topic, **more)
    assert not log.with_name('out').exists()
    assert caught.value.__context__ is None and caught.value.path == log
    return caught.value.reason


REVEALING = {
    'nav_msgs/msg/Odometry': 'position', 'tf2_msgs/msg/TFMessage': 'frames',
    'sensor_msgs/msg/NavSatFix': 'satellites', 'sensor_msgs/msg/LaserScan': 'senses',
    'sensor_msgs/msg/Image': 'senses', 'sensor_msgs/msg/PointCloud2': 'senses',
    'nav_msgs/msg/OccupancyGrid': 'cells', 'geometry_msgs/msg/PoseStamped': 'position',
    'sensor_msgs/msg/Imu': 'speeds', 'nav_msgs/msg/Path': 'goes',
    'geometry_msgs/msg/Twist': 'speeds', 'visualization_msgs/msg/MarkerArray': 'picture',
    'nav_msgs/msg/MapMetaData': 'position', 'sensor_msgs/msg/Joy': 'steered',
    'geometry_msgs/msg/Quaternion': 'direction', 'geometry_msgs/msg/Vector3Stamped': 'direction'}


@inputs
def test_types_that_show_the_place_are_refused(tmp_path, source):
    """Whether or not there are messages."""
    log = write_bag(tmp_path / 'log', source, patrol(), empty=[
        (f'/t{i}', kind) for i, kind in enumerate(REVEALING)])
    for i, (kind, shown) in enumerate(REVEALING.items()):
        reason = kept_or_why(log, f'/t{i}')
        assert f'/t{i} has the type {kind}, which shows' in reason and shown in reason
        assert f'--keep-anyway /t{i}' in reason
    outcomes = hand_on(log, tmp_path / 'out', '/name', anyway=['/tf', 't0'])
    kept = {outcome.name: outcome.reason for outcome in outcomes if outcome.result == 'kept'}
    assert kept.keys() == {'/name', '/tf', '/t0'} and 'frames' in kept['/tf']
    assert read_bag(tmp_path / 'out')[1]['/t0'] == 'nav_msgs/msg/Odometry'


OWN = {
    'own_msgs/msg/Status': 'std_msgs/Header header\nown_msgs/Inner[] inner\nfloat64 load',
    'own_msgs/msg/Inner': 'string name\nfloat64 value\nstd_msgs/Header header\nuint8 last',
    'own_msgs/msg/Hidden': 'own_msgs/Deep[2] deep', 'own_msgs/msg/Deep': 'geometry_msgs/Pose p',
    'own_msgs/msg/Flat': 'float32 x\nfloat32 y', 'own_msgs/msg/LidarState': 'uint8 state',
    'own_msgs/msg/Log': 'string text\nbuiltin_interfaces/Time at',
    'own_msgs/msg/Place': 'string name', 'own_msgs/msg/Floor': 'int8 number',
    'own_msgs/msg/Robot': 'string name\nstring place',
    'own_msgs/action/Do_FeedbackMessage': 'uint8 percent'}


@pytest.fixture(scope='module')
def own():
    return own_types(OWN)


def test_types_of_ones_own(tmp_path, own):
    """Their definitions are in the recording: headers are found, and what shows the place."""
    inner = [own.types['own_msgs/msg/Inner'](name, 0.25, header(START + i * SECOND, name), 7)
             for i, name in enumerate(['a', 'bcd'])]
    status = own.types['own_msgs/msg/Status'](header(START), inner, 0.5)
    log = write_bag(tmp_path / 'log', 'mcap', [
        ('/region', START, string('dock')),
        ('/status', START, ('own_msgs/msg/Status', status)),
        ('/name', START + SECOND, string('x')),
        ('/log', START + SECOND, ('own_msgs/msg/Log', own.types['own_msgs/msg/Log'](
            'x', TYPES['builtin_interfaces/msg/Time'](7, 8))))], store=own, empty=[
        ('/hidden', 'own_msgs/msg/Hidden'), ('/flat', 'own_msgs/msg/Flat'),
        ('/lidar', 'own_msgs/msg/LidarState'), ('/do', 'own_msgs/action/Do_FeedbackMessage')])
    for topic, why in (('/hidden', '(deep.p)'), ('/flat', 'a position'),
                       ('/lidar', 'by the name'), ('/do', 'what a robot does')):
        assert why in kept_or_why(log, topic)
    outcomes = hand_on(log, tmp_path / 'out', '/status', '/log', '/name')
    found, types = read_bag(tmp_path / 'out')
    assert types['/status'] == 'own_msgs/msg/Status'
    [(_, data)] = found['/status']
    made = own.deserialize_cdr(data, 'own_msgs/msg/Status')
    assert [(each.name, each.value, each.last) for each in made.inner] == [
        ('a', 0.25, 7), ('bcd', 0.25, 7)]
    assert [each.header.frame_id for each in (made, *made.inner)] == [''] * 3
    assert [each.header.stamp.sec for each in (made, *made.inner)] == [0, 0, 1]
    assert made.load == 0.5
    assert 'at is no header, and still shows the true time' in next(
        outcome.reason for outcome in outcomes if outcome.name == '/log')


def test_what_cannot_be_kept(tmp_path, own):
    status = own.types['own_msgs/msg/Status'](header(START), [], 0.5)
    log = write_bag(tmp_path / 'log', 'sqlite3', [
        *patrol(), ('/status', START, ('own_msgs/msg/Status', status)),
        ('/name', START, ('std_msgs/msg/UInt8', b'\0\1\0\0\7')),
        ('/cut', START, ('sensor_msgs/msg/BatteryState', b'\0\1\0\0\7'))], store=own)
    with sqlite3.connect(next(log.glob('*.db3'))) as db:
        db.execute('DROP TABLE message_definitions')  # as before ROS 2 Iron
    db.close()
    assert ('own_msgs/msg/Status, whose headers cannot be found: the recording does not hold'
            in kept_or_why(log, '/status'))
    assert 'several message types' in kept_or_why(log, '/name')
    assert 'no sensor_msgs/msg/BatteryState: it is damaged' in kept_or_why(log, '/cut')
    assert 'is not in it; did you mean /battery_state?' in kept_or_why(log, '/batery_state')
    (tmp_path / 'a.csv').write_text('stamp,symbol\n0,dock\n')
    assert 'is no recording' in kept_or_why(tmp_path / 'a.csv', '/name')
    # where nobody may learn what a log holds, the same topics are left out
    wanted = ['/status', '/name', '/cut', '/batery_state', '/tf', '/battery_state']
    outcomes = hand_on(log, tmp_path / 'out', *wanted, strict=False)
    assert [outcome.name for outcome in outcomes if outcome.result == 'kept'] == ['/battery_state']
    assert read_bag(tmp_path / 'out')[1].keys() == {'/region', '/battery_state'}
    hand_on(tmp_path / 'a.csv', tmp_path / 'csv.out', *wanted, strict=False)
    assert texts(read_bag(tmp_path / 'csv.out')[0]['/region']) == WORD


@pytest.mark.parametrize('keep, more, setting, why', [
    (Keep.of(['/region']), {}, 'keep', 'which holds the region'),
    (Keep.of([], ['region']), {}, 'keep', 'which holds the region'),
    (Keep.of(['/a b']), {}, 'keep', 'write the full name'), (Keep.of(['/']), {}, 'keep', ''),
    (Keep.of(['/a']), {'form': 'jsonl'}, 'format', 'choose sqlite3 or mcap'),
    (Keep.of(['/a']), {'unknown_symbol': 'split'}, 'unknown_symbol', ''),
    (Keep.of([], [], 2.0), {}, 'coarse_stamps', 'is for kept topics'),
    (Keep.of(['/a'], [], -2.0), {}, 'coarse_stamps', ''),
    (Keep.of(['/a'], [], float('nan')), {}, 'coarse_stamps', '')])
def test_settings_that_are_refused(keep, more, setting, why):
    with refused(ConfigurationError, why, setting=setting):
        keep.check(**{'region': 'region', 'form': 'mcap', 'unknown_symbol': 'uniform'} | more)


def test_damaged_recordings(tmp_path):
    """Any error is our own; and nothing is left behind."""
    log = write_bag(tmp_path / 'log', 'sqlite3', patrol())
    for damage in ("UPDATE messages SET timestamp = 'x'", "UPDATE messages SET data = 'x'",
                   'UPDATE messages SET timestamp = NULL',
                   "UPDATE topics SET type = X'00'", "UPDATE topics SET type = 'own/msg/A'",
                   'DELETE FROM messages WHERE id = 6', "UPDATE topics SET name = 'x\n'",
                   f'UPDATE messages SET timestamp = -{2**63} + id * {2**62}',
                   f'UPDATE messages SET timestamp = iif(id % 12, {2**62}, -{2**62 + 1})'):
        copy = tmp_path / 'copy'
        copy.mkdir()
        for file in log.iterdir():
            (copy / file.name).write_bytes(file.read_bytes())
        with sqlite3.connect(next(copy.glob('*.db3'))) as db:
            for trigger in ('messages', 'topics'):
                db.execute(f'CREATE TABLE t_{trigger} AS SELECT * FROM {trigger}')
                db.execute(f'DROP TABLE {trigger}')
                db.execute(f'CREATE TABLE {trigger} AS SELECT * FROM t_{trigger}')
                db.execute(f'DROP TABLE t_{trigger}')
            db.execute(damage)
        db.close()
        kept_or_why(copy, '/diagnostics')
        hand_on(copy, tmp_path / 'lenient', '/diagnostics', strict=False)
        assert read_bag(tmp_path / 'lenient')[1].keys() == {'/region'}
        for made in ('copy', 'lenient'):
            for file in (tmp_path / made).iterdir():
                file.unlink()
            (tmp_path / made).rmdir()


@pytest.mark.parametrize('data', [7, 'x', b''])
def test_a_damaged_message_leaves_out_its_topic_alone(tmp_path, data):
    log = write_bag(tmp_path / 'log', 'sqlite3', patrol())
    with sqlite3.connect(next(log.glob('*.db3'))) as db:
        db.execute('UPDATE messages SET data = ? WHERE topic_id = (SELECT id FROM topics '
                   "WHERE name = '/diagnostics')", (data,))
    db.close()
    assert 'no diagnostic_msgs/msg/DiagnosticArray: it is damaged' in kept_or_why(
        log, '/diagnostics')
    hand_on(log, tmp_path / 'lenient', '/battery_state', '/diagnostics', strict=False)
    assert read_bag(tmp_path / 'lenient')[1].keys() == {'/region', '/battery_state'}


# The private region

def test_the_region_keeps_its_type_where_it_can(tmp_path, own):
    types = own.types
    for i, (kind, message, field, values, made) in enumerate([
            ('std_msgs/msg/UInt8', types['std_msgs/msg/UInt8'](3), 'data',
             {'dock': '3', 'gate': '4'}, [3, 4]),
            ('own_msgs/msg/Place', types['own_msgs/msg/Place']('A'), 'name',
             {'dock': 'A', 'gate': 'gate'}, ['A', 'gate']),
            ('own_msgs/msg/Floor', types['own_msgs/msg/Floor'](3), 'number',
             {'dock': '-3', 'gate': '4'}, [-3, 4]),
            ('std_msgs/msg/Bool', types['std_msgs/msg/Bool'](True), 'data',
             {'dock': 'true', 'gate': 'false'}, [True, False]),
            ('std_msgs/msg/UInt8', types['std_msgs/msg/UInt8'](3), 'data',
             {'dock': '3', 'gate': 'gate'}, None),  # not a number
            ('own_msgs/msg/Floor', types['own_msgs/msg/Floor'](3), 'number',
             {'dock': '3', 'gate': '1000'}, None),  # too large
            ('own_msgs/msg/Robot', types['own_msgs/msg/Robot']('r7', 'dock'), 'place',
             {'dock': 'dock', 'gate': 'gate'}, None)]):  # another field
        log = write_bag(tmp_path / str(i), 'mcap', [
            ('/place', START, (kind, message)), ('/name', START, string('x'))], store=own)
        outcomes = hand_on(log, tmp_path / f'{i}.out', '/name', word=['dock', 'gate'],
                           field=field, values=values, region='place',
                           storage=list(STORAGES)[i % 2])
        found, kinds = read_bag(tmp_path / f'{i}.out')
        assert kinds['/place'] == (kind if made else 'std_msgs/msg/String')
        decoded = [own.deserialize_cdr(data, kinds['/place']) for _, data in found['/place']]
        assert [getattr(each, field if made else 'data') for each in decoded] == (
            made or ['dock', 'gate'])
        assert ('could not be filled' in outcomes[0].reason) == (made is None)


# Hostile recordings

def written(path, *messages):
    """Write (topic, type, its definition, what the message holds) after the region; return it."""
    with open(path, 'wb') as file:
        writer = McapWriter(file)
        writer.start('ros2', library='')
        for topic, kind, text, data in (
                ('/region', 'std_msgs/msg/String', 'string data', b'\2\0\0\0x\0'), *messages):
            schema = writer.register_schema(kind, 'ros2msg', text.encode())
            channel = writer.register_channel(topic, 'cdr', schema, {})
            writer.add_message(channel, START, b'\0\1\0\0' + data, START)
        writer.finish()
    return path


@pytest.mark.parametrize('definition, why', [
    ('own_msgs/A a', 'contains itself'),
    ('std_msgs/Header h\nown_msgs/B b', 'not that of std_msgs/msg/Header, which is in it'),
    ('wstring w', 'the field w of own_msgs/msg/A is a text of wide characters'),
    ('uint8[0] a', 'not known how'), ('', 'damaged'),
    ('\0' * 99, 'cannot be read: it is damaged'), ('x' * (1 << 19), 'by more than 256 KiB'),
    ('std_msgs/Header h\n' + '=' * 80 + '\nMSG: std_msgs/Header\nstring frame_id',
     'header has other fields'),
    # each type has twenty fields of the next
    ('\n'.join(f'own_msgs/T0 f{i}' for i in range(20)) + ''.join(
        f'\n{"=" * 80}\nMSG: own_msgs/T{k}\n' + '\n'.join(
            f'own_msgs/T{k + 1} f{i}' if k < 30 else f'uint8 f{i}' for i in range(20))
        for k in range(31)), 'damaged'),
    (f'std_msgs/Header h\nown_msgs/B[4000000000] b\n{"=" * 80}\nMSG: own_msgs/B\nuint8 a\n'
     f'{"=" * 80}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id',
     'damaged')])
def test_hostile_definitions(tmp_path, definition, why):
    log = written(tmp_path / 'a.mcap', ('/odd', 'own_msgs/msg/A', definition, bytes(40)))
    assert why in kept_or_why(log, '/odd')


def test_two_definitions_of_one_type(tmp_path):
    log = written(tmp_path / 'a.mcap', *((topic, 'own_msgs/msg/A', text, data)
                                         for topic, text, data in (
        ('/a', 'int8 a', b'\7'), ('/b', 'string b', b'\2\0\0\0x\0'),
        ('/c', '# the same\nint8 a', b'\7'))))
    with refused(LogError, '/b has the type own_msgs/msg/A, and so has /a, by another', path=log):
        hand_on(log, tmp_path / 'out', '/a', '/b')
    outcomes = hand_on(log, tmp_path / 'out', '/a', '/b', '/c', strict=False)
    assert {name: result for name, _, result, _ in outcomes} == {
        '/region': 'private', '/a': 'kept', '/b': 'refused', '/c': 'kept'}
    hand_on(log, tmp_path / 'b', '/b')


@pytest.mark.parametrize('kind, definition, data, why', [
    ('std_msgs/msg/Empty', '', b'\0', 'not covered by ε'),
    ('own_msgs/msg/Trigger', f'own_msgs/None what\nint16 b\n{"=" * 80}\nMSG: own_msgs/None\n',
     bytes(4), 'not covered by ε: a number in it may name a place'),
    ('std_msgs/msg/Header', 'builtin_interfaces/Time stamp\nstring frame_id',
     b'\7\0\0\0\7\0\0\0\1\0\0\0\0', 'not covered by ε'),
    # a harmless name, and other fields
    ('bond/msg/Status', 'float64 x\nfloat64 y', bytes(16), None),
    ('own_msgs/msg/Vector3', 'float64 x\nfloat64 y', bytes(16), None),
    ('own_msgs/msg/Fix', 'float64 lat\nfloat64 lon', bytes(16), None),
    ('Sensor_msgs/msg/LaserScan', 'uint8 a', b'\0', None)])
def test_types_by_their_definitions(tmp_path, kind, definition, data, why):
    log = written(tmp_path / 'a.mcap', ('/a', kind, definition, data))
    if why is None:
        found = kept_or_why(log, '/a')
        assert 'shows a position' in found or 'no type of ROS' in found
    else:
        [_, kept] = hand_on(log, tmp_path / 'out', '/a')
        assert (kept.result, kept.reason) == ('kept', why)
        [(_, made)] = read_bag(tmp_path / 'out')[0]['/a']
        expected = bytes(8) + b'\1' + bytes(4) if 'Header' in kind else data
        assert made == b'\0\1\0\0' + expected


@both
def test_a_definition_that_hides_a_header(tmp_path, storage):
    """The true stamp is not copied where a message is no such message, or may be another one."""
    text = 'string data\n'
    with_header = (f'std_msgs/Header h\n{"=" * 80}\nMSG: std_msgs/Header\n'
                   'builtin_interfaces/Time stamp\nstring frame_id')
    store = own_types({'own_msgs/msg/A': with_header})
    message = bytes(store.serialize_cdr(store.types['own_msgs/msg/A'](header(START)),
                                        'own_msgs/msg/A'))[4:]
    for schemas, why in (([text], 'another definition'),
                         ([with_header, text], 'several definitions')):
        log = written(tmp_path / 'a.mcap', *(('/a', 'own_msgs/msg/A', definition, message)
                                             for definition in schemas))
        assert why in kept_or_why(log, '/a')
        hand_on(log, tmp_path / 'out', '/a', storage=storage, strict=False)
        assert read_bag(tmp_path / 'out')[1].keys() == {'/region'}
        holds_none(tmp_path / 'out')
        for file in (tmp_path / 'out').iterdir():
            file.unlink()
        (tmp_path / 'out').rmdir()


def test_what_kept_topics_may_show(tmp_path):
    """Another topic may hold the region as a text or a number: its type does not show that."""
    log = write_bag(tmp_path / 'log', 'mcap', [
        ('/region', START, string('dock')), ('/room', START, string('dock')),
        ('/number', START, ('std_msgs/msg/Int32', TYPES['std_msgs/msg/Int32'](7))),
        ('/battery_state', START, battery(START)), ('/diagnostics', START, diagnostics(START)),
        ('/at', START, ('builtin_interfaces/msg/Time', header(START).stamp))])
    outcomes = hand_on(log, tmp_path / 'out', '/room', '/number', '/battery_state',
                       '/diagnostics', '/at')
    reasons = {outcome.name: outcome.reason for outcome in outcomes}
    assert reasons.pop('/region') == 'covered by ε'
    assert reasons['/room'] == 'not covered by ε: a text in it may name a place (data)'
    assert reasons['/number'] == 'not covered by ε: a number in it may name a place'
    assert reasons['/battery_state'].startswith('not covered by ε: shows when the robot docks')
    assert reasons['/diagnostics'].startswith('not covered by ε: may name places')
    assert 'it is no header, and still shows the true time' in reasons['/at']


# What must not be in a release

SECRETS = ['in the vault', 'nuc-r7', 'monday', 'base_r7', 'odometry', 'rosbags', 'seventeen',
           'attached', 'lunar', '/secret', '/tf', 'TFMessage', 'Transform', 'zstd']


def holds_none(path):
    content = b''.join(file.name.encode() + file.read_bytes() for file in path.iterdir()).lower()
    for secret in SECRETS:
        assert secret.encode().lower() not in content, secret
    for stamp in (START, START + 10**6, START + SECOND):
        for order in ('little', 'big'):
            assert stamp.to_bytes(8, order) not in content
            assert (stamp // SECOND).to_bytes(4, order) not in content
        assert str(stamp // SECOND).encode() not in content
    assert all(file.stat().st_mtime_ns == 0 for file in (path, *path.iterdir()))
    assert sorted(os.listdir(path))[0] == 'metadata.yaml'


@across
def test_nothing_else_is_in_a_release(tmp_path, source, storage):
    """Two recordings that agree in the kept topics alone give the same bytes."""
    plain = write_bag(tmp_path / 'a', source, [
        message for message in patrol(start=7 * SECOND)
        if message[0] not in ('/secret', '/tf') and message[:2] != ('/region', 7 * SECOND)])
    full = write_bag(tmp_path / 'monday_nuc-r7', source, patrol(),
                     custom={'host': 'nuc-r7', 'what': 'seventeen'},
                     compression=CompressionMode.MESSAGE if source == 'sqlite3'
                     else CompressionMode.STORAGE)
    metadata = full / 'metadata.yaml'
    metadata.write_text(metadata.read_text().replace('ros_distro: rosbags', 'ros_distro: lunar'))
    assert 'lunar' in metadata.read_text() and 'seventeen' in metadata.read_text()
    for log in (plain, full):
        hand_on(log, tmp_path / f'{log.name}.out', '/battery_state', '/name', '/diagnostics',
                storage=storage)
    holds_none(tmp_path / 'monday_nuc-r7.out')
    assert files(tmp_path / 'a.out') == files(tmp_path / 'monday_nuc-r7.out')


@both
def test_records_of_mcap_that_are_not_messages(tmp_path, storage):
    log = tmp_path / 'monday.mcap'
    with open(log, 'wb') as file:
        writer = McapWriter(file)
        writer.start('ros2', library='recorder of nuc-r7')
        writer.add_metadata('rosbag2', {'host': 'nuc-r7', 'ROS_DISTRO': 'lunar'})
        writer.add_attachment(START, START, 'attached', 'text/plain', b'attached')
        writer.register_schema('own_msgs/msg/Seventeen', 'ros2msg', b'# seventeen\nuint8 a')
        schema = writer.register_schema('std_msgs/msg/String', 'ros2msg', b'string data')
        for i, topic in enumerate(['/region', '/name', '/secret']):
            channel = writer.register_channel(topic, 'cdr', schema, {
                'offered_qos_profiles': '- seventeen: 17', 'host': 'nuc-r7',
                'topic_type_hash': 'lunar'})
            writer.add_message(channel, START + i, b'\0\1\0\0\2\0\0\0x\0', START + 99, sequence=17)
        writer.finish()
    hand_on(log, tmp_path / 'out', '/name', storage=storage)
    holds_none(tmp_path / 'out')
    assert read_bag(tmp_path / 'out')[0]['/name'] == [(0, b'\0\1\0\0\2\0\0\0x\0')]


def test_no_copy_is_left_in_the_temporary_directory(tmp_path, monkeypatch):
    (tmp_path / 'temporary').mkdir()
    monkeypatch.setenv('SQLITE_TMPDIR', str(tmp_path / 'temporary'))
    log = write_bag(tmp_path / 'log', 'mcap', patrol())
    with KeptTopics(log, Keep.of(['/name']), 'region', strict=True):
        assert os.listdir(tmp_path / 'temporary') == []


@pytest.mark.parametrize('strict', [True, False])
def test_a_full_disk(tmp_path, monkeypatch, strict):
    """Of the temporary directory: no topic is left out for that."""
    connect = sqlite3.connect

    def small(*arguments, **more):
        made = connect(*arguments, **more)
        if arguments == ('',):
            made.execute('PRAGMA max_page_count = 8')
        return made

    monkeypatch.setattr(sqlite3, 'connect', small)
    log = write_bag(tmp_path / 'log', 'sqlite3', patrol(WORD * 99))
    with refused(LogError, 'the disk with the temporary directory is full', path=log):
        hand_on(log, tmp_path / 'out', '/diagnostics', strict=strict)


# Quality of service

def test_qos_profiles(tmp_path):
    profile = Qos(QosHistory.KEEP_ALL, 7, QosReliability.BEST_EFFORT,
                  QosDurability.TRANSIENT_LOCAL, QosTime(1, 2), QosTime(3, 4),
                  QosLiveliness.MANUAL_BY_TOPIC, QosTime(5, 6), True)
    for version in (8, 9):
        log = write_bag(tmp_path / str(version), 'sqlite3', patrol(), qos=[profile],
                        version=version)
        hand_on(log, tmp_path / f'{version}.out', '/name', storage='sqlite3')
        made = yaml.safe_load((tmp_path / f'{version}.out' / 'metadata.yaml').read_text())
        for topic in made['rosbag2_bagfile_information']['topics_with_message_count']:
            [found] = yaml.safe_load(topic['topic_metadata']['offered_qos_profiles'])
            assert found == {
                'history': 2, 'depth': 7, 'reliability': 2, 'durability': 1,
                'deadline': {'sec': 1, 'nsec': 2}, 'lifespan': {'sec': 3, 'nsec': 4},
                'liveliness': 3, 'liveliness_lease_duration': {'sec': 5, 'nsec': 6},
                'avoid_ros_namespace_conventions': True}


@pytest.mark.parametrize('recorded', [
    '', 'x', '[', '- 1', '- {}', '[]', '- seventeen: 17', 'x' * 10**6,
    qos.DEFAULT.replace('depth: 10', 'depth: -1'), qos.DEFAULT.replace('depth: 10', 'depth: nuc'),
    qos.DEFAULT.replace('depth: 10', f'depth: {2**31}'),
    qos.DEFAULT.replace('history: 1', 'history: 99'),
    qos.DEFAULT.replace('history: 1', 'history: [1]')])
def test_qos_profiles_that_are_none(recorded):
    assert qos.clean(recorded) == qos.DEFAULT


def test_nothing_else_is_in_qos_profiles():
    assert qos.clean(qos.DEFAULT + '\n  host: nuc-r7\n# nuc-r7') == qos.DEFAULT
