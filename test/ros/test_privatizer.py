# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `privatizer` in a process of its own, over real DDS: what it promises on the graph."""
import signal

from harness import (BEST_EFFORT, LATCHED, RECONFIGURE, RELIABLE, send, send_until, SURE,
                     values_of)
from lifecycle_msgs.msg import Transition
import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters
from shared_data import shared
from std_msgs.msg import Bool, Int32, UInt8, UInt8MultiArray
from symdp_ros import Chain
from symdp_ros.core.registry import POLICIES
from symdp_ros.maps import read_chain


def test_each_symbol_in_gives_a_feasible_one_out(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=1.0)
    private = world.listen()
    publisher = world.publisher()
    send(publisher, *'abcdabdabbbbcaadcb' * 10)
    world.wait_until(lambda: len(private) == 180, '180 private symbols')
    assert Chain.from_yaml(chain_file).is_feasible(private)


@pytest.mark.parametrize('name, initial', [
    ('route_turtlebot3_graph', 1),
    pytest.param('bringup_warehouse_graph', 0, marks=pytest.mark.thorough)])
def test_nav2_maps(world, name, initial):
    file = shared('nav2', f'{name}.geojson')
    world.privatizer(chain_file=file, initial_state=initial, epsilon=2)
    private = world.listen()
    world.start('patrol', chain_file=file, initial_state=initial, period=0.002, count=200,
                wait_for_subscribers=1)
    world.wait_until(lambda: len(private) == 200, '200 private symbols')
    assert read_chain(file, str(initial)).is_feasible(private)


def test_remapping_and_namespace(world, chain_file):
    world.privatizer('-r', '__ns:=/fleet/r1', '-r', 'private_region:=/shared/r1',
                     '-r', '__node:=veil', chain_file=chain_file, epsilon=SURE)
    private = world.listen('/shared/r1')
    send(world.publisher('/fleet/r1/region'), 'b', 'd')
    world.wait_until(lambda: private == ['b', 'd'], 'two symbols on the remapped topic')
    world.wait_until(lambda: ('veil', '/fleet/r1') in
                     world.node.get_node_names_and_namespaces(), 'its name')


def test_two_robots_side_by_side(world, chain_file):
    for robot in ('r1', 'r2'):
        world.privatizer('-r', f'__ns:=/{robot}', chain_file=chain_file, epsilon=SURE)
    heard = {robot: world.listen(f'/{robot}/private_region') for robot in ('r1', 'r2')}
    send(world.publisher('/r1/region'), 'b', 'c')
    send(world.publisher('/r2/region'), 'a', 'b', 'd')
    world.wait_until(lambda: heard == {'r1': ['b', 'c'], 'r2': ['a', 'b', 'd']},
                     'both private words')


@pytest.mark.parametrize('kind, field, map_, sent', [
    (Bool, 'data', "['true=b','false=a']", [Bool(data=v) for v in (False, True, True)]),
    (UInt8MultiArray, 'data[1]', "['4=b','5=a']",
     [UInt8MultiArray(data=v) for v in ([0, 5], [0, 4], [0, 4, 8])])])
def test_other_input_types(world, chain_file, kind, field, map_, sent):
    """How any field is read: test_parameters.py."""
    world.privatizer(chain_file=chain_file, epsilon=SURE, field=field, symbol_map=map_,
                     message_type=f'std_msgs/{kind.__name__}')
    private = world.listen()
    publisher = world.publisher(message_type=kind)
    for message in sent:
        publisher.publish(message)
    world.wait_until(lambda: ''.join(private) == 'abb', 'three symbols')


def test_integer_output(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, message_type='std_msgs/msg/UInt8',
                     output_type='std_msgs/msg/UInt8', symbol_map="['1=a','2=b','3=c','4=d']")
    private = world.listen(message_type=UInt8)
    send(world.publisher(message_type=UInt8), 1, 2, 3, 1, 2, 4)
    world.wait_until(lambda: private == [1, 2, 3, 1, 2, 4], 'the same modes')


@pytest.mark.parametrize('qos', [RELIABLE, BEST_EFFORT, LATCHED],
                         ids=['reliable', 'best effort', 'latched'])
def test_the_subscription_suits_the_publisher(world, chain_file, qos):
    world.privatizer(chain_file=chain_file, epsilon=SURE)
    private = world.listen()
    publisher = world.publisher(qos=qos)
    # What is sent before the subscription knows of the publisher is lost.
    send_until(world, publisher, 'b', lambda: private)
    send(publisher, 'c')
    world.wait_until(lambda: private[-1] == 'c', 'the last symbol')
    assert set(private[:-1]) == {'b'}


def test_the_private_topic_is_latched(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE)
    first = world.listen()
    send(world.publisher(), 'b', 'c')
    world.wait_until(lambda: len(first) == 2, 'two symbols')
    late = world.listen()
    world.wait_until(lambda: late == ['b', 'c'], 'the word so far')


def test_lifecycle(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE, autostart='false', wait=False)
    assert world.state_of('privatizer') == 'unconfigured'
    assert not world.change('privatizer', Transition.TRANSITION_ACTIVATE), 'it is not configured'
    assert world.change('privatizer', Transition.TRANSITION_CONFIGURE)
    assert world.state_of('privatizer') == 'inactive'
    assert world.node.count_subscribers('region') == 0, 'an inactive node must not listen'
    private = world.listen()
    send(world.publisher(qos=LATCHED, subscribers=0), 'b')
    assert world.change('privatizer', Transition.TRANSITION_ACTIVATE)
    world.wait_until(lambda: private == ['b'], 'the latched symbol')
    assert world.change('privatizer', RECONFIGURE[0])
    world.wait_until(lambda: world.node.count_subscribers('region') == 0, 'silence')
    assert world.change('privatizer', *RECONFIGURE[1:])
    # The word goes on from b, and the region that is still latched is not drawn again.
    other = world.publisher(qos=LATCHED)
    send(other, 'c')
    world.wait_until(lambda: len(private) == 2, 'the next symbol')
    assert private == ['b', 'c'] and run.process.poll() is None
    assert world.change('privatizer', Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert world.state_of('privatizer') == 'finalized'
    assert run.stop() == 0


def test_parameters_are_described_and_read_only(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=2)
    names = ['epsilon', 'adjacency', 'policy', 'chain_file', 'sampling', 'symbol_map', 'autostart']
    described = world.call(DescribeParameters, '/privatizer/describe_parameters',
                           DescribeParameters.Request(names=names)).descriptors
    types = [ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_INTEGER,
             ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING,
             ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY,
             ParameterType.PARAMETER_BOOL]
    assert [d.name for d in described] == names
    assert [d.type for d in described] == types
    assert all(d.read_only and d.description for d in described)
    assert described[0].floating_point_range[0].from_value == 0.0
    assert described[1].integer_range[0].from_value == 0
    assert described[2].additional_constraints == f'one of {", ".join(POLICIES)}, auto'
    epsilon, clock = world.call(SetParameters, '/privatizer/set_parameters', SetParameters.Request(
        parameters=[
            Parameter(name='epsilon', value=ParameterValue(
                type=ParameterType.PARAMETER_DOUBLE, double_value=100.0)),
            Parameter(name='use_sim_time', value=ParameterValue(
                type=ParameterType.PARAMETER_BOOL, bool_value=True))])).results
    assert not epsilon.successful and 'read-only' in epsilon.reason
    assert not clock.successful and 'fixed when the node starts' in clock.reason


@pytest.mark.parametrize('parameters, sentence', [
    ({'epsilon': None}, 'epsilon is not set'),
    ({'chain_file': None}, 'chain_file is not set'),
    ({'epsilon': -1.0}, 'epsilon is -1.0: it must be at least 0'),
    ({'epsilon': '.nan'}, 'epsilon is nan: it must be a finite number'),
    ({'adjacency': 0}, 'say what is hidden: protect: 30.0 hides any visit of 30 s'),
    ({'epsilom': 2.0}, 'there is no parameter epsilom: did you mean epsilon?'),
    ({'epsilonn': 2.0, 'epsilon': None},
     'there is no parameter epsilonn: it has no effect; did you mean epsilon?'),
    ({'chain_file': 'no-such-file.yaml'}, 'no-such-file.yaml: the file cannot be read'),
    ({'chain_file': 'package://nowhere/x.yaml'}, "package 'nowhere' is not found"),
    ({'initial_state': 'cellar'}, "the initial state 'cellar' is not a state"),
    ({'message_type': 'std_msgs/msg/Strin'},
     "the package 'std_msgs' has no message 'Strin': did you mean 'String'?"),
    ({'message_type': 'geometry_msgs/msg/PoseStamped'},
     "has no field 'data'; it has header, pose. The message holds a position: to take the region "
     'from it, set input: pose'),
    ({'field': 'datum'}, "String has no field 'datum'; it has data"),
    ({'message_type': 'std_msgs/msg/Float64'}, 'so it must be a string, an integer'),
    ({'symbol_map': "['1:a']"}, "symbol_map has the item '1:a': write it as value=state"),
    ({'symbol_map': "['1=z']"}, "symbol_map names 'z', which is not a state"),
    ({'no_region': "['a']"}, "'a' is listed in no_region and also names a state"),
    ({'sampling': 'period', 'period': 1e-300}, 'period is 1e-300'),
    ({'sampling': 'period', 'period': 1e-4}, 'period is 0.0001 s: it must be at least 0.001 s'),
    ({'sampling': 'period', 'unknown_symbol': 'drop'}, 'contradict'),
    ({'input_timeout': 1.0}, 'input_timeout needs sampling: period'),
    ({'adjacency': 2**63 - 1}, 'it must be at most'),
    ({'use_sim_time': 1}, 'the node cannot be made'),
    ({'message_type': './msg/X'}, 'is no message type'),
    ({'message_type': 'std_msgs/msg/__name__'}, "has no message '__name__'"),
    ({'message_type': 'std_msgs/msg/UInt8'},
     "no value of the field 'data', a uint8, names a state"),
    ({'message_type': 'std_msgs/msg/UInt8', 'symbol_map': "['x=a']"}, 'can never have'),
    ({'chain_file': '~nobody.at.all/x.yaml'}, 'there is no such user'),
    ({'qos_overrides./region.subscription.reliability': 'nonsense'}, 'it must be one of'),
    ({'qos_overrides./private_region.publisher.depth': 0}, 'must be an integer, at least 1'),
    ({'state_file': '/nowhere/at/all'}, 'state_file /nowhere/at/all cannot be opened'),
], ids=lambda value: value if isinstance(value, str) else None)
def test_a_wrong_parameter_ends_the_start_with_a_sentence(starter, chain_file, parameters,
                                                          sentence):
    given = {'chain_file': chain_file, 'epsilon': 1.0, **parameters}
    assert sentence in starter.refused(
        'privatizer', **{k: v for k, v in given.items() if v is not None})


def test_parameters_of_other_nodes_in_a_shared_file_are_only_said(world, chain_file):
    parameters = chain_file.with_name('shared.yaml')
    parameters.write_text('/**:\n  ros__parameters:\n    period_ms: 3\n    robot: r1\n')
    run = world.privatizer('--params-file', str(parameters), chain_file=chain_file, epsilon=SURE,
                           adjacency=1)
    for name in ('period_ms', 'robot'):
        assert f'there is no parameter {name}: it has no effect' in run.log


def test_a_file_for_another_name_is_said(starter, chain_file):
    parameters = chain_file.with_name('other.yaml')
    parameters.write_text('privatiser:\n  ros__parameters:\n    epsilon: 3.0\n')
    assert 'no parameter reached this node' in starter.refused(
        'privatizer', '--params-file', str(parameters))


def test_another_message_type_on_the_topic_is_said(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    world.node.create_publisher(Int32, 'region', RELIABLE)
    run.wait_for('is published as std_msgs/msg/Int32, which is not message_type')


def test_period_needs_staying(starter, tmp_path):
    file = tmp_path / 'moving.chain.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [b], b: [a, b]}\n')
    assert 'set self_loops: true' in starter.refused('privatizer', chain_file=file, epsilon=1.0,
                                                     sampling='period')
    end, log = starter.start('privatizer', chain_file=file, epsilon=1.0, adjacency=1,
                             sampling='period', self_loops='true')
    assert end == 'started', log


def test_a_second_start_is_refused_and_does_no_harm(world, chain_file):
    first = world.privatizer(chain_file=chain_file, epsilon=SURE)
    second = world.privatizer(wait=False, chain_file=chain_file, epsilon=SURE)
    assert second.wait() == 1
    assert 'already publishes /private_region' in second.log
    private = world.listen()
    send(world.publisher(), 'b', 'c')
    world.wait_until(lambda: private == ['b', 'c'], 'the first to go on')
    other = world.privatizer('-r', 'private_region:=other', '-r', '__node:=second',
                             chain_file=chain_file, epsilon=SURE)
    assert 'anyone who reads both gets the sum of their ε' in other.log
    first.kill()
    again = world.privatizer(chain_file=chain_file, epsilon=SURE)
    for run, number in (other, signal.SIGINT), (again, signal.SIGTERM):
        assert run.stop(number) == 0 and 'Traceback' not in run.log


def test_diagnostics(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=1.5, adjacency=2, policy='guided')
    statuses, private = world.diagnostics(), world.listen()
    send(world.publisher(), 'b', 'x', 'c')
    world.wait_until(lambda: len(private) == 3, 'three symbols')
    world.wait_until(lambda: statuses and values_of(statuses[-1])['published'] == '3', 'a report')
    status = statuses[-1]
    values = values_of(status)
    assert status.level == status.OK and status.name == '/privatizer: private region'
    rate = float(values.pop('published per second'))
    assert 0 <= rate <= 3
    assert values == {
        'lost messages': '0', 'waiting messages': '0',
        'chain': 'four.chain.yaml', 'states': '4', 'epsilon': '1.5', 'adjacency': '2',
        'policy': 'guided', 'sampling': 'message', 'active': 'True', 'published': '3',
        'publishers of the raw topic': '1', 'other subscribers of the raw topic': '0'}
    world.listen('region')
    world.wait_until(lambda: statuses[-1].level == status.WARN, 'a warning')
    assert statuses[-1].message == '1 other node reads the raw topic /region: /observer'


def test_none_of_many_messages_is_lost(world, chain_file):
    """More than histories hold: places in them are used again."""
    world.privatizer(chain_file=chain_file, epsilon=SURE, policy='guided')
    private = world.listen()
    publisher = world.publisher()
    for count in range(500, 6000, 500):  # bursts of 500 messages as fast as this process can
        send(publisher, *'b' * 500)
        world.wait_until(lambda count=count: len(private) >= count, 'a burst')
    assert len(private) == 5500


def test_states_that_no_route_reaches_are_said(world, chain_file, tmp_path):
    chain_file.write_text('initial_state: a\ntransitions: '
                          '{a: [a, b], b: [a], far: [far, farther], farther: [far]}\n')
    (tmp_path / 'logs').mkdir()
    runs = [world.privatizer(chain_file=chain_file, epsilon=1.0),
            world.start('log_release', chain_file=chain_file, epsilon=1.0, subject='r',
                        log_dir=tmp_path / 'logs', release_dir=tmp_path / 'out',
                        ledger_file=tmp_path / 'ledger')]
    for run in runs:
        run.wait_for('no route from the initial state reaches 2 states of 4')
