# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp check FILE --topic TOPIC`, over DDS, from a robot that publishes."""
from in_process import run_symdp, run_until
import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed')

MAP = 'config/depot.geojson'  # states 0 to 8
NAMES = 'config/warehouse.chain.yaml'


def check(world, *arguments, seconds=1):
    return run_symdp('check', *arguments, '--domain', world.domain, '--seconds', seconds)


def check_until(world, text, *arguments):
    return run_until(world, [text], 'check', *arguments, '--domain', world.domain, '--seconds', 1)


def latched(world, *names):
    """Publish names that a late reader still gets, and return the publisher."""
    from harness import LATCHED
    from std_msgs.msg import String

    publisher = world.publisher('/tb1/region', String, LATCHED, subscribers=0)
    for name in names:
        publisher.publish(String(data=name))
    return publisher


def test_names_that_are_no_states_are_told_with_the_nearest(world):
    latched(world, 'gate', 'Gate', 'Gate', 'aisle1', 'none', 'cellar')
    run = check_until(world, '6 in 1 s', NAMES, '--topic', '/tb1/region')
    assert run.returncode == 1 and not run.stderr
    assert '/tb1/region (std_msgs/msg/String)' in run.stdout
    assert '4 (67%)' in run.stdout
    assert "'Gate', 2 times: did you mean 'gate'?" in run.stdout
    assert "'aisle1', 1 time: did you mean 'aisle_1'" in run.stdout
    assert "'cellar', 1 time\n" in run.stdout
    run = check_until(
        world, '6 in 1 s', NAMES, '--topic', 'tb1/region', '--no-region', 'cellar',
        '--symbol-map', 'Gate=gate', '--symbol-map', 'aisle1=aisle_1')
    assert run.returncode == 0 and 'name no state       none' in run.stdout
    assert 'no region           2 (--no-region)' in run.stdout


def test_fields_of_other_messages(world):
    from geometry_msgs.msg import PointStamped
    from harness import LATCHED

    publisher = world.publisher('/where', PointStamped, LATCHED, subscribers=0)
    message = PointStamped()
    message.header.frame_id = '3'
    publisher.publish(message)
    run = check_until(world, '1 in 1 s', MAP, '--topic', '/where', '--field', 'header.frame_id')
    assert run.returncode == 0
    run = check_until(world, "'data'", MAP, '--topic', '/where')
    assert run.returncode == 1 and 'PointStamped' in run.stderr


def test_a_topic_that_nobody_publishes_or_that_is_silent(world):
    run = check(world, MAP, '--topic', '/nobody', seconds=0.2)
    assert run.returncode == 1 and 'nobody publishes /nobody' in run.stderr
    world.publisher('/tb1/region', subscribers=0)
    run = check_until(world, 'no message came on /tb1/region', MAP, '--topic', '/tb1/region')
    assert run.returncode == 1
    run = check(world, MAP, '--topic', 'no topic')
    assert run.returncode == 1 and 'no topic' in run.stderr and 'Traceback' not in run.stderr


def stamped_pose(x, y, frame='map'):
    from geometry_msgs.msg import PoseStamped

    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = float(x), float(y)
    return message


def latched_poses(world, *poses):
    """Publish poses that a late reader still gets, and return the publisher."""
    from geometry_msgs.msg import PoseStamped
    from harness import LATCHED

    publisher = world.publisher('/tb1/pose', PoseStamped, LATCHED, subscribers=0)
    for at in poses:
        publisher.publish(stamped_pose(*at))
    return publisher


def test_how_far_poses_lie_from_their_regions(world):
    publisher = latched_poses(world, (0, 0), (1, 0.25), (2, 0.5), (2, 0, 'odom'))
    asked = MAP, '--topic', '/tb1/pose', '--input', 'pose'
    run = check_until(world, '4 in 1 s', *asked)
    assert run.returncode == 0 and not run.stderr
    assert 'no region           1 of 4 positions (25%)\n' in run.stdout
    assert "1 of 4 positions (25%) are in 'odom', not in 'map'" in run.stdout
    assert 'distances           half of them within ' in run.stdout
    assert 'far away' not in run.stdout
    for x in range(6):
        publisher.publish(stamped_pose(38_000 + x, 2))
    run = check_until(world, '10 in 1 s', *asked)
    assert run.returncode == 1 and not run.stderr
    assert 'far away            6 of 9 positions (67%) lie farther from the map than' in run.stdout
    # The operator's own limit counts.
    run = check_until(world, '10 in 1 s', *asked, '--max-distance', '100000')
    assert run.returncode == 0 and 'far away            6 of 9' in run.stdout


def test_floors_that_the_map_does_not_have(world, tmp_path):
    file = tmp_path / 'house.regions.yaml'
    file.write_text('initial_state: a\nregions:\n'
                    '  a: {polygon: [[0, 0], [4, 0], [4, 4], [0, 4]], level: L1}\n'
                    '  b: {polygon: [[4, 0], [8, 0], [8, 4], [4, 4]], level: L2}\n')
    latched_poses(world, (1, 1, 'B1'), (1, 1, 'B1'), (1, 1, 'L1'))
    run = check_until(world, '3 in 1 s', file, '--self-loops', '--topic', '/tb1/pose', '--input',
                      'pose', '--level-field', 'header.frame_id', '--map-frame', 'B1')
    assert run.returncode == 1, run.stderr
    assert "does not have: 'B1' (2 positions); it has 'L1', 'L2'" in run.stdout


def test_a_map_without_positions_and_messages_without_a_pose(world):
    run = check(world, NAMES, '--topic', '/tb1/region', '--input', 'pose', seconds=0.2)
    assert run.returncode == 1 and 'the map has no positions' in run.stderr
    latched(world, 'gate')
    run = check_until(world, 'must lead to what has x and y', MAP, '--topic', '/tb1/region',
                      '--input', 'pose')
    assert run.returncode == 1
