# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks inside zones: their promise, where they end, what is known by them, and restarts."""
from fractions import Fraction
from itertools import product
from math import exp
from random import Random

from adaptive_reference import PERIOD
import numpy as np
from online_checks import assert_drawn_from_the_law, block_under_way, SameBits, way_of
import pytest
from refusals import refused
from strategies import flat, grid, sharp, thorough
from symdp_ros import Chain, ChainError, OnlineMechanism, Privacy
from symdp_ros.analysis.belief import smooth_together
from symdp_ros.core.online.adaptive import blocks as blocks_module, many, own_moves
from symdp_ros.core.online.adaptive import words as words_module
from symdp_ros.core.online.adaptive.turns import Block
from symdp_ros.core.online.counts import response_of, SignalNumbers
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.zones import Count, Told
from zone_checks import (assert_private_in_zones, ONE_WAY, privacy_of, TRAP, within)

ROW = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.9, 'c': 0.05},
             'c': {'b': 0.05, 'c': 0.9, 'd': 0.05}, 'd': {'c': 0.1, 'd': 0.9}}, 'b')
#: As it, but it stays longer.
SLOW = Chain({'a': {'a': 0.96, 'b': 0.04}, 'b': {'a': 0.02, 'b': 0.96, 'c': 0.02},
              'c': {'b': 0.02, 'c': 0.96, 'd': 0.02}, 'd': {'c': 0.04, 'd': 0.96}}, 'b')
#: It ends in c, or d, for ever.
ENDS = Chain({'a': {'a': 0.8, 'b': 0.2}, 'b': {'b': 0.8, 'c': 0.1, 'd': 0.1}, 'c': ['c'],
              'd': ['d']}, 'a')
ZONED = {
    'row': (ROW, {'A': 'ab', 'B': 'cd'}), 'three': (ROW, {'A': 'abc', 'B': 'd'}),
    'one-way': (ONE_WAY, {'A': 'ab', 'B': 'cd'}), 'trap': (TRAP, {'A': 'bc', 'B': 'ad'}),
    'alone': (ONE_WAY, {'A': 'a', 'B': 'bc', 'C': 'd'}), 'ends': (ENDS, {'A': 'ab', 'B': 'cd'}),
    'period': (PERIOD, {'A': 'ac', 'B': 'bd'}),
}
for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'row', 'one-way', 'ends', 'period'))


def made(chain, zones, epsilon=1.0, adjacency=1, **options):
    return OnlineMechanism(chain, privacy_of(zones, epsilon, adjacency), policy='adaptive',
                           **options)


def law_of(mechanism):
    """Return word → {signals: chance}."""
    law = mechanism.law.of_signals

    def of(word):
        signals = law.of(word)
        return dict(zip(signals, law.exact_probabilities(word, signals), strict=True))

    return of


@pytest.fixture
def forced(monkeypatch):
    """Have every signal be one of a block of some size, with cells that mean nothing."""
    def force(length, more):
        def choose(tables, moves, joint, belief, single, most, inside, zones):
            codes = np.array(Random(length).choices(range(more + 1), k=most * tables.states))
            codes = codes.astype(np.uint8).reshape(most, -1)
            each = tables.signal // tables.row
            return [Block(tables.blocks[length, more], codes[:length], zone, each)
                    for zone in zones]

        monkeypatch.setattr(words_module, 'choose_blocks', choose)

    return force


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
    law = law_of(mechanism)
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
    law = law_of(mechanism)
    assert_private_in_zones(chain, mechanism.privacy, 4, law, reports)
    counted = {sum(z.counts) for signals in law(('a',) * 4) for z in signals
               if isinstance(z, Count)}
    assert 2 in counted or chain in (PERIOD, TRAP)  # there none can stay


def test_all_pairs_of_longer_words_on_two_clocks(forced):
    """Of three symbols with a signal, among five."""
    forced(3, 1)
    mechanism = made(ONE_WAY, {'A': 'ab', 'B': 'cd'}, 1.0, 2, delay=None, reports=2)
    assert_private_in_zones(ONE_WAY, mechanism.privacy, 5, law_of(mechanism), 2)


@pytest.mark.parametrize('delay', [None, 2])
@pytest.mark.parametrize('name, epsilon, reports', [
    ('row', 0.7, 1), thorough('three', 0.7, 1), ('ends', 0.7, 1), ('three', 1.0, 2)])
def test_all_pairs_of_words_where_blocks_are_chosen(name, epsilon, reports, delay):
    chain, zones = ZONED[name]
    mechanism = made(chain, zones, epsilon, delay=delay, reports=reports)
    assert_private_in_zones(chain, mechanism.privacy, 4, law_of(mechanism), reports)
    assert any(isinstance(z, Count) for signals in law_of(mechanism)(('b',) * 4) for z in signals)


def test_the_search_finds_an_excess(monkeypatch, forced):
    monkeypatch.setattr('symdp_ros.core.online.counts.exp_lower_bound',
                        lambda exponent: exp_lower_bound(exponent) * (1 + Fraction(1, 10**4)))
    response_of.cache_clear()
    forced(3, 1)
    mechanism = made(*ZONED['row'], 1.25, delay=None)
    with pytest.raises(AssertionError):
        assert_private_in_zones(mechanism.chain, mechanism.privacy, 3, law_of(mechanism))
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
        for signals in law_of(mechanism)(tuple(word)):
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
        for signals in law_of(mechanism)(tuple(word)):
            assert [sum(z.counts) if isinstance(z, Count) else 0 for z in signals] == counted


# What is known, and what is drawn.

def by_enumeration(mechanism, signals, evenly=False):
    """
    Return P[s_t = s | signals], over all routes of the robot: shape (symbols, states).

    :param evenly: it is anywhere that a route can be, each time; or it moves by the models.
    """
    chain, models = mechanism.chain, mechanism.chain.models(mechanism.trust)
    law, found = mechanism.law.of_signals, np.zeros((len(signals), len(chain)))
    places = within(mechanism.privacy, chain, [zone_of(mechanism, z) for z in signals])
    for route in product(range(len(chain)), repeat=len(signals)):
        states = [chain.states[i] for i in route]
        if not all(s in some for s, (some, _) in zip(states, places, strict=True)):
            continue
        chance = 1.0
        if not evenly:
            if not chain.is_feasible(states):
                continue
            chance = exp(models.log_measure((chain.state_index[chain.initial_state], *route)))
        [drawn] = law.exact_probabilities(states, [signals])
        found[range(len(route)), route] += chance * float(drawn)
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
    ((3, 1), 1), ((2, 2), 1), (None, 1), ((2, 1), 2), ((2, 1), 3), thorough((4, 1), 1),
    thorough((3, 2), 2), thorough(None, 2)])
@pytest.mark.parametrize('name', ['row', 'three', 'one-way', 'ends', 'period'])
def test_beliefs_are_those_of_all_routes(name, size, reports, forced):
    if size:
        forced(*size)
    mechanism = made(*ZONED[name], 1.0, delay=None, trust=0.7, reports=reports)
    for signals in some_signals(mechanism, 5, 6):
        expected = by_enumeration(mechanism, signals)
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
    monkeypatch.setattr(words_module, '_NOTHING', 2.0)
    forced(*size)
    chain, zones = ZONED[name]
    for delay in (None, 3):
        mechanism = made(chain, zones, 1.0, delay=delay, reports=reports)
        for word in (chain.initial_state * 4, 'abca', 'bbbb', 'abbb'):
            signals = mechanism.law.of_signals.of([*word])[-2]
            zone_word = [zone_of(mechanism, z) for z in signals]
            if any(zone is None for _, zone in within(mechanism.privacy, chain, zone_word)):
                continue  # no route can have these
            expected = by_enumeration(mechanism, signals, evenly=True)
            mechanism.replay(signals)
            word = mechanism._word._word
            gamma = {tick.number: likely[:, 0] for tick, likely in word.smoothed(3, 0)}
            assert [gamma[t] for t in range(4)] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize('delay, size, reports', [
    *product([2, 3], [(3, 1), (2, 1), None], [1]), (1, (2, 1), 2), (1, (2, 1), 3), (2, (3, 1), 2),
    (1, None, 2)])
def test_what_is_reported_is_known_of_all_routes(delay, size, reports, forced):
    """By what was drawn so far, and the zones told: also of a block under way."""
    if size:
        forced(*size)
    mechanism, waited = made(*ZONED['row'], 1.0, delay=delay, reports=reports), 0
    held = delay * reports
    for signals in some_signals(mechanism, 6, 8):
        mechanism.reset()
        begin = 0
        for t, signal in enumerate(signals):
            passed, length = block_under_way(mechanism)
            begin = t - passed
            mechanism.advance(signal)
            if t >= held:
                known = signals[:t + 1] if not length or passed + 1 == length else (
                    *signals[:begin], *[Told(zone_of(mechanism, signal))] * (passed + 1))
                waited += known != signals[:t + 1] or block_under_way(mechanism)[0] > 0
                assert mechanism.posterior == pytest.approx(
                    not_drawn_since(mechanism, known)[t - held], abs=1e-9)
    assert waited


def not_drawn_since(mechanism, signals):
    """Return what `by_enumeration` does; nothing was drawn of the last symbols, which wait."""
    waiting = 0
    while signals[-1 - waiting:] and isinstance(signals[-1 - waiting], Told):
        waiting += 1
        if waiting == len(signals):
            break
    drawn = signals[:len(signals) - waiting]
    chain, law = mechanism.chain, mechanism.law.of_signals
    models = chain.models(mechanism.trust)
    found = np.zeros((len(signals), len(chain)))
    zones = [zone_of(mechanism, z) for z in signals]
    for route in product(range(len(chain)), repeat=len(signals)):
        states = [chain.states[i] for i in route]
        if [mechanism.privacy.zones.of(s) for s in states] == zones and chain.is_feasible(states):
            chance = exp(models.log_measure((chain.state_index[chain.initial_state], *route)))
            [likely] = law.exact_probabilities(states[:len(drawn)], [drawn])
            found[range(len(route)), route] += chance * float(likely)
    return found / found.sum(axis=1, keepdims=True)


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


@pytest.mark.parametrize('reports', [1, 2, 3])
@pytest.mark.parametrize('delay', [None, 1, 4])
def test_many_words_are_decoded_as_single_ones(delay, reports):
    chain, zones, random = *on_a_grid(1 - 0.05 / reports), Random(6)
    mechanism = made(chain, zones, 1.0, delay=delay, reports=reports, random=Random(2))
    words = [sum([[random.choice([*chain.states, None])] * 5 * reports for _ in range(length)], [])
             for length in (9, 1, 0, 13)]
    symbols, offsets = flat(chain, words)
    reports, drawn = mechanism.draw_signals(symbols, offsets)
    numbers = SignalNumbers(chain.states, mechanism.privacy.zones)
    signals = [numbers.name(z) for z in drawn.tolist()]
    assert any(isinstance(z, Count) for z in signals)
    assert [numbers.number(z) for z in signals] == drawn.tolist()
    for begin, end in zip(offsets[:-1], offsets[1:], strict=True):
        decoded = mechanism.decode(signals[begin:end])
        assert decoded == [chain.states[o] for o in reports[begin:end]]


def on_a_grid(stays=0.95):
    """Return a grid of 16 places where robots stay, and its four zones."""
    plain, zones = grid(4), {}
    chain = Chain({s: {t: stays if s == t else (1 - stays) / (len(plain.successors(s)) - 1)
                       for t in plain.successors(s)} for s in plain.states}, plain.initial_state)
    for state in chain.states:
        x, y = map(int, state.split(','))
        zones.setdefault(f'{x // 2}{y // 2}', []).append(state)
    return chain, zones


@pytest.mark.parametrize('reports, stays', [(1, 0.95), (3, 0.98)])
def test_blocks_err_less(reports, stays):
    """Among words of a robot that stays; the difference is many times its deviation."""
    chain, zones, random = *on_a_grid(stays), Random(4)
    words = []
    for _ in range(40):
        here, word = chain.initial_state, []
        for _ in range(60 * reports):
            rows = chain.successors(here)
            [here] = random.choices(rows, [
                stays if s == here else (1 - stays) / (len(rows) - 1) for s in rows])
            word.append(here)
        words.append(word)
    symbols, offsets = flat(chain, words)
    errors = []
    for longest in (1, 6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr('symdp_ros.core.online.adaptive.tables.LONGEST', longest)
            mechanism = made(chain, zones, 0.7, trust=1.0, delay=None, reports=reports,
                             random=Random(1))
            assert mechanism.loss_bound == ('blocks' if longest > 1 else 'symbols')
            errors.append((mechanism.privatize_many(symbols, offsets) != symbols).mean())
    assert errors[1] < 0.85 * errors[0]


# Live.

@pytest.fixture
def often(monkeypatch):
    """Have words learn every few ticks: also within blocks, once these have ended."""
    monkeypatch.setattr(own_moves, 'EVERY', 7)


RESTARTS = [
    (ROW, {'A': 'abc', 'B': 'd'}, 1), (SLOW.every(2, 1), {'A': 'ab', 'B': 'cd'}, 1),
    (*on_a_grid(), 1), (ONE_WAY, {'A': 'ab', 'B': 'cd'}, 1), (SLOW, {'A': 'abc', 'B': 'd'}, 3),
    (*on_a_grid(0.98), 2)]
NAMES = ['row', 'ticks', 'grid', 'one-way', 'two clocks', 'grid, two clocks']
for_all_restarts = pytest.mark.parametrize('chain, zones, reports', RESTARTS, ids=NAMES)


def some_word(chain, length, seed):
    """Return a word that stays, is carried, and is unknown now and then."""
    random, here, word = Random(seed), chain.initial_state, []
    for _ in range(length):
        if random.random() < 0.3:
            here = random.choice(chain.successors(here))
        if random.random() < 0.03:
            here = random.choice(chain.states)
        word.append(None if random.random() < 0.1 else here)
    return word


@pytest.mark.parametrize('learn', ['own', 'none'])
@pytest.mark.parametrize('delay', [2, None, thorough(1), thorough(5)])
@pytest.mark.parametrize('chain, zones, reports', [
    *RESTARTS, (ROW, None, 1), (on_a_grid()[0], None, 1)], ids=[*NAMES, 'no zones', 'plain grid'])
def test_what_steps_publish_is_what_their_signals_are_decoded_to(chain, zones, reports, delay,
                                                                 learn, often):
    """Also where a block turns out to end only when the next symbol is there, or the word ends."""
    ended = 0
    for seed in range(7):
        mechanism, other = (OnlineMechanism(
            chain, Privacy(1.0, 1, zones and privacy_of(zones, 1.0).zones), policy='adaptive',
            delay=delay, reports=reports, learn=learn, random=Random(seed)) for _ in range(2))
        word, drawn = mechanism._word._word, []
        take, end = word.take, word.end

        def taken(places, zones=None, *more, take=take, drawn=drawn):
            drawn.append([int(places[0]), None if zones is None else int(zones[0]), 0])
            return take(places, zones, *more)

        def ending(place, end=end, drawn=drawn):
            drawn[-1][2] = place
            end(place)

        word.take, word.end = taken, ending
        length = 17 * reports + seed
        published = [mechanism.step(symbol) for symbol in some_word(chain, length, seed)]
        published += mechanism.finish()
        found = []
        for place, told, late in drawn:
            if told is not None:
                other._word._prepare_for(told)
            found.append(other._word._take(place, told, late))
            ended += late > 0
        rest = other._word._word.finish()[:, 0]
        assert found + [other._word._labels[i] for i in rest] == published
    assert ended or chain is ONE_WAY or delay == 1


@pytest.mark.parametrize('learn', ['own', 'none'])
@pytest.mark.parametrize('delay', [3, None, thorough(1), thorough(5)])
@for_all_restarts
def test_a_restart_at_every_place_changes_nothing(chain, zones, reports, delay, learn, often):
    """But within a block, where it is as if its symbols had been left out."""
    settings = {'delay': delay, 'reports': reports, 'learn': learn}
    mechanism, inside = made(chain, zones, **settings, random=Random(5)), 0
    for t, symbol in enumerate(some_word(chain, 24, 1)):
        state, passed = mechanism.state, block_under_way(mechanism)[0]
        one = made(chain, zones, **settings, random=Random(t))
        one.restore(state)
        assert one.state == state and one.previous == mechanism.previous
        assert one.zone == mechanism.zone and block_under_way(one)[0] == 0
        other = mechanism.another(random=Random(t))
        other.restore(state)
        if not passed:  # one that was not restored
            draws = mechanism.another(random=Random(t))
            vars(draws)['_word'] = mechanism._word
            before = mechanism._word._random, mechanism._word._draws_of
            mechanism._word._random, mechanism._word._draws_of = Random(t), {}
            mechanism._word._prepare()
            following = mechanism.step(symbol)
            assert one.step(symbol) == following and one.state == mechanism.state
            mechanism._word._random, mechanism._word._draws_of = before
            mechanism._word._prepare()
            continue
        inside += 1
        for each in some_word(chain, 8, t):
            assert one.step(each) == other.step(each) and one.state == other.state
        assert one.finish() == other.finish()
        mechanism.step(symbol)
    assert inside or chain is ONE_WAY


@pytest.mark.parametrize('delay', [2, 5, None])
@for_all_restarts
def test_a_symbol_that_is_left_out_leaves_the_block(chain, zones, reports, delay, often, forced):
    """As a restart does: nothing is drawn of its symbols any more."""
    forced(3, 1)
    settings = {'delay': delay, 'reports': reports, 'learn': 'own'}
    mechanism, met = made(chain, zones, **settings, random=Random(5)), 0
    for symbol in some_word(chain, 30, 2):
        passed, state = block_under_way(mechanism)[0], mechanism.state
        if passed == 2:
            one, other = mechanism, made(chain, zones, **settings)
            other.restore(state)
            one.tick(), other.tick()
            assert one.state == other.state and one.zone == other.zone
            f, g = one._word._word.joint, other._word._word.joint
            assert f.shape == g.shape and (f == g).all()
            met += 1
        mechanism.step(symbol)
    assert met or chain is ONE_WAY


@pytest.mark.parametrize('delay', [2, None, thorough(1), thorough(5)])
@for_all_restarts
def test_a_state_depends_on_nothing_of_a_block_under_way(chain, zones, reports, delay, often):
    """All words of 1 or 2 of its symbols: known, infeasible, unknown, of one zone."""
    compared = 0
    for seed in range(2):
        mechanism = made(chain, zones, delay=delay, reports=reports, learn='own',
                         random=Random(seed))
        for symbol in some_word(chain, 20, seed):
            passed, length = block_under_way(mechanism)
            if length and not passed:
                start, zone = mechanism.state, mechanism.zone
                for n in {1, 2, reports + 1} & {*range(1, length)}:
                    found = set()
                    for word in product((*mechanism.privacy.zones[zone], None), repeat=n):
                        other = mechanism.another(random=Random(9))
                        other.restore(start)
                        told = tuple(other.step(symbol) for symbol in word)
                        found.add((other.state, other.previous, told, str(other.posterior)))
                        compared += block_under_way(other)[0] == n
                    assert len(found) == 1
            mechanism.step(symbol)
    assert compared or chain is ONE_WAY


@pytest.mark.parametrize('reports', [1, 2])
@pytest.mark.parametrize('delay', [3, thorough(None)])
def test_states_within_a_block_that_cannot_be(delay, reports, often):
    refusals, tried = 0, Random(4)
    chain, zones = ROW, {'A': 'abc', 'B': 'd'}
    mechanism = made(chain, zones, delay=delay, reports=reports, learn='own', random=Random(5))
    for symbol in some_word(chain, 30, 1):
        mechanism.step(symbol)
        state = mechanism.state
        for content in (state[:-4], state + bytes(4), state[1:], state[:-1], b'',
                        *(state[:place] + bytes([wrong]) + state[place + 1:]
                          for place in tried.sample(range(len(state)), 6)
                          for wrong in (state[place] ^ 1, 0, 255))):
            other = made(chain, zones, delay=delay, reports=reports, learn='own')
            before = other.state
            try:
                other.restore(content)
            except ChainError:
                refusals += 1
                assert other.state == before
            else:
                assert other.state == content
    assert refusals > 100


@pytest.mark.parametrize('reports', [1, 2])
@pytest.mark.parametrize('delay', [2, None])
def test_a_step_takes_the_same_way_for_every_symbol_of_a_zone(delay, reports, forced):
    """All of it: within a block, at its end, where another zone ends it, and `finish`."""
    forced(3, 1)

    def ways(percent, symbol):
        mechanism = made(ROW, {'A': 'abc', 'B': 'd'}, delay=delay, reports=reports,
                         random=SameBits(percent))
        for _ in range(reports):
            mechanism.step('b')
        before, found = mechanism.state, []
        steps = [lambda: mechanism.step(symbol)] * 4
        steps[3:3] = [lambda: mechanism.step('d')]
        for step in (*steps, mechanism.finish):
            way, published = way_of(step)
            found.append((before, mechanism.state, str(published), way))
            before = mechanism.state
        return found

    for percent in (0, 20, 49):
        found, some = {}, ('a', 'b', 'c', None)
        for symbol in some:
            ways(percent, symbol)  # what is made once is made
        for symbol in ('a', 'b', 'c'):
            for before, after, published, way in ways(percent, symbol):
                # As long as the same is drawn, nothing tells the symbols apart.
                assert found.setdefault((before, after, published), way) == way
        if not percent:  # the first one of all is drawn, for every symbol
            assert len(found) == 6


def test_a_state_that_knew_no_blocks_on_two_clocks_is_refused(monkeypatch):
    """As earlier builds wrote it, at every place: a new word begins."""
    for delay in (2, None):
        monkeypatch.setattr('symdp_ros.core.online.adaptive.tables.LONGEST', 1)
        mechanism, states = made(*on_a_grid(), delay=delay, reports=3, random=Random(1)), []
        for symbol in some_word(mechanism.chain, 30, 1):
            states.append(mechanism.state)
            mechanism.step(symbol)
        monkeypatch.undo()
        other = made(*on_a_grid(), delay=delay, reports=3)
        for state in states:
            with refused(ChainError):
                other.restore(state)


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


# The choice.

def test_the_compiled_choice_is_the_same(monkeypatch):
    if blocks_module.loops is None:
        pytest.skip('the loops are not compiled')
    for chain, zones, reports in RESTARTS:
        for delay in (None, 3):
            found = []
            for loops in (blocks_module.loops, None):
                monkeypatch.setattr(blocks_module, 'loops', loops)
                mechanism = made(chain, zones, delay=delay, reports=reports, random=Random(4))
                sizes = []
                for symbol in some_word(chain, 30, 3):
                    sizes.append(block_under_way(mechanism))
                    mechanism.step(symbol)
                found.append((sizes, mechanism.state, mechanism.finish()))
                monkeypatch.undo()
            assert found[0] == found[1]
            assert any(length for _, length in found[0][0]) or chain is ONE_WAY


def test_a_zone_that_every_move_leaves_has_no_blocks():
    mechanism = made(*ZONED['period'], 1.0, delay=None, random=Random(3))
    for symbol in 'abcd' * 5:
        assert block_under_way(mechanism) == (0, 0)
        mechanism.step(symbol)


@pytest.mark.parametrize('delay', [None, 1, 3])
@for_all_restarts
def test_words_beside_it_change_nothing_in_a_word(chain, zones, reports, delay, monkeypatch):
    """Of unequal lengths, with unknown and infeasible symbols, over some segments."""
    monkeypatch.setattr('symdp_ros.core.online.adaptive.words.SEGMENT', 8)
    lengths, random = [length * reports for length in (42, 1, 7, 42, 23, 0, 41)], Random(11)
    symbols = np.repeat(random.choices(range(-1, len(chain)), k=sum(lengths) // (6 * reports)),
                        6 * reports)
    offsets = np.cumsum([0, *lengths])
    found = []
    for most in (1, 256):
        monkeypatch.setattr(many, '_MOST', most)
        mechanism = made(chain, zones, 1.0, delay=delay, reports=reports, random=Random(12))
        found.append(mechanism.draw_signals(symbols, offsets))
    for alone, together in zip(*found, strict=True):
        assert alone.tolist() == together.tolist()
    assert (found[0][1] >= len(chain)).any() or chain is ONE_WAY  # blocks
