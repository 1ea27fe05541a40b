# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing archives: many routes in one Parquet file, in one charge.

An archive is one log; its id is its file name. Every route is privatized once, by itself, from the
initial state. **Privacy.** Each route is word ε-differentially private. Of two archives
with the same routes and lengths that differ in j symbols, anywhere in the archive, each mechanism
gives every release with probabilities within e^{j·ε/k}: routes are drawn independently, so the
factors multiply, and a route with i changed symbols contributes at most e^{i·ε/k}. So the whole
archive costs one ε, as does a log that `split` cuts; a person with more than k symbols in all
routes together is protected less: the same change in each of m routes costs m·ε, which the ledger
shows (`Loss.repeats`).

So no two routes of an archive may show the same times: from 3,000 copies of one route under other
ids, each true symbol could be read as the most frequent private one. Where routes may overlap,
`charge: route` charges each: k changed symbols of the robot then change at most k in each of the m
routes, which gives every release with probabilities within e^{m·ε}; so m·ε is charged.

`release.outbox` keeps the order that survives a crash. The ledger does not store the release of an
archive, which may be very large: a release that is no longer at its path is refused a second time,
and not drawn again.
"""
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
import os
from pathlib import Path
import shutil
from typing import TYPE_CHECKING

from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.errors import ConfigurationError
from symdp_ros.files.durable import flush
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.database import LedgerFile
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import LogFile
from symdp_ros.release import archive_file
from symdp_ros.release.archive_draw import privatized, SUFFIX
from symdp_ros.release.archive_file import Archive, Chunk, Sizes, Survey
from symdp_ros.release.inspection import Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import check_apart, digest_of, holds, Outbox
from symdp_ros.release.report import Outcome, outcome_of
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits


class ArchiveReleaser:
    """
    Releases an archive into a file or, on a cluster, into a directory of part files.

    :param output: the path of the release: it must not exist, its directory must.
    :param scheduler: the address of a Dask scheduler; None: this process does the work.
    :param on_rows: called with the number of rows of each part that is ready, and of the archive.
    :param on_choice: as in `mechanisms.Mechanisms`.
    :param ledger, subject, budget, subject_budget, allow_unknown, random, wait, on_wait: as in
        `engine.Releaser`.
    :param sizes: of what is read, drawn and written at a time.
    :raises ConfigurationError: as `engine.Releaser`; the scheduler does not answer.
    """

    def __init__(self, settings: ReleaseSettings, output: str | Path, *,
                 scheduler: str | None = None,
                 on_rows: Callable[[int, int], None] = lambda rows, total: None,
                 on_choice: Callable[[str], None] = lambda text: None,
                 ledger: Ledger | None = None, subject: str = '', budget: float = 0.0,
                 subject_budget: float = 0.0, allow_unknown: float | None = None,
                 random: 'RandomBits | None' = None, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None, sizes: Sizes = Sizes()):
        settings.check()
        assert settings.archive is not None
        self._archive = settings.archive
        output = Path(output)
        self._output = Path(os.path.realpath(output.parent)) / output.name
        if ledger is not None:
            check_apart(ledger.path, self._output)
            ledger.keep_budget(subject, subject_budget)
        self._settings, self._digest, self._sizes = settings, settings.digest(), sizes
        self._description = settings.description()
        self._ledger, self._subject = ledger, subject
        self._budget, self._subject_budget = budget, subject_budget
        self._allow_unknown = allow_unknown
        self._scheduler, self._on_rows, self._random = scheduler, on_rows, random
        self._mechanisms = Mechanisms(settings, random, on_choice)
        self._outbox = Outbox(self._output.parent, ledger, wait=wait, on_wait=on_wait)

    def __repr__(self) -> str:
        return f'<ArchiveReleaser to {str(self._output)!r}>'

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each release that is charged and not at its path."""
        return self._outbox.problems

    def close(self) -> None:
        """Let other processes use the directory of the output."""
        self._outbox.close()

    def __enter__(self) -> 'ArchiveReleaser':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release an archive; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        return outcome_of(log, lambda: self._release(log, stop))

    def _release(self, log: LogFile, stop: Callable[[], bool]) -> Outcome | None:
        ledger, charge = self._ledger, None
        if ledger is not None:
            charge = ledger.find(self._subject, log.id, self._digest)
        if charge is None:
            self._check_free()
        with Archive(log.path, self._archive.columns, self._sizes) as archive:
            content = b'' if ledger is None else ledger.file_fingerprint(log.path)
            if ledger is not None and charge is not None:
                return self._released_before(ledger, charge, log, content, archive.rows)
            if self._allow_unknown is not None:
                chain = self._settings.chain
                found = self._settings.inspect_archive(
                    archive, Moves.of(chain, stays_only=True))
                problem = found.problem(chain, self._allow_unknown, archive=True)
                if problem is not None:
                    return Outcome(log.id, 'failed', archive.rows, reason=problem)
            survey = self._survey(archive)
            longest = 1 if survey is None else survey.longest
            settings = replace(self._settings, mechanism=self._mechanisms.settings_for(
                longest, archive.rows))
            mechanism = self._mechanisms.made(settings.mechanism, longest)
            loss = self._settings.loss(mechanism.law.loss_bound,
                                       1 if survey is None else survey.routes)
            if ledger is not None:
                ledger.check(self._subject, loss, log.id, description=self._description,
                             budget=self._budget, subject_budget=self._subject_budget)
            with self._outbox.staged(SUFFIX) as path:
                routes = self._write(archive, survey, settings, mechanism, path)
                if self._archive.charge == 'archive':
                    loss = replace(loss, repeats=routes)
                archive.check_unchanged()
                self._outbox.check([self._output.name])
                return self._charge_and_publish(log, archive.rows, loss, content, path, stop)

    def _charge_and_publish(self, log: LogFile, rows: int, loss: Loss, content: bytes, path: Path,
                            stop: Callable[[], bool]) -> Outcome | None:
        """Charge what is staged, and move it to the output."""
        ledger, digest = self._ledger, digest_of(path)
        if ledger is None:
            visible = self._outbox.publish(LedgerFile(0, self._output, path, digest, False))
            return Outcome(log.id, 'released', rows, (visible,))
        if stop():
            return None
        charge, new = ledger.charge(
            self._subject, loss, log_id=log.id, settings=self._digest, content=content,
            lengths=[rows], description=self._description,
            files=lambda number: [(self._output, path, digest)],
            budget=self._budget, subject_budget=self._subject_budget)
        if not new:  # another process was faster
            return self._released_before(ledger, charge, log, content, rows)
        [file] = ledger.files(charge.number)
        return Outcome(log.id, 'released', rows, (self._outbox.publish(file),))

    def _check_free(self, own: Path | None = None) -> None:
        """Check that the output is not taken, nor promised to another release than `own`."""
        if os.path.lexists(self._output):
            raise ConfigurationError(f'{self._output} exists already: name another path for the '
                                     'release')
        if self._ledger is not None and self._output != own and self._ledger.has_path(
                self._output):
            raise ConfigurationError(f'{self._output} is in the ledger as the path of another '
                                     'release: name another one')

    def _survey(self, archive: Archive) -> Survey | None:
        """Return a survey of the archive; None: nothing of it is needed."""
        if self._scheduler is not None:
            from symdp_ros.release import cluster

            return archive.survey(cluster.wanted_cuts(archive))
        needed = self._archive.charge == 'route' or self._mechanisms.need_length
        return archive.survey() if needed else None

    def _write(self, archive: Archive, survey: Survey | None, settings: ReleaseSettings,
               mechanism: OfflineMechanism, path: Path) -> int:
        """
        Write a private archive into the staging directory; return how many routes it has.

        :param settings: those of the mechanism, not 'auto'.
        """
        routes = 0 if survey is None else survey.routes

        def counted(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
            nonlocal routes
            routes = 0
            for chunk in chunks:
                routes += len(chunk.offsets) - 1
                yield chunk

        def on_rows(rows: int) -> None:
            self._on_rows(rows, archive.rows)

        if self._scheduler is not None and survey is not None:
            from symdp_ros.release import cluster

            with cluster.connected(self._scheduler) as client:
                cluster.write(client, archive, survey, settings, path, on_rows)
        else:
            more = min(os.cpu_count() or 1, archive.sizes.threads) - 1
            mechanisms = [mechanism, *(settings.mechanism.offline(
                settings.chain, settings.privacy, self._random) for _ in range(more))]
            chunks = counted(archive.chunks(position_of=settings.states_by_value()))
            archive_file.write(path, privatized(chunks, mechanisms),
                               archive.schema(), settings.chain.states, on_rows)
        flush(path.parent)
        return routes

    def _released_before(self, ledger: Ledger, charge: Entry, log: LogFile, content: bytes,
                         length: int) -> Outcome:
        if charge.content != content:
            return Outcome(log.id, 'failed', length, reason=(
                'its file was changed or rewritten since it was released: give the new archive '
                'another name; its release is then another one'))
        [file] = ledger.files(charge.number)
        there = next((path for path in (self._output, file.path, file.staged)
                      if holds(path, file.digest)), None)
        if there is None:
            return Outcome(log.id, 'failed', length, reason=(
                f'it was released before, as {file.path}, which is missing or was changed, and '
                'the ledger does not store archives: use a copy of that release'))
        if there != self._output:
            self._check_free(file.path)
            with self._outbox.staged(there.suffix) as path:
                _copy(there, path)
                there = self._outbox.publish(LedgerFile(0, self._output, path, file.digest, True))
        return Outcome(log.id, 'already released', length, (there,))


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory of files, and make the copy durable."""
    if source.is_dir():
        os.mkdir(target)
        for file in sorted(source.iterdir()):
            _copy(file, target / file.name)
    else:
        shutil.copyfile(source, target)
        os.utime(target, ns=(0, 0))
    flush(target)
