# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums and maxima over the neighbours of each state, for many columns at once."""
from functools import cached_property
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Weights
from symdp_ros.core.loops import loops


class Neighbours:
    """
    The neighbours of each state.

    Those of a state are added one after another, in the order of its edges: for one column and for
    many, the sums are the same to the last bit. NumPy adds the first one of all states, then the
    second one of those that have one, and so on.

    :param offsets, targets: as `Chain.csr`.
    :param weights: of each edge; None: 1.
    """

    def __init__(self, offsets: Ints, targets: ShortInts | Ints,
                 weights: Floats | Weights | None = None):
        self.states = len(offsets) - 1
        self._offsets, self._targets, self._weights = offsets, targets, weights
        if loops is not None:
            some = () if weights is None else weights.astype(np.float64)
            #: as `core.loops` takes them
            self.edges = edges_in_c(offsets, targets, some, int(weights is not None))

    @cached_property
    def _ranks(self) -> tuple[list[tuple[Ints, Any]], Ints]:
        """
        Return the first neighbour of each state, the second one, and so on, and their weights.

        Of the states of most neighbours first: it also returns where each state is among them.
        """
        offsets, weights, ranks = self._offsets, self._weights, list[tuple[Ints, Any]]()
        degrees = np.diff(offsets)
        order = np.argsort(-degrees, kind='stable')
        for rank in range(int(degrees.max(initial=0))):
            edges = offsets[order[degrees[order] > rank]] + rank
            ranks.append((self._targets[edges].astype(np.intp),
                          None if weights is None else weights[edges, None].astype(np.float64)))
        return ranks, np.argsort(order)

    @classmethod
    def before(cls, offsets: Ints, targets: ShortInts | Ints,
               weights: Floats | Weights | None = None) -> 'Neighbours':
        """Return the neighbours from which edges lead to each state."""
        n = len(offsets) - 1
        order = np.argsort(targets, kind='stable')
        sources = np.repeat(np.arange(n), np.diff(offsets))[order]
        first = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=n))])
        return cls(first, sources, None if weights is None else weights[order])

    @property
    def nbytes(self) -> int:
        """Return the memory of the tables in bytes."""
        if loops is not None:
            size: int = self.edges.nbytes
            return size
        return self._targets.nbytes + (0 if self._weights is None else self._weights.nbytes)

    def add(self, values: Floats, out: Floats) -> None:
        """
        Put the (weighted) sum over the neighbours of each state into `out`.

        :param values: contiguous, of shape (models, states or more, columns).
        :param out: contiguous, of shape (models, states, columns); none of `values`.
        """
        if loops is not None:
            models, height, columns = values.shape
            loops.add(self.edges, values, out, models, height, self.states, columns)
            return
        ranks, places = self._ranks
        sums = np.zeros(out.shape)
        for there, weights in ranks:
            terms = values.take(there, axis=1)
            if weights is not None:
                terms *= weights
            sums[:, :len(there)] += terms
        np.take(sums, places, axis=1, out=out, mode='clip')

    def sums(self, values: Floats) -> Floats:
        """Return what `add` finds of values of shape (states, columns): the same shape."""
        sums = np.empty(values.shape)
        self.add(np.ascontiguousarray(values, np.float64)[None], sums[None])
        return sums

    def largest(self, values: Floats) -> Floats:
        """
        Return the maximum over the neighbours of each state; each must have one.

        :param values: shape (states, columns).
        :return: the same shape.
        """
        maxima = np.empty(values.shape)
        if loops is not None:
            loops.largest(self.edges, np.ascontiguousarray(values, np.float64), maxima, None, 0.0,
                          *values.shape)
            return maxima
        ranks, places = self._ranks
        for rank, (there, _) in enumerate(ranks):
            some = maxima[:len(there)]
            np.maximum(some if rank else -np.inf, values[there], out=some)
        return maxima[places]

    def first_of_largest(self, values: Floats, margin: float) -> tuple[Floats, Ints]:
        """
        Return the maxima, and the first neighbour whose value is within a margin of each.

        :return: the values of these neighbours, and their places among those of the state: shapes
            (states, columns).
        """
        maxima, places = np.empty(values.shape), np.empty(values.shape, np.int64)
        if loops is not None:
            loops.largest(self.edges, np.ascontiguousarray(values, np.float64), maxima, places,
                          margin, *values.shape)
            return maxima, places
        ranks, order = self._ranks
        least = self.largest(values)[np.argsort(order)] - margin
        for rank, (there, _) in reversed([*enumerate(ranks)]):
            some = slice(0, len(there))
            near = values[there] >= least[some]
            maxima[some] = np.where(near, values[there], maxima[some])
            places[some] = np.where(near, rank, places[some])
        return maxima[order], places[order]


def from_all(values: Floats, other: Any, stay: Any) -> Floats:
    """
    Return what leaves each state where all can follow all: no edge is stored.

    It is added up from those before it and those after it: a difference, from the sum of all,
    would not be precise.

    :param values: shape (states, …); `other` and `stay`, numbers or of shape (…), are the chances
        of each other state and of staying.
    """
    others = np.zeros_like(values)
    np.add.accumulate(values[:-1], axis=0, out=others[1:])
    others[:-1] += np.add.accumulate(values[:0:-1], axis=0)[::-1]
    sums: Floats = other * others + stay * values
    return sums


def edges_of(offsets: Ints, rows: Ints) -> Ints:
    """Return the numbers of the edges of these rows, row after row: int64."""
    counts = offsets[rows + 1] - offsets[rows]
    return np.repeat(offsets[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def edges_in_c(offsets: Ints, targets: ShortInts | Ints, weights: Any, models: int) -> Any:
    """
    Return edges by row as `core.loops` takes them.

    :param weights: shape (models, edges).
    """
    states = len(offsets) - 1
    return loops.Edges(
        np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(targets, np.int32),
        np.ascontiguousarray(weights, np.float64), states, len(targets), states, models)
