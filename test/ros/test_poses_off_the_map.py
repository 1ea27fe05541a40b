# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a privatizer says of poses that are not in the coordinates of its map, and of the map."""
from functools import partial

from geometry_msgs.msg import PoseStamped
from harness import pose, ROOT
import pytest
from rcl_interfaces.msg import Log
from strategies import thorough
from symdp_ros.ros.live import live_input

DEPOT = ROOT / 'config' / 'depot.geojson'
OFF = 'lie farther from the map than it is large'
TWO_AT_ONE_PLACE = """\
{"type": "FeatureCollection", "features": [
{"type": "Feature", "properties": {"id": 0}, "geometry": {"type": "Point", "coordinates": [2, 2]}},
{"type": "Feature", "properties": {"id": 1}, "geometry": {"type": "Point", "coordinates": [2, 2]}},
{"type": "Feature", "properties": {"id": 2}, "geometry": {"type": "Point", "coordinates": [8, 8]}},
{"type": "Feature", "properties": {"id": 10, "startid": 0, "endid": 2},
 "geometry": {"type": "LineString", "coordinates": [[2, 2], [8, 8]]}},
{"type": "Feature", "properties": {"id": 11, "startid": 2, "endid": 1},
 "geometry": {"type": "LineString", "coordinates": [[8, 8], [2, 2]]}},
{"type": "Feature", "properties": {"id": 12, "startid": 2, "endid": 0},
 "geometry": {"type": "LineString", "coordinates": [[8, 8], [2, 2]]}}]}
"""


@pytest.fixture
def make(privatizer_here, monkeypatch):
    """Give a function that makes a privatizer that reads poses; its first minute is a second."""
    monkeypatch.setattr(live_input, 'MINUTE', 1.0)
    return partial(privatizer_here, input='pose', chain_file=str(DEPOT), initial_state='0',
                   self_loops=True, epsilon=1.0)


def warnings_of(world, make, places):
    """Return the texts and the log of a privatizer, once its reports are about these poses."""
    lines = world.listen_whole('/rosout', Log)
    statuses, private = world.diagnostics(), world.listen()
    node = make()
    assert node.autostart()
    publisher = world.publisher('pose', PoseStamped)
    for at in places:
        publisher.publish(pose(*at))
    world.wait_until(lambda: len(private) >= len(places), 'the private word')
    world.wait_until(lambda: node._input._judged_at is None, 'the end of the minute')
    statuses.clear()
    world.wait_until(lambda: len(statuses) > 1, 'reports')
    return ({status.message for status in statuses[1:]},
            [line.msg for line in lines if line.level >= 30])


def test_most_poses_of_the_first_minute_lie_off_the_map(world, make):
    inside = [(1, 1)] * 2
    messages, log = warnings_of(world, make, [*inside, (38_000, 5), (38_001, 5), (-38_000, 0)])
    assert all(OFF in message for message in messages)
    assert sum(OFF in line for line in log) == 1
    told = ' '.join([*messages, *log])
    assert '38' not in told, 'how far they are is told to the operator alone'


@pytest.mark.parametrize('places', [
    thorough([(1, 1)] * 6), thorough([(5, 3), (1, 1)] * 3), [(1, 1), (-4, 9), (14, 2)] * 2,
    [(1, 1), (1, 1), (38_000, 5)] * 2, [(float('nan'), 1), (1, 1), (1e30, 2)] * 2])
def test_nothing_is_said_of_other_poses(world, make, places):
    messages, log = warnings_of(world, make, places)
    assert not any(OFF in text for text in [*messages, *log])


def test_what_comes_after_the_first_minute_is_not_judged(world, make):
    """Where the robot goes later would show: it is judged once in a process."""
    statuses, node = world.diagnostics(), make()
    assert node.autostart()
    publisher = world.publisher('pose', PoseStamped)
    publisher.publish(pose(1, 1))
    world.wait_until(lambda: node._input._judged_at is None, 'the end of the minute')
    for _ in range(9):
        publisher.publish(pose(38_000, 5))
    world.wait_until(lambda: node._input.locator.far == 9, 'the poses')
    assert node.trigger_deactivate() and node.trigger_cleanup()
    assert node.trigger_configure() and node.trigger_activate()
    assert node._input._judged_at is None
    statuses.clear()
    world.wait_until(lambda: len(statuses) > 2, 'reports')
    assert not any(OFF in status.message for status in statuses)


def test_states_that_no_pose_leads_to_are_named_at_the_start(world, tmp_path):
    """It depends on the map alone."""
    file = tmp_path / 'rows.geojson'
    file.write_text(TWO_AT_ONE_PLACE)
    settings = {'chain_file': file, 'initial_state': '0', 'self_loops': True, 'epsilon': 1.0}
    run = world.privatizer(input='pose', **settings)
    assert 'no pose leads to 1 state of the map' in run.log
    assert "such as '0' in place of '1'" in run.log
    run.stop()
    run = world.privatizer(**settings)
    assert 'no pose leads' not in run.log
