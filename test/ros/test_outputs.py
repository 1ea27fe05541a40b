# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What goes out for a region: its name, position, picture, any message; as late readers get it.

Every field of every message but its stamp is computed here again, from the private word and the
map alone.
"""
from itertools import pairwise
from unittest.mock import Mock

from geometry_msgs.msg import PoseWithCovarianceStamped
from harness import ROOT, send
import numpy as np
import pytest
from std_msgs.msg import Int16MultiArray
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.regions import read_places
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.outputs import Outputs
from symdp_ros.ros.outputs.markers_output import WARNING
from symdp_ros.ros.outputs.pose_output import moments
from visualization_msgs.msg import Marker, MarkerArray

DEPOT = ROOT / 'config' / 'depot.geojson'
#: Of policies that publish what they draw; what adaptive publishes: `test_delay.py`.
MAP = {'chain_file': DEPOT, 'initial_state': "'1'", 'self_loops': 'true', 'policy': 'guided'}
TEMPLATE = "'{data: [1, 32, \"{region}\", \"{next}\"]}'"
CHAIN = read_chain(DEPOT, '1', self_loops=True)
PLACES = read_places(read_graph(DEPOT))
WORD = ['2', '3', '4', '5', '4', '3', '2', '1', '1', '2', '3', '4', '5', '6']


def test_all_outputs_also_for_readers_that_come_late(world):
    private = world.listen()
    topics = {name: world.listen_whole(f'private_{name}', kind) for name, kind in (
        ('pose', PoseWithCovarianceStamped), ('markers', MarkerArray),
        ('custom', Int16MultiArray))}
    run = world.privatizer(epsilon=1.0, outputs='[string, pose, markers, custom]',
                           output_type='std_msgs/msg/Int16MultiArray', output_template=TEMPLATE,
                           map_frame='floor', **MAP)
    publisher = world.publisher()
    for count, region in enumerate(WORD, 1):
        send(publisher, region)
        world.wait_until(lambda count=count: len(private) == count, 'a private region')
        world.wait_until(lambda count=count: len(topics['pose']) == len(topics['custom']) == count,
                         'its pose and message')
        world.wait_until(lambda count=count: len(topics['markers']) == count + 1, 'its picture')
    run.wait_for('publishes /private_region (std_msgs/msg/String), /private_pose (geometry_msgs/'
                 'msg/PoseWithCovarianceStamped), /private_markers (visualization_msgs/msg/'
                 'MarkerArray), /private_custom (std_msgs/msg/Int16MultiArray)')
    assert CHAIN.is_feasible(private)
    for region, pose in zip(private, topics['pose'], strict=True):
        place = PLACES[region]
        assert pose.header.frame_id == 'floor' and pose.header.stamp.sec > 0
        assert (pose.pose.pose.position.x, pose.pose.pose.position.y) == (place.x, place.y)
        assert pose.pose.pose.orientation.w == 1.0
        covariance = pose.pose.covariance.reshape(6, 6)
        assert covariance[:2, :2].tolist() == [list(place.variance[:2]), list(place.variance[1:])]
        covariance[:2, :2] = covariance[5, 5] = 0
        assert not covariance.any()
    for region, message in zip(private, topics['custom'], strict=True):
        assert message.data.tolist()[:3] == [1, 32, int(region)]
        assert str(message.data[3]) in CHAIN.successors(region)
    assert_pictures(private, topics['markers'])
    # The map, and the last region.
    arrays = world.listen_whole('private_markers', MarkerArray)
    poses = world.listen_whole('private_pose', PoseWithCovarianceStamped)
    world.wait_until(lambda: len(arrays) == 2 and poses, 'what is latched')
    arrays.sort(key=lambda array: array.markers[0].ns != 'moves')
    assert {marker.ns for marker in arrays[0].markers} == {
        'moves', 'regions', 'names', 'warning', 'legend'}
    assert f'private: {private[-1]}' in [marker.text for marker in arrays[1].markers]
    assert poses[-1].pose.pose.position.x == PLACES[private[-1]].x


def width():
    xs = [place.x for place in PLACES.values()]
    return max(xs) - min(xs)


def assert_pictures(private, arrays):
    arrays = sorted(arrays, key=lambda array: array.markers[0].ns != 'moves')  # two publishers
    drawn, *live = arrays
    kinds = {marker.ns for marker in drawn.markers}
    assert kinds == {'moves', 'regions', 'names', 'warning', 'legend'}
    assert [marker.text for marker in drawn.markers if marker.ns == 'legend'] == [
        'private: the region now, and the ten before', 'ε = 1: hides any region']
    assert sorted(marker.text for marker in drawn.markers if marker.ns == 'names') == sorted(
        CHAIN.states)
    assert next(marker.text for marker in drawn.markers
                if marker.ns == 'warning') == f'private {WARNING}'
    for marker in drawn.markers:  # a letter is about 0.8 of a capital's height wide
        if marker.ns in ('warning', 'legend'):
            assert 0.8 * marker.scale.z * len(marker.text) < 1.3 * width()
    moves = next(marker for marker in drawn.markers if marker.ns == 'moves')
    assert len(moves.points) == 2 * sum(
        a != b for a in CHAIN.states for b in CHAIN.successors(a))
    for count, array in enumerate(live, 1):
        recent = private[max(0, count - 11):count][::-1]
        by_name = {(marker.ns, marker.id): marker for marker in array.markers}
        assert by_name['name now', 0].text == f'private: {recent[0]}'
        now = by_name['now', 1].pose.position
        assert (now.x, now.y) == (PLACES[recent[0]].x, PLACES[recent[0]].y)
        if count > 1:
            assert [(p.x, p.y) for p in by_name['trail', 0].points] == [
                (PLACES[region].x, PLACES[region].y) for region in recent]
            assert len(by_name['trail', 0].colors) == len(recent)
        assert set(by_name) <= {('trail', 0), ('now', 1), ('name now', 0)}
    for array in arrays:
        for marker in array.markers:
            assert marker.header.frame_id == 'floor' and marker.action == Marker.ADD
            assert marker.color.a > 0 and not (marker.lifetime.sec or marker.lifetime.nanosec)
            assert marker.pose.orientation.w == 1.0
            assert len(marker.colors) in (0, len(marker.points))
            above = marker.pose.position.z > 0
            assert above == (marker.type == Marker.TEXT_VIEW_FACING), 'names lie above lines'
            if marker.type == Marker.LINE_LIST:
                assert len(marker.points) % 2 == 0
        names = [(marker.ns, marker.id) for marker in array.markers]
        assert len(set(names)) == len(names)


def test_next_is_drawn_anew_by_the_chain(world):
    """From each region, all that can follow comes; that it is so rare not to: below 1e-6."""
    custom = world.listen_whole('private_custom', Int16MultiArray)
    chain = world.directory / 'two.chain.yaml'
    chain.write_text("initial_state: '1'\ntransitions: {'1': {'1': 0.75, '2': 0.25}, '2': ['1']}")
    world.privatizer(chain_file=chain, epsilon=0.0, policy='guided', outputs='[custom]',
                     output_type='std_msgs/msg/Int16MultiArray', output_template=TEMPLATE)
    send(world.publisher(), *['1'] * 200)
    world.wait_until(lambda: len(custom) == 200, 'all of them')
    pairs = [tuple(message.data.tolist()[2:]) for message in custom]
    assert set(pairs) == {(1, 1), (1, 2), (2, 1)}
    # They are not the next private regions.
    assert any(following != region for (_, following), (region, _) in pairwise(pairs))


def test_the_last_region_is_shown_again_after_a_restart(world):
    poses, private = world.listen_whole('private_pose', PoseWithCovarianceStamped), world.listen()
    options = {**MAP, 'epsilon': 1.0, 'outputs': '[string, pose]',
               'state_file': world.directory / 'word.state'}
    run = world.privatizer(**options)
    world.latch('2')
    world.wait_until(lambda: private and poses, 'a region')
    run.kill()
    run = world.privatizer(**options)
    world.wait_until(lambda: len(private) == 2 and len(poses) == 2, 'the region again')
    assert private[0] == private[1] and poses[0].pose.pose == poses[1].pose.pose


@pytest.mark.parametrize('options, problem', [
    ({'outputs': '[string, poses]'}, "outputs names 'poses': each must be one of string, pose"),
    ({'output_template': "'{data: a}'"}, "output_template needs 'custom' among the outputs"),
    ({'outputs': '[custom]'}, 'outputs: custom needs an output_template'),
    ({'outputs': '[custom]', 'output_template': "'{data: 5}'",
      'output_type': 'std_msgs/msg/Nothing'}, "has no message 'Nothing'"),
    ({'outputs': '[pose]', 'chain_file': ROOT / 'config' / 'warehouse.chain.yaml',
      'initial_state': "''"}, 'no position'),
])
def test_wrong_options(starter, options, problem):
    assert problem in starter.refused('privatizer', **{**MAP, 'epsilon': 1.0, **options})


def test_no_output_stays_where_another_cannot_be_made():
    node, chain = Mock(), Chain({'a': ['a']}, 'a')
    settings = {option.name: option.default for option in PARAMETERS['privatizer']} | {
        'outputs': ['belief', 'custom'], 'output_template': '{dota: "{region}"}'}
    with pytest.raises(ConfigurationError, match='dota'):
        Outputs(node, settings, chain, (None, {}))
    node.destroy_publisher.assert_called_once_with(node.create_publisher.return_value)


@pytest.mark.parametrize('output', ['string', 'custom'])
def test_no_output_goes_onto_the_sensitive_topic(starter, output):
    topic = {'string': 'private_region'}.get(output, f'private_{output}')
    template = {'output_template': '\'{data: "{region}"}\''} if output == 'custom' else {}
    assert '/region would be both an input and an output' in starter.refused(
        'privatizer', '-r', f'{topic}:=region', epsilon=1.0, outputs=f'[{output}]', **MAP,
        **template)


@pytest.mark.parametrize('node, topics, options', [
    ('privatizer', ['private_pose:=private_region'], {'outputs': '[string, pose]'}),
    ('privatizer', ['private_belief:=/private_region'],
     {'outputs': '[string, belief]', 'policy': 'adaptive'}),
    ('privatizer', ['private_pose:=all', 'private_markers:=all'],
     {'outputs': '[pose, markers]'}),
])
def test_no_two_outputs_go_onto_one_topic(starter, node, topics, options):
    assert 'two outputs would both go to /' in starter.refused(
        node, *(word for topic in topics for word in ('-r', topic)), epsilon=1.0, **MAP | options)


def test_every_output_is_claimed(world):
    options = {**MAP, 'epsilon': 1.0, 'outputs': '[pose]'}
    world.privatizer(**options)
    second = world.privatizer(wait=False, **options)
    assert second.wait() == 1 and 'already publishes /private_pose' in second.log
    world.privatizer('-r', '__node:=other', '-r', 'private_pose:=other_pose', '-r',
                     'region:=other_region', **options)


def test_the_moments_of_a_mixture():
    means, variances = np.array([[0.0, 0.0], [4.0, 2.0]]), np.array([[1.0, 0.5, 1.0], [3, 0, 5]])
    mean, variance = moments(np.array([0.25, 0.75]), means, variances)
    assert mean.tolist() == [3.0, 1.5]
    assert variance == pytest.approx([0.25 + 0.75 * 3 + 0.25 * 9 + 0.75 * 1,
                                      0.125 + 0.25 * 4.5 + 0.75 * 0.5,
                                      0.25 + 0.75 * 5 + 0.25 * 2.25 + 0.75 * 0.25])
