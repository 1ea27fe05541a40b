# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Releasing an archive on a Dask cluster: each route is released once, whatever is tried again.

The archive is cut into tasks of whole routes, by the number of rows alone: where the row groups of
the file that is read begin may tell of its symbols. (So a task may have to read a row group from
its beginning that another one reads too.) What passes the scheduler is the path of the archive,
ranges of rows and settings, and of results a file's name, digest and number of rows: never a row.
Workers and this process see the same files under the same paths, and run as the same user.

Every attempt at a task draws afresh, with its worker's own randomness, and writes a file under a
fresh random name into a directory that is not to be seen. Which attempt wins is decided here, by
the result that arrives for the task. Winners are moved into another new directory; the one of
the attempts is renamed and deleted, with whatever lost attempts have left. An attempt makes no
directory, and does not know that of the winners: one that ends late, on a worker that was given
up as lost, finds no place to write, or writes what nobody sees. The ledger is charged by the
caller, once, when all is there.
"""
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
import re
import secrets
import shutil

from symdp_ros.core.errors import ConfigurationError, LogError, SymdpError
from symdp_ros.logs.files import remove
from symdp_ros.release import archive_file
from symdp_ros.release.archive_draw import privatized, SUFFIX
from symdp_ros.release.archive_file import Archive, Survey
from symdp_ros.release.outbox import digest_of, flush
from symdp_ros.release.settings import ArchiveSettings

#: Rows from which on a task ends with the route.
TASK_ROWS = 1 << 22

_RETRIES = 3    # of a task, after errors that are not the archive's
_PATIENCE = 15  # seconds, for the scheduler to answer, and for a first worker


@dataclass(frozen=True)
class Task:
    """
    Rows of an archive, to be released into a directory; `stamp`: that of the archive; `start`: the
    position of each route's first row.
    """

    path: Path
    stamp: tuple[int, int, int]
    first: int
    end: int
    start: int
    settings: ArchiveSettings
    directory: Path


@dataclass(frozen=True)
class Part:
    """A file that an attempt at a task has written."""

    name: str
    digest: str
    rows: int


@contextmanager
def connected(address: str):
    """
    Give a client of a scheduler that has a worker.

    :raises ConfigurationError: it does not answer, has none, or `distributed` is not installed.
    """
    if not re.fullmatch(r'tcp://\S+:\d+', address):
        raise ConfigurationError(f'the scheduler {address!r} is no address: name it as '
                                 'tcp://HOST:PORT')
    try:
        from distributed import Client
    except ImportError:
        Client = None
    if Client is None:
        raise ConfigurationError('a scheduler needs the Python package distributed: install '
                                 'symdp_ros with its extra dask')
    client, problem = None, None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError):  # TimeoutError is an OSError
        problem = ('does not answer: name it as tcp://HOST:PORT' if client is None else
                   'has no worker: start one')
    if problem is not None:
        if client is not None:
            client.close()
        raise ConfigurationError(f'the scheduler {address} {problem}')
    try:
        yield client
    finally:
        client.close()


def wanted_cuts(archive: Archive) -> list[int]:
    """Return the rows from which on a task should begin: by their number alone."""
    return list(range(TASK_ROWS, archive.rows, TASK_ROWS))


def write(client, archive: Archive, survey: Survey, settings: ArchiveSettings, directory: Path,
          tell: Callable[[int], None] = lambda rows: None) -> None:
    """
    Write a private archive as a new directory of part files, and make it durable.

    :param survey: that of the archive, with `wanted_cuts`.
    :param directory: its path; the attempts are kept beside it meanwhile.
    :param tell: called with the rows of each part that is there.
    :raises LogError: what is wrong with the archive; workers that failed, or died, too often.
    :raises ConfigurationError: the workers do not write where this process reads.
    """
    attempts = directory.with_name(f'{secrets.token_hex(8)}.attempts')
    os.mkdir(attempts, 0o700)
    ends = sorted({*survey.cuts, archive.rows})
    tasks = [Task(archive.path.resolve(), archive.stamp(), first, end, survey.start, settings,
                  attempts) for first, end in zip([0, *ends], ends, strict=False)]
    try:
        winners = _winners(client, tasks, tell)
        os.mkdir(directory)
        for number, (task, part) in enumerate(zip(tasks, winners, strict=True)):
            path = attempts / part.name
            if part.rows != task.end - task.first or not path.exists() \
                    or digest_of(path) != part.digest:
                raise ConfigurationError(
                    f'what the workers wrote is not in {directory.parent}: they need to see the '
                    'same files under the same paths as this process')
            os.rename(path, directory / f'part-{number:05d}{SUFFIX}')
        flush(directory)
    finally:
        gone = attempts.with_name(f'{secrets.token_hex(8)}.gone')
        os.rename(attempts, gone)  # no attempt knows this name
        shutil.rmtree(gone, ignore_errors=True)


def _winners(client, tasks, tell) -> list[Part]:
    """Return the part of each task that arrived for it first."""
    from distributed import as_completed

    # Not pure, and of new names: no result of an earlier run may stand for one of these.
    futures = client.map(write_part, tasks, pure=False, retries=_RETRIES,
                         key=f'symdp-release-{secrets.token_hex(8)}')
    numbers = {future.key: number for number, future in enumerate(futures)}
    winners, problem = [None] * len(tasks), None
    try:
        for future, part in as_completed(futures, loop=client.loop, with_results=True):
            if not isinstance(part, Part):
                problem = part if isinstance(part, str) else 'the scheduler is gone, or gave it up'
                break
            winners[numbers[future.key]] = part
            tell(part.rows)
    except LogError as error:
        problem = error.reason
    except Exception as error:  # of the scheduler's, or from a worker without this package
        problem = (f'the cluster gave it up with an error of type {type(error).__name__}: are its '
                   'workers alive, and is this package installed there?')
    finally:
        with suppress(Exception):  # a scheduler that is gone
            client.cancel(futures)
    if problem is not None:
        raise LogError(problem, path=tasks[0].path)
    return winners


def write_part(task: Task) -> Part | str:
    """
    Make one attempt at a task, on a worker.

    :return: what was written, or, where trying again does not help, what is wrong.
    :raises LogError: anything else, without a word of what the archive holds.
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


def _attempt(task):
    settings, path = task.settings, task.directory / f'{secrets.token_hex(16)}{SUFFIX}'
    try:
        with Archive(task.path, settings.columns) as archive:
            archive.check_unchanged(task.stamp)
            mechanism = settings.mechanism_of(settings.mechanism)
            chunks = archive.chunks(position_of=settings.states_by_value(), first=task.first,
                                    end=task.end, start=task.start)
            rows = archive_file.write(path, privatized(chunks, [mechanism]),
                                      archive.schema(), settings.chain.states)
            archive.check_unchanged(task.stamp)
        return Part(path.name, digest_of(path), rows)
    except BaseException:
        remove(path)
        raise
