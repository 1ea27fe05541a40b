# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How a robot may move: a few public models, and a hidden switch between them.

How a robot moves is rarely known, and one wrong guess is dear. So whatever needs a P (the base
measure of the exponential mechanism, the belief of the policy adaptive, every filter) uses several
models P_1 … P_M of public weights q:

    h(o) = Σ over m_1 … m_n of q(m_1)·Π_t T(m_{t+1}|m_t)·Π_t P_{m_t}(o_t | o_{t−1}),
    T(m'|m) = (1 − ρ)·[m' = m] + ρ·q(m'),   ρ = 0.01,

that is: the model is drawn once, and after each symbol it is drawn anew with probability ρ.

*Models.* Where the map names no probabilities: moves that are uniform over C(s), and staying with
probability 0, 0.7, 0.9, 0.97 or 0.99, the other moves sharing the rest. Half of the weight is
that of uniform moves, as no other model stands for robots that wander; the others share the other
half, and those that coincide count once. (A state that has no other move stays; one that cannot
stay moves.) Where the map names P: P with weight `trust`, and these with the rest. `trust` = 1: P
alone; 0: the others alone. So nobody needs to know how long a robot stays.

On the chain between reports (`Chain.every`) each model is that of single ticks, taken to the
reports as P itself is. Of `Chain.complete` each model has two numbers, the chances of each other
state and of staying: no edge is stored.

**Privacy.** A mechanism keeps its ε under any positive weights of words that are fixed by public
data. So the floats that are used *are* the models, and it does not matter how they were rounded,
or whether the robot moves so. The weights of moves are float32; each row sums to 1 within 2⁻²³.
No weight of P is below `LEAST_WEIGHT` times 1 − 2⁻²⁰, and those that are uniform over C(s) are
positive, so h is.
"""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import log

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Weights
from symdp_ros.core.neighbours import from_all, Neighbours

SWITCH = 0.01
STAYING = (0.0, 0.7, 0.9, 0.97, 0.99)
LEAST_WEIGHT = 2.0**-40
_MOST_OF_ALL = 1 - 2.0**-10  # of a sum: its difference from more than that is not precise
MAP, UNIFORM = 'as the map says', 'all moves equally likely'
_NUMBERS = 'no', 'one', 'two', 'three', 'four', 'five', 'six'


def public_models(offsets: Ints, targets: ShortInts) -> Floats:
    """
    Return the models that need no knowledge of the robot: uniform first, then those of `STAYING`.

    :param offsets, targets: as `Chain.csr`.
    :return: shape (6, edges), the probability of each move; rows of each model sum to 1.
    """
    degrees = np.diff(offsets)
    states = np.repeat(np.arange(len(degrees)), degrees)
    stays = states == targets
    can_stay = np.bincount(states[stays], minlength=len(degrees))
    moves = degrees - can_stay
    result = np.empty((1 + len(STAYING), len(targets)))
    result[0] = (1 / degrees)[states]
    for row, chance in zip(result[1:], STAYING, strict=True):
        staying = np.where(moves == 0, 1.0, np.where(can_stay > 0, chance, 0.0))
        row[:] = np.where(stays, staying[states],
                          ((1 - staying) / np.maximum(1, moves))[states])
    return result


@dataclass(frozen=True)
class Models:
    """
    Public models and their switch (see the module); equal models count once.

    :param names: of the models, for people to read.
    :param weights: float32, shape (models, edges): P_m of each move, in the order of `Chain.csr`;
        where no edges are stored (models, 2): of each other state, and of staying.
    :param prior: q, float64, shape (models,).
    :param offsets, targets: as `Chain.csr`; empty where no edges are stored.
    """

    names: tuple[str, ...]
    weights: Weights
    prior: Floats
    offsets: Ints
    targets: ShortInts

    def __len__(self) -> int:
        return len(self.names)

    @property
    def keep(self) -> float:
        """Return 1 − ρ, the chance that no model is drawn anew; 1 with one model."""
        return 1.0 - SWITCH if len(self) > 1 else 1.0

    @property
    def switch(self) -> Floats:
        """Return ρ·q: shape (models,)."""
        return SWITCH * self.prior if len(self) > 1 else np.zeros(1)

    @cached_property
    def mean(self) -> Floats:
        """Return Σ_m q(m)·P_m of each move: float64, shape (edges,)."""
        return self.prior @ self.weights.astype(np.float64)

    def log_measure(self, route: Sequence[int]) -> float:
        """
        Return ln h of a feasible word, along (s_0, o_1, …, o_n).

        :param route: positions of states.
        """
        total, model = 0.0, self.prior
        for here, there in pairwise(route):
            model = model * self.weights[:, self._edge(here, there)]
            chance = float(model.sum())
            total += log(chance)
            model = self.switched(model / chance)
        return total

    def _edge(self, here: int, there: int) -> int:
        """Return the column of a move."""
        if not len(self.offsets):
            return int(here == there)
        first, last = self.offsets[here:here + 2]
        return int(first) + int(np.argmax(self.targets[first:last] == there))

    def begin(self, state: int, states: int) -> Floats:
        """Return the belief at a state before the first move: shape (models, states)."""
        joint = np.zeros((len(self), states))
        joint[:, state] = self.prior
        return joint

    def forward(self, joint: Floats) -> Floats:
        """
        Return the belief one move later.

        :param joint: P[s_t = s, m_{t+1} = m], shape (models, states, …).
        """
        return self.switched(self._moved(joint, 0))

    def switched(self, moved: Floats) -> Floats:
        """Return a belief over (model, …) after the switch, before the move."""
        if len(self) == 1:
            return moved
        switch = self.switch.reshape(-1, *[1] * (moved.ndim - 1))
        switched: Floats = self.keep * moved + switch * moved.sum(axis=0)
        return switched

    def mixed(self, values: Floats) -> Floats:
        """Return, for each model before the switch, the mean of `values` after it."""
        if len(self) == 1:
            return values
        return self.keep * values + np.tensordot(self.switch, values, 1)

    def backward(self, values: Floats) -> Floats:
        """
        Return the mean of `values` one move later, before that move: the adjoint of `forward`.

        :param values: of (m_{t+1}, s_t), shape (models, states, …).
        """
        return self.gathered(self.mixed(values))

    def gathered(self, values: Floats) -> Floats:
        """Return P_m times the values of each model: shape (models, states, …)."""
        return self._moved(values, 1)

    def _moved(self, values: Floats, direction: int) -> Floats:
        """Return Pᵀ_m, or P_m, times the values of each model."""
        if not len(self.offsets):
            return np.stack([_of_all(rows, *weights) for rows, weights in zip(
                values, self.weights.astype(np.float64).tolist(), strict=True)])
        return np.stack([neighbours.sums(rows.reshape(len(rows), -1)).reshape(rows.shape)
                         for neighbours, rows in zip(
                             self._neighbours[direction], values, strict=True)])

    @cached_property
    def _neighbours(self) -> tuple[list[Neighbours], list[Neighbours]]:
        """Return of each P_m the neighbours by edges that lead to a state, and from it."""
        edges = self.offsets, self.targets
        return ([Neighbours.before(*edges, row) for row in self.weights],
                [Neighbours(*edges, row) for row in self.weights])

    @property
    def summary(self) -> str:
        """Return in a few words what these models are."""
        if len(self) == 1:
            return self.names[0]
        if self.names[0] != MAP:
            return f'{_NUMBERS[len(self)]} models'
        others = len(self) - 1
        return (f'{MAP}, weight {self.prior[0]:.2g}, and {_NUMBERS[others]} '
                f'model{"" if others == 1 else "s"}')

    def __str__(self) -> str:
        if len(self) == 1:
            return self.names[0]
        return f'{len(self)} models: ' + '; '.join(
            f'{name} ({q:.2g})' for name, q in zip(self.names, self.prior.tolist(), strict=True))


def _of_all(values: Floats, other: float, stay: float) -> Floats:
    """As `from_all`, by a difference where that is precise."""
    total = values.sum(axis=0)
    if (values.max(axis=0) > _MOST_OF_ALL * total).any():
        return from_all(values, other, stay)
    product: Floats = other * (total - values) + stay * values
    return product


def make_models(offsets: Ints, targets: ShortInts, public: Floats, named: Floats | None,
                trust: float) -> Models:
    """
    Return the models of a chain that stores its edges.

    :param public: those that need no knowledge, as `public_models`.
    :param named: P of each move, where the map names it; None: `trust` has no effect.
    :param trust: the weight of P.
    """
    return _make_models(offsets, targets, partial(_weights, offsets), public, named, trust)


def complete_models(states: int, stays: float | None, trust: float) -> Models:
    """
    Return the models of a chain where all can follow all, which stores no edges.

    :param stays: the chance of staying, where it is known; the other states share the rest.
    :param trust: as of `make_models`.
    """
    def row(stay: float) -> Floats:
        return np.array([(1 - stay) / (states - 1), stay]) if states > 1 else np.ones(2)

    def weigh(chances: Floats, least: float) -> Weights:
        other, stay = np.maximum(chances, least).tolist()
        weights: Weights = (np.array([other, stay]) / ((states - 1) * other + stay)).astype(
            np.float32)
        return weights

    public = np.stack([np.full(2, 1 / states), *map(row, STAYING)])
    return _make_models(np.empty(0, np.int64), np.empty(0, np.int32), weigh, public,
                        None if stays is None else row(stays), trust)


def _make_models(offsets: Ints, targets: ShortInts, weigh: Callable[[Floats, float], Weights],
                 public: Floats, named: Floats | None, trust: float) -> Models:
    if named is None or trust < LEAST_WEIGHT:
        trust = 0.0
    elif trust > 1 - LEAST_WEIGHT:
        trust = 1.0
    different: dict[bytes, tuple[str, Weights]] = {}
    shares: dict[bytes, float] = {}
    if trust < 1:
        names = (UNIFORM, *(f'stays {chance:g}' for chance in STAYING))
        for name, row in zip(names, public, strict=True):
            weights = weigh(row, LEAST_WEIGHT if name == UNIFORM else 0.0)
            different.setdefault(weights.tobytes(), (name, weights))
        uniform, *others = different
        half = (1 - trust) * (0.5 if others else 1.0)
        shares = {uniform: half} | dict.fromkeys(others, half / max(1, len(others)))
    if named is not None and trust > 0:
        weights = weigh(named, LEAST_WEIGHT)
        key = weights.tobytes()
        shares[key] = shares.get(key, 0.0) + trust
        different = {key: (MAP, weights)} | {k: v for k, v in different.items() if k != key}
    return Models(tuple(name for name, _ in different.values()),
                  np.stack([weights for _, weights in different.values()]),
                  np.array([shares[key] for key in different]), offsets, targets)


def counting_model(offsets: Ints, targets: ShortInts) -> Models:
    """Return the model that counts words: every move has the weight 1."""
    return Models(('counting',), np.ones((1, len(targets)), np.float32), np.ones(1), offsets,
                  targets)


def known_model(offsets: Ints, targets: ShortInts, probabilities: Floats) -> Models:
    """Return P alone."""
    return Models((MAP,), _weights(offsets, probabilities, LEAST_WEIGHT)[None], np.ones(1),
                  offsets, targets)


def _weights(offsets: Ints, chances: Floats, least: float) -> Weights:
    """Return float32 weights ≥ `least` whose rows sum to 1; uniform rows stay exactly uniform."""
    degrees = np.diff(offsets)
    states = np.repeat(np.arange(len(degrees)), degrees)
    uniform = (np.minimum.reduceat(chances, offsets[:-1])
               == np.maximum.reduceat(chances, offsets[:-1]))[states]
    weights = np.where(uniform, 1 / degrees[states], np.maximum(chances, least))
    return (weights / np.add.reduceat(weights, offsets[:-1])[states]).astype(np.float32)
