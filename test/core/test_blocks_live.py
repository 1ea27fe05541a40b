# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Live words with blocks, with zones and without: a block under way leaves no trace, and goes on.

Of random words, each step is held against the definition: its reports are what its signals are
decoded to; a state has nothing of a block under way, whatever its symbols; and what is restored
draws the same, from the same bits, as a word that was never interrupted.
"""
from itertools import product
from random import Random

from block_checks import (learning, LIVE, LONGEST, made, MODES, on_a_grid, ROW, some_word, STREET,
                          THREE)
from online_checks import block_under_way, draw_anew, SameBits, way_of
import pytest
from refusals import refused
from strategies import grid, sharp, thorough
from symdp_ros import ChainError, UnknownSymbolError
from zone_checks import ONE_WAY

for_all_words = pytest.mark.parametrize('chain, zones, reports', sharp(
    LIVE, 'three', 'ticks', 'modes', 'zones', 'one-way', 'two clocks', 'grid'))
DELAYS = [2, None, thorough(1), thorough(5)]


def may_have_none(chain):
    """Return whether words on a chain may never be in a block."""
    return chain in (ONE_WAY, STREET)


@pytest.mark.parametrize('learn', ['own', thorough('none')])
@pytest.mark.parametrize('delay', DELAYS)
@for_all_words
def test_what_steps_publish_is_what_their_signals_are_decoded_to(chain, zones, reports, delay,
                                                                 learn, often):
    """Also where a block turns out to end only when the next symbol is there, or the word ends."""
    ended = 0
    for seed in range(7):
        mechanism, other = (made(chain, zones, delay=delay, reports=reports, random=Random(seed),
                                 learn=learn if chain is not MODES else 'none') for _ in range(2))
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
    assert ended or may_have_none(chain) or delay == 1


# Restarts.

@pytest.mark.parametrize('delay', DELAYS)
@for_all_words
def test_a_restart_at_every_place_changes_nothing(chain, zones, reports, delay, often):
    """But within a block, where it is as if its symbols had been left out."""
    settings = {'delay': delay, 'reports': reports, 'learn': learning(chain)}
    mechanism, inside = made(chain, zones, **settings, random=Random(5)), 0
    for t, symbol in enumerate(some_word(chain, 24, 1)):
        state, passed = mechanism.state, block_under_way(mechanism)[0]
        one, other = (mechanism.another(random=Random(t)) for _ in range(2))
        for each in one, other:
            each.restore(state)
        assert one.state == state and one.previous == mechanism.previous
        assert one.zone == mechanism.zone and block_under_way(one)[0] == 0
        if passed:
            inside += 1
            for following in some_word(chain, 8, t):
                assert one.step(following) == other.step(following) and one.state == other.state
            assert one.finish() == other.finish()
            mechanism.step(symbol)
        else:
            draw_anew(one, t), draw_anew(mechanism, t)
            assert one.step(symbol) == mechanism.step(symbol) and one.state == mechanism.state
    assert inside or may_have_none(chain)


@pytest.mark.parametrize('delay', [2, 3, 5])
def test_within_a_block_a_restart_publishes_the_same(delay):
    mechanism, random, compared = made(THREE, delay=delay, random=Random(5)), Random(6), 0
    state = mechanism.state
    for _ in range(60):
        passed, size = block_under_way(mechanism)
        report = mechanism.step(random.choice('abc'))
        if 0 < passed < size - 1:
            other = made(THREE, delay=delay, random=Random(7))
            other.restore(state)
            if block_under_way(other)[1] > 1:  # nothing is drawn with its next symbol
                assert other.step(random.choice('abc')) == report
                compared += 1
        state = mechanism.state
    assert compared


@pytest.mark.parametrize('learn', ['own', thorough('none')])
@pytest.mark.parametrize('delay', [2, 5, None])
@pytest.mark.parametrize('chain', [THREE, THREE.every(2, 1), MODES],
                         ids=['three', 'ticks', 'modes'])
def test_a_restart_within_a_block_leaves_its_symbols_out(chain, delay, learn, often):
    """From the same bits, the same is drawn as where they were left out; also while it learns."""
    learn = learn if chain is not MODES else 'none'
    mechanism = made(chain, delay=delay, learn=learn, random=Random(1))
    random, begun, compared, learnt = Random(1), mechanism.state, 0, 0
    for _ in range(30):
        passed, state = block_under_way(mechanism)[0], mechanism.state
        begun = begun if passed else state
        if passed:
            one, other = (mechanism.another(random=Random(5)) for _ in range(2))
            one.restore(state)
            other.restore(begun)
            for _ in range(passed):
                other.tick()
            assert one.state == state
            learnt += one._word._word.own is not None and one._word._word.own.former is not None
            for symbol in Random(2).choices((*chain.states, None), k=8):
                for each in one, other:
                    each.step(symbol)
                f, g = one._word._word.joint, other._word._word.joint
                assert f.shape == g.shape and (f == g).all()
            if delay is None:
                assert one.state == other.state and one.finish() == other.finish()
            compared += 1
        mechanism.step('b' if random.random() < 0.8 else random.choice('abc'))  # mostly it stays
    assert compared > 5 and (learnt > 0) == (learn == 'own' and delay is not None)


@pytest.mark.parametrize('delay', [2, None, thorough(5)])
@for_all_words
def test_a_symbol_that_is_left_out_leaves_the_block(chain, zones, reports, delay, often, forced,
                                                    monkeypatch):
    """As a restart does: nothing is drawn of its symbols any more."""
    forced(3, 1)
    monkeypatch.setattr('symdp_ros.core.online.adaptive.words.SEGMENT', 8)
    settings = {'delay': delay, 'reports': reports, 'learn': learning(chain)}
    mechanism, other = (made(chain, zones, **settings, random=Random(5)) for _ in range(2))
    met = 0
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
    other.restore(mechanism.state)
    for each in mechanism, other:  # also over the parts in which a long word is kept
        each.tick()
    assert mechanism.finish() == other.finish() and (met or may_have_none(chain))


# What a state tells.

@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('chain, zones, reports', sharp(
    LIVE, 'three', 'ticks', 'modes', 'zones', 'two clocks'))
def test_a_state_depends_on_nothing_of_a_block_under_way(chain, zones, reports, delay, often):
    """All words of 1 or 2 of its symbols, or one more than are reported: of one zone."""
    mechanism, compared = made(chain, zones, delay=delay, reports=reports, learn=learning(chain),
                               random=Random(1)), 0
    other = mechanism.another(random=Random(9))
    for symbol in some_word(chain, 20, 1):
        passed, length = block_under_way(mechanism)
        if length and not passed:
            start, some = mechanism.state, (*(
                chain.states if zones is None else mechanism.privacy.zones[mechanism.zone]), None)
            for n in {1, 2, reports + 1} & {*range(1, length)}:
                found = set()
                for word in product(some if n < 3 else (*some[:2], None), repeat=n):
                    other.restore(start)
                    told = tuple(other.step(symbol) for symbol in word)
                    found.add((other.state, other.previous, told, str(other.posterior)))
                    compared += block_under_way(other)[0] == n
                assert len(found) == 1
        mechanism.step(symbol)
    assert compared or may_have_none(chain)


@pytest.mark.parametrize('name', ['ticks', 'ticks, zones'])
def test_a_state_that_begins_between_two_reports_is_refused(name):
    chain, zones, reports = LIVE[name]
    mechanism = made(chain, zones, delay=3, reports=reports, random=Random(5))
    for symbol in some_word(chain, 12, 1):
        mechanism.step(symbol)
    state, tables = mechanism.state, mechanism.tables
    at = 12 + 8 * tables.moves.models * tables.states  # after the tick, the last report, and f
    ticks = int.from_bytes(state[at:at + 4], 'little')  # since the state's begin
    assert ticks % 2 == 0
    for wrong in (ticks - 1, ticks + 1):
        with refused(ChainError, 'no state'):
            mechanism.restore(state[:at] + wrong.to_bytes(4, 'little') + state[at + 4:])
        assert mechanism.state == state


@pytest.mark.parametrize('delay', [3, None])
@pytest.mark.parametrize('chain, zones, reports', sharp(LIVE, 'three', 'zones', 'two clocks'))
def test_bytes_that_are_no_state_within_a_block(chain, zones, reports, delay, often):
    """Wrong bytes, wrong numbers, more or fewer of either: refused, or a state as it is."""
    settings = {'delay': delay, 'reports': reports, 'learn': learning(chain)}
    mechanism, other = (made(chain, zones, **settings, random=Random(5)) for _ in range(2))
    refusals, tried = 0, Random(4)
    for symbol in some_word(chain, 20, 1):
        mechanism.step(symbol)
        state = mechanism.state
        places = [(tried.randrange(len(state)), 1, wrong) for wrong in (0, 1, 255)]
        places += [(len(state) - 4 * i, 4, wrong)
                   for i in (1, 2, 3) for wrong in (1, 3, 2**32 - 1)]
        for content in (state[:-4], state + bytes(4), state[1:], state[:-1], b'',
                        *(state[:place] + wrong.to_bytes(width, 'little') + state[place + width:]
                          for place, width, wrong in places)):
            before = other.state
            try:
                other.restore(content)
            except ChainError:
                refusals += 1
                assert other.state == before
            else:
                assert other.state == content
    assert refusals > 150


def test_a_state_that_knew_no_blocks_on_two_clocks_is_refused(monkeypatch):
    """As earlier builds wrote it, at every place: a new word begins."""
    for delay in (2, None):
        monkeypatch.setattr(LONGEST, 1)
        mechanism, states = made(*on_a_grid(), delay=delay, reports=3, random=Random(1)), []
        for symbol in some_word(mechanism.chain, 30, 1):
            states.append(mechanism.state)
            mechanism.step(symbol)
        monkeypatch.undo()
        other = made(*on_a_grid(), delay=delay, reports=3)
        for state in states:
            with refused(ChainError):
                other.restore(state)


# What a step does.

@pytest.mark.parametrize('chain, zones, reports', [
    (THREE, None, 1), (STREET, None, 1), (ROW, {'A': 'abc', 'B': 'd'}, 1),
    (ROW, {'A': 'abc', 'B': 'd'}, 2)], ids=['three', 'street', 'zones', 'two clocks'])
@pytest.mark.parametrize('delay', [2, None])
def test_a_step_takes_the_same_way_for_every_symbol(chain, zones, reports, delay, forced):
    """All of it: within a block, at its end, where another zone ends it, and `finish`."""
    if zones:
        forced(3, 1)
    first, then = ('b', 'sssds') if zones else ('aaaaaaa', 'ssssss')
    inside = []

    def ways(percent, symbol):
        mechanism = made(chain, zones, delay=delay, reports=reports, random=SameBits(percent))
        for before in first * reports:
            mechanism.step(before)
        before, found = mechanism.state, []
        for step in (*(lambda s=s: mechanism.step(symbol if s == 's' else s) for s in then),
                     mechanism.finish):
            inside.append(block_under_way(mechanism))
            way, published = way_of(step)
            found.append((before, mechanism.state, str(published), way))
            before = mechanism.state
        return found

    some = (*'abc', None)
    for percent in (0, 20, 49):
        found = {}
        for symbol in some:
            ways(percent, symbol)  # what is made once is made
        for symbol in some[:3] if zones else some:
            for before, after, published, way in ways(percent, symbol):
                # As long as the same is drawn, nothing tells the symbols apart.
                assert found.setdefault((before, after, published), way) == way
        if not percent:  # the first one of all is drawn, for every symbol
            assert len(found) == len(then) + 1
    assert any(0 < passed + 1 < length for passed, length in inside)
    assert any(0 < passed + 1 == length for passed, length in inside)


def test_an_unknown_symbol_changes_nothing():
    mechanism = made(THREE, delay=2, random=Random(3))
    for _ in range(9):
        before = mechanism.state, block_under_way(mechanism)
        with pytest.raises(UnknownSymbolError):
            mechanism.step('nowhere')
        assert (mechanism.state, block_under_way(mechanism)) == before
        mechanism.step('a')


def test_two_clocks():
    """Several reports for each symbol: blocks are of the symbols."""
    chain = THREE.every(2, 1)
    for delay in (2, None):
        mechanism = made(chain, delay=delay, reports=3, random=Random(2))
        reports, inside = [], 0
        for t in range(20):
            for _ in range(mechanism.ticks_left):
                reports.append(mechanism.tick())
                other = made(chain, delay=delay, reports=3, random=Random(3))
                other.restore(mechanism.state)
                assert other.state == mechanism.state
            inside += block_under_way(mechanism)[0] > 0
            reports.append(mechanism.step('abc'[t // 8]))
        assert inside
        reports = [r for r in reports if r is not None] + mechanism.finish()
        assert len(reports) == 19 * 3 + 1 and chain.is_feasible(reports)


def test_a_word_that_ends_some_reports_after_the_last_symbol_of_a_block():
    mechanism, reports, symbols = made(grid(3), delay=2, reports=2, random=Random(0)), [], 0
    while block_under_way(mechanism)[0] == 0 or symbols < 10:
        reports += [mechanism.step('0,0'), mechanism.tick()]
        symbols += 1
    reports = [report for report in reports if report is not None] + mechanism.finish()
    assert len(reports) == 2 * symbols and mechanism.chain.is_feasible(reports)
