# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`OnlineMechanism.skip`: reports that nobody publishes, in a small part of the time."""
from itertools import pairwise
from random import Random

from adaptive_reference import HABIT, MODELS, PERIOD
import pytest
from refusals import refused
from strategies import COMPLETE, FOUR, grid, RING, sharp, thorough
from symdp_ros import ConfigurationError, OnlineMechanism, Privacy
from symdp_ros.core.online.adaptive.words import Words

DELAYS = [0, thorough(1), 2, thorough(5), 30, None]
SETTINGS = {
    'plain': {}, 'reports': {'reports': 3}, 'own': {'learn': 'own'},
    'own reports': {'learn': 'own', 'reports': 3},
}
CHAINS = {**MODELS, 'ring': RING, 'grid': grid(3), 'complete': COMPLETE}


def mechanisms(chain, delay, zones=None, **settings):
    """Return one that is to skip, and one that is to tick."""
    return [OnlineMechanism(chain, Privacy(2.0, 1, zones), policy='adaptive', delay=delay,
                            random=Random(2), **settings) for _ in range(2)]


def walk(chain, skipped, ticked, random, symbols=12):
    """Draw alike of both, and leave out reports in between; yield how many, each time."""
    robot, stride = chain.initial_state, skipped.stride
    for _ in range(symbols):
        left = random.choice([0, 1, 2, 7]) * stride + skipped.ticks_left
        if left:
            report = skipped.skip(left)
            last = [ticked.tick() for _ in range(left)][-1]
            assert (report is None) == (last is None)
            yield left
        robot = random.choice(chain.successors(robot))
        # The same signal for both, whatever their reports: cells do not depend on these.
        signal = random.choice([*skipped.current_distribution(None)])
        for mechanism in (skipped, ticked):
            mechanism.advance(signal, robot)


@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('chain, settings', [
    pytest.param(chain, settings, id=f'{name}-{setting}', marks=pytest.mark.thorough
                 if setting in ('reports', 'own') and chain is not COMPLETE
                 or name in ('ring', 'split', 'parted', 'restless') else ())
    for name, chain in CHAINS.items() for setting, settings in SETTINGS.items()
    if chain is not COMPLETE or settings in ({}, {'learn': 'own'})])
def test_what_is_known_is_the_same_as_after_ticks(chain, settings, delay):
    skipped, ticked = mechanisms(chain, delay, **settings)
    for _ in walk(chain, skipped, ticked, Random(1)):
        assert skipped._word._word.joint.tolist() == ticked._word._word.joint.tolist()
        assert skipped.exact_current_distribution(None) == ticked.exact_current_distribution(None)
        if not delay:  # nothing is saved there: cells may depend on the last report
            assert skipped.state == ticked.state


@pytest.mark.parametrize('delay', [1, thorough(3), 30])
@pytest.mark.parametrize('settings', sharp(SETTINGS, 'plain', 'own reports'))
@pytest.mark.parametrize('zones', [None, {'A': ['s0', 's1'], 'B': ['s2', 's3']}],
                         ids=['no zones', 'zones'])
def test_a_restart_after_reports_that_were_missed_changes_nothing(settings, zones, delay):
    mechanism, _ = mechanisms(FOUR, delay, zones, **settings)
    all_alike, random = [mechanism], Random(3)
    for _ in range(9):
        left = random.choice([0, 1, 2, 7, 40]) * mechanism.stride + mechanism.ticks_left
        if left:
            for restored_before in True, False:
                all_alike.append(mechanism.another())
                all_alike[-1].restore(mechanism.state)
                if restored_before:
                    assert len({one.skip(left) for one in all_alike}) == 1
            del all_alike[1:-4]
        signal = random.choice([*mechanism.current_distribution(None)])
        assert len({one.advance(signal) for one in all_alike}) == 1
        assert len({one.state for one in all_alike}) == 1
    assert len(all_alike) > 4
    assert len({one.skip(1) for one in all_alike}) == 1  # no block is left to be drawn of
    assert len({tuple(one.finish()) for one in all_alike}) == 1


@pytest.mark.parametrize('delay', [0, 1, 3, 30])
@pytest.mark.parametrize('chain', [RING, PERIOD, HABIT], ids=['ring', 'period', 'habit'])
def test_what_is_skipped_is_a_route(chain, delay):
    skipped, ticked = mechanisms(chain, delay)
    route = []
    for _ in walk(chain, skipped, ticked, Random(4), 20 + delay):
        route.clear()
        for _ in range(9):
            report = skipped.skip(1)
            ticked.tick()
            route += [] if report is None else [report]
        assert all(b in chain.successors(a) for a, b in pairwise(route))
    assert len(route) == 9


def test_reports_that_were_missed_are_not_chosen(monkeypatch):
    """Else a node whose symbols take longer than its period would fall ever further behind."""
    skipped, _ = mechanisms(FOUR, 30)
    for symbol in 'abcdef' * 10:
        skipped.step(None if symbol == 'a' else FOUR.states[ord(symbol) % 4])
    calls = []
    for name in 'plan', 'prepare':
        def counted(*given, name=name, method=getattr(Words, name)):
            calls.append(name)
            return method(*given)

        monkeypatch.setattr(Words, name, counted)
    assert skipped.skip(500) in FOUR.states
    assert sorted(calls) == ['plan', 'prepare'], 'as often as for one'
    assert skipped.tick() in FOUR.states and len(calls) > 2


def test_without_signals_there_is_nothing_to_skip():
    with refused(ConfigurationError, 'without a symbol nothing can be published'):
        OnlineMechanism(FOUR, Privacy(2.0)).skip(2)
