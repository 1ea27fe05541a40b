# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a word of the policy adaptive learns from its own signals: counts, privacy, restarts."""
from itertools import product
from random import Random

import numpy as np
from offline_checks import large_grid
from online_checks import excess
import pytest
from refusals import refused
from strategies import FOUR, grid, thorough
from symdp_ros import Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.online.adaptive import many as batch, own_moves
from symdp_ros.core.registry import LIVE
from symdp_ros.core.zones import WAITING

THREE = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a', 'b']}, 'a')
ZONES = {'left': ['0,0', '1,0', '2,0'], 'rest': ['0,1', '1,1', '2,1', '0,2', '1,2', '2,2']}
DELAYS = [0, 1, 3, None]


@pytest.fixture
def often(monkeypatch):
    """Have words learn every few ticks."""
    def every(ticks):
        for module in own_moves, batch:
            monkeypatch.setattr(module, 'EVERY', ticks)

    every(4)
    return every


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


def stands(mechanism):
    return (mechanism.state, mechanism.previous, mechanism.posterior is None or
            mechanism.posterior.tolist())


@pytest.mark.parametrize('chain, more', [
    (FOUR, {}), (grid(3), {}), (grid(3), {'zones': ZONES}), (grid(3).every(3, 1), {}),
    (grid(3).every(2, 1), {'reports': 2})], ids=['four', 'grid', 'zones', 'ticks', 'reports'])
@pytest.mark.parametrize('delay', [1, None, thorough(0), thorough(3)])
def test_a_restart_at_every_place_changes_nothing(chain, more, delay, often):
    """Before a block ends, what was not drawn for is drawn as unknown by either."""
    mechanism, random = made(chain, delay=delay, random=Random(1), **more), Random(3)
    for _ in range(30):
        symbol = random.choice([*chain.states, None])
        if b'' == mechanism.state or mechanism._word._word.blocks[0] is None:
            other = mechanism.another(random=Random(1))
            other.restore(mechanism.state)
            assert other.state == mechanism.state and other.previous == mechanism.previous
            ahead = Random(9)
            both = [mechanism.another(random=Random(2)), mechanism.another(random=Random(2))]
            for one in both:
                one.restore(mechanism.state)
            for _ in range(9):
                following = ahead.choice([*chain.states, None])
                reports = []
                for one in both:
                    reports.append(one.step(following))
                    reports[-1] = reports[-1], [one.tick() for _ in range(one.ticks_left)]
                assert reports[0] == reports[1] and stands(both[0]) == stands(both[1])
        mechanism.step(symbol)
        for _ in range(mechanism.ticks_left):
            mechanism.tick()


@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('more', [{}, {'zones': ZONES}], ids=['plain', 'zones'])
def test_a_word_that_goes_on_and_one_that_was_restored(more, delay, often):
    """They draw the same from the same bits, at each of the times of learning and between them."""
    chain = grid(3)
    word = Random(4).choices((*chain.states, None), k=33)
    whole = made(chain, delay=delay, **more)
    for cut in range(0, len(word), 3):
        one = whole.another(random=Random(cut))
        for symbol in word[:cut]:
            one.step(symbol)
        if one._word._word.blocks[0] is not None and one._word._word.passed[0]:
            continue  # a block under way is not restored
        two = whole.another(random=Random(99))
        two.restore(one.state)
        one._word._random, two._word._random = Random(7), Random(7)
        one._word._draws_of, two._word._draws_of = {}, {}
        for each in one, two:
            each._word._prepare()
        assert [one.step(s) for s in word[cut:]] == [two.step(s) for s in word[cut:]]
        assert one.state == two.state and one.finish() == two.finish()


@pytest.mark.parametrize('delay', [0, 2, None])
def test_a_batch_learns_as_one_word_does(delay, often):
    chain = grid(3)
    many = made(chain, delay=delay, random=Random(3))
    symbols = np.array(Random(5).choices(range(-1, 9), k=60), np.int32)
    reports, signals = many.draw_signals(symbols, np.array([0, 25, 28, 60]))
    for begin, end in ((0, 25), (25, 28), (28, 60)):
        one = made(chain, delay=delay)
        assert len(reports[begin:end]) == end - begin
        if signals[begin:end].max() < len(chain):  # no blocks
            assert one.decode([chain.states[i] for i in signals[begin:end]]) == [
                chain.states[i] for i in reports[begin:end]]


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
