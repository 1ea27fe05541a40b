# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Blocks of the policy adaptive inside zones: the promise, where they end, what is known and drawn.

All words with the same zones, and all their signals, are enumerated, in fractions. Blocks are
mostly forced to be of one size, with cells that mean nothing: the promise holds whatever they are.
"""
from fractions import Fraction
from itertools import product
from math import exp
from random import Random

from adaptive_reference import PERIOD
from block_checks import ENDS, made, ROW
import numpy as np
from offline_checks import EXCESS
from online_checks import assert_drawn_from_the_law, block_under_way, SignalChances
import pytest
from refusals import refused
from strategies import sharp, thorough
from symdp_ros import ChainError
from symdp_ros.analysis.belief import smooth_together
from symdp_ros.core.online.adaptive import words as words_module
from symdp_ros.core.online.counts import response_of
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.zones import Count, Told
from zone_checks import assert_private_in_zones, ONE_WAY, TRAP, within

ZONED = {
    'row': (ROW, {'A': 'ab', 'B': 'cd'}), 'three': (ROW, {'A': 'abc', 'B': 'd'}),
    'one-way': (ONE_WAY, {'A': 'ab', 'B': 'cd'}), 'trap': (TRAP, {'A': 'bc', 'B': 'ad'}),
    'alone': (ONE_WAY, {'A': 'a', 'B': 'bc', 'C': 'd'}), 'ends': (ENDS, {'A': 'ab', 'B': 'cd'}),
    'period': (PERIOD, {'A': 'ac', 'B': 'bd'}),
}
for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'row', 'one-way', 'ends', 'period'))


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, delay, size', [
    (1.0, 1, None, (3, 1)), (1.0, 2, 3, (4, 1)), thorough(2.0, 2, None, (2, 2)),
    thorough(3.0, 1, 1, (2, 1)), thorough(2.0, 1, 2, (3, 2))])
@for_all_zones
def test_all_pairs_of_words_with_the_same_zones(chain, zones, epsilon, adjacency, delay, size,
                                                forced):
    """Known, infeasible and unknown symbols; whatever the blocks are."""
    forced(*size)
    mechanism = made(chain, zones, epsilon, adjacency, delay=delay)
    law = SignalChances(mechanism).law
    assert_private_in_zones(chain, mechanism.privacy, 4, law)
    assert any(isinstance(z, Count) for z in next(iter(law(('a',) * 4))))


@pytest.mark.parametrize('epsilon, adjacency, delay, size, reports', [
    (2.0, 2, 1, (2, 1), 2), (2.0, 2, 2, (2, 1), 3), thorough(1.0, 1, None, (2, 2), 2),
    thorough(1.0, 2, None, (2, 1), 3), thorough(3.0, 1, 3, (4, 1), 2)])
@for_all_zones
def test_all_pairs_of_words_on_two_clocks(chain, zones, epsilon, adjacency, delay, size, reports,
                                          forced):
    """They differ in k of the symbols that have a signal; those between change nothing."""
    forced(*size)
    mechanism = made(chain, zones, epsilon, adjacency, delay=delay, reports=reports)
    law = SignalChances(mechanism).law
    assert_private_in_zones(chain, mechanism.privacy, 4, law, reports)
    counted = {sum(z.counts) for signals in law(('a',) * 4) for z in signals
               if isinstance(z, Count)}
    assert 2 in counted or chain in (PERIOD, TRAP)  # there none can stay


def test_all_pairs_of_longer_words_on_two_clocks(forced):
    """Of three symbols with a signal, among five."""
    forced(3, 1)
    mechanism = made(ONE_WAY, {'A': 'ab', 'B': 'cd'}, 1.0, 2, delay=None, reports=2)
    assert_private_in_zones(ONE_WAY, mechanism.privacy, 5, SignalChances(mechanism).law, 2)


@pytest.mark.parametrize('delay', [None, 2])
@pytest.mark.parametrize('name, epsilon, reports', [
    ('row', 0.7, 1), thorough('three', 0.7, 1), ('ends', 0.7, 1), ('three', 1.0, 2)])
def test_all_pairs_of_words_where_blocks_are_chosen(name, epsilon, reports, delay):
    chain, zones = ZONED[name]
    mechanism = made(chain, zones, epsilon, delay=delay, reports=reports)
    law = SignalChances(mechanism).law
    assert_private_in_zones(chain, mechanism.privacy, 4, law, reports)
    assert any(isinstance(z, Count) for signals in law(('b',) * 4) for z in signals)


def test_the_search_finds_an_excess(monkeypatch, forced):
    monkeypatch.setattr('symdp_ros.core.online.counts.exp_lower_bound',
                        lambda exponent: exp_lower_bound(exponent) * (1 + Fraction(1, 10**4)))
    response_of.cache_clear()
    forced(3, 1)
    mechanism = made(*ZONED['row'], 1.25, delay=None)
    law = SignalChances(mechanism).law
    with pytest.raises(AssertionError, match=EXCESS):
        assert_private_in_zones(mechanism.chain, mechanism.privacy, 3, law)
    response_of.cache_clear()


def test_a_block_ends_where_its_zone_does(forced):
    """By the zones alone: with the last symbol of the zone, or where no route goes on in it."""
    forced(3, 1)
    for chain, zones, word, counted in (
            (ROW, {'A': 'ab', 'B': 'cd'}, 'bbcccd', [0, 2, 0, 0, 3, 1]),
            (ROW, {'A': 'ab', 'B': 'cd'}, 'abab', [0, 0, 3, 1]),
            (ONE_WAY, {'A': 'ab', 'B': 'cd'}, 'bcab', [1, 1, 0, 0]),  # no way back to A
            (PERIOD, {'A': 'ac', 'B': 'bd'}, 'ac', [1, 0])):
        mechanism = made(chain, zones, delay=None)
        for signals in SignalChances(mechanism).law(tuple(word)):
            assert [sum(z.counts) if isinstance(z, Count) else 0 for z in signals] == counted
            assert all(z.zone == mechanism.privacy.zones.of(s)
                       for z, s in zip(signals, word, strict=True))


def test_on_two_clocks_a_block_also_ends_between_its_symbols(forced):
    """With the last report in its zone, whether or not there was a symbol."""
    forced(3, 1)
    for reports, word, counted in (
            (2, 'bbbbbbb', [0, 0, 0, 0, 3, 0, 1]), (2, 'bbbccbb', [0, 0, 2, 0, 1, 0, 1]),
            (3, 'bbbccccc', [0, 0, 1, 0, 0, 0, 0, 2]), (2, 'bbbbc', [0, 0, 0, 2, 1]),
            (3, 'bbbb', [0, 0, 0, 2]), (3, 'bb', [0, 1])):
        mechanism = made(ROW, {'A': 'ab', 'B': 'cd'}, delay=None, reports=reports)
        for signals in SignalChances(mechanism).law(tuple(word)):
            assert [sum(z.counts) if isinstance(z, Count) else 0 for z in signals] == counted


# What is known, and what is drawn.

def by_enumeration(chances, signals, drawn=None, evenly=False):
    """
    Return P[s_t = s | signals], over all routes of the robot: shape (symbols, states).

    :param drawn: of so many symbols; of the others, their zones are told. None: of all.
    :param evenly: it is anywhere that a route can be, each time; or it moves by the models.
    """
    mechanism, chain = chances.mechanism, chances.mechanism.chain
    models, found = chain.models(mechanism.trust), np.zeros((len(signals), len(chain)))
    places = within(mechanism.privacy, chain, [zone_of(mechanism, z) for z in signals])
    some = [[chain.state_index[s] for s in states] for states, _ in places]
    for route in product(*some):
        states = tuple(chain.states[i] for i in route)
        if evenly or chain.is_feasible(states):
            chance = chances.chance(states[:drawn], signals[:drawn])
            if not evenly:
                chance *= exp(models.log_measure((chain.state_index[chain.initial_state], *route)))
            found[range(len(route)), route] += float(chance)
    return found / found.sum(axis=1, keepdims=True)


def zone_of(mechanism, signal):
    return mechanism.privacy.zones.of(signal) if isinstance(signal, str) else signal.zone


def some_signals(mechanism, length, count):
    """Return some of all that feasible words can have."""
    chain, random, found = mechanism.chain, Random(length), []
    for _ in range(count):
        word, here = [], chain.initial_state
        for _ in range(length):
            here = random.choice(chain.successors(here))
            word.append(here)
        found.append(random.choice(mechanism.law.of_signals.of(word)))
    return found


@pytest.mark.parametrize('size, reports', [
    ((3, 1), 1), ((2, 2), 1), (None, 1), ((2, 1), 3), thorough((2, 1), 2), thorough((4, 1), 1),
    thorough((3, 2), 2), thorough(None, 2)])
@pytest.mark.parametrize('name', ['row', 'three', 'one-way', 'ends', 'period'])
def test_beliefs_are_those_of_all_routes(name, size, reports, forced):
    if size:
        forced(*size)
    mechanism = made(*ZONED[name], 1.0, delay=None, trust=0.7, reports=reports)
    chances = SignalChances(mechanism)
    for signals in some_signals(mechanism, 5, 4):
        expected = by_enumeration(chances, signals)
        mechanism.replay(signals)
        word = mechanism._word._word
        gamma = {tick.number: likely[:, 0] for tick, likely in word.smoothed(4, 0)}
        assert [gamma[t] for t in range(5)] == pytest.approx(expected, abs=1e-9)
        assert smooth_together(mechanism, [signals, signals])[:, :, 1] == pytest.approx(
            expected, abs=1e-9)
        mechanism.reset()


@pytest.mark.parametrize('size, reports', [((3, 1), 1), ((2, 2), 1), ((2, 1), 2), ((2, 2), 2)])
@pytest.mark.parametrize('name', ['row', 'one-way', 'trap', 'ends'])
def test_where_f_begins_again_within_a_block_its_counts_go_on(name, size, reports, forced,
                                                              monkeypatch):
    """Here it always does."""
    monkeypatch.setattr(words_module, 'NOTHING', 2.0)
    forced(*size)
    chain, zones = ZONED[name]
    for delay in (None, 3):
        mechanism = made(chain, zones, 1.0, delay=delay, reports=reports)
        chances = SignalChances(mechanism)
        for word in (chain.initial_state * 4, 'abca', 'bbbb', 'abbb'):
            signals = mechanism.law.of_signals.of([*word])[-2]
            zone_word = [zone_of(mechanism, z) for z in signals]
            if any(zone is None for _, zone in within(mechanism.privacy, chain, zone_word)):
                continue  # no route can have these
            expected = by_enumeration(chances, signals, evenly=True)
            mechanism.replay(signals)
            word = mechanism._word._word
            gamma = {tick.number: likely[:, 0] for tick, likely in word.smoothed(3, 0)}
            assert [gamma[t] for t in range(4)] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize('delay, size, reports', [
    (2, (3, 1), 1), (3, (2, 1), 1), (2, None, 1), thorough(2, (2, 1), 1), thorough(3, (3, 1), 1),
    thorough(3, None, 1), (1, (2, 1), 2), (1, (2, 1), 3), thorough(2, (3, 1), 2), (1, None, 2)])
def test_what_is_reported_is_known_of_all_routes(delay, size, reports, forced):
    """By what was drawn so far, and the zones told: also of a block under way."""
    if size:
        forced(*size)
    mechanism, waited = made(*ZONED['row'], 1.0, delay=delay, reports=reports), 0
    chances, held = SignalChances(mechanism), delay * reports
    for signals in some_signals(mechanism, 6, 8):
        mechanism.reset()
        for t, signal in enumerate(signals):
            passed, length = block_under_way(mechanism)
            mechanism.advance(signal)
            if t >= held:
                waits = length and passed + 1 < length
                drawn = t - passed if waits else t + 1
                waited += waits or block_under_way(mechanism)[0] > 0
                expected = by_enumeration(chances, signals[:t + 1], drawn)[t - held]
                assert mechanism.posterior == pytest.approx(expected, abs=1e-9)
    assert waited


@pytest.mark.parametrize('name, delay, word, size, reports', sharp({
    'whole': ('row', None, 'abbcc', None, 1), 'delay': ('row', 2, 'abbcb', (3, 1), 1),
    'carried': ('one-way', 1, 'bcab', (2, 1), 1),
    'unknown': ('three', None, ['b', None, 'a', 'd'], (3, 2), 1),
    'chosen': ('ends', 3, ['b', 'd', None, 'a', 'a'], None, 1),
    'two clocks': ('row', 1, 'abbacccc', (2, 1), 2),
    'three to one': ('row', None, ['b', None, 'a', 'd', 'c', 'a', 'c'], (2, 2), 3)},
    'carried', 'two clocks'))
def test_signals_and_reports_are_drawn_from_their_law(name, delay, word, size, reports, forced):
    if size:
        forced(*size)
    mechanism = made(*ZONED[name], 1.0, delay=delay, reports=reports, random=Random(8))
    assert_drawn_from_the_law(mechanism, [*word])


def test_the_next_row_is_that_of_the_count_where_a_symbol_ends_the_block(forced):
    forced(3, 1)
    mechanism = made(*ZONED['row'], 1.0, delay=None, random=Random(2))
    assert mechanism.exact_current_distribution('a') == {Told('A'): 1}
    assert mechanism.current_likelihood(Told('A')).tolist() == [1, 1, 0, 0]
    mechanism.step('a')
    assert mechanism.exact_current_distribution('b') == {Told('A'): 1}
    row = mechanism.exact_current_distribution('c')
    assert row == {z._replace(zone='A'): chance for z, chance in
                   response_of(1, 2, mechanism.privacy).exact_row(
                       1 - mechanism._word._word.blocks[0].codes[0, 0]).items()}
    mechanism.step('a')
    last = mechanism.exact_current_distribution('a')
    assert {sum(z.counts) for z in last} == {3} and sum(last.values()) == 1
    for z in last:
        assert mechanism.current_likelihood(z, 'aa')[0] == pytest.approx(float(last[z]))
        assert mechanism.current_likelihood(z, 'aa')[2:].tolist() == [0, 0]
    for wrong in (Told('A'), Told('B'), 'a', Count((3, 0)), Count((1, 1), 'A'),
                  Count((3, 0), 'B'), Count((3, 0), 'C')):
        with refused(ChainError):
            mechanism.advance(wrong)
    with refused(ChainError):
        mechanism.decode([Told('A'), 'c'])


@pytest.mark.parametrize('reports', [1, 3])
def test_no_move_out_of_the_zone_told_is_learnt(reports, often, forced):
    """Also within blocks: at ε = 1 what is counted are the moves that are expected."""
    forced(3, 1)
    chain, zones = ZONED['three']
    mechanism = made(chain, zones, delay=None, reports=reports, learn='own', random=Random(1))
    while mechanism._word._word.own.counts is None:
        mechanism.step('b')
    own, into = mechanism._word._word.own, chain.csr()[1] == chain.state_index['d']
    assert into.sum() == 2 and (own.counts[into] == 0).all()
    assert own.counts.sum() == pytest.approx(own.begin - 1)


def test_a_zone_that_every_move_leaves_has_no_blocks():
    mechanism = made(*ZONED['period'], 1.0, delay=None, random=Random(3))
    for symbol in 'abcd' * 5:
        assert block_under_way(mechanism) == (0, 0)
        mechanism.step(symbol)
