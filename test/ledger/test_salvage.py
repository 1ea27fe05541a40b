# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a recovery keeps of a damaged ledger, and what it takes from its mark."""
from fractions import Fraction
import sqlite3

from ledgers import change, loss, make_ledger, put_back_older_copy
import pytest
from refusals import refused
from symdp_ros import LedgerError
from symdp_ros.ledger import recovery
from symdp_ros.ledger.entry import new_charge
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover

PAGE = 4096  # bytes, of SQLite
ROWS = 480   # about one on a page: the file is larger than what is copied at once


@pytest.fixture
def path(tmp_path):
    """Return a ledger that has spent 2 of 3."""
    make_ledger(tmp_path / 'a.ledger', 2)
    return tmp_path / 'a.ledger'


def cheaper(path):
    change(path, "UPDATE charges SET epsilon = '0' WHERE number = 2")


def head(path):
    with Ledger(path) as ledger:
        return ledger.id, ledger.fingerprint([['dock']])


def test_rows_before_after_and_between_damaged_pages_are_kept(tmp_path):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger, ledger.charging('r1') as make:
        for i in range(1, ROWS + 1):
            make(new_charge(loss(), 's', '{}', f'log {i} ends here',
                            content=bytes([i % 256]) * 3000))
    content = bytearray(path.read_bytes())
    assert len(content) > 1 << 20
    lost = {ROWS // 3, ROWS // 2}
    for i in lost:
        page = content.index(b'log %d ends here' % i) // PAGE
        content[page * PAGE:(page + 1) * PAGE] = b'\xff' * PAGE
    path.write_bytes(content)
    recover(path, {})
    with Ledger(path) as ledger:
        kept = [int(entry.log_id.split()[1]) for entry in ledger.charges()]
        assert ledger.problems() == [] and ledger.spent('r1') == ROWS
    missing = {*range(1, ROWS + 1)} - {*kept}
    assert lost <= missing and len(missing) <= 4 and kept == sorted(kept)


def test_a_large_ledger_is_put_back_whole(tmp_path):
    path = tmp_path / 'a.ledger'
    words = [[f'{i * 7919 % 65537:x}' for i in range(400_000)]]
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(), log_id='a.csv', settings='s', description='{}', words=words)
    assert path.stat().st_size > 1 << 20
    put_back_older_copy(path)
    recover(path, {})
    with Ledger(path) as ledger:
        assert ledger.problems() == [] and ledger.spent('r1') == 2
        assert ledger.find('r1', 'a.csv', 's').words == tuple(map(tuple, words))


@pytest.mark.parametrize('damage', [cheaper, put_back_older_copy])
def test_it_has_its_id_and_its_key_afterwards(path, damage):
    before = head(path)
    damage(path)
    recover(path, {})
    assert head(path) == before


@pytest.mark.parametrize('damage, keeps_key', [
    ("id = 'another'", True), ("id = x'00'", False), ("key = 'text'", False)])
def test_an_id_that_was_changed_is_that_of_the_mark(path, damage, keeps_key):
    identity, fingerprint = head(path)
    change(path, f'UPDATE ledger SET {damage}')
    recover(path, {})
    found = head(path)
    assert found[0] == identity and (found[1] == fingerprint) == keeps_key


def test_of_another_ledger_s_mark_the_id_is_not_taken(path, tmp_path):
    (tmp_path / 'other').mkdir()
    make_ledger(tmp_path / 'other' / 'a.ledger')
    before = head(path)
    (tmp_path / 'other' / 'a.ledger.mark').replace(tmp_path / 'a.ledger.mark')
    recover(path, {})
    assert head(path) == before


@pytest.mark.parametrize('damage', [
    "path = x'00'", "staged = x'00'", "digest = x'00'", "number = 'one'"])
def test_a_damaged_row_of_files_is_left_out(path, damage):
    change(path, f"UPDATE files SET {damage} WHERE path = '/out/3'")
    recover(path, {})
    with Ledger(path) as ledger:
        assert [str(file.path) for file in ledger.files.all()] == ['/out/2']
        assert ledger.problems() == [] and len(ledger.charges()) == 2


@pytest.mark.parametrize('spent', [
    loss(1, 2), loss(1, 2, zones='3f'), loss(1, 3, sampling='period', period=10, seconds=20),
    None], ids=str)
def test_units_are_those_of_the_mark(tmp_path, spent):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        if spent is None:
            ledger.keep_budget('r1', 5.0)
        else:
            ledger.charge('r1', spent, settings='s', description='{}', subject_budget=5.0)
        before = ledger.account('r1')
    path.unlink()
    assert recover(path, {})[0] == 'found: the ledger is gone or empty'
    assert path.stat().st_mode & 0o777 == 0o600
    with Ledger(path) as ledger:
        after, entries = ledger.account('r1'), ledger.entries()
        assert ledger.problems() == []
    assert (after.unit, after.spent(), after.budget) == (before.unit, before.spent(), 5)
    units = [entry for entry in entries if entry.kind == 'unit']
    assert [entry.epsilon for entry in units] == ['0'] * (spent is not None)


def test_what_is_not_wrong_is_not_said(path):
    cheaper(path)
    report = recover(path, {})
    assert len([line for line in report if line.startswith('found: ')]) == 1  # not the mark
    assert any('the mark says that 2 was spent; 1 more is counted' in line for line in report)
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(1), log_id='b.csv', settings='s', description='{}')
    change(path, "UPDATE charges SET content = x'00' WHERE number = 1")
    report = recover(path, {})
    assert not any('the mark says' in line for line in report)  # no ε is missing, and no ρ
    with Ledger(path) as ledger:
        assert not any(entry.kind == 'unit' for entry in ledger.entries())


def test_without_a_mark_what_is_sound_is_left_and_an_empty_database_is_no_ledger(path, tmp_path):
    path.with_name('a.ledger.mark').unlink()
    [found, kept, *_] = recover(path, {'r1': Fraction(0)})
    assert found.startswith('found: a.ledger.mark is missing')
    assert recover(path, {}) == ['nothing is wrong with the ledger']
    empty = tmp_path / 'empty.ledger'
    with sqlite3.connect(empty) as db:
        db.execute('PRAGMA user_version = 1')
    db.close()
    with refused(LedgerError, 'no mark shows what was spent', damaged=False):
        recover(empty, {})
    recover(empty, {'r1': Fraction(1, 2)})
    with Ledger(empty) as ledger:
        assert ledger.spent('r1') == Fraction(1, 2)


def test_copies_are_made_in_a_folder_that_nobody_else_can_enter(path):
    with recovery._folder(path) as place:
        assert place.stat().st_mode & 0o777 == 0o700
    assert not place.exists()
