# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that ask for the same while a run waits are answered together."""
import threading

from symdp_ros.ros.live.shared_runs import SharedRuns

PATIENCE = 20.0


class Work:
    """Work that goes on until it is told to end; `begun` counts its runs."""

    def __init__(self):
        self.begun, self._going = 0, threading.Semaphore(0)
        self.first = threading.Event()

    def __call__(self):
        self.begun += 1
        number = self.begun
        self.first.set()
        assert self._going.acquire(timeout=PATIENCE)
        return number

    def let_go(self, runs):
        self._going.release(runs)


def test_three_thousand_calls_are_two_runs():
    runs, work, answers = SharedRuns('test'), Work(), []
    runs.ask('a', work, answers.append)
    assert work.first.wait(PATIENCE)
    for _ in range(3000):
        runs.ask('a', work, answers.append)
    assert work.begun == 1  # what asks while a run goes on gets one that begins after it asked
    work.let_go(2)
    runs.close()
    assert work.begun == 2 and answers == [1] + [2] * 3000


def test_calls_that_ask_for_something_else_have_runs_of_their_own():
    runs, work, other, answers = SharedRuns('test'), Work(), Work(), []
    runs.ask('a', work, answers.append)
    assert work.first.wait(PATIENCE)
    for key, what in (('a', work), ('b', other), ('a', work), ('b', other)):
        runs.ask(key, what, answers.append)
    work.let_go(2)
    other.let_go(1)
    runs.close()
    assert (work.begun, other.begun) == (2, 1) and answers == [1, 2, 2, 1, 1]
