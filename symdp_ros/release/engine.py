# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releasing logs, many in one transaction of the ledger: each goes the way of `session`."""
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TYPE_CHECKING

import numpy as np
from symdp_ros.errors import LogError
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import (KeptTopics, list_logs, LogFile, LogState, read_input, release_name,
                            sample, sampled, SkippedLog, TopicOutcome, write_log,
                            write_with_topics)
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.maps.pose_report import far_text, floors_text
from symdp_ros.release.inspection import Inspection, MOST_NAMES, Moves, of_states
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import check_apart, Outbox
from symdp_ros.release.report import Outcome, outcome_of, Report, unusable
from symdp_ros.release.session import Draft, ReleaseSession
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

# Logs that are charged together: as many as these limits allow, and at least one.
_MOST_LOGS = 100
_MOST_SYMBOLS = 200_000
_MOST_SECONDS = 2.0
# All that is told of what a refused log holds; one sentence for all of them.
_NOISE = ('too many of its symbols are no state of the map, or all of them (allow_unknown): the '
          'release would be noise. Nothing was charged. Its operator can see what is unknown with '
          'symdp release --dry-run, and correct topic, field, symbol_map or the map')


@dataclass(eq=False)
class LogDraft(Draft):
    """
    The release of a log.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown, on_topics, program, for_operator: as of `Releaser`.
    :ivar sensitive: the words of the log, once it was read.
    :ivar inspection: what it holds, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None
    program: str = 'symdp_ros'
    for_operator: bool = False
    inspection: Inspection | None = None

    changed = ('its content has changed since it was released: give the new log another name; its '
               'release is then another one')

    def __post_init__(self) -> None:
        self.log_id = self.log.id

    def read(self, stack: ExitStack) -> None:
        """Read and sample the log."""
        settings, read = self.settings, self.settings.input
        if settings.locator is not None:
            settings.locator.reset()  # no log's regions depend on another log
        self.sample(read_input(self.log.path, read, settings.locator,
                               () if read.is_pose else read.table(settings.chain.states)))

    def sample(self, entries: list[tuple[int, str | None]]) -> None:
        """Make words of (stamp in nanoseconds, value) of every entry; raise LogError: none."""
        settings, self._entries = self.settings, entries
        # With zones, of which one is told with each report, words are sampled so.
        self._sampling = settings.sampling if settings.privacy.zones is None else replace(
            settings.sampling, period=settings.sampling.seconds)
        self.sensitive = sample(entries, settings.input.table(settings.chain.states),
                                self._sampling)
        if not self.sensitive:
            raise LogError('no symbols are left to release', path=self.log.path)
        self.length = sum(map(len, self.sensitive))
        self.logs = {self.log.id: (entries[0][0], entries[-1][0])}

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its words."""
        return ledger.fingerprint(self.sensitive)

    def inspect(self) -> Inspection:
        """Return what is known of the log, if it was read last, for its operator alone."""
        settings, index = self.settings, self.settings.chain.state_index
        counts = Counter(value for _, value in sampled(self._entries, self._sampling))
        symbols, none = counts.total(), counts.pop(None, 0)
        if settings.input.is_pose:  # positions name a state, or none
            names, unknown, silent = Counter[str](), none, 0
        else:
            table, no_region = settings.input.table(index), settings.input.no_region
            names = Counter({str(value): count for value, count in counts.items()
                             if value not in table and value not in no_region})
            unknown = names.total()
            silent = none + sum(counts[value] for value in no_region)
        flat = np.array([-1 if symbol is None else index[symbol] for word in self.sensitive
                         for symbol in word], np.int64)
        begins = np.zeros(len(flat), bool)
        begins[np.cumsum([0, *map(len, self.sensitive[:-1])])] = True
        self.inspection = Inspection(
            symbols, unknown, silent, dict(names.most_common(MOST_NAMES)),
            self.moves.missing(flat, begins),
            of_states(self.moves.standing(flat, begins), settings.chain),
            '' if settings.locator is None else '; '.join(filter(None, (
                floors_text(settings.locator), far_text(settings.locator)))))
        return self.inspection

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be, or must not be told."""
        if self.allow_unknown is None:
            return None
        inspection = self.inspect()
        if self.for_operator:
            return inspection.problem(self.settings.chain, self.allow_unknown)
        return _NOISE if inspection.is_noise(self.allow_unknown) else None

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its length."""
        if self.mechanisms is None:
            return self.settings.loss(length=self.length)
        longest, privacy = max(map(len, self.sensitive)), self.settings.privacy_for(self.length)
        taken = self.mechanisms.settings_for(longest, privacy)
        self.taken = '' if taken == self.settings.mechanism else taken.name
        self._mechanism = self.mechanisms.made(taken, privacy)
        return self.settings.loss(self._mechanism.law, self.length)

    def draw(self, outbox: Outbox, stack: ExitStack) -> list[Path]:
        """Privatize the words, and write them into the staging directory."""
        self.words = [self._mechanism.privatize(word) for word in self.sensitive]
        del self._entries, self.sensitive  # others are staged before this is published
        return self.write(self.words, outbox, stack)

    def write(self, words: Iterable[Sequence[str]], outbox: Outbox,
              stack: ExitStack) -> list[Path]:
        """Write released words into the staging directory; return the path of each."""
        paths = []
        for word in words:
            path = stack.enter_context(outbox.staged(
                release_name('', self.settings.writing.format)))
            self._write(path, word)
            paths.append(path)
        return paths

    def _write(self, path: Path, word: Sequence[str]) -> None:
        settings, writing, read = self.settings, self.settings.writing, self.settings.input
        period = settings.sampling.seconds
        record = settings.record(self.program) if writing.format in STORAGES else ''
        if not writing.keep.topics:
            write_log(path, word, format=writing.format, topic=writing.topic, period=period,
                      stamp_key=read.stamp_key, symbol_key=read.symbol_key, record=record,
                      durable=False)
            return
        with KeptTopics(self.log.path, writing.keep, read.topic,
                        strict=self.on_topics is not None) as recording:
            topics = write_with_topics(path, word, recording, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), record=record,
                                       durable=False)
        if self.on_topics is not None:
            self.on_topics(self.log, topics)


class Releaser(ReleaseSession):
    """
    Releases logs into one directory, which it holds until it is closed.

    :param release_dir: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param allow_unknown: refuse a log, before anything is charged, that would come out as noise:
        `inspection.Inspection.is_noise`, and nothing else of its content, is told by that. None:
        refuse no log for its content.
    :param for_operator: outcomes are shown to nobody but the operator of the logs. A refusal then
        tells what is unknown in a log, and a robot that stands still is one more reason:
        `inspection.Inspection.problem`. And a log whose content changed since it was released has
        failed; otherwise it is not read again, as anyone who can write a log, and not read it,
        could confirm a guess.
    :param on_topics: called for each log of which topics are kept. A log then fails where one of
        them is missing or cannot be kept. Only for callers who show this to nobody else. None:
        such topics are left out.
    :param program: what a released recording says that it was made with.
    :param mechanisms: those of the settings, if they were made before.
    :param random: for tests, an object with `getrandbits`.
    :param keeping: what else `ReleaseSession` takes.
    :raises ConfigurationError: settings that are not valid; the ledger is inside `release_dir`;
        the directory is missing, cannot be written to, or is in use by another process.
    """

    def __init__(self, settings: ReleaseSettings, release_dir: str | Path, *,
                 ledger: Ledger | None = None, allow_unknown: float | None = None,
                 for_operator: bool = False, mechanisms: Mechanisms | None = None,
                 random: 'RandomBits | None' = None,
                 on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None,
                 program: str = 'symdp_ros', **keeping: Any):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, release_dir)
        self._draft_of = partial(
            LogDraft, settings, mechanisms=mechanisms or Mechanisms(settings, random),
            moves=Moves.of(settings.chain, stays_only=True), allow_unknown=allow_unknown,
            on_topics=on_topics, program=program, for_operator=for_operator)
        super().__init__(settings, release_dir, ledger=ledger, compare=for_operator,
                         writing=settings.writing, **keeping)

    def __repr__(self) -> str:
        return f'<Releaser into {str(self.outbox.directory)!r}>'

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each release that is charged and not at its path."""
        return self.outbox.problems

    def release_directory(self, log_dir: str | Path, stop: Callable[[], bool] = lambda: False,
                          on_outcome: Callable[[Outcome], None] = lambda outcome: None) -> Report:
        """
        Release every log of a directory that is not yet released under these settings.

        Up to 100 logs are charged in one transaction.

        :param stop: called before each log, and before each transaction; True: stop there, and
            charge nothing any more.
        :param on_outcome: called after each log, once its transaction is done.
        :raises LogError: the directory cannot be read.
        """
        listing = list_logs(log_dir)
        return self.release_all(listing.logs, stop, on_outcome, listing.skipped)

    def release_all(self, logs: Iterable[LogFile], stop: Callable[[], bool] = lambda: False,
                    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
                    skipped: Iterable[SkippedLog] = ()) -> Report:
        """
        Release some logs; parameters as in `release_directory`.

        :param skipped: logs of the same listing; those that are unusable have failed.
        """
        others = tuple(log for log in skipped if log.state is not LogState.UNUSABLE)
        outcomes = unusable(skipped)
        for outcome in outcomes:
            on_outcome(outcome)
        waiting, stopped = deque(logs), False
        while waiting and not stopped:
            released, stopped = self._release_next(waiting, stop)
            for outcome in released:
                on_outcome(outcome)
            outcomes += released
        self.outbox.sync_moved()
        return Report(tuple(outcomes), others, stopped, self.problems)

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release one log; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        return next(iter(self.release_all([log], stop).outcomes), None)

    def _release_next(self, waiting: deque[LogFile],
                      stop: Callable[[], bool]) -> tuple[list[Outcome], bool]:
        """
        Take the next logs, and release them; return outcomes, and whether to stop.

        They are charged in one transaction: each one's flush to the disk takes long.
        """
        releases: list[Outcome | Draft] = []
        symbols, until, stopped = 0, monotonic() + _MOST_SECONDS, False
        with ExitStack() as stack:
            while (waiting and len(releases) < _MOST_LOGS and symbols < _MOST_SYMBOLS
                   and monotonic() < until and not (stopped := stop())):
                log = waiting.popleft()
                draft = self._draft_of(log)
                outcome = outcome_of(log.id, partial(self.prepare, draft, stack))
                releases.append(outcome or draft)
                symbols += releases[-1].length or 0
            if stopped or stop():
                return [each for each in releases if isinstance(each, Outcome)], True
            return self.publish(releases), False
