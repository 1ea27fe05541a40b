# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adaptive policy on two clocks: several reports for each signal, on single ticks.

What is known is held against the hidden switch (hidden_switch.py), and that against a sum over all
routes; each report against a search of all routes; the promise by enumeration, in fractions.
"""
from itertools import pairwise, product
from random import Random
from struct import pack

from adaptive_reference import best_routes, FORKED, HABIT, hub, made, MODELS
from hidden_switch import adaptive_beliefs, adaptive_posteriors, hidden_switch, likelihoods
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from online_checks import every_signal, excess
import pytest
from refusals import refused
from strategies import (all_to_all, chains, COMPLETE, feasible_words, flat, FOUR, grid, sharp,
                        thorough, words)
from symdp_ros import (Chain, ChainError, ConfigurationError, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.core.online.adaptive import adaptive
from symdp_ros.core.online.adaptive import words as in_step

pytestmark = pytest.mark.usefixtures('single_signals')

#: With P and without; where none can stay, so that there are two models; in one direction.
NAMED = Chain({'a': {'a': 0.8, 'b': 0.2}, 'b': {'a': 0.1, 'b': 0.6, 'c': 0.3},
               'c': {'c': 0.5, 'a': 0.5}}, 'a')
TWO = Chain({'a': {'b': 0.9, 'c': 0.1}, 'b': {'c': 0.8, 'a': 0.2}, 'c': {'a': 0.5, 'b': 0.5}}, 'b')
STREET = Chain({'a': ['a', 'b'], 'b': ['b', 'c', 'a'], 'c': ['c', 'd'], 'd': ['d', 'b']}, 'a')
CLOCKED = {f'{name}-{ticks}-{moves}': chain.every(ticks, moves) for (name, chain), (ticks, moves)
           in product({'named': NAMED, 'two': TWO, 'street': STREET}.items(),
                      [(1, 1), (2, 1), (3, 2)])}
#: The most probable way is not the one by which most is matched: nobody knows where it leads.
WAYS = Chain({'s': {'t': 0.4, 'u': 0.3, 'v': 0.3}, 't': ['p', 'q', 'r'], 'u': ['w'], 'v': ['w'],
              **{end: [end] for end in 'pqrw'}}, 's')
ONCE = {**MODELS, 'hub': hub(3), 'ways': WAYS}
for_all_clocks = pytest.mark.parametrize('chain', sharp(
    CLOCKED, 'named-2-1', 'two-3-2', 'street-1-1'))
for_all_reports = pytest.mark.parametrize('reports', [thorough(1), thorough(2), 3])
for_all_delays = pytest.mark.parametrize('delay', [0, 1, 2, None])


def spread(signals, reports):
    """Return signals with None for each report between two of them."""
    found = [z for signal in signals for z in (signal, *[None] * (reports - 1))]
    return found[:len(signals) * reports - reports + 1]


def go_on(mechanism, z):
    """Go on by one report; return it where one is due."""
    return mechanism.tick() if z is None else mechanism._word.advance(z)


def drawn(mechanism, random, length):
    """Return a history of so many reports that can be; now and then a symbol is left out."""
    mechanism.reset()
    history = []
    for t in range(length):
        left_out = t % mechanism.reports or random.random() < 0.2
        history.append(None if left_out else random.choice(
            [*mechanism.current_distribution(None)]))
        go_on(mechanism, history[-1])
    mechanism.reset()
    return history


# What is known, and what is made of it.

def test_a_symbol_that_is_left_out_tells_nothing():
    """Also not that it has no cell: after some signals, some states have none."""
    without = 0
    mechanism = made(FORKED, 3.0, trust=1.0)
    for signals in every_signal(mechanism, 4)[::20]:
        mechanism.replay(signals)
        rows = [mechanism.exact_current_distribution(s) for s in FORKED.states]
        without += len({len(set(row.values())) for row in rows}) == 2
        mechanism.tick()
        expected = adaptive_beliefs(mechanism, [*signals, None])[-1]
        found = np.frombuffer(mechanism.state, '<f8', len(FORKED), offset=12)
        assert found == pytest.approx(expected[0].astype(float), rel=1e-12)
    assert without


@pytest.mark.parametrize('delay', [0, 2])
@for_all_reports
@pytest.mark.parametrize('chain', sharp(
    {**CLOCKED, **MODELS}, 'named-2-1', 'two-3-2', 'street-1-1', 'parted', 'forked'))
def test_what_is_known_moves_by_single_ticks(chain, reports, delay):
    """The state has f at the oldest tick that is not reported."""
    mechanism = made(chain, trust=0.3, delay=delay, reports=reports)
    models, random = len(chain.single.models(0.3)), Random(reports)
    for length in (0, 1, reports + 1, 2 * reports + 2):
        history = drawn(mechanism, random, length)
        for z in history:
            go_on(mechanism, z)
        expected = adaptive_beliefs(mechanism, history)[max(0, length - delay * reports)]
        found = np.frombuffer(mechanism.state, '<f8', len(chain) * models, offset=12)
        assert found == pytest.approx(expected.T.ravel().astype(float), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize('chain, ticks, trust, reports, length', [
    (NAMED, 2, 1.0, 2, 4), (NAMED, 3, 1.0, 1, 2), (FOUR, 1, 0.8, 1, 3), (HABIT, 1, 0.8, 1, 3),
    thorough(TWO, 2, 0.4, 2, 3), (TWO, 3, 0.4, 1, 2), thorough(NAMED, 2, 0.5, 2, 2)])
def test_the_posteriors_by_all_routes_of_ticks_and_models(chain, ticks, trust, reports, length):
    """What other tests hold the code against, against its definition: a sum over all there is."""
    mechanism = made(chain.every(ticks, 2), trust=trust, delay=None, reports=reports)
    known, random = hidden_switch(chain, trust), Random(4)
    routes = {route: known.measure(route) for route in feasible_words(chain, length * ticks)}
    for _ in range(3):
        history = drawn(mechanism, random, length)
        likely, weights = likelihoods(mechanism, history), {}
        for route, weight in routes.items():
            for s, likelihood in zip(route[ticks - 1::ticks], likely, strict=True):
                weight *= likelihood[s]
            weights[route] = weight
        for u, gamma in enumerate(adaptive_posteriors(mechanism, history)):
            expected = [sum(w for route, w in weights.items()
                            if route[(u + 1) * ticks - 1] == s) for s in chain.states]
            assert gamma == pytest.approx([float(w / sum(expected)) for w in expected], abs=1e-12)


@for_all_delays
@pytest.mark.parametrize('chain', sharp(ONCE, 'four', 'forked', 'hub', 'ways'))
def test_every_report_begins_a_best_route(chain, delay):
    check_routes(chain, 1, delay, (4, 4, 4))


@for_all_delays
@for_all_reports
@for_all_clocks
def test_every_report_begins_a_best_route_of_reports(chain, reports, delay):
    """Words end between two symbols, too."""
    check_routes(chain, reports, delay, (reports, reports + 2, 2 * reports + 1))


@pytest.mark.parametrize('seed', range(4))
def test_reports_between_follow_the_route_that_the_signal_chose(seed):
    """On chains where a route that was chosen anew would be another."""
    random, states, rows = Random(seed), [f's{i}' for i in range(6)], {}
    for s in states:
        weights = {t: random.random()**3 + 0.001 for t in sorted(random.sample(states, 3))}
        rows[s] = {t: weight / sum(weights.values()) for t, weight in weights.items()}
    check_routes(Chain(rows, 's0'), 3, 1, (14, 15))


def check_routes(chain, reports, delay, lengths):
    """
    Each report is that of the last signal; the posterior is that of the tick reported.

    Within 10⁻⁹ of the best of all that are feasible: while the word goes on, and at its end.
    """
    mechanism = made(chain, 0.7, delay=delay, trust=0.3, reports=reports)
    random = Random(reports)
    for length in lengths:
        history, told = drawn(mechanism, random, length), []
        previous = chain.initial_state
        held = length if delay is None else delay * reports
        for t, z in enumerate(history):
            told.append(go_on(mechanism, z))
            assert (told[-1] is None) == (t < held)
            if told[-1] is not None:
                since = t % reports if delay else 0
                found = best_routes(mechanism, history[:t + 1 - since], previous,
                                    held + 1 - since, False)
                previous = told[-1]
                assert previous in {route[0] for value, route in found
                                    if value >= found[0][0] - 1e-9}
                assert mechanism.posterior == pytest.approx(
                    adaptive_posteriors(mechanism, history[:t + 1 - since])[t - held], abs=1e-12)
        rest = mechanism.finish()
        assert len(rest) == min(held, length)
        if rest:
            values = {route: value for value, route in best_routes(
                mechanism, history, previous, len(rest), True)}
            assert values[tuple(rest)] >= max(values.values()) - 1e-9
        route = [*filter(None, told), *rest]
        assert chain.is_feasible(route)
        if None not in history:
            assert mechanism.decode(history) == route
        assert mechanism.posterior is None


# The promise.

@pytest.mark.parametrize('epsilon, adjacency, delay', [
    thorough(1.0, 1, 0), (4.0, 2, 1), thorough(2.0, 1, None)])
@pytest.mark.parametrize('reports', [thorough(2), 3])
@pytest.mark.parametrize('chain', [NAMED.every(2, 1), TWO.every(3, 2), STREET.every(2, 1)])
def test_every_pair_of_words_and_all_signals(chain, reports, epsilon, adjacency, delay):
    assert excess(made(chain, epsilon, adjacency, delay=delay, reports=reports), 3, epsilon,
                  adjacency) is None


class Counted:
    """A `random` that counts how often it is asked."""

    def __init__(self):
        self.calls, self._random = 0, Random(1)

    def getrandbits(self, bits):
        self.calls += 1
        return self._random.getrandbits(bits)


@for_all_delays
@for_all_clocks
def test_ticks_draw_nothing(chain, delay):
    random = Counted()
    mechanism, quiet = (made(chain, delay=delay, reports=3, random=r) for r in (random, Counted()))
    for _ in range(6):
        quiet.tick()
    assert quiet._random.calls == 0
    for symbol in (*chain.states, None):
        mechanism.step(symbol)
        calls, buffers = random.calls, {
            size: len(draws.buffer) for size, draws in mechanism._word._draws_of.items()}
        mechanism.tick(), mechanism.tick()
        assert random.calls == calls and all(
            len(mechanism._word._draws_of[size].buffer) == left for size, left in buffers.items())


# One word by all ways.

@given(st.data(), chains(complete=False), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3),
       st.sampled_from([0, 1, 2, None]), st.integers(0, 2**32))
def test_live_whole_and_many_words_are_one(data, chain, ticks, moves, reports, delay, seed):
    try:
        chain = chain.every(ticks, moves)
    except ChainError:
        return
    some = data.draw(st.lists(words(chain, 5), min_size=1, max_size=4))
    live, whole, many = (made(chain, random=Random(seed), delay=delay, reports=reports)
                         for _ in range(3))
    found = []
    for word in some:
        told = []
        for i, symbol in enumerate(word):
            told += [live.tick() for _ in range(reports - 1)] if i else []
            told.append(live.step(symbol))
        found.append([*filter(None, told), *live.finish()])
        assert len(found[-1]) == ((len(word) - 1) * reports + 1 if word else 0)
        assert chain.is_feasible(found[-1])
    assert [whole.privatize(word) for word in some] == found
    symbols, ends = flat(chain, some)
    reported, signals = many.draw_signals(symbols, ends)
    assert len(signals) == len(symbols) and reported.dtype == signals.dtype == np.int32
    decoded = [many.decode([chain.states[i] for i in signals[begin:end]])
               for begin, end in pairwise(ends)]
    assert [*map(len, decoded)] == [*map(len, found)]
    assert reported.tolist() == [chain.state_index[o] for word in decoded for o in word]


@pytest.mark.parametrize('ticks, reports, length', [
    (1, 3, 45), (2, 1, 70), (3, 5, 12), (8, 8, 3), (9, 8, 3)])
def test_long_words_are_kept_in_parts(ticks, reports, length, monkeypatch):
    """Around 64 ticks, one signal or several at a time: as when all is kept in one part."""
    chain, found = grid(3).every(ticks, 2), []
    word = np.array([Random(5).randrange(-1, 9) for _ in range(length)], np.int32)
    for segment in (64, 10**6):
        monkeypatch.setattr(in_step, 'SEGMENT', segment)
        mechanism = made(chain, delay=None, reports=reports, random=Random(length))
        (route,), (signals,) = (part[None] for part in mechanism.draw_signals(
            word, np.array([0, length])))
        assert len(route) == (length - 1) * reports + 1
        assert mechanism.decode([chain.states[i] for i in signals]) == [
            chain.states[i] for i in route]
        found.append((route.tolist(), signals.tolist()))
    assert found[0] == found[1]


# Restarts.

def standing(mechanism):
    """Return what follows, by one history that has ticks, and nothing that it changes."""
    state, ahead = mechanism.state, mechanism.another()
    ahead.restore(state)
    rows = []
    for _ in range(mechanism.reports + 1):
        try:
            rows.append([(*ahead.exact_current_distribution(s).items(),)
                         for s in (*ahead.chain.states, None)])
        except ConfigurationError:
            rows.append('not due')
        rows.append(ahead.tick())
    return state, mechanism.previous, rows, ahead.finish()


@for_all_delays
@for_all_reports
@for_all_clocks
def test_a_restart_at_every_place_changes_nothing(chain, reports, delay):
    """Also between two symbols, and where symbols were left out."""
    mechanism, restarted = made(chain, delay=delay, reports=reports), []
    for z in drawn(mechanism, Random(2), 3 * reports + 2):
        restarted.append(mechanism.another())
        restarted[-1].restore(mechanism.state)
        told = {go_on(one, z) for one in (mechanism, *restarted)}
        assert len(told) == 1
        stands = standing(mechanism)
        assert all(standing(one) == stands for one in restarted)
        if mechanism.posterior is not None:
            assert all(one.posterior.tolist() == mechanism.posterior.tolist()
                       for one in restarted)
    assert len({tuple(one.finish()) for one in (mechanism, *restarted)}) == 1


@pytest.mark.parametrize('steps', [3, 4, 5])
@pytest.mark.parametrize('delay', [0, 1, None])
def test_a_damaged_state_is_refused(delay, steps):
    """By ticks: 2 from a report to the next, 6 from a symbol to the next."""
    mechanism = made(NAMED.every(2, 1), trust=1.0, delay=delay, reports=3, random=Random(1))
    for t in range(steps):
        mechanism.tick() if t % 3 else mechanism.step('b')
    before, state = standing(mechanism), mechanism.state
    for damaged in (pack('<Q', 2 * steps - 1) + state[8:], pack('<Q', 2 * steps + 1) + state[8:],
                    pack('<Q', 2**62) + state[8:], state[:8] + pack('<I', 3) + state[12:],
                    state[:-1], state + b'\0', state + bytes(4), state[:12], b'',
                    *[state[:-4] + pack('<I', 4)] * (delay != 0),
                    state[:12] + pack('<d', 1.5) + state[20:]):
        with refused(ChainError, 'no state'):
            mechanism.restore(damaged)
        assert standing(mechanism) == before


# What is refused.

@pytest.mark.parametrize('delay', [0, 1, None])
def test_a_symbol_before_its_time_is_refused(delay):
    mechanism = made(NAMED.every(2, 1), delay=delay, reports=3)
    signal, mechanism_after = [*mechanism.current_distribution(None)][0], mechanism.another()
    for symbol in ('secret', 17):
        before = standing(mechanism)
        with pytest.raises(UnknownSymbolError):
            mechanism.step(symbol)
        assert standing(mechanism) == before
    mechanism.step('a')
    for _ in range(2):
        before = standing(mechanism)
        for call in (lambda: mechanism.step('a'), lambda: mechanism.step('secret'),
                     lambda: mechanism.advance(signal),
                     lambda: mechanism.exact_current_distribution('a'),
                     lambda: mechanism.current_likelihood(signal)):
            with refused(ConfigurationError, 'tick()', setting='reports'):
                call()
            assert standing(mechanism) == before
        mechanism.tick()
    mechanism.step('a')
    mechanism_after.replay([signal])
    with refused(ChainError, 'founded no cell'):
        mechanism_after.replay([signal, 'nowhere'])
    assert mechanism_after.state == made(NAMED.every(2, 1), delay=delay, reports=3).state


def test_a_replay_goes_over_the_reports_between():
    mechanism = made(STREET.every(2, 1), reports=3, delay=1)
    for signals in every_signal(mechanism, 3)[::3]:
        mechanism.replay(signals)
        state = mechanism.state
        mechanism.reset()
        reports = [go_on(mechanism, z) for z in spread(signals, 3)]
        assert mechanism.state == state
        reports = [report for report in reports if report is not None] + mechanism.finish()
        assert mechanism.decode(signals) == reports and len(reports) == 7


@pytest.mark.parametrize('policy, reports', [
    *[('adaptive', wrong) for wrong in (0, -1, True, False, 1.5, 2.0, '2', None)],
    *[(policy, 2) for policy in ('paper', 'guided')]])
def test_numbers_of_reports_that_are_refused(policy, reports):
    for chain in (NAMED, COMPLETE):
        with refused(ConfigurationError, setting='reports'):
            OnlineMechanism(chain, Privacy(1.0), policy=policy, reports=reports)


def test_an_alphabet_and_other_policies_have_no_reports_between():
    with refused(ConfigurationError, 'lets all follow all', setting='reports'):
        made(COMPLETE, reports=2)
    for mechanism in (OnlineMechanism(FOUR, Privacy(1.0)),
                      OnlineMechanism(COMPLETE, Privacy(1.0), policy='paper')):
        state = mechanism.state
        with refused(ConfigurationError, setting='policy'):
            mechanism.tick()
        assert mechanism.state == state


def test_a_delay_that_is_too_long_for_the_memory(monkeypatch):
    chain = NAMED.every(2, 1)
    monkeypatch.setattr(adaptive, '_MOST_BYTES', 64 * 3 * 6 * 5)  # lanes·8, states, ticks, symbols
    assert made(chain, reports=3, delay=5).delay == 5
    made(chain, reports=3, delay=None)
    with refused(ConfigurationError, '6 ticks for each symbol, at most 5', setting='delay'):
        made(chain, reports=3, delay=6)
    with refused(ConfigurationError, setting='delay'):
        made(chain, reports=4, delay=5)
    with refused(ConfigurationError, setting='delay'):
        made(chain, reports=3, delay=10**12)
    with refused(ConfigurationError, setting='delay'):
        made(all_to_all(4).every(2, 1), reports=3, delay=5)
    monkeypatch.setattr(adaptive, '_MOST_BYTES', 64 * 3 * 6 - 1)
    with refused(ConfigurationError, 'at most 0', setting='delay'):
        made(chain, reports=3, delay=None)
    made(chain, reports=3, delay=0)


def test_how_long_a_delay_can_be():
    with refused(ConfigurationError, 'at most 16777216', setting='delay'):  # 4 GiB
        made(FOUR, delay=2**24 + 1)
