# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that are given any parameter file: they start, or say in a sentence why not."""
from harness import ROOT
from long_runs import fuzz
from symdp_ros.errors import printable
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
        'adjacency': 1, 'log_dir': 'logs', 'release_dir': 'released', 'ledger_file': 'ledger',
        'subject': 'r1'}
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


def test_parameter_files(starter, tmp_path):
    ends, file = {}, tmp_path / 'parameters.yaml'

    def case(random):
        node = random.choice(list(PARAMETERS))
        data = content(random, node)
        file.write_bytes(data)
        end, said = starter.start(node, '--params-file', str(file))
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
