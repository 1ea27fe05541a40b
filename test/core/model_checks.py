# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of models share: chains, and the law of words by its definition."""
from fractions import Fraction

from offline_checks import distance
from strategies import CHAINS, feasible_words, FOUR
from symdp_ros import Chain

FAR = 1e-9  # a probability far from uniform
#: One-way moves, a period, an absorbing state, one that is never reached, and rare moves.
CHAINS_WITH_P = {
    'habit': Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': {'a': 0.05, 'b': 0.15, 'c': 0.8},
                    'c': {'a': 1.0}}, 'a'),
    'rare': Chain({'a': {'a': 1 - FAR, 'b': FAR}, 'b': {'b': FAR, 'a': 1 - 2 * FAR, 'c': FAR},
                   'c': {'c': 1.0}}, 'a'),
    'absorbing': Chain({'a': {'b': 0.99, 'c': 0.01}, 'b': ['b'], 'c': {'c': 0.5, 'b': 0.5},
                        'never': {'a': 0.3, 'b': 0.7}}, 'a'),
    'period': Chain({'a': {'b': 0.97, 'c': 0.03}, 'b': {'a': 0.2, 'd': 0.8}, 'c': ['a', 'd'],
                     'd': {'b': 0.001, 'c': 0.999}}, 'a'),
    'everything': Chain({'a': {'a': 0.97, 'b': 0.03}, 'b': {'b': 0.97, 'a': 0.03}}, 'a'),
    'four': FOUR, 'split': CHAINS['split'], 'alphabet': Chain.complete(list('abc'), 'b'),
    'alphabet that stays': Chain.complete(list('ab'), 'a', 0.96)}


def measure(chain, models, output):
    """Return h of a word, of the floats that are used: the sum over all sequences of models."""
    keep, switch = Fraction(models.keep), [Fraction(p) for p in models.switch.tolist()]
    model, total = [Fraction(q) for q in models.prior.tolist()], Fraction(1)
    for before, after in zip((chain.initial_state, *output), output, strict=False):
        edge = int(before == after)
        if chain.stores_edges:
            offsets, targets = chain.csr()
            first, last = offsets[chain.state_index[before]:][:2]
            edge = first + targets[first:last].tolist().index(chain.state_index[after])
        moved = [p * Fraction(w) for p, w in zip(model, models.weights[:, edge].tolist())]
        total = sum(moved)
        model = [keep * p + s * total for p, s in zip(moved, switch)]
    return total


def exact_law(chain, weights, ratio, word):
    """Return P[o] ∝ h(o)·R^matches, by enumeration."""
    chances = {o: measure(chain, weights, o) * ratio**(len(word) - distance(word, o))
               for o in feasible_words(chain, len(word))}
    return {o: p / sum(chances.values()) for o, p in chances.items()}
