# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a test says where a node dies that it did not end."""
import signal

from harness import Crashed
import pytest


def test_a_crash_fails_a_wait_at_once_and_shows_the_log(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=2.0)
    run.process.send_signal(signal.SIGSEGV)
    with pytest.raises(Crashed, match='died of SIGSEGV:(.|\n)*active: reads /region'):
        world.wait_until(lambda: False, 'what never comes')
    looks = iter([False, True])
    world.wait_until(lambda: next(looks), 'the second look')  # it is said once
