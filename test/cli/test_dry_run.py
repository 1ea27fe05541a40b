# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `symdp release` says before ε is spent: `--dry-run`, and what it refuses."""
import json
import os

from in_process import CHAIN, run_symdp
import pytest

LEDGER = ('--ledger', 'robots.ledger', '--subject', 'robot_1')


def release(place, *arguments, chain=CHAIN, logs=('logs',)):
    return run_symdp('release', *logs, '--chain', chain, '--epsilon=1', '--adjacency=1', '-o',
                     'out', '--mechanism', 'causal', *arguments, cwd=place, COLUMNS='200')


def log(place, name, symbols, period=1):
    rows = ''.join(f'{i * period},{symbol}\n' for i, symbol in enumerate(symbols))
    (place / 'logs' / name).write_text('stamp,symbol\n' + rows)


def files(place):
    return {path: path.read_bytes() for path in place.rglob('*') if path.is_file()}


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'logs').mkdir()
    log(tmp_path, 'fine.csv', ['gate', 'none', 'gate', 'aisle_1', 'charger'])
    log(tmp_path, 'wrong.csv', ['dock', 'Gate', 'Gate', 'x\u202e', 'dock'])
    return tmp_path


@pytest.fixture
def one_way(tmp_path):
    chain = tmp_path / 'loop.chain.yaml'
    chain.write_text('initial_state: c\ntransitions: {a: [b], b: [c], c: [a, b]}\n')
    return chain


def rows_of(run):
    return {line.split()[0]: line.split()[1:] for line in run.stderr.splitlines()
            if line.split()[:1] and line.split()[0].endswith('.csv')}


def test_a_dry_run_changes_nothing_and_prints_on_stderr_alone(place):
    before = files(place)
    run = release(place, '--dry-run', *LEDGER, '--subject-budget', '1.5')
    assert (run.returncode, run.stdout) == (1, '') and files(place) == before
    assert not (place / 'out').exists() and not (place / 'robots.ledger').exists()
    assert 'about the true route' in run.stderr and 'for you alone' in run.stderr
    assert 'robots.ledger does not exist yet: it would be made' in run.stderr
    assert '\nmechanism causal, policy auto; how it moves: ' in run.stderr
    # symbols, known, unknown, no move, cost, left
    assert rows_of(run)['fine.csv'] == '5 4 1 1 1 0.5 released'.split()
    assert "wrong.csv: 60 % of the symbols name no state, such as 'Gate' (2 times; did you mean " \
           "'gate'?), " \
           r"'x\u202e' (1 time)" in run.stderr
    assert 'robot_1 would have spent ε = 1, 1 of it on these logs, for changes of up to 1 ' \
           'symbol (sampling: message); left: 0.5' in run.stderr


def test_a_dry_run_knows_what_was_spent(place):
    (place / 'logs' / 'wrong.csv').unlink()
    log(place, 'more.csv', ['gate', 'gate'])
    assert release(place, *LEDGER, '--subject-budget', '2.5', logs=('logs/fine.csv',),
                   ).returncode == 0
    log(place, 'third.csv', ['gate', 'dock'])
    before = files(place)
    run = release(place, '--dry-run', *LEDGER)
    assert run.returncode == 1 and files(place) == before
    rows = rows_of(run)
    assert rows['fine.csv'] == '5 4 1 1 already released'.split()
    assert rows['more.csv'] == '2 2 0 0 1 0.5 released'.split()
    assert rows['third.csv'] == '2 2 0 0 refused'.split()
    assert '0.5 is left, and this costs 1 more' in run.stderr
    run = release(place, '--dry-run', *LEDGER, '--budget', '0.5', logs=('logs/more.csv',))
    assert run.returncode == 1 and "the budget of the log 'more.csv' is 0.5" in run.stderr
    run = release(place, '--dry-run', *LEDGER, '--subject-budget', '9')
    assert run.returncode == 1 and 'is 2.5 in the ledger, not 9' in run.stderr
    log(place, 'fine.csv', ['gate'])
    run = release(place, '--dry-run', *LEDGER, logs=('logs/fine.csv',))
    assert run.returncode == 1 and 'its content has changed' in run.stderr
    # Other settings cost another time.
    run = release(place, '--dry-run', *LEDGER, '--mechanism', 'exponential',
                  logs=('logs/fine.csv',))
    assert run.returncode == 0 and rows_of(run)['fine.csv'] == '1 1 0 0 1 0.5 released'.split()


def test_a_dry_run_counts_short_logs_as_a_release_does(place):
    """In a unit of 3 symbols: at k = 30, logs of 5, 40 and 2 symbols."""
    (place / 'logs' / 'wrong.csv').unlink()
    log(place, 'long.csv', ['gate', 'dock'] * 20)
    log(place, 'two.csv', ['gate', 'gate'])
    assert release(place, *LEDGER, '--adjacency', '3', logs=('logs/long.csv',)).returncode == 0
    assert release(place, '--dry-run', '--adjacency', '1').stderr.count('ε = 1 and k = 1 for each '
                                                                        'log\n') == 1
    more = *LEDGER, '--adjacency', '30', '--subject-budget', '2.7'
    text = 'ε = 1 and k = 30 for each log (k = its symbols, if they are fewer)\n'
    dry = release(place, '--dry-run', *more)
    assert dry.returncode == 0 and text in dry.stderr
    assert {name: row[4:] for name, row in rows_of(dry).items()} == {
        'fine.csv': ['0.6', '1.1', 'released'], 'long.csv': ['0.1', '1', 'released'],
        'two.csv': ['1', '0', 'released']}
    run = release(place, *more)
    assert run.returncode == 0 and text in run.stdout and 'has spent ε = 2.7 of 2.7' in run.stdout
    shown = run_symdp('ledger', 'robots.ledger', cwd=place, COLUMNS='200').stdout
    for row in ('fine.csv 5 1 5 of 30 0.6', 'long.csv 40 1 30 0.1', 'two.csv 2 1 2 of 30 1',
                'long.csv 40 1 3 1'):
        assert f' {row} causal' in ' '.join(shown.split()), row
    exported = run_symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place)
    assert [(row['settings']['length'], row['adjacency'], row['cost'])
            for row in json.loads(exported.stdout)] == [
                (40, 3, '1'), (5, 30, '0.6'), (40, 30, '0.1'), (2, 30, '1')]


def test_a_dry_run_refuses_another_accounting(place):
    """As the release does, also where no budget is stored; and it stores nothing."""
    (place / 'logs' / 'wrong.csv').unlink()
    zcdp = '--accounting', 'zcdp', '--delta'
    assert release(place, *LEDGER, *zcdp, '1e-6').returncode == 0
    before = files(place)
    for more in ((*zcdp, '1e-5'), ('--accounting', 'pure', '--subject-budget', '9')):
        for dry in ('--dry-run',), ():
            run = release(place, *dry, *LEDGER, *more)
            assert run.returncode == 1 and 'change it with symdp ledger' in run.stderr, more
            assert files(place) == before
    run = release(place, '--dry-run', *LEDGER, '--subject-budget', '9', *zcdp, '1e-6')
    assert run.returncode == 0 and files(place) == before


def test_a_dry_run_fails_where_a_log_cannot_be_used(place):
    """As the release does."""
    (place / 'logs' / 'wrong.csv').unlink()
    os.mkfifo(place / 'logs' / 'pipe.csv')
    (place / 'logs' / 'begun.mcap').write_bytes(b'\x89MCAP0\r\n')
    run = release(place, '--dry-run')
    assert run.returncode == 1
    rows = rows_of(run)
    assert rows['pipe.csv'] == ['failed'] and rows['fine.csv'][-1] == 'released'
    assert 'pipe.csv: it is no regular file' in run.stderr
    assert run.stderr.count('pipe.csv') == 2
    assert 'begun.mcap: it is still being recorded' in run.stderr
    run = release(place)
    assert run.returncode == 1 and '1 released, 0 already released, 0 refused, 1 failed, 1 still' \
        in run.stdout
    (place / 'logs' / 'pipe.csv').unlink()
    assert release(place, '--dry-run').returncode == 0


def test_a_dry_run_of_an_archive(place):
    pa = pytest.importorskip('pyarrow', reason='archives need pyarrow')
    pq = pytest.importorskip('pyarrow.parquet')
    words = [['gate', 'none', 'gate', 'aisle_1', None, 'charger', 'Gate', 'dock'],
             ['packing', 'charger']] * 10
    pq.write_table(pa.table({
        'route': [i for i, word in enumerate(words) for _ in word],
        'position': [i for word in words for i in range(len(word))],
        'symbol': [symbol for word in words for symbol in word]}), place / 'walks.parquet')
    before = files(place)
    for more, cost in (((), '1'), (('--charge', 'route'), '20')):
        run = release(place, '--dry-run', '--allow-unknown', '0.1', *LEDGER, *more, '-o',
                      'out.parquet', logs=('walks.parquet',))
        assert run.returncode == 0 and files(place) == before and run.stdout == ''
        [row] = [line.split() for line in run.stderr.splitlines() if 'no limit released' in
                 ' '.join(line.split())]
        assert row == ['walks.parquet', '100', '70', '30', '10', cost, 'no', 'limit', 'released']
    run = release(place, *LEDGER, '-o', 'out.parquet', logs=('walks.parquet',))
    assert run.returncode == 1 and '10 % of the symbols name no state' in run.stdout
    assert "'Gate' (10 times; did you mean 'gate'?)" in run.stdout
    assert not (place / 'out.parquet').exists()


@pytest.mark.parametrize('more', [
    (), ('--unknown-symbol', 'split'), ('--sampling', 'change'),
    *(pytest.param(more, marks=pytest.mark.thorough) for more in (
        ('--unknown-symbol', 'drop'), ('--unknown-symbol', 'hold'),
        ('--sampling', 'period', '--period', '1')))])
def test_too_many_unknown_symbols_are_refused_before_anything_is_charged(place, more):
    run = release(place, *LEDGER, *more)
    assert run.returncode == 1 and '1 released' in run.stdout and '1 refused' in run.stdout
    assert 'of the symbols name no state' in run.stdout and "did you mean 'gate'?" in run.stdout
    assert 'robot_1 has spent ε = 1, ' in run.stdout
    share = '0.5' if 'change' in more else '0.6'
    assert f'--allow-unknown {share}' in run.stdout
    run = release(place, *LEDGER, *more, '--allow-unknown', share)
    assert run.returncode == 0 and '1 released, 1 already released' in run.stdout


def test_a_robot_that_stands_still_needs_a_map_that_lets_it_stay(place, one_way):
    log(place, 'fine.csv', 'aaaabbbc')
    (place / 'logs' / 'wrong.csv').unlink()
    run = release(place, *LEDGER, chain=one_way)
    assert run.returncode == 1
    assert 'the robot stands still: 62 % of the symbols repeat' in run.stdout
    assert "such as 'a'" in run.stdout and '--self-loops' in run.stdout
    assert '--allow-unknown 0.63' in run.stdout and 'has spent ε = 0' in run.stdout
    assert '0.5 %' not in run.stdout
    for more in (('--self-loops',), ('--sampling', 'change'), ('--allow-unknown', '0.63')):
        assert release(place, *more, chain=one_way).returncode == 0
    run = release(place, '--sampling', 'period', chain=one_way)
    assert run.returncode == 1 and 'every state can follow itself' in run.stderr


def test_a_new_account_is_announced(place):
    (place / 'logs' / 'wrong.csv').unlink()
    run = release(place, *LEDGER)
    assert "'robot_1' is a new subject in" in run.stderr
    run = release(place, *LEDGER[:3], 'robot-1')
    assert "; did you mean 'robot_1'?\n" in run.stderr
    assert 'subject' not in release(place, *LEDGER).stderr
    run = release(place, *LEDGER[:3], 'robot-2', '--dry-run')
    assert "; did you mean 'robot-1' or 'robot_1'?\n" in run.stderr


def test_slips_that_would_have_been_ignored(place):
    for arguments, problem in (
            (('--period', '1'), '--period is for --sampling period, not for --sampling message'),
            (('-o', 'logs/out'), 'logs and logs/out are the same, or lie inside one another'),
            (('-o', '.'), 'logs and . are the same, or lie inside one another')):
        run = release(place, *arguments, *LEDGER)
        assert run.returncode == 1 and problem in run.stderr
    (place / 'empty').mkdir()
    (place / 'empty' / '000001.private.csv').write_text('stamp,symbol\n0,dock\n')
    for logs, status in ((('empty',), 1), (('empty', 'logs/fine.csv'), 0)):
        run = release(place, logs=logs)
        assert run.returncode == status
        assert ('there is no log in empty: nothing to do' in run.stderr) == bool(status)
    assert not (place / 'robots.ledger').exists()


def test_the_report_says_where_nothing_can_be_hidden(place, one_way):
    log(place, 'fine.csv', 'abca')
    (place / 'logs' / 'wrong.csv').unlink()
    assert ('2 of 3 states allow one move only: there the next private symbol is certain, and '
            'nothing can be hidden\n') in release(place, chain=one_way).stdout
    assert 'one move only' not in release(place, '--self-loops', chain=one_way).stdout
