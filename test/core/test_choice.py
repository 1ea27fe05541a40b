# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `auto` takes: by a rule, from public data alone (`studies.choice` holds it to errors)."""
import subprocess
import sys

import pytest
from strategies import FOUR, grid
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.core import choice
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import CHOICES, MechanismSettings
from symdp_ros.core.online.targets import DENSE_STATES
from symdp_ros.core.registry import AUTO, LIVE

STREETS = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')
ZONES = {'east': ['a', 'b'], 'west': ['c', 'd']}
EVERYTHING = ('exponential', 'exponential, counting', 'causal, guided', 'causal, adaptive')


@pytest.mark.parametrize('settings, names', [
    ({}, EVERYTHING),
    ({'selection': 'exponential'}, EVERYTHING[:2]),
    ({'selection': 'causal'}, EVERYTHING[2:]),
    ({'base': 'counting'}, EVERYTHING[1:]),
    ({'base': 'chain'}, (EVERYTHING[0], *EVERYTHING[2:])),
    ({'policy': 'guided'}, (*EVERYTHING[:2], 'causal, guided')),
    ({'policy': 'paper', 'base': 'chain'}, ('exponential', 'causal, paper')),
    ({'selection': 'causal', 'policy': 'paper'}, ('causal, paper',)),
    ({'selection': LIVE}, ('live, guided', 'live, adaptive')),
    ({'selection': LIVE, 'policy': 'guided', 'base': 'chain'}, ('live, guided',)),
    ({'selection': LIVE, 'policy': 'paper'}, ('live, paper',)),
    ({'selection': LIVE, 'delay': 3}, ('live, adaptive, delay 3',)),
    ({'reports': 2}, ('causal, adaptive',)),
    ({'selection': LIVE, 'reports': 2}, ('live, adaptive',))], ids=str)
def test_what_is_given_restricts_what_is_available(settings, names):
    given = MechanismSettings(**settings)
    found = given.available()
    assert tuple(found) == names
    assert choose(FOUR, Privacy(1.0), given, 12) in found.values()
    for name, each in found.items():
        assert each.name == name and tuple(each.available()) == (name,)
        assert choose(FOUR, Privacy(1.0), each, 12) == each
        if name in CHOICES:
            made = each.made(FOUR, Privacy(1.0))
            expected = CHOICES[name]
            assert made.selection == expected.selection
            assert made.online is None or made.online.policy == expected.policy
            assert expected.base in (made.base, AUTO)
        elif name.startswith('live'):
            online = each.made(FOUR, Privacy(1.0))
            assert (online.policy, online.delay) == (each.policy, each.delay)


@pytest.mark.parametrize('settings, epsilon, k, length, taken', [
    ({}, 0.4, 1, 51, 'causal, adaptive'), ({}, 0.4, 1, 52, 'exponential'),
    ({}, 1.2, 3, 52, 'exponential'), ({}, 0.5, 1, 100, 'causal, adaptive'),
    ({}, 0.0, 1, 100, 'causal, adaptive'),
    ({'base': 'counting'}, 1.0, 1, 100, 'causal, adaptive'),
    ({'policy': 'guided'}, 1.0, 1, 4, 'exponential'),
    ({'policy': 'guided'}, 3.0, 1, 100, 'exponential'),
    ({'policy': 'guided'}, 3.1, 1, 100, 'causal, guided'),
    ({'policy': 'guided', 'base': 'counting'}, 1.0, 1, 100, 'causal, guided'),
    ({'selection': 'causal'}, 1.0, 1, 100, 'causal, adaptive'),
    ({'selection': 'exponential'}, 5.0, 1, 100, 'exponential'),
    *(({'selection': LIVE}, epsilon, k, 0, 'live, adaptive')
      for epsilon in (0.0, 1.0, 60.0) for k in (1, 100))])
def test_the_rule(settings, epsilon, k, length, taken):
    assert choose(STREETS, Privacy(epsilon, k), MechanismSettings(**settings),
                  length).name == taken


def test_the_rule_goes_by_how_predictable_a_robot_is():
    """By hand: a move of one model has ln 2 nats, and one that is nearly sure close to none."""
    fair = Chain({'a': {'a': .5, 'b': .5}, 'b': {'b': .5, 'c': .5}, 'c': {'c': .5, 'a': .5}}, 'a')
    sure = Chain({'a': {'a': .001, 'b': .999}, 'b': {'b': .001, 'c': .999},
                  'c': {'c': .001, 'a': .999}}, 'a')
    given, nats = MechanismSettings(trust=1.0), 0.6931471805599453
    assert choice._entropy(fair, 1.0) == pytest.approx(nats)
    assert 0 < choice._entropy(sure, 1.0) < 0.01 < choice._entropy(sure, 0.8)
    zones = {'one': ['a', 'b'], 'other': ['c']}
    for zoned, each, most in (None, 45, 0.35), (zones, 45, 0.35):  # .7 − .5·nats
        shortest = int(each * nats / 0.25) + 1
        for chain, epsilon, length, taken in (
                (fair, 0.25, shortest, 'exponential'),
                (fair, 0.25, shortest - 1, 'causal, adaptive'),
                (fair, most, 1_000, 'exponential'),
                (fair, most + 0.01, 1_000, 'causal, adaptive'),
                (sure, 0.5, 1, 'exponential'), (sure, most + 0.3, 100, 'exponential'),
                (sure, 1.3, 100, 'causal, adaptive')):
            assert choose(chain, Privacy(epsilon, zones=zoned), given, length).name == taken
    assert choice._MOST_STATES == DENSE_STATES


@pytest.mark.parametrize('symbols, stays, selection, epsilon, taken', [
    (8, None, LIVE, 2.0, 'live, adaptive'), (5_000, None, LIVE, 2.0, 'live, adaptive'),
    (8, None, 'auto', 1.1, 'exponential'), (8, None, 'auto', 1.2, 'causal, adaptive'),
    (30, 0.97, 'auto', 2.0, 'exponential'), (30, 0.97, 'auto', 2.1, 'causal, adaptive'),
    (8, None, 'exponential', 1.9, 'exponential'),
    (8, None, 'exponential', 2.3, 'exponential, counting'),
    (8, 0.97, 'exponential', 4.0, 'exponential'),
    (8, 0.97, 'exponential', 6.0, 'exponential, counting'),
    (1, None, 'exponential', 2.0, 'exponential')])
def test_where_all_can_follow_all(symbols, stays, selection, epsilon, taken):
    """Weights of true symbols at ε/2k, of words that stay, or at ε/k, of words all alike."""
    chain = Chain.complete(map(str, range(symbols)), '0', stays)
    length = 0 if selection == LIVE else 100
    assert choose(chain, Privacy(epsilon), MechanismSettings(selection), length).name == taken


def test_in_zones():
    for epsilon, taken in (0.45, 'exponential'), (0.5, 'causal, adaptive'):
        privacy = Privacy(epsilon, zones=ZONES)
        assert choose(STREETS, privacy, MechanismSettings(), 100).name == taken
        assert choose(STREETS, privacy, MechanismSettings(LIVE)).name == 'live, adaptive'


def test_tables_that_take_long_are_not_made(monkeypatch):
    """By states times moves: a chain of few states may have many moves."""
    chain, privacy = grid(5), Privacy(2.0)
    for pairs, adaptive in (len(chain) * chain.edge_count, True), (
            len(chain) * chain.edge_count - 1, False):
        monkeypatch.setattr(choice, '_MOST_PAIRS', pairs)
        assert choose(chain, privacy, MechanismSettings(LIVE)).policy == (
            'adaptive' if adaptive else 'guided')
        assert choose(chain, privacy, MechanismSettings(), 50).name == (
            'causal, adaptive' if adaptive else 'exponential')
        assert choose(chain, Privacy(5.0), MechanismSettings(), 50).name == (
            'causal, adaptive' if adaptive else 'causal, guided')
        assert choose(chain, privacy, MechanismSettings(LIVE, delay=1)).policy == 'adaptive'


def test_nothing_is_made_to_choose():
    """In a process of its own: neither tables nor simulations are as much as imported."""
    run = subprocess.run([sys.executable, '-c', CHOOSES], capture_output=True, text=True,
                         check=False)
    assert (run.stdout, run.stderr) == ('causal, adaptive live, adaptive []\n', '')


CHOOSES = """
import sys
from symdp_ros.core.chain import Chain
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.privacy import Privacy
chain = Chain({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a')
print(*(choose(chain, Privacy(2.0), MechanismSettings(selection), 20).name
        for selection in ('auto', 'live')), [name for name in sys.modules if name.startswith((
            'symdp_ros.core.o', 'symdp_ros.analysis', 'scipy'))])
"""


def test_what_is_wrong_is_refused():
    for settings in ({'policy': 'plan'}, {'base': 'none'}, {'trust': 2.0}, {'selection': 'best'},
                     {'selection': LIVE, 'delay': -1}, {'selection': LIVE, 'delay': 1,
                                                        'policy': 'guided'}):
        with pytest.raises(ConfigurationError):
            given = choose(FOUR, Privacy(1.0), MechanismSettings(**settings), 5)
            given.offline(FOUR, Privacy(1.0))
