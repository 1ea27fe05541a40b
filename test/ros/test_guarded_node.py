# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What others send ends no node; what goes wrong in a callback of ours ends it, without a word."""
from harness import send, SURE
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Log, Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import Trigger
from symdp_ros.errors import SymdpError
from symdp_ros.ros.guarded_node import GuardedNode
from symdp_ros.ros.process.spinning import spin_once
from test_log_release import given
from type_description_interfaces.srv import GetTypeDescription

UNKNOWN = [Parameter(name='x\x1b[2J', value=ParameterValue(type=99))]


def refused(name):
    return f'refused what was sent to {name}: ROS cannot take it. The node goes on'


def start(world, node, chain_file, directory, **more):
    if node == 'log_release':
        for name in 'logs', 'releases':
            (directory / name).mkdir()
        return world.start(node, **given(directory, chain_file, **more))
    if node == 'patrol':
        return world.start(node, chain_file=chain_file, **more)
    return world.privatizer(chain_file=chain_file, epsilon=SURE, **more)


@pytest.mark.parametrize('node', ['privatizer', 'log_release', 'patrol'])
def test_a_parameter_of_an_unknown_type(world, chain_file, tmp_path, node):
    run = start(world, node, chain_file, tmp_path)
    for service_type in SetParameters, SetParametersAtomically:
        name = 'set_parameters' + '_atomically' * (service_type is SetParametersAtomically)
        world.call(service_type, f'/{node}/{name}', service_type.Request(parameters=UNKNOWN))
    assert run.log.count('refused what was sent to') == 1, 'not one line for each request'
    assert refused(f'{node}/set_parameters') in run.log
    assert '\x1b' not in run.log and 'Traceback' not in run.log
    right = Parameter(name='use_sim_time', value=ParameterValue(type=1, bool_value=True))
    [result] = world.call(SetParameters, f'/{node}/set_parameters', SetParameters.Request(
        parameters=[right])).results
    assert not result.successful
    assert run.stop() == 0


@pytest.mark.parametrize('node', ['privatizer', 'log_release', 'patrol'])
def test_a_clock_before_time_began(world, chain_file, tmp_path, node):
    run = start(world, node, chain_file, tmp_path, use_sim_time='true')
    clock = world.publisher('/clock', Clock, QoSProfile(depth=1))
    message = Clock()
    message.clock.sec = -1
    world.wait_until(lambda: clock.publish(message) or refused('/clock') in run.log, 'a refusal')
    message.clock.sec = 1
    clock.publish(message)
    world.call(SetParameters, f'/{node}/set_parameters', SetParameters.Request())
    assert run.stop() == 0 and 'Traceback' not in run.log


def test_a_label_that_no_transition_has(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)

    def change(label):
        return world.call(ChangeState, '/privatizer/change_state', ChangeState.Request(
            transition=Transition(label=label))).success

    assert not change('\x1b[2J') and not change('none\n[INFO] forged') and not change('activate')
    assert change('deactivate') and change('activate')
    assert '\x1b' not in run.log and 'forged' not in run.log
    assert refused('/privatizer/change_state') in run.log
    assert run.stop() == 0


def test_a_hash_that_is_none(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    for text in '\x1b[2J', 'none\n[INFO] forged', 'x' * 100_000, f'RIHS01_{0:063}\n':
        assert not world.call(
            GetTypeDescription, '/privatizer/get_type_description',
            GetTypeDescription.Request(type_name='std_msgs/msg/String', type_hash=text)).successful
    assert refused('privatizer/get_type_description') in run.log
    assert '\x1b' not in run.log and 'forged' not in run.log and 'xxx' not in run.log
    assert run.stop() == 0


@pytest.fixture(params=[EventsExecutor, SingleThreadedExecutor])
def node(request, world):
    made = GuardedNode('guarded', context=world.context)
    executor = request.param(context=world.context)
    executor.add_node(made)
    yield made
    executor.remove_node(made)
    executor.shutdown()
    made.destroy_node()


@pytest.mark.parametrize('error, failure', [
    (SymdpError('a full disk'), 'a full disk'),
    (ValueError('SENSITIVE'), 'internal error: the traceback is on stderr')])
def test_what_a_callback_of_ours_raises(world, node, capfd, error, failure):
    heard, logged = [], []

    def hear(message):
        heard.append(message.data)
        raise error

    node.create_subscription(String, 'words', hear, 10)
    world.node.create_subscription(Log, '/rosout', logged.append, 10)
    send(world.publisher('words'), *'abc')
    world.wait_until(lambda: spin_once(node, 0.01) or node.has_failed and any(
        message.msg == failure for message in logged), 'the failure')
    for _ in range(10):
        spin_once(node, 0.01)
    assert node.failure == failure and heard == ['a'], 'nothing is read after it'
    assert 'SENSITIVE' not in ''.join([*capfd.readouterr(), *(entry.msg for entry in logged)])


def test_a_service_of_ours_that_raises_answers(world, node):
    def answer(request, response):
        raise SymdpError('a full disk')

    node.create_service(Trigger, 'asked', answer)
    client = world.client(Trigger, 'asked')
    world.wait_until(lambda: spin_once(node, 0.01) or client.service_is_ready(), 'the service')
    world.settle()
    future = client.call_async(Trigger.Request())
    world.wait_until(lambda: spin_once(node, 0.01) or future.done(), 'the answer')
    assert not future.result().success and node.failure == 'a full disk'
