# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adaptive policy: it draws signals, and publishes reports that are decoded from them.

**Signals.** Let f(m, s) = P[m_t = m, s_t = s | z_1…z_{t−1}], by Bayes from the signals so far: s_t
moves by the public models P_m and the hidden switch T between them (`core.models`; m_t is the
model of the move to s_t), and z_t is drawn as below:

    f'(m', s')  ∝  Σ_m T(m'|m)·Σ_s P_m'(s'|s)·P[z_t | s]·f(m, s).                               (1)

Before s_t is looked at, m states found a cell each, and every state s joins the founder c of the
largest X(c, s), the first where several come within 10⁻¹² of it; where X is 0 for all of them,
the cell from which the fewest moves lead to s. z_t is the cell of s_t by randomized response
(`core.online.response`): the integers b for its own cell, a for each other; for an unknown symbol,
and one to which no moves lead from any cell, each cell is equally likely.

X(c, s) is the expected number of matches, this one and the discounted later ones (γ = 0.9), of a
report c where s is true, with the best targets later (`expected_matches`, equation (1), where s
moves by Σ_m q(m)·P_m): of the N that can follow the report o, the one aimed at has the
probability

    σ(o) = max_m e^{ε/k}/(e^{ε/k} + m − 1) · the m largest P(·|o) together,                    (2)

the most that one draw can reach for who knows that the robot was at o, each other
(1 − σ)/(N − 1).

Who founds: with a delay the states of largest f; without one those that can be reported, those of
the largest Σ_s f(s)·X(·, s) first. Each number m up to 12 is tried, and then all of them (up to
1,024). Taken is the m whose signal tells the most of s_t, H(z) − H(z|s_t); without a delay, where
a report is due at once, the m of the largest

    0.1·(H(z) − H(z|s_t)) + Σ_z max_c Σ_s f(s)·P[z|s]·X(c, s).

Where there are more than 10 reports for each signal, they lie beyond what X looks ahead: the cells
are then chosen as with a delay.

**Blocks.** With a delay and a chain that lists its moves, or an alphabet of few symbols
(`core.online.adaptive.alphabet`), a signal may be about the next L symbols together: how many of
them lie in each of some cells, drawn with noise (`core.online.counts`) when the last one is in. L
is at most delay + 1, so that no report waits for it. It and the cells of each symbol are chosen
when the block begins, as `core.online.adaptive.blocks` says; L = 1 is the signal above. At the end
of the word (`finish`) a block under way is cut short, and its signal drawn of the symbols so far;
so it is with zones where another one is told (`core.online.adaptive.in_zones`). Where a symbol is
left out (`tick`), so are those of the block so far: nothing is drawn of them any more.

**Reports.** o_t is a function of z_1…z_{t+d} and o_{t−1}, d being the `delay`: of the routes that
the map allows from o_{t−1}, take the one with the most expected matches,

    Σ_{u=t}^{t+d−1} γ_u(o_u)  +  Σ_s γ_{t+d}(s)·X(o_{t+d}, s),                                  (3)

γ_u(s) = P[s_u = s | z_1…z_{t+d}], and report its first state. At the end of the word, `finish`
decodes what is left, by Σ γ_u(o_u) alone. With `delay=None` nothing is reported before: the
route then has the most matches that can be expected of any that the map allows.

**Two clocks.** On a chain of `Chain.every` what is known moves by its single ticks, of which there
are `ticks` from one report to the next, and with R reports for each symbol R times as many from
one signal to the next: at a tick without a signal, (1) is without P[z_t | s]. Routes are of
reports, and (3) counts their ticks alone. With a delay, the R reports that leave from one signal
on follow the route that it chose: until the next one, no more is known. X takes every report to
have a signal, whatever R is: that decides how good reports are, not how private.

**Privacy.** Fix the signals z_1…z_{t−1}. f, the reports so far and the cells are functions of
them and of public data, so every symbol's row is a randomized response over the same m cells,
about one of them or about none: for any two symbols the probability of one signal differs by a
factor of at most e^{ε/k} (`core.online.response`, Claim). P[z_1…z_n | w] is the product of these
rows along z; for adjacent words at most k factors differ: the ratio is at most e^ε. With blocks,
fix the signals before one: L and the cells are functions of them and of public data, and blocks
are disjoint. For two blocks that differ in j symbols the probability of a signal differs by a
factor of at most e^{jε/k} (one symbol after the other, `core.online.counts`, Claim), and the j of
all blocks are at most k together. It holds for any f. Reports are functions of signals:
post-processing, which costs nothing. So are f, γ and the state (`state`, `restore`). A state that
is taken within a block says how many of its symbols have passed, and nothing else of them:
`restore` goes on as if they had been left out. (Reports that were chosen before still leave.)

Left out are, for the choice of m and the order of founders, states with f below 10⁻⁹ (those
without X count as equally likely in each cell), and in the last sum of (3) those with γ below
10⁻⁶.

**The same everywhere.** All sums are in a fixed order; but for the logarithm in H, no function
but + − × ÷ and max is used, and what is compared has a margin of 10⁻¹², but for the order in which
founders are tried.

**Cost.** X for all pairs of states, twice, 4 bytes each; above `targets.DENSE_STATES` states for
the pairs within the radius of the guided policy: there symbols that are farther off join the
cell from which the fewest moves lead to them. A step takes O(models·edges·(delay + 1) +
states·(cells + N·cells)) time, and as much memory.
"""
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import SystemRandom
import struct
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.randomness import RandomIntegers
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.adaptive.turns import Block, INSIDE
from symdp_ros.core.online.adaptive.words import COUNTED, NO_PLAN, Words
from symdp_ros.core.online.counts import CountResponse
from symdp_ros.core.zones import Signal, WAITING
from symdp_ros.errors import ChainError, ConfigurationError, UnknownSymbolError

_STATE = struct.Struct('<QI')             # ticks so far, position of the last report
_LEARNT = struct.Struct('<?QI')           # whether there are counts; first tick, its report
_MOST_TICKS = 2**62                       # that a state can have
_MOST_BYTES = 2**32                       # of f in the window of a delay, or in one segment
_MOST_MODELS = 8                          # as if there were so many
_SYSTEM = SystemRandom()
_NO_DRAWS = RandomIntegers(30, 1)        # while no signal is due: never filled


class AdaptiveWord:
    """
    One word: the cells that follow from its signals so far, the draw, and the reports.

    :param tables: of the mechanism.
    :param delay: in symbols; None: all reports leave with `finish`.
    :param random: as `OnlineMechanism`.
    :raises ConfigurationError: the delay is too long for this chain.
    """

    _marks = 1  # integers that a state has of each signal

    def __init__(self, chain: Chain, tables: AdaptiveTables, delay: int | None,
                 random: RandomBits | None = None):
        n = len(chain)
        # Copies: were a label the caller's own object, its type would show that, and its time too.
        self._labels = [''.join(list(state)) for state in chain.states]
        self._index: dict[str | None, int] = {None: n}
        self._index.update(chain.state_index)
        self._chain, self.tables, self._random, self.delay = chain, tables, random, delay
        self._initial = chain.state_index[chain.initial_state]
        self._report, self._signal = tables.report, tables.signal  # ticks
        self._draws_of: dict[int, RandomIntegers] = {}
        symbol = 8 * _MOST_MODELS * n * self._signal  # bytes
        if symbol * (1 if delay is None else delay) > _MOST_BYTES:
            raise ConfigurationError(
                f'delay is {delay}: for {n} states and {self._signal} ticks for each symbol, at '
                f'most {_MOST_BYTES // symbol}', setting='delay')
        self._code_of = np.zeros(n + 1, np.uint32)
        self._codes = memoryview(self._code_of.data)  # of each symbol, the number of its cell
        self._word = Words(tables, delay)
        #: the number of the zone for which cells are ready; None: there are no zones
        self._ready: int | None = None
        self._counted, self._then = 0, list[list[int]]()  # in a block: vectors by their numbers
        self.reset()

    @property
    def previous(self) -> str:
        """Return the last report; before the first one, the state that the word was begun from."""
        return self._labels[int(self._word.previous[0])]

    @property
    def zone(self) -> str | None:
        """Return what `OnlineMechanism.zone` does."""
        return None

    @property
    def posterior(self) -> Floats | None:
        """Return P[s_u = s | all signals so far], u reported last: shape (states,); or None."""
        posterior = self._word.posterior
        return None if posterior is None else posterior[:, 0].copy()

    def reset(self, previous: str | None = None) -> None:
        """
        Begin a word where the robot is at a state; None: at the initial one.

        :raises ChainError: it is no state; nothing changes.
        """
        position = self._initial if previous is None else self._index.get(previous)
        if position is None:
            raise ChainError(f'{previous!r} is not a state of the chain', state=previous)
        self._begin(position)

    def _begin(self, position: int) -> None:
        """Stand at the begin of a word, at a state."""
        self._word.begin(position)
        self._prepare()

    def advance(self, signal: Signal, symbol: str | None = None) -> str | None:
        """
        Go on as if this signal had been drawn; return the report that is due, or None.

        :param symbol: in a block, for what symbol: what is drawn of the block depends on it.
        :raises ChainError: it cannot have been; nothing changes.
        :raises ConfigurationError: as `step`.
        """
        self._check_due()
        if self._word.blocks[0] is not None:
            return self._advance_in(signal, symbol)
        position = self._index.get(signal) if isinstance(signal, str) else None
        if position is None or position not in self._founders:
            raise ChainError(f'{signal!r} founded no cell after these signals',
                             state=signal if isinstance(signal, str) else None)
        return self._take(1 + self._founders.index(position), self._ready)

    def _advance_in(self, signal: Signal, symbol: str | None) -> str | None:
        """Do what `advance` does in a block."""
        block, rows = self._word.blocks[0], self._word.waiting + 1
        assert block is not None
        place = block.place_of(signal, rows)
        if not place and (signal != WAITING or rows == block.most_rows):
            raise ChainError(f'{signal!r} cannot be the signal after these: of symbol '
                             f'{block.symbols(rows)} of a block of {len(block.responses)}, in '
                             f'{block.cells} cells')
        self._counted = self._then[self._counted][self._codes[self._index[symbol]]]
        if rows < block.most_rows:  # if one was drawn, it was after the report
            return self._take(COUNTED, self._ready, place)
        return self._take(place, self._ready)

    def step(self, symbol: str | None) -> str | None:
        """Draw, as `OnlineMechanism.step`; all that the draw needs is ready before."""
        try:
            number, hit = self._draws.buffer.pop()
            cells = self._numbers
            cells[0] = cells[number]
            place = (cells[0], cells[self._codes[self._index[symbol]]])[hit]
        except (IndexError, KeyError):
            pass
        else:
            return self._take(place, self._ready)
        self._check_due()
        if symbol not in self._index:
            raise UnknownSymbolError
        block = self._word.blocks[0]
        if block is None:
            self._draws.fill()
            return self.step(symbol)
        return self._take(self._count(symbol, block), self._ready)

    def _count(self, symbol: str | None, block: Block) -> int:
        """Count a symbol of a block; return the vector drawn, from 1, or `COUNTED`."""
        self._counted = self._then[self._counted][self._codes[self._index[symbol]]]
        ends = self._word.waiting + 1 == block.most_rows
        return self._drawn(block.responses[-1]) if ends else COUNTED

    def _drawn(self, response: CountResponse) -> int:
        """Draw of the symbols that were counted; return the number of the vector, from 1."""
        return 1 + response.draw(self._random or _SYSTEM)[self._counted]

    def tick(self) -> str | None:
        """Go on without a signal, as `OnlineMechanism.tick`."""
        return self._take(0)

    def skip(self, reports: int) -> str | None:
        """Go on without signals, as `OnlineMechanism.skip`."""
        reported = self._word.skip(reports)
        self._prepare()
        return self.previous if reported else None

    @property
    def ticks_left(self) -> int:
        """Return how many `tick` come before the next signal."""
        return -self._word.count % self.tables.row // self._report

    def _check_due(self) -> None:
        if self.ticks_left:
            raise ConfigurationError(
                f'one symbol comes with {self._signal // self._report} reports: before the next '
                'one, call tick() for each report that comes without one', setting='reports')

    def finish(self) -> list[str]:
        """
        Return the reports of the rest of the word; then a new word begins.

        A block under way ends here: its signal is drawn of the symbols so far.
        """
        self._end_block()
        route = self._word.finish()[:, 0].tolist()
        self.reset()
        return [self._labels[i] for i in route]

    def _end_block(self) -> None:
        """End the block under way, if there is one: draw of its symbols so far."""
        block = self._word.blocks[0]
        if block is not None and self._word.waiting:
            self._word.end(self._drawn(block.response(self._word.waiting)))

    def _take(self, place: int, zone: int | None = None, late: int = 0,
              reports: bool = True) -> str | None:
        """Take in a signal, and a zone: what it costs depends on these alone."""
        zones = None if zone is None else np.array([zone])
        reported = self._word.take(np.array([place]), zones, np.array([late]), reports)
        self._prepare()
        return self.previous if reported else None

    def _prepare(self) -> None:
        """Make all ready for the next draw."""
        self._word.prepare(None if self._ready is None else np.array([self._ready]))
        self._size, self._draws, self._founders = 0, _NO_DRAWS, list[int]()
        block, passed, cells = self._word.blocks[0], self._word.waiting, self._word.cells
        if block is not None:
            self._counted = self._counted if passed else 0
            self._code_of[:-1], then = block.cells_at(passed)
            self._then = then.tolist()
        if cells is None:
            return
        size = self._size = int(cells.sizes[0])
        self._code_of[:-1] = cells.codes[:, 0]
        self._founders = cells.founders[:size, 0].tolist()
        self._numbers = [*range(size + 1)]  # of the cells; 0: room for one that is drawn
        if size not in self._draws_of:
            response = self.tables.responses[size]
            self._draws_of[size] = RandomIntegers(self.tables.width, response.limit,
                                                  self._random, response.reader())
        self._draws = self._draws_of[size]

    @property
    def state(self) -> bytes:
        """Return all that the next draws and reports depend on: for `restore`."""
        word, begin = self._word, self._word.state_begin()
        learnt = () if not self.tables.learns else (
            _LEARNT.pack(begin.counts is not None, begin.tick, begin.previous),
            b'' if begin.counts is None else begin.counts.astype('<f8').tobytes())
        return b''.join((_STATE.pack(word.count, int(word.previous[0])), *learnt,
                         begin.joint[:, :, 0].T.astype('<f8').tobytes(),
                         *[array.astype('<u4').tobytes() for array in self._signals()]))

    def _signals(self) -> Iterator[Ints]:
        """
        Yield the numbers of the cells that were drawn since the first report that is left.

        Of a block, since its begin; nothing of the symbols of a block under way. Where there are
        blocks, two more numbers come first: of ticks since then, and of reports since others were
        chosen (`NO_PLAN`: those are not used any more; nor are they by a word that is restored
        within a block, and by then has learnt what this one learns when the block has ended).
        """
        word = self._word
        if word.longest > 1:
            learns = word.own is not None and word.own.is_due(
                word.count - word.count % self.tables.row)
            yield np.array([word.count - word.state_begin().tick,
                            NO_PLAN if learns else word.plan_age()])
        for told in word.evidence():
            yield from told.marks[:self._marks]

    def restore(self, state: bytes) -> None:
        """
        Stand where a word of such a mechanism stood, but for `posterior`, which is forgotten.

        :raises ChainError: that is no `state`; nothing changes.
        """
        other = type(self)(self._chain, self.tables, self.delay, self._random)
        other._draws_of = self._draws_of
        try:
            other._restore(state)
            if other.state != state:
                raise ValueError
        except (ValueError, struct.error):
            raise ChainError('these bytes are no state of such a mechanism') from None
        vars(self).update(vars(other))

    def _restore(self, state: bytes, ahead: Booleans | None = None) -> None:
        """
        Do what `restore` does, in a word that was just begun.

        :param ahead: what a route can be in at its begin; None: there are no zones.
        :raises ValueError, struct.error: that is no state; the word is then in disorder.
        """
        count, previous = _STATE.unpack_from(state)
        models, n, word = self.tables.moves.models, self.tables.states, self._word
        size, counts, since = _STATE.size, None, word.first_due(count)
        # Without a delay cells depend on the last report: those since then are made again.
        again, before = self.tables.learns and self.delay == 0, previous
        if self.tables.learns:
            has_learnt, since, before = _LEARNT.unpack_from(state, size)
            size += _LEARNT.size
            if has_learnt:
                counts = np.frombuffer(state, '<f8', len(self.tables.models.targets), size)
                size, models = size + counts.nbytes, models + 1
                if not ((counts >= 0) & (counts < _MOST_TICKS)).all():
                    raise ValueError
            if not 0 <= since <= count:
                raise ValueError
        begin = np.frombuffer(state, '<f8', n * models, size).reshape(n, models)
        signals = np.frombuffer(state, '<u4', offset=size + begin.nbytes).tolist()
        planned_at = word.planned_by_rule(count)
        if word.longest > 1:
            ticks, age, *signals = signals
            planned_at = None if age == NO_PLAN else count - age * self._report
            if self.delay is None and age != NO_PLAN or not (
                    since - word.block_ticks <= count - ticks <= since):
                raise ValueError
            if planned_at is not None and planned_at < word.held * self._report:
                raise ValueError  # no report had left by then
            since = count - ticks
        rows = -(-count // self.tables.row) + -since // self.tables.row  # after `since`
        if (len(signals) != self._marks * rows or max(previous, before) >= n
                or count >= _MOST_TICKS or since < 0
                or count % self._report or since % self._report
                or self.tables.learns and since % self.tables.row
                or not ((begin >= 0) & (begin < 2)).all() or abs(begin.sum() - 1) > 1e-6
                or not begin[:, -self.tables.moves.models:].any()):  # the public models
            raise ValueError
        word.stand(np.array(begin.T[:, :, None], order='C'), since, before if again else previous,
                   counts, ahead)
        if word.own is not None:
            word.own.previous = before
        self._take_all(count, signals, again)
        word.posterior = None
        if again and word.previous[0] != previous:
            raise ValueError
        word.plan_again(planned_at)
        self._prepare()

    def _take_all(self, count: int, signals: list[int], reports: bool = False) -> None:
        """Take in signals up to some tick."""
        word = self._word
        self._prepare()
        while word.count < count:
            number = 0 if word.count % self._signal else signals.pop(0)
            self._take(self._place_of(number), reports=reports)

    def _place_of(self, number: int) -> int:
        """
        Return what `Words.take` has for a number that a state has of the next signal.

        :raises ValueError: it cannot be.
        """
        block, rows = self._word.blocks[0], self._word.waiting + 1
        if number and block is not None:
            if not (rows < block.most_rows if number == INSIDE else block.can_draw(number, rows)):
                raise ValueError
            return COUNTED if number == INSIDE else number
        if not 0 <= number <= self._size:
            raise ValueError
        return number

    def exact_distribution(self, symbol: str | None, last: bool = False) -> dict[Any, Fraction]:
        """
        Return the next row, exactly: of the founders of the cells; in a block, of counts.

        :param last: whether the word ends with this symbol, and the block under way.
        """
        self._check_due()
        if symbol not in self._index:
            raise UnknownSymbolError
        block, passed = self._word.blocks[0], self._word.waiting
        code = self._codes[self._index[symbol]]
        if block is not None:
            if passed + 1 < block.most_rows and not last:
                return {WAITING: Fraction(1)}
            return block.response(passed + 1).exact_row(self._then[self._counted][code])
        response = self.tables.responses[self._size]
        if not code:
            return {self._labels[x]: Fraction(1, response.count) for x in self._founders}
        return {self._labels[x]: Fraction(
            response.b if number == code else response.a, response.total)
            for number, x in enumerate(self._founders, 1)}

    @property
    def waiting(self) -> int:
        """Return what `OnlineMechanism.waiting` does."""
        return self._word.waiting

    def ends_block(self, symbol: str | None, following: str | None) -> bool:
        """Return what `OnlineMechanism.ends_block` does."""
        return False

    def likelihood(self, signal: Signal, known: Sequence[str | None] = ()) -> Floats:
        """
        Return the probability of the next signal for each s_t: shape (states,).

        In a block: if its first symbols are `known`, and all others so far are s_t.
        """
        self._check_due()
        codes, block, passed = self._code_of[:-1], self._word.blocks[0], self._word.waiting
        if block is not None:
            if signal == WAITING and passed + 1 < block.most_rows:
                return np.ones(len(codes))
            place = block.place_of(signal, passed + 1)
            if not place:
                return np.zeros(len(codes))
            counted: Ints = np.zeros(len(codes), np.int64)
            for number in range(passed + 1):
                code: Any
                code, then = block.cells_at(number)
                if number < len(known):
                    symbol = self._index[known[number]]
                    code = code[symbol] if symbol < len(code) else 0  # unknown
                counted = then[counted, code]
            counts: Floats = block.response(passed + 1).chances[place - 1, counted]
            return counts
        position = self._index.get(signal) if isinstance(signal, str) else None
        if position is None or position not in self._founders:
            return np.zeros(len(codes))
        shares, size = self.tables.shares, self._size
        chances: Floats = np.where(
            codes == 1 + self._founders.index(position), shares.own[size],
            np.where(codes == 0, shares.uniform[size], shares.other[size]))
        return chances
