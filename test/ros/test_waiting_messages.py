# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Transitions of a privatizer, and the messages that wait meanwhile."""
from geometry_msgs.msg import PoseStamped
from harness import BEST_EFFORT, RECONFIGURE, RELIABLE, ROOT, send
import pytest
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import String
from symdp_ros.nodes.privatizer import Privatizer
from symdp_ros.ros.rclpy_private import leave_graph


@pytest.fixture
def privatizer(world, chain_file, monkeypatch):
    """Return a configured privatizer of this process, which `world.spin` spins."""
    context = Context()
    context.init([], domain_id=world.domain)
    node = Privatizer(context=context, use_global_arguments=False, parameter_overrides=[
        Parameter('chain_file', value=str(chain_file)), Parameter('epsilon', value=1.0),
        Parameter('adjacency', value=1)])
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    spin = world.spin

    def both(seconds=0.02):
        executor.spin_once(timeout_sec=0.0)
        spin(0.001)

    monkeypatch.setattr(world, 'spin', both)
    yield node
    node.stop()
    executor.remove_node(node)
    leave_graph(node)
    executor.shutdown()
    context.shutdown()


def test_no_transition_handles_a_region(world, privatizer):
    """
    Not even one that waits: where it failed, its traceback would be logged.

    And the subscription would be left behind, and draw while the node is not active.
    """
    drawn = []
    privatizer._word.draw = lambda region, now: drawn.append(region) or 'a'
    world.latch('b')
    world.wait_until(lambda: privatizer.count_publishers('region'), 'the publisher is found')
    for _ in range(20):
        assert privatizer.trigger_activate() == TransitionCallbackReturn.SUCCESS
        assert drawn == []
        privatizer.trigger_deactivate()
    privatizer.trigger_activate()
    world.wait_until(lambda: drawn, 'the region')
    assert drawn == ['b']


def test_messages_that_come_too_fast_hold_up_nothing_else(world, chain_file):
    """The EventsExecutor of rclpy does all in the order in which it came."""
    private, statuses = world.listen(), world.diagnostics()
    run = world.privatizer(chain_file=chain_file, epsilon=2.0, policy='adaptive', delay=500.0)
    publisher = world.publisher(qos=RELIABLE)
    assert world.state_of('privatizer') == 'active'
    send(publisher, *'abbcad' * 800)
    world.wait_until(lambda: private, 'the region of the first message')
    assert world.state_of('privatizer') == 'active'
    world.wait_until(lambda: any('messages on /region wait' in status.message
                                 for status in statuses), 'a report')
    assert len(private) < 4300, 'the messages were drawn first'
    assert run.stop() == 0


def test_a_middleware_that_does_not_number_messages(world, privatizer, monkeypatch):
    """As Cyclone DDS: rclpy gives None for the numbers, and the first message ended the node."""
    create = privatizer.create_subscription

    def create_without_numbers(kind, topic, callback, qos, **options):
        return create(kind, topic, lambda message, info: callback(message, {
            **info, 'publication_sequence_number': None, 'reception_sequence_number': None}),
            qos, **options)

    monkeypatch.setattr(privatizer, 'create_subscription', create_without_numbers)
    drawn = []
    privatizer._word.draw = lambda region, now: drawn.append(region) or 'a'
    reliable = world.node.create_publisher(String, 'region', RELIABLE)
    passing = world.node.create_publisher(String, 'region', BEST_EFFORT)
    privatizer.trigger_activate()
    subscription = privatizer._subscription
    for publisher in reliable, passing:
        world.wait_until(publisher.get_subscription_count, 'a subscription')
    world.wait_until(lambda: privatizer.count_publishers('region') == 2, 'both publishers')
    world.settle()
    for publisher in [reliable, passing] * 20:
        publisher.publish(String(data='ab'[publisher is passing]))
    world.wait_until(lambda: len(drawn) >= 40, lambda: f'each message: {drawn}')
    world.settle()
    assert sorted(drawn) == 20 * ['a'] + 20 * ['b'], 'nothing twice'
    assert subscription.lost == 0
    subscription.note([])
    assert not subscription.sees_losses


@pytest.mark.parametrize('frames, reported', [('odom map odom', 1), ('map odom odom', 0)])
def test_the_frame_of_the_first_pose_alone_is_reported(world, frames, reported):
    """That of a later one may show where the robot is; no transition makes one the first."""
    run = world.privatizer(chain_file=ROOT / 'config' / 'depot.geojson', initial_state="'1'",
                           self_loops='true', epsilon=1.0, input='pose')
    private, publisher = world.listen(), world.publisher('pose', PoseStamped, RELIABLE)
    for count, frame in enumerate(frames.split(), 1):
        if count == 3:
            if reported:
                run.wait_for("are in the frame 'odom'")
            assert world.change('privatizer', *RECONFIGURE)
            world.wait_until(publisher.get_subscription_count, 'a subscription')
        pose = PoseStamped()
        pose.header.frame_id = frame

        def publish_until_drawn(count=count, pose=pose):
            if len(private) < count:
                publisher.publish(pose)
            return len(private) >= count

        world.wait_until(publish_until_drawn, 'a private region')
    reports = world.diagnostics()
    world.wait_until(lambda: len(reports) > 1, 'two reports')
    run.stop()
    assert run.log.count("are in the frame 'odom'") == reported
