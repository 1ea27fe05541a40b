# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How far a mechanism's outputs are from the word.

d is the Hamming distance d(w, o): the number of errors. An unknown symbol (None) counts as an
error always. Everything is exact up to rounding:

| mechanism                 | mean, variance                    | each position | longest word   |
|---------------------------|-----------------------------------|---------------|----------------|
| online, causal            | forward, O(n·|E|)                 | yes           | any            |
| 'adaptive'                | simulated, standard error         | simulated     | any            |
| exponential               | backward and forward, O(n·|E|)    | yes           | any            |

Forward: `core.online.moments`. Backward: `core.offline.exponential`. Each mechanism computes its
errors itself (`core.law.Law`).

All of these results for a given word are as sensitive as the word.
"""
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, pairwise
from math import sqrt
from random import Random
from typing import TypeVar

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism
from symdp_ros.core.models import MAP, UNIFORM
from symdp_ros.errors import ConfigurationError, UnknownSymbolError
from symdp_ros.settings import is_whole

_Word = TypeVar('_Word', bound=Word)

WALKS = 100

_TOGETHER = 2**17         # edges·words that are looked at together (more leave the caches),
_KEPT = 2**24             # and states·words·2√n
_LEAST_WALKS = 2
_SIMULATED, _MOST_DRAWS = 20_000, 400  # symbols in all, and outputs of a word
_SIMULATED_STEPS = 2 * 10**7           # symbols·edges


@dataclass(frozen=True)
class Accuracy:
    """The errors of the releases of one word."""

    mean: float                      # E[d]
    variance: float                  # Var[d]
    per_position: Floats = field(repr=False)  # P[o_t ≠ w_t], shape (n,)
    standard_error: float = 0.0  # of the mean; 0: exact


@dataclass(frozen=True)
class ExpectedAccuracy:
    """Errors per symbol, averaged over walks."""

    error: float           # E[d]/n, the mean over the walks
    standard_error: float  # of that mean
    walks: int


def accuracy(mechanism: Mechanism, word: Sequence[str | None]) -> Accuracy:
    """
    Return mean and variance of d(w, o), and the chance of an error at each position.

    :raises UnknownSymbolError: a symbol is no state.
    """
    word = list(word)
    if mechanism.law.is_simulated:
        [missed] = _simulated(mechanism, [word])
        distances = missed.sum(axis=1)
        variance = float(distances.var(ddof=1))
        return Accuracy(float(distances.mean()), variance, missed.mean(axis=0),
                        sqrt(variance / len(distances)))
    errors, variances = _errors(mechanism, [word])
    assert variances is not None  # they are wanted
    return Accuracy(float(errors[:, 0].sum()), float(variances[0]), errors[:, 0])


def expected_accuracy(mechanism: Mechanism, length: int, *,
                      walks: int = WALKS) -> ExpectedAccuracy:
    """
    Return the expected error per symbol before any word is known: averaged over `patrols`.

    Exact for each walk (simulated for the policy 'adaptive'); the walks are the
    same for all mechanisms of a chain, at every ε and k.

    :param length: n ≥ 1.
    :param walks: ≥ 2.
    :raises ConfigurationError: `length` or `walks` out of range.
    """
    return average_accuracy(mechanism, patrols(mechanism.chain, length, walks))


def average_accuracy(mechanism: Mechanism,
                     words: Sequence[Sequence[str | None]]) -> ExpectedAccuracy:
    """
    Return the expected error per symbol, averaged over words of one length.

    :param words: at least 2.
    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: as `check_walks`.
    """
    return averaged(errors_of_words(mechanism, check_walks(words)))


def errors_of_words(mechanism: Mechanism, words: Sequence[Sequence[str | None]], *,
                    draws: int | None = None) -> Floats:
    """
    Return the expected error per symbol of words of one length: shape (words,).

    :param draws: of each word, where errors are simulated; None: as many as take about a second.
    :raises UnknownSymbolError: a symbol is no state.
    """
    length = len(words[0])
    if mechanism.law.is_simulated:
        missed = _simulated(mechanism, words, draws)
        return np.array([each.sum() / len(each) for each in missed]) / length
    return np.concatenate([_errors(mechanism, some, variances=False)[0].mean(axis=0)
                           for some in _parts(words, mechanism.chain, length)])


def errors_of_robots(mechanism: Mechanism, words: Sequence[Sequence[Word]], *,
                     draws: int = 1) -> list[Floats]:
    """
    Return the expected errors per symbol of several robots' words of one length, in short time.

    :param words: of each robot, at least one.
    :param draws: of each word, where errors are simulated.
    :return: for each robot, shape (words,).
    :raises UnknownSymbolError: a symbol is no state.
    """
    every = [word for walked in words for word in walked]
    ends = np.cumsum([*map(len, words)])[:-1]
    return np.split(errors_of_words(mechanism, every, draws=draws), ends)


def averaged(errors: Floats) -> ExpectedAccuracy:
    """Return the mean of the errors of at least 2 words, with its standard error."""
    walks = len(errors)
    return ExpectedAccuracy(float(errors.mean()), float(errors.std(ddof=1) / sqrt(walks)), walks)


def check_walks(words: Sequence[_Word]) -> Sequence[_Word]:
    """
    Return what is to be averaged over, with a standard error.

    :raises ConfigurationError: fewer than 2 words, or words of several lengths or of none.
    """
    if len(words) < _LEAST_WALKS:
        raise ConfigurationError(f'walks must be an integer of at least {_LEAST_WALKS}, '
                                 f'not {len(words)!r}', setting='walks')
    if len({*map(len, words)}) > 1 or not len(words[0]):
        raise ConfigurationError('errors per symbol are averaged over words of one length, at '
                                 'least 1: give such words', setting='length')
    return words


def mean_stay(words: Sequence[Word]) -> float:
    """Return how many symbols in a row name one state, averaged over all stays in some words."""
    stays = sum(1 + sum(a != b for a, b in pairwise(word)) for word in words)
    return sum(map(len, words)) / stays


def patrols(chain: Chain, length: int, walks: int) -> list[list[str]]:
    """
    Return walks from s_0 by the chain's P (uniform moves where it is not known).

    Drawn from a seed that is a hash of chain and n: the same every time and everywhere, for every
    ε and k; with more walks, the first ones stay the same.

    :param length: n ≥ 1, symbols after s_0.
    :param walks: ≥ 1.
    :raises ConfigurationError: `length` or `walks` out of range.
    """
    for name, value in (('length', length), ('walks', walks)):
        if not is_whole(value, 1):
            raise ConfigurationError(f'{name} must be an integer of at least 1, not {value!r}',
                                     setting=name)
    text = repr((chain.digest(), int(length)))
    draw = Random(int.from_bytes(sha256(text.encode()).digest(), 'big')).random

    @lru_cache(maxsize=100_000)
    def row(state: str) -> tuple[tuple[str, ...], list[float]]:
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


def robots(chain: Chain, trust: float) -> dict[str, Chain]:
    """
    Return the public models of how a robot may move (`core.models`), by name: chains with that P.

    They have the states of the chain, and of its moves those that the model makes.

    :param trust: as of `Chain.models`.
    """
    models = chain.models(trust)
    own = MAP if chain.names_probabilities else UNIFORM
    if not chain.stores_edges:
        return {name: chain if name == own else Chain.complete(
            chain.states, chain.initial_state, min(1.0, float(stays)))
            for name, (_, stays) in zip(models.names, models.weights, strict=True)}
    return {name: chain if name == own or len(models) == 1 else walking_by(chain, weights)
            for name, weights in zip(models.names, models.weights.astype(np.float64),
                                     strict=True)}


def walking_by(chain: Chain, weights: Floats) -> Chain:
    """
    Return the chain with other probabilities of its moves, without those that are 0.

    :param weights: of the moves in the order of `Chain.csr`: shape (edges,), ≥ 0; rows of any sum.
    """
    offsets, targets = chain.csr()
    states, rows = chain.states, {}
    for state, (first, last) in zip(states, pairwise(offsets.tolist()), strict=True):
        chances = weights[first:last] / weights[first:last].sum()
        rows[state] = {states[i]: chance for i, chance in zip(
            targets[first:last].tolist(), chances.tolist(), strict=True) if chance > 0}
    return Chain(rows, chain.initial_state)


def _parts(words: Sequence[Word], chain: Chain, length: int) -> list[Sequence[Word]]:
    edges = chain.edge_count if chain.stores_edges else len(chain)
    size = max(1, min(_TOGETHER // edges, int(_KEPT / (len(chain) * 2 * sqrt(length)))))
    return [words[i:i + size] for i in range(0, len(words), size)]


def _simulated(mechanism: Mechanism, words: Sequence[Word],
               draws: int | None = None) -> Booleans:
    """Return where private words differ from each word: (words, draws, n). The seed is fixed."""
    if draws is None:
        symbols_in_all = min(_SIMULATED, _SIMULATED_STEPS // mechanism.chain.edge_count)
        each = symbols_in_all // max(1, sum(map(len, words)))
        draws = max(2, min(each, _MOST_DRAWS))
    symbols = np.repeat(_positions(mechanism.chain, words), draws, axis=0)
    offsets = np.arange(len(symbols) + 1) * symbols.shape[1]
    outputs = mechanism.law.simulated(symbols.astype(np.int32).ravel(), offsets, Random(draws))
    missed: Booleans = outputs.reshape(symbols.shape) != symbols
    return missed.reshape(len(words), draws, symbols.shape[1])


def _positions(chain: Chain, words: Sequence[Word]) -> Ints:
    """Return words of one length as positions of states, −1: unknown; shape (words, n)."""
    index: dict[str | None, int] = {None: -1}
    index.update(chain.state_index)
    try:
        return np.array([[index[symbol] for symbol in word] for word in words], np.int64)
    except KeyError:
        raise UnknownSymbolError from None


def _errors(mechanism: Mechanism, words: Sequence[Word],
            variances: bool = True) -> tuple[Floats, Floats | None]:
    """Return the errors of words of one length, as `core.law.Law.errors`."""
    columns = _positions(mechanism.chain, words).T
    columns[columns < 0] = len(mechanism.chain)
    errors = mechanism.law.errors(columns, variances)
    assert errors is not None  # they are not simulated
    return errors
