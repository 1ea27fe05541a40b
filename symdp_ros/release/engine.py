# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releasing logs: read, sample, privatize, charge, and only then publish (`release.outbox`)."""
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import replace
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.logs import (KeptTopics, list_logs, LogFile, LogState, release_name, SkippedLog,
                            TopicOutcome, write_log, write_with_topics)
from symdp_ros.release.accounts import Entry
from symdp_ros.release.inspection import Moves
from symdp_ros.release.ledger import Ledger
from symdp_ros.release.ledger_database import LedgerFile
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.naming import Naming
from symdp_ros.release.outbox import check_apart, digest_of, holds, Outbox
from symdp_ros.release.report import Outcome, outcome_of, Report, unusable
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits


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
                 allow_unknown: float | None = None, mechanisms: Mechanisms | None = None,
                 random: 'RandomBits | None' = None, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None,
                 on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, release_dir)
            ledger.keep_budget(subject, subject_budget)
        self._settings, self._digest = settings, settings.digest()
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._on_topics = on_topics
        self._rewrite_missing, self._allow_unknown = rewrite_missing, allow_unknown
        self._moves = Moves.of(settings.chain, stays_only=True)
        self._mechanisms = Mechanisms(settings, random) if mechanisms is None else mechanisms
        self._outbox = Outbox(release_dir, ledger, wait=wait, on_wait=on_wait)
        self._naming = Naming(self._outbox.directory, ledger, settings.format,
                              settings.keep_names)

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

        :param stop: called before each log; True: stop there.
        :param on_outcome: called after each log.
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
        stopped = False
        for log in logs:
            released = None if stop() else self._outcome(log, stop)
            if released is None:
                stopped = True
                break
            outcomes.append(released)
            on_outcome(released)
        self._outbox.settle()
        return Report(tuple(outcomes), others, stopped, self.problems)

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release one log; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        outcome = self._outcome(log, stop)
        self._outbox.settle()
        return outcome

    def _outcome(self, log: LogFile, stop: Callable[[], bool]) -> Outcome | None:
        return outcome_of(log, lambda: self._release(log, stop))

    def _release(self, log: LogFile, stop: Callable[[], bool]) -> Outcome | None:
        ledger, entries = self._ledger, self._settings.entries(log)
        words = self._settings.words_of(entries, log)
        length = sum(map(len, words))
        content = b''
        if ledger is not None:
            content = ledger.fingerprint(words)
            charge = ledger.find(self._subject, log.id, self._digest)
            if charge is not None:
                return self._released_before(ledger, log, charge, content, length)
        if self._allow_unknown is not None:
            problem = self._settings.inspect(entries, words, self._moves).problem(
                self._settings.chain, self._allow_unknown)
            if problem is not None:
                return Outcome(log.id, 'failed', length, reason=problem)
        description = json.dumps(self._settings.described())
        mechanism = self._mechanisms.for_length(max(map(len, words)))
        loss = replace(self._settings.loss, bound=mechanism.law.loss_bound)
        if ledger is not None:
            ledger.check(self._subject, loss, log.id, description=description,
                         budget=self._budget, subject_budget=self._subject_budget)
        released = [mechanism.privatize(word) for word in words]
        with self._staged(log, released) as staged:
            self._outbox.check(self._naming.wanted(log.id, len(staged)))
            if ledger is None:
                paths = [self._outbox.publish(LedgerFile(0, *file, False), settle=False)
                         for file in self._placed(log.id, None, staged)]
                return Outcome(log.id, 'released', length, tuple(paths))
            if stop():
                return None
            charge, new = ledger.charge(
                self._subject, loss, log_id=log.id, settings=self._digest, content=content,
                words=released, description=description,
                files=lambda number: list(self._placed(log.id, number, staged)),
                budget=self._budget, subject_budget=self._subject_budget)
            if not new:  # another process was faster
                return self._released_before(ledger, log, charge, content, length)
            paths = [self._outbox.publish(file, settle=False)
                     for file in ledger.files(charge.number)]
        return Outcome(log.id, 'released', length, tuple(paths))

    def _released_before(self, ledger: Ledger, log: LogFile, charge: Entry, content: bytes,
                         length: int) -> Outcome:
        if charge.content != content:
            return Outcome(log.id, 'failed', length, reason=(
                'its content has changed since it was released: give the new log another name; '
                'its release is then another one'))
        files = ledger.files(charge.number)
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            paths = self._restore(ledger, log, charge, files)
        else:
            paths = self._outbox.paths_of(files)
            if self._rewrite_missing and (self._settings.keep.topics or not all(
                    path.parent == self._outbox.directory and path.exists() for path in paths)):
                paths = self._rewrite(log, charge, files)
        return Outcome(log.id, 'already released', length, tuple(paths))

    def _restore(self, ledger: Ledger, log: LogFile, charge: Entry,
                 files: list[LedgerFile]) -> list[Path]:
        """Write a release that was charged, and lost before it was moved to its path."""
        with self._staged(log, charge.words) as staged:
            for file, new in zip(files, self._placed(log.id, charge.number, staged), strict=True):
                ledger.restage(file.path, *new)
            return [self._outbox.publish(file) for file in ledger.files(charge.number)]

    def _rewrite(self, log: LogFile, charge: Entry, files: list[LedgerFile]) -> list[Path]:
        """Write a release once more, if possible to the path that the ledger has."""
        paths = []
        with self._staged(log, charge.words) as staged:
            for file, (path, copy, digest) in zip(
                    files, self._placed(log.id, charge.number, staged), strict=True):
                equal = None
                if self._settings.keep.topics:  # it may have been released so, or with others
                    equal = file.path if file.digest == digest and holds(file.path, digest) \
                        and file.path.parent == self._outbox.directory \
                        else self._outbox.equal(copy, digest)
                if file.path.parent == self._outbox.directory and file.digest == digest \
                        and not os.path.lexists(file.path):
                    path = file.path
                paths.append(equal or self._outbox.publish(
                    LedgerFile(0, path, copy, digest, True)))
        return paths

    @contextmanager
    def _staged(self, log: LogFile,
                words: Iterable[Sequence[str]]) -> Iterator[list[tuple[Path, str]]]:
        """Write words into the staging directory; give (path, digest) of each."""
        staged = list[tuple[Path, str]]()
        with ExitStack() as stack:
            for word in words:
                path = stack.enter_context(self._outbox.staged(
                    release_name('', self._settings.format)))
                self._write(path, log, word)
                staged.append((path, digest_of(path)))
            yield staged

    def _write(self, path: Path, log: LogFile, word: Sequence[str]) -> None:
        settings = self._settings
        period = settings.period if settings.sampling == 'period' else 1.0
        if not settings.keep.topics:
            write_log(path, word, format=settings.format, topic=settings.release_topic,
                      period=period, stamp_key=settings.stamp_key, symbol_key=settings.symbol_key)
            return
        with KeptTopics(log.path, settings.keep, settings.topic,
                        strict=self._on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=settings.format, period=period,
                                       field=settings.field, values=settings.values)
        if self._on_topics is not None:
            self._on_topics(log, topics)

    def _placed(self, log_id: str, number: int | None,
                staged: list[tuple[Path, str]]) -> Iterator[tuple[Path, Path, str]]:
        """Yield (future path, staged path, digest) of what is staged for a log."""
        for i, (path, digest) in enumerate(staged):
            yield self._naming.free_path(log_id, number, i, len(staged)), path, digest
