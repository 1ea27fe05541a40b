# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing an archive on a Dask cluster: each route is released once, even if tasks are retried.

The archive is cut into tasks of whole routes, by the number of rows alone: the row groups of the
archive may depend on its symbols. (So two tasks may have to read the same row group.) The
scheduler sees the path of the archive, ranges of rows and settings, and of results a file's name,
digest and number of rows: never a row. Workers and this process see the same files under the same
paths, and run as the same user.

Every attempt at a task draws with its worker's own randomness, and writes a file with a new random
name into a private directory. The attempt whose result arrives here for the task is used. These
files are moved into another new directory; the directory of the attempts is renamed and deleted,
with all that lost attempts have left. An attempt makes no directory, and does not know the other
one: on a worker that was given up as lost, a late attempt cannot write, or writes a file that is
never released. The caller charges the ledger, once, when everything is written.
"""
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
import re
import secrets
import shutil
from typing import Any

from symdp_ros.errors import ConfigurationError, LogError, SymdpError
from symdp_ros.files.durable import flush
from symdp_ros.logs.files import remove
from symdp_ros.release.archives import file as archive_file
from symdp_ros.release.archives.draw import privatized, SUFFIX
from symdp_ros.release.archives.file import Archive, Sizes, Survey
from symdp_ros.release.outbox import digest_of
from symdp_ros.release.settings import ReleaseSettings

_RETRIES = 3    # of a task, after errors that are not the archive's
_PATIENCE = 15  # seconds, for the scheduler to answer, and for a first worker


@dataclass(frozen=True)
class Task:
    """
    Rows of an archive, to be released into a directory.

    :param stamp: of the archive.
    :param start: the position of each route's first row.
    """

    path: Path
    stamp: tuple[int, int, int]
    first: int
    end: int
    start: int
    settings: ReleaseSettings
    directory: Path
    sizes: Sizes


@dataclass(frozen=True)
class Part:
    """A file that an attempt at a task has written."""

    name: str
    digest: str
    rows: int


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """
    Give a client of a scheduler that has a worker.

    :raises ConfigurationError: it does not answer, has no worker, or `distributed` is not
        installed.
    """
    if not re.fullmatch(r'tcp://\S+:\d+', address):
        raise ConfigurationError(f'the scheduler {address!r} is no address: write it as '
                                 'tcp://HOST:PORT', setting='scheduler')
    try:
        from distributed import Client
    except ImportError:
        raise ConfigurationError('a scheduler needs the Python package distributed: install '
                                 'symdp_ros with its extra dask', setting='scheduler') from None
    errors = OSError, ValueError, TypeError  # TimeoutError is an OSError
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except errors:
        raise ConfigurationError(f'the scheduler {address} does not answer: write it as '
                                 'tcp://HOST:PORT', setting='scheduler') from None
    try:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except errors:
            raise ConfigurationError(f'the scheduler {address} has no worker: start '
                                     'one', setting='scheduler') from None
        yield client
    finally:
        client.close()


def wanted_cuts(archive: Archive) -> list[int]:
    """Return the rows at which, or after which, a task should begin: by their number alone."""
    step = archive.sizes.task_rows
    return list(range(step, archive.rows, step))


def write(client: Any, archive: Archive, survey: Survey, settings: ReleaseSettings,
          directory: Path, on_rows: Callable[[int], None] = lambda rows: None) -> None:
    """
    Write a private archive as a new directory of part files, and make it durable.

    :param survey: of the archive, with `wanted_cuts`.
    :param directory: its path; meanwhile its folder also holds the attempts.
    :param on_rows: called with the number of rows of each part that is written.
    :raises LogError: what is wrong with the archive; workers that failed, or died, too often.
    :raises ConfigurationError: the workers do not write where this process reads.
    """
    attempts = directory.with_name(f'{secrets.token_hex(8)}.attempts')
    os.mkdir(attempts, 0o700)
    ends = sorted({*survey.cuts, archive.rows})
    tasks = [Task(archive.path.resolve(), archive.stamp(), first, end, survey.start, settings,
                  attempts, archive.sizes) for first, end in zip([0, *ends], ends, strict=False)]
    try:
        winners = _winners(client, tasks, on_rows)
        os.mkdir(directory)
        for number, (task, part) in enumerate(zip(tasks, winners, strict=True)):
            path = attempts / part.name
            if part.rows != task.end - task.first or not path.exists() \
                    or digest_of(path) != part.digest:
                raise ConfigurationError(
                    f'what the workers wrote is not in {directory.parent}: they must see the same '
                    'files under the same paths as this process')
            os.rename(path, directory / f'part-{number:05d}{SUFFIX}')
        flush(directory)
    finally:
        gone = attempts.with_name(f'{secrets.token_hex(8)}.gone')
        os.rename(attempts, gone)  # no attempt knows this name
        shutil.rmtree(gone, ignore_errors=True)


def _winners(client: Any, tasks: list[Task], on_rows: Callable[[int], None]) -> list[Part]:
    """Return the first part that arrived for each task."""
    from distributed import as_completed

    # Not pure, and with new names: Dask must not reuse a result of an earlier run.
    futures = client.map(write_part, tasks, pure=False, retries=_RETRIES,
                         key=f'symdp-release-{secrets.token_hex(8)}')
    numbers = {future.key: number for number, future in enumerate(futures)}
    winners: dict[int, Part] = {}
    problem = None
    try:
        for future, part in as_completed(futures, loop=client.loop, with_results=True):
            if not isinstance(part, Part):
                problem = part if isinstance(part, str) else 'the scheduler is gone, or gave up'
                break
            winners[numbers[future.key]] = part
            on_rows(part.rows)
    except LogError as error:
        problem = error.reason
    except Exception as error:  # of the scheduler, or of a worker without this package
        problem = (f'the cluster gave up with an error of type {type(error).__name__}: are its '
                   'workers alive, and is this package installed there?')
    finally:
        with suppress(Exception):  # a scheduler that is gone
            client.cancel(futures)
    if problem is not None:
        raise LogError(problem, path=tasks[0].path)
    return [winners[number] for number in range(len(tasks))]


def write_part(task: Task) -> Part | str:
    """
    Make one attempt at a task, on a worker.

    :return: what was written, or what is wrong, if a retry does not help.
    :raises LogError: any other error; it quotes nothing of the archive.
    """
    try:
        return _attempt(task)
    except LogError as error:
        return error.reason
    except SymdpError as error:
        return str(error)
    except OSError as error:
        problem = f'a worker cannot write the release: {error.strerror}'
    except Exception as error:  # its text might quote the archive
        problem = f'a worker had an error of type {type(error).__name__}: please report it'
    raise LogError(problem)


def _attempt(task: Task) -> Part:
    settings, path = task.settings, task.directory / f'{secrets.token_hex(16)}{SUFFIX}'
    assert settings.archive is not None
    try:
        with Archive(task.path, settings.archive.columns, task.sizes) as archive:
            archive.check_unchanged(task.stamp)
            mechanism = settings.mechanism.offline(settings.chain, settings.privacy)
            chunks = archive.chunks(position_of=settings.states_by_value(), first=task.first,
                                    end=task.end, start=task.start)
            rows = archive_file.write(path, privatized(chunks, [mechanism]),
                                      archive.schema(), settings.chain.states)
            archive.check_unchanged(task.stamp)
        return Part(path.name, digest_of(path), rows)
    except BaseException:
        remove(path)
        raise
