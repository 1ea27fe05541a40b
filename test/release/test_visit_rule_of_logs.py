# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releases with `protect`: what follows from it, and which releases are then the same."""
import pytest
from symdp_ros import ReleaseSettings
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.words.visit_rule import settled

RING = TransitionGraph({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
OPEN = {'chain_file': 'ring.yaml', 'mechanism': 'auto', 'base': 'auto', 'policy': 'auto',
        'sampling': '', 'adjacency': 0}
VISIT = {**OPEN, 'protect': 10.0, 'epsilon': 2.0, 'stay': 44.0}


def drawn(**more):
    """Return selection, base, policy and reports for each symbol."""
    sampling, mechanism = settled({**VISIT, **more}, RING)
    return sampling.period, sampling.moves, mechanism.selection, mechanism.reports


@pytest.mark.parametrize('more', [
    {}, {'epsilon': float('nan')}, {'stay': 0.0}, {'protect': 11.0}, {'policy': 'adaptive'},
    {'zones_file': 'wards.yaml'}])
def test_logs_are_drawn_as_live(more):
    period, moves, selection, reports = drawn(**more)
    assert (selection, reports) == ('causal', period) and not moves


@pytest.mark.parametrize('more, found', [
    ({'period': 11.0}, (11.0, 0, 'causal', 11)), ({'period': 5.0}, (5.0, 0, 'causal', 5)),
    ({'report_period': 11.0}, (11.0, 1, 'auto', 1)), ({'moves': 3}, (11.0, 3, 'auto', 1)),
    ({'mechanism': 'exponential'}, (11.0, 1, 'exponential', 1)),
    ({'mechanism': 'live'}, (11.0, 0, 'live', 11)),
    ({'protect': 0.5}, (1.0, 0, 'auto', 1))])
def test_what_is_set_by_hand_is_taken(more, found):
    assert drawn(**more) == found


def test_an_alphabet_has_no_moves_between_symbols():
    alphabet = TransitionGraph({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a', complete=True)
    sampling, mechanism = settled({**VISIT, 'stay': 0.0}, alphabet)
    assert (sampling.period, mechanism.selection, mechanism.reports) == (11.0, 'auto', 1)


def settings(**more):
    return ReleaseSettings.of(RING, {
        'keep': [], 'keep_anyway': [], 'coarse_stamps': 0.0, 'keep_names': False, 'format': '',
        **OPEN, **more})


@pytest.mark.parametrize('visit, by_hand', [
    ({'stay': 60.0}, {'mechanism': 'causal', 'policy': 'adaptive', 'report_period': 1.0}),
    ({}, {'mechanism': 'causal', 'policy': 'adaptive', 'report_period': 1.0})])
def test_the_same_release_is_the_same_however_it_is_named(visit, by_hand):
    given = {'protect': 10.0, 'epsilon': 1.0, **visit}
    found, same = settings(**given), settings(**given, period=11.0, **by_hand)
    assert found.described() == same.described() and found.digest() == same.digest()
    assert found.privacy.adjacency == 1
    found.check()


def test_nothing_is_assumed_of_what_is_hidden():
    with pytest.raises(ConfigurationError, match=r'protect: 30\.0 hides any visit of 30 s'):
        settings(epsilon=1.0)


@pytest.mark.parametrize('more', [{}, {'protect': 30.0}])
def test_rows_of_an_archive_have_no_times(more):
    values = {**OPEN, 'epsilon': 1.0, 'route_key': 'route', 'position_key': 'position',
              'symbol_key': 'symbol', 'subject_key': 'subject', 'stamp_key': 'stamp',
              'keep': [], 'charge': 'archive', 'keep_anyway': [], 'coarse_stamps': 0.0,
              'keep_names': False, 'format': ''}
    with pytest.raises(ConfigurationError, match='protect needs times.*--adjacency'):
        ReleaseSettings.of(RING, {**values, **more}, archive=True)
    assert ReleaseSettings.of(RING, {**values, 'adjacency': 2},
                              archive=True).privacy.adjacency == 2
