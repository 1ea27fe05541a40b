# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ticks of simulated time."""
import time

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed: no ROS 2 to test against')

from harness import wait_until  # noqa: E402, I100
from rclpy.clock import Clock as RosClock, ClockType  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.timer import Timer  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from symdp_ros.errors import SymdpError  # noqa: E402
from symdp_ros.ros.guarded_node import GuardedNode  # noqa: E402
from symdp_ros.ros.live.ticks import SimulatedTicks, SteadyTicks  # noqa: E402

SECOND = 10**9


@pytest.fixture(params=[EventsExecutor, SingleThreadedExecutor])
def simulated(request, world):
    """Give a node in simulated time, what sets this time, and what spins until something holds."""
    node = GuardedNode('simulated', context=world.context, parameter_overrides=[
        Parameter('use_sim_time', value=True)])
    executor = request.param(context=world.context)
    executor.add_node(node)
    publisher = world.publisher('/clock', Clock)

    def spin_until(condition, what):
        wait_until(condition, what, lambda: executor.spin_once(timeout_sec=0.02))

    def set_time(nanoseconds):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, SECOND)
        publisher.publish(message)
        spin_until(lambda: node.get_clock().now().nanoseconds == nanoseconds, 'the time')
        for _ in range(3):  # long enough for a tick that is not due to be seen
            executor.spin_once(timeout_sec=0.02)

    yield node, set_time, spin_until
    executor.remove_node(node)
    executor.shutdown()
    node.destroy_node()


def test_they_come_when_they_are_due_and_when_the_clock_is_set_back(simulated):
    node, set_time, spin_until = simulated
    seen = []
    ticks = SimulatedTicks(node, node.get_clock(), SECOND,
                           lambda now: seen.append(now) or 2 * SECOND)
    for now, count in ((SECOND - 1, 0), (SECOND, 1), (3 * SECOND - 1, 1), (9 * SECOND, 2),
                       (10 * SECOND, 2), (8 * SECOND, 3), (10 * SECOND - 1, 3), (10 * SECOND, 4)):
        set_time(now)
        spin_until(lambda count=count: len(seen) >= count, f'{count} ticks')
    assert seen == [SECOND, 9 * SECOND, 8 * SECOND, 10 * SECOND]
    ticks.destroy()
    set_time(99 * SECOND)
    assert len(seen) == 4


def test_a_tick_that_raises_is_the_last(simulated):
    node, set_time, spin_until = simulated

    def tick(now):
        raise SymdpError(f'at {now}')

    ticks = SimulatedTicks(node, node.get_clock(), SECOND, tick)
    set_time(1)
    set_time(2 * SECOND)
    spin_until(lambda: node.has_failed, 'the failure')
    set_time(9 * SECOND)
    assert node.failure == 'at 2000000000'
    ticks.destroy()


def test_ticks_that_take_longer_than_their_period_do_not_reset_their_timer(world, monkeypatch):
    """With each reset, rclpy's EventsExecutor calls every timer that is due once more."""
    node, executor = GuardedNode('steady', context=world.context), EventsExecutor(
        context=world.context)
    executor.add_node(node)
    seen, resets, reset = [], [], Timer.reset
    monkeypatch.setattr(Timer, 'reset', lambda timer: resets.append(timer) or reset(timer))

    def tick(now):
        seen.append(now)
        time.sleep(0.005)
        return 2_000_000 - now % 2_000_000

    ticks = SteadyTicks(node, RosClock(clock_type=ClockType.STEADY_TIME), 2_000_000, tick,
                        2_000_000)
    wait_until(lambda: len(seen) >= 100, 'ticks', lambda: executor.spin_once(timeout_sec=0.1))
    assert len(resets) < 50
    ticks.destroy()
    executor.remove_node(node)
    executor.shutdown()
    node.destroy_node()
