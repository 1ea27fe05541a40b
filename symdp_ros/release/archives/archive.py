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
routes, which gives every release with probabilities within e^{m·ε}; so m·ε is charged. Each route
is then a word by itself, and where all of them are shorter than k, they are drawn for as many
symbols as the longest one has (`Privacy.for_length`).

The ledger does not store the release of an archive, which may be very large: a release that is no
longer at its path is refused a second time, and not drawn again.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
import os
from pathlib import Path
from typing import Any, TYPE_CHECKING

from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import LogFile
from symdp_ros.release.archives import file as archive_file
from symdp_ros.release.archives.draw import privatized, SUFFIX
from symdp_ros.release.archives.file import Archive, Chunk, Sizes, Survey
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import check_apart, Outbox
from symdp_ros.release.report import outcome_of, Report
from symdp_ros.release.settings import ReleaseSettings
from symdp_ros.release.transaction import Output, Publisher, Staged

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits


@dataclass(eq=False)
class ArchiveSource:
    """
    An archive, as a `transaction.Source`; parameters as of `release_archive`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the archive.
    :ivar found: what was found in the archive, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    scheduler: str | None = None
    on_rows: Callable[[int, int], None] = lambda rows, total: None
    random: 'RandomBits | None' = None
    sizes: Sizes = Sizes()
    length: int = field(default=0, init=False)
    logs: Mapping[str, Span] | None = field(default=None, init=False)
    found: Inspection | None = field(default=None, init=False)

    changed = ('its file was changed or rewritten since it was released: give the new archive '
               'another name; its release is then another one')

    def __post_init__(self) -> None:
        assert self.settings.archive is not None
        self.log_id, self._how = self.log.id, self.settings.archive

    def read(self, stack: ExitStack) -> None:
        """Open the archive."""
        self._archive = stack.enter_context(
            Archive(self.log.path, self._how.columns, self.sizes))
        self.length = self._archive.rows

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its file."""
        return ledger.file_fingerprint(self.log.path)

    def inspect(self) -> Inspection:
        """Return what is known of the archive, for its operator alone."""
        self.found = self.settings.inspect_archive(self._archive, self.moves)
        return self.found

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""
        if self.allow_unknown is None:
            return None
        return self.inspect().problem(self.settings.chain, self.allow_unknown, archive=True)

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its longest route."""
        self._survey = survey = self._surveyed()
        routes, longest = (1, 1) if survey is None else (survey.routes, survey.longest)
        self._loss = self.settings.loss(length=longest, routes=routes)
        if self.mechanisms is not None:
            self._privacy = self.settings.privacy_for(longest)
            self._chosen = self.mechanisms.settings_for(longest, self.length, self._privacy)
            self._mechanism = self.mechanisms.made(self._chosen, longest, self._privacy)
            self._loss = self.settings.loss(self._mechanism.law.loss_bound, longest, routes)
        return self._loss

    def _surveyed(self) -> Survey | None:
        """Return a survey of the archive; None: nothing of it is needed."""
        if self.scheduler is not None:
            from symdp_ros.release.archives import cluster

            return self._archive.survey(cluster.wanted_cuts(self._archive))
        needed = self._how.charge == 'route' or (
            self.mechanisms is not None and self.mechanisms.need_length)
        return self._archive.survey() if needed else None

    def stage(self, outbox: Outbox, stack: ExitStack) -> Staged:
        """Privatize the routes, and write them into the staging directory."""
        path = stack.enter_context(outbox.staged(SUFFIX))
        routes = self._write(path)
        self._archive.check_unchanged()
        return Staged([path], self._loss if self._how.charge == 'route' else replace(
            self._loss, repeats=routes))

    def _write(self, path: Path) -> int:
        """Write a private archive; return how many routes it has."""
        archive, mechanism, survey = self._archive, self._mechanism, self._survey
        settings = replace(self.settings, mechanism=self._chosen, privacy=self._privacy)
        routes = 0 if survey is None else survey.routes

        def counted(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
            nonlocal routes
            routes = 0
            for chunk in chunks:
                routes += len(chunk.offsets) - 1
                yield chunk

        def on_rows(rows: int) -> None:
            self.on_rows(rows, archive.rows)

        if self.scheduler is not None and survey is not None:
            from symdp_ros.release.archives import cluster

            with cluster.connected(self.scheduler) as client:
                cluster.write(client, archive, survey, settings, path, on_rows)
        else:
            more = min(os.cpu_count() or 1, archive.sizes.threads) - 1
            mechanisms = [mechanism, *(settings.mechanism.offline(
                settings.chain, settings.privacy, self.random) for _ in range(more))]
            chunks = counted(archive.chunks(position_of=settings.states_by_value()))
            archive_file.write(path, privatized(chunks, mechanisms),
                               archive.schema(), settings.chain.states, on_rows)
        return routes


def release_archive(settings: ReleaseSettings, log: LogFile, output: Path, *,
                    ledger: Ledger | None = None, allow_unknown: float | None = None,
                    scheduler: str | None = None,
                    on_rows: Callable[[int, int], None] = lambda rows, total: None,
                    on_choice: Callable[[str], None] = lambda text: None,
                    random: 'RandomBits | None' = None, sizes: Sizes = Sizes(),
                    **keeping: Any) -> Report:
    """
    Release an archive into a file or, on a cluster, into a directory of part files.

    :param output: the path of the release: it must not exist, its directory must.
    :param scheduler: the address of a Dask scheduler; None: this process does the work.
    :param on_rows: called with the number of rows of each part that is ready, and of the archive.
    :param on_choice: as in `mechanisms.Mechanisms`.
    :param allow_unknown, random: as of `engine.Releaser`.
    :param sizes: of what is read, drawn and written at a time.
    :param keeping: what else `Publisher` takes.
    :raises ConfigurationError: as `engine.Releaser`; the scheduler does not answer.
    """
    settings.check()
    if ledger is not None:
        check_apart(ledger.path, output)
    source = ArchiveSource(
        settings, log, Mechanisms(settings, random, on_choice),
        Moves.of(settings.chain, stays_only=True), allow_unknown, scheduler, on_rows, random,
        sizes)
    with Publisher(settings, output.parent, ledger=ledger, **keeping) as publisher:
        outbox = publisher.outbox
        outcome = outcome_of(log.id, lambda: publisher.release(
            source, Output(output.name, outbox, ledger)))
    return Report((outcome,), problems=outbox.problems)
