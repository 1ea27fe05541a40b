# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Live sampling: which of the regions that come in become symbols of the word, and when.

`message`  each message is one symbol.
`change`   each change of region is one symbol; consecutive repeats are dropped.
`period`   one symbol at every tick: the region that was read last.

**No occasion is drawn twice in one word**, however often the node is stopped and started. An
occasion is a message; the stay in a region between two changes; a tick. Two draws for one occasion
would each cost what ε allows for one, and an average over many would reveal the region.

- Once a region was read, messages published before the node listened are never taken: a latched
  message may have been drawn already. Only the state file tells a process what an earlier process
  drew: without one, or where it holds another word, no earlier message is taken either.
- `change` remembers the region that was read last, over every stop within one process. Another
  process does not know which one that was (it is sensitive: nothing about it is stored), so the
  first region that it reads is not drawn: the first change after it is.
- The same holds where another word begins in one process, and where settings change: what is the
  same stay may have another name, and the last word showed it.
- Ticks are at instants that are a whole number of periods apart, by the clock whose times are
  passed in. A symbol that is drawn late is of the region at its instant, so lateness does not add
  up.

The objects here take regions and times, and call a function with each symbol and its time. They
do not use ROS, and exist as long as the process, longer than a node whose settings change or that
fails: `words.live_memory`. A region is a state of the chain; None is an unknown one. What is
remembered of an occasion is noted before its symbol is drawn.
"""
from collections.abc import Callable
import os
from pathlib import Path
from time import monotonic_ns
from typing import Protocol

from symdp_ros.words.live_word import Start

_NOTHING = object()    # no region was read in this word: unlike every region, None included
_NOT_KNOWN = object()  # a region was read before the restart; it is not known which
#: Ways to start after which the region that comes first may have been drawn by another process.
_PERHAPS_DRAWN = Start.AFTER_RESTART, Start.ANOTHER
_MOST_MISSED = 1000    # reports that are made up for: later ones know little of what was before

Draw = Callable[[str | None, int], None]


class Sampling(Protocol):
    """
    The base of the samplings.

    `draw` is called with each symbol and its time; the node that draws may be replaced.
    `takes_latched`: subscribe with TRANSIENT_LOCAL? `has_read`: whether the next region may be one
    that was drawn before.
    """

    draw: Draw

    @property
    def takes_latched(self) -> bool: ...

    @property
    def has_read(self) -> bool: ...

    def start(self, start: Start, now: int, drawn_at: int = -1) -> int | None:
        """Note that the node begins to listen; return nanoseconds until the first tick, if any."""

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""


def nobody_draws(region: str | None, now: int) -> None:
    """Draw nothing: the node has ended."""


def nobody_goes_on(reports: int, publishes: bool) -> None:
    """Do nothing: the node has ended, or publishes nothing without a symbol."""


class EveryMessage:
    """
    One symbol for each message.

    :param waits: whether earlier messages may have been drawn already.
    """

    def __init__(self, draw: Draw, *, drop_unknown: bool, waits: bool = False):
        self.draw, self._drop_unknown = draw, drop_unknown
        self.has_read = waits

    @property
    def takes_latched(self) -> bool:
        return not self.has_read

    def start(self, start: Start, now: int, drawn_at: int = -1) -> None:
        """Note that the node begins to listen."""
        self.has_read = self.has_read or start in _PERHAPS_DRAWN

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""
        self.has_read = True
        if region is not None or not self._drop_unknown:
            self.draw(region, now)


class EveryChange:
    """
    One symbol for each change of region.

    :param waits: whether the stay in the region that is read first may have been drawn already.
    """

    def __init__(self, draw: Draw, *, drop_unknown: bool, waits: bool = False):
        self.draw, self._drop_unknown = draw, drop_unknown
        self._last_read: object = _NOT_KNOWN if waits else _NOTHING

    @property
    def takes_latched(self) -> bool:
        return not self.has_read

    @property
    def has_read(self) -> bool:
        return self._last_read is not _NOTHING

    def start(self, start: Start, now: int, drawn_at: int = -1) -> None:
        """Note that the node begins to listen."""
        if start in _PERHAPS_DRAWN or start is Start.NEW and self.has_read:
            self._last_read = _NOT_KNOWN

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""
        if region is None and self._drop_unknown:
            return
        last, self._last_read = self._last_read, region
        if last is not _NOT_KNOWN and region != last:
            self.draw(region, now)


class EveryPeriod:
    """
    One symbol for each tick, whatever comes in.

    Times are in nanoseconds of one clock, which may be set back. While it is not, the symbols are
    of the regions at instants that are whole numbers of periods apart: what is read between an
    instant and its tick, which is always late, counts for the next one. Instants that were missed
    are not made up for. Where the clock was set back by more than a period, the next symbol comes
    a period after that was noticed.

    :param period: > 0, in nanoseconds.
    :param timeout: in nanoseconds; a region that was read longer ago is unknown; 0: never.
    :param reports: ≥ 1, in each period: one with the symbol, the others in between.

    `takes_latched` is True: a tick is drawn once, however old the message. `go_on(n,
    publishes)` is called with n = 1 where a report is due without a symbol; and, publishing
    nothing, for reports whose time has passed: so what is known of the robot keeps its time.
    """

    takes_latched = has_read = True

    def __init__(self, draw: Draw, *, period: int, timeout: int = 0, reports: int = 1):
        self.draw, self._period, self._timeout = draw, period, timeout
        self.go_on: Callable[[int, bool], None] = nobody_goes_on
        self._reports = reports
        self._drawn_at = -1
        self._passed = 0          # reports since the last symbol
        self._has_drawn = False   # whether the word has a symbol, at `_drawn_at`
        self._pace = 1.0          # nanoseconds for each report that was made up for last
        self._forget()

    def _forget(self) -> None:
        #: the last region, and when it was read
        self._read: tuple[str | None, int] = None, -1
        self._before: tuple[str | None, int] = self._read  # what that was at the instant …
        self._instant: int | None = None  # … after which it was read

    def _last_instant(self, now: int) -> int:
        return now - (now - self._drawn_at) % self._period

    def start(self, start: Start, now: int, drawn_at: int = -1) -> int:
        """
        Note that the node begins to listen; the region is unknown until one is read.

        :param drawn_at: the instant of the last symbol of a word that goes on after a restart; −1
            where that is not known.
        :return: nanoseconds until the first tick. It comes at a whole number of periods after the
            last symbol, or a period from now where that is not known.
        """
        self._forget()
        if start is Start.AFTER_RESTART:
            self._drawn_at, self._passed, self._has_drawn = drawn_at, 0, drawn_at >= 0
        elif start is not Start.GOES_ON:
            self._has_drawn = False
        if self._drawn_at < 0:  # as if one had been drawn now
            self._drawn_at, self._passed = now, 0
        return self._wait(now)

    def _wait(self, now: int) -> int:
        """Return nanoseconds until the next report."""
        if now < self._drawn_at - self._period:
            return -(-self._period // self._reports)
        due = max(self._passed, self._due(now)) + 1
        return self._drawn_at - (-due * self._period // self._reports) - now

    def _due(self, now: int) -> int:
        """Return how many reports are due since the last symbol."""
        return (now - self._drawn_at) * self._reports // self._period

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""
        instant = self._last_instant(now)
        if instant != self._instant:
            self._instant, self._before = instant, self._read
        self._read = region, now

    def tick(self, now: int, look: Callable[[], str | None] | None = None) -> int:
        """
        Draw a symbol, or go on without, if either is due; return nanoseconds until the next tick.

        :param look: returns the region of now, where only the tick itself can ask for it; `read`
            is then not used, and the next instant is a period after this tick.
        """
        if now < self._drawn_at - self._period:
            self._drawn_at, self._passed = now, 0
        due = self._due(now)
        if due <= self._passed:
            return self._wait(now)
        symbol = due - due % self._reports
        if symbol > self._passed:  # it is drawn, late or not; then it goes on from there
            due = symbol
        if self._has_drawn and due > self._passed + 1:
            self._make_up(due - self._passed - 1)
        self._passed = due
        if due % self._reports:
            if self._has_drawn:
                self.go_on(1, True)
            return self._wait(now)
        if look is not None:
            instant = read_at = now
            region = look()
        else:
            instant = self._last_instant(now)
            region, read_at = self._before if self._instant == instant else self._read
        if self._timeout and not 0 <= instant - read_at <= self._timeout:
            region = None
        self._drawn_at, self._passed, self._has_drawn = instant, 0, True
        self.draw(region, instant)
        return self._wait(now)

    def _make_up(self, reports: int) -> None:
        """
        Go on by reports whose time has passed.

        At most by so many as take half of that time: else more would be missed meanwhile, and
        more each time.
        """
        in_time = reports * self._period / self._reports / 2 / self._pace
        over = max(0, reports - int(min(_MOST_MISSED, in_time)))
        reports -= over // self._reports * self._reports
        if reports:
            begun = monotonic_ns()
            self.go_on(reports, False)
            self._pace = max(1.0, (monotonic_ns() - begun) / reports)


def steady_clock_name() -> str:
    """Return a text that identifies the steady clock of this machine since it was started."""
    try:
        return Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    except OSError:
        return os.urandom(16).hex()
