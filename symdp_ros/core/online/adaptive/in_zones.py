# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adaptive policy with zones: the zone of each symbol is told, and a signal drawn inside it.

Names as in `core.online.adaptive.adaptive` and `core.zones`. With each report comes a symbol, and
its zone is told. Where a signal is due (each time, or with several `reports` for each signal after
so many) and R_t lies in the zone told, the founders of the cells are states of R_t, f is taken
given that s_t ∈ R_t, and all else is as without zones: cells, randomized response, filter.
Elsewhere nothing is drawn. Where f is below 10⁻²⁰⁰ on all of R_t, it begins again uniform there,
and what came before then tells nothing of s_t, nor s_t of that.

**Blocks.** A signal may also be about a block of symbols, of those that would each have one. A
block lies in one zone: it is chosen when a signal is due and a zone is told, for this zone, and
each symbol until its end is `Told`. It goes on with the next symbol, whether or not that counts in
it, if that lies in the same zone and R_t has a state in it. Else it ends with the symbol before,
and its signal is drawn first of all: a count vector of the symbols that it has, by the response of
blocks of this length. The report of that symbol has then left; later ones are chosen by the signal
too. Where f begins again within a block, the counts so far are as likely as they were, and tell
nothing of s_t.

A report that leaves before the end of the word can be some moves from the zone told: in the sum
(3) of the policy each report of the route that is in the zone told counts as one match more. With
`delay=None` the route has the zones told wherever `core.zones` says that a route can have them.

**Privacy.** Let two words be adjacent: at each place both symbols lie in one zone, and they differ
in at most k of the places for which a signal is due. The zones told are then the same for both,
and so is, by induction over t, R_t: it is a function of the zones. Fix zones and signals before t.
f, reports, cells, and whether a signal is drawn, are functions of them and of zone_t, so what the
policy's proof says holds for any two symbols of one zone, and for an unknown one, whose zone is
the one told last: the chances of one signal differ by a factor of at most e^{ε/k}. At most k
factors differ: the ratio is at most e^ε. (At ε = 0 a word tells its zones, and nothing else.)

With blocks, fix all zones, and the signals before one. Where the block begins, how many symbols it
can have, and its cells are functions of these signals and of the zones so far. Where it ends
depends on its begin and on the zones told alone, also between two symbols that count in it. So two
adjacent words have the same blocks after the same signals, also those that another zone ends, and
after the last symbol of the word. Of a block that has ended with i symbols that count the signal
is drawn by the response of i symbols, whose chances for two words that differ in j of these differ
by a factor of at most e^{jε/k} (`core.online.counts`, Claim); of no symbol two signals are drawn.
Blocks are disjoint, so the j of all are at most k together. The zones of an adjacent word are
equal to the last one: nothing is lost by a length that the next zone decides.
"""
from collections.abc import Sequence
from fractions import Fraction
import struct
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.online.adaptive.adaptive import AdaptiveWord
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.zones import Count, Signal, Told, WAITING
from symdp_ros.errors import ChainError, UnknownSymbolError

_ZONE = struct.Struct('<I')


class ZonedWord(AdaptiveWord):
    """As `AdaptiveWord`; `tables` are of a mechanism with zones."""

    _marks = 2  # the cell drawn, and the zone

    def __init__(self, chain: Chain, tables: AdaptiveTables, delay: int | None,
                 random: RandomBits | None = None):
        assert tables.zones is not None and tables.zone_of is not None
        self._zones: list[str] = [*tables.zones]
        self._zone_numbers: Ints = tables.zone_of
        #: state → number of its zone
        self._zone_of = dict(zip(chain.states, tables.zone_of.tolist(), strict=True))
        super().__init__(chain, tables, delay, random)

    @property
    def zone(self) -> str:
        """Return the zone told last; at first that of the state from which the word was begun."""
        return self._zones[self._zone]

    def _begin(self, position: int) -> None:
        #: the number of the zone told last
        self._zone = self._ready = int(self._zone_numbers[position])
        super()._begin(position)

    def _make_ready(self, zone: int) -> bool:
        """
        Make the cells ready for a zone, where they are not.

        :return: whether it can be told next: no block must have ended before.
        """
        if self._word.waiting and not self._word.lasts(np.array([zone])):
            return False
        if zone != self._ready:
            self._prepare_for(zone)
        return True

    def _prepare_for(self, zone: int) -> None:
        self._ready = zone
        self._prepare()

    def step(self, symbol: str | None) -> str | None:
        if symbol not in self._index:
            raise UnknownSymbolError
        zone = self._zone if symbol is None else self._zone_of[symbol]
        if not self._make_ready(zone):
            self._end_block()
            self._prepare_for(zone)
        self._zone = zone
        if self._word.blocks[0] is None and not self._size:
            return self._take(0, zone)
        return super().step(symbol)

    def advance(self, signal: Signal, symbol: str | None = None) -> str | None:
        if signal is None:
            return self.tick()
        state, zone = signal if isinstance(signal, str) else None, self._told(signal)
        if zone is None:
            raise ChainError(f'{signal!r} is of no zone', state=state)
        if not self._make_ready(zone):
            raise ChainError(f'{signal!r} cannot be the signal after these: its zone ends the '
                             'block under way, of which nothing was drawn yet', state=state)
        if self._word.blocks[0] is not None:
            signal = _without_zone(signal)
        report = self._take(0, zone) if isinstance(signal, Told) else super().advance(
            signal, symbol)
        self._zone = zone
        return report

    def _told(self, signal: Signal) -> int | None:
        """Return the number of the zone that a signal tells; None: it is none of these."""
        if isinstance(signal, str):
            return self._zone_of.get(signal)
        if signal is None or signal.zone not in self._zones:
            return None
        return self._zones.index(signal.zone)

    # The state: that of the word, the zone told last, and what a route can be in at the first
    # report that is left; of each report since, the number of the cell drawn and of the zone.

    @property
    def state(self) -> bytes:
        ahead = self._word.state_begin().ahead
        assert ahead is not None
        return b''.join((super().state, _ZONE.pack(self._zone),
                         np.packbits(ahead).tobytes()))

    def _restore(self, state: bytes, ahead: Booleans | None = None) -> None:
        n = self.tables.states
        size = _ZONE.size + -(-n // 8)
        word, more = state[:-size], state[-size:]
        zone, = _ZONE.unpack_from(more)
        bits = np.unpackbits(np.frombuffer(more, np.uint8, offset=_ZONE.size))[:n]
        if zone >= len(self._zones) or not bits.any():
            raise ValueError
        super()._restore(word, bits.astype(np.bool_)[:, None])
        self._zone = zone
        self._prepare_for(zone)

    def _take_all(self, count: int, signals: list[int], reports: bool = False) -> None:
        self._prepare()
        places = iter(signals)
        for place, told in zip(places, places, strict=True):
            if told > len(self._zones):
                raise ValueError
            if told and not self._make_ready(told - 1) or place and not told:
                raise ValueError
            self._take(self._place_of(place), told - 1, reports=reports)

    def exact_distribution(self, symbol: str | None, last: bool = False) -> dict[Any, Fraction]:
        if symbol not in self._index:
            raise UnknownSymbolError
        zone = self._zone if symbol is None else self._zone_of[symbol]
        if not self._make_ready(zone):  # the block under way ends first
            block = self._word.blocks[0]
            assert block is not None and block.zone is not None
            row = block.response(self._word.waiting).exact_row(self._counted)
            return {count._replace(zone=self._zones[block.zone]): chance
                    for count, chance in row.items()}
        if self._word.blocks[0] is None and not self._size:
            return {Told(self._zones[zone]): Fraction(1)}
        return {self._in_zone(drawn, zone): chance
                for drawn, chance in super().exact_distribution(symbol, last).items()}

    def _in_zone(self, signal: Signal, zone: int) -> Signal:
        """Return a signal as it is with zones."""
        if signal == WAITING:
            return Told(self._zones[zone])
        return signal._replace(zone=self._zones[zone]) if isinstance(signal, Count) else signal

    def ends_block(self, symbol: str | None, following: str | None) -> bool:
        zone = self._zone if symbol is None else self._zone_of[symbol]
        next_zone = zone if following is None else self._zone_of[following]
        return self._make_ready(zone) and self._word.blocks[0] is not None and not bool(
            self._word.lasts(np.array([next_zone]), np.array([zone])))

    def likelihood(self, signal: Signal, known: Sequence[str | None] = ()) -> Floats:
        zone_of, zone = self._zone_numbers, self._told(signal)
        if signal is None:
            return np.ones(len(zone_of))
        if zone is None or not self._make_ready(zone):
            return np.zeros(len(zone_of))
        inside: Floats = (zone_of == zone).astype(np.float64)
        if isinstance(signal, Told) and self._word.blocks[0] is None:
            return inside
        return inside * super().likelihood(_without_zone(signal), known)


def _without_zone(signal: Signal) -> Signal:
    """Return a signal as it is without zones."""
    if isinstance(signal, Told):
        return WAITING
    return signal._replace(zone=None) if isinstance(signal, Count) else signal
