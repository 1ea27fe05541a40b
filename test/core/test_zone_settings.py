# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones as a setting: which are refused, who knows them, and when two are the same."""
import pytest
from refusals import refused
from strategies import COMPLETE
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       PrivacyError)
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.zones import Zones
from zone_checks import ONE_WAY, privacy_of


@pytest.mark.parametrize('zones, said', [
    ({}, 'must be a mapping'), ([('A', ['a'])], 'must be a mapping'), ({'A': []}, "'A' without"),
    ({'A': 'abcd'}, 'the list of the states'), ({1: ['a']}, 'name each'), ({'': ['a']}, 'name'),
    ({'A': ['a', 1]}, 'strings'), ({'A': ['a', 'a']}, "'a' twice in 'A'"),
    ({'A': ['a'], 'B': ['b', 'a']}, "'a' in 'A' and in 'B'"), ({'A': None}, 'the list')])
def test_zones_that_are_none(zones, said):
    with refused(PrivacyError, said, setting='zones'):
        Privacy(1.0, zones=zones)


@pytest.mark.parametrize('zones, said', [
    ({'A': ['a', 'b'], 'B': ['c']}, "leave out the state 'd'"),
    ({'A': ['a', 'b', 'c', 'd', 'e']}, "have the state 'e'")])
def test_zones_of_another_chain(zones, said):
    for kind, options in (OnlineMechanism, {'policy': 'adaptive'}), (OfflineMechanism, {}):
        with refused(PrivacyError, said, setting='zones'):
            kind(ONE_WAY, Privacy(1.0, zones=zones), **options)


@pytest.mark.parametrize('missing, said', [
    (1, "the state '35' of"), (5, "the states '31', '32', '33', '34', '35' of"),
    (6, "the states '30', '31', '32', '33', '34' and 1 more of")])
def test_some_of_many_states_without_a_zone_are_named(missing, said):
    chain = Chain({f'{i}': [f'{i}'] for i in range(36)}, '0')
    with refused(PrivacyError, f'leave out {said} the chain', setting='zones'):
        OnlineMechanism(chain, Privacy(1.0, zones={'A': chain.states[:-missing]}),
                        policy='adaptive')


def test_who_does_not_know_zones_says_so():
    chain, privacy = ONE_WAY, privacy_of({'A': 'ab', 'B': 'cd'}, 1.0)
    for policy in ('paper', 'guided'):
        with refused(ConfigurationError, 'zones', setting='policy'):
            OnlineMechanism(chain, privacy, policy=policy)
        with refused(ConfigurationError, 'zones', setting='policy'):
            OfflineMechanism(chain, privacy, selection='causal', policy=policy)
    with refused(ConfigurationError, 'Chain.complete', setting='zones'):
        OnlineMechanism(COMPLETE, Privacy(1.0, zones={'A': COMPLETE.states}), policy='adaptive')


def test_what_auto_leaves_open():
    zones = Zones({'A': ['a', 'b'], 'B': ['c', 'd']})
    assert [*MechanismSettings().available(zones)] == [
        'exponential', 'exponential, counting', 'causal, adaptive']
    assert [*MechanismSettings(selection='live').available(zones)] == ['live, adaptive']
    assert [*MechanismSettings(selection='causal').available(zones)] == ['causal, adaptive']


def test_zones_are_values():
    one = Privacy(1, zones={'B': ('y',), 'A': iter(['x', 'z'])})
    other = Privacy(1, zones=Zones({'A': ['z', 'x'], 'B': ['y']}))
    assert one == other and hash(one) == hash(other) and repr(one) == repr(other)
    assert one.zones.digest() == other.zones.digest() and one.zones.alone == ('y',)
    assert dict(one.zones) == {'A': ('x', 'z'), 'B': ('y',)} and one.zones.of('z') == 'A'
    assert one != Privacy(1) and one != Privacy(1, zones={'A': ['x', 'y', 'z']})
    assert repr(one) == 'Privacy(epsilon=1.0, adjacency=1, zones=<Zones: 2 zones of 3 states>)'
    chain = Chain({s: ['x', 'y', 'z'] for s in 'xyz'}, 'x')
    described = [MechanismSettings(selection='live', policy='adaptive').described(chain, privacy)
                 for privacy in (one, other, Privacy(1))]
    assert described[0] == described[1] != described[2]
    with pytest.raises(TypeError):
        one.zones['A'] = ()
