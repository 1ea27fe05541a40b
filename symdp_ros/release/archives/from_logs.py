# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
From recordings to an archive: every log becomes a route.

A directory holds the logs of one robot, or a directory of logs for each. A robot's routes come
into one file, `subject=NAME/routes.parquet`, in the order of their names, so that `Dataset` finds
whose they are. Symbols are the values in the messages: which of them name states is known when the
archive is released. Processes read logs ahead, as many as there are processors; a log at a time is
in the memory of each.

Nothing is private yet: only the user who makes an archive may read it.
"""
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
import os
from pathlib import Path
import re
import secrets
import shutil
from typing import Any
from urllib.parse import quote

import numpy as np
from symdp_ros.errors import ConfigurationError, LogError, printable, raising
from symdp_ros.files.durable import check_new, flush
from symdp_ros.files.processes import in_processes
from symdp_ros.ledger.subjects import check_subject
from symdp_ros.logs import (list_logs, LogFile, LogListing, LogState, read_input, sampled,
                            SkippedLog)
from symdp_ros.logs.log_files import UNPRINTABLE
from symdp_ros.logs.recordings.recorded import METADATA
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.positions import Locator
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.release.archives.dataset import SUFFIX
from symdp_ros.release.archives.parquet_file import Columns, parquet
from symdp_ros.words.sampling_settings import SamplingSettings

_GROUP_ROWS = 1 << 20  # of a file; then a row group ends with the route
_MOST_SYMBOLS = 1 << 31  # positions are 32 bits wide
_SHOWN = 5  # logs that cannot be read
_STORAGE_SUFFIX = '|'.join(map(re.escape, STORAGES.values()))


@dataclass(frozen=True)
class TableSettings:
    """
    How logs are read.

    :param regions: where the input is poses: the map that says where they are.
    """

    input: InputSettings = InputSettings()  # noqa: A003 (as in `ReleaseSettings`)
    sampling: SamplingSettings = SamplingSettings()
    regions: MapSettings | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'TableSettings':
        """
        Return those among the values of options.

        :raises ChainError, ConfigurationError: they do not go together; the map of poses cannot
            be used.
        """
        read, sampling = InputSettings.of(values), SamplingSettings.of(values)
        read.refuse_others('hysteresis', 'max_distance', 'level_field')
        sampling.check()
        if read.is_pose != bool(values['chain_file']):
            raise ConfigurationError(
                'input: pose needs the map that says where the regions are: give --map'
                if read.is_pose else '--map is for --input pose, which it finds the regions of: '
                'leave it out, as symbols are compared with a map when they are released',
                setting='chain_file')
        settings = cls(replace(read, refuse_frames=True), sampling,
                       MapSettings.of(values) if read.is_pose else None)
        settings.locator()
        return settings

    @lru_cache(maxsize=1)
    def locator(self) -> Locator | None:
        """Return what finds the regions of poses; None: the input names them."""
        if self.regions is None:
            return None
        return self.regions.locator(self.regions.read(), self.input.hysteresis,
                                    self.input.max_distance)

    def rows(self, log: LogFile) -> list[tuple[int, str | None]]:
        """
        Return (stamp in nanoseconds, value) of each symbol of a log; None: there is no value.

        :raises LogError, ConfigurationError: as `read_log`.
        """
        if (locator := self.locator()) is not None:
            locator.reset()  # no log's regions depend on another log
        return sampled(read_input(log.path, self.input, locator), self.sampling)


@dataclass(frozen=True)
class Tabled:
    """
    An archive that was made.

    :param problems: of each log that was left out, with its name.
    """

    robots: int
    routes: int
    rows: int
    problems: tuple[str, ...]


def robots_in(directory: Path, subject: str = '') -> tuple[dict[str, list[LogFile]],
                                                           list[SkippedLog]]:
    """
    Return robot → its logs, whose ids are their paths below its directory, and skipped logs.

    :param subject: whose logs all are; '': each directory in `directory` is named after a robot,
        like `r7` or `robot=r7`.
    :raises LogError: a directory cannot be read; a link to one.
    :raises LedgerError: the subject cannot be one.
    :raises ConfigurationError: it is not known whose logs these are; there is none.
    """
    skipped: list[SkippedLog] = []
    if subject:
        check_subject(subject)
        robots = {subject: _logs_below(directory, '', skipped)}
    else:
        listing, folders = _listed(directory)
        skipped += listing.skipped
        if listing.logs:
            raise ConfigurationError(
                f'{printable(directory)} holds logs, such as {printable(listing.logs[0].id)}: say '
                'whose they are (--subject), or name a directory with one for each robot',
                setting='subject')
        robots = {}
        for folder in folders:
            name = folder.partition('=')[2] or folder
            if not name.isprintable():
                raise ConfigurationError(f'the directory {printable(folder)} cannot name a robot: '
                                         'rename it')
            if name in robots:
                raise ConfigurationError(f'two directories are of the robot {name!r}: rename one')
            robots[name] = _logs_below(directory / folder, f'{folder}/', skipped)
    with_logs = {name: logs for name, logs in sorted(robots.items()) if logs}
    if not with_logs:
        raise ConfigurationError(f'there is no log in {printable(directory)}, or in a directory '
                                 'for each robot: logs are recordings, .csv and .jsonl')
    return with_logs, skipped


def write_table(robots: Mapping[str, Sequence[LogFile]], settings: TableSettings, output: Path, *,
                leave_out: bool = False,
                on_log: Callable[[str], None] = lambda name: None) -> Tabled:
    """
    Write an archive of all logs as a new directory, whole or not at all.

    :param robots: of `robots_in`.
    :param leave_out: leave out logs that cannot be read.
    :param on_log: called with the name of each log that was read.
    :raises LogError: logs cannot be read, and none may be left out; or none can be read.
    :raises ConfigurationError: something is at the path, or its directory is not there.
    """
    check_new(output)
    draft = output.with_name(f'.{secrets.token_hex(8)}.table')
    os.mkdir(draft, 0o700)
    try:
        problems: list[str] = []
        routes = rows = written = 0
        with closing(_all_read(settings, chain.from_iterable(robots.values()))) as read_logs:
            for robot, logs in robots.items():
                with _RobotFile(draft, robot) as file:
                    for log, result in zip(logs, read_logs, strict=False):
                        on_log(log.id)
                        if isinstance(result, str):
                            problems.append(f'{robot}: {log.id}: {result}')
                        elif not problems or leave_out:
                            file.add(log.id, *result)
                written, routes = written + bool(file.routes), routes + file.routes
                rows += file.rows
        if problems and not (leave_out and written):
            more = [f'and {len(problems) - _SHOWN} more'] if len(problems) > _SHOWN else []
            raise LogError(f'nothing is written, as {counted(len(problems), "log")} cannot be '
                           f'read: {"; ".join([*problems[:_SHOWN], *more])}. Mend or move them, '
                           'or leave them out (--partial)')
        for directory, _, _ in os.walk(draft):
            flush(directory)
        check_new(output)
        os.rename(draft, output)
        flush(output.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return Tabled(written, routes, rows, tuple(problems))


class _RobotFile:
    """The file of a robot, made with its first route; to be used in a `with` block."""

    def __init__(self, directory: Path, robot: str):
        self._path = directory / f'subject={quote(robot, safe=" ")}' / f'routes{SUFFIX}'
        self._writer: Any = None
        self._held: list[Any] = []
        self.routes = self.rows = self._held_rows = 0

    def add(self, route: str, stamps: Any, codes: Any, names: Sequence[str]) -> None:
        """Add a route: stamps, and each symbol's position in `names`, −1: there is none."""
        pyarrow, _ = parquet()
        columns, rows = Columns(), len(stamps)
        index = pyarrow.array(codes, mask=codes < 0)
        self._held.append(pyarrow.table({
            columns.route: pyarrow.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [route]),
            columns.position: np.arange(rows, dtype=np.int32),
            columns.stamp: pyarrow.array(stamps, pyarrow.timestamp('ns')),
            columns.symbol: pyarrow.DictionaryArray.from_arrays(
                index, pyarrow.array(names, pyarrow.string()))}))
        self.routes, self.rows = self.routes + 1, self.rows + rows
        self._held_rows += rows
        if self._held_rows >= _GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        pyarrow, pq = parquet()
        table = pyarrow.concat_tables(self._held).unify_dictionaries()
        self._held, self._held_rows = [], 0
        if self._writer is None:
            self._path.parent.mkdir(mode=0o700)
            self._writer = pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def __enter__(self) -> '_RobotFile':
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None and self._held:
            self._write()
        if self._writer is not None:
            self._writer.close()
            flush(self._path)


def _all_read(settings: TableSettings,
              logs: Iterable[LogFile]) -> Generator[Any, None, None]:
    """Yield what `_read` returns for each log, in order; a few are read ahead."""
    # Processes of their own: no thread of this one is copied into them.
    return in_processes(partial(_read, settings), logs, os.cpu_count() or 1)


def _read(settings: TableSettings, log: LogFile) -> tuple[Any, Any, list[str]] | str:
    """Return stamps, positions of symbols in the names that follow, and names; or a problem."""
    try:
        rows = settings.rows(log)
        if len(rows) >= _MOST_SYMBOLS:
            raise LogError('it holds too many symbols')
    except LogError as error:
        return error.reason
    position: dict[Any, int] = {None: -1}  # value → its place among the names
    codes = np.array([position.setdefault(value, len(position) - 1) for _, value in rows],
                     np.int32)
    return np.array([stamp for stamp, _ in rows], np.int64), codes, list(position)[1:]


def _logs_below(directory: Path, prefix: str, skipped: list[SkippedLog]) -> list[LogFile]:
    """Return the logs of a directory and those in it; `prefix`: of the names of skipped ones."""
    logs, folders_below = [], ['']
    for below in folders_below:  # and those that are found on the way
        listing, folders = _listed(directory / below)
        logs += [LogFile(below + log.id, log.path) for log in listing.logs]
        skipped += [replace(log, name=printable(prefix + below) + log.name)
                    for log in listing.skipped]
        for name in folders:
            if name.isprintable():
                folders_below.append(f'{below}{name}/')
            else:
                skipped.append(SkippedLog(printable(f'{prefix}{below}{name}/'), LogState.UNUSABLE,
                                          UNPRINTABLE))
    return sorted(logs, key=lambda log: log.id)


def _listed(directory: Path) -> tuple[LogListing, list[str]]:
    """Return the logs of a directory, and the names of the directories in it that are no logs."""
    listing = list_logs(directory)
    with raising(partial(LogError, path=directory), 'the directory cannot be read', OSError), \
            os.scandir(directory) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir()
                         and not entry.name.startswith('.') and not _is_recording(entry.path))
    for name in folders:
        if os.path.islink(directory / name):
            raise LogError(f'it holds {printable(name)}, which is a link to a directory: put the '
                           'directory there', path=directory)
    others = set(map(printable, folders))  # of storage files, which are logs themselves
    return replace(listing, skipped=tuple(
        log for log in listing.skipped if log.name not in others)), folders


def _is_recording(path: str) -> bool:
    """Return whether a directory is a recording, whole or not: `night` holds night_0.mcap."""
    names, own = os.listdir(path), re.escape(os.path.basename(path))
    return METADATA in names or any(
        re.fullmatch(rf'{own}_\d+({_STORAGE_SUFFIX})(\.zstd)?', name) for name in names)
