# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A chain's probabilities, learned from private routes alone.

Private routes are public. Whatever is computed of them and of other public data costs no ε
(post-processing), so this knows no unit, no subject and no noise.

A mechanism prefers routes that its public models make likely, so counting the moves of private
routes o finds these models again. P is found by expectation maximization instead, the true routes
w hidden: each round takes the moves that are expected in w, given o and the last P, by a
forward–backward pass of

    P[w, o] = Π_t P(w_t|w_{t−1})·P[o | w].                                                      (1)

*Causal release*: P[o | w] = Π_t μ(o_t | w_t, o_{t−1}), exactly.

*Whole words*: P[o | w] = h(o)·R^{matches}/Z(w), Z(w) = Σ_o h(o)·R^{matches}. With π_t(s) how
likely o_t = s is under h, once w_1…w_{t−1} have weighed,

    ln Z(w) = Σ_t ln(1 + (R − 1)·π_t(w_t))                                                      (2)

(with h = 1, besides, how many moves there are). π_t depends on all of w_1…w_{t−1}, so each term
of (2) is replaced by its mean φ over the moves w_{t−1} → w_t that are alike, in routes w that are
drawn from (1) of the last round. For any φ,

    ln P[o] ≥ ln Σ_w P[w]·R^{matches}·e^{−Σφ} + E[Σφ − ln Z(w)] + ln h(o)

(Jensen), E over these routes, where the second term is then about 0: what is maximized is nearly a
lower bound. Leaving Z out would find a robot that stays wherever the models do.

**Estimates** go from coarse to fine, since few routes say little, and since a wrong staying
explains itself: who believes that the robot stays finds it there. In the first rounds all states
stay alike, then each as its own moves show, besides `_STAYS_ALIKE` that show what all do; moves
are as the map has them, but for what more than `_MOVES_ALIKE` moves show. The draws have a fixed
seed, so the same routes give the same chain.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from symdp_ros.analysis.accuracy import walking_by
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import counting_model
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.online.targets import feasible_row
from symdp_ros.errors import ChainError, ConfigurationError

_ROUNDS, _COARSE = 80, 25  # in the coarse ones all states stay alike
_STAYS_ALIKE, _MOVES_ALIKE = 20.0, 10.0  # moves that count besides each state's own
_TERMS_ALIKE = 20.0  # moves of other states, by which a rare one's term of ln Z is judged
_MEMORY = 0.8        # what the terms of the last round still count
_SURE = 0.99         # of each row is as estimated; the rest is uniform, so that no move is at 0
_LEAST = 1e-6        # probability of staying, and of moving on, before that
_PIECE = 500         # symbols that are looked at as one route
_CELLS = 2**24       # numbers of one pass


@dataclass(frozen=True)
class Released:
    """
    Private routes of one mechanism.

    :param routes: each feasible from the initial state: positions in `chain.states`.
    """

    mechanism: OfflineMechanism
    routes: Sequence[Ints]


class _Likelihood(Protocol):
    """How likely a mechanism draws o_t, up to factors that do not depend on w."""

    def corrections(self) -> Floats:
        """Return what each move of w adds to ln P[o | w], whatever o is: shape (edges,)."""

    def weigh(self, values: Floats, before: Ints, drawn: Ints) -> None:
        """Multiply values of w_t, shape (states, routes), given o_{t−1} and o_t of each route."""

    def look_at(self, drawn: 'list[tuple[_Pieces, Ints]]') -> None:
        """Take note of what w may have been, shape (n + 1, routes), for the next round."""


@dataclass(frozen=True)
class _Pieces:
    """
    Routes, or pieces of long ones, of about the same length.

    :param routes: s_0 or what was drawn before, and what was drawn: shape (n + 1, routes).
    :param lengths: of each, ascending to n; what follows means nothing.
    :param start: how likely w begins at each state: shape (states, routes).
    """

    routes: Ints
    lengths: Ints
    start: Floats

    def going(self, t: int) -> slice:
        """Return those routes that have more than t symbols."""
        return slice(int(np.searchsorted(self.lengths, t, 'right')), None)


_Part: TypeAlias = tuple[_Likelihood, list[_Pieces]]


class _ByMatches:
    """R^{matches}/Z(w), equation (2)."""

    def __init__(self, learner: 'ReleasedLearner', mechanism: OfflineMechanism):
        chain, self._learner = learner.chain, learner
        self._models = (chain.models(mechanism.trust) if mechanism.selection == 'exponential'
                        and mechanism.base == 'chain' else counting_model(*chain.csr()))
        self._ratio = mechanism.ratio(_PIECE)
        self._sums, self._seen = np.zeros((2, len(learner.sources)))

    def corrections(self) -> Floats:
        staying, found = self._learner.staying, np.zeros(len(self._sums))
        for kind in staying, ~staying:
            seen = self._seen[kind]
            mean = self._sums[kind].sum() / max(seen.sum(), 1e-9)
            found[kind] = -(self._sums[kind] + _TERMS_ALIKE * mean) / (seen + _TERMS_ALIKE)
        return found

    def weigh(self, values: Floats, before: Ints, drawn: Ints) -> None:
        values[drawn, np.arange(len(drawn))] *= self._ratio

    def look_at(self, drawn: list[tuple[_Pieces, Ints]]) -> None:
        self._sums *= _MEMORY
        self._seen *= _MEMORY
        for pieces, words in drawn:
            self._add(pieces, words)

    def _add(self, pieces: _Pieces, words: Ints) -> None:
        models, routes = self._models, np.arange(words.shape[1])
        belief = models.prior[:, None, None] * pieces.start
        for t, (here, there) in enumerate(zip(words, words[1:], strict=False)):
            belief = models.forward(belief)
            belief[:, there, routes] *= self._ratio
            weight = belief.sum(axis=(0, 1))
            belief /= weight
            going = pieces.going(t)
            edges = self._learner.edges_of(here[going], there[going])
            self._sums += np.bincount(edges, np.log(weight[going]), len(self._sums))
            self._seen += np.bincount(edges, minlength=len(self._seen))


class _ByTargets:
    """μ(o_t | w_t, o_{t−1}) of an online mechanism."""

    def __init__(self, chain: Chain, online: OnlineMechanism):
        self._none = np.zeros(chain.edge_count)
        n, (offsets, targets) = len(chain), chain.csr()
        others, gain = online.weights()

        @lru_cache(maxsize=max(1, _CELLS // len(chain)))
        def chances(before: int, drawn: int) -> Floats:
            row = slice(offsets[before], offsets[before + 1])
            codes = np.asarray(memoryview(
                feasible_row(targets[row].tolist(), n) if online.targets is None
                else online.targets.row(before)))[:-1]
            code = 1 + np.flatnonzero(targets[row] == drawn)[0]
            return np.where(codes == 0, 1 / (row.stop - row.start), others[before]) + np.where(
                codes == code, gain[before], 0.0)

        self._chances = chances

    def corrections(self) -> Floats:
        return self._none

    def weigh(self, values: Floats, before: Ints, drawn: Ints) -> None:
        values *= np.stack([*map(self._chances, before.tolist(), drawn.tolist())], axis=1)

    def look_at(self, drawn: list[tuple[_Pieces, Ints]]) -> None:
        return


class ReleasedLearner:
    """
    Finds how a robot moves from its private routes.

    :param chain: the public map, with which the routes were made.
    :raises ChainError: the chain is an alphabet that stores no edges.
    """

    def __init__(self, chain: Chain):
        if not chain.stores_edges:
            raise ChainError('symbols that can all follow one another have no moves to learn: '
                             'write them as transitions')
        self.chain = chain
        self._offsets, self._targets = chain.csr()
        n, degrees = len(chain), np.diff(self._offsets)
        self.sources = np.repeat(np.arange(n), degrees)
        self.staying = self.sources == self._targets
        self._keys = self.sources * n + self._targets
        self._order = np.argsort(self._keys)
        can_stay = np.bincount(self.sources[self.staying], minlength=n) > 0
        #: moves from states in which the robot can stay and can move on
        self._choice = (can_stay & (degrees > 1))[self.sources]
        chances = chain.edge_probabilities()
        self._map_staying = (chances * self.staying * self._choice).sum() / max(
            1, (self.staying & self._choice).sum())
        shares = chances * ~self.staying
        sums = np.bincount(self.sources, shares, n)
        self._shares = shares / np.where(sums > 0, sums, 1.0)[self.sources]

    def edges_of(self, here: Ints, there: Ints) -> Ints:
        """Return the numbers of moves that the map allows."""
        found: Ints = self._order[np.searchsorted(
            self._keys, here * len(self.chain) + there, sorter=self._order)]
        return found

    def learn(self, released: Sequence[Released]) -> Chain:
        """Return the chain with the probabilities that private routes show."""
        parts, random = self.parts(released), np.random.default_rng(0)
        chances = self.chain.edge_probabilities()
        for rounds in range(_ROUNDS):
            moves, _ = self.expected(chances, parts, random)
            chances = self._smoothed(moves, inf if rounds < _COARSE else _STAYS_ALIKE)
        degrees = np.diff(self._offsets)[self.sources]
        return walking_by(self.chain, _SURE * chances + (1 - _SURE) / degrees)

    def parts(self, released: Sequence[Released]) -> list[_Part]:
        """Return private routes as they are looked at, with how likely they are."""
        return [(self._likelihood(some.mechanism), self._pieces(some.routes))
                for some in released]

    def expected(self, chances: Floats, parts: Sequence[_Part],
                 random: np.random.Generator) -> tuple[Floats, float]:
        """
        Return the moves of w that are expected, and ln P[o] but for what depends on o alone.

        :param chances: P of each move.
        :param random: draws w, for the terms of ln Z in the next round.
        """
        moves, total = np.zeros(len(chances)), 0.0
        for likelihood, batches in parts:
            weights, drawn = chances * np.exp(likelihood.corrections()), []
            for pieces in batches:
                found, log_chance, words = self._passes(weights, likelihood, pieces, random)
                moves, total = moves + found, total + log_chance
                drawn.append((pieces, words))
            likelihood.look_at(drawn)
        return moves, total

    def _likelihood(self, mechanism: OfflineMechanism) -> _Likelihood:
        if mechanism.online is None:
            return _ByMatches(self, mechanism)
        if mechanism.online.tables is not None:
            raise ConfigurationError(
                'how likely the routes of the policy adaptive are is not known, so no P is '
                'learned from them: release with the mechanism exponential', setting='policy')
        return _ByTargets(self.chain, mechanism.online)

    def _pieces(self, routes: Sequence[Ints]) -> list[_Pieces]:
        """Return routes, or pieces of them, by length, as many at a time as memory is for."""
        initial, n = self.chain.state_index[self.chain.initial_state], len(self.chain)
        cut = sorted(((begin > 0, np.append(route[begin - 1] if begin else initial,
                                            route[begin:begin + _PIECE]))
                      for route in routes for begin in range(0, len(route), _PIECE)),
                     key=lambda piece: len(piece[1]))
        found, most = [], max(1, _CELLS // max(n * _PIECE, len(self.sources)))
        for some in (cut[i:i + most] for i in range(0, len(cut), most)):
            lengths = np.array([len(route) - 1 for _, route in some])
            padded = np.stack([np.pad(route, (0, lengths[-1] + 1 - len(route)), 'edge')
                               for _, route in some], axis=1)
            start = np.zeros((n, len(some)))
            start[initial] = 1
            start[:, [later for later, _ in some]] = 1 / n
            found.append(_Pieces(padded, lengths, start))
        return found

    def _passes(self, weights: Floats, likelihood: _Likelihood, pieces: _Pieces,
                random: np.random.Generator) -> tuple[Floats, float, Ints]:
        """Return the expected moves of w, ln of the weight of all w, and a w for each piece."""
        moves = csr_array((weights, self._targets, self._offsets),
                          shape=(len(self.chain), len(self.chain)))
        back, routes, n = moves.T.tocsr(), pieces.routes, len(pieces.routes) - 1
        forward, total = [pieces.start], 0.0
        for t in range(n):
            joint = back @ forward[t]
            going = pieces.going(t)
            likelihood.weigh(joint[:, going], routes[t, going], routes[t + 1, going])
            sums = joint.sum(axis=0)
            total += float(np.log(sums[going]).sum())
            forward.append(joint / sums)
        found, columns = np.zeros(len(weights)), np.arange(routes.shape[1])
        words = np.zeros_like(routes)
        words[n] = _drawn(forward[n], random)
        after = np.ones_like(pieces.start)
        for t in range(n - 1, -1, -1):
            going = pieces.going(t)
            there, here = after[:, going], forward[t][:, going]
            likelihood.weigh(there, routes[t, going], routes[t + 1, going])
            before = moves @ there
            here = here / (here * before).sum(axis=0)
            found += np.einsum('er,er->e', here[self.sources], there[self._targets])
            after[:, going] = before / before.sum(axis=0)
            chosen = np.zeros_like(after)
            chosen[words[t + 1], columns] = 1
            words[t] = _drawn(forward[t] * (moves @ chosen), random)
        return found * weights, total, words

    def _smoothed(self, moves: Floats, stays_alike: float) -> Floats:
        """
        Return P from expected moves: staying or moving on first, and then which move.

        :param stays_alike: moves by which staying is like in other states; inf: as there.
        """
        choices = np.where(self._choice, moves, 0.0)
        overall = (choices[self.staying].sum() + self._map_staying) / (choices.sum() + 1)
        own = self._sums(choices)
        trusted = own / (own + stays_alike)
        staying = overall + trusted * (self._sums(choices * self.staying) / np.maximum(own, 1e-9)
                                       - overall)
        staying = np.where(self._choice, np.clip(staying, _LEAST, 1 - _LEAST), self.staying)
        onward = moves * ~self.staying
        shares = (onward + _MOVES_ALIKE * self._shares) / (self._sums(onward) + _MOVES_ALIKE)
        return np.where(self.staying, staying, (1 - staying) * shares)

    def _sums(self, moves: Floats) -> Floats:
        """Return, for each move, the sum over all moves from its state."""
        found = np.bincount(self.sources, moves, len(self.chain)).astype(np.float64)
        return found[self.sources]


def learn_released(chain: Chain, released: Sequence[Released]) -> Chain:
    """
    Return the chain with the probabilities that private routes show; it costs no ε.

    :param chain: the public map, with which the routes were made.
    :raises ChainError: the chain is an alphabet that stores no edges.
    :raises ConfigurationError: a mechanism draws by the policy adaptive.
    """
    return ReleasedLearner(chain).learn(released)


def _drawn(weights: Floats, random: np.random.Generator) -> Ints:
    """Return a state of each column, drawn by its weights."""
    sums = np.cumsum(weights, axis=0)
    found: Ints = (sums <= random.random(sums.shape[1]) * sums[-1]).sum(axis=0)
    return found
