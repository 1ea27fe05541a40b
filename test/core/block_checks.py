# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of blocks share: chains where robots stay, some with zones, and words of them."""
from random import Random

from strategies import grid
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.core.online.adaptive import blocks as blocks_module
from symdp_ros.core.zones import Count, WAITING
from zone_checks import ONE_WAY, privacy_of

THREE = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.9, 'c': 0.05},
               'c': {'b': 0.1, 'c': 0.9}}, 'b')
STREET = Chain({'a': ['a', 'b'], 'b': ['a', 'b', 'c'], 'c': ['b', 'c']}, 'b')
ROW = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.9, 'c': 0.05},
             'c': {'b': 0.05, 'c': 0.9, 'd': 0.05}, 'd': {'c': 0.1, 'd': 0.9}}, 'b')
#: As ROW, but it stays longer.
SLOW = Chain({'a': {'a': 0.96, 'b': 0.04}, 'b': {'a': 0.02, 'b': 0.96, 'c': 0.02},
              'c': {'b': 0.02, 'c': 0.96, 'd': 0.02}, 'd': {'c': 0.04, 'd': 0.96}}, 'b')
#: It ends in c, or d, for ever; from d no moves lead to a founder.
ENDS = Chain({'a': {'a': 0.8, 'b': 0.2}, 'b': {'b': 0.8, 'c': 0.1, 'd': 0.1}, 'c': ['c'],
              'd': ['d']}, 'a')
MODES = Chain.complete(list('abc'), 'b', 0.9)
LONGEST = 'symdp_ros.core.online.adaptive.tables.LONGEST'  # 1: no blocks
COMPILED = blocks_module.loops is not None


def staying(plain, stays):
    """Return a chain where a robot stays so often, and else moves anywhere that it can."""
    return Chain({s: {t: stays if s == t else (1 - stays) / (len(plain.successors(s)) - 1)
                      for t in plain.successors(s)} for s in plain.states}, plain.initial_state)


def on_a_grid(stays=0.95):
    """Return a grid of 16 places where robots stay, and its four zones."""
    chain, zones = staying(grid(4), stays), {}
    for state in chain.states:
        x, y = map(int, state.split(','))
        zones.setdefault(f'{x // 2}{y // 2}', []).append(state)
    return chain, zones


def made(chain, zones=None, epsilon=1.0, adjacency=1, **options):
    """Return the policy adaptive, with zones or without."""
    privacy = Privacy(epsilon, adjacency) if zones is None else (
        privacy_of(zones, epsilon, adjacency))
    return OnlineMechanism(chain, privacy, policy='adaptive', **options)


#: Words that go on, live: chain, zones, reports for each symbol.
LIVE = {'three': (THREE, None, 1), 'street': (STREET, None, 1),
        'ticks': (THREE.every(2, 1), None, 1), 'modes': (MODES, None, 1),
        'zones': (ROW, {'A': 'abc', 'B': 'd'}, 1),
        'ticks, zones': (SLOW.every(2, 1), {'A': 'ab', 'B': 'cd'}, 1),
        'one-way': (ONE_WAY, {'A': 'ab', 'B': 'cd'}, 1),
        'two clocks': (SLOW, {'A': 'abc', 'B': 'd'}, 3),
        'grid': (*on_a_grid(), 1), 'grid, two clocks': (*on_a_grid(0.98), 2)}


def learning(chain):
    """Return the setting `learn` with which a word learns, where its moves can be learnt."""
    return 'none' if chain is MODES else 'own'


def lengths(signals):
    """Return how many symbols each block has."""
    return [sum(signal.counts) for signal in signals
            if isinstance(signal, Count) and signal != WAITING]


def some_word(chain, length, seed):
    """Return a word that stays, is carried, and is unknown now and then."""
    random, here, word = Random(seed), chain.initial_state, []
    for _ in range(length):
        if random.random() < 0.3:
            here = random.choice(chain.successors(here))
        if random.random() < 0.03:
            here = random.choice(chain.states)
        word.append(None if random.random() < 0.1 else here)
    return word


def walks(chain, count, length, seed):
    """Return words of a robot that moves as its chain says."""
    random, words = Random(seed), []
    for _ in range(count):
        here, word = chain.initial_state, []
        for _ in range(length):
            [here] = random.choices(*zip(*chain.probabilities(here).items()))
            word.append(here)
        words.append(word)
    return words
