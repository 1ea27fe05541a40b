# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings in which not every message is input: one robot of many, conditions, feedback."""
import numpy as np
import pytest
from recordings import Corridor, fleets, own_types, record, stamped
from refusals import refused
from rosbags.typesys import get_typestore, Stores
from symdp_ros.errors import ConfigurationError
from symdp_ros.logs import LogError, read_log
from symdp_ros.logs.recordings.serialized import decoder
from symdp_ros.logs.recordings.wanted import Wanted
from symdp_ros.messages.fields import full_type

pytestmark = pytest.mark.usefixtures('library')
#: rosbag2_py knows the types of installed packages alone, and `own_types` are of none.
own = pytest.mark.parametrize('library', ['rosbags'], indirect=True)
TB1, TB2 = ('tb1', 2, 1.0, 1.0, 'L1'), ('tb2', 3, 5.0, 1.0, 'L1')


@own
def test_one_robot_of_a_fleet(tmp_path):
    store = own_types()
    bag = record(tmp_path / 'bag', 'mcap', fleets(store, [TB1, TB2], [TB2, TB1], [TB2], [],
                                                  [('tb1', 7, 0.0, 0.0, 'L1')]),
                 'rmf_fleet_msgs/msg/FleetState', store=store)
    assert read_log(bag, field='robots[name=tb1].mode.mode') == [(0, '2'), (1, '2'), (4, '7')]
    assert read_log(bag, field='robots[name=tb2].mode.mode') == [(0, '3'), (1, '3'), (2, '3')]
    assert read_log(bag, field='robots[mode.mode=7].name') == [(4, 'tb1')]
    assert read_log(bag, field='name', where=['robots[name=tb1].mode.mode=7']) == [(4, 'fleet')]
    with refused(LogError, 'no message of the topic /region is input', path=bag):
        read_log(bag, field='robots[name=tb3].mode.mode')
    with refused(LogError, 'select one by its name, as robots[name=NAME]', path=bag):
        read_log(bag, field='robots[0].mode.mode')
    with refused(LogError, 'where has the condition', path=bag):
        read_log(bag, field='name', where=['name'])
    with refused(LogError, 'can never have the value', path=bag):
        read_log(bag, field='name', where=['robots[name=tb1].mode.mode=x'])


def test_conditions(tmp_path):
    store = get_typestore(Stores.LATEST)
    layout = store.types['std_msgs/msg/MultiArrayLayout']([], 0)
    messages = [(stamp, (layout, np.array(data, np.uint8))) for stamp, data in enumerate(
        [(1, 11, 5), (2, 11, 6), (1, 11), (1,), (), (1, 11, 7)])]
    bag = record(tmp_path / 'bag', 'mcap', messages, 'std_msgs/msg/UInt8MultiArray', store=store)
    where = ['data[0]=1', 'data[1]=11']
    assert read_log(bag, field='data[2]', where=where) == [(0, '5'), (2, None), (5, '7')]
    assert read_log(bag, field='data[2]', where=['data[0]=2']) == [(1, '6')]


@pytest.mark.parametrize('name, full', [
    ('std_msgs/String', 'std_msgs/msg/String'),
    ('nav2_msgs/action/FollowPath', 'nav2_msgs/action/FollowPath_FeedbackMessage'),
    ('nav2_msgs/action/FollowPath_FeedbackMessage',
     'nav2_msgs/action/FollowPath_FeedbackMessage')])
def test_names_of_types(name, full):
    assert full_type(name) == full


@pytest.mark.parametrize('name', ['nav2_msgs/srv/A', 'FollowPath', 'a/action/b/c', 'a/action/'])
def test_names_of_no_types(name):
    with refused(ConfigurationError, setting='message_type'):
        full_type(name)


def test_regions_of_poses(tmp_path):
    store = get_typestore(Stores.LATEST)
    bag = record(tmp_path / 'bag', 'mcap', stamped(
        store, (0.5, 0.0, 'map'), (-0.5, 0.0, 'map'), (0.5, 0.0, '/map'), (2.0, 0.0, 'map'),
        (2.0, 10.0, 'map'), (np.nan, 0.0, 'map')), 'geometry_msgs/msg/PoseStamped',
        topic='/pose', store=store)
    expected = list(enumerate(['east', 'west', 'west', 'east', None, None]))
    for settings in ({}, {'field': 'pose'}, {'map_frame': '/map'},
                     {'message_type': 'geometry_msgs/PoseStamped'}):
        assert read_log(bag, topic='pose', locator=Corridor(), **settings) == expected
    assert read_log(bag, topic='pose', locator=Corridor(), where=['header.frame_id=/map']) == [
        (2, 'east')]
    with refused(LogError, "pose in the frame 'map', and map_frame is 'odom'", path=bag):
        read_log(bag, topic='pose', locator=Corridor(), map_frame='odom', refuse_frames=True)
    with refused(LogError, 'leads to no position', path=bag):
        read_log(bag, topic='pose', locator=Corridor(), field='header')
    with refused(LogError, "no field 'level'", path=bag):
        read_log(bag, topic='pose', locator=Corridor(), level_field='level')


@own
def test_the_pose_of_one_robot_of_a_fleet(tmp_path):
    store = own_types()
    bag = record(tmp_path / 'bag', 'mcap', fleets(
        store, [TB1, TB2], [TB2, ('tb1', 2, -1.0, 1.0, 'L1')], [TB2],
        [('tb1', 2, 1.0, 1.0, 'L2')]), 'rmf_fleet_msgs/msg/FleetState', store=store)
    settings = {'field': 'robots[name=tb1].location',
                'level_field': 'robots[name=tb1].location.level_name'}
    assert read_log(bag, locator=Corridor(), **settings) == [(0, 'east'), (1, 'west'), (3, None)]


@pytest.mark.parametrize('name, content', [('a.csv', 'stamp,symbol\n0,dock\n'),
                                           ('a.jsonl', '{"stamp": 0, "symbol": "dock"}\n')])
def test_poses_and_conditions_are_for_recordings(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert read_log(tmp_path / name) == [(0, 'dock')]
    with refused(LogError, 'input: pose is for recordings' if name == 'a.csv' else
                 "needs the keys 'stamp' and 'lastNodeId'", path=tmp_path / name):
        read_log(tmp_path / name, locator=Corridor())
    with refused(LogError, 'where is for recordings', path=tmp_path / name):
        read_log(tmp_path / name, where=['data[0]=1'])


@own
def test_feedback_of_an_action(tmp_path):
    store = own_types()
    store.register({'fleet_msgs/action/Route_FeedbackMessage':
                    store.fielddefs['fleet_msgs/msg/Route_FeedbackMessage']})
    types = store.types
    messages = [(stamp, (types['unique_identifier_msgs/msg/UUID'](np.zeros(16, np.uint8)),
                         types['fleet_msgs/msg/Route_Feedback'](node, 0)))
                for stamp, node in enumerate([4, 0, 7])]
    bag = record(tmp_path / 'bag', 'mcap', messages,
                 'fleet_msgs/action/Route_FeedbackMessage', store=store)
    settings = {'message_type': 'fleet_msgs/action/Route', 'field': 'feedback.last_node_id'}
    assert read_log(bag, **settings) == [(0, '4'), (1, '0'), (2, '7')]


def test_feedback_without_its_definition():
    with refused(LogError, 'rosbag2 does not record those of actions'):
        decoder('fleet_msgs/action/Route_FeedbackMessage', {}, Wanted())
