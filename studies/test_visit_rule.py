# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The study of the rule of `protect`, on a small map."""
import pytest
from studies import visit_rule
from studies.common import DATA, DOCS, page_command
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


@pytest.mark.skipif(not DATA.is_dir(), reason='the maps are not there')
def test_a_row_comes_out_again():
    """Its cells for the longest visit."""
    protect, cells = visit_rule.PROTECTS[-1], []
    found = visit_rule.measured(visit_rule.QUICK, protect)
    for kind in visit_rule.KINDS:
        cell = max((each[kind] for each in found), key=lambda each: each['rule'] - each['best'])
        cells.append(f'{cell["rule"]:.3f} / {cell["best"]:.3f}')
    page = (DOCS / 'evidence' / 'visit-rule.md').read_text(encoding='utf-8')
    [row] = [line for line in page.splitlines() if line.startswith(f'| {visit_rule.QUICK} |')]
    assert row.strip('| ').split(' | ')[3::3] == cells


def test_the_page(monkeypatch):
    cell = {'rule': 0.41, 'best': 0.4, 'ways': 7, 'error': 0.01}
    monkeypatch.setattr(visit_rule, 'measure_all', lambda study, name, quick, of, arguments: [
        [{'live': cell, 'logs': {**cell, 'rule': 0.4}}]] * len(arguments))
    text = visit_rule.page(quick=True)
    assert f'| {visit_rule.QUICK} | 0.410 / 0.400 |' in text
    assert 'at most 0.010 behind live, and 0.000 for logs' in text
