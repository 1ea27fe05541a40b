# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp explore`: what is in the file."""
import math
import re

from explored_page import (data_of, in_short_time, make_page, OPTIONS,
                           WITHOUT_POSITIONS)
from in_process import ROOT, run_symdp
import pytest
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.core.privacy import Privacy
from symdp_ros.ledger.accounts import Unit
from symdp_ros.ledger.entry import Loss
from symdp_ros.maps import read_graph
from symdp_ros.maps.reports import as_fraction
from symdp_ros.options import PARAMETERS
import yaml


@pytest.fixture(scope='module', autouse=True)
def quick():
    with in_short_time():
        yield


def test_numbers_are_those_of_calibrate(made, data):
    graph = read_graph(made[1], self_loops=True)
    visits = VisitCalibration(graph, protect=8.0, stay=60.0)
    row = visits.row(9.0, data['compared_at'], delay=9.0)
    assert data['compared_at'] == 3.0
    found = visits.errors_by_rule(row)
    assert found.wrong <= row.live.wrong + 0.02
    cell = data['cells'][f'60/8/1/0/adaptive/{round(found.delay / 9)}/3']
    assert cell['wrong'] == found.wrong and cell['wrong_error'] == found.standard_error
    assert cell['metres'] == found.metres_off and cell['steps'] == found.moves_off
    if found is row.live:
        assert cell['guess'] == [row.guess.before, row.guess.after, row.guess.standard_error]
    assert (cell['period'], cell['report'], cell['delay']) == (
        9.0, found.report_period, found.delay)


def test_it_opens_with_the_first_values_given(data, tmp_path):
    stops = data['stops']
    assert stops['epsilon'] == [1, 3, 8]
    assert [stops[name][at] for name, at in data['first'].items()] == [3, 4, 8]
    file = tmp_path / 'ring.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [b, a], b: [a, b]}\n')
    page, _ = make_page(tmp_path, name='ring.yaml', text=file.read_text(), options=(
        '--epsilon', '5', '--epsilon', '1', '--protect', '8', '--protect', '4', '--stay', '8'))
    data = data_of(page)
    assert [data['stops'][name][at] for name, at in data['first'].items()] == [5, 8, 8]


def test_all_that_can_be_chosen_is_there(data):
    stops = data['stops']
    ways = {False: [('adaptive', 0), ('adaptive', 1), ('guided', 0),
                    ('causal, adaptive', 'log'), ('exponential', 'log')]}
    ways[True] = [way for way in ways[False] if way[0] != 'guided']
    assert {*data['cells']} == {
        f'{stay:g}/{protect:g}/{k}/{zoned:d}/{name}/{late}/{epsilon:g}'
        for stay in stops['stay'] for protect in stops['protect'] for k in stops['symbols']
        for zoned in stops['zones'] for name, late in ways[zoned] for epsilon in stops['epsilon']}


def test_the_promise_of_each_setting(data):
    assert data['promises']['8/3/0'].startswith(
        'protected: where the robot was during any 8 s. Take two routes that differ only')
    assert 'through the same zones at the same times' in data['promises']['8/3/1']
    assert len(data['promises']) == 2 * 3 * 2
    for epsilon, sure in ('1', '73.1 %'), ('3', '95.3 %'), ('8', 'practically'):
        assert f'{sure} sure' in data['certainty'][epsilon]
    assert math.exp(3) / (1 + math.exp(3)) == pytest.approx(0.953, abs=5e-4)


def test_longer_stays_cost_what_the_ledger_counts(data):
    for key, stays in data['longer'].items():
        stay, protect, k = (float(part) for part in key.split('/'))
        [period] = {cell['period'] for name, cell in data['cells'].items()
                    if name.startswith(f'{key}/')}
        loss = Loss.of(Privacy(3.0, int(k)), 'period', period)
        costs = {seconds: Unit(None, 'period', seconds=as_fraction(seconds)).cost(loss)
                 for seconds in (stay, 10 * protect)}
        assert stays == [[seconds, cost * int(k) / 3] for seconds, cost in sorted(costs.items())
                         if cost > 3]
    assert data['longer']['60/4/2'] == [[40, 14], [60, 21]]  # a symbol every 3 s
    assert data['longer']['8/8/1'] == [[80, 9]]              # what is typical is protected


def test_the_routes(data):
    for route in data['routes']:
        assert sum(route['true'][1::2]) == 100
    for cell in data['cells'].values():
        assert sum(cell['private'][1::2]) == 100
        for frame in cell['beliefs'] or ():
            assert {*frame[::2]} <= {0, 1, 2, 3} and 90 <= sum(frame[1::2]) <= 102


def test_the_file_is_small_and_asks_for_nothing(made):
    text = made[0].read_text(encoding='utf-8')
    assert len(text) < 1_000_000
    # Names of XML are no addresses that are loaded.
    assert {*re.findall(r'https?://[^\'"\s]+', text)} == {'http://www.w3.org/2000/svg'}
    assert not re.search(r'<link|@import|\bsrc=|fetch\(|XMLHttpRequest|import\(', text)
    assert "default-src 'none'" in text


def test_names_are_no_code(made, data):
    text = made[0].read_text(encoding='utf-8')
    assert text.count('</script>') == 2 and '<b>"' not in text
    assert '<title>What others can learn: r&amp;d &lt;house&gt;.regions.yaml</title>' in text
    assert data['map']['states'][1] == 'b </script><b>'
    assert data['title'] == 'r&d <house>.regions.yaml'


def test_the_map(data):
    assert data['map']['metres'] and data['map']['places'][0] == [2, 2]
    assert data['map']['polygons']['2'][0] == [4, 4]
    assert data['map']['moves'] == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert data['map']['zones'] == {'west': [0, 1], 'east': [2, 3]}


def test_the_files_are_what_nodes_take(made, data):
    options = {name: {option.name: option for option in PARAMETERS[name]}
               for name in ('privatizer', 'log_release')}
    for key, cell in data['cells'].items():
        stay, protect, symbols, zoned, name, late, epsilon = key.split('/')
        values = yaml.safe_load(cell['files'])['/**']['ros__parameters']
        node = 'log_release' if late == 'log' else 'privatizer'
        for parameter, value in values.items():
            options[node][parameter].check(value)
        assert values['chain_file'] == str(made[1])
        assert (values['epsilon'], values['protect'], values['stay']) == (
            float(epsilon), float(protect), float(stay))
        assert ('zones_file' in values) == (zoned == '1')
        assert late == 'log' or values.get('delay', 0) == int(late) * cell['period']
        assert ('symdp release' in cell['files']) == (late == 'log')
        by_rule = symbols == '1' and name in ('adaptive', 'causal, adaptive')
        assert ('period' in values) != by_rule  # else all follows from the visit


@pytest.mark.parametrize('name', ['exponential', 'causal, adaptive'])
def test_the_line_for_logs_is_understood(made, data, name, tmp_path):
    import shlex

    [line] = [line[4:] for line in data['cells'][f'60/8/2/1/{name}/log/3']['files'].splitlines()
              if line.startswith('#   symdp')]
    (tmp_path / 'log.csv').write_text('stamp,symbol\n' + ''.join(
        f'{t},{"acd"[t // 40 % 3]}\n' for t in range(0, 400, 5)))
    arguments = [str(tmp_path / {'released': 'out'}.get(word, word)) if word in (
        'released', 'spent.ledger') else 'log.csv' if word == 'LOGS' else word
        for word in shlex.split(line)[1:]]
    run = run_symdp(*arguments, '--allow-unknown', '1', cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert [*(tmp_path / 'out').iterdir()]


def test_a_map_without_positions_and_with_probabilities(tmp_path):
    """It says itself how long the robot stays, and what is off is counted in moves."""
    written, _ = make_page(tmp_path, **WITHOUT_POSITIONS)
    data = data_of(written)
    assert data['stops']['stay'] == [0] and not data['map']['metres']
    assert len(data['map']['places']) == 2
    assert data['routes'][0]['robot'] == 'as the map says'
    assert all(cell['metres'] is None and cell['steps'] is not None
               for cell in data['cells'].values())
    assert 'stay' not in yaml.safe_load(next(iter(data['cells'].values()))['files'])


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / 'x.html').write_text('mine')
    run = run_symdp('explore', ROOT / 'config' / 'warehouse.chain.yaml', *OPTIONS, '-o',
                    tmp_path / 'x.html')
    assert run.returncode == 1 and 'is there already' in run.stderr
    assert (tmp_path / 'x.html').read_text() == 'mine'


@pytest.mark.parametrize('arguments, text', [
    (['--epsilon', 'x'], "epsilon is the string 'x': it must be a number"),
    (['--protect', '0'], '--protect is 0'), (['--protect', '-1'], 'at least 0'),
    ([part for i in range(13) for part in ('--epsilon', str(i))], 'at most 12 values'),
    (['-o', 'missing/x.html'], 'the directory missing does not exist'),
    (['--zones-file', 'missing.yaml'], 'cannot be read')])
def test_wrong_usage(arguments, text, tmp_path):
    run = run_symdp('explore', ROOT / 'config' / 'warehouse.chain.yaml', '-o', 'x.html',
                    *arguments, cwd=tmp_path)
    assert run.returncode == 1 and text in run.stderr, run.stderr
    assert not [*tmp_path.iterdir()]


def test_too_many_states(tmp_path):
    file = tmp_path / 'many.yaml'
    file.write_text('initial_state: s0\nsymbols: [' + ', '.join(
        f's{i}' for i in range(2001)) + ']\n')
    run = run_symdp('explore', file, '-o', tmp_path / 'x.html')
    assert run.returncode == 1 and '2,001 states: a page shows at most 2,000' in run.stderr
