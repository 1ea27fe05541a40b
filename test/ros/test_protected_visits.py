# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Visits through the real nodes: `protect`, `moves` and `stay`."""
from fractions import Fraction

from harness import LATCHED
import pytest
from std_msgs.msg import String
from symdp_ros.ledger.ledger import Ledger

RING = {'a': 'b', 'b': 'c', 'c': 'd', 'd': 'e', 'e': 'f', 'f': 'a'}
VISITS = {'sampling': 'period', 'period': 0.1, 'protect': 0.3, 'moves': 2, 'stay': 1.0}


@pytest.fixture
def ring(tmp_path):
    file = tmp_path / 'ring.chain.yaml'
    file.write_text('initial_state: a\ntick: 0.05\ntransitions:\n' + ''.join(
        f'  {here}: [{there}]\n' for here, there in RING.items()))
    return file


def test_a_visit_is_protected(world, ring, tmp_path):
    ledger = tmp_path / 'spent.ledger'
    run = world.privatizer(chain_file=ring, epsilon=2.0, ledger_file=ledger, subject='robot',
                           **VISITS)
    reports, statuses = [], world.diagnostics()  # (nanoseconds, region)
    world.node.create_subscription(
        String, 'private_region',
        lambda message, info: reports.append((info['source_timestamp'], message.data)), LATCHED)

    def in_a_row():
        """Return pairs of reports between which, by their times, none was missed."""
        return [(region, following) for (now, region), (then, following) in
                zip(reports, reports[1:], strict=False) if then - now <= 100_000_000]

    world.publisher().publish(String(data='c'))
    world.wait_until(lambda: len(in_a_row()) >= 10, 'ten pairs of reports')
    world.wait_until(lambda: statuses, 'a report')
    assert 'k = 4' in run.log  # 0.3 s touch four reports, one every 0.1 s
    assert 'protected: where the robot was during any 0.3 s. Take two routes that differ only ' \
           'during those 0.3 s. What others see is at most e^2 times as likely' in run.log
    assert 'within 2 moves' in run.log
    near = {here: {here, there, RING[there]} for here, there in RING.items()}
    assert all(there in near[here] for here, there in in_a_row())
    [status] = {pair.value for pair in statuses[0].values if pair.key == 'adjacency'}
    assert status == '4'
    with Ledger(ledger) as spent:
        [charge] = spent.charges()
        assert charge.loss.seconds == Fraction('0.3') and charge.adjacency == 4
        assert spent.spent('robot') == 2  # ε for 0.3 s


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
