# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many words at once: drawn in the very integers that are proved, whatever else is drawn."""
from collections import Counter
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise, product
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
from strategies import (all_to_all, CHAINS, chains, COMPLETE, feasible_words, flat, FOUR, Given,
                        grid, privacies, replayable_random, sharp, thorough)
from symdp_ros import (Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy,
                       UnknownSymbolError)
from symdp_ros.core.offline import passes
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes
from symdp_ros.core.online import in_c, online_batch
from symdp_ros.core.online import targets
from symdp_ros.core.online.response import responses
from symdp_ros.core.registry import DEFAULT_TRUST, POLICIES
from symdp_ros.core.word_arrays import checked, chunks, WordBits

ALPHA = 1e-6
ONE_WAY = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'c']}, 'a')
for_all_chains = pytest.mark.parametrize('chain', CHAINS.values(), ids=CHAINS)
for_all_policies = pytest.mark.parametrize('policy', POLICIES)


def privatized(mechanism, words, bits=None):
    """Return private words of labels."""
    symbols, offsets = flat(mechanism.chain, words)
    out = mechanism.privatize_many(symbols, offsets, bits)
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


# The exponential mechanism.

def walled(side):
    """Return a grid whose moves have random probabilities, some of them small."""
    random, plain = Random(1), grid(side)
    rows = {}
    for state in plain.states:
        weights = {s: random.choice([1e-5, 0.1, 1.0, 3.0]) for s in plain.successors(state)}
        rows[state] = {s: w / sum(weights.values()) for s, w in weights.items()}
    return Chain(rows, plain.initial_state)


@pytest.mark.parametrize('epsilon', [thorough(0.0), 2.0, thorough(10.0)])
@pytest.mark.parametrize('chain', sharp(
    {'four': FOUR, 'ring': CHAINS['ring'], 'split': CHAINS['split'], 'grid': grid(6),
     'walled': walled(5), 'widely walled': walled(20)}, 'four', 'walled'))
@pytest.mark.parametrize('trust', [None, DEFAULT_TRUST, 1.0], ids=['counting', 'models', 'one'])
@pytest.mark.parametrize('sizes', [
    LoopSizes(), LoopSizes(side_by_side_bytes=0), LoopSizes(stored_bytes=2_000),
    LoopSizes(spread_bits=0)], ids=['together', 'one by one', 'recomputed', 'exponents'])
def test_the_same_bits_give_the_same_words_as_one_by_one(chain, epsilon, trust, sizes):
    """Whatever lane a word is in, and whatever its neighbours: bit for bit."""
    random = Random(7)
    words = [random.choices((*chain.states, None), k=random.choice([0, 1, 2, 17, 60, 150]))
             for _ in range(70)]
    bits = WordBits(len(words), bytes(32))
    expected = [chain.state_index[symbol] for number, word in enumerate(words)
                for symbol in Exponential(chain, Privacy(epsilon), trust,
                                          bits.stream(number)).draw(word)]
    many = Exponential(chain, Privacy(epsilon), trust, sizes=sizes)
    assert many.draw_many(*flat(chain, words), bits).tolist() == expected


@pytest.mark.parametrize('degree', [1, 2, 3, 4, 5, thorough(7), thorough(10)])
def test_every_number_of_columns(degree):
    names = [f'n{i}' for i in range(11)]
    chain = Chain({a: [names[(i * i + j) % 11] for j in range(degree)] if i != 5 else names
                   for i, a in enumerate(names)}, 'n3')
    word = Random(1).choices(names, k=40)
    bits = WordBits(1)
    one, many = (OfflineMechanism(chain, Privacy(2.0), base='counting', random=random)
                 for random in (bits.stream(0), None))
    assert privatized(many, [word], bits) == [one.privatize(word)]


@pytest.mark.parametrize('first, expected', [(2**63, 'second'), (2**63 - 1, 'first')])
def test_a_point_on_a_boundary_takes_more_bits(first, expected, monkeypatch):
    """Both moves are equally likely: 53 bits do not decide the side of 1/2."""
    counted = counting(monkeypatch, 'draw_together')
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    words = [['a'] * length for length in (1, 3, 3, 5)]
    bits = Given([first.to_bytes(8, 'little') * len(word) for word in words])
    moves = {'first': ['a'] * 5, 'second': ['b', 'c', 'a', 'b', 'c']}[expected]
    drawn = privatized(OfflineMechanism(chain, Privacy(0.0), base='counting'), words, bits)
    assert drawn == [moves[:len(word)] for word in words]
    assert counted.calls == 6  # one for each position of the longest word, and the last


@pytest.mark.parametrize('trust', [None, 0.8], ids=['counting', 'chain'])
def test_points_on_boundaries_in_words_side_by_side(trust, monkeypatch):
    """Every draw of 70 words takes more bits, and is that of the word by itself."""
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    random, words, raws, expected = Random(3), [], [], []
    law = Exponential(chain, Privacy(2.0), trust)
    for length in (6, *random.choices([1, 2, 3, 5], k=69)):
        word = random.choices((*chain.states, None), k=length)
        outputs, output = [*feasible_words(chain, len(word))], ()
        chances = dict(zip(outputs, law.exact_probabilities(word, outputs)))
        raw = bytearray(random.randbytes(8 * len(word) + 64))
        for t in range(len(word)):
            both = [sum(p for o, p in chances.items() if o[:t + 1] == (*output, state))
                    for state in chain.successors(output[-1] if output else 'a')]
            raw[8 * t:8 * t + 8] = int(both[0] / sum(both) * 2**64).to_bytes(8, 'little')
            alone = Exponential(chain, Privacy(2.0), trust, Given([bytes(raw)]).stream(0))
            output = tuple(alone.draw(word)[:t + 1])
        words.append(word)
        raws.append(bytes(raw))
        expected.append([*output])
    name = 'draw_together' if trust is None else 'draw_words'
    counted = counting(monkeypatch, name)
    found = iter(law.draw_many(*flat(chain, words), Given(raws)).tolist())
    assert [[chain.states[next(found)] for _ in word] for word in words] == expected
    assert counted.calls > (10 if trust is None else sum(map(len, words)))


@pytest.mark.parametrize('chain, epsilon', [
    (Chain({'s': ['x', 'y'], 'x': ['x', 'v'], 'v': ['v', 'x'], 'y': ['y', 'z'], 'z': ['y', 'z']},
           's'), 2000.0), (grid(3, staying=False), 40.0)])
def test_weights_that_no_float_holds_side_by_side(chain, epsilon):
    """Two parts that never meet; two colours, of which a robot that never stays sees one."""
    random, words = Random(4), []
    for length in (400, 400, 377):
        word = [chain.initial_state]
        while len(word) < length:
            word.append(random.choice(chain.successors(word[-1])))
        words.append(word)
    law, bits = Exponential(chain, Privacy(epsilon), None), WordBits(3)
    assert law._sampler.plan(400).rescale_every == 0
    expected = [Exponential(chain, Privacy(epsilon), None, bits.stream(i)).draw(word)
                for i, word in enumerate(words)]
    found = law.draw_many(*flat(chain, words), bits).tolist()
    assert [chain.states[i] for i in found] == sum(expected, [])


class Counted:
    def __init__(self, function):
        self._function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self._function(*arguments)


def counting(monkeypatch, name):
    """Count the calls of a function in C."""
    if passes.compiled is None:
        pytest.skip('installed without a compiler')
    counted = Counted(getattr(passes.compiled, name))
    monkeypatch.setattr(passes.compiled, name, counted)
    return counted


def test_a_route_on_a_large_map():
    chain = large_grid(60)
    word = ['0,0'] * 700
    bits = WordBits(1)
    one = OfflineMechanism(chain, Privacy(2.0), random=bits.stream(0)).privatize(word)
    assert privatized(OfflineMechanism(chain, Privacy(2.0)), [word], bits) == [one]


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


# The bits.

def test_the_bits_are_aes_in_counter_mode_with_the_name_as_nonce(monkeypatch):
    asked = []
    monkeypatch.setattr(os, 'urandom', lambda n: asked.append(n) or bytes(range(n)))
    names = np.arange(36, dtype=np.uint8).reshape(3, 12)
    bits = WordBits(names)
    assert asked == [32]
    lengths, attempts = np.array([5, 0, 9]), []
    for attempt in range(12):
        key, expected = blake2b(bytes(range(32)), digest_size=32,
                                salt=str(attempt).encode()).digest(), []
        for name, length in zip(names, lengths):
            cipher = Cipher(algorithms.AES(key), modes.CTR(name.tobytes() + bytes(4)))
            expected.append(cipher.encryptor().update(bytes(int(8 * length))))
        attempts.append(expected)
    assert bits.fill(lengths, np.uint64).tobytes() == b''.join(attempts[0])
    assert bits.fill(2 * lengths, np.uint32).tobytes() == b''.join(attempts[0])
    assert bits[[2]].fill(lengths[2:], np.uint64).tobytes() == attempts[0][2]
    assert bits.stream(2, 8).getrandbits(12) == int.from_bytes(attempts[0][2][8:10], 'little') >> 4
    for dtype, limit in (np.uint64, 2**63), (np.uint32, 2**30), (np.uint32, 2**32 - 1):
        drawn = [np.frombuffer(b''.join(each), dtype) for each in attempts]
        offsets = np.cumsum([0, *lengths]) * (8 // np.dtype(dtype).itemsize)
        places, again = bits.fill_again(drawn[0].copy(), offsets, limit)
        assert places.tolist() == [i for i, bits in enumerate(drawn[0]) if bits > limit]
        most = 0
        for place, others in zip(places, again.T, strict=True):
            taken = next(i for i, each in enumerate(drawn[1:], 1) if each[place] <= limit)
            assert others.tolist()[:taken] == [each[place] for each in drawn[1:taken + 1]]
            most = max(most, taken)
        assert len(again) == most
    asked.clear()
    OfflineMechanism(FOUR, Privacy(1.0)).privatize_many([1, 2], [0, 2])
    assert asked == [32]


def test_a_draw_at_the_limit_is_taken():
    bits, lengths, offsets = WordBits(1, bytes(32)), np.array([1]), np.array([0, 1])
    drawn = bits.fill(lengths, np.uint64)
    _, again = bits.fill_again(drawn, offsets, int(drawn[0]) - 1)
    for limit, attempts in (int(again[-1, 0]), again.tolist()), (int(drawn[0]), []):
        assert bits.fill_again(drawn, offsets, limit)[1].tolist() == attempts


@pytest.mark.parametrize('dtype', [np.uint32, np.uint64])
def test_integers_of_words_are_those_of_their_streams(dtype):
    """Blocks are numbered from the most significant byte, as CTR does; a word may have 2¹⁷."""
    bits, lengths = WordBits(4, bytes(32)), np.array([3, 0, 2**18 + 1, 5])
    drawn, offsets = bits.fill(lengths, dtype), [0, *np.cumsum(lengths)]
    width = np.dtype(dtype).itemsize
    for word, (begin, end) in enumerate(pairwise(offsets)):
        expected = bits.stream(word).getrandbits(8 * width * int(end - begin))
        assert drawn[begin:end].astype(f'<u{width}').tobytes() == expected.to_bytes(
            width * int(end - begin), 'little')


def test_a_key_is_drawn_from_the_random_numbers_of_a_test():
    found = {WordBits.of_numbers(1, Random(seed)).stream(0).getrandbits(64) for seed in range(9)}
    assert len(found) == 9


def test_words_without_names_are_numbered():
    """No two of them have one name, whatever their number."""
    bits, some = WordBits(70_000, bytes(32)), [0, 1, 255, 256, 65_535, 65_536, 69_999]
    assert len({bits.stream(i).getrandbits(128) for i in some}) == len(some)
    assert bits[np.array(some)].stream(4).getrandbits(64) == bits.stream(65_535).getrandbits(64)


def test_every_call_has_a_key_of_its_own():
    """Words of 60 symbols of 1,000: two are equal by chance once in 10^180 runs."""
    chain = Chain.complete([f's{i}' for i in range(1000)], 's0')
    mechanism = OnlineMechanism(chain, Privacy(0.0))
    assert len({tuple(mechanism.privatize_many(np.zeros(60, int), [0, 60]).tolist())
                for _ in range(3)}) == 3


@pytest.mark.parametrize('dtype', [np.uint32, np.uint64])
def test_every_bit_of_the_stream_is_fair(dtype):
    """Binomial, exact, two-sided; α = 1e-6 over all bits."""
    drawn = WordBits(4_000).fill(np.full(4_000, 10), dtype)
    width = 8 * drawn.itemsize
    for bit in range(width):
        ones = int((drawn >> dtype(bit) & dtype(1)).sum())
        p = binomtest(ones, len(drawn)).pvalue
        assert p > ALPHA / width, f'bit {bit}: {ones} ones of {len(drawn)}, p = {p}'


@pytest.mark.parametrize('name', ['draw_words', 'draw_together', 'draw', 'earn', 'improve'])
def test_a_mistake_in_python_raises_in_the_loops_of_many_words(name, monkeypatch):
    """Another type, or one number less, of each array that they are really given."""
    module = passes.compiled if name.startswith('draw_') else in_c.compiled
    if module is None:
        pytest.skip('installed without a compiler')
    real, given = getattr(module, name), []

    def keep(*arguments):
        given.append([a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
        return real(*arguments)

    monkeypatch.setattr(module, name, keep)
    for each in targets, online_batch:
        monkeypatch.setattr(each, 'DENSE_STATES', 0)
    chain, words = grid(3), [['0,0', '1,0', None] * 3] * 7
    sizes = LoopSizes(side_by_side_bytes=0 if name == 'draw_words' else 1 << 25)
    Exponential(chain, Privacy(1.0), None, sizes=sizes).draw_many(
        *flat(chain, words), WordBits(7, bytes(32)))
    privatized(OnlineMechanism(chain, Privacy(1.0), policy='guided'), words)
    OnlineMechanism(chain, Privacy(1.0), policy='adaptive')
    arguments = given[0]
    real(*arguments)
    may_be_short = {'draw': {5, 6, 12}, 'draw_words': {10}}.get(name, ())  # not read here
    for i, argument in enumerate(arguments):
        if isinstance(argument, tuple):
            changed = [argument._replace(**{field: value[:-1].copy()})
                       for field, value in argument._asdict().items()
                       if isinstance(value, np.ndarray)]
        elif isinstance(argument, np.ndarray):
            changed = [np.ones(argument.shape, np.int16)]
            changed += [] if i in may_be_short else [argument[:-1].copy()]
        else:
            continue
        for other in changed:
            with pytest.raises((TypeError, ValueError)):
                real(*arguments[:i], other, *arguments[i + 1:])
