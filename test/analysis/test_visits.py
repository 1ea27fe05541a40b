# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration in time: against exact errors where there are any, and against the definition."""
from dataclasses import replace

import numpy as np
import pytest
from symdp_ros import ConfigurationError, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import average_accuracy, patrols, robots
from symdp_ros.analysis.visits import _standing, VisitCalibration, Way
from symdp_ros.maps.graph import TransitionGraph

NAMES = 'abcdefgh'
RING = TransitionGraph(
    {s: [NAMES[i - 1], NAMES[(i + 1) % 8]] for i, s in enumerate(NAMES)}, 'a',
    positions={s: (3.0 * i, 0.0) for i, s in enumerate(NAMES)})


@pytest.fixture(scope='module')
def visits():
    return VisitCalibration(RING, protect=10.0, stay=8.0, walks=16)


def test_periods_and_what_a_visit_touches(visits):
    assert visits.tick == 1.0
    assert visits.periods == (1, 2, 3, 4, 6, 11)  # the shortest with k = 11, 6, 4, 3, 2, 1
    rows = {period: visits.row(period, 2.0, guess=False) for period in visits.periods}
    # A log is released no worse than it is seen live.
    assert all(row.logged.wrong <= row.live.wrong for row in rows.values())
    assert {period: row.adjacency for period, row in rows.items()} == {
        1: 11, 2: 6, 3: 4, 4: 3, 6: 2, 11: 1}
    assert rows[1.0].live.moves == 1 and 2 <= rows[11.0].live.moves <= 5


def test_the_simulated_robot_stays_as_long_as_it_is_said(visits):
    stays = visits.mean_stay
    assert 6 < stays['as the map says'] < 10 and stays['stays 0'] == 1
    assert 1.3 < stays['all moves equally likely'] < 1.7 and 70 < stays['stays 0.99'] < 140
    assert visits.chain.probabilities('a')['a'] == pytest.approx(1 - 1 / 8)


def test_against_exact_errors(visits):
    """A report every tick: the share of time is the share of symbols."""
    row = visits.row(1.0, 30.0, guess=False)
    mechanism = OnlineMechanism(visits.chain, Privacy(30.0, 11), policy=row.live.mechanism)
    walking = robots(visits.chain, 0.8)
    assert visits.by_robot(row).keys() == walking.keys()
    for name in ('as the map says', 'all moves equally likely', 'stays 0.9'):
        robot = walking[name]
        exact = average_accuracy(mechanism, patrols(robot, 300, 16))
        # 16·2 words, the same walks: an error more than 0.05 off is a mean of 9,600 symbols.
        assert visits.by_robot(row)[name] == pytest.approx(exact.error, abs=0.05)
    assert row.live.wrong == row.live.by_robot['as the map says']
    assert row.held == 0


def test_where_nothing_is_known_robots_count_by_the_weights_of_their_models():
    graph = RING.with_stay(0.5)
    nothing = replace(graph, successors={s: [*row] for s, row in graph.successors.items()})
    live = VisitCalibration(nothing, protect=4.0, walks=4).row(1.0, 5.0, guess=False).live
    assert len(live.by_robot) == 6
    assert live.wrong == pytest.approx(0.5 * live.by_robot['all moves equally likely'] + 0.1 * sum(
        wrong for name, wrong in live.by_robot.items() if name.startswith('stays')))


def test_without_noise_only_the_holding_is_wrong(visits):
    row = visits.row(11.0, 60.0, guess=False)
    true = np.array([[NAMES.index(s) for s in word] for word in patrols(visits.chain, 300, 16)])
    # A report stands until the next one, from the first one to the last.
    wrong = [true[w, t] != true[w, 10 + 11 * ((t - 10) // 11)]
             for w in range(16) for t in range(10, 10 + 26 * 11 + 1)]
    assert row.held == pytest.approx(np.mean(wrong), abs=0.02)
    # Some ways are longer than `moves`: these reports are late.
    assert row.held <= row.live.wrong < row.held + 0.1
    assert row.live.metres_off >= 3 * row.live.moves_off > 0  # from h to a it is further


def test_a_row_repeats_and_less_privacy_is_less_wrong(visits):
    again, row = VisitCalibration(RING, protect=10.0, stay=8.0, walks=16), visits.row(5.0, 10.0)
    assert again.row(5.0, 10.0) == row and row.guess.before < row.guess.after
    errors = [visits.row(5.0, epsilon, guess=False).live.wrong for epsilon in (0, 3, 40)]
    assert errors[0] > errors[1] > row.live.wrong > errors[2]


def test_the_epsilon_of_an_error():
    visits = VisitCalibration(RING, protect=10.0, stay=8.0, walks=4)
    row = visits.row_for(11.0, 0.55)
    assert row.live.wrong <= 0.55
    assert visits.row(11.0, row.epsilon * 0.8, guess=False).live.wrong > 0.55  # simulated
    assert visits.row_for(11.0, 1e-4) is None


def test_a_map_without_positions_and_an_alphabet():
    row = VisitCalibration(replace(RING, positions={}), protect=10.0, stay=8.0, walks=2).row(
        11.0, 2.0, guess=False)
    assert row.live.metres_off is None and row.live.moves_off > 0
    modes = TransitionGraph({'idle': [], 'busy': []}, 'idle', complete=True)
    row = VisitCalibration(modes, protect=10.0, walks=2).row(2.0, 2.0, guess=False)
    assert row.live.moves == 1


def test_a_chain_of_reports_is_no_map():
    with pytest.raises(ConfigurationError, match='chain of reports every 15 s'):
        VisitCalibration(replace(RING, tick=15.0, moves=3), protect=30.0)


def test_the_tick_of_the_map():
    found = VisitCalibration(replace(RING, tick=0.5), protect=5.0, stay=4.0, walks=2)
    assert found.periods == (0.5, 1.0, 1.5, 2.0, 3.0, 5.5)
    assert found.chain == RING.with_stay(1 - 0.5 / 4).chain()


@pytest.mark.parametrize('waited, shown', [
    (0, [0, 0, 0, 0, 1, 1, 1, 1, 2]),      # live: a report stands until the next one
    (1, [0, 0, 0, 1, 1, 1, 1, 2, 2]),      # a tick late, and so known a tick before
    (2, [0, 0, 1, 1, 1, 1, 2, 2, 2]),      # half of the time since the one before
    (9, [0, 0, 1, 1, 1, 1, 2, 2, 2]),      # and no more, however late
    (None, [0, 0, 1, 1, 1, 1, 2, 2, 2])])  # logs: half of the time to each side
def test_the_report_that_stands(waited, shown):
    assert _standing(np.zeros((1, 3)), 4, waited).tolist() == shown


def test_what_follows_from_a_visit_is_among_what_is_compared():
    found = VisitCalibration(TransitionGraph(
        {'a': ['b', 'c'], 'b': ['a', 'c'], 'c': ['a']}, 'a'), protect=6.0, stay=28.0, walks=8)
    assert found.by_rule() == (7.0, Way('adaptive', (1, 1), 0))
    assert found.by_rule(delay=15.0) == (7.0, Way('adaptive', (1, 1), 2))
    assert found.by_rule(logged=True) == (7.0, Way('causal, adaptive', (1, 1), None))
    row = found.row(7.0, 3.0, guess=False)
    assert found.errors_by_rule(row).mechanism == 'adaptive'
    assert found.errors_by_rule(row, logged=True).report_period == 1.0
    assert found.errors_by_rule(found.row(1.0, 3.0, guess=False)) is None


def test_where_time_is_short_fewer_walks_are_simulated(visits):
    same, takes = visits.within(1e9, lambda cost: cost.tables + cost.ways + cost.guess)
    assert same is visits and takes > 0
    costs = []
    few, takes = visits.within(0.0, lambda cost: costs.append(cost) or cost.errors)
    assert few.walks == 4 and takes == costs[-1].errors
    # The time goes in a straight line from the fewest walks to all: 4, 8 and 16.
    saved = [costs[0].errors - cost.errors for cost in costs]
    assert len(costs) == 3 and saved[1] * 12 == pytest.approx(saved[2] * 8)
    assert few.row(11.0, 2.0).live == VisitCalibration(
        RING, protect=10.0, stay=8.0, walks=4).row(11.0, 2.0).live
