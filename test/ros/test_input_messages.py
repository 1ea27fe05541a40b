# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages are input, and what is read from them: one robot of many, feedback of actions."""
import ament_index_python
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, Pose, PoseArray, PoseStamped
import pytest
from rclpy.action import ActionClient, ActionServer
from rclpy.serialization import serialize_message
from std_msgs.msg import Header, Int16MultiArray
from symdp_ros import ConfigurationError, LogError
from symdp_ros.logs.recordings import with_rosbag2
from symdp_ros.logs.recordings.wanted import Wanted
from symdp_ros.messages.field_paths import NOT_INPUT
from symdp_ros.messages.fields import message_class, name_of_type
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.ros.region_messages import pose_reader, region_reader
from test_msgs.action import Fibonacci, NestedMessage

FEEDBACK = Fibonacci.Impl.FeedbackMessage


def both(reader, message):
    """Return what is read from a message; the same is read from its bytes."""
    found = reader.read(message)
    assert reader.read_serialized(serialize_message(message)) == found
    return found


def reader_of(kind, field, states, **settings):
    return region_reader(kind, InputSettings(field=field, **settings), states)


def test_one_robot_of_many():
    def status(**regions):
        return DiagnosticArray(status=[
            DiagnosticStatus(name=name, level=b'\1', values=[KeyValue(key='at', value=value)])
            for name, value in regions.items()])

    reader = reader_of(DiagnosticArray, 'status[name=r1].values[key=at].value', ['a', 'b'])
    assert both(reader, status(r0='b', r1='a')) == 'a'
    assert both(reader, status(r1='b', r2='a')) == 'b'
    assert both(reader, status(r1='elsewhere')) is None
    assert both(reader, status(r2='a')) is NOT_INPUT
    assert both(reader, status()) is NOT_INPUT
    assert reader.read_serialized(b'no message') is None
    with pytest.raises(ConfigurationError, match=r'status\[name=NAME\]'):
        reader_of(DiagnosticArray, 'status[0].values[key=at].value', ['a'])


def test_conditions_on_a_flat_array():
    reader = reader_of(Int16MultiArray, 'data[2]', ['3', 'a'], symbol_map=('4=a',),
                       where=('data[0]=1', 'data[1]=-11'))
    for data, state in (([1, -11, 3], '3'), ([1, -11, 4], 'a'), ([1, -11, 5], None),
                        ([1, -11], None), ([1, 11, 3], NOT_INPUT), ([2, -11, 3], NOT_INPUT),
                        ([1], NOT_INPUT), ([], NOT_INPUT)):
        assert both(reader, Int16MultiArray(data=data)) == state


@pytest.mark.parametrize('name', ['test_msgs/action/Fibonacci',
                                  'test_msgs/action/Fibonacci_FeedbackMessage'])
def test_the_feedback_of_an_action_by_name(name):
    assert message_class(name) is FEEDBACK
    assert name_of_type(FEEDBACK) == 'test_msgs/action/Fibonacci_FeedbackMessage'


@pytest.mark.parametrize('name, text', [
    ('test_msgs/action/Fibonaci', "'test_msgs' has no action 'Fibonaci'"),
    ('test_msgs/action/Fibonacci_SendGoal_Request', 'has no action'),
    ('std_msgs/action/Fibonacci', "package 'std_msgs' .* is not found"),
    ('test_msgs/action/', 'is no message type')])
def test_no_such_action(name, text):
    with pytest.raises(ConfigurationError, match=text):
        message_class(name)


def test_reading_feedback():
    reader = reader_of(FEEDBACK, 'feedback.sequence[1]', ['5'])
    for sequence, state in (([0, 5], '5'), ([5, 0], None), ([5], None)):
        message = FEEDBACK(feedback=Fibonacci.Feedback(sequence=sequence))
        assert both(reader, message) == state
    nested = NestedMessage.Impl.FeedbackMessage
    reader = reader_of(nested, 'feedback.nested_field_no_pkg.time_value.sec', ['7'],
                       where=('feedback.nested_different_pkg.sec=1',))
    for seconds, state in ((1, '7'), (2, NOT_INPUT)):
        message = nested()
        message.feedback.nested_field_no_pkg.time_value.sec = 7
        message.feedback.nested_different_pkg.sec = seconds
        assert both(reader, message) == state
    with pytest.raises(ConfigurationError, match='Fibonacci_Feedback has no field .* sequence'):
        reader_of(FEEDBACK, 'feedback.node', ['5'])


class Everywhere:
    """A locator that names where it was asked for."""

    def locate(self, x, y, level=None):
        return f'{x} {y} {level}'


def test_reading_a_position():
    message = PoseStamped(header=Header(frame_id='map'), pose=Pose(position=Point(x=1.0, y=2.0)))
    foreign = []

    def reader(kind=PoseStamped, field='data', **settings):
        return pose_reader(kind, InputSettings('pose', field=field, **settings), Everywhere(),
                           foreign.append)

    assert both(reader(), message) == '1.0 2.0 None'
    assert both(reader(level_field='header.frame_id'), message) == '1.0 2.0 map'
    assert both(reader(where=['header.stamp.sec=0']), message) == '1.0 2.0 None'
    assert both(reader(where=['header.stamp.sec=1']), message) is NOT_INPUT
    assert foreign == []
    assert both(reader(map_frame='odom'), message) is None
    assert foreign == ['map', 'map']
    assert both(reader(Pose), message.pose) == both(reader(Point), message.pose.position)
    array = PoseArray(header=message.header, poses=[message.pose])
    assert both(reader(PoseArray, 'poses[0]'), array) == '1.0 2.0 None'
    assert both(reader(PoseArray, 'poses[1]'), array) is None
    with pytest.raises(ConfigurationError, match='leads to no position'):
        reader(Header)


def test_what_rosbag2_recorded(monkeypatch):
    """The work of the child process, as rosbag2_py is not installed everywhere."""
    monkeypatch.setattr(ament_index_python, 'has_resource', lambda kind, name: True)

    def decoded(message, **wanted):
        return with_rosbag2._decode(name_of_type(type(message)), tuple(Wanted(**wanted)),
                                    [serialize_message(message), serialize_message(message)])

    feedback = FEEDBACK(feedback=Fibonacci.Feedback(sequence=[0, 5]))
    assert decoded(feedback, field='feedback.sequence[1]') == [(0, '5'), (1, '5')]
    assert decoded(feedback, field='feedback.sequence[2]') == [(0, None), (1, None)]
    assert decoded(feedback, field='feedback.sequence[1]',
                   where=('feedback.sequence[0]=1',)) == []
    pose = PoseStamped(header=Header(frame_id='map'), pose=Pose(position=Point(x=1.0, y=2.0)))
    assert decoded(pose, pose=True)[1] == (1, (1.0, 2.0, None))
    with pytest.raises(LogError, match="in the frame 'map', and map_frame is 'odom'"):
        decoded(pose, pose=True, map_frame='odom', refuse_frames=True)
    with pytest.raises(LogError, match='is a list'):
        decoded(feedback, field='feedback.sequence')
    with pytest.raises(LogError, match='no value of the field'):
        decoded(feedback, field='feedback.sequence[1]', naming=('a',))
    assert with_rosbag2._decode('test_msgs/action/Fibonacci_FeedbackMessage',
                                ('feedback.sequence[1]',), [b'no message']) is None


def test_a_privatizer_of_an_action_server(world, chain_file):
    private = world.listen()

    def execute(goal):
        while len(private) < 3:  # what is published before it is subscribed is lost
            goal.publish_feedback(Fibonacci.Feedback(sequence=[0, 2]))
            world.spin()
        goal.succeed()
        return Fibonacci.Result()

    server = ActionServer(world.node, Fibonacci, 'count', execute)
    client = ActionClient(world.node, Fibonacci, 'count')
    topic = '/count/_action/feedback'
    run = world.privatizer(
        '-r', f'region:={topic}', chain_file=chain_file, epsilon=1000.0,
        message_type='test_msgs/action/Fibonacci', field='feedback.sequence[1]',
        symbol_map="['1=a','2=b']")
    [info] = world.node.get_publishers_info_by_topic(topic)
    assert info.topic_type == name_of_type(FEEDBACK)
    world.wait_until(lambda: world.node.count_subscribers(topic) > 1, 'the subscriptions')
    world.wait_until(client.server_is_ready, 'the action server')
    client.send_goal_async(Fibonacci.Goal())
    world.wait_until(lambda: len(private) >= 3, 'the private symbols')
    assert set(private) == {'b'} and 'Traceback' not in run.log
    client.destroy()
    server.destroy()
