# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What decides which releases are the same, and what is taken where nothing is said."""
from dataclasses import replace

import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy, ReleaseSettings
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.ledger.charging import Charging
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.positions import Locator, Place
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.options import PARAMETERS
from symdp_ros.release.settings import ArchiveSettings, WritingSettings
from symdp_ros.words.sampling_settings import SamplingSettings

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


@pytest.mark.parametrize('settings, digest', [
    (release_settings(CHAIN, Privacy(1.0), mechanism='exponential', base='counting'),
     '639e194b0e06501c902cf6de3dae5e62573352e8c80e38e8e17c0aa0cda73b27'),
    (release_settings(CHAIN, Privacy(0.1, 3), mechanism='causal', policy='guided',
                      sampling='period', period=2.5, input_timeout=1.0, symbol_map=('1=a',)),
     '6cfd246f54839fc7a071c42e0de2a0c9a5089fb2b0f86b2404d0323a59eec84c'),
    (release_settings(CHAIN, Privacy(2.0), mechanism='auto', base='counting', policy='guided',
                      sampling='change', topic='/mode', unknown_symbol='split',
                      field='x[0].y'),
     '035f0974f0f1980b989b8856e7abe3a467b287ee7b2a0878ed099098715eb276'),
    (release_settings(CHAIN, Privacy(1.0), mechanism='exponential', base='counting',
                      archive=ArchiveSettings()),
     'fbe034fba604f68618666f6c4ea55777721e8850d66e57f9801892bb33538c9d'),
    (release_settings(CHAIN, Privacy(1.0), mechanism='auto', base='counting', policy='paper',
                      no_region=(), archive=ArchiveSettings()),
     '3109297d0fe46f74020b5adeee388f6fd6e6c0abc376088f7999e8a1194ff1fe')],
    ids=['exponential', 'causal', 'auto', 'archive', 'archive, auto'])
def test_digests_in_old_ledgers_keep_their_meaning(settings, digest):
    """Else what was released before would be released, and paid for, a second time."""
    assert settings.digest() == digest


def test_only_what_knows_how_the_robot_moves_depends_on_trust():
    for mechanism in ('causal', 'auto', 'exponential', 'live'):
        for policy in ('guided', 'adaptive', 'auto'):
            for base in ('chain', 'counting', 'auto'):
                settings = MechanismSettings(mechanism, base, policy=policy)
                described = settings.described(CHAIN, Privacy(1.0))
                knows = policy not in ('guided', 'paper') and mechanism != 'exponential'
                weighted = base != 'counting' and mechanism in ('auto', 'exponential')
                assert ('trust' in described) == (knows or weighted)
                assert ('base' in described) == weighted
                assert ('policy' in described) == (mechanism != 'exponential')


def test_what_is_read_from_messages_is_part_of_the_digest():
    places = {name: Place(float(x), 0.0, (1.0, 0.0, 1.0)) for x, name in enumerate('abc')}
    plain = ReleaseSettings(CHAIN, Privacy(1.0))
    pose = replace(plain, input=InputSettings('pose'), locator=Locator(places))
    different = [
        plain, replace(plain, input=InputSettings(where=('data[0]=1',))),
        replace(plain, input=InputSettings(where=('data[0]=1', 'data[1]=2'))), pose,
        *(replace(pose, input=InputSettings('pose', **{name: value})) for name, value in (
            ('hysteresis', 1.0), ('max_distance', 1.0), ('level_field', 'x'),
            ('map_frame', 'odom'))),
        replace(pose, locator=Locator(places | {'a': replace(places['a'], level='L1')}))]
    assert len({settings.digest() for settings in different}) == len(different)
    same = replace(plain, input=InputSettings(where=('data[1]=2', 'data[0]=1')))
    assert same.digest() == different[2].digest()
    assert replace(pose, locator=Locator(dict(places))).digest() == pose.digest()


@pytest.mark.parametrize('given, limited', [
    ({}, False), ({'subject': 'r1', 'accounting': 'pure'}, False), ({'budget': 1.0}, True),
    ({'subject_budget': 1.0}, True), ({'accounting': 'zcdp'}, True), ({'delta': 1e-6}, True)])
def test_what_only_a_ledger_can_keep(given, limited):
    assert Charging(**given).is_limited == limited


@pytest.mark.parametrize('node', ['privatizer', 'log_release'])
def test_defaults_of_options_are_those_of_settings(node):
    values = {option.name: option.default for option in PARAMETERS[node]}
    selection = 'live' if node == 'privatizer' else 'auto'
    assert MechanismSettings.of(values) == MechanismSettings(selection)
    assert SamplingSettings.of(values) == SamplingSettings()
    assert InputSettings.of(values) == InputSettings(message_type='std_msgs/msg/String')
    assert Charging.of(values) == Charging(accounting='pure')
    assert MapSettings.of(values | {'chain_file': 'a'}) == MapSettings('a')
    if node == 'log_release':
        assert WritingSettings.of(values) == WritingSettings()
