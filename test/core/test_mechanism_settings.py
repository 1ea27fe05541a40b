# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the settings of a mechanism leave open, refuse, and say."""
import pytest
from refusals import refused
from strategies import FOUR
from symdp_ros import ConfigurationError, Privacy
from symdp_ros.core.mechanism_settings import CHOICES, MechanismSettings, WHOLE_WORD
from symdp_ros.core.registry import LIVE, POLICIES


def test_what_looks_at_the_whole_word():
    assert {*CHOICES} - {*WHOLE_WORD} == {'causal, guided'}


def test_what_knows_zones():
    assert [name for name, each in CHOICES.items() if not each.knows_zones] == ['causal, guided']
    assert [policy for policy in POLICIES
            if MechanismSettings(LIVE, policy=policy).knows_zones] == ['adaptive']


def test_a_thousand_reports_are_possible():
    MechanismSettings('causal', reports=1000).check()
    with refused(ConfigurationError, setting='reports'):
        MechanismSettings('causal', reports=1001).check()


@pytest.mark.parametrize('name, value', [('reports', 2), ('delay', 3), ('learn', 'own')])
@pytest.mark.parametrize('selection', ['auto', 'causal', 'live', 'exponential'])
def test_what_the_policy_adaptive_alone_has(selection, name, value):
    settings = MechanismSettings(selection, policy='adaptive', **{name: value})
    if selection in ('auto', 'causal', 'live'):
        settings.check()
    else:
        with refused(ConfigurationError, setting=name):
            settings.check()
    with refused(ConfigurationError, setting=name):
        MechanismSettings(selection, policy='guided', **{name: value}).check()


@pytest.mark.parametrize('settings, name, instead', [
    ({'policy': 'planned'}, 'policy', 'take the policy adaptive'),
    ({'selection': 'permute_and_flip'}, 'selection', 'take exponential')])
def test_what_earlier_versions_had(settings, name, instead):
    with refused(ConfigurationError, instead, setting=name):
        MechanismSettings(**settings).check()


def described(chain=FOUR, **settings):
    """Return what is said besides the chain, ε and k."""
    found = MechanismSettings(**settings).described(chain, Privacy(1.0, 2))
    assert found.pop('chain') == chain.digest()
    assert (found.pop('epsilon'), found.pop('adjacency')) == (1.0, 2)
    return found


def test_what_a_private_word_depends_on():
    models, often = str(FOUR.models(0.5)), FOUR.every(2, 1)
    assert described(selection='live', policy='guided', trust=0.5) == {
        'mechanism': 'live', 'policy': 'guided'}
    assert described(selection='exponential', base='chain', trust=0.5) == {
        'mechanism': 'exponential', 'base': 'chain', 'trust': 0.5, 'models': models}
    assert described(selection='exponential', base='counting', trust=0.5) == {
        'mechanism': 'exponential'}
    adaptive = {'mechanism': 'live', 'policy': 'adaptive', 'trust': 0.5, 'models': models}
    assert described(selection='live', policy='adaptive', trust=0.5) == adaptive
    assert described(selection='live', policy='adaptive', trust=0.5, delay=3, reports=2) == {
        **adaptive, 'delay': 3, 'reports': 2}
    assert described(often, selection='live', policy='adaptive', trust=0.5) == {
        **adaptive, 'models': str(often.models(0.5)), 'tick_of': [FOUR.digest(), 2]}
    assert 'tick_of' not in described(often, selection='live', policy='guided')


@pytest.mark.parametrize('settings, named, moving', [
    ({}, 'mechanism auto', True),
    ({'policy': 'guided'}, 'mechanism auto, policy guided', True),
    ({'base': 'counting', 'policy': 'guided'}, 'mechanism auto, base counting, policy guided',
     False),
    ({'base': 'counting', 'policy': 'adaptive'}, 'mechanism auto, base counting, policy adaptive',
     True),
    ({'selection': 'exponential'}, 'mechanism exponential, base auto', True),
    ({'selection': 'exponential', 'base': 'chain'}, 'mechanism exponential, base chain', True),
    ({'selection': 'exponential', 'base': 'counting'}, 'mechanism exponential, base counting',
     False),
    ({'selection': 'causal', 'policy': 'guided'}, 'mechanism causal, policy guided', False),
    ({'selection': 'live'}, 'policy auto', True),
    ({'selection': 'live', 'policy': 'paper'}, 'policy paper', False),
    ({'selection': 'live', 'policy': 'adaptive'}, 'policy adaptive', True)], ids=str)
def test_settings_in_words(settings, named, moving):
    expected = f'{named}; how it moves: {FOUR.how_it_moves(0.3)}' if moving else named
    assert MechanismSettings(trust=0.3, **settings).text(FOUR) == expected
