# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded states of VDA 5050, as JSON Lines, are logs."""
import json

from in_process import run_symdp
import pytest
from refusals import refused
from symdp_ros import ConfigurationError, LogError
from symdp_ros.logs import read_log
from symdp_ros.maps.positions import Locator, places_of_nodes
from vda5050_states import state

AT = {'n1': (0.0, 0.0), 'n2': (10.0, 0.0), 'n3': (20.0, 0.0)}
ROUTE = ['n1', 'n2', '', 'n3', 'n2']
LAYOUT = {'layouts': [{
    'nodes': [{'nodeId': name, 'mapId': 'hall', 'nodePosition': dict(zip('xy', at, strict=True))}
              for name, at in AT.items()],
    'edges': [{'edgeId': f'{one}-{other}', 'startNodeId': one, 'endNodeId': other}
              for one in AT for other in AT if one != other]}]}


def lines(states):
    return ''.join(json.dumps(each) + '\n' for each in states)


@pytest.fixture(params=['2.0.0', '2.1.0', '3.0.0'])
def day(tmp_path, request):
    """Give a folder with a layout, and with the states of a robot that mostly knows its node."""
    (tmp_path / 'plant.lif').write_text(json.dumps(LAYOUT))
    (tmp_path / 'day.jsonl').write_text(lines(
        state(node, second=i, number=i, version=request.param,
              position=AT.get(node, (99.0, 0.0)), is_known=bool(node))
        for i, node in enumerate(ROUTE)))
    return tmp_path


@pytest.mark.parametrize('how', [
    ('--symbol-key', 'lastNodeId'), ('--input', 'pose'),
    ('--input', 'pose', '--level-field', 'mapId')])
def test_a_recording_of_states_is_released(day, how):
    run = run_symdp('release', 'day.jsonl', '--chain', 'plant.lif', '--initial-state', 'n1',
                    '--self-loops', '--epsilon=1000', '--adjacency=1', '--unknown-symbol=drop',
                    '--allow-unknown=0.2',
                    '--stamp-key', 'timestamp', *how, '-o', 'out', cwd=day)
    assert run.returncode == 0, run.stderr + run.stdout
    [released] = (day / 'out').glob('[!.]*')
    keys = {'stamp_key': 'timestamp',
            'symbol_key': 'symbol' if 'pose' in how else 'lastNodeId'}
    assert [symbol for _, symbol in read_log(released, **keys)] == [
        node for node in ROUTE if node]
    assert 'order-17' not in released.read_text() and '2026' not in released.read_text()


def test_times_and_nodes(day):
    log = read_log(day / 'day.jsonl', stamp_key='timestamp', symbol_key='lastNodeId')
    assert [symbol for _, symbol in log] == ROUTE
    assert [there[0] - here[0] for here, there in zip(log, log[1:], strict=False)] == [10**9] * 4


def test_odd_positions(tmp_path):
    file, locator = tmp_path / 'day.jsonl', Locator(places_of_nodes(AT, dict.fromkeys(AT, 'hall')))
    xs = 9, '9', True, None, float('nan'), 10**400
    places = *((x, 1) for x in xs), (9, 1, 'roof')
    file.write_text(lines(state('x', second=i, position=at) for i, at in enumerate(places))
                    + '\n' + lines([state('x', second=50)]))
    assert [region for _, region in read_log(
        file, stamp_key='timestamp', locator=locator, level_field='mapId')] == [
            'n2', *[None] * 7]
    with refused(ConfigurationError, 'in mapId', setting='level_field'):
        read_log(file, stamp_key='timestamp', locator=locator, level_field='floor')
    file.write_text('{"timestamp": 1, "x": 3}\n')
    with refused(LogError, "needs the keys 'timestamp' and 'lastNodeId'", line=1):
        read_log(file, stamp_key='timestamp', locator=locator)
