# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Many words at once: each is drawn from its own bits, whatever is drawn beside it.

The ends of every range of integers are drawn, which says how many lead to each outcome. Logs of
the exponential mechanism are in test_batch_of_logs.py, the bits themselves in test_word_bits.py.
"""
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from random import Random

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn
import pytest
from refusals import refused
from strategies import (all_to_all, CHAINS, chains, COMPLETE, feasible_words, flat, FOUR, Given,
                        grid, privacies, privatized, replayable_random, sharp, thorough)
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.core.online import online_batch
from symdp_ros.core.online import targets
from symdp_ros.core.online.response import responses
from symdp_ros.core.registry import POLICIES
from symdp_ros.core.word_arrays import checked, chunks, WordBits

ONE_WAY = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'c']}, 'a')
for_all_policies = pytest.mark.parametrize('policy', POLICIES)


@pytest.fixture(params=['table', 'search'])
def lookup(request, monkeypatch):
    """Both ways of finding a target on a chain that stores its edges."""
    if request.param == 'search':
        monkeypatch.setattr(online_batch, 'DENSE_STATES', 0)
        monkeypatch.setattr(targets, 'DENSE_STATES', 0)


# The policies of live words.

@pytest.mark.parametrize('epsilon', [0.0, thorough(1e-9), 2.0, 40.0])
@pytest.mark.parametrize('count', [1, 2, 3, 11, 43, 200])
@pytest.mark.parametrize('complete, lookup', [
    (False, 'table'), (False, 'search'), (True, 'table')], indirect=['lookup'])
def test_the_ends_of_every_range_of_integers(complete, count, epsilon, lookup):
    """
    Of the accepted integers, as many lead to an outcome as `core.online.response` proves.

    Those of an outcome follow each other, in each part, so their ends say how many there are.
    """
    chain = all_to_all(count, stored=not complete)
    names = chain.states
    width, made = responses([count], Privacy(epsilon))
    dtype = {30: np.uint32, 60: np.uint64}[width]
    largest = int(np.iinfo(dtype).max)
    r = made[count]
    scale = largest // (count * r.total)
    limit, weight, cut = scale * count * r.total, scale * r.total, scale * count * r.a
    assert limit <= largest < 2 * limit
    mechanism = OnlineMechanism(chain, Privacy(epsilon))
    aim = count // 2
    assert mechanism.exact_distribution(names[aim], 's0')[names[aim]] == Fraction(
        cut + count * (weight - cut), limit)
    script = [(None, limit - 1, count - 1)]
    for i in sorted({0, 1, aim, count - 1} & set(range(count))):
        first, last = i * weight, (i + 1) * weight - 1
        script += [(names[aim], first, i), (names[aim], first + cut - 1, i), (None, first, i),
                   (None, first + cut - 1, i), (None, last, i)]
        if cut < weight:  # not where all weigh the same
            script += [(names[aim], first + cut, aim), (names[aim], last, aim),
                       (None, first + cut, i)]
    drawn = privatized(mechanism, [[symbol for symbol, _, _ in script]], Given([
        np.array([draw for _, draw, _ in script], dtype).tobytes()]))
    assert drawn == [[names[i] for *_, i in script]]


@pytest.mark.parametrize('attempts', [1, 2, 4])
@pytest.mark.parametrize('words', [1, 3, 50])
def test_rejected_draws_are_replaced_however_many_there_are(words, attempts):
    """All is rejected, several times; what counts is what comes then."""
    sensitive, rejected = [['s1'] * 7 for _ in range(words)], b'\xff' * 4 * 7
    bits = Given([rejected] * words, [rejected] * (attempts - 1))
    assert privatized(OnlineMechanism(FOUR, Privacy(0.0)), sensitive, bits) == [
        ['s1', 's1', 's1', 's1', 's1', 's1', 's1'] for _ in range(words)]


def test_the_last_integer_that_counts_is_taken_after_others():
    total = 3 * responses([3], Privacy(1.0))[1][3].total
    last = np.array([(2**32 - 1) // total * total - 1], np.uint32).tobytes()
    bits = Given([b'\xff' * 4], [b'\xff' * 4, last])
    assert privatized(OnlineMechanism(all_to_all(3), Privacy(1.0)), [[None]], bits) == [['s2']]


@pytest.mark.parametrize('epsilon, lookup', [
    thorough(0.5, 'table'), (5.0, 'table'), (5.0, 'search')], indirect=['lookup'])
@for_all_policies
@pytest.mark.parametrize('chain', sharp({**CHAINS, 'one way': ONE_WAY}, 'four', 'complete',
                                        'one way'))
def test_words_are_drawn_from_the_product(chain, policy, epsilon, lookup):
    """A chi-square test of all outputs of all words; α = 1e-6: as often of each word, or less."""
    mechanism = OnlineMechanism(chain, Privacy(epsilon, 2), policy=policy,
                                random=replayable_random())
    states = (*chain.states, None)
    some = [list(word) for word in product(states, repeat=2)]
    drawn = privatized(mechanism, some * 400)
    counts = Counter((tuple(word), tuple(output)) for word, output in zip(some * 400, drawn))
    outputs, law = [*feasible_words(chain, 2)], mechanism.law
    assert_drawn(counts, {(tuple(word), output): chance / len(some) for word in some
                          for output, chance in zip(outputs, law.exact_probabilities(
                              word, outputs), strict=True)}, len(drawn))


@pytest.mark.parametrize('source', [None, 'replayable'])
@pytest.mark.parametrize('chain, policy, epsilon', [
    (grid(4), 'guided', 2.0), (Chain.complete([f'q{i}' for i in range(200)], 'q0'), 'paper', 4.0)])
def test_words_of_all_lengths_stand_side_by_side(chain, policy, epsilon, source):
    """Moves of unequal words, some in draws of 64 bits; binomial tests, α = 1e-6 in all."""
    random = replayable_random()
    words = [random.choices((*chain.states, None), k=random.choice([0, 1, 2, 7, 30]))
             for _ in range(300)]
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy,
                                random=source and random)
    drawn = privatized(mechanism, words)
    hits, expected, variance = 0, 0.0, 0.0
    for word, output in zip(words, drawn, strict=True):
        assert len(word) == len(output) and chain.is_feasible(output)
        for s, before, o in zip(word, [chain.initial_state, *output], output):
            target = mechanism.target(s, before)
            if target is not None:
                p = float(mechanism.distribution(s, before)[target])
                hits, expected = hits + (o == target), expected + p
                variance += p * (1 - p)
    assert abs(hits - expected) < 5.5 * variance**0.5 + 1  # α < 1e-7: a sum of many


def test_wide_draws_are_tested_too():
    assert responses([200], Privacy(4.0))[0] == 60


def test_the_word_that_is_under_way_goes_on():
    mechanism = OnlineMechanism(FOUR, Privacy(1.0))
    mechanism.reset('s3')
    privatized(mechanism, [['s1', 's2']])
    assert mechanism.previous == 's3'


# Whatever the mechanism.

@given(chain=chains(), privacy=privacies(), data=st.data())
def test_all_words_are_feasible_and_as_long(chain, privacy, data):
    words = data.draw(st.lists(st.lists(st.sampled_from((*chain.states, None)), max_size=6),
                               max_size=40))
    for mechanism in (OnlineMechanism(chain, privacy, policy='guided'),
                      OfflineMechanism(chain, privacy)):
        drawn = privatized(mechanism, words)
        assert [len(word) for word in drawn] == [len(word) for word in words]
        assert all(chain.is_feasible(word) for word in drawn)


@pytest.mark.parametrize('make', [OnlineMechanism, OfflineMechanism])
@pytest.mark.parametrize('symbols, offsets, error', [
    ([0, 4], [0, 2], UnknownSymbolError), ([0, -2], [0, 2], UnknownSymbolError),
    ([0, 1], [0, 1], ConfigurationError), ([0, 1], [1, 2], ConfigurationError),
    ([0, 1], [], ConfigurationError), ([0, 1], [0, 2, 1, 2], ConfigurationError),
    ([0.0, 1.0], [0, 2], ConfigurationError), ([[0, 1]], [0, 1], ConfigurationError),
    (['s1'], [0, 1], ConfigurationError), ([0, 2**31], [0, 2], UnknownSymbolError)])
def test_bad_arrays(make, symbols, offsets, error):
    with pytest.raises(error):
        make(FOUR, Privacy(1.0)).privatize_many(np.array(symbols), offsets)


def test_more_words_than_are_drawn_together():
    """All are drawn as if they were drawn at once."""
    mechanism, words = OnlineMechanism(FOUR, Privacy(1.0)), [['s1'] * n for n in (4, 3, 0, 9, 5)]
    bits = WordBits(len(words))
    expected = privatized(mechanism, words, bits)
    symbols, offsets = checked(*flat(FOUR, words), len(FOUR))
    for together in (1, 5, 8, 100):
        drawn = mechanism._batch.draw(symbols, offsets, bits, together)
        assert [FOUR.states[i] for i in drawn.tolist()] == sum(expected, [])


def test_chunks_hold_as_many_words_as_fit():
    for lengths, size, ends in (([2, 2, 2, 3, 2], 5, [2, 4, 5]), ([9, 9, 0, 9], 5, [1, 2, 3, 4]),
                                ([0, 0, 5, 0, 1], 5, [4, 5]), ([], 5, []), ([3], 5, [1])):
        found = list(chunks(np.cumsum([0, *lengths]), size))
        assert [each.stop for each in found] == ends
        assert [each.start for each in found] == [0, *ends][:-1]


def test_lists_of_unequal_length():
    with refused(ConfigurationError, setting='symbols'):
        OnlineMechanism(FOUR, Privacy(1.0)).privatize_many([[0], [1, 2]], [0, 1])


@pytest.mark.parametrize('dtype', [np.int8, np.uint8, np.int64])
def test_integers_of_any_kind(dtype):
    mechanism = OnlineMechanism(COMPLETE, Privacy(700.0))
    assert mechanism.privatize_many(np.array([2, 0], dtype)[::-1], [0, 2]).tolist() == [0, 2]


def test_no_words():
    for mechanism in (OnlineMechanism(FOUR, Privacy(1.0)), OfflineMechanism(FOUR, Privacy(1.0))):
        assert mechanism.privatize_many([], [0]).tolist() == []
        assert mechanism.privatize_many([], [0, 0, 0]).tolist() == []


@pytest.mark.parametrize('make', [
    pytest.param(lambda *given: OfflineMechanism(*given, selection='exponential'), id='weighed'),
    pytest.param(lambda *given: OfflineMechanism(*given, base='counting'), id='counting'),
    pytest.param(lambda *given: OfflineMechanism(*given, selection='causal', policy='adaptive'),
                 id='decoded'),
    *(pytest.param(lambda *given, policy=policy: OnlineMechanism(*given, policy=policy), id=policy)
      for policy in POLICIES)])
@pytest.mark.parametrize('chain, epsilon', [
    (FOUR, 0.5), thorough(CHAINS['ring'], 3.0), (COMPLETE, 2.0), thorough(grid(5), 1.0)])
def test_a_word_is_drawn_from_its_own_bits_whatever_stands_beside_it(make, chain, epsilon):
    """All words together, in another order and other parts, and one by one: the same."""
    random = Random(5)
    words = [random.choices((*chain.states, None), k=random.choice([0, 1, 2, 5, 9, 40]))
             for _ in range(60)]
    mechanism = make(chain, Privacy(epsilon))
    bits = WordBits(len(words))
    together = privatized(mechanism, words, bits)
    order = random.sample(range(len(words)), len(words))
    cuts = [0, 1, 2, 20, len(words)]
    for some in [*(order[a:b] for a, b in pairwise(cuts)),
                 *([i] for i in range(0, len(words), 7))]:
        mechanism = make(chain, Privacy(epsilon))
        assert privatized(mechanism, [words[i] for i in some], bits[np.array(some)]) == [
            together[i] for i in some]
    others = privatized(mechanism, words, WordBits(len(words)))
    assert others != together and {*map(len, together)} == {*map(len, words)}
