# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Many words of the exponential mechanism at once: the same bits give the same words as one by one.

Also where a draw needs more than 53 bits, where weights leave the range of a float, and in loops
in C that are handed wrong arrays.
"""
from random import Random

import numpy as np
from offline_checks import large_grid
import pytest
from strategies import CHAINS, feasible_words, flat, FOUR, Given, grid, privatized, sharp, thorough
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core.offline import passes
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes
from symdp_ros.core.online import in_c, online_batch
from symdp_ros.core.online import targets
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.core.word_arrays import WordBits


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
