# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the ε of a subject are counted in: costs are exact, and what cannot be added is refused."""
from dataclasses import replace
from fractions import Fraction
import json
from pathlib import Path
from random import Random
import subprocess
import sys

from ledgers import loss
import pytest
from refusals import refused
from symdp_ros import BudgetError, Privacy
from symdp_ros.core.accounting import epsilon_at, response_rho
from symdp_ros.ledger.accounts import Account, Unit
from symdp_ros.ledger.entry import amount, as_decimal, as_text, Entry, Loss, rounded_up, written
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import most_at_once
from symdp_ros.maps.reports import symbols_during

ROOT = Path(__file__).resolve().parents[2]


def charge(ledger, spend, log_id, **more):
    return ledger.charge('r1', spend, log_id=log_id, settings=f'{spend}', description='{}', **more)


@pytest.mark.parametrize('symbols, epsilon, adjacency, cost', [
    (1, '1', 1, '1'), (20, '1', 20, '1'), (20, '1', 1, '20'), (1, '1', 20, '1/20'),
    (1, '1', 3, '1/3'), (7, '0.1', 3, '7/30'), (3, '0', 2, '0'), (2, '1e-300', 1, '2e-300')])
def test_what_symbols_cost(symbols, epsilon, adjacency, cost):
    spend = Loss.of(Privacy(float(epsilon), adjacency), 'message')
    assert Unit(symbols, 'message').cost(spend) == Fraction(cost)


@pytest.mark.parametrize('seconds, period, epsilon, adjacency, cost', [
    # (ε/k')·(⌊D/T⌋ + 1); 0.6/0.2 is 3, on shortest decimals
    ('30', '1', '1', 31, '1'), ('30', '15', '2', 3, '2'), ('0.6', '0.2', '1', 4, '1'),
    ('30', '7', '1', 1, '5'), ('30', '31', '1', 1, '1'), ('30', '10', '0.5', 3, '2/3'),
    ('0.3', '0.1', '1', 1, '4'), ('1', '1', '1', 1, '2')])
def test_what_seconds_cost(seconds, period, epsilon, adjacency, cost):
    spend = Loss.of(Privacy(float(epsilon), adjacency), 'period', float(period), seconds=5.0)
    assert Unit(seconds=Fraction(seconds)).cost(spend) == Fraction(cost)
    assert symbols_during(Fraction(seconds), Fraction(period)) * Fraction(epsilon) / adjacency \
        == Fraction(cost)


def test_a_period_counts_where_it_is_the_sampling():
    assert Loss.of(Privacy(1.0), 'message', 2.0) == loss()
    assert Loss.of(Privacy(0.1, 3), 'period', 0.2) == loss('0.1', 3, 'period', '0.2')
    assert Unit.of(Loss.of(Privacy(0.1, 3), 'period', 0.2, 5.0)) == Unit(seconds=Fraction(5))


def test_zones_are_part_of_a_unit():
    zones = Privacy(1.0, 2, {'west': ['a', 'b'], 'east': ['c']})
    loss, other = Loss.of(zones, 'message'), Loss.of(Privacy(1.0, 2), 'message')
    assert Unit.of(loss).zones == zones.zones.digest() and Unit.of(other).zones is None
    assert Unit.of(loss).accepts(other) and not Unit.of(other).accepts(loss)
    assert not Unit(2, 'message', zones='another').accepts(loss)
    assert str(Unit.of(loss)).endswith(f' inside the zones {zones.zones.digest()[:8]}')


ONE = loss()
OTHERS = [loss(sampling='change'), loss(sampling='archive'), loss(sampling='period', period=1),
          loss(sampling='period', period=2), loss(adjacency=3, sampling='period', period=2,
                                                  seconds=5)]


@pytest.mark.parametrize('first', [ONE, *OTHERS], ids=lambda first: str(Unit.of(first)))
def test_what_is_counted_otherwise_cannot_be_added(ledger, first):
    charge(ledger, first, 'a')
    for other in [ONE, *OTHERS]:
        if other != first:
            with refused(BudgetError, 'the two cannot be added', subject='r1', limit=None):
                charge(ledger, other, 'b')
            with refused(BudgetError, subject='r1', limit=None):
                ledger.check('r1', other, 'b')
    assert ledger.spent('r1') == first.epsilon and len(ledger.charges()) == 1


def test_the_first_charge_sets_the_unit(ledger):
    charge(ledger, loss(1, 20), 'a')
    charge(ledger, loss(1, 1), 'b')  # a change of 20 symbols costs 20
    assert ledger.spent('r1') == 21 and ledger.spent('r1', 'b') == 20
    charge(ledger, loss(1, 40), 'c')
    assert ledger.spent('r1') == Fraction('21.5')
    assert str(ledger.account('r1')) == (
        'r1 has spent ε = 21.5, for changes of up to 20 symbols (sampling: message)')
    assert [ledger.cost(entry) for entry in ledger.charges()] == [1, 20, Fraction(1, 2)]
    with refused(BudgetError, 'costs 20 more (ε = 1 at k = 1, counted for changes of up to 20 '
                 'symbols', limit=22, spent=Fraction('21.5'), left=Fraction('0.5'), cost=20):
        charge(ledger, loss(1, 1), 'd', subject_budget=22.0)


def test_seconds_are_added_over_periods(ledger):
    charge(ledger, loss(1, 31, 'period', 1, seconds=30), 'a')
    charge(ledger, loss(1, 3, 'period', 15, seconds=30), 'b')
    charge(ledger, loss(1, 5, 'period', 15, seconds=60), 'c')  # 60 s: 30 s of it cost 3/5
    assert ledger.spent('r1') == Fraction('2.6')
    assert str(ledger.account('r1')) == 'r1 has spent ε = 2.6, for changes during 30 s'


@pytest.mark.parametrize('unit, adjacency, length, cost', [
    # (ε/min(k', n))·min(k, n)
    (31, 31, 10, '1'), (31, 31, 31, '1'), (31, 31, 500, '1'), (1, 31, 10, '1/10'),
    (10, 31, 10, '1'), (11, 31, 10, '1'), (9, 31, 10, '9/10'), (100, 31, 10, '1'),
    (100, 31, 40, '40/31'), (100, 31, 500, '100/31'), (5, 1, 3, '3'), (5, 1, 1, '1'),
    (31, 31, None, '1'), (100, 31, None, '100/31'), (1, 31, None, '1/31')])
def test_what_a_short_log_costs(ledger, unit, adjacency, length, cost):
    """The most that `unit` changed symbols can give away, at ε/min(k', n) each."""
    charge(ledger, loss(0, unit), 'sets the unit')
    charge(ledger, loss(1, adjacency, length=length), 'a')
    for opened in (ledger, Ledger(ledger.path)):
        account = opened.account('r1')
        assert account.spent() == account.spent('a') == account.spent_by_all == Fraction(cost)
        [_, entry] = opened.charges()
        assert (entry.loss.length, entry.loss.adjacency) == (length, adjacency)
        assert opened.cost(entry) == Fraction(cost)


def test_many_lengths_are_few_sums(ledger):
    """Else each charge would take as long as there are lengths of logs."""
    account = Account('r1', Unit(3, 'message'))
    for n in range(1, 1000):
        account.add_loss(loss(1, 5, length=n), f'{n}', {f'{n}': None})
    assert len(account._losses) == 5
    assert account.spent() == 3 + Fraction(3, 4) + Fraction(3, 5) * 995
    account.unit = Unit(100, 'message')  # as a recovery may: never less than it may cost
    assert account.spent() >= 4 + sum(Fraction(min(100, n), 5) for n in range(5, 1000))


def test_seconds_of_a_short_log(ledger):
    """30 s touch 31 symbols, of which a log of 10 has 10."""
    charge(ledger, loss(1, 31, 'period', 1, seconds=30, length=10), 'a')
    assert ledger.account('r1').unit == Unit(seconds=Fraction(30))
    charge(ledger, loss(1, 61, 'period', 1, seconds=60, length=40), 'b')
    charge(ledger, loss(1, 61, 'period', 1, seconds=60, length=400), 'c')
    charge(ledger, loss(1, 11, 'period', 1, seconds=10, length=10), 'd')
    charge(ledger, loss(1, 11, 'period', 1, seconds=10, length=20), 'e')
    assert [ledger.cost(entry) for entry in ledger.charges()] == [
        1, Fraction(31, 40), Fraction(31, 61), 1, Fraction(20, 11)]


def test_short_logs_that_show_one_visit(ledger):
    """Each costs all of ε: a visit of 30 s goes over three of these logs, and over no four."""
    for i in range(5):
        charge(ledger, loss(1, 31, 'period', 1, seconds=30, length=14), f'{i}',
               logs={f'{i}': (15 * i * 10**9, (15 * i + 13) * 10**9)})
    account = ledger.account('r1')
    assert (account.spent_by_one, account.spent_at_once, account.spent_by_all) == (1, 3, 5)
    assert 'in one of its 5 logs costs at most ε = 1; where several logs show it, by their ' \
           'stamps, at most ε = 3' in account.repeated_text


def test_a_short_log_of_a_learned_chain(ledger):
    """What was learned is for k symbols of all logs: it does not grow where a log is short."""
    learned(ledger, replace(loss(1, 31), repeats=3))
    charge(ledger, loss(1, 31, length=10), '1')
    account = ledger.account('r1')
    assert (account.spent(), account.spent('1'), account.spent('0')) == (2, 2, 1)
    assert account.spent_by_all == 4


def test_a_short_log_does_not_set_a_smaller_unit(ledger):
    charge(ledger, loss(1, 31, length=10), 'a')
    assert ledger.account('r1').unit == Unit(31, 'message')
    with refused(BudgetError, 'costs 3.1 more (ε = 1 at k = 10, counted for changes of up to 31',
                 cost=Fraction('3.1')):
        charge(ledger, loss(1, 10, length=50), 'b', budget=3.0)
    charge(ledger, loss(1, 60, length=10), 'c', budget=1.0)


@pytest.mark.parametrize('kind, columns, sound', [
    ('unit', {'adjacency': 1}, True), ('unit', {'seconds': '30'}, True), ('unit', {}, False),
    ('charge', {'adjacency': 1, 'period': '0.1', 'seconds': '0.5'}, True),
    ('charge', {'period': '1', 'seconds': '30'}, False),
    ('charge', {'adjacency': 1, 'period': '0'}, False),
    ('charge', {'adjacency': 1, 'period': '1', 'seconds': '0'}, False),
    ('charge', {'adjacency': 1, 'seconds': '30'}, False),
    *(('budget', {'description': json.dumps({'delta': delta})}, sound) for delta, sound in (
        ('0.5', True), ('0', False), ('1', False), ('1.5', False))),
    *(('budget', {'epsilon': epsilon}, False) for epsilon in ('1e5', '-1', '1/0', ' 1', '', 5)),
    *(('spent', {text: b''}, False) for text in (
        'subject', 'settings', 'description', 'sampling', 'made', 'lengths', 'log_id'))])
def test_what_a_sound_row_holds(kind, columns, sound):
    entry = Entry(1, kind, 'r1', sampling='period')
    assert entry._replace(**columns).is_sound() == sound


def test_a_unit_that_was_set_counts_its_symbols():
    account = Account('r1')
    account.add(Entry(1, 'unit', 'r1', adjacency=3, sampling='message'))
    assert account.unit == Unit(3, 'message')


@pytest.mark.parametrize('spans', [[(5, 9), (2, 3)], [(2, 3), (5, 9)]])
@pytest.mark.parametrize('moment', [2, 4, 9])
def test_a_log_that_was_released_twice_lasts_from_its_first_to_its_last_stamp(spans, moment):
    account = Account('r1')
    for span in spans:
        account.add_loss(loss(), 'a', {'a': span})
    account.add_loss(loss(), 'b', {'b': (moment, moment)})
    assert account.spent_at_once == 3


@pytest.mark.parametrize('repeats', [1, 2, 3])
def test_a_change_in_every_repeat_costs_as_often(repeats):
    account = Account('r1')
    account.add_loss(replace(loss(), repeats=repeats), 'a', {'a': None})
    assert (account.spent(), account.spent_by_all) == (1, repeats)


@pytest.mark.parametrize('span', ['ab', [1], [1, '2'], [1.0, 2.0], {'1': 2}, None, 7])
def test_a_damaged_span_is_none(span):
    entry = Entry(1, 'charge', 'r1', description=json.dumps({'logs': {'a': span, 'b': [1, 2]}}))
    assert entry.logs == {'a': None, 'b': (1, 2)}


@pytest.mark.parametrize('damaged', [0, -1, '10', 10.0, True, None, [10]])
def test_a_damaged_length_is_none(damaged):
    entry = Entry(1, 'charge', 'r1', epsilon='1', adjacency=31, sampling='message',
                  description=json.dumps({'length': damaged}))
    assert entry.loss == loss(1, 31, rule=1)


def test_amounts_that_are_too_long_are_rounded_up(ledger):
    """Of logs of 600 lengths, in a smaller unit: ε/n has a denominator of its own for each."""
    account, path = Account('r1'), ledger.path
    for n in (p for p in range(1000, 7000) if all(p % q for q in range(2, 84))):
        account.add_loss(loss(1, 9000, length=n), f'{n}', {f'{n}': None})
    account.unit = Unit(7, 'message')
    exact = account.spent()
    assert exact.denominator > 10**2000
    assert 0 <= Fraction(written(exact)) - exact <= Fraction(1, 10**30)
    assert as_text(exact).startswith('about ')
    ledger.set_spent('r1', exact, 'test')
    with Ledger(path) as other:
        assert other.problems() == [] and other.spent('r1') >= exact


@pytest.mark.parametrize('denominator', [3, 7, 10**30 - 1, 10**30 + 1])
def test_what_has_no_30_decimals_is_rounded_up(denominator):
    rounded = rounded_up(Fraction(1, denominator))
    assert 10**30 % rounded.denominator == 0
    assert 0 < rounded - Fraction(1, denominator) < Fraction(1, 10**30)


@pytest.mark.parametrize('base, power, has_decimal', [
    (2, 2000, True), (2, 2001, False), (2, 2999, False), (5, 1291, True), (3, 1892, False)])
def test_what_is_not_too_long_is_written_exactly(base, power, has_decimal):
    exact = Fraction(1, base**power)
    assert amount(written(exact)) == exact
    assert (as_decimal(exact) is not None) == has_decimal


def test_what_was_spent_besides_is_of_any_log(ledger):
    ledger.set_spent('r1', Fraction('0.5'), 'test')
    account = ledger.account('r1')
    assert account.spent_by_one == account.spent_at_once == account.spent('any') == Fraction('0.5')


def test_the_same_visit_every_day(ledger):
    """One visit costs what its log has spent, at most; in every log, the sum."""
    charge(ledger, loss(1, 31, 'period', 1, seconds=30), 'monday')
    assert ledger.account('r1').repeated_text == ''
    charge(ledger, loss(1, 3, 'period', 15, seconds=30), 'tuesday')
    charge(ledger, loss('0.5', 3, 'period', 15, seconds=30), 'tuesday')
    for epsilon in ('0.7', '0.2'):
        ledger.charge('r1', loss(epsilon, 31, 'period', 1, seconds=30), settings='live',
                      description='{}')
    account = ledger.account('r1')
    assert account.spent_by_one == Fraction('1.5') and account.left is None
    assert account.repeated_text == (
        'such a change in one of its 2 logs and 2 live words costs at most ε = 1.5; in every one '
        'of them (the same visit every day), ε = 3.4')
    ledger.charge('r1', loss(3, 31, 'period', 1, seconds=30), settings='live', description='{}',
                  subject_budget=7.0)
    assert ledger.account('r1').spent_by_one == 3
    assert ledger.account('r1').left == Fraction('0.6')


def learned(ledger, loss_, logs=('0', '1', '2'), **more):
    ledger.charge('r1', loss_, log_id='chain of logs', settings='learn', description='{}',
                  logs={log: (10**9 * 100 * int(log), 10**9 * (100 * int(log) + 50))
                        for log in logs}, **more)


def test_a_learned_chain_is_owed_in_each_of_its_logs(ledger):
    """30 daily logs learnt at ε = 1, one of them then released at ε = 1."""
    days = [str(i) for i in range(30)]
    learned(ledger, replace(loss(), repeats=30), days)
    assert ledger.account('r1').logs == 0  # none is released
    charge(ledger, loss(), '7')
    account = ledger.account('r1')
    assert (account.logs, account.spent(), account.spent('7'), account.spent('8')) == (1, 2, 2, 1)
    assert account.repeated_text == (
        'such a change in one of its 30 logs costs at most ε = 2; in every one of them (the same '
        'visit every day), ε = 31')
    with refused(BudgetError, log_id='8', limit=Fraction(3, 2), spent=1, cost=1):
        charge(ledger, loss(), '8', budget=1.5)


def test_the_same_change_in_all_that_one_charge_is_for_with_zcdp(ledger):
    """Changing j symbols in each of m words changes j·m: ρ grows with their square."""
    learned(ledger, replace(loss('0.1', 2), repeats=10))
    ledger.keep_budget('r1', 100.0, 'zcdp', 1e-6)
    account = ledger.account('r1')
    assert account.rho == response_rho(Fraction(1, 10))
    assert account.spent_by_all == min(Fraction(1), epsilon_at(
        response_rho(Fraction(1)), account.delta))


@pytest.mark.parametrize('unit, cost', [(10, 1), (30, 1), (31, 2), (60, 2), (61, 3)])
def test_what_cannot_be_divided_costs_no_less_for_fewer_seconds(ledger, unit, cost):
    charge(ledger, loss(0, unit + 1, 'period', 1, seconds=unit), 'sets the unit')
    whole = replace(loss(1, 31, 'period', 1, seconds=30), whole=True)
    assert ledger.account('r1').cost(whole) == cost
    learned(ledger, whole)
    assert ledger.spent('r1') == ledger.spent('r1', '2') == cost
    assert ledger.account('r1').rho == response_rho(Fraction(cost))


def test_a_whole_log_costs_its_own_whatever_the_unit(ledger):
    """`learn --unit log`: 3 logs at ε = 1, two of which 30 s can touch."""
    whole = replace(loss(2, 31, 'period', 1, seconds=30), whole=True, repeats=3)
    learned(ledger, replace(whole, of_log=Fraction(1)))
    account = ledger.account('r1')
    assert (account.spent(), account.spent('1'), account.spent_by_all) == (2, 1, 3)


def test_archives_that_are_charged_as_one(ledger):
    charge(ledger, replace(loss(sampling='archive'), repeats=3000), 'walks.parquet')
    assert ledger.account('r1').repeated_text == (
        'such a change in one of its 3,000 routes costs at most ε = 1; in every one of them (the '
        'same visit every day), ε = 3000')
    ledger.set_spent('r1', Fraction('1.5'), 'test')
    assert 'every day), at least ε = 3000.5' in ledger.account('r1').repeated_text


def test_two_words_are_several(ledger):
    for log in 'ab':
        charge(ledger, loss(), log)
    assert ledger.account('r1').repeated_text.startswith('such a change in one of its 2 logs ')


def test_routes_are_counted_in_each_part_of_an_archive(ledger):
    charge(ledger, replace(loss(sampling='archive'), repeats=20, routes=3), 'walks.parquet')
    assert 'one of its 60 routes' in ledger.account('r1').repeated_text


def test_logs_that_show_the_same_time(ledger):
    """By their stamps; with a unit of seconds, also those that one change can touch."""
    spans = {'a': (0, 100), 'b': (50, 150), 'c': (160, 200), 'd': (500, 600)}
    for subject, unit, most in (('r1', loss(), 2), ('r2', loss(1, 31, 'period', 1, seconds=30), 2),
                                ('r3', loss(1, 61, 'period', 1, seconds=60), 3)):
        for log, (first, last) in spans.items():
            ledger.charge(subject, unit, log_id=log, settings='s', description='{}',
                          logs={log: (first * 10**9, last * 10**9)})
        account = ledger.account(subject)
        assert (account.spent_by_one, account.spent_at_once) == (1, most)
        assert account.repeated_text == (
            f'such a change in one of its 4 logs costs at most ε = 1; where several logs show it, '
            f'by their stamps, at most ε = {most}; in every one of them (the same visit every '
            'day), ε = 4')


def test_most_at_once_is_that_of_every_moment():
    """Against every change, one by one."""
    random = Random(7)
    for _ in range(300):
        spans = {str(i): (first := random.randrange(12) * 10**9,
                          first + random.randrange(6) * 10**9) for i in range(5)}
        costs = {log: Fraction(random.randrange(4)) for log in spans}
        seconds = random.choice([None, Fraction(1), Fraction(5, 2)])
        every = [sum(costs[log] for log, (first, last) in spans.items()
                     if first <= begin + int((seconds or 0) * 10**9) and begin <= last)
                 for begin in range(-4 * 10**9, 20 * 10**9, 10**9 // 2)]
        most, logs = most_at_once(spans, costs, seconds)
        assert most == max(every) == sum(costs[log] for log in logs)


def test_of_several_moments_that_cost_the_most_the_first_is_named():
    spans = {'late': (20, 30), 'early': (0, 10), 'free': (0, 40)}
    costs = {'late': Fraction(2), 'early': Fraction(2), 'free': Fraction(0)}
    assert most_at_once(spans, costs) == (2, ['early', 'free'])
    assert most_at_once(spans, dict.fromkeys(spans, Fraction(0))) == (0, [])
    assert most_at_once({}, {}) == (0, [])


def test_three_thirds_fit_into_one(ledger):
    charge(ledger, loss(0, 1), 'first', subject_budget=1.0)
    for i in range(3):
        charge(ledger, loss(1, 3), f'{i}')
    assert ledger.spent('r1') == 1
    with refused(BudgetError, 'this costs 1/3 (about 0.333333) more', cost=Fraction(1, 3)):
        charge(ledger, loss(1, 3), 'more')


@pytest.mark.parametrize('amount, text', [
    ('0', '0'), ('1/4', '0.25'), ('100', '100'), ('1/3', '1/3 (about 0.333333)'),
    ('22/7', '22/7 (about 3.14286)'), (f'1{"0" * 30}/3', 'about 3.33333E+29'),
    ('1/243', '1/243 (about 0.00411523)'), (f'1/{3**47}', 'about 3.76098E-23'),
    (f'1/{3**46}', '1/8862938119652501095929 (about 1.12829E-22)')])
def test_amounts_as_people_read_them(amount, text):
    assert as_text(Fraction(amount)) == text
    assert (as_decimal(Fraction(amount)) is None) == text.endswith(')') or 'E' in text


SPENDER = """
import os
import sys
from symdp_ros import BudgetError, Privacy
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
made = 0
with Ledger(sys.argv[1]) as ledger:
    for i in range(30):
        try:
            ledger.charge('r1', Loss.of(Privacy(0.1, int(sys.argv[2])), 'message'),
                          log_id=f'{os.getpid()} {i}', settings='s', description='{}',
                          subject_budget=float(sys.argv[3]))
            made += 1
        except BudgetError:
            pass
print(made)
"""


def spend_together(path, budget, *adjacencies):
    """Return how many charges of ε = 0.1 each of some processes made."""
    spenders = [subprocess.Popen([sys.executable, '-c', SPENDER, path, str(k), str(budget)],
                                 cwd=ROOT, stdout=subprocess.PIPE, text=True)
                for k in adjacencies]
    return [int(spender.communicate(timeout=120)[0]) for spender in spenders]


def test_processes_make_a_ledger_and_cannot_pass_a_budget_together(tmp_path):
    path = tmp_path / 'a.ledger'
    made = spend_together(path, 4, 1, 1, 1)
    with Ledger(path) as ledger:
        assert sum(made) == 40 and ledger.spent('r1') == 4 and ledger.problems() == []


@pytest.mark.thorough
def test_three_processes_that_count_otherwise_keep_one_budget(tmp_path):
    """At k = 1, 2 and 3 a release of ε = 0.1 costs 0.6, 0.3 and 0.2 of a budget for 6 symbols."""
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        ledger.charge('r1', loss(0, 6), settings='first', description='{}', subject_budget=6.0)
    made = spend_together(path, 6, 1, 2, 3)
    with Ledger(path) as ledger:
        spent = ledger.spent('r1')
        assert spent == sum(n * Fraction(cost) for n, cost in zip(made, ('0.6', '0.3', '0.2')))
        assert spent <= 6 and 6 - spent < Fraction('0.6')  # each went on until its own did not fit
        assert ledger.problems() == []
