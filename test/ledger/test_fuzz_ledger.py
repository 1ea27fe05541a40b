# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Damaged ledgers.

Nothing is spent beyond the budget, every error is one of ours, and a recovery counts what the mark
lists.
"""
import contextlib
from datetime import datetime
import io
import os
import shutil

from ledgers import damage, loss, make_ledger
from long_runs import fuzz
import pytest
from symdp_ros import SymdpError
from symdp_ros.cli.main import main
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover
from symdp_ros.ledger.storage import entries

MARK = 'a.ledger.mark'


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Give folders with a ledger that has spent `spent` of 3, by kind and spent."""
    base, folders = tmp_path_factory.mktemp('whole'), {}
    with pytest.MonkeyPatch.context() as patch:  # the same bytes in every run
        patch.setattr(os, 'urandom', lambda size: bytes(range(size)))
        patch.setattr(entries, 'datetime', Clock)
        _make(base, folders)
    assert (folders['killed', 3] / 'a.ledger-wal').stat().st_size > 0
    return folders


class Clock:
    """Stands for `datetime`."""

    @staticmethod
    def now(zone):
        return datetime(2026, 1, 1, tzinfo=zone)


def _make(base, folders):
    for spent in (2, 3):
        folders['new', spent] = base / f'new-{spent}'
        folders['new', spent].mkdir()
        make_ledger(folders['new', spent] / 'a.ledger', spent)
        # The charges are in the log beside the file.
        folders['killed', spent] = base / f'killed-{spent}'
        (base / f'open-{spent}').mkdir()
        make_ledger(base / f'open-{spent}' / 'a.ledger', spent, folders['killed', spent])


def test_damaged_ledgers(whole, tmp_path):
    def case(chance):
        (kind, spent), folder = chance.choice(sorted(whole.items()))
        place = tmp_path / 'place'
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        names = sorted(path.name for path in place.iterdir())
        damaged = chance.choice([*names, 'a.ledger'])
        print(f'{kind}, spent: {spent}, damaged: {damaged}')
        if chance.randrange(20) == 0:
            (place / damaged).unlink()
        else:
            (place / damaged).write_bytes(damage((place / damaged).read_bytes(), chance))
        arguments = chance.choice([[], [], ['--export', 'json'], ['--export', 'csv']])
        told = {} if damaged != MARK and chance.randrange(2) else {'r1': 3}
        check(place / 'a.ledger', spent, arguments, told)

    fuzz(case)


def check(path, spent, arguments, told):
    """
    Use a damaged ledger in every way, and recover it.

    :param arguments: of `symdp ledger`.
    :param told: what the operator says was spent; nothing, where the mark tells it.
    """
    with contextlib.suppress(SymdpError), Ledger(path) as ledger:
        for look in (ledger.problems, ledger.charges, ledger.files.all, ledger.subjects,
                     lambda: str(ledger.account('r1')), lambda: ledger.files.has_path('/out/2'),
                     lambda: (found := ledger.find('r1', '0.csv', 's')) and found.words,
                     lambda: ledger.files.set_visible('/out/2')):
            with contextlib.suppress(SymdpError):
                look()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(['ledger', str(path), *arguments]) in (0, 1)
    spent += spend(path)
    assert spent <= 3
    for sentence in recover(path, told):
        assert sentence
    with Ledger(path, create=False) as ledger:
        assert ledger.problems() == [] and ledger.spent('r1') >= spent
    assert spent + spend(path) <= 3


def spend(path):
    """Try to spend 1 twice, of a budget of 3; return what was spent."""
    spent = 0
    for i in range(2):
        with contextlib.suppress(SymdpError), Ledger(path) as ledger:
            spent += ledger.charge('r1', loss(), log_id=f'new-{i}.csv', settings='s',
                                   description='{}', subject_budget=3.0)[1]
    return spent
