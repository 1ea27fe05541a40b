# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A chain learned from logs, as a chain file: charged before it is visible, as every release is.

The file holds noisy counts alone, and how it was made: ε, its unit, and how many logs there were.
It shows something of every log, so its ε is owed in each of them (`entry.Loss.repeats`).
The same logs are never learned from again for free: under the same settings the file that was made
is handed out, under others a new one is charged.
"""
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
import json
from pathlib import Path
from typing import Any

from symdp_ros.analysis.learning import learn_chain, LearningUnit
from symdp_ros.core.chain import Chain
from symdp_ros.errors import LogError, printable
from symdp_ros.ledger.entry import as_text, Loss
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.overlap import most_at_once, Span
from symdp_ros.logs import LogFile
from symdp_ros.maps.chain_file import chain_text
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.release.draft import Draft, KINDS, LogDraft, Outcome, Stage
from symdp_ros.release.inspection import ALL_UNKNOWN, Moves
from symdp_ros.release.session import ReleaseSession
from symdp_ros.release.settings import ReleaseSettings
from symdp_ros.settings import digest_of_settings
from symdp_ros.words.sampling_settings import SamplingSettings

_DIGITS = 6  # after the point, of a probability in the file


@dataclass(frozen=True)
class LearnSettings:
    """
    How a chain is learned.

    :param reading: how logs are read and sampled; its chain is the public map. What draws is not
        used.
    :param clip: where positive, ε is for one whole log, of which so many transitions count.
    """

    reading: ReleaseSettings
    clip: int = 0

    @property
    def unit(self) -> LearningUnit:
        """Return the unit of ε."""
        return LearningUnit(clip=self.clip) if self.clip else LearningUnit(
            self.reading.privacy.adjacency, in_a_row=self.reading.sampling.protect > 0)

    def loss_of(self, spans: Mapping[str, Span]) -> Loss:
        """
        Return the loss to charge for a chain that is learned from logs.

        A whole log costs ε, whatever changes in it; what is charged is ε for each of the most logs
        that one changed symbol, or the changes of `protect` seconds, can touch.

        :param spans: of the logs, by id.
        """
        loss = replace(self.reading.loss(), repeats=len(spans),
                       whole=self.reading.sampling.protect > 0)
        if not self.clip:
            return loss
        if loss.seconds is None:  # the changed symbols may be in as many logs
            loss = replace(loss, adjacency=1)
        touched, _ = most_at_once(spans, dict.fromkeys(spans, Fraction(1)), loss.seconds)
        return replace(loss, epsilon=loss.epsilon * touched, of_log=loss.epsilon)

    @property
    def unit_text(self) -> str:
        """Return the unit of ε, for people to read."""
        k, seconds = self.reading.privacy.adjacency, self.reading.sampling.protect
        if self.clip:
            return f'any change of one whole log, of which up to {self.clip} transitions count'
        return f'any changes during {seconds:g} s' if seconds else (
            f'any {k} changed symbol{"" if k == 1 else "s"} of all logs')

    def described(self) -> dict[str, Any]:
        """Return all that the result depends on, for people to read."""
        reading = self.reading
        unit = 'log' if self.clip else 'seconds' if reading.sampling.protect else 'symbols'
        return {'chain': reading.chain.digest(), 'epsilon': reading.privacy.epsilon,
                'adjacency': reading.privacy.adjacency, **reading.described_reading(),
                'learn': unit} | ({'clip': self.clip} if self.clip else {})

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return digest_of_settings(self.described())


class _LearnedChain(Draft):
    """The release of the chain of some logs; `note`: why more than ε is charged."""

    changed = ('the logs have changed since a chain was learned from them: give new logs names of '
               'their own')

    def __init__(self, settings: LearnSettings, logs: Sequence[LogDraft]):
        self._settings = settings
        self._drafts = sorted(logs, key=lambda log: log.log_id)  # however they were named
        names = [log.log_id for log in self._drafts]
        digest = sha256(json.dumps(names).encode()).hexdigest()
        self.log_id = f'chain of {len(names)} logs {digest[:12]}'
        self.note = ''

    def read(self, stack: ExitStack) -> None:
        """Read and sample the logs."""
        spans: dict[str, Span] = {}
        for log in self._drafts:
            log.read(stack)
            spans |= log.logs or {}
        self._words = [word for log in self._drafts for word in log.sensitive]
        self.length, self.logs = sum(map(len, self._words)), spans
        if not self._settings.clip:
            _check_apart(spans)

    def fingerprint(self, ledger: Ledger) -> bytes:
        """Return the fingerprint of all words."""
        return ledger.fingerprint(self._words)

    def problem(self) -> str | None:
        """Return that no symbol is known; None: one is."""
        return ALL_UNKNOWN if all(
            symbol is None for word in self._words for symbol in word) else None

    def price(self) -> Loss:
        """Return what the chain costs."""
        loss, each = self._settings.loss_of(self.logs or {}), self._settings.reading.loss().epsilon
        if loss.epsilon != each:
            self.note = (f'one change can touch {loss.epsilon / each} of the logs, by their '
                         f'stamps: ε = {as_text(loss.epsilon)} is charged')
        return loss

    def draw(self, stage: Stage) -> list[Path]:
        """Learn the chain, and write it to a staged path."""
        settings = self._settings
        chain = learn_chain(
            settings.reading.chain, [log.sensitive for log in self._drafts],
            settings.reading.privacy.epsilon, unit=settings.unit)
        path = stage('.yaml')
        sampling = settings.reading.sampling
        path.write_text(
            '# Learned by `symdp learn`, with noise. Readers of this file learn about the logs\n'
            f'# no more than ε = {settings.reading.privacy.epsilon:g} allows for '
            f'{settings.unit_text}.\n# Logs: {len(self._drafts)}; sampling: {sampling.rule}.\n'
            + chain_text(_graph_of(chain, sampling)), encoding='utf-8')
        return [path]


def learn_from_logs(settings: LearnSettings, logs: Sequence[LogFile], output: Path, *,
                    ledger: Ledger, **keeping: Any) -> Outcome:
    """
    Learn a chain from logs, charge it, and put the chain file at `output`.

    :param output: a path that is free, or holds the very file that was made of these logs before.
    :param keeping: what else `ReleaseSession` takes.
    :return: of kind 'released' or 'already released'; `reason` says why more than ε was charged.
    :raises LogError: a log cannot be read, or shows what another one shows; nothing is charged.
    :raises BudgetError, LedgerError, ConfigurationError: nothing is charged.
    """
    moves = Moves.of(settings.reading.chain, stays_only=True)
    chain = _LearnedChain(settings, [LogDraft(settings.reading, log, None, moves)
                                     for log in logs])
    with ReleaseSession(settings, output.parent, ledger=ledger, name=output.name,
                        **keeping) as session:
        outcome = session.release_one(chain)
    if outcome.kind in KINDS[2:]:
        raise LogError(outcome.reason)
    return replace(outcome, reason=chain.note)


def _check_apart(spans: Mapping[str, Span]) -> None:
    """Check that no two logs show the same moment: one changed symbol would show in both."""
    touched, logs = most_at_once(spans, dict.fromkeys(spans, Fraction(1)))
    if touched > 1:
        raise LogError(
            f'{printable(logs[0])} and {printable(logs[1])} overlap in time, so that one changed '
            'symbol may show in both: leave one of them out, or let ε be for one whole log '
            '(--unit log)')


def _graph_of(chain: Chain, sampling: SamplingSettings) -> TransitionGraph:
    """Return a chain with the probabilities that were learned, as a chain file has it."""
    return TransitionGraph(
        {state: _rounded(chain.probabilities(state)) for state in chain.states},
        chain.initial_state, tick=sampling.period if sampling.has_period else None,
        moves=sampling.moves or None if sampling.has_period else None)


def _rounded(row: dict[str, float]) -> dict[str, float]:
    """Return the probabilities of a row as decimals that sum to 1."""
    unit = 10**_DIGITS
    parts = {target: max(1, round(p * unit)) for target, p in row.items()}
    largest = max(parts, key=lambda target: parts[target])
    parts[largest] += unit - sum(parts.values())
    return {target: part / unit for target, part in parts.items()}
