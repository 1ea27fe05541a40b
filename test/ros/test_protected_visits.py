# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Visits through the real nodes: `protect`, `moves` and `stay`."""
from fractions import Fraction

from harness import LATCHED, ROOT
import pytest
from std_msgs.msg import String
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.maps import read_graph
from test_sampling import SimulatedTime

DEPOT = ROOT / 'config' / 'depot.geojson'
RING = {'a': 'b', 'b': 'c', 'c': 'd', 'd': 'e', 'e': 'f', 'f': 'a'}
VISITS = {'sampling': 'period', 'period': 0.1, 'protect': 0.3, 'moves': 2, 'stay': 1.0}


@pytest.fixture
def ring(tmp_path):
    file = tmp_path / 'ring.chain.yaml'
    file.write_text('initial_state: a\ntick: 0.05\ntransitions:\n' + ''.join(
        f'  {here}: [{there}]\n' for here, there in RING.items()))
    return file


@pytest.mark.parametrize('given, k, moves, interval', [
    (VISITS, 4, 2, 0.1),  # 0.3 s touch four symbols, one every 0.1 s
    ({'protect': 0.3}, 1, 1, 0.05)], ids=['by hand', 'protect alone'])
def test_a_visit_is_protected(world, ring, tmp_path, given, k, moves, interval):
    ledger = tmp_path / 'spent.ledger'
    run = world.privatizer(chain_file=ring, epsilon=2.0, ledger_file=ledger, subject='robot',
                           **given)
    reports, statuses = [], world.diagnostics()  # (nanoseconds, region)
    world.node.create_subscription(
        String, 'private_region',
        lambda message, info: reports.append((info['source_timestamp'], message.data)), LATCHED)

    def in_a_row():
        """Return pairs of reports between which, by their times, none was missed."""
        return [(region, following) for (now, region), (then, following) in
                zip(reports, reports[1:], strict=False) if then - now <= interval * 1e9]

    world.latch('c')
    world.wait_until(lambda: len(in_a_row()) >= 10, 'ten pairs of reports')
    world.wait_until(lambda: statuses, 'a report')
    assert f'k = {k}' in run.log
    assert 'hidden: where it is during any 0.3 s, with ε = 2: an observer who thought ' in run.log
    assert ('within 2 moves' in run.log) == (moves == 2)
    near = {here: {here, there, *([RING[there]] if moves == 2 else [])}
            for here, there in RING.items()}
    assert all(there in near[here] for here, there in in_a_row())
    [status] = {pair.value for pair in statuses[0].values if pair.key == 'adjacency'}
    assert status == f'{k}'
    with Ledger(ledger) as spent:
        [charge] = spent.charges()
        assert charge.loss.seconds == Fraction('0.3') and charge.adjacency == k
        assert spent.spent('robot') == 2  # ε for 0.3 s


def test_with_protect_alone_a_region_goes_out_every_second(world):
    run = world.privatizer(chain_file=DEPOT, initial_state="'0'", protect=30.0, epsilon=2.0,
                           use_sim_time='true')
    private, publisher, time = world.listen(), world.publisher(), SimulatedTime(world)
    assert 'k = 1, policy adaptive' in run.log and 'any 30 s, with ε = 2' in run.log
    assert '31 private regions for each symbol, one every 1 s' in run.log
    assert 'one symbol every 31 s' in run.log
    assert 'the first private region comes in 31 s' in run.log and 'has no effect' not in run.log
    publisher.publish(String(data='1'))
    time.pass_quietly(30)
    assert not private
    time.go_on(1)
    time.stand_until(lambda: private, 'the first region')
    time.tick(private, 35)  # the next symbol among them
    places = read_graph(DEPOT).successors
    assert len(private) >= 36 and all(there == here or there in places[here] for here, there
                                      in zip(private, private[1:], strict=False))


@pytest.mark.parametrize('given, said', [
    ({'delay': 63.5}, ['each private region leaves 62 s later', 'comes in 93 s']),
    ({'report_period': 5.0}, ['k = 1', 'one symbol every 35 s', '7 private regions for each',
                              'one every 5 s', 'within 5 moves']),
    ({'policy': 'guided', 'stay': 60.0}, ['k = 1, policy guided', 'one symbol every 31 s',
                                          'within 2 moves'])])
def test_what_is_set_by_hand_is_taken(starter, given, said):
    parameters = {'chain_file': DEPOT, 'initial_state': "'0'", 'protect': 30.0, 'epsilon': 2.0}
    end, log = starter.start('privatizer', **parameters | given)
    assert end == 'started' and all(text in log for text in said), log


@pytest.mark.parametrize('node', ['privatizer', 'log_release'])
@pytest.mark.parametrize('given', [{}, {'sampling': 'period'}, {'protect': 0.0, 'adjacency': 0}])
def test_nothing_is_hidden_unless_it_is_said(starter, node, given):
    logs = {'log_dir': 'logs', 'release_dir': 'released', 'ledger_file': 'spent', 'subject': 'r1'}
    end, log = starter.start(node, **{
        'chain_file': DEPOT, 'initial_state': "'0'", 'self_loops': 'true', 'epsilon': 2.0,
        **given, **(logs if node == 'log_release' else {})})
    assert end == '1' and log.count('FATAL') == 1, log
    assert 'say what is hidden: protect: 30.0 hides any visit of 30 s (adjacency: k, for those ' \
           'who count symbols, hides any k symbols)' in log


@pytest.mark.parametrize('given, said', [
    ({'sampling': 'message'}, 'protect needs sampling: period'),
    ({'adjacency': 3}, 'give one of them'),
    ({'period': 0.12}, 'no whole number of steps'),
    ({'moves': 0, 'protect': 0.0, 'adjacency': 3}, 'give the same period, or moves'),
    ({'protect': -1.0}, 'protect is -1'),
    ({'stay': 'long'}, 'stay is'),
    ({'report_period': 0.05}, 'leave moves out'),
    ({'report_period': 0.05, 'moves': 0, 'policy': 'guided'}, 'need the policy adaptive'),
    ({'report_period': 0.03, 'moves': 0}, 'report_period')])
def test_settings_that_do_not_go_together(starter, ring, given, said):
    assert said in starter.refused('privatizer', chain_file=ring, epsilon=2.0, **VISITS | given)
