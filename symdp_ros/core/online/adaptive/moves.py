# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The belief about the robot moves: by all public models at once, for many words at once.

Arrays have the axes (models, states, words). A model in which all moves from a state but staying
are equally likely has two numbers for each state, and no weight for each edge: the sums over the
neighbours are then one for all such models.
"""
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, ShortInts
from symdp_ros.core.loops import loops
from symdp_ros.core.models import Models
from symdp_ros.core.neighbours import edges_in_c, Neighbours


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
        self._models = models
        #: of each zone its `core.online.adaptive.blocks.Region`, once it was made
        self.regions: dict[int | None, Any] = {}
        self._edges = None
        if loops is not None:
            named, none = weights[:self._own], np.empty((0, len(targets)))
            #: that lead to each state, and from each state: of the first models, and of the others
            self._edges = [
                (_edges(rows, there, kept * named, self.states),
                 _edges(rows[~stays], there[~stays], none[:, ~stays], self.states))
                for rows, there, kept in ((targets, sources, 1.0), (sources, targets, self.keep))]
            self.nbytes = sum(edges.nbytes for both in self._edges for edges in both)
            return
        self._to = [_neighbours(sources, targets, self.states, self.keep * row)
                    for row in weights[:self._own]]
        self._from = [_neighbours(targets, sources, self.states, row)
                      for row in weights[:self._own]]
        if self._own < self.models:
            self._to.append(_neighbours(sources, targets, self.states, None, ~stays))
            self._from.append(_neighbours(targets, sources, self.states, None, ~stays))
        self.nbytes = sum(table.nbytes for table in (*self._to, *self._from))

    @property
    def weights(self) -> Floats:
        """Return P_m of each edge: float64, shape (models, edges)."""
        return self._models.weights.astype(np.float64)

    @property
    def ends(self) -> tuple[Ints, ShortInts]:
        """Return whence each edge leads, and where to."""
        offsets = self._models.offsets
        return np.repeat(np.arange(self.states), np.diff(offsets)), self._models.targets

    def switched(self, joint: Floats) -> Floats:
        """Return f after the switch, before the move."""
        return self._models.switched(joint)

    @cached_property
    def by_state(self) -> tuple[Ints, Floats]:
        """
        Return what can follow each state, and how likely that is by each model.

        :return: shapes (states, most), the number of states after the last; and (models, states,
            most).
        """
        offsets, models = self._models.offsets, self._models
        degrees = np.diff(offsets)
        place = np.arange(degrees.max())
        there = place < degrees[:, None]
        edges = np.where(there, offsets[:-1, None] + place, 0)
        weights = np.where(there, models.weights[:, edges].astype(np.float64), 0.0)
        return (np.where(there, models.targets[edges], self.states).astype(np.int64),
                np.ascontiguousarray(weights))

    def forward(self, joint: Floats, likelihood: Floats | None,
                groups: Ints | None = None) -> Floats:
        """
        Return f after a signal, the switch and a move.

        :param joint: f: shape (models, states, words).
        :param likelihood: of the signal, for each state: shape (states, words); None: there is
            none.
        :param groups: where the columns of each word begin, and at last where they end, which sum
            to 1 together: of each count in a block; None: each word has one.
        """
        after = np.empty(joint.shape)
        if self._edges is not None:
            loops.predict(*self._edges[0], joint, likelihood, after, self.keep, groups,
                          self._switch, self._own, self._stay, self._leave, *joint.shape,
                          0 if groups is None else len(groups) - 1)
            return after
        chances = np.add.reduce(joint, axis=0)
        if likelihood is not None:
            chances *= likelihood
        factor = 1.0 / sums_of(chances, groups)
        own, mixed = self._own, joint * (
            self.keep * (factor if likelihood is None else likelihood * factor))
        if self._switch is not None:
            mixed += self._switch * (chances * factor)
        for m in range(own):
            self._from[m].add(mixed[m:m + 1], after[m:m + 1])
        if own < self.models:
            self._from[-1].add(self._leave[own:] * mixed[own:], after[own:])
            after[own:] += self._stay[own:] * mixed[own:]
        return after

    def backward(self, after: Floats, factor: Floats | float) -> None:
        """
        Turn P[all later signals | m, s] into that of one tick before, in place.

        :param after: shape (models, states + 1, words); the last state stays 0.
        :param factor: the likelihood of what is seen then, times any number: (states, words) or
            (words,).
        """
        if self._edges is not None:
            by = None if isinstance(factor, float) else np.ascontiguousarray(factor)
            by_state, by_word = (by, None) if by is not None and by.ndim == 2 else (None, by)
            assert by is not None or factor == 1.0
            loops.backward(*self._edges[1], after, by_state, by_word, self._more, self._own,
                           *self._kept, self.models, self.states, after.shape[2])
            return
        own, later = self._own, after[:, :-1]
        here = np.empty(later.shape)
        for m in range(own):
            self._to[m].add(after[m:m + 1], here[m:m + 1])
        if own < self.models:
            self._to[-1].add(after[own:], here[own:])
            stay, leave = self._kept
            here[own:] *= leave[own:]
            here[own:] += stay[own:] * later[own:]
        if self._more is not None:
            here += np.add.reduce(self._more * here, axis=0)
        np.multiply(here, factor, out=later)

    def begin(self, state: int) -> Floats:
        """Return f of the first symbol of a word that begins at a state: (models, states, 1)."""
        joint, models = np.zeros((self.models, self.states, 1)), self._models
        edges = slice(models.offsets[state], models.offsets[state + 1])
        joint[:, models.targets[edges], 0] = (
            self.prior[:, None] * models.weights[:, edges].astype(np.float64))
        return joint


def total(values: Floats) -> Floats:
    """Return Σ_s: (states, words) → (words,). However many words there are, it is the same."""
    sums: Floats = np.add.reduce(np.ascontiguousarray(values.T), axis=1)
    return sums


def sums_of(values: Floats, groups: Ints | None) -> Floats:
    """Return `total`; of each group of columns, as of `Moves.forward`, that of all of them."""
    sums = total(values)
    if groups is None:
        return sums
    return np.concatenate([np.full(end - begin, np.add.reduce(sums[begin:end]))
                           for begin, end in pairwise(groups.tolist())])


def ends_of(counts: Ints) -> Ints:
    """Return where each of some parts that follow one another begins, and where the last ends."""
    ends = np.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=ends[1:])
    return ends


def spread_evenly(joint: Floats, within: Booleans, some: Booleans, prior: Floats,
                  columns: Ints | None = None) -> None:
    """
    Let f begin again in some words: some states are equally likely, f(m, s) = q(m)/count.

    Within a block that tells nothing of the counts so far: each is as likely as it was.

    :param within: these states: booleans, shape (states, words).
    :param some: shape (words,).
    :param columns: how many each word has; None: one, or, of a word that is alone, all.
    """
    ends = _ends_of_columns(joint, some, columns)
    for word in np.flatnonzero(some).tolist():
        here = joint[:, :, ends[word]:ends[word + 1]]
        counts = np.array([np.ascontiguousarray(f).sum() for f in here.transpose(2, 0, 1)])
        even = prior[:, None] * (within[:, word] / within[:, word].sum())
        here[...] = even[:, :, None] * (counts / counts.sum())


def before_beginning(joint: Floats, later: Floats, some: Booleans,
                     columns: Ints | None = None) -> None:
    """
    Make P[all later signals | m, s], where f began again in some words, that of one tick before.

    Nothing but the counts so far tells anything of them: in place.

    :param joint: f when it had begun again.
    :param later: shape (models, states + 1, columns).
    :param some, columns: as of `spread_evenly`.
    """
    ends = _ends_of_columns(joint, some, columns)
    for word in np.flatnonzero(some).tolist():
        for column in range(ends[word], ends[word + 1]):
            f = np.ascontiguousarray(joint[:, :, column])
            all_f = f.sum()
            later[:, :-1, column] = (
                (f * later[:, :-1, column]).sum() / all_f if all_f > 0 else 0.0)


def _ends_of_columns(joint: Floats, some: Booleans, columns: Ints | None) -> list[int]:
    """Return `ends_of` of the columns of each word, as of `spread_evenly`."""
    if columns is None:
        columns = np.full(len(some), joint.shape[2] // len(some))
    ends: list[int] = ends_of(columns).tolist()
    return ends


def _edges(rows: Ints | ShortInts, targets: Ints | ShortInts, weights: Floats,
           states: int) -> Any:
    """Return edges as `core.loops` takes them, ordered by `rows`."""
    order = np.argsort(rows, kind='stable')
    offsets = ends_of(np.bincount(rows, minlength=states))
    return edges_in_c(offsets, targets[order], weights[:, order], len(weights))


def _neighbours(rows: Ints | ShortInts, targets: Ints | ShortInts, states: int,
                weights: Floats | None, some: Booleans | None = None) -> Neighbours:
    """Return the neighbours by edges, ordered by `rows`; of some of the edges alone."""
    if some is not None:
        rows, targets = rows[some], targets[some]
    order = np.argsort(rows, kind='stable')
    offsets = ends_of(np.bincount(rows, minlength=states))
    return Neighbours(offsets, targets[order], None if weights is None else weights[order])
