# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Settings: what is accepted, what is said of the rest; messages, fields and paths."""
import os
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from harness import ROOT, send
from hypothesis import given
from hypothesis import strategies as st
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import NodeNameNonExistentError
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Bool, Byte, Char, Int64MultiArray, Int8, String, UInt8, UInt8MultiArray
from symdp_ros import ConfigurationError
from symdp_ros.files.resources import resolve_path
from symdp_ros.messages.field_paths import NOT_INPUT, symbol_reader
from symdp_ros.messages.fields import fields_of, message_class, name_of_type
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.region_messages import region_reader, region_writer


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
    return DiagnosticArray(status=[DiagnosticStatus(
        name='r1', level=b'\2', values=[KeyValue(key='mode', value=value)])])


def reader(kind, path, where=()):
    return symbol_reader(fields_of(kind), name_of_type(kind), path, where)[0]


@pytest.mark.parametrize('kind, path, message, value', [
    (String, 'data', String(data='x'), 'x'),
    (UInt8MultiArray, 'data[2]', UInt8MultiArray(data=[1, 2, 3]), '3'),
    (UInt8MultiArray, 'layout.data_offset', UInt8MultiArray(), '0'),
    (DiagnosticArray, 'status[name=r1].values[0].value', nested('dock'), 'dock'),
    (DiagnosticArray, 'status[name=r1].values[key=mode].value', nested('dock'), 'dock'),
    (DiagnosticArray, 'status[name=r1].level', nested('dock'), '2'),
    (DiagnosticArray, 'status[level=2].name', nested('dock'), 'r1'),
    (DiagnosticArray, 'status[name=r2].level', nested('dock'), NOT_INPUT),
    (DiagnosticArray, 'status[name=r1].values[1].value', nested('dock'), None),
    (DiagnosticArray, 'status[name=r1].values[key=r.x].value', nested('dock'), NOT_INPUT),
    (DiagnosticArray, 'header.frame_id', nested('dock'), ''),
])
def test_field_paths(kind, path, message, value):
    assert reader(kind, path)(message) == value


@pytest.mark.parametrize('path', ['data.x', '__class__', 'get_fields'])
def test_no_field_paths(path):
    """All others that are refused: test/messages/test_field_paths.py."""
    with pytest.raises(ConfigurationError):
        reader(String, path)


@pytest.mark.parametrize('message, symbol', [
    (String(data='dock'), 'dock'), (UInt8(data=4), '4'), (Int8(data=-4), '-4'),
    (Bool(data=True), 'true'), (Byte(data=b'\x07'), '7'), (Char(data=9), '9')])
def test_values_are_compared_as_strings(message, symbol):
    read = region_reader(type(message), InputSettings(), ['other', symbol]).read
    assert read(message) == symbol


def test_reading_a_region():
    read, _ = region_reader(String, InputSettings(symbol_map=('D=dock', 'hall=hall')),
                            ['dock', 'hall'])
    values = ['dock', 'D', 'hall', 'none', '', 'unheard of', 'd']
    assert [read(String(data=v)) for v in values] == ['dock', 'dock', 'hall', *[None] * 4]
    read, read_serialized = region_reader(Int64MultiArray, InputSettings(field='data[3]'), ['5'])
    for data, state in (([], None), ([1, 2, 3], None), ([0, 0, 0, 5], '5')):
        message = Int64MultiArray(data=data)
        assert read(message) == read_serialized(serialize_message(message)) == state
    assert read_serialized(b'no message') is None


texts = st.text(st.characters(codec='utf-8', exclude_characters='\0'))


@given(st.lists(texts.filter(bool), min_size=1, unique=True), texts, st.booleans())
def test_reading_a_region_from_bytes(states, other, padded):
    settings = InputSettings(symbol_map=(f'other={states[0]}',), no_region=())
    read, read_serialized = region_reader(String, settings, states)
    for value in [*states, 'other', other, other + ' ', '']:
        message = String(data=value)
        data = serialize_message(message) + bytes(3 * padded)
        assert read_serialized(data) == read(message)
        length = data[4:8][::-1]
        assert read_serialized(b'\0\0\0\0' + length + data[8:]) == read(message)  # big-endian


def test_a_state_that_is_no_text_of_a_message():
    read_serialized = region_reader(String, InputSettings(), ['\ud800', 'dock']).read_serialized
    assert read_serialized(serialize_message(String(data='dock'))) == 'dock'


@pytest.mark.parametrize('data', [
    b'', b'\0', b'\0\1', b'\0\1\0\0', b'\0\1\0\0\5', b'\0\1\0\0\0\0\0\0', b'\0\1\0\0\0\0\0\0dock',
    b'\0\1\0\0\xff\xff\xff\xffdock', b'\0\0\0\0\xff\xff\xff\xffdock\0', b'\0\0\0\0',
    b'\7\7\7\7\1\0\0\0',
    b'\0\1\0\0\5\0\0\0d\xffck\0'])
def test_bytes_that_are_no_message_name_no_region(data):
    assert region_reader(String, InputSettings(), ['dock']).read_serialized(data) is None


@pytest.mark.parametrize('items', [['x'], ['x='], ['=dock'], ['1=cellar'], ['1=dock', '1=hall']])
def test_wrong_symbol_maps(items):
    with pytest.raises(ConfigurationError, match='symbol_map'):
        region_reader(String, InputSettings(symbol_map=items), ['dock', 'hall'])


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


def starting(node, chain_file, tmp_path):
    """Return the parameters that a node cannot do without."""
    given = {'chain_file': chain_file, 'epsilon': 1.0}
    if node == 'fleet':
        file = tmp_path / 'fleet.yaml'
        file.write_text(f'defaults: {{chain_file: {chain_file}, epsilon: 1, adjacency: 1}}\n'
                        'robots: {tb1: }')
        return {'fleet': file}
    if node == 'patrol':
        return {'chain_file': chain_file, 'period': 0.01}
    given['autostart'] = 'false'  # the services are there from the start
    if node == 'log_release':
        for name in ('logs', 'released'):
            (tmp_path / name).mkdir()
        given |= {'log_dir': tmp_path / 'logs', 'release_dir': tmp_path / 'released',
                  'ledger_file': tmp_path / 'ledger', 'subject': 'r1'}
    return given


@pytest.mark.parametrize('node', ['privatizer', 'fleet', *(
    pytest.param(node, marks=pytest.mark.thorough)
    for node in ('log_release', 'patrol'))])
def test_parameter_services_can_be_switched_off(world, chain_file, tmp_path, node):
    def services(name):
        try:
            return {kind for _, kinds in world.node.get_service_names_and_types_by_node(name, '/')
                    for kind in kinds if 'Parameter' in kind}
        except NodeNameNonExistentError:  # not discovered yet
            return None

    def is_there(name):
        topics = {'patrol': 'region', 'fleet': '/diagnostics'}
        return world.node.count_publishers(topics.get(node, f'/{name}/transition_event')) > 0

    given = starting(node, chain_file, tmp_path)
    run = world.start(node, parameter_services='false', **given)
    world.wait_until(lambda: is_there(node) and services(node) is not None, 'the node')
    world.settle()
    assert services(node) == set()
    assert run.stop() == 0 and 'Traceback' not in run.log
    run = world.start(node, '-r', '__node:=open', **given)
    world.wait_until(lambda: len(services('open') or ()) == 6, 'the six services')


def test_a_privatizer_without_parameter_services_works(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=1000.0, parameter_services='false')
    private = world.listen()
    send(world.publisher(), *'bca')
    world.wait_until(lambda: private == ['b', 'c', 'a'], 'the private symbols')


def test_a_refusal_names_each_parameter_once(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=1.0)
    value = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=True)
    answer = world.call(SetParametersAtomically, '/privatizer/set_parameters_atomically',
                        SetParametersAtomically.Request(parameters=[
                            ParameterMessage(name='use_sim_time', value=value)] * 1000))
    assert not answer.result.successful and len(answer.result.reason) < 1000


@pytest.mark.parametrize('name', PARAMETERS)
@pytest.mark.parametrize('started', ['-m', 'script'])
def test_a_node_without_ros_says_so_in_a_sentence(tmp_path, name, started):
    code = f'import sys; from symdp_ros.nodes.program import {name}; sys.exit({name}())'
    program = tmp_path / name
    program.write_text(code)
    arguments = ['-m', f'symdp_ros.nodes.{name}'] if started == '-m' else [str(program)]
    (tmp_path / 'rclpy.py').write_text("raise ImportError('there is none')")
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': f'{tmp_path}{os.pathsep}{ROOT}'})
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr.count('\n') == 1 and 'needs ROS 2' in done.stderr
    assert 'rclpy cannot be imported (there is none)' in done.stderr
