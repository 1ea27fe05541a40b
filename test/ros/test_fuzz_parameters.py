# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that are given any parameter file: they start, or say in a sentence why not."""
import os
from pathlib import Path
import select
import subprocess
import sys

from harness import free_domain, PATIENCE, ROOT
from long_runs import fuzz
import pytest
from symdp_ros.core.printable import printable
from symdp_ros.nodes import NODES
from symdp_ros.options import PARAMETERS
import yaml

_FILES = ('/', '/dev/null', '/dev/full', '/dev/zero', '/proc/self/mem', '/nonexistent/x', '.',
          '~nobody.at.all/x', 'package://symdp_ros/config/warehouse.chain.yaml',
          'package://symdp_ros', 'package://no such/\u202e', 'x' * 300, 'sub/\\', 'new',
          str(ROOT / 'config' / 'warehouse.chain.yaml'), str(ROOT / 'config' / 'depot.geojson'))
_TEXTS = ('', 'dock', 'aisle_1', 'guided', 'period', 'change', 'data', 'data[0]', 'a.b[', 'true',
          'std_msgs/msg/UInt8', 'std_msgs/msg/UInt8MultiArray', 'no/msg', '1', '1e999', '=', 'a=b',
          'dock=dock', '\x1b[2J', '\u202e', 'line\nline', 'nul\0', '*', '!!python/object', '%',
          '\ud800', 'x' * 100_000)
_NUMBERS = (0, 1, -1, 2, 1.0, 0.5, -0.0, 1e-9, 1e300, -1e300, float('nan'), float('inf'),
            -float('inf'), 2**31, 2**62, 2**63 - 1, -2**63, 2**63, 2**64, 10**40)


def value(random):
    """Return a parameter's value, of any type."""
    kind = random.randrange(8)
    if kind < 2:
        return random.choice(_NUMBERS)
    if kind < 4:
        return random.choice(_TEXTS)
    if kind == 4:
        return random.choice(_FILES)
    if kind == 5:
        return random.choice([True, False, None, b'bytes'])
    values = [random.choice([*_NUMBERS, *_TEXTS, True, None]) for _ in range(random.randrange(4))]
    return values if kind == 6 else {random.choice(['a', 'b', 'reliability']): value(random)
                                     for _ in range(random.randrange(3))}


def content(random, node):
    """Return the text of a parameter file: some right values, some wrong ones, some harm."""
    options = PARAMETERS[node]
    parameters = {
        'chain_file': 'package://symdp_ros/config/warehouse.chain.yaml', 'epsilon': 1.0,
        'log_dir': 'logs', 'release_dir': 'released', 'ledger_file': 'ledger', 'subject': 'r1'}
    parameters = {option.name: parameters[option.name] for option in options
                  if option.name in parameters}
    names = [*(option.name for option in options), 'autostart', 'use_sim_time',
             'qos_overrides./region.subscription.depth', 'epsilom', 'a.b.c', 'x']
    for name in random.choices(names, k=random.randrange(4)):
        parameters[name] = value(random)
    top = random.choice(['/**', '/**', '/**', node, '*', '', 'other'])
    text = yaml.safe_dump({top: {'ros__parameters': parameters}}, allow_unicode=True)
    data = bytearray(text.encode(errors='surrogateescape') if '\ud800' not in text
                     else text.encode(errors='surrogatepass'))
    if random.randrange(4) == 0:
        for _ in range(random.randrange(1, 4)):
            place = random.randrange(len(data))
            if random.randrange(2):
                data[place] ^= 1 << random.randrange(8)
            else:
                data[place:place + random.randrange(20)] = random.randbytes(random.randrange(4))
    return bytes(data)


class Starter:
    """A process that starts nodes, one after another; made anew where it has died."""

    def __init__(self, directory):
        self._directory, self._process = directory, None
        for name in ('logs', 'released', 'sub'):
            (directory / name).mkdir()

    def start(self, node, data):
        """Start a node; return how it ended and what it logged."""
        file, log = self._directory / 'parameters.yaml', self._directory / 'log'
        file.write_bytes(data)
        if self._process is None:
            with log.open('wb') as output:
                self._process = subprocess.Popen(
                    [sys.executable, str(Path(__file__).with_name('start_nodes.py'))],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True,
                    cwd=self._directory, env={
                        **os.environ, 'ROS_DOMAIN_ID': str(free_domain()),
                        'ROS_LOG_DIR': str(self._directory / 'ros-log'), 'PYTHONPATH': str(ROOT)})
        known = log.stat().st_size
        self._process.stdin.write(f'{node} {file}\n')
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        answer = self._process.stdout.readline() if ready else 'no answer'
        said = log.read_bytes()[known:].decode(errors='replace')
        if not answer.startswith('#'):
            self._process.kill()
            answer = f'{answer}died with {self._process.wait()}'
            self.close()
        return answer.removeprefix('# ').strip(), said

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


@pytest.fixture
def starter(tmp_path, monkeypatch):
    made = Starter(tmp_path)
    yield made
    made.close()


def test_parameter_files(starter):
    ends = {}

    def case(random):
        node = random.choice(NODES)
        data = content(random, node)
        end, said = starter.start(node, data)
        ends[end] = ends.get(end, 0) + 1
        what = f'{end}: {printable(said[-3000:], 3000)}\n{printable(data, 3000)}'
        if end not in ('started', '1', '2') or 'Traceback' in said or '\x1b' in said:
            raise AssertionError(what)
        if max(map(len, said.splitlines()), default=0) > 3000:
            raise AssertionError('a long line: ' + what)
        if end != 'started':
            sentences = [line for line in said.splitlines() if '[FATAL]' in line
                         or line.startswith(('ROS cannot be started', 'the node cannot be made'))]
            if len(sentences) != 1:
                raise AssertionError('not one sentence: ' + what)

    fuzz(case)
    print(ends)
