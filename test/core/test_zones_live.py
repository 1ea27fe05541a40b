# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy adaptive with zones: exactly private inside them, and every zone as told.

Here each symbol has a signal of its own; blocks are in `test_blocks_in_zones`.
"""
from fractions import Fraction
from math import prod
from random import Random

from adaptive_reference import belief, check_cells, table
from hidden_switch import hidden_switch
import numpy as np
from online_checks import assert_drawn_from_the_law
import pytest
from refusals import refused
from strategies import (COMPLETE, feasible_words, flat, FOUR, grid, replayable_random, sharp,
                        thorough)
from symdp_ros import (Chain, ChainError, ConfigurationError, OfflineMechanism, OnlineMechanism,
                       Privacy, PrivacyError, UnknownSymbolError)
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.online.adaptive import adaptive
from symdp_ros.core.online.response import exp_lower_bound
from symdp_ros.core.zones import Told, Zones
from zone_checks import (assert_private_in_zones, by_zones, ONE_WAY, privacy_of, routes, told,
                         within, ZONED)

for_all_zones = pytest.mark.parametrize('chain, zones', sharp(
    ZONED, 'one-way', 'trap', 'alone', 'four'))


@pytest.fixture(autouse=True)
def single(monkeypatch):
    monkeypatch.setattr('symdp_ros.core.online.adaptive.tables.LONGEST', 1)


def made(chain, zones, epsilon=2.0, adjacency=1, **options):
    return OnlineMechanism(chain, privacy_of(zones, epsilon, adjacency), policy='adaptive',
                           **options)


def law_of(mechanism):
    """Return word → {signals: chance}, by the rows that are drawn from."""
    rows = {}

    def after(signals, symbol):
        if (signals, symbol) not in rows:
            mechanism.replay(signals)
            rows[signals, symbol] = mechanism.exact_current_distribution(symbol)
        return rows[signals, symbol]

    def law(word):
        found = {(): Fraction(1)}
        for symbol in word:
            found = {(*signals, z): chance * p for signals, chance in found.items()
                     for z, p in after(signals, symbol).items()}
        return found

    return law


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, delay, length', [
    thorough(0.0, 1, 0, 3), (1.0, 1, 0, 4), (5.0, 2, 2, 3), thorough(2.0, 2, None, 4),
    thorough(700.0, 1, 1, 3)])
@for_all_zones
def test_all_pairs_of_words_with_the_same_zones(chain, zones, epsilon, adjacency, delay, length):
    length = min(length, 3 if len(zones) == 1 else 4)  # of one zone there are many pairs
    mechanism = made(chain, zones, epsilon, adjacency, delay=delay)
    assert_private_in_zones(chain, mechanism.privacy, length, law_of(mechanism))


@pytest.mark.parametrize('reports, length', [(2, 4), (3, 4)])
@for_all_zones
def test_pairs_that_differ_in_what_is_drawn_for(chain, zones, reports, length):
    """Between two draws symbols tell their zones alone; they may differ in any number."""
    mechanism = made(chain, zones, 3.0, reports=reports, delay=1)
    law = law_of(mechanism)
    for some in by_zones(mechanism.privacy, chain, length).values():
        by_drawn = {}
        for word in some:
            by_drawn.setdefault(word[::reports], []).append(law(word))
        assert all(found == same[0] for same in by_drawn.values() for found in same)


def test_the_search_finds_an_excess(monkeypatch):
    chain, zones = ZONED['four']
    monkeypatch.setattr('symdp_ros.core.online.response.exp_lower_bound',
                        lambda exponent: exp_lower_bound(exponent) * (1 + Fraction(1, 10**6)))
    mechanism = made(chain, zones, 4.0)
    with pytest.raises(AssertionError):
        assert_private_in_zones(chain, mechanism.privacy, 2, law_of(mechanism))


@for_all_zones
def test_at_epsilon_zero_a_word_tells_its_zones_alone(chain, zones):
    mechanism = made(chain, zones, 0.0)
    law = law_of(mechanism)
    for some in by_zones(mechanism.privacy, chain, 3).values():
        assert len({tuple(law(word).items()) for word in some}) == 1


@pytest.mark.parametrize('delay', [0, 2, None])
def test_at_epsilon_zero_equal_randomness_makes_equal_bytes(delay):
    chain, zones = large()
    random = Random(3)
    one = [random.choice(['0,0', '2,2', '1,0', None]) for _ in range(40)] + ['5,5', '3,4', '0,1']
    other = [random.choice(['0,0', '2,1', '0,2']) for _ in range(40)] + ['4,3', None, '2,2']
    seen = []
    for word in (one, other):
        mechanism = made(chain, zones, 0.0, delay=delay, random=Random(9))
        reports = [mechanism.step(symbol) for symbol in word]
        seen.append((reports, mechanism.state, mechanism.zone, mechanism.finish()))
        seen[-1] += (made(chain, zones, 0.0, delay=delay, random=Random(9)).privatize(word),)
        offline = OfflineMechanism(chain, privacy_of(zones, 0.0), random=Random(9))
        seen[-1] += (offline.privatize(word),)
    assert seen[0] == seen[1]


@for_all_zones
def test_signals_name_the_zones_told_and_where_no_route_has_them(chain, zones):
    mechanism = made(chain, zones, delay=1)
    privacy, law = mechanism.privacy, law_of(mechanism)
    for zone_word, some in by_zones(privacy, chain, 4).items():
        possible = within(privacy, chain, zone_word)
        for signals in law(some[-1]):
            for z, zone, (states, has) in zip(signals, zone_word, possible):
                assert (z == Told(zone)) == (has is None)
                assert has is None or z in states and privacy.zones.of(z) == zone


# What is drawn.

@pytest.mark.parametrize('epsilon, delay, reports', [
    thorough(0.7, 0, 1), (3.0, 1, 2), thorough(3.0, None, 1)])
@for_all_zones
def test_signals_and_reports_are_drawn_from_their_law(chain, zones, epsilon, delay, reports):
    mechanism = made(chain, zones, epsilon, 2, delay=delay, reports=reports,
                     random=replayable_random())
    word = [chain.states[-1], None, chain.initial_state, chain.states[1]]
    law = mechanism.law.of_signals
    found = law_of(mechanism.another())(word)
    assert {*law.of(word)} == found.keys()
    assert law.exact_probabilities(word, [*found]) == [*found.values()]
    assert_drawn_from_the_law(mechanism, word)


@pytest.mark.parametrize('symbol', [None, 's1'])
def test_every_cell_is_drawn(symbol):
    """The state tells which: in 99 draws every cell comes up, and no other number."""
    mechanism, drawn = made(*ZONED['all'], 0.5, delay=2, random=Random(1)), {}
    for _ in range(99):
        cells = len(mechanism.exact_current_distribution(symbol))
        mechanism.step(symbol)
        drawn.setdefault(cells, []).append(int.from_bytes(mechanism.state[-13:-9], 'little'))
    assert all({*found} <= {*range(1, cells + 1)} for cells, found in drawn.items())
    often = max(drawn, key=lambda cells: len(drawn[cells]))
    assert often > 1 and {*drawn[often]} == {*range(1, often + 1)}


@pytest.mark.parametrize('delay', [0, 2, None])
def test_batches_are_decoded_as_single_words_are(delay):
    chain, zones = large()
    mechanism, random = made(chain, zones, 1.0, delay=delay, random=Random(3)), Random(5)
    names = [*mechanism.privacy.zones]
    words = [[random.choice([*chain.states[-9:], None]) for _ in range(length)]
             for length in (90, 0, 0, 1, 90, 0, 90, 90, 0)]
    words[3], words[6][:2] = [None], [None, None]  # in the zone where words begin
    symbols, offsets = flat(chain, words)
    outputs, drawn = mechanism.draw_signals(symbols, offsets)
    for i, word in enumerate(words):
        output, signals = (found[offsets[i]:offsets[i + 1]] for found in (outputs, drawn))
        signals = [chain.states[i] if i >= 0 else Told(names[-1 - i]) for i in signals]
        assert mechanism.decode(signals) == [chain.states[i] for i in output]
        assert tuple(z.zone if isinstance(z, Told) else mechanism.privacy.zones.of(z)
                     for z in signals) == told(mechanism.privacy, chain, word)


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
    law = law_of(mechanism.another())
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
@pytest.mark.parametrize('chain, zones', [
    *ZONED.values(), *[(grid(4), {f'{ends[0]}': [f'{x},{y}' for x in range(4) for y in ends]
                                  for ends in rows})
                       for rows in ([(0, 1, 2), (3,)], [(0, 1), (2,), (3,)])]],
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


@pytest.mark.parametrize('trust', [1.0, 0.999])
@pytest.mark.parametrize('delay', [0, 1, 2, None])
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


@pytest.mark.parametrize('delay', [0, 1, 2])
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


def large():
    """Return a grid of 36 places and its four zones."""
    chain, zones = grid(6), {}
    for state in chain.states:
        x, y = map(int, state.split(','))
        zones.setdefault(f'{x // 3}{y // 3}', []).append(state)
    return chain, zones


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


# The word goes on.

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
                  state[:12 + 8] + b'\xff' * 8 + state[12 + 16:], state[:-60]):
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


# What is refused.

@pytest.mark.parametrize('zones, said', [
    ({}, 'must be a mapping'), ([('A', ['a'])], 'must be a mapping'), ({'A': []}, "'A' without"),
    ({'A': 'abcd'}, 'the list of the states'), ({1: ['a']}, 'name each'), ({'': ['a']}, 'name'),
    ({'A': ['a', 1]}, 'strings'), ({'A': ['a', 'a']}, "'a' twice in 'A'"),
    ({'A': ['a'], 'B': ['b', 'a']}, "'a' in 'A' and in 'B'"), ({'A': None}, 'the list')])
def test_zones_that_are_none(zones, said):
    with refused(PrivacyError, said, setting='zones'):
        Privacy(1.0, zones=zones)


@pytest.mark.parametrize('zones, said', [
    ({'A': ['a', 'b'], 'B': ['c']}, "leave out the state 'd'"),
    ({'A': ['a', 'b', 'c', 'd', 'e']}, "have the state 'e'")])
def test_zones_of_another_chain(zones, said):
    for kind, options in (OnlineMechanism, {'policy': 'adaptive'}), (OfflineMechanism, {}):
        with refused(PrivacyError, said, setting='zones'):
            kind(ONE_WAY, Privacy(1.0, zones=zones), **options)


@pytest.mark.parametrize('missing, said', [
    (1, "the state '35' of"), (5, "the states '31', '32', '33', '34', '35' of"),
    (6, "the states '30', '31', '32', '33', '34' and 1 more of")])
def test_some_of_many_states_without_a_zone_are_named(missing, said):
    chain = Chain({f'{i}': [f'{i}'] for i in range(36)}, '0')
    with refused(PrivacyError, f'leave out {said} the chain', setting='zones'):
        OnlineMechanism(chain, Privacy(1.0, zones={'A': chain.states[:-missing]}),
                        policy='adaptive')


def test_who_does_not_know_zones_says_so():
    chain, privacy = ONE_WAY, privacy_of({'A': 'ab', 'B': 'cd'}, 1.0)
    for policy in ('paper', 'guided'):
        with refused(ConfigurationError, 'zones', setting='policy'):
            OnlineMechanism(chain, privacy, policy=policy)
        with refused(ConfigurationError, 'zones', setting='policy'):
            OfflineMechanism(chain, privacy, selection='causal', policy=policy)
    with refused(ConfigurationError, 'Chain.complete', setting='zones'):
        OnlineMechanism(COMPLETE, Privacy(1.0, zones={'A': COMPLETE.states}), policy='adaptive')


def test_what_auto_leaves_open():
    zones = Zones({'A': ['a', 'b'], 'B': ['c', 'd']})
    assert [*MechanismSettings().available(zones)] == [
        'exponential', 'exponential, counting', 'causal, adaptive']
    assert [*MechanismSettings(selection='live').available(zones)] == ['live, adaptive']
    assert [*MechanismSettings(selection='causal').available(zones)] == ['causal, adaptive']


def test_zones_are_values():
    one = Privacy(1, zones={'B': ('y',), 'A': iter(['x', 'z'])})
    other = Privacy(1, zones=Zones({'A': ['z', 'x'], 'B': ['y']}))
    assert one == other and hash(one) == hash(other) and repr(one) == repr(other)
    assert one.zones.digest() == other.zones.digest() and one.zones.alone == ('y',)
    assert dict(one.zones) == {'A': ('x', 'z'), 'B': ('y',)} and one.zones.of('z') == 'A'
    assert one != Privacy(1) and one != Privacy(1, zones={'A': ['x', 'y', 'z']})
    assert repr(one) == 'Privacy(epsilon=1.0, adjacency=1, zones=<Zones: 2 zones of 3 states>)'
    chain = Chain({s: ['x', 'y', 'z'] for s in 'xyz'}, 'x')
    described = [MechanismSettings(selection='live', policy='adaptive').described(chain, privacy)
                 for privacy in (one, other, Privacy(1))]
    assert described[0] == described[1] != described[2]
    with pytest.raises(TypeError):
        one.zones['A'] = ()


def test_words_that_differ_in_their_zones_are_told_apart():
    """That is what is told: no signals are common to both."""
    law = law_of(made(FOUR, ZONED['four'][1], 1.0))
    assert not law(('s1', 's1')).keys() & law(('s1', 's2')).keys()
    assert prod(law(('s1', 's1')).values())
