# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Some words of the policy adaptive in step with one another: what is known, and their reports.

Names as in `core.online.adaptive.adaptive`. Arrays have the axes (models, states, words), or some
of these. All words stand at one tick. A word that is drawn live is alone here; whatever words are
beside it, its numbers are the same to the last bit, but for H and the sums beside it.

Within its block (`core.online.adaptive.blocks`) a word has one column for each of the counts so
far.
"""
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers
from symdp_ros.core.neighbours import Room
from symdp_ros.core.online.adaptive.blocks import Block, choose_blocks, Turn, Turns
from symdp_ros.core.online.adaptive.cells import best_cells, Cells
from symdp_ros.core.online.adaptive.moves import before_beginning, Moves, spread_evenly, total
from symdp_ros.core.online.adaptive.own_moves import extended, OwnMoves
from symdp_ros.core.online.adaptive.tables import AdaptiveTables

COUNTED = -1  # in place of what was drawn: a block goes on, nothing is drawn of it yet
NO_PLAN = 2**32 - 1  # in place of how long ago reports were chosen
SEGMENT = 64  # ticks, at least, of a whole word whose f is kept once

_LEAST = 1e-6      # probability of a state that counts in the matches to come
_NOTHING = 1e-200  # probability that counts as 0 where all else is impossible
_TIE = 1e-12
_FEW = 16          # successors, up to which X is looked up for each of them


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
        *arrays, turns = self
        parts: list[Any] = [None if part is None else np.ascontiguousarray(part[..., some])
                            for part in arrays]
        parts.append(None if turns is None else turns.select(some))
        return Evidence(*parts)


#: a tick, f, what was told, and its likelihood
_Tick: TypeAlias = tuple[int, Floats, Evidence | None, Floats | None]


class Words:
    """
    Some words, begun at one state.

    :param delay: in signals; None: all reports leave with `finish`.
    :param count: of words.
    """

    count: int              # ticks so far
    previous: Ints          # the last report of each word: (words,)
    cells: Cells | None     # of the next signals; None: none is due
    blocks: list[Block | None]  # of each word, that of the next symbol; it then has no cells
    passed: list[int]       # rows of it so far
    posterior: Floats | None  # γ of what was reported last: (states, words)
    _columns: Ints | None

    def __init__(self, tables: AdaptiveTables, delay: int | None, count: int = 1):
        self.tables, self.delay, self.words = tables, delay, count
        self.moves: Moves = tables.moves  # with those that the word learns
        self.own: OwnMoves | None = None
        #: in reports
        self.held = 0 if delay is None else delay * tables.signal // tables.report
        #: reports that leave before more is known
        self._leaving = tables.row // tables.report if delay else 1
        #: symbols that a block can have
        self.longest = tables.longest(delay)
        if self.longest > 1 and tables.zones is None:
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
        if self.delay is None and self.longest > 1:
            ticks += self.tables.signal  # since a block may have ended with the last symbol
        self._ring: list[Floats | None] = [None] * ticks
        self._ring[count % ticks] = joint
        self.told: list[Evidence | None] = [None] * (0 if self.delay is None else self._rows)
        self._likely: list[Floats | None] = [None] * self._rows
        self.begins: list[Floats] = []  # f of the first tick of each segment
        self.posterior, self._columns = None, None  # of each word; None: one
        self.blocks, self.passed = [None] * self.words, [0] * self.words
        #: of each word, the tick for which reports were chosen last, −1: none; what they were
        #: chosen by, at the place of the report when each leaves
        self.planned_at = np.full(self.words, -1)
        self._planned: list[Floats] = [np.empty((0, 0))] * self._leaving
        self._values = [*self._planned]
        self._belief: Floats = joint.sum(axis=0)
        self._due()

    def start_ahead(self, ahead: Booleans) -> None:
        """Begin with the states that a route can be in at the tick where the words stand."""
        self.start = ahead
        if self.own is not None:
            self.own.ahead = ahead
        self.ahead = [ahead] * (self.held + self.before // self.tables.report + 1)

    def oldest_ahead(self) -> Booleans:
        """Return the states of a route at the tick from which on all is kept."""
        if self.delay is None:
            return self.start
        if self.own is not None:
            ahead: Booleans | None = self.own.since(self._needed_since).ahead
            assert ahead is not None
            return ahead
        return self._ahead_at(self.kept_since)

    def _ahead_at(self, tick: int) -> Booleans:
        """Return the states that a route can be in at a tick, but for the zone told then."""
        return self.ahead[tick // self.tables.report % len(self.ahead)]

    @property
    def joint(self) -> Floats:
        """Return f of the next symbol."""
        joint = self._ring[self.count % len(self._ring)]
        assert joint is not None
        return joint

    def oldest(self) -> Floats:
        """Return f of the tick from which on all is kept."""
        if self.delay is None:
            return self._first
        if self.own is not None:
            joint: Floats = self.own.since(self._needed_since).joint
            return joint
        f = self._ring[self.kept_since % len(self._ring)]
        assert f is not None
        return f

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
        since = self.since
        if self.longest > 1 and since < self.count:
            row = since - since % self.tables.row
            told = self._told_at(row)
            turn = None if told is None or told.turns is None else told.turns.turns[0]
            if turn is not None and (turn.number if row == since else not turn.ends):
                since = row - turn.number * self.tables.row
        return since

    def evidence(self) -> Iterator[Evidence]:
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
        selected = object.__new__(Words)
        vars(selected).update(vars(self))
        selected._room = Room()
        selected.words = len(range(*some.indices(self.words)))

        def part(array: Any) -> Any:
            return np.ascontiguousarray(array[..., some])

        def columns(array: Floats, each: Ints | None) -> Floats:
            ends = range(self.words + 1) if each is None else _ends(each)
            return np.ascontiguousarray(array[..., ends[some.start]:ends[some.stop]])

        selected.previous, selected.planned_at = self.previous[some], self.planned_at[some]
        selected.blocks, selected.passed = self.blocks[some], self.passed[some]
        selected._columns = None if self._columns is None else self._columns[some]
        selected.begins = [columns(f, self._columns_before(i * self.length))
                           for i, f in enumerate(self.begins)]
        selected._ring = [*self._ring]
        for tick in range(max(0, self.count - len(self._ring) + 1), self.count + 1):
            f = self._ring[tick % len(self._ring)]
            if f is not None:
                selected._ring[tick % len(self._ring)] = columns(
                    f, self._columns if tick == self.count else self._columns_before(tick))
        selected.told = [None if told is None else told.select(some) for told in self.told]
        selected._likely = [None] * len(self._likely) if self.delay is None else [
            None if told is None else told.likelihood() for told in selected.told]
        selected._planned = [part(f) for f in self._planned]
        selected._values = [part(f) for f in self._values]
        selected._belief = columns(self._belief, self._columns)
        selected.posterior = None if self.posterior is None else part(self.posterior)
        selected.cells = None if self.cells is None else self.cells.select(some)
        if self.tables.zones is not None:
            selected.start = part(self.start)
            selected.ahead = [part(ahead) for ahead in self.ahead]
        return selected

    def _due(self, chooses: bool = True) -> None:
        """Choose the cells where a signal is due, or a block; with zones `prepare` does."""
        self.cells = None
        if chooses and self.tables.zones is None:
            self._choose(np.ones(self.words, np.bool_), None, None)

    def _choose(self, due: Booleans, inside: Booleans | None, zones: Ints | None) -> None:
        """
        Choose the cells of a signal that is due, or a block, for some of the words.

        :param inside: as of `best_cells`, of all words.
        :param zones: the numbers of the zones told; None: there are none.
        """
        if self.count % self.tables.signal:
            return
        joint, belief = self.joint, self._belief
        if None not in self.blocks:
            return
        due = due & np.array([block is None for block in self.blocks])
        if not due.any():
            return
        if self._columns is not None:
            some = _ends(self._columns)[:-1][due]
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
        self._have_cells(cells, due)

    def _have_cells(self, cells: Cells, some: Booleans) -> None:
        """Take note of the cells of some of the words; the others have none."""
        if not some.any():
            return
        if some.all():
            self.cells = cells
            return
        sizes = np.zeros(self.words, np.int64)
        founders = np.full((len(cells.founders), self.words), -1)
        codes = np.zeros((self.tables.states, self.words), cells.codes.dtype)
        sizes[some], founders[:, some], codes[:, some] = cells
        self.cells = Cells(sizes, founders, codes)

    def prepare(self, zones: Ints) -> None:
        """
        Make all ready for a zone to be told next.

        A block under way in which it lies goes on; one that it ends must have ended before.

        :param zones: their numbers, shape (words,).
        """
        tables = self.tables
        assert tables.zone_of is not None
        self._inside = self._ahead_at(self.count) & (tables.zone_of[:, None] == zones)
        self._ready = self._inside.any(axis=0)
        self.cells = None
        if self.longest > 1:
            self.blocks = [block if passed else None
                           for block, passed in zip(self.blocks, self.passed, strict=True)]
        self._choose(self._ready, self._inside, zones)

    def goes_on(self, zone: int) -> bool:
        """Return whether the block of a word that is alone goes on in a zone told next."""
        block, passed = self.blocks[0], self.passed[0]
        if block is None or not passed:
            return True
        inside = self._ahead_at(self.count)[:, 0] & (self.tables.zone_of == zone)
        return block.zone == zone and bool(inside.any())

    def go_on_after(self, zones: Ints) -> Booleans:
        """
        Return which blocks go on in the zones told after those that are ready.

        :param zones: their numbers, shape (words,).
        """
        same = np.array([block is not None and block.zone == zone
                         for block, zone in zip(self.blocks, zones.tolist(), strict=True)])
        can: Booleans = same & (self._inside & self.tables.can_stay[:, None]).any(axis=0)
        return can

    def take(self, places: Ints, zones: Ints | None = None, reports: bool = True,
             late: Ints | None = None, chooses: bool = True) -> bool:
        """
        Go on to the next report: take in a signal.

        :param places: of each word, the number of the cell that was drawn, from 1; in a block,
            that of the vector, which ends it, or `COUNTED`; 0: none, and a block is left.
        :param zones: the numbers of the zones told, which are ready; −1: none is told.
        :param reports: whether to make the report that is due.
        :param late: of each word in a block, the vector that was drawn once this report had left:
            the block turned out to end with it; 0: none.
        :param chooses: whether a signal can be next: it has cells.
        :return: whether there is a report: `previous`.
        """
        told: Evidence | None = None
        if self.count % self.tables.row == 0:
            turns = self._count(places, zones) if self.longest > 1 else None
            told = self._tell(places, zones, turns)
        return self._go_on(told, reports, late, chooses)

    def skip(self, reports: int) -> bool:
        """
        Go on, without signals, by reports that nobody publishes; of a word that is alone.

        With a delay each of these makes one of the moves that were the best when reports were
        chosen last, at most once here: to choose them anew takes most of the time of a report.

        :return: whether there is a report now: `previous`.
        """
        reported = chosen = False
        for left in range(reports - 1, -1, -1):
            number, reported = self.count // self.tables.report % self._leaving, self._is_due()
            # Reports of an earlier plan are not known after a restart: one more is made, once.
            cheap = self.held > 0 and (chosen or self.plan_age() != NO_PLAN)
            chosen |= reported and not cheap
            values = self._values[number]
            self.take(np.zeros(1, np.int64), reports=not cheap, chooses=not left)
            if cheap and reported:
                self.previous = self._best(values, self.previous)[1]
        planned_at = self.planned_by_rule(self.count)
        if self.longest == 1 and planned_at is not None and planned_at > self.planned_at[0]:
            self.plan_again(planned_at)
        return reported

    def _is_due(self) -> bool:
        """Return whether a report leaves before the next tick."""
        return self.delay is not None and self.held * self.tables.report <= self.count

    def _count(self, places: Ints, zones: Ints | None) -> Turns | None:
        """Go on by one row of the blocks; where something was drawn, they end."""
        inside = [word for word, block in enumerate(self.blocks) if block is not None]
        if not inside:
            return None
        if self.words == 1:
            if places[0] == 0:
                self._leave_block(zones)
                return None
            if self.passed[0] == 0:
                self._begun = self.joint.copy()
                if self.tables.zones is not None:
                    self._begun_ahead = self._ahead_at(self.count)
        turns: list[Turn | None] = [None] * self.words
        for word in inside:
            block = self.blocks[word]
            assert block is not None
            turns[word] = Turn(block, self.passed[word])
            self.passed[word] += 1
            if places[word] > 0:
                self._end(word, int(places[word]))
        return Turns(turns)

    def _end(self, word: int, place: int) -> None:
        """End a block with what was drawn of its symbols so far."""
        block = self.blocks[word]
        assert block is not None
        block.size, block.place, self.blocks[word] = self.passed[word], place, None

    def end(self, place: int) -> None:
        """End the block of a word that is alone with what was drawn of the symbols so far."""
        self._end(0, place)
        tick = self.count - 1
        tick -= tick % self.tables.row
        now, likelihood = self._ended(tick)
        self._columns = None
        for tick in range(tick, self.count):
            joint = self._ring[tick % len(self._ring)]
            assert joint is not None
            self._ring[(tick + 1) % len(self._ring)], self._belief = self._moved(
                joint, joint.sum(axis=0), now, likelihood, None)
            now = likelihood = None
        self._learn()

    def _ended(self, tick: int) -> tuple[Evidence | None, Floats | None]:
        """Return what was told at a tick with which blocks ended late, and its likelihood."""
        told, row = self._told_at(tick), self._row_of(tick)
        assert told is not None and told.turns is not None
        told.turns.update()
        self._likely[row] = told.likelihood()
        return told, self._likely[row]

    def _leave_block(self, zones: Ints | None) -> None:
        """
        Go on as if there were no signal about the block under way.

        :param zones: as of `take`.
        """
        count, passed, block = self.count, self.passed[0], self.blocks[0]
        assert block is not None
        self.blocks, self.passed, self._columns = [None], [0], None
        if passed:
            told = None if block.zone is None else np.array([block.zone])
            self.count -= passed * self.tables.row
            if self.delay is None:
                del self.told[self.count // self.tables.row:]
                del self.begins[-(-self.count // self.length):]
            if self.own is not None:
                del self.own.told[-((count - self.count) // self.tables.report):]
            self._ring[self.count % len(self._ring)] = self._begun
            self._belief = self._begun.sum(axis=0)
            if told is not None:
                self.ahead[self.count // self.tables.report % len(self.ahead)] = self._begun_ahead
            while self.count < count:
                if told is not None:
                    self.prepare(told)
                self.blocks = [None]
                self.take(np.zeros(1, np.int64), told, reports=False)
            if zones is not None:
                self.prepare(zones)
            self.blocks = [None]

    def _go_on(self, told: Evidence | None, reports: bool, late: Ints | None,
               chooses: bool) -> bool:
        tables = self.tables
        reported = reports and self._is_due()
        if reported:
            self._report(np.zeros(self.words, np.bool_) if told is None or told.turns is None
                         else np.array([turn is not None and not turn.ends
                                        for turn in told.turns.turns]))
        likelihood = None if told is None else self._likely[self._row_of(self.count)]
        if late is not None and late.any():
            for word in np.flatnonzero(late).tolist():
                self._end(word, int(late[word]))
            told, likelihood = self._ended(self.count)
        if told is not None:
            self._columns = None if told.turns is None else told.turns.after
        now = told
        for tick in range(self.count, self.count + tables.report):
            here, next_ = (t % len(self._ring) for t in (tick, tick + 1))
            joint = self._ring[here]
            assert joint is not None
            after, self._belief = self._moved(joint, self._belief, now, likelihood,
                                              self._ring[next_], self._columns)
            self._ring[next_] = after
            now = likelihood = None
        self.count += tables.report
        if self.own is not None:
            self.own.told.append(told)
            self._learn()
        self._due(chooses)
        return reported

    def _learn(self) -> None:
        """Make the own model anew at public times."""
        own, tables = self.own, self.tables
        if own is None or self.blocks[0] is not None or not own.is_due(self.count) or (
                self.count % tables.row):
            return
        self.own = own.learnt(
            self.moves, tables.push, tables.report, self.joint,
            int(self.previous[0]) if self.delay == 0 else 0,
            self._ahead_at(self.count) if tables.zones else None, self._made)
        if self.delay is None:
            self.own.former = None
        else:
            self.own.since(self._needed_since)
        if own.counts is None:
            self._ring = [None if f is None else extended(f) for f in self._ring]
            self.begins = [extended(f) for f in self.begins]
        self.moves = self.own.moves() or self.moves
        self.planned_at[:] = -1
        self._belief = self.joint.sum(axis=0)  # as where a word stands after a restart

    def _made(self, joint: Floats, told: Evidence | None) -> tuple[Floats, Floats | None, Floats]:
        """Return f as it was when this was told, the likelihood of that, and f one tick later."""
        likelihood = None if told is None else told.likelihood()
        if told is not None and told.again is not None:
            joint = joint.copy()
            spread_evenly(joint, told.codes < len(told.chances) - 1, told.again,
                          self.moves.prior)
        return joint, likelihood, self._moved(joint, joint.sum(axis=0), told, likelihood, None)[0]

    def _moved(self, joint: Floats, belief: Floats, told: Evidence | None,
               likelihood: Floats | None, after: Floats | None,
               columns: Ints | None = None) -> tuple[Floats, Floats]:
        """
        Return f one tick later, and its Σ_m, where possible in the arrays given.

        :param columns: how many each word has then; a word that is alone has all.
        """
        if told is not None and told.turns is not None:
            joint = told.turns.forward(joint)
            belief = np.add.reduce(joint, axis=0)
        if after is None or after.shape != joint.shape:
            after = np.empty_like(joint)
        groups = None
        if joint.shape[2] > self.words:
            groups = np.array([0, joint.shape[2]]) if columns is None else _ends(columns)
        self.moves.forward(joint, belief, likelihood, after, belief, self._room, groups)
        return after, belief

    def _columns_after(self, tick: int) -> Ints | None:
        """Return how many columns each word has after a tick; None: one."""
        told = self._told_at(tick - tick % self.tables.row)
        return None if told is None or told.turns is None else told.turns.after

    def _columns_before(self, tick: int) -> Ints | None:
        """Return how many columns each word has before a tick; None: one."""
        told = self._told_at(tick)
        if told is not None:
            return None if told.turns is None else told.turns.before
        return self._columns_after(tick)

    def _row_of(self, tick: int) -> int:
        return tick // self.tables.row % self._rows

    def _tell(self, places: Ints, zones: Ints | None, turns: Turns | None) -> Evidence:
        """Take note of what a signal tells, and the zone."""
        tables, words = self.tables, self.words
        if self.delay is None and self.count % self.length == 0:
            self.begins.append(self.joint.copy())
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
        again, tell = None, np.zeros(words, np.int64)
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
        told = Evidence(codes, chances, places, tell, again, turns)
        row = self._row_of(self.count)
        if self.delay is None:
            self.told.append(told)
        else:
            self.told[row] = told
        self._likely[row] = told.likelihood()
        return told

    def _begin_again(self, within: Booleans, told: Booleans) -> Booleans | None:
        """Where f is 0 on all that is possible, make that equally likely; return where it was."""
        belief = self._belief
        if belief.shape[1] > self.words:
            belief = np.add.reduceat(belief, [0] if self._columns is None
                                     else _ends(self._columns)[:-1], axis=1)
        again: Booleans = told & (total(np.where(within, belief, 0.0)) <= _NOTHING)
        if not again.any():
            return None
        spread_evenly(self.joint, within, again, self.moves.prior, self._columns)
        np.add.reduce(self.joint, axis=0, out=self._belief)
        return again

    # Reports.

    def _report(self, waiting: Booleans) -> None:
        """
        Report what was `delay` signals before the tick where the words stand.

        :param waiting: of each word, whether a symbol was counted, and nothing drawn.
        """
        report = self.tables.report
        due = (self.planned_at < 0) | (self.count - self.planned_at >= self._leaving * report)
        if self._leaving == 1 or self.count % self.tables.row == 0:
            due |= ~waiting
        if self.tables.zones is not None:
            due[:] = True  # the zone was told
        if due.any():
            self.plan(self.count, 0, due)
        number = self.count // report % self._leaving
        self.posterior = self._planned[number]
        self.previous = self._best(self._values[number], self.previous)[1]

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
                number = (count // tables.report + ahead) % self._leaving
                for plan, new in (self._planned, likely), (self._values, later):
                    plan[number] = new if due.all() else np.where(due, new, plan[number])

    def _kept(self, ticks: range) -> Iterator[_Tick]:
        """Yield (tick, f, what was told, its likelihood) of ticks in the window of the delay."""
        for tick in ticks:
            joint, row = self._ring[tick % len(self._ring)], self._row_of(tick)
            assert joint is not None
            told = None if tick % self.tables.row else self.told[row]
            yield tick, joint, told, None if told is None else self._likely[row]

    def _smoothed(self, ticks: Iterator[_Tick]) -> Iterator[tuple[int, Floats]]:
        """Yield (tick, γ) of each report, from the last tick back; γ: shape (states, words)."""
        moves, room = self.moves, self._room
        factor: Floats | None = None
        after: Floats | None = None
        for tick, joint, told, likelihood in ticks:
            turns = None if told is None else told.turns
            columns = self._columns_after(tick) if turns is None else turns.after
            if after is None:
                after = room.zeros('later', (moves.models, self.tables.states + 1,
                                             self.words if columns is None else columns.sum()))
                after[:, :-1] = 1.0 if likelihood is None else likelihood
            else:
                both = 1.0 if factor is None else factor
                if factor is not None and columns is not None:
                    both = factor.repeat(columns)
                moves.backward(after, both if likelihood is None else likelihood * both, room)
            if turns is not None:
                after, columns = turns.backward(after), turns.before
            factor = None
            if tick % self.tables.report == 0:
                joined = room('models', joint.shape)
                np.multiply(joint, after[:, :-1], out=joined)
                summed = np.add.reduce(joined, axis=0)
                if columns is not None:
                    summed = np.add.reduceat(summed, _ends(columns)[:-1], axis=1)
                factor = 1.0 / total(summed)
                yield tick, summed * factor
            if told is not None and told.again is not None:
                before_beginning(joint, after, told.again, columns)

    def _count_zones(self, tick: int, later: Floats, all_zones: bool) -> None:
        """Give reports in the zone that was told one match more; or take all from others."""
        told = self._told_at(tick)
        if self.tables.zone_of is None or told is None or not told.zones.any():
            return
        there = self.tables.zone_of[:, None] == told.zones - 1
        later[there] += 1.0
        if all_zones:
            later[~there & (told.zones > 0)] = -np.inf

    def _told_at(self, tick: int) -> Evidence | None:
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
                likely.append(None if told is None else told.likelihood())
                if told is not None and told.again is not None:
                    spread_evenly(joint, told.codes < len(told.chances) - 1, told.again, prior,
                                  self._columns_before(tick))
                if i + 1 < len(ticks):
                    rows[i + 1:i + 2] = [self._moved(
                        joint, np.add.reduce(joint, axis=0), told, likely[i],
                        rows[i + 1] if i + 1 < len(rows) else None,
                        self._columns_after(tick))[0]]
            for i in range(len(ticks) - 1, -1, -1):
                yield ticks[i], rows[i], self._told_at(ticks[i]), likely[i]


def _ends(columns: Ints) -> Ints:
    """Return where the columns of each word begin, and at last where they end."""
    ends = np.zeros(len(columns) + 1, np.int64)
    columns.cumsum(out=ends[1:])
    return ends
