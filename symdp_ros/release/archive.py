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

The ledger does not store the release of an archive, which may be very large: a release that is no
longer at its path is refused a second time, and not drawn again.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
import os
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import LogFile
from symdp_ros.release import archive_file
from symdp_ros.release.archive_draw import privatized, SUFFIX
from symdp_ros.release.archive_file import Archive, Chunk, Sizes, Survey
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import check_apart, digest_of, Outbox
from symdp_ros.release.output import Output
from symdp_ros.release.report import Outcome, outcome_of
from symdp_ros.release.settings import ArchiveSettings
from symdp_ros.release.transaction import Publisher, Staged

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits


@dataclass(eq=False)
class ArchiveSource:
    """
    An archive that is to be released: a `transaction.Source`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the archive.
    :param allow_unknown: as of `engine.Releaser`.
    :param sizes: of what is read, drawn and written at a time.
    :ivar found: what was found in the archive, once `inspect` was called.
    """

    settings: ArchiveSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    sizes: Sizes = Sizes()
    length: int = field(default=0, init=False)
    logs: Mapping[str, Span] | None = field(default=None, init=False)
    found: Inspection | None = field(default=None, init=False)

    changed = ('its file was changed or rewritten since it was released: give the new archive '
               'another name; its release is then another one')

    @property
    def log_id(self) -> str:
        """Return the id of the archive."""
        return self.log.id

    def check_place(self) -> None:
        """Check nothing: it is not known where the release is to be."""

    def read(self, stack: ExitStack) -> None:
        """Open the archive."""
        self.archive = stack.enter_context(
            Archive(self.log.path, self.settings.columns, self.sizes))
        self.length = self.archive.rows

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its file."""
        return ledger.file_fingerprint(self.log.path)

    def inspect(self) -> Inspection:
        """Return what is known of the archive, for its operator alone."""
        self.found = self.settings.inspect(self.archive, self.moves)
        return self.found

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""
        if self.allow_unknown is None:
            return None
        return self.inspect().problem(self.settings.chain, self.allow_unknown, archive=True)

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its longest route."""
        self.survey = survey = self._survey()
        routes, longest = (1, 1) if survey is None else (survey.routes, survey.longest)
        if self.mechanisms is None:
            return self.settings.loss_of(routes)
        self.mechanism = self.mechanisms.for_length(longest, self.archive.rows)
        return self.settings.loss_of(routes, self.mechanism.law.loss_bound)

    def _survey(self) -> Survey | None:
        """Return a survey of the archive; None: nothing of it is needed."""
        needed = self.settings.charge == 'route' or (
            self.mechanisms is not None and self.mechanisms.need_length)
        return self.archive.survey() if needed else None


class ArchivePublication(ArchiveSource):
    """
    The release of an archive: a `transaction.Publication`.

    :param output: where it goes.
    :param outbox: of its directory.
    :param scheduler, on_rows: as of `ArchiveReleaser`.
    :param random: for tests, an object with `getrandbits`.
    """

    def __init__(self, output: Output, outbox: Outbox, scheduler: str | None,
                 on_rows: Callable[[int, int], None], random: 'RandomBits | None',
                 settings: ArchiveSettings, log: LogFile, mechanisms: Mechanisms,
                 allow_unknown: float | None, sizes: Sizes):
        super().__init__(settings, log, mechanisms, Moves.of(settings.chain, stays_only=True),
                         allow_unknown, sizes)
        self._output, self._outbox, self._scheduler = output, outbox, scheduler
        self._on_rows, self._random = on_rows, random

    def check_place(self) -> None:
        """Check that the path of the release is free."""
        self._output.check_free()

    def stage(self, stack: ExitStack) -> Staged:
        """Privatize the routes, and write them into the staging directory."""
        path = stack.enter_context(self._outbox.staged(SUFFIX))
        routes = self._write(path)
        self.archive.check_unchanged()
        loss = self.settings.loss_of(routes, self.mechanism.law.loss_bound)
        if self.settings.charge == 'archive':
            loss = replace(loss, repeats=routes)
        return Staged(loss, [(path, digest_of(path))], lengths=[self.archive.rows])

    def names(self, files: int) -> list[str]:
        """Return the name of the release."""
        return [self._output.path.name]

    def paths(self, number: int, files: int) -> list[Path]:
        """Return the path of the release."""
        return [self._output.path]

    def hand_out(self, charge: Entry) -> tuple[Path, ...]:
        """Return where the release is that was charged before."""
        return self._output.existing_file(charge),

    def _survey(self) -> Survey | None:
        if self._scheduler is None:
            return super()._survey()
        from symdp_ros.release import cluster

        return self.archive.survey(cluster.wanted_cuts(self.archive))

    def _write(self, path: Path) -> int:
        """Write a private archive; return how many routes it has."""
        archive, mechanism, survey = self.archive, self.mechanism, self.survey
        settings, routes = self.settings, 0 if survey is None else survey.routes

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
                cluster.write(client, archive, survey, replace(
                    settings, mechanism=mechanism.selection, base=mechanism.base,
                    smooth=mechanism.smooth), path, on_rows)
        else:
            more = min(os.cpu_count() or 1, archive.sizes.threads) - 1
            mechanisms = [mechanism, *(settings.mechanism_of(
                mechanism.selection, mechanism.base, mechanism.smooth, self._random)
                for _ in range(more))]
            chunks = counted(archive.chunks(position_of=settings.states_by_value()))
            archive_file.write(path, privatized(chunks, mechanisms),
                               archive.schema(), settings.chain.states, on_rows)
        return routes


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

    def __init__(self, settings: ArchiveSettings, output: str | Path, *,
                 scheduler: str | None = None,
                 on_rows: Callable[[int, int], None] = lambda rows, total: None,
                 on_choice: Callable[[str], None] = lambda text: None,
                 ledger: Ledger | None = None, subject: str = '', budget: float = 0.0,
                 subject_budget: float = 0.0, allow_unknown: float | None = None,
                 random: 'RandomBits | None' = None, wait: float = 10.0,
                 on_wait: Callable[[], None] = lambda: None, sizes: Sizes = Sizes()):
        settings.check()
        if ledger is not None:
            check_apart(ledger.path, output)
        mechanisms = Mechanisms(settings, random, on_choice)
        self._publisher = Publisher(settings, Path(output).parent, ledger, subject, budget=budget,
                                    subject_budget=subject_budget, wait=wait, on_wait=on_wait)
        outbox = self._publisher.outbox
        self._output = Output(Path(output).name, outbox, ledger)
        self._publication = partial(
            ArchivePublication, self._output, outbox, scheduler, on_rows, random, settings,
            mechanisms=mechanisms, allow_unknown=allow_unknown, sizes=sizes)

    def __repr__(self) -> str:
        return f'<ArchiveReleaser to {str(self._output.path)!r}>'

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each release that is charged and not at its path."""
        return self._publisher.outbox.problems

    def close(self) -> None:
        """Let other processes use the directory of the output."""
        self._publisher.close()

    def __enter__(self) -> 'ArchiveReleaser':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def release(self, log: LogFile, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
        """
        Release an archive; the outcome also reports what is wrong with it.

        :param stop: called before anything is spent; True: nothing is, and None is returned.
        """
        return outcome_of(log.id, lambda: self._publisher.release(self._publication(log), stop))
