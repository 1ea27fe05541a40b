# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading archives, in a child process: damaged Parquet can make its library abort.

`parquet_file.Archive` starts the process, which answers its requests in turn, file after file.
It passes on only what it has checked: whole routes in chunks, each with its id, its subject where
the file says it, its length and the positions of its symbols in the states of the chain.
"""
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import marshal
import pickle
from typing import Any, BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints
from symdp_ros.errors import ConfigurationError, LogError
from symdp_ros.files import child
from symdp_ros.release.archives.places import ArchivePlace, Remote
from symdp_ros.release.inspection import MOST_NAMES, Moves
from symdp_ros.words.stamps import LARGEST, OUT_OF_RANGE

_MOST_VALUES = 100_000  # different unknown ones that are counted by name
_REQUEST = 8 << 20  # bytes
_TEXTS = 'string large_string string_view'
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
class Sizes:
    """How much of an archive is read, drawn and written at a time."""

    chunk_rows: int = 1 << 20  # then a chunk ends with the route; it is written as one row group
    batch_rows: int = 1 << 18
    buffer_bytes: int = 1 << 20  # of each column that is read: never a whole one of a row group
    task_rows: int = 1 << 22  # then a task of a cluster ends with the route: a part file
    threads: int = 4  # that draw, at most; more would wait for the one that writes


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

    :param source: how many bytes of memory this process may take beyond its libraries; then
        requests (kind, arguments): 'open' with the arguments of `_File`, and names of its methods.
        All are pickled.
    :param target: for the answers to each, (problem or None, parts), marshalled: what comes from
        here is no code. The last one has no parts.
    """
    parquet()
    child.limit_memory(pickle.load(source))
    problem, file = None, None
    while problem is None:
        target.flush()
        child.extend_time()
        try:
            kind, arguments = pickle.load(source)
        except EOFError:
            return
        try:
            if kind == 'open':
                file = None  # not two at a time
                file = _File(*arguments)
                arguments = ()
            for parts in getattr(file, kind)(*arguments):
                marshal.dump((None, parts), target)
                child.extend_time()
            marshal.dump((None, ()), target)
        except BrokenPipeError:
            return
        except Exception as error:
            problem = 'it is no Parquet file, or is cut off, damaged or encrypted' \
                if file is None and not isinstance(error, LogError) else child.problem_of(error)
    marshal.dump((problem, ()), target)


class _File:
    """
    A Parquet file that is open for reading.

    :raises LogError: it has no such columns, others of their type, or no rows. The library may
        raise other errors.
    """

    def __init__(self, place: ArchivePlace, columns: Columns, sizes: Sizes):
        _, pq = parquet()
        self._columns, self._sizes = columns, sizes
        buffer_bytes, source = sizes.buffer_bytes, str(place)
        if isinstance(place, Remote):  # each piece is a request
            buffer_bytes, source = max(buffer_bytes, _REQUEST), place.open()
        with pq.ParquetFile(source) as file:
            metadata, schema = file.metadata, file.schema_arrow
        self._schema = released_schema(schema, columns)
        self._keys = keys_in(schema, columns)
        self._stamps = _kind_of_stamps(schema, columns.stamp)
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        self._group_rows = np.cumsum([0, *(group.num_rows for group in groups)])
        self._rows = int(self._group_rows[-1])
        if not self._rows:
            raise LogError('it holds no symbols')
        plain = {column.path_in_schema for group in groups
                 for column in map(group.column, range(metadata.num_columns))
                 if any('DELTA' in encoding for encoding in column.encodings)}
        self._file = pq.ParquetFile(  # which cannot read these into dictionaries
            source, read_dictionary=sorted({*self._keys, columns.symbol} - plain),
            pre_buffer=False, buffer_size=buffer_bytes, page_checksum_verification=True)

    def open(self) -> Iterator[tuple[Any, ...]]:  # noqa: A003 (a request)
        """Yield the number of rows, what their stamps are, and the schema of a release."""
        yield self._rows, self._stamps, self._schema.serialize()

    def survey(self, wanted: Sequence[int], timed: bool) -> Iterator[tuple[Any, ...]]:
        """Yield what a `Survey` has; `wanted`: the rows of `cuts`, in order; `timed`: spans."""
        order, cuts = RouteOrder(self._columns, self._keys, 0, None), list[int]()
        row = last = longest = routes = 0
        numbers, counts = dict[str, int](), Counter[int]()  # of subjects
        spans: list[list[Any]] = [[], [], [], []]
        names = (*self._keys, self._columns.position, *(self._columns.stamp,) * timed)
        for batch in self._batches(names, 0, self._rows):
            begins = order.starts(batch)
            starts = begins + row
            if len(self._keys) > 1:
                whose = [numbers.setdefault(str(name), len(numbers)) for name in batch.column(
                    self._columns.subject).take(begins).to_pylist()]
                counts.update(whose)
            else:
                whose = [0] * len(begins)
            if timed:
                times, edges = _stamps(batch.column(self._columns.stamp)), np.union1d(0, begins)
                for parts, part in zip(spans, (
                        np.minimum.reduceat(times, edges), np.maximum.reduceat(times, edges),
                        np.isin(edges, begins), whose), strict=True):
                    parts.append(part)
            routes += len(starts)
            if len(starts):
                longest = max(longest, int(np.diff(starts, prepend=last).max()))
                last = int(starts[-1])
                while len(cuts) < len(wanted) and wanted[len(cuts)] <= last:
                    cuts.append(int(starts[np.searchsorted(starts, wanted[len(cuts)])]))
            row += len(batch)
            child.extend_time()
        cuts += [row] * (len(wanted) - len(cuts))
        stamps = None
        if timed:  # of each route, of which a batch may hold a part
            least, most, is_begin, subjects = map(np.concatenate, spans)
            first = np.flatnonzero(is_begin)
            stamps = np.stack([np.minimum.reduceat(least, first), np.maximum.reduceat(most, first),
                               subjects.astype(np.int64)], axis=1)
        yield (order.start, max(longest, row - last), routes, tuple(cuts),
               {name: counts[number] for name, number in numbers.items()}, stamps)

    def chunks(self, position_of: Mapping[str, int], first: int, end: int,
               start: int | None) -> Iterator[tuple[Any, ...]]:
        """Yield the parts of a `parquet_file.Chunk`, of each chunk in rows `first` to `end`."""
        order = RouteOrder(self._columns, self._keys, first, start)
        states = StatePositions(position_of)
        pieces, size = list[tuple[Any, ...]](), 0
        names = (*self._keys, self._columns.position, self._columns.symbol, *self._columns.keep)

        def add(rows: Any, begins: Ints) -> None:
            nonlocal size
            pieces.append((keys_at(rows, self._keys, begins), begins + size,
                           states.of(rows.column(self._columns.symbol)),
                           kept_of(rows, self._columns, self._schema)))
            size += len(rows)

        def joined() -> tuple[Any, ...]:
            keys, begins, states_of_pieces, copied = zip(*pieces, strict=True)
            symbols = np.concatenate(states_of_pieces)
            return (_stream(keys), np.append(np.concatenate(begins), size), order.start,
                    symbols.dtype.str, symbols, _stream(copied) if self._columns.keep else None)

        for batch in self._batches(names, first, end):
            begins = order.starts(batch)
            while len(begins) and begins[-1] >= self._sizes.chunk_rows - size:
                i = np.searchsorted(begins, self._sizes.chunk_rows - size)
                cut = int(begins[i])
                add(batch.slice(0, cut), begins[:i])
                yield joined()
                batch, begins = batch.slice(cut), begins[i:] - cut
                pieces, size = [], 0
            add(batch, begins)
            child.extend_time()
        if size:
            yield joined()

    def inspect(self, position_of: Mapping[str, int], no_region: Sequence[str],
                moves: Moves) -> Iterator[tuple[Any, ...]]:
        """Yield what `parquet_file.Archive.inspect` returns."""
        need_moves = moves.keys is not None or not moves.stays.all()
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
            begins, numbers = np.diff(positions, prepend=position) != 1, states.of(column)
            missing += moves.missing(numbers, begins, symbol)
            standing += moves.standing(numbers, begins, symbol)
            symbol, position = int(numbers[-1]), int(positions[-1])
        yield (unknown, silent, dict(names.most_common(MOST_NAMES)), missing,
               standing.tolist())

    def _batches(self, names: Iterable[str], first: int, end: int) -> Iterator[Any]:
        """Yield the rows from `first` to `end` of some columns in record batches."""
        groups = [i for i in range(len(self._group_rows) - 1)
                  if self._group_rows[i] < end and self._group_rows[i + 1] > first]
        row = int(self._group_rows[groups[0]]) if groups else 0
        batches = self._file.iter_batches(self._sizes.batch_rows, row_groups=groups,
                                          columns=list(names))
        while row < end:
            batch = next(batches, None)
            if batch is None:
                raise LogError('it cannot be read, as it is damaged: rows are missing')
            batch = with_plain_texts(batch)
            for name in names:
                check(batch.column(name), is_text=name != self._columns.symbol)
            left, right = max(first - row, 0), min(end - row, len(batch))
            row += len(batch)
            if left < right:
                yield with_coded_keys(batch, self._keys).slice(left, right - left)


def _stream(batches: Sequence[Any]) -> Any:
    """Return record batches as one that can be sent."""
    pyarrow, _ = parquet()
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batches[0].schema) as stream:
        stream.write_batch(pyarrow.concat_batches(batches))
    return sink.getvalue()


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
        symbols, names = self._coded(symbols)
        known = self._pyarrow.compute.index_in(names, self._values)
        codes = np.append(self._states[known.fill_null(-1).to_numpy(zero_copy_only=False)], -1)
        indices = symbols.indices.fill_null(-1) if symbols.null_count else symbols.indices
        return np.take(codes.astype(self._states.dtype),
                       indices.to_numpy(zero_copy_only=False), mode='wrap')

    def others(self, symbols: Any) -> Iterator[tuple[str | None, int]]:
        """Yield the values that are not listed, and how often each; None: null in a dictionary."""
        symbols, names = self._coded(symbols)
        known = self._pyarrow.compute.is_in(names, self._values).to_numpy(zero_copy_only=False)
        counts = np.bincount(symbols.indices.drop_null().to_numpy(), minlength=len(known))
        for i in np.flatnonzero(~known & (counts > 0)):
            value = names[i].cast(self._pyarrow.binary()).as_py()
            yield value if value is None else value.decode(errors='replace'), int(counts[i])

    def _coded(self, symbols: Any) -> tuple[Any, Any]:
        """Return a column as a dictionary, and the values in that as strings."""
        if not self._pyarrow.types.is_dictionary(symbols.type):
            symbols = symbols.dictionary_encode()
        return symbols, symbols.dictionary.cast(self._pyarrow.string())


class RouteOrder:
    """
    Checks, batch by batch, that routes are consecutive and positions count up.

    :param keys: the columns that say which route it is; `with_coded_keys`.
    """

    def __init__(self, columns: Columns, keys: Sequence[str], row: int, start: int | None):
        self._columns, self._keys, self._row, self.start = columns, keys, row, start
        self._last: list[object] = []  # the keys of the last row
        self._position: int | None = None

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
        for key in keys:
            new[_changes(key)] = True
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
        if parquet()[0].types.is_dictionary(column.type) and column.dictionary.null_count:
            raise LogError(f'the column {name!r} has null in its dictionary: every row needs a '
                           'route and a position')
        return column


def _changes(key: Any) -> Ints:
    """Return the rows of a column without null whose value is not that of the row before."""
    pyarrow, _ = parquet()
    is_dictionary = pyarrow.types.is_dictionary(key.type)
    codes = (key.indices if is_dictionary else key).to_numpy()
    rows = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    if is_dictionary:  # which may hold a value twice
        before, here = (key.take(pyarrow.array(at)).dictionary_decode() for at in (rows - 1, rows))
        rows = rows[pyarrow.compute.not_equal(before, here).to_numpy(zero_copy_only=False)]
    return rows


def _stamps(column: Any) -> Ints:
    """Return stamps as integers: times in nanoseconds, or what they are."""
    pyarrow, _ = parquet()
    if column.null_count:
        raise LogError('a stamp is null: every row needs one, or no row')
    if pyarrow.types.is_timestamp(column.type):
        try:
            column = column.cast(pyarrow.timestamp('ns', column.type.tz)).cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            column = None
        if column is None:
            raise LogError(f'{OUT_OF_RANGE}, or use integers of seconds in all files')
    if len(column) and column.to_numpy().max() > LARGEST:  # of uint64
        raise LogError(OUT_OF_RANGE)
    return column.to_numpy().astype(np.int64)


def _kind_of_stamps(schema: Any, name: str) -> str:
    """Return what the stamps of an archive are; '': it has none."""
    if name not in schema.names:
        return ''
    type_ = _plain(schema.field(name).type)
    return 'integers' if parquet()[0].types.is_integer(type_) else \
        'times' if type_.tz is None else 'times with a time zone'


def _is_text(type_: Any) -> bool:
    types = parquet()[0].types
    return any(getattr(types, f'is_{kind}')(type_) for kind in _TEXTS.split())


def _plain(type_: Any) -> Any:
    """Return the type of the values of a column, which may be a dictionary."""
    return type_.value_type if parquet()[0].types.is_dictionary(type_) else type_


def keys_in(schema: Any, columns: Columns) -> list[str]:
    """Return the columns that say which route it is."""
    return [name for name in (columns.subject, columns.route) if name in schema.names]


def with_plain_texts(batch: Any) -> Any:
    """Return a batch in which views of texts are texts."""
    pyarrow, _ = parquet()
    for i, name in enumerate(batch.schema.names):
        if pyarrow.types.is_string_view(batch.column(i).type):
            batch = batch.set_column(i, name, batch.column(i).cast(pyarrow.large_string()))
    return batch


def with_coded_keys(batch: Any, keys: Sequence[str]) -> Any:
    """Return a batch in which texts among some columns are dictionaries."""
    for i, name in enumerate(batch.schema.names):
        if name in keys and _is_text(batch.column(i).type):
            batch = batch.set_column(i, name, batch.column(i).dictionary_encode())
    return batch


def keys_at(batch: Any, keys: Sequence[str], rows: Ints) -> Any:
    """Return some columns of some rows as a record batch of strings and integers."""
    pyarrow, _ = parquet()
    columns = [batch.column(name).take(pyarrow.array(rows)) for name in keys]
    return pyarrow.record_batch([column.cast(
        pyarrow.string() if _is_text(_plain(column.type)) else _plain(column.type))
        for column in columns], names=list(keys))


def kept_of(batch: Any, columns: Columns, schema: Any) -> Any:
    """Return the columns of a batch that are kept; `schema`: of `released_schema`."""
    return parquet()[0].record_batch(
        [batch.column(name).cast(schema.field(name).type) for name in columns.keep],
        names=list(columns.keep))


def check(column: Any, *, is_text: bool = True) -> None:
    """
    Check that indices are within their dictionary and that text is UTF-8: the library does not.

    :param is_text: whether text must be UTF-8.
    :raises LogError: they are not.
    """
    pyarrow, _ = parquet()
    if not is_text:
        if not pyarrow.types.is_dictionary(column.type):
            return
        column = pyarrow.DictionaryArray.from_arrays(
            column.indices, pyarrow.nulls(len(column.dictionary)), safe=False)
    problem = ''
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        problem = 'it cannot be read, as it is damaged, or a column of texts is not UTF-8'
    if problem:
        raise LogError(problem)


def released_schema(schema: Any, columns: Columns) -> Any:
    """
    Return the schema of a release: the subject, if any, route, position, symbol, what is kept.

    :raises LogError: columns are missing, or hold something else.
    """
    pyarrow, _ = parquet()
    types, fields = pyarrow.types, []
    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    for name in columns.names():
        count = schema.names.count(name)
        if count > 1 or not count and name not in (columns.subject, columns.stamp):
            raise LogError(f'it must have one column {name!r}: add it, or name the columns that '
                           'it has (--route-key, --position-key, --symbol-key, --subject-key, '
                           '--stamp-key)')

    def type_of(name: str, kinds: str, problem: str) -> Any:
        type_ = _plain(schema.field(name).type)
        if not any(getattr(types, f'is_{kind}')(type_) for kind in kinds.split()):
            raise LogError(f'the column {name!r} {problem}: convert it')
        return type_

    for name in keys_in(schema, columns):
        type_ = type_of(name, f'integer {_TEXTS}', 'holds neither strings nor integers')
        fields.append((name, text if _is_text(type_) else type_))
    position = schema.field(columns.position).type
    if not types.is_integer(position):
        raise LogError(f'the column {columns.position!r} does not hold integers: convert it')
    if columns.stamp in schema.names:
        type_of(columns.stamp, 'integer timestamp', 'holds neither times nor integers: name '
                'another one (--stamp-key), or, of seconds with decimals, make nanoseconds:')
    type_of(columns.symbol, f'integer boolean null {_TEXTS}',
            'holds neither strings, integers nor booleans')
    fields += [(columns.position, position), (columns.symbol, text)]
    for name in columns.keep:
        if schema.names.count(name) != 1:
            raise LogError(f'it must have one column {name!r}, which is to be kept (--keep)')
        # Not as a dictionary, which may hold values of rows that are not released.
        fields.append((name, type_of(
            name, f'boolean integer floating timestamp {_TEXTS}',
            'cannot be kept: it holds neither texts, numbers, booleans nor times')))
    return pyarrow.schema(fields)
