# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A log that is released: its words, and the files that they are written to."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
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
    A log, as a `transaction.Source`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown, on_topics: as of `engine.Releaser`.
    :ivar words: of the log, once it was read.
    :ivar found: what was found in it, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None
    length: int = field(default=0, init=False)
    logs: Mapping[str, Span] | None = field(default=None, init=False)
    found: Inspection | None = field(default=None, init=False)

    changed = ('its content has changed since it was released: give the new log another name; its '
               'release is then another one')

    def __post_init__(self) -> None:
        self.log_id = self.log.id

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
        self._loss = self.settings.loss()
        if self.mechanisms is not None:
            self._mechanism = self.mechanisms.for_length(max(map(len, self.words)))
            self._loss = self.settings.loss(self._mechanism.law.loss_bound)
        return self._loss

    def stage(self, outbox: Outbox, stack: ExitStack) -> Staged:
        """Privatize the words, and write them into the staging directory."""
        words = [self._mechanism.privatize(word) for word in self.words]
        del self._entries, self.words  # others are staged before this is published
        return Staged(self.write(words, outbox, stack), self._loss, words)

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
        period = settings.sampling.period if settings.sampling.has_period else 1.0
        if not writing.keep.topics:
            write_log(path, word, format=writing.format, topic=writing.topic, period=period,
                      stamp_key=read.stamp_key, symbol_key=read.symbol_key, durable=False)
            return
        with KeptTopics(self.log.path, writing.keep, read.topic,
                        strict=self.on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), durable=False)
        if self.on_topics is not None:
            self.on_topics(self.log, topics)


@dataclass(eq=False)
class LogPlace:
    """
    Where the release of a log goes, as a `transaction.Place`.

    :param rewrite_missing: as of `engine.Releaser`.
    """

    source: LogSource
    naming: Naming
    outbox: Outbox
    ledger: Ledger | None
    rewrite_missing: bool

    def check_free(self) -> None:
        """Check nothing: the names will be free."""

    def names(self, files: int) -> list[str]:
        """Return the wanted names of so many files."""
        return self.naming.wanted(self.source.log_id, files)

    def paths(self, number: int, files: int) -> list[Path]:
        """Return the paths of so many files, neither taken nor promised."""
        return self.naming.free_paths(self.source.log_id, number, files)

    def hand_out(self, charge: Entry) -> tuple[Path, ...]:
        """Return where a release is that was charged before; write it again if needed."""
        assert self.ledger is not None  # without one, no release is remembered
        files, keep = self.ledger.files.of(charge.number), self.source.settings.writing.keep
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            return self._restore(self.ledger, charge, files)
        paths = self.outbox.paths_of(files)
        if self.rewrite_missing and (keep.topics or not all(
                path.parent == self.outbox.directory and path.exists() for path in paths)):
            return self._rewrite(charge, files)
        return tuple(paths)

    def _restore(self, ledger: Ledger, charge: Entry, files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release that was charged, and lost before it was moved to its path."""
        with ExitStack() as stack:
            for file, new in zip(files, self._staged_again(charge, stack), strict=True):
                ledger.files.restage(file.path, *new)
            return tuple(map(self.outbox.publish, ledger.files.of(charge.number)))

    def _rewrite(self, charge: Entry, files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release once more, if possible to the path that the ledger has."""
        paths, keep = [], self.source.settings.writing.keep
        with ExitStack() as stack:
            for file, (path, copy, digest) in zip(
                    files, self._staged_again(charge, stack), strict=True):
                same = file.path.parent == self.outbox.directory and file.digest == digest
                equal = None
                if keep.topics:  # it may have been released so, or otherwise
                    equal = file.path if same and holds(file.path, digest) \
                        else self.outbox.equal(copy, digest)
                if same and not os.path.lexists(file.path):
                    path = file.path
                paths.append(equal or self.outbox.publish(
                    LedgerFile(0, path, copy, digest, True)))
        return tuple(paths)

    def _staged_again(self, charge: Entry, stack: ExitStack) -> list[Placed]:
        """Stage the words of a charge, durably; return each with another free path."""
        staged = self.source.write(charge.words, self.outbox, stack)
        for path in staged:
            make_durable(path)
        self.outbox.make_staging_durable()
        return [(path, copy, digest_of(copy)) for path, copy in zip(
            self.paths(charge.number, len(staged)), staged, strict=True)]
