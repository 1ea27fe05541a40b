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

A child process reads the files (`reading`), one after another: damaged bytes can make the library
abort. No row becomes a Python object.
"""
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
import marshal
import os
from pathlib import Path
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints, ShortInts
from symdp_ros.errors import LogError
from symdp_ros.files import child
from symdp_ros.files.regular_file import RegularFile
from symdp_ros.release.archives import reading
from symdp_ros.release.archives.places import ArchivePlace, is_directory, Remote, Stamp, stamp_of
from symdp_ros.release.archives.reading import Columns, parquet, Sizes, Survey
from symdp_ros.release.inspection import Moves

__all__ = ['Archive', 'Chunk', 'Columns', 'Sizes', 'Survey', 'check_unchanged', 'chunk_of',
           'end_readers', 'parquet', 'readers', 'write']

_MOST_MEMORY, _LEAST_MEMORY = 4 << 30, 512 << 20  # bytes that each reader may take


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

    def without(self, column: str, values: frozenset[str]) -> 'Chunk':
        """Return the routes of which a key has none of these values."""
        wanted = np.array([str(key) not in values for key in self.keys.column(column).to_pylist()])
        lengths, mask = np.diff(self.offsets), parquet()[0].array
        rows = np.repeat(wanted, lengths)
        return replace(self, keys=self.keys.filter(mask(wanted)),
                       offsets=np.append(0, np.cumsum(lengths[wanted])),
                       begins=self.begins[wanted], states=self.states[rows],
                       kept=None if self.kept is None else self.kept.filter(mask(rows)))

    def with_symbols(self, schema: Any, names: Any, symbols: ShortInts) -> Any:
        """
        Return a table of the routes, their positions, other symbols, and what is kept.

        :param schema: `Archive.schema`.
        :param names: of the symbols, by number.
        """
        pyarrow, _ = parquet()
        lengths = np.diff(self.offsets)

        def repeated(key: Any) -> Any:
            return pyarrow.array(np.repeat(key.to_numpy(), lengths), key.type)

        keys = []
        for key, field in zip(self.keys.columns, schema, strict=False):
            if pyarrow.types.is_dictionary(field.type):  # of the ids in use, in their order
                coded = key.dictionary_encode()
                keys.append(pyarrow.DictionaryArray.from_arrays(
                    repeated(coded.indices), coded.dictionary, safe=False))
            else:
                keys.append(repeated(key))
        position = schema.field(len(keys)).type
        positions = np.arange(self.rows) - np.repeat(self.offsets[:-1] - self.start, lengths)
        return pyarrow.Table.from_arrays(
            [*keys, pyarrow.array(positions.astype(position.to_pandas_dtype()), position),
             pyarrow.DictionaryArray.from_arrays(symbols, names, safe=False),
             *([] if self.kept is None else self.kept.columns)], schema=schema)


#: Chunks, each with the symbols released for it.
Drawn = Generator[tuple[Chunk, ShortInts], None, None]


class Archive:
    """
    An archive that is open for reading, from one thread at a time; close it.

    :param sizes: of what is read at a time.
    :param unchanged: the stamp that the file must have; None: any.
    :ivar stamp: what changes when the file does.
    :ivar stamps: what the stamps of rows are, such as 'integers'; '': there are none.
    :raises LogError: there is no such file; it is no regular file, no Parquet file, or cut off; it
        was changed; it has no such columns, others of their type, or no rows.
    """

    def __init__(self, path: ArchivePlace, columns: Columns, sizes: Sizes = Sizes(),
                 unchanged: Stamp | None = None):
        self.path, self.columns = path, columns
        parquet()
        problem = None
        try:
            if is_directory(path):
                raise LogError('it is a directory: give one Parquet file')
            with nullcontext() if isinstance(path, Remote) else RegularFile(path):
                self.stamp = stamp_of(path)
        except (LogError, OSError) as error:
            problem = child.problem_of(error)
        if problem is not None:
            raise LogError(problem, path=str(path))
        if unchanged is not None:
            check_unchanged(path, unchanged)
        self._reader = _idle_reader() or _Reader()
        self._is_busy = False
        [(self.rows, self.stamps, schema)] = self._answers('open', path, columns, sizes)
        pyarrow, _ = parquet()
        self.schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(schema))
        self.has_subjects = len(reading.keys_in(self.schema, columns)) > 1

    def __enter__(self) -> 'Archive':
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_busy:  # the last answers were not read to their end
            self._reader.end()
        else:
            _IDLE.append(self._reader)

    def chunks(self, *, position_of: Mapping[str, int], first: int = 0, end: int | None = None,
               start: int | None = None) -> Iterator[Chunk]:
        """
        Yield the rows from `first` to `end`, between which there are whole routes, in chunks.

        :param position_of: value → position in the states of the chain; other values are unknown.
        :param start: the position of each route's first row; None: that of the first one, 0 or 1.
        :raises LogError: routes that are not consecutive, or positions that do not count up, with
            the row; a damaged file.
        """
        def opened(stream: bytes) -> Any:
            return parquet()[0].ipc.open_stream(stream).read_next_batch()

        for keys, offsets_, start_, kind, states, copied in self._answers(
                'chunks', dict(position_of), first, self.rows if end is None else end, start):
            offsets = np.frombuffer(offsets_, np.int64).copy()  # loops take no read-only array
            yield Chunk(opened(keys), offsets, offsets[:-1] + first, start_,
                        np.frombuffer(states, kind), None if copied is None else opened(copied))
            first += int(offsets[-1])

    def survey(self, wanted: Iterable[int] = (), timed: bool = False) -> Survey:
        """
        Read routes and positions alone.

        :param wanted: rows in order, for `Survey.cuts`.
        :param timed: read the stamps, too, for `Survey.spans`.
        :raises LogError: as `chunks`.
        """
        [(*fields, spans)] = self._answers('survey', list(wanted), timed)
        return replace(Survey(*fields), spans=np.frombuffer(spans, np.int64).reshape(-1, 3)
                       if timed else None)

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
        counts: tuple[int, int, dict[str, int], int, list[int]]
        [counts] = self._answers('inspect', dict(position_of), list(no_region), moves)
        return counts

    def _answers(self, kind: str, *arguments: object) -> Iterator[tuple[Any, ...]]:
        """Yield the answers to a request."""
        assert not self._is_busy  # or these would be those to another one
        self._is_busy, problem = True, None
        self._reader.send((kind, arguments))
        try:
            while parts := self._reader.answer():
                yield parts
        except LogError as error:
            problem = error.reason
        if problem is None:
            self._is_busy = False
            return
        self._reader.end()
        # A file that changes while it is read looks damaged.
        check_unchanged(self.path, self.stamp)
        raise LogError(problem, path=str(self.path))


def check_unchanged(path: ArchivePlace, stamp: Stamp) -> None:
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
    batch = reading.with_plain_texts(batch)
    schema = reading.released_schema(batch.schema, columns)
    keys, offsets = reading.keys_in(schema, columns), np.zeros(1, np.int64)
    for column in batch.columns:
        reading.check(column)
    batch = reading.with_coded_keys(batch, keys)
    if len(batch):
        order = reading.RouteOrder(columns, keys, 0, start)
        offsets = np.append(order.starts(batch), len(batch))
    return Chunk(reading.keys_at(batch, keys, offsets[:-1]), offsets, offsets[:-1], start,
                 reading.StatePositions(position_of).of(batch.column(columns.symbol)),
                 reading.kept_of(batch, columns, schema) if columns.keep else None), schema


@cache
def readers() -> tuple[int, int]:
    """
    Return how many files may be read at once, and how many bytes of memory may be taken for each.

    All of them together may take half of what was available at first, or what one needs.
    """
    half = child.available() // 2
    count = max(min((os.cpu_count() or 1) + 4, half // _LEAST_MEMORY), 1)
    return count, max(min(half // count, _MOST_MEMORY), _LEAST_MEMORY)


class _Reader:
    """A process that reads files, one after another."""

    def __init__(self) -> None:
        self._process = child.start(reading.serve)
        self._stdin, self._stdout = child.pipes(self._process)
        pickle.dump(readers()[1], self._stdin)

    def send(self, request: tuple[Any, ...]) -> None:
        """Send a request."""
        with suppress(BrokenPipeError):  # it has ended; `answer` reports how
            pickle.dump(request, self._stdin)
            self._stdin.flush()

    def answer(self) -> tuple[Any, ...]:
        """Return the next parts of an answer; raise LogError where there are none."""
        parts: tuple[Any, ...] = ()
        try:
            problem, parts = marshal.load(self._stdout)
        except (EOFError, ValueError, TypeError):
            problem = child.ending(self._process)
        if problem is not None:
            raise LogError(problem)
        return parts

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()


_IDLE: list[_Reader] = []  # for the next files


def _idle_reader() -> _Reader | None:
    """Take a process that waits for another file; other threads may do so at the same time."""
    with suppress(IndexError):
        return _IDLE.pop()
    return None


def end_readers() -> None:
    """End the processes that wait for another file to read."""
    while reader := _idle_reader():
        reader.end()


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
