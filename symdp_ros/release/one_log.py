# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the release of one log is made of, and where it goes."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
import os
from pathlib import Path

from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span, span_of
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.transaction import Placed
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import (KeptTopics, LogFile, release_name, TopicOutcome, write_log,
                            write_with_topics)
from symdp_ros.logs.files import SUFFIXES
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import digest_of, holds, Outbox, parts_of_name, variant
from symdp_ros.release.settings import ReleaseSettings, WritingSettings
from symdp_ros.release.transaction import Source, Staged

# All that is told of what a refused log holds; one sentence for all of them.
_NOISE = ('too many of its symbols are no state of the map, or all of them (allow_unknown): the '
          'release would be noise. Nothing was charged. Its operator can see what is unknown with '
          'symdp release --dry-run, and correct topic, field, symbol_map or the map')


@dataclass(eq=False)
class LogSource:
    """
    A log, as a `transaction.Source`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown, on_topics, program, for_operator: as of `engine.Releaser`.
    :ivar words: of the log, once it was read.
    :ivar found: what was found in it, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None
    program: str = 'symdp_ros'
    for_operator: bool = False
    length: int = field(default=0, init=False)
    logs: Mapping[str, Span] | None = field(default=None, init=False)
    losses: dict[str, Loss] | None = field(default=None, init=False)
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
        found = self.inspect()
        if self.for_operator:
            return found.problem(self.settings.chain, self.allow_unknown)
        return _NOISE if found.is_noise(self.allow_unknown) else None

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its length."""
        self._loss = self.settings.loss(length=self.length)
        if self.mechanisms is not None:
            longest, privacy = max(map(len, self.words)), self.settings.privacy_for(self.length)
            taken = self.mechanisms.settings_for(longest, privacy)
            self._taken = '' if taken == self.settings.mechanism else taken.name
            self._mechanism = self.mechanisms.made(taken, privacy)
            self._loss = self.settings.loss(self._mechanism.law, self.length)
        return self._loss

    def stage(self, outbox: Outbox, stack: ExitStack) -> Staged:
        """Privatize the words, and write them into the staging directory."""
        words = [self._mechanism.privatize(word) for word in self.words]
        del self._entries, self.words  # others are staged before this is published
        return Staged(self.write(words, outbox, stack), self._loss, words, self._taken)

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
                        strict=self.on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), record=record,
                                       durable=False)
        if self.on_topics is not None:
            self.on_topics(self.log, topics)


@dataclass
class LogPlace:
    """
    The release directory of logs, as a `transaction.Place`.

    :param ledger, rewrite_missing: as of `engine.Releaser`.
    """

    outbox: Outbox
    ledger: Ledger | None
    writing: WritingSettings
    rewrite_missing: bool
    _last: int = field(default=0, init=False)  # the last number that was given

    def check_free(self) -> None:
        """Check nothing: the names will be free."""

    def names(self, log_id: str, files: int) -> list[str]:
        """Return the wanted names of so many files: after the log, or one number for all."""
        stem = f'{1:06d}'
        if self.writing.keep_names:
            stem = next((log_id.removesuffix(suffix) for suffix in SUFFIXES
                         if log_id.endswith(suffix)), log_id)
        return [release_name(f'{stem}-part{part + 1}' if files > 1 else stem, self.writing.format)
                for part in range(files)]

    def paths(self, releases: Iterable[tuple[str, int]]) -> list[list[Path]]:
        """Return the paths of the files of some releases, neither taken nor promised."""
        found = list[list[Path]]()
        taken, number = set[Path](), self._last
        if not self.writing.keep_names and self.ledger is not None:
            # Counted in this directory: the ledger's own numbers depend on other subjects.
            number = self.ledger.files.charges_in(self.outbox.directory)
        for log_id, files in releases:
            found.append([])
            number += 1
            for name in self.names(log_id, files):
                path = self.outbox.directory / name
                if not self.writing.keep_names:
                    path = _numbered(path, number)
                while (path in taken or os.path.lexists(path)
                       or self.ledger is not None and self.ledger.files.has_path(path)):
                    if self.writing.keep_names:
                        path = variant(path)
                    else:
                        number += 1
                        path = _numbered(path, number)
                taken.add(path)
                found[-1].append(path)
        self._last = number
        return found

    def hand_out(self, source: Source, charge: Entry) -> tuple[Path, ...]:
        """Return where a release is that was charged before; write it again if needed."""
        assert self.ledger is not None and isinstance(source, LogSource)
        files = self.ledger.files.of(charge.number)
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            with ExitStack() as stack:  # it was lost before it was moved to its path
                for file, new in zip(files, self._staged(source, charge, stack), strict=True):
                    self.ledger.files.restage(file.path, *new)
                return tuple(map(self.outbox.publish, self.ledger.files.of(charge.number)))
        paths = self.outbox.paths_of(files)
        if self.rewrite_missing and (self.writing.keep.topics or not all(
                path.parent == self.outbox.directory and path.exists() for path in paths)):
            return self._rewrite(source, charge, files)
        return tuple(paths)

    def _rewrite(self, source: LogSource, charge: Entry,
                 files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release once more, if possible to the path that the ledger has."""
        assert self.ledger is not None
        paths = []
        with ExitStack() as stack:
            for file, (path, copy, digest) in zip(
                    files, self._staged(source, charge, stack), strict=True):
                same = file.path.parent == self.outbox.directory and file.digest == digest
                equal = None
                if self.writing.keep.topics:  # it may have been released so, or otherwise
                    equal = file.path if same and holds(file.path, digest) \
                        else self.outbox.equal(copy, digest)
                if same and not os.path.lexists(file.path):
                    path = file.path
                paths.append(equal or self.outbox.publish(
                    LedgerFile(0, path, copy, digest, True)))
                self.ledger.files.add_copy(charge.number, paths[-1], digest)
        return tuple(paths)

    def _staged(self, source: LogSource, charge: Entry, stack: ExitStack) -> list[Placed]:
        """Stage the words of a charge, durably; return each with another free path."""
        staged = source.write(charge.words, self.outbox, stack)
        for path in staged:
            make_durable(path)
        self.outbox.make_staging_durable()
        [paths] = self.paths([(source.log_id, len(staged))])
        return [(path, copy, digest_of(copy)) for path, copy in zip(paths, staged, strict=True)]


def _numbered(path: Path, number: int) -> Path:
    """Return the path with another number in its name."""
    name, marker, rest = parts_of_name(path)
    _, dash, part = name.partition('-')
    return path.with_name(f'{number:06d}{dash}{part}{marker}{rest}')
