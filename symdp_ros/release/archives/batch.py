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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
import json
import os
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import ShortInts
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.word_arrays import KEY_BYTES, NAME_BYTES, WordBits
from symdp_ros.errors import LogError
from symdp_ros.release.archives.engines import in_order
from symdp_ros.release.archives.parquet_file import Chunk, chunk_of, Drawn, parquet

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.release.settings import ReleaseSettings


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
        with open(path, 'xb', opener=partial(os.open, mode=0o600)) as file:
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

    :param batch: a pyarrow RecordBatch, or Table, of whole routes with the columns of `release`;
        others are left out. What is returned is of the same kind.
        **No route may be in two batches**: for such a route, or for two routes of one subject with
        the same id, the same bits would be drawn. (Give `file` where ids repeat.)
    :param file: what ids are unique in.
    :param start: the position of each route's first row, 0 or 1.
    :raises LogError: a route is not whole, or is there twice; columns are missing.
    """
    settings, key = release.settings, release.of(file)
    assert settings.archive is not None
    pyarrow, _ = parquet()
    if isinstance(batch, pyarrow.Table):
        whole = _one_batch(batch)
        return pyarrow.Table.from_batches([privatize_batch(whole, release, file=file,
                                                           start=start)])
    chunk, schema = chunk_of(batch, settings.archive.columns, settings.states_by_value(), start)
    names = names_of(chunk.keys, key)
    if len(np.unique(names, axis=0)) < len(names):
        raise LogError('two of its routes have the same id: give them different ones')
    states = pyarrow.array(settings.chain.states)
    if not chunk.rows:
        return _one_batch(schema.empty_table())
    return _one_batch(chunk.with_symbols(schema, states, _drawn(chunk, settings, names, key)))


def _one_batch(table: Any) -> Any:
    """Return a table as one record batch; one without rows has a batch, too."""
    pyarrow, _ = parquet()
    columns = [column.combine_chunks() for column in table.columns]
    return pyarrow.RecordBatch.from_arrays(
        [column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
         for column in columns], schema=table.schema)


def privatized(chunks: Iterable[Chunk], settings: 'ReleaseSettings', key: bytes,
               threads: int) -> Drawn:
    """
    Yield each chunk with the symbols released for it: int32, shape (rows,), positions in states.

    They are in order. Each thread draws one, and one more waits.

    :param key: of the file that all are from: `ReleaseKey.of`.
    """
    def draw(chunk: Chunk) -> tuple[Chunk, ShortInts]:
        names = np.zeros((len(chunk.begins), NAME_BYTES), np.uint8)
        names[:, :8] = chunk.begins.astype('<i8').view(np.uint8).reshape(-1, 8)
        return chunk, _drawn(chunk, settings, names, key)

    with ThreadPoolExecutor(threads) as pool:
        yield from in_order(pool, draw, chunks, threads)


def _drawn(chunk: Chunk, settings: 'ReleaseSettings', names: npt.NDArray[np.uint8],
           key: bytes) -> ShortInts:
    """Return private symbols for the routes of a chunk, which have these names."""
    return _mechanism(settings).privatize_many(
        chunk.states.astype(np.int32), chunk.offsets, WordBits(names, key))


@lru_cache(maxsize=8)
def _mechanism(settings: 'ReleaseSettings') -> OfflineMechanism:
    """Return the mechanism of some settings; threads share it."""
    return settings.mechanism.offline(settings.chain, settings.privacy)


def names_of(keys: Any, key: bytes) -> npt.NDArray[np.uint8]:
    """
    Return a name for each route: 96 bits that follow from the key, its subject and its id.

    :param keys: as of `Chunk`.
    :return: shape (routes, 12).
    """
    routes = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    names = b''.join(blake2b(json.dumps(route).encode(), digest_size=NAME_BYTES, key=key,
                             person=b'names').digest() for route in routes)
    return np.frombuffer(names, np.uint8).reshape(-1, NAME_BYTES)
