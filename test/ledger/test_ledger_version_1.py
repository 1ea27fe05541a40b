# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ledgers of version 1 are converted: what was spent keeps its meaning."""
from fractions import Fraction
import json
import sqlite3

from ledgers import loss, make_version_1
import pytest
from refusals import refused
from symdp_ros import BudgetError, LedgerError
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.units import Unit


def described(adjacency=1, sampling='message', **more):
    return {'adjacency': adjacency, 'sampling': sampling, 'mechanism': 'causal', **more}


LIVE = {'adjacency': 1, 'mechanism': 'live', 'policy': 'guided'}


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'a.ledger'


def units_told(ledger):
    return [entry.described['reason'] for entry in ledger.entries() if entry.kind == 'unit']


def test_charges_of_one_k_keep_it(path):
    make_version_1(path, [('r1', 'a', 0.1, described(4)), ('r1', 'b', 0.2, described(4)),
                          ('r2', None, 1, LIVE)])
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == Fraction('0.3') and ledger.spent('r2') == 1
        assert ledger.account('r1').unit == Unit(4, 'message')
        assert [(entry.number, entry.epsilon) for entry in ledger.charges()] == [
            (1, '0.1'), (2, '0.2'), (3, '1')]
        found = ledger.find('r1', 'a', 's')
        assert found.words == (('dock',) * 20,) and found.content == b'content'
        assert [str(file.path) for file in ledger.files(1)] == ['/out/1']
        assert ledger.problems() == []
        assert ledger.charge('r1', loss(), log_id='a', settings='s', description='{}')[1] is False
        ledger.charge('r1', loss(1, 8), log_id='c', settings='s', description='{}')
        assert ledger.spent('r1') == Fraction('0.8')
    with Ledger(path) as ledger:  # it is converted once, and its mark with it
        assert ledger.problems() == [] and len(units_told(ledger)) == 2
        mark = json.loads(path.with_name('a.ledger.mark').read_text().split('\n')[0])
        assert mark['number'] == 6


def test_several_k_are_counted_in_the_largest(path):
    make_version_1(path, [('r1', 'a', 1, described(20)), ('r1', 'b', 1, described(1)),
                          ('r1', None, 1, LIVE)])
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == 41 and ledger.spent('r1', 'b') == 20
        assert ledger.account('r1').unit == Unit(20, 'message')
        assert units_told(ledger) == ['converted from version 1: its charges have k = 1, 20']


def test_live_words_alone_take_the_sampling_of_the_next_charge(path):
    make_version_1(path, [('r1', None, 1, LIVE)])
    with Ledger(path) as ledger:
        assert ledger.account('r1').unit == Unit(1, '')
        ledger.charge('r1', loss(sampling='period', period=2), settings='s', description='{}')
        assert ledger.account('r1').unit == Unit(1, 'period', Fraction(2))
        with refused(BudgetError, subject='r1', limit=None):
            ledger.charge('r1', loss(), settings='s', description='{}')
        assert ledger.spent('r1') == 2


def test_several_samplings_keep_their_sum_and_take_no_more(path):
    make_version_1(path, [
        ('r1', 'a', 1, described(2)), ('r1', 'b', 1, described(1, 'period', period=0.5)),
        ('r1', 'c', 1, {'archive': ['route'], 'adjacency': 1, 'mechanism': 'causal'})])
    with Ledger(path) as ledger:
        assert ledger.spent('r1') == 5
        assert 'symbols of several samplings (archive, message, period 0.5 s)' in \
            units_told(ledger)[0]
        for sampling, period in (('message', None), ('period', 0.5), ('archive', None)):
            with refused(BudgetError, 'sampling: archive and message and period 0.5 s'):
                ledger.charge('r1', loss(1, 1, sampling, period), settings='t', description='{}')
        assert ledger.find('r1', 'b', 's') is not None and ledger.problems() == []


@pytest.mark.parametrize('change, mark', [
    ("UPDATE charges SET epsilon = '0.5' WHERE number = 1", None),
    ('UPDATE charges SET seal = NULL WHERE number = 1', None),
    ('DELETE FROM charges WHERE number = 1', None), ('DELETE FROM charges WHERE number = 2', None),
    ("UPDATE charges SET description = '[' WHERE number = 1", None),
    (None, {'number': 3}), (None, {'seal': 'ab' * 32}), (None, 'garbage')])
def test_what_is_damaged_is_not_converted(path, change, mark):
    make_version_1(path, [('r1', 'a', 1, described()), ('r1', 'b', 1, described())],
                   **(mark if isinstance(mark, dict) else {}))
    if mark == 'garbage':
        path.with_name('a.ledger.mark').write_text('garbage')
    if change:
        with sqlite3.connect(path) as db:
            db.execute(change.replace('seal = NULL', "seal = ''"))
        db.close()
    before = path.read_bytes()
    with refused(LedgerError, damaged=True):
        Ledger(path)
    assert path.read_bytes() == before
