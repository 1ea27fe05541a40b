# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `symdp explore` shows, against calibration."""
from dataclasses import replace

import numpy as np
import pytest
from symdp_ros.analysis.exploration import Exploration, Grid, GridPoint
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import period_of

NAMES = 'abcdefgh'
RING = TransitionGraph(
    {s: [NAMES[i - 1], NAMES[(i + 1) % 8]] for i, s in enumerate(NAMES)}, 'a',
    positions={s: (3.0 * i, 0.0) for i, s in enumerate(NAMES)})
ZONES = {'west': tuple('abcd'), 'east': tuple('efgh')}
GRID = Grid((1.0, 3.0, 5.0), (4.0,), (8.0,))
PLACE = GridPoint(8.0, 4.0, 1, False)
TICKS = 150  # of the routes that are shown


@pytest.fixture(scope='module', autouse=True)
def few_walks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('symdp_ros.analysis.visits._WALKS', 4)
        patch.setattr('symdp_ros.analysis.visits._LEAST_WALKS', 2)
        patch.setattr('symdp_ros.analysis.visits._LEAST_TICKS', 100)
        patch.setattr('symdp_ros.analysis.exploration._LEAST_TICKS', TICKS)
        patch.setattr('symdp_ros.analysis.exploration._FRAMES', TICKS)  # beliefs at every tick
        yield


@pytest.fixture
def all_walks(monkeypatch):
    """As in another process, where nothing is patched."""
    monkeypatch.setattr('symdp_ros.analysis.visits._WALKS', 48)
    monkeypatch.setattr('symdp_ros.analysis.visits._LEAST_WALKS', 24)
    monkeypatch.setattr('symdp_ros.analysis.visits._LEAST_TICKS', 300)
    monkeypatch.setattr('symdp_ros.analysis.exploration._LEAST_TICKS', 600)
    monkeypatch.setattr('symdp_ros.analysis.exploration._FRAMES', 120)


@pytest.fixture(scope='module')
def exploration():
    return Exploration(RING, GRID, zones=ZONES)


@pytest.fixture(scope='module')
def cells(exploration, made_once):
    return made_once('cells', lambda folder: exploration.cells())


@pytest.mark.parametrize('zoned', [False, True])
@pytest.mark.parametrize('k', [1, 2])
def test_the_best_is_that_of_calibrate(cells, k, zoned):
    """About the same errors where clocks are compared; the same ones of the same way."""
    visits = VisitCalibration(RING, protect=4.0, stay=8.0, zones=ZONES if zoned else None)
    period = period_of(4.0, 1.0, k)
    assert period in visits.periods
    row = visits.row(period, GRID.compared_at, delay=period)
    found = [cell for cell in cells[GridPoint(8.0, 4.0, k, zoned)]
             if cell.epsilon == GRID.compared_at]
    live = min((cell for cell in found if cell.late is not None),
               key=lambda cell: cell.errors.wrong)
    logged = min((cell.errors for cell in found if cell.mechanism in (
        'causal, adaptive', 'exponential')), key=lambda errors: errors.wrong)
    for errors, shown in ((live.errors, row.live), (logged, row.logged)):
        # A quarter of the walks shows `row` which way to measure. (All seeds are fixed.)
        assert shown.wrong <= errors.wrong + 3 * shown.standard_error
        if (errors.mechanism, errors.report_period, errors.moves, errors.delay) == (
                shown.mechanism, shown.report_period, shown.moves, shown.delay):
            assert errors == shown
    assert live.period == row.period and (live.errors != row.live or live.guess == row.guess)


def test_the_other_numbers_are_those_of_calibrate_for_the_same_clock(cells):
    from symdp_ros.core.privacy import Privacy

    visits = VisitCalibration(RING, protect=4.0, stay=8.0)
    for cell in cells[PLACE]:
        way = next(way for way in visits.ways(5.0, 5.0) if (way.name, way.late) == (
            cell.mechanism, cell.late) and way.clock == (cell.errors.report_period,
                                                         cell.errors.moves))
        mechanism = visits.mechanism(way, 5.0, Privacy(cell.epsilon, 1))
        assert visits.errors(way, mechanism, 5.0) == cell.errors
        if way.late is not None:
            assert visits.guess(mechanism) == cell.guess  # also where it is late


def test_the_routes_that_are_shown(exploration, cells):
    route = exploration.route(8.0)
    assert len(route.states) == TICKS and route.robot == 'as the map says'
    assert 6 < route.mean_stay < 10
    wrong = {}
    for cell in cells[PLACE]:
        reports = np.array(cell.reports)
        assert reports.shape == (TICKS,) and reports.max() < 8
        known = np.flatnonzero(reports >= 0)
        assert known[-1] - known[0] + 1 == len(known) > TICKS - 20  # without a gap
        wrong[cell.mechanism, cell.late, cell.epsilon] = (
            reports[known] != np.array(route.states)[known]).mean()
        assert (cell.beliefs is None) == (cell.mechanism == 'exponential')
        for frame in cell.beliefs or ():
            assert all(0.02 <= p <= 1 for p in frame.values()) and sum(frame.values()) < 1.001
    for name, late in {key[:2] for key in wrong}:
        assert wrong[name, late, 1.0] > wrong[name, late, 5.0]


def test_in_zones_others_know_the_zone(exploration, cells):
    """With every symbol, which is every fifth tick, it is told."""
    route = exploration.route(8.0)
    zone = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    known = {False: 0, True: 0}
    for zoned in known:
        for cell in cells[GridPoint(8.0, 4.0, 1, zoned)]:
            first = int(cell.errors.report_period) - 1
            for t in range(first, first + TICKS - 4, 5) if cell.beliefs else ():
                known[zoned] += {int(zone[state]) for state in cell.beliefs[t]} == {
                    zone[route.states[t]]}
    assert known[True] == 3 * TICKS // 5 * 3  # ε, symbols, and adaptive at once, late and of logs
    assert known[False] < 3 * TICKS // 5 * 5


@pytest.mark.thorough
@pytest.mark.usefixtures('all_walks')
def test_it_is_the_same_in_other_processes():
    exploration = Exploration(RING, Grid((3.0,), (4.0,), (8.0,), (1, 2)))
    two = Exploration(RING, exploration.grid, processes=2)
    assert two.processes == 2 and two.cells() == exploration.cells()


def test_what_cannot_be_is_left_out():
    """A visit of less than a tick is in one symbol only."""
    exploration = Exploration(RING, replace(GRID, protects=(0.5, 2.0)))
    assert [(point.protect, point.symbols) for point in exploration.points] == [
        (2.0, 1), (2.0, 2), (0.5, 1)]
    assert [period_of(30.0, 1.0, k) for k in (1, 2, 4)] == [31.0, 16.0, 8.0]


def test_where_nothing_is_known_all_robots_count():
    exploration = Exploration(RING.with_self_loops(), Grid((3.0,), (2.0,), (0.0,), (1,)))
    [cell, *_] = exploration.cells()[GridPoint(0.0, 2.0, 1, False)]
    assert len(cell.errors.by_robot) == 6
    route = exploration.route(0.0)
    assert route.robot == 'all moves equally likely' and 1 < route.mean_stay < 2  # next to 2 s
