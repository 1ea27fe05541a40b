# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A signal while a node is still being imported; no ROS is needed for it."""
import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize('node', ['privatizer', 'log_release', 'patrol', 'fleet'])
def test_it_ends_quietly(tmp_path, node, number):
    stub = tmp_path / 'rclpy' / '__init__.py'
    stub.parent.mkdir()
    # Many steps, as an import is: Python sees a signal between two of them, so one that comes
    # while a long sleep begins would wait for its end.
    stub.write_text("import time\nprint('importing', flush=True)\nwhile True: time.sleep(0.01)\n")
    process = subprocess.Popen(
        [sys.executable, '-m', f'symdp_ros.nodes.{node}'], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, cwd=ROOT, text=True,
        env={**os.environ, 'PYTHONPATH': str(tmp_path)})
    assert process.stdout.readline() == 'importing\n'
    process.send_signal(number)
    assert process.communicate(timeout=60)[0] == '' and process.returncode == 0


def test_a_signal_before_long_work_ends_it_at_once():
    pytest.importorskip('rclpy', reason='rclpy is not installed: no node to start')
    code = ('import signal\nfrom symdp_ros.ros.process.spinning import run, stops_at_once\n'
            'def make_node():\n'
            '    signal.raise_signal(signal.SIGINT)\n'
            '    with stops_at_once():\n'
            '        print("long work")\n'
            'try:\n    run(make_node, ["node"])\n'
            'except KeyboardInterrupt:\n    print("stopped")')
    done = subprocess.run([sys.executable, '-c', code], check=True, cwd=ROOT, text=True,
                          capture_output=True)
    assert done.stdout == 'stopped\n'


def test_nohup_is_obeyed():
    code = ('import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n'
            'from symdp_ros.ros.process.stop_signals import stop_signals\n'
            'assert signal.SIGHUP not in stop_signals()')
    subprocess.run([sys.executable, '-c', code], check=True, cwd=ROOT)


def test_who_imports_a_node_keeps_the_own_handlers():
    pytest.importorskip('rclpy', reason='rclpy is not installed: no node to import')
    code = ('import signal\nbefore = signal.getsignal(signal.SIGINT)\n'
            'import symdp_ros.nodes.privatizer\n'
            'assert signal.getsignal(signal.SIGINT) is before')
    subprocess.run([sys.executable, '-c', code], check=True, cwd=ROOT)
