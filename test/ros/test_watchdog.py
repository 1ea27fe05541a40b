# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A process that the middleware holds forever is ended."""
import os
import signal
import subprocess
import sys

from harness import PATIENCE, ROOT
import pytest


@pytest.mark.parametrize('seconds, work, status, shown', [
    (0.2, 'ctypes.PyDLL(None).sleep(600)', 1, 'Timeout'),  # it holds the interpreter's lock
    (PATIENCE, 'pass', 0, '')])
def test_stuck(seconds, work, status, shown):
    ended = subprocess.run([sys.executable, '-c', (
        'import ctypes\n'
        'from symdp_ros.ros.live.watchdog import ends_if_stuck\n'
        f'with ends_if_stuck({seconds}): {work}')],
        capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == status
    assert shown in ended.stderr and bool(shown) == bool(ended.stderr)


def test_a_node_has_left_its_domain_when_its_program_is_about_to_end(world, chain_file):
    """And not as the interpreter ends, where nothing watches whether Fast DDS hangs."""
    def names():
        return world.node.get_node_names()

    program = subprocess.Popen(
        [sys.executable, '-c', 'import sys\nfrom symdp_ros.nodes.privatizer import main\n'
         'status = main()\nprint("returned", flush=True)\nsys.stdin.read()\nsys.exit(status)',
         '--ros-args', '-p', f'chain_file:={chain_file}', '-p', 'epsilon:=1.0',
         '-p', 'adjacency:=1'],
        env={**os.environ, 'ROS_DOMAIN_ID': str(world.domain)}, cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with program:
        try:
            world.wait_until(lambda: 'privatizer' in names(), 'the node')
            program.send_signal(signal.SIGINT)
            assert program.stdout.readline() == 'returned\n'
            world.wait_until(lambda: names() == ['observer'], lambda: f'its end: {names()}')
            assert program.poll() is None
            program.stdin.close()
            assert program.wait(PATIENCE) == 0
        finally:
            program.kill()
