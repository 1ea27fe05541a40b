# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that are said several times: the last value counts, or the node does not start."""
from argparse import Namespace
import os

from harness import ROOT
import pytest
from symdp_ros.cli.parameter_file import parameter_text
from symdp_ros.options import PARAMETERS
import yaml

WAREHOUSE = str(ROOT / 'config' / 'warehouse.chain.yaml')
MAP = ('-p', f'chain_file:={WAREHOUSE}', '-p', 'policy:=guided', '-p', 'protect:=0.5')


def arguments(said, folder):
    """Return the arguments for rules of -p, and for files: ('NODE', 'NAME: VALUE', …)."""
    found = []
    for number, one in enumerate(said):
        if isinstance(one, str):
            found += ['-p', one]
        else:
            file = folder / f'{number}.yaml'
            node, *lines = one
            file.write_text(f'{node}:\n  ros__parameters:\n'
                            + ''.join(f'    {line}\n' for line in lines))
            found += ['--params-file', str(file)]
    return found


@pytest.mark.parametrize('case', [
    ((('/**', 'epsilon: 2'), 'epsilon:=0.5'),
     'epsilon was last said to be 0.5 (-p epsilon:=0.5), but ROS takes 2 (', '0.yaml, line 3)',
     'leave epsilon out there, or write it as 2.0'),
    ((('/**', 'epsilon: 1.0', 'sampling: period', 'stay: 30'), 'stay:=60.0'),
     'stay was last said to be 60.0', 'takes 30 (', 'line 5', 'write it as 30.0'),
    ((('/**', 'trust: 0.5'), ('privatizer', 'epsilon: 2.0'), 'epsilon:=0.5'),
     'epsilon was last said to be 0.5', 'takes 2.0 (', '1.yaml, line 3',
     '/** came before privatizer; leave epsilon out there'),
    ((('/**', 'epsilon: 1.0'), ('/privatizer', 'epsilon: 2.0'), ('/**', 'epsilon: 0.5')),
     'said to be 0.5 (', '2.yaml', 'takes 2.0 (', '1.yaml'),
    ((('privatizer', 'trust: 0.5'), ('/privatizer', 'epsilon: 2.0'), 'privatizer:epsilon:=0.5'),
     'said to be 0.5 (-p privatizer:epsilon:=0.5)', 'takes 2.0 (',
     'privatizer came before /privatizer'),
    (('epsilon:=2', 'epsilon:=0.5'), 'takes 2 (-p epsilon:=2)'),
    ((('/**', 'epsilon: 1.0', 'no_region: []'),), 'no_region is an empty list', 'line 4'),
    ((('/**', 'epsilon: 1.0', 'where: [a=b]'), 'where:=[]'), 'where is an empty list',
     'it takes [a=b]'),
    ((('/**', 'epsilon: 1.0', 'use_sim_time: true'), 'use_sim_time:=0'),
     'use_sim_time was last said to be 0', 'takes true'),
    ((('/**', 'epsilon: 1.0', 'a: {b: 1}'), ('/**', 'a: {b: 2}'), 'a.b:=3'),
     'a.b was last said to be 3', 'takes 2', 'nested map'),
    ((('/**', 'epsilon: 1.0', 'qos_overrides./region.subscription.depth: 7'),
      'qos_overrides./region.subscription.depth:=x'), 'said to be x', 'takes 7'),
    ((('/**', 'epsilon: 1.0', 'x: [{a: 1}]', 'z: 2'),), 'x was last said to be a list of lists',
     'ROS takes x.a: [1], which stands so in no argument'),
])
def test_a_node_does_not_start_with_another_value_than_the_last(starter, tmp_path, case):
    said, *texts = case
    log = starter.refused('privatizer', *MAP, *arguments(said, tmp_path))
    assert log.count('FATAL') == 1 and all(text in log for text in texts), log


@pytest.mark.parametrize('said', [
    (('/**', 'epsilon: 2'), 'epsilon:=3'),
    (('/**', 'epsilon: 2.0'), 'epsilon:=0.5', ('/**', 'epsilon: 0.7')),
    (('/**', 'epsilon: 2'), 'epsilon:=2.0'),
    (('privatizer', 'epsilon: 2.0'), 'privatizer:epsilon:=0.5'),
    (('other', 'epsilon: 2'), ('/tb1/*', 'epsilon: 2'), ('/**/privatizer', 'epsilon: 0.5')),
    (('/**', 'epsilon: 1.0', 'where: []', 'symbol_map: []'),),
    (('/**', 'epsilon: 1e0', 'p: 0x10', 'q: 010', 'r: 1_000', 's: .nan', 't: y', 'u: 1e3',
      'v: 2026-01-01', 'w: ~', 'x: "a\\tb"', 'z: |', '  text', '# a comment', 'zz: [0x1, +2]'),
     ('/**', 'p: 16', 's: nan', 't: on', 'zz: [1, 2]'), 'u:=1000', 'a:=!!str 5', 'b:=#x'),
])
def test_spellings_of_the_value_that_ROS_takes(starter, tmp_path, said):
    end, log = starter.start('privatizer', *MAP, *arguments(said, tmp_path))
    assert end == 'started', log


@pytest.mark.parametrize('node', PARAMETERS)
def test_every_node_compares(starter, tmp_path, node):
    file = (('/**', 'some_parameter: 2'), 'some_parameter:=0.5')
    assert 'some_parameter was last said to be 0.5' in starter.refused(
        node, *arguments(file, tmp_path))
    # Names and namespaces as they are in the end; a rule for another node is none for this one.
    log = starter.refused(node, '-r', '__node:=one', '-r', '__ns:=/tb1', *arguments(
        ((f'/tb1/{node}', 'x: 5'), ('/**', 'z: 1'), ('/tb1/one', 'x: 2'), f'{node}:x:=3',
         'x:=0.5'), tmp_path))
    assert 'x was last said to be 0.5 (-p x:=0.5), but ROS takes 2' in log


def test_words_that_only_look_like_parameters(starter):
    end, log = starter.start('privatizer', *MAP, '-p', 'epsilon:=1.0', '--log-file-name', 'x',
                             '--', '-p', 'epsilon:=2.0')
    assert end == 'started', log


def test_a_file_that_can_be_read_only_once(starter, tmp_path):
    end, _ = starter.start('privatizer', *MAP, '--params-file', '/dev/null', '-p', 'epsilon:=1.0')
    assert end == '1'
    log = starter.refused('privatizer', *MAP, '--params-file', '/dev/null')
    assert '/dev/null: it is not a file' in log and 'to a file of their own' in log


@pytest.mark.parametrize('written, read', [
    ('08', '8.0'), ('010', '8'), ('n', 'false'), ('y', 'true'), ('1e3', '1000.0'), ('nan', 'nan'),
    ('inf', 'inf'), ('0x10', '16'), ('+5', '5')])
def test_a_name_that_ROS_reads_as_something_else(starter, tmp_path, written, read):
    log = starter.refused('privatizer', *MAP, '-p', 'epsilon:=1.0', '-p',
                          f'initial_state:={written}')
    assert f'initial_state is written {written} (' in log and f'reads as {read}: quote it' in log
    assert f"""-p "initial_state:='{written}'\"""" in log
    log = starter.refused('privatizer', *MAP, *arguments(
        (('/**', 'epsilon: 1.0', f'no_region: [{written}]'),), tmp_path))
    assert f"no_region: ['{written}']" in log


def test_names_that_are_numbers(starter, tmp_path):
    """In quotes, or as the same text; and in the files that we write ourselves."""
    states = ['08', 'n', '1e3', 'nan', '010', '8', '~', 'null', '2026-01-01', 'true']
    file = tmp_path / 'numbers.chain.yaml'
    file.write_text('symbols: [' + ', '.join(f"'{state}'" for state in states) + ']\n')
    for written in [*(f"'{state}'" for state in states), '8', '~', 'null', '2026-01-01']:
        end, log = starter.start(
            'privatizer', '-p', f'chain_file:={file}', '-p', 'epsilon:=1.0',
            '-p', 'policy:=guided', '-p', 'adjacency:=1', '-p', f'initial_state:={written}')
        assert end == 'started', log
    written = tmp_path / 'written.yaml'
    for state in states:
        written.write_text(parameter_text(
            {'epsilon': 1.0, 'adjacency': 1, 'policy': 'guided'}, Namespace(
                chain_file=str(file), initial_state=state, level='', graph=-1, prune=False), 'me'))
        values = yaml.safe_load(written.read_text())['/**']['ros__parameters']
        assert values['initial_state'] == state
        end, log = starter.start('privatizer', '--params-file', str(written))
        assert end == 'started', log


def test_substitutions_of_launch_are_named(starter):
    log = starter.refused('privatizer', '-p', 'epsilon:=1.0',
                          '-p', 'chain_file:=$(find-pkg-share my_maps)/graph.geojson')
    assert 'launch' in log and 'package://my_maps/graph.geojson' in log


def test_defaults_that_are_written_down_are_no_mistake(starter, tmp_path):
    lines = [f'{option.name}: {option.default!r}' for option in PARAMETERS['privatizer']
             if option.default is not None and option.kind is not bool
             and option.name != 'protect']
    end, log = starter.start('privatizer', *MAP, *arguments(
        (('/**', 'epsilon: 1.0', 'autostart: true', *lines),), tmp_path))
    assert end == 'started' and 'no effect' not in log, log
    given = '-p', 'epsilon:=1.0', '-p', 'period:=2.0'
    end, log = starter.start('privatizer', *MAP, *given)
    assert end == 'started' and 'no effect' not in log, log
    end, log = starter.start('privatizer', *MAP[:-2], *given, '-p', 'adjacency:=1')
    assert end == 'started' and 'period has no effect' in log, log


def test_the_file_that_launch_writes_is_named_as_such(starter, tmp_path):
    file = tmp_path / 'launch_params_x1'
    file.write_text('/**:\n  ros__parameters: {epsilon: 0.5}\n')
    log = starter.refused('privatizer', *MAP, *arguments((('/privatizer', 'epsilon: 2.0'),),
                                                         tmp_path), '--params-file', str(file))
    assert f'0.5 (an argument or parameter of launch, which wrote it to {file}' in log
    assert os.path.exists(file)
