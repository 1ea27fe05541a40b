# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The budget of a subject is kept in the ledger, and what is refused says what would be spent."""
from fractions import Fraction
import json
from pathlib import Path
import shlex
import subprocess
import sys

from ledgers import loss
import pytest
from refusals import refused
from symdp_ros import BudgetError
from symdp_ros.cli.main import main
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.entries import LedgerEntries

ROOT = Path(__file__).resolve().parents[2]


def charge(ledger, epsilon=1, log_id='a', description='{}', **more):
    return ledger.charge('r1', loss(epsilon), log_id=log_id, settings=f'{epsilon}',
                         description=description, **more)


def test_a_budget_that_was_named_once_holds(ledger):
    charge(ledger, 4, subject_budget=5.0)
    with refused(BudgetError, subject='r1', log_id=None, limit=5, spent=4, left=1, cost=2) as says:
        charge(ledger, 2, 'b')
    assert str(says.value) == ("the subject_budget of 'r1' is 5: 4 of it is spent, 1 is left, and "
                               'this costs 2 more')
    with Ledger(ledger.path) as other:
        assert other.account('r1').budget == 5
        with refused(BudgetError, limit=5):
            other.check('r1', loss(2), 'b')
        charge(other, 1, 'b', subject_budget=5.0)
    assert ledger.spent('r1') == 5


def test_another_budget_in_passing_is_refused(ledger):
    charge(ledger, subject_budget=5.0)
    for other in 6, 4:
        for attempt in (lambda: charge(ledger, 1, 'b', subject_budget=float(other)),
                        lambda: ledger.keep_budget('r1', float(other))):
            with refused(BudgetError, f'is 5 in the ledger, not {other}: leave it out, or change '
                         f'it with symdp ledger {ledger.path} --set-budget r1 {other}',
                         subject='r1', limit=5, cost=None):
                attempt()
    assert ledger.spent('r1') == 1


def test_the_command_that_is_advised_can_be_copied(tmp_path):
    with Ledger(tmp_path / 'a ledger.sqlite') as ledger:
        ledger.keep_budget('the 3rd "r"', 5.0)
        with pytest.raises(BudgetError) as caught:
            ledger.keep_budget('the 3rd "r"', 6.0)
    advised = shlex.split(str(caught.value).partition('change it with ')[2])
    assert main(advised[1:]) == 0
    with Ledger(tmp_path / 'a ledger.sqlite') as ledger:
        assert ledger.account('the 3rd "r"').budget == 6


def test_a_budget_is_kept_though_the_charge_that_named_it_is_refused(ledger):
    with pytest.raises(BudgetError):
        charge(ledger, 6, subject_budget=5.0)
    with refused(BudgetError, limit=5, spent=0):
        charge(ledger, 6)
    other = ledger.charge('r2', loss(6), settings='s', description='{}')
    assert other[1] and ledger.account('r2').budget is None


@pytest.mark.parametrize('budget', [float('nan'), float('inf'), -1.0])
def test_budgets_that_are_none(ledger, budget):
    with refused(BudgetError, 'it must be a finite number', limit=None):
        charge(ledger, subject_budget=budget)


def test_a_budget_is_changed_by_an_entry(ledger):
    charge(ledger, 1, subject_budget=1.0)
    ledger.set_budget('r1', Fraction('2.5'))
    charge(ledger, 1, 'b', subject_budget=2.5)
    ledger.set_budget('r1', Fraction(1))
    with refused(BudgetError, '2 of it is spent, 0 is left', limit=1, spent=2, left=0):
        charge(ledger, 7, 'c')
    ledger.set_budget('r1', Fraction(0))
    charge(ledger, 7, 'c')
    entries = ledger.entries()
    assert [entry.kind for entry in entries] == ['budget', 'charge', 'budget', 'charge', 'budget',
                                                 'budget', 'charge']
    assert [(entry.epsilon, entry.adjacency) for entry in entries if entry.kind == 'budget'] == [
        ('1', 0), ('2.5', 0), ('1', 0), ('0', 0)]
    assert ledger.account('r1').budget is None and ledger.problems() == []


def test_a_refusal_says_what_is_new(ledger):
    before = {'chain': 21 * 'a', 'epsilon': 1.0, 'mechanism': 'causal', 'period': 2.0,
              'topic': 20 * 'a'}
    now = {'chain': 20 * 'b', 'epsilon': 2.0, 'mechanism': 'causal', 'topic': 20 * 'b'}
    charge(ledger, 1, description=json.dumps(before), subject_budget=2.0)
    for attempt in (charge, lambda *arguments, **more: ledger.check('r1', loss(2), 'a', **more)):
        with refused(BudgetError, subject='r1', limit=2, left=1, cost=2) as says:
            attempt(ledger, 2, description=json.dumps(now))
        assert str(says.value) == (
            'released before under other settings: another chain, epsilon 1 → 2, period 2 → none, '
            f'topic {20 * "a"} → {20 * "b"}; this costs 2 more, and 1 is left: the '
            "subject_budget of 'r1' is 2")
    with refused(BudgetError, cost=2, left=1) as says:
        charge(ledger, 2, 'new log', description=json.dumps(now))
    assert 'before' not in str(says.value)
    ledger.charge('r1', loss(1), settings='live', description=json.dumps(before))
    with refused(BudgetError, cost=2, left=0) as says:  # a live word was not released before
        charge(ledger, 2, None, description=json.dumps(now))
    assert 'before' not in str(says.value)


def test_budgets_of_several_are_stored_once(ledger):
    ledger.keep_budgets(['r1'], 5.0)
    ledger.keep_budgets(['r1', 'r2'], 5.0)
    assert [entry.subject for entry in ledger.entries()] == ['r1', 'r2']
    with refused(BudgetError, subject='r2', limit=5):
        ledger.keep_budgets(['r3', 'r2'], 6.0)
    assert ledger.account('r2').budget == 5 and ledger.account('r3').budget == 6


def test_accounting_is_set_without_a_delta(ledger):
    ledger.set_budget('r1', Fraction(5), 'zcdp', 1e-6)
    ledger.set_budget('r1', Fraction(5), 'pure')
    assert ledger.account('r1').delta is None and ledger.account('r1').budget == 5


def test_what_was_spent_besides_counts_for_every_log(ledger):
    charge(ledger, 1)
    assert ledger.set_spent('r1', Fraction(3), 'an older release') == 2
    assert ledger.set_spent('r1', Fraction(3), 'once more') == 0
    assert len(ledger.entries()) == 2
    assert ledger.spent('r1') == ledger.spent('r1', 'a') == 3 and ledger.spent('r1', 'b') == 2
    with refused(BudgetError, log_id='b', limit=2, spent=2):
        charge(ledger, 1, 'b', budget=2.0)
    assert ledger.set_spent('new', Fraction(1, 3), 'elsewhere') == Fraction(1, 3)
    ledger.charge('new', loss(1, 3), settings='s', description='{}')
    with Ledger(ledger.path) as other:
        assert other.spent('new') == Fraction(4, 3) and other.problems() == []


CHARGES = """
import resource, sys
from fractions import Fraction
from symdp_ros import LedgerError
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
made = 0
with Ledger(sys.argv[1]) as ledger:
    ledger.problems()
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    for i in range(40):
        try:
            ledger.charge('r1', Loss(Fraction(1), 1, 'message'), log_id=str(i), settings='s',
                          description='{}', words=[[str(j * 7919) for j in range(2000)]])
            made += 1
        except LedgerError as error:
            assert 'cannot be used' in str(error) or 'cannot be written' in str(error), error
            assert not ledger._database._db.in_transaction
print(made)
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='limits of Linux')
@pytest.mark.parametrize('limit', [0, 60_000, 200_000])
def test_a_disk_that_is_full_burns_nothing(tmp_path, limit):
    """Files that cannot grow stand for it: what could not be written is not spent, and is said."""
    path = tmp_path / 'a.ledger'
    Ledger(path).close()
    run = subprocess.run([sys.executable, '-c', CHARGES, path, str(limit)], cwd=ROOT, text=True,
                         capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr
    made = int(run.stdout)
    assert made < 40 and (made > 0 or limit < 200_000)
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == made and ledger.problems() == []
        charge(ledger)


@pytest.fixture
def meanwhile(ledger, monkeypatch):
    """Return a function that lets another process write just before the next transaction."""
    def before_next(work):
        def writing(entries):
            monkeypatch.setattr(LedgerEntries, 'writing', original)
            with Ledger(ledger.path) as other:
                work(other)
            return original(entries)

        original = LedgerEntries.writing
        monkeypatch.setattr(LedgerEntries, 'writing', writing)

    return before_next


def test_what_another_process_has_counted_meanwhile_is_counted_once(ledger, meanwhile):
    meanwhile(lambda other: other.set_spent('r1', Fraction(3), 'an older release'))
    assert ledger.set_spent('r1', Fraction(5), 'an older release') == 2
    assert ledger.spent('r1') == 5


def test_a_new_budget_keeps_the_accounting_that_was_set_meanwhile(ledger, meanwhile):
    meanwhile(lambda other: other.set_budget('r1', Fraction(3), 'zcdp', 1e-6))
    ledger.set_budget('r1', Fraction(4))
    account = ledger.account('r1')
    assert (account.budget, account.delta) == (4, Fraction(1, 10**6))
