# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Calling a function when it asks to be called again, by a steady clock or by simulated time.

`tick` is called with the time of the clock in nanoseconds, and returns how many nanoseconds later
it wants to be called again. Both classes are stopped by `destroy`.
"""
from collections.abc import Callable

from rclpy.clock import Clock, JumpHandle, JumpThreshold
from rclpy.duration import Duration
from rclpy.timer import Timer
from symdp_ros.ros.guarded_node import GuardedNode

_LATE = 1_000_000  # nanoseconds by which a call may come later than it was asked for

Tick = Callable[[int], int]


class SteadyTicks:
    """
    Calls by a steady clock.

    :param wait: nanoseconds until the first call.
    :param period: nanoseconds between most later calls.
    """

    def __init__(self, node: GuardedNode, clock: Clock, wait: int, tick: Tick, period: int):
        self._node, self._clock, self._tick, self._period = node, clock, tick, period
        self._timer: Timer | None = node.create_timer(wait / 1e9, self._on_timer, clock=clock)

    def destroy(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _on_timer(self) -> None:
        if self._timer is None:  # it was due when it was destroyed
            return
        now = self._clock.now().nanoseconds
        asked = now + self._tick(now)
        now = self._clock.now().nanoseconds
        # A call that comes early does nothing. With each reset the EventsExecutor calls all timers
        # that are due once more, and others then miss their turn: where ticks come late, for ever.
        if now + self._timer.time_until_next_call() > asked + min(_LATE, self._period // 4):
            self._timer.timer_period_ns = (asked - now) % self._period
            self._timer.reset()
        if self._timer.timer_period_ns != self._period:
            self._timer.timer_period_ns = self._period  # from the next call on


class SimulatedTicks:
    """
    The same by simulated time, which passes only when a message on /clock says so.

    It looks at each of these messages. With a timer of this clock that is reset by its own
    callback, rclpy's EventsExecutor sometimes does nothing else any more.
    """

    def __init__(self, node: GuardedNode, clock: Clock, wait: int, tick: Tick):
        self._node, self._clock, self._tick = node, clock, tick
        # What a task raises crashes the EventsExecutor.
        self._guarded_look = node.guarded(self._look)
        self._asked = clock.now().nanoseconds
        self._due = self._asked + wait
        self._asked_to_look = False
        self._jumps: JumpHandle | None = clock.create_jump_callback(
            JumpThreshold(min_forward=Duration(nanoseconds=1),
                          min_backward=Duration(nanoseconds=-1)),
            post_callback=self._on_change)

    def destroy(self) -> None:
        if self._jumps is not None:
            self._jumps.unregister()
            self._jumps = None

    def _on_change(self, jump: object) -> None:
        # Not the tick itself: this is called while the clock is being set.
        if not self._asked_to_look and (executor := self._node.executor) is not None:
            self._asked_to_look = True
            executor.create_task(self._guarded_look)

    def _look(self) -> None:
        self._asked_to_look = False
        now = self._clock.now().nanoseconds
        if self._jumps is None or self._asked <= now < self._due:
            return
        self._asked, self._due = now, now + self._tick(now)
