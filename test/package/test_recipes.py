# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What CONTRIBUTING says is enough to add something: followed in a copy of the package."""
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from python_path import python_path
import symdp_ros

PACKAGE = Path(symdp_ros.__file__).parent
HEADER = '# SPDX-License-Identifier: Apache-2.0\n'


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the package, to be changed."""
    copied = tmp_path / 'symdp_ros'
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns('*.pyc'))
    return copied


def insert(file, before, line):
    """Write one more line before a line of a file."""
    text = file.read_text(encoding='utf-8')
    assert text.count(before) == 1
    file.write_text(text.replace(before, line + before), encoding='utf-8')


def run(copied, script, *arguments):
    """Return what a script prints that imports the copy."""
    done = subprocess.run(
        [sys.executable, '-c', script, *map(str, arguments)], cwd=copied.parent,
        capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': python_path(copied.parent)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


#: A mechanism that publishes one route whatever the word is.
ONE_ROUTE = '''
from fractions import Fraction
import numpy as np
from symdp_ros.core.law import Law


def law(chain, privacy, random, **_):
    return OneRoute(chain)


class OneRoute(Law):
    """P[o | w] = 1 for the first route there is, which no word changes."""

    loss_bound = 'pure'

    def __init__(self, chain):
        self._chain = chain

    def draw(self, word):
        route, state = [], self._chain.initial_state
        for _ in word:
            state = self._chain.successors(state)[0]
            route.append(state)
        return route

    def draw_many(self, symbols, offsets):
        index = self._chain.state_index
        return np.array([index[s] for length in np.diff(offsets)
                         for s in self.draw([None] * length)], np.int32)

    def log_probability(self, word, output):
        return 0.0 if list(output) == self.draw(word) else -np.inf

    def exact_probabilities(self, word, outputs):
        return [Fraction(list(output) == self.draw(word)) for output in outputs]

    def errors(self, columns, variances):
        index = self._chain.state_index
        route = np.array([index[s] for s in self.draw([None] * len(columns))])
        return (columns != route[:, None]).astype(float), np.zeros(columns.shape[1])
'''

FINDS_IT = """
import sys
import symdp_ros
from symdp_ros import Chain, OfflineMechanism, options, Privacy
from symdp_ros.analysis.accuracy import expected_accuracy
from symdp_ros.analysis.audit import audit
from symdp_ros.analysis.calibration import Calibration
from symdp_ros.cli.main import main
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.nodes.help import help_of

chain, privacy = Chain({'a': {'b': 1}, 'b': {'a': .5, 'b': .5}}, 'a'), Privacy(1.0)
assert symdp_ros.__file__.startswith(sys.argv[1])
mechanism = OfflineMechanism(chain, privacy, selection='one_route')
assert choose(chain, privacy, MechanismSettings('one_route'), 3).name == 'one_route'
assert 0 < expected_accuracy(mechanism, 3).error < 1
assert 'one_route' in Calibration(chain, 1, 3, walks=3).table([1.0])[1.0]
[row] = [row for row in audit(chain, privacy, 2) if row.mechanism == 'one_route']
assert row.holds and row.loss == 0
assert options.MECHANISM in options.PARAMETERS['log_release']
assert 'one_route' in options.MECHANISM.choices and 'one_route' in help_of('log_release')
raise SystemExit(main(['release', 'one.csv', '--map', 'chain.yaml', '--epsilon', '1', '-o', 'out',
                       '--adjacency', '1', '--mechanism', 'one_route']))
"""


def test_a_mechanism_is_one_module_and_one_line(copy):
    """Library, auto, accuracy, calibration, audit, the node and the command line then find it."""
    (copy / 'core' / 'offline' / 'one_route.py').write_text(HEADER + ONE_ROUTE)
    insert(copy / 'core' / 'registry.py', "    'exponential': ('base', 'trust'),\n",
           "    'one_route': (),\n")
    (copy.parent / 'chain.yaml').write_text(
        'initial_state: a\ntransitions: {a: [b], b: [a, b]}\n')
    (copy.parent / 'one.csv').write_text('stamp,symbol\n1,b\n2,b\n3,a\n')
    assert '1 released' in run(copy, FINDS_IT, copy.parent)
    [released] = (copy.parent / 'out').glob('[!.]*')
    assert [line.split(',')[1] for line in released.read_text().splitlines()[1:]] == list('bab')


#: An output that publishes the first letter of each region.
LETTER = """
from std_msgs.msg import Char


class Output:
    def __init__(self, wanted):
        self._publisher = wanted.node.create_publisher(Char, wanted.topic, 1)
        self.publishers = [self._publisher]

    def publish(self, region, beliefs):
        self._publisher.publish(Char(data=ord(region[0])))
"""

PUBLISHES_IT = """
import sys
from unittest.mock import Mock
from symdp_ros import Chain, options
from symdp_ros.fleet.fleet_file import read_fleet
from symdp_ros.ros.outputs import Outputs, read_for_outputs

node = Mock()
settings = {option.name: option.default for option in options.PARAMETERS['privatizer']}
settings |= {'outputs': ['letter'], 'chain_file': sys.argv[1], 'initial_state': 'a'}
Outputs(node, settings, Chain({'a': ['a']}, 'a'), read_for_outputs(settings)).publish('a')
[publication] = node.create_publisher.return_value.publish.call_args.args
assert publication.data == ord('a')
assert node.create_publisher.call_args.args[1] == 'private_letter'
assert 'private_letter' in {topic.name for topic in options.TOPICS['privatizer']}
[robot] = read_fleet(sys.argv[2]).robots.values()
print(robot.private_topics)
"""


def test_an_output_is_one_module_and_one_line(copy):
    """The node publishes it, on a topic of its own, and the fleet isolates that."""
    pytest.importorskip('rclpy', reason='rclpy is not installed: nothing to publish with')
    (copy / 'ros' / 'outputs' / 'letter_output.py').write_text(HEADER + LETTER)
    insert(copy / 'options.py', "    'custom': OutputKind(",
           "    'letter': OutputKind('its letter', 'the letter of {}', 'std_msgs/msg/Char'),\n")
    chain, fleet = copy.parent / 'chain.yaml', copy.parent / 'fleet.yaml'
    chain.write_text('initial_state: a\ntransitions: {a: [a]}\n')
    fleet.write_text(f'fleet_domain: 5\ndefaults: {{chain_file: {chain}, epsilon: 1, outputs: '
                     '[letter]}\nrobots: {r1: {domain: 1}}\n')
    assert run(copy, PUBLISHES_IT, chain, fleet) == (
        "[('/r1/private_letter', 'std_msgs/msg/Char')]\n")
