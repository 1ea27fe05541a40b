# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many words at once: drawn in the very integers that are proved, whatever else is drawn."""
from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp
import os
from random import Random

from cryptography.hazmat.primitives.ciphers import algorithms, Cipher, modes
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from offline_checks import assert_drawn, large_grid
import pytest
from refusals import refused
from scipy.stats import binomtest
from strategies import (all_to_all, CHAINS, chains, COMPLETE, feasible_words, FOUR, grid,
                        privacies, replayable_random, Tape)
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.passes import kernels
from symdp_ros.core.offline.reachable import LoopSizes
from symdp_ros.core.online import online_batch
from symdp_ros.core.online import targets
from symdp_ros.core.online.response import responses
from symdp_ros.core.registry import DEFAULT_TRUST, POLICIES
from symdp_ros.core.word_arrays import RandomStream

ALPHA = 1e-6
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
for_all_policies = pytest.mark.parametrize('policy', POLICIES)


class Draws:
    """A `random` that gives these unsigned integers, in order, and then zeros."""

    def __init__(self, integers, dtype):
        self._left, self._dtype = list(integers), np.dtype(dtype)

    def getrandbits(self, width):
        size = width // 8 // self._dtype.itemsize
        part, self._left = self._left[:size], self._left[size:]
        part += [0] * (size - len(part))
        return int.from_bytes(np.array(part, self._dtype).tobytes(), 'little')


def flat(chain, words):
    """Return words of labels as (symbols, offsets)."""
    index = {**chain.state_index, None: -1}
    symbols = [index[symbol] for word in words for symbol in word]
    return np.array(symbols, np.int32), np.cumsum([0, *map(len, words)])


def privatized(mechanism, words):
    """Return private words of labels."""
    symbols, offsets = flat(mechanism.chain, words)
    out = mechanism.privatize_many(symbols, offsets)
    assert out.dtype == np.int32 and out.shape == symbols.shape
    states = mechanism.chain.states
    return [[states[i] for i in out[a:b].tolist()]
            for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


@pytest.fixture(params=['table', 'search'])
def lookup(request, monkeypatch):
    """Both ways of finding a target on a chain that stores its edges."""
    if request.param == 'search':
        monkeypatch.setattr(online_batch, 'DENSE_STATES', 0)
        monkeypatch.setattr(targets, 'DENSE_STATES', 0)


# The online mechanism.

@pytest.mark.parametrize('epsilon', [0.0, 1e-9, 2.0, 40.0])
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
    drawn = privatized(OnlineMechanism(
        chain, Privacy(epsilon), random=Draws([draw for _, draw, _ in script], dtype)),
        [[symbol for symbol, _, _ in script]])
    assert drawn == [[names[i] for *_, i in script]]


@pytest.mark.parametrize('words', [1, 3, 50])
def test_rejected_draws_are_replaced_however_many_there_are(words):
    """All is rejected, three buffers of spare draws too; what counts is what comes then."""
    sensitive = [['s1'] * 7 for _ in range(words)]
    total = 7 * words
    rejected = [2**32 - 1] * (total + 3 * (64 + total // 32))
    random = Draws(rejected, np.uint32)
    assert privatized(OnlineMechanism(FOUR, Privacy(0.0), random=random), sensitive) == [
        ['s1', 's1', 's1', 's1', 's1', 's1', 's1'] for _ in range(words)]


@pytest.mark.parametrize('epsilon, lookup', [(0.5, 'table'), (5.0, 'search')],
                         indirect=['lookup'])
@for_all_policies
@for_all_chains
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
             for _ in range(1_000)]
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


# The exponential mechanism.

@pytest.mark.parametrize('epsilon', [0.0, 2.0, 10.0])
@pytest.mark.parametrize('chain', [FOUR, CHAINS['ring'], CHAINS['split'], grid(6)],
                         ids=['four', 'ring', 'split', 'grid'])
@pytest.mark.parametrize('sizes', [LoopSizes(), LoopSizes(lanes_bytes=0)],
                         ids=['together', 'one by one'])
def test_the_same_bits_give_the_same_words_as_one_by_one(chain, epsilon, sizes):
    """Whatever lane a word is in, and whatever its neighbours: bit for bit."""
    random = Random(7)
    words = [random.choices((*chain.states, None), k=random.choice([0, 1, 2, 17, 60, 150]))
             for _ in range(150)]
    words.sort(key=len)
    width = 64 * sum(map(len, words))
    bits = random.getrandbits(width)
    single = OfflineMechanism(chain, Privacy(epsilon), random=Tape(bits, width))
    expected = [i for word in words for i in map(chain.state_index.get, single.privatize(word))]
    many = Exponential(chain, Privacy(epsilon), DEFAULT_TRUST, Tape(bits, width), sizes=sizes)
    assert many.draw_many(*flat(chain, words)).tolist() == expected


@pytest.mark.parametrize('degree', [1, 2, 3, 4, 5, 7, 10])
def test_every_number_of_columns(degree):
    names = [f'n{i}' for i in range(11)]
    chain = Chain({a: [names[(i * i + j) % 11] for j in range(degree)] + names[:9] * (i == 5)
                   if i != 5 else names for i, a in enumerate(names)}, 'n3')
    word = Random(1).choices(names, k=40)
    bits = Random(2).getrandbits(64 * 40)
    one = OfflineMechanism(chain, Privacy(2.0), random=Tape(bits, 64 * 40)).privatize(word)
    many = OfflineMechanism(chain, Privacy(2.0), random=Tape(bits, 64 * 40))
    assert privatized(many, [word]) == [one]


@pytest.mark.parametrize('first, expected', [(2**63, 'second'), (2**63 - 1, 'first')])
def test_a_point_on_a_boundary_takes_more_bits(first, expected, monkeypatch):
    """Both moves are equally likely: 53 bits do not decide the side of 1/2."""
    counted = Counted(kernels.exponential)
    monkeypatch.setattr(kernels, 'exponential', counted)
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    words = [['a'] * length for length in (1, 3, 3, 5)]
    bits = b''.join(first.to_bytes(8, 'little') for word in words for _ in word)
    tape = Tape(int.from_bytes(bits, 'little'), 8 * len(bits))
    moves = {'first': ['a'] * 5, 'second': ['b', 'c', 'a', 'b', 'c']}[expected]
    drawn = privatized(OfflineMechanism(chain, Privacy(0.0), base='counting', random=tape), words)
    assert drawn == [moves[:len(word)] for word in words]
    assert counted.calls == 6  # one for each position of the longest word, and the last


class Counted:
    def __init__(self, function):
        self._function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self._function(*arguments)


@pytest.mark.parametrize('selection', ['exponential', 'causal'])
@for_all_chains
def test_words_are_drawn_from_the_law(chain, selection):
    """Chi-square tests; α = 1e-6 each. Words of other lengths stand between."""
    mechanism = OfflineMechanism(chain, Privacy(2.0), selection=selection,
                                 random=replayable_random())
    n = 5_000
    states = chain.states
    words = [[states[-1], None, states[0]], [states[0]] * 2]
    drawn = privatized(mechanism, words * n)
    for i, word in enumerate(words):
        law = {o: exp(mechanism.log_probability(word, o))
               for o in feasible_words(chain, len(word))}
        assert_drawn(Counter(map(tuple, drawn[i::2])), law, n)


def test_permute_and_flip_is_drawn_one_by_one():
    words = [['s1', None, 's3'], [], ['s0'] * 5]
    one = OfflineMechanism(FOUR, Privacy(2.0), selection='permute_and_flip', random=Random(3))
    many = OfflineMechanism(FOUR, Privacy(2.0), selection='permute_and_flip', random=Random(3))
    assert privatized(many, words) == [one.privatize(word) for word in words]


def test_words_too_long_are_refused_before_anything_is_drawn():
    mechanism = OfflineMechanism(FOUR, Privacy(1.0), selection='permute_and_flip')
    with refused(ConfigurationError, setting='selection'):
        mechanism.privatize_many(np.zeros(10**5, np.int32), [0, 10**5])


def test_a_route_on_a_large_map():
    chain = large_grid(60)
    word = ['0,0'] * 700
    bits = Random(2).getrandbits(64 * 700)
    one = OfflineMechanism(chain, Privacy(2.0), random=Tape(bits, 64 * 700)).privatize(word)
    many = OfflineMechanism(chain, Privacy(2.0), random=Tape(bits, 64 * 700))
    assert privatized(many, [word]) == [one]


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


# The stream.

def test_the_stream_is_aes_in_counter_mode_under_a_fresh_key(monkeypatch):
    asked = []
    monkeypatch.setattr(os, 'urandom', lambda n: asked.append(n) or bytes(range(n)))
    stream = RandomStream()
    assert asked == [32, 16]
    cipher = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(range(16)))).encryptor()
    expected = cipher.update(bytes(1008))
    drawn = [stream.fill(np.empty((2, 5), np.uint64)), stream.fill(np.empty(0, np.uint32)),
             stream.fill(np.ones(231, np.uint32)), stream.fill(np.empty(4, np.uint8))]
    assert b''.join(array.tobytes() for array in drawn) == expected
    assert stream.getrandbits(12) == int.from_bytes(cipher.update(bytes(2)), 'little') >> 4
    asked.clear()
    OnlineMechanism(FOUR, Privacy(1.0)).privatize_many([1, 2], [0, 2])
    assert asked == [32, 16]


def test_a_library_that_asks_for_more_room_than_it_writes():
    """As cryptography does up to version 42."""
    cipher, update = Cipher(algorithms.AES(bytes(32)), modes.CTR(bytes(16))), []

    class Encryptor:
        def __init__(self):
            self._real = cipher.encryptor()
            self.update = self._real.update

        def update_into(self, data, buffer):
            assert len(buffer) >= len(data) + 15
            update.append(len(data))
            return self._real.update_into(data, buffer)

    stream = RandomStream()
    stream._encryptor, expected = Encryptor(), cipher.encryptor().update(bytes(1000))
    drawn = b''.join(stream.fill(np.empty(size, np.uint8)).tobytes() for size in (3, 15, 16, 966))
    assert drawn == expected and update == [1, 951]


def test_every_call_has_a_key_of_its_own():
    """Words of 60 symbols of 1,000: two are equal by chance once in 10^180 runs."""
    chain = Chain.complete([f's{i}' for i in range(1000)], 's0')
    mechanism = OnlineMechanism(chain, Privacy(0.0))
    assert len({tuple(mechanism.privatize_many(np.zeros(60, int), [0, 60]).tolist())
                for _ in range(3)}) == 3


@pytest.mark.parametrize('dtype', [np.uint32, np.uint64])
def test_every_bit_of_the_stream_is_fair(dtype):
    """Binomial, exact, two-sided; α = 1e-6 over all bits."""
    drawn = RandomStream().fill(np.empty(40_000, dtype))
    width = 8 * drawn.itemsize
    for bit in range(width):
        ones = int((drawn >> dtype(bit) & dtype(1)).sum())
        p = binomtest(ones, len(drawn)).pvalue
        assert p > ALPHA / width, f'bit {bit}: {ones} ones of {len(drawn)}, p = {p}'
