# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Archives as they lie on the disk: one Parquet file, or a directory of them in partitions.

The names of directories may say whose routes are inside, as Hive writes them: those in
`robot=r7/day=2026-11-23/part-0.parquet` are r7's, where the column of subjects is called 'robot'.
A route lies in one file; in another file, its id may stand for another route.
"""
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import os
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints
from symdp_ros.errors import LogError, printable
from symdp_ros.release.archives.parquet_file import (Archive, check_unchanged, Columns,
                                                     readers, Sizes, Survey)
from symdp_ros.release.archives.places import ArchivePlace, is_directory, Remote, Stamp
from symdp_ros.release.inspection import MOST_NAMES, Moves

_Result = TypeVar('_Result')
SUFFIX = '.parquet'
_NO_VALUE = '__HIVE_DEFAULT_PARTITION__'


@dataclass(frozen=True)
class DatasetFile:
    """
    A file of an archive.

    :param name: within the archive; '': it is the archive.
    :param subject: whose routes it holds, as its directories say; None: they do not.
    :param stamp, stamps: of `Archive`.
    """

    path: ArchivePlace
    name: str
    subject: str | None
    stamp: Stamp
    rows: int
    has_subjects: bool
    stamps: str


@dataclass(frozen=True)
class Task:
    """
    Rows of a file, to be released.

    :param start: the position of each route's first row; None: that of the first one.
    :param target: the file of the release, within its directory; '': the release itself.
    :param left_out: subjects whose routes are not released.
    """

    file: DatasetFile
    first: int
    end: int
    start: int | None
    target: str
    left_out: frozenset[str]


class Dataset:
    """
    An archive, each file of which was opened once.

    :raises LogError: there is no file; one is no archive; some say whose routes they hold, and
        others do not.
    """

    def __init__(self, path: ArchivePlace, columns: Columns, sizes: Sizes = Sizes()):
        self.path, self.columns, self.sizes = path, columns, sizes
        self.is_directory = is_directory(path)
        names = list(_names(path)) if self.is_directory else ['']
        self._files = dict(zip(names, self._each(names, self._opened), strict=True))
        self.files = list(self._files.values())
        self.rows = sum(file.rows for file in self.files)
        told = {file.has_subjects or file.subject is not None for file in self.files}
        timed = sorted({file.stamps for file in self.files})
        self.has_subjects, self.has_stamps = told == {True}, '' not in timed
        if len(told) > 1:
            raise LogError(f'some of its files say whose routes they hold (column, or directory, '
                           f'{columns.subject!r}), and others do not', path=str(path))
        if len(timed) > 1 and self.has_stamps:
            raise LogError(f'the stamps ({columns.stamp!r}) of some of its files are {timed[0]}, '
                           f'and of others {timed[1]}, which cannot be compared: convert them',
                           path=str(path))
        if len(timed) > 1:
            raise LogError(f'some of its files have stamps ({columns.stamp!r}), and others do not',
                           path=str(path))

    def _opened(self, name: str) -> DatasetFile:
        path = self.path / name if name else self.path
        with Archive(path, self.columns, self.sizes) as archive:
            return DatasetFile(path.absolute(), name, _subject(name, self.columns.subject),
                               archive.stamp, archive.rows, archive.has_subjects, archive.stamps)

    def _each(self, names: Iterable[str], work: Callable[[str], _Result]) -> list[_Result]:
        """Return what the work returns for each file, on all processors; errors name the file."""
        def named(name: str) -> _Result:
            try:
                return work(name)
            except LogError as error:
                problem = error.reason
            where = f'{printable(name)}: ' if name else ''
            raise LogError(f'{where}{problem}', path=str(self.path))

        with ThreadPoolExecutor(readers()[0]) as pool:
            return list(pool.map(named, names))

    def _in_each(self, work: Callable[[Archive], _Result]) -> list[_Result]:
        """Return what the work returns for each file."""
        def opened(name: str) -> _Result:
            file = self._files[name]
            with Archive(file.path, self.columns, self.sizes, file.stamp) as archive:
                return work(archive)

        return self._each(self._files, opened)

    def check_unchanged(self) -> None:
        """
        Check that the files are unchanged, and that there are no others.

        :raises LogError: they are not.
        """
        if self.is_directory and list(_names(self.path)) != list(self._files):
            raise LogError('files were added or removed while it was being read: release it when '
                           'it is complete', path=str(self.path))
        self._each(self._files, lambda name: check_unchanged(
            self._files[name].path, self._files[name].stamp))

    def survey(self, timed: bool = False) -> Survey:
        """
        Read routes, positions and subjects alone; return what is public of all files together.

        :param timed: read the stamps, too.
        :return: with `cuts` of the tasks of a single file.
        :raises LogError: routes that are not consecutive, or positions that do not count up.
        """
        step = self.sizes.task_rows
        wanted = [] if self.is_directory else range(step, self.rows, step)
        surveys = self._in_each(lambda archive: archive.survey(wanted, timed))
        subjects, spans = Counter[str](), []
        for file, survey in zip(self.files, surveys, strict=True):
            here = survey.subjects if file.has_subjects else {
                file.subject: survey.routes} if file.subject is not None else {}
            if others := [other for other in here if file.subject not in (None, other)]:
                raise LogError(f'{printable(file.name)} lies in a directory of {file.subject!r}, '
                               f'and its column {self.columns.subject!r} says {others[0]!r}: '
                               'move the file, or correct the column', path=str(self.path))
            subjects.update(here)
            if survey.spans is not None:
                numbers = {name: number for number, name in enumerate(subjects)}
                of_file = np.array([numbers[name] for name in here] or [0])
                spans.append(np.column_stack([survey.spans[:, :2], of_file[survey.spans[:, 2]]]))
        return Survey(surveys[0].start, max(survey.longest for survey in surveys),
                      sum(survey.routes for survey in surveys), surveys[0].cuts, dict(subjects),
                      np.concatenate(spans) if spans else None)

    def inspect(self, position_of: dict[str, int], no_region: Sequence[str],
                moves: Moves) -> tuple[int, int, dict[str, int], int, list[int]]:
        """Return what `Archive.inspect` returns, of all files: for the operator alone."""
        inspected = self._in_each(lambda archive: archive.inspect(position_of, no_region, moves))
        names = Counter[str]()
        for _, _, some, _, _ in inspected:
            names.update(some)
        return (sum(each[0] for each in inspected), sum(each[1] for each in inspected),
                dict(names.most_common(MOST_NAMES)), sum(each[3] for each in inspected),
                np.sum([each[4] for each in inspected], axis=0).tolist())

    def tasks(self, survey: Survey | None, left_out: frozenset[str] = frozenset()) -> list[Task]:
        """
        Return the tasks of releasing it.

        :param survey: a single file is cut by it; None: each file is one task.
        :param left_out: subjects whose routes are not released.
        """
        if survey is None or self.is_directory:
            return [Task(file, 0, file.rows, None, name,
                         left_out if file.has_subjects else frozenset())
                    for name, file in self._files.items()
                    if file.has_subjects or file.subject not in left_out]
        [file] = self.files
        ends = sorted({*survey.cuts, file.rows})
        return [Task(file, first, end, survey.start, f'part-{number:05d}{SUFFIX}', left_out)
                for number, (first, end) in enumerate(zip([0, *ends], ends, strict=False))]


def routes_at_once(spans: npt.NDArray[np.int64]) -> Ints:
    """
    Return the largest number of routes that show one moment, for each subject.

    :param spans: of `Survey`.
    :return: shape (subjects,), by their numbers.
    """
    routes, subjects = len(spans), np.tile(spans[:, 2], 2)
    times, ends = np.concatenate([spans[:, 0], spans[:, 1]]), np.arange(2 * routes) >= routes
    order = np.lexsort((ends, times, subjects))  # what begins at a moment, before what ends there
    now = np.cumsum(np.where(ends, -1, 1)[order])  # 0 after each subject
    most = np.zeros(subjects.max() + 1, np.int64)
    np.maximum.at(most, subjects[order], now)
    return most


def _names(path: ArchivePlace) -> Iterator[str]:
    """Yield the names of the Parquet files in a directory, in order; raise LogError: none."""
    count = 0
    for name in sorted(path.names()) if isinstance(path, Remote) else _names_on_disk(path):
        if any(part.startswith(('.', '_')) for part in name.split('/')):
            continue  # what programs write beside data
        if not name.endswith(SUFFIX):
            raise LogError(f'it holds {printable(name)}, which is no {SUFFIX} file: move that '
                           'elsewhere', path=str(path))
        if name != os.fsencode(name).decode(errors='replace'):
            raise LogError(f'it holds {printable(name)}, whose name is not UTF-8: rename it',
                           path=str(path))
        count += 1
        yield name
    if not count:
        raise LogError(f'it holds no {SUFFIX} file', path=str(path))


def _names_on_disk(path: Path) -> Iterator[str]:
    """Yield the names of all files below a directory, in order, but not of hidden directories."""
    def failed(error: OSError) -> None:
        raise LogError(f'a directory of it cannot be read: {error.strerror}', path=path)

    for directory, folders, names in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith(('.', '_')))
        for name in folders:
            if os.path.islink(os.path.join(directory, name)):
                raise LogError(f'it holds {printable(name)}, which is a link to a directory: put '
                               'the directory there', path=path)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(directory, name), path)


def _subject(name: str, key: str) -> str | None:
    """Return whose routes a file holds, as its directories say, or None."""
    for part in Path(name).parts[:-1]:
        name_of_key, is_one, value = part.partition('=')
        if is_one and name_of_key == key:
            if value == _NO_VALUE:
                raise LogError(f'a directory names no subject ({printable(part)}): rename it')
            try:
                return unquote(value, errors='strict')
            except UnicodeDecodeError:
                problem = f'a directory names no subject ({printable(part)}), as it is not UTF-8'
            raise LogError(f'{problem}: rename it')
    return None
