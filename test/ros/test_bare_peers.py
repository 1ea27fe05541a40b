# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a DDS participant that is no ROS node announces, it ends nothing."""
from importlib.metadata import version
import subprocess
import sys

from bare_peer import BarePeer
from harness import rclpy, RELIABLE, ROOT, send, SURE, wait_until
import pytest
from std_msgs.msg import String

NO_TEXT = b'\xff\xfe'
WARNING = 'a participant announces a name that is no text'
#: Fast DDS 3, from Kilted on, compares types. This peer announces bytes where a text is due.
names_arrive = pytest.mark.skipif(int(version('rclpy').partition('.')[0]) >= 9, reason=(
    'Fast DDS 3 takes no names from the peer of these tests'))


@pytest.fixture
def peer(world):
    with BarePeer(world.domain) as made:
        yield made


def said(statuses, text):
    return any(text in status.message for status in statuses)


def seen_by(world, command, *texts, status=0):
    """Run a command of symdp until it shows all texts; return what it shows."""
    shown = ''

    def sees():
        nonlocal shown
        done = subprocess.run(
            [sys.executable, '-m', 'symdp_ros.cli.main', command, '--domain', str(world.domain),
             '--seconds', '2'], cwd=ROOT, capture_output=True, text=True)
        assert not done.stderr, done.stderr
        shown = ' '.join(done.stdout.replace('│', ' ').split())
        return done.returncode == status and all(text in shown for text in texts)

    wait_until(sees, lambda: f'{texts} in {shown}')
    return shown


@names_arrive
@pytest.mark.parametrize('name, namespace', [(NO_TEXT, b'/'), (b'peer', NO_TEXT)])
def test_a_name_that_is_no_text_ends_no_privatizer(world, peer, chain_file, name, namespace):
    statuses, private = world.diagnostics(), world.listen()
    world.latch('b')
    # The peer is there before the node: its first look meets it.
    peer.announce([name], namespace=namespace, writers=1, readers=1)
    world.wait_until(lambda: world.node.count_publishers('region') == 2, 'the peer')
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    world.wait_until(lambda: private == ['b'], 'what was published before')
    world.wait_until(lambda: said(statuses, f'/region: {WARNING}') and said(
        statuses, f'other nodes may read the raw topic /region: {WARNING}'), 'the warnings')
    reliable = world.publisher(qos=RELIABLE, subscribers=2)  # one is the peer's
    for number, region in enumerate('ca', 2):
        send(reliable, region)
        world.wait_until(lambda count=number: len(private) == count, 'what comes now')
    assert private == ['b', 'c', 'a']
    assert run.stop() == 0 and 'Traceback' not in run.log
    assert run.log.count(f'/region: {WARNING}') >= 2


@names_arrive
def test_doctor_lists_what_it_can(world, peer):
    world.node.create_publisher(String, 'harmless', RELIABLE)
    peer.announce([NO_TEXT], topic='rt/odom', type_name='nav_msgs::msg::dds_::Odometry_',
                  writers=1, readers=1)
    world.wait_until(lambda: world.node.count_publishers('odom') == 1, 'the peer')
    shown = seen_by(world, 'doctor', '1 node,', '/odom', 'cannot be', status=1)
    assert 'show where a robot is: 1;' in shown
    assert 'the nodes' in shown and WARNING.split()[-1] in shown
    assert shown.count('cannot be') == 1, 'one row for all that cannot be listed'


def test_a_program_without_ros_is_named_so_and_may_name_topics_as_it_likes(world, peer):
    # It reads all topics that others publish: a ROS node that does is taken for a recorder.
    publishers = [world.node.create_publisher(String, name, RELIABLE) for name in 'abc']
    odd = ['/my-topic', '/1st', '/a//b']  # ROS allows no such names
    for name in ['/a', '/b', '/c', *odd]:
        peer.announce([], topic=f'rt{name}', writers=1, readers=1)
    peer.announce([], topic='rt/od-om', type_name='nav_msgs::msg::dds_::Odometry_', writers=1)
    for command, status, texts in (
            ('topics', 0, [*(f'/{name} std_msgs/msg/String /observer a program without ROS'
                             for name in 'abc'),
                           *(f'{name} std_msgs/msg/String' for name in odd),
                           '/od-om nav_msgs/msg/Odometry']),
            ('doctor', 1, ['1 node,', 'a program without ROS', *odd, '/od-om',
                           'ROS allows no such', 'show where a robot is: 1;'])):
        shown = seen_by(world, command, *texts, status=status)
        assert '_CREATED_BY' not in shown and 'subscribes to every' not in shown
    assert len(publishers) == 3


def test_a_reader_of_another_type_keeps_nobody_from_listening(world, peer):
    world.latch('dock', 'words')
    peer.announce(topic='rt/words', type_name='std_msgs::msg::dds_::UInt8_', readers=1)
    world.wait_until(lambda: len(dict(world.node.get_topic_names_and_types())['/words']) == 2,
                     'the peer')
    echoed = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'echo', 'words', '--domain',
         str(world.domain), '--seconds', '2'], cwd=ROOT, capture_output=True, text=True)
    assert (echoed.stdout, echoed.stderr) == ('dock\n', '')


def test_the_daemon_of_ros2_is_not_suspected(world):
    daemon = rclpy.create_node(f'_ros2cli_daemon_{world.domain}_0a', context=world.context)
    world.node.create_subscription(String, 'words', print, RELIABLE)
    try:
        publisher = daemon.create_publisher(String, 'words', RELIABLE)
        shown = seen_by(world, 'doctor', '/words', 'the ros2 daemon', '2 nodes,')
        assert '_ros2cli' not in shown
        daemon.destroy_publisher(publisher)
    finally:
        daemon.destroy_node()


@pytest.mark.parametrize('what', [
    {'names': [b'x' * 60_000]},
    pytest.param({'names': [b'']}, marks=pytest.mark.thorough),
    pytest.param({'names': []}, marks=pytest.mark.thorough),
    {'names': [b'n%d' % i for i in range(3000)]},
    {'writers': 150, 'readers': 150},
    {'type_name': 'x' * 200},
    pytest.param({'qos': [['Durability.Persistent', []], ['Reliability.Reliable', [1]]]},
                 marks=pytest.mark.thorough),
    {'qos': [['Deadline', [1]], ['Liveliness.ManualByTopic', [1]], ['Lifespan', [1]]]},
    pytest.param({'qos': [['Ownership.Exclusive', []],
                          ['DestinationOrder.BySourceTimestamp', []]]},
                 marks=pytest.mark.thorough),
    pytest.param({'qos': [['Partition', [['a', 'b']]],
                          ['PresentationAccessScope.Group', [True, True]]]},
                 marks=pytest.mark.thorough),
], ids=['long name', 'empty name', 'no node', 'many nodes', 'many endpoints', 'unknown type',
        'persistent', 'deadline', 'ownership', 'partition'])
def test_what_else_a_peer_may_announce(world, peer, chain_file, what):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    private = world.listen()
    for topic in 'rt/private_region', 'rt/region':
        peer.announce(**{'writers': 1, 'readers': 1, **what}, topic=topic)
    publishers = what.get('writers', 1)
    world.wait_until(lambda: world.node.count_publishers('region') == publishers, 'the peer')
    send(world.publisher(qos=RELIABLE, subscribers=2), 'b')
    world.wait_until(lambda: private, 'what was sent')
    world.settle()
    assert private == ['b'], 'drawn once'
    assert run.stop() == 0 and 'Traceback' not in run.log
    assert max(map(len, run.log.splitlines())) < 3000
