# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The word that a live node publishes: drawn, charged, continued after a restart, renewed.

**Renewal.** With `renew`, a word is over after that time, and another begins, charged by itself,
whatever the robot does. What draws goes on as if nothing had happened: it holds the signals of the
last word, what they let others believe, and what was held back. So no report is lost or doubled,
each is a move from the one before, and nothing that is published tells of a renewal.

*Proof.* Each draw is ε/k-private for its own symbol, given all draws before it, of whichever word
(`core.online.adaptive.adaptive`, `core.online.online_mechanism`). Let v and w be the symbols of
two words, one after the other. The chance of all draws is a product with one factor for each
symbol, and a changed symbol changes its own factor alone, by at most e^{ε/k}. So k changed symbols
of v, or of w, cost ε, which is what each word was charged for; k in each cost 2ε; and a visit over
the border, which touches k symbols in all, costs ε. ∎
"""
from collections.abc import Callable, Mapping
from enum import Enum
import os
from pathlib import Path
from typing import Any, Protocol, TYPE_CHECKING

from symdp_ros.errors import ChainError, printable
from symdp_ros.settings import digest_of_settings
from symdp_ros.words.state_file import NAME_BYTES, PROCESS_BYTES, StateFile

if TYPE_CHECKING:
    from symdp_ros.core.online import OnlineMechanism

HOUR = 3_600_000_000_000  # nanoseconds

_PROCESS = b''


def _name_process() -> None:
    global _PROCESS
    _PROCESS = os.urandom(PROCESS_BYTES)


_name_process()
os.register_at_fork(after_in_child=_name_process)


class Start(Enum):
    """The state of a word when its node begins to listen."""

    NEW = 'new'                      #: nothing of it was drawn, nor of one before it
    ANOTHER = 'another'              #: the same, but another process may have drawn of one before
    GOES_ON = 'goes on'              #: this process has drawn all that was drawn of it
    AFTER_RESTART = 'after restart'  #: another process has drawn of it


class WordAccount(Protocol):
    """
    The part of a ledger in which a word is charged: `ledger.live_account.LiveAccount`.

    :ivar ledger_id: of the ledger.
    :ivar subject: whose regions the words are.
    """

    ledger_id: str
    subject: str

    def charge(self, word: 'LiveWord', *, perhaps_charged: bool) -> bool:
        """Charge a word once, and return whether that was now."""

    def bounds(self, word: 'LiveWord') -> str:
        """Return what the ε of a word is for, such as 'any one visit of 30 s'."""

    def close(self) -> None:
        """Release what is open."""


class LiveWord:
    """
    One word, symbol by symbol: charged when it begins, drawn, stored.

    It goes on over a stop and a start within one process, and with a state file over restarts, as
    long as its description, account and topics stay the same. It goes on exactly: with the whole
    state of the mechanism.

    :param mechanism: what draws it; nothing was drawn from it yet.
    :param described: all that its distribution depends on, for people to read: chain, ε, k,
        mechanism, and what a symbol is.
    :param topics: text that names the topics between which it runs.
    :param clock: text that names the clock of the times at which symbols are drawn.
    :param state_file: path of the file that keeps it over restarts; None: none.
    :param account: where it is charged; None: nowhere.
    :param renew: nanoseconds after which a word that is charged is over; 0: never.
    :param calendar: nanoseconds to add to times of `clock` for those of a clock that goes on
        while the machine is off.
    :param former: the word that this process configured before; it is carried on where the
        settings are the same and no other process has gone on with it.
    :param logger: has the methods `info` and `warning`.
    :raises StateFileError: the file cannot be used.

    `name` is 16 random bytes; `settings` a digest; `last` is the last private symbol, or None;
    `drawn_at` when the last symbol was drawn, in nanoseconds, or −1 where that is not known;
    `begun_at` when the word began, or None.
    """

    def __init__(self, mechanism: 'OnlineMechanism', *, described: Mapping[str, Any],
                 topics: str = '', clock: str = '', state_file: Path | None = None,
                 account: WordAccount | None = None, renew: int = 0, calendar: int = 0,
                 former: 'LiveWord | None' = None, logger):
        self.mechanism, self.described = mechanism, described
        self._account, self._logger = account, logger
        self._renew, self._calendar = renew if account else 0, calendar
        self._step, self._positions = mechanism.step, mechanism.chain.state_index
        # A word that another ledger was charged for is another word.
        owner = {} if account is None else {'ledger': account.ledger_id,
                                            'subject': account.subject}
        self.settings = bytes.fromhex(digest_of_settings(
            {**described, 'topics': topics, **owner}))
        self.name, self._perhaps_charged, self._is_charged = os.urandom(NAME_BYTES), False, False
        self._start: Start | None = None
        self.last: str | None = None
        self.drawn_at = -1
        self.begun_at: int | None = None
        #: what the file keeps: as of the last draw, as `drawn_at` is; reports may have left since
        self._kept: tuple[bytes, int | None] | None = None
        self._next: bytes | None = None  # the name of the word that was reserved after this one
        self._path = state_file
        self._state_file: StateFile | None = None
        self._store: Callable[[bytes, int | None, int], None] | None = None
        self._found_instead: str | None = None
        if state_file is not None:
            self._state_file = StateFile(
                state_file, self.settings, len(mechanism.chain), clock=clock, process=_PROCESS)
        self._find(former)
        self._position: int | None = (
            None if self.last is None else self._positions[self.last])

    def _find(self, former):
        """Find the word to go on with, in this process or in the file."""
        file = self._state_file
        in_file, stored = ('no word', None) if file is None else (file.found, file.stored)
        #: Whether no other process has drawn of a word of this place.
        self._is_first = file is not None and (in_file == 'no word' or file.writer == _PROCESS)
        mine = former is not None and former.settings == self.settings
        if stored is not None and not (
                mine and file.writer == _PROCESS and stored.name == former.name):
            if self._restores(stored.state):
                self._start, self.name = Start.AFTER_RESTART, stored.name
                self._perhaps_charged, self.drawn_at = True, stored.drawn_at
                self._next, self._kept = file.reserved, (stored.state, stored.position)
                if stored.begun_at is not None:
                    self.begun_at = stored.begun_at - self._calendar
                if stored.position is not None:
                    self.last = self.mechanism.chain.states[stored.position]
                self._logger.info('the word of the last run is carried on, from '
                                  f'{printable(self._path)}')
                return
            in_file = 'a damaged word'
        if mine and in_file != 'a word of other settings':
            self.mechanism.restore(former.state)
            self.name, self._perhaps_charged = former.name, True
            self._start, self.last, self.drawn_at = former._start, former.last, former.drawn_at
            self.begun_at, self._kept = former.begun_at, former._kept
            self._next = former._next if file is None else file.reserved
        else:
            if file is not None and file.reserved is not None:
                self.name, self._perhaps_charged = file.reserved, True
            self._found_instead = None if in_file == 'no word' else in_file

    def _restores(self, state):
        """Have the mechanism go on from a state; return whether it can."""
        try:
            self.mechanism.restore(state)
        except ChainError:
            return False
        return True

    def begin(self, now: int = 0) -> Start:
        """
        Begin a new word, or go on with one, before anything of it is drawn.

        A new one is reserved in the state file, charged, and then begun there: where one of these
        fails, the next attempt repeats none of the others. One that goes on costs nothing: its
        charge is looked up, and made where it is missing, as in a ledger from a backup. One that
        is over is renewed.

        :param now: in nanoseconds of `clock`; 0: not known yet.
        :raises BudgetError, LedgerError: it cannot be charged; nothing is.
        :raises StateFileError: the file cannot be written.
        """
        start, file = self._start, self._state_file
        if start is not None and self._is_over(now):
            self._begin_next(now)
        else:
            if start is None and file is not None:
                file.reserve(self.name, len(self.mechanism.state))
            self._charge(goes_on=start is not None)
            if start is None or now and not self._has_begun(now):
                self.begun_at = now or None
            self._keep_beginning()
            if start is not None:
                self._logger.info('the word goes on')
        if start is None:
            start = Start.NEW if self._is_first else Start.ANOTHER
            self._log_beginning()
        self._start = Start.GOES_ON
        return start

    def renew(self, now: int) -> int:
        """
        Where the word is over, begin the next one; return nanoseconds until that one is over.

        The times at which words are over are a whole number of `renew` apart. Where the clock was
        set back to before the word began, it runs from now on.

        :param now: as of `begin`.
        :raises BudgetError, LedgerError, StateFileError: as `begin`; nothing more may be drawn.
        """
        if not now:  # it is told soon
            return 1
        if self._is_over(now):
            self._begin_next(now)
        elif not self._has_begun(now):
            self.begun_at = now
            self._keep_beginning()
        assert self.begun_at is not None
        return self.begun_at + self._renew - now

    def _has_begun(self, now):
        """Return whether it is known when the word began, and that is not yet to come."""
        return self.begun_at is not None and self.begun_at <= now

    def _is_over(self, now):
        return self._renew and self._has_begun(now) and self.begun_at + self._renew <= now

    def _begin_next(self, now):
        """Begin the next word, as `begin` does; what draws goes on. The last one may go on."""
        file = self._state_file
        former = self.name, self._perhaps_charged, self._is_charged, self.begun_at
        self.name = self._next = self._next or os.urandom(NAME_BYTES)
        try:
            if file is not None:
                file.reserve(self.name, len(self.mechanism.state))
            self._perhaps_charged, self._is_charged = True, False
            self._charge(goes_on=False)
            self.begun_at += (now - self.begun_at) // self._renew * self._renew
            self._keep_beginning()
        except BaseException:
            self.name, self._perhaps_charged, self._is_charged, self.begun_at = former
            self._logger.warning('the word is over (renew), and the next one cannot begin: '
                                 'nothing more is published')
            raise
        self._next = None

    def _keep_beginning(self):
        """Have the file keep the word from here on."""
        if self._state_file is not None:
            begun_at = None if self.begun_at is None else self.begun_at + self._calendar
            state, position = self._kept or (self.mechanism.state, self._position)
            self._state_file.begin(self.name, state, position, self.drawn_at, begun_at)
            self._store = self._state_file.store

    def _log_beginning(self):
        if self._found_instead is not None:
            self._logger.warning(
                f'state_file {printable(self._path)}: it held {self._found_instead}: a new word '
                'begins; anyone who has seen both words gets the sum of their ε')
        else:
            self._logger.info('a new word begins; ' + (
                'a restart begins another' if self._path is None else
                f'{printable(self._path)} keeps it over restarts'))

    def _charge(self, *, goes_on):
        if self._account is None or self._is_charged:
            return
        perhaps_charged, self._perhaps_charged = self._perhaps_charged, True
        subject = repr(self._account.subject)
        if self._account.charge(self, perhaps_charged=perhaps_charged):
            text = (f'{"the" if goes_on else "a new"} word of {subject}, charged with '
                    f'ε = {self.mechanism.privacy.epsilon:g}')
            if goes_on:
                self._logger.warning(f'ledger: it lacked the charge of {text} now: was it '
                                     'restored from a backup?')
            else:
                self._logger.info(
                    f'ledger: {text} for {self._account.bounds(self)} in it, '
                    + ('however long it runs' if not self._renew else
                       f'which runs {self._renew / HOUR:g} h (renew)') + '. Visits add up')
        elif not goes_on:
            self._logger.info(f'ledger: the new word of {subject} was charged before')
        self._is_charged = True

    def draw(self, symbol: str | None, now: int = -1) -> str | None:
        """
        Draw for a region (None: unknown), and store the new state; then publish.

        :param now: when, in nanoseconds of `clock`; −1: that is not kept.
        :return: the private symbol that is due now; None: none is yet.
        :raises StateFileError: it cannot be stored: publish nothing.
        """
        # Stored first: a crash between the two may lose a symbol, but never contradicts one.
        if left := self.mechanism.ticks_left:
            self.skip(left)
        output, self.drawn_at = self._step(symbol), now
        self._note(output)
        if self._store is not None:
            self._kept = self.mechanism.state, self._position
            self._store(*self._kept, now)
        return output

    def tick(self) -> str | None:
        """Go on by one report without a draw; return the private symbol that is due, or None."""
        output = self.mechanism.tick()
        self._note(output)
        return output

    def skip(self, reports: int) -> None:
        """Go on by reports that are not published: their time has passed."""
        self._note(self.mechanism.skip(reports))

    def _note(self, output):
        if output is not None:
            self.last, self._position = output, self._positions[output]

    def close(self) -> None:
        """
        Release the files and the mechanism: a word that goes on with this one has its own.

        What this one draws from then is kept as `state`.
        """
        if self.mechanism is not None:
            self.state = self.mechanism.state
        for closable in (self._state_file, self._account):
            if closable is not None:
                closable.close()
        self._state_file = self._store = self._account = None
        self.mechanism = self._step = self._positions = None  # type: ignore[assignment]
