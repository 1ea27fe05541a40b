# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How the routes of an archive are privatized, in this process or on a worker of a cluster."""
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

import numpy as np
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.release.archive_file import Chunk

SUFFIX = '.parquet'

_BLOCK_ROWS = 1 << 16  # privatized between two looks at whether to stop


def privatized(chunks: Iterable[Chunk],
               mechanisms: list[OfflineMechanism]) -> Generator[tuple[Chunk, np.ndarray], None, None]:
    """
    Yield each chunk with the symbols released for it: int32, shape (rows,), positions in states.

    In order. One chunk is read ahead, and as many are privatized ahead as there are mechanisms,
    each on a thread.
    """
    free, stopped = SimpleQueue(), Event()
    for mechanism in mechanisms:
        free.put(mechanism)

    def draw(chunk):
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

    chunks, waiting = iter(chunks), deque()
    with ThreadPoolExecutor(len(mechanisms) + 1) as pool:
        try:
            ahead = pool.submit(next, chunks, None)
            while (chunk := ahead.result()) is not None:
                ahead = pool.submit(next, chunks, None)
                waiting.append((chunk, pool.submit(draw, chunk)))
                if len(waiting) > len(mechanisms):
                    chunk, drawn = waiting.popleft()
                    yield chunk, drawn.result()
            while waiting:
                chunk, drawn = waiting.popleft()
                yield chunk, drawn.result()
        finally:  # after an error or an interrupt, nobody waits for what is not wanted
            stopped.set()
