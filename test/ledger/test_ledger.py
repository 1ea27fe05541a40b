# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger: exact sums, budgets that hold between processes, seals, the mark."""
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from fractions import Fraction
from io import BytesIO
import json
import os
from pathlib import Path
import shutil
import sqlite3
import subprocess
import sys

from ledgers import change, held, loss
import pytest
from refusals import refused
from symdp_ros import BudgetError, LedgerError, Privacy
from symdp_ros.ledger.entry import as_text, Loss, new_charge
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.maps.reports import as_fraction

ROOT = Path(__file__).resolve().parents[2]


def charge(ledger, epsilon=1.0, log_id='a.csv', settings='s', subject='r1', adjacency=1,
           sampling='message', period=None, seconds=None, **more):
    loss = Loss.of(Privacy(epsilon, adjacency), sampling, period, seconds)
    return ledger.charge(subject, loss, log_id=log_id, settings=settings,
                         **{'description': '{}', **more})


@pytest.mark.parametrize('epsilons, total', [
    ([0.1] * 3, '0.3'), ([0.1, 0.2, 0.7], '1'), ([1e-5, 1e22], '10000000000000000000000.00001'),
    ([5e-324, 1.0], '1.' + '0' * 323 + '5'), ([], '0'), ([2.5, 2.5], '5'), ([100.0], '100')])
def test_sums_are_exact(ledger, epsilons, total):
    for i, epsilon in enumerate(epsilons):
        charge(ledger, epsilon, settings=str(i))
    assert as_text(ledger.spent('r1')) == as_text(ledger.spent('r1', 'a.csv')) == total


def test_three_times_a_tenth_fits_into_three_tenths_and_not_a_fourth(ledger):
    for i in range(3):
        charge(ledger, 0.1, settings=str(i), budget=0.3)
    tenths = {'limit': Fraction(3, 10), 'spent': Fraction(3, 10), 'left': 0}
    with refused(BudgetError, **tenths, log_id='a.csv', cost=as_fraction(5e-324)) as says:
        charge(ledger, 5e-324, settings='more', budget=0.3)
    assert str(says.value).startswith("the budget of the log 'a.csv' is 0.3: 0.3 of it is spent")
    assert ledger.spent('r1') == as_fraction(0.3) == Fraction(3, 10)


def test_budgets_are_by_log_and_by_subject(ledger):
    limits = {'budget': 2.0, 'subject_budget': 3.0}
    charge(ledger, 2.0, 'a.csv', **limits)
    with refused(BudgetError, subject='r1', log_id='a.csv'):
        charge(ledger, 0.5, 'a.csv', settings='other', **limits)
    charge(ledger, 1.0, 'b.csv', **limits)
    with refused(BudgetError, subject='r1', log_id=None, limit=3, spent=3):
        charge(ledger, 0.5, None, settings='live', **limits)
    charge(ledger, 2.0, 'a.csv', subject='r2', **limits)
    assert [ledger.spent(*who) for who in (('r1',), ('r1', 'a.csv'), ('r2',), ('r4',))] == [
        3, 2, 2, 0]
    with refused(BudgetError, limit=3, cost=100):
        charge(ledger, 100.0, 'c.csv')  # the budget of r1 is stored
    charge(ledger, 100.0, 'c.csv', subject='r3')  # and r3 has none


def test_a_log_is_charged_once_under_the_same_settings(ledger):
    first, new = charge(ledger, words=[['x', 'y'], ['z']], content=b'abc')
    again, new_again = charge(ledger, words=[['other']], content=b'def')
    assert new and not new_again and again == first
    assert first.words == (('x', 'y'), ('z',)) and first.length == 3
    assert 'content' not in repr(first) and 'packed' not in repr(first)
    assert ledger.find('r1', 'a.csv', 's') == first and ledger.spent('r1') == 1
    assert ledger.find('r1', 'a.csv', 'other') is None
    assert ledger.account('r1').logs == 1


def test_every_live_word_is_charged(ledger):
    for _ in range(3):
        assert charge(ledger, 1.0, None)[1]
    assert ledger.spent('r1') == 3 and ledger.account('r1').logs == 0


def test_it_lasts_and_is_private(tmp_path):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        identity, fingerprint = ledger.id, ledger.fingerprint([['a', None]])
        charge(ledger)
        assert path.stat().st_mode & 0o777 == 0o600
        assert Path(f'{path}-wal').stat().st_mode & 0o777 == 0o600
        settings = {name: ledger._database.execute(f'PRAGMA {name}').fetchone()[0]
                    for name in ('journal_mode', 'synchronous')}
        assert settings == {'journal_mode': 'wal', 'synchronous': 2}
    with Ledger(path) as ledger:
        assert ledger.id == identity and ledger.spent('r1') == 1
        assert ledger.fingerprint([['a', None]]) == fingerprint
    with Ledger(tmp_path / 'b.ledger') as other:
        assert other.fingerprint([['a', None]]) != fingerprint


def test_fingerprints_tell_words_apart(ledger):
    words = [[['a', 'b']], [['a'], ['b']], [['ab']], [['a', None]], [['a', 'None']], [['a', '']],
             [['b', 'a']], [[]], []]
    assert len({ledger.fingerprint(word) for word in words}) == len(words)


def test_fingerprints_tell_files_apart(ledger):
    large = bytes(range(256)) * 5000  # read in two parts
    contents = [{'a': b''}, {'b': b''}, {'a': b'x'}, {'a': b'y'}, {'a': b'', 'b': b''},
                {'a': b'xy', 'b': b'z'}, {'a': b'x', 'b': b'yz'}, {'a': large},
                {'a': large[:-1] + b'x'}, {'a': b'x' + large[1:]}]

    def fingerprint(content, order):
        return ledger.file_fingerprint({name: lambda name=name: BytesIO(content[name])
                                        for name in order(content)})

    found = [fingerprint(content, list) for content in contents]
    assert len(set(found)) == len(contents)
    assert found == [fingerprint(content, reversed) for content in contents]


def test_no_sensitive_symbol_is_in_the_file(tmp_path):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        charge(ledger, content=ledger.fingerprint([['sensitive_place'] * 50]), words=[['public']])
    assert b'sensitive_place' not in b''.join(
        file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize('statement, said', [
    ("UPDATE charges SET epsilon = '0.5' WHERE number = 2", 'charge 2, or the one before'),
    ("UPDATE charges SET subject = 'r9' WHERE number = 1", 'charge 1, or the one before'),
    ('DELETE FROM charges WHERE number = 2', 'charges 2 to 2 are missing'),
    ('DELETE FROM charges WHERE number = 3', 'looks rolled back or replaced'),
    ("UPDATE charges SET packed = x'00' WHERE number = 3", 'charge 3, or the one before'),
])
def test_changes_are_noticed(tmp_path, statement, said):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        for i in range(3):
            charge(ledger, settings=str(i))
        assert ledger.problems() == []
        change(path, statement)  # of what this process has read before
        assert any(said in problem for problem in ledger.problems()), ledger.problems()
    with Ledger(path) as ledger:
        assert any(said in problem for problem in ledger.problems()), ledger.problems()


def test_a_ledger_that_another_process_begins_is_waited_for(ledger, tmp_path):
    """Who writes is waited for by SQLite, but not where it switches to another kind of journal."""
    database = ledger._database
    database.execute('PRAGMA journal_mode = DELETE')
    with closing(sqlite3.connect(tmp_path / 'robots.ledger', isolation_level=None)) as another, \
            ThreadPoolExecutor() as pool:
        another.execute('BEGIN IMMEDIATE')
        switched = pool.submit(database._use_wal)
        assert not wait([switched], 0.3).done
        another.execute('COMMIT')
        switched.result()
    assert database.execute('PRAGMA journal_mode').fetchone() == ('wal',)


def test_who_reads_waits_for_no_charge(ledger, tmp_path):
    charge(ledger)
    path = tmp_path / 'robots.ledger'
    with held(path), Ledger(path, create=False) as another:
        assert another.spent('r1') == 1
        assert not another.problems()


def test_an_old_copy_put_back_is_noticed(tmp_path):
    path, copy = tmp_path / 'a.ledger', tmp_path / 'copy'
    with Ledger(path) as ledger:
        charge(ledger, settings='1')
    shutil.copy(path, copy)
    with Ledger(path) as ledger:
        charge(ledger, settings='2')
        charge(ledger, settings='3')
    for file in tmp_path.glob('a.ledger-*'):
        file.unlink()
    shutil.copy(copy, path)
    for settings in ('4', '5', '6'):  # and later charges cannot cover it up
        with Ledger(path) as ledger:
            with refused(LedgerError, f'symdp ledger {path} --recover', damaged=True):
                charge(ledger, settings=settings)
            [problem] = ledger.problems()
            assert 'looks rolled back or replaced: a.ledger.mark lists a charge' in problem
            assert ledger.spent('r1') == 1


def spend_everything(path):
    """Charge 0.1 out of 1.0 until it is refused, in a process of its own; return its output."""
    return subprocess.run([sys.executable, '-c', f"""
from fractions import Fraction
from symdp_ros.errors import SymdpError
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
try:
    with Ledger({str(path)!r}) as ledger:
        for i in range(20):
            ledger.charge('r1', Loss(Fraction(1, 10), 1, 'message'), settings='s',
                          description='{{}}', subject_budget=1.0)
            print('charged')
except SymdpError as error:
    print(error)
"""], capture_output=True, text=True, check=True).stdout


def test_a_second_name_is_refused(tmp_path):
    """Each name has its own -wal and mark: both would spend the whole budget."""
    first, second = tmp_path / 'a' / 'robots.ledger', tmp_path / 'b' / 'robots.ledger'
    for path in (first, second):
        path.parent.mkdir()
    with Ledger(first) as ledger:
        charge(ledger, 0.1, subject_budget=1.0)
        second.hardlink_to(first)
        for attempt in (lambda: charge(ledger, 0.1, 'b.csv'), lambda: Ledger(second).close(),
                        lambda: recover(second, {})):
            with refused(LedgerError, 'has 2 names (hard links)', damaged=False):
                attempt()
        second.unlink()
        charge(ledger, 0.1, 'b.csv')
        assert ledger.spent('r1') == Fraction(1, 5)
    assert list(second.parent.iterdir()) == []


def test_a_file_that_is_mounted_by_itself_is_refused(tmp_path):
    """As containers mount it: `-v spent.ledger:/data/spent.ledger`; its folder is fine."""
    first, second = tmp_path / 'a' / 'robots.ledger', tmp_path / 'b' / 'robots.ledger'
    for path in (first, second):
        path.parent.mkdir()
    Ledger(first).close()
    second.touch()
    script = [sys.executable, __file__, str(first), str(second)]
    isolated = ['unshare', '--map-root-user', '--mount']
    if not shutil.which('unshare') or subprocess.run([*isolated, 'true']).returncode:
        pytest.skip('no namespaces of mounts here')
    done = subprocess.run(
        [*isolated, *script], capture_output=True, text=True, check=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, (ROOT, ROOT / 'test/core')))})
    by_itself, in_its_folder, at_first = done.stdout.split('---\n')
    assert 'is mounted as a single file' in by_itself and 'mount its folder' in by_itself
    assert 'charged' not in by_itself
    assert in_its_folder.count('charged\n') == 10  # it is one ledger there
    assert 'subject_budget' in at_first and 'charged' not in at_first


def test_other_processes_never_take_the_ledger_from_under_two_objects_of_one(tmp_path):
    """Locks of SQLite belong to the process: nothing else here may open and close the file."""
    path = tmp_path / 'a.ledger'
    with Ledger(path) as first:
        charge(first, settings='1')
        with Ledger(path) as second:
            charge(second, settings='2')
        for number in 3, 5:
            subprocess.run([sys.executable, '-c', 'import sys\n'
                            'from symdp_ros.ledger.ledger import Ledger\n'
                            'from symdp_ros.ledger.entry import Loss\n'
                            'with Ledger(sys.argv[1]) as ledger:\n'
                            '    ledger.charge("r1", Loss(1, 1, "message"), '
                            'settings=sys.argv[2], description="{}")\n', path, str(number)],
                           cwd=ROOT, check=True)
            charge(first, settings=str(number + 1))
            assert first.spent('r1') == number + 1
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == 6 and ledger.problems() == []


@pytest.mark.parametrize('content', [b'a letter\n', b'SQLite format 3\0 but no more of it'])
def test_other_files_are_refused_and_left_alone(tmp_path, content):
    path = tmp_path / 'letter'
    path.write_bytes(content)
    path.chmod(0o644)
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_bytes() == content and path.stat().st_mode & 0o777 == 0o644
    assert [file.name for file in tmp_path.iterdir()] == ['letter']


def test_another_database_is_refused(tmp_path):
    path = tmp_path / 'other.db'
    change(path, 'CREATE TABLE charges (x)')
    before = path.read_bytes()
    with refused(LedgerError, 'of another kind', damaged=False):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_ledger_to_look_at_is_not_made(tmp_path):
    with refused(LedgerError, 'there is no ledger'):
        Ledger(tmp_path / 'a.ledger', create=False)
    (tmp_path / 'empty').touch()
    with refused(LedgerError, 'of another kind'):
        Ledger(tmp_path / 'empty', create=False)
    assert (tmp_path / 'empty').read_bytes() == b''


def test_a_place_that_cannot_be_written(tmp_path):
    with refused(LedgerError, 'does not exist: make it', damaged=False):
        Ledger(tmp_path / 'nowhere' / 'a.ledger')


def test_one_log_from_many_threads_is_charged_once(tmp_path):
    path = tmp_path / 'a.ledger'
    Ledger(path).close()

    def spend(i):
        with Ledger(path) as ledger:
            return charge(ledger, words=[[str(i)]])

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(spend, range(12)))
    assert sum(new for _, new in results) == 1
    assert len({found.words for found, _ in results}) == 1


def test_it_survives_kill_9_at_any_moment(tmp_path):
    """A process that charges again and again is killed at random moments; nothing is torn."""
    script = ('import sys\nfrom symdp_ros.ledger.ledger import Ledger\n'
              'from symdp_ros.ledger.entry import Loss\n'
              'from fractions import Fraction\n'
              'ledger = Ledger(sys.argv[1])\nprint("ready", flush=True)\n'
              'for i in range(10**6):\n'
              '    ledger.charge("r1", Loss(Fraction(1, 2), 1, "message"), settings="s", '
              'description="{}")\n'
              '    print(i + 1, flush=True)\n')
    path, acknowledged = tmp_path / 'a.ledger', 0
    for round_ in range(6):
        child = subprocess.Popen([sys.executable, '-c', script, path], cwd=ROOT, text=True,
                                 stdout=subprocess.PIPE)
        assert child.stdout.readline() == 'ready\n'
        for _ in range(3 + 2 * round_):
            count = int(child.stdout.readline())
        child.kill()
        rest = child.stdout.read().split()
        child.wait()
        acknowledged += int(rest[-1]) if rest else count
        with Ledger(path) as ledger:
            charges = len(ledger.charges())
            assert acknowledged <= charges <= acknowledged + round_ + 1
            assert ledger.spent('r1') == Fraction(charges, 2) and ledger.problems() == []


def wanted(log_id, epsilon=1.0, **more):
    return new_charge(Loss.of(Privacy(epsilon), 'message'), 's', '{}', log_id, **more)


def staged(name):
    return LedgerFile(0, Path('/out/1'), Path('/staged', name), 'd', False)


def test_many_charges_are_made_at_once_and_each_may_be_refused(ledger):
    charge(ledger, log_id='before.csv')
    ledger.keep_budget('r1', 4.0)
    with ledger.charging('r1') as make:
        def charged(*new, files=(), **more):
            entry, is_new = make(wanted(*new, **more), files=files)
            return entry.number, is_new

        assert charged('a.csv', files=[staged('1')]) == (3, True)
        assert charged('before.csv') == (1, False)
        with refused(BudgetError, cost=Fraction(5, 2)):
            make(wanted('big.csv', 2.5))
        with refused(LedgerError, '/out/1 was promised to another release', damaged=False):
            charged('b.csv', files=[staged('2')])
        assert charged('b.csv') == (4, True)
        assert charged('a.csv', content=b'another') == (3, False)
        with refused(LedgerError, 'not UTF-8', damaged=False):
            make(wanted('\udcff'))
        assert charged('c.csv') == (5, True)
        with refused(BudgetError, left=0):
            make(wanted('d.csv'))
    assert ledger.spent('r1') == 4 and ledger.problems() == []
    assert [entry.log_id for entry in ledger.charges()] == [
        'before.csv', 'a.csv', 'b.csv', 'c.csv']


def test_of_many_charges_none_is_made_where_one_fails(ledger, tmp_path):
    charge(ledger, log_id='before.csv')
    with pytest.raises(OSError), ledger.charging('r1') as make:
        make(wanted('a.csv'))
        make(wanted('b.csv'))
        raise OSError
    assert ledger.spent('r1') == 1 and ledger.find('r1', 'a.csv', 's') is None
    assert charge(ledger, log_id='c.csv')[0].number == 2
    with Ledger(tmp_path / 'robots.ledger') as again:
        assert again.problems() == [] and again.spent('r1') == 2


def test_a_release_of_several_subjects_is_charged_to_all_or_to_none(ledger):
    def of(subject, epsilon=1.0):
        return wanted('a.csv', epsilon)._replace(subject=subject)

    with ledger.charging('') as make:
        first, is_new = make(of('r1'), of('r2', 2.0), files=[staged('1')])
    assert is_new and (first.number, first.subject, first.files) == (1, 'r1', 1)
    assert [entry.files for entry in ledger.charges()] == [1, 0]
    [kept] = ledger.files.all()
    assert (kept.number, str(kept.path), str(kept.staged), kept.digest, kept.visible) == (
        1, '/out/1', '/staged/1', 'd', False)
    with refused(LedgerError, 'r2 was charged for it by another process', damaged=False):
        with ledger.charging('') as make:
            make(of('r3'), of('r2', 2.0))
    assert ledger.subjects() == ['r1', 'r2'] and ledger.problems() == []
    found = ledger.find_all(['r1', 'r2', 'r3'], 'a.csv', 's')
    assert {subject: entry.number for subject, entry in found.items()} == {'r1': 1, 'r2': 2}


@pytest.mark.parametrize('more', [
    {'bound': 'range'}, {'routes': 2}, {'bound': 'range', 'routes': 3}, {'repeats': 2},
    {'sampling': 'archive', 'repeats': 1}, {'sampling': 'archive', 'repeats': 5}, {'length': 1},
    {'sampling': 'period', 'period': 0.5, 'seconds': 30, 'whole': True}, {'zones': '3f'},
    {'of_log': Fraction(1, 3)}], ids=str)
@pytest.mark.parametrize('description', ['', '{}', '{"epsilon": 1.0}'])
def test_a_loss_is_read_again_as_it_was_charged(ledger, tmp_path, more, description):
    charged = loss(Fraction(1, 7), 2, **more)
    new = new_charge(charged, 's', description, 'a.csv', words=[['hall']])
    with ledger.charging('r1') as make:
        make(new)
    with Ledger(tmp_path / 'robots.ledger') as again:
        [entry] = again.charges()
    assert entry.loss == charged
    assert entry.settings_described.items() >= json.loads(description or '{}').items()
    assert 'hall' not in repr(new) and 'packed' not in repr(new)  # a log may be long


def test_a_charge_is_described_by_its_settings_and_the_rule_of_its_rho(ledger):
    charge(ledger, 1.0, description='{"epsilon": 1.0}')
    assert ledger.charges()[0].description == '{"epsilon": 1.0, "zcdp_rule": 2}'


def test_who_names_no_budget_has_none(ledger):
    large = loss(50)
    ledger.check('r1', large, 'a.csv')
    assert ledger.check_all({'r1': large}, 'a.csv') == {}
    assert list(ledger.check_all({'r1': large}, 'a.csv', budget=49.0)) == ['r1']
    with ledger.charging('r1') as make:
        make(new_charge(large, 's', '{}', 'a.csv'))
    assert ledger.spent('r1', 'a.csv') == 50


if __name__ == '__main__':  # in a namespace of mounts: see above
    original, mounted = map(Path, sys.argv[1:])
    subprocess.run(['mount', '--bind', original, mounted], check=True)
    print(spend_everything(mounted), end='---\n')
    subprocess.run(['mount', '--bind', original.parent, mounted.parent], check=True)
    print(spend_everything(mounted), end='---\n')
    print(spend_everything(original), end='')
