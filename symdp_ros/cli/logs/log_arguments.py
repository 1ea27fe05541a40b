# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The logs that arguments of `symdp` name."""
import argparse
from collections.abc import Collection, Sequence
import os
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.core.naming import alike, quoted
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.logs import list_logs, LogFile, LogState, SkippedLog
from symdp_ros.options import PERIOD
from symdp_ros.words.sampling_settings import SamplingSettings

if TYPE_CHECKING:
    from symdp_ros.ledger.ledger import Ledger


_SHOWN = 3  # subjects


def check_period(options: argparse.Namespace) -> None:
    """
    Refuse a period that would be ignored.

    :raises ConfigurationError: it is given, and the sampling is another one.
    """
    # The default itself, not an equal number that was given.
    sampling = SamplingSettings.of(vars(options))
    if not sampling.has_period and options.period is not PERIOD.default:
        raise ConfigurationError(f'--period is for --sampling period, not for --sampling '
                                 f'{sampling.rule}: add --sampling period, or leave it out')


def listed_logs(names: Sequence[str]) -> tuple[list[LogFile], tuple[SkippedLog, ...]]:
    """Return the logs that the arguments name, and those that were skipped."""
    logs: list[LogFile] = []
    skipped: list[SkippedLog] = []
    for name in names:
        # Not by methods of Path: some raise at names that are too long, and at circles of links.
        path = Path(name)
        if os.path.isdir(path) and path.suffix != '.parquet' and not os.path.exists(
                path / 'metadata.yaml'):
            listing = list_logs(path)
            if listing.skipped and not listing.logs and all(
                    log.state is LogState.ARCHIVE for log in listing.skipped):
                raise ConfigurationError(f'{path} holds archives and no logs: release each '
                                         'archive separately, or all as one, -o OUT.parquet')
            logs += listing.logs
            skipped += listing.skipped
        else:
            logs.append(LogFile(os.path.basename(os.path.realpath(path)), path))
    seen = set()
    for log in logs:
        if not log.id.isprintable():
            raise ConfigurationError(f'the name of the log {printable(log.id)} holds characters '
                                     'that cannot be printed: rename it')
        if log.id in seen:
            raise ConfigurationError(f'two logs have the id {log.id!r}: a ledger could not '
                                     'distinguish them; rename one')
        seen.add(log.id)
    if not logs and not skipped:
        raise ConfigurationError(
            f'there is no log in {", ".join(map(printable, names))}: nothing to do. Logs are '
            'recordings, .csv and .jsonl; releases and hidden files do not count')
    return logs, tuple(skipped)


def new_account(ledger: 'Ledger', subject: str) -> str | None:
    """Return that a ledger does not know a subject, or knows others that look like it."""
    from symdp_ros.ledger.subjects import check_subject, look_alike_text

    check_subject(subject)
    subjects = ledger.subjects()
    note = look_alike_text(subject, subjects)
    if subject in subjects:
        return note or None
    close = alike(subject, subjects)
    return (f'{quoted(subject)} is a new subject in {printable(ledger.path)}'
            + (f'; did you mean {" or ".join(map(quoted, close))}?' if close else '')
            + (f' (note: {note})' if note else ''))


def new_accounts(ledger: 'Ledger', subjects: Collection[str]) -> str | None:
    """Return which subjects of an archive a ledger does not know, though it knows others."""
    known = ledger.subjects()
    new = sorted(set(subjects).difference(known)) if known else []
    notes = [new_account(ledger, subject) or '' for subject in new[:_SHOWN]]
    more = [f'and {len(new) - _SHOWN:,} more new subjects'] if len(new) > _SHOWN else []
    return '; '.join([*notes, *more]) or None
