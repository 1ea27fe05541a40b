# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing archives: many routes in one Parquet file, in one charge.

An archive is one log, with its file name as its id. Every route is privatized by itself, from the
initial state, and once. **Privacy.** Each route is word ε-differentially private. Of two archives
with the same routes and lengths that differ in j symbols, wherever in the archive they are, each
mechanism gives every release with probabilities within e^{j·ε/k}: routes are drawn independently,
so the factors multiply, and a route with i changed symbols contributes at most e^{i·ε/k}. So the
whole archive costs one ε, as a log does that `split` cuts; and somebody who figures in many routes
with more than k symbols in all is protected by less.

So routes of one archive must not show the same times: of 3,000 copies of one route under other
ids, each true symbol can be read off the most frequent private ones. Where routes may overlap,
`charge: route` charges each: k changed symbols of the robot then change at most k in each of the m
routes, which gives every release with probabilities within e^{m·ε}, and m·ε is what is charged.

The order that survives a crash is that of `release.outbox`. The ledger does not keep what was
released, which may be as large as a disk: a release that is no longer where it was put is refused
a second time, and not drawn again.
"""
from collections.abc import Callable
from dataclasses import replace
import json
import os
from pathlib import Path
import shutil

from symdp_ros.core.errors import ConfigurationError, LogError
from symdp_ros.logs import LogFile
from symdp_ros.release import archive_file
from symdp_ros.release.accounts import Entry
from symdp_ros.release.archive_draw import privatized, SUFFIX
from symdp_ros.release.archive_file import Archive
from symdp_ros.release.ledger import Ledger, LedgerFile
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import check_apart, digest_of, flush, holds, Outbox
from symdp_ros.release.report import ALL_UNKNOWN, Outcome, outcome_of
from symdp_ros.release.settings import ArchiveSettings

_MOST_THREADS = 4  # more would wait for the one that writes
_FIRST_ROWS = 1 << 16


class ArchiveReleaser:
    """
    Releases an archive into a file or, on a cluster, into a directory of part files.

    :param output: the path of the release, which must not exist, in an existing directory.
    :param scheduler: the address of a Dask scheduler; None: this process does the work.
    :param tell: called with the number of rows of each part that is ready, and of the archive.
    :param ledger, subject, budget, subject_budget, refuse_unknown, random, wait, on_wait: as of
        `engine.Releaser`.
    :raises ConfigurationError: as `engine.Releaser`; the scheduler does not answer.
    """

    def __init__(self, settings: ArchiveSettings, output, *, scheduler: str | None = None,
                 tell: Callable[[int, int], None] = lambda rows, total: None,
                 ledger: Ledger | None = None, subject: str = '', budget: float = 0.0,
                 subject_budget: float = 0.0, refuse_unknown: bool = False, random=None,
                 wait: float = 10.0, on_wait: Callable[[], None] = lambda: None):
        settings.check()
        output = Path(output)
        self._output = Path(os.path.realpath(output.parent)) / output.name
        if ledger is not None:
            check_apart(ledger.path, self._output)
            ledger.keep_budget(subject, subject_budget)
        self._settings, self._digest = settings, settings.digest()
        self._ledger, self._subject = ledger, subject
        self._budgets = {'budget': budget, 'subject_budget': subject_budget}
        self._refuse_unknown = refuse_unknown
        self._scheduler, self._tell, self._random = scheduler, tell, random
        self._mechanisms = Mechanisms(settings, random)
        self._outbox = Outbox(self._output.parent, ledger, wait=wait, on_wait=on_wait)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is charged and could not be put in its place at the start, one sentence each."""
        return self._outbox.problems

    def close(self) -> None:
        """Leave the directory of the output to others."""
        self._outbox.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release an archive. Whatever is wrong with it is told by the outcome.

        :param stop: asked before anything is spent; then None is returned.
        """
        return outcome_of(log, lambda: self._release(log, stop))

    def _release(self, log, stop):
        charge = None
        if self._ledger is not None:
            charge = self._ledger.find(self._subject, log.id, self._digest)
        if charge is None:
            self._check_free()
        with Archive(log.path, self._settings.columns) as archive:
            content = b''
            if self._ledger is not None:
                content = self._ledger.file_fingerprint(log.path)
            if charge is not None:
                return self._released_before(charge, log, content, archive.rows)
            if self._refuse_unknown and not self._knows_any(archive):
                raise LogError(ALL_UNKNOWN)
            loss = self._settings.loss_of(
                archive.survey().routes if self._settings.charge == 'route' else 1)
            if self._ledger is not None:
                self._ledger.check(self._subject, loss, log.id,
                                   description=json.dumps(self._settings.described()),
                                   **self._budgets)
            with self._outbox.staged(SUFFIX) as path:
                self._write(archive, path)
                archive.check_unchanged()
                self._outbox.check([self._output.name])
                return self._made_visible(log, archive.rows, loss, content, path, stop)

    def _knows_any(self, archive):
        """Return whether some symbol of the archive names a state: mostly, an early one does."""
        states = self._settings.states_by_value()
        for end in (min(_FIRST_ROWS, archive.rows), archive.rows):
            known = False  # each read to its end: reading would else have to start anew
            for chunk in archive.chunks(position_of=states, end=end):
                known = known or bool((chunk.states >= 0).any())
            if known:
                return True
        return False

    def _made_visible(self, log, rows, loss, content, path, stop):
        """Charge, and move to the output, what is ready."""
        digest = digest_of(path)
        if self._ledger is None:
            visible = self._outbox.publish(LedgerFile(0, self._output, path, digest, False))
            return Outcome(log.id, 'released', rows, (visible,))
        if stop():
            return None
        charge, new = self._ledger.charge(
            self._subject, loss, log_id=log.id, settings=self._digest,
            content=content, lengths=[rows], description=json.dumps(self._settings.described()),
            files=lambda number: [(self._output, path, digest)], **self._budgets)
        if not new:  # another process was faster
            return self._released_before(charge, log, content, rows)
        [file] = self._ledger.files(charge.number)
        return Outcome(log.id, 'released', rows, (self._outbox.publish(file),))

    def _check_free(self, own=None):
        """Check that the output is not taken, nor promised to another release than `own`."""
        if os.path.lexists(self._output):
            raise ConfigurationError(f'{self._output} is there already: name another path for the '
                                     'release')
        if self._ledger is not None and self._output != own and self._ledger.has_path(
                self._output):
            raise ConfigurationError(f'the ledger knows {self._output} as the path of another '
                                     'release: name another one')

    def _write(self, archive, path):
        """Write a private archive into the staging directory."""
        settings = self._settings

        def tell(rows):
            self._tell(rows, archive.rows)

        if self._scheduler is not None:
            from symdp_ros.release import cluster

            with cluster.connected(self._scheduler) as client:
                survey = archive.survey(cluster.wanted_cuts(archive))
                selection = self._mechanisms.for_length(survey.longest, archive.rows).selection
                cluster.write(client, archive, survey, replace(settings, mechanism=selection),
                              path, tell)
        else:
            judged = settings.mechanism in ('auto', 'permute_and_flip')
            longest = archive.survey().longest if judged else 1
            mechanism = self._mechanisms.for_length(longest, archive.rows)
            more = min(os.cpu_count() or 1, _MOST_THREADS) - 1
            mechanisms = [mechanism, *(settings.mechanism_of(mechanism.selection, self._random)
                                       for _ in range(more))]
            chunks = archive.chunks(position_of=settings.states_by_value())
            archive_file.write(path, privatized(chunks, mechanisms),
                               archive.schema(), settings.chain.states, tell)
        flush(path.parent)

    def _released_before(self, charge: Entry, log, content, length):
        if charge.content != content:
            return Outcome(log.id, 'failed', length, reason=(
                'its file was changed or written anew since it was released: give the new archive '
                'a name of its own, and it will be a release of its own'))
        [file] = self._ledger.files(charge.number)
        there = next((path for path in (self._output, file.path, file.staged)
                      if holds(path, file.digest)), None)
        if there is None:
            return Outcome(log.id, 'failed', length, reason=(
                f'it was released before, as {file.path}, which is no longer there or was '
                'changed, and the ledger does not keep archives: copy it from where it was given '
                'to'))
        if there != self._output:
            self._check_free(file.path)
            with self._outbox.staged(there.suffix) as path:
                _copy(there, path)
                there = self._outbox.publish(LedgerFile(0, self._output, path, file.digest, True))
        return Outcome(log.id, 'already released', length, (there,))


def _copy(source, target):
    """Copy a file, or a directory of files, and make the copy durable."""
    if source.is_dir():
        os.mkdir(target)
        for file in sorted(source.iterdir()):
            _copy(file, target / file.name)
    else:
        shutil.copyfile(source, target)
        os.utime(target, ns=(0, 0))
    flush(target)

