# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism with zones: exactly private, on the numbers that are drawn.

All words with the same zones and all their outputs are compared, in fractions; the law is held
against the definition, by listing all routes, and draws bit by bit against the law.
"""
from collections import Counter
from fractions import Fraction
from math import exp, inf, log
from random import Random

from hidden_switch import hidden_switch
import numpy as np
from offline_checks import assert_drawn, distance, EXCESS
import pytest
from refusals import refused
from strategies import (all_to_all, COMPLETE, feasible_words, flat, grid, replayable_random, sharp,
                        Tape, thorough)
from symdp_ros import Chain, ConfigurationError, OfflineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy, errors_of_words
from symdp_ros.core.offline import backward, exponential_errors
from symdp_ros.core.offline.backward import match_ratio
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes
from zone_checks import (assert_private_in_zones, by_zones, privacy_of, routes, told, within,
                         ZONED)

for_all_zones = pytest.mark.parametrize('chain, zones', sharp(ZONED, 'one-way', 'trap', 'four'))
for_both_bases = pytest.mark.parametrize('base', ['chain', 'counting'])


def made(chain, zones, epsilon=2.0, adjacency=1, **options):
    return OfflineMechanism(chain, privacy_of(zones, epsilon, adjacency), **options)


def law_of(mechanism):
    """Return word → {output: chance}, of all outputs that can be drawn, as they are drawn."""
    def law(word):
        outputs = [*feasible_words(mechanism.chain, len(word))]
        chances = mechanism.law.exact_probabilities(word, outputs)
        return {output: chance for output, chance in zip(outputs, chances) if chance}

    return law


def by_definition(mechanism, word):
    """Return {output: chance} from h and R, by listing all routes with the zones of the word."""
    chain, privacy = mechanism.chain, mechanism.privacy
    zone_word = told(privacy, chain, word)
    places, ratio = within(privacy, chain, zone_word), Fraction(mechanism.ratio(len(word)))
    known = hidden_switch(chain, mechanism.trust)
    weights = {}
    for route in routes(privacy, chain, zone_word):
        matches = sum(o == s for o, s, (_, zone) in zip(route, word, places) if zone is not None)
        h = known.measure(route) if mechanism.base == 'chain' else 1
        weights[route] = h * ratio**matches
    return {route: weight / sum(weights.values()) for route, weight in weights.items()}


# The promise, in exact arithmetic.

@pytest.mark.parametrize('epsilon, adjacency, length', [
    thorough(0.0, 1, 3), (1.0, 1, 3), (5.0, 2, 3), thorough(2.0, 2, 4), thorough(700.0, 1, 3)])
@for_both_bases
@for_all_zones
def test_all_pairs_of_words_with_the_same_zones(chain, zones, base, epsilon, adjacency, length):
    length = min(length, 3 if len(zones) == 1 else 4)  # of one zone there are many pairs
    mechanism = made(chain, zones, epsilon, adjacency, base=base)

    def law(word):  # they sum to 1: there are no others
        outputs = routes(mechanism.privacy, chain, told(mechanism.privacy, chain, word))
        return dict(zip(outputs, mechanism.law.exact_probabilities(word, outputs)))

    assert_private_in_zones(chain, mechanism.privacy, length, law)


def test_the_search_finds_an_excess(monkeypatch):
    mechanism = made(*ZONED['four'], 4.0, base='counting')
    monkeypatch.setattr(backward, 'match_ratio', lambda *_: exp(4.01))
    with pytest.raises(AssertionError, match=EXCESS):
        assert_private_in_zones(mechanism.chain, mechanism.privacy, 3, law_of(mechanism))


@for_both_bases
@for_all_zones
def test_at_epsilon_zero_a_word_tells_its_zones_alone(chain, zones, base):
    mechanism = made(chain, zones, 0.0, base=base)
    law = law_of(mechanism)
    for some in by_zones(mechanism.privacy, chain, 3).values():
        assert len({tuple(law(word).items()) for word in some}) == 1


@for_both_bases
@for_all_zones
def test_outputs_have_the_zones_told_and_words_of_others_none_in_common(chain, zones, base):
    mechanism = made(chain, zones, base=base)
    privacy, law, outputs = mechanism.privacy, law_of(mechanism), {}
    for zone_word, some in by_zones(privacy, chain, 3).items():
        found = law(some[0])
        assert {*found} == {*routes(privacy, chain, zone_word)}
        if all(zone is not None for _, zone in within(privacy, chain, zone_word)):
            outputs[zone_word] = {*found}
            assert all(tuple(map(privacy.zones.of, output)) == zone_word for output in found)
    assert sum(map(len, outputs.values())) == len(set().union(*outputs.values()))


@pytest.mark.parametrize('trust', [thorough(0.0), 0.8, thorough(1.0)])
@for_both_bases
@for_all_zones
def test_what_is_drawn_is_what_the_definition_says(chain, zones, base, trust):
    mechanism = made(chain, zones, 3.0, base=base, trust=trust)
    law = law_of(mechanism)
    for some in by_zones(mechanism.privacy, chain, 3).values():
        for word in some[::7]:
            expected = by_definition(mechanism, word)
            found = law(word)
            assert found.keys() == expected.keys()
            for output, chance in expected.items():
                assert float(found[output]) == pytest.approx(float(chance), rel=1e-12)
                assert exp(mechanism.log_probability(word, output)) == pytest.approx(float(chance))
            for output in feasible_words(chain, len(word)):
                assert (mechanism.log_probability(word, output) == -inf) == (output not in found)


def test_an_alphabet_has_the_whole_of_epsilon():
    """Not half of it, as elsewhere; also for symbols that no word visits."""
    rows = {s: ['a', 'b', 'c'] for s in 'abc'} | {'x': ['a', 'x'], 'y': ['y']}
    mechanism = made(Chain(rows, 'a'), {'A': 'abx', 'B': 'c', 'C': 'y'}, 2.0, base='counting')
    assert log(mechanism.ratio(3)) == pytest.approx(2.0)
    assert mechanism.law.loss_bound == 'symbols'
    assert_private_in_zones(mechanism.chain, mechanism.privacy, 3, law_of(mechanism))
    assert log(made(*ZONED['four'], 2.0).ratio(3)) == pytest.approx(1.0)


@pytest.mark.parametrize('rows, even', [
    ({'a': {'a': 0.5, 'b': 0.5}, 'b': {'b': 0.5, 'a': 0.5}}, True),
    ({'a': ['a', 'b'], 'b': ['b', 'a']}, False),
    ({'a': {'a': 0.5, 'b': 0.5}, 'b': {'b': 0.9, 'a': 0.1}}, False),
    ({'a': {'a': 0.9, 'b': 0.1}, 'b': {'b': 0.5, 'a': 0.5}}, False),
    ({s: {'a': 0.5, 'b': 0.25, 'c': 0.25} for s in 'abc'}, False)])
def test_an_alphabet_has_the_whole_of_epsilon_if_all_moves_weigh_the_same(rows, even):
    mechanism = made(Chain(rows, 'a'), {'A': [*rows]}, 3.0, trust=1.0)
    assert mechanism.law.loss_bound == ('symbols' if even else 'range')
    assert_private_in_zones(mechanism.chain, mechanism.privacy, 3, law_of(mechanism))


@pytest.mark.parametrize('loss_bound', ['range', 'symbols'])
def test_what_is_set_aside_for_rounding(loss_bound):
    length, is_even = 10**8, loss_bound == 'symbols'
    chain = all_to_all(3) if is_even else ZONED['four'][0]
    law = Exponential(chain, Privacy(3.0, 2, {'A': chain.states}), None)
    reserve = Fraction(5 * length * (int(chain.out_degrees().max()) + 4 + 12), 2**53)
    assert law.loss_bound == loss_bound
    assert law.ratio(length) == (match_ratio(3 - 2 * reserve, Fraction(0)) if is_even
                                 else match_ratio(Fraction(3, 2), reserve))
    assert law.distance_steps(7) == 49 * chain.edge_count


# What is drawn.

def chosen(law, word, bits):
    """Return the output that these bits (64 for each position) draw, by the exact law."""
    output = ()
    for t in range(len(word)):
        found = {}  # next state → chance
        for whole, chance in law(word).items():
            if whole[:t] == output:
                found[whole[t]] = found.get(whole[t], 0) + chance
        point, so_far = Fraction(bits >> 64 * t + 11 & 2**53 - 1, 2**53) * sum(found.values()), 0
        for state, chance in found.items():
            so_far += chance
            if point < so_far:
                break
        output = *output, state
    return output


@for_both_bases
@for_all_zones
def test_bits_draw_the_word_that_the_exact_law_says(chain, zones, base):
    random = replayable_random()
    mechanism = made(chain, zones, 2.0, base=base)
    laws = {}
    for _ in range(100):
        word = tuple(random.choices((*chain.states, None), k=3))
        if word not in laws:
            laws[word] = law_of(mechanism)(word)
        bits = random.getrandbits(192)
        law = Exponential(chain, mechanism.privacy, 0.8 if base == 'chain' else None,
                          Tape(bits, 192))
        assert tuple(law.draw(word)) == chosen(laws.__getitem__, word, bits)


@pytest.mark.parametrize('beyond, expected', [(0, 'a'), (2**64 - 1, 'b')])
def test_a_point_on_an_end_takes_more_bits(beyond, expected):
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    word, privacy = ('b', 'c', 'a', 'a'), Privacy(2.0, 1, {'all': chain.states})
    chances = law_of(OfflineMechanism(chain, privacy))(word)
    first = sum(chance for output, chance in chances.items() if output[0] == 'a')
    bits = int(first * 2**64) | beyond << 256 | Random(1).getrandbits(192) << 64
    assert Exponential(chain, privacy, 0.8, Tape(bits, 320)).draw(word)[0] == expected


def test_weights_that_are_far_apart():
    """Of what follows a, b weighs 2^387 times as much as c; d weighs as much as b."""
    chain = Chain({'s': ['a', 'd'], 'a': ['b', 'c'], 'b': ['b'], 'c': ['c'], 'd': ['d']}, 's')
    mechanism = made(chain, {'all': 'sabcd'}, 60.0, base='counting', random=Random(1))
    word = (None, None, *'b' * 9, *'d' * 9)
    expected = by_definition(mechanism, word)
    assert law_of(mechanism)(word) == pytest.approx(expected, rel=1e-12)
    assert all('c' not in mechanism.privatize(['a', None, *'b' * 9]) for _ in range(50))
    likely = ['a', *'b' * 39]
    assert mechanism.log_probability(likely, likely) == pytest.approx(0, abs=1e-9)


def test_weights_of_other_zones_do_not_matter():
    """Not in the zone told, z has the place of w there, whose weight is 2^240 times that of x."""
    rare = 2.0**-30
    chain = Chain({'w': ['w'], 'x': ['x'], 'y': {'v': rare, 'z': 1 - rare}, 'v': ['v'],
                   'z': ['z'], 's': {'x': 0.5, 'y': 0.25, 'z': 0.25}}, 's')
    point = int((1 - rare / 4) * 2**64)  # in the part of y, which is the last of 2⁻³¹
    law = Exponential(chain, privacy_of({'A': 'wxyv', 'B': 'zs'}, 80.0), 1.0,
                      Tape(point, 64 * 7))
    assert law.draw(['w'] * 7) == ['y', *'v' * 6]


def test_a_zone_that_is_hardly_kept():
    """10⁻⁹ for each move: the word's weight is 10⁻¹⁸⁰."""
    chain = Chain({'a': {'a': 1e-9, 'b': 1 - 1e-9}, 'b': ['a']}, 'a')
    mechanism = made(chain, {'A': 'a', 'B': 'b'}, 0.0, trust=1.0)
    assert mechanism.privatize(['a'] * 20) == ['a'] * 20
    assert law_of(mechanism)(('a', 'b')) == {('a', 'b'): 1}


@for_both_bases
@for_all_zones
def test_words_are_drawn_from_their_law(chain, zones, base):
    """Chi-square tests, each of α = 1e-6; draws one by one and together."""
    mechanism = made(chain, zones, 3.0, base=base, random=replayable_random())
    word, draws = [chain.states[-1], None, chain.initial_state, chain.states[1]], 3_000
    expected = law_of(mechanism)(word)
    assert_drawn(Counter(tuple(mechanism.privatize(word)) for _ in range(draws)), expected, draws)
    found = mechanism.privatize_many(*flat(chain, [word] * draws))
    assert_drawn(Counter(tuple(chain.states[i] for i in row)
                         for row in found.reshape(draws, -1).tolist()), expected, draws)


@for_all_zones
def test_where_53_bits_are_not_enough(chain, zones):
    """Points on an end: more bits decide, and never for what has no weight."""
    privacy = privacy_of(zones, 1.0)
    for word in ([chain.states[-1]] * 3, [chain.states[0], chain.states[-1], None]):
        possible = routes(privacy, chain, told(privacy, chain, word))
        for point in (0, 2**64 - 1, 2**63, 2**63 - 1):
            bits = sum(point << 64 * i for i in range(3))
            law = Exponential(chain, privacy, None, Tape(bits, 192))
            assert tuple(law.draw(word)) in possible


@for_both_bases
def test_positions_that_are_computed_again_change_nothing(base):
    chain, random = grid(4), Random(3)
    zones = {z: [s for s in chain.states if s[0] in z] for z in ('01', '23')}
    word = [random.choice([*chain.states, None]) for _ in range(200)]
    laws = [Exponential(chain, Privacy(1.0, 1, zones), 0.8 if base == 'chain' else None,
                        Random(5), sizes=LoopSizes(stored_bytes=stored)) for stored in (10**8, 0)]
    blocks = [law._sampler.block(200, 8) for law in laws]
    assert blocks == [200, 15]
    drawn = [law.draw(word) for law in laws]
    assert drawn[0] == drawn[1]
    assert len({law.log_probability(word, drawn[0]) for law in laws}) == 1


def test_long_words_of_wards_that_are_far_apart():
    """Weights leave the range of a float; the law is that of short words, piece by piece."""
    chain = Chain({'a': ['a', 'b', 'c'], 'b': ['b'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')
    mechanism = made(chain, {'A': 'abc', 'D': 'd'}, 60.0, base='counting', random=Random(1))
    word = ['b'] * 120 + ['d']  # 43 bits each
    drawn = mechanism.privatize(word)
    assert 'b' not in drawn and drawn[-1] == 'd'
    assert mechanism.log_probability(word, drawn) <= 0
    assert accuracy(mechanism, word).mean == pytest.approx(120)


@for_both_bases
def test_a_long_word_of_moves_of_which_only_one_stays_in_the_zone(base):
    """What can follow becomes ever less likely: its weight goes down, and is no zero."""
    chain = Chain({'a': {'a': 0.001, 'b': 0.999}, 'b': ['b', 'a']}, 'a')
    mechanism = made(chain, {'A': 'a', 'B': 'b'}, 0.0, base=base, trust=1.0)
    word = ['a'] * 100
    assert mechanism.privatize(word) == word
    assert mechanism.log_probability(word, word) == pytest.approx(0, abs=1e-12)


# Errors.

@pytest.mark.parametrize('wide', [False, True])
@for_both_bases
@for_all_zones
def test_errors_by_all_outputs(chain, zones, base, wide, monkeypatch):
    if wide:
        def too_wide(*_):
            raise exponential_errors._TooWide

        monkeypatch.setattr(exponential_errors._Passes, '_check_start', too_wide)
    mechanism = made(chain, zones, 3.0, base=base)
    words = [word for some in by_zones(mechanism.privacy, chain, 3).values() for word in some[::9]]
    means = errors_of_words(mechanism, words)
    for word, mean in zip(words, means):
        chances = by_definition(mechanism, word)
        distances = np.zeros(4)
        for output, chance in chances.items():
            distances[distance(word, output)] += float(chance)
        found = accuracy(mechanism, word)
        d = np.arange(4)
        assert mechanism.distance_distribution(word) == pytest.approx(distances, abs=1e-12)
        assert found.mean == pytest.approx(distances @ d) == pytest.approx(3 * mean)
        assert found.variance == pytest.approx(distances @ d**2 - (distances @ d)**2, abs=1e-9)
        assert found.per_position == pytest.approx([
            float(sum(p for o, p in chances.items() if o[t] != word[t])) for t in range(3)],
            abs=1e-12)


def test_words_without_symbols():
    mechanism = made(*ZONED['four'])
    assert mechanism.privatize([]) == [] and mechanism.log_probability([], []) == 0
    assert mechanism.privatize_many([], [0, 0]).tolist() == []
    assert mechanism.law.exact_probabilities([], [()]) == [1]
    assert mechanism.law.log_probability([], []) == 0
    assert mechanism.law.exact_probabilities([mechanism.chain.states[0]], []) == []
    assert mechanism.distance_distribution([]).tolist() == [1]


def test_what_is_refused():
    with refused(ConfigurationError, 'Chain.complete', setting='zones'):
        OfflineMechanism(COMPLETE, Privacy(1.0, zones={'A': COMPLETE.states}))
    chain = all_to_all(3)
    assert OfflineMechanism(chain, Privacy(1.0, zones={'A': chain.states})).online is None
