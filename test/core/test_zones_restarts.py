# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy adaptive with zones: a word goes on after a restart, and no other bytes are a state.

After each symbol a mechanism is restored, and draws, knows and reports what the first one does.
"""
from random import Random

import pytest
from refusals import refused
from strategies import FOUR, sharp
from symdp_ros import ChainError, UnknownSymbolError
from symdp_ros.core.zones import Told
from zone_checks import large, made, ZONED

pytestmark = pytest.mark.usefixtures('single_signals')

for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'one-way', 'trap', 'alone', 'four'))


@pytest.mark.parametrize('reports', [1, 2])
@pytest.mark.parametrize('delay', [0, 2, None])
@for_all_zones
def test_a_restart_changes_nothing(chain, zones, delay, reports):
    random = Random(7)
    mechanism = made(chain, zones, delay=delay, reports=reports, random=Random(2))
    for t in range(12):
        other = mechanism.another()
        other.step(chain.states[-1])
        other.restore(mechanism.state)
        assert other.state == mechanism.state and other.zone == mechanism.zone
        for symbol in (*chain.states, None):
            assert other.exact_current_distribution(symbol) == \
                mechanism.exact_current_distribution(symbol)
        row = mechanism.exact_current_distribution(random.choice([*chain.states, None]))
        z = None if t % 5 == 4 else random.choice([*row])
        assert mechanism._word.advance(z) == other._word.advance(z)
        assert other.posterior is None and mechanism.posterior is None or \
            (other.posterior == mechanism.posterior).all()
    assert other.finish() == mechanism.finish()
    assert other.state == mechanism.state == mechanism.another().state
    assert mechanism.posterior is None


@pytest.mark.parametrize('reports', [1, 3])
@pytest.mark.parametrize('delay', [0, 2, None])
def test_a_long_word_of_reports_some_ticks_apart_goes_on(delay, reports):
    """Of a word that is decoded as a whole, what was told is kept in several parts."""
    chain, zones, random = FOUR.every(3, 2), ZONED['four'][1], Random(3)
    mechanism = made(chain, zones, delay=delay, reports=reports, random=Random(4))
    assert (mechanism.reports, mechanism.stride) == (reports, 1)
    for t in range(90):
        mechanism.step(random.choice([*chain.states, None]))
        if t in (0, 1, 21, 40, 63, 89):
            other = mechanism.another()
            other.restore(mechanism.state)
            assert other.state == mechanism.state and other.zone == mechanism.zone
    for _ in range(8):
        z = random.choice([*mechanism.exact_current_distribution('s1')])
        assert mechanism._word.advance(z) == other._word.advance(z)
    assert other.finish() == mechanism.finish()


def test_bytes_that_are_no_state_change_nothing():
    chain, zones = large()
    mechanism = made(chain, zones, delay=2, random=Random(2))
    for symbol in ('0,0', '0,1', '5,5', None, '0,3'):
        mechanism.step(symbol)
    state, zone = mechanism.state, mechanism.zone
    for wrong in (b'', state[:-1], state + b'0', state[:-5] + bytes(5),
                  state[:12 + 8] + b'\xff' * 8 + state[12 + 16:], state[:-60],
                  state[:-1] + bytes([state[-1] | 1])):  # the bit of a state that there is not
        with refused(ChainError):
            mechanism.restore(wrong)
        assert mechanism.state == state and mechanism.zone == zone
    mechanism.reset()
    for symbol in ('0,0', '0,1', None, '0,2', '1,2'):
        mechanism.step(symbol)
    state, zone = mechanism.state, mechanism.zone
    # Its end: cell and zone of two reports, the zone told last, and bits of 36 states.
    places = {'cell': -25, 'zone': -21, 'last zone': -9}
    for name, number in (('cell', 13), ('cell', 2**32 - 1), ('zone', 5), ('zone', 2**32 - 1),
                         ('zone', 0), ('last zone', 4), ('last zone', 2**32 - 1)):
        wrong = bytearray(state)
        wrong[places[name]:places[name] + 4] = number.to_bytes(4, 'little')
        with refused(ChainError):
            mechanism.restore(bytes(wrong))
        assert mechanism.state == state and mechanism.zone == zone
    assert 0 < int.from_bytes(state[-25:-21], 'little') < 13
    for cell, told_zone in ((0, 5), (1, 0)):  # no cell in a zone that is none; a cell in no zone
        with refused(ChainError):
            mechanism.restore(state[:-25] + cell.to_bytes(4, 'little')
                              + told_zone.to_bytes(4, 'little') + bytes(8) + state[-9:])
    mechanism.restore(state)
    assert mechanism.state == state and mechanism.zone == zone
    random = Random(1)
    for _ in range(300):
        wrong = bytearray(state)
        wrong[random.randrange(len(wrong))] ^= 1 << random.randrange(8)
        try:
            mechanism.restore(bytes(wrong))
        except ChainError:
            assert mechanism.state == state
        else:
            assert mechanism.state == wrong
            mechanism.step('0,0')
            mechanism.restore(state)


def test_signals_that_cannot_have_been_drawn():
    mechanism = made(*ZONED['one-way'])
    for wrong in (Told('C'), 'c', 'e', 'A'):
        with refused(ChainError):
            mechanism.advance(wrong)
        with refused(ChainError):
            mechanism.replay(['a', wrong][wrong == 'c':])
    with refused(UnknownSymbolError):
        mechanism.step('e')
    assert mechanism.state == mechanism.another().state
    mechanism.advance(Told('A'))  # the symbol was left out, and its zone told
    assert mechanism.current_likelihood(Told('B')).tolist() == [0, 0, 1, 1]
