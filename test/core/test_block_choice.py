# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which blocks the policy adaptive chooses: they err less, and many words have those of single ones.

The loops in C are held against NumPy, words that are drawn together against the same words drawn
one by one, and the errors of blocks against those of single symbols.
"""
from random import Random

from block_checks import (COMPILED, ENDS, learning, LIVE, LONGEST, made, on_a_grid, some_word,
                          staying, walks)
import numpy as np
from online_checks import block_under_way
import pytest
from strategies import flat, grid, sharp, thorough
from symdp_ros import Chain
from symdp_ros.core.online.adaptive import blocks as blocks_module, many
from symdp_ros.core.online.counts import SignalNumbers
from symdp_ros.core.zones import Count
from zone_checks import ONE_WAY

#: chain, zones, reports for each symbol
WORDS = LIVE | {'ends': (ENDS, None, 1), 'plain grid': (grid(4), None, 1),
                'ends, two clocks': (ENDS.every(2, 1), None, 2),
                'plain grid, two clocks': (grid(4).every(2, 1), None, 2)}
for_all_words = pytest.mark.parametrize('chain, zones, reports', sharp(
    WORDS, 'three', 'modes', 'zones', 'ticks, zones', 'one-way', 'grid, two clocks',
    'ends, two clocks', 'plain grid'))


def test_modes_have_blocks_up_to_so_many():
    """Each pair of them has a number in the choice."""
    for count, longest in ((64, 6), (65, 1)):
        chain = Chain.complete([f'{i}' for i in range(count)], '0')
        mechanism = made(chain, delay=None)
        assert mechanism.tables.longest(None) == longest
        assert mechanism.loss_bound == ('blocks' if longest > 1 else 'symbols')


EIGHT = [f'{i}' for i in range(8)]


@pytest.mark.parametrize('robot, chain, zones, epsilon, reports, share', [
    (staying(grid(4), 0.97), staying(grid(4), 0.97), None, 1.0, 1, 0.7),
    (Chain.complete(EIGHT, '0', 0.97), Chain.complete(EIGHT, '0'), None, 1.0, 1, 0.85),
    (on_a_grid(0.95)[0], *on_a_grid(0.95), 0.7, 1, 0.85),
    (on_a_grid(0.98)[0], *on_a_grid(0.98), 0.7, 3, 0.85)],
    ids=['places', 'modes', 'zones', 'zones, two clocks'])
def test_blocks_err_less(robot, chain, zones, epsilon, reports, share, monkeypatch):
    """Among words of a robot that stays; the difference is many times its deviation."""
    symbols, offsets = flat(chain, walks(robot, 60, 80 * reports, 4))
    errors = []
    for longest in (1, 6):
        monkeypatch.setattr(LONGEST, longest)
        mechanism = made(chain, zones, epsilon, delay=None, reports=reports, random=Random(1),
                         trust=1.0 if robot is chain or zones else 0.8)
        assert mechanism.loss_bound == ('blocks' if longest > 1 else 'symbols')
        errors.append((mechanism.privatize_many(symbols, offsets) != symbols).mean())
    assert errors[1] < share * errors[0]


@pytest.mark.skipif(not COMPILED, reason='installed without a compiler')
@pytest.mark.parametrize('delay', [None, 3])
@pytest.mark.parametrize('chain, zones, reports', [
    *LIVE.values(), (ENDS, None, 1), (grid(4), None, 1), (grid(9), None, 1)])
def test_the_compiled_choice_is_the_same(chain, zones, reports, delay, monkeypatch):
    found = []
    for loops in (blocks_module.loops, None):
        monkeypatch.setattr(blocks_module, 'loops', loops)
        mechanism = made(chain, zones, delay=delay, reports=reports, random=Random(4))
        sizes = []
        for symbol in some_word(chain, 30, 3):
            sizes.append(block_under_way(mechanism))
            mechanism.step(symbol)
        found.append((sizes, mechanism.state, mechanism.finish()))
    assert found[0] == found[1]
    assert any(length for _, length in found[0][0]) or not chain.names_probabilities


def some_words(chain, lengths, reports, seed):
    """Return words of unequal lengths, of symbols that stay for a while, known or not."""
    random = Random(seed)
    places = random.choices(range(-1, len(chain)), k=reports * sum(lengths) // (6 * reports) + 1)
    offsets = reports * np.cumsum([0, *lengths])
    return np.repeat(places, 6 * reports)[:offsets[-1]], offsets


@pytest.mark.parametrize('delay', [None, 3, thorough(1)])
@pytest.mark.parametrize('epsilon', [1.0, thorough(1.5)])
@pytest.mark.parametrize('learns', [False, True], ids=['', 'learns'])
@for_all_words
def test_words_beside_it_change_nothing_in_a_word(chain, zones, reports, learns, epsilon, delay,
                                                  often, monkeypatch):
    """Over some segments; where they learn, one with its last symbol; and decoded alone."""
    monkeypatch.setattr('symdp_ros.core.online.adaptive.words.SEGMENT', 8)
    in_step, begun = [], many.Words
    monkeypatch.setattr(many, 'Words', lambda *given: in_step.append(given[2]) or begun(*given))
    of_zones = reports if zones else 1  # with zones there is a symbol for each report
    symbols, offsets = some_words(chain, [42, 1, 7, 42, 23, 0, 41], of_zones, 11)
    found = []
    for most in (1, 256):
        monkeypatch.setattr(many, '_MOST', most)
        mechanism = made(chain, zones, epsilon, delay=delay, reports=reports, random=Random(12),
                         learn=learning(chain) if learns else 'none')
        found.append(mechanism.draw_signals(symbols, offsets))
    assert learns or in_step == [1, 1, 1, 1, 1, 1, 6]  # a word that learns is alone
    for alone, together in zip(*found, strict=True):
        assert alone.tolist() == together.tolist()
    reported, drawn = found[0]
    numbers, begin = SignalNumbers(chain.states, mechanism.privacy.zones), 0
    signals = [numbers.name(z) for z in drawn.tolist()]
    assert any(isinstance(z, Count) for z in signals) or chain is ONE_WAY
    assert [numbers.number(z) for z in signals] == drawn.tolist()
    for first, last in zip(offsets[:-1], offsets[1:], strict=True):
        decoded = mechanism.decode(signals[first:last])
        assert decoded == [chain.states[o] for o in reported[begin:begin + len(decoded)]]
        begin += len(decoded)
    assert begin == len(reported)
