# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: errors by hand, and the ε that solves for one."""
from functools import partial
from math import exp, log
from threading import get_ident

import pytest
from refusals import refused
from strategies import FOUR
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       PrivacyError, UnknownSymbolError)
from symdp_ros.analysis.accuracy import (accuracy, averaged, errors_of_robots, errors_of_words,
                                         patrols, robots)
from symdp_ros.analysis.calibration import Calibration, LIVE, LOGGED, MECHANISMS

#: Everything can follow everything: each symbol is wrong with 1/(1 + e^{ε/k}).
COIN = Chain({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a')
WORD = ['s1', 's2', None, 's0', 's3', 's3']


EXACT_LIVE = LIVE[:2]  # the errors of the others are simulated


def by_name(name, chain, privacy):
    return {'live, paper': lambda: OnlineMechanism(chain, privacy, policy='paper'),
            'live, guided': lambda: OnlineMechanism(chain, privacy, policy='guided'),
            'live, adaptive': lambda: OnlineMechanism(chain, privacy, policy='adaptive'),
            **{f'live, adaptive, delay {delay}': lambda delay=delay: OnlineMechanism(
                chain, privacy, policy='adaptive', delay=delay) for delay in (1, 3, 10)},
            'causal, adaptive': lambda: OfflineMechanism(chain, privacy, selection='causal',
                                                         policy='adaptive'),
            'exponential': lambda: OfflineMechanism(chain, privacy, selection='exponential'),
            'exponential, counting': lambda: OfflineMechanism(
                chain, privacy, base='counting')}[name]()


def test_the_names():
    assert LIVE == ('live, paper', 'live, guided', 'live, adaptive', 'live, adaptive, delay 1',
                    'live, adaptive, delay 3',
                    'live, adaptive, delay 10')
    assert MECHANISMS == (*LIVE, *LOGGED)
    assert Calibration(FOUR, 1, 10).mechanisms() == MECHANISMS
    assert Calibration(FOUR, 1, 10, delays=[2]).mechanisms() == (
        *LIVE[:3], 'live, adaptive, delay 2', *LOGGED)


@pytest.mark.parametrize('adjacency', [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize('name', MECHANISMS)
def test_the_error_is_the_expected_accuracy(name, adjacency):
    calibration = Calibration(FOUR, adjacency, 7, walks=9)
    for epsilon in (0.0, 0.5, 4.0):
        expected = averaged(errors_of_words(by_name(name, FOUR, Privacy(epsilon, adjacency)),
                                            patrols(FOUR, 7, 9), draws=2))
        found = calibration.error(name, epsilon)
        assert (found.mean, found.standard_error) == (expected.error, expected.standard_error)


@pytest.mark.parametrize('name', MECHANISMS)
def test_logs_that_are_shorter_than_k_are_drawn_for_fewer_changes(name):
    """As releases are; live words, whose length is not known, are not."""
    calibration = Calibration(FOUR, 31, 5, walks=9)
    expected = averaged(errors_of_words(
        by_name(name, FOUR, Privacy(4.0, 31 if name in LIVE else 5)), patrols(FOUR, 5, 9),
        draws=2))
    assert calibration.error(name, 4.0).mean == expected.error


@pytest.mark.parametrize('adjacency', [pytest.param(1, marks=pytest.mark.thorough), 2])
@pytest.mark.parametrize('name', MECHANISMS)
def test_the_error_of_a_given_word(name, adjacency):
    calibration = Calibration(FOUR, adjacency, len(WORD), word=WORD)
    for epsilon in (0.0, 0.5, 4.0):
        expected = accuracy(by_name(name, FOUR, Privacy(epsilon, adjacency)), WORD)
        found = calibration.error(name, epsilon)
        assert (found.mean, found.standard_error) == (expected.mean / 6,
                                                      expected.standard_error / 6)
        assert found.standard_error == 0 or 'adaptive' in name


@pytest.mark.parametrize('adjacency', [1, 3])
@pytest.mark.parametrize('name', EXACT_LIVE)
def test_the_error_by_hand(name, adjacency):
    """1/(1 + e^{ln 4}) = 1/5, whatever the walk."""
    found = Calibration(COIN, adjacency, 5, walks=3).error(name, adjacency * log(4))
    assert found.mean == pytest.approx(0.2, abs=1e-8)
    assert found.standard_error == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize('adjacency, target', [(1, 0.45), (3, 0.2), (6, 0.01)])
@pytest.mark.parametrize('name', EXACT_LIVE)
def test_epsilon_by_hand(name, adjacency, target):
    """ε = k·ln(1/target − 1), from above."""
    exact = adjacency * log(1 / target - 1)
    found = Calibration(COIN, adjacency, 5, walks=2).epsilon_for(name, target)
    assert exact * (1 - 1e-6) <= found <= exact * 1.0011


@pytest.mark.parametrize('name', [*EXACT_LIVE, *LOGGED])
def test_epsilon_solves(name):
    """The error is at most the target there, and more 0.2 % below; of a word, so without noise."""
    calibration = Calibration(FOUR, 1, len(WORD), word=['s1', 's2', 's0', 's3', 's3', 's1'])
    epsilon = calibration.epsilon_for(name, 0.3)
    assert calibration.error(name, epsilon).mean <= 0.3
    assert calibration.error(name, epsilon * 0.998).mean > 0.3


@pytest.mark.parametrize('name', ['live, guided', 'live, adaptive', *(
    pytest.param(name, marks=pytest.mark.thorough) for name in MECHANISMS
    if name not in ('live, guided', 'live, adaptive'))])
def test_epsilon_over_walks_has_at_most_the_error(name):
    calibration = Calibration(FOUR, 1, 20, walks=10)
    epsilon = calibration.epsilon_for(name, 0.2)
    assert calibration.error(name, epsilon).mean <= 0.2
    # What is simulated is no smooth curve: its sets change with ε.
    below = 0.9 if 'adaptive' in name else 0.998
    assert calibration.error(name, epsilon * below).mean > 0.2


@pytest.mark.parametrize('exact', [33.0, 59.0])
def test_epsilon_up_to_60(exact):
    adjacency = 30
    target = 1 / (1 + exp(exact / adjacency))
    found = Calibration(COIN, adjacency, 2, walks=2).epsilon_for('live, paper', target)
    assert found is not None and exact * (1 - 1e-6) <= found <= exact * 1.0011


def test_no_epsilon_above_60():
    assert Calibration(COIN, 100, 2, walks=2).epsilon_for('live, paper', 0.2) is None  # 139
    unknown = Calibration(COIN, 1, 2, word=[None, None])
    assert all(unknown.epsilon_for(name, 0.9) is None for name in (
        'live, paper', 'live, adaptive', 'exponential'))


def test_an_error_that_no_epsilon_is_needed_for(monkeypatch):
    """Half the symbols are right by chance: ε = 0, or so; found without a thousand steps."""
    asked, error = [], Calibration.error

    def counted(self, name, epsilon):
        asked.append(epsilon)
        return error(self, name, epsilon)

    monkeypatch.setattr(Calibration, 'error', counted)
    assert Calibration(COIN, 1, 5, walks=2).epsilon_for('live, paper', 0.6) < 1e-6
    assert len(asked) < 100


def test_how_long_the_walks_stay():
    ring = Chain({'a': ['b'], 'b': ['a']}, 'a')
    assert Calibration(ring, 1, 10).mean_stay == {'': 1}
    assert Calibration(ring, 1, 2, word=['a', 'a']).mean_stay == {}  # it depends on the word


SIX = robots(FOUR, 0.8)


@pytest.mark.parametrize('name', MECHANISMS)
def test_each_robot_alone_has_the_same_errors(name):
    """Exactly, where draws are not simulated."""
    together = Calibration(FOUR, 1, 6, walks=60, robots=SIX)
    errors = together.errors(name, 2.0)
    assert [*errors] == [*SIX] == [*together.mean_stay]
    for robot, chain in SIX.items():
        alone = Calibration(FOUR, 1, 6, walks=60, robots={robot: chain}).error(name, 2.0)
        allowed = ({'abs': 6 * (alone.standard_error + errors[robot].standard_error)}
                   if 'adaptive' in name else {'rel': 1e-9})
        assert errors[robot].mean == pytest.approx(alone.mean, **allowed)
    assert together.error(name, 2.0) == max(errors.values(), key=lambda error: error.mean)


def test_the_epsilon_of_the_best_robot_and_of_all():
    calibration = Calibration(FOUR, 1, 6, walks=4, robots=SIX)
    needed = calibration.needed(0.3)
    for name in 'live, guided', 'exponential':
        for epsilon, of_robots in zip(needed[name], (min, max), strict=True):
            errors = calibration.errors(name, epsilon), calibration.errors(name, epsilon * 0.998)
            at, below = (of_robots(error.mean for error in each.values()) for each in errors)
            assert at <= 0.3 < below
        assert needed[name][0] < needed[name][1]


@pytest.mark.parametrize('name, text', [
    *((name, 'is no mechanism') for name in (
        'paper', 'laplace', '', 'live, laplace', 'causal', None)),
    *((name, 'no longer has') for name in ('live, planned', 'permute_and_flip'))])
def test_unknown_names(name, text):
    with refused(ConfigurationError, text, setting='mechanism'):
        Calibration(FOUR, 1, 5).error(name, 1.0)


@pytest.mark.parametrize('options, kind, facts', [
    ({'length': 0}, ConfigurationError, {'setting': 'length'}),
    ({'walks': 1}, ConfigurationError, {'setting': 'walks'}),
    ({'adjacency': 0}, PrivacyError, {'setting': 'adjacency'}),
    ({'word': ['s0', 'x']}, UnknownSymbolError, {}),
    ({'word': []}, ConfigurationError, {'setting': 'word'}),
])
def test_what_is_refused(options, kind, facts):
    arguments = {'adjacency': 1, 'length': 2, **options}
    with refused(kind, **facts):
        Calibration(FOUR, **arguments).error('live, paper', 1.0)


@pytest.mark.parametrize('target', [float('nan'), -0.1])
def test_a_target_that_is_none(target):
    with refused(ConfigurationError, setting='target'):
        Calibration(FOUR, 1, 2, walks=2).epsilon_for('live, paper', target)


def test_tables_are_the_same_whatever_runs_beside_them():
    tables, ran = [], []
    for others in range(3):
        calibration = Calibration(FOUR, 1, 12, walks=30)
        mine = [lambda: ran.append(get_ident())] * 4 if others == 0 else [
            partial(calibration.errors, name, 3.0) for name in MECHANISMS][::-others]
        tables.append(calibration.table([0.5, 3.0], others=mine))
    assert tables[0] == tables[1] == tables[2] and ran == [get_ident()] * 4
    [found] = errors_of_robots(by_name('live, adaptive', FOUR, Privacy(3.0)),
                               [patrols(FOUR, 12, 30)], draws=2)
    assert tables[0][3.0]['live, adaptive'].mean == found.mean()


def test_what_runs_beside_a_table_may_fail():
    def fail():
        raise ValueError('so')

    with pytest.raises(ValueError, match='^so$'):
        Calibration(FOUR, 1, 12, walks=30).table([0.5, 3.0], others=[fail])


def test_tables_are_the_errors_one_by_one():
    done = []
    calibration, alone = (Calibration(FOUR, 1, 5, walks=4) for _ in range(2))
    table = calibration.table(iter([3.0, 0.5]), done.append)
    assert [*table] == [3.0, 0.5]
    for epsilon, row in table.items():
        assert row == {name: alone.error(name, epsilon) for name in MECHANISMS}
    assert sorted(done) == sorted(f'{name} at ε = {epsilon:g}'
                                  for name in MECHANISMS for epsilon in (0.5, 3.0))
    assert calibration.needed(0.3, done.append) == {
        name: (alone.epsilon_for(name, 0.3),) * 2 for name in MECHANISMS}
    assert sorted(done[-len(MECHANISMS):]) == sorted(f'the ε of {name}' for name in MECHANISMS)
