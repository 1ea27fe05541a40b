# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the offline mechanisms share."""
from functools import cache
from itertools import product

import numpy as np
from p_values import binomial_p, chi_square_p
from strategies import exp_bounds, feasible_words, per_symbol
from symdp_ros import Chain

ALPHA = 1e-6
#: What `compared` says of two words that one output tells apart too well.
EXCESS = 'more than e to the jε/k'
#: What `assert_drawn` says of draws from another law.
OTHER_LAW = 'by chance once in two million times'


@cache
def large_grid(side):
    """Return the chain of a square grid with staying, quickly."""
    def around(x, y):
        return [f'{a},{b}' for a, b in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
                if 0 <= a < side and 0 <= b < side]

    return Chain({f'{x},{y}': around(x, y) for x in range(side) for y in range(side)}, '0,0')


def distance(word, output):
    """Return the Hamming distance."""
    return sum(a != b for a, b in zip(word, output, strict=True))


def all_words(chain, length):
    """Yield every sensitive word: feasible or not, unknown symbols included."""
    return product((*chain.states, None), repeat=length)


def as_drawn(law, chain, word):
    """Return the chance with which each output is drawn, exactly."""
    outputs = [*feasible_words(chain, len(word))]
    return dict(zip(outputs, law.exact_probabilities(word, outputs), strict=True))


def assert_private(chain, length, epsilon, adjacency, law):
    """
    Check every adjacent pair of words and every output against e^ε, exactly.

    :param law: word → {output: Fraction}; all of the same outputs, no probability zero.
    """
    words = [*all_words(chain, length)]
    assert compared(words, [law(word) for word in words], epsilon, adjacency)


def compared(words, laws, epsilon, adjacency):
    """
    Compare all pairs of words that differ in j ≤ k symbols with e^{jε/k}; return how many.

    Fractions are compared where floats, exact to 10⁻¹⁵, come within 10⁻⁹ of the limit.

    :param laws: of each word {output: Fraction}; all of the same outputs, no probability zero.
    """
    outputs = list(laws[0])
    for chances in laws:
        assert min(chances.values()) > 0 and sum(chances.values()) == 1
        assert chances.keys() == laws[0].keys()
    numbers = {symbol: i for i, symbol in enumerate({s for word in words for s in word})}
    spelt = np.array([[numbers[s] for s in word] for word in words])
    floats = np.array([[float(chances[o]) for o in outputs] for chances in laws])
    pairs, looked_at = 0, set()
    for j in range(1, min(adjacency, spelt.shape[1]) + 1):
        limit, _ = exp_bounds(j * per_symbol(epsilon, adjacency))
        surely = float(min(limit, 10**300)) * (1 - 1e-9)
        for one, word in enumerate(spelt):
            others = np.flatnonzero((spelt != word).sum(axis=1) == j)
            pairs += len(others)
            least = floats[others]
            doubtful = (floats[one] > surely * least) | (least <= 1e-290)
            for other, output in zip(*np.nonzero(doubtful)):
                first = laws[one][outputs[output]]
                second = laws[others[other]][outputs[output]]
                if (j, first, second) not in looked_at:
                    assert first <= limit * second, EXCESS
                    looked_at.add((j, first, second))
    return pairs


def assert_drawn(counts, expected, n):
    """
    Test counts against probabilities, with a false-alarm rate of 1e-6 at most.

    By a chi-square test, and half of the rate each; what is expected less than 25 times is one
    number, which is binomial: the chi-square law does not hold for it.
    """
    assert set(counts) <= {o for o, p in expected.items() if p}
    rare = [o for o, p in expected.items() if n * p < 25]
    share = min(1.0, sum(float(expected[o]) for o in rare))
    assert binomial_p(sum(counts[o] for o in rare), n, share) > ALPHA / 2
    observed = [counts[o] for o in expected if o not in rare]
    chances = [float(expected[o]) for o in expected if o not in rare]
    if len(observed) < 2:
        return
    p = chi_square_p(observed, [c / sum(chances) * sum(observed) for c in chances])
    print(f'n = {n}, {len(observed)} cells, p = {p}')
    assert p > ALPHA / 2, OTHER_LAW
