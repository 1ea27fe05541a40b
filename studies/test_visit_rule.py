# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The study of the rule of `protect`, on a small map."""
import pytest
from studies import visit_rule
from studies.common import page_command
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.maps.graph import TransitionGraph

STATES = [f's{i}' for i in range(6)]
RING = TransitionGraph({s: [s, STATES[(i + 1) % 6], STATES[i - 1]] for i, s in enumerate(STATES)},
                       's0')


@pytest.fixture(scope='module')
def visits():
    return VisitCalibration(RING, protect=10.0, stay=60.0, walks=100)


def test_the_rule_is_hardly_behind_the_best(visits):
    for epsilon in (1.0, 3.0):
        for cell in visit_rule.compared(visits, 10.0, epsilon).values():
            assert cell['best'] <= cell['rule'] <= cell['best'] + 0.02 + 2 * cell['error']
            assert 0 < cell['best'] < 1 and cell['ways'] > 1


def test_shorter_periods_err_more(visits):
    rows = {period: visits.row(period, 3.0, guess=False) for period in (1.0, 4.0, 6.0, 11.0)}
    for kind in ('live', 'logged'):
        wrong = {period: getattr(row, kind).wrong for period, row in rows.items()}
        assert min(wrong, key=wrong.__getitem__) == 11.0, wrong


def test_without_the_maps_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr('studies.common.DATA', tmp_path / 'missing')
    monkeypatch.setattr('sys.argv', ['', str(tmp_path / 'page.md')])
    with pytest.raises(SystemExit, match='skipped: the maps are not there'):
        page_command('visit_rule', visit_rule.page, quick=True)


def test_the_page(monkeypatch):
    cell = {'rule': 0.41, 'best': 0.4, 'ways': 7, 'error': 0.01}
    monkeypatch.setattr(visit_rule, 'measure_all', lambda study, name, quick, of, arguments: [
        [{'live': cell, 'logs': {**cell, 'rule': 0.4}}]] * len(arguments))
    text = visit_rule.page(quick=True)
    assert f'| {visit_rule.QUICK} | 0.410 / 0.400 |' in text
    assert 'at most 0.010 behind live, and 0.000 for logs' in text
