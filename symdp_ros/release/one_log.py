# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the release of one log is made of."""
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import span_of
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import (KeptTopics, LogFile, release_name, TopicOutcome, write_log,
                            write_with_topics)
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.release.draft import Draft
from symdp_ros.release.inspection import Inspection, Moves
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.outbox import Outbox
from symdp_ros.release.settings import ReleaseSettings

# All that is told of what a refused log holds; one sentence for all of them.
_NOISE = ('too many of its symbols are no state of the map, or all of them (allow_unknown): the '
          'release would be noise. Nothing was charged. Its operator can see what is unknown with '
          'symdp release --dry-run, and correct topic, field, symbol_map or the map')


@dataclass(eq=False)
class LogDraft(Draft):
    """
    The release of a log.

    :param mechanisms: None: any, at the loss of the settings.
    :param moves: of the chain, to inspect the log.
    :param allow_unknown, on_topics, program, for_operator: as of `engine.Releaser`.
    :ivar sensitive: the words of the log, once it was read.
    :ivar found: what was found in it, once it was inspected.
    """

    settings: ReleaseSettings
    log: LogFile
    mechanisms: Mechanisms | None
    moves: Moves
    allow_unknown: float | None = None
    on_topics: Callable[[LogFile, tuple[TopicOutcome, ...]], None] | None = None
    program: str = 'symdp_ros'
    for_operator: bool = False
    found: Inspection | None = None

    changed = ('its content has changed since it was released: give the new log another name; its '
               'release is then another one')

    def __post_init__(self) -> None:
        self.log_id = self.log.id

    def read(self, stack: ExitStack) -> None:
        """Read and sample the log."""
        self._entries = self.settings.entries(self.log)
        self.sensitive = self.settings.words_of(self._entries, self.log)
        self.length = sum(map(len, self.sensitive))
        self.logs = {self.log.id: span_of(self._entries)}

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of its words."""
        return ledger.fingerprint(self.sensitive)

    def inspect(self) -> Inspection:
        """Return what is known of the log, for its operator alone."""
        self.found = self.settings.inspect(self._entries, self.sensitive, self.moves)
        return self.found

    def problem(self) -> str | None:
        """Return why ε would be wasted on it; None: it would not be, or must not be told."""
        if self.allow_unknown is None:
            return None
        found = self.inspect()
        if self.for_operator:
            return found.problem(self.settings.chain, self.allow_unknown)
        return _NOISE if found.is_noise(self.allow_unknown) else None

    def price(self) -> Loss:
        """Return what its release costs, under the mechanism for its length."""
        if self.mechanisms is None:
            return self.settings.loss(length=self.length)
        longest, privacy = max(map(len, self.sensitive)), self.settings.privacy_for(self.length)
        taken = self.mechanisms.settings_for(longest, privacy)
        self.taken = '' if taken == self.settings.mechanism else taken.name
        self._mechanism = self.mechanisms.made(taken, privacy)
        return self.settings.loss(self._mechanism.law, self.length)

    def draw(self, outbox: Outbox, stack: ExitStack) -> list[Path]:
        """Privatize the words, and write them into the staging directory."""
        self.words = [self._mechanism.privatize(word) for word in self.sensitive]
        del self._entries, self.sensitive  # others are staged before this is published
        return self.write(self.words, outbox, stack)

    def write(self, words: Iterable[Sequence[str]], outbox: Outbox,
              stack: ExitStack) -> list[Path]:
        """Write released words into the staging directory; return the path of each."""
        paths = []
        for word in words:
            path = stack.enter_context(outbox.staged(
                release_name('', self.settings.writing.format)))
            self._write(path, word)
            paths.append(path)
        return paths

    def _write(self, path: Path, word: Sequence[str]) -> None:
        settings, writing, read = self.settings, self.settings.writing, self.settings.input
        period = settings.sampling.seconds
        record = settings.record(self.program) if writing.format in STORAGES else ''
        if not writing.keep.topics:
            write_log(path, word, format=writing.format, topic=writing.topic, period=period,
                      stamp_key=read.stamp_key, symbol_key=read.symbol_key, record=record,
                      durable=False)
            return
        with KeptTopics(self.log.path, writing.keep, read.topic,
                        strict=self.on_topics is not None) as kept:
            topics = write_with_topics(path, word, kept, format=writing.format, period=period,
                                       field=read.field,
                                       values=read.values(settings.chain.states), record=record,
                                       durable=False)
        if self.on_topics is not None:
            self.on_topics(self.log, topics)
