# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A ledger that is damaged, lost or an older copy is not charged, and can be recovered."""
from contextlib import ExitStack
import csv
from fractions import Fraction
import io
import json
import os
from pathlib import Path
import shutil
import sqlite3
import subprocess
import sys

from ledgers import change, loss, make_ledger, put_back_older_copy
import pytest
from refusals import refused
from symdp_ros import BudgetError, LedgerError
from symdp_ros.cli.main import main
from symdp_ros.core.accounting import response_rho
from symdp_ros.ledger.entry import new_charge, written
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover
from symdp_ros.ledger.storage.mark import Mark

ROOT = Path(__file__).resolve().parents[2]
PAGE = 4096  # bytes, of SQLite


@pytest.fixture
def path(tmp_path):
    """Return a ledger that has spent 2 of 3."""
    make_ledger(tmp_path / 'a.ledger', 2)
    return tmp_path / 'a.ledger'


def charge(ledger, log_id='new.csv', epsilon=1, **more):
    return ledger.charge('r1', loss(epsilon), log_id=log_id, settings='s', description='{}',
                         **more)


def flip_epsilons(path):
    """Make the charges cheaper by a bit in each ε: 1 becomes 0."""
    content = path.read_bytes()
    change(path, "UPDATE charges SET epsilon = '0' WHERE kind = 'charge'")
    assert path.read_bytes() != content


DAMAGES = {
    'older copy': put_back_older_copy,
    'removed': lambda path: path.unlink(),
    'emptied': lambda path: path.write_bytes(b''),
    'another file': lambda path: path.write_text('Dear Sir'),
    'another database': lambda path: (path.unlink(), change(path, 'CREATE TABLE x (y)')),
    'another ledger': lambda path: (path.unlink(), path.with_name('a.ledger.mark').rename(
        path.with_name('kept')), make_ledger(path, 1), path.with_name('kept').rename(
        path.with_name('a.ledger.mark'))),
    'cheaper': flip_epsilons,
    'other k': lambda path: change(path, 'UPDATE charges SET adjacency = 1000 WHERE number = 2'),
    'larger budget': lambda path: change(
        path, "UPDATE charges SET epsilon = '9' WHERE number = 1"),
    'of another subject': lambda path: change(path, "UPDATE charges SET subject = 'r2'"),
    'a charge less': lambda path: change(path, 'DELETE FROM charges WHERE number = 2'),
    'another kind of charge': lambda path: change(
        path, "UPDATE charges SET kind = 'recovery' WHERE number = 2"),
    'no key': lambda path: change(path, "UPDATE ledger SET key = x'00'"),
    'another key': lambda path: change(path, 'UPDATE ledger SET key = randomblob(32)'),
    'another version': lambda path: change(path, 'UPDATE ledger SET version = 3'),
    'no version': lambda path: change(path, 'UPDATE ledger SET version = -126'),
    'no head': lambda path: change(path, 'DELETE FROM ledger'),
    'a file less': lambda path: change(path, 'DELETE FROM files WHERE number = 2'),
    'another file of it': lambda path: change(path, "UPDATE files SET digest = 'e'"),
    'cut off': lambda path: path.write_bytes(path.read_bytes()[:9000]),
    'a damaged mark': lambda path: path.with_name('a.ledger.mark').write_text('damaged'),
    'an empty mark': lambda path: path.with_name('a.ledger.mark').write_bytes(b''),
    'a cheaper mark': lambda path: path.with_name('a.ledger.mark').write_text(
        path.with_name('a.ledger.mark').read_text().replace('"spent": "2"', '"spent": "1"')),
}


#: Of a kind with others.
FURTHER = {'another database', 'other k', 'larger budget', 'of another subject', 'another key',
           'another kind of charge', 'no version', 'another file of it', 'an empty mark'}


@pytest.mark.parametrize('name', [pytest.param(
    name, marks=[pytest.mark.thorough] * (name in FURTHER)) for name in DAMAGES])
def test_what_is_damaged_is_not_charged_and_then_recovered(path, name, capsys):
    DAMAGES[name](path)
    for create in (True, False):
        with refused(LedgerError, f'symdp ledger {path} --recover', damaged=True):
            with Ledger(path, create=create) as ledger:
                assert ledger.problems() != []
                charge(ledger, epsilon='0.001')
    with refused(LedgerError, damaged=True):
        with Ledger(path) as ledger:
            ledger.check('r1', loss(), 'new.csv')
    with refused(LedgerError, damaged=True):
        with Ledger(path) as ledger:
            ledger.set_budget('r1', Fraction(9))
    assert main(['ledger', str(path)]) == 1 and capsys.readouterr().err
    before = path.read_bytes() if path.exists() else b''
    assert main(['ledger', str(path), '--recover']) == 0, capsys.readouterr().err
    answer = capsys.readouterr()
    assert answer.err.startswith('symdp ledger: found: ') and 'verified' in answer.out
    kept = list(path.parent.glob('a.ledger.damaged-*'))
    assert [file.read_bytes() for file in kept] == ([before] if before else [])
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in [*kept, path])
    spent = 3 if name == 'older copy' else 2
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == spent and ledger.account('r1').budget == 3
        assert ledger.problems() == []
        *_, note = [entry for entry in ledger.entries() if entry.kind == 'recovery']
        assert any('found: ' in said for said in note.described['said'])
        with pytest.raises(BudgetError):
            charge(ledger, epsilon=4 - spent)
        charge(ledger, epsilon=3 - spent)
        assert ledger.spent('r1') == 3 and ledger.problems() == []


@pytest.mark.parametrize('statements, marked', [
    # as another version may seal its charges, add columns, or name its tables
    (["UPDATE charges SET seal = x'00'"], True),
    (['ALTER TABLE ledger ADD COLUMN more', 'ALTER TABLE charges ADD COLUMN more',
      'UPDATE charges SET seal = randomblob(32)'], False),
    (['ALTER TABLE charges RENAME TO entries'], True), (['DELETE FROM charges'], False)])
def test_a_ledger_of_a_newer_version_is_left_as_it_is(path, statements, marked, capsys):
    change(path, 'UPDATE ledger SET version = 3', *statements)
    if not marked:
        path.with_name('a.ledger.mark').unlink()
    before = path.read_bytes()
    with refused(LedgerError, 'has the version 3, and this program knows 2', damaged=False):
        Ledger(path)
    for told in ([], ['--spent-at-least', 'r1', '3']):
        assert main(['ledger', str(path), '--recover', *told]) == 1
        assert capsys.readouterr().err == (
            f'symdp ledger: ledger {path} has the version 3, and this program knows 2: update '
            'symdp_ros\n')
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} <= {path.name, 'a.ledger.mark'}


def test_an_older_copy_that_is_recovered_counts_what_it_has_forgotten(path):
    put_back_older_copy(path)
    said = recover(path, {})
    assert any('the mark says that 3 was spent; 1 more is counted' in one for one in said)
    with Ledger(path) as ledger:
        assert ledger.spent('r1', '0.csv') == 2  # the lost charge may have been of any log
        assert ledger.find('r1', 'third.csv', 's') is None  # and a log that was lost is a new one
        assert ledger.find('r1', '0.csv', 's').words == (('dock',) * 20,)
        assert [str(file.path) for file in ledger.files.all()] == ['/out/2', '/out/3']
        with pytest.raises(BudgetError):
            charge(ledger, 'third.csv')


def test_a_copy_that_went_on_elsewhere_is_recovered_with_both(path):
    """A copy was charged on another machine, and then put back without its mark."""
    copy = path.with_name('elsewhere')
    shutil.copy(path, copy)
    shutil.copy(f'{path}.mark', f'{copy}.mark')
    with Ledger(copy) as ledger:
        charge(ledger, 'elsewhere.csv', Fraction(1, 2))
    with Ledger(path) as ledger:
        charge(ledger, 'here.csv')
    path.write_bytes(copy.read_bytes())
    recover(path, {})
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == 3  # the most of 2.5 and 3; the operator may say 3.5
        assert ledger.find('r1', 'elsewhere.csv', 's') is not None
    assert main(['ledger', str(path), '--spent-at-least', 'r1', '3.5']) == 0
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == Fraction('3.5')


@pytest.mark.parametrize('damage', [flip_epsilons, DAMAGES['cut off'], DAMAGES['another file']])
def test_where_nothing_tells_what_was_spent_the_operator_says_it(path, damage, capsys):
    damage(path)
    path.with_name('a.ledger.mark').unlink()
    before = path.read_bytes()
    assert main(['ledger', str(path), '--recover']) == 1
    assert '--spent-at-least SUBJECT EPSILON' in capsys.readouterr().err
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
    assert main(['ledger', str(path), '--recover', '--spent-at-least', 'r1', '2.5',
                 '--set-budget', 'r1', '3']) == 0
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == Fraction('2.5') and ledger.account('r1').budget == 3


def test_nothing_to_recover(path, tmp_path):
    before = path.read_bytes()
    assert recover(path, {}) == ['nothing is wrong with the ledger']
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 2
    with refused(LedgerError, 'there is no ledger', damaged=False):
        recover(tmp_path / 'nowhere', {'r1': Fraction(1)})
    assert not (tmp_path / 'nowhere').exists()
    (tmp_path / 'folder').mkdir()
    with refused(LedgerError, 'cannot be recovered: Is a directory', damaged=False):
        recover(tmp_path / 'folder', {})


@pytest.mark.parametrize('is_older', [True, False])
def test_a_ledger_without_its_mark_is_not_charged(path, is_older, capsys):
    """A backup of one file was put back, or the mark was removed: charges may be missing."""
    mark, backup = path.with_name('a.ledger.mark'), path.read_bytes()
    if is_older:
        with Ledger(path) as ledger:
            charge(ledger)
        path.write_bytes(backup)
    mark.unlink()
    for _ in range(2):
        with refused(LedgerError, 'a.ledger.mark is missing', damaged=True):
            with Ledger(path) as ledger:
                charge(ledger, 'again.csv', '0.1')
        with refused(LedgerError, 'is missing', damaged=True), Ledger(path) as ledger:
            ledger.keep_budget('r2', 5.0)
    assert main(['ledger', str(path)]) == 1 and not mark.exists()
    out, err = capsys.readouterr()
    assert 'a.ledger.mark is missing' in err and 'verified' not in out
    assert main(['ledger', str(path), '--recover']) == 1 and path.read_bytes() == backup
    assert '--spent-at-least SUBJECT EPSILON' in capsys.readouterr().err
    assert main(['ledger', str(path), '--recover', '--spent-at-least', 'r1', '3']) == 0
    with Ledger(path) as ledger, pytest.raises(BudgetError):
        charge(ledger, 'again.csv', '0.1')


def test_a_ledger_without_entries_needs_no_mark(tmp_path):
    path = tmp_path / 'a.ledger'
    for _ in range(2):
        with Ledger(path) as ledger:
            assert ledger.problems() == [] and not Path(f'{path}.mark').exists()
    with Ledger(path) as ledger:
        charge(ledger)
        assert ledger.problems() == []


def test_a_first_charge_that_is_killed_leaves_a_ledger(tmp_path):
    """The mark stands before the first entry: without that, it would be missing."""
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger, pytest.raises(RuntimeError):
        with ledger.charging('r1') as make:
            make(new_charge(loss(), 's', '{}'))
            raise RuntimeError
    assert Mark.read(Path(f'{path}.mark')).number == 0
    path.unlink()  # it showed no charge: nothing is lost
    with Ledger(path) as ledger:
        charge(ledger)
        assert ledger.problems() == []


def test_without_a_place_for_its_mark_a_ledger_is_not_begun(tmp_path):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        Path(f'{path}.mark').mkdir()
        with refused(LedgerError, 'a.ledger.mark', damaged=True):
            charge(ledger)
        assert ledger.entries() == []


def test_what_another_subject_lost_is_found_when_it_is_charged(path):
    """A charge reads the entries of its own subject alone, and all after the mark's."""
    with Ledger(path) as ledger:
        ledger.charge('r2', loss(), settings='s', description='{}')
    change(path, "UPDATE charges SET epsilon = '0' WHERE subject = 'r1' AND kind = 'charge'")
    with Ledger(path) as ledger:
        ledger.charge('r2', loss(), settings='s', description='{}')
        with refused(LedgerError, 'charge 2, or the one before it, was changed', damaged=True):
            charge(ledger)
    with Ledger(path) as ledger:
        assert ledger.problems() != []


@pytest.mark.parametrize('change_of', [
    "UPDATE charges SET subject = 'r2' WHERE number = 2", 'DELETE FROM charges WHERE number = 3',
    "UPDATE charges SET subject = 'r2' WHERE number = 1"])
@pytest.mark.parametrize('log_id', [None, 'new.csv'])
def test_what_is_missing_of_a_subject_is_noticed_before_it_is_charged(path, change_of, log_id):
    with Ledger(path) as ledger:
        ledger.charge('r3', loss(), settings='s', description='{}')
    change(path, change_of)
    with Ledger(path) as ledger, refused(LedgerError, damaged=True):
        charge(ledger, log_id)
    with Ledger(path) as ledger, refused(LedgerError, damaged=True):
        ledger.check('r1', loss(), log_id)


def test_many_subjects_are_read_at_once(tmp_path):
    names = [f'r{i}' for i in range(9)]
    with Ledger(tmp_path / 'a.ledger') as ledger:
        ledger.keep_budgets(names, 2.0)
        for name in names:
            ledger.charge(name, loss(), log_id='a', settings='s', description='{}')
    with Ledger(tmp_path / 'a.ledger') as ledger:
        assert set(ledger.find_all(names, 'a', 's')) == set(names)
        assert ledger.check_all(dict.fromkeys(names, loss(2))).keys() == set(names)
        assert ledger.subjects() == names and ledger.problems() == []


HOLDER = """
import sys
from symdp_ros.ledger.ledger import Ledger
with Ledger(sys.argv[1]) as ledger:
    ledger.problems()
    print('open', flush=True)
    sys.stdin.read()
"""


def test_a_ledger_that_is_in_use_is_not_recovered(path):
    put_back_older_copy(path)
    with subprocess.Popen([sys.executable, '-c', HOLDER, path], cwd=ROOT, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == 'open\n'
        with refused(LedgerError, 'another program has the ledger', damaged=False):
            recover(path, {})
        holder.stdin.close()
    assert holder.returncode == 0
    recover(path, {})
    with Ledger(path) as ledger:
        assert ledger.problems() == []


def test_a_ledger_that_is_replaced_while_it_is_open_is_not_charged(path):
    with Ledger(path) as ledger:
        charge(ledger, epsilon='0.5')
        shutil.copy(path, path.with_name('copy'))
        path.with_name('copy').rename(path)
        with refused(LedgerError, 'was replaced or removed while it was open', damaged=False):
            charge(ledger, 'b', '0.5')
    path.unlink()


def test_what_changes_while_it_is_open_is_noticed(path):
    with Ledger(path) as ledger:
        assert ledger.problems() == []
        change(path, 'DELETE FROM charges WHERE number = 3')
        with refused(LedgerError, 'charge 3 was changed or removed', damaged=True):
            charge(ledger)


def test_sums_do_not_go_by_an_index(path):
    with sqlite3.connect(path) as db:
        assert [name for name, in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'charges'")] == []
    db.close()


def test_a_damaged_index_is_a_problem(path):
    change(path, 'PRAGMA writable_schema = ON',
           'UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE '
           "name = 'charges') WHERE name = 'sqlite_autoindex_files_1'")
    with refused(LedgerError, damaged=True):
        with Ledger(path) as ledger:
            assert ledger.problems() != []
            charge(ledger)


@pytest.mark.parametrize('page, opens', enumerate([False, False, True, True, True]))
def test_a_damaged_page_is_a_problem_whenever_it_is_read(path, page, opens):
    content = path.read_bytes()
    assert len(content) == 5 * PAGE
    path.write_bytes(content[:page * PAGE] + b'\xff' * PAGE + content[(page + 1) * PAGE:])
    with ExitStack() as stack:
        stack.enter_context(refused(LedgerError, damaged=True))
        ledger = stack.enter_context(Ledger(path))
        assert opens and ledger.account('r1').delta is None  # it can be looked at
        problems = ledger.problems()
        assert problems and problems == ledger.problems()
        charge(ledger)
    recover(path, {})
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == 2 and ledger.problems() == []


@pytest.mark.parametrize('option', [[], ['--remaining']])
@pytest.mark.parametrize('form', ['json', 'csv'])
def test_charges_in_disorder_are_shown(path, form, option, capsys):
    with sqlite3.connect(path) as db:
        [(root,)] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'charges'")
    db.close()
    content = bytearray(path.read_bytes())
    page = (root - 1) * PAGE
    cell = page + int.from_bytes(content[page + 8:page + 10], 'big')
    number = cell + 1  # after the size, which takes a byte where it is short
    assert content[number] == 1  # the budget, before the two charges
    content[number] = 33
    path.write_bytes(content)
    assert main(['ledger', str(path), *option]) == 1
    assert 'its charges are in disorder' in capsys.readouterr().err
    assert main(['ledger', str(path), *option, '--export', form]) == 1
    out, err = capsys.readouterr()
    assert 'its charges are in disorder' in err
    rows = json.loads(out) if form == 'json' else list(csv.DictReader(io.StringIO(out)))
    if option:
        assert [(row['subject'], row['unit'], row['spent']) for row in rows] == [('r1', '', '0')]
    else:
        assert [(str(row['number']), row['cost'], row['unit'], row['rho']) for row in rows] == [
            (charge, '1', 'changes of up to 1 symbol (sampling: message)',
             written(response_rho(Fraction(1))))
            for charge in ('2', '3')]


@pytest.mark.parametrize('marked', ['', 'damaged'])
@pytest.mark.parametrize('said, damage', [
    ('gone', Path.unlink), ('empty', lambda path: path.write_bytes(b''))])
def test_no_new_ledger_takes_the_place_of_one_that_is_lost(path, said, damage, marked):
    if marked:
        path.with_name('a.ledger.mark').write_text(marked)
    damage(path)
    with refused(LedgerError, f'is {said}, and a.ledger.mark shows that it held', damaged=True):
        Ledger(path)
    assert not path.exists() or path.read_bytes() == b''


@pytest.mark.parametrize('statement', ["UPDATE ledger SET key = 'text'",
                                       "UPDATE ledger SET id = x'00'"])
def test_a_key_and_an_id_of_another_type_are_damage(path, statement):
    change(path, statement)
    with refused(LedgerError, 'is damaged', damaged=True):
        Ledger(path)


def test_a_failure_without_words_is_named_by_its_type(path):
    with Ledger(path) as ledger, refused(LedgerError, '(MemoryError)', damaged=True):
        with ledger._database.errors():  # a damaged length makes SQLite ask for far too much
            raise MemoryError


def test_what_is_interrupted_is_not_damaged(path):
    with Ledger(path) as ledger:
        database = ledger._database._db
        for _ in range(2):  # at the first reading, and at a later one
            database.set_progress_handler(lambda: 1, 1)
            with refused(LedgerError, 'cannot be used: interrupted', damaged=False):
                charge(ledger)
            database.set_progress_handler(None, 1)
            ledger.check('r1', loss(), 'new.csv')
            assert ledger.problems() == []
        charge(ledger)
        assert ledger.spent('r1') == 3


def test_a_disk_that_is_full_leaves_the_ledger_as_it_is(path):
    put_back_older_copy(path)
    before = path.read_bytes()
    run = subprocess.run([sys.executable, '-c', (
        'import resource, sys\nfrom symdp_ros.cli.main import main\n'
        'resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n'
        'sys.exit(main(["ledger", sys.argv[1], "--recover"]))'), path], cwd=ROOT, text=True,
        capture_output=True, timeout=120,
        # Not measured by `make coverage`, whose own file would be cut.
        env={**os.environ, 'COVERAGE_PROCESS_CONFIG': ''})
    assert run.returncode == 1 and 'cannot be' in run.stderr and 'Traceback' not in run.stderr
    assert path.read_bytes() == before
    recover(path, {})


def test_the_command_line(path, capsys):
    assert main(['ledger', str(path), '--set-budget', 'r1', '2.5', '--spent-at-least', 'r2',
                 '0.3']) == 0
    out = capsys.readouterr().out
    for text in ('budget: 3', 'budget: 2.5', 'also spent: 0.3',
                 'r1 has spent ε = 2 of 2.5, for changes of up to 1 symbol (sampling: message)',
                 'r2 has spent ε = 0.3\n'):
        assert text in out
    assert main(['ledger', str(path), '--set-budget', 'r1', '0']) == 0
    assert 'budget: no limit' in capsys.readouterr().out
    for value in ('-1', 'nan', 'inf', 'much', '1e999', ''):
        assert main(['ledger', str(path), '--set-budget', 'r1', value]) == 1
        assert 'is no ε' in capsys.readouterr().err
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(1, 3), log_id='c', settings='s', description=json.dumps(
            {'mechanism': 'causal', 'policy': 'guided'}))
    assert main(['ledger', str(path)]) == 0
    [row] = [line.split() for line in capsys.readouterr().out.splitlines() if ' c ' in line]
    assert row[3:] == ['c', '0', '1', '3', '1/3', '(about', 'causal', 'guided'] or '1/3' in row
    assert main(['ledger', str(path), '--export', 'json']) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row['epsilon'], row['adjacency'], row['cost']) for row in rows] == [
        ('1', 1, '1'), ('1', 1, '1'), ('1', 3, '1/3')]


def test_of_many_subjects_a_summary_is_printed(tmp_path, capsys):
    path, names = tmp_path / 'a.ledger', [f'r{i}' for i in range(21)]
    with Ledger(path) as ledger:
        ledger.keep_budgets(names[:15], 4.0)
        for i, name in enumerate(names):
            ledger.charge(name, loss(4 if name == 'r20' else i % 4), log_id=f'log {i}',
                          settings='s', description='{}')
    assert main(['ledger', str(path)]) == 0
    out = capsys.readouterr().out
    assert '21 subjects, of which 15 have a budget. The most that one has spent: r20 has' in out
    listed = [line.split()[0] for line in out.splitlines() if 'changes of up to' in line]
    assert listed[1:4] == ['r11', 'r3', 'r7'] and len(listed) == 11 and 'log 3' not in out
    assert 'verified; charges: 21' in out
    assert main(['ledger', str(path), '--subject', 'r3']) == 0
    out = capsys.readouterr().out
    assert 'log 3' in out and 'log 4' not in out and 'r3 has spent' in out
    assert main(['ledger', str(path), '--subject', 'r3', '--export', 'json']) == 0
    assert [row['subject'] for row in json.loads(capsys.readouterr().out)] == ['r3']
    assert main(['ledger', str(path), '--subject', 'r99']) == 1
    assert 'knows no subject' in capsys.readouterr().err
