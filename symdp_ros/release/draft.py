# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What is released: a draft until it is charged, and then its outcome.

An outcome depends on a log's name, its length and the settings alone. What more an operator may be
told, and nobody else, `session.Releaser` is asked for.
"""
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from symdp_ros.errors import LogError
from symdp_ros.files.durable import make_durable
from symdp_ros.ledger.entry import Entry, Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import Span
from symdp_ros.ledger.storage.database import LedgerFile
from symdp_ros.logs import (KeptTopics, LogFile, read_input, release_name, sample, sampled,
                            TopicOutcome, write_log, write_with_topics)
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.maps.pose_report import far_text, floors_text
from symdp_ros.release.inspection import Inspection, MOST_NAMES, Moves, of_states
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.settings import ReleaseSettings

KINDS = ('released', 'already released', 'refused', 'failed')
#: The code of a log that is refused for what it holds: its release would be noise.
NOISE = 'noise'
# All that is told of what a refused log holds; one sentence for all of them.
_NOISE = ('too many of its symbols are no state of the map, or all of them (allow_unknown): the '
          'release would be noise. Nothing was charged. Its operator can see what is unknown with '
          'symdp release --dry-run, and correct topic, field, symbol_map or the map')

#: More than a released word takes in any format besides its symbols.
FILE_BYTES = 1 << 17

#: Gives a path to write to, which ends with a suffix.
Stage: TypeAlias = Callable[[str], Path]


@dataclass(frozen=True)
class Outcome:
    """
    The outcome for one log.

    :param kind: one of `KINDS`.
    :param length: its symbols, where known.
    :param reason: why it was not released. It may be answered and logged.
    :param code: the same as one word for programs: `code_of` an error, or `NOISE`.
    :param span: the stamps of its first and last entry, where it was read.
    :param line: of the log, at which the problem is; for the operator alone, since it can be the
        position of a symbol.
    """

    log_id: str
    kind: str
    length: int | None = None
    files: tuple[Path, ...] = ()
    reason: str = ''
    code: str = ''
    span: Span | None = None
    line: int | None = None

    @property
    def place_and_reason(self) -> str:
        """Return the reason and the line, for the operator."""
        return self.reason if self.line is None else f'line {self.line}: {self.reason}'


class Draft:
    """
    A release until it is charged: what it is made of, and what is known of it so far.

    :ivar log_id: what the ledger charges it as.
    :ivar changed: the error text where the same id was released before, with another content.
    :ivar most_bytes: once it was read: what its files take at most, but for kept topics, whatever
        is drawn; 0: that is not known.
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
    most_bytes: int = 0
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

    def draw(self, stage: Stage) -> Sequence[Path]:
        """Draw its words, and write them to staged paths; return these."""
        raise NotImplementedError

    def write(self, words: Sequence[Sequence[str]], stage: Stage) -> Sequence[Path]:
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

    def make_durable(self) -> None:
        """Make durable what is staged."""
        for file in self.files:
            make_durable(file.staged)

    def outcome(self, kind: str, files: Sequence[Path] = (), reason: str = '',
                code: str = '') -> Outcome:
        """Return its outcome."""
        return Outcome(self.log_id, kind, self.length, tuple(files), reason, code,
                       (self.logs or {}).get(self.log_id))


@dataclass(eq=False)
class LogDraft(Draft):
    """
    The release of a log.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown, on_topics, program, for_operator: as of `Releaser`.
    :ivar sensitive: the words of the log, once it was read.
    :ivar inspection: what it holds, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None
    program: str = 'symdp_ros'
    for_operator: bool = False
    inspection: Inspection | None = None

    changed = ('its content has changed since it was released: give the new log another name; its '
               'release is then another one')

    def __post_init__(self) -> None:
        self.log_id = self.log.id

    def read(self, stack: ExitStack) -> None:
        """Read and sample the log."""
        settings, read = self.settings, self.settings.input
        if settings.locator is not None:
            settings.locator.reset()  # no log's regions depend on another log
        self.sample(read_input(self.log.path, read, settings.locator,
                               () if read.is_pose else read.table(settings.chain.states)))

    def sample(self, entries: list[tuple[int, str | None]]) -> None:
        """Make words of (stamp in nanoseconds, value) of every entry; raise LogError: none."""
        settings, self._entries = self.settings, entries
        # With zones, of which one is told with each report, words are sampled so.
        self._sampling = settings.sampling if settings.privacy.zones is None else replace(
            settings.sampling, period=settings.sampling.seconds)
        self.sensitive = sample(entries, settings.input.table(settings.chain.states),
                                self._sampling)
        if not self.sensitive:
            raise LogError('no symbols are left to release', path=self.log.path)
        self.length = sum(map(len, self.sensitive))
        self.most_bytes = len(self.sensitive) * FILE_BYTES + (
            self.length * settings.sampling.reports * settings.most_bytes)
        self.logs = {self.log.id: (entries[0][0], entries[-1][0])}

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its words."""
        return ledger.fingerprint(self.sensitive)

    def inspect(self) -> Inspection:
        """Return what is known of the log, if it was read last, for its operator alone."""
        settings, index = self.settings, self.settings.chain.state_index
        counts = Counter(value for _, value in sampled(self._entries, self._sampling))
        symbols, none = counts.total(), counts.pop(None, 0)
        if settings.input.is_pose:  # positions name a state, or none
            names, unknown, silent = Counter[str](), none, 0
        else:
            table, no_region = settings.input.table(index), settings.input.no_region
            names = Counter({str(value): count for value, count in counts.items()
                             if value not in table and value not in no_region})
            unknown = names.total()
            silent = none + sum(counts[value] for value in no_region)
        flat = np.array([-1 if symbol is None else index[symbol] for word in self.sensitive
                         for symbol in word], np.int64)
        begins = np.zeros(len(flat), bool)
        begins[np.cumsum([0, *map(len, self.sensitive[:-1])])] = True
        self.inspection = Inspection(
            symbols, unknown, silent, dict(names.most_common(MOST_NAMES)),
            self.moves.missing(flat, begins),
            of_states(self.moves.standing(flat, begins), settings.chain),
            '' if settings.locator is None else '; '.join(filter(None, (
                floors_text(settings.locator), far_text(settings.locator)))))
        return self.inspection

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be, or must not be told."""
        if self.allow_unknown is None:
            return None
        inspection = self.inspect()
        if self.for_operator:
            return inspection.problem(self.settings.chain, self.allow_unknown)
        return _NOISE if inspection.is_noise(self.allow_unknown) else None

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its length."""
        if self.mechanisms is None:
            return self.settings.loss(length=self.length)
        longest, privacy = max(map(len, self.sensitive)), self.settings.privacy_for(self.length)
        self._mechanism, _, self.taken = self.mechanisms.for_length(longest, privacy)
        return self.settings.loss(self._mechanism.law, self.length)

    def draw(self, stage: Stage) -> list[Path]:
        """Privatize the words, and write them to staged paths."""
        self.words = [self._mechanism.privatize(word) for word in self.sensitive]
        del self._entries, self.sensitive  # others are staged before this is published
        return self.write(self.words, stage)

    def write(self, words: Iterable[Sequence[str]], stage: Stage) -> list[Path]:
        """Write released words to staged paths; return the path of each."""
        paths = []
        for word in words:
            paths.append(stage(release_name('', self.settings.writing.format)))
            self._write(paths[-1], word)
        return paths

    def _write(self, path: Path, word: Sequence[str]) -> None:
        settings, writing, read = self.settings, self.settings.writing, self.settings.input
        period = settings.sampling.seconds
        record = settings.record(self.program) if writing.format in STORAGES else ''
        if not writing.keep.topics:
            write_log(path, word, format=writing.format, period=period, stamp_key=read.stamp_key,
                      symbol_key=read.symbol_key, record=record, durable=False)
            return
        with KeptTopics(self.log.path, writing.keep, read.topic,
                        strict=self.on_topics is not None) as recording:
            topics = write_with_topics(path, word, recording, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), record=record,
                                       durable=False)
        if self.on_topics is not None:
            self.on_topics(self.log, topics)
