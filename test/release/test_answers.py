# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of the node `log_release`, as programs read them; more in test/ros/test_log_release."""
from fractions import Fraction
import json

import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import write_log
from symdp_ros.release.answers import release_answer, status_answer
from symdp_ros.release.session import Releaser

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


@pytest.fixture
def released(tmp_path):
    """Give what releases two logs at some ε, and returns the decoded answer."""
    (tmp_path / 'logs').mkdir()
    for name in ('one.csv', 'two.csv'):
        write_log(tmp_path / 'logs' / name, list('abca'), format='csv')

    def release(epsilon, directory='releases', budget=0.0):
        settings = release_settings(chain=CHAIN, privacy=Privacy(epsilon))
        to = tmp_path.resolve() / directory
        to.mkdir(exist_ok=True)
        with Ledger(tmp_path / 'robots.ledger') as ledger, Releaser(
                settings, to, ledger=ledger, subject='r1', budget=budget) as releaser:
            report = releaser.release_directory(tmp_path / 'logs')
            return json.loads(release_answer(
                report, ledger, subject='r1', settings=settings.digest(), budget=budget,
                directory=to))

    return release


def test_what_is_left_of_the_budget_of_a_log(released):
    """Of its releases under all settings together; sums are exact: 0.1 + 0.2 is 0.3."""
    released(0.1, budget=0.3)
    answer = released(0.2, budget=0.3)
    assert [(log['epsilon_now'], log['epsilon_spent'], log['epsilon_left'])
            for log in answer['logs']] == [(0.2, 0.3, 0)] * 2
    assert answer['epsilon_now'] == 0.4 and answer['subject']['epsilon_spent'] == 0.6
    answer = released(0.3, budget=0.3)
    assert [(log['outcome'], log['code']) for log in answer['logs']] == [
        ('refused', 'log_budget')] * 2
    assert answer['code'] == 'incomplete' and answer['epsilon_now'] == 0


def test_a_release_that_is_elsewhere_is_named_with_its_path(released, tmp_path):
    [name] = released(1.0)['logs'][0]['releases']
    [path] = released(1.0, 'others')['logs'][0]['releases']
    assert path == str(tmp_path.resolve() / 'releases' / name)


def test_an_amount_that_no_double_holds_is_the_largest(tmp_path):
    """So the answer is valid JSON, which has no infinity."""
    with Ledger(tmp_path / 'robots.ledger') as ledger:
        ledger.set_budget('r1', Fraction(10**400))
        answer = json.loads(status_answer(ledger.account('r1'), False), parse_constant=pytest.fail)
    assert answer['subject']['epsilon_budget'] > 1e308 and 'no release' in answer['summary']
