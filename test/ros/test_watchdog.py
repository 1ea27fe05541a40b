# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A process that the middleware holds forever is ended."""
import subprocess
import sys

import pytest


@pytest.mark.parametrize('work, status, shown', [
    ('ctypes.PyDLL(None).sleep(60)', 1, 'Timeout'),  # it holds the interpreter's lock
    ('pass', 0, '')])
def test_stuck(work, status, shown):
    ended = subprocess.run([sys.executable, '-c', (
        'import ctypes\n'
        'from symdp_ros.ros.live.watchdog import ends_if_stuck\n'
        f'with ends_if_stuck(0.2): {work}')], capture_output=True, text=True, timeout=50)
    assert ended.returncode == status
    assert shown in ended.stderr and bool(shown) == bool(ended.stderr)
