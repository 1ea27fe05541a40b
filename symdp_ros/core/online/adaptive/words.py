# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some words of the policy adaptive in step with one another: what is known, and their reports.

Names as in `core.online.adaptive.adaptive`. Arrays have the axes (models, states, words), or some
of these. All words stand at one tick. A word that is drawn live is alone here; whatever words are
beside it, its numbers are the same to the last bit, but for H and the sums beside it.
"""
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers
from symdp_ros.core.neighbours import Room
from symdp_ros.core.online.adaptive.cells import Cells, choose
from symdp_ros.core.online.adaptive.moves import total
from symdp_ros.core.online.adaptive.tables import AdaptiveTables

SEGMENT = 64  # ticks, at least, of a whole word whose f is kept once

_LEAST = 1e-6      # probability of a state that counts in the matches to come
_NOTHING = 1e-200  # probability that counts as 0 where all else is impossible
_TIE = 1e-12
_FEW = 16          # successors, up to which X is looked up for each of them


class Told(NamedTuple):
    """What a signal tells, and the zone."""

    codes: Numbers    # as of `Cells`; the largest one: outside of the zone: (states, words)
    chances: Floats   # of the signal, by code: (codes, words)
    places: Ints      # the number of the cell drawn, from 1; 0: none
    zones: Ints       # the number of the zone told, from 1; 0: none
    again: Booleans   # whether f began again

    def likelihood(self) -> Floats:
        """Return the probability of the signal for each symbol: shape (states, words)."""
        if len(self.places) == 1:
            found: Floats = self.chances.take(self.codes)
            return found
        words = len(self.places)
        index = np.multiply(self.codes, words, dtype=np.intp)
        index += np.arange(words)
        return self.chances.ravel().take(index)

    def select(self, some: slice) -> 'Told':
        """Return this for some of the words."""
        parts: list[Any] = [np.ascontiguousarray(part[..., some]) for part in self]
        return Told(*parts)


class Words:
    """
    Some words, begun at one state.

    :param delay: in signals; None: all reports leave with `finish`.
    :param count: of words.
    """

    count: int              # ticks so far
    previous: Ints          # the last report of each word: (words,)
    cells: Cells | None     # of the next signal; None: none is due
    posterior: Floats | None  # γ of what was reported last: (states, words)

    def __init__(self, tables: AdaptiveTables, delay: int | None, count: int = 1):
        self.tables, self.delay, self.words = tables, delay, count
        #: in reports
        self.held = 0 if delay is None else delay * tables.signal // tables.report
        #: reports that leave before more is known
        self._leaving = tables.row // tables.report if delay else 1
        self._rows = self.held * tables.report // tables.row + 1  # of what signals told
        self.length = max(1, SEGMENT // tables.signal) * tables.signal  # of a segment, in ticks
        self._at_once = tables.reports_at_once(delay)
        self._room = Room()

    def begin(self, position: int) -> None:
        """Stand at the begin of a word, where the robot is at a state."""
        tables = self.tables
        joint = tables.moves.begin(position)
        for _ in range(tables.report - 1):
            belief = joint.sum(axis=0)
            tables.moves.forward(joint, belief, None, joint, belief, self._room)
        self.stand(np.repeat(joint, self.words, axis=2), 0, position)
        if tables.zones is not None:
            start = np.zeros((tables.states, self.words), np.bool_)
            start[tables.heads[tables.hops[position]:tables.hops[position + 1]]] = True
            self.start_ahead(start)

    def stand(self, joint: Floats, count: int, previous: int) -> None:
        """Stand at a tick, knowing f alone."""
        self.count, self.previous = count, np.full(self.words, previous)
        ticks = self.held * self.tables.report + 1
        self._ring: list[Floats | None] = [None] * ticks
        self._ring[count % ticks] = joint
        self.told: list[Told | None] = [None] * (0 if self.delay is None else self._rows)
        self._likely: list[Floats | None] = [None] * self._rows
        self.begins: list[Floats] = []  # f of the first tick of each segment
        self.posterior, self._route = None, np.zeros((self._leaving, self.words), np.int64)
        self._planned: list[Floats] = [np.empty((0, 0))] * self._leaving
        self._belief: Floats = joint.sum(axis=0)
        self._due()

    def start_ahead(self, ahead: Booleans) -> None:
        """Begin with what a route can be in at the tick where the words stand."""
        self.start = ahead
        self.ahead = [ahead] * (self.held + 1)

    def oldest_ahead(self) -> Booleans:
        """Return what a route can be in at the oldest tick whose report has not left."""
        if self.delay is None:
            return self.start
        return self.ahead[self.since // self.tables.report % len(self.ahead)]

    @property
    def joint(self) -> Floats:
        """Return f of the next symbol."""
        found = self._ring[self.count % len(self._ring)]
        assert found is not None
        return found

    def oldest(self) -> Floats:
        """Return f of the oldest tick whose report has not left."""
        if self.delay is None:
            return self.begins[0] if self.begins else self.joint
        found = self._ring[self.since % len(self._ring)]
        assert found is not None
        return found

    @property
    def belief(self) -> Floats:
        """Return f(s) of the next symbol: shape (states, words)."""
        return self._belief

    @property
    def since(self) -> int:
        """Return the first tick whose report is due yet."""
        return self.since_of(self.count)

    def since_of(self, count: int) -> int:
        """Return that tick of words that stand at some tick."""
        return 0 if self.delay is None else max(0, count - self.held * self.tables.report)

    def kept(self) -> Iterator[Told]:
        """Yield what was told since the first report that is left."""
        first = -(-self.since // self.tables.row) * self.tables.row
        for tick in range(first, self.count, self.tables.row):
            told = self._told_at(tick)
            assert told is not None
            yield told

    def select(self, some: slice) -> 'Words':
        """Return some of the words alone; these are not to be used any more."""
        found = object.__new__(Words)
        vars(found).update(vars(self))
        found._room = Room()
        found.words = len(range(*some.indices(self.words)))

        def part(array: Any) -> Any:
            return np.ascontiguousarray(array[..., some])

        found.previous, found._route = self.previous[some], part(self._route)
        found._ring = [None if f is None else part(f) for f in self._ring]
        found.begins = [part(f) for f in self.begins]
        found.told = [None if told is None else told.select(some) for told in self.told]
        found._likely = [None if f is None else part(f) for f in self._likely]
        found._planned = [part(f) for f in self._planned]
        found._belief = part(self._belief)
        found.posterior = None if self.posterior is None else part(self.posterior)
        found.cells = None if self.cells is None else Cells(*map(part, self.cells))
        if self.tables.zones is not None:
            found.start = part(self.start)
            found.ahead = [part(ahead) for ahead in self.ahead]
        return found

    def _due(self) -> None:
        """Choose the cells where a signal is due."""
        self.cells = None
        if self.tables.zones is None and self.count % self.tables.signal == 0:
            self.cells = choose(self.tables, self._belief, self.previous, self._at_once)

    def prepare(self, zones: Ints) -> None:
        """
        Make all ready for a zone to be told next.

        :param zones: their numbers, shape (words,).
        """
        tables = self.tables
        assert tables.zone_of is not None
        ahead = self.ahead[self.count // tables.report % len(self.ahead)]
        self._inside = ahead & (tables.zone_of[:, None] == zones)
        self._ready = self._inside.any(axis=0)
        self.cells = None
        if self.count % tables.signal or not self._ready.any():
            return
        some = self._ready
        if some.all():
            self.cells = choose(tables, self._belief, self.previous, self._at_once, self._inside)
            return
        cells = choose(tables, self._belief[:, some], self.previous[some], self._at_once,
                       self._inside[:, some])
        sizes = np.zeros(self.words, np.int64)
        founders = np.full((len(cells.founders), self.words), -1)
        codes = np.zeros((tables.states, self.words), cells.codes.dtype)
        sizes[some], founders[:, some], codes[:, some] = cells
        self.cells = Cells(sizes, founders, codes)

    def take(self, places: Ints, zones: Ints | None = None, reports: bool = True) -> bool:
        """
        Go on to the next report: take in a signal.

        :param places: of each word, the number of the cell that was drawn, from 1; 0: none.
        :param zones: the numbers of the zones told, which are ready; −1: none is told.
        :param reports: whether to make the report that is due.
        :return: whether there is a report: `previous`.
        """
        tables, told = self.tables, None
        if self.count % tables.row == 0:
            told = self._tell(places, zones)
        reported = reports and self.delay is not None and self.held * tables.report <= self.count
        if reported:
            self._report()
        likelihood = None if told is None else self._likely[self._row_of(self.count)]
        for tick in range(self.count, self.count + tables.report):
            here, next_ = (t % len(self._ring) for t in (tick, tick + 1))
            joint, after = self._ring[here], self._ring[next_]
            assert joint is not None
            if after is None:
                after = self._ring[next_] = np.empty_like(joint)
            tables.moves.forward(joint, self._belief, likelihood, after, self._belief, self._room)
            likelihood = None
        self.count += tables.report
        self._due()
        return reported

    def _row_of(self, tick: int) -> int:
        return tick // self.tables.row % self._rows

    def _tell(self, places: Ints, zones: Ints | None) -> Told:
        """Take note of what a signal tells, and the zone."""
        tables, words = self.tables, self.words
        if self.delay is None and self.count % self.length == 0:
            self.begins.append(self.joint.copy())
        if self.cells is None:
            codes, chances = np.zeros((tables.states, words), np.uint8), np.ones((2, words))
        else:
            sizes, founders, codes = self.cells
            chances = np.empty((len(founders) + 2, words))
            other, own, uniform, _ = tables.shares
            chances[:] = other[sizes]
            chances[0] = uniform[sizes]
            chances[places, np.arange(words)] = own[sizes]
            chances[:, places == 0] = 1.0
        chances[-1] = 0.0
        again = np.zeros(words, np.bool_)
        tell = np.zeros(words, np.int64)
        if tables.zones is not None:
            at = self.count // tables.report
            within = self.ahead[at % len(self.ahead)]
            if zones is not None:
                true = (zones >= 0) & self._ready
                tell[true] = 1 + zones[true]
                within = np.where(true, self._inside, within)
                codes = np.where(~within & true, codes.dtype.type(len(chances) - 1), codes)
                again = self._begin_again(within, true)
            self.ahead[(at + 1) % len(self.ahead)] = tables.can_follow(within)
        told = Told(codes, chances, places, tell, again)
        row = self._row_of(self.count)
        if self.delay is None:
            self.told.append(told)
        else:
            self.told[row] = told
        self._likely[row] = told.likelihood()
        return told

    def _begin_again(self, within: Booleans, told: Booleans) -> Booleans:
        """Where f is 0 on all that is possible, make that equally likely; return where it was."""
        again: Booleans = told & (total(np.where(within, self._belief, 0.0)) <= _NOTHING)
        if again.any():
            _spread_evenly(self.joint, within, again, self.tables.moves.prior)
            np.add.reduce(self.joint, axis=0, out=self._belief)
        return again

    # Reports.

    def _report(self) -> None:
        """Report what was `delay` signals before the tick where the words stand."""
        number = self.count % (self._leaving * self.tables.report) // self.tables.report
        if number == 0:
            self.plan(self.count, 0)
        self.posterior, self.previous = self._planned[number], self._route[number].copy()

    def plan_again(self) -> None:
        """Choose the reports that were chosen before, and have not left."""
        since = self.count % (self._leaving * self.tables.report)
        if since and self.delay is not None and self.count >= self.held * self.tables.report:
            self.plan(self.count - since, since // self.tables.report)

    def plan(self, count: int, since: int) -> None:
        """
        Choose the reports that leave from the tick of number `count` on until more is known.

        :param since: how many of those reports have left: they are not chosen.
        """
        tables, previous, later = self.tables, self.previous, np.empty((0, 0))
        values: list[Floats] = [later] * self._leaving
        ahead = self.held + 1
        ticks = range(count, count - (self.held - since) * tables.report - 1, -1)
        for tick, likely in self._smoothed(self._kept(ticks)):
            ahead -= 1
            if tick < count:
                later = likely + tables.routes.largest(later)
            elif self.held:
                later = self._matches_to_come(likely, previous, self.held - since + 1)
            else:
                later = self._matches_at_once(likely, previous)
            self._count_zones(tick, later, False)
            if ahead < self._leaving:
                self._planned[ahead], values[ahead] = likely, later
        for number in range(since, self._leaving):
            previous = self._best(values[number], previous)[1]
            self._route[number] = previous

    def _kept(self, ticks: range) -> Iterator[tuple[int, Floats, Told | None, Floats | None]]:
        """Yield (tick, f, what was told, its likelihood) of ticks in the window of the delay."""
        for tick in ticks:
            joint, row = self._ring[tick % len(self._ring)], self._row_of(tick)
            assert joint is not None
            if tick % self.tables.row:
                yield tick, joint, None, None
            else:
                yield tick, joint, self.told[row], self._likely[row]

    def _smoothed(self, ticks: Iterator[tuple[int, Floats, Told | None, Floats | None]]
                  ) -> Iterator[tuple[int, Floats]]:
        """Yield (tick, γ) of each report, from the last tick back; γ: shape (states, words)."""
        moves, room = self.tables.moves, self._room
        factor: Floats | None = None
        after = room.zeros('later', (moves.models, self.tables.states + 1, self.words))
        begins = True
        for tick, joint, told, likelihood in ticks:
            if begins:
                after[:, :-1] = 1.0 if likelihood is None else likelihood
            else:
                both = 1.0 if factor is None else factor
                moves.backward(after, both if likelihood is None else likelihood * both, room)
            begins, factor = False, None
            if tick % self.tables.report == 0:
                joined = room('models', joint.shape)
                np.multiply(joint, after[:, :-1], out=joined)
                found = np.add.reduce(joined, axis=0)
                factor = 1.0 / total(found)
                yield tick, found * factor
            if told is not None and told.again.any():
                after[:, :-1, told.again] = 1.0  # s does not depend on what was before

    def _count_zones(self, tick: int, later: Floats, all_zones: bool) -> None:
        """Let who reports the zone that was told have a match more; or no others have any."""
        told = self._told_at(tick)
        if self.tables.zone_of is None or told is None or not told.zones.any():
            return
        there = self.tables.zone_of[:, None] == told.zones - 1
        later[there] += 1.0
        if all_zones:
            later[~there & (told.zones > 0)] = -np.inf

    def _told_at(self, tick: int) -> Told | None:
        if tick % self.tables.row:
            return None
        return self.told[tick // self.tables.row if self.delay is None else self._row_of(tick)]

    def _matches_to_come(self, likely: Floats, previous: Ints, moves: int) -> Floats:
        """Return Σ_s γ(s)·X(o, s) for each state o that so many moves can reach, or all."""
        tables, reached = self.tables, None
        if tables.radius is not None:
            near = np.zeros((tables.states, self.words), np.bool_)
            near[previous, np.arange(self.words)] = True
            for _ in range(moves):
                near |= tables.can_follow(near)
            reached = [np.flatnonzero(column) for column in near.T]
        return tables.X.expected(np.where(likely > _LEAST, likely, 0.0), reached)

    def _matches_at_once(self, likely: Floats, previous: Ints) -> Floats:
        """Return the same for the successors of `previous`, or all."""
        tables = self.tables
        if tables.radius is not None or tables.successors.shape[1] > _FEW:
            return self._matches_to_come(likely, previous, 1)
        return tables.X.expected_next(tables.successors, previous,
                                      np.where(likely > _LEAST, likely, 0.0))

    def _best(self, later: Floats, previous: Ints) -> tuple[Ints, Ints]:
        """Return which successor comes first within 10⁻¹² of the largest: its place, and it."""
        able, words = self.tables.successors[previous], np.arange(self.words)
        values = later[np.maximum(able, 0), words[:, None]]
        values[able < 0] = -np.inf
        hits = (values >= values.max(axis=1, keepdims=True) - _TIE) & (able >= 0)
        places = hits.argmax(axis=1)
        return places, able[words, places].astype(np.int64)

    def finish(self) -> Ints:
        """Return the reports of the rest of the words: positions, shape (reports, words)."""
        tables, since = self.tables, self.since
        length = (self.count - since) // tables.report
        route = np.empty((length, self.words), np.int64)
        if not length:
            return route
        choices = np.zeros((length, tables.states, self.words), tables.place_type)
        later, last = np.empty((0, 0)), self.count - tables.report
        ticks = self._whole(last) if self.delay is None else self._kept(range(last, since - 1, -1))
        for tick, likely in self._smoothed(ticks):
            if tick == last:
                later = likely
            else:
                now, places = tables.routes.first_of_largest(later, _TIE)
                choices[(tick - since) // tables.report] = places
                later = np.add(now, likely, out=now)
            self._count_zones(tick, later, self.delay is None)
        _, route[0] = self._best(later, self.previous)
        words = np.arange(self.words)
        for t in range(1, length):
            before = route[t - 1]
            route[t] = tables.heads[tables.hops[before] + choices[t - 1, before, words]]
        return route

    def _whole(self, last: int) -> Iterator[tuple[int, Floats, Told | None, Floats | None]]:
        """Yield what `_kept` does, of all ticks up to the last one, which are made again."""
        prior = self.tables.moves.prior
        rows: list[Floats] = []
        for number in range(len(self.begins) - 1, -1, -1):
            begin = number * self.length
            ticks = range(begin, min(begin + self.length, last + 1))
            likely: list[Floats | None] = []
            for i, tick in enumerate(ticks):
                if i == len(rows):
                    rows.append(np.empty_like(self.joint))
                if i == 0:
                    rows[0][...] = self.begins[number]
                joint, told = rows[i], self._told_at(tick)
                likely.append(None if told is None else told.likelihood())
                if told is not None and told.again.any():
                    _spread_evenly(joint, told.codes < len(told.chances) - 1, told.again, prior)
                if i + 1 < len(ticks):
                    if i + 1 == len(rows):
                        rows.append(np.empty_like(joint))
                    belief = joint.sum(axis=0)
                    self.tables.moves.forward(joint, belief, likely[i], rows[i + 1], belief,
                                              self._room)
            for i in range(len(ticks) - 1, -1, -1):
                yield ticks[i], rows[i], self._told_at(ticks[i]), likely[i]


def _spread_evenly(joint: Floats, within: Booleans, words: Booleans, prior: Floats) -> None:
    """Make some states equally likely in some words: f(m, s) = q(m)/count."""
    some = within[:, words]
    joint[:, :, words] = prior[:, None, None] * (some / some.sum(axis=0))
