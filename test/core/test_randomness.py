# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uniform integers: in range, from the right source, never shared between two processes."""
from itertools import islice
from math import exp
import os
from random import Random
from types import SimpleNamespace
import warnings

from p_values import binomial_p, chi_square_p
import pytest
from strategies import COMPLETE, replayable_random
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.core.draws import randomness
from symdp_ros.core.draws.randomness import RandomIntegers

WIDTHS = (30, 60)
ALPHA = 1e-6


class Bytes:
    """A `random` whose bits are 0, 1, 2, … as bytes."""

    def getrandbits(self, bits):
        return int.from_bytes(bytes(i % 256 for i in range(bits // 8)), 'little')


class Few:
    """A `random` of 30-bit integers of which some are small."""

    def __init__(self):
        self._random = Random(3)

    def getrandbits(self, bits):
        values = [self._random.choice([0, 3, 6, 7, 2**29, 2**29 + 1, 2**30 - 1]) << 2
                  for _ in range(bits // 32)]
        return int.from_bytes(b''.join(value.to_bytes(4, 'little') for value in values), 'little')


def draws(integers):
    """Yield integers as a mechanism takes them."""
    while True:
        integers.fill()
        yield integers.buffer.pop()


def taken(integers, count):
    return list(islice(draws(integers), count))


def test_p_values_by_hand():
    """Ten tosses, all of one side: 2·2⁻¹⁰; χ² = 1 + 1 at two degrees of freedom: e⁻¹."""
    assert binomial_p(10, 10) == binomial_p(0, 10) == pytest.approx(2**-9)
    assert binomial_p(5, 10) == 1.0 and binomial_p(1, 2, 0.1) == pytest.approx(0.38)
    assert chi_square_p([12, 6, 3], [9, 9, 3]) == pytest.approx(exp(-1))
    assert chi_square_p([8, 4, 3], [4, 6, 5]) < chi_square_p([5, 5, 5], [4, 6, 5]) < 1


@pytest.mark.parametrize('width, last, before', [
    (30, 0xfffefdfc >> 2, 0xfbfaf9f8 >> 2),
    (60, 0xfffefdfcfbfaf9f8 >> 4, 0xf7f6f5f4f3f2f1f0 >> 4)])
def test_integers_are_the_high_bits_of_whole_words(width, last, before):
    integers = RandomIntegers(width, 2**width, Bytes())
    assert taken(integers, 2) == [last, before]
    assert all(type(value) is int and 0 <= value < 2**width for value in integers.buffer)
    assert len(integers.buffer) == 512 // (4 if width == 30 else 8) - 2


@pytest.mark.parametrize('width', WIDTHS)
def test_every_integer_is_handed_out_once(width):
    integers = RandomIntegers(width, 2**width, Random(5))
    per_byte = 8 / (32 if width == 30 else 64)
    sizes = [int(size * per_byte) for size in (512, 1024, 2048, 4096, 8192, 8192)]
    drawn = taken(integers, sum(sizes))
    assert not integers.buffer and len(set(drawn)) > sum(sizes) - 10
    again = RandomIntegers(width, 2**width, Random(5))
    for i, size in enumerate(sizes):
        block = drawn[sum(sizes[:i]):][:size]
        again.fill()
        assert again.buffer[::-1] == block
        again.buffer.clear()


@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('source', ['os', 'injected'])
def test_every_bit_is_fair(width, source):
    """Binomial, exact, two-sided; α = 1e-6 over all bits. Only the injected source replays."""
    integers = RandomIntegers(width, 2**width, None if source == 'os' else replayable_random())
    drawn = taken(integers, 40_000)
    assert max(drawn) < 2**width
    for bit in range(width):
        ones = sum(value >> bit & 1 for value in drawn)
        p = binomial_p(ones, len(drawn))
        assert p > ALPHA / width, f'bit {bit}: {ones} ones of {len(drawn)}, p = {p}'


@pytest.mark.parametrize('limit', [1, 7, 2**29 + 1])
def test_integers_from_the_limit_on_are_left_out(limit):
    """What is left is what the source gives below the limit, in its order."""
    integers, all_of_them = RandomIntegers(30, limit, Few()), RandomIntegers(30, 2**30, Few())
    kept = [value for value in taken(all_of_them, 4096) if value < limit]
    assert 0 < len(kept) < 4096 and taken(integers, len(kept)) == kept


def test_a_buffer_of_nothing_but_rejected_integers_is_filled_again():
    blocks = iter([-1, -1, 0])
    source = SimpleNamespace(getrandbits=lambda bits: next(blocks) % 2**bits)
    assert taken(RandomIntegers(30, 2**30 - 1, source), 2) == [0, 0]


def test_the_operating_system_is_asked_for_every_buffer(monkeypatch):
    asked = []
    monkeypatch.setattr(randomness.os, 'urandom', lambda n: asked.append(n) or b'\xff' * n)
    integers = RandomIntegers(30, 2**30)
    assert taken(integers, 128) == [2**30 - 1] * 128 and asked == [512]
    taken(integers, 1)
    assert asked == [512, 1024]


@pytest.mark.parametrize('policy', ['paper', 'guided'])
def test_the_operating_system_is_the_default(policy, monkeypatch):
    monkeypatch.setattr(randomness.os, 'urandom', bytes)  # all zero: always the first state
    mechanism = OnlineMechanism(COMPLETE, Privacy(1.0), policy=policy)
    assert mechanism.privatize(['y', None, 'z']) == ['x', 'x', 'x']


def test_an_injected_source_is_deterministic():
    def word(seed):
        mechanism = OnlineMechanism(COMPLETE, Privacy(1.0), random=Random(seed))
        return mechanism.privatize(['y', None, 'z'] * 20)

    assert word(1) == word(1) and len({tuple(word(seed)) for seed in range(20)}) == 20


def in_child(compute):
    """Return repr(compute()) of a fork of this process."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)  # of forks with threads about
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(compute()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize('width', WIDTHS)
def test_a_fork_discards_the_buffer(width):
    integers = RandomIntegers(width, 2**width)
    taken(integers, 1)
    kept = list(integers.buffer)
    assert len(kept) > 60
    assert in_child(lambda: list(integers.buffer)) == '[]'
    assert integers.buffer == kept
    assert in_child(lambda: taken(integers, 4)) != repr(kept[:-5:-1])


def test_forks_of_a_mechanism_draw_differently():
    """Words of 40 symbols out of 1,000: two are equal by chance once in 10^120 runs."""
    chain = Chain.complete([f's{i}' for i in range(1000)], 's0')
    mechanism = OnlineMechanism(chain, Privacy(0.0))
    mechanism.step('s1')

    def word():
        return [mechanism.step('s1') for _ in range(40)]

    forks = [in_child(word), in_child(word), repr(word())]
    assert len(set(forks)) == 3 and all(fork.count('s') == 40 for fork in forks)
