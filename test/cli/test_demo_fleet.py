# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo --robots N`, as it is typed: real nodes in two ROS domains."""
import os
import re
import subprocess
import sys

from in_process import ROOT, run_symdp
import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed: no nodes to run')


def test_three_robots_and_nothing_else_comes_out():
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'demo', 'config/depot.geojson', '--robots',
         '3', '--duration', '2', '--rate', '10', '--protect', '0.5'], cwd=ROOT,
        capture_output=True, text=True, timeout=300,
        env={**os.environ, 'COLUMNS': '120', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'})
    assert done.returncode == 0, done.stderr
    rows = re.findall(r'│ (robot_\d) +│ (.+?) +│ (.+?) +│ +(\d+)% │', done.stdout)
    assert [row[0] for row in rows] == ['robot_1', 'robot_2', 'robot_3']
    assert all(len(row[2].split()) > 3 for row in rows)
    assert 'Hidden: where each robot is during any 0.5 s' in done.stdout
    assert 'private routes that the map does not allow: 0' in done.stdout
    assert 'others see 3 private topics and nothing else' in done.stdout


def test_a_figure_shows_one_robot():
    done = run_symdp('demo', 'config/depot.geojson', '--robots', '2', '--figure', 'routes.svg')
    assert done.returncode == 1 and '--figure is for one robot' in done.stderr
