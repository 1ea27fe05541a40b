"""
What a mechanism's outputs have in common with the word that they stand for.

d is the Hamming distance d(w, o): the number of errors. An unknown symbol (None) counts as an
error always. Everything is exact up to rounding:

| mechanism                 | mean, variance                    | each position | longest word   |
|---------------------------|-----------------------------------|---------------|----------------|
| online, causal (all three | forward, O(n·|E|)                 | yes           | any            |
| policies)                 |                                   |               |                |
| exponential               | backward and forward, O(n·|E|)    | yes           | any            |
| permute-and-flip          | distance distribution, O(n²·|E|)  | no            | n²·|E| ≤ 10¹⁰  |

**Forward.** Given the word, the outputs of all but permute-and-flip are a Markov chain. With
δ_t = [o_t ≠ w_t] − P[o_t ≠ w_t] and D_t = δ_1 + … + δ_t, the three moments E[D_t^j; o_t = s],
j = 0, 1, 2, of each state s go on with o_t; then E[d] = Σ P[o_t ≠ w_t] and Var[d] = E[D_n²]. (As D
is centred at each position, nothing cancels in long words.)

**Backward.** The exponential mechanism moves from o_{t−1} to o_t with a probability proportional
to b_t(o_t)·V_t(o_t) (`core.offline.backward`). Here V is kept by its logarithm.

All of these results for a given word are as sensitive as the word.
"""
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from math import ceil, inf, log, sqrt
from numbers import Integral
from random import Random

import numpy as np

from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import ConfigurationError, UnknownSymbolError
from symdp_ros.core.offline import MOST_COUNTING_STEPS, OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

WALKS = 100

_TOGETHER = 2**20         # edges·words that are looked at together,
_KEPT = 2**24             # and states·words·2√n
_COUNTING_STEPS = 10**10  # n²·|E|·walks that `best_mechanism` spends on permute-and-flip
_LEAST_WALKS = 2


@dataclass(frozen=True)
class Accuracy:
    """The errors of the releases of one word."""

    mean: float                      # E[d]
    variance: float                  # Var[d]
    per_position: np.ndarray | None  # P[o_t ≠ w_t], shape (n,); None: permute-and-flip


@dataclass(frozen=True)
class ExpectedAccuracy:
    """Errors per symbol, averaged over walks."""

    error: float           # E[d]/n, the mean over the walks
    standard_error: float  # of that mean
    walks: int


def accuracy(mechanism: OnlineMechanism | OfflineMechanism, word: Sequence[str | None]) -> Accuracy:
    """
    Return mean and variance of d(w, o), and the chance of an error at each position.

    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: permute-and-flip, where n²·|E| > 10¹⁰.
    """
    word = list(word)
    if _counts(mechanism):
        chances = mechanism.distance_distribution(word)
        distances = np.arange(len(chances))
        mean = float(chances @ distances)
        return Accuracy(mean, float(chances @ (distances - mean)**2), None)
    errors, variances = _errors(mechanism, [word])
    return Accuracy(float(errors[:, 0].sum()), float(variances[0]), errors[:, 0])


def expected_errors(mechanism: OnlineMechanism | OfflineMechanism,
                    word: Sequence[str | None]) -> np.ndarray:
    """
    Return `accuracy(mechanism, word).per_position`.

    :raises UnknownSymbolError: a symbol is no state.
    """
    return accuracy(mechanism, word).per_position


def expected_accuracy(mechanism: OnlineMechanism | OfflineMechanism, length: int, *,
                      walks: int = WALKS) -> ExpectedAccuracy:
    """
    Return the expected error per symbol before any word is known: averaged over `patrols`.

    Exact for each walk; all mechanisms of the same chain, ε and k meet the same walks.

    :param length: n ≥ 1.
    :param walks: ≥ 2.
    :raises ConfigurationError: `length` or `walks` out of range; permute-and-flip, where
        n²·|E| > 10¹⁰.
    """
    words = patrols(mechanism.chain, mechanism.privacy, length, walks)
    if walks < _LEAST_WALKS:
        raise ConfigurationError(f'walks must be an integer of at least {_LEAST_WALKS}, '
                                 f'not {walks!r}')
    if _counts(mechanism):
        means = np.array([accuracy(mechanism, word).mean for word in words])
    else:
        means = np.concatenate([_errors(mechanism, some)[0].sum(axis=0)
                                for some in _parts(words, mechanism.chain, length)])
    each = means / length
    return ExpectedAccuracy(float(each.mean()), float(each.std(ddof=1) / sqrt(walks)), walks)


def patrols(chain: Chain, privacy: Privacy, length: int, walks: int) -> list[list[str]]:
    """
    Return walks from s_0 by the chain's P (uniform moves where it is not known).

    Drawn from a seed that is a hash of chain, ε, k and n: the same every time and everywhere; with
    more walks, the first ones stay the same.

    :param length: n ≥ 1, symbols after s_0.
    :param walks: ≥ 1.
    :raises ConfigurationError: `length` or `walks` out of range.
    """
    for name, value in (('length', length), ('walks', walks)):
        if isinstance(value, bool) or not isinstance(value, Integral) or not value >= 1:
            raise ConfigurationError(f'{name} must be an integer of at least 1, not {value!r}')
    text = repr((chain.digest(), privacy.epsilon, privacy.adjacency, int(length)))
    draw = Random(int.from_bytes(sha256(text.encode()).digest(), 'big')).random

    @lru_cache(maxsize=100_000)
    def row(state):
        chances = chain.probabilities(state)
        return tuple(chances), [*accumulate(chances.values())]

    result = []
    for _ in range(walks):
        state, word = chain.initial_state, []
        for _ in range(length):
            successors, sums = row(state)
            state = successors[min(bisect_right(sums, draw() * sums[-1]), len(sums) - 1)]
            word.append(state)
        result.append(word)
    return result


def best_mechanism(chain: Chain, privacy: Privacy, length: int, *, policy: str = 'guided',
                   walks: int = WALKS, counting: bool = True) -> str:
    """
    Return the selection of the offline mechanism that is expected to err least.

    From chain, ε, k and n alone, so the choice tells nothing of a word: the least
    `expected_accuracy`, at equal ones the first of 'exponential', 'causal', 'permute_and_flip'.
    Permute-and-flip is left out where it is refused, and meets fewer walks where counting is long
    (n²·|E|·walks ≤ 10¹⁰, but at least 2), the same ones as the best of the others then.

    :param policy: of causal release.
    :param counting: whether permute-and-flip, which counts words, may be chosen.
    :raises ConfigurationError: unknown policy; `length` or `walks` out of range.
    """
    made = {selection: OfflineMechanism(chain, privacy, selection=selection, policy=policy)
            for selection in ('exponential', 'causal', 'permute_and_flip')}
    by_counting = made.pop('permute_and_flip')
    found = {name: expected_accuracy(mechanism, length, walks=walks).error
             for name, mechanism in made.items()}
    best = min(found, key=found.get)
    steps = length**2 * chain.edge_count
    if not counting or steps > MOST_COUNTING_STEPS:
        return best
    few = min(walks, max(_LEAST_WALKS, _COUNTING_STEPS // steps))
    least = expected_accuracy(made[best], length, walks=few).error
    counted = expected_accuracy(by_counting, length, walks=few).error
    return 'permute_and_flip' if counted < least * (1 - 1e-9) else best


def _counts(mechanism):
    return getattr(mechanism, 'selection', None) == 'permute_and_flip'


def _parts(words, chain, length):
    edges = len(chain) if chain.is_complete else chain.edge_count
    size = max(1, min(_TOGETHER // edges, int(_KEPT / (len(chain) * 2 * sqrt(length)))))
    return [words[i:i + size] for i in range(0, len(words), size)]


def _errors(mechanism, words):
    """
    Return the errors of words of one length n, all but permute-and-flip's.

    :return: P[o_t ≠ w_t], shape (n, words); Var[d], shape (words,).
    """
    chain = mechanism.chain
    index = {**chain.state_index, None: len(chain)}
    try:
        columns = np.array([[index[symbol] for symbol in word] for word in words], np.int64).T
    except KeyError:
        raise UnknownSymbolError from None
    online = mechanism if isinstance(mechanism, OnlineMechanism) else mechanism.online
    if chain.is_complete:
        # The distribution does not depend on the previous symbol.
        match = online.distribution(chain.initial_state, chain.initial_state)[chain.initial_state]
        errors = np.where(columns == len(chain), 1.0, 1 - match)
        return errors, (errors * (1 - errors)).sum(axis=0)
    if online is not None:
        moves = _online_moves(online, columns)
    else:
        moves = _exponential_moves(chain, columns, log(mechanism.ratio(len(columns))))
    return _forward(chain, columns, moves)


def _forward(chain, columns, moves):
    """
    Carry the moments forward (see the module); return as `_errors`.

    :param moves: for each position a function that moves (states, words) one symbol on.
    """
    n, count = len(chain), columns.shape[1]
    words = np.arange(count)
    moments = np.zeros((3, n + 1, count))  # the last state is nobody: the unknown symbol's
    moments[0, chain.state_index[chain.initial_state]] = 1
    errors = np.empty(columns.shape)
    for t, move in enumerate(moves):
        for moment in moments:
            moment[:n] = move(moment[:n])
        mass, first, second = moments
        errors[t] = error = np.clip(1 - mass[columns[t], words], 0, 1)
        change = np.broadcast_to(1 - error, mass.shape).copy()
        change[columns[t], words] = -error
        second += change * (2 * first + change * mass)
        first += change * mass
    return errors, np.maximum(moments[2].sum(axis=0), 0)


def _online_moves(online, columns):
    """Yield the moves of an online mechanism."""
    from scipy.sparse import csr_array

    chain = online.chain
    n, count = len(chain), columns.shape[1]
    offsets, successors = chain.csr()
    moves = csr_array((np.ones(len(successors)), successors, offsets), shape=(n, n)).T.tocsr()
    uniform = (1 / np.diff(offsets))[:, None]
    others, gain = (weights[:, None] for weights in online.weights())
    labels = (*chain.states, None)
    words = np.arange(count)

    @lru_cache(maxsize=max(1, 2**22 // n))
    def targets(column):
        return online.target_positions(labels[column])

    for row in columns:
        aims = np.stack([targets(column) for column in row.tolist()], axis=1)
        aimed = aims >= 0
        each = np.where(aimed, others, uniform)
        more = np.where(aimed, gain, 0.0)
        places = (np.where(aimed, aims, 0) * count + words).ravel()

        def move(mass, each=each, more=more, places=places):
            onto = np.bincount(places, (more * mass).ravel(), n * count).reshape(n, count)
            return moves @ (each * mass) + onto

        yield move


def _exponential_moves(chain, columns, log_ratio):
    """
    Yield the moves of the exponential mechanism.

    ln V at every √n-th position is kept, those between are computed again.
    """
    from scipy.sparse import csr_array

    n, (length, count) = len(chain), columns.shape
    offsets, successors = chain.csr()
    starts, degrees = offsets[:-1], np.diff(offsets)
    onto = csr_array((np.ones(len(successors)), (successors, np.arange(len(successors)))),
                     shape=(n, len(successors)))
    words = np.arange(count)

    def weighed(after, t):
        """Return ln b_t(s')V_t(s') for each edge less the largest of its row, and that."""
        weights = np.append(after, np.full((1, count), -inf), axis=0)
        weights[columns[t], words] += log_ratio
        weights = weights[successors]
        largest = np.maximum.reduceat(weights, starts)
        return np.exp(weights - np.repeat(largest, degrees, axis=0)), largest

    def back(after, t):
        weights, largest = weighed(after, t)
        before = largest + np.log(np.add.reduceat(weights, starts))
        return before - before.max(axis=0)

    spacing = max(1, ceil(sqrt(length)))
    kept = {}
    values = np.zeros((n, count))
    for t in range(length - 1, -1, -1):
        if t % spacing == spacing - 1 or t == length - 1:
            kept[t] = values  # ln V after position t, from 0
        values = back(values, t)
    for begin in range(0, length, spacing):
        end = min(begin + spacing, length)
        after = [kept.pop(end - 1)]
        for t in range(end - 1, begin, -1):
            after.append(back(after[-1], t))
        for t in range(begin, end):
            chances, _ = weighed(after.pop(), t)
            chances /= np.repeat(np.add.reduceat(chances, starts), degrees, axis=0)

            def move(mass, chances=chances):
                return onto @ (chances * np.repeat(mass, degrees, axis=0))

            yield move
