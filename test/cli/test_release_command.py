# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release` and `symdp ledger` as a user types them, without ROS."""
from contextlib import closing
import csv
import errno
from fractions import Fraction
import io
import json
import os
import re
import sqlite3
import subprocess
import sys

from in_process import CHAIN, ROOT, run_symdp
from mcap.reader import make_reader
import pytest
from symdp_ros import __version__, Chain
from symdp_ros.cli.main import main
from symdp_ros.core.accounting import response_rho
from symdp_ros.ledger.entry import written
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import read_log, write_log
from symdp_ros.release import outbox
from symdp_ros.release.outbox import Outbox
import yaml

WORD = ['dock', 'gate', 'none', 'aisle_1', 'packing', 'charger'] * 4
WITHOUT_ROS = ('import sys; sys.modules["rclpy"] = None\n'
               'from symdp_ros.cli.main import main; sys.exit(main(sys.argv[1:]))')


def symdp(*arguments, cwd):
    return run_symdp(*arguments, cwd=cwd, COLUMNS='200')


def release(place, *arguments, logs=('logs',)):
    hidden = [] if '--protect' in arguments else ['--adjacency=1']
    return symdp('release', *logs, '--chain', CHAIN, '--epsilon=1', *hidden, '-o', 'out',
                 *arguments, cwd=place)


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'logs').mkdir()
    write_log(tmp_path / 'logs' / 'monday.csv', WORD, format='csv')
    write_log(tmp_path / 'logs' / 'tuesday', WORD[:9], format='sqlite3', topic='region')
    return tmp_path


LOCK = '.symdp_ros.lock'
LEDGER = ('--ledger', 'robots.ledger', '--subject', 'r1')


def test_release_with_a_ledger(place):
    run = release(place, *LEDGER, '--subject-budget', '3')
    assert run.returncode == 0, run.stderr
    assert '2 released, 0 already released' in run.stdout
    assert 'mechanism auto' in run.stdout and (
        '; how it moves: as the map says, weight 0.8, and six models\n') in run.stdout
    assert ('r1 has spent ε = 2 of 3, for changes of up to 1 symbol (sampling: message)\n'
            in run.stdout)
    paths = sorted((place / 'out').glob('[!.]*'))
    words = [[symbol for _, symbol in read_log(path)] for path in paths]
    assert [len(word) for word in words] == [24, 9]
    assert all(map(Chain.from_yaml(CHAIN).is_feasible, words))
    run = release(place, *LEDGER, '--subject-budget', '3')
    assert run.returncode == 0 and '0 released, 2 already released' in run.stdout
    run = release(place, *LEDGER, '--subject-budget', '3', '--mechanism', 'causal')
    assert run.returncode == 1 and '1 released, 0 already released, 1 refused' in run.stdout


def test_states_that_no_route_reaches_are_said(place):
    (place / 'two.chain.yaml').write_text(
        'initial_state: dock\ntransitions: {dock: [dock], gate: [gate]}\n')
    run = symdp('release', 'logs', '--chain', 'two.chain.yaml', '--epsilon=1', '--adjacency=1',
                '-o', 'out', '--dry-run', cwd=place)
    assert 'no route from the initial state reaches 1 state of 2' in run.stderr


def test_another_base_is_another_release(place):
    """And trust counts where the chain's base measure does."""
    again = *LEDGER, '--mechanism', 'exponential'
    for options, released in ((('--base', 'chain'), 2), (('--base', 'chain', '--trust', '0.8'), 0),
                              (('--trust', '1'), 2), (('--base', 'counting'), 2),
                              (('--base', 'counting', '--trust', '1'), 0)):
        run = release(place, *again, *options)
        assert run.returncode == 0 and f'{released} released' in run.stdout, run.stderr
    for options, problem in ((('--trust', '1.5'), 'trust is 1.5: it must be at most 1'),
                             (('--trust', 'nan'), 'trust is nan'),
                             (('--base', 'uniform'), 'invalid choice')):
        run = release(place, *again, *options)
        assert run.returncode and problem in run.stderr


def test_a_log_whose_name_cannot_be_printed_has_failed(place):
    (place / 'logs' / 'a\u202e\x1b[2J\nb.csv').write_text('')
    (place / 'logs' / os.fsdecode(b'c\xff.csv')).write_text('')
    run = release(place)
    assert run.returncode == 1
    assert '2 released' in run.stdout and '2 failed' in run.stdout
    assert 'still being recorded' not in run.stdout
    assert r'a\u202e\x1b[2J\nb.csv' in run.stdout and r'c\xff.csv' in run.stdout
    assert all(line.isprintable() for line in run.stdout.splitlines())


def test_an_archive_among_logs_is_skipped(place):
    (place / 'logs' / 'walks.parquet').write_bytes(b'PAR1')
    for more in ('--dry-run',), ():
        run = release(place, *more)
        assert run.returncode == 0
        [row] = [line.split() for line in (run.stderr if more else run.stdout).splitlines()
                 if line.startswith('walks.parquet ')]
        assert row[:2] == ['walks.parquet', 'skipped']
        assert 'an archive of routes is released alone: symdp release ARCHIVE.parquet' in (
            run.stderr if more else run.stdout)
    assert '1 skipped as an archive' in run.stdout
    (place / 'archives').mkdir()
    (place / 'logs' / 'walks.parquet').rename(place / 'archives' / 'walks.parquet')
    run = release(place, logs=['archives'])
    assert run.returncode == 1 and 'archives holds archives and no logs: release' in run.stderr


def test_a_doubtful_budget_is_announced(place):
    assert release(place, *LEDGER).returncode == 0
    run = symdp('ledger', 'robots.ledger', '--set-budget', 'r1', '3', cwd=place)
    assert (run.returncode, run.stderr) == (0, '')
    run = symdp('ledger', 'robots.ledger', '--set-budget', 'r1', '1', cwd=place)
    assert (run.returncode, 'r1' in run.stderr) == (0, True) and 'spent more than' in run.stderr
    run = symdp('ledger', 'robots.ledger', '--set-budget', 'R1', '3', cwd=place)
    assert "'R1' is a new subject in robots.ledger; did you mean 'r1'?" in run.stderr.replace(
        f'{place}/', '')


def test_the_ledger_remembers_the_budget_and_is_not_charged_while_damaged(place):
    assert release(place, *LEDGER, '--subject-budget', '2').returncode == 0
    again = *LEDGER, '--mechanism', 'causal', '--epsilon', '0.5'
    run = release(place, *again)
    assert run.returncode == 1 and '2 refused' in run.stdout
    run = release(place, *again, '--subject-budget', '3')
    assert run.returncode == 1 and 'is 2 in the ledger, not 3' in run.stderr
    run = symdp('ledger', 'robots.ledger', '--set-budget', 'r1', '3', cwd=place)
    assert run.returncode == 0 and 'budget: 3' in run.stdout, run.stderr
    (place / 'robots.ledger').unlink()
    run = release(place, *again)
    assert run.returncode == 1 and 'ledger robots.ledger --recover' in run.stderr.replace(
        str(place) + '/', '')
    assert len(list((place / 'out').glob('[!.]*'))) == 2
    run = symdp('ledger', 'robots.ledger', '--recover', cwd=place)
    assert run.returncode == 0 and 'r1 has spent ε = 2 of 3, for changes' in run.stdout, run.stderr
    run = release(place, *again)
    assert run.returncode == 0 and '2 released' in run.stdout


@pytest.mark.parametrize('gap, alike', [(-5, True), (30, False)], ids=['overlap', 'apart'])
@pytest.mark.parametrize('calls', [1, 2])
def test_logs_that_overlap_in_time(place, gap, alike, calls):
    """What a change that both show costs is said, also where they are released one by one."""
    names, begin = ('first.csv', 'second.csv'), 0
    for name in names:
        (place / name).write_text('stamp,symbol\n' + ''.join(
            f'{begin + i},{symbol}\n' for i, symbol in enumerate(WORD)))
        begin += len(WORD) + gap
    if calls == 1:
        run = release(place, logs=names)
        assert ('first.csv, second.csv can show the same change, by their stamps: it then costs '
                'ε = 2' in run.stdout) == alike
    for logs in [names] if calls == 1 else [names[:1], names[1:]]:
        run = release(place, *LEDGER, logs=logs)
    assert ('such a change in one of its 2 logs costs at most ε = 1; ' + (
        'where several logs show it, by their stamps, at most ε = 2; ' if alike else '')
        + 'in every one of them (the same visit every day), ε = 2\n') in run.stdout
    exported = json.loads(symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place).stdout)
    assert [charge['logs'] for charge in exported] == [['first.csv'], ['second.csv']]
    assert all('logs' not in charge['settings'] for charge in exported)  # nor their times


def test_release_without_a_ledger(place):
    for mechanism in ('exponential', 'auto', 'causal'):
        run = release(place, '--mechanism', mechanism, '--keep-names')
        assert run.returncode == 0 and 'no --ledger: nothing was recorded' in run.stdout
    names = sorted(path.name for path in (place / 'out').glob('[!.]*'))
    assert len(names) == 6 and 'monday.private.csv' in names


def test_single_logs_and_other_columns(place):
    (place / 'day.csv').write_text('time,zone\n0,A\n1,B\n2,B\n')
    run = release(place, '--stamp-key', 'time', '--symbol-key', 'zone', '--symbol-map', 'A=dock',
                  '--symbol-map', 'B=gate', '--sampling', 'change', '--format', 'jsonl',
                  logs=('day.csv',))
    assert run.returncode == 0, run.stdout
    [path] = (place / 'out').glob('[!.]*')
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row['time'] for row in rows] == [0.0, 1.0]


@pytest.mark.parametrize('arguments, logs, status, text', [
    (['--ledger', 'x'], ['logs'], 1, '--ledger and --subject belong together'),
    (['--budget', '1'], ['logs'], 1, 'need a --ledger'),
    ([*LEDGER, '--budget', 'nan'], ['logs'], 2, 'budget is nan: it must be a finite number'),
    (['--ledger', 'out/a', '--subject', 'r'], ['logs'], 1, 'out/a'),
    (['--epsilon', '-1'], ['logs'], 2, 'epsilon is -1.0: it must be at least 0'),
    (['--sampling', 'period', '--unknown-symbol', 'drop'], ['logs'], 1, 'contradict'),
    (['--mechanism', 'laplace'], ['logs'], 2, 'invalid choice'),
    (['--symbol-map', '1:dock'], ['logs'], 1, 'write it as value=state'),
    ([*LEDGER, '--mechanism', 'exponential', '--learn', 'own'], ['logs'], 1, 'learn is own'),
    ([], ['logs/monday.csv', './logs/monday.csv'], 1, "two logs have the id 'monday.csv'"),
])
def test_wrong_usage(place, arguments, logs, status, text):
    run = release(place, *arguments, logs=logs)
    assert run.returncode == status and text in run.stderr and 'Traceback' not in run.stderr
    assert not (place / 'out').exists() and not [*place.glob('*.ledger*')]


def test_names_are_shown_as_they_are(place):
    write_log(place / 'run[red].csv', WORD, format='csv')
    run = release(place, '--ledger', 'robots.ledger', '--subject', 'r[/x]', logs=('run[red].csv',))
    assert run.returncode == 0 and 'run[red].csv' in run.stdout, run.stderr
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert run.returncode == 0 and 'run[red].csv' in run.stdout and 'r[/x] has spent' in run.stdout


def test_a_missing_log_fails_and_is_said(place):
    run = release(place, logs=('nowhere.csv',))
    assert run.returncode == 1 and 'there is no such file' in run.stdout


def test_ledger_shows_verifies_and_exports(place):
    release(place, *LEDGER)
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert run.returncode == 0 and run.stderr == ''
    assert 'r1 has spent ε = 2, for changes of up to 1 symbol (sampling: message)\n' in run.stdout
    assert 'verified; charges: 2, released files: 2' in run.stdout
    exported = json.loads(symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place).stdout)
    assert [(row['subject'], row['log_id'], row['epsilon'], row['symbols'])
            for row in exported] == [('r1', 'monday.csv', '1', 24), ('r1', 'tuesday', '1', 9)]
    rows = list(csv.DictReader(io.StringIO(
        symdp('ledger', 'robots.ledger', '--export', 'csv', cwd=place).stdout)))
    assert [row['log_id'] for row in rows] == ['monday.csv', 'tuesday']
    path = next((place / 'out').glob('000001*'))
    path.write_text('stamp,symbol\n0.0,dock\n')
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert run.returncode == 1 and 'is not what was released' in run.stderr


@pytest.mark.parametrize('subject', ['=1+1', '+1 2', '-a', '@sum(a1)', ' =1+1', '＝1'])
def test_no_cell_of_an_export_is_a_formula(place, subject):
    """Spreadsheets compute, and send elsewhere, what begins so."""
    with Ledger(place / 'robots.ledger') as ledger:
        ledger.set_budget(subject, 1)
        ledger.set_budget('r1', 2)
    for form in ('csv', 'json'):
        run = symdp('ledger', 'robots.ledger', '--remaining', '--export', form, cwd=place)
        rows = json.loads(run.stdout) if form == 'json' else list(
            csv.DictReader(io.StringIO(run.stdout)))
        assert sorted(row['subject'] for row in rows) == sorted(
            [subject if form == 'json' else f"'{subject}", 'r1']), run.stderr
        assert {row['left'] for row in rows} == {'1', '2'}


def test_what_is_left(place):
    run = release(place, *LEDGER, '--subject-budget', '2.5')
    assert ('from now on, the ledger counts what r1 spends for changes of up to 1 symbol '
            '(sampling: message). Releases') in run.stderr
    assert 'from now on' not in release(place, *LEDGER).stderr
    release(place, '--ledger', 'robots.ledger', '--subject', 'forklift_2',
            '--sampling', 'period', '--protect', '30', logs=('logs/monday.csv',))
    run = symdp('ledger', 'robots.ledger', '--remaining', cwd=place)
    assert run.returncode == 0, run.stderr
    rows = [line.split() for line in run.stdout.splitlines()]
    assert ['r1', '2.5', '2', '0.5', *'changes of up to 1 symbol (sampling: message)'.split()] \
        in rows
    assert ['forklift_2', 'no', 'limit', '1', 'no', 'limit', 'changes', 'during',
            '30', 's'] in rows
    run = symdp('ledger', 'robots.ledger', '--remaining', '--export', 'json', cwd=place)
    forklift, r1 = json.loads(run.stdout)
    assert (r1['subject'], r1['budget'], r1['spent'], r1['left']) == ('r1', '2.5', '2', '0.5')
    assert (forklift['unit'], forklift['left']) == ('changes during 30 s', None)
    run = symdp('ledger', 'robots.ledger', '--remaining', '--export', 'csv', cwd=place)
    assert [row['left'] for row in csv.DictReader(io.StringIO(run.stdout))] == ['', '0.5']


def test_accounting_with_delta(place):
    zcdp = '--accounting', 'zcdp', '--delta', '1e-6'
    run = release(place, *LEDGER, '--subject-budget', '4', *zcdp, '--mechanism', 'exponential',
                  '--adjacency', '4')
    assert run.returncode == 0, run.stderr
    assert 'r1 has spent ε = 2 (zcdp, δ = 1e-06) of 4, for changes of up to 4' in run.stdout
    assert symdp('ledger', 'robots.ledger', '--set-budget', 'r1', '60', cwd=place).returncode == 0
    of_logs = []
    for epsilon in ('0.95', '0.97', '0.99', '1.01', '1.03', '1.05'):
        run = release(place, *LEDGER, '--mechanism', 'causal', '--adjacency', '4', '--policy',
                      'guided', '--epsilon', epsilon)
        assert run.returncode == 0, run.stdout + run.stderr
        # Each symbol of these costs x·tanh(x/2).
        of_logs += 2 * [4 * response_rho(Fraction(epsilon) / 4)]
    [left] = json.loads(symdp('ledger', 'robots.ledger', '--remaining', '--export', 'json',
                              cwd=place).stdout)
    assert (left['accounting'], left['delta'], left['pure']) == ('zcdp', '0.000001', '14')
    assert left['rho'] == written(2 / Fraction(8) + sum(of_logs))
    assert left['spent'] == left['zcdp'] < '14'
    charges = json.loads(symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place).stdout)
    assert [charge['rho'] for charge in charges] == 2 * ['0.125'] + [*map(written, of_logs)]
    assert {charge['settings']['bound'] for charge in charges} == {'range', 'symbols'}
    run = symdp('ledger', 'robots.ledger', cwd=place)
    assert f'which is ε = {left["zcdp"]} at δ = 1e-06; accounting pure: ε = 14' \
        in run.stdout and 'budget: 4 (zcdp, δ = 1e-06)' in run.stdout
    assert 'at δ = 1e-09; ' in symdp('ledger', 'robots.ledger', '--delta', '1e-9',
                                     cwd=place).stdout
    five = *LEDGER, '--mechanism', 'exponential', '--epsilon', '5', '--adjacency', '4'
    trial, run = release(place, *five, '--dry-run'), release(place, *five)
    spent = re.search(r' spent ε = [.\d]+ \(zcdp, δ = 1e-06\)', run.stdout)[0]
    assert f'r1 would have{spent}' in trial.stderr and spent > ' spent ε = 18'
    run = release(place, *LEDGER, '--subject-budget', '60')
    assert run.returncode == 1 and 'not 60 (pure): leave it out' in run.stderr
    for arguments in (['--accounting', 'pure'], ['--set-budget', 'r1', '9', '--delta', '1e-9'],
                      ['--set-budget', 'r1', '9', '--accounting', 'zcdp']):
        run = symdp('ledger', 'robots.ledger', *arguments, cwd=place)
        assert run.returncode == 1 and 'Traceback' not in run.stderr
    run = symdp('ledger', 'robots.ledger', '--set-budget', 'r1', '60', '--accounting', 'pure',
                cwd=place)
    assert run.returncode == 0 and 'r1 has spent ε = 24 of 60' in run.stdout
    run = release(place, *zcdp)
    assert run.returncode == 1 and '--accounting and --delta need a --ledger' in run.stderr


def test_it_waits_for_another_release_into_the_same_directory(place):
    (place / 'out').mkdir()
    with Outbox(place / 'out') as other:
        run = subprocess.Popen(
            [sys.executable, '-c', WITHOUT_ROS, 'release', 'logs', '--chain', CHAIN, '--epsilon',
             '1', '--protect', '1', '-o', 'out'], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE, cwd=place, env={**os.environ, 'PYTHONPATH': str(ROOT)})
        assert 'another process is releasing into out: waiting' in run.stderr.readline()
        assert run.poll() is None
    told, more = run.communicate(timeout=120)
    assert run.returncode == 0 and '2 released' in told and more == ''
    assert other.problems == ()


def test_what_is_charged_and_cannot_be_put_in_its_place_is_said(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    arguments = ['release', 'logs', '--chain', str(CHAIN), '--epsilon=1', '--adjacency=1', '-o',
                 'out', *LEDGER, '--mechanism', 'causal']
    move, left = outbox.move, [1]

    def fails(source, target):
        if left[0] > 0:
            left[0] -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        move(source, target)

    monkeypatch.setattr(outbox, 'move', fails)
    assert main(arguments) == 1
    assert 'cannot be written: Input/output error' in ' '.join(capsys.readouterr().out.split())
    left[0] = 1
    assert main(arguments) == 1  # not at the start, and then when its log is asked for
    told = capsys.readouterr()
    assert 'symdp release: 000001.private.csv is charged, and cannot be moved' in told.err
    assert '2 already released' in told.out
    assert main(arguments) == 0 and len(list((place / 'out').glob('[!.]*'))) == 2


LONG_NAMES = {'a long name': 'n' * 300, 'a long name of a log': f'{"n" * 300}.csv',
              'a long name of an archive': f'{"n" * 300}.parquet',
              'a long path': f'{"deep/" * 600}log', 'a path for no file': 'd/' * 2100 + 'log.csv',
              'a circle': 'circle/log.csv', 'in a circle': 'circle'}


@pytest.mark.parametrize('name', LONG_NAMES.values(), ids=LONG_NAMES)
def test_paths_that_cannot_be(place, name):
    (place / 'circle').symlink_to('circle')
    run = release(place, logs=(name,))
    assert run.returncode == 1 and 'Traceback' not in run.stderr
    assert 'failed' in run.stdout or run.stderr.startswith('symdp release: ')
    assert len(run.stderr) < 3000
    for arguments in (('-o', name), ('--ledger', name, '--subject', 'r1')):
        run = release(place, *arguments)
        assert 'Traceback' not in run.stderr and len(run.stderr) < 3000
        assert run.returncode == 0 or run.stderr.startswith('symdp release: ') \
            or 'failed' in run.stdout


def test_what_would_be_noise_is_refused_and_not_charged(place):
    """Numbers, and nobody said which of them are states; the node refuses these settings live."""
    write_log(place / 'modes', ['1', '2', '3'] * 40, format='mcap', topic='region',
              message_type='std_msgs/msg/UInt8')
    for more, kind, said in (
            ((), 'failed', "no value of the field 'data', a uint8, names a state"),
            (('--symbol-map', '9=dock'), 'refused', 'none of its symbols names a state')):
        run = release(place, *LEDGER, '--mechanism', 'causal', *more, logs=('modes',))
        assert run.returncode == 1 and f'1 {kind}' in run.stdout
        assert said in ' '.join(run.stdout.split()) and 'r1 has spent ε = 0' in run.stdout
    run = release(place, *LEDGER, '--mechanism', 'causal', '--symbol-map', '2=dock',
                  logs=('modes',))
    assert run.returncode == 1
    assert '67 % of the symbols name no state' in ' '.join(run.stdout.split())
    run = release(place, *LEDGER, '--mechanism', 'causal', '--symbol-map', '2=dock',
                  '--allow-unknown', '0.67', logs=('modes',))
    assert run.returncode == 0 and 'r1 has spent ε = 1' in run.stdout


def test_a_release_that_is_handed_out_in_another_format_is_verified(place):
    assert release(place, *LEDGER).returncode == 0
    again = release(place, *LEDGER, '--format', 'mcap', '-o', 'more')
    assert again.returncode == 0 and '2 already released' in again.stdout
    for _ in range(2):
        charges = set()
        for path in (*(place / 'out').glob('[!.]*'), *(place / 'more').glob('[!.]*')):
            run = symdp('ledger', 'robots.ledger', '--verify', str(path), cwd=place)
            assert run.returncode == 0, run.stderr
            charges.add(re.search(r'is the release of (\S+), charge (\d+)', run.stdout).groups())
        assert len(charges) == 2
        # What is handed out once more is known already, and a recovery keeps it.
        assert release(place, *LEDGER, '--format', 'mcap', '-o', 'third').returncode == 0
        with closing(sqlite3.connect(place / 'robots.ledger')) as ledger:
            ledger.execute("UPDATE charges SET made = 'x'")
            ledger.commit()
        assert symdp('ledger', 'robots.ledger', '--recover', cwd=place).returncode == 0
    (changed,) = (place / 'more').glob('000001*/*.mcap')
    changed.write_bytes(changed.read_bytes() + b'x')
    run = symdp('ledger', 'robots.ledger', '--verify', str(changed.parent), cwd=place)
    assert run.returncode == 1 and 'or was changed since' in run.stderr
    assert 'is not what was released' in symdp('ledger', 'robots.ledger', cwd=place).stderr


def test_logs_inside_the_release_directory_are_refused(place):
    (place / 'link').symlink_to('logs')
    for output in ('.', 'logs', 'link'):
        run = release(place, '-o', output)
        assert run.returncode == 1 and 'lie inside one another' in run.stderr
    assert not (place / 'logs' / LOCK).exists()
    # A single log may lie where its release goes, as an archive may.
    assert release(place, '-o', 'logs', '--mechanism', 'causal',
                   logs=('logs/monday.csv',)).returncode == 0


@pytest.mark.parametrize('option', ['--subject', '--topic', '--field', '--stamp-key',
                                    '--symbol-key'])
@pytest.mark.parametrize('value', ['r\udcff1', 'r\x1b[2J', 'r\u202e1'])
def test_names_that_cannot_be_printed(place, option, value):
    more = () if option == '--subject' else ('--subject', 'r1')
    run = release(place, '--ledger', 'robots.ledger', option, value, *more)
    assert run.returncode == 1
    assert run.stderr.startswith(f'symdp release: {option} r\\')
    assert 'cannot be printed: give a plain name' in run.stderr and run.stderr.isascii()
    assert not (place / 'robots.ledger').exists()


def test_a_large_epsilon_is_warned_of(place):
    run = release(place, '--epsilon', '25')
    assert run.returncode == 0 and 'epsilon is 25: others can be practically sure' in run.stderr


@pytest.mark.parametrize('form', ['mcap', 'sqlite3'])
def test_a_released_recording_says_how_it_was_made(place, form):
    """In what `ros2 bag info` and readers of MCAP show; nothing of it depends on the log."""
    arguments = ('--mechanism', 'causal', '--policy', 'guided', '--format', form, *LEDGER)
    assert release(place, *arguments).returncode == 0
    charges = json.loads(symdp('ledger', 'robots.ledger', '--export', 'json', cwd=place).stdout)
    records = []
    for path in sorted((place / 'out').glob('[!.]*')):
        described = yaml.safe_load((path / 'metadata.yaml').read_text())
        records.append(described['rosbag2_bagfile_information']['custom_data']['symdp_ros'])
        if form == 'mcap':
            with open(path / 'private_0.mcap', 'rb') as file:
                [found] = make_reader(file).iter_metadata()
            assert (found.name, found.metadata) == ('symdp_ros', {'release': records[-1]})
        assert len(read_log(path, topic='private_region')) in (9, 24)
        assert symdp('ledger', 'robots.ledger', '--verify', f'out/{path.name}',
                     cwd=place).returncode == 0
    assert len(records) == 2 and len(set(records)) == 1
    record = json.loads(records[0])
    assert record['program'] == f'symdp_ros {__version__}' and record['epsilon'] == 1.0
    not_told = {'routes', 'bound', 'length', 'topic', 'field', 'symbol_map', 'no_region',
                'zcdp_rule'}
    assert len(charges) == 2 and not not_told & record.keys()
    for charge in charges:
        assert {name: value for name, value in charge['settings'].items()
                if name not in not_told}.items() <= record.items()
    # Written once more, it is the same release.
    before = sorted(path.read_bytes() for path in (place / 'out').rglob('private_0.*'))
    for path in list((place / 'out').glob('[!.]*')):
        path.rename(place / path.name)
    assert '2 already released' in release(place, *arguments).stdout
    assert before == sorted(path.read_bytes() for path in (place / 'out').rglob('private_0.*'))
