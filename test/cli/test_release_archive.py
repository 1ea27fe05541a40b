# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release ARCHIVE.parquet` as a user types it, without ROS."""
import json
import os
import subprocess
import sys

from forked_children import forked_children  # noqa: F401
from in_process import CHAIN, ROOT, run_symdp
import pytest
from symdp_ros import __version__, Chain
from symdp_ros.cli.main import main
from symdp_ros.logs import write_log

WORD = ['dock', 'gate', 'none', 'aisle_1', 'packing', 'charger']
WITHOUT_ROS = ('import sys; sys.modules["rclpy"] = None\n'
               'from symdp_ros.cli.main import main; sys.exit(main(sys.argv[1:]))')
LEDGER = ('--ledger', 'robots.ledger', '--subject', 'r1')
pa = pytest.importorskip('pyarrow', reason='archives need pyarrow')
pq = pytest.importorskip('pyarrow.parquet')


def symdp(*arguments, cwd, setup=''):
    if not setup:
        return run_symdp(*arguments, cwd=cwd, COLUMNS='200')
    return subprocess.run(
        [sys.executable, '-c', setup + WITHOUT_ROS, *map(str, arguments)], capture_output=True,
        text=True, cwd=cwd, timeout=120,
        env={**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '200'})


def arguments_of(*arguments, logs=('walks.parquet',), output='o.parquet'):
    return ['release', *logs, '--chain', str(CHAIN), '--epsilon=1', '--adjacency=1', '-o', output,
            *arguments]


def of_robots(*arguments, policy='guided', output='o.parquet'):
    return arguments_of('--mechanism', 'causal', '--policy', policy, '--ledger', 'l',
                        '--subject-key', 'robot', *arguments, logs=('patrols',), output=output)


def release(place, *arguments, logs=('walks.parquet',), output='out/private.parquet', setup=''):
    return symdp(*arguments_of(*arguments, logs=logs, output=output), cwd=place, setup=setup)


@pytest.fixture
def place(tmp_path):
    words = [WORD * (1 + i % 3) for i in range(20)]
    pq.write_table(pa.table({
        'route': [f'tour {i}' for i, word in enumerate(words) for _ in word],
        'position': [i for word in words for i in range(len(word))],
        'symbol': [symbol for word in words for symbol in word]}), tmp_path / 'walks.parquet')
    return tmp_path


def test_release_with_a_ledger(place):
    run = release(place, *LEDGER, '--subject-budget', '1', '--mechanism', 'auto')
    assert run.returncode == 0, run.stdout + run.stderr
    assert '1 released' in run.stdout and 'r1 has spent ε = 1 of 1, for changes' in run.stdout
    [row] = [line.split() for line in run.stdout.splitlines() if 'walks' in line]
    table = pq.read_table(place / 'out' / 'private.parquet')
    assert row == ['walks.parquet', str(len(table)), 'released', 'private.parquet']
    before = pq.read_table(place / 'walks.parquet')
    assert table['position'].equals(before['position'])
    assert table['route'].cast(pa.string()).equals(before['route'])
    chain, word = Chain.from_yaml(CHAIN), []
    for position, symbol in zip(table['position'].to_pylist(), table['symbol'].to_pylist()):
        word = [*word, symbol] if position else [symbol]
        assert chain.is_feasible(word)
    run = release(place, *LEDGER, '--mechanism', 'auto')
    assert run.returncode == 0 and '1 already released' in run.stdout
    run = release(place, *LEDGER, '--mechanism', 'causal', '--subject-budget', '1',
                  output='out/more.parquet')
    assert run.returncode == 1 and '1 refused' in run.stdout
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert run.returncode == 0 and f'walks.parquet      {len(table)}' in run.stdout
    assert 'verified; charges: 1, released files: 1' in run.stdout
    [charge] = json.loads(symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place).stdout)
    assert charge['symbols'] == len(table) and charge['settings']['mechanism'] == 'auto'


def test_other_columns(place):
    pq.write_table(pa.table({'n': [1, 2, 1], 'zone': [3, 4, 3], 'tour': [7, 7, 9]}),
                   place / 'other.parquet')
    run = release(place, '--route-key', 'tour', '--position-key', 'n', '--symbol-key', 'zone',
                  '--symbol-map', '3=dock', '--symbol-map', '4=gate', logs=('other.parquet',))
    assert run.returncode == 0, run.stdout + run.stderr
    assert pq.read_table(place / 'out/private.parquet').column_names == ['tour', 'n', 'zone']
    run = release(place, logs=('other.parquet',), output='out/b.parquet')
    assert run.returncode == 1 and "must have one column 'route'" in run.stdout


@pytest.fixture
def here(place, monkeypatch):
    """Give the place, as the working directory of this process."""
    monkeypatch.chdir(place)
    monkeypatch.setenv('COLUMNS', '200')
    return place


def test_a_directory_of_partitions_is_told_to_be_an_archive(here, capsys):
    path = here / 'data' / 'robot=007' / 'part.parquet'
    path.parent.mkdir(parents=True)
    (here / 'walks.parquet').rename(path)
    assert main(['release', 'data', '--chain', str(CHAIN), '--adjacency', '1', '--epsilon', '1',
                 '-o', 'out', '--subject-key', 'robot']) == 1
    assert 'data is a directory of Parquet files, an archive: name its release -o OUT.parquet' \
        in capsys.readouterr().err


@pytest.mark.parametrize('arguments, logs, output, text', [
    ([], ['walks.parquet', 'a.csv'], 'o.parquet', 'release it alone'),
    ([], ['walks.parquet', 'walks.parquet'], 'o.parquet', 'release it alone'),
    ([], ['walks.parquet'], 'out', '-o OUT.parquet'),
    ([], ['a.csv'], 'o.parquet', 'give one whose name ends in .parquet'),
    ([], ['.'], 'o.parquet', 'lie inside one another'),
    (['--sampling', 'change'], ['walks.parquet'], 'o.parquet', '--sampling is not for archives'),
    (['--unknown-symbol', 'split'], ['walks.parquet'], 'o.parquet',
     '--unknown-symbol is not for archives'),
    (['--keep-names'], ['walks.parquet'], 'o.parquet', '--keep-names is not for archives'),
    (['--format', 'mcap'], ['walks.parquet'], 'o.parquet', '--format is not for archives'),
    (['--route-key', 'x'], ['a.csv'], 'out', '--route-key is not for logs'),
    (['--charge', 'route'], ['a.csv'], 'out', '--charge is not for logs'),
    (['--scheduler', 'tcp://127.0.0.1:1'], ['a.csv'], 'out', '--scheduler is not for logs'),
    (['--route-key', 'symbol'], ['walks.parquet'], 'o.parquet', 'different columns'),
    (['--partial'], ['a.csv'], 'out', '--partial is not for logs'),
    (['--engine', 'ray'], ['a.csv'], 'out', '--engine is not for logs'),
    (['--ledger', 'l', '--accounting', 'zcdp', '--delta', '1e-6'], ['walks.parquet'], 'o.parquet',
     'are for one --subject'),
    (['--symbol-map', '1=nowhere'], ['walks.parquet'], 'o.parquet', 'not a state of the chain'),
    (['--ledger', 'o.parquet', '--subject', 'r'], ['walks.parquet'], 'o.parquet', 'o.parquet'),
    (['--ledger', 'o.parquet/l', '--subject', 'r'], ['walks.parquet'], 'o.parquet', 'o.parquet'),
])
def test_wrong_usage(here, capsys, arguments, logs, output, text):
    write_log(here / 'a.csv', WORD, format='csv')
    assert main(arguments_of(*arguments, logs=logs, output=output)) == 1
    assert text in capsys.readouterr().err
    assert not (here / output).exists()


def test_a_directory_of_archives_is_not_taken_for_one_without_logs(here, capsys):
    assert main(arguments_of(logs='.', output='out')) == 1
    assert 'release each archive separately' in capsys.readouterr().err
    assert not (here / 'out').exists()


def test_without_pyarrow(place):
    run = release(place, setup='import sys; sys.modules["pyarrow"] = None\n')
    assert run.returncode == 1 and 'install it with pip' in run.stderr
    assert 'Traceback' not in run.stderr
    write_log(place / 'a.csv', WORD, format='csv')
    run = release(place, logs=('a.csv',), output='out',
                  setup='import sys; sys.modules["pyarrow"] = None\n')
    assert run.returncode == 0, run.stderr


def test_each_route_is_charged_where_routes_may_overlap(place):
    run = release(place, *LEDGER, '--charge', 'route', '--mechanism', 'causal')
    assert run.returncode == 0, run.stdout + run.stderr
    assert 'ε = 1 and k = 1 for each route' in run.stdout
    assert 'r1 has spent ε = 20' in run.stdout
    run = release(place, *LEDGER, '--mechanism', 'causal', output='out/b.parquet')
    assert 'for the archive' in run.stdout and 'r1 has spent ε = 21' in run.stdout
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert run.returncode == 0 and 'verified; charges: 2' in run.stdout, run.stdout + run.stderr


def several_robots(place):
    for robot, count in (('r1', 2), ('r2', 3), ('r3', 1)):
        path = place / 'patrols' / f'robot={robot}' / 'part-0.parquet'
        path.parent.mkdir(parents=True)
        words = WORD * count
        pq.write_table(pa.table({
            'route': [i for i in range(count) for _ in WORD],
            'position': [i for _ in range(count) for i in range(len(WORD))],
            'symbol': words}), path)


def test_a_directory_of_several_robots(here, capsys):
    several_robots(here)
    arguments = of_robots('--charge', 'route')
    assert main([*arguments, '--dry-run']) == 0
    told = capsys.readouterr().err
    assert 'patrols: 3 subjects; each would be charged ε = 1 to 3; 0 were charged' in told
    assert not (here / 'l').exists() and not (here / 'o.parquet').exists()
    assert main(arguments) == 0
    assert '3 subjects are charged for it, each ε = 1 to 3' in capsys.readouterr().out
    assert main(arguments) == 0 and '1 already released' in capsys.readouterr().out
    file = here / 'o.parquet' / 'robot=r2' / 'part-0.parquet'
    record = json.loads(pq.read_schema(file).metadata[b'symdp_ros'])
    assert record['program'] == f'symdp_ros {__version__}' and record['charge'] == 'route'
    (here / 'o.parquet').rename(here / 'elsewhere.parquet')
    assert main(['ledger', 'l', '--verify', 'elsewhere.parquet']) == 0
    told = capsys.readouterr().out
    assert 'the release of patrols, charge 1, made 2' in told and 'of 3 subjects' in told
    # A copy from a store, to which it was uploaded.
    assert main([*arguments, '-o', 'elsewhere.parquet', '--upload', f'file://{here}/copy']) == 0
    assert (here / 'copy' / '_release.json').exists()
    assert main(['ledger', 'l', '--verify', 'copy']) == 0
    assert 'copy is the release of patrols' in capsys.readouterr().out
    with open(here / 'elsewhere.parquet' / 'robot=r2' / 'part-0.parquet', 'ab') as file:
        file.write(b'x')
    assert main(['ledger', 'l', '--verify', 'elsewhere.parquet']) == 1
    assert 'no release of this ledger, or was changed' in capsys.readouterr().err
    assert main(['ledger', 'l', '--verify', 'elsewhere.parquet', '--set-budget', 'r1', '2']) == 1
    assert '--verify is given alone' in capsys.readouterr().err
    assert main(['ledger', 'l', '--verify', 'nowhere']) == 1
    assert 'nowhere cannot be read: No such file' in capsys.readouterr().err


def test_robots_over_their_budget_are_named(here, capsys):
    several_robots(here)
    arguments = of_robots()
    assert main(of_robots(policy='adaptive', output='a.parquet')) == 0
    assert main(['ledger', 'l', '--set-budget', 'r2', '1.5']) == 0
    capsys.readouterr()
    assert main([*arguments, '--dry-run']) == 1
    assert '1 would pass a budget; r2: ' in capsys.readouterr().err
    assert main(arguments) == 1 and 'r2 (' in capsys.readouterr().out
    assert main([*arguments, '--partial']) == 0
    assert '2 subjects are charged for it, each ε = 1' in capsys.readouterr().out
    assert {path.parent.name for path in (here / 'o.parquet').rglob('*.parquet')} == {
        'robot=r1', 'robot=r3'}


def test_new_robots_are_told_before_they_are_charged(here, capsys):
    """As a new --subject is; nothing is said of those of a new ledger."""
    several_robots(here)
    assert main(of_robots()) == 0 and 'is a new subject' not in capsys.readouterr().err
    (here / 'patrols').rename(here / 'more')
    (here / 'more' / 'robot=r3').rename(here / 'more' / 'robot=R2')
    arguments = [name.replace('patrols', 'more') for name in of_robots(output='b.parquet')]
    for more in ['--dry-run'], ['--budget', '0.5']:
        assert main([*arguments, *more]) == (1 if '--budget' in more else 0)
        told = ' '.join(capsys.readouterr().err.split())
        assert "'R2' is a new subject in" in told and "; did you mean 'r2'?" in told
        assert "'r1' is a new" not in told


def test_robots_whose_names_look_alike_are_said(here, capsys):
    several_robots(here)
    (here / 'patrols' / 'robot=r3').rename(here / 'patrols' / 'robot=R1')
    assert main(of_robots()) == 0
    told = capsys.readouterr().err
    assert "the subject 'R1' looks like 'r1'" in told and "the subject 'r1' looks like" in told
