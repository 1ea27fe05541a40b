# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp doctor`: what it finds in graphs written down here, and in a real one."""
import subprocess
import sys

from in_process import ROOT, run_symdp, run_until
import pytest
from symdp_ros.cli.doctor import findings, segments_for_all
from symdp_ros.messages.revealing import shown_by

try:
    from symdp_ros.ros.graph.live_graph import Channel, LiveGraph
except ImportError:
    pytest.skip('rclpy is not installed', allow_module_level=True)


def graph(topics=(), services=(), nodes=()):
    """Make a graph of (name, type, sources, readers); names in one string."""
    def channels(rows):
        return [Channel(name, kind, set(sources.split()), set(readers.split()))
                for name, kind, sources, readers in rows]

    topics, services = channels(topics), channels(services)
    nodes = {*nodes, *(node for channel in [*topics, *services]
                       for node in channel.sources | channel.readers)}
    return LiveGraph(nodes, topics, services)


def found(made, only=()):
    """Return name → row; a row of several names counts for each."""
    return {name: row for row in findings(made, only) for name in row.what}


PRIVATIZER = [('/tb1/region', 'std_msgs/msg/String', '/tb1/amcl', '/tb1/privatizer'),
              ('/fleet/tb1/region', 'std_msgs/msg/String', '/tb1/privatizer', '/viewer'),
              ('/fleet/tb1/private_pose', 'geometry_msgs/msg/PoseWithCovarianceStamped',
               '/tb1/privatizer', ''),
              ('/fleet/tb1/private_belief', 'diagnostic_msgs/msg/DiagnosticStatus',
               '/tb1/privatizer', '/viewer'),
              ('/clock', 'rosgraph_msgs/msg/Clock', '/sim', '/tb1/privatizer'),
              ('/parameter_events', 'rcl_interfaces/msg/ParameterEvent', '/tb1/privatizer',
               '/tb1/privatizer')]


@pytest.mark.parametrize('type_name', [
    'nav_msgs/msg/Odometry', 'nav_msgs/msg/Path', 'tf2_msgs/msg/TFMessage',
    'geometry_msgs/msg/PoseWithCovarianceStamped', 'geometry_msgs/msg/TwistStamped',
    'geometry_msgs/msg/Quaternion', 'geometry_msgs/msg/Vector3Stamped', 'sensor_msgs/msg/Joy',
    'sensor_msgs/msg/NavSatFix', 'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/PointCloud2',
    'sensor_msgs/msg/CompressedImage', 'nav_msgs/msg/OccupancyGrid', 'nav2_msgs/msg/Costmap',
    'visualization_msgs/msg/MarkerArray', 'rmf_fleet_msgs/msg/FleetState',
    'nav2_msgs/action/NavigateToPose_FeedbackMessage', 'nav2_msgs/action/NavigateToPose_SendGoal',
    'nav2_msgs/action/ComputeAndTrackRoute_FeedbackMessage', 'nav_msgs/srv/GetPlan',
    'nobodys_msgs/msg/RobotPosition', 'nobodys_msgs/action/FollowAisle_FeedbackMessage'])
def test_types_that_show_a_place(type_name):
    assert shown_by(type_name).certain


@pytest.mark.parametrize('type_name, field', [
    ('nav_msgs/srv/GetMap', 'map'),                     # its answer is a map
    ('nav_msgs/msg/MapMetaData', 'origin'),
    ('visualization_msgs/msg/InteractiveMarkerControl', 'orientation')])
def test_types_whose_fields_show_a_place(type_name, field):
    pytest.importorskip('nav_msgs', reason='nav_msgs is not installed')
    pytest.importorskip('visualization_msgs', reason='visualization_msgs is not installed')
    shown = shown_by(type_name)
    assert shown.certain and shown.field == field


@pytest.mark.parametrize('type_name', [
    'std_msgs/msg/String', 'std_msgs/msg/Int16MultiArray', 'nobodys_msgs/msg/Status',
    'test_msgs/action/Fibonacci_FeedbackMessage', 'rcl_interfaces/msg/Log',
    'diagnostic_msgs/msg/DiagnosticArray', 'this/msg/Nothing', 'no type'])
def test_types_that_may_show_a_place(type_name):
    assert not shown_by(type_name).certain


@pytest.mark.parametrize('type_name', [
    'std_msgs/msg/Empty', 'rosgraph_msgs/msg/Clock', 'lifecycle_msgs/msg/TransitionEvent',
    'std_srvs/srv/Trigger', 'action_msgs/srv/CancelGoal'])
def test_harmless_types(type_name):
    assert shown_by(type_name) is None


@pytest.mark.parametrize('module', ['antigravity', 'this'])
def test_names_of_types_import_interface_packages_only(module):
    assert module not in sys.modules
    shown_by(f'{module}/msg/Pose2')
    assert module not in sys.modules


def test_the_raw_region_is_found_and_what_is_private_is_not():
    rows = found(graph(PRIVATIZER))
    assert set(rows) == {'/tb1/region'}
    row = rows['/tb1/region']
    assert row.certain and '/tb1/privatizer' in row.reason
    assert row.sources == {'/tb1/amcl'} and row.readers == {'/tb1/privatizer'}


def test_a_topic_that_nobody_publishes_shows_nothing():
    assert not found(graph([('/initialpose', 'geometry_msgs/msg/PoseStamped', '', '/amcl')]))


def test_a_private_topic_that_another_node_publishes_too():
    rows = found(graph([('/pose', 'geometry_msgs/msg/PoseStamped', '/privatizer /amcl', '')]))
    assert rows['/pose'].certain and rows['/pose'].sources == {'/amcl'}


def test_static_frames_maps_logs_and_goals_may_show_it():
    rows = found(graph([
        ('/tf_static', 'tf2_msgs/msg/TFMessage', '/robot', ''),
        ('/map', 'nav_msgs/msg/OccupancyGrid', '/map_server', ''),
        ('/local_costmap/costmap', 'nav_msgs/msg/OccupancyGrid', '/local_costmap', ''),
        ('/rosout', 'rcl_interfaces/msg/Log', '/robot /privatizer', ''),
        ('/go/_action/status', 'action_msgs/msg/GoalStatusArray', '/robot', ''),
        ('/tf', 'tf2_msgs/msg/TFMessage', '/robot', '')]))
    assert {name for name, row in rows.items() if row.certain} == {'/local_costmap/costmap', '/tf'}
    assert {name for name, row in rows.items() if not row.certain} == {
        '/tf_static', '/map', '/rosout', '/go/_action/status'}
    assert rows['/rosout'].sources == {'/robot'}


def test_services_and_parameters():
    rows = found(graph(PRIVATIZER, [
        ('/go/_action/send_goal', 'nav2_msgs/action/NavigateToPose_SendGoal', '/bt', '/mission'),
        ('/go/_action/cancel_goal', 'action_msgs/srv/CancelGoal', '/bt', ''),
        ('/amcl/get_parameters', 'rcl_interfaces/srv/GetParameters', '/amcl', ''),
        ('/bt/get_parameters', 'rcl_interfaces/srv/GetParameters', '/bt', ''),
        ('/tb1/privatizer/get_parameters', 'rcl_interfaces/srv/GetParameters',
         '/tb1/privatizer', '')]))
    assert set(rows) == {'/tb1/region', '/go/_action/send_goal', '/amcl/get_parameters',
                         '/bt/get_parameters'}
    assert rows['/go/_action/send_goal'].certain
    assert rows['/amcl/get_parameters'] is rows['/bt/get_parameters']
    assert not rows['/bt/get_parameters'].certain


def test_recorders():
    recorded = [('/odom', 'nav_msgs/msg/Odometry', '/base', '/rosbag2_recorder /all'),
                ('/a', 'std_msgs/msg/Empty', '/base', '/all'),
                ('/b', 'std_msgs/msg/Empty', '/base', '/all')]
    rows = found(graph(recorded))
    assert rows['/rosbag2_recorder'].certain and '/odom' in rows['/rosbag2_recorder'].reason
    assert rows['/all'].certain and rows['/all'].type_name == 'subscribes to every topic'
    by_service = [('/logger/snapshot', 'rosbag2_interfaces/srv/Snapshot', '/logger', '')]
    assert '/logger' in found(graph(
        [('/odom', 'nav_msgs/msg/Odometry', '/base', '/logger')], by_service))
    private = [(*row[:3], f'{row[3]} /rosbag2_recorder') if row[0].startswith('/fleet') else row
               for row in PRIVATIZER]
    assert set(found(graph(private))) == {'/tb1/region'}


def test_bridges():
    rows = found(graph(PRIVATIZER, nodes=['/foxglove_bridge']))
    assert not rows['/foxglove_bridge'].certain


def test_only_some_topics():
    made = graph([*PRIVATIZER, ('/odom', 'nav_msgs/msg/Odometry', '/base', '')])
    assert not found(made, ['/fleet']) and set(found(made, ['/odom/'])) == {'/odom'}
    assert not found(made, ['/od'])


def test_parameter_events_are_those_of_others():
    rows = found(graph([('/parameter_events', 'rcl_interfaces/msg/ParameterEvent',
                         '/base /tb1/privatizer', '')]))
    assert rows['/parameter_events'].sources == {'/base'}
    assert not rows['/parameter_events'].certain


def test_files_of_dds_that_all_can_read_are_counted(tmp_path):
    for name, mode in (('fastrtps_1', 0o644), ('fastrtps_port7411', 0o604), ('fastdds_2', 0o600),
                       ('other', 0o644)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    assert segments_for_all(tmp_path) == 2 and segments_for_all(tmp_path / 'none') == 0


def test_wrong_usage():
    for arguments, status, text in (
            (['--domain', 'x'], 2, 'invalid int value'), (['--seconds'], 2, 'expected one'),
            (['--domain', '500'], 2, 'symdp doctor: domain is 500: it must be at most 232'),
            (['--seconds', 'nan'], 2, 'it must be a finite number')):
        run = run_symdp('doctor', *arguments)
        assert run.returncode == status and text in run.stderr and not run.stdout
    run = run_symdp('doctor', ROS_DOMAIN_ID='five')
    assert run.returncode == 1 and 'domain is' in run.stderr


def test_without_ros_one_sentence_says_so():
    code = ('import sys; sys.modules["rclpy"] = None\n'
            'from symdp_ros.cli.main import main; sys.exit(main(["doctor"]))')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 1 and run.stderr.count('\n') == 1
    assert 'ROS 2 (rclpy) is needed' in run.stderr


def test_an_empty_domain_is_not_called_safe():
    from harness import free_domain

    run = run_symdp('doctor', '--domain', free_domain(), '--seconds', 0,
                    ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST')
    assert run.returncode == 1 and 'nothing was checked' in run.stderr


def test_a_real_graph(world):
    """A real privatizer, and a robot of real publishers, seen over DDS."""
    for package in ('nav_msgs', 'sensor_msgs', 'visualization_msgs', 'test_msgs'):
        pytest.importorskip(package, reason=f'{package} is not installed')
    from geometry_msgs.msg import PoseWithCovarianceStamped
    from harness import wait_until
    from nav_msgs.msg import OccupancyGrid, Odometry
    from nav_msgs.srv import GetPlan
    import rclpy
    from rclpy.action import ActionServer
    from sensor_msgs.msg import LaserScan
    from std_msgs.msg import String
    from test_msgs.action import Fibonacci
    from visualization_msgs.msg import MarkerArray

    robot = rclpy.create_node('robot', namespace='/tb1', context=world.context)
    for message_type, topic in (
            (String, 'region'), (Odometry, 'odom'), (PoseWithCovarianceStamped, '/amcl_pose'),
            (LaserScan, 'scan'), (OccupancyGrid, 'local_costmap/costmap'),
            (MarkerArray, 'particles'), (String, 'battery')):
        robot.create_publisher(message_type, topic, 1)
    robot.create_service(GetPlan, 'plan', lambda request, response: response)
    action = ActionServer(robot, Fibonacci, 'count', lambda goal: None)
    recorder = rclpy.create_node('rosbag2_recorder', context=world.context)
    recorder.create_subscription(Odometry, '/tb1/odom', lambda message: None, 1)
    world.privatizer('-r', '__ns:=/tb1', chain_file='config/warehouse.chain.yaml',
                     epsilon=1.0)
    certain = {'/tb1/region', '/tb1/odom', '/amcl_pose', '/tb1/scan', '/tb1/particles',
               '/tb1/local_costmap/costmap', '/tb1/plan', '/rosbag2_recorder'}
    unsure = {'/tb1/battery', '/tb1/count/_action/feedback', '/tb1/count/_action/status',
              '/rosout', '/parameter_events', '/tb1/robot/get_parameters',
              '/rosbag2_recorder/get_parameters'}
    from symdp_ros.ros.graph.live_graph import look

    seen = {}

    def all_seen():
        seen.clear()
        seen.update(found(look(world.domain, 1.0)))
        shown = {name for name, row in seen.items() if row.certain}
        # A private topic counts as one that may show it until the name of its node is known.
        return shown == certain and seen.keys() - certain == unsure and (
            seen['/tb1/region'].sources == {'/tb1/robot'}
            and seen['/tb1/region'].readers == {'/tb1/privatizer'}
            and seen['/tb1/odom'].readers == {'/rosbag2_recorder'})

    wait_until(all_seen, lambda: f'all topics and services, and whose they are, in {seen}')

    def doctor(text, *arguments):
        run = run_until(world, [text, 'private topics: /tb1/private_region\n'], 'doctor',
                        '--domain', world.domain, '--seconds', 1, *arguments)
        assert not run.stderr
        return run.returncode

    assert doctor(f'show where a robot is: {len(certain)}; may show it:') == 1
    assert doctor('show where a robot is: 0; may show it: 0',
                  '--topics', '/tb1/private_region') == 0
    action.destroy()
    for node in (robot, recorder):
        node.destroy_node()


def test_behind_the_gate_nothing_but_private_topics_is_found(world):
    """A privatizer with output_domain: one look at the readers' domain, one at the robot's."""
    from harness import free_domain

    outer = free_domain()

    def doctor(domain, *texts):
        return run_until(world, texts, 'doctor', '--domain', domain, '--seconds', 1)

    world.privatizer('-r', '__ns:=/tb1', chain_file='config/depot.geojson', epsilon=1.0,
                     initial_state="'0'", outputs="['string', 'pose', 'markers']",
                     output_domain=outer)
    world.publisher('/tb1/region')
    run = doctor(outer, 'private topics: /tb1/private_markers, /tb1/private_pose, '
                        '/tb1/private_region\n', 'show where a robot is: 0; may show it: 0')
    assert run.returncode == 0
    run = doctor(world.domain, '/tb1/region', 'show where a robot is: 1; ')
    assert run.returncode == 1 and 'private topics: none\nloops: ' in run.stdout
    # Others get in, too: who names this machine as a static peer.
    assert f'ROS domain {world.domain}, this machine and static peers: ' in run.stdout
