# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of fewer symbols than k: what they are drawn with, and what the ledger counts for them."""
from dataclasses import replace
from fractions import Fraction
from math import tanh

import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.core import offline
from symdp_ros.core.accounting import epsilon_at
from symdp_ros.core.choice import choose
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.ledger.accounts import Unit
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.release.archives import batch
from symdp_ros.release.learned import LearnSettings
from symdp_ros.release.mechanisms import Mechanisms

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


@pytest.fixture
def drawn(monkeypatch):
    """Return what mechanisms draw: their k, and the lengths of words."""
    found = []

    class Spy(OfflineMechanism):
        def privatize(self, word):
            found.append((self.privacy.adjacency, len(word)))
            return super().privatize(word)

        def privatize_many(self, symbols, offsets, bits):
            found.append((self.privacy.adjacency, *(offsets[1:] - offsets[:-1]).tolist()))
            return super().privatize_many(symbols, offsets, bits)

    monkeypatch.setattr(offline, 'OfflineMechanism', Spy)
    batch._mechanism.cache_clear()
    yield found
    batch._mechanism.cache_clear()


def charges(place):
    """Return log id → charge, and its cost; and the account."""
    with Ledger(place.ledger) as ledger:
        assert ledger.problems() == []
        return {entry.log_id: (entry, ledger.cost(entry))
                for entry in ledger.charges()}, ledger.account('r1')


def settings(k=12, **more):
    return release_settings(CHAIN, Privacy(1.0, k), **{'mechanism': 'causal', 'policy': 'guided',
                                                       **more})


@pytest.mark.parametrize('mechanism', [
    {'mechanism': 'exponential'}, {'mechanism': 'auto'},
    {'mechanism': 'causal', 'policy': 'guided'}, {'mechanism': 'causal', 'policy': 'adaptive'},
    *(pytest.param(more, marks=pytest.mark.thorough) for more in (
        {'mechanism': 'exponential', 'base': 'counting'},
        {'mechanism': 'causal', 'policy': 'paper'}))
], ids=str)
def test_short_and_long_logs(place, drawn, mechanism):
    """Each costs ε, whatever its length; a short one is drawn for as many changes as it has."""
    lengths = {'short': 3, 'shortest': 1, 'as long': 12, 'long': 30}
    for name, length in lengths.items():
        place.log(f'{name}.csv', ('abbcca' * 5)[:length])
    assert place.release(settings(**mechanism)).ok
    assert sorted(drawn) == [(1, 1), (3, 3), (12, 12), (12, 30)]
    found, account = charges(place)
    assert {name: (entry.loss.length, entry.adjacency, cost)
            for name, (entry, cost) in found.items()} == {
                f'{name}.csv': (n, 12, 1) for name, n in lengths.items()}
    assert (account.unit, account.spent(), account.spent_by_one) == (Unit(12, 'message'), 4, 1)


def test_sums_in_another_unit(place):
    """A subject whose ε are counted for 2 symbols: of ε/3 and ε/12 each, and one that has one."""
    for name, length in (('one', 1), ('short', 3), ('long', 30)):
        place.log(f'{name}.csv', 'a' * length)
    with Ledger(place.ledger) as ledger:
        ledger.charge('r1', replace(settings(2).loss(), epsilon=Fraction(0)), settings='s',
                      description='{}')
        ledger.keep_budget('r1', 2.0, 'zcdp', 1e-6)
    assert place.release(settings()).ok
    found, account = charges(place)
    assert {name: cost for name, (_, cost) in found.items() if name} == {
        'one.csv': 1, 'short.csv': Fraction(2, 3), 'long.csv': Fraction(1, 6)}
    assert account.spent() == Fraction(11, 6)
    rho = account.rho
    assert rho == pytest.approx(sum(j * x * tanh(x / 2) for j, x in (
        (1, 1), (2, 1 / 3), (2, 1 / 12))), rel=1e-12)
    assert account.counted == min(account.spent(), epsilon_at(rho, account.delta))


def test_the_pieces_of_a_log_are_one_log(place, drawn):
    """K symbols of all of them may change: n counts all."""
    place.log('cut.csv', 'abxxbcaxa')
    assert place.release(settings(unknown_symbol='split')).ok
    assert drawn == [(6, 2), (6, 3), (6, 1)]
    assert charges(place)[0]['cut.csv'][0].loss.length == 6
    place.log('dropped.csv', 'abxxbcaxa')
    assert place.release(settings(unknown_symbol='drop')).ok
    assert drawn[3:] == [(6, 6)] * 2 and charges(place)[0]['dropped.csv'][0].loss.length == 6


def test_signals_count_and_not_reports(place, drawn):
    """With `report_period` a log of 5 symbols brings 9 reports: 5 symbols can change."""
    place.log('day.csv', 'aabbbccca')
    given = settings(9, policy='adaptive', sampling='period', period=2.0, report_period=1.0,
                     protect=16.0)
    given = replace(given, mechanism=replace(given.mechanism, reports=2))
    told = [place.release(given).outcomes[0] for _ in range(2)]
    assert [(outcome.kind, outcome.length) for outcome in told] == [
        ('released', 5), ('already released', 5)]
    assert drawn == [(5, 5)]
    found, account = charges(place)
    entry, cost = found['day.csv']
    assert (entry.loss.length, entry.length, cost) == (5, 9, 1)
    assert account.unit == Unit(seconds=Fraction(16))


def test_what_is_learned_is_for_k_symbols_of_all_logs():
    loss = LearnSettings(settings()).loss_of({'a': (0, 1), 'b': (5, 9)})
    assert (loss.length, loss.adjacency, loss.per_step) == (None, 12, Fraction(1, 12))


# Archives.

ROUTES = [(i, ['a', 'b', 'x', 'c', 'a', 'a', 'b'][:1 + i % 7]) for i in range(20)]


@pytest.mark.parametrize('mechanism, charge, k, used', [
    ('causal', 'archive', 12, 12), ('causal', 'route', 12, 7), ('auto', 'route', 7, 7),
    ('exponential', 'route', 12, 7), ('causal', 'route', 3, 3)])
def test_an_archive(walks, drawn, mechanism, charge, k, used):
    """Charged once, it keeps k: k rows of any routes may change. By routes: the longest one's."""
    walks.archive(ROUTES)
    walks.sizes = {'chunk_rows': 1, 'threads': 2}  # so that every thread draws
    given = walks.settings(privacy=Privacy(0.5, k), mechanism=mechanism, charge=charge)
    outcome = walks.release(given)
    assert outcome.kind == 'released', outcome
    assert {adjacency for adjacency, *_ in drawn} == {used}
    with Ledger(walks.ledger) as ledger:
        [entry] = ledger.charges()
        loss, account = entry.loss, ledger.account('r1')
        assert account.unit == Unit(k, 'archive')
        assert ledger.spent('r1') == (10 if charge == 'route' else Fraction(1, 2))
        assert loss.length == (7 if charge == 'route' else None) and loss.most_changes == used
        assert Unit(2, 'archive').cost(loss) == account.spent() * 2 / used
        if charge == 'route' and mechanism == 'causal':  # up to 6 symbols in one signal
            x, each = 1 / (2 * used), [6] * (used // 6) + [used % 6]
            assert account.rho == pytest.approx(
                20 * sum(j * x * tanh(j * x / 2) for j in each), rel=1e-12)
        assert ('k = the symbols of the longest' in given.privacy_text) == (charge == 'route')


# The choice.

def test_auto_chooses_for_the_k_of_short_words():
    """By the weight of each of n changes, and not of each of k."""
    given = settings(1000, mechanism='auto', policy='auto')
    mechanisms = Mechanisms(given)
    for n in 3, 17, 1000, 8000:
        assert mechanisms.for_length(n, given.privacy_for(n))[1] == choose(
            given.chain, Privacy(given.privacy.epsilon, min(n, 1000)), given.mechanism, n)


def test_mechanisms_are_not_kept_for_every_length():
    mechanisms = Mechanisms(settings(1000))
    kept = [mechanisms.for_length(n, mechanisms._settings.privacy_for(n))[0]
            for n in range(1, 101)]
    assert [mechanism.privacy.adjacency for mechanism in kept] == [*range(1, 101)]
    assert len(mechanisms._made) == 40
    assert mechanisms.for_length(100, Privacy(1.0, 100))[0] is kept[-1]
