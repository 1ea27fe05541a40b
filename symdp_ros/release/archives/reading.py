# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading archives, in a child process: damaged Parquet can make its library abort.

`archive_file.Archive` starts the process, which answers its requests in turn, for one file after
another. It passes on only what it has checked: whole routes in chunks, each with its id, its
subject where the file says it, its length and the positions of its symbols in the states of the
chain.
"""
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import marshal
from typing import Any, BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints
from symdp_ros.errors import ConfigurationError, LogError
from symdp_ros.files import child
from symdp_ros.release.archives.places import place_of, Remote
from symdp_ros.release.inspection import MOST_NAMES, Moves

_MEMORY = 4 << 30  # bytes that the process may take beyond its libraries
_MOST_VALUES = 100_000  # different unknown ones that are counted by name
_REQUEST = 8 << 20  # bytes
_SORT = 'sort the archive by route and position'


def parquet() -> tuple[Any, Any]:
    """
    Return the Python packages (pyarrow, pyarrow.parquet); rosdep has no key for them.

    :raises ConfigurationError: they are not installed.
    """
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ConfigurationError('archives need the Python package pyarrow: install it with '
                                 'pip') from None
    return pyarrow, pyarrow.parquet


@dataclass(frozen=True)
class Columns:
    """
    The names of the columns of an archive.

    :param subject: whose route it is; `stamp`: when a row was. A file needs no such columns.
    :param keep: others, whose values are released as they are.
    """

    route: str = 'route'
    position: str = 'position'
    symbol: str = 'symbol'
    subject: str = 'subject'
    stamp: str = 'stamp'
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.names())) < 5:
            raise ConfigurationError('route_key, position_key, symbol_key, subject_key and '
                                     'stamp_key must name different columns', setting='symbol_key')
        for name in self.keep:
            if name in self.names() or self.keep.count(name) > 1:
                raise ConfigurationError(
                    f'keep names the column {name!r}, ' + (
                        'whose times can show where a robot was: to release them all the same, '
                        'copy them into another column' if name == self.stamp else
                        'which is there anyway, or named twice: leave it out'), setting='keep')

    def names(self) -> tuple[str, str, str, str, str]:
        """Return the names in order."""
        return self.route, self.position, self.symbol, self.subject, self.stamp

    def described(self) -> list[str]:
        """Return the names, for people to read: that of subjects if it is not the usual one."""
        *names, subject, _ = self.names()
        return names if subject == type(self).subject else [*names, subject]


@dataclass(frozen=True)
class Survey:
    """
    What is public of the routes of an archive.

    :param start: the position of each route's first row.
    :param longest: rows of the longest route.
    :param routes: their number.
    :param cuts: for each wanted row, the first row from there on at which a route begins, or the
        number of rows.
    :param subjects: how many routes each subject has; {}: the file does not say whose they are.
    :param spans: of each route the first and the last stamp, and the number of its subject among
        `subjects`, 0 if there are none; int64, shape (routes, 3). None: they were not asked for.
    """

    start: int
    longest: int
    routes: int
    cuts: tuple[int, ...]
    subjects: dict[str, int]
    spans: npt.NDArray[np.int64] | None = None


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """
    Answer requests until there are no more, or one fails: the work of the child.

    Each answer begins with (problem or None, a first part of the answer).

    :param source: requests (kind, arguments): 'open' with those of `_File`, and then names of its
        methods.
    :param target: for the answers.
    """
    parquet()
    child.limit_memory(_MEMORY)
    problem, file = None, None
    while problem is None:
        target.flush()
        child.extend_time()
        try:
            kind, arguments = marshal.load(source)
        except EOFError:
            return
        try:
            if kind == 'open':
                file = None  # not two at a time
                file = _File(*arguments)
            for parts in getattr(file, kind)(*arguments):
                marshal.dump((None, parts[0]), target)
                for part in parts[1:]:
                    target.write(part)
                child.extend_time()
        except BrokenPipeError:
            return
        except UnicodeDecodeError:
            problem = 'a route or subject is not UTF-8 text: convert its column'
        except Exception as error:
            problem = 'it is no Parquet file, or is cut off, damaged or encrypted' \
                if file is None and not isinstance(error, LogError) else child.problem_of(error)
    marshal.dump((problem, None), target)


class _File:
    """
    A Parquet file that is open for reading.

    :param names, keep: of `Columns`.
    :raises LogError: it has no such columns, others of their type, or no rows. The library may
        raise other errors.
    """

    def __init__(self, path: str, names: tuple[str, str, str, str, str], keep: tuple[str, ...],
                 buffer_bytes: int, batch_rows: int):
        self._pyarrow, pq = parquet()
        columns = self._columns = Columns(*names, keep)
        self._batch_rows, place = batch_rows, place_of(path)
        source: Any = path
        if isinstance(place, Remote):  # each piece is a request
            buffer_bytes, source = max(buffer_bytes, _REQUEST), place.open()
        with pq.ParquetFile(source) as file:
            self._schema = schema_of(file.schema_arrow, columns)
            self._kept = kept_schema(file.schema_arrow, columns)
            plain = _delta_encoded(file.metadata)
            if not file.metadata.num_rows:
                raise LogError('it holds no symbols')
        self._keys = self._schema.names[:-1]
        self._file = pq.ParquetFile(
            source, read_dictionary=sorted({*self._keys, columns.symbol} - plain),
            pre_buffer=False, buffer_size=buffer_bytes, page_checksum_verification=True)
        self._has_stamps = columns.stamp in self._file.schema_arrow.names
        metadata = self._file.metadata
        self._group_rows = np.cumsum([0] + [metadata.row_group(i).num_rows
                                            for i in range(metadata.num_row_groups)])
        self._rows = int(self._group_rows[-1])

    def open(self, *arguments: object) -> Iterator[tuple[Any, ...]]:  # noqa: A003 (a request)
        """Yield the number of rows, and the schemas of all columns but the symbols, serialized."""
        yield (self._rows, self._schema.serialize().to_pybytes(), self._has_stamps,
               self._kept.serialize().to_pybytes()),

    def survey(self, wanted: Sequence[int], timed: bool) -> Iterator[tuple[Any, ...]]:
        """Yield a `Survey`; `wanted`: the rows of `cuts`, in order; `timed`: with its spans."""
        order, cuts = RouteOrder(self._columns, self._keys, 0, None), list[int]()
        row = last = longest = routes = 0
        subjects, spans = Counter[str](), _Spans()
        names = (*self._keys, self._columns.position, *(self._columns.stamp,) * timed)
        for batch in self._batches(names, 0, self._rows):
            starts = order.starts(batch) + row
            if timed:
                spans.add(_stamps(batch.column(self._columns.stamp)), starts - row)
            if len(self._keys) > 1:
                here = batch.column(self._columns.subject).take(
                    self._pyarrow.array(starts - row))
                for each in here.value_counts().to_pylist():
                    subjects[str(each['values'])] += each['counts']
                if timed:
                    numbers = {name: number for number, name in enumerate(subjects)}
                    spans.subjects += [numbers[str(name)] for name in here.to_pylist()]
            routes += len(starts)
            if len(starts):
                longest = max(longest, int(np.diff(starts, prepend=last).max()))
                last = int(starts[-1])
                while len(cuts) < len(wanted) and wanted[len(cuts)] <= last:
                    cuts.append(int(starts[np.searchsorted(starts, wanted[len(cuts)])]))
            row += len(batch)
            child.extend_time()
        cuts += [row] * (len(wanted) - len(cuts))
        yield ((order.start, max(longest, row - last), routes, tuple(cuts), dict(subjects)),
               *((spans.of(routes).tobytes(),) if timed else ()))

    def chunks(self, position_of: Mapping[str, int], first: int, end: int, start: int | None,
               chunk_rows: int) -> Iterator[tuple[Any, ...]]:
        """
        Yield the rows from `first` to `end`, between which there are whole routes, in chunks.

        A chunk is ((rows, routes, size of the keys, start, type of the states, size of what is
        kept), offsets, keys, states, what is kept), the last four in bytes, as in
        `archive_file.Chunk`; () is the end.
        """
        order = RouteOrder(self._columns, self._keys, first, start)
        states = StatePositions(position_of)
        held: list[Any] = []
        begins: list[Ints] = []
        size = 0
        names = (*self._keys, self._columns.position, self._columns.symbol, *self._columns.keep)
        for batch in self._batches(names, first, end):
            starts = order.starts(batch)
            while True:
                i = np.searchsorted(starts, chunk_rows - size)
                if i == len(starts):
                    break
                cut = int(starts[i])
                held.append(batch.slice(0, cut))
                yield self._chunk(held, [*begins, starts[:i] + size], order, states)
                batch, starts = batch.slice(cut), starts[i:] - cut
                held, begins, size = [], [], 0
            held.append(batch)
            begins.append(starts + size)
            size += len(batch)
            child.extend_time()
        if size:
            yield self._chunk(held, begins, order, states)
        yield (),

    def inspect(self, position_of: Mapping[str, int], no_region: Sequence[str], initial: int,
                stays: bytes, keys: bytes | None) -> Iterator[tuple[Any, ...]]:
        """
        Yield what `archive_file.Archive.inspect` returns.

        :param initial, stays, keys: as of `inspection.Moves`.
        """
        moves = Moves(initial, np.frombuffer(stays, bool),
                      None if keys is None else np.frombuffer(keys, np.int64))
        need_moves = keys is not None or not moves.stays.all()
        states, names = StatePositions(position_of), Counter[str]()
        unknown = silent = missing = 0
        standing = np.zeros(len(moves.stays), np.int64)
        symbol, position = -1, -2
        names_read = self._columns.names()[1 if need_moves else 2:3]
        for batch in self._batches(names_read, 0, self._rows):
            column = batch.column(self._columns.symbol)
            silent += column.null_count
            for name, count in states.others(column):
                if name is None or name in no_region:
                    silent += count
                else:
                    unknown += count
                    names[name] += count
            if len(names) > _MOST_VALUES:
                names = Counter(dict(names.most_common(MOST_NAMES)))
            child.extend_time()
            if not need_moves:
                continue
            # Within a route, each position is one more than the one before it.
            positions = batch.column(self._columns.position).fill_null(0).to_numpy().astype(
                np.int64)
            begins, found = np.diff(positions, prepend=position) != 1, states.of(column)
            missing += moves.missing(found, begins, symbol)
            standing += moves.standing(found, begins, symbol)
            symbol, position = int(found[-1]), int(positions[-1])
        yield (unknown, silent, dict(names.most_common(MOST_NAMES)), missing,
               standing.tolist()),

    def _chunk(self, batches: list[Any], begins: list[Ints], order: 'RouteOrder',
               states: 'StatePositions') -> tuple[Any, ...]:
        pyarrow = self._pyarrow
        rows = sum(map(len, batches))
        offsets = np.append(np.concatenate(begins), rows).astype(np.int64)
        parts, row = [], 0
        for batch in batches:
            here = offsets[np.searchsorted(offsets, row):
                           np.searchsorted(offsets, row + len(batch))] - row
            parts.append(keys_at(batch, self._keys, here))
            row += len(batch)
        keys = self._stream(pyarrow.concat_batches(parts))
        kept = self._stream(pyarrow.concat_batches(
            [kept_of(batch, self._kept) for batch in batches])) if self._columns.keep else b''
        found = np.concatenate([states.of(batch.column(self._columns.symbol))
                                for batch in batches])
        return ((rows, len(offsets) - 1, len(keys), order.start, found.dtype.str, len(kept)),
                offsets, keys, found, kept)

    def _stream(self, batch: Any) -> Any:
        """Return a batch as it is sent, after checking it."""
        if not all(map(_is_whole, batch.columns)):
            raise LogError('a route, a subject or what is kept is not UTF-8 text, or damaged: '
                           'convert its column')
        sink = self._pyarrow.BufferOutputStream()
        with self._pyarrow.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return sink.getvalue()

    def _batches(self, names: Iterable[str], first: int, end: int) -> Iterator[Any]:
        """Yield the rows from `first` to `end` of some columns in record batches."""
        groups = [i for i in range(len(self._group_rows) - 1)
                  if self._group_rows[i] < end and self._group_rows[i + 1] > first]
        row = int(self._group_rows[groups[0]]) if groups else 0
        batches = self._file.iter_batches(self._batch_rows, row_groups=groups,
                                          columns=list(names))
        while row < end:
            batch = next(batches, None)
            if batch is None:
                raise LogError('it cannot be read, as it is damaged: rows are missing')
            for name in names:
                _check_indices(batch.column(name))
            batch = with_dictionaries(batch, self._keys)
            left, right = max(first - row, 0), min(end - row, len(batch))
            row += len(batch)
            if left < right:
                yield batch.slice(left, right - left)


class _Spans:
    """The first and the last stamp of each route, batch by batch; `subjects`: their numbers."""

    def __init__(self) -> None:
        self._first: list[Ints] = []
        self._last: list[Ints] = []
        self.subjects: list[int] = []

    def add(self, stamps: Ints, starts: Ints) -> None:
        """Add a batch, in which routes begin at some rows."""
        begins = starts if len(starts) and starts[0] == 0 else np.append(0, starts)
        first = np.minimum.reduceat(stamps, begins)
        last = np.maximum.reduceat(stamps, begins)
        if len(begins) > len(starts):  # it begins with the rest of a route
            self._first[-1][-1] = min(self._first[-1][-1], first[0])
            self._last[-1][-1] = max(self._last[-1][-1], last[0])
            first, last = first[1:], last[1:]
        if len(first):
            self._first.append(first)
            self._last.append(last)

    def of(self, routes: int) -> npt.NDArray[np.int64]:
        """Return what `Survey.spans` is."""
        return np.stack([np.concatenate(self._first), np.concatenate(self._last),
                         self.subjects or np.zeros(routes, np.int64)], axis=1)


class StatePositions:
    """
    From symbols to the positions of states.

    :param position_of: value → position in the states of the chain; other values are −1.
    """

    def __init__(self, position_of: Mapping[str, int]):
        self._pyarrow, _ = parquet()
        self._values = self._pyarrow.array(list(position_of), self._pyarrow.string())
        largest = max(position_of.values(), default=0)
        type_ = np.int16 if largest < 1 << 15 else np.int32
        # The last one is for values that are not listed, and for null.
        self._states = np.array([*position_of.values(), -1], type_)

    def of(self, symbols: Any) -> npt.NDArray[Any]:
        """Return the state of each symbol of a column."""
        pyarrow = self._pyarrow
        if not pyarrow.types.is_dictionary(symbols.type):
            symbols = symbols.dictionary_encode()
        known = pyarrow.compute.index_in(symbols.dictionary.cast(pyarrow.string()), self._values)
        codes = np.append(self._states[known.fill_null(-1).to_numpy(zero_copy_only=False)], -1)
        indices = symbols.indices.fill_null(-1) if symbols.null_count else symbols.indices
        found: npt.NDArray[Any] = np.take(codes.astype(self._states.dtype),
                                          indices.to_numpy(zero_copy_only=False), mode='wrap')
        return found

    def others(self, symbols: Any) -> Iterator[tuple[str | None, int]]:
        """Yield the values that are not listed, and how often each; None: null in a dictionary."""
        pyarrow = self._pyarrow
        if not pyarrow.types.is_dictionary(symbols.type):
            symbols = symbols.dictionary_encode()
        values = symbols.dictionary.cast(pyarrow.string())
        known = pyarrow.compute.is_in(values, self._values).to_numpy(zero_copy_only=False)
        counts = np.bincount(symbols.indices.drop_null().to_numpy(), minlength=len(known))
        for i in np.flatnonzero(~known & (counts > 0)):
            value = values[i].cast(pyarrow.binary()).as_py()
            yield value if value is None else value.decode(errors='replace'), int(counts[i])


class RouteOrder:
    """
    Checks, batch by batch, that routes are consecutive and positions count up.

    :param keys: the columns that say which route it is.
    """

    def __init__(self, columns: Columns, keys: Sequence[str], row: int, start: int | None):
        self._pyarrow, _ = parquet()
        self._columns, self._keys, self._row, self.start = columns, keys, row, start
        self._last: list[object] = []  # the keys of the last row
        self._position: int | None = None
        self._dictionaries: dict[str, Any] = {}

    def starts(self, batch: Any) -> Ints:
        """
        Return the rows of the batch at which a route begins.

        :raises LogError: with the row, not with the name of the route.
        """
        keys = [self._checked(batch, name) for name in self._keys]
        position = self._checked(batch, self._columns.position).to_numpy()
        if position.itemsize < 4:
            position = position.astype(np.int64)  # differences do not wrap around to 1
        new = np.zeros(len(batch), bool)
        for name, key in zip(self._keys, keys, strict=True):
            numbers = self._numbers(name, key)
            new[1:] |= numbers[1:] != numbers[:-1]
        new[0] = [key[0].as_py() for key in keys] != self._last
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
        self._last, self._position = [key[-1].as_py() for key in keys], int(position[-1])
        return starts

    def _refuse(self, wrong_starts: Ints, wrong_steps: Ints) -> NoReturn:
        if not len(wrong_steps) or len(wrong_starts) and wrong_starts[0] < wrong_steps[0]:
            raise LogError(f'row {self._row + wrong_starts[0]} (counted from 0): a route begins '
                           f'there, and not with position {self.start} as the first one does; the '
                           f'rows of a route must be consecutive: {_SORT}')
        raise LogError(f'row {self._row + wrong_steps[0]} (counted from 0): its position is not '
                       f'one more than that of the row before it: {_SORT}, and look for rows that '
                       'are missing or repeated')

    def _checked(self, batch: Any, name: str) -> Any:
        column = batch.column(name)
        if column.null_count:
            row = self._row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise LogError(f'row {row} (counted from 0): the column {name!r} is null: every row '
                           'needs a route and a position')
        return column

    def _numbers(self, name: str, key: Any) -> npt.NDArray[Any]:
        """Return a number for each row, equal where the key is."""
        if not self._pyarrow.types.is_dictionary(key.type):
            return key.to_numpy()
        if name not in self._dictionaries or not key.dictionary.equals(self._dictionaries[name]):
            if key.dictionary.null_count:
                raise LogError(f'the column {name!r} has null in its dictionary: every row needs '
                               'a route and a position')
            if len(key.dictionary.unique()) < len(key.dictionary):
                key = key.cast(key.type.value_type).dictionary_encode()
            else:
                self._dictionaries[name] = key.dictionary
        return key.indices.to_numpy()


def _stamps(column: Any) -> Ints:
    """Return stamps as integers: times in nanoseconds, or what they are."""
    pyarrow, _ = parquet()
    if column.null_count:
        raise LogError('a stamp is null: every row needs one, or no row')
    if pyarrow.types.is_timestamp(column.type):
        column = column.cast(pyarrow.timestamp('ns', column.type.tz)).cast(pyarrow.int64())
    stamps: Ints = column.to_numpy().astype(np.int64)
    return stamps


def _is_text(types: Any, type_: Any) -> bool:
    return bool(types.is_string(type_) or types.is_large_string(type_))


def with_dictionaries(batch: Any, keys: Sequence[str]) -> Any:
    """Return a batch in which texts among some columns are dictionaries."""
    pyarrow, _ = parquet()
    for i, name in enumerate(batch.schema.names):
        if name in keys and _is_text(pyarrow.types, batch.column(i).type):
            batch = batch.set_column(
                i, name, batch.column(i).cast(pyarrow.string()).dictionary_encode())
    return batch


def keys_at(batch: Any, keys: Sequence[str], rows: Ints) -> Any:
    """Return some columns of some rows as a record batch, without dictionaries."""
    pyarrow, _ = parquet()
    columns = [batch.column(name).take(pyarrow.array(rows)) for name in keys]
    return pyarrow.record_batch(
        [column.cast(pyarrow.string()) if pyarrow.types.is_dictionary(column.type) else column
         for column in columns], names=list(keys))


def kept_schema(schema: Any, columns: Columns) -> Any:
    """
    Return the schema of the columns that are kept, as they are released.

    :raises LogError: there is no such column, or it holds what cannot be copied row by row.
    """
    pyarrow, _ = parquet()
    types, fields = pyarrow.types, []
    for name in columns.keep:
        if schema.names.count(name) != 1:
            raise LogError(f'it must have one column {name!r}, which is to be kept (--keep)')
        type_ = schema.field(name).type
        if types.is_dictionary(type_):  # which may hold values of rows that are not released
            type_ = type_.value_type
        if not (_is_text(types, type_) or types.is_boolean(type_) or types.is_integer(type_)
                or types.is_floating(type_) or types.is_timestamp(type_)):
            raise LogError(f'the column {name!r} cannot be kept: it holds neither texts, numbers, '
                           'booleans nor times: convert it')
        fields.append((name, type_))
    return pyarrow.schema(fields)


def kept_of(batch: Any, schema: Any) -> Any:
    """Return the columns of a batch that are kept; `schema`: of `kept_schema`."""
    pyarrow, _ = parquet()
    return pyarrow.record_batch([batch.column(field.name).cast(field.type) for field in schema],
                                schema=schema)


def _check_indices(column: Any) -> None:
    """
    Check that the indices of a column are within its dictionary: the library does not.

    :raises LogError: they are not.
    """
    pyarrow, _ = parquet()
    if not pyarrow.types.is_dictionary(column.type):
        return
    bounds = pyarrow.compute.min_max(column.indices).as_py()
    if bounds['max'] is not None and not 0 <= bounds['min'] <= bounds['max'] < len(
            column.dictionary):
        raise LogError('it cannot be read, as it is damaged: a dictionary lacks a value')


def _is_whole(array: Any) -> bool:
    pyarrow, _ = parquet()
    try:
        array.validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


def _delta_encoded(metadata: Any) -> set[str]:
    """Return the columns with encodings that the library cannot read into dictionaries."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(metadata.num_columns))
    return {column.path_in_schema for column in columns
            if any('DELTA' in encoding for encoding in column.encodings)}


def schema_of(schema: Any, columns: Columns) -> Any:
    """
    Return the schema of a release without its symbols: the subject, if any, route and position.

    :raises LogError: columns are missing, or hold something else.
    """
    pyarrow, _ = parquet()
    types, fields = pyarrow.types, []

    def plain(name: str) -> Any:
        type_ = schema.field(name).type
        return type_.value_type if types.is_dictionary(type_) else type_

    for name in columns.names():
        count = schema.names.count(name)
        if count > 1 or not count and name not in (columns.subject, columns.stamp):
            raise LogError(f'it must have one column {name!r}: add it, or name the columns that '
                           'it has (--route-key, --position-key, --symbol-key, --subject-key, '
                           '--stamp-key)')
    for name in (columns.subject, columns.route):
        if name not in schema.names:
            continue
        if types.is_integer(plain(name)):
            fields.append((name, plain(name)))
        elif _is_text(types, plain(name)):
            fields.append((name, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))
        else:
            raise LogError(f'the column {name!r} holds neither strings nor integers: convert it')
    position = schema.field(columns.position).type
    if not types.is_integer(position):
        raise LogError(f'the column {columns.position!r} does not hold integers: convert it')
    if columns.stamp in schema.names and not (types.is_integer(plain(columns.stamp))
                                              or types.is_timestamp(plain(columns.stamp))):
        raise LogError(f'the column {columns.stamp!r} holds neither times nor integers: convert '
                       'it, or name another one (--stamp-key)')
    symbol = plain(columns.symbol)
    if not (_is_text(types, symbol) or types.is_integer(symbol) or types.is_boolean(symbol)
            or types.is_null(symbol)):
        raise LogError(f'the column {columns.symbol!r} holds neither strings, integers nor '
                       'booleans: convert it')
    return pyarrow.schema([*fields, (columns.position, position)])
