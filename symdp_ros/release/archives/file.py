# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Archives: many routes in one Parquet file, read and written as a stream.

Three columns: `route`, a string or an integer; `position`, an integer that counts up by one from
0 or from 1 in every route; `symbol`, a string, or an integer or boolean that is read as '3' or
'true'; null is an unknown region. The rows of one route are consecutive. This is checked while
reading: each position must be one more than the one before it, or begin a route.

Routes, positions and so lengths are public; nothing else of a file, or of its footer, is passed
on. A chunk ends with a route, the first that ends after so many rows: so what is written is
divided by lengths alone.

A child process reads the files (`archive_reading`): damaged bytes can make the library abort. No
row becomes a Python object.
"""
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
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
from symdp_ros.files.regular_file import file_stamp, RegularFile
from symdp_ros.release.archives import reading as archive_reading
from symdp_ros.release.archives.reading import Columns, parquet, Survey
from symdp_ros.release.inspection import Moves

__all__ = ['Archive', 'Chunk', 'Columns', 'Sizes', 'Survey', 'parquet', 'write']

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

    :param ids: of the routes, a pyarrow array of integers or strings.
    :param offsets: route i is the rows offsets[i] to offsets[i + 1]: shape (routes + 1,).
    :param start: the position of each route's first row.
    :param states: the position of each row's symbol among the states of the chain, −1: it is none
        of them; shape (rows,).
    """

    ids: Any
    offsets: Ints
    start: int
    states: npt.NDArray[np.int16 | np.int32]

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

    def with_symbols(self, schema: Any, names: Any, symbols: ShortInts) -> Any:
        """
        Return a table of the routes, their positions, and other symbols.

        :param schema: `Archive.schema`.
        :param names: of the symbols, by number.
        """
        pyarrow, _ = parquet()
        route, position, _ = (field.type for field in schema)
        lengths = np.diff(self.offsets)
        if pyarrow.types.is_dictionary(route):  # of the ids in use, in their order
            ids = self.ids.dictionary_encode()
            routes = pyarrow.DictionaryArray.from_arrays(
                np.repeat(ids.indices.to_numpy(), lengths), ids.dictionary, safe=False)
        else:
            routes = pyarrow.array(np.repeat(self.ids.to_numpy(), lengths), route)
        # Each position is one more than the one before it, except at the begin of a route.
        steps = np.ones(self.rows, np.int64)
        steps[0], steps[self.offsets[1:-1]] = self.start, 1 - lengths[:-1]
        positions = np.cumsum(steps, out=steps).astype(position.to_pandas_dtype(), copy=False)
        column = pyarrow.DictionaryArray.from_arrays(symbols, names, safe=False)
        return pyarrow.Table.from_arrays([routes, pyarrow.array(positions, position), column],
                                         schema=schema)


#: Chunks, each with the symbols released for it.
Drawn = Generator[tuple[Chunk, ShortInts], None, None]


class Archive:
    """
    An archive that is open for reading, from one thread at a time; close it.

    :param sizes: of what is read at a time.
    :raises LogError: there is no such file; it is no regular file, no Parquet file, or cut off;
        it has no such columns, others of their type, or no rows.
    """

    def __init__(self, path: str | Path, columns: Columns, sizes: Sizes = Sizes()):
        self.path, self.columns, self.sizes = Path(path), columns, sizes
        parquet()
        problem = None
        try:
            if self.path.is_dir():
                raise LogError('it is a directory: give one Parquet file')
            with RegularFile(self.path):
                self._stamp = self.stamp()
        except LogError as error:
            problem = error.reason
        except FileNotFoundError:
            problem = 'there is no such file'
        except OSError as error:
            problem = f'it cannot be read: {error.strerror}'
        if problem is not None:
            raise LogError(problem, path=self.path)
        self.rows, schema = self._started()
        self._schema = parquet()[0].ipc.read_schema(parquet()[0].py_buffer(schema))

    def __repr__(self) -> str:
        return f'<Archive {str(self.path)!r}>'

    def __enter__(self) -> 'Archive':
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes when the file does: size, time of modification and inode."""
        return file_stamp(self.path)

    def check_unchanged(self, stamp: tuple[int, int, int] | None = None) -> None:
        """
        Check that the file is unchanged.

        :param stamp: of the file before; None: when it was opened.
        :raises LogError: it was changed.
        """
        try:
            same = self.stamp() == (self._stamp if stamp is None else stamp)
        except OSError:
            same = False
        if not same:
            raise LogError('it was changed while it was being read: release it when it is '
                           'complete',
                           path=self.path)

    def schema(self) -> Any:
        """Return the schema of a release: the types of routes and positions are kept."""
        pyarrow, _ = parquet()
        return self._schema.append(pyarrow.field(
            self.columns.symbol, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))

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
            rows, routes, size, route_start, kind = described
            offsets = self._array(routes + 1, np.int64)
            ids = pyarrow.ipc.open_stream(self._array(size, np.uint8)).read_all().column(0)
            yield Chunk(ids.combine_chunks(), offsets, route_start,
                        self._array(rows, np.dtype(kind)))
        self._asked = False

    def survey(self, wanted: Iterable[int] = ()) -> Survey:
        """
        Read routes and positions alone.

        :param wanted: rows in order, for `Survey.cuts`.
        :raises LogError: as `chunks`.
        """
        self._ask('survey', list(wanted))
        survey = Survey(*self._answer())
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

    def _started(self) -> Any:
        """Start the process that reads; return its description of the file."""
        self._process = child.start(archive_reading.serve)
        self._stdin, self._stdout = child.pipes(self._process)
        self._asked = False
        with suppress(OSError, AttributeError):  # a larger pipe is faster
            fcntl.fcntl(self._stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._send((str(self.path), self.columns.names(), self.sizes.buffer_bytes,
                    self.sizes.batch_rows))
        return self._answer()

    def _ask(self, kind: str, *arguments: object) -> None:
        if self._asked:  # the last answer was not read to its end
            self._end()
            self._started()
        self._asked = True
        self._send((kind, arguments))

    def _send(self, request: tuple[Any, ...]) -> None:
        with suppress(BrokenPipeError):  # it has ended; `_answer` reports how
            self._stdin.write(marshal.dumps(request))
            self._stdin.flush()

    def _answer(self) -> Any:
        try:
            problem, first = marshal.load(self._stdout)
        except (EOFError, ValueError, TypeError):
            problem = child.ending(self._process)
        if problem is not None:
            self._end()
            raise LogError(problem, path=self.path)
        return first

    def _array(self, count: int, type_: npt.DTypeLike) -> npt.NDArray[Any]:
        array = np.empty(count, type_)
        rest = memoryview(array.data).cast('B')
        while rest:
            size = self._stdout.readinto(rest)
            if not size:
                raise LogError(child.ending(self._process), path=self.path)
            rest = rest[size:]
        return array

    def _end(self) -> None:
        self._process.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()


def write(path: Path, chunks: Drawn, schema: Any, states: tuple[str, ...],
          on_rows: Callable[[int], None] = lambda rows: None) -> int:
    """
    Write a new file of released routes, and make it durable; return the number of rows.

    After an error or a kill, a part of it may be there.

    :param chunks: each with the symbols released for it, as positions in `states`; closed at the
        end, or after an error.
    :param schema: `Archive.schema`.
    :param on_rows: called with the number of rows of each chunk that was written.
    :raises OSError: it cannot be written.
    """
    pyarrow, pq = parquet()
    names, rows = pyarrow.array(states, pyarrow.string()), 0
    with closing(chunks), open(path, 'xb') as file:
        # Statistics of symbols are useless, and double the time that symbols take.
        with pq.ParquetWriter(file, schema, write_statistics=schema.names[:2]) as writer:
            for chunk, symbols in chunks:
                writer.write_table(chunk.with_symbols(schema, names, symbols),
                                   row_group_size=chunk.rows)
                rows += chunk.rows
                on_rows(chunk.rows)
        file.flush()
        os.utime(file.fileno(), ns=(0, 0))
        os.fsync(file.fileno())
    return rows
