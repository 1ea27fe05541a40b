# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A chain's probabilities, learned privately from a robot's own words.

Only moves that the public map allows are counted, and all of them are: no move betrays itself by
being there. An unknown symbol, or a move that is not on the map, counts nowhere. Two tables of
counts, each with noise and a share of ε of its own (their ε add up):

    stays      how often the robot stayed, and how often it moved on, where it had both choices
    moves      how often each move was made, staying included, from states with two or more

**Privacy.** A transition adds 1 to at most one cell of a table; one that changes takes 1 from a
cell and adds 1 to another at most. So where t transitions change, a table changes by at most 2t in
L1. (No two of the words may show the same moment.)

* Let the unit be k symbols, changed anywhere in all words together. One symbol is part of two
  transitions: t ≤ 2k, and the table changes by at most 4k.
* Let the unit be D seconds, with one symbol every T seconds and k = ⌊D/T⌋ + 1. Within a word the
  symbols of D seconds are at most k in a row, which are part of k + 1 transitions. Let D seconds
  touch m ≥ 2 words, one after another. They touch at most ⌊D/T⌋ + m symbols: n symbols of a word
  span n − 1 periods, and no two words overlap. i symbols at the end or the begin of a word are
  part of i transitions, all i symbols of a word of i − 1. So t ≤ ⌊D/T⌋ + m − (m − 2) = k + 1. The
  table changes by at most 2(k + 1).
* Let the unit be one log, whatever it holds and however long it is: its part of a table is scaled
  down to a total of at most `clip`, in whole thousandths, rounded down; exchanging it changes the
  table by at most 2·clip. Nothing else may depend on the logs' lengths, nor may the noise.

Noise that keeps a share of ε for such a distance is drawn in integers
(`core.draws.discrete_laplace`). What follows is computed from the noisy tables and public data
alone.

**Estimates** go from coarse to fine. A finer table is trusted as far as its spread exceeds what
its noise and its sampling explain (James–Stein, with known variances): on few data the result is
the coarser model, and moves as the map has them.
"""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from random import SystemRandom

import numpy as np
from symdp_ros.analysis.accuracy import walking_by
from symdp_ros.core.annotations import Booleans, Floats, Ints as Integers, RandomBits, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.discrete_laplace import discrete_laplace_deviation, draw_discrete_laplace
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ChainError, ConfigurationError
from symdp_ros.settings import is_whole

_THOUSANDTHS = 1000  # of a transition: what a scaled log is counted in
_LEAST_SHARE, _MOST_SHARE = Fraction(1, 20), Fraction(1, 2)  # of ε, for `stays`
_WANTED = 10         # noise of `stays`, with that share: about an eighth of all transitions
_HABITS, _MANY = (0.7, 0.8, 0.9, 0.95), (0.001, 0.3, 0.6, 0.9)
_LARGEST = 2**62     # noise beyond it, at a very small ε, is cut
_SURE = 0.99         # of each row is as estimated; the rest is uniform, so that no move is at 0


@dataclass(frozen=True)
class LearningUnit:
    """
    What one ε protects while a chain is learned.

    :param adjacency: k ≥ 1: any k symbols of all logs together.
    :param in_a_row: the k symbols are those that some seconds touch, k in a row of one word, or
        fewer at the end of one and at the begin of the next.
    :param clip: where positive, the unit is instead one whole log, of which at most so many
        transitions count.
    """

    adjacency: int = 1
    clip: int = 0
    in_a_row: bool = False

    def __post_init__(self) -> None:
        for name in ('adjacency', 'clip'):
            value, least = getattr(self, name), 0 if name == 'clip' else 1
            if not is_whole(value, least):
                raise ConfigurationError(f'{name} is {value!r}: it must be a whole number, at '
                                         f'least {least}', setting=name)
            object.__setattr__(self, name, int(value))

    @property
    def per_transition(self) -> int:
        """In which parts of a transition is counted."""
        return _THOUSANDTHS if self.clip else 1

    @property
    def distance(self) -> int:
        """How far apart, in L1 and in these parts, the tables of adjacent logs can be."""
        if self.clip:
            return 2 * self.clip * self.per_transition
        return 2 * (self.adjacency + 1) if self.in_a_row else 4 * self.adjacency


@dataclass(frozen=True)
class Tables:
    """
    Counts of transitions, exact or noisy, in parts of one (`LearningUnit.per_transition`).

    :param stays: (staying, moving on), shape (2,).
    :param moves: for each edge of the chain in its order, shape (edges,).
    """

    stays: Integers
    moves: Integers


class ChainLearner:
    """
    Counts transitions of a robot's words, and makes a chain of them with word privacy.

    :param chain: the public map; moves are shrunk to its probabilities, where it has any.
    :param unit: what ε protects.
    :raises ChainError: the chain is an alphabet that stores no edges.
    """

    def __init__(self, chain: Chain, unit: LearningUnit):
        if not chain.stores_edges:
            raise ChainError('symbols that can all follow one another have no moves to learn: '
                             'write them as transitions')
        self._chain, self._unit = chain, unit
        offsets, targets = chain.csr()
        self._sources = np.repeat(np.arange(len(chain)), np.diff(offsets))
        self._staying = self._sources == targets
        self._edge = {pair: e for e, pair in enumerate(
            zip(self._sources.tolist(), targets.tolist(), strict=True))}
        has_staying = np.bincount(self._sources[self._staying], minlength=len(chain)) > 0
        self._moves = np.bincount(self._sources[~self._staying], minlength=len(chain))
        #: states in which the robot may stay or move on; edges among which a move is chosen
        self._choice = has_staying & (self._moves > 0)
        self._chosen = np.diff(offsets)[self._sources] > 1

    def count(self, logs: Iterable[Iterable[Word]]) -> Tables:
        """
        Return the exact tables: sensitive.

        :param logs: the words of each log; None and what is no state are unknown.
        """
        stays, moves = np.zeros(2, np.int64), np.zeros(len(self._sources), np.int64)
        for words in logs:
            edges = self._count_edges(words)
            choices = np.where(self._choice[self._sources], edges, 0)
            stayed = choices[self._staying].sum()
            stays += self._clipped(np.array([stayed, choices.sum() - stayed]))
            moves += self._clipped(np.where(self._chosen, edges, 0))
        return Tables(stays, moves)

    def _count_edges(self, words: Iterable[Word]) -> Integers:
        index = self._chain.state_index
        edges = np.zeros(len(self._sources), np.int64)
        for word in words:
            numbers = [-1 if symbol is None else index.get(symbol, -1) for symbol in word]
            for pair in zip(numbers, numbers[1:], strict=False):
                edge = self._edge.get(pair)
                if edge is not None:
                    edges[edge] += 1
        return edges

    def _clipped(self, counts: Integers) -> Integers:
        parts, total = self._unit.per_transition, int(counts.sum())
        if not self._unit.clip or total <= self._unit.clip:
            return counts * parts
        return counts * (parts * self._unit.clip) // total

    def transitions(self, logs: Sequence[Sequence[Word]]) -> int:
        """
        Return how many transitions may count, a number that is the same for all adjacent logs.

        Lengths of words are public where single symbols are protected, not where whole logs are.
        """
        return len(logs) * self._unit.clip or sum(len(word) for words in logs for word in words)

    def shares(self, transitions: int) -> tuple[Fraction, Fraction]:
        """
        Return what part of ε each table gets; they sum to exactly 1.

        From public numbers alone: a coarser table gets no more than it needs.

        :param transitions: as of the function of this name.
        """
        if not self._choice.any():
            return Fraction(0), Fraction(1)
        distance = Fraction(self._unit.distance, self._unit.per_transition)
        first = max(_LEAST_SHARE, min(_MOST_SHARE, _WANTED * distance / max(1, transitions)))
        return first, 1 - first

    def add_noise(self, tables: Tables, epsilon: Fraction, transitions: int,
                  random: RandomBits) -> tuple[Tables, tuple[Fraction, Fraction]]:
        """
        Return noisy tables, which have ε-privacy, and the scale of the noise of each.

        :param epsilon: > 0.
        """
        first, second = (Fraction(self._unit.distance) / (epsilon * share) if share else
                         Fraction(0) for share in self.shares(transitions))
        return Tables(_noisy(tables.stays, np.full(2, first > 0), first, random),
                      _noisy(tables.moves, self._chosen, second, random)), (first, second)

    def estimate(self, noisy: Tables, scales: Sequence[Fraction]) -> Chain:
        """
        Return the chain with the probabilities that noisy tables show.

        :param scales: of the noise of each table.
        """
        parts = self._unit.per_transition
        spread_all, spread = (
            discrete_laplace_deviation(min(scale, Fraction(_LARGEST))) / parts if scale else 0.0
            for scale in scales)
        counts = noisy.moves / parts
        staying = self._staying_of(noisy.stays / parts, counts, spread_all, spread)
        moves = self._moves_of(np.where(self._staying, 0, counts), spread)
        chances = np.where(self._staying, staying[self._sources],
                           moves * (1 - staying[self._sources]))
        degrees = np.bincount(self._sources, minlength=len(self._chain))
        return walking_by(self._chain, _SURE * chances + (1 - _SURE) / degrees[self._sources])

    def _staying_of(self, stays: Floats, counts: Floats, spread_all: float,
                    spread: float) -> Floats:
        """Return the probability of staying for each state; 1 where nothing else is possible."""
        result = (self._moves == 0).astype(np.float64)
        if not self._choice.any():
            return result
        uniform = float((1 / (1 + self._moves[self._choice])).mean())
        # As if as many transitions more as the noise can hide had been seen, staying as
        # often as a uniform row does.
        unseen = spread_all + 1.0
        overall = ((max(stays[0], 0.0) + unseen * uniform)
                   / (max(stays[0], 0.0) + max(stays[1], 0.0) + unseen))
        overall = min(max(overall, 0.001), 0.999)
        states = len(self._chain)
        stayed = np.bincount(self._sources[self._staying], counts[self._staying], states)
        total = np.bincount(self._sources, counts, states)[self._choice]
        stayed, moves = stayed[self._choice], self._moves[self._choice]
        seen = total > 3 * spread * np.sqrt(1 + moves)  # elsewhere it is noise
        total = np.where(seen, total, 1.0)
        estimate = np.clip(np.where(seen, stayed / total, overall), 0.0, 1.0)
        variance = (spread**2 * ((1 - estimate)**2 + moves * estimate**2) / total**2
                    + overall * (1 - overall) / total)
        excess = (estimate - overall)**2 - variance
        between = 0.0
        if seen.any():
            weights = 1 / variance[seen]**2
            between = max(0.0, float(np.average(excess[seen], weights=weights)
                                     - 2 * np.sqrt(2 / weights.sum())))
        trusted = np.where(seen, between / (between + variance), 0.0)
        result[self._choice] = np.clip(overall + trusted * (estimate - overall), 0.001, 0.999)
        return result

    def _moves_of(self, counts: Floats, spread: float) -> Floats:
        """Return each move's share among the moves from its state; that of staying is 0."""
        states, sources = len(self._chain), self._sources
        total = np.maximum(np.bincount(sources, counts, states), 0.0)
        prior = self._with_habits(self._map_shares(), counts, total, spread)
        expected = total[sources] * prior
        choice = self._chosen & ~self._staying
        surprise = np.bincount(sources, np.where(choice, (counts - expected)**2, 0), states)
        explained = (np.maximum(self._moves - 1, 0) * spread**2
                     + np.bincount(sources, expected * (1 - prior), states))
        # With f moves to choose from, chance makes a surprise of 1 ± √(2/f) times the expected.
        caution = 1 + np.sqrt(0.5 / np.maximum(self._moves - 1, 1))
        trusted = np.where(surprise > 0,
                           1 - caution * explained / np.where(surprise > 0, surprise, 1.0), 0.0)
        trusted = np.clip(trusted, 0.0, 1.0)
        own = np.maximum(counts, 0.0)
        own_sums = np.bincount(sources, own, states)
        trusted[own_sums <= 0] = 0.0
        shares = own / np.where(own_sums > 0, own_sums, 1.0)[sources]
        return prior + trusted[sources] * choice * (shares - prior)

    def _map_shares(self) -> Floats:
        """Return the map's own share of each move among the moves from its state."""
        chances = self._chain.edge_probabilities() * ~self._staying
        sums = np.bincount(self._sources, chances, len(self._chain))
        return chances / np.where(sums > 0, sums, 1.0)[self._sources]

    def _with_habits(self, plain: Floats, counts: Floats, total: Floats,
                     spread: float) -> Floats:
        """
        Return the shares of moves to expect where some states have one likely move.

        How many states have one, and how likely it is, is taken alike for all states: what makes
        all counts together most likely. Each state then has the mean over what its own counts
        leave possible: no likely move, or any one of them.
        """
        best = -inf, plain
        for habit in _HABITS:
            for many in _MANY:
                weighed = self._under(habit, many, plain, counts, total, spread)
                best = max(best, weighed, key=lambda pair: pair[0])
        return best[1]

    def _under(self, habit: float, many: float, plain: Floats, counts: Floats, total: Floats,
               spread: float) -> tuple[float, Floats]:
        """Return (ln of how likely the counts are, shares), if so many states have a habit."""
        likelihood, shares = 0.0, plain.copy()
        offsets, _ = self._chain.csr()
        for state in np.flatnonzero(self._moves > 1).tolist():
            edges = np.arange(offsets[state], offsets[state + 1])
            edges = edges[~self._staying[edges]]
            map_row, seen, amount = plain[edges], counts[edges], total[state]
            rows = np.array([map_row, *(habit * one + (1 - habit) * (map_row * (1 - one)) / (
                1 - map_row[i]) for i, one in enumerate(np.eye(len(edges))))])
            variance = spread**2 + amount / len(edges) + 1
            logs = -((seen - amount * rows)**2).sum(axis=1) / (2 * variance)
            logs += np.log([1 - many, *np.full(len(edges), many / len(edges))])
            highest = logs.max()
            weights = np.exp(logs - highest)
            likelihood += highest + float(np.log(weights.sum()))
            shares[edges] = weights @ rows / weights.sum()
        return likelihood, shares


def learn_chain(chain: Chain, logs: Sequence[Sequence[Word]], epsilon: float, *,
                unit: LearningUnit = LearningUnit(), random: RandomBits | None = None) -> Chain:
    """
    Return the chain with probabilities learned from logs, with ε-privacy for the unit.

    :param logs: the words of each log.
    :param epsilon: > 0.
    :param random: for tests; default: the operating system's.
    :raises PrivacyError, ChainError, ConfigurationError: what is passed is not valid.
    """
    budget = Privacy(epsilon).epsilon_per_symbol
    if budget == 0:
        raise ConfigurationError('to learn, epsilon must be above 0', setting='epsilon')
    learner = ChainLearner(chain, unit)
    noisy, scales = learner.add_noise(learner.count(logs), budget, learner.transitions(logs),
                                      SystemRandom() if random is None else random)
    return learner.estimate(noisy, scales)


def _noisy(table: Integers, cells: Booleans, scale: Fraction,
           random: RandomBits) -> Integers:
    """Return a table with noise in some cells; the others are 0 in every table."""
    noisy = np.zeros_like(table)
    for cell in np.flatnonzero(cells).tolist():
        count = int(table[cell]) + draw_discrete_laplace(scale, random)
        noisy[cell] = min(max(count, -_LARGEST), _LARGEST)
    return noisy
