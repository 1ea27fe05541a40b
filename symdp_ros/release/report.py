# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What became of logs that were to be released.

An outcome depends on a log's name, its length and the settings alone. That its content changed
under an old name is told too, and no more of it.
"""
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from symdp_ros.core.errors import BudgetError, LogError, SymdpError
from symdp_ros.logs import LogFile, LogState, SkippedLog

KINDS = ('released', 'already released', 'refused', 'failed')

#: Of a log that is refused as nothing of it is known; only for who may know what is in it.
ALL_UNKNOWN = ('none of its symbols names a state of the chain: what is released would be noise, '
               'and cost as much as any release. Say in symbol_map which values name states, and '
               'look at field, topic and symbol_key')


@dataclass(frozen=True)
class Outcome:
    """What became of a log: `kind` is one of `KINDS`; `length` counts its symbols, if known."""

    log_id: str
    kind: str
    length: int | None = None
    files: tuple[Path, ...] = ()
    reason: str = ''


@dataclass(frozen=True)
class Report:
    """
    What became of many logs.

    :param skipped: those still being recorded.
    :param stopped: there were more, and a stop was asked for.
    :param problems: one sentence for each earlier release that is charged and could not be put in
        its place.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[SkippedLog, ...] = ()
    stopped: bool = False
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was refused, failed or left."""
        return not (self.stopped or self.problems) and all(
            outcome.kind in KINDS[:2] for outcome in self.outcomes)

    def counted(self) -> str:
        """Return the counts in one line."""
        return self._counts(lambda kind: '')

    def __str__(self):
        def first(kind):
            reasons = [f'{outcome.log_id}: {outcome.reason}' for outcome in self.outcomes
                       if outcome.kind == kind and outcome.reason]
            return _first_of(reasons)

        return self._counts(first) + ''.join(f'; {problem}' for problem in self.problems[:1])

    def _counts(self, detail):
        counts = Counter(outcome.kind for outcome in self.outcomes)
        texts = 'released', 'already released', 'refused by the budget', 'failed'
        parts = [f'{counts[kind]} {text}{detail(kind)}'
                 for kind, text in zip(KINDS, texts, strict=True)]
        if self.skipped:
            parts.append(f'{len(self.skipped)} {LogState.RECORDING.value}')
        if self.stopped:
            parts.append('stopped before the rest')
        return ', '.join(parts)


def _first_of(reasons):
    more = f'; and {len(reasons) - 1} more' if len(reasons) > 1 else ''
    return f' ({reasons[0]}{more})' if reasons else ''


def outcome_of(log: LogFile, work: Callable[[], Outcome | None]) -> Outcome | None:
    """
    Return what `work` returns, or, where it raises an error, the outcome that tells of it.

    No text of an error that is not this package's own is passed on: it might quote the log.
    """
    try:
        return work()
    except LogError as error:
        return Outcome(log.id, 'failed', reason=error.reason)
    except BudgetError as error:
        return Outcome(log.id, 'refused', reason=str(error))
    except SymdpError as error:
        return Outcome(log.id, 'failed', reason=str(error))
    except OSError as error:
        return Outcome(log.id, 'failed', reason='the release directory cannot be written: '
                                                f'{error.strerror}')
    except Exception as error:
        return Outcome(log.id, 'failed', reason=f'an error of type {type(error).__name__}: '
                                                'please report it')
