# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which settings of sampling go together, and what they mean for ε and the chain."""
from dataclasses import replace

import pytest
from refusals import refused
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import Reports
from symdp_ros.words.rules import LIVE_UNKNOWN_SYMBOL
from symdp_ros.words.sampling_settings import SamplingSettings

STAYS = Chain({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a')
MOVES = Chain({'a': ['b'], 'b': ['a', 'b']}, 'a')
PERIOD = SamplingSettings('period', period=1.0, input_timeout=1.0)


@pytest.mark.parametrize('chain, changed', [
    (STAYS, {}), (None, {}), (MOVES, {'rule': 'change', 'input_timeout': 0.0}),
    (STAYS, {'unknown_symbol': 'hold'}), (STAYS, {'protect': 30.0, 'moves': 3, 'stay': 20.0})])
def test_settings_that_agree(chain, changed):
    replace(PERIOD, **changed).check(chain)


@pytest.mark.parametrize('chain, changed, setting, sentence', [
    (STAYS, {'rule': 'change'}, 'input_timeout', 'needs sampling: period'),
    (STAYS, {'rule': 'message', 'input_timeout': float('nan')}, 'input_timeout', ''),
    (STAYS, {'rule': 'often'}, 'sampling', 'must be one of message, change, period'),
    (STAYS, {'period': 0.0}, 'period', 'must be a number of seconds > 0'),
    (STAYS, {'period': 9e-4}, 'period', 'must be at least 0.001 s'),
    (STAYS, {'unknown_symbol': 'hold'}, 'unknown_symbol', 'must be one of uniform, drop'),
    (None, {'unknown_symbol': 'drop'}, 'unknown_symbol', 'contradict each other'),
    (MOVES, {}, 'self_loops', "1 of its states cannot, such as 'a': set self_loops: true")])
def test_settings_that_do_not_agree(chain, changed, setting, sentence):
    with refused(ConfigurationError, sentence, setting=setting):
        replace(PERIOD, **changed).check(chain, LIVE_UNKNOWN_SYMBOL)


@pytest.mark.parametrize('given', [{'protect': 30.0}, {'moves': 3}, {'stay': 20.0}])
def test_visits_need_a_period(given):
    graph = TransitionGraph({'a': ['a']}, 'a')
    for use in (SamplingSettings.check, lambda settings: settings.chain(graph)):
        with refused(ConfigurationError, 'needs sampling: period', setting=next(iter(given))):
            use(SamplingSettings(**given))


def test_k_is_how_many_symbols_a_visit_touches():
    assert SamplingSettings().privacy(2.0, 3) == Privacy(2.0, 3)
    visit = SamplingSettings('period', period=15.0, protect=30.0)
    assert visit.privacy(2.0, 0) == Privacy(2.0, 3)
    with refused(ConfigurationError, 'give one of them', setting='protect'):
        visit.privacy(2.0, 2)


def test_nothing_is_hidden_unless_it_is_said():
    for settings in (SamplingSettings(), SamplingSettings('period', period=1.0)):
        with refused(ConfigurationError, 'say what is hidden: protect: 30.0 hides any visit of '
                     '30 s', setting='protect'):
            settings.privacy(2.0, 0)


def test_with_a_period_the_chain_is_that_of_reports():
    graph = TransitionGraph({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a', tick=1.0)
    assert SamplingSettings('change').chain(graph) == graph.chain()
    assert SamplingSettings('period', period=15.0, moves=3).chain(graph) == Reports(
        15.0, moves=3).chain(graph)


def test_zones_need_symbols_that_do_not_count_changes():
    zones = {'A': ['a'], 'B': ['b']}
    for rule in ('message', 'period'):
        assert SamplingSettings(rule).privacy(2.0, 1, zones) == Privacy(2.0, 1, zones)
    assert SamplingSettings('change').privacy(2.0, 1) == Privacy(2.0, 1)
    with refused(ConfigurationError, 'Use sampling: period', setting='zones_file'):
        SamplingSettings('change').privacy(2.0, 1, zones)


def test_how_often_there_is_a_private_symbol():
    for settings, reports, seconds in (
            (SamplingSettings(), 1, 1.0),
            (SamplingSettings(period=30.0, report_period=10.0), 1, 1.0),
            (SamplingSettings('period', period=30.0), 1, 30.0),
            (SamplingSettings('period', period=30.0, report_period=10.0), 3, 10.0)):
        assert (settings.reports, settings.seconds) == (reports, seconds)


def test_of_options():
    given = {'sampling': 'period', 'period': 2.0, 'protect': None, 'other': 1}
    assert SamplingSettings.of(given) == SamplingSettings('period', period=2.0)
    assert SamplingSettings.of({'protect': 30.0}) == SamplingSettings()  # of another option
    for given, rule in (({'sampling': ''}, 'message'), ({'sampling': 'change'}, 'change'),
                        ({'sampling': '', 'protect': 30.0}, 'period'),
                        ({'sampling': 'message', 'protect': 30.0}, 'message')):
        assert SamplingSettings.of(given).rule == rule
