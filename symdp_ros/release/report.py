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

from symdp_ros.errors import BudgetError, LogError, SymdpError
from symdp_ros.ledger.overlap import Span
from symdp_ros.logs import LogState, SkippedLog

_T = TypeVar('_T')
KINDS = ('released', 'already released', 'refused', 'failed')


@dataclass(frozen=True)
class Outcome:
    """
    The outcome for one log.

    :param kind: one of `KINDS`.
    :param length: its symbols, where known.
    :param reason: why it was not released. It may be answered and logged.
    :param span: the stamps of its first and last entry, where it was read.
    :param line: of the log, at which the problem is; for the operator alone, since it can be the
        position of a symbol.
    """

    log_id: str
    kind: str
    length: int | None = None
    files: tuple[Path, ...] = ()
    reason: str = ''
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

    def counted(self) -> str:
        """Return the counts in one line."""
        return self._counts(lambda kind: '')

    def __str__(self) -> str:
        def first(kind: str) -> str:
            return _first_of([f'{outcome.log_id}: {outcome.reason}' for outcome in self.outcomes
                              if outcome.kind == kind and outcome.reason]
                             + [f'{log.name}: {log.reason}' for log in self.skipped
                                if log.state.value == kind])

        return self._counts(first) + ''.join(f'; {problem}' for problem in self.problems[:1])

    def _counts(self, detail: Callable[[str], str]) -> str:
        counts = Counter(outcome.kind for outcome in self.outcomes)
        parts = [f'{counts[kind]} {kind}{detail(kind)}' for kind in KINDS]
        for state, number in Counter(log.state for log in self.skipped).items():
            parts.append(f'{number} {state.value}{detail(state.value)}')
        if self.stopped:
            parts.append('stopped before the rest')
        return ', '.join(parts)


def _first_of(reasons: list[str]) -> str:
    more = f'; and {len(reasons) - 1} more' if len(reasons) > 1 else ''
    return f' ({reasons[0]}{more})' if reasons else ''


def unusable(skipped: Iterable[SkippedLog]) -> list[Outcome]:
    """Return the outcomes of those logs that were skipped as unusable: they have failed."""
    return [Outcome(log.name, 'failed', reason=log.reason) for log in skipped
            if log.state is LogState.UNUSABLE]


def outcome_of(log_id: str, work: Callable[[], _T]) -> _T | Outcome:
    """
    Return what `work` returns, or the outcome of the error that it raises.

    Only the texts of this package's own errors are used: others might quote the log.
    """
    try:
        return work()
    except LogError as error:
        return Outcome(log_id, 'failed', reason=error.reason, line=error.line)
    except BudgetError as error:
        return Outcome(log_id, 'refused', reason=str(error))
    except SymdpError as error:
        return Outcome(log_id, 'failed', reason=str(error))
    except OSError as error:
        return Outcome(log_id, 'failed', reason='the release directory cannot be written: '
                                                f'{error.strerror}')
    except Exception as error:
        return Outcome(log_id, 'failed', reason=f'an error of type {type(error).__name__}: '
                                                'please report it')
