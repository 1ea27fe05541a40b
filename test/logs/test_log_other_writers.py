# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings as programs other than `ros2 bag record` leave them."""
import gzip
from pathlib import Path
import random
import shutil

from mcap.writer import Writer as McapWriter
import numpy as np
from patrol_bags import hand_on, read_bag
import pytest
from recordings import both, failure, record
from rosbags.typesys import get_typestore, Stores
from symdp_ros.logs import list_logs, LogError, LogState, read_log, write_log
from symdp_ros.logs.recordings import cdr
from symdp_ros.logs.recordings.serialized import layout
import yaml

CASES = Path(__file__).resolve().parents[3] / 'shared' / 'cases'
STORE = get_typestore(Stores.LATEST)
TYPES = STORE.types
SEPARATOR = '=' * 80
pytestmark = pytest.mark.usefixtures('library')


def values(path, **settings):
    return [value for _, value in read_log(path, **settings)]


def string(text):
    return b'\0\1\0\0' + (len(text) + 1).to_bytes(4, 'little') + text.encode() + b'\0'


def mcap(path, *topics, profile='ros2'):
    """Write an MCAP file: (topic, type, encoding, form of the definition, it, messages)."""
    with open(path, 'wb') as file:
        writer = McapWriter(file)
        writer.start(profile, library='')
        for topic, kind, encoding, form, text, messages in topics:
            schema = writer.register_schema(kind, form, text.encode())
            channel = writer.register_channel(topic, encoding, schema)
            for stamp, data in enumerate(messages):
                writer.add_message(channel, stamp, data, stamp)
        writer.finish()
    return path


def region(topic='/region', kind='std_msgs/msg/String', word='ab'):
    return topic, kind, 'cdr', 'ros2msg', 'string data', list(map(string, word))


def change_metadata(bag, change):
    info = yaml.safe_load((bag / 'metadata.yaml').read_text())
    change(info['rosbag2_bagfile_information'])
    (bag / 'metadata.yaml').write_text(yaml.safe_dump(info))


# rclpy's serialize_message

def joints(name, effort=()):
    header = TYPES['std_msgs/msg/Header'](TYPES['builtin_interfaces/msg/Time'](1, 2), 'base')
    return header, [name], np.array([1.0]), np.array([1.0]), np.array(effort)


@both
@pytest.mark.parametrize('rest', [b'', b'heap', b'12345678'])
def test_a_message_in_a_buffer_that_is_longer(tmp_path, storage, rest):
    """What follows is not read, nor copied: it stood in the memory of another program."""
    kind = 'sensor_msgs/msg/JointState'
    data = [bytes(STORE.serialize_cdr(TYPES[kind](*joints(name)), kind)) + rest
            for name in ('dock', 'hall')]
    path = mcap(tmp_path / 'a.mcap', region(word=['dock', 'gate']), (
        '/joints', kind, 'cdr', 'ros2msg', STORE.generate_msgdef(kind, ros_version=2)[0], data))
    if len(rest) > 4:
        assert 'holds a message that is no sensor_msgs/msg/JointState' in failure(
            path, topic='joints', field='name[0]')
        return
    assert values(path, topic='joints', field='name[0]') == ['dock', 'hall']
    hand_on(path, tmp_path / 'out', anyway=['/joints'], storage=storage)
    made = [data for _, data in read_bag(tmp_path / 'out')[0]['/joints']]
    assert len(made) == 2 and not any(b'heap' in data for data in made)
    assert [STORE.deserialize_cdr(data, kind).name for data in made] == [['dock'], ['hall']]


def test_what_rclpy_serializes_is_read_up_to_its_end():
    """Of every type that is installed: the rest is at most as long as it may be."""
    serialization = pytest.importorskip('rclpy.serialization')
    from symdp_ros.messages.fields import message_class
    from test_kept_topics import invented

    seed = random.randrange(2**32)
    print(f'seed {seed}')
    chance, longer = random.Random(seed), 0
    for kind in ('std_msgs/msg/Float64MultiArray', 'std_msgs/msg/Int64MultiArray',
                 'std_msgs/msg/UInt64MultiArray', 'std_msgs/msg/String', 'nav_msgs/msg/Path',
                 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/MultiDOFJointState',
                 'sensor_msgs/msg/CameraInfo', 'sensor_msgs/msg/BatteryState',
                 'diagnostic_msgs/msg/DiagnosticArray', 'visualization_msgs/msg/MarkerArray'):
        try:
            known = message_class(kind)
        except Exception:
            continue  # its package is not installed
        fields = layout(kind)
        for _ in range(10):
            plain = bytes(STORE.serialize_cdr(invented(kind, chance), kind))
            data = serialization.serialize_message(serialization.deserialize_message(plain, known))
            longer += len(data) > len(plain) + 3
            assert len(cdr.without_rest(data, kind, fields)) == len(plain), kind
            assert (cdr.with_other_headers(data, kind, fields, lambda stamp: stamp)
                    == cdr.with_other_headers(plain, kind, fields, lambda stamp: stamp)), kind
    assert longer


@pytest.mark.parametrize('order', ['little', 'big'])
def test_messages_of_either_byte_order(tmp_path, order):
    kind = 'sensor_msgs/msg/JointState'
    data = bytes(STORE.serialize_cdr(TYPES[kind](*joints('dock')), kind,
                                     little_endian=order == 'little'))
    path = mcap(tmp_path / 'a.mcap', ('/region', kind, 'cdr', 'ros2msg', 'string a', [data]))
    assert values(path, field='name[0]') == ['dock']


@pytest.mark.parametrize('number', range(2, 12))
def test_parameter_lists_and_xcdr2(tmp_path, number):
    path = mcap(tmp_path / 'a.mcap', region(), (
        '/other', 'std_msgs/msg/String', 'cdr', 'ros2msg', 'string data',
        [bytes((0, number)) + string('dock')[2:]]))
    assert 'XCDR2' in failure(path, topic='other')
    with pytest.raises(LogError, match='/other holds a message that is written as a parameter'):
        hand_on(path, tmp_path / 'out', '/other', word=['a'])


# Definitions

NESTED = f'Place p\n{SEPARATOR}\nMSG: own_msgs/Place\nstring name\n'
IDL = 'module own_msgs { module msg {\n struct Place {\n string name;\n };\n};\n};\n'
IDL_NESTED = (f'{SEPARATOR}\nIDL: own_msgs/msg/Q\n#include "own_msgs/msg/Place.idl"\n'
              'module own_msgs { module msg {\n struct Q { own_msgs::msg::Place p; };\n};\n};\n'
              f'{SEPARATOR}\nIDL: own_msgs/msg/Place\n{IDL}')


@pytest.mark.parametrize('field, text', [
    ('data', 'string data\r\n'), ('data', '# made elsewhere\r\n\r\nstring data  # a name\r\n'),
    ('data', 'string data\r'), ('data', '\ufeffstring data\n'), ('data', '\tstring\tdata \t \n'),
    ('data', 'string<=9 data\n'), ('data', 'string data "a default"\n'),
    ('data', 'int32 A=1\nstring B="x # y"\nstring C=====\nstring data\n'),
    ('data', f'string data\n{SEPARATOR}\n'), ('p.name', NESTED),
    ('p.name', NESTED.replace('\n', '\r\n')), ('p.name', NESTED.replace(SEPARATOR, '===')),
    ('p.name', NESTED.replace(SEPARATOR, '=' * 100)),
    ('p.name', NESTED.replace(SEPARATOR, f'\n{SEPARATOR}  \n')),
    ('p.name', NESTED.replace('MSG: own_msgs/Place', 'MSG:  own_msgs/msg/Place')),
    ('p.name', NESTED.replace('Place p', 'own_msgs/msg/Place p')),
    ('p.name', IDL_NESTED), ('p.name', IDL_NESTED.replace('\n', '\r\n')),
    ('p.name', IDL_NESTED.replace(SEPARATOR, '=' * 60)),
    ('p.name', IDL_NESTED.partition(f'IDL: own_msgs/msg/Place\n{IDL}')[0]
     + 'MSG: own_msgs/msg/Place\nstring name\n')])
def test_definitions_as_they_are_written(tmp_path, field, text):
    form = 'ros2idl' if 'IDL:' in text else 'ros2msg'
    path = mcap(tmp_path / 'a.mcap', region(word=['dock']), (
        '/own', 'own_msgs/msg/Q', 'cdr', form, text, [string('dock'), string('hall')]))
    assert values(path, topic='own', field=field) == ['dock', 'hall']
    assert [kept.result for kept in hand_on(path, tmp_path / 'out', '/own')] == ['private', 'kept']


@pytest.mark.parametrize('form, text, why', [
    ('', '', 'does not hold its definition: record it as mcap'),
    ('ros2msg', 'string data\nwstring wide\n',
     'the field wide of own_msgs/msg/Q is a text of wide characters (wstring), which each'),
    ('ros2idl', IDL.replace('Place', 'Q').replace('string', 'wstring'), 'the field name of own_'),
    ('ros2msg', NESTED.replace('string name', 'wstring name'), 'the field name of own_msgs/msg/P'),
    ('ros2msg', 'Place p\nstring data\n',
     'holds its definition, but not that of own_msgs/msg/Place'),
    ('ros2msg', 'Q q\nstring data\n', 'holds its definition, which cannot be read'),
    ('ros2msg', 'string 4\n', 'which cannot be read: it is damaged, or not written as ros2msg'),
    ('ros2idl', 'string data\n', 'which cannot be read: it is damaged, or not written as ros2idl'),
    ('omgidl', IDL, 'in the form omgidl, which cannot be read here')])
def test_definitions_that_cannot_be_read(tmp_path, library, form, text, why):
    if library != 'rosbags':
        pytest.skip('rosbag2_py takes the installed types')
    path = mcap(tmp_path / 'a.mcap', ('/region', 'own_msgs/msg/Q', 'cdr', form, text,
                                      [string('dock')]))
    reason = failure(path)
    assert why in reason and 'republish the region as std_msgs/msg/String' in reason


# Names

@both
@pytest.mark.parametrize('recorded', ['region', '/region'])
def test_a_topic_with_or_without_its_slash(tmp_path, storage, recorded):
    bag = record(tmp_path / 'bag', storage, [(0, ('dock',))], topic=recorded)
    for path in (bag, next(bag.glob(f'bag.{"db3" if storage == "sqlite3" else "mcap"}'))):
        assert values(path, topic='region') == values(path, topic='/region') == ['dock']
    record(tmp_path / 'named', storage, [(0, ('x',))], topic='name')
    for name in ('name', '/name'):
        outcomes = hand_on(tmp_path / 'named', tmp_path / f'out{len(name)}', name, region=recorded,
                           word=['dock'])
        assert [(each.name, each.result) for each in outcomes][:2] == [
            ('/region', 'private'), ('/name', 'kept')]


def test_a_recording_with_both_spellings(tmp_path):
    path = mcap(tmp_path / 'a.mcap', region(), region('region', word='cd'), region('/b'),
                region('name'), region('/name'))
    assert 'both a topic /region and a topic region' in failure(path)
    assert values(path, topic='b') == ['a', 'b']
    with pytest.raises(LogError, match='both a topic /name and a topic name'):
        hand_on(path, tmp_path / 'out', '/name', word=['a'])


def test_a_topic_that_is_not_there(tmp_path):
    path = mcap(tmp_path / 'a.mcap', *(region(f'/t{i:02}') for i in range(12)),
                region('/odd\n\x1b[2J'))
    reason = failure(path, topic='zzz')
    assert reason.endswith(', /t08, 3 more')
    assert r'/odd\n\x1b[2J, /t00' in reason
    assert 'did you mean /t10? It has' in failure(path, topic='t0')
    assert '--include-hidden-topics' in failure(path, topic='follow_path/_action/feedback')
    assert 'it has none' in failure(mcap(tmp_path / 'empty.mcap'))


@both
def test_types_in_two_parts(tmp_path, storage, library):
    path = mcap(tmp_path / 'a.mcap', region(kind='std_msgs/String', word=['dock']),
                region('/own', 'own_msgs/Q', ['hall']), region('/name', 'std_msgs/String', ['x']))
    assert values(path) == values(path, message_type='std_msgs/msg/String') == ['dock']
    if library == 'rosbags':
        assert values(path, topic='own', message_type='own_msgs/Q') == ['hall']
    hand_on(path, tmp_path / 'out', '/own', '/name', storage=storage)
    assert read_bag(tmp_path / 'out')[1] == {
        '/region': 'std_msgs/msg/String', '/own': 'own_msgs/msg/Q', '/name': 'std_msgs/msg/String'}


# Files

@both
def test_a_storage_that_is_not_named(tmp_path, storage):
    bag = record(tmp_path / 'bag', storage, [(0, ('dock',))])
    change_metadata(bag, lambda info: info.update(storage_identifier=''))
    assert values(bag) == ['dock']
    change_metadata(bag, lambda info: info['relative_file_paths'].append(
        'b.mcap' if storage == 'sqlite3' else 'b.db3'))
    assert 'which is not named, is neither sqlite3 nor mcap' in failure(bag)
    change_metadata(bag, lambda info: info.update(storage_identifier='my_storage'))
    assert 'my_storage, is neither sqlite3 nor mcap' in failure(bag)


@both
def test_a_file_with_another_name(tmp_path, storage):
    bag = record(tmp_path / 'bag', storage, [(0, ('dock',))])
    suffix = '.db3' if storage == 'sqlite3' else '.mcap'
    (bag / 'notes.txt').write_text('monday')
    (bag / f'bag{suffix}').rename(bag / f'monday{suffix}')
    reason = failure(bag)
    assert f'names the file bag{suffix}, which is missing; monday{suffix} is there' in reason
    assert f'release monday{suffix} by itself' in reason and 'notes' not in reason
    assert values(bag / f'monday{suffix}') == ['dock']
    packed = gzip.compress((bag / f'monday{suffix}').read_bytes())
    (bag / f'monday{suffix}').unlink()
    (bag / f'bag{suffix}.gz').write_bytes(packed)
    assert f'bag{suffix}.gz is there, which is compressed as a whole with gzip' in failure(bag)


LFS = b'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'


@pytest.mark.parametrize('content, why', [
    (LFS, 'git lfs pull'), (b'\x28\xb5\x2f\xfd\4', 'zstd -d'), (b'\x1f\x8b\x08', 'gzip -dc'),
    (b'#ROSBAG V2.0\n', 'rosbags-convert')])
def test_files_that_are_something_else(tmp_path, content, why):
    bag = record(tmp_path / 'bag', 'sqlite3', [(0, ('dock',))])
    (bag / 'bag.db3').write_bytes(content)
    assert why in failure(bag)
    (bag / 'metadata.yaml').write_bytes(content)
    assert why in failure(bag)
    for name in ('a.db3', 'a.mcap', 'a.csv', 'a.jsonl', 'a.db3.zst', 'a.mcap.gz', 'a.bag'):
        (tmp_path / name).write_bytes(content)
        assert why in failure(tmp_path / name)
    listing = list_logs(tmp_path)
    assert 'a.mcap' in [log.id for log in listing.logs]
    assert LogState.RECORDING not in [log.state for log in listing.skipped]


def test_storage_files_of_the_other_kind(tmp_path):
    write_log(tmp_path / 'a', ['dock'], format='mcap')
    write_log(tmp_path / 'b', ['dock'], format='sqlite3')
    shutil.copy(tmp_path / 'a' / 'private_0.mcap', tmp_path / 'a.db3')
    shutil.copy(tmp_path / 'b' / 'private_0.db3', tmp_path / 'b.mcap')
    shutil.copy(tmp_path / 'b' / 'private_0.db3', tmp_path / 'b.sqlite')
    assert 'let its name end with .mcap' in failure(tmp_path / 'a.db3')
    for name in ('b.mcap', 'b.sqlite'):
        assert 'let its name end with .db3' in failure(tmp_path / name)


@pytest.mark.parametrize('encoding, why', [
    ('json', 'it holds JSON, which `ros2 bag convert` cannot read either'),
    ('protobuf', 'it holds Protobuf'), ('ros1', 'the encoding of ROS 1'),
    ('rmw_other', 'but as rmw_other: convert it'), ('', 'is not serialized as cdr')])
def test_messages_that_are_not_cdr(tmp_path, encoding, why):
    path = mcap(tmp_path / 'a.mcap', ('/region', 'Region', encoding, 'jsonschema', '{}', [b'{}']),
                region('/b'), ('/name', 'own_msgs/msg/N', encoding, '', '', [b'{}']), profile='')
    assert why in failure(path)
    with pytest.raises(LogError, match='/name is not serialized as cdr'):
        hand_on(path, tmp_path / 'out', '/name', region='/b', word=['a'])
    assert 'its profile is ros1' in failure(mcap(tmp_path / 'b.mcap', profile='ros1'))


# Inputs of others

def case(number):
    found = list(CASES.glob(f'{number}-*/rec'))
    if not found:
        pytest.skip(f'the input {number} of {CASES} is absent')
    return found[0]


@pytest.mark.parametrize('number', [11, 14, 16])
def test_a_recording_of_others_is_read(number):
    path = case(number)
    path = path if (path / 'metadata.yaml').exists() else next(path.glob('*.mcap'))
    assert values(path) == values(path, topic='/region') and set(values(path)) == set('abc')


@pytest.mark.parametrize('number, why', [(18, 'monday.db3 is there'), (29, 'it holds JSON')])
def test_a_recording_of_others_is_refused_with_a_reason(number, why):
    path = case(number)
    path = path if (path / 'metadata.yaml').exists() else next(path.glob('*.mcap'))
    assert why in failure(path)
