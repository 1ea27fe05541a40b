# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy adaptive with zones: exactly private inside them, and every zone as told.

All words with the same zones are compared, by all their signals, in fractions. Here each symbol
has a signal of its own; blocks are in test_blocks_in_zones.py, what is known and reported in
test_zones_reports.py, restarts in test_zones_restarts.py.
"""
from fractions import Fraction
from math import prod
from random import Random

from offline_checks import EXCESS
from online_checks import assert_drawn_from_the_law, SignalChances
import pytest
from strategies import flat, FOUR, replayable_random, sharp, thorough
from symdp_ros import OfflineMechanism
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.zones import Told
from zone_checks import (assert_private_in_zones, by_zones, large, made, privacy_of, told, within,
                         ZONED)

pytestmark = pytest.mark.usefixtures('single_signals')

for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'one-way', 'trap', 'alone', 'four'))


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, delay, length', [
    thorough(0.0, 1, 0, 3), (1.0, 1, 0, 4), (5.0, 2, 2, 3), thorough(2.0, 2, None, 4),
    thorough(700.0, 1, 1, 3)])
@for_all_zones
def test_all_pairs_of_words_with_the_same_zones(chain, zones, epsilon, adjacency, delay, length):
    length = min(length, 3 if len(zones) == 1 else 4)  # of one zone there are many pairs
    mechanism = made(chain, zones, epsilon, adjacency, delay=delay)
    assert_private_in_zones(chain, mechanism.privacy, length, SignalChances(mechanism).law)


@pytest.mark.parametrize('reports, length', [(2, 4), (3, 4)])
@for_all_zones
def test_pairs_that_differ_in_what_is_drawn_for(chain, zones, reports, length):
    """Between two draws symbols tell their zones alone; they may differ in any number."""
    mechanism = made(chain, zones, 3.0, reports=reports, delay=1)
    law = SignalChances(mechanism).law
    for some in by_zones(mechanism.privacy, chain, length).values():
        by_drawn = {}
        for word in some:
            by_drawn.setdefault(word[::reports], []).append(law(word))
        assert all(found == same[0] for same in by_drawn.values() for found in same)


def test_the_search_finds_an_excess(monkeypatch):
    chain, zones = ZONED['four']
    monkeypatch.setattr('symdp_ros.core.online.response.exp_lower_bound',
                        lambda exponent: exp_lower_bound(exponent) * (1 + Fraction(1, 10**6)))
    mechanism = made(chain, zones, 4.0)
    with pytest.raises(AssertionError, match=EXCESS):
        assert_private_in_zones(chain, mechanism.privacy, 2, SignalChances(mechanism).law)


@for_all_zones
def test_at_epsilon_zero_a_word_tells_its_zones_alone(chain, zones):
    mechanism = made(chain, zones, 0.0)
    law = SignalChances(mechanism).law
    for some in by_zones(mechanism.privacy, chain, 3).values():
        assert len({tuple(law(word).items()) for word in some}) == 1


@pytest.mark.parametrize('delay', [0, 2, None])
def test_at_epsilon_zero_equal_randomness_makes_equal_bytes(delay):
    chain, zones = large()
    random = Random(3)
    one = [random.choice(['0,0', '2,2', '1,0', None]) for _ in range(40)] + ['5,5', '3,4', '0,1']
    other = [random.choice(['0,0', '2,1', '0,2']) for _ in range(40)] + ['4,3', None, '2,2']
    seen = []
    for word in (one, other):
        mechanism = made(chain, zones, 0.0, delay=delay, random=Random(9))
        reports = [mechanism.step(symbol) for symbol in word]
        seen.append((reports, mechanism.state, mechanism.zone, mechanism.finish()))
        seen[-1] += (made(chain, zones, 0.0, delay=delay, random=Random(9)).privatize(word),)
        offline = OfflineMechanism(chain, privacy_of(zones, 0.0), random=Random(9))
        seen[-1] += (offline.privatize(word),)
    assert seen[0] == seen[1]


@for_all_zones
def test_signals_name_the_zones_told_and_where_no_route_has_them(chain, zones):
    mechanism = made(chain, zones, delay=1)
    privacy, law = mechanism.privacy, SignalChances(mechanism).law
    for zone_word, some in by_zones(privacy, chain, 4).items():
        possible = within(privacy, chain, zone_word)
        for signals in law(some[-1]):
            for z, zone, (states, has) in zip(signals, zone_word, possible):
                assert (z == Told(zone)) == (has is None)
                assert has is None or z in states and privacy.zones.of(z) == zone


# What is drawn.

@pytest.mark.parametrize('epsilon, delay, reports', [
    thorough(0.7, 0, 1), (3.0, 1, 2), thorough(3.0, None, 1)])
@for_all_zones
def test_signals_and_reports_are_drawn_from_their_law(chain, zones, epsilon, delay, reports):
    mechanism = made(chain, zones, epsilon, 2, delay=delay, reports=reports,
                     random=replayable_random())
    word = [chain.states[-1], None, chain.initial_state, chain.states[1]]
    found = SignalChances(mechanism).law(word)
    assert mechanism.law.of_signals.exact_probabilities(word, [*found]) == [*found.values()]
    assert_drawn_from_the_law(mechanism, word)


@pytest.mark.parametrize('symbol', [None, 's1'])
def test_every_cell_is_drawn(symbol):
    """The state tells which: in 99 draws every cell comes up, and no other number."""
    mechanism, drawn = made(*ZONED['all'], 0.5, delay=2, random=Random(1)), {}
    for _ in range(99):
        cells = len(mechanism.exact_current_distribution(symbol))
        mechanism.step(symbol)
        drawn.setdefault(cells, []).append(int.from_bytes(mechanism.state[-13:-9], 'little'))
    assert all({*found} <= {*range(1, cells + 1)} for cells, found in drawn.items())
    often = max(drawn, key=lambda cells: len(drawn[cells]))
    assert often > 1 and {*drawn[often]} == {*range(1, often + 1)}


@pytest.mark.parametrize('delay', [0, 2, None])
def test_batches_are_decoded_as_single_words_are(delay):
    chain, zones = large()
    mechanism, random = made(chain, zones, 1.0, delay=delay, random=Random(3)), Random(5)
    names = [*mechanism.privacy.zones]
    words = [[random.choice([*chain.states[-9:], None]) for _ in range(length)]
             for length in (90, 0, 0, 1, 90, 0, 90, 90, 0)]
    words[3], words[6][:2] = [None], [None, None]  # in the zone where words begin
    symbols, offsets = flat(chain, words)
    outputs, drawn = mechanism.draw_signals(symbols, offsets)
    for i, word in enumerate(words):
        output, signals = (found[offsets[i]:offsets[i + 1]] for found in (outputs, drawn))
        signals = [chain.states[i] if i >= 0 else Told(names[-1 - i]) for i in signals]
        assert mechanism.decode(signals) == [chain.states[i] for i in output]
        assert tuple(z.zone if isinstance(z, Told) else mechanism.privacy.zones.of(z)
                     for z in signals) == told(mechanism.privacy, chain, word)


def test_words_that_differ_in_their_zones_are_told_apart():
    """That is what is told: no signals are common to both."""
    law = SignalChances(made(FOUR, ZONED['four'][1], 1.0)).law
    assert not law(('s1', 's1')).keys() & law(('s1', 's2')).keys()
    assert prod(law(('s1', 's1')).values())
