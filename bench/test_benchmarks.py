# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark suite: what it computes and writes. No test here asserts a time."""
from contextlib import contextmanager
from itertools import count
import json
from pathlib import Path
from random import SystemRandom

from bench import __main__ as command
from bench import chains, measure, online, peers, suite
from bench.goals import Goal, GOALS
from bench.measure import Effort, Figure, NotMeasured, Row, side_by_side
from bench.page import counted, HEAD, page, rows
import numpy as np
import pytest
from studies.common import table
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
import yaml

DOCS = Path(__file__).resolve().parents[1] / 'docs' / 'evidence'


def effort(**more):
    return Effort(quick=True, directory=Path('nowhere'), **more)


@pytest.fixture
def found(monkeypatch):
    """Return the result of a run of three rows: met, interrupted, failed."""
    def fast(effort):
        yield Figure((3.0, 9.0, 5.0), {'step': 1.2e-7}, 'A note.', goal='step-empty')
        yield Figure((100.0, 200.0, 120.0), estimate='from one of two', goal='step-opendp')

    def missing(effort):
        raise NotMeasured('needs patience')
        yield

    def broken(effort):
        yield Figure((201.0,), goal='openfst')
        raise ZeroDivisionError

    return suite.run((Row('fast', fast, 'So.', ('step-empty', 'step-opendp')),
                      Row('dynamax-43', missing, 'So.'),
                      Row('broken', broken, 'So.', ('openfst', 'map-size'))),
                     effort(), 'make bench', scaling=False)


def test_every_goal_has_one_row():
    assert sorted(goal for row in suite.ROWS for goal in row.goals) == sorted(GOALS)
    assert len({row.name for row in suite.ROWS}) == len(suite.ROWS)
    assert all(not row.how or row.how.endswith('.') for row in suite.ROWS)  # '': as before
    assert set(yaml.safe_load(Path(suite.__file__).with_name('why_not.yaml').read_text())) <= {
        *GOALS}


def test_goals_are_met_at_the_limit_and_never_by_nan():
    most, least = Goal('', '', '', 7), Goal('', '', '', 7, '≥')
    assert most.is_met(7) and most.is_met(1) and not most.is_met(7.1)
    assert least.is_met(7) and least.is_met(8) and not least.is_met(6.9)
    assert not most.is_met(float('nan')) and not least.is_met(float('nan'))
    assert str(most) == '≤ 7×' and str(least) == '≥ 7× faster'


def test_tasks_take_turns_in_alternating_order(monkeypatch):
    clock, called = count(0, 0.01), []
    monkeypatch.setattr(measure, 'perf_counter', lambda: next(clock))
    times = side_by_side({'a': lambda: called.append('a'), 'b': lambda: called.append('b')},
                         effort(rounds=3), slow=['b'])
    assert {label: len(values) for label, values in times.items()} == {'a': 3, 'b': 3}
    turns = ''.join(called).lstrip('a')      # before: a is warmed up, b is not
    assert [turn for turn, before in zip(turns, ' ' + turns) if turn != before] == [
        'b', 'a', 'b']                        # a b | b a | a b
    assert times['b'] == pytest.approx([0.01] * 3)


def test_a_run_keeps_what_it_measured(found, capsys):
    assert list(found['goals']) == list(GOALS)
    assert found['goals']['step-empty']['median'] == 5
    assert suite.verdict(found['goals']['step-empty']) == 'met'
    assert suite.verdict(found['goals']['step-opendp']) \
        == 'not met (an estimate from one of two)'
    assert suite.verdict(found['goals']['dynamax-43']) == 'not measured: needs patience'
    assert suite.verdict(found['goals']['openfst']) == 'met'
    assert suite.verdict(found['goals']['map-size']) == 'not measured: failed: ZeroDivisionError'
    assert counted(found) == '2 met, 1 not met, 2 not measured'
    assert json.loads(json.dumps(found)) == found


def test_an_interrupted_run_keeps_what_it_measured(monkeypatch):
    def half(effort):
        yield Figure((3.0,), goal='step-empty')
        raise KeyboardInterrupt

    found = suite.run([Row('half', half, 'So.', ('step-empty', 'step-opendp'))], effort(), 'so')
    assert found['interrupted'] and found['goals']['step-empty']['met']
    assert suite.verdict(found['goals']['step-opendp']) == 'not measured: interrupted'


def test_the_machine_has_no_name(found):
    import platform
    text = json.dumps(found['machine'])
    assert platform.node() not in text and '/' not in text.replace('Linux/', '')
    assert found['machine']['libraries']['numpy'] == np.__version__


def test_the_table_and_the_page(found):
    lines = rows(found)
    assert [row[-2] for row in lines] == [
        'met', 'not met (an estimate from one of two)', 'not measured: needs patience', 'met',
        'not measured: failed: ZeroDivisionError']
    assert lines[0][2:] == ('≤ 7×', '5× (4× to 7×)', 'met', 'step 120 ns')
    text = page(found)
    assert table(HEAD[:-1], [row[:-1] for row in lines]) in text
    assert 'A note.' in text and 'not measured: needs patience' in text
    assert 'scaling.svg' not in text


def test_the_command_writes_json_page_and_figure(found, tmp_path, monkeypatch, capsys):
    curve = {'values': [10, 100], 'seconds': {'exponential': [1e-5, 1e-4], 'automaton': [1, None]}}
    found['scaling'] = dict.fromkeys(('length', 'states', 'short word', 'out-degree'), curve)

    @contextmanager
    def directory(prefix):
        yield tmp_path
    monkeypatch.setattr(command.tempfile, 'TemporaryDirectory', directory)
    monkeypatch.setattr(command, '_measure', lambda options, directory: found)
    status = command.main(['--json', str(tmp_path / 'new' / 'found.json'),
                           '--page', str(tmp_path / 'bench.md')])
    assert status == 1  # a row failed
    assert 'ZeroDivisionError' in capsys.readouterr().out
    assert json.loads((tmp_path / 'new' / 'found.json').read_text()) == found
    assert json.loads((tmp_path / 'bench' / 'numbers.json').read_text()) == found
    assert (tmp_path / 'bench' / 'scaling.svg').read_text().startswith('<?xml')
    written = (tmp_path / 'bench.md').read_text()
    assert written == page(found) and 'scaling.svg' in written
    (tmp_path / 'bench.md').unlink()
    command.main(['--again', str(tmp_path / 'bench' / 'numbers.json'),
                  '--page', str(tmp_path / 'bench.md')])
    assert (tmp_path / 'bench.md').read_text() == written
    some = {**found, 'command': 'a few', 'goals': {
        name: {'missing': 'not asked for'} if i else {'missing': 'failed: ValueError'}
        for i, name in enumerate(GOALS)}}
    monkeypatch.setattr(command, '_measure', lambda options, directory: some)
    command.main(['--only', 'step', '--again', str(tmp_path / 'bench' / 'numbers.json'),
                  '--json', str(tmp_path / 'both.json')])
    assert json.loads((tmp_path / 'both.json').read_text()) == {
        **found, 'command': f'{found["command"]}, and afterwards a few'}


def test_rows_are_chosen_by_name(capsys):
    with pytest.raises(SystemExit):
        command.main(['--only', 'step', 'stepp'])
    assert 'no row is called stepp' in capsys.readouterr().err


def test_the_page_says_what_its_json_says():
    numbers = DOCS / 'benchmarks' / 'numbers.json'
    found = json.loads(numbers.read_text(encoding='utf-8'))
    assert (DOCS / 'benchmarks.md').read_text(encoding='utf-8') == page(found)
    for name, goal in GOALS.items():
        if 'missing' not in found['goals'][name]:
            stored = {**found['goals'][name]}
            figure = Figure(stored['values'], stored['seconds'], stored.get('note', ''),
                            stored.get('estimate', ''))
            assert suite.as_plain(figure, goal) == stored


@pytest.mark.parametrize('late, area', [(0, 0.5), (30, 1.0), (-30, 0.0)])
def test_what_times_tell_is_the_area_under_the_curve(late, area):
    """Of the same move: that one move takes longer than another tells nothing."""
    rng = np.random.default_rng(1)
    moves, hits = rng.integers(0, 3, 30_000), rng.random(30_000) < 0.2
    times = 100 * moves + rng.integers(0, 20, 30_000) + late * hits
    assert online.area_under_curve(times, hits, moves) == pytest.approx(area, abs=0.02)


def test_what_times_tell_by_hand():
    times, hits = np.array([1, 2, 2, 3, 9]), np.array([False, True, False, True, True])
    moves = np.array([0, 0, 0, 0, 1])  # of move 1 there is no miss
    assert online.area_under_curve(times, hits, moves) == (1 + 0.5 + 1 + 1) / 4
    assert online.folded(0.25) == 0.75 and online.folded(0.5) == 0.5


def test_the_hidden_markov_model_has_the_mechanisms_distribution():
    """Its posterior of each word, by hand, is the mechanism's probability."""
    from itertools import product

    chain, word = peers._TINY, peers._TINY_WORD
    mechanism = OfflineMechanism(chain, chains.PRIVACY, base='counting')
    initial, moves, likelihoods = peers.hidden_markov_model(chain, word,
                                                            mechanism.ratio(len(word)))
    weights = {}
    for route in product(range(len(chain)), repeat=len(word)):
        chance = initial[route[0]]
        for here, there in zip(route, route[1:]):
            chance *= moves[here, there]
        weights[route] = chance * np.exp(sum(likelihoods[t, s] for t, s in enumerate(route)))
    total = sum(weights.values())
    for route, weight in weights.items():
        named = [chain.states[i] for i in route]
        assert weight / total == pytest.approx(np.exp(mechanism.log_probability(word, named)))


def test_draws_of_another_distribution_are_found_out():
    with pytest.raises(NotMeasured, match='another distribution'):
        peers._check_draws([tuple('bcbc')] * peers._DRAWS, 'it')


def test_a_peer_that_does_other_work_is_not_measured():
    """Two false alarms in 10⁶ runs; drawn from the operating system: there is no seed."""
    chain = Chain.complete(chains.ALPHABET, chains.ALPHABET[0])
    online.check_truths(OnlineMechanism(chain, chains.PRIVACY).step, 'the step')
    for other in (lambda symbol: SystemRandom().choice(chains.ALPHABET), lambda symbol: symbol):
        with pytest.raises(NotMeasured, match='another distribution'):
            online.check_truths(other, 'it')


def test_diffprivlib_draws_about_the_truth():
    pytest.importorskip('diffprivlib', reason='the extra bench is not installed')
    next(iter(online._step_and_diffprivlib(effort(rounds=1))))
