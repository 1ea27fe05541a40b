# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How what is known of the robot moves: by all public models at once, for many words at once.

Arrays have the axes (models, states, words). A model in which all moves from a state but staying
are equally likely has two numbers for each state, and no weight for each edge: the sums over the
neighbours are then one for all such models.
"""
import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, ShortInts
from symdp_ros.core.models import Models
from symdp_ros.core.neighbours import Neighbours, Room


class Moves:
    """
    The moves of some models, and the switch between them (`core.models`).

    :param models: of a chain that stores its edges.
    """

    def __init__(self, models: Models):
        offsets, targets = models.offsets, models.targets
        self.models, self.states = len(models), len(offsets) - 1
        self.keep, self.prior = models.keep, models.prior
        #: None where there is one model
        self._switch = models.switch[:, None, None] if len(models) > 1 else None
        self._more = None if self._switch is None else self._switch / self.keep
        weights = models.weights.astype(np.float64)
        sources = np.repeat(np.arange(self.states), np.diff(offsets))
        stays = sources == targets
        self._stay, self._leave = (np.zeros((self.models, self.states, 1)) for _ in range(2))
        self._stay[:, sources[stays], 0] = weights[:, stays]
        self._leave[:, sources[~stays], 0] = weights[:, ~stays]
        own = (self._leave[:, sources, 0] != weights) & ~stays
        #: so many models, the first ones, have a weight for each edge
        self._own = int(np.flatnonzero(own.any(axis=1)).max(initial=-1)) + 1
        # Back, all is times `keep` at once.
        self._kept = self.keep * self._stay, self.keep * self._leave
        self._to = [_neighbours(sources, targets, self.states, self.keep * row)
                    for row in weights[:self._own]]
        self._from = [_neighbours(targets, sources, self.states, row)
                      for row in weights[:self._own]]
        if self._own < self.models:
            self._to.append(_neighbours(sources, targets, self.states, None, ~stays))
            self._from.append(_neighbours(targets, sources, self.states, None, ~stays))
        self.nbytes = sum(table.nbytes for table in (*self._to, *self._from))

    def forward(self, joint: Floats, factor: Floats, chances: Floats, room: Room,
                after: Floats) -> None:
        """
        Put what f becomes by the switch and a move into `after`.

        :param joint: f: shape (models, states, words).
        :param factor: the likelihood of what was seen, for each state, over its probability:
            shape (states, words), or (words,).
        :param chances: Σ_m of f times that: shape (states, words).
        """
        shape = self.models, self.states + 1, joint.shape[2]
        mixed = room.zeros('mixed', shape)[:, :-1]
        np.multiply(joint, self.keep * factor, out=mixed)
        if self._switch is not None:
            drawn = room('models', joint.shape)
            np.multiply(self._switch, chances, out=drawn)
            np.add(mixed, drawn, out=mixed)
        self._move(shape, room, after)

    def _move(self, shape: tuple[int, ...], room: Room, after: Floats) -> None:
        """Move what `room` has under the name 'mixed' into `after`."""
        own, mixed = self._own, room.zeros('mixed', shape)
        for m in range(own):
            self._from[m].add(mixed[m:m + 1], after[m:m + 1], room)
        if own < self.models:
            moving = mixed[own:, :-1]
            stayed = room('stayed', moving.shape)
            np.multiply(self._stay[own:], moving, out=stayed)
            np.multiply(self._leave[own:], moving, out=moving)
            self._from[-1].add(mixed[own:], after[own:], room)
            np.add(after[own:], stayed, out=after[own:])

    def backward(self, after: Floats, factor: Floats | float, room: Room) -> None:
        """
        Make of P[all later signals | m, s] that of one tick before, in its place.

        :param after: shape (models, states + 1, words); the last state stays 0.
        :param factor: the likelihood of what is seen then, times any number: (states, words) or
            (words,).
        """
        own, later = self._own, after[:, :-1]
        here = room('here', later.shape)
        for m in range(own):
            self._to[m].add(after[m:m + 1], here[m:m + 1], room)
        if own < self.models:
            self._to[-1].add(after[own:], here[own:], room)
            stay, leave = self._kept
            np.multiply(here[own:], leave[own:], out=here[own:])
            stayed = room('stayed', later[own:].shape)
            np.multiply(stay[own:], later[own:], out=stayed)
            np.add(here[own:], stayed, out=here[own:])
        if self._more is not None:
            drawn = room('models', later.shape)
            np.multiply(self._more, here, out=drawn)
            np.add(here, np.add.reduce(drawn, axis=0), out=here)
        np.multiply(here, factor, out=later)

    def begin(self, state: int) -> Floats:
        """Return f of the first symbol of a word that begins at a state: (models, states, 1)."""
        shape, room = (self.models, self.states + 1, 1), Room()
        room.zeros('mixed', shape)[:, state, 0] = self.prior
        after = np.empty((self.models, self.states, 1))
        self._move(shape, room, after)
        return after


def _neighbours(rows: Ints | ShortInts, targets: Ints | ShortInts, states: int,
                weights: Floats | None, some: Booleans | None = None) -> Neighbours:
    """Return the neighbours by edges, ordered by `rows`; of some of the edges alone."""
    if some is not None:
        rows, targets = rows[some], targets[some]
    order = np.argsort(rows, kind='stable')
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=states))])
    return Neighbours(offsets, targets[order], None if weights is None else weights[order])
