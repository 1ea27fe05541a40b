# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What /diagnostics warns of; that it does not depend on the region: test_non_interference.py."""
import os
import signal
from unittest.mock import Mock

from harness import BEST_EFFORT, RELIABLE, values_of, wait_until
from lifecycle_msgs.msg import Transition
import pytest
import rclpy
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from symdp_ros.ros.live.live_diagnostics import LiveDiagnostics, Rate, Silence


def test_the_rate_is_that_of_the_last_ten_reports():
    rate = Rate(0.0)
    assert [rate.after(5 * t, float(t)) for t in (1, 2, 3)] == [5.0] * 3
    rates = [rate.after(15, float(t)) for t in range(4, 15)]
    assert rates[6] == 1.5 and rates[-1] == 0.0
    assert Rate(1.0).after(3, 1.0) == 0.0


def silent(times, count_of, silence=None):
    silence = silence or Silence()
    return [silence.after(count_of(t), float(t)) for t in times]


def test_silence_is_ten_times_the_usual_interval_and_ten_seconds():
    assert not any(silent(range(100), lambda t: 0)), 'nothing has ever come'
    assert not any(silent(range(100), lambda t: 1)), 'one is no rhythm'
    assert not any(silent(range(500), lambda t: t // 4))
    assert silent(range(20, 70), lambda t: 5 * min(t, 30)).index(True) == 21  # over 10 s
    assert silent(range(20, 200), lambda t: min(t, 60) // 4).index(True) == 81  # over 40 s
    silence = Silence()
    assert silent(range(40), lambda t: min(t, 20), silence)[-1]
    assert not silence.after(21, 41.0), 'it has come again'


def reported(world, statuses, text):
    world.wait_until(lambda: statuses and text in statuses[-1].message, f'a report: {text}')
    assert statuses[-1].level == statuses[-1].WARN


def no_warning(world, statuses):
    world.wait_until(lambda: statuses and statuses[-1].level == statuses[-1].OK, 'no warning')


def test_publishers_that_are_missing_or_too_many(world, chain_file):
    statuses = world.diagnostics()
    run = world.privatizer('-r', '__ns:=/robot_1', chain_file=chain_file, epsilon=1.0)
    run.wait_for('active: reads /robot_1/region (std_msgs/msg/String), publishes '
                 '/robot_1/private_region (std_msgs/msg/String); waits for a publisher')
    reported(world, statuses, 'no node publishes /robot_1/region (std_msgs/msg/String)')
    run.wait_for('no node publishes /robot_1/region (std_msgs/msg/String): no regions arrive. If '
                 'they are on another topic, remap region to it (-r region:=/TOPIC, by ros2 '
                 'launch region:=/TOPIC, or in a fleet file region: /TOPIC)')
    first = world.publisher('/robot_1/region', qos=RELIABLE)
    no_warning(world, statuses)
    run.wait_for('/robot_1/region: one publisher, and no other node subscribes')
    second = world.publisher('/robot_1/region', qos=RELIABLE)
    reported(world, statuses,
             '2 publishers on /robot_1/region, of /observer: their regions are mixed')
    # Messages of two publishers are not counted apart: a loss is not seen.
    assert values_of(statuses[-1])['lost messages'] == 'not known'
    world.node.destroy_publisher(second)
    no_warning(world, statuses)
    assert values_of(statuses[-1])['lost messages'] == '0'
    world.node.destroy_publisher(first)
    reported(world, statuses, 'no node publishes /robot_1/region')


class SimulatedClock:
    """Publishes /clock, as long as it is asked to."""

    def __init__(self, world):
        self._world, self._message = world, Clock()
        self._message.clock.sec = 100
        self._publisher = world.node.create_publisher(Clock, '/clock', 10)

    def tick(self, seconds):
        self._message.clock.sec += seconds
        self._publisher.publish(self._message)
        self._world.spin()


def test_a_clock_without_time_and_one_that_stands_still(world, chain_file):
    statuses = world.diagnostics()
    run = world.privatizer(chain_file=chain_file, epsilon=1.0, use_sim_time='true',
                           sampling='period', self_loops='true')
    world.publisher()
    reported(world, statuses, 'there is no time on /clock')
    run.wait_for('there is no time on /clock')
    clock = SimulatedClock(world)
    wait_until(lambda: sum(status.level == status.OK for status in statuses) > 3, 'reports',
               lambda: clock.tick(1))
    statuses.clear()
    wait_until(lambda: statuses and statuses[-1].level == statuses[-1].WARN, 'a warning',
               lambda: clock.tick(0))
    assert statuses[-1].message == 'use_sim_time is set, and the time on /clock stands still'
    run.wait_for('the time on /clock stands still')
    wait_until(lambda: statuses[-1].level == statuses[-1].OK, 'no warning', lambda: clock.tick(1))


def test_what_qos_overrides_keep_out(world, chain_file):
    statuses = world.diagnostics()
    world.privatizer('-p', 'qos_overrides./region.subscription.reliability:=reliable',
                     chain_file=chain_file, epsilon=1.0)
    world.node.create_publisher(String, 'region', BEST_EFFORT)
    reported(world, statuses,
             '/region: because of qos_overrides, nothing is received from /observer')


def test_an_inactive_node(world, chain_file):
    statuses = world.diagnostics()
    publisher = world.publisher(subscribers=0)
    run = world.privatizer(chain_file=chain_file, epsilon=1.0)
    no_warning(world, statuses)
    assert world.change('privatizer', Transition.TRANSITION_DEACTIVATE)
    reported(world, statuses, 'the node is not active: nothing is published')
    world.node.destroy_publisher(publisher)  # which matters to an active node alone
    world.wait_until(lambda: values_of(statuses[-1])['publishers of the raw topic'] == '0',
                     'a report without a publisher')
    assert statuses[-1].message == 'the node is not active: nothing is published'
    assert 'no node publishes' not in run.log.partition(': inactive\n')[2]


def test_names_that_are_shown_are_few(world, chain_file):
    statuses = world.diagnostics()
    world.privatizer(chain_file=chain_file, epsilon=1.0)
    world.publisher()
    nodes = [rclpy.create_node(f'reader_{number:02}', context=world.context,
                               start_parameter_services=False) for number in range(23)]
    for node in nodes:
        node.create_subscription(String, 'region', lambda message: None, 10)
    reported(world, statuses, '23 other nodes read the raw topic /region: /reader_00, /reader_01')
    assert statuses[-1].message.endswith('/reader_19 and 3 more')
    for node in nodes:
        node.destroy_node()


@pytest.mark.skipif('cyclone' in rclpy.get_rmw_implementation_identifier(),
                    reason='Cyclone DDS does not number messages: no loss is seen')
def test_lost_messages(world, chain_file):
    """A node that stands still, and a publisher that keeps fewer messages than it sends."""
    statuses = world.diagnostics()
    run = world.privatizer('-p', 'qos_overrides./region.subscription.depth:=5',
                           chain_file=chain_file, epsilon=1.0)
    publisher = world.publisher(qos=QoSProfile(depth=5))
    no_warning(world, statuses)
    assert values_of(statuses[-1])['lost messages'] == '0'

    def loses():
        os.kill(run.process.pid, signal.SIGSTOP)
        for _ in range(2000):
            publisher.publish(String(data='b'))
        os.kill(run.process.pid, signal.SIGCONT)
        world.settle(1.0)
        return int(values_of(statuses[-1])['lost messages']) > 0

    wait_until(loses, 'a loss is counted')
    reported(world, statuses, 'messages on /region are lost: this node, the machine')


def test_a_loss_is_reported_ten_times():
    diagnostics = LiveDiagnostics(Mock(), Mock(topic='/region'), {}, regular=True)
    diagnostics.activate(Mock(lost=0, waiting=0))

    def warns():
        return any('are lost' in text for text in diagnostics._lost_warnings({}))

    assert not warns()
    for total in 5, 7:
        diagnostics._subscription.lost = total
        assert [warns() for _ in range(11)] == [True] * 10 + [False]


def test_losses_are_not_shown_where_it_is_protected_whether_messages_come(world, chain_file):
    statuses = world.diagnostics()
    world.privatizer(chain_file=chain_file, epsilon=1.0, sampling='change')
    world.publisher(qos=BEST_EFFORT)
    no_warning(world, statuses)
    shown = values_of(statuses[-1])
    assert 'lost messages' not in shown and shown['published best effort by'] == '/observer'
