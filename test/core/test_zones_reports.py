# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy adaptive with zones: what it knows of the robot, and what it reports.

Beliefs are held against the definition (hidden_switch.py), cells against plain Python, reports
against a search of all routes that have the zones told.
"""
from random import Random

from adaptive_reference import belief, check_cells, table
from hidden_switch import hidden_switch
import numpy as np
from online_checks import SignalChances
import pytest
from strategies import feasible_words, grid, sharp, thorough
from symdp_ros import Chain, ChainError
from symdp_ros.core.online.adaptive import adaptive
from symdp_ros.core.zones import Told
from zone_checks import by_zones, large, made, ONE_WAY, routes, within, ZONED

pytestmark = pytest.mark.usefixtures('single_signals')

for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'one-way', 'trap', 'alone', 'four'))


# The filter.

def beliefs(mechanism, signals):
    """Return f before each report, given its zone too, and the likelihood."""
    chain, privacy = mechanism.chain, mechanism.privacy
    known, walker = hidden_switch(chain, mechanism.trust), mechanism.another()
    f, found = known.moved(known.begin(chain.initial_state)), []
    for z, (states, zone) in zip(
            signals, within(privacy, chain, zone_word_of(mechanism, signals))):
        inside = known.likelihood({s: s in states for s in chain.states})
        likelihood = known.likelihood({
            s: walker.exact_current_distribution(s).get(z, 0) if isinstance(z, str) else 1
            for s in chain.states})
        if zone is not None:
            likelihood *= inside
        broken = (f * inside).max() <= 1e-200
        if zone is not None and broken:
            f = sum(map(known.begin, states)) / len(states)
        found.append((f, likelihood, zone is not None and broken))
        f = known.moved(known.turned(known.weighed(f, likelihood)))
        walker.advance(z)
    return found, f


def posteriors(mechanism, signals):
    """Return γ_u(s) given all these signals, by a backward pass."""
    known = hidden_switch(mechanism.chain, mechanism.trust)
    later, gammas = None, []
    for f, likelihood, broken in reversed(beliefs(mechanism, signals)[0]):
        after = np.ones_like(f) if later is None else known.backward(later)
        later = after * likelihood
        gammas.insert(0, known.weighed(f, later).sum(axis=0))
        later = None if broken else later
    return gammas


def some_signals(mechanism, length):
    """Return some of all that can be drawn: of each zone word, and with a symbol left out."""
    law = SignalChances(mechanism).law
    found = []
    for i, some in enumerate(by_zones(mechanism.privacy, mechanism.chain, length).values()):
        every = [*law(some[0])]
        found += every[i % 3::max(1, len(every) // 2)]
    return [*found, *[(*signals[:1], None, *signals[1:]) for signals in found[::5]
                      if walks(mechanism, (*signals[:1], None, *signals[1:]))]]


def walks(mechanism, signals):
    """Return whether these can be drawn."""
    try:
        mechanism.replay(signals)
    except ChainError:
        return False
    return True


@pytest.mark.parametrize('delay', [0, 2])
@for_all_zones
def test_the_belief_is_that_of_the_hidden_switch(chain, zones, delay):
    mechanism = made(chain, zones, delay=delay)
    for signals in some_signals(mechanism, 3):
        check_belief(mechanism, signals)


def check_belief(mechanism, signals):
    chain, delay = mechanism.chain, mechanism.delay
    models = len(chain.models(mechanism.trust).prior)
    mechanism.replay(signals)
    before, last = beliefs(mechanism, signals)
    expected = [*[f for f, _, _ in before], last][len(signals) - min(delay, len(signals))]
    found = np.frombuffer(mechanism.state, '<f8', len(chain) * models, offset=12)
    assert found == pytest.approx(expected.T.ravel().astype(float), rel=1e-12, abs=1e-15)
    if mechanism.posterior is not None:
        u = len(signals) - 1 - delay
        assert mechanism.posterior == pytest.approx(posteriors(mechanism, signals)[u], abs=1e-12)


@pytest.mark.parametrize('delay', [0, 1])
@pytest.mark.parametrize('chain, zones', [*ZONED.values(), *(
    (grid(4), {f'{some[0]}': [f'{x},{y}' for x in range(4) for y in some] for some in rows})
    for rows in ([(0, 1, 2), (3,)], [(0, 1), (2,), (3,)]))],
    ids=[*ZONED, 'two on a grid', 'three on a grid'])
def test_the_cells_in_a_zone_are_the_best_of_those_tried(chain, zones, delay):
    mechanism, random, met = made(chain, zones, 3.0, delay=delay), Random(2), set()
    for _ in range(2):
        mechanism.reset()
        signals = []
        for _ in range(14):
            check_cells_of_zones(mechanism, signals)
            row = mechanism.exact_current_distribution(random.choice(chain.states))
            signals.append(random.choice([*row]))
            mechanism.advance(signals[-1])
            met.add(mechanism.previous)
    assert len(met) > (delay == 0)


def check_cells_of_zones(mechanism, signals):
    privacy, chain = mechanism.privacy, mechanism.chain
    for zone, states in privacy.zones.items():
        places, has = within(privacy, chain, (*zone_word_of(mechanism, signals), zone))[-1]
        if has is not None:
            f, inside = belief(mechanism), sorted(map(chain.state_index.get, places))
            whole = sum(f[s] for s in inside)
            check_cells(mechanism, [
                (f[s] / whole if whole > 1e-200 else 1 / len(inside)) if s in inside else 0.0
                for s in range(len(f))], inside, states)


def zone_word_of(mechanism, signals):
    return [z if z is None else z.zone if isinstance(z, Told) else mechanism.privacy.zones.of(z)
            for z in signals]


#: Hardly anybody stays in a, from which alone moves lead to c, d and e.
LEFT = Chain({'a': {'a': 1e-12, 'b': 1.0, **dict.fromkeys('cde', 1e-12)}, 'b': ['b'],
              'c': {'c': 0.7, 'd': 0.3}, 'd': {'c': 0.3, 'd': 0.7}, 'e': {'c': 0.1, 'e': 0.9}},
             'a')


@pytest.mark.parametrize('delay, trust', [
    (0, 1.0), (2, 1.0), (None, 1.0), (2, 0.999), thorough(1, 1.0), thorough(0, 0.999),
    thorough(1, 0.999), thorough(None, 0.999)])
def test_how_a_belief_of_nothing_begins_again(delay, trust):
    """It does where f is less than 10⁻²⁰⁰ on all of the zone told, and only there."""
    mechanism = made(LEFT, {'A': 'ab', 'B': 'cde'}, 2.0, trust=trust, delay=delay)
    for before in (1, 18):
        for signals in ([*[Told('A')] * before, *after] for after in (
                'd', 'cd', 'dcc', [Told('B'), 'd'], [None, 'e', 'd'], [Told('A'), 'd', None])):
            assert any(again for *_, again in beliefs(mechanism, signals)[0]) == (
                trust == 1.0 and before == 18)
            mechanism.replay(signals[:before + 1])
            check_cells_of_zones(mechanism, signals[:before + 1])
            check_whole(mechanism, signals) if delay is None else check_belief(mechanism, signals)
            check_restarts(mechanism, signals)


def check_restarts(mechanism, signals):
    mechanism.reset()
    for z in signals:
        other = mechanism.another()
        other.restore(mechanism.state)
        assert mechanism._word.advance(z) == other._word.advance(z)
        assert mechanism.state == other.state
    assert other.finish() == mechanism.finish()


def test_a_belief_of_nothing_begins_again():
    """Signals say that it went on for good; then a zone is told that only who stayed enters."""
    chain = Chain({'a': {'a': 0.5, 'b': 0.3, 'c': 0.19, 'd': 0.01}, 'b': ['b'], 'c': ['c'],
                   'd': ['d']}, 'a')
    mechanism = made(chain, {'A': 'ab', 'B': 'cd'}, 700.0, trust=1.0)
    for _ in range(800):  # that it is in a becomes as unlikely as floats can tell
        mechanism.advance('b')
    mechanism.advance(Told('B'))
    assert mechanism.posterior == pytest.approx([0, 0, 0.5, 0.5])
    other = mechanism.another()
    other.restore(mechanism.state)
    assert other.state == mechanism.state
    signals = [*['b'] * 800, Told('B'), Told('B')]
    whole = made(chain, {'A': 'ab', 'B': 'cd'}, 700.0, trust=1.0, delay=None).decode(signals)
    assert whole[:800] == ['a'] * 800 and {*whole[800:]} == {'c'}


def test_no_number_of_matches_is_worth_a_zone():
    """From p to q there is a way past the zone told, on which more matches are expected."""
    chain = Chain({'s': {'p': 0.5, 'u': 0.2, 'v': 0.2, 'w': 0.1},
                   'p': {'p': 0.9, 'b': 0.09, 'x': 0.01}, **{u: {u: 0.9, 'c': 0.1} for u in 'uvw'},
                   'b': ['i', 'j', 'k'], 'c': ['q'], 'x': ['q'],
                   **{r: [r] for r in 'ijkq'}}, 's')
    mechanism = made(chain, {'A': 'spuvwxqijk', 'B': 'bc'}, 0.0, trust=1.0, delay=None)
    report = mechanism.privatize([*['p'] * 20, 'b', *['i'] * 20])
    assert report[20] in 'bc' and {*report[:20]} in ({'p'}, {'u'})


# Reports.

@for_all_zones
def test_whole_words_have_the_zones_told_and_the_most_matches(chain, zones):
    mechanism = made(chain, zones, delay=None)
    for signals in some_signals(mechanism, 4):
        check_whole(mechanism, signals)


def check_whole(mechanism, signals):
    gamma, report = posteriors(mechanism, signals), mechanism.decode(signals)
    chain, index = mechanism.chain, mechanism.chain.state_index
    values = {route: sum(g[index[o]] for g, o in zip(gamma, route))
              for route in routes(mechanism.privacy, chain, zone_word_of(mechanism, signals))}
    assert tuple(report) in values
    assert values[tuple(report)] == pytest.approx(max(values.values()), abs=1e-9)


@pytest.mark.parametrize('delay', [0, thorough(1), 2])
@for_all_zones
def test_live_reports_have_the_most_matches_and_zones(chain, zones, delay):
    """A report in the zone told, where a route has one, is worth a match."""
    mechanism = made(chain, zones, delay=delay)
    index, X = chain.state_index, table(mechanism)
    for signals in some_signals(mechanism, 4):
        mechanism.replay(signals[:-1])
        before = mechanism.previous
        mechanism.replay(signals)
        if mechanism.posterior is None or len(signals) <= delay:
            continue
        places = within(mechanism.privacy, chain, zone_word_of(mechanism, signals))[-1 - delay:]
        gamma = posteriors(mechanism, signals)[-1 - delay:]
        last = np.array(gamma[-1])
        gamma[-1] = X @ np.where(last > 1e-6, last, 0)
        values = {}
        for route in feasible_words(chain, delay + 1, before):
            value = sum(g[index[o]] + (zone is not None and o in mechanism.privacy.zones[zone])
                        for g, o, (_, zone) in zip(gamma, route, places))
            values[route[0]] = max(value, values.get(route[0], 0))
        assert values[mechanism.previous] == pytest.approx(max(values.values()), rel=1e-5)


@pytest.mark.parametrize('delay', [0, 3, None])
def test_a_robot_that_is_carried_is_followed_again(delay):
    """Carried, and back from unknown in another zone; its zone is told, so nothing is lost."""
    chain, zones = large()
    mechanism = made(chain, zones, 0.0, delay=delay, random=Random(1))
    word = ['0,0'] * 20 + ['5,5'] * 30 + [None] * 20 + ['0,5'] * 30
    reports, of = mechanism.privatize(word), mechanism.privacy.zones.of
    for begin, end in ((12, 20), (35, 70), (85, 100)):
        assert {of(o) for o in reports[begin:end]} == {of(word[end - 1] or '5,5')}
    mechanism.reset()
    for symbol in word[:60]:
        mechanism.step(symbol)
        assert mechanism.zone == of(symbol or '5,5')


def test_many_words_where_no_route_has_a_zone_draw_nothing():
    mechanism = made(ONE_WAY, {'A': 'ab', 'B': 'cd'}, delay=None)
    word = [1, 2, *[0] * 150]
    reports, signals = mechanism.draw_signals(np.array(word, np.int32), np.array([0, len(word)]))
    assert (signals[3:] == -1).all() and (reports[2:] >= 2).all()
    assert not adaptive._NO_DRAWS.buffer  # it is shared by all mechanisms


def test_where_no_route_has_a_zone_reports_go_on():
    """Who is carried back through a one-way door is told to be there; no route is."""
    mechanism = made(ONE_WAY, {'A': 'ab', 'B': 'cd'}, delay=None)
    word = ['b', 'c', 'd', 'a', 'b', 'c']
    assert [o in 'cd' for o in mechanism.privatize(word)] == [False, *[True] * 5]
    mechanism = made(ONE_WAY, {'A': 'ab', 'B': 'cd'})
    for symbol in word[:4]:
        mechanism.step(symbol)
    assert mechanism.zone == 'A' and mechanism.previous in 'cd'
