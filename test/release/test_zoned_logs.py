# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that are released with zones: what is told, what they cost, and what does not add up."""
import pytest
from release_settings import release_settings
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.recovery import recover
from symdp_ros.logs import read_log

CORRIDOR = Chain({'a': ['a', 'b'], 'b': ['a', 'b', 'c'], 'c': ['b', 'c', 'd'], 'd': ['c', 'd']},
                 'a')
ZONES = {'west': ['a', 'b'], 'east': ['c', 'd']}
WORD = list('aabbccddccbbaabbccdd')


def zone_of(state):
    return 'west' if state in 'ab' else 'east'


def release(place, settings, name='day', subject='r1'):
    path, before = place.log(f'{name}.csv', WORD).path, {*place.visible()}
    [outcome] = [outcome for outcome in place.release(settings, subject).outcomes
                 if outcome.log_id.startswith(name)]
    path.unlink()
    if outcome.kind != 'released':
        return outcome, []
    [found] = {*place.visible()} - before
    return outcome, [symbol for _, symbol in read_log(place.releases / found)]


def settings(epsilon=1.0, zones=ZONES, **more):
    return release_settings(CORRIDOR, Privacy(epsilon, 1, zones), **more)


@pytest.mark.parametrize('mechanism', [
    {'mechanism': 'exponential'}, {'mechanism': 'exponential', 'base': 'counting'},
    {'mechanism': 'causal', 'policy': 'adaptive'}, {}], ids=str)
def test_a_release_has_the_zones_of_its_log(place, mechanism):
    outcome, word = release(place, settings(**mechanism))
    assert outcome.kind == 'released' and CORRIDOR.is_feasible(word)
    assert [zone_of(symbol) for symbol in word] == [zone_of(symbol) for symbol in WORD]


def test_what_knows_no_zones_is_refused(place):
    with pytest.raises(ConfigurationError) as raised:
        release(place, settings(mechanism='causal', policy='guided'))
    assert raised.value.setting == 'policy'
    assert place.visible() == []


def test_zones_are_part_of_what_a_release_is():
    assert settings().digest() == settings().digest()
    digests = {settings(zones=zones).digest() for zones in (
        ZONES, None, {'west': ['a'], 'east': ['b', 'c', 'd']})}
    assert len(digests) == 3


def test_with_a_period_a_zone_is_told_with_each_report(place):
    """Of 20 symbols one in four is drawn; all zones are told."""
    outcome, word = release(place, settings(
        epsilon=0.0, mechanism='causal', policy='adaptive', sampling='period', period=4.0,
        report_period=1.0))
    assert [zone_of(symbol) for symbol in word] == [zone_of(symbol) for symbol in WORD]


def test_a_unit_with_zones_counts_releases_without_any_but_not_the_reverse(place):
    assert release(place, settings())[0].kind == 'released'
    assert release(place, settings(zones=None), name='other')[0].kind == 'released'
    with Ledger(place.ledger) as ledger:
        account = ledger.account('r1')
        assert account.spent() == 2 and 'inside the zones ' in str(account.unit)
        assert ledger.problems() == []
    release(place, settings(zones=None), name='first', subject='r2')
    for refused, subject in ((settings(), 'r2'),
                             (settings(zones={'all': ['a', 'b', 'c', 'd']}), 'r1')):
        outcome, _ = release(place, refused, name='second', subject=subject)
        assert outcome.kind != 'released' and 'the two cannot be added' in outcome.reason


def test_a_recovered_ledger_keeps_the_zones_of_its_unit(place):
    release(place, settings())
    with Ledger(place.ledger) as ledger:
        unit = ledger.account('r1').unit
    (place.ledger).unlink()
    recover(place.ledger, {})
    with Ledger(place.ledger) as ledger:
        assert ledger.account('r1').unit == unit and unit.zones is not None


@pytest.mark.parametrize('charge', ['archive', 'route'])
@pytest.mark.parametrize('mechanism', [
    {'mechanism': 'exponential', 'base': 'chain'}, {'mechanism': 'causal', 'policy': 'adaptive'}],
    ids=str)
def test_routes_of_an_archive_have_the_zones_of_theirs(walks, mechanism, charge):
    """An unknown symbol counts as lying in the zone told last."""
    zones = {'start': ['a'], 'rest': ['b', 'c']}
    words = ['abb', 'acx', 'ccb', 'aab', 'abca']
    walks.archive([(i, word) for i, word in enumerate(words * 20)])
    settings = walks.settings(privacy=Privacy(2.0, 2, zones), charge=charge, **mechanism)
    assert walks.release(settings).kind == 'released'
    for (_, word), true in zip(walks.read(), words * 20, strict=True):
        assert walks.chain.is_feasible(word)
        told = ['start' if symbol == 'a' else 'rest' for symbol in true]
        found = ['start' if symbol == 'a' else 'rest' for symbol in word]
        assert found == told
