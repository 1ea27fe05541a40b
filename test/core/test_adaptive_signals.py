# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The parts of the adaptive policy that make signals, each by itself; and what `draw` takes.

What a signal is worth is added up term by term; words that are drawn together are held against
single ones to the last bit, and against the definition of a randomized response.
"""
from itertools import pairwise
from random import Random
from types import SimpleNamespace

from adaptive_reference import HABIT, hub, made, PARTED
import numpy as np
import pytest
from refusals import refused
from strategies import flat, FOUR, grid, RING
from symdp_ros import Chain, ConfigurationError, OnlineMechanism, Privacy
from symdp_ros.core.online.adaptive import cells as cells_module
from symdp_ros.core.online.adaptive import tables as known
from symdp_ros.core.online.adaptive import words as in_step
from symdp_ros.core.online.adaptive.moves import spread_evenly
from symdp_ros.core.online.adaptive.tables import AdaptiveTables, Shares
from symdp_ros.core.online.response import Response
from symdp_ros.core.zones import Told
from zone_checks import privacy_of, ZONED

pytestmark = pytest.mark.usefixtures('single_signals')


class Numbers(list):
    """In place of the bits of as many words: the number of each."""

    stream = staticmethod(int)


def tables_of(ratio, most):
    """Return tables in which a signal of m cells has these odds."""
    m = np.arange(1, most + 1)
    other, own = 1 / (ratio + m - 1), ratio / (ratio + m - 1)
    return SimpleNamespace(shares=Shares(*(np.append(np.nan, row) for row in (
        other, own, 1 / m, own * np.log(own) + (m - 1) * other * np.log(other)))))


def some_cells(random, m, states):
    """Return how likely some states are, together less than 1, and the cell of each."""
    known = random.random((2, states))
    return known / known.sum(axis=1, keepdims=True) * 0.9, random.integers(0, m + 1, (2, states))


def chances_of(tables, m, cells):
    """Return the chance of each signal: shape (words, states, m)."""
    chance = np.where(cells[:, :, None] == np.arange(1, m + 1), tables.shares.own[m],
                      tables.shares.other[m])
    chance[cells == 0] = 1 / m
    return chance


@pytest.mark.parametrize('m', [1, 2, 5])
def test_what_a_signal_tells(m):
    random = np.random.default_rng(m)
    for ratio in (1.0, 1.5, 20.0):
        (known, cells), tables = some_cells(random, m, 7), tables_of(ratio, 5)
        known[:, 0] += 0.1
        chance = chances_of(tables, m, cells)
        drawn = (known[:, :, None] * chance).sum(axis=1, keepdims=True)
        expected = (known[:, :, None] * chance * np.log(chance / drawn)).sum(axis=(1, 2))
        [found] = cells_module._values(tables, np.full((1, 2), m), cells[None], known, None,
                                       np.zeros(2, bool))
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize('together', [1, 10**6])
@pytest.mark.parametrize('m, count', [(1, 1), (1, 3), (2, 3), (3, 3)])
def test_what_a_signal_lets_match(m, count, together, monkeypatch):
    """In the first word; in the second nothing is reported at once."""
    monkeypatch.setattr(cells_module, '_TOGETHER', together)
    random = np.random.default_rng(10 * m + count)
    for ratio in (1.0, 3.0):
        (known, cells), tables = some_cells(random, m, 6), tables_of(ratio, 3)
        near = random.random((count, 2, 6))
        weighed = known[:, :, None] * chances_of(tables, m, cells)
        expected = np.einsum('jws,wsz->wjz', near, weighed).max(axis=1).sum(axis=1)
        sizes = np.array([[m, m], [1, 1]])
        both = np.stack([cells, np.ones_like(cells)])
        alone = cells_module._values(tables, sizes, both, known, None, np.zeros(2, bool))
        found = cells_module._values(tables, sizes, both, known, near, np.array([True, False]))
        assert found[0, 0] - 0.1 * alone[0, 0] == pytest.approx(expected[0], rel=1e-12)
        assert found[0, 1] == alone[0, 1] and found[1, 0] - 0.1 * alone[1, 0] == pytest.approx(
            (near[:, 0] @ known[0]).max(), rel=1e-12)


@pytest.mark.parametrize('most', [1, 3, 6, 9])
def test_the_first_of_the_largest(most):
    random = Random(most)
    for _ in range(40):
        keys = np.array([[random.choice([-1.0, 0.0, 0.1, 0.2, 0.3]) for _ in range(8)]
                         for _ in range(3)])
        keys[0, 0] = 0.1
        places, counts = cells_module.largest(keys, most)
        assert len(places) == counts.max()
        for row, found, count in zip(keys, places.T, counts, strict=True):
            expected = sorted(np.flatnonzero(row >= 0), key=lambda s: -row[s])[:most]
            assert found.tolist() == expected + [-1] * (len(places) - count)
            assert count == len(expected)


@pytest.mark.parametrize('count', [3, 300])
def test_the_cells_of_each_number_of_founders(count):
    random = np.random.default_rng(count)
    near = random.integers(0, 4, (count, 2, 9)).astype(np.float32)
    tried, cells = cells_module._tried(near)
    assert tried.tolist() == [*range(1, min(count, 12) + 1), *[count] * (count > 12)]
    for m, found in zip(tried, cells, strict=True):
        expected = np.where(near[:m].any(axis=0), 1 + near[:m].argmax(axis=0), 0)
        assert found.tolist() == expected.tolist()


def test_what_can_follow_inside():
    """Words in which something inside can be reported at once, and others."""
    chain = Chain({'a': ['b', 'c'], 'b': ['a'], 'c': ['a', 'b', 'd'], 'd': ['a']}, 'a')
    tables = made(chain).tables
    f = np.array([[0.4, 0.1, 0.1, 0.4]] * 3)
    within = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]], bool)
    founders, counts, due = cells_module._candidates(tables, f, np.array([0, 0, 2]), True, within)
    assert due.tolist() == [True, False, True] and counts.tolist() == [1, 2, 3]
    assert founders.T.tolist() == [[1, -1, -1], [0, 3, -1], [0, 3, 1]]


def test_a_word_alone_and_among_others_is_the_same_to_the_last_bit():
    """Also where it is taken out of them, and where it tells zones."""
    for chain, zones in ((grid(3).every(2, 2), None), (grid(4), None), (hub(40), None),
                         ZONED['one-way']):
        privacy = Privacy(2.0) if zones is None else privacy_of(zones, 2.0)
        for delay in (0, 2, None):
            mechanism = OnlineMechanism(chain, privacy, policy='adaptive', delay=delay)
            random, tables = Random(5), mechanism.tables
            n = len(chain)
            symbols = np.array([[random.randrange(n) for _ in range(9)] for _ in range(5)])
            many = in_step.Words(tables, delay, 5)
            alone = [in_step.Words(tables, delay) for _ in range(5)]
            for words in (many, *alone):
                words.begin(0)
            for t in range(9):
                if t == 6:
                    many, alone, symbols = many.select(slice(1, 4)), alone[1:4], symbols[1:4]
                told = None if zones is None else tables.zone_of[symbols[:, t]]
                many.prepare(told)
                for i, one in enumerate(alone):
                    one.prepare(None if told is None else told[i:i + 1])
                sizes = np.zeros(len(alone), int) if many.cells is None else many.cells.sizes
                places = np.array([random.randrange(1, size + 1) if size else 0
                                   for size in sizes])
                many.take(places, told)
                for i, one in enumerate(alone):
                    one.take(places[i:i + 1], None if told is None else told[i:i + 1])
                    assert (one.joint[:, :, 0] == many.joint[:, :, i]).all()
                    assert one.previous == many.previous[i]
                    if one.posterior is not None:
                        assert (one.posterior[:, 0] == many.posterior[:, i]).all()
            routes = many.finish()
            assert all((one.finish()[:, 0] == routes[:, i]).all() for i, one in enumerate(alone))


def test_what_begins_again_has_a_probability_of_1():
    prior, joint = np.array([0.75, 0.25]), np.full((2, 4, 2), 0.2)
    within = np.array([[0, 1], [1, 1], [0, 1], [1, 1]], bool)
    spread_evenly(joint, within, np.array([True, False]), prior)
    assert joint[:, :, 0].T.tolist() == [[0, 0], [0.375, 0.125], [0, 0], [0.375, 0.125]]
    assert (joint[:, :, 1] == 0.2).all()


# What many words draw, by the definition of a randomized response.

def by_definition(mechanism, word, draws, limits):
    """Yield the signal for each symbol of a word, from draws that are used in turn."""
    mechanism.reset()
    for symbol in word:
        row = mechanism.exact_current_distribution(symbol)
        names, own = [*row], max(row, key=row.get)
        signal = names[0]
        if not isinstance(signal, Told):
            response = limits[len(names)]
            draw = next(r for r in draws if r < response.limit)
            signal, has_cell = names[draw // response.weight], len({*row.values()}) > 1
            if has_cell and draw % response.weight >= response.cut:
                signal = own
        yield signal
        mechanism._word.advance(signal)
        if mechanism.privacy.zones is None:
            for _ in range(mechanism.reports - 1):
                mechanism.tick()


@pytest.mark.parametrize('pieces', [[1], [2, 1, 5]])
@pytest.mark.parametrize('delay', [0, 2, None])
@pytest.mark.parametrize('chain, zones, reports', [
    (FOUR, None, 1), (HABIT, None, 1), (PARTED, None, 1), (FOUR.every(2, 1), None, 3),
    (*ZONED['four'], 1), (*ZONED['one-way'], 2), (ZONED['one-way'][0].every(2, 1), 'AAAB', 2)])
def test_draws_are_used_one_after_another(chain, zones, reports, delay, pieces, monkeypatch):
    """One draw out of some is rejected, also where no more are there."""
    limits = {count: Response.of_weights(count, 1, 3, 200) for count in range(1, 13)}
    monkeypatch.setattr(in_step, 'SEGMENT', 4)
    monkeypatch.setattr(known, 'responses', lambda counts, privacy: (
        30, {count: limits[count] for count in counts}))
    if zones == 'AAAB':
        zones = {'A': chain.states[:3], 'B': chain.states[3:]}
    privacy = Privacy(3.0) if zones is None else privacy_of(zones, 3.0)
    mechanism = OnlineMechanism(chain, privacy, policy='adaptive', delay=delay, reports=reports)
    random = Random(4)
    words = [[random.choice([*chain.states, None]) for _ in range(length)]
             for length in (1, 0, 7, 1, 8)] + [[symbol] for symbol in chain.states]
    ends = [response.limit for response in limits.values()]  # the first that are rejected
    of_words = [[random.choice([random.randrange(2**8), random.choice(ends)])
                 for _ in range(200)] for _ in filter(None, words)]
    left, sizes = [iter(draws) for draws in of_words], iter(pieces * 1000)
    left.insert(1, None)  # of the word that is empty

    def some_draws(self, symbols, number):
        return np.array([next(left[number]) for _ in range(next(sizes))])

    monkeypatch.setattr(AdaptiveTables, 'draws', some_draws)
    symbols, offsets = flat(chain, words)
    reported, drawn = mechanism.draw_signals(symbols, offsets, Numbers(words))
    names, told = [*(zones or ())], []
    expected, draws = [], iter(of_words)
    for word in filter(None, words):
        expected += by_definition(mechanism, word, iter(next(draws)), limits)
    assert [chain.states[z] if z >= 0 else Told(names[-1 - z]) for z in drawn] == expected
    for begin, end in pairwise(offsets):
        told += mechanism.decode(expected[begin:end])
    assert [chain.states[o] for o in reported] == told


# The word.

def test_ticks_that_are_left():
    mechanism = made(FOUR.every(2, 1), reports=4, delay=1, random=Random(1))
    left = [mechanism.ticks_left]
    mechanism.step('s1')
    for _ in range(4):
        left.append(mechanism.ticks_left)
        if left[-1]:
            mechanism.tick()
    assert left == [0, 3, 2, 1, 0]


def test_a_symbol_before_its_time_is_refused_where_draws_are_left():
    """At epsilon 0 there is one cell, and draws for it are kept."""
    mechanism = made(FOUR, 0.0, reports=3, random=Random(1))
    mechanism.step('s1')
    for _ in range(2):
        before = mechanism.state
        with refused(ConfigurationError, 'tick()', setting='reports'):
            mechanism.step('s1')
        assert mechanism.state == before
        mechanism.tick()
    mechanism.step('s1')


@pytest.mark.parametrize('delay', [0, 1, None])
def test_without_privacy_loss_there_is_one_cell(delay):
    for chain in (FOUR, RING, grid(4), HABIT):
        assert len(made(chain, 0.0, delay=delay).current_distribution(None)) == 1


def test_a_signal_that_founded_no_cell_has_no_likelihood():
    mechanism = made(grid(4), 3.0)
    cells = mechanism.current_distribution(None)
    for signal in (None, 'nowhere', *(s for s in mechanism.chain.states if s not in cells)):
        assert mechanism.current_likelihood(signal).tolist() == [0.0] * 16
    assert (mechanism.current_likelihood([*cells][0]) > 0).all()


def test_a_word_that_is_kept_in_parts_has_the_same_reports_and_states(monkeypatch):
    chain = Chain({'a': {'a': 0.8, 'b': 0.2}, 'b': {'a': 0.1, 'b': 0.6, 'c': 0.3},
                   'c': {'c': 0.5, 'a': 0.5}}, 'a').every(2, 1)
    found = []
    for segment in (4, 8, 10**6):
        monkeypatch.setattr(in_step, 'SEGMENT', segment)
        mechanism = made(chain, delay=None, reports=2, random=Random(3))
        reported, drawn = mechanism.draw_signals(
            np.array([0, 2, 1, -1, 2, 0, 1, 1, 0], np.int32), np.array([0, 9]))
        states = []
        signal_names = [chain.states[z] for z in drawn]
        assert mechanism.decode(signal_names) == [chain.states[o] for o in reported]
        for i, z in enumerate(signal_names):
            if i:
                mechanism.tick()
            mechanism.advance(z)
            states.append(mechanism.state)
            mechanism.restore(states[-1])
            assert mechanism.state == states[-1]
        found.append((reported.tolist(), signal_names, states, mechanism.finish()))
        assert found[-1][3] == [chain.states[o] for o in reported]
    assert found[0] == found[1] == found[2]
