# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Causal release: an online mechanism over a whole word, as one law."""
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log, prod

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Word
from symdp_ros.core.law import Law
from symdp_ros.core.neighbours import Neighbours
from symdp_ros.core.online.moments import forward, Move
from symdp_ros.core.online.steps import OnlineSteps
from symdp_ros.core.word_arrays import WordBits


class Causal(Law):
    """An online mechanism over a whole word."""

    online: OnlineSteps

    def __init__(self, online: OnlineSteps):
        self.online = online
        self._independent = online.chain.is_alphabet and online.targets is None  # positions
        self.loss_bound, self.response_values = online.loss_bound, online.response_values
        self._idle = [online]  # as many as threads have drawn at once

    def draw(self, word: Word) -> list[str]:
        try:
            online = self._idle.pop()
        except IndexError:
            online = self.online.another()
        try:
            return online.privatize(word)
        finally:
            self._idle.append(online)

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        return self.online.privatize_many(symbols, offsets, bits)

    def likelihood_ratio(self, length: int) -> float | None:
        """Return b/a on an alphabet, where the normaliser is one for all words over it."""
        if not self._independent:
            return None
        some, initial = next(iter(self._alphabet)), self.online.chain.initial_state
        chances = self.online.exact_distribution(some, initial).values()
        return float(max(chances) / min(chances))

    def distance_steps(self, length: int) -> int:
        return 0 if self._independent else length**2 * self.online.chain.edge_count

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        initial = self.online.chain.initial_state
        chances = {pair: self.online.exact_distribution(*pair) for pair in {
            (symbol, before) for output in outputs
            for symbol, before in zip(word, (initial, *output), strict=False)}}
        return [prod((chances[symbol, before][o] for symbol, before, o in zip(
            word, (initial, *output), output, strict=False)), start=Fraction(1))
            for output in outputs]

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None] | None:
        chain = self.online.chain
        if not self._independent:
            start = np.zeros((1, len(chain), columns.shape[1]))
            start[0, chain.state_index[chain.initial_state]] = 1
            return forward(columns, _moves(self.online, columns), start, variances)
        match = self._chance_of_a_match()
        chances = [match if state in self._alphabet else 0 for state in (*chain.states, None)]
        errors = 1 - np.array(chances)[columns]
        return errors, (errors * (1 - errors)).sum(axis=0)

    @cached_property
    def _alphabet(self) -> frozenset[str]:
        return frozenset(self.online.chain.successors(self.online.chain.initial_state))

    def _chance_of_a_match(self) -> float:
        """Return P[o_t = w_t] on an alphabet, where it is one for all of its symbols."""
        some = next(iter(self._alphabet))
        return float(self.online.exact_distribution(some, self.online.chain.initial_state)[some])

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        before = [self.online.chain.initial_state, *output]
        return sum(log(self.online.exact_distribution(symbol, previous)[o])
                   for symbol, previous, o in zip(word, before, output, strict=False))

    def distance_distribution(self, word: Word) -> Floats:
        """By forward recursion over (state, distance); over the distance on an alphabet."""
        if self._independent:
            return self._of_independent_positions(word)
        online, chain = self.online, self.online.chain
        moves = Neighbours.before(*chain.csr())
        uniform = 1 / chain.out_degrees()
        others, gain = online.weights()
        joint = np.zeros((len(chain), len(word) + 1))
        joint[chain.state_index[chain.initial_state], 0] = 1
        for symbol in word:
            aims = online.target_positions(symbol)
            aimed = np.flatnonzero(aims >= 0)
            each = np.where(aims >= 0, others, uniform)
            moved = moves.sums(each[:, None] * joint)
            np.add.at(moved, aims[aimed], gain[aimed, None] * joint[aimed])
            joint[:, 0], joint[:, 1:] = 0, moved[:, :-1]
            if symbol is not None:
                joint[chain.state_index[symbol]] = moved[chain.state_index[symbol]]
        distances: Floats = joint.sum(axis=0)
        return distances

    def _of_independent_positions(self, word: Word) -> Floats:
        match = self._chance_of_a_match()
        distribution = np.zeros(len(word) + 1)
        distribution[0] = 1
        for symbol in word:
            chance = match if symbol in self._alphabet else 0
            distribution[1:] = (1 - chance) * distribution[:-1] + chance * distribution[1:]
            distribution[0] *= chance
        return distribution


def _moves(online: OnlineSteps, columns: Ints) -> Iterator[Move]:
    """Yield the moves of an online mechanism, for `core.online.moments`."""
    chain = online.chain
    n, count = len(chain), columns.shape[1]
    moves = Neighbours.before(*chain.csr())
    uniform = (1 / chain.out_degrees())[:, None]
    others, gain = (weights[:, None] for weights in online.weights())
    labels = (*chain.states, None)
    words = np.arange(count)

    @lru_cache(maxsize=max(1, 2**22 // n))
    def targets(column: int) -> Ints:
        return online.target_positions(labels[column])

    for row in columns:
        aims = np.stack([targets(column) for column in row.tolist()], axis=1)
        aimed = aims >= 0
        each = np.where(aimed, others, uniform)
        more = np.where(aimed, gain, 0.0)
        places = (np.where(aimed, aims, 0) * count + words).ravel()

        def move(mass: Floats, each: Floats = each, more: Floats = more,
                 places: Ints = places) -> Floats:
            mass, = mass  # there are no hidden models
            onto = np.bincount(places, (more * mass).ravel(), n * count).reshape(n, count)
            moved: Floats = moves.sums(each * mass) + onto
            return moved[None]

        yield move
