# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A release that is not charged yet, and where its files go."""
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
import os
from pathlib import Path
import shutil

from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import release_name
from symdp_ros.logs.log_files import SUFFIXES
from symdp_ros.release.outbox import digest_of, holds, Outbox, parts_of_name, variant
from symdp_ros.release.report import Outcome
from symdp_ros.release.settings import WritingSettings


class Draft:
    """
    A release until it is charged: what it is made of, and what is known of it so far.

    :ivar log_id: what the ledger charges it as.
    :ivar changed: the error text where the same id was released before, with another content.
    :ivar length, logs, content: once it was read: its symbols; as of `new_charge`; the
        fingerprint of what is sensitive in it.
    :ivar loss, losses: once it was planned: what it costs, None: nothing; and the same for each
        subject, where it holds words of several. Words of subjects that are taken out of `losses`
        before `stage` are not released. None: all words are of one subject.
    :ivar words, taken, files: once it was staged: as of `new_charge`; where they are staged, and,
        when it is charged, where they go.
    """

    log_id: str
    changed: str
    length: int = 0
    logs: Mapping[str, Span] | None = None
    content: bytes = b''
    loss: Loss | None = None
    losses: dict[str, Loss] | None = None
    words: Sequence[Sequence[str]] = ()
    taken: str = ''
    files: Sequence[LedgerFile] = ()

    def read(self, stack: ExitStack) -> None:
        """Read it; what it needs open is closed with the stack."""
        raise NotImplementedError

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of what is sensitive in it."""
        raise NotImplementedError

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""
        raise NotImplementedError

    def price(self) -> Loss:
        """Return what its release costs."""
        raise NotImplementedError

    def draw(self, outbox: Outbox, stack: ExitStack) -> Sequence[Path]:
        """Draw its words, and write them into the staging directory; return the paths."""
        raise NotImplementedError

    def write(self, words: Sequence[Sequence[str]], outbox: Outbox,
              stack: ExitStack) -> Sequence[Path]:
        """Do the same with words that the ledger has stored."""
        raise NotImplementedError

    def plan(self, earlier: Entry | None, ledger: Ledger | None, stack: ExitStack) -> str | None:
        """
        Find out what the release would cost; return why it is not made.

        :param earlier: the charge of its log under these settings; None: it was not released.
        :param stack: see `read`.
        :raises LogError, ConfigurationError: it cannot be released.
        """
        self.read(stack)
        if ledger is not None:
            self.content = self.fingerprint(ledger)
        if earlier is not None:
            return None if earlier.content == self.content else self.changed
        problem = self.problem()
        if problem is None:
            self.loss = self.price()
        return problem

    def stage(self, outbox: Outbox, stack: ExitStack) -> None:
        """Draw the release, and write it into the staging directory."""
        self.files = _staged(self.draw(outbox, stack))

    def make_durable(self) -> None:
        """Make durable what is staged."""
        for file in self.files:
            make_durable(file.staged)

    def outcome(self, kind: str, files: Sequence[Path] = (), reason: str = '',
                code: str = '') -> Outcome:
        """Return its outcome."""
        return Outcome(self.log_id, kind, self.length, tuple(files), reason, code,
                       (self.logs or {}).get(self.log_id))


class Destination:
    """
    Where the files of releases go: to free names in the directory of an outbox.

    :param name: what the operator has named a single release, which the ledger does not store: it
        is handed out again where a copy is found. '': releases of logs are named by `writing`, and
        handed out again from the words in the ledger.
    :param rewrite_missing: write an earlier release once more if its file is not in the directory.
    """

    def __init__(self, outbox: Outbox, ledger: Ledger | None, name: str = '',
                 writing: WritingSettings = WritingSettings(), rewrite_missing: bool = False):
        self._outbox, self._ledger, self._name = outbox, ledger, name
        self._writing, self._rewrite_missing = writing, rewrite_missing
        self._last = 0  # the last number that was given

    def check_free(self, own: Path | None = None) -> None:
        """
        Check, before anything is read, that a name is not taken, nor promised.

        :param own: the path of the same release.
        :raises ConfigurationError: it is.
        """
        path = self._outbox.directory / self._name
        if self._name and os.path.lexists(path):
            raise ConfigurationError(f'{printable(path)} exists already: name another path for '
                                     'the release')
        if self._name and self._ledger is not None and path != own \
                and self._ledger.files.has_path(path):
            raise ConfigurationError(f'{printable(path)} is in the ledger as the path of another '
                                     'release: name another one')

    def names(self, log_id: str, files: int) -> list[str]:
        """Return the wanted names of so many files: after the log, or one number for all."""
        if self._name:
            return [self._name]
        stem = f'{1:06d}'
        if self._writing.keep_names:
            stem = next((log_id.removesuffix(suffix) for suffix in SUFFIXES
                         if log_id.endswith(suffix)), log_id)
        return [release_name(f'{stem}-part{part + 1}' if files > 1 else stem, self._writing.format)
                for part in range(files)]

    def place(self, drafts: Iterable[Draft]) -> None:
        """Give the files of some releases paths that are neither taken nor promised."""
        taken, number = set[Path](), self._last
        numbered = not (self._name or self._writing.keep_names)
        if numbered and self._ledger is not None:
            # Counted in this directory: the ledger's own numbers depend on other subjects.
            number = self._ledger.files.charges_in(self._outbox.directory)
        for draft in drafts:
            paths, number = list[Path](), number + 1
            for name in self.names(draft.log_id, len(draft.files)):
                path = self._outbox.directory / name
                if numbered:
                    path = _numbered(path, number)
                while not self._name and (
                        path in taken or os.path.lexists(path)
                        or self._ledger is not None and self._ledger.files.has_path(path)):
                    number += numbered
                    path = _numbered(path, number) if numbered else variant(path)
                taken.add(path)
                paths.append(path)
            draft.files = [replace(file, path=path)
                           for file, path in zip(draft.files, paths, strict=True)]
        self._last = number

    def reuse(self, draft: Draft, charge: Entry) -> tuple[Path, ...]:
        """
        Return where a release is that was charged before; put it there if needed.

        :raises ConfigurationError: it is nowhere; or it is elsewhere, and the name is not free.
        """
        assert self._ledger is not None  # without one, no release is remembered
        files = self._ledger.files.of(charge.number)
        if self._name:
            return self._copied(*files),
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            with ExitStack() as stack:  # it was lost before it was moved to its path
                self._write_again(draft, charge, stack)
                for file, new in zip(files, draft.files, strict=True):
                    self._ledger.files.restage(file.path, new.path, new.staged, new.digest)
                return tuple(map(self._outbox.publish, self._ledger.files.of(charge.number)))
        paths = self._outbox.paths_of(files)
        if not self._rewrite_missing or not self._writing.keep.topics and all(
                path.parent == self._outbox.directory and path.exists() for path in paths):
            return tuple(paths)
        paths = []
        with ExitStack() as stack:  # once more, if possible to the path that the ledger has
            self._write_again(draft, charge, stack)
            for file, new in zip(files, draft.files, strict=True):
                same = file.path.parent == self._outbox.directory and file.digest == new.digest
                equal = None
                if self._writing.keep.topics:  # it may have been released so, or otherwise
                    equal = file.path if same and holds(file.path, new.digest) \
                        else self._outbox.equal(new.staged, new.digest)
                if same and not os.path.lexists(file.path):
                    new = replace(new, path=file.path)
                paths.append(equal or self._outbox.publish(new))
                self._ledger.files.add_copy(charge.number, paths[-1], new.digest)
        return tuple(paths)

    def _write_again(self, draft: Draft, charge: Entry, stack: ExitStack) -> None:
        """Stage the words of a charge durably, with other free paths."""
        draft.files = _staged(draft.write(charge.words, self._outbox, stack))
        draft.make_durable()
        self._outbox.make_staging_durable()
        self.place([draft])

    def _copied(self, file: LedgerFile) -> Path:
        """Return the wanted path of a file that was released before, after copying it there."""
        path = self._outbox.directory / self._name
        there = next((each for each in (path, file.path, file.staged)
                      if holds(each, file.digest)), None)
        if there is None:
            raise ConfigurationError(
                f'it was released before, as {printable(file.path)}, which is missing or was '
                'changed, and the ledger does not store it: use a copy of that release')
        if there == path:
            return path
        self.check_free(file.path)
        with self._outbox.staged(there.suffix) as copy:
            _copy(there, copy)
            return self._outbox.publish(LedgerFile(0, path, copy, file.digest, True))


def _staged(paths: Iterable[Path]) -> list[LedgerFile]:
    """Return what is staged at some paths, without future paths yet."""
    return [LedgerFile(0, Path(), path, digest_of(path), False) for path in paths]


def _numbered(path: Path, number: int) -> Path:
    """Return the path with another number in its name."""
    name, marker, rest = parts_of_name(path)
    _, dash, part = name.partition('-')
    return path.with_name(f'{number:06d}{dash}{part}{marker}{rest}')


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory with all in it, and make the copy durable."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(source, target)
    make_durable(target)
