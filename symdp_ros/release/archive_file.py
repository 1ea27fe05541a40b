# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Archives: many routes in one Parquet file, read and written as a stream.

Three columns: `route`, a string or an integer; `position`, an integer that counts up by one from
0 or from 1 in every route; `symbol`, a string, or an integer or boolean that is read as '3' or
'true'; null is an unknown region. The rows of one route lie together. Whether they do is checked
in passing: routes in pieces, gaps, repeats and disorder show where a position does not follow.

Routes, positions and so lengths are public; everything else of a file that is read, and what its
footer says of it, goes nowhere. A chunk ends where a route does, at the first such row after so
many; so what is written is divided by lengths alone.

Files are read by another process (`archive_reading`): bytes that are damaged can make the library
abort. No row becomes a Python object.
"""
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
import fcntl
import marshal
import os
from pathlib import Path

import numpy as np
from symdp_ros.core.errors import LogError
from symdp_ros.logs import child
from symdp_ros.logs.regular_file import file_stamp, RegularFile
from symdp_ros.release import archive_reading
from symdp_ros.release.archive_reading import Columns, parquet, Survey

__all__ = ['Archive', 'Chunk', 'Columns', 'Survey', 'parquet', 'write']

#: Rows from which on a chunk ends with the route; a chunk is one row group of what is written.
CHUNK_ROWS = 1 << 20

_BATCH_ROWS = 1 << 18
_BUFFER_BYTES = 1 << 20  # of each column that is read: never a whole column of a row group
_PIPE_BYTES = 1 << 20


@dataclass(frozen=True)
class Chunk:
    """
    Some whole routes of an archive.

    `ids`: those of the routes, a pyarrow array of integers or strings; `offsets`: route i is the
    rows offsets[i] to offsets[i + 1], int64, shape (routes + 1,); `start`: the position of each
    route's first row; `states`: that of each row's symbol among the states of the chain, −1 where
    it is none of them, int16 or int32, shape (rows,).
    """

    ids: object
    offsets: np.ndarray
    start: int
    states: np.ndarray

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.states)

    def blocks(self, rows: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, offsets) of blocks of routes that have about so many rows."""
        first, routes = 0, len(self.offsets) - 1
        while first < routes:
            end = int(np.searchsorted(self.offsets, self.offsets[first] + rows))
            end = min(max(end, first + 1), routes)
            begin = self.offsets[first]
            yield slice(begin, self.offsets[end]), self.offsets[first:end + 1] - begin
            first = end

    def with_symbols(self, schema, names, symbols: np.ndarray):
        """
        Return a table of the routes and positions, and of symbols of their own.

        :param schema: `Archive.schema`.
        :param names: what the symbols are called.
        """
        pyarrow, _ = parquet()
        route, position, _ = (field.type for field in schema)
        lengths = np.diff(self.offsets)
        if pyarrow.types.is_dictionary(route):  # with what is used alone, in its order
            ids = self.ids.dictionary_encode()
            routes = pyarrow.DictionaryArray.from_arrays(
                np.repeat(ids.indices.to_numpy(), lengths), ids.dictionary, safe=False)
        else:
            routes = pyarrow.array(np.repeat(self.ids.to_numpy(), lengths), route)
        # Each position is one more than the one before it, but for those that begin a route.
        steps = np.ones(self.rows, np.int64)
        steps[0], steps[self.offsets[1:-1]] = self.start, 1 - lengths[:-1]
        positions = np.cumsum(steps, out=steps).astype(position.to_pandas_dtype(), copy=False)
        column = pyarrow.DictionaryArray.from_arrays(symbols, names, safe=False)
        return pyarrow.Table.from_arrays([routes, pyarrow.array(positions, position), column],
                                         schema=schema)


class Archive:
    """
    An archive that is open for reading: from one thread at a time, and to be closed.

    :raises LogError: there is no such file; it is no regular file, no Parquet file, or cut off;
        it has no such columns, others of their type, or no rows.
    """

    def __init__(self, path, columns: Columns):
        self.path, self.columns, self._process = Path(path), columns, None
        parquet()
        problem = None
        try:
            if self.path.is_dir():
                raise LogError('it is a directory: give one Parquet file')
            with RegularFile(self.path):
                pass
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

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._end()

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes where the file does: size, time of modification and inode."""
        return file_stamp(self.path)

    def check_unchanged(self, stamp: tuple[int, int, int] | None = None) -> None:
        """
        Check that the file is as it was when it was opened, or when it had another stamp.

        :raises LogError: it has changed since.
        """
        try:
            same = self.stamp() == (self._stamp if stamp is None else stamp)
        except OSError:
            same = False
        if not same:
            raise LogError('it was changed while it was being read: release it when it is whole',
                           path=self.path)

    def schema(self):
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
        :raises LogError: routes that do not lie together, or positions that do not count up, with
            the row; a damaged file.
        """
        pyarrow, _ = parquet()
        self._ask('chunks', dict(position_of), first, self.rows if end is None else end, start,
                  CHUNK_ROWS)
        while described := self._answer():
            rows, routes, size, route_start, kind = described
            offsets = self._array(routes + 1, np.int64)
            ids = pyarrow.ipc.open_stream(self._array(size, np.uint8)).read_all().column(0)
            yield Chunk(ids.combine_chunks(), offsets, route_start,
                        self._array(rows, np.dtype(kind)))
        self._asked = False

    def survey(self, wanted: Iterable[int] = ()) -> Survey:
        """
        Look through routes and positions alone.

        :param wanted: rows in order, for `Survey.cuts`.
        :raises LogError: as `chunks`.
        """
        self._ask('survey', list(wanted))
        survey = Survey(*self._answer())
        self._asked = False
        return survey

    def _started(self):
        """Start the process that reads, and return how it describes the file."""
        self._process = child.start(archive_reading.serve)
        self._asked = False
        with suppress(OSError, AttributeError):  # fewer changes between the two processes
            fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._tell((str(self.path), self.columns.names(), _BUFFER_BYTES, _BATCH_ROWS))
        return self._answer()

    def _ask(self, kind, *arguments):
        if self._asked:  # an answer that nobody has read to its end is still on its way
            self._end()
            self._started()
        self._asked = True
        self._tell((kind, arguments))

    def _tell(self, what):
        with suppress(BrokenPipeError):  # it has ended: the answer will say how
            self._process.stdin.write(marshal.dumps(what))
            self._process.stdin.flush()

    def _answer(self):
        try:
            problem, first = marshal.load(self._process.stdout)
        except (EOFError, ValueError, TypeError):
            problem = child.ending(self._process)
        if problem is not None:
            self._end()
            raise LogError(problem, path=self.path)
        return first

    def _array(self, count, type_):
        array = np.empty(count, type_)
        rest = memoryview(array).cast('B')
        while rest:
            size = self._process.stdout.readinto(rest)
            if not size:
                raise LogError(child.ending(self._process), path=self.path)
            rest = rest[size:]
        return array

    def _end(self):
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def write(path: Path, chunks: Generator[tuple[Chunk, np.ndarray], None, None], schema,
          states: tuple[str, ...], tell: Callable[[int], None] = lambda rows: None) -> int:
    """
    Write a new file of released routes, and make it durable; return the number of rows.

    After an error or a kill a part of it may be there.

    :param chunks: each with the symbols released for it, as positions in `states`; closed at the
        end, or after an error.
    :param schema: `Archive.schema`.
    :param tell: called with the rows of each chunk that was written.
    :raises OSError: it cannot be written.
    """
    pyarrow, pq = parquet()
    names, rows = pyarrow.array(states, pyarrow.string()), 0
    with closing(chunks), open(path, 'xb') as file:
        # Of symbols, least and greatest say nothing, and take as long as all the rest of them.
        with pq.ParquetWriter(file, schema, write_statistics=schema.names[:2]) as writer:
            for chunk, symbols in chunks:
                writer.write_table(chunk.with_symbols(schema, names, symbols),
                                   row_group_size=chunk.rows)
                rows += chunk.rows
                tell(chunk.rows)
        file.flush()
        os.utime(file.fileno(), ns=(0, 0))
        os.fsync(file.fileno())
    return rows
