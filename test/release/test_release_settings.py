# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What decides which releases are the same, and what is taken where nothing is said."""
from argparse import ArgumentParser
from dataclasses import replace

import pytest
from symdp_ros import Chain, Privacy
from symdp_ros.cli import release
from symdp_ros.maps.positions import Locator, Place
from symdp_ros.options import PARAMETERS
from symdp_ros.release.settings import ArchiveSettings, PoseInput, ReleaseSettings

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


@pytest.mark.parametrize('settings, digest', [
    (ReleaseSettings(CHAIN, Privacy(1.0), mechanism='exponential', base='counting'),
     '639e194b0e06501c902cf6de3dae5e62573352e8c80e38e8e17c0aa0cda73b27'),
    (ReleaseSettings(CHAIN, Privacy(0.1, 3), mechanism='causal', policy='planned',
                     sampling='period', period=2.5, input_timeout=1.0, symbol_map=('1=a',)),
     'f0cc60f4c8d81a41d03daf291dde1a36850dfb44d6326c378dfb2f248ae7d403'),
    (ReleaseSettings(CHAIN, Privacy(2.0), mechanism='auto', base='counting', sampling='change',
                     topic='/mode',
                     unknown_symbol='split', field='x[0].y'),
     '035f0974f0f1980b989b8856e7abe3a467b287ee7b2a0878ed099098715eb276'),
    (ArchiveSettings(CHAIN, Privacy(1.0), mechanism='exponential', base='counting'),
     'fbe034fba604f68618666f6c4ea55777721e8850d66e57f9801892bb33538c9d'),
    (ArchiveSettings(CHAIN, Privacy(1.0), mechanism='auto', base='counting', policy='paper',
                     no_region=()),
     '3109297d0fe46f74020b5adeee388f6fd6e6c0abc376088f7999e8a1194ff1fe')],
    ids=['exponential', 'causal', 'auto', 'archive', 'archive, auto'])
def test_digests_in_old_ledgers_keep_their_meaning(settings, digest):
    """Else what was released by version 0.3 would be released, and paid for, a second time."""
    assert settings.digest() == digest


def test_only_the_policy_adaptive_and_the_base_chain_depend_on_trust():
    for mechanism in ('causal', 'auto', 'exponential'):
        for policy in ('guided', 'planned', 'adaptive'):
            for base in ('chain', 'counting'):
                described = ReleaseSettings(CHAIN, Privacy(1.0), mechanism=mechanism, base=base,
                                            policy=policy).described()
                adaptive = policy == 'adaptive' and mechanism != 'exponential'
                weighted = base == 'chain' and mechanism != 'causal'
                assert ('trust' in described) == (adaptive or weighted)
                assert ('base' in described) == weighted


def test_what_is_read_from_messages_is_part_of_the_digest():
    plain = ReleaseSettings(CHAIN, Privacy(1.0))
    places = {name: Place(float(x), 0.0, (1.0, 0.0, 1.0)) for x, name in enumerate('abc')}
    pose = PoseInput(Locator(places), places)
    different = [
        plain, replace(plain, where=('data[0]=1',)),
        replace(plain, where=('data[0]=1', 'data[1]=2')), replace(plain, pose=pose),
        *(replace(plain, pose=replace(pose, **{name: value})) for name, value in (
            ('hysteresis', 1.0), ('max_distance', 1.0), ('level_field', 'x'),
            ('map_frame', 'odom'), ('places', places | {'a': replace(places['a'], level='L1')})))]
    assert len({settings.digest() for settings in different}) == len(different)
    assert plain.digest() == replace(plain, where=(), pose=None).digest()
    same = replace(plain, where=('data[1]=2', 'data[0]=1'))
    assert same.digest() == different[2].digest()
    other = replace(pose, locator=Locator(places), places=dict(places))
    assert replace(plain, pose=other).digest() == different[3].digest()


def test_defaults_are_the_same_everywhere():
    """Policy guided, mechanism auto: in Python, on the command line and in the nodes."""
    for settings in (ReleaseSettings, ArchiveSettings):
        defaults = settings(CHAIN, Privacy(1.0))
        assert (defaults.policy, defaults.mechanism) == ('guided', 'auto')
        assert (defaults.base, defaults.trust) == ('chain', 0.8)
    parser = ArgumentParser()
    release.add_parser(parser.add_subparsers())
    options = parser.parse_args(['release', 'x', '-o', 'y', '--chain', 'z', '--epsilon', '1'])
    assert (options.policy, options.mechanism) == ('guided', 'auto')
    for node in ('belief', 'log_release', 'privatizer'):
        defaults = {option.name: option.default for option in PARAMETERS[node]}
        assert defaults['policy'] == 'guided'
        assert defaults.get('mechanism', 'auto') == 'auto'
