# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger with accounting: zcdp: what is counted, refused, stored, and recovered."""
from dataclasses import replace
from fractions import Fraction
import json

from ledgers import change, loss
import pytest
from refusals import refused
from symdp_ros import BudgetError
from symdp_ros.core.accounting import epsilon_at, response_rho
from symdp_ros.ledger.accounts import Account
from symdp_ros.ledger.entry import as_rounded_text, Loss, rounded_up
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover

DELTA = Fraction(1, 10**6)


def lost(epsilon, bound='pure', routes=1, k=1, **more):
    plain = loss(epsilon, k, **more)
    return Loss(plain.epsilon, k, plain.sampling, plain.period, plain.seconds, bound, routes)


def two(y):
    """Return y·tanh(y/2): the least ρ of anything y-private."""
    return response_rho(Fraction(y))


def charge(ledger, spend, log_id=None, **more):
    return ledger.charge('r1', spend, log_id=log_id, settings='s', description='{"policy": "x"}',
                         **more)


@pytest.mark.parametrize('spend, rho', [
    (lost(2, 'range'), '1/2'), (lost(2, 'symbols'), two(2)), (lost(2), two(2)),
    (lost(20, 'range'), two(20)), (replace(lost(2, 'symbols'), values=9), response_rho(2, 9)),
    (lost(2, 'range', k=4), '1/2'), (lost(2, 'symbols', k=4), 4 * two('1/2')),
    (lost(2, k=4), two(2)),
    # 6 routes at ε = 1/2
    (lost(3, 'range', 6), '3/16'), (lost(3, 'symbols', 6), 6 * two('1/2')),
    (lost(3, routes=6), 6 * two('1/2')),
    (lost(31, 'symbols', k=31, sampling='period', period=1, seconds=30), 31 * two(1))], ids=str)
def test_rho_of_a_charge(ledger, spend, rho):
    charge(ledger, spend)
    assert ledger.account('r1').rho == Fraction(rho)
    with Ledger(ledger.path) as other:
        assert other.account('r1').rho == Fraction(rho) and other.problems() == []
        assert other.charges()[0].loss == spend


@pytest.mark.parametrize('bound, rho, settings', [
    ('pure', two(2), {'mechanism': 'permute_and_flip'}),
    ('symbols', two(2), {'mechanism': 'causal', 'policy': 'planned', 'trust': 0.8})])
def test_charges_of_mechanisms_that_earlier_versions_had(ledger, bound, rho, settings):
    """They are read, counted and verified as any other."""
    ledger.charge('r1', lost(2, bound), log_id='a.csv', settings='s',
                  description=json.dumps(settings))
    with Ledger(ledger.path) as again:
        [entry] = again.charges(subject='r1')
        assert json.loads(entry.description).items() >= settings.items()
        assert (again.spent('r1'), again.account('r1').rho) == (2, Fraction(rho))
        assert again.problems() == []


def test_rho_counts_for_the_unit_of_the_subject(ledger):
    """It grows with the number of changed symbols, or its square; never with ε."""
    charge(ledger, lost(1, 'range', k=4))
    charge(ledger, lost(1, 'symbols', k=2))    # x = 1/2, 4 symbols
    charge(ledger, lost(1, 'pure', k=8))       # x = 1/8, 4 symbols
    assert ledger.account('r1').rho == Fraction(1, 8) + 4 * two('1/2') + two('1/2')
    ledger.charge('r2', lost(1, 'range', k=31, sampling='period', period=1, seconds=30),
                  settings='s', description='{}')
    ledger.charge('r2', lost(1, 'symbols', k=3, sampling='period', period=20, seconds=40),
                  settings='s', description='{}')  # x = 1/3; 30 s touch 2 symbols
    assert ledger.account('r2').rho == Fraction(1, 8) + 2 * two('1/3')


@pytest.mark.parametrize('bound, rho', [
    ('range', '1/8'), ('symbols', 10 * two('1/10')), ('pure', two(1))])
def test_rho_of_a_short_log(ledger, bound, rho):
    """With x = ε/n, and at most n changes: (n·x)²/8, n·ρ(x), ρ(n·x); fewer by the unit."""
    ledger.charge('r1', lost(0, k=31), settings='s', description='{}')
    ledger.charge('r2', lost(0, k=4), settings='s', description='{}')
    spend = replace(lost(1, bound, k=31), length=10)
    for subject, expected in (('r1', Fraction(rho)), ('r2', {
            'range': Fraction(16, 800), 'symbols': 4 * two('1/10'),
            'pure': two('4/10')}[bound])):
        ledger.charge(subject, spend, log_id='a', settings='s', description='{}')
        assert ledger.account(subject).rho == expected
        with Ledger(ledger.path) as other:
            assert other.account(subject).rho == expected
    ledger.keep_budget('r1', 9.0, 'zcdp', 1e-6)
    account = ledger.account('r1')
    for length in (10, 20, 50, None):  # what a charge would count is what it does count
        more = replace(spend, length=length)
        after = account.counted_with(more)
        ledger.charge('r1', more, log_id=f'{length}', settings='t', description='{}')
        account = ledger.account('r1')
        assert account.counted == after


def test_what_a_charge_would_count_is_what_it_counts(ledger):
    """The first sets the unit; the second is for more changes."""
    ledger.keep_budget('r1', 99.0, 'zcdp', 1e-6)
    for k in (1, 4):
        spend = lost(10, 'range', 100, k=k)
        after = ledger.account('r1').counted_with(spend)
        charge(ledger, spend, f'{k}')
        account = ledger.account('r1')
        assert account.counted == after == epsilon_at(account.rho, DELTA) < account.spent()


def test_many_releases_add_up_to_less(ledger):
    ledger.keep_budget('r1', 20.0, 'zcdp', 1e-6)
    for i in range(100):
        charge(ledger, lost('0.5', 'range'), f'{i}')
    account = ledger.account('r1')
    assert account.spent() == 50 and account.rho == Fraction(100, 32)
    assert account.counted == epsilon_at(account.rho, DELTA) < 16
    assert account.left == 20 - account.counted
    assert str(account) == (f'r1 has spent ε = {float(account.counted)} (zcdp, δ = 1e-06) of 20, '
                            'for changes of up to 1 symbol (sampling: message)')
    assert account.budget_text == 'subject_budget: 20 (zcdp, δ = 1e-06)'
    assert account.zcdp_text().startswith('accounting zcdp: ρ = 3.125, which is ε = 15.')


def test_few_releases_are_counted_by_their_sum(ledger):
    """The sum of ε holds, too, and is less at first."""
    ledger.keep_budget('r1', 3.0, 'zcdp', 1e-6)
    for i in range(2):
        charge(ledger, lost(1, 'range'), f'{i}')
    account = ledger.account('r1')
    assert account.counted == 2 < epsilon_at(account.rho, DELTA)


def test_what_the_budget_refuses(ledger):
    ledger.keep_budget('r1', 5.0, 'zcdp', 1e-6)
    made = 0
    with pytest.raises(BudgetError) as says:
        while True:
            ledger.check('r1', lost('0.1', 'symbols'))
            charge(ledger, lost('0.1', 'symbols'), f'{made}')
            made += 1
    counted = ledger.account('r1').counted
    assert counted <= 5 < epsilon_at((made + 1) * two('1/10'), DELTA) and made > 80
    assert (says.value.limit, says.value.spent, says.value.left) == (5, counted, 5 - counted)
    assert str(says.value).endswith('more (zcdp, δ = 1e-06)')
    with refused(BudgetError, subject='r1', limit=None):
        charge(ledger, lost(0, 'symbols', sampling='change'))
    charge(ledger, lost(0, 'symbols'), 'free')


def test_the_first_charge_is_counted_too(ledger):
    with refused(BudgetError, limit=4, cost=5):
        ledger.keep_budget('r1', 4.0, 'zcdp', 1e-6)
        charge(ledger, lost(5, k=3), 'a')
    assert ledger.charges() == []


def test_an_accounting_is_not_changed_in_passing(ledger):
    ledger.keep_budget('r1', 5.0, 'zcdp', 1e-6)
    ledger.keep_budget('r1', 5.0, 'zcdp', 1e-6)
    ledger.keep_budget('r1', 0.0, 'zcdp', 1e-6)
    for left_out in ((0.0,), (5.0,), (0.0, 'pure')):
        ledger.keep_budget('r1', *left_out)
    assert len(ledger.entries()) == 1 and ledger.account('r1').delta == DELTA
    with Ledger(ledger.path) as other, refused(BudgetError, (
            'is 5 (zcdp, δ = 1e-06) in the ledger, not 5 (pure): leave it out, name that '
            f'accounting, or change it with symdp ledger {ledger.path} --set-budget r1 5 '
            '--accounting pure'), subject='r1', limit=5):
        other.keep_budget('r1', 5.0, 'pure')
    for subject, budget in ('r1', 5), ('r3', 0):
        ledger.keep_budget('r3', 0.0, 'zcdp', 1e-6)
        with refused(BudgetError, f'is {budget} (zcdp, δ = 1e-06) in the ledger, not {budget} '
                     '(zcdp, δ = 1e-05): ', limit=budget) as says:
            ledger.keep_budget(subject, 0.0, 'zcdp', 1e-5)
        assert str(says.value).endswith(
            f' --set-budget {subject} {budget} --accounting zcdp --delta 1e-05')
    ledger.keep_budget('r2', 5.0)
    with refused(BudgetError, 'is 5 (pure) in the ledger, not 5 (zcdp', subject='r2', limit=5):
        ledger.keep_budget('r2', 5.0, 'zcdp', 1e-6)
    ledger.set_budget('r1', Fraction(7))
    assert ledger.account('r1').delta == DELTA and ledger.account('r1').budget == 7
    ledger.set_budget('r1', Fraction(7), 'pure')
    assert ledger.account('r1').delta is None
    ledger.set_budget('r1', Fraction(0), 'zcdp', 1e-9)
    assert ledger.account('r1').budget is None and ledger.account('r1').delta == Fraction('1e-9')
    with refused(BudgetError, 'is 0 (zcdp', limit=0):
        ledger.keep_budget('r1', 5.0, 'pure')
    ledger.keep_budget('r1', 5.0)
    assert ledger.account('r1').budget == 5 and ledger.account('r1').delta == Fraction('1e-9')
    assert ledger.problems() == []


def test_an_accounting_without_a_budget_is_kept(ledger):
    charge(ledger, lost(1, 'range'))
    ledger.keep_budget('r2', 0.0, 'zcdp', 0.01)  # the largest δ
    ledger.keep_budget('r1', 0.0, 'zcdp', 1e-6)
    assert ledger.account('r1').delta == DELTA and ledger.account('r1').budget is None
    charge(ledger, lost(9), subject_budget=40.0)
    assert ledger.account('r1').delta == DELTA and ledger.account('r1').budget == 40


@pytest.mark.parametrize('accounting, delta, text', [
    ('zcdp', 0.0, 'needs delta'), ('zcdp', 0.02, 'at most 0.01'), ('zcdp', -1.0, 'needs delta'),
    ('zcdp', float('nan'), 'needs delta'), ('pure', 1e-6, 'for accounting: zcdp alone'),
    ('', 1e-6, 'for accounting: zcdp alone'), ('rdp', 0.0, 'one of pure, zcdp')])
def test_wrong_accountings(ledger, accounting, delta, text):
    with refused(BudgetError, text, limit=None):
        ledger.keep_budget('r1', 5.0, accounting, delta)
    assert ledger.entries() == []


def test_a_damaged_description_counts_as_pure(ledger):
    """Where no bound is named, that of pure holds for every mechanism."""
    assert 'bound' not in charge(ledger, loss(2))[0].described
    entry, _ = charge(ledger, lost(2, 'range'))
    assert entry.described == {'policy': 'x', 'bound': 'range', 'routes': 1, 'zcdp_rule': 2}
    assert entry._replace(lengths='[').length == 0
    for described in ('{', '[]', '{"bound": 3}', '{"bound": "range", "routes": -1}'):
        other = entry._replace(description=described)
        assert other.loss.routes == 1 and (other.loss.bound == 'range') == ('range' in described)


@pytest.mark.parametrize('rule', ['', ', "zcdp_rule": 1', ', "zcdp_rule": 7'])
def test_a_charge_of_before_keeps_its_rho(ledger, rule):
    """It says of no rule, and x²/2 is more than what is charged today."""
    entry, _ = charge(ledger, lost(2, 'symbols'))
    of_before = entry._replace(description='{"bound": "symbols", "routes": 1%s}' % rule)
    account = Account('r1')
    account.add(of_before)
    account.add(entry)
    assert account.rho == 2 + two(2)


def test_a_changed_setting_is_named_without_the_bound(ledger):
    charge(ledger, lost(1, 'range'), 'a', subject_budget=1.0)
    with refused(BudgetError, 'other settings: policy x → y;', cost=1):
        ledger.check('r1', lost(1, 'symbols'), 'a', description=json.dumps({'policy': 'y'}))


def test_a_recovery_from_the_mark_keeps_it(tmp_path):
    path = tmp_path / 'robots.ledger'
    with Ledger(path) as ledger:
        ledger.keep_budget('r1', 30.0, 'zcdp', 1e-6)
        for i in range(50):
            charge(ledger, lost('0.5', 'range'), f'{i}')
        before = ledger.account('r1')
    path.unlink()
    report = recover(path, {})
    assert any('the budget is 30 (zcdp, δ = 1e-06), as the mark says' in line for line in report)
    with Ledger(path) as ledger:
        after = ledger.account('r1')
        assert (after.budget, after.delta) == (30, DELTA)
        assert (after.spent(), after.rho, after.counted) == (
            before.spent(), before.rho, before.counted)
        charge(ledger, lost('0.5', 'range'), 'more')
        assert ledger.account('r1').rho == before.rho + Fraction(1, 32)
        assert ledger.problems() == []


@pytest.mark.parametrize('described', ['{"bound": "range", "routes": 1}',
                                       '{"bound": "pure", "routes": 1000000}'])
def test_a_recovery_does_not_lower_rho(tmp_path, described):
    """Where the sum of ε is that of the mark, and a changed row has a smaller ρ."""
    path = tmp_path / 'robots.ledger'
    with Ledger(path) as ledger:
        ledger.keep_budget('r1', 30.0, 'zcdp', 1e-6)
        for i in range(9):
            charge(ledger, lost('0.7'), f'{i}')
        charge(ledger, lost('1/3'), 'third')  # ρ has no decimal
        before = ledger.account('r1')
    change(path, f"UPDATE charges SET description = '{described}' WHERE log_id = 5")
    report = recover(path, {})
    assert any(f'r1: the mark says ρ = {as_rounded_text(before.rho)}, and the charges that were '
               'kept' in line
               for line in report)
    with Ledger(path) as ledger:
        after = ledger.account('r1')
        assert after.spent() == before.spent() and ledger.problems() == []
        assert before.rho <= after.rho < before.rho + Fraction(1, 10**29)
        entries = len(ledger.entries())
    (tmp_path / 'robots.ledger.mark').write_text('damaged')
    recover(path, {'r1': before.spent()})
    with Ledger(path) as ledger:
        assert len(ledger.entries()) == entries + 1  # the recovery alone: nothing is missing


def test_the_stricter_accounting_is_recovered(tmp_path):
    path = tmp_path / 'robots.ledger'
    with Ledger(path) as ledger:
        ledger.keep_budget('r1', 9.0, 'zcdp', 1e-6)
        ledger.keep_budget('r2', 9.0)
        ledger.keep_budget('r3', 9.0, 'zcdp', 1e-9)
    copy = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.set_budget('r1', Fraction(9), 'pure')
        ledger.set_budget('r2', Fraction(8), 'zcdp', 1e-6)
        ledger.set_budget('r3', Fraction(10), 'zcdp', 1e-6)
    path.write_bytes(copy)
    recover(path, {})
    with Ledger(path) as ledger:
        found = {name: (ledger.account(name).budget, ledger.account(name).delta)
                 for name in ('r1', 'r2', 'r3')}
    assert found == {'r1': (9, None), 'r2': (8, None), 'r3': (9, Fraction('1e-9'))}


def test_a_spent_rho_that_is_reached_already_adds_no_entry(ledger):
    charge(ledger, lost('1/3', 'range'))  # ρ has no decimal: it is kept rounded up
    account = ledger.account('r1')
    least = rounded_up(account.rho)
    assert least > account.rho
    assert ledger.set_spent('r1', account.spent(), 'once more', least) == 0
    assert len(ledger.entries()) == 1 and ledger.account('r1').rho == account.rho


def test_spent_by_the_operator_is_one_release(ledger):
    """Of 3, then 5 in all, it is not known whether one release spent 5."""
    for least in (3, 5):
        ledger.set_spent('r1', Fraction(least), 'remembered')
    account = ledger.account('r1')
    assert account.rho == Fraction(25, 2)
    assert account.zcdp_text().endswith(' at δ = 1e-06; accounting pure: ε = 5')
