# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many words at once by the policy adaptive: some in step with one another."""
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints
from symdp_ros.core.online.adaptive.own_moves import EVERY
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.adaptive.turns import Block, Turn, Turns
from symdp_ros.core.online.adaptive.words import COUNTED, Words
from symdp_ros.core.online.counts import number_of_count, SIGNALS
from symdp_ros.core.word_arrays import WordBits
from symdp_ros.core.zones import Count, WAITING
from symdp_ros.errors import ChainError

#: What a symbol of a block does to the counts so far; None: it is in none. How likely each state
#: makes what was drawn, and the zone told: shape (states, words).
Seen: TypeAlias = tuple[Turns | None, Floats]

NO_SYMBOL = np.iinfo(np.int64).min  # in place of a signal: there was none, and no zone told

_COUNTS = 5           # columns, about, of a word that has blocks
_NUMBERS = 1 << 17    # of f of the words that are in step: they stay near the processor
_BYTES = 1 << 28      # of what is kept of whole words that are in step
_MOST = 256           # words in step


class Drawn(NamedTuple):
    """
    What is drawn for words, and what is reported.

    :param reports: positions, for a word of n symbols (n − 1)·`reports` + 1, with zones n.
    :param signals: as `core.online.counts.SignalNumbers`: (total,).
    """

    reports: Ints
    signals: Ints


class _Draws:
    """The integers of one word, one after another."""

    def __init__(self, tables: AdaptiveTables, bits: WordBits, word: int, symbols: int):
        self._tables, self._symbols, self._drawn = tables, symbols, list[int]()
        self.stream = bits.stream(word)  # what comes after the integers that were drawn

    def below(self, limit: int, at: int) -> int:
        """Return the next integer below a limit, for the symbol of some number."""
        while True:
            if not self._drawn:
                self._drawn = self._tables.draws(self._symbols - at, self.stream).tolist()[::-1]
            drawn = self._drawn.pop()
            if drawn < limit:
                return drawn


def draw(tables: AdaptiveTables, delay: int | None, initial: int, symbols: Ints, offsets: Ints,
         bits: WordBits) -> Drawn:
    """
    Draw a signal for each symbol, as so many `step` and `finish` do.

    :param initial: the state that words are begun from.
    :param symbols: int64, shape (total,): positions of states, −1: unknown.
    :param offsets: as in `core.word_arrays`.
    :param bits: of the words.
    """
    lengths = np.diff(offsets)
    sizes = np.where(lengths > 0, (lengths - 1) * tables.stride + 1, 0)
    begins = np.cumsum(sizes) - sizes
    drawn = Drawn(np.empty(sizes.sum(), np.int64), np.empty(len(symbols), np.int64))
    zones = None if tables.zone_of is None else _zones_of(tables.zone_of, initial, symbols,
                                                          offsets)
    order = np.argsort(-lengths, kind='stable')
    order = order[lengths[order] > 0]
    while len(order):
        most = max(1, _NUMBERS // (tables.moves.models * tables.states))
        if tables.longest(delay) > 1:
            most = max(1, most // _COUNTS)
        if tables.learns and sizes[order[0]] * tables.report >= EVERY:
            most = 1  # each has moves of its own
        if delay is None:
            most = min(most, max(1, int(_BYTES // (2 * tables.states * sizes[order[0]]))))
        some, order = np.split(order, [min(most, _MOST)])
        words = Words(tables, delay, len(some))
        words.begin(initial)
        draws = [_Draws(tables, bits, number, length) for number, length in zip(
            some.tolist(), lengths[some].tolist(), strict=True)]
        _Group(words, draws, symbols, zones, offsets[some], lengths[some]).draw(
            begins[some], sizes[some], drawn)
    return drawn


def _zones_of(zone_of: Ints, initial: int, symbols: Ints, offsets: Ints) -> Ints:
    """Return the zone that is told with each symbol."""
    known, begins = symbols >= 0, np.zeros(len(symbols), np.bool_)
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    last = np.maximum.accumulate(np.where(known | begins, np.arange(len(symbols)), 0))
    return np.where(known[last], zone_of[symbols[last]], zone_of[initial])


class _Group:
    """
    Some words in step with one another, the longest first.

    :param draws: of each word.
    :param symbols: of all words; zones: the numbers of those told with them; None: none are.
    :param first, lengths: of each word, where its symbols begin, and how many it has.
    """

    def __init__(self, words: Words, draws: list[_Draws], symbols: Ints, zones: Ints | None,
                 first: Ints, lengths: Ints):
        self._words, self._draws, self._symbols, self._zones = words, draws, symbols, zones
        self._first, self._lengths = first, lengths
        self._counted = [0] * len(draws)  # in a block: the number of the vector

    def draw(self, begins: Ints, sizes: Ints, out: Drawn) -> None:
        """
        Draw for all their symbols.

        :param begins, sizes: where the reports of each word begin, and how many it has.
        """
        tables = self._words.tables
        for at in range(int(self._lengths[0])):
            words = self._words
            here = self._first[:words.words] + at
            told = None if self._zones is None else self._zones[here]
            words.prepare(told)
            places, out.signals[here] = self._cells(at, here, told)
            late = self._blocks(at, here, places, out)
            self._take(places, told, begins, out, late)
            left = int(np.searchsorted(-self._lengths, -(at + 1)))  # words that are longer
            if left < words.words:
                ending = words if not left else words.select(slice(left, words.words))
                for i, route in enumerate(ending.finish().T, left):
                    end = begins[i] + sizes[i]
                    out.reports[end - len(route):end] = route
                if not left:
                    return
                self._words = words.select(slice(0, left))
            for _ in range(tables.stride - 1):
                self._take(np.zeros(left, np.int64), None, begins, out)

    def _take(self, places: Ints, told: Ints | None, begins: Ints, out: Drawn,
              late: Ints | None = None) -> None:
        words = self._words
        number = words.count // words.tables.report - words.held
        if words.take(places, told, late):
            out.reports[begins[:words.words] + number] = words.previous

    def _cells(self, at: int, here: Ints, told: Ints | None) -> tuple[Ints, Ints]:
        """Draw a cell for one symbol of each word; return the cells, and these signals."""
        words, each = self._words, np.arange(self._words.words)
        places, signals = np.zeros(len(each), np.int64), -1 - (each if told is None else told)
        if words.cells is None:
            return places, signals
        sizes, founders, codes = words.cells
        symbols = self._symbols[here]
        cells = np.where(symbols >= 0, codes[symbols, each].astype(np.int64), 0)
        for i, (size, cell) in enumerate(zip(sizes.tolist(), cells.tolist(), strict=True)):
            if size:
                response = words.tables.responses[size]
                number, rest = divmod(self._draws[i].below(response.limit, at), response.weight)
                hit = int(rest >= response.cut) & int(cell > 0)
                places[i] = number + 1 + hit * (cell - number - 1)
        founded = founders[np.maximum(places, 1) - 1, each]
        return places, np.where(places > 0, founded, signals)

    def _blocks(self, at: int, here: Ints, places: Ints, out: Drawn) -> Ints | None:
        """
        Count one symbol of each word that is in a block, and draw where that ends.

        :param here: where the symbols of the words are.
        :param places: for `Words.take`: those of these words are put in.
        :return: what was drawn late, as of `Words.take`.
        """
        words, zones = self._words, self._zones
        if not any(words.blocks):
            return None
        ends: Booleans = self._lengths[:words.words] == at + 1
        if zones is not None:
            ends = ends | ~words.lasts(zones[np.minimum(here + 1, len(zones) - 1)], zones[here])
        late = np.zeros(words.words, np.int64)
        for word, block in enumerate(words.blocks):
            if block is None:
                continue
            rows = words.passed[word] + 1
            place = self._count(word, block, int(self._symbols[here[word]]), bool(ends[word]))
            places[word], late[word] = (place, 0) if rows == block.most_rows else (COUNTED, place)
            if place or zones is None:
                signal = Count(block.vectors(rows)[place - 1]) if place else WAITING
                out.signals[here[word]] = number_of_count(words.tables.states, block.zone, signal)
        return late

    def _count(self, word: int, block: Block, symbol: int, last: bool) -> int:
        """Count a symbol of a word's block; return what is drawn where it ends, from 1; 0: not."""
        passed, counted = self._words.passed[word], self._counted
        codes, then = block.cells_at(passed)
        code = int(codes[symbol]) if symbol >= 0 else 0
        counted[word] = int(then[counted[word] if passed else 0, code])
        if not last and passed + 1 < block.most_rows:
            return 0
        return 1 + block.response(passed + 1).draw(self._draws[word].stream)[counted[word]]


def seen(tables: AdaptiveTables, delay: int | None, initial: int,
         signals: Ints) -> Iterator[Seen]:
    """
    Yield what each signal tells, of words of one length; where there are blocks, of one word.

    :param signals: as of `Drawn`, or with zones `NO_SYMBOL`: shape (words, symbols).
    :raises ChainError: that cannot have been drawn.
    """
    if tables.learns and len(signals) > 1:  # each has moves of its own
        for each in zip(*(seen(tables, delay, initial, word[None]) for word in signals),
                        strict=True):
            yield None, np.concatenate([likelihood for _, likelihood in each], axis=1)
        return
    words, nothing = Words(tables, delay, len(signals)), np.zeros(len(signals), np.int64)
    words.begin(initial)
    for number, column in enumerate(signals.T, 1):
        told = _see(words, column)
        if told is None:
            raise ChainError(f'signal {number} of a word founded no cell after those before it: '
                             'the word was drawn by another mechanism')
        yield told
        for _ in range(tables.stride - 1):
            words.take(nothing, reports=delay == 0)


def _see(words: Words, drawn: Ints) -> Seen | None:
    """Take in a signal of each word; return what it tells, None: it cannot have been drawn."""
    tables, zones, reports = words.tables, None, words.delay == 0  # else no cells depend on them
    likelihood = np.ones((tables.states, len(drawn)))
    if tables.zone_of is not None:
        zones = np.where(drawn < 0, -1 - drawn, (drawn - tables.states) // len(SIGNALS))
        zones = np.where((drawn >= 0) & (drawn < tables.states),
                         tables.zone_of[drawn % tables.states], zones)
        zones[drawn == NO_SYMBOL] = -1
        if words.waiting and zones[0] >= 0 and not words.lasts(zones):
            return None
        likelihood *= (tables.zone_of[:, None] == zones) | (zones < 0)
    words.prepare(zones)
    block, rows, signal = words.blocks[0], words.waiting, int(drawn[0])
    if block is not None and signal != NO_SYMBOL:
        count = SIGNALS[(signal - tables.states) % len(SIGNALS)] if signal >= tables.states else (
            WAITING if signal < 0 else None)
        place = block.place_of(count, rows + 1)
        if not place and (count != WAITING or rows + 1 == block.most_rows):
            return None
        words.take(np.array([place or COUNTED]), zones, reports=reports)
        return Turns([Turn(block, rows)]), likelihood
    places, founded = np.zeros(len(drawn), np.int64), drawn >= 0
    if words.cells is not None:
        own = words.cells.founders == drawn
        founded &= own.any(axis=0)
        places[founded] = 1 + own.argmax(axis=0)[founded]
        (sizes, _, codes), shares = words.cells, tables.shares
        chances = np.where(codes == places, shares.own[sizes], np.where(
            codes == 0, shares.uniform[sizes], shares.other[sizes]))
        likelihood[:, founded] *= chances[:, founded]
    if not np.array_equal(founded, drawn >= 0) or zones is None and not founded.all():
        return None
    words.take(places, zones, reports=reports)
    return None, likelihood


def seen_alone(tables: AdaptiveTables, delay: int | None, initial: int,
               signals: Ints) -> list[Seen]:
    """
    Return what `seen` yields of one word; of a block with a symbol left out nothing is drawn.

    :param signals: shape (symbols,).
    """
    told = [*seen(tables, delay, initial, signals[None])]
    for at in np.flatnonzero(signals == NO_SYMBOL).tolist():
        while at and (turns := told[at - 1][0]) and not turns.turns[0].block.place:
            at -= 1
            told[at] = None, told[at][1]
    return told
