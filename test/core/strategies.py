# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies, chains and helpers that the tests of the core share."""
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cache
import os
from random import Random
import secrets

from hypothesis import strategies as st
import numpy as np
import pytest
from symdp_ros import Chain, Privacy
from symdp_ros.core.word_arrays import WordBits

#: N = 3, 2, 1, 4. C(s0) and C(s1) are the paper's.
FOUR = Chain({'s0': ['s1', 's2', 's3'], 's1': ['s1', 's2'], 's2': ['s0'],
              's3': ['s3', 's0', 's1', 's2']}, 's0')
RING = Chain({'a': ['b'], 'b': ['c'], 'c': ['d'], 'd': ['a', 'd']}, 'a')
#: p and q are never left for r and t: r and t cannot be reached from them.
SPLIT = Chain({'p': ['q', 'p'], 'q': ['p'], 'r': ['t', 'p'], 't': ['r', 't', 'q']}, 'r')
COMPLETE = Chain.complete(['x', 'y', 'z'], 'x')
CHAINS = {'four': FOUR, 'ring': RING, 'split': SPLIT, 'complete': COMPLETE}


def grid(side, *, staying=True):
    """Return the chain of a square grid, moves in the order stay, west, east, south, north."""
    steps = [(0, 0)] * staying + [(-1, 0), (1, 0), (0, -1), (0, 1)]
    cells = [(x, y) for y in range(side) for x in range(side)]
    return Chain({f'{x},{y}': [f'{x + dx},{y + dy}' for dx, dy in steps
                               if (x + dx, y + dy) in cells] for x, y in cells}, '0,0')


@cache
def all_to_all(count, *, stored=True):
    """Return a chain on which everything follows everything; it lists its moves where `stored`."""
    names = [f's{i}' for i in range(count)]
    return (Chain(dict.fromkeys(names, names), 's0') if stored else Chain.complete(names, 's0'))


def sharp(cases, *names):
    """Return cases, by name, as parameters of a test; those that are not named are thorough."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), id=name,
                         marks=() if name in names else pytest.mark.thorough)
            for name, case in cases.items()]


def thorough(*case):
    """Return a case, as parameters of a test, that only repeats what others check."""
    return pytest.param(*case, marks=pytest.mark.thorough)


class Tape:
    """A `random` whose bits are those of some integer, lowest first, and then others."""

    def __init__(self, integer, width, then=None):
        self._integer, self._left, self._then = integer, width, then or Random(0)

    def getrandbits(self, width):
        if self._left <= 0:
            return self._then.getrandbits(width)
        result = self._integer & (1 << width) - 1
        self._integer >>= width
        self._left -= width
        return result


class Given(WordBits):
    """
    Bits of words that a test gives: `words` are bytes, `again` those of each later attempt.

    All that comes after is 0.
    """

    def __init__(self, words, again=()):
        self._words, self._again = words, again

    def __len__(self):
        return len(self._words)

    def __getitem__(self, some):
        return Given([self._words[i] for i in np.arange(len(self._words))[some]], self._again)

    def fill(self, lengths, dtype, attempt=0):
        found = []
        for word, length in zip(self._words, lengths.tolist(), strict=True):
            raw = word if attempt == 0 else b''.join(self._again[attempt - 1:attempt])
            size = length * np.dtype(dtype).itemsize
            found.append(np.frombuffer(raw[:size].ljust(size, b'\0'), dtype))
        return np.concatenate(found)

    def fill_again(self, drawn, offsets, limit):
        places = np.flatnonzero(drawn > limit)
        return places, np.array([self.fill(np.diff(offsets), drawn.dtype, attempt)[places]
                                 for attempt in range(1, len(self._again) + 2)])

    def stream(self, word, skip=0):
        raw = self._words[word][skip:]
        return Tape(int.from_bytes(raw, 'little'), 8 * len(raw), Zeros())


class Zeros:
    def getrandbits(self, width):
        return 0


@st.composite
def successor_maps(draw, max_states=6):
    """Rows of a chain: every state has a successor; their order is random."""
    names = [f's{i}' for i in range(draw(st.integers(1, max_states)))]
    row = st.lists(st.sampled_from(names), min_size=1, unique=True)
    return {name: draw(row) for name in names}


@st.composite
def chains(draw, max_states=6, complete=True):
    """Chains of few states; where `complete`, now and then a complete one."""
    rows = draw(successor_maps(max_states))
    initial = draw(st.sampled_from(list(rows)))
    if complete and draw(st.integers(0, 9)) == 0:
        return Chain.complete(rows, initial)
    return Chain(rows, initial)


@st.composite
def periodic_chains(draw, most_periods=3, max_states=3):
    """Chains whose states are in classes, each of which leads to the next, or some of them."""
    names = [[f's{c}.{i}' for i in range(draw(st.integers(1, max_states)))]
             for c in range(draw(st.integers(2, most_periods)))]
    rows = {name: draw(st.lists(st.sampled_from(after), min_size=1, unique=True))
            for own, after in zip(names, names[1:] + names[:1], strict=True) for name in own}
    return Chain(rows, names[0][0])


def symbols(chain):
    """Sensitive symbols: states, and None for an unknown one."""
    return st.sampled_from((*chain.states, None))


def words(chain, max_size=20):
    """Sensitive words, mostly infeasible ones."""
    return st.lists(symbols(chain), max_size=max_size)


@st.composite
def privacies(draw, max_epsilon=2000.0):
    """Privacy parameters, small and large ε, k up to 5."""
    epsilon = draw(st.sampled_from([0.0, 1e-9, 0.1, 2.0]) | st.floats(0, 10)
                   | st.floats(0, max_epsilon))
    return Privacy(epsilon, draw(st.integers(1, 5)))


def flat(chain, some):
    """Return words as (symbols, offsets): positions of states, −1 for an unknown symbol."""
    index = {**chain.state_index, None: -1}
    return (np.array([index[symbol] for word in some for symbol in word], np.int32),
            np.cumsum([0, *map(len, some)]))


def privatized(mechanism, some, bits=None):
    """Return private words of labels, drawn together."""
    symbols, offsets = flat(mechanism.chain, some)
    out = mechanism.privatize_many(symbols, offsets, bits)
    assert out.dtype == np.int32 and out.shape == symbols.shape
    states = mechanism.chain.states
    return [[states[i] for i in out[a:b].tolist()]
            for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def per_symbol(epsilon, adjacency):
    """Return ε/k, the smaller of both readings of the float ε: as a decimal, as a binary."""
    return min(Fraction(str(epsilon)), Fraction(*epsilon.as_integer_ratio())) / adjacency


def exp_bounds(exponent, digits=80):
    """
    Return rational numbers (lower, upper) around e^exponent, 10^(1-digits) of it apart.

    `decimal` rounds exp correctly, half to even, so its neighbours are bounds; so is 1 + exponent
    from below.
    """
    if exponent == 0:
        return Fraction(1), Fraction(1)
    bounds = []
    for rounding, step in ((ROUND_FLOOR, Decimal.next_minus), (ROUND_CEILING, Decimal.next_plus)):
        context = Context(prec=digits, rounding=rounding)
        quotient = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        bounds.append(Fraction(step(context.exp(quotient), context)))
    return max(bounds[0], 1 + exponent), bounds[1]


def feasible_words(chain, length, start=None):
    """Yield every word of this length that can be walked from the start, as a tuple."""
    if length == 0:
        yield ()
        return
    for state in chain.successors(chain.initial_state if start is None else start):
        for rest in feasible_words(chain, length - 1, state):
            yield (state, *rest)


def probability(mechanism, word, output):
    """Return P[output | word] of an online mechanism, row by row."""
    online, chance = mechanism.another(), Fraction(1)
    for symbol, o in zip(word, output, strict=False):
        chance *= online.exact_current_distribution(symbol).get(o, 0)
        if not chance:
            break
        online.advance(o)
    return chance


class Scripted:
    """A `random` from which the mechanism takes exactly the integers given, in order."""

    def __init__(self, integers, width):
        self._left = list(integers)
        self._bits, self._shift = {30: (32, 2), 60: (64, 4)}[width]
        self.calls = 0

    def getrandbits(self, bits):
        self.calls += 1
        assert self._left, 'more integers were drawn than the test gives'
        size = bits // self._bits
        part, self._left = self._left[:size], self._left[size:]
        part += [0] * (size - len(part))
        return int.from_bytes(b''.join((value << self._shift).to_bytes(self._bits // 8, 'little')
                                       for value in reversed(part)), 'little')


def replayable_random():
    """Return a generator whose seed is printed, and taken from SYMDP_TEST_SEED where set."""
    seed = int(os.environ.get('SYMDP_TEST_SEED') or secrets.randbits(32))
    print(f'replay with SYMDP_TEST_SEED={seed}')
    return Random(seed)
