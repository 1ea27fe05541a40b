# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How long publishers that are destroyed wait for their subscribers."""
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed: no ROS 2 to test against')

from symdp_ros.ros.graph import publishing  # noqa: E402, I100


def test_many_publishers_do_not_wait_long_for_one_program_that_hangs(monkeypatch):
    waits, destroyed, now = [], [], [100.0]
    monkeypatch.setattr(publishing, 'monotonic', lambda: now[0])
    monkeypatch.setattr(publishing, '_in_vain_at', float('-inf'))
    node = SimpleNamespace(destroy_publisher=destroyed.append)

    def publisher(acknowledged):
        def wait(patience):
            waits.append(patience.nanoseconds / 1e9)
            if acknowledged is None:
                raise RuntimeError('not supported')
            return acknowledged

        return SimpleNamespace(wait_for_all_acked=wait)

    made = [publisher(acknowledged) for acknowledged in (True, None, False, True, False, True)]
    for one in made[:5]:
        publishing.destroy_when_delivered(node, one)
    now[0] += 5.0
    publishing.destroy_when_delivered(node, made[5])
    assert waits == [0.5, 0.5, 0.5, 0.05, 0.05, 0.5] and destroyed == made
