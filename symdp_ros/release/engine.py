# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releasing logs: read, sample, privatize, charge, and only then publish (`release.outbox`)."""
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
import os
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.database import LedgerFile
from symdp_ros.ledger.ledger import Ledger, NewCharge
from symdp_ros.ledger.overlap import Span, span_of
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import (KeptTopics, list_logs, LogFile, LogState, release_name, SkippedLog,
                            TopicOutcome, write_log, write_with_topics)
from symdp_ros.release.inspection import Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.naming import Naming
from symdp_ros.release.outbox import check_apart, digest_of, holds, Outbox
from symdp_ros.release.report import Outcome, outcome_of, Report, unusable
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

# Logs that are charged together: as many as these limits allow, and at least one.
_MOST_LOGS = 100
_MOST_SYMBOLS = 200_000
_MOST_SECONDS = 2.0

#: A charge and whether it is new; or why it was not made; None: without a ledger.
_Charge: TypeAlias = tuple[Entry, bool] | Exception | None


@dataclass(eq=False)
class _Staged:
    """A log whose release is staged, but not charged yet."""

    log: LogFile
    length: int
    content: bytes
    loss: Loss
    span: Span
    words: list[list[str]]
    files: list[tuple[Path, str]]  # where they are staged, and their digests
    placed: list[tuple[Path, Path, str]] = field(default_factory=list)  # and their future paths

    def made_durable(self) -> '_Staged':
        for path, _ in self.files:
            make_durable(path)
        return self


class Releaser:
    """
    Releases logs into one directory, which it holds until it is closed.

    :param release_dir: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose logs these are, as the ledger names it.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it. 0.0: the stored one.
    :param rewrite_missing: write an earlier release once more if its file is not in
        `release_dir`.
    :param allow_unknown: refuse a log, before anything is charged, that would come out as noise:
        `inspection.Inspection.problem`. This depends on the log's content: only for callers who
        show outcomes to nobody else. None: refuse no log for its content.
    :param tell_changes: a log whose content changed since it was released has failed. So anyone
        who can write a log, and not read it, could confirm a guess: only for callers who show
        outcomes to nobody else. Otherwise a log that was released is not read again.
    :param on_topics: called for each log of which topics are kept. A log then fails where one of
        them is missing or cannot be kept. Only for callers who show this to nobody else. None:
        such topics are left out.
    :param mechanisms: those of the settings, if they were made before.
    :param random: for tests, an object with `getrandbits`.
    :param wait: seconds to wait for another process that releases into the same directory.
    :param on_wait: called before waiting.
    :raises ConfigurationError: settings that are not valid; the ledger is inside `release_dir`;
        the directory is missing, cannot be written to, or is in use by another process.
    """

    def __init__(self, settings: ReleaseSettings, release_dir: str | Path, *,
                 ledger: Ledger | None = None, subject: str = '', budget: float = 0.0,
                 subject_budget: float = 0.0, rewrite_missing: bool = False,
                 allow_unknown: float | None = None, tell_changes: bool = False,
                 mechanisms: Mechanisms | None = None,
                 random: 'RandomBits | None' = None, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None,
                 on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, release_dir)
            ledger.keep_budget(subject, subject_budget)
        self._settings, self._digest = settings, settings.digest()
        self._description = settings.description()
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._on_topics = on_topics
        self._rewrite_missing, self._allow_unknown = rewrite_missing, allow_unknown
        self._tell_changes = tell_changes
        self._moves = Moves.of(settings.chain, stays_only=True)
        self._mechanisms = Mechanisms(settings, random) if mechanisms is None else mechanisms
        self._outbox = Outbox(release_dir, ledger, wait=wait, on_wait=on_wait)
        self._naming = Naming(self._outbox.directory, ledger, settings.writing.format,
                              settings.writing.keep_names)
        self._numbers = count(1)  # of releases without a ledger

    def __repr__(self) -> str:
        return f'<Releaser into {str(self._outbox.directory)!r}>'

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each release that is charged and not at its path."""
        return self._outbox.problems

    def close(self) -> None:
        """Let other processes use the directory."""
        self._outbox.close()

    def __enter__(self) -> 'Releaser':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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
        self._outbox.settle()
        return Report(tuple(outcomes), others, stopped, self.problems)

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release one log; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        outcomes, _ = self._release_next(deque([log]), stop)
        self._outbox.settle()
        return outcomes[0] if outcomes else None

    def _release_next(self, waiting: deque[LogFile],
                      stop: Callable[[], bool]) -> tuple[list[Outcome], bool]:
        """
        Take the next logs, and release them; return outcomes, and whether to stop.

        They are charged in one transaction: each one's flush to the disk takes long.
        """
        found: list[Outcome | _Staged] = []
        symbols, until, stopped = 0, monotonic() + _MOST_SECONDS, False
        with ExitStack() as stack:
            while (waiting and len(found) < _MOST_LOGS and symbols < _MOST_SYMBOLS
                   and monotonic() < until and not (stopped := stop())):
                log = waiting.popleft()
                found.append(outcome_of(log, partial(self._stage, log, stack)))
                symbols += found[-1].length or 0
            found = [each if isinstance(each, Outcome) else
                     outcome_of(each.log, each.made_durable) for each in found]
            if stopped or stop():
                return [each for each in found if isinstance(each, Outcome)], True
            charges = iter(self._charge([each for each in found if isinstance(each, _Staged)]))
            return [each if isinstance(each, Outcome) else
                    outcome_of(each.log, partial(self._publish, each, next(charges)))
                    for each in found], False

    def _stage(self, log: LogFile, stack: ExitStack) -> 'Outcome | _Staged':
        """Stage the release of a log that was not released yet, until the stack is closed."""
        ledger, charge = self._ledger, None
        if ledger is not None:
            charge = ledger.find(self._subject, log.id, self._digest)
            if charge is not None and not self._tell_changes:
                return self._released_before(ledger, log, charge)
        entries = self._settings.entries(log)
        words = self._settings.words_of(entries, log)
        length = sum(map(len, words))
        content = b'' if ledger is None else ledger.fingerprint(words)
        if ledger is not None and charge is not None:
            return replace(self._released_before(ledger, log, charge, content),
                           span=span_of(entries))
        if self._allow_unknown is not None:
            problem = self._settings.inspect(entries, words, self._moves).problem(
                self._settings.chain, self._allow_unknown)
            if problem is not None:
                return Outcome(log.id, 'failed', length, reason=problem)
        mechanism = self._mechanisms.for_length(max(map(len, words)))
        loss = self._settings.loss(mechanism.law.loss_bound)
        if ledger is not None:
            ledger.check(self._subject, loss, log.id, description=self._description,
                         budget=self._budget, subject_budget=self._subject_budget)
        released = [mechanism.privatize(word) for word in words]
        files = self._staged(log, released, stack)
        self._outbox.check(self._naming.wanted(log.id, len(files)))
        return _Staged(log, length, content, loss, span_of(entries), released, files)

    def _charge(self, staged: list['_Staged']) -> Sequence['_Charge']:
        """Charge what is staged; return the charge of each and whether it is new, or why not."""
        ledger = self._ledger
        try:
            self._outbox.make_staging_durable()
            if ledger is None:
                return [None] * len(staged)
            return ledger.charge_all(self._subject, [NewCharge(
                each.loss, self._digest, self._description, each.log.id, each.content, each.words,
                files=partial(self._place, each), logs={each.log.id: each.span})
                for each in staged], budget=self._budget)
        except Exception as error:  # it is the outcome of each
            return [error] * len(staged)

    def _place(self, staged: '_Staged', number: int) -> list[tuple[Path, Path, str]]:
        """Return (future path, staged path, digest) of the files of a charge."""
        staged.placed = list(self._placed(staged.log.id, number, staged.files))
        return staged.placed

    def _publish(self, staged: '_Staged', charge: '_Charge') -> Outcome:
        """Move what is staged and charged to its path."""
        if isinstance(charge, Exception):
            raise charge
        log, ledger, number = staged.log, self._ledger, 0
        if ledger is None:
            self._place(staged, next(self._numbers))
        elif charge is not None:
            entry, is_new = charge
            if not is_new:  # another process was faster
                return self._released_before(ledger, log, entry, staged.content)
            number = entry.number
        return Outcome(log.id, 'released', staged.length, tuple(
            self._outbox.publish(LedgerFile(number, *file, False), settle=False)
            for file in staged.placed), span=staged.span)

    def _released_before(self, ledger: Ledger, log: LogFile, charge: Entry,
                         content: bytes = b'') -> Outcome:
        if self._tell_changes and charge.content != content:
            return Outcome(log.id, 'failed', charge.length, reason=(
                'its content has changed since it was released: give the new log another name; '
                'its release is then another one'))
        files = ledger.files(charge.number)
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            paths = self._restore(ledger, log, charge, files)
        else:
            paths = self._outbox.paths_of(files)
            if self._rewrite_missing and (self._settings.writing.keep.topics or not all(
                    path.parent == self._outbox.directory and path.exists() for path in paths)):
                paths = self._rewrite(log, charge, files)
        return Outcome(log.id, 'already released', charge.length, tuple(paths))

    def _restore(self, ledger: Ledger, log: LogFile, charge: Entry,
                 files: list[LedgerFile]) -> list[Path]:
        """Write a release that was charged, and lost before it was moved to its path."""
        with ExitStack() as stack:
            staged = self._staged(log, charge.words, stack, durable=True)
            for file, new in zip(files, self._placed(log.id, charge.number, staged), strict=True):
                ledger.restage(file.path, *new)
            return [self._outbox.publish(file) for file in ledger.files(charge.number)]

    def _rewrite(self, log: LogFile, charge: Entry, files: list[LedgerFile]) -> list[Path]:
        """Write a release once more, if possible to the path that the ledger has."""
        paths = []
        with ExitStack() as stack:
            staged = self._staged(log, charge.words, stack, durable=True)
            for file, (path, copy, digest) in zip(
                    files, self._placed(log.id, charge.number, staged), strict=True):
                equal = None
                # With kept topics, it may have been released so, or with others.
                if self._settings.writing.keep.topics:
                    equal = file.path if file.digest == digest and holds(file.path, digest) \
                        and file.path.parent == self._outbox.directory \
                        else self._outbox.equal(copy, digest)
                if file.path.parent == self._outbox.directory and file.digest == digest \
                        and not os.path.lexists(file.path):
                    path = file.path
                paths.append(equal or self._outbox.publish(
                    LedgerFile(0, path, copy, digest, True)))
        return paths

    def _staged(self, log: LogFile, words: Iterable[Sequence[str]], stack: ExitStack,
                durable: bool = False) -> list[tuple[Path, str]]:
        """Write words into the staging directory; return (path, digest) of each."""
        staged = []
        for word in words:
            path = stack.enter_context(self._outbox.staged(
                release_name('', self._settings.writing.format)))
            self._write(path, log, word, durable)
            staged.append((path, digest_of(path)))
        return staged

    def _write(self, path: Path, log: LogFile, word: Sequence[str], durable: bool) -> None:
        settings, writing, read = self._settings, self._settings.writing, self._settings.input
        period = settings.sampling.period if settings.sampling.has_period else 1.0
        if not writing.keep.topics:
            write_log(path, word, format=writing.format, topic=writing.topic, period=period,
                      stamp_key=read.stamp_key, symbol_key=read.symbol_key, durable=durable)
            return
        with KeptTopics(log.path, writing.keep, read.topic,
                        strict=self._on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), durable=durable)
        if self._on_topics is not None:
            self._on_topics(log, topics)

    def _placed(self, log_id: str, number: int,
                staged: list[tuple[Path, str]]) -> Iterator[tuple[Path, Path, str]]:
        """Yield (future path, staged path, digest) of what is staged for a log."""
        for i, (path, digest) in enumerate(staged):
            yield self._naming.free_path(log_id, number, i, len(staged)), path, digest
