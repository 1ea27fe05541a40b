# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing logs: read, sample, privatize, charge, and only then make visible (`release.outbox`).
"""
from collections.abc import Callable, Iterable
from contextlib import contextmanager, ExitStack
import json
import os

from symdp_ros.core.errors import LogError
from symdp_ros.logs import list_logs, LogFile, LogState, release_name, SkippedLog, write_log
from symdp_ros.release.accounts import Entry
from symdp_ros.release.ledger import Ledger, LedgerFile
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.naming import Naming
from symdp_ros.release.outbox import check_apart, digest_of, holds, Outbox
from symdp_ros.release.report import ALL_UNKNOWN, Outcome, outcome_of, Report
from symdp_ros.release.settings import ReleaseSettings


class Releaser:
    """
    Releases logs into one directory, which it holds until it is closed.

    :param release_dir: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose logs these are, in the ledger.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject; the ledger stores it, and where it is 0.0,
        the stored one holds.
    :param hand_out_again: write a release that was made before once more where its file is not
        in `release_dir`; else it is left alone.
    :param refuse_unknown: let a log fail none of whose symbols is known, as a wrong symbol_map or
        field does it, instead of charging for noise. What is then said depends on the log: only
        for callers who alone see it.
    :param mechanisms: those of the settings, where they have been made before.
    :param random: for tests, an object with `getrandbits`.
    :param wait: seconds to wait for another process that releases into the same directory;
        `on_wait` is called before.
    :raises ConfigurationError: settings that are not valid; the ledger inside `release_dir`; a
        directory that is missing, cannot be written to, or is in use by another process.
    """

    def __init__(self, settings: ReleaseSettings, release_dir, *, ledger: Ledger | None = None,
                 subject: str = '', budget: float = 0.0, subject_budget: float = 0.0,
                 hand_out_again: bool = False, refuse_unknown: bool = False,
                 mechanisms: Mechanisms | None = None, random=None, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, release_dir)
            ledger.keep_budget(subject, subject_budget)
        self._settings, self._digest = settings, settings.digest()
        self._ledger, self._subject = ledger, subject
        self._budgets = {'budget': budget, 'subject_budget': subject_budget}
        self._hand_out_again, self._refuse_unknown = hand_out_again, refuse_unknown
        self._mechanisms = Mechanisms(settings, random) if mechanisms is None else mechanisms
        self._outbox = Outbox(release_dir, ledger, wait=wait, on_wait=on_wait)
        self._naming = Naming(self._outbox.directory, ledger, settings.format,
                              settings.keep_names)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is charged and could not be put in its place at the start, one sentence each."""
        return self._outbox.problems

    def close(self) -> None:
        """Leave the directory to others."""
        self._outbox.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def release_directory(self, log_dir, stop: Callable[[], bool] = lambda: False,
                          tell: Callable[[Outcome], None] = lambda outcome: None) -> Report:
        """
        Release every log of a directory that is not yet released under these settings.

        :param stop: asked between logs.
        :param tell: called after each log.
        :raises LogError: the directory cannot be read.
        """
        listing = list_logs(log_dir)
        return self.release_all(listing.logs, stop, tell, listing.skipped)

    def release_all(self, logs: Iterable[LogFile], stop=lambda: False,
                    tell=lambda outcome: None, skipped: Iterable[SkippedLog] = ()) -> Report:
        """
        Release some logs; parameters as in `release_directory`.

        :param skipped: logs that were listed beside them; those that are unusable have failed.
        """
        recording = tuple(log for log in skipped if log.state is LogState.RECORDING)
        outcomes = [Outcome(log.name, 'failed', reason=log.reason) for log in skipped
                    if log.state is LogState.UNUSABLE]
        for outcome in outcomes:
            tell(outcome)
        stopped = False
        for log in logs:
            outcome = None if stop() else self.release(log, stop)
            if outcome is None:
                stopped = True
                break
            outcomes.append(outcome)
            tell(outcome)
        return Report(tuple(outcomes), recording, stopped, self.problems)

    def release(self, log: LogFile, stop=lambda: False) -> Outcome | None:
        """
        Release one log. Whatever is wrong with it is told by the outcome.

        :param stop: asked once more before anything is spent; then None is returned.
        """
        return outcome_of(log, lambda: self._release(log, stop))

    def _release(self, log, stop):
        words = self._settings.words(log)
        length = sum(map(len, words))
        content = b''
        if self._ledger is not None:
            content = self._ledger.fingerprint(words)
            charge = self._ledger.find(self._subject, log.id, self._digest)
            if charge is not None:
                return self._released_before(log, charge, content, length)
        if self._refuse_unknown and all(symbol is None for word in words for symbol in word):
            raise LogError(ALL_UNKNOWN)
        if self._ledger is not None:
            self._ledger.check(self._subject, self._settings.loss, log.id,
                               description=json.dumps(self._settings.described()),
                               **self._budgets)
        mechanism = self._mechanisms.for_length(max(map(len, words)))
        released = [mechanism.privatize(word) for word in words]
        with self._staged(released) as staged:
            self._outbox.check(self._naming.wanted(log.id, len(staged)))
            if self._ledger is None:
                paths = [self._outbox.publish(LedgerFile(0, *file, False))
                         for file in self._placed(log.id, None, staged)]
                return Outcome(log.id, 'released', length, tuple(paths))
            if stop():
                return None
            charge, new = self._ledger.charge(
                self._subject, self._settings.loss, log_id=log.id,
                settings=self._digest, content=content, words=released,
                description=json.dumps(self._settings.described()),
                files=lambda number: list(self._placed(log.id, number, staged)),
                **self._budgets)
            if not new:  # another process was faster
                return self._released_before(log, charge, content, length)
            paths = [self._outbox.publish(file) for file in self._ledger.files(charge.number)]
        return Outcome(log.id, 'released', length, tuple(paths))

    def _released_before(self, log, charge: Entry, content, length):
        if charge.content != content:
            return Outcome(log.id, 'failed', length, reason=(
                'its content has changed since it was released: give the new log a name of its '
                'own, and it will be a release of its own'))
        files = self._ledger.files(charge.number)
        # What is staged elsewhere belongs to another process, which is about to move it.
        if any(not (file.visible or holds(file.staged, file.digest)
                    or holds(file.path, file.digest)) for file in files):
            paths = self._make_again(log, charge, files)
        else:
            paths = self._outbox.paths_of(files)
            if self._hand_out_again and not all(
                    path.parent == self._outbox.directory and path.exists() for path in paths):
                paths = self._copy(log, charge, files)
        return Outcome(log.id, 'already released', length, tuple(paths))

    def _make_again(self, log, charge, files):
        """Make ready again, and move, what was charged and lost before it was seen."""
        with self._staged(charge.words) as staged:
            for file, new in zip(files, self._placed(log.id, charge.number, staged), strict=True):
                self._ledger.restage(file.path, *new)
            return [self._outbox.publish(file) for file in self._ledger.files(charge.number)]

    def _copy(self, log, charge, files):
        """Write a release once more, to where the ledger knows it if that can be."""
        paths = []
        with self._staged(charge.words) as staged:
            for file, (path, copy, digest) in zip(
                    files, self._placed(log.id, charge.number, staged), strict=True):
                if file.path.parent == self._outbox.directory and file.digest == digest \
                        and not os.path.lexists(file.path):
                    path = file.path
                paths.append(self._outbox.publish(LedgerFile(0, path, copy, digest, True)))
        return paths

    @contextmanager
    def _staged(self, words):
        """Write words into the staging directory; give (path, digest) of each."""
        settings, staged = self._settings, []
        with ExitStack() as stack:
            for word in words:
                path = stack.enter_context(self._outbox.staged(release_name('', settings.format)))
                write_log(path, word, format=settings.format, topic=settings.release_topic,
                          period=settings.period if settings.sampling == 'period' else 1.0,
                          stamp_key=settings.stamp_key, symbol_key=settings.symbol_key)
                staged.append((path, digest_of(path)))
            yield staged

    def _placed(self, log_id, number, staged):
        """Yield (path to be, staged path, digest) of what is staged for a log."""
        for i, (path, digest) in enumerate(staged):
            yield self._naming.free_path(log_id, number, i, len(staged)), path, digest
