# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp learn`, and releases that protect visits."""
from fractions import Fraction
from itertools import pairwise
import os
from pathlib import Path
from random import Random

from in_process import CHAIN
import pytest
from symdp_ros import Chain, Privacy, read_chain
from symdp_ros.cli.main import main
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.maps.reports import Reports
from symdp_ros.release.learned import LearnSettings
from symdp_ros.release.settings import ReleaseSettings

MAP = 'initial_state: dock\ntransitions:\n' + ''.join(
    f'  {state}: [{", ".join(Chain.from_yaml(CHAIN).successors(state))}]\n'
    for state in Chain.from_yaml(CHAIN).states)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with a map without probabilities, and ten logs of 200 seconds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'map.chain.yaml').write_text(MAP)
    (tmp_path / 'logs').mkdir()
    true, random, second = Chain.from_yaml(CHAIN), Random(4), 0
    for day in range(10):
        here, lines = true.initial_state, ['stamp,symbol']
        for _ in range(200):
            row = true.probabilities(here)
            [here] = random.choices(list(row), list(row.values()))
            lines.append(f'{second},{here}')
            second += 1
        (tmp_path / 'logs' / f'day_{day}.csv').write_text('\n'.join(lines) + '\n')
        second += 100
    return tmp_path


def learn(*more, output='robot.chain.yaml', folder='out', logs=('logs',)):
    os.makedirs(folder, exist_ok=True)
    if not {'--protect', '--adjacency', '--unit'} & {*more}:
        more = *more, '--adjacency', '1'
    return main(['learn', *logs, '--map', 'map.chain.yaml', '--epsilon', '2', '--ledger', 'spent',
                 '--subject', 'r1', '-o', f'{folder}/{output}', *more])


@pytest.mark.parametrize('more', [[], ['--unit', 'log', '--clip', '200']], ids=['symbols', 'log'])
def test_a_chain_is_learned_charged_and_handed_out_again(place, capsys, more):
    (place / 'logs' / 'walks.parquet').write_bytes(b'PAR1')
    assert learn(*more) == 0
    out, err = capsys.readouterr()
    assert 'learned from 10 logs, 2,000 symbols; ε = 2' in out
    assert "'r1' is a new subject in" in err
    assert 'walks.parquet is skipped: it is an archive of routes, and no log' in err
    file = place / 'out' / 'robot.chain.yaml'
    learned, plain = read_chain(file), read_chain(place / 'map.chain.yaml')
    assert learned.states == plain.states
    assert all(learned.successors(s) == plain.successors(s) for s in plain.states)
    true = Chain.from_yaml(CHAIN)
    if not more:
        for state in true.states:
            for target, chance in true.probabilities(state).items():
                assert learned.probabilities(state)[target] == pytest.approx(chance, abs=0.2)
    with Ledger('spent') as ledger:
        assert ledger.spent('r1') == 2 and len(ledger.charges()) == 1
    assert learn(*more) == learn(*more, output='again.chain.yaml') == 0
    assert 'nothing more is spent' in capsys.readouterr().out
    assert (place / 'out' / 'again.chain.yaml').read_bytes() == file.read_bytes()
    named = [str(path) for path in sorted((place / 'logs').glob('*.csv'), reverse=True)]
    assert learn(*more, logs=named) == 0
    assert 'nothing more is spent' in capsys.readouterr().out, 'whatever order logs are named in'
    with Ledger('spent') as ledger:
        assert ledger.spent('r1') == 2 and ledger.problems() == []


def test_other_settings_are_another_charge(place):
    assert learn() == 0
    assert learn('--unit', 'log', output='log.chain.yaml') == 0
    with Ledger('spent') as ledger:
        assert ledger.spent('r1') == 4
    assert learn('--unit', 'log', '--clip', '100', '--subject-budget', '5',
                 output='third.chain.yaml') == 1
    assert sorted(os.listdir('out')) == ['.symdp_ros.lock', 'log.chain.yaml', 'robot.chain.yaml']


def test_reports_that_are_seconds_apart(place):
    assert learn('--sampling', 'period', '--period', '10', '--moves', '3', '--protect', '20') == 0
    text = (place / 'out' / 'robot.chain.yaml').read_text()
    assert '\ntick: 10.0\nmoves: 3\n' in text
    learned = read_chain('out/robot.chain.yaml', reports=Reports(10.0))
    between = read_chain('map.chain.yaml', reports=Reports(10.0, moves=3))
    assert all(learned.successors(s) == between.successors(s) for s in between.states)
    with Ledger('spent') as ledger:
        [charge] = ledger.charges()
        assert charge.loss.seconds == Fraction(20) and charge.adjacency == 3


def test_changed_logs_are_not_learned_from_again(place, capsys):
    assert learn() == 0
    log = place / 'logs' / 'day_3.csv'
    log.write_text(log.read_text().replace('dock', 'gate'))
    assert learn(output='b.chain.yaml') == 1
    assert 'changed since' in capsys.readouterr().err
    assert not os.path.exists('out/b.chain.yaml')


def test_logs_that_show_the_same_moment(place, capsys):
    (place / 'logs' / 'copy.csv').write_text((place / 'logs' / 'day_1.csv').read_text())
    assert learn() == 1
    assert 'overlap in time' in capsys.readouterr().err
    with Ledger('spent') as ledger:
        assert ledger.charges() == []
    capsys.readouterr()
    assert learn('--unit', 'log') == 0
    assert 'one change can touch 2 of the logs' in capsys.readouterr().out
    with Ledger('spent') as ledger:
        assert ledger.spent('r1') == 4 and ledger.account('r1').spent_at_once == 4


def test_what_it_says_is_owed(place, capsys):
    """A learned chain saw every one of its logs."""
    assert learn() == 0
    capsys.readouterr()
    releasing = ['--chain', 'map.chain.yaml', '--epsilon=1', '--adjacency=1', '-o', 'released',
                 '--ledger', 'spent', '--subject', 'r1', '--mechanism', 'causal', '--self-loops']
    assert main(['release', 'logs/day_3.csv', *releasing]) == 0
    owed = ('such a change in one of its 10 logs costs at most ε = 3; in every one of them (the '
            'same visit every day), ε = 21')
    assert owed in capsys.readouterr().out
    assert main(['ledger', 'spent']) == 0 and owed in capsys.readouterr().out
    assert main(['release', 'logs/day_4.csv', *releasing, '--budget', '2.5']) == 1
    assert "the budget of the log 'day_4.csv' is 2.5: 2 of it is spent" in ' '.join(
        capsys.readouterr().out.split())


SECONDS = ('--protect',)


@pytest.mark.parametrize('more, spent', [
    ((*SECONDS, '30'), 2), ((*SECONDS, '30', '--unit', 'log'), 2),
    ((*SECONDS, '150', '--unit', 'log'), 4),  # logs are 200 s long, and 101 s apart
    ((*SECONDS, '500', '--unit', 'log'), 6)])
def test_the_price_of_seconds(place, capsys, more, spent):
    assert learn(*more) == 0
    said = f'one change can touch {spent // 2} of the logs, by their stamps: ε = {spent} is'
    assert (said in capsys.readouterr().out) == (spent > 2)
    with Ledger('spent') as ledger:
        account = ledger.account('r1')
        assert account.spent() == spent and account.spent('day_0.csv') == 2
        assert account.spent_by_all == 20


def test_seconds_and_as_many_symbols_are_not_one_chain(place):
    """The noise of 31 symbols in a row is half of that of 31 anywhere: no file is for both."""
    assert learn(*SECONDS, '30') == 0
    assert learn('--sampling', 'period', '--adjacency', '31', '--subject', 'r2',
                 output='b.yaml') == 0
    with Ledger('spent') as ledger:
        first, second = ledger.charges()
        assert first.settings != second.settings
        assert (first.loss.whole, second.loss.whole) == (True, False)


@pytest.mark.parametrize('more, said', [
    (['--period', '2'], '--period is for --sampling period'),
    (['--unit', 'log', '--adjacency', '2'], 'give one of them'),
    (['--clip', '10'], 'leave it out'),
    (['--sampling', 'message', '--protect', '30'], 'protect needs sampling: period'),
    (['--adjacency', '0'], 'say what is hidden: protect: 30.0 hides any visit of 30 s'),
    (['--subject', ''], 'subject')])
def test_wrong_usage(place, capsys, more, said):
    try:
        status = learn(*more)
    except SystemExit as error:
        status = error.code
    assert status in (1, 2) and said in capsys.readouterr().err
    assert os.listdir('out') == []


def test_where_the_chain_cannot_be(place, capsys):
    assert learn(output='robot.txt') == 1 and 'chain.yaml' in capsys.readouterr().err
    (place / 'out' / 'taken.yaml').write_text('mine')
    assert learn(output='taken.yaml') == 1 and 'exists already' in capsys.readouterr().err
    assert (place / 'out' / 'taken.yaml').read_text() == 'mine'
    assert main(['learn', 'logs', '--map', 'map.chain.yaml', '--epsilon', '2', '--ledger', 'spent',
                 '--subject', 'r1', '-o', 'missing/robot.chain.yaml']) == 1


def test_logs_of_noise_are_refused(place, capsys):
    for file in (place / 'logs').iterdir():
        header, _, rest = file.read_text().partition('\n')
        file.write_text(f'{header}\n{rest.translate(str.maketrans("aeiou", "xxxxx"))}')
    assert learn() == 1 and 'none of its symbols' in capsys.readouterr().err


def test_a_release_protects_a_visit(place):
    assert main(['release', 'logs', '--chain', 'map.chain.yaml', '--epsilon', '2', '-o', 'out',
                 '--sampling', 'period', '--period', '10', '--protect', '30', '--moves', '3',
                 '--stay', '20', '--ledger', 'spent', '--subject', 'r1']) == 0
    chain = read_chain('map.chain.yaml', reports=Reports(10.0, moves=3, stay=20.0))
    released = [file.read_text().splitlines()[1:] for file in Path('out').glob('*.csv')]
    assert len(released) == 10
    for lines in released:
        stamps, route = zip(*(line.split(',') for line in lines), strict=True)
        assert len(route) == 20 and chain.is_feasible(route)
        assert {float(b) - float(a) for a, b in pairwise(stamps)} == {10.0}
    with Ledger('spent') as ledger:
        assert {(c.adjacency, c.loss.seconds) for c in ledger.charges()} == {(4, Fraction(30))}
        assert ledger.spent('r1') == 20


@pytest.mark.parametrize('k, clip, adjacency', [(20, 0, 20), (20, 300, 1)])
def test_symbols_that_change_in_several_logs_cost_as_much_in_each(k, clip, adjacency):
    """With a limit for each log: k changed symbols may be in k logs."""
    settings = LearnSettings(ReleaseSettings(Chain.from_yaml(CHAIN), Privacy(1.0, k)), clip=clip)
    loss = settings.loss_of({'1.csv': (0, 100), '2.csv': (200, 300)})
    assert loss.epsilon == 1 and loss.adjacency == adjacency
