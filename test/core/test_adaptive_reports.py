# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The reports of the adaptive policy: the routes of most expected matches, whoever computes them.

Live words, whole words and many at once are one; the law of whole words is enumerated; and errors
are measured where the robot does what nobody takes it to do. Reports by a search of all routes are
in test_adaptive_clocks.py, restarts in test_adaptive_restarts.py.
"""
from itertools import pairwise, product
from random import Random

from adaptive_reference import for_all_models, FORKED, made, PERIOD
from hidden_switch import adaptive_posteriors
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from online_checks import every_signal
import pytest
from refusals import refused
from strategies import (chains, feasible_words, flat, FOUR, Given, grid, RING, sharp, thorough,
                        words)
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy)
from symdp_ros.analysis.accuracy import accuracy, average_accuracy, patrols
from symdp_ros.core.online import targets
from symdp_ros.core.online.adaptive import causal_adaptive
from symdp_ros.core.online.adaptive import tables as known
from symdp_ros.core.word_arrays import WordBits

pytestmark = pytest.mark.usefixtures('single_signals')

DELAYS = [0, 1, 2, 5, None]


# The routes of most expected matches.

@pytest.mark.parametrize('delay', [0, 2, None])
def test_the_first_of_equals_is_reported(delay):
    """Without privacy loss all states of an alphabet are alike at all times."""
    mechanism = made(Chain.complete(['s0', 's1', 's2', 's3'], 's0', 0.25), 0.0, trust=1.0,
                     delay=delay)
    assert mechanism.privatize(['s3', 's1', 's2', None]) == ['s0'] * 4
    third = dict.fromkeys('cab', 1 / 3)
    backward = Chain(dict.fromkeys('abc', third), 'a')
    assert made(backward, 0.0, trust=1.0, delay=delay).privatize(['a', 'b', 'b']) == ['c'] * 3


@pytest.mark.parametrize('length', [thorough(63), 64, 65, thorough(128), 200])
@pytest.mark.parametrize('chain', [grid(4), PERIOD], ids=['grid', 'period'])
def test_no_route_of_a_long_word_is_better(chain, length):
    """What is believed is kept once in 64 symbols, and computed again."""
    mechanism = made(chain, delay=None, random=Random(length))
    word = np.array([Random(5).randrange(-1, len(chain)) for _ in range(length)], np.int32)
    route, signals = mechanism.draw_signals(word, np.array([0, length]))
    signals = [chain.states[i] for i in signals]
    assert mechanism.decode(signals) == [chain.states[i] for i in route]
    gammas, later = np.array(adaptive_posteriors(mechanism, signals), float), np.zeros(len(chain))
    allowed = np.full((len(chain),) * 2, -np.inf)
    for s in chain.states:
        allowed[chain.state_index[s], [chain.state_index[t] for t in chain.successors(s)]] = 0
    for gamma in gammas[::-1]:
        later = (allowed + gamma + later).max(axis=1)
    assert gammas[np.arange(length), route].sum() == pytest.approx(
        later[chain.state_index[chain.initial_state]], abs=1e-9)
    assert chain.is_feasible([chain.states[i] for i in route])


@pytest.mark.parametrize('leaves', [255, 256])
def test_a_route_through_many_successors(leaves, monkeypatch):
    """More than a byte can tell apart."""
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    monkeypatch.setattr(targets, 'MOST_PAIRS', 3 * leaves)
    monkeypatch.setattr(known, '_NEAR_TOLERANCE', 1.0)  # else it takes long
    monkeypatch.setattr(known, 'MOST_CELLS', 12)
    leaf, names = f'l{leaves - 1}', [f'l{i}' for i in range(leaves)]
    moves = {name: 0.5 / leaves for name in ('hub', *names[:-1])} | {leaf: 0.5}
    chain = Chain({'hub': moves, **{name: [name, 'hub'] for name in names}}, 'hub')
    word = ['hub', leaf]
    assert made(chain, 60.0, delay=None).privatize(word) == word


# Live, whole and many at a time.

@given(st.data(), chains(), st.integers(0, 2**32), st.sampled_from(DELAYS))
def test_steps_whole_words_and_many_words_are_one(data, chain, seed, delay):
    some = data.draw(st.lists(words(chain, 8), min_size=1, max_size=3))
    stepped, whole, many = (made(chain, random=Random(seed), delay=delay) for _ in range(3))
    found = []
    for word in some:
        told = [stepped.step(symbol) for symbol in word]
        waits = len(word) if delay is None else min(delay, len(word))
        assert told[:waits] == [None] * waits and None not in told[waits:]
        rest = stepped.finish()
        assert len(rest) == waits and stepped.finish() == []
        found.append(told[waits:] + rest)
        assert chain.is_feasible(found[-1])
    assert [whole.privatize(word) for word in some] == found
    symbols, ends = flat(chain, some)
    bits = WordBits(len(some))
    reports, signals = many.draw_signals(symbols, ends, bits)
    assert reports.dtype == signals.dtype == np.int32
    assert many.privatize_many(symbols, ends, bits).tolist() == reports.tolist() == [
        chain.state_index[o] for begin, end in pairwise(ends)
        for o in many.decode([chain.states[i] for i in signals[begin:end]])]


class Same:
    """A `random` that gives the same bytes over and over."""

    def __init__(self, some):
        self._some = some

    def getrandbits(self, width):
        return int.from_bytes((self._some * width)[:width // 8], 'little')


@pytest.mark.parametrize('epsilon', [0.0, 2.0, 30.0])
@pytest.mark.parametrize('chain', [FOUR, RING, FORKED])
def test_many_words_take_a_draw_as_steps_do(chain, epsilon):
    """At the ends of each range of integers that means something."""
    mechanism = made(chain, epsilon)
    tables = mechanism.tables
    response = tables.responses[mechanism._word._size]
    ends = {0, response.cut - 1, response.cut, response.weight - 1} - {response.weight}
    for symbol, number, end in product((*chain.states, None), range(response.count), ends):
        draw = number * response.weight + end
        raw = (draw << 2).to_bytes(4, 'little') if tables.width == 30 else (
            draw << 4).to_bytes(8, 'little')
        _, [signal] = mechanism.draw_signals(*flat(chain, [[symbol]]), Given([raw * 64]))
        mechanism.replay([chain.states[signal]])
        one = mechanism.another(random=Same(raw))
        one.step(symbol)
        assert one.state == mechanism.state


@given(st.data(), chains(complete=False), st.sampled_from([0, 1, 2]))
def test_what_was_published_stays(data, chain, delay):
    """Whatever signals follow: reports are those of a word that ended there, but for the last."""
    mechanism, signals, told = made(chain, delay=delay), [], []
    for t in range(8):
        if t >= delay:
            told += mechanism.decode(signals)[len(told):len(signals) - delay]
        mechanism.replay(signals)
        signals.append(data.draw(st.sampled_from([*mechanism.current_distribution(None)])))
        assert mechanism.decode(signals)[:len(told)] == told
        assert mechanism.state == made(chain, delay=delay).state  # as after reset


@pytest.mark.parametrize('delay', [0, 1, 3, None])
@pytest.mark.parametrize('stays', [None, 0.9])
def test_an_alphabet_infers_its_reports(stays, delay):
    """From all signals so far, by models that stay; each report is the most probable symbol."""
    chain = Chain.complete(list('xyz'), 'x', stays)
    mechanism = made(chain, delay=delay, random=Random(7))
    word = ['y', None, 'z', 'x', 'x', 'x', 'y']
    signals = [chain.states[i] for i in mechanism.draw_signals(
        np.array([1, -1, 2, 0, 0, 0, 1], np.int32), np.array([0, len(word)]))[1]]
    reports = mechanism.decode(signals)
    for t, report in enumerate(reports):
        until = len(word) if delay is None else min(t + delay + 1, len(word))
        gamma = np.array(adaptive_posteriors(mechanism, signals[:until])[t], float)
        assert gamma[chain.state_index[report]] >= gamma.max() - 1e-9
    told = [mechanism.advance(z) or mechanism.posterior for z in signals]
    if delay is not None:
        gamma = np.array(adaptive_posteriors(mechanism, signals)[len(word) - 1 - delay], float)
        assert told[-1] == pytest.approx(gamma, abs=1e-12)
    for call in (mechanism.decode, mechanism.replay):
        with refused(ChainError, state='SECRET'):
            call(['z', 'SECRET'])


# The law of whole words.

@pytest.mark.parametrize('delay', [thorough(0), 1, None])
@for_all_models
def test_the_errors_by_enumeration(chain, delay):
    """The seed is fixed: 6 standard errors."""
    mechanism = made(chain, 1.5, delay=delay)
    release = OfflineMechanism(chain, Privacy(1.5), selection='causal', policy='adaptive')
    word = [chain.states[1], None, chain.states[-1]]
    distances = np.zeros(len(word) + 1)
    for signals in every_signal(mechanism, len(word)):
        chance, walker = 1, mechanism.another()
        for symbol, z in zip(word, signals):
            chance *= walker.exact_current_distribution(symbol)[z]
            walker.advance(z)
        reports = mechanism.decode(signals)
        distances[sum(s != o for s, o in zip(word, reports))] += float(chance)
    assert mechanism.distance_distribution(word) == pytest.approx(distances, abs=1e-12)
    mean = distances @ np.arange(len(word) + 1)
    found = accuracy(mechanism, word)
    assert found.mean == pytest.approx(mean, abs=6 * found.standard_error + 1e-12)
    if delay is None:
        assert release.law.online.delay is None
        assert release.distance_distribution(word) == pytest.approx(distances, abs=1e-12)
        exact = release.law.exact_probabilities(word, [*feasible_words(chain, len(word))])
        assert sum(exact) == 1


def test_words_with_too_many_signals_are_refused(monkeypatch):
    monkeypatch.setattr(causal_adaptive, 'MOST_HISTORIES', 100)
    release = OfflineMechanism(FOUR, Privacy(2.0), selection='causal', policy='adaptive')
    assert release.distance_distribution(['s1'] * 3).sum() == pytest.approx(1)
    for call in (release.distance_distribution,
                 lambda word: release.log_probability(word, ['s1'] * 8)):
        with refused(ConfigurationError, 'more than 100', setting='policy'):
            call(['s1'] * 8)


# A robot that does what nobody takes it to do.

def with_staying(chain, chance):
    """Return a chain that stays so often, and else makes each other move alike."""
    return Chain({s: {t: chance if t == s else (1 - chance) / (len(chain.successors(s)) - 1)
                      for t in chain.successors(s)} for s in chain.states}, chain.initial_state)


#: Streets of one direction: around, and across.
ONE_WAY = with_staying(Chain({f's{i}': [f's{i}', f's{(i + 1) % 16}'] + [f's{(i + 6) % 16}'] * (
    i % 4 == 0) for i in range(16)}, 's0'), 0.9)
GRID = with_staying(grid(5), 0.9)


def carried(chain, walk, random):
    """Half way through the first two thirds it is put somewhere else, and walks on from there."""
    elsewhere = chain.states[len(chain) // 2 + random.randrange(len(chain) // 2)]
    third = len(walk) // 3
    rest = patrols(Chain({s: chain.probabilities(s) for s in chain.states}, elsewhere),
                   len(walk) - third, 1)[0]
    return walk[:third] + rest


def begun_elsewhere(chain, walk, random):
    start = random.choice(chain.states[1:])
    return patrols(Chain({s: chain.probabilities(s) for s in chain.states}, start), len(walk),
                   1)[0]


def partly_unknown(chain, walk, random):
    return [None if t < 2 * len(walk) // 3 and random.random() < 0.3 else s
            for t, s in enumerate(walk)]


def late_error(mechanism, walks):
    """Return the share of the last third of walks that is reported wrong."""
    reports = mechanism.privatize_many(*flat(mechanism.chain, walks)).reshape(len(walks), -1)
    states, late = mechanism.chain.states, 2 * reports.shape[1] // 3
    assert all(mechanism.chain.is_feasible([states[i] for i in row]) for row in reports)
    return np.mean([states[i] != s for row, walk in zip(reports, walks, strict=True)
                    for i, s in zip(row[late:], walk[late:], strict=True)])


@pytest.mark.parametrize('trust', [0.8, thorough(1.0)])
@pytest.mark.parametrize('delay', [thorough(0), 3, thorough(None)])
@pytest.mark.parametrize('chain', sharp({'grid': GRID, 'one-way': ONE_WAY}, 'grid'))
@pytest.mark.parametrize('disturbed', [carried, begun_elsewhere, partly_unknown])
def test_the_error_recovers(disturbed, chain, delay, trust):
    """
    In the last third it errs at most twice as often as if nothing had been. The seeds are fixed.

    Who learns nothing from signals errs far more.
    """
    random, walks = Random(1), patrols(chain, 90, 40)
    mechanism = made(chain, 3.0, delay=delay, trust=trust, random=Random(2))
    calm = late_error(mechanism, walks)
    after = [disturbed(chain, walk, random) for walk in walks]
    assert late_error(mechanism, after) <= 2 * calm + 0.02
    assert late_error(made(chain, 0.0, delay=delay, trust=trust), after) > 2 * calm + 0.02


def test_it_errs_less_the_longer_it_waits():
    """A robot that stays nine times out of ten, or more: the seeds are fixed, the margins wide."""
    chain = with_staying(grid(5), 0.97)
    walks = patrols(chain, 60, 60)
    guided = average_accuracy(OnlineMechanism(chain, Privacy(2.0)), walks).error
    at_once, after_three, whole = (
        average_accuracy(made(chain, delay=delay, trust=1.0), walks).error
        for delay in (0, 3, None))
    assert at_once < 0.5 * guided and after_three < 0.6 * at_once and whole < 0.9 * after_three
    unknown = Chain({s: chain.successors(s) for s in chain.states}, chain.initial_state)
    found_out = average_accuracy(made(unknown, delay=3), walks).error
    assert len(unknown.models(0.8)) == 6 and found_out < 0.4 * guided
