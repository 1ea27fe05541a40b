# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Privatizing the routes of an archive, in this process or on a worker of a cluster."""
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

import numpy as np
from symdp_ros.core.annotations import ShortInts
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.release.archives.file import Chunk, Drawn

SUFFIX = '.parquet'

_BLOCK_ROWS = 1 << 16  # privatized between two checks whether to stop


def privatized(chunks: Iterable[Chunk], mechanisms: list[OfflineMechanism]) -> Drawn:
    """
    Yield each chunk with the symbols released for it: int32, shape (rows,), positions in states.

    They are in order. One chunk is read ahead; on a thread for each mechanism, one is privatized
    ahead.
    """
    free: SimpleQueue[OfflineMechanism] = SimpleQueue()
    stopped = Event()
    for mechanism in mechanisms:
        free.put(mechanism)

    def draw(chunk: Chunk) -> ShortInts | None:
        symbols = chunk.states.astype(np.int32, copy=False)
        released, mechanism = np.empty_like(symbols), free.get()
        try:
            for rows, offsets in chunk.blocks(_BLOCK_ROWS):
                if stopped.is_set():
                    return None
                released[rows] = mechanism.privatize_many(symbols[rows], offsets)
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
