# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The steps of every release: a draft is planned and staged, charged, and only then published.

Logs, archives and learned chains take all of them; a dry run takes the first one alone,
`Draft.plan`. `Destination` says where the files go; `release.outbox` has the order that survives a
crash.
"""
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
import json
import os
from pathlib import Path
import shutil
from typing import Any, TypeAlias

from symdp_ros.errors import BudgetError, ConfigurationError, LogError, printable, SymdpError
from symdp_ros.files.closable import Closable
from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.entry import Entry, new_charge
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import release_name
from symdp_ros.logs.log_files import SUFFIXES
from symdp_ros.release.outbox import digest_of, holds, Outbox, parts_of_name, variant
from symdp_ros.release.report import NOISE, Outcome, outcome_of
from symdp_ros.release.settings import WritingSettings

_SHOWN = 3  # subjects

#: The charge of a draft and whether it is new; or why it was not made; None: without a ledger.
_Charge: TypeAlias = tuple[Entry, bool] | Exception | None


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


class ReleaseSession(Closable):
    """
    Charges releases to a subject, and publishes them in a directory that it holds until closed.

    :param settings: have `digest()`, and `described()` for people to read.
    :param directory: an existing one.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose releases these are, as the ledger names it; '': each draft says whose.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it. 0.0: the stored one.
    :param compare: what was released before is read again, and has failed if it changed.
    :param wait, on_wait: as of `Outbox`.
    :param name, writing, rewrite_missing: as of `Destination`.
    :param partial: of a draft with words of several subjects, leave out those who were charged
        for it before, or would pass their budget; otherwise it is refused.
    :raises ConfigurationError, LedgerError: as `Outbox`.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, settings: Any, directory: str | Path, *, ledger: Ledger | None = None,
                 subject: str = '', budget: float = 0.0, subject_budget: float = 0.0,
                 compare: bool = True, partial: bool = False, name: str = '',
                 writing: WritingSettings = WritingSettings(), rewrite_missing: bool = False,
                 wait: float = 10.0, on_wait: Callable[[], None] = lambda: None):
        if ledger is not None and subject:
            ledger.keep_budget(subject, subject_budget)
        self._digest = settings.digest()
        self._description = json.dumps(settings.described())
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._compare, self._partial = compare, partial
        self.outbox = Outbox(directory, ledger, wait=wait, on_wait=on_wait)
        self._destination = Destination(self.outbox, ledger, name, writing, rewrite_missing)

    def close(self) -> None:
        """Let other processes use the directory."""
        self.outbox.close()

    def release_one(self, draft: Draft) -> Outcome:
        """
        Release by itself.

        :raises SymdpError, OSError: it is not released.
        """
        with ExitStack() as stack:
            outcome = self.prepare(draft, stack)
            if outcome is None:
                draft.make_durable()
                [charge] = self._charge([draft])
                outcome = self._publish(draft, charge)
                self.outbox.sync_moved()
            return outcome

    def prepare(self, draft: Draft, stack: ExitStack) -> Outcome | None:
        """
        Plan and stage a release; return its outcome if it is not to be made. None: it is staged.

        :param stack: with it, what is staged and not charged is deleted.
        :raises SymdpError, OSError: it cannot be released.
        """
        ledger, log_id = self._ledger, draft.log_id
        earlier = None if ledger is None else ledger.find(
            self._subject, log_id, self._digest)  # of no subject: none
        reads_first = ledger is not None and not self._subject  # whose words these are
        if earlier is None and not reads_first:
            self._destination.check_free()
        elif earlier is not None and not self._compare:
            return Outcome(log_id, 'already released', earlier.symbols,
                           self._destination.reuse(draft, earlier))
        problem = draft.plan(earlier, ledger, stack)
        if problem is not None:
            return draft.outcome('refused', reason=problem, code=NOISE) if earlier is None \
                else draft.outcome('failed', reason=problem, code='log')
        if earlier is None and draft.losses is not None and ledger is not None:
            earlier = self._leave_out(ledger, draft, draft.losses)
            if earlier is None:
                self._destination.check_free()
        elif earlier is None and ledger is not None:
            assert draft.loss is not None
            ledger.keep_budget(self._subject, self._subject_budget)
            ledger.check(self._subject, draft.loss, log_id, description=self._description,
                         budget=self._budget)
        if earlier is not None:
            return draft.outcome('already released', self._destination.reuse(draft, earlier))
        draft.stage(self.outbox, stack)
        self.outbox.check(self._destination.names(log_id, len(draft.files)))
        return None

    def _leave_out(self, ledger: Ledger, draft: Draft, losses: dict[str, Loss]) -> Entry | None:
        """
        Leave out the subjects that cannot be charged; return a charge, if all were charged before.

        :raises LogError: the content changed since.
        :raises BudgetError: none can be charged; or some cannot, unless the rest is wanted.
        """
        earlier = ledger.find_all(losses, draft.log_id, self._digest)
        if any(entry.content != draft.content for entry in earlier.values()):
            raise LogError(draft.changed)
        if len(earlier) == len(losses):
            first, *others = (entry for entry in earlier.values() if entry.files)
            if not others:
                return first
            paths = [file.path.name for entry in (first, *others)
                     for file in ledger.files.of(entry.number)]
            raise ConfigurationError('it was released before, in parts: '
                                     f'{", ".join(map(printable, paths))}')
        ledger.keep_budgets(set(losses) - set(earlier), self._subject_budget)
        problems = dict.fromkeys(earlier, 'was charged for it before') | {
            subject: str(error) for subject, error in ledger.check_all(
                losses, draft.log_id, description=self._description,
                budget=self._budget).items() if subject not in earlier}
        if not problems:
            return None
        named = _named(problems)
        if len(problems) == len(losses):
            raise BudgetError(f'none of its {len(problems)} subjects can be charged: {named}')
        if not self._partial:
            raise BudgetError(f'{len(problems)} of its {len(losses)} subjects cannot be '
                              f'charged: {named}. With --partial, the others are released')
        for subject in problems:
            del losses[subject]
        return None

    def publish(self, releases: Sequence[Outcome | Draft]) -> list[Outcome]:
        """
        Charge the drafts, in one transaction, and move them to their paths; return all outcomes.

        `Outbox.sync_moved` is to be called later, after all of several calls.
        """
        outcomes = [each if isinstance(each, Outcome) else outcome_of(
            each.log_id, each.make_durable) for each in releases]
        releases = [outcome or each for outcome, each in zip(outcomes, releases, strict=True)]
        charges = iter(self._charge([each for each in releases if isinstance(each, Draft)]))
        return [each if isinstance(each, Outcome) else outcome_of(
            each.log_id, partial(self._publish, each, next(charges)))
            for each in releases]

    def _charge(self, drafts: Sequence[Draft]) -> Sequence[_Charge]:
        """Charge what is staged, or nothing of it where one cannot be written."""
        if not drafts:
            return []
        try:
            self.outbox.make_staging_durable()
            self._destination.place(drafts)
            if self._ledger is None:
                return [None] * len(drafts)
            entries = list(map(self._entries, drafts))
            with self._ledger.charging(self._subject, budget=self._budget) as charge:
                return [_charged(charge, *each) for each in zip(drafts, entries, strict=True)]
        except Exception as error:  # it is the outcome of each
            return [error] * len(drafts)

    def _entries(self, draft: Draft) -> list[Entry]:
        """Return the charge of a draft for each subject."""
        losses = draft.losses
        if losses is None:
            assert draft.loss is not None
            losses = {self._subject: draft.loss}
        new = {loss: new_charge(
            loss, self._digest, self._description, draft.log_id, content=draft.content,
            words=draft.words, lengths=None if draft.words else [draft.length], logs=draft.logs,
            taken=draft.taken) for loss in set(losses.values())}
        return [new[loss]._replace(subject=subject) for subject, loss in losses.items()]

    def _publish(self, draft: Draft, charge: _Charge) -> Outcome:
        """Move what is staged and charged to its paths."""
        if isinstance(charge, Exception):
            raise charge
        number = 0
        if charge is not None:
            entry, is_new = charge
            if not is_new:  # another process was faster
                if self._compare and entry.content != draft.content:
                    return draft.outcome('failed', reason=draft.changed, code='log')
                return draft.outcome('already released', self._destination.reuse(draft, entry))
            number = entry.number
        return draft.outcome('released', [self.outbox.publish(replace(file, number=number))
                                          for file in draft.files])


def _charged(charge: Callable[..., tuple[Entry, bool]], draft: Draft,
             entries: Sequence[Entry]) -> _Charge:
    """Charge one release; return why not where it is refused."""
    try:
        return charge(*entries, files=draft.files)
    except SymdpError as error:
        if len(entries) > 1:  # all of them, or none: it ends the transaction
            raise
        return error


def _named(problems: Mapping[str, str]) -> str:
    """Return the first of some subjects and what is wrong with them, and how many more."""
    first = [f'{printable(subject)} ({problem})' for subject, problem in sorted(
        problems.items())[:_SHOWN]]
    more = len(problems) - len(first)
    return '; '.join(first) + (f'; and {more} more' if more > 0 else '')
