# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A chain learned from logs, as a chain file: charged before it is visible, as every release is.

The file holds noisy counts alone, and how it was made: ε, its unit, and how many logs there were.
It shows something of every log, so its ε is owed in each of them (`units.Loss.repeats`).
The same logs are never learned from again for free: under the same settings the file that was made
is handed out, under others a new one is charged.
"""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
import json
import os
from pathlib import Path
import shutil
from typing import Any

from symdp_ros.analysis.learning import learn_chain, Unit
from symdp_ros.core.chain import Chain
from symdp_ros.errors import ConfigurationError, LogError, printable
from symdp_ros.files.durable import flush
from symdp_ros.ledger.ledger import Ledger, LedgerFile
from symdp_ros.ledger.overlap import most_at_once, Span, span_of
from symdp_ros.ledger.units import as_fraction, as_text, Loss
from symdp_ros.logs import LogFile
from symdp_ros.release.inspection import ALL_UNKNOWN
from symdp_ros.release.outbox import digest_of, holds, Outbox
from symdp_ros.release.report import Outcome
from symdp_ros.release.settings import ReleaseSettings

_DIGITS = 6  # after the point, of a probability in the file

#: A log: its words, and its span.
_Read = tuple[list[list[str | None]], Span]


@dataclass(frozen=True)
class LearnSettings:
    """
    How a chain is learned.

    :param reading: how logs are read and sampled; its chain is the public map.
    :param clip: where positive, ε is for one whole log, of which so many transitions count.
    :param moves: where each symbol is a report of several moves, how many; for the file.
    """

    reading: ReleaseSettings
    clip: int = 0
    moves: int = 0

    @property
    def unit(self) -> Unit:
        """Return the unit of ε."""
        return Unit(clip=self.clip) if self.clip else Unit(
            self.reading.privacy.adjacency, in_a_row=self.reading.protect > 0)

    def loss_of(self, spans: Mapping[str, Span]) -> Loss:
        """
        Return the loss to charge for a chain that is learned from logs.

        A whole log costs ε, whatever changes in it; what is charged is ε for each of the most logs
        that one changed symbol, or the changes of `protect` seconds, can touch.

        :param spans: of the logs, by id.
        """
        loss = replace(self.reading.loss, repeats=len(spans), whole=self.reading.protect > 0)
        if not self.clip:
            return loss
        if loss.seconds is None:  # the changed symbols may be in as many logs
            loss = replace(loss, adjacency=1)
        touched, _ = most_at_once(spans, dict.fromkeys(spans, Fraction(1)), loss.seconds)
        return replace(loss, epsilon=loss.epsilon * touched, of_log=loss.epsilon)

    @property
    def unit_text(self) -> str:
        """Return the unit of ε, for people to read."""
        k, seconds = self.reading.privacy.adjacency, self.reading.protect
        if self.clip:
            return f'any change of one whole log, of which up to {self.clip} transitions count'
        return f'any changes during {seconds:g} s' if seconds else (
            f'any {k} changed symbol{"" if k == 1 else "s"} of all logs')

    def described(self) -> dict[str, Any]:
        """Return all that the result depends on, for people to read."""
        made = {key: value for key, value in self.reading.described().items()
                if key not in ('mechanism', 'policy')}
        unit = 'log' if self.clip else 'seconds' if self.reading.protect else 'symbols'
        return made | {'learn': unit} | ({'clip': self.clip} if self.clip else {})

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return sha256(json.dumps(self.described(), sort_keys=True).encode()).hexdigest()


def learn_from_logs(settings: LearnSettings, logs: Sequence[LogFile], output: Path, *,
                    ledger: Ledger, subject: str, subject_budget: float = 0.0,
                    random: Any = None, wait: float = 10.0,
                    on_wait: Callable[[], None] = lambda: None) -> Outcome:
    """
    Learn a chain from logs, charge it, and put the chain file at `output`.

    :param output: a path that is free, or holds the very file that was made of these logs before.
    :param random: for tests, an object with `getrandbits`.
    :param wait: seconds to wait for another process that releases into the same directory.
    :return: of kind 'released' or 'already released'; `reason` says why more than ε was charged.
    :raises LogError: a log cannot be read, or shows what another one shows; nothing is charged.
    :raises BudgetError, LedgerError, ConfigurationError: nothing is charged.
    """
    names = sorted(log.id for log in logs)
    log_id = f'chain of {len(names)} logs {sha256(json.dumps(names).encode()).hexdigest()[:12]}'
    description = json.dumps(settings.described())
    with Outbox(output.parent, ledger, wait=wait, on_wait=on_wait) as outbox:
        output = outbox.directory / output.name
        read = [_read(settings.reading, log) for log in logs]
        spans = {log.id: span for log, (_, span) in zip(logs, read, strict=True)}
        if not settings.clip:
            _check_apart(spans)
        words = [word for own, _ in read for word in own]
        length = sum(map(len, words))
        content = ledger.fingerprint(words)
        charge = ledger.find(subject, log_id, settings.digest())
        if charge is not None:
            if charge.content != content:
                raise LogError('the logs have changed since a chain was learned from them: give '
                               'new logs names of their own')
            [file] = ledger.files(charge.number)
            return Outcome(log_id, 'already released', length, (_again(outbox, file, output),))
        if os.path.lexists(output) or ledger.has_path(output):
            raise ConfigurationError(f'{printable(output)} is there already, or is promised to '
                                     'another release: name another file')
        if all(symbol is None for word in words for symbol in word):
            raise LogError(ALL_UNKNOWN)
        loss, note = settings.loss_of(spans), ''
        if (price := loss.epsilon) != (each := as_fraction(settings.reading.privacy.epsilon)):
            note = (f'one change can touch {price / each} of the logs, by their stamps: '
                    f'ε = {as_text(price)} is charged')
        ledger.check(subject, loss, log_id, subject_budget=subject_budget,
                     description=description)
        chain = learn_chain(settings.reading.chain, [own for own, _ in read],
                            settings.reading.privacy.epsilon, unit=settings.unit, random=random)
        with outbox.staged('.yaml') as path:
            path.write_text(_chain_file(chain, settings, len(logs)), encoding='utf-8')
            flush(path)
            flush(path.parent)
            digest = digest_of(path)
            outbox.check([output.name])
            charge, new = ledger.charge(
                subject, loss, log_id=log_id, settings=settings.digest(),
                content=content, lengths=[length], description=description, logs=spans,
                subject_budget=subject_budget, files=lambda number: [(output, path, digest)])
            if not new:  # another process was faster, in another directory
                raise ConfigurationError('another process has just learned from these logs: try '
                                         'again')
            [file] = ledger.files(charge.number)
            return Outcome(log_id, 'released', length, (outbox.publish(file),), reason=note)


def _again(outbox: Outbox, file: LedgerFile, output: Path) -> Path:
    """Return where the file that was made before is, copied to `output` where that is free."""
    there = next((path for path in (output, file.path, file.staged)
                  if holds(path, file.digest)), None)
    if there is None:
        raise ConfigurationError(
            f'a chain was learned from these logs before, as {printable(file.path)}, which is no '
            'longer there or was changed: copy it from where it was given to')
    if there == output:
        return output
    if os.path.lexists(output):
        raise ConfigurationError(f'{printable(output)} is there already: name another file')
    with outbox.staged('.yaml') as path:
        shutil.copyfile(there, path)
        flush(path)
        return outbox.publish(LedgerFile(0, output, path, file.digest, True))


def _read(settings: ReleaseSettings, log: LogFile) -> _Read:
    entries = settings.entries(log)
    return settings.words_of(entries, log), span_of(entries)


def _check_apart(spans: Mapping[str, Span]) -> None:
    """Check that no two logs show the same moment: one changed symbol would show in both."""
    touched, logs = most_at_once(spans, dict.fromkeys(spans, Fraction(1)))
    if touched > 1:
        raise LogError(
            f'{printable(logs[0])} and {printable(logs[1])} overlap in time, so that one changed '
            'symbol may show in both: leave one of them out, or let ε be for one whole log '
            '(--unit log)')


def _chain_file(chain: Chain, settings: LearnSettings, logs: int) -> str:
    reading, quote = settings.reading, lambda text: json.dumps(text, ensure_ascii=False)
    lines = ['# Learned by `symdp learn`, with noise. Readers of this file learn about the logs',
             f'# no more than ε = {reading.privacy.epsilon:g} allows for {settings.unit_text}.',
             f'# Logs: {logs}; sampling: {reading.sampling}.',
             f'initial_state: {quote(chain.initial_state)}']
    if reading.sampling == 'period':
        lines.append(f'tick: {reading.period!r}')
        if settings.moves:
            lines.append(f'moves: {settings.moves}')
    lines.append('transitions:')
    for state in chain.states:
        row = ', '.join(f'{quote(target)}: {p}' for target, p in _rounded(
            chain.probabilities(state)).items())
        lines.append(f'  {quote(state)}: {{{row}}}')
    return '\n'.join(lines) + '\n'


def _rounded(row: dict[str, float]) -> dict[str, str]:
    """Return the probabilities of a row as decimals that sum to exactly 1."""
    unit = 10**_DIGITS
    parts = {target: max(1, round(p * unit)) for target, p in row.items()}
    largest = max(parts, key=lambda target: parts[target])
    parts[largest] += unit - sum(parts.values())
    return {target: f'{part / unit:.{_DIGITS}f}' for target, part in parts.items()}
