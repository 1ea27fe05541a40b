# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The exponential mechanism with zones: words are drawn among the routes that have the zones told.

A word w has at each position the zone of its symbol; an unknown symbol that of the one before.
With R_t of `core.zones`, let O(w) be the feasible words whose t-th state lies in zone_t wherever a
route has it. P[o] ∝ h(o)·R^{matches(w, o)} over O(w), where matches counts the positions that have
a zone, and h is as in `core.offline.model_backward` (h = 1: one model, whose moves all weigh 1).

**Privacy.** Let w and w' be adjacent: at each place both symbols lie in one zone, and at most k
differ. Then the zones told are the same, so R_t is, a function of them, and O(w) = O(w'). h(o) is
the same, R^{matches} differs by a factor of at most R^k, and so does its sum over O(w): with
2k·ln R ≤ ε no probability differs by more than e^ε. (Words of other zones have outputs of which
none is common, where both have routes: the zones are told.) Where all words over one alphabet are
feasible and h is the same for all, P[o] is a product of one factor for each position, b_t(o_t)
over a sum that is R + N_t − 1, or N_t where w_t is no such state: randomized response, for which k
factors differ by at most R (`core.online.response`, Claim). There ln R ≤ ε/k will do.

**Rounding.** The backward pass, the draw and the proof are those of `core.offline.model_backward`,
with one exponent for each state, and b_t(s) = 0 outside zone_t: sums have fewer terms, and zeros
are exact. So the same 5·n·(N + 4M + 12)·2⁻⁵³ of ε is set aside. A state from which no route has
the zones to come has weight 0, and is never drawn; there is always one that has a weight, as each
state of R_t follows one of R_{t−1}. All others have positive ones, so every word of O(w) has a
positive probability.

O(n·edges in a zone·M) time; positions are recomputed as there, where not all can be kept.
"""
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf, log, sqrt
from random import SystemRandom
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts, Word
from symdp_ros.core.chain import Chain
from symdp_ros.core.compiled.vectors import in_lanes, lane_sum, LANES
from symdp_ros.core.draws.exact_draw import as_integers, draw_index
from symdp_ros.core.law import Law
from symdp_ros.core.models import counting_model, Models
from symdp_ros.core.offline.backward import match_ratio
from symdp_ros.core.offline.exponential_errors import exponential_distances, exponential_errors
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.word_arrays import WordBits
from symdp_ros.errors import ConfigurationError

_STORED = 31_200_000  # bytes of weights that are kept


class ExponentialInZones(Law):
    """
    The law of the selection 'exponential' with zones (see the module).

    :param privacy: with zones that partition the chain.
    :param trust: the weight of the chain's P, for the base measure h (`core.models`); None: h = 1.
    :param stored: bytes of weights that are kept, for tests.
    :raises ConfigurationError: the chain stores no edges.
    """

    loss_bound = 'range'

    def __init__(self, chain: Chain, privacy: Privacy, trust: float | None,
                 random: RandomBits | None = None, *, stored: int = _STORED):
        if not chain.stores_edges:
            raise ConfigurationError('with zones, a chain made by Chain.complete cannot be used: '
                                     'list its moves', setting='zones')
        assert privacy.zones is not None
        self._chain, self._stored = chain, stored
        self._epsilon = privacy.epsilon_per_symbol
        self._random = random
        self._models = None if trust is None else chain.models(trust)
        self._initial = chain.state_index[chain.initial_state]
        offsets, targets = chain.csr()
        models = counting_model(offsets, targets) if self._models is None else self._models
        self._log_measure = models.log_measure
        if chain.is_alphabet and len(models) == 1 and self._is_even(models):
            self.loss_bound = 'symbols'
        self._edges = (offsets, targets, in_lanes(models.weights.T), models.keep,
                       in_lanes(models.switch[None])[0])
        self._prior = in_lanes(models.prior[None])[0]
        self._zone_of = zone_of = privacy.zones.numbers(chain)
        members = np.argsort(zone_of, kind='stable')
        sizes = np.bincount(zone_of, minlength=len(privacy.zones))
        begins = np.concatenate([[0], np.cumsum(sizes)])
        slots = np.empty_like(members)
        slots[members] = np.arange(len(members)) - np.repeat(begins[:-1], sizes)
        self._places = begins, members, slots, zone_of
        self._width = int(sizes.max())
        self._most_successors = int(np.diff(offsets).max())

    def _is_even(self, models: Models) -> bool:
        """Return whether all moves of an alphabet's words weigh the same."""
        offsets, targets = self._chain.csr()
        first = slice(*offsets[self._initial:self._initial + 2])
        weights = models.weights[0]
        return all((weights[offsets[s]:offsets[s + 1]] == weights[first][0]).all()
                   for s in (self._initial, *targets[first].tolist()))

    def ratio(self, length: int) -> float:
        reserve = Fraction(5 * length * (self._most_successors + 4 * LANES + 12), 2**53)
        if self.loss_bound == 'symbols':
            return match_ratio(2 * (self._epsilon - reserve), Fraction(0))
        return match_ratio(self._epsilon, reserve)

    def distance_steps(self, length: int) -> int:
        return length**2 * self._chain.edge_count

    def draw(self, word: Word) -> list[str]:
        states, random = self._chain.states, self._random or SystemRandom()
        return [states[i] for i in self._draw(self._positions(word), random).tolist()]

    def draw_many(self, symbols: ShortInts, offsets: Ints,
                  bits: WordBits | None = None) -> ShortInts:
        out = np.empty_like(symbols)
        if bits is None:
            bits = WordBits.of_numbers(len(offsets) - 1, self._random)
        for word, (begin, end) in enumerate(pairwise(offsets.tolist())):
            out[begin:end] = self._draw(symbols[begin:end].astype(np.int64), bits.stream(word))
        return out

    def _positions(self, word: Word) -> Ints:
        index: dict[str | None, int] = {None: -1}
        index.update(self._chain.state_index)
        return np.array([index[symbol] for symbol in word], np.int64)

    def _zones(self, symbols: Ints) -> Ints:
        """Return the zone of each position that routes have, −1 where there is none."""
        from symdp_ros.core.offline.passes import zone_kernels

        last = np.maximum.accumulate(np.where(symbols >= 0, np.arange(len(symbols)), -1))
        told = self._zone_of[np.where(last >= 0, symbols[last], self._initial)]
        zones = np.empty(len(symbols), np.int64)
        zone_kernels.zones_of_routes(told, self._zone_of, self._initial, *self._edges[:2], zones)
        return zones

    def _draw(self, symbols: Ints, random: RandomBits) -> Ints:
        from symdp_ros.core.offline.passes import zone_kernels

        n = len(symbols)
        out, model = np.empty(n, np.int64), self._prior.copy()
        lengths = np.empty(self._most_successors)
        if n == 0:
            return out
        bits = np.frombuffer(random.getrandbits(64 * n).to_bytes(8 * n, 'little'), np.uint64)
        zones, position, state = self._zones(symbols), 0, self._initial
        for first, last, W, E in self._swept(symbols, zones):
            while position < last:
                position, state = zone_kernels.walk(
                    position, first, last, state, zones, bits, self._places, self._edges, W, E,
                    model, lengths, out)
                if position < last:  # 53 bits were not enough: once in 2⁴⁰ symbols or so
                    row = position + 1 - first
                    drawn = as_integers(*self._moves(W[row], E[row], state, zones[position],
                                                     model))
                    chosen = draw_index(drawn, random, int(bits[position]) >> 11, 53)
                    state = out[position] = self._take(chosen, state, model)
                    position += 1
        return out

    def _swept(self, symbols: Ints, zones: Ints) -> Iterator[tuple[int, int, Floats, ShortInts]]:
        """Yield (first, last, W, E) of all positions, as many at a time as can be kept."""
        from symdp_ros.core.offline.passes import zone_kernels

        n = len(symbols)
        width = len(self._chain) if (zones < 0).any() else self._width
        most = self._stored // (width * (8 * LANES + 4))
        span = n if n < most else max(1, min(most, round(sqrt(n))))
        W, E = np.empty((span + 1, width, LANES)), np.empty((span + 1, width), np.int32)
        firsts = range(1, n + 1, span)
        kept: dict[int, tuple[Floats, ShortInts]] = {}

        def sweep(first: int) -> tuple[int, int, Floats, ShortInts]:
            last = min(first + span - 1, n)
            if last < n:
                W[span], E[span] = kept[first + span]
            zone_kernels.sweep(first, last, symbols, zones, self._places, self._edges,
                               self.ratio(n), W, E)
            return first, last, W, E

        for first in reversed(firsts):
            found = sweep(first)
            if first > 1:
                kept[first] = W[0].copy(), E[0].copy()
        yield found
        for first in firsts[1:]:
            yield sweep(first)

    def _moves(self, W: Floats, E: ShortInts, state: int, zone: int,
               model: Floats) -> tuple[Floats, Ints]:
        """Return what the moves from a state are drawn by, as float64 and exponents of two."""
        begins, _, slots, zone_of = self._places
        offsets, targets, weights = self._edges[:3]
        some = slice(*offsets[state:state + 2])
        there = targets[some].astype(np.int64)
        inside = np.full(len(there), True) if zone < 0 else zone_of[there] == zone
        places = np.where(inside, there if zone < 0 else slots[there], 0)
        exponents = np.where(inside, E[places], _NEVER).astype(np.int64)
        lengths = lane_sum((model * weights[some] * W[places]).T)
        values, own = np.frexp(np.where(exponents > _NEVER, lengths, 0.0))
        exponents += own
        return values, np.where(values > 0, exponents, exponents.max())

    def _take(self, chosen: int, state: int, model: Floats) -> int:
        """Take the move of a place among the successors, and return the next state."""
        from symdp_ros.core.offline.passes.model_kernels import learn

        offsets, targets = self._edges[:2]
        edge = int(offsets[state]) + chosen
        learn(model, edge, *self._edges[2:])
        return int(targets[edge])

    def exact_probabilities(self, word: Word, outputs: Sequence[Sequence[str]]) -> list[Fraction]:
        symbols = self._positions(word)
        if not len(symbols):
            return [Fraction(1)] * len(outputs)
        zones, found = self._zones(symbols), []
        rows = {t: (W[t - first].copy(), E[t - first].copy())
                for first, last, W, E in self._swept(symbols, zones)
                for t in range(first, last + 1)}
        targets = [self._edges[1][slice(*pair)].tolist() for pair in pairwise(self._edges[0])]
        drawn = dict[tuple[int, ...], list[int]]()  # what an output begins with → what comes next
        for output in outputs:
            route = tuple(self._positions(output).tolist())
            chance, state, model = Fraction(1), self._initial, self._prior.copy()
            for t, after in enumerate(route, 1):
                if (begin := route[:t - 1]) not in drawn:
                    drawn[begin] = as_integers(*self._moves(*rows[t], state, zones[t - 1], model))
                weights, chosen = drawn[begin], targets[state].index(after)
                chance *= Fraction(weights[chosen], sum(weights))
                if not chance:
                    break
                state = self._take(chosen, state, model)
            found.append(chance)
        return found

    def log_probability(self, word: Word, output: Sequence[str]) -> float:
        symbols, route = self._positions(word), self._positions(output)
        if not len(symbols):
            return 0.0
        zones = self._zones(symbols)
        if not ((zones < 0) | (self._zone_of[route] == zones)).all():
            return -inf
        _, _, W, E = next(self._swept(symbols, zones))
        weights, exponents = self._moves(W[0], E[0], self._initial, zones[0], self._prior)
        highest = exponents.max()
        log_normalizer = (log(float(np.ldexp(weights, exponents - highest).sum()))
                          + int(highest) * log(2))
        matches = int(((route == symbols) & (zones >= 0)).sum())
        return (self._log_measure([self._initial, *route.tolist()])
                + matches * log(self.ratio(len(symbols))) - log_normalizer)

    def _in_zones(self, columns: Ints) -> tuple[Ints, Ints]:
        """Return `_zones` of each word, shape (n, words), and the zone of each state."""
        return np.stack([self._zones(np.where(word < len(self._chain), word, -1))
                         for word in columns.T], axis=1), self._zone_of

    def distance_distribution(self, word: Word) -> Floats:
        symbols = self._positions(word)
        columns = np.where(symbols < 0, len(self._chain), symbols).reshape(-1, 1)
        return exponential_distances(self._chain, word, self.ratio(len(word)), self._models,
                                     self._in_zones(columns))

    def errors(self, columns: Ints, variances: bool) -> tuple[Floats, Floats | None]:
        found = exponential_errors(self._chain, columns, self.ratio(len(columns)), self._models,
                                   variances, in_zones=self._in_zones(columns))
        assert found is not None  # every Z will do
        return found[:2]


_NEVER: Any = -2**30  # as in `core.offline.passes.zone_kernels`
