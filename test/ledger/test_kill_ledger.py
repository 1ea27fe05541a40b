# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recoveries that are killed at any moment: no spend is lost, and the next one goes through."""
import random
import shutil

from forked import forked, KILL_AT
from ledgers import loss, make_ledger, put_back_older_copy
from long_runs import first_seed, KILL_ROUNDS, report
import pytest
from symdp_ros import BudgetError, LedgerError
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover

KILLED = KILL_AT + """
from symdp_ros.ledger.recovery import recover
def run(path, moment):
    return kill_at(moment, lambda: recover(path, {}), 'ledger')
"""

BETWEEN = """
import os, signal
from symdp_ros.ledger import recovery
def run(path):
    begun = []
    def killed_second(step, ends):
        def begin(*arguments):
            if str(arguments[-1]).endswith(ends):
                if begun:
                    os.kill(os.getpid(), signal.SIGKILL)
                begun.append(step)
            step(*arguments)
        return begin
    recovery._overwrite = killed_second(recovery._overwrite, '')
    os.replace = killed_second(os.replace, path + '.mark')
    recovery.recover(path, {})
"""


@pytest.fixture
def recovering():
    with forked(KILLED) as run:
        yield run


def test_a_recovery_that_is_killed_loses_no_spend(tmp_path, recovering):
    path = tmp_path / 'a.ledger'
    make_ledger(path, 2)
    put_back_older_copy(path)
    place = tmp_path / 'killed' / path.name

    def child(moment):
        shutil.rmtree(place.parent, ignore_errors=True)
        place.parent.mkdir()
        for name in (path.name, f'{path.name}.mark'):
            shutil.copy(path.with_name(name), place.with_name(name))
        return recovering(place, moment)

    calls = 10**9 - int(child(10**9)[1])
    seed = first_seed()
    print(f'SYMDP_TEST_SEED={seed}')
    chance = random.Random(seed)
    # What matters most comes last: the ledger is cut, written, flushed, and then the mark moved.
    moments = [calls - before for before in (189, 16, 15, 14, 12, 3)]
    moments += chance.sample(range(1, calls), 2 * KILL_ROUNDS)
    assert calls > 100
    for moment in moments:
        assert child(moment)[0] == -9
        with pytest.raises((BudgetError, LedgerError)), Ledger(place) as ledger:
            ledger.charge('r1', loss(), settings='s', description='{}')
        recover(place, {})
        with Ledger(place) as ledger:
            assert ledger.problems() == [] and ledger.spent('r1') == 3
        left = {file.name for file in place.parent.iterdir() if 'damaged' not in file.name}
        assert left == {path.name, f'{path.name}.mark'}
    report(f'{len(moments)} kills', 'nothing lost')


@pytest.mark.parametrize('cause', ['is damaged', 'looks rolled back'])
def test_between_ledger_and_mark_a_killed_recovery_has_said_what_it_found(tmp_path, cause):
    """The mark follows the ledger: one that is ahead of it would give a false cause."""
    path = tmp_path / 'a.ledger'
    make_ledger(path, 2)
    put_back_older_copy(path)
    mark = path.with_name(f'{path.name}.mark')
    if cause == 'is damaged':
        mark.write_bytes(mark.read_bytes()[:-9])
    before = mark.read_bytes()
    with forked(BETWEEN) as run:
        assert run(path)[0] == -9
    assert mark.read_bytes() == before
    with Ledger(path) as ledger:
        [said] = ledger.entries(kind='recovery')
        assert cause in said.description
        with pytest.raises((BudgetError, LedgerError)):
            ledger.charge('r1', loss(), settings='s', description='{}')
    recover(path, {})
    with Ledger(path) as ledger:
        assert ledger.problems() == [] and said in ledger.entries(kind='recovery')
        assert ledger.spent('r1') == (2 if cause == 'is damaged' else 3)
