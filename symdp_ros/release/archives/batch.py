# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Privatizing routes: one pure function of a batch, which any engine can map.

The random bits of a route are those of AES-256 (`core.word_arrays.WordBits`) under the key of the
release and the name of its file. The nonce is the row of the file at which the route begins; of a
batch that comes from no file, 96 bits that follow from its subject and its id. So what is drawn
for a route follows from the key and the route alone: a batch that is drawn twice, by a task that
was retried or by two that race, gives the same bits. In whatever batches, order, engine and number
of workers a release is made, it is the same, and no second draw of a route exists.

**Privacy** then rests, besides the mechanism, on AES-256, and on two things: no nonce serves two
routes, and nobody keeps the key, which is drawn from the operating system for one release, lies in
a file of mode 0600, and is deleted when all is drawn.
"""
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
import os
from pathlib import Path
from queue import SimpleQueue
from threading import Event, get_ident
from typing import Any, TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Ints, ShortInts
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.word_arrays import KEY_BYTES, NAME_BYTES, WordBits
from symdp_ros.errors import LogError
from symdp_ros.release.archives.file import Chunk, chunk_of, Drawn, parquet

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.release.settings import ReleaseSettings

_BLOCK_ROWS = 1 << 16   # privatized between two checks whether to stop
_NAMED_ROUTES = 1 << 16  # at a time
_LONGEST_ID = 1000      # bytes
_BLOCK = 16             # bytes, of AES


@dataclass(frozen=True)
class ReleaseKey:
    """
    How the routes of one release are drawn; it can be sent to workers, which read the key.

    :param settings: with a mechanism that leaves nothing open, for routes of these lengths.
    :param path: of the file of the key, which `new` makes; delete it when all is drawn.
    """

    settings: 'ReleaseSettings'
    path: Path

    @classmethod
    def new(cls, settings: 'ReleaseSettings', path: Path,
            random: 'RandomBits | None' = None) -> 'ReleaseKey':
        """
        Return a new key, which is written to a new file.

        :param random: for tests, where it is drawn from; None: the operating system.
        """
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with open(descriptor, 'wb') as file:
            file.write(os.urandom(KEY_BYTES) if random is None else random.getrandbits(
                8 * KEY_BYTES).to_bytes(KEY_BYTES, 'little'))
        return cls(settings, path)

    def of(self, file: str) -> bytes:
        """Return the key of the routes of a file; `file`: its name within the release."""
        return blake2b(self.path.read_bytes(), digest_size=KEY_BYTES, person=b'routes',
                       salt=blake2b(file.encode(), digest_size=16).digest()).digest()


def privatize_batch(batch: Any, release: ReleaseKey, *, file: str = '', start: int = 0) -> Any:
    """
    Return the private routes of a record batch: its routes and positions, and other symbols.

    It is a pure function: equal arguments give equal batches. The caller charges the release.

    :param batch: a pyarrow RecordBatch of whole routes with the columns of `release`; others are
        left out. **No route may be in two batches**: for such a route, or for two routes of one
        subject with the same id, the same bits would be drawn. (Give `file` where ids repeat.)
    :param file: what ids are unique in.
    :param start: the position of each route's first row, 0 or 1.
    :raises LogError: a route is not whole, or is there twice; columns are missing.
    :raises ConfigurationError: a route is too long for the mechanism.
    """
    settings = release.settings
    assert settings.archive is not None
    chunk, schema = chunk_of(batch, settings.archive.columns, settings.states_by_value(), start)
    names = names_of(chunk.keys, release.of(file))
    if len(np.unique(names, axis=0)) < len(names):
        raise LogError('two of its routes have the same id: give them different ones')
    symbols = mechanism_of(settings).privatize_many(
        chunk.states.astype(np.int32), chunk.offsets, WordBits(names, release.of(file)))
    states = parquet()[0].array(settings.chain.states)
    table = chunk.with_symbols(schema, states, symbols).combine_chunks()
    return parquet()[0].record_batch([column.chunk(0) for column in table.columns], schema=schema)


def mechanism_of(settings: 'ReleaseSettings', number: int = 0) -> OfflineMechanism:
    """Return a mechanism of this thread; `number`: of several."""
    return _mechanism(settings, get_ident(), number)


@lru_cache(maxsize=8)
def _mechanism(settings: 'ReleaseSettings', thread: int, number: int) -> OfflineMechanism:
    return settings.mechanism.offline(settings.chain, settings.privacy)


def privatized(chunks: Iterable[Chunk], mechanisms: Sequence[OfflineMechanism],
               key: bytes) -> Drawn:
    """
    Yield each chunk with the symbols released for it: int32, shape (rows,), positions in states.

    They are in order. One chunk is read ahead; on a thread for each mechanism, one is privatized
    ahead.

    :param key: of the file that all are from: `ReleaseKey.of`.
    """
    free: SimpleQueue[OfflineMechanism] = SimpleQueue()
    stopped = Event()
    for mechanism in mechanisms:
        free.put(mechanism)

    def draw(chunk: Chunk) -> ShortInts | None:
        names = np.zeros((len(chunk.begins), NAME_BYTES), np.uint8)
        names[:, :8] = chunk.begins.astype('<i8').view(np.uint8).reshape(-1, 8)
        symbols = chunk.states.astype(np.int32, copy=False)
        released, mechanism = np.empty_like(symbols), free.get()
        first = 0
        try:
            for rows, offsets in chunk.blocks(_BLOCK_ROWS):
                if stopped.is_set():
                    return None
                end = first + len(offsets) - 1
                released[rows] = mechanism.privatize_many(
                    symbols[rows], offsets, WordBits(names[first:end], key))
                first = end
            return released
        finally:
            free.put(mechanism)

    source = iter(chunks)
    waiting: deque[tuple[Chunk, Future[ShortInts | None]]] = deque()
    with ThreadPoolExecutor(len(mechanisms) + 1) as pool:
        try:
            ahead = pool.submit(next, source, None)
            while (chunk := ahead.result()) is not None:
                ahead = pool.submit(next, source, None)
                waiting.append((chunk, pool.submit(draw, chunk)))
                if len(waiting) > len(mechanisms):
                    chunk, drawn = waiting.popleft()
                    yield chunk, _result(drawn)
            while waiting:
                chunk, drawn = waiting.popleft()
                yield chunk, _result(drawn)
        finally:  # after an error or an interrupt, do not wait for the rest
            stopped.set()


def _result(drawn: 'Future[ShortInts | None]') -> ShortInts:
    symbols = drawn.result()
    assert symbols is not None  # it is None after a stop alone
    return symbols


def names_of(keys: Any, key: bytes) -> npt.NDArray[np.uint8]:
    """
    Return a name for each route: 96 bits of the CBC-MAC, with AES-256, of its subject and its id.

    :param keys: as of `Chunk`.
    :return: shape (routes, 12).
    :raises LogError: an id is longer than 1000 bytes.
    """
    from cryptography.hazmat.primitives.ciphers import algorithms, Cipher, modes

    key = blake2b(key, digest_size=KEY_BYTES, person=b'names').digest()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    names = np.empty((len(keys), NAME_BYTES), np.uint8)
    for first in range(0, len(keys), _NAMED_ROUTES):
        texts, ends = _texts(keys.slice(first, _NAMED_ROUTES))
        states = np.zeros((len(texts), _BLOCK), np.uint8)
        for begin in range(0, texts.shape[1], _BLOCK):
            going = np.flatnonzero(ends > begin)
            mixed = states[going] ^ texts[going, begin:begin + _BLOCK]
            states[going] = np.frombuffer(
                encryptor.update(mixed.tobytes()), np.uint8).reshape(-1, _BLOCK)
        names[first:first + len(texts)] = states[:, :NAME_BYTES]
    return names


def _texts(keys: Any) -> tuple[npt.NDArray[np.uint8], Ints]:
    """
    Return for each route its subject and id, each with its length before it, and where they end.

    So no text begins another one: CBC-MAC needs that.
    """
    columns = [_bytes_of(column) for column in keys.columns]
    ends = np.sum([4 + lengths for _, lengths in columns], axis=0)
    width = -(-int(ends.max(initial=0)) // _BLOCK) * _BLOCK
    texts, places = np.zeros((len(keys), width), np.uint8), np.zeros(len(keys), np.int64)
    for data, lengths in columns:
        four = lengths.astype('<u4').view(np.uint8).reshape(-1, 4)
        texts[np.arange(len(keys))[:, None], places[:, None] + np.arange(4)] = four
        offsets = np.cumsum(lengths) - lengths
        within = np.arange(len(data)) - np.repeat(offsets, lengths)
        texts[np.repeat(np.arange(len(keys)), lengths),
              np.repeat(places + 4, lengths) + within] = data
        places += 4 + lengths
    return texts, ends


def _bytes_of(column: Any) -> tuple[npt.NDArray[np.uint8], Ints]:
    """Return the bytes of all values of a column, and how many each has."""
    pyarrow, _ = parquet()
    if pyarrow.types.is_integer(column.type):
        numbers = column.to_numpy()
        wide = numbers.astype(np.uint64 if numbers.dtype.kind == 'u' else np.int64)
        return wide.view(np.uint8), np.full(len(column), 8)
    column = column.cast(pyarrow.large_string())
    lengths = pyarrow.compute.binary_length(column).to_numpy()
    if lengths.max(initial=0) > _LONGEST_ID:
        raise LogError(f'a route or subject has a name of more than {_LONGEST_ID} bytes: give '
                       'shorter names')
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset:column.offset + len(column) + 1]
    return np.frombuffer(data or b'', np.uint8)[places[0]:places[-1]], lengths
