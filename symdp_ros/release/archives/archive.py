# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing archives: many routes, in a Parquet file or a directory of them, in one transaction.

An archive is one log; its id is its file name. Every route is privatized once, by itself, from the
initial state. **Privacy.** Each route is word ε-differentially private. Of two archives
with the same routes and lengths that differ in j symbols, anywhere in the archive, each mechanism
gives every release with probabilities within e^{j·ε/k}: routes are drawn independently, so the
factors multiply, and a route with i changed symbols contributes at most e^{i·ε/k}. So the whole
archive costs one ε, as does a log that `split` cuts; a person with more than k symbols in all
routes together is protected less: the same change in each of m routes costs m·ε, which the ledger
shows (`Loss.repeats`).

So no two routes of an archive may show the same times: from 3,000 copies of one route under other
ids, each true symbol could be read as the most frequent private one. Where rows have stamps, the
largest number m of routes that show one moment is known: k changed symbols of the robot change at
most m·k rows, so m·ε is charged. (For ρ: at most k of them in each route, so the squares of these
numbers add up to at most m·k².) Where there are none and routes may overlap, `charge: route`
charges each: k changed symbols of the robot then change at most k in each of the m
routes, which gives every release with probabilities within e^{m·ε}; so m·ε is charged. Each route
is then a word by itself, and where all of them are shorter than k, they are drawn for as many
symbols as the longest one has (`Privacy.for_length`).

Where an archive says whose each route is, all of this holds for the routes of each subject, and
each is charged for its own, in one transaction: all are, or none.

The ledger does not store the release of an archive, which may be very large: a release that is no
longer at its path is refused a second time, and not drawn again.
"""
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TYPE_CHECKING

from symdp_ros.errors import LogError, raising
from symdp_ros.ledger.entry import Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import LogFile
from symdp_ros.release.archives.dataset import Dataset, routes_at_once, SUFFIX
from symdp_ros.release.archives.parquet_file import end_readers, Sizes
from symdp_ros.release.archives.places import opened
from symdp_ros.release.archives.tasks import write_release
from symdp_ros.release.draft import Draft, Stage
from symdp_ros.release.inspection import Inspection, Moves, of_states
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.session import outcome_of, ReleaseSession, Report
from symdp_ros.release.settings import check_apart, ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.core.law import Law


@dataclass(eq=False)
class ArchiveDraft(Draft):
    """
    The release of an archive; parameters as of `release_archive`.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the archive.
    :param subject: whose routes all are; '': the archive says whose, if that is charged.
    :ivar inspection: what the archive holds, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    subject: str = ''
    is_charged: bool = False
    engine: str = 'local'
    scheduler: str = ''
    on_rows: Callable[[int, int], None] = lambda rows, total: None
    random: 'RandomBits | None' = None
    sizes: Sizes = Sizes()
    program: str = 'symdp_ros'
    on_subjects: Callable[[Collection[str]], None] = lambda subjects: None
    inspection: Inspection | None = None

    changed = ('it was changed or rewritten since it was released: give the new archive another '
               'name; its release is then another one')

    def __post_init__(self) -> None:
        assert self.settings.archive is not None
        self.log_id, self._how = self.log.id, self.settings.archive

    def read(self, stack: ExitStack) -> None:
        """Open the archive, each of its files once."""
        stack.callback(end_readers)
        self._data = data = Dataset(self.log.path, self._how.columns, self.sizes)
        self.length = data.rows
        if self.subject and data.has_subjects:
            raise LogError(f'it says whose routes it holds ({self._how.columns.subject!r}), so '
                           'they cannot all be of one subject: leave --subject out')
        if self.is_charged and not self.subject and not data.has_subjects:
            raise LogError('it does not say whose routes it holds: name the subject (--subject), '
                           f'or the column (--subject-key; {self._how.columns.subject!r} is none)')

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its files; raise LogError where one cannot be read."""
        with raising(partial(LogError, path=str(self.log.path)), 'it cannot be read', OSError):
            return ledger.file_fingerprint({
                file.name: partial(opened, file.path) for file in self._data.files})

    def inspect(self) -> Inspection:
        """Return what is known of the archive, for its operator alone."""
        unknown, silent, names, missing, standing = self._data.inspect(
            self.settings.states_by_value(), sorted(self.settings.input.no_region), self.moves)
        self.inspection = Inspection(self._data.rows, unknown, silent, names, missing,
                                     of_states(standing, self.settings.chain))
        return self.inspection

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be."""
        if self.allow_unknown is None:
            return None
        return self.inspect().problem(self.settings.chain, self.allow_unknown, archive=True)

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its longest route."""
        self._survey = survey = self._data.survey(
            self.is_charged and self._data.has_stamps and self._how.charge == 'archive')
        law, longest = None, survey.longest
        if self.mechanisms is not None:
            self._privacy = self.settings.privacy_for(longest)
            mechanism, self._chosen, self.taken = self.mechanisms.for_length(
                longest, self._privacy)
            law = mechanism.law
        at_once = [1] * max(len(survey.subjects), 1) if survey.spans is None \
            else routes_at_once(survey.spans).tolist()
        if self.is_charged and survey.subjects:
            self.losses = {subject: self._loss_of(law, count, most) for (subject, count), most
                           in zip(survey.subjects.items(), at_once, strict=True)}
            self.on_subjects(self.losses)
        return self._loss_of(law, survey.routes, max(at_once))

    def _loss_of(self, law: 'Law | None', routes: int, at_once: int) -> Loss:
        """Return the loss of routes of which so many show one moment."""
        if self._how.charge == 'route':
            return self.settings.loss(law, self._survey.longest, routes)
        loss = self.settings.loss(law, self._survey.longest)
        return replace(loss, epsilon=loss.epsilon * at_once, routes=at_once,
                       repeats=-(-routes // at_once))

    def draw(self, stage: Stage) -> list[Path]:
        """Privatize the routes, and write them to a staged path."""
        path, data, survey = stage(SUFFIX), self._data, self._survey
        left_out = frozenset() if self.losses is None else frozenset(
            survey.subjects).difference(self.losses)
        self.length = write_release(
            data.tasks(None if self.engine == 'local' else survey, left_out),
            replace(self.settings, mechanism=self._chosen, privacy=self._privacy), path,
            record=self.settings.record(self.program, drawn=self._chosen.name),
            engine=self.engine, scheduler=self.scheduler, sizes=self.sizes,
            on_rows=lambda rows: self.on_rows(rows, data.rows), random=self.random)
        data.check_unchanged()
        return [path]


def release_archive(settings: ReleaseSettings, log: LogFile, output: Path, *,
                    ledger: Ledger | None = None, subject: str = '',
                    allow_unknown: float | None = None,
                    engine: str = 'local', scheduler: str = '',
                    on_rows: Callable[[int, int], None] = lambda rows, total: None,
                    on_subjects: Callable[[Collection[str]], None] = lambda subjects: None,
                    on_choice: Callable[[str], None] = lambda text: None,
                    random: 'RandomBits | None' = None, sizes: Sizes = Sizes(),
                    program: str = 'symdp_ros', **keeping: Any) -> Report:
    """
    Release an archive into a file; a directory of files into one of files with the same names.

    :param output: the path of the release: it must not exist, its directory must.
    :param subject: whose routes these are; '': the archive says whose.
    :param engine: of `engines.ENGINES`. Of another than 'local', a file becomes a directory of
        part files.
    :param scheduler: the address of the engine; '': it is started on this machine.
    :param on_rows: called with the number of rows of each part that is ready, and of the archive.
    :param on_subjects: called with the subjects that the archive names, before any is charged.
    :param on_choice: as in `mechanisms.Mechanisms`.
    :param allow_unknown, random: as of `session.Releaser`.
    :param sizes: of what is read, drawn and written at a time.
    :param program: what the release says that it was made with.
    :param keeping: what else `ReleaseSession` takes.
    :raises ConfigurationError: as `session.Releaser`; the engine cannot be used.
    """
    settings.check()
    if ledger is not None:
        check_apart(ledger.path, output)
    draft = ArchiveDraft(
        settings, log, Mechanisms(settings, random, on_choice),
        Moves.of(settings.chain, stays_only=True), allow_unknown, subject, ledger is not None,
        engine, scheduler, on_rows, random, sizes, program, on_subjects)
    with ReleaseSession(settings, output.parent, ledger=ledger, subject=subject,
                        name=output.name, **keeping) as session:
        outcome = outcome_of(log.id, lambda: session.release_one(draft))
    return Report((outcome,), problems=session.outbox.problems)
