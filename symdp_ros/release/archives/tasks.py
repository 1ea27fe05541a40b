# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The work of releasing an archive, cut into tasks, each of which writes one file.

A task is a file, or whole routes of it. It is cut by the number of rows alone: the row groups of a
file may depend on its symbols. (So two tasks may have to read the same row group.)

Every attempt at a task writes the same bits (`batch`), into a file with a new name in a private
directory, which also holds the key. The files whose names arrive here are moved to where they
belong; then the directory of the attempts is renamed and deleted, with the key and all that lost
attempts have left. An attempt makes no directory: one that is late, on a worker that was given up
as lost, cannot write any more.
"""
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import secrets
import shutil
from threading import Event
from typing import TYPE_CHECKING

from symdp_ros.errors import ConfigurationError, LogError, SymdpError
from symdp_ros.logs.log_files import remove
from symdp_ros.logs.recordings.recorded import RECORD
from symdp_ros.release.archives import engines, parquet_file
from symdp_ros.release.archives.batch import privatized, ReleaseKey
from symdp_ros.release.archives.dataset import SUFFIX, Task
from symdp_ros.release.archives.parquet_file import Archive, Chunk, Sizes

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.release.settings import ReleaseSettings


@dataclass(frozen=True)
class Part:
    """
    A file that an attempt at a task has written.

    :param number: of the task.
    :param size: in bytes.
    """

    number: int
    name: str
    rows: int
    size: int


@dataclass(frozen=True)
class Work:
    """
    What is done with each task; it is sent to workers.

    :param release: its key lies in the directory of the attempts.
    :param record: what each file says of itself.
    :param threads: that draw, for each task.
    :param on_rows: called with the number of rows of each chunk that is written; in one process.
    :param stopped: set when no more is to be done; in one process.
    """

    release: ReleaseKey
    record: str
    sizes: Sizes
    threads: int = 1
    on_rows: Callable[[int], None] | None = None
    stopped: Event | None = None

    def stop(self) -> None:
        """Let attempts end early."""
        if self.stopped is not None:
            self.stopped.set()

    def __call__(self, numbered: tuple[int, Task]) -> Part | str:
        """
        Make one attempt at a task.

        :return: what was written, or what is wrong, if another attempt does not help.
        :raises LogError: any other error; it quotes nothing of the archive.
        """
        try:
            return self._attempt(*numbered)
        except LogError as error:
            return error.reason
        except SymdpError as error:
            return str(error)
        except OSError as error:
            problem = f'a worker cannot write the release: {error.strerror}'
        except Exception as error:  # its text might quote the archive
            problem = f'a worker had an error of type {type(error).__name__}: please report it'
        raise LogError(problem)

    def _attempt(self, number: int, task: Task) -> Part:
        settings, key = self.release.settings, self.release.of(task.file.name)
        path = self.release.path.parent / f'{secrets.token_hex(16)}{SUFFIX}'
        assert settings.archive is not None
        columns = settings.archive.columns

        def chunks() -> Iterator[Chunk]:
            for chunk in archive.chunks(position_of=settings.states_by_value(), first=task.first,
                                        end=task.end, start=task.start):
                if self.stopped is not None and self.stopped.is_set():
                    raise LogError('it was stopped')
                if task.left_out:
                    chunk = chunk.without(columns.subject, task.left_out)
                if chunk.rows:
                    yield chunk

        try:
            with Archive(task.file.path, columns, self.sizes, task.file.stamp) as archive:
                rows = parquet_file.write(
                    path, privatized(chunks(), settings, key, self.threads),
                    archive.schema.with_metadata({RECORD: self.record}), columns.symbol,
                    settings.chain.states, self.on_rows or (lambda rows: None))
                parquet_file.check_unchanged(archive.path, archive.stamp)
            return Part(number, path.name, rows, os.path.getsize(path))
        except BaseException:
            remove(path)
            raise


def write_release(tasks: Sequence[Task], settings: 'ReleaseSettings', path: Path, *,
                  record: str = '', engine: str = 'local', scheduler: str = '',
                  sizes: Sizes = Sizes(),
                  on_rows: Callable[[int], None] = lambda rows: None,
                  random: 'RandomBits | None' = None) -> int:
    """
    Write a private archive as a new file, or as a new directory where tasks say so.

    Return how many rows it has.

    :param settings: as of `ReleaseKey`.
    :param record: what each file says of itself.
    :param path: of the release; meanwhile its folder also holds the attempts.
    :param engine, scheduler: as of `engines.run`.
    :param on_rows: called with the number of rows of each part that is written.
    :param random: for tests, where the key is drawn from.
    :raises LogError: what is wrong with the archive; workers that failed, or died, too often.
    :raises ConfigurationError: the workers do not write where this process reads.
    """
    attempts = path.with_name(f'{secrets.token_hex(8)}.attempts')
    os.mkdir(attempts, 0o700)
    try:
        release = ReleaseKey.new(settings, attempts / 'key', random)
        local = engine == 'local'
        threads = min(os.cpu_count() or 1, sizes.threads) if local and len(tasks) == 1 else 1
        parts: dict[int, Part] = {}
        work = Work(release, record, sizes, threads, *((on_rows, Event()) if local else ()))
        for part in engines.run(engine, work, list(enumerate(tasks)), scheduler):
            if isinstance(part, str):
                raise LogError(part)
            parts[part.number] = part
            if not local:
                on_rows(part.rows)
        for number, task in enumerate(tasks):
            _put(attempts / parts[number].name, parts[number], path, task.target)
    finally:
        gone = attempts.with_name(f'{secrets.token_hex(8)}.gone')
        os.rename(attempts, gone)  # no attempt knows this name
        shutil.rmtree(gone, ignore_errors=True)
    return sum(part.rows for part in parts.values())


def _put(written: Path, part: Part, path: Path, target: str) -> None:
    """Move what a task has written to its place in the release."""
    if not written.exists() or written.stat().st_size != part.size:
        raise ConfigurationError(
            f'what the workers wrote is not in {path.parent}: they must see the same files under '
            'the same paths as this process', setting='engine')
    if not target:
        os.rename(written, path)
    elif part.rows:
        (path / target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(written, path / target)
