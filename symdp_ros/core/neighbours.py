# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sums and maxima over the neighbours of each state, for many columns at once."""
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts, Weights
from symdp_ros.core.loops import loops

_NARROW = 4          # neighbours, up to which states are worked on together
_AT_ONCE = 1 << 15   # numbers, up to which all neighbours are gathered in one go


class Room:
    """Arrays that are used again and again, each under a name."""

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        """Return an array of this shape; it may hold numbers of an earlier use."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape:
            array = self._arrays[name] = np.empty(shape, dtype)
        return array

    def zeros(self, name: str, shape: tuple[int, ...]) -> Floats:
        """Return an array that was 0 when it was first asked for in this shape."""
        array: Floats | None = self._arrays.get(name)
        if array is None or array.shape != shape:
            array = self._arrays[name] = np.zeros(shape)
        return array


class _Some(NamedTuple):
    """States that have about the same number of neighbours."""

    rows: Ints              # which states
    table: Ints             # (most neighbours, states); a state more where there is none
    closed: Ints            # the same; the first one again where there is none
    weights: Floats | None  # (most neighbours, states, 1)


class Neighbours:
    """
    The neighbours of each state, in tables of at most twice as many places as there are edges.

    The neighbours of a state are added one after another, in the order of its edges: for one
    column and for many, the sums are the same to the last bit.

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
            self.edges = edges_of(offsets, targets, some, int(weights is not None))

    @cached_property
    def _parts(self) -> list[_Some]:
        """Return the states by how many neighbours they have, fewest first."""
        offsets, targets, weights = self._offsets, self._targets, self._weights
        degrees, parts = np.diff(offsets), list[_Some]()
        low, most = -1, int(degrees.max(initial=0))
        high = _NARROW
        while low < most:
            rows = np.flatnonzero((degrees > low) & (degrees <= high))
            low, high = high, 2 * high
            if not len(rows):
                continue
            place = np.arange(degrees[rows].max())[:, None]
            there = place < degrees[rows]
            edge = np.where(there, offsets[rows] + place, 0)
            some = np.zeros(edge.shape) if weights is None else weights[edge].astype(np.float64)
            to = targets[edge].astype(np.intp) if len(targets) else 0
            table = np.where(there, to, self.states)
            parts.append(_Some(
                rows, table, np.where(there, table, table[:1]),
                None if weights is None else np.where(there, some, 0.0)[:, :, None]))
        return parts

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(np.concatenate([part.rows for part in self._parts]))

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
        return sum(part.table.nbytes + (0 if part.weights is None else part.weights.nbytes)
                   for part in self._parts)

    def add(self, values: Floats, out: Floats, room: Room) -> None:
        """
        Put the (weighted) sum over the neighbours of each state into `out`.

        :param values: shape (models, states + 1, columns); the last state is 0.
        :param out: shape (models, states, columns); none of `values`.
        """
        if loops is not None and values.flags.c_contiguous and out.flags.c_contiguous:
            models, height, columns = values.shape
            loops.add(self.edges, values, out, models, height, self.states, columns)
            return
        if len(self._parts) == 1:
            self._add_some(self._parts[0], values, out, room)
            return
        begin, models, columns = 0, len(values), values.shape[2]
        by_part = room('neighbours', (models, self.states, columns))
        for part in self._parts:
            end = begin + len(part.rows)
            if len(part.table):
                self._add_some(part, values, by_part[:, begin:end], room)
            else:
                by_part[:, begin:end] = 0.0
            begin = end
        np.take(by_part, self._order, axis=1, out=out, mode='clip')

    def _add_some(self, part: _Some, values: Floats, out: Floats, room: Room) -> None:
        models, columns = len(values), values.shape[2]
        width, rows = part.table.shape
        if width == 0:
            out[...] = 0.0
        elif 1 < rows * columns and models * width * rows * columns <= _AT_ONCE:
            every = values.take(part.table, axis=1)
            if part.weights is not None:
                every *= part.weights
            np.add.reduce(every, axis=1, out=out)
        else:
            one = room(f'neighbours {rows}', (models, rows, columns))
            for i, there in enumerate(part.table):
                to = one if i else out
                np.take(values, there, axis=1, out=to, mode='clip')
                if part.weights is not None:
                    np.multiply(to, part.weights[i], out=to)
                if i:
                    np.add(out, one, out=out)

    def sums(self, values: Floats) -> Floats:
        """Return what `add` finds of values of shape (states, columns): the same shape."""
        sums = np.empty(values.shape)
        if loops is not None:
            loops.add(self.edges, np.ascontiguousarray(values, np.float64), sums, 1,
                      *values.shape[:1], *values.shape)
            return sums
        padded = np.zeros((1, self.states + 1, values.shape[1]))
        padded[0, :-1] = values
        self.add(padded, sums[None], Room())
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
        for part in self._parts:
            if part.table.size * values.shape[1] <= _AT_ONCE:
                some: Floats = np.maximum.reduce(values.take(part.closed, axis=0), axis=0)
                if len(self._parts) == 1:
                    return some
                maxima[part.rows] = some
                continue
            best = values[part.closed[0]]
            for there in part.closed[1:]:
                np.maximum(best, values[there], out=best)
            maxima[part.rows] = best
        return maxima

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
        for part in self._parts:
            every = values[part.closed]
            place = (every >= every.max(axis=0) - margin).argmax(axis=0)
            places[part.rows] = place
            maxima[part.rows] = np.take_along_axis(every, place[None], 0)[0]
        return maxima, places


def edges_of(offsets: Ints, targets: ShortInts | Ints, weights: Any, models: int) -> Any:
    """
    Return edges by row as `core.loops` takes them.

    :param weights: shape (models, edges).
    """
    states = len(offsets) - 1
    return loops.Edges(
        np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(targets, np.int32),
        np.ascontiguousarray(weights, np.float64), states, len(targets), states, models)
