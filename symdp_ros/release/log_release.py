# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The release of one log: its words, and the files that they are written to."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
import os
from pathlib import Path

from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.database import LedgerFile
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span, span_of
from symdp_ros.ledger.transaction import Placed
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import (KeptTopics, LogFile, release_name, TopicOutcome, write_log,
                            write_with_topics)
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.naming import Naming
from symdp_ros.release.outbox import digest_of, holds, Outbox
from symdp_ros.release.settings import ReleaseSettings
from symdp_ros.release.transaction import Staged


@dataclass(eq=False)
class LogSource:
    """
    A log that is to be released: a `transaction.Source`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown: as of `engine.Releaser`.
    :ivar words: of the log, once it was read.
    :ivar found: what was found in the log, once `inspect` was called.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    length: int = field(default=0, init=False)
    logs: Mapping[str, Span] | None = field(default=None, init=False)
    found: Inspection | None = field(default=None, init=False)

    changed = ('its content has changed since it was released: give the new log another name; its '
               'release is then another one')

    @property
    def log_id(self) -> str:
        """Return the id of the log."""
        return self.log.id

    def check_place(self) -> None:
        """Check nothing: releases of logs get names that are free."""

    def read(self, stack: ExitStack) -> None:
        """Read and sample the log."""
        self._entries = self.settings.entries(self.log)
        self.words = self.settings.words_of(self._entries, self.log)
        self.length = sum(map(len, self.words))
        self.logs = {self.log.id: span_of(self._entries)}

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its words."""
        return ledger.fingerprint(self.words)

    def inspect(self) -> Inspection:
        """Return what is known of the log, for its operator alone."""
        self.found = self.settings.inspect(self._entries, self.words, self.moves)
        return self.found

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be, or must not be told."""
        if self.allow_unknown is None:
            return None
        return self.inspect().problem(self.settings.chain, self.allow_unknown)

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its length."""
        if self.mechanisms is None:
            return self.settings.loss
        self._mechanism = self.mechanisms.for_length(max(map(len, self.words)))
        return replace(self.settings.loss, bound=self._mechanism.law.loss_bound)


class LogPublication(LogSource):
    """
    The release of a log: a `transaction.Publication`.

    :param files: where it goes.
    """

    def __init__(self, files: 'LogFiles', settings: ReleaseSettings, log: LogFile,
                 mechanisms: Mechanisms, moves: Moves, allow_unknown: float | None):
        super().__init__(settings, log, mechanisms, moves, allow_unknown)
        self._files = files

    def stage(self, stack: ExitStack) -> Staged:
        """Privatize the words, and write them into the staging directory."""
        loss = replace(self.settings.loss, bound=self._mechanism.law.loss_bound)
        words = [self._mechanism.privatize(word) for word in self.words]
        del self._entries, self.words  # others are staged before this is published
        return Staged(loss, self._files.stage(self.log, words, stack), words)

    def names(self, files: int) -> list[str]:
        """Return the wanted names of so many files."""
        return self._files.naming.wanted(self.log.id, files)

    def paths(self, number: int, files: int) -> list[Path]:
        """Return the paths of so many files, neither taken nor promised."""
        return self._files.naming.free_paths(self.log.id, number, files)

    def hand_out(self, charge: Entry) -> tuple[Path, ...]:
        """Return where the release is that was charged before; write it again if needed."""
        return self._files.hand_out(self.log, charge)


class LogFiles:
    """
    The files of released logs in one directory.

    :param rewrite_missing, on_topics: as of `engine.Releaser`.
    """

    def __init__(self, settings: ReleaseSettings, outbox: Outbox, ledger: Ledger | None, *,
                 rewrite_missing: bool = False,
                 on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None):
        self._settings, self._outbox, self._ledger = settings, outbox, ledger
        self._rewrite_missing, self._on_topics = rewrite_missing, on_topics
        self.naming = Naming(outbox.directory, None if ledger is None else ledger.files,
                             settings.format, settings.keep_names)

    def stage(self, log: LogFile, words: Iterable[Sequence[str]],
              stack: ExitStack) -> list[tuple[Path, str]]:
        """Write words into the staging directory; return (path, digest) of each."""
        staged = []
        for word in words:
            path = stack.enter_context(self._outbox.staged(
                release_name('', self._settings.format)))
            self._write(path, log, word)
            staged.append((path, digest_of(path)))
        return staged

    def _write(self, path: Path, log: LogFile, word: Sequence[str]) -> None:
        settings = self._settings
        period = settings.period if settings.sampling == 'period' else 1.0
        if not settings.keep.topics:
            write_log(path, word, format=settings.format, topic=settings.release_topic,
                      period=period, stamp_key=settings.stamp_key, symbol_key=settings.symbol_key,
                      durable=False)
            return
        with KeptTopics(log.path, settings.keep, settings.topic,
                        strict=self._on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=settings.format, period=period,
                                       field=settings.field, values=settings.values,
                                       durable=False)
        if self._on_topics is not None:
            self._on_topics(log, topics)

    def hand_out(self, log: LogFile, charge: Entry) -> tuple[Path, ...]:
        """Return where the release of a log is that was charged before; write it if needed."""
        ledger = self._ledger
        assert ledger is not None  # without one, no release is remembered
        files = ledger.files.of(charge.number)
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            return self._restore(ledger, log, charge, files)
        paths = self._outbox.paths_of(files)
        if self._rewrite_missing and (self._settings.keep.topics or not all(
                path.parent == self._outbox.directory and path.exists() for path in paths)):
            return self._rewrite(log, charge, files)
        return tuple(paths)

    def _restore(self, ledger: Ledger, log: LogFile, charge: Entry,
                 files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release that was charged, and lost before it was moved to its path."""
        with ExitStack() as stack:
            for file, new in zip(files, self._staged_again(log, charge, stack), strict=True):
                ledger.files.restage(file.path, *new)
            return tuple(map(self._outbox.publish, ledger.files.of(charge.number)))

    def _rewrite(self, log: LogFile, charge: Entry, files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release once more, if possible to the path that the ledger has."""
        directory, paths = self._outbox.directory, []
        with ExitStack() as stack:
            for file, (path, copy, digest) in zip(
                    files, self._staged_again(log, charge, stack), strict=True):
                equal, same = None, file.path.parent == directory and file.digest == digest
                if self._settings.keep.topics:  # it may have been released so, or with others
                    equal = file.path if same and holds(file.path, digest) \
                        else self._outbox.equal(copy, digest)
                if same and not os.path.lexists(file.path):
                    path = file.path
                paths.append(equal or self._outbox.publish(
                    LedgerFile(0, path, copy, digest, True)))
        return tuple(paths)

    def _staged_again(self, log: LogFile, charge: Entry, stack: ExitStack) -> list[Placed]:
        """Stage the words of a charge, durably; return each with another free path."""
        staged = self.stage(log, charge.words, stack)
        for path, _ in staged:
            make_durable(path)
        self._outbox.make_staging_durable()
        paths = self.naming.free_paths(log.id, charge.number, len(staged))
        return [(path, *file) for path, file in zip(paths, staged, strict=True)]
