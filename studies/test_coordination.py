# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/evidence/coordination.md.

Its numbers come out again, and what they are made with is right.
"""
from functools import cache
import json

import numpy as np
import pytest
from studies.common import DATA, DOCS
from studies.coordination import __main__ as command, measure as study
from studies.coordination.hearing import Hearing
from studies.coordination.intruder import success
from studies.coordination.patrol import DELAY, Map, Patrol, patrol, ROBOTS, View
from symdp_ros.analysis.belief import Filter

EVIDENCE = DOCS / 'evidence'
NUMBERS = json.loads((EVIDENCE / 'coordination.json').read_text(encoding='utf-8'))
needs_maps = pytest.mark.skipif(not DATA.is_dir(), reason='the maps are not there')
area = cache(Map)


@needs_maps
@pytest.mark.parametrize('name, strategy, view', [
    ('1r5', 'reactive', View('true')), ('grid', 'auction', View('none')),
    ('grid', 'sebs', View('guided', 1.0, 'symbol')),
    ('cumberland', 'reactive', View('guided', 4.0, 'hedged')),
    ('1r5', 'auction', View('adaptive', 2.0, 'belief'))])
def test_patrols_repeat(name, strategy, view):
    assert study.patrol_row(area(name), strategy, view, study.FULL) in NUMBERS['patrol']


@needs_maps
def test_late_rows_repeat():
    assert study.late_row(area('1r5'), 'reactive', 2.0, 3, study.FULL) in NUMBERS['late']
    at = study.late_row(area('1r5'), 'sebs', 2.0, 0, study.FULL)
    now = study.patrol_row(area('1r5'), 'sebs', View('adaptive', 2.0, 'symbol'), study.FULL)
    assert at == {key: now.get(key, 0) for key in at}


def test_everything_is_there():
    rows = {tuple(row[key] for key in ('map', 'strategy', 'what', 'epsilon', 'use'))
            for row in NUMBERS['patrol']}
    assert rows == {(name, strategy, *view) for name in study.MAPS
                    for strategy in study.STRATEGIES
                    for view in ((v.what, v.epsilon, v.use) for v in study.views())}
    assert len(NUMBERS['patrol']) == len(rows)
    assert {(row['epsilon'], row['delay']) for row in NUMBERS['late']} == {
        (epsilon, delay) for epsilon in study.LATE_EPSILONS for delay in study.DELAYS}
    assert NUMBERS['size'] == {'epsilons': [*study.EPSILONS], **study.FULL._asdict()}


@needs_maps
def test_the_command_writes_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(command, 'numbers', lambda size: NUMBERS)
    command.main(tmp_path / 'new', quick=False)
    written = {file.name: file.read_text(encoding='utf-8') for file in tmp_path.glob('new/*')}
    assert written.keys() == {file.name for file in EVIDENCE.glob('coordination*')}
    for name, text in written.items():
        assert text == (EVIDENCE / name).read_text(encoding='utf-8') or name.endswith('.svg')
        assert f']({name})' in written['coordination.md'] or name == 'coordination.md'


@needs_maps
@pytest.mark.parametrize('policy', ['paper', 'guided'])
def test_beliefs_are_those_of_the_filter(policy):
    mechanisms = area('grid').mechanisms(policy, 2.0)
    hearing, filters = Hearing(mechanisms, 5), [Filter(m) for m in mechanisms]
    places, random = area('grid').starts, np.random.default_rng(5)
    states = mechanisms[0].chain.states
    for _ in range(12):
        chances = area('grid').moves[places]
        places = np.array([random.choice(len(states), p=row) for row in chances])
        heard = hearing.step(places)
        for row, filter_, output in zip(hearing.beliefs, filters, heard, strict=True):
            assert row == pytest.approx(filter_.update(states[output]), abs=1e-12)


@needs_maps
@pytest.mark.parametrize('strategy', study.STRATEGIES)
@pytest.mark.parametrize('what', ['true', 'none', 'guided'])
def test_robots_patrol(strategy, what):
    view = View(what) if what != 'guided' else View('guided', 2.0, 'hedged')
    grid = area('grid')
    found = patrol(grid, strategy, view, 3, 120, 9)
    steps = grid.distance[found.places[:-1], found.places[1:]]
    assert steps.max() == 1 and abs((steps == 0).mean() - DELAY) < 0.05
    assert (found.places[0] == grid.starts).all()
    for t in range(1, 120):  # idleness by its definition
        was = (found.places[:t + 1, 0, :, None] == np.arange(len(grid))).any(axis=1)
        last = np.where(was.any(axis=0), t - was[::-1].argmax(axis=0), 0)
        assert (found.idleness[t, 0][was.any(axis=0)] == (t - last)[was.any(axis=0)]).all()
    assert found.visited.any(axis=0).all(), 'every vertex is visited some time'
    assert patrol(grid, strategy, view, 3, 120, 9).places.tolist() == found.places.tolist()


@needs_maps
def test_an_intruder_who_sees_a_still_team_always_succeeds():
    grid, steps, runs = area('grid'), 60, 4
    random = np.random.default_rng(1)
    places = np.repeat(random.integers(0, len(grid), (1, runs, ROBOTS)), steps, axis=0)
    beliefs = np.eye(len(grid), dtype=np.float32)[places]
    visited = beliefs.any(axis=2)
    still = Patrol(places, beliefs, beliefs, visited, np.where(visited, 0.0, 1.0))
    found = success(grid, still, 10)
    assert found.always.tolist() == found.patient.tolist() == [1.0] * runs
