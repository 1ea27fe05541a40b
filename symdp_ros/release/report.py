# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The outcomes of releasing logs.

An outcome depends on a log's name, its length and the settings alone. What more an operator may be
told, and nobody else, `engine.Releaser` is asked for.
"""
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from symdp_ros.errors import BudgetError, LedgerError, LogError, SymdpError
from symdp_ros.ledger.overlap import Span
from symdp_ros.logs import LogState, SkippedLog

_T = TypeVar('_T')
KINDS = ('released', 'already released', 'refused', 'failed')
#: The code of a log that is refused for what it holds: its release would be noise.
NOISE = 'noise'


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


@dataclass(frozen=True)
class Report:
    """
    The outcomes for many logs.

    :param skipped: logs that are still being recorded, and archives.
    :param stopped: a stop was asked for before the last log.
    :param problems: one sentence for each earlier release that is charged and could not be moved
        to its path.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[SkippedLog, ...] = ()
    stopped: bool = False
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether no log was refused, failed or was left."""
        return not (self.stopped or self.problems) and all(
            outcome.kind in KINDS[:2] for outcome in self.outcomes)

    def __str__(self) -> str:
        counts = Counter(outcome.kind for outcome in self.outcomes)
        parts = [f'{counts[kind]} {kind}' for kind in KINDS]
        for state, number in Counter(log.state for log in self.skipped).items():
            parts.append(f'{number} {state.value}')
        if self.stopped:
            parts.append('stopped before the rest')
        return ', '.join(parts)


def unusable(skipped: Iterable[SkippedLog]) -> list[Outcome]:
    """Return the outcomes of those logs that were skipped as unusable: they have failed."""
    return [Outcome(log.name, 'failed', reason=log.reason, code='log') for log in skipped
            if log.state is LogState.UNUSABLE]


def outcome_of(log_id: str, work: Callable[[], _T]) -> _T | Outcome:
    """
    Return what `work` returns, or the outcome of the error that it raises.

    Only the texts of this package's own errors are used: others might quote the log.
    """
    try:
        return work()
    except Exception as error:
        kind, line = 'failed', None
        if isinstance(error, LogError):
            reason, line = error.reason, error.line
        elif isinstance(error, SymdpError):
            kind, reason = 'refused' if isinstance(error, BudgetError) else kind, str(error)
        elif isinstance(error, OSError):
            reason = f'the release directory cannot be written: {error.strerror}'
        else:
            reason = f'an error of type {type(error).__name__}: please report it'
        return Outcome(log_id, kind, reason=reason, code=code_of(error), line=line)


def code_of(error: Exception) -> str:
    """Return an error as one word, for programs."""
    if isinstance(error, BudgetError):
        if error.limit is None:
            return 'budget'
        return 'subject_budget' if error.log_id is None else 'log_budget'
    return next((code for kind, code in (
        (LogError, 'log'), (LedgerError, 'ledger'), (SymdpError, 'settings'), (OSError, 'disk'))
        if isinstance(error, kind)), 'internal')
