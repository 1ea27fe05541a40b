# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adaptive policy: what is drawn, a signal, is not what is published, a report.

**Signals.** Let f(m, s) = P[m_t = m, s_t = s | z_1…z_{t−1}], by Bayes from the signals so far: s_t
moves by the public models P_m and the hidden switch T between them (`core.models`; m_t is the
model of the move to s_t), and z_t is drawn as below:

    f'(m', s')  ∝  Σ_m T(m'|m)·Σ_s P_m'(s'|s)·P[z_t | s]·f(m, s).                               (1)

Before s_t is looked at, m states found a cell each, and every state s joins the founder c of the
largest X(c, s), the first where several come within 10⁻¹² of it; where X is 0 for all of them,
the cell from which the fewest moves lead to s. z_t is the cell of s_t by randomized response
(`core.online.response`): the integers b for its own cell, a for each other; for an unknown symbol,
and one to which no moves lead from any cell, each cell is equally likely.

X(c, s) is how many matches, this one and the discounted later ones (γ = 0.9), are expected of who
reports c where s is true, and can aim from then on (`core.online.planned`, equation (1), where s
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
rows along z; for adjacent words at most k factors differ: the ratio is at most e^ε. It holds for
any f. Reports are functions of signals: post-processing, which costs nothing. So are f, γ and the
state (`state`, `restore`).

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
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import exp
import struct
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.compiled.vectors import in_lanes, LANES
from symdp_ros.core.draws.randomness import RandomIntegers
from symdp_ros.core.online import planned, targets
from symdp_ros.core.online.guided import near_pairs
from symdp_ros.core.online.response import responses
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.word_arrays import WordBits
from symdp_ros.errors import ChainError, ConfigurationError, UnknownSymbolError

DISCOUNT = 0.9

_TOLERANCE, _NEAR_TOLERANCE = 1e-3, 1e-2  # matches, out of at most 10
_SEGMENT = 64                             # ticks, at least, of a whole word whose f is kept once
_STATE = struct.Struct('<QI')             # ticks so far, position of the last report
_MOST_TICKS = 2**62                       # that a state can have: the loops count in int64
_MOST_BYTES = 2**32                       # of f in the window of a delay, or in one segment
_NO_DRAWS = RandomIntegers(30, 1)        # while no signal is due: never filled


class AdaptiveTables:
    """
    What is known before the first symbol, shared by all words.

    :param chain: of reports; one that stores its edges. What is known of the robot moves by its
        single ticks (`Chain.single`).
    :param privacy: ε and k.
    :param trust: the weight of P among the models.
    :param reports: ≥ 1, how many there are for each signal.

    `radius` and `nbytes` are as those of `core.online.targets`; `responses` has the `Response` for
    each number of cells that can be taken, `width` is that of their draws.
    """

    def __init__(self, chain: Chain, privacy: Privacy, trust: float, reports: int):
        from symdp_ros.core.online.adaptive.signals import CELLS, MOST_CELLS

        n, degrees = len(chain), chain.out_degrees()
        self.most = min(n, max(CELLS, min(MOST_CELLS, int(degrees.max()))))
        counts = {*range(1, CELLS + 1), self.most, *degrees.tolist()}
        self.zones, zone_of = privacy.zones, np.empty(0, np.int64)
        if privacy.zones is not None:
            zone_of = privacy.zones.numbers(chain)
            counts = {*range(1, int(np.bincount(zone_of).max()) + 1)}
        self.width, self.responses = responses(
            {count for count in counts if count <= self.most}, privacy)
        models = chain.single.models(trust)
        sparse = None if n <= targets.DENSE_STATES else near_pairs(chain)
        first, symbols = np.arange(n + 1, dtype=np.int64) * n, np.empty(0, np.int32)
        if sparse is not None:
            first, symbols, _ = sparse.pairs()
        self.radius = None if sparse is None else sparse.radius
        tolerance = _TOLERANCE if sparse is None else _NEAR_TOLERANCE
        mean = chain.models(trust).mean
        X, work = planned.values(chain, first, symbols, *_aims(chain, privacy, mean), mean,
                                 DISCOUNT, tolerance)
        X, match = X.astype(np.float32), work[3]  # X(c, c), whether or not that is a pair
        across = np.empty(0, np.float32) if sparse else X.reshape(n, n).T.flatten()
        shares = np.zeros((4, self.most + 1))
        #: by the number of cells: limit, weight and cut of its `Response`
        self.limits = np.zeros((self.most + 1, 3), np.int64)
        for count, response in self.responses.items():
            self.limits[count] = response.limit, response.weight, response.cut
            shares[:3, count] = (response.a / response.total, response.b / response.total,
                                 1 / count)
        switch = np.stack([np.full(len(models), models.keep), models.switch, models.prior])
        self.shares, self.prior = shares, in_lanes(models.prior[None])[0]
        signal = chain.ticks * reports
        self.clock = np.array([chain.ticks, signal, signal if self.zones is None else chain.ticks],
                              np.int64)
        self.arrays = (*chain.single.csr(), in_lanes(models.weights.T), in_lanes(switch),
                       *chain.csr(), first, symbols, X, across, match, shares, self.clock,
                       zone_of)
        #: of the place of a successor among those of a state
        self.place_type = np.uint8 if chain.out_degrees().max() < 2**8 else np.uint32
        self.nbytes = sum(array.nbytes for array in self.arrays)

    def draws(self, symbols: int, random: RandomBits) -> Ints:
        """Return integers of `width` bits, for so many symbols or nearly as many."""
        count, (dtype, shift) = symbols + symbols // 8 + 8, {30: ('<u4', 2), 60: ('<u8', 4)}[
            self.width]
        size = count * np.dtype(dtype).itemsize
        raw = np.frombuffer(random.getrandbits(8 * size).to_bytes(size, 'little'), dtype)
        return (raw >> shift).astype(np.int64)


def _aims(chain: Chain, privacy: Privacy, moves: Floats) -> tuple[Floats, Floats]:
    """Return for each state o what equation (2) gives every state, and the target besides."""
    ratio = exp(min(float(privacy.epsilon_per_symbol), 64.0))
    others, gain = np.zeros(len(chain)), np.ones(len(chain))
    for o, (begin, end) in enumerate(pairwise(chain.csr()[0].tolist())):
        if end - begin > 1:
            largest = np.cumsum(np.sort(moves[begin:end])[::-1])
            most = (ratio / (ratio + np.arange(end - begin)) * largest).max()
            others[o] = (1 - most) / (end - begin - 1)
            gain[o] = most - others[o]
    return others, gain


class _Segment(NamedTuple):
    """Some ticks of a word that is decoded as a whole."""

    begin: Floats    # f of the first of them
    kinds: Numbers   # these two as in `core.online.adaptive.signals`
    sizes: Ints


class AdaptiveWord:
    """
    One word: what its signals so far make of the next one, the draw, and the reports.

    :param tables: of the mechanism.
    :param delay: in symbols; None: all reports leave with `finish`.
    :param random: as `OnlineMechanism`.
    :raises ConfigurationError: the delay is too long for this chain.
    """

    _count: int     # ticks so far
    _previous: int  # position of the last report

    def __init__(self, chain: Chain, tables: AdaptiveTables, delay: int | None,
                 random: RandomBits | None = None):
        from symdp_ros.core.online.adaptive import decoding, signals

        n = len(chain)
        # Copies: were a label the caller's own object, its type would show that, and its time too.
        self._labels = [''.join(list(state)) for state in chain.states]
        self._index: dict[str | None, int] = {None: n}
        self._index.update(chain.state_index)
        self._chain, self._tables, self._random = chain, tables, random
        self._signal_loops: ModuleType = signals
        self._report_loops: ModuleType = decoding
        self._initial = chain.state_index[chain.initial_state]
        self._delay = -1 if delay is None else delay
        self._draws_of: dict[int, RandomIntegers] = {}
        self._report, self._signal, self._row = tables.clock.tolist()  # ticks
        self._at_once: bool = signals.reports_at_once(self._delay, tables.clock)
        most, held = tables.most, max(0, self._delay)
        symbol = 8 * LANES * n * self._signal  # bytes
        if symbol * max(held, self._delay < 0) > _MOST_BYTES:
            raise ConfigurationError(
                f'delay is {delay}: for {n} states and {self._signal} ticks for each symbol, at '
                f'most {_MOST_BYTES // symbol}', setting='delay')
        codes = np.zeros(n + 1, np.uint32)
        self._codes = memoryview(codes.data)  # of each symbol, the number of its cell
        self._ring, self._posterior = np.zeros((held * self._signal + 1, n, LANES)), np.zeros(n)
        self._whole: list[_Segment] = []
        self._length = max(1, _SEGMENT // self._signal)  # of a segment, in signals
        self._window = self._segment(held * self._signal // self._row + 1)
        places = 0 if tables.zones is None else n
        self._ahead = np.zeros((held * self._signal // self._report + 1, places), np.uint8)
        # reports that leave before more is known
        leaving = self._row // self._report if self._delay > 0 else 1
        self._chosen = (codes, np.zeros(most, np.int64), self._posterior, self._ahead,
                        np.zeros(places, np.uint8), np.zeros(2, np.int64),
                        np.zeros((leaving, 2, n)), np.zeros(leaving, np.int64))
        by_cell = (most, most + 1) if self._at_once else (1, 1)
        self._work = (np.zeros((n, LANES)), np.zeros((n, LANES)), np.zeros((2, n)),
                      *np.zeros((2, n + 1), np.int64),
                      np.zeros(held * self._signal // self._report + 1, np.int64),
                      np.arange(n, dtype=np.int32), *np.zeros((3, n)), np.zeros(n, np.int64),
                      np.zeros((most, n)), np.zeros((2, most + 1)), np.zeros(by_cell),
                      np.zeros(n, np.float32))
        self.reset()

    @property
    def previous(self) -> str:
        """Return the last report; before the first one, the state that the word was begun from."""
        return self._labels[self._previous]

    @property
    def posterior(self) -> Floats | None:
        """Return P[s_u = s | all signals so far], u reported last: shape (states,); or None."""
        return self._posterior.copy() if self._knows else None

    def reset(self, previous: str | None = None) -> None:
        """
        Begin a word where the robot is at a state; None: at the initial one.

        :raises ChainError: it is no state; nothing changes.
        """
        position = self._initial if previous is None else self._index.get(previous)
        if position is None:
            raise ChainError(f'{previous!r} is not a state of the chain', state=previous)
        begin, tables, mixed = self._ring[0], self._tables.arrays, self._work[0]
        self._signal_loops.begin_at(position, self._tables.prior, tables, mixed, begin)
        for _ in range(self._report - 1):
            self._signal_loops.predict(begin, self._window.kinds[-1], 1, tables, self._work[8],
                                       mixed, begin)
        self._whole = []
        self._begin(position)

    def _begin(self, position: int) -> None:
        """Stand at the begin of a word, at a state."""
        self._stand(0, position, 0)

    def advance(self, signal: str) -> str | None:
        """
        Go on as if this signal had been drawn; return the report that is due, or None.

        :raises ChainError: it cannot have been; nothing changes.
        :raises ConfigurationError: as `step`.
        """
        self._check_due()
        position = self._index.get(signal)
        if signal is None or position not in self._cells[1:]:
            raise ChainError(f'{signal!r} founded no cell after these signals', state=signal)
        return self._take(self._cells.index(position, 1))

    def step(self, symbol: str | None) -> str | None:
        """Draw, as `OnlineMechanism.step`: all but what follows the draw is ready before it."""
        try:
            number, hit = self._draws.buffer.pop()
            cells = self._numbers
            cells[0] = cells[number]
            place = (cells[0], cells[self._codes[self._index[symbol]]])[hit]
        except (IndexError, KeyError):
            pass
        else:
            return self._take(place)
        self._check_due()
        if symbol not in self._index:
            raise UnknownSymbolError
        self._draws.fill()
        return self.step(symbol)

    def tick(self) -> str | None:
        """Go on without a signal, as `OnlineMechanism.tick`."""
        return self._take(0)

    @property
    def ticks_left(self) -> int:
        """Return how many `tick` come before the next signal."""
        left: int = -self._count % self._signal // self._report
        return left

    def _check_due(self) -> None:
        if self.ticks_left:
            raise ConfigurationError(
                f'one symbol comes with {self._signal // self._report} reports: before the next '
                'one, call tick() for each report that comes without one', setting='reports')

    def finish(self) -> list[str]:
        """Return the reports of the rest of the word; then a new word begins."""
        route = self._finish()
        self.reset()
        return [self._labels[i] for i in route.tolist()]

    def draw(self, symbols: Ints, offsets: Ints, bits: WordBits) -> tuple[Ints, Ints, Floats]:
        """
        Draw a signal for each symbol, as so many `step` and `finish` do, in compiled loops.

        :param symbols: int64, shape (total,): positions of states, −1: unknown.
        :param offsets: as in `core.word_arrays`; words are begun from the initial state.
        :param bits: of the words.
        :return: positions of states, int64: the reports, for a word of n symbols (n − 1)·`reports`
            + 1, with zones n; who founded the cells, −1 − zone where only the zone was told, shape
            (total,); of each symbol, 1 where the signal is its own cell, less the chance of that
            (0 where it has none): float64, shape (total,).
        """
        signals, luck = np.empty(len(symbols), np.int64), np.empty(len(symbols))
        zones, found = self._zones_of(symbols, offsets), [np.empty(0, np.int64)]
        each = 1 if len(zones) else self._signal // self._report
        for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
            if begin == end:
                continue
            self.reset()
            here, reports = slice(begin, end), np.empty((end - begin - 1) * each + 1, np.int64)
            self._draw(symbols[here], zones[here], signals[here], luck[here], reports,
                       bits.stream(number))
            route = self._finish()
            reports[len(reports) - len(route):] = route
            found.append(reports)
        return np.concatenate(found), signals, luck

    def _zones_of(self, symbols: Ints, offsets: Ints) -> Ints:
        """Return the zone that is told with each symbol; shape (0,): none is."""
        return np.empty(0, np.int64)

    def _draw(self, symbols: Ints, zones: Ints, signals: Ints, luck: Floats, reports: Ints,
              random: RandomBits) -> None:
        at = used = 0
        span, drawn = self._length * self._signal, np.empty(0, np.int64)
        while at < len(symbols):
            if used == len(drawn):
                drawn, used = self._tables.draws(len(symbols) - at, random), 0
            end = len(symbols)
            if self._delay < 0:
                end = min(end, at + (span - self._count % span) // self._row)
            at, used, size, count, previous = self._signal_loops.draw(
                at, end, self._size, self._count, self._previous, self._delay, symbols, zones,
                signals, luck, reports, drawn, used, self._tables.limits, self._tables.arrays,
                self._word(), self._work)
            self._stand(count, previous, size)

    def _segment(self, length: int) -> _Segment:
        """Return room for so many rows of what signals, and zones, tell."""
        n = len(self._posterior)
        kinds, sizes = np.zeros((length + 1, n), np.uint8), np.zeros((4, length + 1), np.int64)
        kinds[-1], sizes[0, -1] = 2, 1  # no signal
        return _Segment(self._ring[0].copy(), kinds, sizes)

    def _word(self) -> tuple[Any, ...]:
        """Return the arrays of the word, with room for the next symbol."""
        segment = self._window
        if self._delay < 0:
            if self._count == len(self._whole) * self._length * self._signal:
                self._whole.append(self._segment(self._length * self._signal // self._row))
            segment = self._whole[-1]
        return self._ring, segment.kinds, segment.sizes, *self._chosen

    def _take(self, place: int, reports: bool = True, zone: int = -1) -> str | None:
        """Take in a signal, and a zone: what it costs depends on these alone."""
        size, previous, reported = self._signal_loops.take(
            place, zone, self._size, self._count, self._previous, self._delay, reports,
            self._tables.arrays, self._word(), self._work)
        self._stand(self._count + self._report, previous, size)
        if not reported:
            return None
        self._knows = True
        return self._labels[int(previous)]

    def _stand(self, count: int, previous: int, size: int) -> None:
        """Take note of where the word stands; size 0: the cells are yet to be chosen."""
        if count == 0:
            self._knows = False
        self._count, self._previous = count, previous
        if size == 0 and count % self._signal == 0:
            size = self._signal_loops.choose(
                previous, self._at_once, self._ring[count % len(self._ring)],
                self._tables.arrays, self._word_so_far, self._work)
        self._have(size)

    @property
    def _word_so_far(self) -> tuple[Any, ...]:
        """Return the arrays of the word, without room for the next symbol."""
        return self._ring, *self._window[1:], *self._chosen

    def _have(self, size: int) -> None:
        """Take note of so many cells; 0: no signal is drawn next."""
        self._size, self._draws = size, _NO_DRAWS
        self._cells = [0]  # room for a cell that is drawn, and the founders of all
        if size == 0:
            return
        self._cells = [0, *self._chosen[1][:size].tolist()]
        self._numbers = [*range(size + 1)]
        if size not in self._draws_of:
            response = self._tables.responses[size]
            self._draws_of[size] = RandomIntegers(self._tables.width, response.limit,
                                                  self._random, response.reader())
        self._draws = self._draws_of[size]

    def _finish(self) -> Ints:
        """Return the reports that are left, as positions."""
        n, tables = len(self._posterior), self._tables.arrays
        hops, heads = tables[4:6]
        after, here, (later, now), *_ = self._work
        length = (self._count - self._since) // self._report
        choices, found = np.zeros((length, n), self._tables.place_type), np.empty(n)
        whole = 0.0
        for begin, rows, kinds, sizes in self._segments():
            first = (begin - self._since) // self._report
            whole = self._report_loops.decode(
                whole, begin, self._delay < 0, rows, kinds, sizes, tables, after, here, later, now,
                found, choices[first:])
        route = np.empty(length, np.int64)
        self._report_loops.follow_choices(self._previous, hops, heads, later, choices, route)
        return route

    @property
    def _since(self) -> int:
        """Return the first tick whose report is due yet."""
        return 0 if self._delay < 0 else max(0, self._count - self._delay * self._signal)

    def _segments(self) -> Iterator[tuple[int, Floats, Numbers, Ints]]:
        """Yield (first tick, f of each tick, kinds, sizes) of what is left, from the end."""
        last = self._count - self._report  # the tick of the last report, due or not
        if self._delay >= 0:
            if last >= self._since:
                places = np.arange(self._since, last + 1) % len(self._ring)
                yield self._since, self._ring[places], *self._window[1:]
            return
        span = self._length * self._signal
        rows = np.empty((min(self._count, span), *self._ring.shape[1:]))
        for i in range(len(self._whole) - 1, -1, -1):
            begin, kinds, sizes = self._whole[i]
            count = min(span, last + 1 - i * span)
            rows[0] = begin
            self._signal_loops.predict_segment(rows[:count], kinds, sizes, self._tables.arrays)
            yield i * span, rows[:count], kinds, sizes

    @property
    def state(self) -> bytes:
        """Return all that the next draws and reports depend on: for `restore`."""
        begin = self._whole[0].begin if self._whole else self._ring[self._since % len(self._ring)]
        return b''.join((_STATE.pack(self._count, self._previous),
                         begin[:, self._tables.prior > 0].astype('<f8').tobytes(),
                         *[array.astype('<u4').tobytes() for array in self._signals()]))

    def _signals(self) -> Iterator[Ints]:
        """Yield the numbers of the cells that were drawn since the first report that is left."""
        signals = self._passed(self._count) - self._passed(self._since)
        if self._delay < 0:
            for i, segment in enumerate(self._whole):
                yield segment.sizes[1, :min(self._length, signals - i * self._length)]
        else:
            places = np.arange(signals) + self._passed(self._since)
            yield self._window.sizes[1, places % (self._delay + 1)]

    def _integers(self, count: int, since: int) -> int:
        """Return how many integers `_signals` has of the ticks between two."""
        return self._passed(count) - self._passed(since)

    def _passed(self, tick: int) -> int:
        """Return how many signals are before a tick."""
        passed: int = -(-tick // self._signal)
        return passed

    def restore(self, state: bytes) -> None:
        """
        Stand where a word of such a mechanism stood, but for `posterior`, which is forgotten.

        :raises ChainError: that is no `state`; nothing changes.
        """
        delay = None if self._delay < 0 else self._delay
        other = type(self)(self._chain, self._tables, delay, self._random)
        other._draws_of = self._draws_of
        try:
            other._go_on(state)
        except (ValueError, struct.error):
            raise ChainError('these bytes are no state of such a mechanism') from None
        vars(self).update(vars(other))

    def _go_on(self, state: bytes) -> None:
        """
        Do what `restore` does, in a word that was just begun.

        :raises ValueError, struct.error: that is no state; the word is then in disorder.
        """
        count, previous = _STATE.unpack_from(state)
        models = self._tables.prior > 0
        n, some = len(self._posterior), int(models.sum())
        begin = np.frombuffer(state, '<f8', n * some, _STATE.size).reshape(n, some)
        signals = np.frombuffer(state, '<u4', offset=_STATE.size + begin.nbytes).tolist()
        self._count = count
        since = self._since
        if (len(signals) != self._integers(count, since) or previous >= n
                or count >= _MOST_TICKS or count % self._report
                or not ((begin >= 0) & (begin < 2)).all() or abs(begin.sum() - 1) > 1e-6):
            raise ValueError
        joint = self._ring[since % len(self._ring)]
        joint.fill(0.0)
        joint[:, models] = begin
        self._stand(since, previous, 0)
        self._go_over(count, signals)

    def _go_over(self, count: int, signals: list[int]) -> None:
        """Take in signals up to some tick."""
        while self._count < count:
            number = 0 if self._count % self._signal else signals.pop(0)
            if not 0 <= number <= self._size:
                raise ValueError
            self._take(number, reports=False)
        since = self._count % (len(self._chosen[-1]) * self._report)
        if since and self._count >= self._delay * self._signal:
            self._report_loops.plan(
                self._count - since, since // self._report, self._previous, self._delay,
                self._tables.arrays, self._word_so_far, self._work)

    def exact_distribution(self, symbol: str | None) -> dict[Any, Fraction]:
        """Return the next row, exactly: of the founders of the cells."""
        self._check_due()
        if symbol not in self._index:
            raise UnknownSymbolError
        cells, response = self._cells[1:], self._tables.responses[self._size]
        code = self._codes[self._index[symbol]]
        if not code:
            return {self._labels[x]: Fraction(1, response.count) for x in cells}
        return {self._labels[x]: Fraction(response.b if number == code else response.a,
                                          response.total) for number, x in enumerate(cells, 1)}

    def likelihood(self, signal: str) -> Floats:
        """Return the probability of the next signal for each s_t: shape (states,)."""
        self._check_due()
        position, cells = self._index.get(signal), self._cells[1:]
        codes = np.asarray(self._codes)[:-1]
        if signal is None or position not in cells:
            return np.zeros(len(codes))
        other, own, uniform, _ = self._tables.shares[:, self._size]
        found: Floats = np.where(codes == 1 + cells.index(position), own,
                                 np.where(codes == 0, uniform, other))
        return found
