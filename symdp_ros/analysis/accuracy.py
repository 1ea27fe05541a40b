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
| permute-and-flip          | distance distribution, O(n²·|E|), | no            | n²·|E| ≤ 10¹⁰, |
|                           | on an alphabet O(n); where very   | where very    | any            |
|                           | many words count, as exponential  | many words do |                |

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
from numbers import Integral
from random import Random

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism
from symdp_ros.core.models import MAP, UNIFORM
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.errors import ConfigurationError, UnknownSymbolError

WALKS = 100

_TOGETHER = 2**17         # edges·words that are looked at together (more leave the caches),
_KEPT = 2**24             # and states·words·2√n
_LEAST_WALKS = 2
_LEAST_LUCKY = 30         # words over which slopes are fitted,
_LUCKY_PARTS = 0, 1, 2, 4, 8, 16  # one for the luck of the symbols from each of these to the next
COUNTED = 8  # words of a mechanism that counts words, in about
_SIMULATED, _MOST_DRAWS = 20_000, 400  # symbols in all, and outputs of a word
_SIMULATED_STEPS = 2 * 10**7           # symbols·edges


@dataclass(frozen=True)
class Accuracy:
    """The errors of the releases of one word."""

    mean: float                      # E[d]
    variance: float                  # Var[d]
    per_position: Floats | None = field(repr=False)  # P[o_t ≠ w_t], shape (n,); None: unknown
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
    :raises ConfigurationError: permute-and-flip, where n²·|E| > 10¹⁰.
    """
    word = list(word)
    found = _errors(mechanism, [word])
    if mechanism.law.is_simulated:
        [missed] = _simulated(mechanism, [word])[0]
        distances = missed.sum(axis=1)
        variance = float(distances.var(ddof=1))
        return Accuracy(float(distances.mean()), variance, missed.mean(axis=0),
                        sqrt(variance / len(distances)))
    if found is None:
        return _by_distances(mechanism, word)
    errors, variances = found
    assert variances is not None  # they are wanted
    return Accuracy(float(errors[:, 0].sum()), float(variances[0]), errors[:, 0])


def expected_errors(mechanism: Mechanism,
                    word: Sequence[str | None]) -> Floats | None:
    """
    Return `accuracy(mechanism, word).per_position`.

    :raises UnknownSymbolError: a symbol is no state.
    """
    return accuracy(mechanism, word).per_position


def expected_accuracy(mechanism: Mechanism, length: int, *,
                      walks: int = WALKS) -> ExpectedAccuracy:
    """
    Return the expected error per symbol before any word is known: averaged over `patrols`.

    Exact for each walk (simulated for the policy 'adaptive'); the walks are the
    same for all mechanisms of a chain, at every ε and k.

    :param length: n ≥ 1.
    :param walks: ≥ 2.
    :raises ConfigurationError: `length` or `walks` out of range; permute-and-flip, where
        n²·|E| > 10¹⁰.
    """
    return average_accuracy(mechanism, patrols(mechanism.chain, length, walks))


def average_accuracy(mechanism: Mechanism,
                     words: Sequence[Sequence[str | None]]) -> ExpectedAccuracy:
    """
    Return the expected error per symbol, averaged over words of one length.

    :param words: at least 2.
    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: too few words; permute-and-flip, where n²·|E| > 10¹⁰.
    """
    return averaged(errors_of_words(mechanism, check_walks(words)))


def errors_of_words(mechanism: Mechanism, words: Sequence[Sequence[str | None]], *,
                    draws: int | None = None) -> Floats:
    """
    Return the expected error per symbol of words of one length: shape (words,).

    :param draws: of each word, where errors are simulated; None: as many as take about a second.
    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: permute-and-flip, where n²·|E| > 10¹⁰.
    """
    length = len(words[0])
    if mechanism.law.is_simulated:
        missed, _ = _simulated(mechanism, words, draws)
        return np.array([each.sum() / len(each) for each in missed]) / length
    return np.concatenate([_means(mechanism, some)
                           for some in _parts(words, mechanism.chain, length)]) / length


def errors_of_robots(mechanism: Mechanism, words: Sequence[Sequence[Word]], *,
                     without_luck: bool = False) -> list[Floats]:
    """
    Return the expected errors per symbol of several robots' words of one length, in short time.

    Simulated errors are of one draw for each word. What counts words (permute-and-flip) is
    computed for the first words of each robot, about `COUNTED` in all. Of the others, it is taken
    to differ from the exponential mechanism with the base counting as much, on average.

    :param words: of each robot, at least one.
    :param without_luck: take from simulated errors what follows from how often signals happened to
        be true, early and late ones apart (control variates, by regression over the words of each
        robot, of which there must be 30: Owen, Monte Carlo theory, methods and examples, 2013,
        8.9). That is 0 on average, and about half of the variance; an error can then be below 0.
        What is left varies by as much more as the regression fits by chance.
    :return: for each robot, shape (words,).
    :raises UnknownSymbolError: a symbol is no state.
    :raises ConfigurationError: permute-and-flip, where n²·|E| > 10¹⁰.
    """
    every = [word for walked in words for word in walked]
    ends = np.cumsum([*map(len, words)])[:-1]
    if not mechanism.law.counting_steps(len(every[0])):
        if not (without_luck and mechanism.law.is_simulated):
            return np.split(errors_of_words(mechanism, every, draws=1), ends)
        missed, luck = _simulated(mechanism, every, draws=1)
        parts = [begin for begin in _LUCKY_PARTS if begin < luck.shape[2]]
        return [*map(_without_luck, np.split(missed.mean(axis=(1, 2)), ends),
                     np.split(np.add.reduceat(luck[:, 0], parts, axis=1), ends))]
    other = OfflineMechanism(mechanism.chain, mechanism.privacy, base='counting')
    found = np.split(errors_of_words(other, every), ends)
    for walked, errors in zip(words, found, strict=True):
        few = 1 + COUNTED * len(walked) // len(every)
        counted = errors_of_words(mechanism, walked[:few])
        errors += (counted - errors[:few]).mean()
        errors[:few] = counted
    return found


def _without_luck(errors: Floats, luck: Floats) -> Floats:
    """
    Take off what a regression over `luck`, shape (words, parts), or its sum explains.

    But not where the mean luck is farther from 0, which it is on average, than chance explains
    (Hotelling's T²): what is rare did not happen in these words, and they do not show its price.
    """
    words = len(errors)
    for parts in (luck, luck.sum(axis=1, keepdims=True)) if words >= _LEAST_LUCKY else ():
        mean = parts.mean(axis=0)
        slopes, _, rank, _ = np.linalg.lstsq(parts - mean, errors - errors.mean())
        far = words * float((np.linalg.lstsq((parts - mean).T, mean)[0]**2).sum())  # T²/(words−1)
        if rank and far * (words - 1) <= 4 * (int(rank) + 2):
            found: Floats = errors - parts @ slopes
            more = sqrt((1 + far) * (words - 1) / (words - 1 - int(rank)))
            return found.mean() + (found - found.mean()) * more
    return errors


def averaged(errors: Floats) -> ExpectedAccuracy:
    """Return the mean of the errors of at least 2 words, with its standard error."""
    walks = len(errors)
    return ExpectedAccuracy(float(errors.mean()), float(errors.std(ddof=1) / sqrt(walks)), walks)


def _by_distances(mechanism: Mechanism, word: Word) -> Accuracy:
    chances = mechanism.distance_distribution(word)
    distances = np.arange(len(chances))
    mean = float(chances @ distances)
    return Accuracy(mean, float(chances @ (distances - mean)**2), None)


def _means(mechanism: Mechanism, words: Sequence[Word]) -> Floats:
    """Return E[d] of words of one length: shape (words,)."""
    found = _errors(mechanism, words, variances=False)
    means: Floats = np.full(len(words), np.nan) if found is None else found[0].sum(axis=0)
    for i in np.flatnonzero(np.isnan(means)).tolist():
        means[i] = _by_distances(mechanism, words[i]).mean
    return means


def check_walks(words: Sequence[Word]) -> Sequence[Word]:
    """Return what is to be averaged over, with a standard error: at least 2 words."""
    if len(words) < _LEAST_WALKS:
        raise ConfigurationError(f'walks must be an integer of at least {_LEAST_WALKS}, '
                                 f'not {len(words)!r}', setting='walks')
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
        if isinstance(value, bool) or not isinstance(value, Integral) or not value >= 1:
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


def edges_of(chain: Chain) -> int:
    """Return how many edges a pass goes over: as many as states where none are stored."""
    return chain.edge_count if chain.stores_edges else len(chain)


def _parts(words: Sequence[Word], chain: Chain, length: int) -> list[Sequence[Word]]:
    size = max(1, min(_TOGETHER // edges_of(chain), int(_KEPT / (len(chain) * 2 * sqrt(length)))))
    return [words[i:i + size] for i in range(0, len(words), size)]


def _simulated(mechanism: Mechanism, words: Sequence[Word],
               draws: int | None = None) -> tuple[Booleans, Floats]:
    """
    Return where private words differ from each word, and how lucky its symbols were.

    Both of shape (words, draws, n). The seed is fixed.
    """
    if draws is None:
        symbols_in_all = min(_SIMULATED, _SIMULATED_STEPS // mechanism.chain.edge_count)
        each = symbols_in_all // max(1, sum(map(len, words)))
        draws = max(2, min(each, _MOST_DRAWS))
    symbols = np.repeat(_positions(mechanism.chain, words), draws, axis=0)
    offsets = np.arange(len(symbols) + 1) * symbols.shape[1]
    outputs, luck = mechanism.law.simulated(symbols.astype(np.int32).ravel(), offsets,
                                            Random(draws))
    shape = len(words), draws, symbols.shape[1]
    return (outputs.reshape(symbols.shape) != symbols).reshape(shape), luck.reshape(shape)


def _positions(chain: Chain, words: Sequence[Word]) -> Ints:
    """Return words of one length as positions of states, −1: unknown; shape (words, n)."""
    index: dict[str | None, int] = {None: -1}
    index.update(chain.state_index)
    try:
        return np.array([[index[symbol] for symbol in word] for word in words], np.int64)
    except KeyError:
        raise UnknownSymbolError from None


def _errors(mechanism: Mechanism, words: Sequence[Word],
            variances: bool = True) -> tuple[Floats, Floats | None] | None:
    """Return the errors of words of one length, as `core.law.Law.errors`."""
    columns = _positions(mechanism.chain, words).T
    columns[columns < 0] = len(mechanism.chain)
    return mechanism.law.errors(columns, variances)
