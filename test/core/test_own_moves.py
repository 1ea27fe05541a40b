# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What a word of the policy adaptive learns from its own signals: counts, privacy, restarts.

The promise and what is counted are enumerated: over all words and signals, and over all sequences
of states and models.
"""
from itertools import product
from random import Random

import numpy as np
from offline_checks import large_grid
from online_checks import block_under_way, draw_anew, excess
import pytest
from refusals import refused
from strategies import FOUR, grid, thorough
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy)
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.online.adaptive import own_moves
from symdp_ros.core.registry import LIVE
from symdp_ros.core.zones import WAITING

THREE = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a', 'b']}, 'a')
ZONES = {'left': ['0,0', '1,0', '2,0'], 'rest': ['0,1', '1,1', '2,1', '0,2', '1,2', '2,2']}
DELAYS = [0, 1, 3, None]


def made(chain, epsilon=2.0, k=1, zones=None, **more):
    return OnlineMechanism(chain, Privacy(epsilon, k, zones), policy='adaptive', learn='own',
                           **more)


@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('chain, length', [(THREE, 4), (Chain({'x': ['x', 'y'], 'y': ['y', 'x']},
                                                              'x'), 5)], ids=['three', 'two'])
def test_every_pair_of_words_and_all_signals(chain, length, delay, often):
    """Also where the moves were learnt meanwhile, twice: in fractions, as drawn."""
    often(2)
    for epsilon, k in ((4.0, 1), (6.0, 2)):
        assert excess(made(chain, epsilon, k, delay=delay), length, epsilon, k) is None


def by_sequences(chain, models, likely):
    """Return the moves that are expected: over all sequences of states and models."""
    n, length = len(chain), len(likely)
    P = np.zeros((len(models), n, n))
    offsets, targets = models.offsets, models.targets
    for s in range(n):
        row = slice(offsets[s], offsets[s + 1])
        P[:, s, targets[row]] = models.weights[:, row]
    found, total = np.zeros((n, n)), 0.0
    for sequence in product(range(len(models)), repeat=length):
        for route in product(range(n), repeat=length):
            states, chance = (chain.state_index[chain.initial_state], *route), 1.0
            for t, m in enumerate(sequence):
                turn = models.prior[m] if t == 0 else models.switch[m] + models.keep * (
                    m == sequence[t - 1])
                chance *= turn * P[m, states[t], states[t + 1]] * likely[t][states[t + 1]]
            total += chance
            for pair in zip(route, route[1:]):
                found[pair] += chance
    return found / total


@pytest.mark.parametrize('epsilon', [1.0, 1.5, 3.0])
@pytest.mark.parametrize('delay', [0, None])
def test_what_is_counted_is_what_is_expected(delay, epsilon, often):
    """And, above ε = 1, more than that by how much it is not what was known before."""
    often(4)
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'a']}, 'a')
    mechanism, likely = made(chain, epsilon, delay=delay), []
    random, signals = Random(5), []
    for _ in range(4):
        signals.append(random.choice([*mechanism.exact_current_distribution('a')]))
        likely.append(mechanism.current_likelihood(signals[-1]))
        mechanism.advance(signals[-1])
    assert WAITING not in signals
    own = mechanism._word._word.own
    expected = by_sequences(chain, chain.models(0.8), likely)
    offsets, targets = chain.csr()
    sources = np.repeat(np.arange(2), np.diff(offsets))
    of_models = own.joint[1:].sum(axis=(1, 2))
    before = of_models / of_models.sum() @ chain.models(0.8).weights
    counts, push = expected[sources, targets], min(2.0, epsilon)
    counts = counts + (push - 1) * (counts - expected.sum(axis=1)[sources] * before)
    assert own.counts == pytest.approx(np.maximum(counts, 0.0), rel=1e-5)
    assert own.begin == 4 and own.joint.sum() == pytest.approx(1)
    assert mechanism._word._word.moves.prior[0] == own_moves.WEIGHT


def test_what_was_counted_before_counts_less(often):
    """Half of it is forgotten at first, and less each time; at ε = 1 a move is counted as one."""
    often(4)
    mechanism, counted = made(THREE, 1.0, delay=0, random=Random(1)), 0.0
    for begin in range(0, 240, 4):
        for symbol in 'abca':
            mechanism.step(symbol)
        own, forgotten = mechanism._word._word.own, max(own_moves.LEAST, 1 / (2 + begin / 12))
        counted = 3 + (1 - forgotten) * counted  # moves within these four
        assert own.begin == begin + 4 and own.counts.sum() == pytest.approx(counted)
    assert forgotten == own_moves.LEAST == 0.05


@pytest.mark.parametrize('chain, more', [
    (FOUR, {}), (grid(3), {}), (grid(3), {'zones': ZONES}), (grid(3).every(3, 1), {}),
    (grid(3).every(2, 1), {'reports': 2})], ids=['four', 'grid', 'zones', 'ticks', 'reports'])
@pytest.mark.parametrize('delay', [0, 3, thorough(1), None])
def test_a_word_that_goes_on_and_one_that_was_restored(chain, more, delay, often):
    """They draw the same from the same bits, at each of the times of learning and between them."""
    often(4)
    word, whole, compared = Random(4).choices((*chain.states, None), k=21), made(
        chain, delay=delay, **more), 0

    def step(one, symbol):
        return [one.step(symbol), *[one.tick() for _ in range(one.ticks_left)]]

    for cut in range(0, len(word), 3):
        one, two = whole.another(random=Random(cut)), whole.another(random=Random(99))
        for symbol in word[:cut]:
            step(one, symbol)
        if block_under_way(one)[0]:
            continue  # test_blocks_live.py
        two.restore(one.state)
        assert two.state == one.state and two.previous == one.previous
        for each in one, two:
            draw_anew(each, 7)
        for symbol in word[cut:]:
            assert step(one, symbol) == step(two, symbol) and one.state == two.state
            assert str(one.posterior) == str(two.posterior)
        assert one.finish() == two.finish()
        compared += 1
    assert compared > 3


@pytest.mark.parametrize('delay', [0, 1])
def test_bytes_that_are_no_state_of_a_word_that_learns(delay, often):
    """One tick fewer; another byte for true; no public model that can be the robot's."""
    often(6)
    mechanism = made(THREE, 1.5, delay=delay, reports=2, random=Random(1))
    for symbol in 'abcaabca':
        mechanism.step(symbol)
        mechanism.tick()
    state, begin = mechanism.state, 25 + 8 * len(mechanism.tables.models.targets)
    count, models = int.from_bytes(state[:8], 'little'), mechanism._word._word.moves.models
    f = np.frombuffer(state, '<f8', 3 * models, begin).reshape(3, models).copy()
    assert state[12] == 1 and f.sum() == pytest.approx(1)
    f[:, 1:] = 0.0
    f /= f.sum()
    fewer = (count - 1).to_bytes(8, 'little') if delay else b'\xff' * 8  # without blocks it can be
    for place, wrong in (0, fewer), (12, b'\3'), (begin, f.tobytes()):
        with refused(ChainError, 'no state'):
            mechanism.restore(state[:place] + wrong + state[place + len(wrong):])
        assert mechanism.state == state


def test_habits_that_nobody_named_are_learnt():
    """9 of 10 moves are alike: a quarter is wrong where that is not known; a tenth where it is."""
    plain = large_grid(4)
    rows = {s: [t for t in plain.successors(s) if t != s] for s in plain.states}
    random, word, state = Random(2), [], plain.initial_state
    likely = {s: random.choice(row) for s, row in rows.items()}
    for _ in range(4_000):
        state = likely[state] if random.random() < 0.9 else random.choice(rows[state])
        word.append(state)
    wrong = {}
    for learn in ('none', 'own'):
        mechanism = OfflineMechanism(plain, Privacy(2.0), selection='causal', policy='adaptive',
                                     learn=learn, random=Random(1))
        found = mechanism.privatize(word)
        wrong[learn] = np.mean([a != b for a, b in zip(found, word)][-1_000:])
    assert wrong['own'] < 0.8 * wrong['none']


def test_settings():
    given = MechanismSettings(LIVE, learn='own')
    assert [*given.available()] == ['live, adaptive']
    assert given.text(FOUR).endswith('six models, and as its own signals show')
    described = given.described(FOUR, Privacy(1.0))
    assert described['learn'] == 'own'
    assert 'learn' not in MechanismSettings(LIVE).described(FOUR, Privacy(1.0))
    for wrong in ({'policy': 'guided', 'learn': 'own'}, {'learn': 'all'}):
        with refused(ConfigurationError, setting='learn'):
            MechanismSettings(LIVE, **wrong).check()
        with refused(ConfigurationError, setting='learn'):
            OnlineMechanism(FOUR, Privacy(1.0), **{'policy': 'adaptive', **wrong})
    with refused(ConfigurationError, setting='learn'):
        MechanismSettings('exponential', learn='own').check()
    offered = MechanismSettings(learn='own').available()
    assert {name: each.learn for name, each in offered.items()} == {
        'exponential': 'none', 'exponential, counting': 'none', 'causal, adaptive': 'own'}
    made_of = given.available()['live, adaptive'].online(FOUR, Privacy(1.0))
    assert made_of.learn == 'own'
    # Symbols that can all follow one another learn nothing.
    alphabet = Chain.complete(['a', 'b'], 'a')
    assert not made(alphabet).tables.learns
    assert given.text(alphabet).endswith('six models')
