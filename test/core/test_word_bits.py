# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The random bits of many words: AES in counter mode, a key for each call, a nonce for each word.

They are held against the cipher of another library; each bit is fair, by exact binomial tests.
"""
from hashlib import blake2b
from itertools import pairwise
import os
from random import Random

from cryptography.hazmat.primitives.ciphers import algorithms, Cipher, modes
import numpy as np
from p_values import binomial_p
import pytest
from refusals import refused
from strategies import FOUR
from symdp_ros import Chain, ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.word_arrays import WordBits

ALPHA = 1e-6


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
    found = {WordBits.of_words(1, None, Random(seed)).stream(0).getrandbits(64)
             for seed in range(9)}
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


@pytest.mark.parametrize('mechanism', [
    OnlineMechanism(FOUR, Privacy(1.0)), OnlineMechanism(FOUR, Privacy(1.0), policy='adaptive'),
    OfflineMechanism(FOUR, Privacy(1.0)), OfflineMechanism(FOUR, Privacy(1.0), base='counting'),
    OfflineMechanism(FOUR, Privacy(1.0, zones={'all': FOUR.states}))])
@pytest.mark.parametrize('words', [1, 2, 4])
def test_bits_of_another_number_of_words(mechanism, words):
    """Several words with the same bits would show where they differ."""
    with refused(ConfigurationError, f'of {words} words, not of 3', setting='bits'):
        mechanism.privatize_many([0, 1, 2], [0, 1, 2, 3], WordBits(words))


@pytest.mark.parametrize('dtype', [np.uint32, np.uint64])
def test_every_bit_of_the_stream_is_fair(dtype):
    """Binomial, exact, two-sided; α = 1e-6 over all bits."""
    drawn = WordBits(4_000).fill(np.full(4_000, 10), dtype)
    width = 8 * drawn.itemsize
    for bit in range(width):
        ones = int((drawn >> dtype(bit) & dtype(1)).sum())
        p = binomial_p(ones, len(drawn))
        assert p > ALPHA / width, f'bit {bit}: {ones} ones of {len(drawn)}, p = {p}'
