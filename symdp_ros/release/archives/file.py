# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Archives: many routes in one Parquet file, read and written as a stream.

Three columns: `route`, a string or an integer; `position`, an integer that counts up by one from
0 or from 1 in every route; `symbol`, a string, or an integer or boolean that is read as '3' or
'true'; null is an unknown region. A fourth, `subject`, a string or an integer, may say whose route
it is. The rows of one route are consecutive. This is checked while reading: each position must be
one more than the one before it, or begin a route.

Subjects, routes, positions and so lengths are public; nothing else of a file, or of its footer, is
passed on. A chunk ends with a route, the first that ends after so many rows: so what is written is
divided by lengths alone.

A child process reads the files (`archive_reading`), one after another: damaged bytes can make the
library abort. No row becomes a Python object.
"""
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
import fcntl
import marshal
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints, ShortInts
from symdp_ros.errors import LogError
from symdp_ros.files import child
from symdp_ros.files.regular_file import RegularFile
from symdp_ros.release.archives import reading as archive_reading
from symdp_ros.release.archives.places import is_directory, Place, Remote, stamp_of
from symdp_ros.release.archives.reading import Columns, parquet, Survey
from symdp_ros.release.inspection import Moves

__all__ = ['Archive', 'Chunk', 'Columns', 'Sizes', 'Survey', 'check_unchanged', 'chunk_of',
           'end_readers', 'parquet', 'write']

_PIPE_BYTES = 1 << 20


@dataclass(frozen=True)
class Sizes:
    """How much of an archive is read, drawn and written at a time."""

    chunk_rows: int = 1 << 20  # then a chunk ends with the route; it is written as one row group
    batch_rows: int = 1 << 18
    buffer_bytes: int = 1 << 20  # of each column that is read: never a whole one of a row group
    task_rows: int = 1 << 22  # then a task of a cluster ends with the route: a part file
    threads: int = 4  # that draw, at most; more would wait for the one that writes


@dataclass(frozen=True, repr=False)
class Chunk:
    """
    Some whole routes of an archive.

    :param keys: a record batch with one row for each route: its subject, if the file says it, and
        its id; integers or strings.
    :param offsets: route i is the rows offsets[i] to offsets[i + 1]: shape (routes + 1,).
    :param begins: the row of the file at which each route begins: shape (routes,).
    :param start: the position of each route's first row.
    :param states: the position of each row's symbol among the states of the chain, −1: it is none
        of them; shape (rows,).
    :param kept: a record batch with one row for each row; None: nothing is kept.
    """

    keys: Any
    offsets: Ints
    begins: Ints
    start: int
    states: npt.NDArray[np.int16 | np.int32]
    kept: Any = None

    def __repr__(self) -> str:
        return f'<Chunk of {self.rows} rows>'

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.states)

    def blocks(self, rows: int) -> Iterator[tuple[slice, Ints]]:
        """Yield (rows, offsets) of blocks of routes that have about so many rows."""
        first, routes = 0, len(self.offsets) - 1
        while first < routes:
            end = int(np.searchsorted(self.offsets, self.offsets[first] + rows))
            end = min(max(end, first + 1), routes)
            begin = self.offsets[first]
            yield slice(begin, self.offsets[end]), self.offsets[first:end + 1] - begin
            first = end

    def of_routes(self, kept: npt.NDArray[np.bool_]) -> 'Chunk':
        """Return some of the routes; `kept`: shape (routes,)."""
        lengths, mask = np.diff(self.offsets), parquet()[0].array
        rows = np.repeat(kept, lengths)
        return replace(self, keys=self.keys.filter(mask(kept)),
                       offsets=np.append(0, np.cumsum(lengths[kept])), begins=self.begins[kept],
                       states=self.states[rows],
                       kept=None if self.kept is None else self.kept.filter(mask(rows)))

    def with_symbols(self, schema: Any, names: Any, symbols: ShortInts) -> Any:
        """
        Return a table of the routes, their positions, other symbols, and what is kept.

        :param schema: `Archive.schema`.
        :param names: of the symbols, by number.
        """
        pyarrow, _ = parquet()
        lengths = np.diff(self.offsets)
        kept = [] if self.kept is None else self.kept.columns
        *keys, position, _ = list(schema)[:len(schema) - len(kept)]
        columns = []
        for key in keys:
            ids = self.keys.column(key.name)
            if pyarrow.types.is_dictionary(key.type):  # of the ids in use, in their order
                ids = ids.dictionary_encode()
                columns.append(pyarrow.DictionaryArray.from_arrays(
                    np.repeat(ids.indices.to_numpy(), lengths), ids.dictionary, safe=False))
            else:
                columns.append(pyarrow.array(np.repeat(ids.to_numpy(), lengths), key.type))
        # Each position is one more than the one before it, except at the begin of a route.
        steps = np.ones(self.rows, np.int64)
        steps[self.offsets[:-1]] = np.append(self.start, 1 - lengths[:-1])
        steps[:1] = self.start
        positions = np.cumsum(steps, out=steps).astype(position.type.to_pandas_dtype(), copy=False)
        column = pyarrow.DictionaryArray.from_arrays(symbols, names, safe=False)
        return pyarrow.Table.from_arrays(
            [*columns, pyarrow.array(positions, position.type), column, *kept], schema=schema)


#: Chunks, each with the symbols released for it.
Drawn = Generator[tuple[Chunk, ShortInts], None, None]


class Archive:
    """
    An archive that is open for reading, from one thread at a time; close it.

    :param sizes: of what is read at a time.
    :raises LogError: there is no such file; it is no regular file, no Parquet file, or cut off;
        it has no such columns, others of their type, or no rows.
    """

    def __init__(self, path: Place, columns: Columns, sizes: Sizes = Sizes()):
        self.path, self.columns, self.sizes = path, columns, sizes
        parquet()
        problem = None
        try:
            if is_directory(path):
                raise LogError('it is a directory: give one Parquet file')
            with nullcontext() if isinstance(path, Remote) else RegularFile(path):
                self._stamp = self.stamp()
        except LogError as error:
            problem = error.reason
        except FileNotFoundError:
            problem = 'there is no such file'
        except OSError as error:
            problem = f'it cannot be read: {error.strerror}'
        if problem is not None:
            raise LogError(problem, path=str(path))
        self._is_open, self._asked, self.rows, self.has_stamps = False, False, 0, False
        self._open()

    def __repr__(self) -> str:
        return f'<Archive {str(self.path)!r}>'

    def __enter__(self) -> 'Archive':
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_open:
            self._is_open = False
            if self._asked:  # the last answer was not read to its end
                self._reader.end()
            else:
                _IDLE.append(self._reader)

    @property
    def has_subjects(self) -> bool:
        """Return whether the file says whose route each is."""
        return self.columns.subject in self._schema.names

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes when the file does."""
        return stamp_of(self.path)

    def check_unchanged(self, stamp: tuple[int, int, int] | None = None) -> None:
        """
        Check that the file is unchanged.

        :param stamp: of the file before; None: when it was opened.
        :raises LogError: it was changed.
        """
        check_unchanged(self.path, self._stamp if stamp is None else stamp)

    def schema(self) -> Any:
        """Return the schema of a release: types of subjects, routes and positions are kept."""
        return _with_symbols(self._schema, self.columns, self._kept)

    def chunks(self, *, position_of: Mapping[str, int], first: int = 0, end: int | None = None,
               start: int | None = None) -> Iterator[Chunk]:
        """
        Yield the rows from `first` to `end`, between which there are whole routes, in chunks.

        :param position_of: value → position in the states of the chain; other values are unknown.
        :param start: the position of each route's first row; None: that of the first one, 0 or 1.
        :raises LogError: routes that are not consecutive, or positions that do not count up, with
            the row; a damaged file.
        """
        pyarrow, _ = parquet()
        self._ask('chunks', dict(position_of), first, self.rows if end is None else end, start,
                  self.sizes.chunk_rows)
        while described := self._answer():
            rows, routes, size, route_start, kind, size_kept = described
            offsets = self._array(routes + 1, np.int64)
            keys = pyarrow.ipc.open_stream(self._array(size, np.uint8)).read_next_batch()
            states = self._array(rows, np.dtype(kind))
            kept = pyarrow.ipc.open_stream(self._array(size_kept, np.uint8)).read_next_batch() \
                if size_kept else None
            yield Chunk(keys, offsets, offsets[:-1] + first, route_start, states, kept)
            first += rows
        self._asked = False

    def survey(self, wanted: Iterable[int] = (), timed: bool = False) -> Survey:
        """
        Read routes and positions alone.

        :param wanted: rows in order, for `Survey.cuts`.
        :param timed: read the stamps, too, for `Survey.spans`.
        :raises LogError: as `chunks`.
        """
        self._ask('survey', list(wanted), timed)
        survey = Survey(*self._answer())
        if timed:
            survey = replace(survey, spans=self._array(3 * survey.routes, np.int64).reshape(-1, 3))
        self._asked = False
        return survey

    def inspect(self, position_of: Mapping[str, int], no_region: Iterable[str],
                moves: Moves) -> tuple[int, int, dict[str, int], int, list[int]]:
        """
        Return the number of symbols that are no states, and which steps are no moves.

        Unlike chunks, what is returned depends on symbols: it is for the operator alone.

        :param position_of: as of `chunks`.
        :param no_region: values that mean that no region is known.
        :return: rows with a value that names no state; other rows without a state; the most
            frequent of these values, and how often they occur; steps that are no moves; and how
            often each state is repeated though it cannot follow itself.
        :raises LogError: a damaged file.
        """
        self._ask('inspect', dict(position_of), list(no_region), moves.initial,
                  moves.stays.tobytes(), None if moves.keys is None else moves.keys.tobytes())
        found: tuple[int, int, dict[str, int], int, list[int]] = self._answer()
        self._asked = False
        return found

    def _open(self) -> None:
        """Open the file in a process that reads."""
        try:
            self._reader = _IDLE.pop()
        except IndexError:
            self._reader = _Reader()
        self._is_open, self._asked = True, False
        name = self.path.uri if isinstance(self.path, Remote) else str(self.path)
        self._ask('open', name, self.columns.names(), self.columns.keep,
                  self.sizes.buffer_bytes, self.sizes.batch_rows)
        self.rows, schema, self.has_stamps, kept = self._answer()
        self._asked = False
        pyarrow, _ = parquet()
        self._schema, self._kept = (pyarrow.ipc.read_schema(pyarrow.py_buffer(each))
                                    for each in (schema, kept))

    def _ask(self, kind: str, *arguments: object) -> None:
        if self._asked:  # the last answer was not read to its end
            self._reader.end()
            self._open()
        self._asked = True
        self._reader.send((kind, arguments))

    def _answer(self) -> Any:
        try:
            return self._reader.answer()
        except LogError as error:
            problem = error.reason
        raise self._failed(problem)

    def _array(self, count: int, type_: npt.DTypeLike) -> npt.NDArray[Any]:
        array = np.empty(count, type_)
        if not self._reader.fill(memoryview(array.data).cast('B')):
            raise self._failed(self._reader.ending())
        return array

    def _failed(self, problem: str) -> LogError:
        """End the reader; return an error: a file that changes while it is read looks damaged."""
        self._reader.end()
        self._is_open = False
        try:
            check_unchanged(self.path, self._stamp)
        except LogError as error:
            return error
        return LogError(problem, path=str(self.path))


def check_unchanged(path: Place, stamp: tuple[int, int, int]) -> None:
    """
    Check that a file has the stamp that it had before.

    :raises LogError: it was changed; its store does not answer.
    """
    try:
        same = stamp_of(path) == stamp
    except OSError:
        same = False
    if not same:
        raise LogError('it was changed while it was being read: release it when it is complete',
                       path=str(path))


def chunk_of(batch: Any, columns: Columns, position_of: Mapping[str, int],
             start: int) -> tuple[Chunk, Any]:
    """
    Return a record batch of whole routes as a chunk, and the schema of its release.

    :param position_of, start: as of `Archive.chunks`.
    :raises LogError: as `Archive.chunks`.
    """
    pyarrow, _ = parquet()
    schema = archive_reading.schema_of(batch.schema, columns)
    kept = archive_reading.kept_schema(batch.schema, columns)
    keys, offsets = schema.names[:-1], np.zeros(1, np.int64)
    problem = None
    try:
        batch.validate(full=True)
    except pyarrow.ArrowInvalid:
        problem = 'it cannot be read, as it is damaged: a column holds what is not of its type'
    if problem is not None:
        raise LogError(problem)
    batch = archive_reading.with_dictionaries(batch, keys)
    if len(batch):
        order = archive_reading.RouteOrder(columns, keys, 0, start)
        offsets = np.append(order.starts(batch), len(batch))
    states = archive_reading.StatePositions(position_of).of(batch.column(columns.symbol))
    return Chunk(archive_reading.keys_at(batch, keys, offsets[:-1]), offsets, offsets[:-1], start,
                 states, archive_reading.kept_of(batch, kept) if columns.keep else None), (
                     _with_symbols(schema, columns, kept))


def _with_symbols(schema: Any, columns: Columns, kept: Any) -> Any:
    pyarrow, _ = parquet()
    return pyarrow.schema([*schema, pyarrow.field(
        columns.symbol, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())), *kept])


class _Reader:
    """A process that reads files, one after another."""

    def __init__(self) -> None:
        self._process = child.start(archive_reading.serve)
        self._stdin, self._stdout = child.pipes(self._process)
        with suppress(OSError, AttributeError):  # a larger pipe is faster
            fcntl.fcntl(self._stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def send(self, request: tuple[Any, ...]) -> None:
        """Send a request."""
        with suppress(BrokenPipeError):  # it has ended; `answer` reports how
            self._stdin.write(marshal.dumps(request))
            self._stdin.flush()

    def answer(self) -> Any:
        """Return the first part of an answer; raise LogError where there is none."""
        try:
            problem, first = marshal.load(self._stdout)
        except (EOFError, ValueError, TypeError):
            problem = self.ending()
        if problem is not None:
            raise LogError(problem)
        return first

    def fill(self, rest: memoryview) -> bool:
        """Fill a buffer with the next bytes of an answer; return whether there were enough."""
        while rest:
            size = self._stdout.readinto(rest)
            if not size:
                return False
            rest = rest[size:]
        return True

    def ending(self) -> str:
        """Return how the process ended."""
        return child.ending(self._process)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()


_IDLE: list[_Reader] = []  # for the next files


def end_readers() -> None:
    """End the processes that wait for another file to read."""
    while _IDLE:
        _IDLE.pop().end()


def write(path: Path, chunks: Drawn, schema: Any, symbol: str, states: tuple[str, ...],
          on_rows: Callable[[int], None] = lambda rows: None) -> int:
    """
    Write a new file of released routes, and make it durable; return the number of rows.

    After an error or a kill, a part of it may be there.

    :param chunks: each with the symbols released for it, as positions in `states`; closed at the
        end, or after an error.
    :param schema: `Archive.schema`.
    :param symbol: the name of the column of symbols.
    :param on_rows: called with the number of rows of each chunk that was written.
    :raises OSError: it cannot be written.
    """
    pyarrow, pq = parquet()
    names, rows = pyarrow.array(states, pyarrow.string()), 0
    with closing(chunks), open(path, 'xb') as file:
        # Statistics of symbols are useless, and double the time that symbols take.
        with pq.ParquetWriter(file, schema, write_statistics=[
                name for name in schema.names if name != symbol]) as writer:
            for chunk, symbols in chunks:
                writer.write_table(chunk.with_symbols(schema, names, symbols),
                                   row_group_size=chunk.rows)
                rows += chunk.rows
                on_rows(chunk.rows)
        file.flush()
        os.utime(file.fileno(), ns=(0, 0))
        os.fsync(file.fileno())
    return rows
