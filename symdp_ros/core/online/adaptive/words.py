# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some words of the policy adaptive in step with one another: what is known, and their reports.

Names as in `core.online.adaptive.adaptive`. Arrays have the axes (models, states, words), or some
of these. All words stand at one tick. A word that is drawn live is alone here; whatever words are
beside it, its numbers are the same to the last bit, but for H and the sums beside it.

Only a word that is alone can have blocks (`core.online.adaptive.blocks`). Within a block the last
axis is that of the counts so far.
"""
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers
from symdp_ros.core.neighbours import Room
from symdp_ros.core.online.adaptive.blocks import Block, choose_block, Turn
from symdp_ros.core.online.adaptive.cells import Cells, choose
from symdp_ros.core.online.adaptive.moves import Moves, total
from symdp_ros.core.online.adaptive.own_moves import EVERY, extended, OwnMoves
from symdp_ros.core.online.adaptive.tables import AdaptiveTables

NO_PLAN = 2**32 - 1  # in place of how long ago reports were chosen
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

    @property
    def marks(self) -> tuple[Ints, Ints]:
        """Return what stands for it in a state: cells and zones."""
        return self.places, self.zones

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


#: a tick, f, what was told, and its likelihood
_Tick: TypeAlias = tuple[int, Floats, Told | Turn | None, Floats | None]


class Words:
    """
    Some words, begun at one state.

    :param delay: in signals; None: all reports leave with `finish`.
    :param count: of words.
    """

    count: int              # ticks so far
    previous: Ints          # the last report of each word: (words,)
    cells: Cells | None     # of the next signal; None: none is due, or a block
    block: Block | None     # the next one, or the one under way
    passed: int             # symbols of it so far
    posterior: Floats | None  # γ of what was reported last: (states, words)

    def __init__(self, tables: AdaptiveTables, delay: int | None, count: int = 1):
        self.tables, self.delay, self.words = tables, delay, count
        self.moves: Moves = tables.moves  # with those that the word learns
        self.own: OwnMoves | None = None
        #: in reports
        self.held = 0 if delay is None else delay * tables.signal // tables.report
        #: reports that leave before more is known
        self._leaving = tables.row // tables.report if delay else 1
        #: symbols that a block can have
        self.longest = tables.longest(delay) if count == 1 else 1
        if self.longest > 1:
            self._leaving = self.held + 1
        #: ticks that are kept before the first one whose report has not left
        self.before = 0 if delay is None else (self.longest - 1) * tables.signal
        self._rows = (self.held * tables.report + self.before) // tables.row + 1  # of signals
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

    def stand(self, joint: Floats, count: int, previous: int,
              counts: Floats | None = None) -> None:
        """
        Stand at a tick, knowing f alone.

        :param counts: what was learnt (`OwnMoves`); None: nothing yet.
        """
        self.moves = self.tables.moves
        self._first: Floats = joint.copy()
        if self.tables.learns and self.words == 1:
            self.own = OwnMoves(self.tables.models, count, joint,
                                previous if self.delay == 0 else 0, counts)
            self.moves = self.own.moves() or self.moves
        self.count, self.previous = count, np.full(self.words, previous)
        ticks = self.held * self.tables.report + self.before + 1
        self._ring: list[Floats | None] = [None] * ticks
        self._ring[count % ticks] = joint
        self.told: list[Told | Turn | None] = [None] * (0 if self.delay is None else self._rows)
        self._likely: list[Floats | None] = [None] * self._rows
        self.begins: list[Floats] = []  # f of the first tick of each segment
        self.posterior, self.block, self.passed = None, None, 0
        #: the tick for which reports were chosen last; what they were chosen by
        self.planned_at: int | None = None
        self._planned: list[Floats] = [np.empty((0, 0))] * self._leaving
        self._values = [*self._planned]
        self._belief: Floats = joint.sum(axis=0)
        self._due()

    def start_ahead(self, ahead: Booleans) -> None:
        """Begin with what a route can be in at the tick where the words stand."""
        self.start = ahead
        if self.own is not None:
            self.own.ahead = ahead
        self.ahead = [ahead] * (self.held + 1)

    def oldest_ahead(self) -> Booleans:
        """Return what a route can be in at the oldest tick whose report has not left."""
        if self.delay is None:
            return self.start
        if self.own is not None:
            ahead = self.own.since(self._needed_since).ahead
            assert ahead is not None
            within: Booleans = ahead
            return within
        return self.ahead[self.since // self.tables.report % len(self.ahead)]

    @property
    def joint(self) -> Floats:
        """Return f of the next symbol."""
        found = self._ring[self.count % len(self._ring)]
        assert found is not None
        return found

    def oldest(self) -> Floats:
        """Return f of the tick from which on all is kept."""
        if self.delay is None:
            return self._first
        if self.own is not None:
            joint: Floats = self.own.since(self._needed_since).joint
            return joint
        found = self._ring[self.kept_since % len(self._ring)]
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

    @property
    def kept_since(self) -> int:
        """Return the tick from which on all is kept."""
        since = self._needed_since
        if self.own is None or self.delay is None:
            return since
        return self.own.since(since).begin

    def learnt(self) -> tuple[Floats | None, int]:
        """Return what was learnt at that tick, and the last report before it."""
        if self.own is None or self.delay is None:
            return None, 0
        own = self.own.since(self._needed_since)
        return own.counts, own.previous

    @property
    def _needed_since(self) -> int:
        """Return the first tick whose report is due yet; in a block, that where it begins."""
        since, told = self.since, None
        if self.longest > 1 and since < self.count:
            row = since - since % self.tables.row
            told = self._told_at(row)
            if isinstance(told, Turn) and (told.number if row == since else not told.ends):
                since = row - told.number * self.tables.row
        return since

    def kept(self) -> Iterator[Told | Turn]:
        """Yield what was told since then."""
        if self.own is not None and self.delay is not None:
            self.own.since(self._needed_since)
            yield from self.own.all_told()[::self.tables.row // self.tables.report]
            return
        first = -(-self.kept_since // self.tables.row) * self.tables.row
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

        found.previous = self.previous[some]
        found._ring = [None if f is None else part(f) for f in self._ring]
        found.begins = [part(f) for f in self.begins]
        found.told = [told.select(some) if isinstance(told, Told) else None for told in self.told]
        found._likely = [None if f is None else part(f) for f in self._likely]
        found._planned = [part(f) for f in self._planned]
        found._values = [part(f) for f in self._values]
        found._belief = part(self._belief)
        found.posterior = None if self.posterior is None else part(self.posterior)
        found.cells = None if self.cells is None else Cells(*map(part, self.cells))
        if self.tables.zones is not None:
            found.start = part(self.start)
            found.ahead = [part(ahead) for ahead in self.ahead]
        return found

    def _due(self) -> None:
        """Choose the cells where a signal is due, or a block."""
        self.cells = None
        if (self.tables.zones is not None or self.count % self.tables.signal
                or self.block is not None):
            return
        self.cells = choose(self.tables, self._belief, self.previous, self._at_once)
        if self.longest > 1:
            self.block = choose_block(self.tables, self.moves, self.joint, self._belief,
                                      self.cells, self.longest)
            if self.block is not None:
                self.cells, self.passed = None, 0

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
        told: Told | None = None
        if self.count % self.tables.row == 0:
            if self.block is not None:
                self._leave_block()
            told = self._tell(places, zones)
        return self._go_on(told, reports)

    def count_in(self, place: int, reports: bool = True) -> bool:
        """
        Go on to the next report: one more symbol of the block is counted.

        :param place: of what was drawn of it, from 1, which ends it; 0: nothing yet.
        :param reports: as of `take`.
        :return: the same.
        """
        assert self.block is not None
        if self.delay is None and self.count % self.length == 0:
            self.begins.append(self.joint.copy())
        if self.passed == 0:
            self._begun = self.joint.copy()
        turn = Turn(self.block, self.passed)
        self.passed += 1
        if self.delay is None:
            self.told.append(turn)
        else:
            self.told[self._row_of(self.count)] = turn
        if place:
            self.end(place)
        return self._go_on(turn, reports)

    def end(self, place: int) -> None:
        """End the block with what was drawn of the symbols so far."""
        assert self.block is not None
        self.block.size, self.block.place, self.block = self.passed, place, None

    def _leave_block(self) -> None:
        """Go on as if there were no signal about the block under way."""
        count, passed, self.block, self.passed = self.count, self.passed, None, 0
        if passed:
            self.count -= passed * self.tables.signal
            if self.delay is None:
                del self.told[self.count // self.tables.row:]
                del self.begins[-(-self.count // self.length):]
            if self.own is not None:
                del self.own.told[-((count - self.count) // self.tables.report):]
            self._ring[self.count % len(self._ring)] = self._begun
            self._belief = self._begun.sum(axis=0)
            while self.count < count:
                self.take(np.zeros(1, np.int64), reports=False)
            self.block = None

    def _go_on(self, told: Told | Turn | None, reports: bool) -> bool:
        tables = self.tables
        reported = reports and self.delay is not None and self.held * tables.report <= self.count
        if reported:
            self._report(isinstance(told, Turn) and not told.ends)
        likelihood = self._likely[self._row_of(self.count)] if isinstance(told, Told) else None
        now = told
        for tick in range(self.count, self.count + tables.report):
            here, next_ = (t % len(self._ring) for t in (tick, tick + 1))
            joint = self._ring[here]
            assert joint is not None
            after, self._belief = self._moved(joint, self._belief, now, likelihood,
                                              self._ring[next_])
            self._ring[next_] = after
            now = likelihood = None
        self.count += tables.report
        if self.own is not None:
            self._learn(told)
        self._due()
        return reported

    def _learn(self, told: Told | Turn | None) -> None:
        """Take note of what was told for the own model, and at public times make it anew."""
        own, tables = self.own, self.tables
        assert own is not None
        own.told.append(told)
        if self.block is not None or self.count < own.begin + EVERY or self.count % tables.row:
            return
        self.own = own.learnt(
            self.moves, tables.report, self.joint,
            int(self.previous[0]) if self.delay == 0 else 0,
            self.ahead[self.count // tables.report % len(self.ahead)] if tables.zones else None,
            self._made)
        if self.delay is None:
            self.own.former = None
        else:
            self.own.since(self._needed_since)
        if own.counts is None:
            self._ring = [None if f is None else extended(f) for f in self._ring]
            self.begins = [extended(f) for f in self.begins]
        self.moves, self.planned_at = self.own.moves() or self.moves, None
        self._belief = self.joint.sum(axis=0)  # as where a word stands after a restart

    def _made(self, joint: Floats, told: Told | Turn | None
              ) -> tuple[Floats, Floats | None, Floats]:
        """Return f as it was when this was told, the likelihood of that, and f one tick later."""
        likelihood = told.likelihood() if isinstance(told, Told) else None
        if isinstance(told, Told) and told.again.any():
            joint = joint.copy()
            _spread_evenly(joint, told.codes < len(told.chances) - 1, told.again,
                           self.moves.prior)
        return joint, likelihood, self._moved(joint, joint.sum(axis=0), told, likelihood, None)[0]

    def _moved(self, joint: Floats, belief: Floats, told: Told | Turn | None,
               likelihood: Floats | None, after: Floats | None) -> tuple[Floats, Floats]:
        """Return f one tick later, and its Σ_m, where possible in the arrays given."""
        if isinstance(told, Turn):
            joint = told.forward(joint)
            belief = joint.sum(axis=0)
        if after is None or after.shape != joint.shape:
            after = np.empty_like(joint)
        self.moves.forward(joint, belief, likelihood, after, belief, self._room,
                           self.words == 1)
        return after, belief

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
            _spread_evenly(self.joint, within, again, self.moves.prior)
            np.add.reduce(self.joint, axis=0, out=self._belief)
        return again

    # Reports.

    def _report(self, waiting: bool) -> None:
        """
        Report what was `delay` signals before the tick where the words stand.

        :param waiting: whether a symbol was counted, and nothing drawn.
        """
        number = 0
        if self.planned_at is not None:
            number = (self.count - self.planned_at) // self.tables.report
        drawn = not waiting and (self._leaving == 1 or self.count % self.tables.row == 0)
        if drawn or self.planned_at is None or number >= self._leaving:
            self.plan(self.count, 0)
            number = 0
        self.posterior = self._planned[number]
        self.previous = self._best(self._values[number], self.previous)[1]

    def plan_age(self) -> int:
        """Return how many reports ago those that leave next were chosen; or `NO_PLAN`."""
        if self.planned_at is None:
            return NO_PLAN
        age = (self.count - self.planned_at) // self.tables.report
        return age if age < self._leaving else NO_PLAN

    def planned_by_rule(self, count: int) -> int | None:
        """Return when, without blocks, the reports that leave next were chosen."""
        age = count % (self._leaving * self.tables.report)
        if not age or self.delay is None or count < self.held * self.tables.report:
            return None
        return count - age

    def plan_again(self, planned_at: int | None) -> None:
        """Choose the reports that were chosen at some tick, and have not left."""
        if planned_at is not None and (self.own is None or planned_at >= self.own.begin):
            since = (self.count - planned_at) // self.tables.report
            if since < self._leaving:
                self.plan(planned_at, since)

    def plan(self, count: int, since: int) -> None:
        """
        Choose the reports that leave from the tick of number `count` on until more is known.

        :param since: how many of those reports have left: they are not chosen.
        """
        tables, previous, later = self.tables, self.previous, np.empty((0, 0))
        self.planned_at, ahead = count, self.held + 1
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
                self._planned[ahead], self._values[ahead] = likely, later

    def _kept(self, ticks: range) -> Iterator[_Tick]:
        """Yield (tick, f, what was told, its likelihood) of ticks in the window of the delay."""
        for tick in ticks:
            joint, row = self._ring[tick % len(self._ring)], self._row_of(tick)
            assert joint is not None
            told = None if tick % self.tables.row else self.told[row]
            yield tick, joint, told, self._likely[row] if isinstance(told, Told) else None

    def _smoothed(self, ticks: Iterator[_Tick]) -> Iterator[tuple[int, Floats]]:
        """Yield (tick, γ) of each report, from the last tick back; γ: shape (states, words)."""
        moves, room = self.moves, self._room
        factor: Floats | None = None
        after: Floats | None = None
        for tick, joint, told, likelihood in ticks:
            if after is None:
                columns = joint.shape[2] if not isinstance(told, Turn) else told.columns
                after = room.zeros('later', (moves.models, self.tables.states + 1, columns))
                after[:, :-1] = 1.0 if likelihood is None else likelihood
            else:
                both = 1.0 if factor is None else factor
                if factor is not None and after.shape[2] > self.words:
                    both = np.full(after.shape[2], factor[0])
                moves.backward(after, both if likelihood is None else likelihood * both, room)
            if isinstance(told, Turn):
                after = told.backward(after)
            factor = None
            if tick % self.tables.report == 0:
                joined = room('models', joint.shape)
                np.multiply(joint, after[:, :-1], out=joined)
                found = np.add.reduce(joined, axis=0)
                if found.shape[1] > self.words:
                    found = np.add.reduce(found, axis=1, keepdims=True)
                factor = 1.0 / total(found)
                yield tick, found * factor
            if isinstance(told, Told) and told.again.any():
                after[:, :-1, told.again] = 1.0  # s does not depend on what was before

    def _count_zones(self, tick: int, later: Floats, all_zones: bool) -> None:
        """Let who reports the zone that was told have a match more; or no others have any."""
        told = self._told_at(tick)
        if self.tables.zone_of is None or not isinstance(told, Told) or not told.zones.any():
            return
        there = self.tables.zone_of[:, None] == told.zones - 1
        later[there] += 1.0
        if all_zones:
            later[~there & (told.zones > 0)] = -np.inf

    def _told_at(self, tick: int) -> Told | Turn | None:
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

    def _whole(self, last: int) -> Iterator[_Tick]:
        """Yield what `_kept` does, of all ticks up to the last one, which are made again."""
        prior = self.moves.prior
        rows: list[Floats] = []
        for number in range(len(self.begins) - 1, -1, -1):
            begin = number * self.length
            ticks = range(begin, min(begin + self.length, last + 1))
            likely: list[Floats | None] = []
            for i, tick in enumerate(ticks):
                if i == 0:
                    if not rows or rows[0].shape != self.begins[number].shape:
                        rows[:1] = [np.empty_like(self.begins[number])]
                    rows[0][...] = self.begins[number]
                joint, told = rows[i], self._told_at(tick)
                likely.append(told.likelihood() if isinstance(told, Told) else None)
                if isinstance(told, Told) and told.again.any():
                    _spread_evenly(joint, told.codes < len(told.chances) - 1, told.again, prior)
                if i + 1 < len(ticks):
                    rows[i + 1:i + 2] = [self._moved(
                        joint, joint.sum(axis=0), told, likely[i],
                        rows[i + 1] if i + 1 < len(rows) else None)[0]]
            for i in range(len(ticks) - 1, -1, -1):
                yield ticks[i], rows[i], self._told_at(ticks[i]), likely[i]


def _spread_evenly(joint: Floats, within: Booleans, words: Booleans, prior: Floats) -> None:
    """Make some states equally likely in some words: f(m, s) = q(m)/count."""
    some = within[:, words]
    joint[:, :, words] = prior[:, None, None] * (some / some.sum(axis=0))
