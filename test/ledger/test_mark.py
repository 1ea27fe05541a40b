# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mark of a ledger says of every subject what its account holds."""
from fractions import Fraction

from ledgers import loss
import pytest
from symdp_ros.ledger.entry import rounded_up
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.mark import Mark


@pytest.mark.parametrize('spent', [
    loss(1, 2), loss(Fraction(1, 3), 2), loss(1, 2, zones='3f'),
    loss(1, 2, sampling='period', period=0.5),
    loss(1, 3, sampling='period', period=10, seconds=20)], ids=str)
@pytest.mark.parametrize('named', [{}, {'subject_budget': 5.0}, {
    'subject_budget': 5.0, 'accounting': 'pure'}, {
    'subject_budget': 5.0, 'accounting': 'zcdp', 'delta': 1e-6}], ids=str)
def test_what_it_says_is_what_was_spent(tmp_path, spent, named):
    path = tmp_path / 'a.ledger.mark'
    with Ledger(tmp_path / 'a.ledger') as ledger:
        if named:
            ledger.keep_budget('r1', **named)
        ledger.charge('r1', spent, settings='s', description='{}')
        account, number = ledger.account('r1'), len(ledger.entries())
    mark = Mark.read(path)
    assert (mark.ledger, mark.number) == (ledger.id, number)
    [(subject, marked)] = mark.accounts().items()
    assert (subject, marked.subject) == ('r1', 'r1')
    for name in 'budget', 'delta', 'has_accounting', 'unit':
        assert getattr(marked, name) == getattr(account, name), name
    assert marked.spent() == account.spent() and marked.rho == rounded_up(account.rho)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_subject_that_has_a_budget_alone_has_no_unit_there(ledger):
    ledger.keep_budget('r1', 5.0)
    marked = Mark.read(ledger.path.with_name('robots.ledger.mark')).accounts()['r1']
    assert (marked.unit, marked.budget, marked.spent()) == (None, 5, 0)
