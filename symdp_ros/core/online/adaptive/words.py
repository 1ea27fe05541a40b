# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some words of the policy adaptive in step with one another: their signals, and their reports.

Names as in `core.online.adaptive.adaptive`. Arrays have the axes (models, states, words), or some
of these. All words stand at one tick. A word that is drawn live is alone here; whatever words are
beside it, its numbers are the same to the last bit, but for H and the sums beside it.

For each signal `Words.prepare` chooses its cells, or a block; something is drawn by these; and
`Words.take` makes the report that is due, and goes on. What is known is kept by tick
(`core.online.adaptive.known`): those of the delay, or all of a whole word.

Within its block (`core.online.adaptive.turns`) a word has one column for each of the counts so
far.
"""
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints
from symdp_ros.core.online.adaptive.blocks import choose_blocks
from symdp_ros.core.online.adaptive.cells import best_cells, Cells, NOTHING, TIE
from symdp_ros.core.online.adaptive.known import Evidence, Known, part_of, Tick
from symdp_ros.core.online.adaptive.moves import ends_of, total
from symdp_ros.core.online.adaptive.own_moves import extended, OwnMoves
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.adaptive.turns import Block, Turn, Turns

COUNTED = -1  # in place of what was drawn: a block goes on, nothing is drawn of it yet
NO_PLAN = 2**32 - 1  # in place of how long ago reports were chosen
SEGMENT = 64  # ticks, at least, of a whole word whose f is kept once

_LEAST = 1e-6      # probability of a state that counts in the matches to come
_FEW = 16          # successors, up to which X is looked up for each of them


class Begin(NamedTuple):
    """Where the state of a word begins: as `Tick`, and what was learnt by then (`OwnMoves`)."""

    tick: int
    joint: Floats
    ahead: Booleans | None
    counts: Floats | None = None
    previous: int = 0


class Words(Known):
    """
    Some words, begun at one state.

    :param delay: in signals; None: all reports leave with `finish`.
    :param words: how many there are.
    """

    previous: Ints          # the last report of each word: (words,)
    cells: Cells | None     # of the next signals; None: none is due
    blocks: list[Block | None]  # of each word, that of the next symbol; it then has no cells
    passed: list[int]       # rows of it so far
    posterior: Floats | None  # γ of what was reported last: (states, words)

    def __init__(self, tables: AdaptiveTables, delay: int | None, words: int = 1):
        self.own: OwnMoves | None = None
        #: in reports
        self.held = 0 if delay is None else delay * tables.signal // tables.report
        #: reports that leave before more is known
        self._leaving = tables.stride if delay else 1
        #: symbols that a block can have
        self.longest = tables.longest(delay)
        if self.longest > 1 and tables.zones is None:
            self._leaving = self.held + 1
        #: ticks that are kept before the first one whose report has not left: of a block
        self.block_ticks = (self.longest - 1) * tables.signal
        self._at_once = tables.reports_at_once(delay)
        super().__init__(tables, delay, words, self.held * tables.report + self.block_ticks + 1,
                         max(1, SEGMENT // tables.signal) * tables.signal)

    def begin(self, position: int) -> None:
        """Stand at the begin of a word, where the robot is at a state."""
        tables, ahead = self.tables, None
        joint = tables.moves.begin(position)
        for _ in range(tables.report - 1):
            joint = tables.moves.forward(joint, None)
        if tables.zones is not None:
            ahead = np.zeros((tables.states, self.words), np.bool_)
            ahead[tables.targets[tables.offsets[position]:tables.offsets[position + 1]]] = True
        self.stand(np.repeat(joint, self.words, axis=2), 0, position, ahead=ahead)

    def stand(self, joint: Floats, count: int, previous: int, counts: Floats | None = None,
              ahead: Booleans | None = None) -> None:
        """
        Stand at a tick, knowing f alone.

        :param counts: what was learnt (`OwnMoves`); None: nothing yet.
        :param ahead: the states that a route can be in; None: there are no zones.
        """
        self.moves = self.tables.moves
        if self.tables.learns and self.words == 1:
            self.own = OwnMoves(self.tables.models, count, joint,
                                previous if self.delay == 0 else 0, counts, ahead)
            self.moves = self.own.moves() or self.moves
        self._ticks = deque([Tick(count, joint, ahead=ahead)])
        self._begin = Begin(count, joint, ahead)
        self.previous, self.cells, self.posterior = np.full(self.words, previous), None, None
        self.blocks, self.passed = [None] * self.words, [0] * self.words
        #: of each word, the tick for which reports were chosen last, −1: none; by the place of the
        #: report when each leaves, its γ, and what it was chosen by
        self.planned_at = np.full(self.words, -1)
        self._chosen: list[tuple[Floats, ...]] = [()] * self._leaving

    @property
    def waiting(self) -> int:
        """Return how many rows the block of a word that is alone has so far; 0: there is none."""
        return 0 if self.blocks[0] is None else self.passed[0]

    def first_due(self, count: int) -> int:
        """Return the first tick whose report has not left, of words that stand at some tick."""
        return 0 if self.delay is None else max(0, count - self.held * self.tables.report)

    def state_begin(self) -> Begin:
        """Return where the state of a word that is alone begins: it has all told since."""
        if self.delay is None:
            return self._begin
        first = self._first_needed()
        if self.own is not None:
            own = self.own.since(first)
            return Begin(own.begin, own.joint, own.ahead, own.counts, own.previous)
        tick = self._at(first)
        assert tick.joint is not None
        return Begin(first, self._begun(tick.joint, tick.told, tick.columns), tick.ahead)

    def evidence(self) -> Iterator[Evidence]:
        """Yield what was told since the state began."""
        first, row = self.state_begin().tick, self.tables.row
        if self.own is not None and self.delay is not None:
            yield from self.own.all_told()[::self.tables.stride]
            return
        for tick in range(-(-first // row) * row, self.count, row):
            told = self._at(tick).told
            assert told is not None
            yield told

    def _first_needed(self) -> int:
        """Return the first tick whose report has not left; in a block, that where it begins."""
        first = self.first_due(self.count)
        if self.longest > 1 and first < self.count:
            row = first - first % self.tables.row
            # A restored word keeps no tick before the one where its state began.
            told = None if row < self._ticks[0].number else self._at(row).told
            turn = None if told is None or told.turns is None else told.turns.turns[0]
            if turn is not None and (turn.number if row == first else not turn.ends):
                first = row - turn.number * self.tables.row
        return first

    def select(self, some: slice) -> 'Words':
        selected = super().select(some)
        selected.cells = None
        selected.previous, selected.planned_at = self.previous[some], self.planned_at[some]
        selected.blocks, selected.passed = self.blocks[some], self.passed[some]
        selected._chosen = [tuple(part_of(part, some) for part in chosen)
                            for chosen in self._chosen]
        selected.posterior = part_of(self.posterior, some)
        return selected

    # What is drawn next.

    def prepare(self, zones: Ints | None = None) -> None:
        """
        Choose the cells of the signal that comes next, or a block, where one is due.

        :param zones: the numbers of the zones told next: shape (words,). A block under way is in
            this zone; one that it ends must have ended before. None: there are no zones.
        """
        self.cells, inside = None, None
        self.blocks = [block if passed else None
                       for block, passed in zip(self.blocks, self.passed, strict=True)]
        due = np.array([block is None for block in self.blocks])
        if zones is not None:
            inside = self.inside(zones)
            due &= inside.any(axis=0)
        if self.count % self.tables.signal or not due.any():
            return
        joint, belief, columns = self.joint, self.belief, self._ticks[-1].columns
        if columns is not None:
            some = ends_of(columns)[:-1][due]
            joint, belief = joint[:, :, some], belief[:, some]
        elif not due.all():
            joint, belief = joint[:, :, due], belief[:, due]
        if inside is not None and zones is not None and not due.all():
            inside, zones = inside[:, due], zones[due]
        cells = best_cells(self.tables, np.ascontiguousarray(belief), self.previous[due],
                           self._at_once, inside)
        if self.longest > 1:
            chosen = choose_blocks(self.tables, self.moves, joint, belief, cells, self.longest,
                                   inside, zones)
            alone = np.array([block is None for block in chosen])
            for word, block in zip(np.flatnonzero(due).tolist(), chosen, strict=True):
                self.blocks[word], self.passed[word] = block, 0
            if not alone.all():
                cells, due[due] = cells.select(alone), alone
        if due.any():
            self.cells = cells if due.all() else cells.spread_out(due)

    def lasts(self, zones: Ints, now: Ints | None = None) -> Booleans:
        """
        Return of which words the block goes on where these zones are told.

        :param zones: told next: shape (words,).
        :param now: other zones, that are told before them; None: there are none.
        """
        inside = self.inside(zones) if now is None else (
            self.inside(now) & self.tables.can_stay[:, None])
        same = np.array([block is not None and block.zone == zone
                         for block, zone in zip(self.blocks, zones.tolist(), strict=True)])
        lasts: Booleans = same & inside.any(axis=0)
        return lasts

    # What was drawn.

    def take(self, places: Ints, zones: Ints | None = None, late: Ints | None = None,
             reports: bool = True) -> bool:
        """
        Go on to the next report: take in a signal.

        :param places: of each word, the number of the cell that was drawn, from 1; in a block,
            that of the vector, which ends it, or `COUNTED`; 0: none, and a block is left.
        :param zones: the numbers of the zones told, that were prepared for; −1: none is told.
        :param late: of each word in a block, the vector that was drawn once this report had left:
            the block turned out to end with it; 0: none.
        :param reports: whether to make the report that is due.
        :return: whether there is a report: `previous`.
        """
        ahead = None
        if self.count % self.tables.row == 0:
            turns = self._count(places) if self.longest > 1 else None
            ahead = self._tell(places, zones, turns)
        tick, reported = self._ticks[-1], reports and self._is_due()
        if reported:
            self._report()
        if late is not None and late.any():
            self._end_late(late, tick)
        self._move(self.tables.report, ahead)
        if self.own is not None:
            self.own.told.append(tick.told)
            self._learn()
        return reported

    def skip(self, reports: int) -> bool:
        """
        Go on, without signals, by reports that nobody publishes; of a word that is alone.

        With a delay each of these makes one of the moves that were the best when reports were
        chosen last, at most once here: to choose them anew takes most of the time of a report.

        :return: whether there is a report now: `previous`.
        """
        reported = chosen = False
        for _ in range(reports):
            now, reported = self._chosen[self._leaves_at(self.count)], self._is_due()
            # Reports of an earlier plan are not known after a restart: one more is made, once.
            cheap = self.held > 0 and (chosen or self.plan_age() != NO_PLAN)
            chosen |= reported and not cheap
            self.take(np.zeros(1, np.int64), reports=not cheap)
            if cheap and reported:
                self.previous = self._best(now[1], self.previous)
        planned_at = self.planned_by_rule(self.count)
        if self.longest == 1 and planned_at is not None and planned_at > self.planned_at[0]:
            self.plan_again(planned_at)
        return reported

    def end(self, place: int) -> None:
        """End the block of a word that is alone with what was drawn of the symbols so far."""
        count, ahead = self.count, self._ticks[-1].ahead
        self._go_back((count - 1) // self.tables.row * self.tables.row)
        self._end_late(np.array([place]), self._ticks[-1])
        self._move(count - self.count, ahead)
        self._learn()

    def _is_due(self) -> bool:
        """Return whether a report leaves before the next tick."""
        return self.delay is not None and self.held * self.tables.report <= self.count

    def _count(self, places: Ints) -> Turns | None:
        """Go on by one row of the blocks; where something was drawn, they end."""
        if self.words == 1 and self.blocks[0] is not None and places[0] == 0:
            self._leave_block()
        turns: list[Turn | None] = [None] * self.words
        for word, block in enumerate(self.blocks):
            if block is not None:
                turns[word] = Turn(block, self.passed[word])
                self.passed[word] += 1
                if places[word] > 0:
                    self._end(word, int(places[word]))
        return None if all(turn is None for turn in turns) else Turns(turns)

    def _end(self, word: int, place: int) -> None:
        """End a block with what was drawn of its symbols so far."""
        block = self.blocks[word]
        assert block is not None
        block.rows, block.place, self.blocks[word] = self.passed[word], place, None

    def _end_late(self, places: Ints, tick: Tick) -> None:
        """End blocks with what was drawn, 0 for nothing, once a tick had been taken in."""
        for word in np.flatnonzero(places).tolist():
            self._end(word, int(places[word]))
        assert tick.told is not None and tick.told.turns is not None
        tick.told.turns.update()
        tick.likelihood = tick.told.likelihood()

    def _leave_block(self) -> None:
        """Go on as if there were no signal about the block under way."""
        block, passed, count = self.blocks[0], self.passed[0], self.count
        assert block is not None
        self.cells, self.blocks, self.passed = None, [None], [0]
        zones = None if block.zone is None else np.array([block.zone])
        if passed:
            self._go_back(count - passed * self.tables.row)
            if self.own is not None:
                del self.own.told[-((count - self.count) // self.tables.report):]
        while self.count < count:
            self.take(np.zeros(1, np.int64), zones, reports=False)

    def _learn(self) -> None:
        """Make the own model anew at public times."""
        own, tables = self.own, self.tables
        if own is None or self.blocks[0] is not None or not own.is_due(self.count) or (
                self.count % tables.row):
            return
        self.own = own.learnt(
            self.moves, tables.eta, tables.report, self.joint,
            int(self.previous[0]) if self.delay == 0 else 0, self._ticks[-1].ahead, self._made)
        if self.delay is None:
            self.own.former = None
        else:
            self.own.since(self._first_needed())
        if own.counts is None:
            for tick in self._ticks:
                tick.joint = None if tick.joint is None else extended(tick.joint)
        self.moves = self.own.moves() or self.moves
        self.planned_at[:] = -1

    def _made(self, joint: Floats, told: Evidence | None) -> tuple[Floats, Floats | None, Floats]:
        """Return f as it was when this was told, the likelihood of that, and f one tick later."""
        likelihood = None if told is None else told.likelihood()
        joint = self._begun(joint, told, None)
        return joint, likelihood, self._moved(joint, told, likelihood, None)

    def _tell(self, places: Ints, zones: Ints | None, turns: Turns | None) -> Booleans | None:
        """
        Take note of what a signal tells, and the zone.

        :return: what a route can be in at the next report; None: there are no zones.
        """
        tables, words, tick = self.tables, self.words, self._ticks[-1]
        if turns is not None:
            places = np.where([turn is None for turn in turns.turns], places, 0)
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
        again, tell, ahead = None, np.zeros(words, np.int64), tick.ahead
        if ahead is not None:
            if zones is not None:
                inside = self.inside(zones)
                true = inside.any(axis=0)
                tell[true] = 1 + zones[true]
                codes = np.where(~inside & true, codes.dtype.type(len(chances) - 1), codes)
                again = true & (total(np.where(inside, self._of_words(self.belief), 0.0))
                                <= NOTHING)
                ahead = np.where(true, inside, ahead)
            ahead = tables.can_follow(ahead)
        tick.told = Evidence(codes, chances, places, tell,
                             None if again is None or not again.any() else again, turns)
        tick.likelihood = tick.told.likelihood()
        return ahead

    # Reports.

    def _report(self) -> None:
        """Report what was `delay` signals before the tick where the words stand."""
        told, report = self._ticks[-1].told, self.tables.report
        due = (self.planned_at < 0) | (self.count - self.planned_at >= self._leaving * report)
        if self._leaving == 1 or self.count % self.tables.row == 0:
            # More is known: but of words where a symbol was counted, and nothing drawn.
            waiting = [False] * self.words if told is None or told.turns is None else [
                turn is not None and not turn.ends for turn in told.turns.turns]
            due |= ~np.array(waiting)
        if self.tables.zones is not None:
            due[:] = True  # the zone was told
        if due.any():
            self.plan(self.count, 0, due)
        self.posterior, values = self._chosen[self._leaves_at(self.count)]
        self.previous = self._best(values, self.previous)

    def _leaves_at(self, count: int) -> int:
        """Return the place in `_chosen` of a report that leaves at some tick."""
        return count // self.tables.report % self._leaving

    # Of a word that is alone: what its state has of the reports that were chosen.

    def plan_age(self) -> int:
        """Return how many reports ago those that leave next were chosen; or `NO_PLAN`."""
        age = (self.count - int(self.planned_at[0])) // self.tables.report
        return age if self.planned_at[0] >= 0 and age < self._leaving else NO_PLAN

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
                self.plan(planned_at, since, np.ones(1, np.bool_))

    def plan(self, count: int, since: int, due: Booleans) -> None:
        """
        Choose the reports that leave from the tick of number `count` on until more is known.

        :param since: how many of those reports have left: they are not chosen.
        :param due: the words for which they are chosen.
        """
        tables, previous, later = self.tables, self.previous, np.empty((0, 0))
        self.planned_at[due], ahead = count, self.held + 1
        for tick, likely in self.smoothed(count, count - (self.held - since) * tables.report):
            ahead -= 1
            if tick.number < count:
                later = likely + tables.routes.largest(later)
            elif self.held:
                later = self._matches_to_come(likely, previous, self.held - since + 1)
            else:
                later = self._matches_at_once(likely, previous)
            self._count_zones(tick.told, later, False)
            if ahead < self._leaving:
                at = self._leaves_at(count + ahead * tables.report)
                self._chosen[at] = (likely, later) if due.all() else tuple(
                    np.where(due, new, old)
                    for new, old in zip((likely, later), self._chosen[at], strict=True))

    def _count_zones(self, told: Evidence | None, later: Floats, all_zones: bool) -> None:
        """Give reports in the zone that was told one match more; or take all from others."""
        if self.tables.zone_of is None or told is None or not told.zones.any():
            return
        there = self.tables.zone_of[:, None] == told.zones - 1
        later[there] += 1.0
        if all_zones:
            later[~there & (told.zones > 0)] = -np.inf

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

    def _best(self, later: Floats, previous: Ints) -> Ints:
        """Return the successor that comes first within 10⁻¹² of the largest."""
        able, words = self.tables.successors[previous], np.arange(self.words)
        values = later[np.maximum(able, 0), words[:, None]]
        values[able < 0] = -np.inf
        hits = (values >= values.max(axis=1, keepdims=True) - TIE) & (able >= 0)
        best: Ints = able[words, hits.argmax(axis=1)].astype(np.int64)
        return best

    def finish(self) -> Ints:
        """Return the reports of the rest of the words: positions, shape (reports, words)."""
        tables, since = self.tables, self.first_due(self.count)
        length, last = (self.count - since) // tables.report, self.count - tables.report
        route = np.empty((length, self.words), np.int64)
        if not length:
            return route
        choices = np.zeros((length, tables.states, self.words), tables.place_type)
        later = np.empty((0, 0))
        for tick, likely in self.smoothed(last, since):
            if tick.number == last:
                later = likely
            else:
                now, places = tables.routes.first_of_largest(later, TIE)
                choices[(tick.number - since) // tables.report] = places
                later = np.add(now, likely, out=now)
            self._count_zones(tick.told, later, self.delay is None)
        route[0] = self._best(later, self.previous)
        words = np.arange(self.words)
        for t in range(1, length):
            before = route[t - 1]
            route[t] = tables.targets[tables.offsets[before] + choices[t - 1, before, words]]
        return route
