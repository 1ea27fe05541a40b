# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What is known of some words in step with one another, by tick: f, what was told, and γ of both.

Names as in `core.online.adaptive.adaptive`; arrays as in `core.online.adaptive.words`.
"""
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers
from symdp_ros.core.online.adaptive.moves import (before_beginning, ends_of, Moves, spread_evenly,
                                                  total)
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.adaptive.turns import Turns

_Known = TypeVar('_Known', bound='Known')


class Evidence(NamedTuple):
    """What a signal tells, and the zone."""

    codes: Numbers    # as of `Cells`; the largest one: outside of the zone: (states, words)
    chances: Floats   # of the signal, by code: (codes, words)
    places: Ints      # the number of the cell drawn, from 1; 0: none
    zones: Ints       # the number of the zone told, from 1; 0: none
    again: Booleans | None  # of which words f began again; None: of none
    turns: Turns | None  # of the words that are within a block; None: none is

    @property
    def marks(self) -> tuple[Ints, Ints]:
        """Return how the state of a word stores it: cells and zones."""
        turn = None if self.turns is None else self.turns.turns[0]
        return self.places if turn is None else turn.marks, self.zones

    def likelihood(self) -> Floats | None:
        """
        Return the probability of the signal for each symbol: shape (states, columns).

        None: all words are within a block, and there are no zones.
        """
        words, after = len(self.places), None if self.turns is None else self.turns.after
        if after is not None and not self.places.any() and not self.zones.any():
            return None
        if words == 1:
            chances = self.chances.take(self.codes)
        else:
            index = np.multiply(self.codes, words, dtype=np.intp)
            index += np.arange(words)
            chances = self.chances.ravel().take(index)
        return chances if after is None else chances.repeat(after, axis=1)

    def select(self, some: slice) -> 'Evidence':
        """Return this for some of the words."""
        parts: list[Any] = [part_of(part, some) for part in self[:-1]]
        parts.append(None if self.turns is None else self.turns.select(some))
        return Evidence(*parts)


@dataclass(slots=True)
class Tick:
    """
    What is known of the words at a tick, and what was told with it.

    :param joint: f before that; None: it is made again from an earlier tick.
    :param columns: how many f has for each word; None: one.
    :param ahead: with zones, the states that a route can be in, but for the zone told then; None
        between reports: shape (states, words).
    :param told: None: nothing, or not yet.
    :param likelihood: of that, where f is kept.
    """

    number: int
    joint: Floats | None
    columns: Ints | None = None
    ahead: Booleans | None = None
    told: Evidence | None = None
    likelihood: Floats | None = None

    def select(self, some: slice, words: int) -> 'Tick':
        """Return this for some of so many words."""
        joint, columns = self.joint, self.columns
        if joint is not None:
            ends = range(words + 1) if columns is None else ends_of(columns)
            joint = np.ascontiguousarray(joint[..., ends[some.start]:ends[some.stop]])
        told = None if self.told is None else self.told.select(some)
        return replace(self, joint=joint, columns=None if columns is None else columns[some],
                       ahead=part_of(self.ahead, some), told=told,
                       likelihood=None if told is None or joint is None else told.likelihood())


#: a tick, f when all had been told that was told with it, and the likelihood of that
_Step: TypeAlias = tuple[Tick, Floats, Floats | None]


class Known:
    """
    Of each tick that is kept, what is known: the last one is where the words stand.

    :param delay: in signals; None: all ticks are kept, for whole words.
    :param words: how many there are.
    :param kept: so many ticks, the last ones, are kept with all that is known of them.
    :param segment: of whole words, f of every so many ticks is kept, too; that of the others is
        made again.
    """

    def __init__(self, tables: AdaptiveTables, delay: int | None, words: int, kept: int,
                 segment: int):
        self.tables, self.delay, self.words = tables, delay, words
        self.moves: Moves = tables.moves  # with those that the word learns
        self._kept, self._segment = kept, segment
        self._ticks = deque[Tick]()

    @property
    def count(self) -> int:
        """Return how many ticks there were."""
        return self._ticks[-1].number

    def _at(self, tick: int) -> Tick:
        return self._ticks[tick - self._ticks[0].number]

    @property
    def joint(self) -> Floats:
        """Return f of the next symbol."""
        joint = self._ticks[-1].joint
        assert joint is not None
        return joint

    @property
    def belief(self) -> Floats:
        """Return f(s) of the next symbol: shape (states, columns)."""
        belief: Floats = np.add.reduce(self.joint, axis=0)
        return belief

    def inside(self, zones: Ints) -> Booleans:
        """
        Return the states that a route can be in where these zones are told next: R_t.

        :param zones: their numbers; −1: none is told: shape (words,).
        :return: shape (states, words); none in words whose routes cannot have the zone.
        """
        ahead, zone_of = self._ticks[-1].ahead, self.tables.zone_of
        assert ahead is not None and zone_of is not None
        inside: Booleans = ahead & (zone_of[:, None] == zones)
        return inside

    def _of_words(self, belief: Floats) -> Floats:
        """Return Σ over the columns of each word, of where the words stand."""
        if belief.shape[1] == self.words:
            return belief
        columns = self._ticks[-1].columns
        summed: Floats = np.add.reduceat(belief, [0] if columns is None else ends_of(columns)[:-1],
                                         axis=1)
        return summed

    def select(self: _Known, some: slice) -> _Known:
        """Return some of the words alone; these are not to be used any more."""
        selected = object.__new__(type(self))
        vars(selected).update(vars(self))
        selected.words = len(range(*some.indices(self.words)))
        selected._ticks = deque(tick.select(some, self.words) for tick in self._ticks)
        return selected

    def _go_back(self, count: int) -> None:
        while self.count > count:
            self._ticks.pop()

    def _move(self, ticks: int, ahead: Booleans | None) -> None:
        """
        Go on by some ticks.

        :param ahead: what a route can be in then.
        """
        for _ in range(ticks):
            tick = self._ticks[-1]
            assert tick.joint is not None
            columns = tick.columns
            if tick.told is not None:
                columns = None if tick.told.turns is None else tick.told.turns.after
            joint = self._moved(self._begun(tick.joint, tick.told, tick.columns), tick.told,
                                tick.likelihood, columns)
            self._ticks.append(Tick(tick.number + 1, joint, columns))
            if len(self._ticks) > self._kept:
                if self.delay is not None:
                    self._ticks.popleft()
                    continue
                old = self._ticks[-1 - self._kept]
                old.likelihood = None
                if old.number % self._segment:
                    old.joint = None
        self._ticks[-1].ahead = ahead

    def _begun(self, joint: Floats, told: Evidence | None, columns: Ints | None) -> Floats:
        """Return f when this had been told: where it began again, that."""
        if told is None or told.again is None:
            return joint
        joint = joint.copy()
        spread_evenly(joint, told.codes < len(told.chances) - 1, told.again, self.moves.prior,
                      columns)
        return joint

    def _moved(self, joint: Floats, told: Evidence | None, likelihood: Floats | None,
               columns: Ints | None) -> Floats:
        """
        Return f one tick later.

        :param columns: how many each word has then; None: a word that is alone has all.
        """
        if told is not None and told.turns is not None:
            joint = told.turns.forward(joint)
        groups = None
        if joint.shape[2] > self.words:
            groups = np.array([0, joint.shape[2]]) if columns is None else ends_of(columns)
        return self.moves.forward(joint, likelihood, groups)

    def _back(self, last: int, first: int) -> Iterator[_Step]:
        """Yield ticks from the last one back; what is not kept of a whole word is made again."""
        if self.delay is not None:
            for number in range(last, first - 1, -1):
                tick = self._at(number)
                assert tick.joint is not None
                yield tick, self._begun(tick.joint, tick.told, tick.columns), tick.likelihood
            return
        ticks = [*self._ticks]
        for begin in range(last - last % self._segment, first - 1, -self._segment):
            seen, joint = list[_Step](), ticks[begin].joint
            for tick in ticks[begin:min(begin + self._segment, last + 1)]:
                if seen:
                    before, f, likelihood = seen[-1]
                    joint = self._moved(f, before.told, likelihood, tick.columns)
                assert joint is not None
                seen.append((tick, self._begun(joint, tick.told, tick.columns),
                             None if tick.told is None else tick.told.likelihood()))
            while seen:
                yield seen.pop()

    def smoothed(self, last: int, first: int) -> Iterator[tuple[Tick, Floats]]:
        """Yield (tick, γ) of each report, from the last tick back; γ: shape (states, words)."""
        factor: Floats | None = None
        after: Floats | None = None
        for tick, joint, likelihood in self._back(last, first):
            turns = None if tick.told is None else tick.told.turns
            columns = tick.columns if turns is None else turns.after
            if after is None:
                after = np.zeros((self.moves.models, self.tables.states + 1,
                                  self.words if columns is None else columns.sum()))
                after[:, :-1] = 1.0 if likelihood is None else likelihood
            else:
                both = 1.0 if factor is None else factor
                if factor is not None and columns is not None:
                    both = factor.repeat(columns)
                self.moves.backward(after, both if likelihood is None else likelihood * both)
            if turns is not None:
                after, columns = turns.backward(after), turns.before
            factor = None
            if tick.number % self.tables.report == 0:
                summed = np.add.reduce(joint * after[:, :-1], axis=0)
                if columns is not None:
                    summed = np.add.reduceat(summed, ends_of(columns)[:-1], axis=1)
                factor = 1.0 / total(summed)
                yield tick, summed * factor
            if tick.told is not None and tick.told.again is not None:
                before_beginning(joint, after, tick.told.again, columns)


def part_of(array: Any, some: slice) -> Any:
    """Return what an array has of some of the words; of None, None."""
    return None if array is None else np.ascontiguousarray(array[..., some])
