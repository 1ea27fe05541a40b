# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where releases of logs go: names that are free, and releases that were charged before."""
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
import os
from pathlib import Path

from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.transaction import Placed
from symdp_ros.logs import release_name
from symdp_ros.logs.files import SUFFIXES
from symdp_ros.release.outbox import digest_of, holds, Outbox, parts_of_name, variant
from symdp_ros.release.settings import WritingSettings
from symdp_ros.release.transaction import Source


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
        assert self.ledger is not None  # without one, no release is remembered
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

    def _rewrite(self, source: Source, charge: Entry, files: list[LedgerFile]) -> tuple[Path, ...]:
        """Write a release once more, if possible to the path that the ledger has."""
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
        return tuple(paths)

    def _staged(self, source: Source, charge: Entry, stack: ExitStack) -> list[Placed]:
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

