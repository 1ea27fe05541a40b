"""
Archives: many routes in one Parquet file, read and written as a stream.

Three columns: `route`, a string or an integer; `position`, an integer that counts up by one from
0 or from 1 in every route; `symbol`, a string, or an integer or boolean that is read as '3' or
'true'; null is an unknown region. The rows of one route lie together. Whether they do is checked
in passing: routes in pieces, gaps, repeats and disorder show where a position does not follow.

Routes, positions and so lengths are public; everything else of a file that is read, and what its
footer says of it, goes nowhere. A chunk ends where a route does, at the first such row after so
many; so what is written is divided by lengths alone.

No row becomes a Python object: symbols are looked up by the dictionary of their column.
"""
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symdp_ros.core.errors import ConfigurationError, LogError

#: Rows from which on a chunk ends with the route; a chunk is one row group of what is written.
CHUNK_ROWS = 1 << 20

_BATCH_ROWS = 1 << 18
_BUFFER_BYTES = 1 << 20  # of each column that is read: never a whole column of a row group
_SORT = 'sort the archive by route and position'


def parquet():
    """
    Return the Python packages (pyarrow, pyarrow.parquet), which rosdep knows no key for.

    :raises ConfigurationError: they are not installed.
    """
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        pyarrow = None
    if pyarrow is None:
        raise ConfigurationError('archives need the Python package pyarrow: install it with pip')
    return pyarrow, pyarrow.parquet


@dataclass(frozen=True)
class Columns:
    """The names of the columns of an archive."""

    route: str = 'route'
    position: str = 'position'
    symbol: str = 'symbol'

    def __post_init__(self):
        if len(set(self.names())) < 3:
            raise ConfigurationError('route_key, position_key and symbol_key must name three '
                                     'columns')

    def names(self) -> tuple[str, str, str]:
        """Return the names in order."""
        return self.route, self.position, self.symbol


@dataclass(frozen=True)
class Survey:
    """
    What is public of the order of an archive.

    `start`: the position of each route's first row; `longest`: rows of the longest route; `cuts`:
    for each row that was asked for, the first row from there on with which a route begins, or the
    number of rows.
    """

    start: int
    longest: int
    cuts: tuple[int, ...]


class Chunk:
    """
    Some whole routes of an archive.

    :param batches: record batches with all columns, of which the routes begin at the rows
        `begins`.
    """

    def __init__(self, columns: Columns, batches: list, begins: list):
        pyarrow, _ = parquet()
        self._columns, self._table = columns, pyarrow.Table.from_batches(batches)
        self.rows = len(self._table)
        #: Route i is the rows offsets[i] to offsets[i + 1]: int64, shape (routes + 1,).
        self.offsets = np.append(np.concatenate(begins), self.rows)

    def symbols(self, position_of: Mapping[str, int]) -> np.ndarray:
        """
        Return the state of each row: int32, shape (rows,).

        :param position_of: value → position in the states of the chain; other values are −1.
        """
        pyarrow, _ = parquet()
        values = pyarrow.array(list(position_of), pyarrow.string())
        # One more, for values that are not listed, which is also the last, for null.
        states = np.array([*position_of.values(), -1], np.int32)
        found = np.empty(self.rows, np.int32)
        row = 0
        for part in self._table[self._columns.symbol].chunks:
            if not pyarrow.types.is_dictionary(part.type):
                part = part.dictionary_encode()
            known = pyarrow.compute.index_in(part.dictionary.cast(pyarrow.string()), values)
            codes = np.append(states[known.fill_null(-1).to_numpy(zero_copy_only=False)], -1)
            indices = part.indices.fill_null(-1) if part.null_count else part.indices
            np.take(codes.astype(np.int32), indices.to_numpy(zero_copy_only=False),
                    out=found[row:row + len(part)], mode='wrap')
            row += len(part)
        return found

    def blocks(self, rows: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, offsets) of blocks of routes that have about so many rows."""
        first, routes = 0, len(self.offsets) - 1
        while first < routes:
            end = int(np.searchsorted(self.offsets, self.offsets[first] + rows))
            end = min(max(end, first + 1), routes)
            begin = self.offsets[first]
            yield slice(begin, self.offsets[end]), self.offsets[first:end + 1] - begin
            first = end

    def with_symbols(self, schema, states, symbols: np.ndarray):
        """Return a table of the routes and positions, and of symbols of their own."""
        pyarrow, _ = parquet()
        # Whole, as where the parts of these columns end may tell of the file that was read.
        route, position = (self._table[name].unify_dictionaries().combine_chunks()
                           for name in self._columns.names()[:2])
        if pyarrow.types.is_dictionary(route.type):  # with what is used alone, in its order
            firsts = route.take(pyarrow.array(self.offsets[:-1]))
            firsts = firsts.cast(route.type.value_type).dictionary_encode()
            numbers = np.repeat(firsts.indices.to_numpy(), np.diff(self.offsets))
            route = pyarrow.DictionaryArray.from_arrays(numbers, firsts.dictionary, safe=False)
        column = pyarrow.DictionaryArray.from_arrays(symbols, states, safe=False)
        return pyarrow.Table.from_arrays([route, position, column], schema=schema)


class Archive:
    """
    An archive that is open for reading: from one thread, and to be closed.

    :raises LogError: there is no such file; it is no Parquet file, or cut off; it has no such
        columns, others of their type, or no rows.
    """

    def __init__(self, path, columns: Columns):
        self.path, self.columns = Path(path), columns
        pyarrow, pq = parquet()
        problem = None
        try:
            if self.path.is_dir():
                raise LogError('it is a directory: give one Parquet file')
            with open(self.path, 'rb'):
                pass
        except LogError as error:
            problem = error.reason
        except FileNotFoundError:
            problem = 'there is no such file'
        except OSError as error:
            problem = f'it cannot be read: {error.strerror}'
        if problem is not None:
            raise LogError(problem, path=self.path)
        try:
            with pq.ParquetFile(self.path) as file:
                problem = _problem(file, columns, pyarrow.types)
                plain = _delta_encoded(file.metadata)
            if problem is None:
                self._file = pq.ParquetFile(
                    self.path, read_dictionary=sorted({columns.route, columns.symbol} - plain),
                    pre_buffer=False, buffer_size=_BUFFER_BYTES, page_checksum_verification=True)
        except Exception:  # whatever the library may raise on foreign bytes
            problem = 'it is no Parquet file, or is cut off, damaged or encrypted'
        if problem is not None:
            raise LogError(problem, path=self.path)
        metadata = self._file.metadata
        counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        #: The first row of each row group, and the number of rows.
        self.group_rows = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.rows = int(self.group_rows[-1])
        self._stamp = self.stamp()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._file.close()

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes where the file does: size, time of modification and inode."""
        status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns, status.st_ino

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
        here, columns = self._file.schema_arrow, self.columns
        route, position = (here.field(name).type for name in (columns.route, columns.position))
        if not pyarrow.types.is_integer(route):
            route = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        return pyarrow.schema([
            pyarrow.field(columns.route, route), pyarrow.field(columns.position, position),
            pyarrow.field(columns.symbol, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))])

    def chunks(self, *, first: int = 0, end: int | None = None,
               start: int | None = None) -> Iterator[Chunk]:
        """
        Yield the rows from `first` to `end`, between which there are whole routes, in chunks.

        :param start: the position of each route's first row; None: that of the first one, 0 or 1.
        :raises LogError: routes that do not lie together, or positions that do not count up, with
            the row; a damaged file.
        """
        end = self.rows if end is None else end
        held, begins, size = [], [], 0
        order = _Order(self.columns, first, start)
        for batch in self._batches(self.columns.names(), first, end):
            starts = self._starts(order, batch)
            while True:
                i = np.searchsorted(starts, CHUNK_ROWS - size)
                if i == len(starts):
                    break
                cut = int(starts[i])
                held.append(batch.slice(0, cut))
                yield Chunk(self.columns, held, [*begins, starts[:i] + size])
                batch, starts = batch.slice(cut), starts[i:] - cut
                held, begins, size = [], [], 0
            held.append(batch)
            begins.append(starts + size)
            size += len(batch)
        if size:
            yield Chunk(self.columns, held, begins)

    def survey(self, wanted: Iterable[int] = ()) -> Survey:
        """
        Look through routes and positions alone.

        :param wanted: rows in order, for `Survey.cuts`.
        :raises LogError: as `chunks`.
        """
        order, row, last, longest = _Order(self.columns, 0, None), 0, 0, 0
        wanted, cuts = list(wanted), []
        for batch in self._batches(self.columns.names()[:2], 0, self.rows):
            starts = self._starts(order, batch) + row
            if len(starts):
                longest = max(longest, int(np.diff(starts, prepend=last).max()))
                last = int(starts[-1])
                while len(cuts) < len(wanted) and wanted[len(cuts)] <= last:
                    cuts.append(int(starts[np.searchsorted(starts, wanted[len(cuts)])]))
            row += len(batch)
        cuts += [row] * (len(wanted) - len(cuts))
        return Survey(order.start, max(longest, row - last), tuple(cuts))

    def _starts(self, order, batch):
        try:
            return order.starts(batch)
        except LogError as error:
            problem = error.reason
        except UnicodeDecodeError:
            problem = f'the column {self.columns.route!r} is not UTF-8 text: convert it'
        raise LogError(problem, path=self.path)

    def _batches(self, names, first, end):
        """Yield the rows from `first` to `end` of some columns in record batches."""
        pyarrow, _ = parquet()
        groups = [i for i in range(len(self.group_rows) - 1)
                  if self.group_rows[i] < end and self.group_rows[i + 1] > first]
        row = int(self.group_rows[groups[0]]) if groups else 0
        batches = self._file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=list(names))
        problem = None
        while row < end:
            try:
                batch = next(batches)
                name = self.columns.route
                if _is_text(batch.column(name).type):  # not read as a dictionary
                    batch = batch.set_column(
                        batch.schema.get_field_index(name), name,
                        batch.column(name).cast(pyarrow.string()).dictionary_encode())
            except Exception as error:  # the file is foreign; StopIteration: rows are missing
                problem = ('it cannot be read, as it is damaged or cut off '
                           f'({type(error).__name__})')
            if problem is not None:
                raise LogError(problem, path=self.path)
            left, right = max(first - row, 0), min(end - row, len(batch))
            row += len(batch)
            if left < right:
                yield batch.slice(left, right - left)


class _Order:
    """Checks, batch by batch, that routes lie together and positions count up, in O(1) memory."""

    def __init__(self, columns, row, start):
        self._columns, self._row, self.start = columns, row, start
        self._route = self._position = self._dictionary = None

    def starts(self, batch) -> np.ndarray:
        """
        Return the rows of the batch with which a route begins: int64.

        :raises LogError: with the row, and nothing of what the route is called.
        """
        route = self._checked(batch, self._columns.route)
        position = self._checked(batch, self._columns.position).to_numpy()
        if position.itemsize < 4:
            position = position.astype(np.int64)  # differences do not wrap around to 1
        numbers, last = self._numbers(route)
        new = np.empty(len(batch), bool)
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        new[0] = self._row_is_new(route)
        follows = np.empty(len(batch), bool)
        np.equal(position[1:] - position[:-1], 1, out=follows[1:])
        follows[0] = self._position is not None and int(position[0]) - self._position == 1
        starts = np.flatnonzero(new)
        if self.start is None:
            if position[0] not in (0, 1):
                raise LogError(f'row {self._row} (counted from 0): the first position of a route '
                               'must be 0 or 1: number the positions of each route from there, '
                               f'and {_SORT}')
            self.start = int(position[0])
        wrong_starts = starts[position[starts] != self.start]
        np.logical_or(follows, new, out=follows)
        if len(wrong_starts) or not follows.all():
            self._refuse(wrong_starts, np.flatnonzero(~follows))
        self._row += len(batch)
        self._route, self._position = last, int(position[-1])
        return starts

    def _refuse(self, wrong_starts, wrong_steps):
        if not len(wrong_steps) or len(wrong_starts) and wrong_starts[0] < wrong_steps[0]:
            raise LogError(f'row {self._row + wrong_starts[0]} (counted from 0): a route begins '
                           f'there, and not with position {self.start} as the first one does; the '
                           f'rows of a route must lie together: {_SORT}')
        raise LogError(f'row {self._row + wrong_steps[0]} (counted from 0): its position is not '
                       f'that of the row before it and one more: {_SORT}, and look for rows that '
                       'are missing or repeated')

    def _checked(self, batch, name):
        column = batch.column(name)
        if column.null_count:
            row = self._row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise LogError(f'row {row} (counted from 0): the column {name!r} is null: every row '
                           'needs a route and a position')
        return column

    def _numbers(self, route):
        """Return a number for each row, equal where routes are, and the last row's route."""
        pyarrow, _ = parquet()
        if not pyarrow.types.is_dictionary(route.type):
            return route.to_numpy(), route[-1].as_py()
        if self._dictionary is None or not route.dictionary.equals(self._dictionary):
            if route.dictionary.null_count:
                raise LogError(f'the column {self._columns.route!r} has null in its dictionary: '
                               'every row needs a route')
            if len(route.dictionary.unique()) < len(route.dictionary):
                route = route.cast(route.type.value_type).dictionary_encode()
            else:
                self._dictionary = route.dictionary
        return route.indices.to_numpy(), route[-1].as_py()

    def _row_is_new(self, route):
        return self._position is None or route[0].as_py() != self._route


def _is_text(type_):
    pyarrow, _ = parquet()
    return pyarrow.types.is_string(type_) or pyarrow.types.is_large_string(type_)


def _delta_encoded(metadata):
    """Return the columns with an encoding of which the library makes no dictionaries."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(metadata.num_columns))
    return {column.path_in_schema for column in columns
            if any('DELTA' in encoding for encoding in column.encodings)}


def _problem(file, columns, types):
    """Return what is wrong with the columns, or None."""
    schema = file.schema_arrow
    for name in columns.names():
        if schema.names.count(name) != 1:
            return (f'it must have one column {name!r}: add it, or name the columns that it has '
                    '(--route-key, --position-key, --symbol-key)')

    def plain(name):
        type_ = schema.field(name).type
        return type_.value_type if types.is_dictionary(type_) else type_

    if not (_is_text(plain(columns.route)) or types.is_integer(plain(columns.route))):
        return f'the column {columns.route!r} holds neither strings nor integers: convert it'
    if not types.is_integer(schema.field(columns.position).type):
        return f'the column {columns.position!r} does not hold integers: convert it'
    symbol = plain(columns.symbol)
    if not (_is_text(symbol) or types.is_integer(symbol) or types.is_boolean(symbol)
            or types.is_null(symbol)):
        return (f'the column {columns.symbol!r} holds neither strings, integers nor booleans: '
                'convert it')
    return None if file.metadata.num_rows else 'it holds no symbols'


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
