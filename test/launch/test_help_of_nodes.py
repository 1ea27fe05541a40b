# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`--help` of the nodes."""
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
from symdp_ros.nodes.help import help_of
from symdp_ros.options import PARAMETERS, TOPICS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize('node', PARAMETERS)
@pytest.mark.parametrize('arguments', [['--help'], ['-h', '--ros-args', '-p', 'epsilon:=1']])
def test_it_is_printed_without_ros(tmp_path, node, arguments):
    (tmp_path / 'rclpy.py').write_text("raise ImportError('no help needs this')")
    done = subprocess.run(
        [sys.executable, '-m', f'symdp_ros.nodes.{node}', *arguments], cwd=ROOT,
        capture_output=True, text=True, encoding='utf-8',
        env={**os.environ, 'PYTHONPATH': str(tmp_path), 'PYTHONIOENCODING': 'utf-8'})
    assert (done.returncode, done.stdout, done.stderr) == (0, help_of(node) + '\n', '')


def test_another_encoding_is_no_error():
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.nodes.privatizer', '--help'], cwd=ROOT,
        capture_output=True, env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    assert done.returncode == 0 and b'\\u03b5' in done.stdout


def test_by_the_name_of_the_executable(tmp_path):
    program = tmp_path / 'privatizer'
    program.write_text('from symdp_ros.nodes.program import privatizer; privatizer()')
    done = subprocess.run([sys.executable, str(program), '--help'], cwd=tmp_path,
                          capture_output=True, text=True, encoding='utf-8',
                          env={**os.environ, 'PYTHONIOENCODING': 'utf-8'})
    assert (done.returncode, done.stdout) == (0, help_of('privatizer') + '\n')


def test_after_ros_args_it_is_none_of_ours():
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.nodes.patrol', '--ros-args', '--help'], cwd=ROOT,
        capture_output=True, text=True)
    assert done.returncode == 2 and 'usage:' not in done.stdout


@pytest.mark.parametrize('node', PARAMETERS)
def test_everything_is_explained(node):
    text = help_of(node)
    about, example = text.split('\n\n')[0], text.splitlines()[-1]
    assert about.startswith(f'{node}: ') and about.count('\n') == 1
    for name in [*(option.name for option in (*PARAMETERS[node], *TOPICS[node])), 'use_sim_time']:
        assert re.search(rf'^  {name}( \(.+\))?$', text, re.MULTILINE), name
    required = {option.name for option in PARAMETERS[node] if option.default is None}
    given = set(re.findall(r'-p (\w+):=', example))
    assert required <= given <= {option.name for option in PARAMETERS[node]}
    assert all(len(line) <= 100 for line in text.splitlines()[:-1])
