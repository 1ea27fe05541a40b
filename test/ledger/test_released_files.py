# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a ledger that says where each released file is, or is to be."""
from pathlib import Path

from ledgers import change, loss
import pytest
from refusals import refused
from symdp_ros import LedgerError
from symdp_ros.ledger.storage.database import LedgerFile


@pytest.fixture
def files(ledger):
    """Give the files of a ledger with two charges."""
    for number, names in (1, ['/out/a', '/out/b', '/out/further/c']), (2, ['/out-2/d', '/out/e']):
        ledger.charge('r1', loss(), log_id=f'{number}.csv', settings='s', description='{}',
                      files=[LedgerFile(0, Path(name), Path(f'/staged{name}'), 'd', False)
                             for name in names])
    return ledger.files


def test_charges_are_counted_by_the_directory_of_their_files(files):
    found = {name: files.charges_in(Path(name)) for name in (
        '/out', '/out/further', '/out-2', '/ou', '/', '/elsewhere')}
    assert found == {'/out': 2, '/out/further': 1, '/out-2': 1, '/ou': 0, '/': 0, '/elsewhere': 0}


def test_a_file_that_was_lost_is_staged_again(files, ledger):
    files.set_visible(Path('/out/a'), Path('/out/b'))
    assert [file.path.name for file in files.hidden()] == ['c', 'd', 'e']
    files.change(Path('/out/a'), path=Path('/out/a-2'), staged=Path('/staged/2'), digest='e',
                 visible=False)
    again = LedgerFile(1, Path('/out/a-2'), Path('/staged/2'), 'e', False)
    assert again in files.hidden() and again in files.of(1) and not files.has_path(Path('/out/a'))
    assert ledger.problems() == []


@pytest.mark.parametrize('column', ['path', 'staged', 'digest'])
def test_a_damaged_row_is_not_used(files, ledger, column):
    change(ledger.path, f"UPDATE files SET {column} = x'00' WHERE path = '/out/e'")
    with refused(LedgerError, 'the files of charge 2', damaged=True):
        files.of(2)
    assert len(files.of(1)) == 3
