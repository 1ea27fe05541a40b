"""Settings: what is accepted, what is said of the rest; messages, fields and paths."""
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from harness import ROOT
from hypothesis import given
from hypothesis import strategies as st
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Bool, Byte, Char, Int8, Int64MultiArray, String, UInt8, UInt8MultiArray

from symdp_ros import ConfigurationError
from symdp_ros.ros.messages import field_getter, message_class, region_reader, region_writer
from symdp_ros.ros.parameters import Setting
from symdp_ros.ros.resources import resolve_path

_Type = Parameter.Type
NUMBER = Setting('epsilon', _Type.DOUBLE, None, '', least=0.0)
COUNT = Setting('adjacency', _Type.INTEGER, 1, '', least=1)
TEXT = Setting('initial_state', _Type.STRING, '', '')
LIST = Setting('symbol_map', _Type.STRING_ARRAY, [], '')
FLAG = Setting('self_loops', _Type.BOOL, False, '')


@pytest.mark.parametrize('setting, given, taken', [
    (NUMBER, 2, 2.0), (NUMBER, 0.5, 0.5), (NUMBER, 0, 0.0), (COUNT, 3, 3), (TEXT, 'a', 'a'),
    (TEXT, 7, '7'), (LIST, ['a=b'], ['a=b']), (LIST, [], []), (FLAG, True, True)])
def test_accepted(setting, given, taken):
    value = setting.check(given)
    assert value == taken and type(value) is type(taken)


@pytest.mark.parametrize('setting, given', [
    (NUMBER, float('nan')), (NUMBER, float('inf')), (NUMBER, -0.1), (NUMBER, True),
    (NUMBER, '1'), (NUMBER, [1.0]), (COUNT, 0), (COUNT, 1.0), (COUNT, True), (COUNT, '1'),
    (TEXT, True), (TEXT, 1.5), (TEXT, ['a']), (LIST, 'a=b'), (LIST, [1]), (LIST, b'a'),
    (FLAG, 1), (FLAG, 'true')])
def test_refused(setting, given):
    with pytest.raises(ValueError, match=setting.name):
        setting.check(given)


@pytest.mark.parametrize('name, kind', [
    ('std_msgs/msg/String', String), ('std_msgs/String', String), ('std_msgs/msg/UInt8', UInt8)])
def test_message_class(name, kind):
    assert message_class(name) is kind


@pytest.mark.parametrize('name', ['String', 'std_msgs', 'std_msgs/srv/String', 'std_msgs/msg/',
                                  'std_msgs/msg/Strong', 'no/msg/String', 'a/b/c/d', ''])
def test_no_message_class(name):
    with pytest.raises(ConfigurationError):
        message_class(name)


def nested(value):
    return DiagnosticArray(status=[DiagnosticStatus(values=[KeyValue(key='mode', value=value)])])


@pytest.mark.parametrize('kind, path, message, value', [
    (String, 'data', String(data='x'), 'x'),
    (UInt8MultiArray, 'data[2]', UInt8MultiArray(data=[1, 2, 3]), 3),
    (UInt8MultiArray, 'layout.data_offset', UInt8MultiArray(), 0),
    (DiagnosticArray, 'status[0].values[0].value', nested('dock'), 'dock'),
    (DiagnosticArray, 'header.frame_id', nested('dock'), ''),
])
def test_field_paths(kind, path, message, value):
    assert field_getter(kind, path)[0](message) == value


@pytest.mark.parametrize('kind, path', [
    (String, ''), (String, 'data.'), (String, 'datum'), (String, 'data[0]'), (String, 'data.x'),
    (UInt8MultiArray, 'data'), (UInt8MultiArray, 'data[-1]'), (UInt8MultiArray, 'data[x]'),
    (UInt8MultiArray, 'layout'), (DiagnosticArray, 'status[0]'), (DiagnosticArray, 'status.name'),
    (DiagnosticArray, 'status[0].values'), (String, '__class__'), (String, 'get_fields')])
def test_no_field_paths(kind, path):
    with pytest.raises(ConfigurationError):
        field_getter(kind, path)


@pytest.mark.parametrize('message, symbol', [
    (String(data='dock'), 'dock'), (UInt8(data=4), '4'), (Int8(data=-4), '-4'),
    (Bool(data=True), 'true'), (Byte(data=b'\x07'), '7'), (Char(data=9), '9')])
def test_values_are_compared_as_strings(message, symbol):
    read = region_reader(type(message), 'data', ['other', symbol]).read
    assert read(message) == symbol


def test_reading_a_region():
    read, _ = region_reader(String, 'data', ['dock', 'hall'], ['D=dock', '=hall'[1:] + '=hall'],
                            ['none', ''])
    values = ['dock', 'D', 'hall', 'none', '', 'unheard of', 'd']
    assert [read(String(data=v)) for v in values] == ['dock', 'dock', 'hall', *[None] * 4]
    read, read_serialized = region_reader(Int64MultiArray, 'data[3]', ['5'])
    for data, state in (([], None), ([1, 2, 3], None), ([0, 0, 0, 5], '5')):
        message = Int64MultiArray(data=data)
        assert read(message) == read_serialized(serialize_message(message)) == state
    assert read_serialized(b'no message') is None


texts = st.text(st.characters(codec='utf-8', exclude_characters='\0'))


@given(st.lists(texts.filter(bool), min_size=1, unique=True), texts, st.booleans())
def test_reading_a_region_from_bytes(states, other, padded):
    read, read_serialized = region_reader(String, 'data', states, [f'other={states[0]}'], [])
    for value in [*states, 'other', other, other + ' ', '']:
        message = String(data=value)
        data = serialize_message(message) + bytes(3 * padded)
        assert read_serialized(data) == read(message)
        length = data[4:8][::-1]
        assert read_serialized(b'\0\0\0\0' + length + data[8:]) == read(message)  # big-endian


def test_a_state_that_is_no_text_of_a_message():
    read_serialized = region_reader(String, 'data', ['\ud800', 'dock']).read_serialized
    assert read_serialized(serialize_message(String(data='dock'))) == 'dock'


@pytest.mark.parametrize('data', [
    b'', b'\0', b'\0\1', b'\0\1\0\0', b'\0\1\0\0\5', b'\0\1\0\0\0\0\0\0', b'\0\1\0\0\0\0\0\0dock',
    b'\0\1\0\0\xff\xff\xff\xffdock', b'\0\0\0\0\xff\xff\xff\xffdock\0', b'\0\0\0\0', b'\7\7\7\7\1\0\0\0',
    b'\0\1\0\0\5\0\0\0d\xffck\0'])
def test_bytes_that_are_no_message_name_no_region(data):
    assert region_reader(String, 'data', ['dock']).read_serialized(data) is None


@pytest.mark.parametrize('items', [['x'], ['x='], ['=dock'], ['1=cellar'], ['1=dock', '1=hall']])
def test_wrong_symbol_maps(items):
    with pytest.raises(ConfigurationError, match='symbol_map'):
        region_reader(String, 'data', ['dock', 'hall'], items)


def test_writing_a_region():
    write = region_writer(UInt8, ['dock', '7'], ['1=dock', '2=dock'])
    assert deserialize_message(write('dock'), UInt8).data == 1
    assert deserialize_message(write('7'), UInt8).data == 7
    write = region_writer(String, ['dock', 'ä 1'], ['1=dock'])
    assert deserialize_message(write('ä 1'), String).data == 'ä 1'


@pytest.mark.parametrize('kind, states, items, text', [
    (UInt8, ['dock'], [], 'no integer'), (UInt8, ['dock'], ['x=dock'], 'no integer'),
    (UInt8, ['256'], [], 'not in 0 … 255'), (Int8, ['-129'], [], 'not in -128 … 127'),
    (UInt8, ['1', 'dock'], ['1=dock'], 'both 1'), (UInt8MultiArray, ['1'], [], 'one field, data'),
    (Bool, ['true'], [], 'string or an integer'), (KeyValue, ['a'], [], 'one field, data')])
def test_wrong_output_types(kind, states, items, text):
    with pytest.raises(ConfigurationError, match=text):
        region_writer(kind, states, items)


def test_paths(monkeypatch):
    monkeypatch.setenv('HOME', '/home/robot')
    assert str(resolve_path('~/a.yaml')) == '/home/robot/a.yaml'
    assert str(resolve_path('a/b.yaml')) == 'a/b.yaml'
    assert (resolve_path('package://symdp_ros/config/warehouse.chain.yaml').read_text()
            == (ROOT / 'config' / 'warehouse.chain.yaml').read_text())
    with pytest.raises(ConfigurationError, match="'nowhere' is not found"):
        resolve_path('package://nowhere/a.yaml')
