# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of the adaptive policy that make signals, each by itself; and what `draw` takes."""
from itertools import pairwise
from random import Random

from adaptive_reference import HABIT, made, PARTED
import numpy as np
import pytest
from refusals import refused
from strategies import flat, FOUR, grid, RING
from symdp_ros import Chain, ConfigurationError, OnlineMechanism, Privacy
from symdp_ros.core.online.adaptive import adaptive, signals
from symdp_ros.core.online.response import Response
from symdp_ros.core.zones import Told
from zone_checks import privacy_of, ZONED


def shares_of(m, ratio):
    """Return `shares` for this number of cells alone."""
    shares = np.full((4, m + 1), np.nan)
    shares[:, m] = 1 / (ratio + m - 1), ratio / (ratio + m - 1), 1 / m, 0
    return shares


def some_cells(random, m, states):
    """Return how likely some states are, together less than 1, and the cell of each."""
    known = random.random(states)
    return known / known.sum() * 0.9, random.integers(0, m + 1, states)


@pytest.mark.parametrize('m', [1, 2, 5])
def test_what_a_signal_tells(m):
    random = np.random.default_rng(m)
    for ratio in (1.0, 1.5, 20.0):
        known, cells = some_cells(random, m, 7)
        known[0] += 0.1
        shares, masses = shares_of(m, ratio), np.bincount(cells, known, m + 1)
        own, other = shares[1, m], shares[0, m]
        chance = np.where(cells[:, None] == np.arange(1, m + 1), own, other)
        chance[cells == 0] = 1 / m
        drawn = known @ chance
        expected = (known[:, None] * chance * np.log(chance / drawn)).sum()
        found = signals._information(m, shares, masses)
        alone = signals._information(1, shares_of(1, ratio), np.array([0.0, 1.0]))
        assert found - alone == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize('m, count', [(1, 1), (1, 3), (2, 3), (3, 3)])
def test_what_a_signal_lets_match(m, count):
    """What `by_cell` held before does not count."""
    random = np.random.default_rng(10 * m + count)
    for ratio in (1.0, 3.0):
        known, cells = some_cells(random, m, 6)
        shares, near = shares_of(m, ratio), random.random((count, 8))
        sums, by_cell = np.full((2, count + 1), 7.0), np.full((count, count + 1), 7.0)
        sums[0, :count] = near[:, :6] @ known
        chance = np.where(cells[:, None] == np.arange(1, m + 1), shares[1, m], shares[0, m])
        chance[cells == 0] = 1 / m
        expected = (near[:, :6] @ (known[:, None] * chance)).max(axis=0).sum()
        none = signals._matches(m, count, shares, near, np.zeros(6), cells, 6, 0 * sums, by_cell)
        found = signals._matches(m, count, shares, near, known, cells, 6, sums, by_cell)
        assert found - none == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize('room', [1, 3, 6, 9])
def test_the_first_of_the_most_probable_states(room):
    random = Random(room)
    for _ in range(40):
        belief = np.array([random.choice([0.0, 0.1, 0.2, 0.3]) for _ in range(8)])
        some = np.array(random.sample(range(8), 6))
        founders = np.full(room, -1)
        count = signals._most_probable(belief, some, founders)
        assert founders[:count].tolist() == sorted(some.tolist(), key=lambda s: -belief[s])[:room]
        assert (founders[count:] == -1).all()


def test_what_can_follow_inside():
    inside, members = np.array([1, 0, 1, 1, 0], np.uint8), np.array([0, 2, 3, 9, 9])
    assert signals._inside_of(np.array([1, 4], np.int32), inside, members, 3) == 3
    assert members.tolist() == [0, 2, 3, 9, 9]
    assert signals._inside_of(np.array([4, 3, 2], np.int32), inside, members, 3) == 2
    assert members[:2].tolist() == [3, 2]


def test_what_is_believed_inside():
    joint, inside = np.full((5, 8), 0.01), np.array([0, 1, 1, 0, 1], np.uint8)
    joint[2], joint[4] = 1e-20, 0.03
    belief, some, members = np.full(5, 7.0), np.zeros(6, np.int64), np.zeros(6, np.int64)
    assert signals._believe_inside(belief, joint, inside, some, members) == (2, 3)
    assert belief[[1, 2, 4]] == pytest.approx([0.25, 2.5e-19, 0.75])
    assert some[:2].tolist() == [1, 4] and members[:3].tolist() == [1, 2, 4]
    joint.fill(0.0)
    assert signals._believe_inside(belief, joint, inside, some, members) == (3, 3)
    assert belief[[1, 2, 4]].tolist() == [1 / 3] * 3 and some[:3].tolist() == [1, 2, 4]


def test_a_segment_is_gone_over_as_tick_by_tick():
    """One that begins again at its second tick, and tells its zone again at its last."""
    tables = made(grid(2)).tables
    prior, shape = tables.prior, (4, len(tables.prior))
    kinds = np.array([[0, 0, 1, 2], [3, 3, 3, 1], [2] * 4, [1, 0, 3, 3], [2] * 4], np.uint8)
    sizes = np.array([[2, 2, 1, 2, 1], [1, 1, 0, 1, 0], [0, 2, 0, 1, 0], [0, 1, 0, 0, 0]])
    rows = np.zeros((4, *shape))
    rows[0, 0] = prior
    expected, mixed, chances = [rows[0].copy()], np.zeros(shape), np.zeros(4)
    for t in range(4):
        again = signals.begin_again(expected[t], kinds[t], tables.arrays[3]) if t == 1 else 0
        assert again == sizes[3, t]
        expected.append(np.zeros(shape))
        signals.predict(expected[t], kinds[t], sizes[0, t], tables.arrays, chances, mixed,
                        expected[-1])
    rows[0, 0] = prior
    signals.predict_segment(rows, kinds, sizes, tables.arrays)
    assert rows.tobytes() == np.array(expected[:4]).tobytes()
    assert rows[1].sum() == pytest.approx(1) and (prior > 0).sum() > 1


def test_what_begins_again_has_a_probability_of_1():
    kinds, prior = np.array([3, 0, 2, 1], np.uint8), np.array([0.75, 0.25, 0, 0, 0, 0, 0, 0])
    switch, joint = np.stack([prior, prior, prior]), np.zeros((4, 8))
    joint[0], joint[1, 0] = 5.0, 1e-201
    assert signals.begin_again(joint, kinds, switch)
    assert joint.tolist() == [[0.0] * 8, *[(prior / 3).tolist()] * 3]
    before = joint.copy()
    assert not signals.begin_again(joint, kinds, switch) and (joint == before).all()


# What many words draw, by the definition of a randomized response.

def by_definition(mechanism, word, draws, limits):
    """Yield (signal, its luck) for each symbol of a word, from draws that are used in turn."""
    mechanism.reset()
    for symbol in word:
        row = mechanism.exact_current_distribution(symbol)
        names, own, luck = [*row], max(row, key=row.get), 0.0
        signal = names[0]
        if not isinstance(signal, Told):
            response = limits[len(names)]
            draw = next(r for r in draws if r < response.limit)
            signal, has_cell = names[draw // response.weight], len({*row.values()}) > 1
            if has_cell and draw % response.weight >= response.cut:
                signal = own
            luck = has_cell * ((signal == own) - float(row[own]))
        yield signal, luck
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
    monkeypatch.setattr(adaptive, '_SEGMENT', 4)
    monkeypatch.setattr(adaptive, 'responses', lambda counts, privacy: (
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
    left = [iter(draws) for draws in of_words]
    sizes, used = iter(pieces * 1000), []

    def some_draws(self, symbols, bits):
        if all(bits is not before for before in used):  # those of the next word
            used.append(bits)
        return np.array([next(left[len(used) - 1]) for _ in range(next(sizes))])

    monkeypatch.setattr(adaptive.AdaptiveTables, 'draws', some_draws)
    symbols, offsets = flat(chain, words)
    reported, drawn, luck = mechanism.draw_with_luck(symbols, offsets)
    names, told = [*(zones or ())], []
    assert len(used) == len(of_words) or zones is not None
    expected, draws = [], iter(of_words)
    for word in filter(None, words):
        expected += by_definition(mechanism, word, iter(next(draws)), limits)
    assert [chain.states[z] if z >= 0 else Told(names[-1 - z]) for z in drawn] == [
        z for z, _ in expected]
    assert luck == pytest.approx([found for _, found in expected], abs=1e-12)
    for begin, end in pairwise(offsets):
        told += mechanism.decode([z for z, _ in expected[begin:end]])
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
        monkeypatch.setattr(adaptive, '_SEGMENT', segment)
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
