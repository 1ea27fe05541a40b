# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A block under way, row by row: what is known moves on to the counts of its symbols so far.

f has one more axis within a block, the counts so far: (models, states, counts). With a symbol,
what is known of a state moves to the counts with one more in its cell; with the signal z, all is
weighed by the chance of z for each count, and summed over the counts. Back, the same is done
transposed. With zones, of which one is told with each report, a block also has the reports between
two of its symbols: there nothing is counted, but it can end there.
"""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers
from symdp_ros.core.loops import loops
from symdp_ros.core.online.counts import after, CountResponse, vectors
from symdp_ros.core.zones import Count

INSIDE = 2**32 - 1  # in a state: a row of a block, not its last one


class Turn(NamedTuple):
    """
    One row of a block (`AdaptiveTables.row`): a symbol of it, or the zone told between two.

    :param number: from 0.
    """

    block: 'Block'
    number: int

    @property
    def ends(self) -> bool:
        """Return whether something was drawn with this row."""
        return self.block.place > 0 and self.block.rows == self.number + 1

    @property
    def marks(self) -> Ints:
        """Return how a state stores it: what was drawn, `INSIDE`, or 0 while it waits."""
        return np.array([self.block.place if self.ends or not self.block.place else INSIDE])


class Turns:
    """
    One row of each of some words, of which some are within a block.

    Arrays have one column for each count so far of a word's block, one for other words; words come
    one after another.

    :param turns: of each word; None: it is in no block.
    """

    def __init__(self, turns: Sequence[Turn | None]):
        self.turns = turns
        self.update()

    def update(self) -> None:
        """Take note of what was drawn since."""
        #: how many columns each word has before the row, and after it
        self.before = np.array([
            1 if turn is None else turn.block.columns(turn.number) for turn in self.turns])
        self.after = np.array([
            1 if turn is None or turn.ends else turn.block.columns(turn.number + 1)
            for turn in self.turns])
        #: whether one is a symbol: then all of them are
        self._counts = any(turn is not None and turn.number % turn.block.rows_each == 0
                           for turn in self.turns)
        if loops is not None and self._counts:
            #: of each word, the number of its symbol, m, and how many weights it has before
            self._kinds = np.zeros((len(self.turns), 3), np.int64)
            self._codes = np.zeros((len(self.turns), self._states), np.uint8)
            weights, at = list[Floats](), 0
            for word, turn in enumerate(self.turns):
                if turn is not None:
                    symbol = turn.block.symbols(turn.number)
                    self._kinds[word] = symbol, turn.block.cells - 1, at if turn.ends else -1
                    self._codes[word] = turn.block.codes[symbol]
                    if turn.ends:
                        weights.append(turn.block.likelihood)
                        at += len(weights[-1])
            self._weights = np.concatenate(weights) if weights else np.empty(0)

    @property
    def _states(self) -> int:
        states: int = next(turn.block.codes.shape[1] for turn in self.turns if turn is not None)
        return states

    def select(self, some: slice) -> 'Turns | None':
        """Return this for some of the words; None: none of them is in a block."""
        turns = self.turns[some]
        return None if all(turn is None for turn in turns) else Turns(turns)

    def forward(self, joint: Floats) -> Floats:
        """Return what is known with the row: (models, states, columns) → other columns."""
        models, states, columns = joint.shape
        if loops is not None and self._counts:
            moved = np.empty((models, states, self.after.sum()))
            loops.turn(True, joint, self._kinds, self._codes, self._weights, moved, models, states,
                       len(self.turns), columns, moved.shape[2])
            return moved
        every = np.arange(states)[:, None]
        parts = np.split(joint, np.cumsum(self.before)[:-1], axis=2)
        for word, turn in enumerate(self.turns):
            if turn is None or not (self._counts or turn.ends):
                continue
            counts, here = turn.block.following(turn.number), parts[word]
            if turn.ends:
                weighed = here * turn.block.likelihood[counts]
                for count in range(1, weighed.shape[2]):  # one after another
                    weighed[:, :, 0] += weighed[:, :, count]
                parts[word] = weighed[:, :, :1]
            else:
                parts[word] = np.zeros((models, states, self.after[word]))
                parts[word][:, every, counts] = here
        return np.concatenate(parts, axis=2)

    def backward(self, later: Floats) -> Floats:
        """
        Return the chance of all later signals before the row, from that after it.

        :param later: shape (models, states + 1, columns); the last state is 0.
        """
        models, states, columns = later.shape
        if loops is not None and self._counts:
            earlier = np.empty((models, states, self.before.sum()))
            loops.turn(False, later, self._kinds, self._codes, self._weights, earlier, models,
                       states - 1, len(self.turns), columns, earlier.shape[2])
            return earlier
        every = np.arange(states - 1)[:, None]
        parts = np.split(later, np.cumsum(self.after)[:-1], axis=2)
        for word, turn in enumerate(self.turns):
            if turn is None or not (self._counts or turn.ends):
                continue
            counts, here = turn.block.following(turn.number), parts[word]
            if turn.ends:
                here = here * turn.block.likelihood
            parts[word] = np.zeros((models, states, self.before[word]))
            parts[word][:, :-1] = here[:, every, counts]
        return np.concatenate(parts, axis=2)


class Block:
    """
    A block of symbols, and what was drawn of it.

    :param responses: of blocks that are cut short after each number of symbols, from 1.
    :param codes: the cell of each state at each symbol, from 0: shape (symbols, states).
    :param zone: the number of that in which its symbols lie; None: there are no zones.
    :param rows_each: rows from one symbol to the next.
    """

    def __init__(self, responses: list[CountResponse], codes: Numbers, zone: int | None = None,
                 rows_each: int = 1):
        self.responses, self.codes, self.zone = responses, codes, zone
        self.rows_each = rows_each
        #: rows that it can have: it ends with its last symbol
        self.most_rows = (len(responses) - 1) * rows_each + 1
        #: of each symbol
        self.cells = responses[0].cells
        #: rows that it has: fewer where it was cut short
        self.rows = self.most_rows
        #: which vector was drawn, from 1; 0: none is yet
        self.place = 0

    @property
    def likelihood(self) -> Floats:
        """Return the chance of what was drawn, by the counts."""
        chances: Floats = self.response(self.rows).chances[self.place - 1]
        return chances

    def symbols(self, rows: int) -> int:
        """Return how many symbols are in the first so many rows."""
        return -(-rows // self.rows_each)

    def response(self, rows: int) -> CountResponse:
        """Return the response if it has so many rows."""
        return self.responses[self.symbols(rows) - 1]

    def vectors(self, rows: int) -> tuple[tuple[int, ...], ...]:
        """Return what can be counted in so many rows."""
        return vectors(self.symbols(rows), self.cells)

    def columns(self, rows: int) -> int:
        """Return of how many counts something is known after so many rows."""
        return len(self.vectors(rows))

    def cells_at(self, row: int) -> tuple[Numbers, Ints]:
        """
        Return the cell of each state in a row, and which counts follow each by the cell.

        Between two symbols there is one cell, and nothing is counted.
        """
        symbols = self.symbols(row)
        if row % self.rows_each:
            return np.zeros_like(self.codes[0]), np.arange(self.columns(row))[:, None]
        return self.codes[symbols], after(symbols, self.cells)

    def following(self, row: int) -> Ints:
        """Return which counts each state leads to: shape (states, counts before)."""
        codes, then = self.cells_at(row)
        counts: Ints = then.T[codes]
        return counts

    def can_draw(self, place: int, rows: int) -> bool:
        """Return whether a vector, by its number from 1, can be drawn of so many rows."""
        chances = self.response(rows).chances
        return 0 < place <= len(chances) and bool(chances[place - 1].any())

    def place_of(self, signal: Any, rows: int) -> int:
        """
        Return the number of what was drawn of so many rows, from 1; 0: it cannot be that.

        :param signal: without its zone.
        """
        if not isinstance(signal, Count) or signal.zone is not None or (
                signal.counts not in self.vectors(rows)):
            return 0
        place = 1 + self.vectors(rows).index(signal.counts)
        return place if self.can_draw(place, rows) else 0
