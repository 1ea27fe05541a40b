# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp calibrate` as a user types it, in processes of its own."""
import os
import re
import subprocess
import sys

from in_process import CHAIN, ROOT, run_symdp
import pytest
from symdp_ros import Chain, Privacy
from symdp_ros.analysis import visits
from symdp_ros.analysis.accuracy import robots
from symdp_ros.analysis.calibration import Calibration, MECHANISMS
from symdp_ros.cli import calibrate as command
from symdp_ros.cli.main import main
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.registry import LIVE
import yaml

QUICK = ('--length', '5', '--walks', '4')
WORD = ['dock', 'gate', 'none', 'aisle_1', 'packing', 'charger']
EPSILONS = command.EPSILONS[::5]
SENSITIVE = 'symdp calibrate: this result is as sensitive as the word it is made from\n'


@pytest.fixture(autouse=True)
def few_rows_and_walks(monkeypatch):
    monkeypatch.setattr(command, 'EPSILONS', EPSILONS)
    monkeypatch.setattr(visits, '_WALKS', 8)
    monkeypatch.setattr(visits, '_LEAST_WALKS', 4)
    monkeypatch.setattr(visits, '_LEAST_TICKS', 100)
    # On a busy machine all is long, and would be done in other processes.
    monkeypatch.setattr('symdp_ros.cli.progress._LONG', 1e9)
    monkeypatch.setattr('os.sched_getaffinity', lambda process: {0})


def calibrate(*arguments, columns='250'):
    return run_symdp('calibrate', *arguments, COLUMNS=columns)


def tables(run):
    """Return the tables of an output: rows of cells, the heads (between ┃) included."""
    found = []
    for line in run.stdout.splitlines():
        if line[:1] in '┏┌':
            found.append([])
        elif line[:1] in '┃│':
            found[-1].append([cell.strip() for cell in re.split('[┃│]', line)[1:-1]])
            if line[0] == '┃' and len(found[-1]) == 2:  # a head of two lines
                found[-1] = [[' '.join(parts).strip() for parts in zip(*found[-1], strict=True)]]
    return found


def ends(cell):
    """Return the two ends of a range in percent, as shares."""
    return [float(end) / 100 for end in cell.removesuffix(' %').split('–')]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / 'day.csv'
    path.write_text('stamp,symbol\n' + ''.join(f'{i},{s}\n' for i, s in enumerate(WORD)))
    return path


def test_the_tables_are_the_calibrations():
    run = calibrate(CHAIN, *QUICK, '--target-error', '0.01', '--adjacency', '2')
    assert run.returncode == 0 and run.stderr == ''
    assert '6 states; 5 symbols, k = 2; averaged over 4 walks\nhow it moves: ' in run.stdout
    assert '\nat ε = 2, an observer who thought two places equally likely, and ' in run.stdout
    needed, (head, *rows), (by, *by_robot), (_, *guesses) = tables(run)
    chain = Chain.from_yaml(CHAIN)
    walking = robots(chain, 0.8)
    calibration = Calibration(chain, 2, 5, walks=4, robots=walking)
    calibration.table(EPSILONS)
    assert [row[0] for row in needed] == [*MECHANISMS]
    for name, best, worst in needed:
        for cell, own in (best, True), (worst, False):
            epsilon, robot = re.fullmatch(r'(.*) \((.*)\)', cell).groups()
            assert robot in walking
            assert epsilon == f'{calibration.epsilon_for(name, 0.01, best=own):.3g}'
    assert re.search(r'at ε = (?!2,)[\d.]+, an observer', run.stdout)  # the largest that is needed
    assert [float(epsilon) for epsilon in head[1:]] == [*EPSILONS]
    assert [float(row[0]) for row in guesses] == [*EPSILONS]
    assert [name for name, *_ in rows] == [*MECHANISMS]
    for name, *cells in rows:
        for epsilon, cell in zip(EPSILONS, cells, strict=True):
            errors = [error.mean for error in calibration.errors(name, epsilon).values()]
            assert ends(cell) == pytest.approx([min(errors), max(errors)], abs=0.00501)
    taken = [choose(chain, Privacy(2.0, 2), settings, *length).name
             for settings, *length in ((MechanismSettings(LIVE),), (MechanismSettings(), 5))]
    assert f'auto takes at ε = 2: {taken[0]}; for logs: {taken[1]}\n' in run.stdout
    assert by == ['robot', 'a stay', taken[0], taken[1]]
    same = taken[1] if taken[1] in MECHANISMS else f'live, {taken[1].removeprefix("causal, ")}'
    assert by_robot == [[robot, f'{stay:.1f} symbols', *(
        f'{100 * calibration.errors(name, 2.0)[robot].mean:.1f} %' for name in (taken[0], same))]
        for robot, stay in calibration.mean_stay.items()]
    assert max(map(len, (head, by))) <= 7
    worst = max(error.standard_error for name in MECHANISMS for epsilon in EPSILONS
                for error in calibration.errors(name, epsilon).values())
    assert f'standard errors: at most {100 * worst:.1f} %' in run.stdout
    for _, before, after in guesses:
        (least, most), known = ends(before), ends(after)
        assert 0 <= least <= most <= 1 and 0 <= known[0] <= known[1] <= 1
        assert known[1] >= most - 0.05  # what is known helps, but for the walks
    assert ('words that differ in 2 symbols are protected by ε, in 4 by 2·ε, in 20 by 10·ε\n'
            in run.stdout)
    assert 'two routes between the same ends can differ in as few as 1 symbol\n' in run.stdout


def test_a_delay_that_readers_can_wait_for():
    run = calibrate(CHAIN, *QUICK, '--epsilon', '4', '--delay', '2')
    assert run.returncode == 0
    assert [row[0] for row in tables(run)[0] if 'delay' in row[0]] == [
        f'live, adaptive, delay {delay}' for delay in (1, 2, 3, 10)]
    assert 'by robot, at ε = 4, ' in run.stdout
    assert 'auto takes at ε = 4, with delay: 2: live, adaptive; ' in run.stdout


def test_it_repeats_and_needs_no_target():
    first, again = (calibrate(CHAIN, *QUICK) for _ in range(2))
    assert first.returncode == 0 and first.stdout == again.stdout
    assert 'sensitive' not in first.stderr
    assert len(tables(first)) == 3 and 'for an expected error of' not in first.stdout


def test_the_names_are_whole_where_the_terminal_is_narrow():
    run = calibrate(CHAIN, *QUICK, '--target-error', '0.3', columns='80')
    shown = run.stdout.partition('words that differ in 1, 2')[0]
    assert 'exponential' in shown and '…' not in shown


def test_a_target_that_no_epsilon_meets(log):
    """One symbol in six is unknown: it is an error always."""
    needed, _ = tables(calibrate(CHAIN, '--word', log, '--target-error', '0.1'))
    assert needed == [[name, 'above 60'] for name in MECHANISMS]


def test_an_adjacency_that_protects_no_alternative(tmp_path):
    """From d to d by way of d alone or of a, b, c: four symbols and three that differ."""
    file = tmp_path / 'ring.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [b], b: [c], c: [d], d: [a, d]}\n')
    run = calibrate(file, *QUICK)
    assert 'in as few as 3 symbols; k = 1 protects no real alternative' in run.stdout
    assert 'protects no' not in calibrate(file, *QUICK, '--adjacency', '3').stdout


def test_logs_that_are_shorter_than_k():
    """What errs as live policies do otherwise does not: it is drawn for fewer changes."""
    for k, text in ((5, 'errs as this policy does live'),
                    (6, 'errs less, as this policy does live at k = 5: a log of so few symbols '
                        'cannot change in more')):
        run = calibrate(CHAIN, *QUICK, '--adjacency', str(k))
        assert f'causal  guided for logs {text}' in ' '.join(
            run.stdout.split('\n        '))


def test_the_plot(tmp_path):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    run = calibrate(CHAIN, *QUICK, '--plot', tmp_path / 'error.png')
    assert run.returncode == 0 and f'drawn in {tmp_path}' in run.stdout
    assert (tmp_path / 'error.png').read_bytes().startswith(b'\x89PNG\r\n\x1a\n')


@pytest.mark.parametrize('name, text', [
    ('nowhere/error.png', 'cannot be written: the directory'), ('error', 'ends in .svg, .png or'),
    ('error.xyz', 'ends in .svg, .png or .pdf'), ('directory.png', 'cannot be written')])
def test_a_plot_that_cannot_be_drawn_is_refused_before_the_work(tmp_path, name, text):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    (tmp_path / 'directory.png').mkdir()
    run = calibrate(CHAIN, *QUICK, '--plot', tmp_path / name)
    assert run.returncode == 1 and text in run.stderr and run.stdout == ''
    assert run.stderr.count('\n') == 1


def test_one_robot(tmp_path):
    """Where nobody is trusted but the map."""
    file = tmp_path / 'stays.yaml'
    file.write_text('initial_state: a\ntransitions: {a: {a: 0.9, b: 0.1}, b: {b: 0.9, a: 0.1}}\n')
    run = calibrate(file, '--length', '100', '--walks', '10', '--trust', '1')
    said = re.search('these walks stay (.*) symbols in a place, on average', run.stdout)
    assert 7 < float(said[1]) < 14 and 'how it moves: as the map says\n' in run.stdout
    (_, *rows), guesses = tables(run)
    errors = Calibration(Chain.from_yaml(file), 1, 100, walks=10, trust=1.0).table(EPSILONS)
    assert rows == [[name, *(f'{100 * row[name].mean:.1f} %' for row in errors.values())]
                    for name in MECHANISMS]
    assert all('±' in row[2] for row in guesses[1:])


def test_progress_is_drawn_on_a_terminal_and_goes_again():
    terminal, theirs = os.openpty()
    with subprocess.Popen([sys.executable, '-m', 'symdp_ros.cli.main', 'calibrate', CHAIN, *QUICK],
                          stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=ROOT,
                          env={**os.environ, 'TERM': 'xterm', 'COLUMNS': '80'}) as process:
        os.close(theirs)
        drawn = b''
        while True:
            try:
                drawn += os.read(terminal, 65_536)
            except OSError:  # nobody is at the other end any more
                break
        out = process.stdout.read()
    os.close(terminal)
    # Two threads work: which step is drawn last depends on them.
    assert process.returncode == 0 and ' at ε = ' in drawn.decode() and '━' in drawn.decode()
    assert 'the best guess at' not in out
    assert 'expected error, in % of the symbols' in out


def test_a_given_word_is_sensitive_and_is_said_so(log):
    run = calibrate(CHAIN, '--word', log)
    assert run.returncode == 0 and run.stderr == SENSITIVE
    assert f'6 symbols, k = 1; for the word of {log}' in run.stdout
    [(head, *rows)] = tables(run)
    assert len(head) == 1 + len(EPSILONS)  # no guess, which is over walks
    table = Calibration(Chain.from_yaml(CHAIN), 1, 6, word=[
        None if symbol == 'none' else symbol for symbol in WORD]).table(EPSILONS)
    assert rows == [[name, *(f'{100 * row[name].mean:.1f} %' for row in table.values())]
                    for name in MECHANISMS]


@pytest.mark.parametrize('arguments, status, text', [
    ([CHAIN, '--target-error', '1.5'], 2, 'target_error is 1.5: it must be at most'),
    ([CHAIN, '--target-error', '0'], 2, 'target_error is 0.0: it must be at least'),
    ([CHAIN, '--length', '1000000000'], 1, 'whose product is at most 71,428,571'),
    ([CHAIN, '--walks', '100000000'], 1, 'on 6 states would take many hours'),
    ([CHAIN, '--length', '0'], 2, 'length is 0: it must be at least 1'),
    ([CHAIN, '--walks', '1'], 2, 'walks is 1: it must be at least 2'),
    ([CHAIN, '--adjacency', '0'], 2, 'adjacency is 0: it must be at least 1'),
    ([CHAIN, '--initial-state', 'cellar'], 1, "the initial state 'cellar'"),
    (['nowhere.yaml'], 1, 'nowhere.yaml: the file cannot be read'),
    (['config/depot.geojson'], 1, 'give one of its 22 states, such as'),
    ([CHAIN, '--word', 'nowhere.csv'], 1, 'nowhere.csv: there is no such file'),
    ([CHAIN, '--word', 'config'], 1, 'config'),
    ([], 2, 'FILE'),
])
def test_wrong_usage(arguments, status, text):
    run = calibrate(*arguments)
    assert run.returncode == status and text in run.stderr and 'Traceback' not in run.stderr
    assert run.stdout == ''


def test_a_word_with_nothing_known(tmp_path):
    """Of another map, say: every error would be 1, which tells nothing."""
    (tmp_path / 'word.csv').write_text('stamp,symbol\n0,kitchen\n1,none\n')
    run = calibrate(CHAIN, '--word', tmp_path / 'word.csv')
    assert run.returncode == 1 and 'word.csv' in run.stderr and 'Traceback' not in run.stderr
    assert tables(run) == []


def test_periods_that_protect_a_visit(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    plot, file = tmp_path / 'visits.png', tmp_path / 'ring.chain.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [a, b], b: [b, c], c: [c, a]}\n')
    assert main(['calibrate', str(file), '--protect', '4', '--stay', '8', '--epsilon', '4',
                 '--walks', '10', '--plot', str(plot)]) == 0
    text = capsys.readouterr().out
    assert 'a visit of 4 s is protected; live reports go out at once\n' in text
    assert 'how it moves: as the map says, weight 0.8, and ' in text
    assert 'by robot, in the row with * (the longer it stays, the fewer errors):\n  as the map ' \
           'says, on average ' in text
    assert len(re.findall('│ +→?[*] ', text)) == 2 and '…' not in text
    heads = [line.count('┃') - 1 for line in text.splitlines() if line.startswith('┃')]
    assert heads == [7, 6] and ' s │' in text and ' % │' in text  # columns; each with its unit
    wide = [line for line in text.splitlines() if len(line) > 80]
    assert not [line for line in wide if line.split()[0] in ('period', 'wrong', 'guessed')]
    assert text.splitlines()[-2].startswith('at ε = 4, an observer who thought two places ')
    assert 'for a privatizer: protect: ' in text
    assert plot.stat().st_size > 1_000
    monkeypatch.setattr('symdp_ros.cli.progress._LONG', -1.0)
    assert main(['calibrate', str(file), '--self-loops', '--protect', '1', '--walks', '10',
                 '--target-error', '0.9']) == 0  # a guess meets this: any ε will do
    text, told = capsys.readouterr()
    assert 'how it moves: not given: six models' in text and 'epsilon: 0.01,' in text
    assert '10 routes of each robot' in told  # as many as --walks says, however long it takes


@pytest.mark.parametrize('more, said', [
    (['--protect', '10'], 'either --epsilon or --target-error'),
    (['--protect', '10', '--epsilon', '1', '--target-error', '0.1'], 'either --epsilon'),
    (['--protect', '10', '--epsilon', '1', '--adjacency', '3'], 'leave it out'),
    (['--stay', '10'], '--stay is for --protect'),
    (['--delay', '1.5'], '--delay is 1.5: without --protect it must be a whole number of symbols; '
     'with --protect, it is in seconds')])
def test_visits_and_other_options(capsys, more, said):
    assert main(['calibrate', str(CHAIN), *more]) == 1
    assert said in capsys.readouterr().err


def test_the_parameters_of_the_row_that_is_recommended(tmp_path, capsys):
    """What is printed is what is written, and a privatizer takes it."""
    from symdp_ros.options import PARAMETERS

    file, written = tmp_path / 'ring.chain.yaml', tmp_path / 'private.yaml'
    file.write_text('initial_state: a\ntransitions: {a: [a, b], b: [b, c], c: [c, a]}\n')
    arguments = ['calibrate', str(file), '--protect', '4', '--stay', '8', '--epsilon', '4',
                 '--delay', '5', '--yaml', str(written)]
    assert main(arguments) == 0
    said = capsys.readouterr().out.split('for a privatizer: ')[1].splitlines()[0]
    parameters = yaml.safe_load(written.read_text())['/**']['ros__parameters']
    assert parameters.pop('chain_file') == str(file)
    assert yaml.safe_load(f'{{{said}}}') == parameters and 'True' not in said
    options = {option.name: option for option in PARAMETERS['privatizer']}
    for name, value in parameters.items():
        options[name].check(value)
    parameters.pop('initial_state', None)
    assert parameters == {'protect': 4.0, 'epsilon': 4.0, 'stay': 8.0, 'delay': 5.0}
    assert main(arguments) == 1 and 'is there already' in capsys.readouterr().err
    arguments[-1] = str(tmp_path / 'missing' / 'private.yaml')
    assert main(arguments) == 1
    said = capsys.readouterr()  # before anything is computed
    assert 'missing does not exist' in said.err and not said.out
    assert main(['calibrate', str(file), '--yaml', str(tmp_path / 'x.yaml')]) == 1
    assert '--yaml is for --protect' in capsys.readouterr().err


def test_the_parameters_of_each_row_make_the_chain_of_its_numbers(monkeypatch):
    """A report that is several ticks apart needs `moves`, also where that is 1."""
    monkeypatch.setattr(visits, '_LEAST_TICKS', 300)
    from argparse import Namespace

    from symdp_ros.cli.parameter_file import parameters_of
    from symdp_ros.maps.graph import TransitionGraph
    from symdp_ros.words.visit_rule import settled

    ring = TransitionGraph({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    calibrated = visits.VisitCalibration(ring, protect=6.0, stay=8.0, walks=32)
    options = Namespace(self_loops=False, trust=0.8, protect=6.0, zones_file=None, stay=8.0)
    moves = set()
    for period in calibrated.periods:
        row = calibrated.row(period, 1.0, guess=False)
        given = parameters_of(row.live, period, 1.0, options, calibrated.tick)
        sampling, _ = settled({'sampling': '', **given}, ring)
        live = row.live
        wanted = (calibrated.chain if live.report_period == calibrated.tick else
                  calibrated.chain.every(round(live.report_period), live.moves))
        assert sampling.chain(ring) == wanted
        assert sampling.privacy(1.0, 0).adjacency == row.adjacency
        moves.add(given.get('moves', 0))
    assert {0, 1} <= moves


def test_an_epsilon_of_0_is_one():
    run = calibrate(CHAIN, *QUICK, '--epsilon', '0')
    assert run.returncode == 0 and 'by robot, at ε = 0, ' in run.stdout


def test_where_time_is_short_fewer_routes_are_simulated(monkeypatch):
    """And it says how long it takes; not where somebody says how many routes."""
    monkeypatch.setattr('symdp_ros.cli.progress._LONG', -1.0)
    run = calibrate(CHAIN, '--length', '5', '--seconds', '1')
    assert run.returncode == 0 and 'averaged over ' in run.stdout
    assert re.fullmatch(r'\d+ routes of each robot: about \d+ s \(--seconds\)\n', run.stderr)
    monkeypatch.setattr('symdp_ros.cli.calibrate._AT_ONCE', 1e-9)
    assert 'averaged over 4 walks' in calibrate(CHAIN, '--length', '5').stdout
    assert 'averaged over 6 walks' in calibrate(CHAIN, '--length', '5', '--walks', '6').stdout
