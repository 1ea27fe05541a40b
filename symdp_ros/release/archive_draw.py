"""How the routes of an archive are privatized, in this process or on a worker of a cluster."""
import json
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from queue import SimpleQueue
from threading import Event

import numpy as np

from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.symbols import parse_symbol_map, symbol_table
from symdp_ros.release import archive_file
from symdp_ros.release.archive_file import Chunk, Columns

SUFFIX = '.parquet'

_BLOCK_ROWS = 1 << 16  # privatized between two looks at whether to stop


@dataclass(frozen=True)
class ArchiveSettings:
    """
    How an archive is read and privatized; as `engine.ReleaseSettings`, where they are alike.

    Each row is a symbol, and an unknown region one more. With `mechanism` 'auto' the longest route
    decides.
    """

    chain: Chain
    privacy: Privacy
    mechanism: str = 'exponential'
    policy: str = 'guided'
    columns: Columns = Columns()
    symbol_map: tuple[str, ...] = ()
    no_region: tuple[str, ...] = ('none', '')

    def described(self) -> dict:
        """Return all that the distribution of a release depends on, for people to read."""
        causal = {'policy': self.policy} if self.mechanism in ('causal', 'auto') else {}
        return {'archive': list(self.columns.names()), 'chain': self.chain.digest(),
                'epsilon': self.privacy.epsilon, 'adjacency': self.privacy.adjacency,
                'mechanism': self.mechanism, **causal, 'unknown_symbol': 'uniform',
                'no_region': sorted(self.no_region), 'symbol_map': sorted(self.symbol_map)}

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return sha256(json.dumps(self.described(), sort_keys=True).encode()).hexdigest()

    def check(self) -> None:
        """
        Check the settings before anything is read.

        :raises ConfigurationError: one of them is not valid; the packages are not installed.
        """
        archive_file.parquet()
        self.states_by_value()

    def states_by_value(self) -> dict[str, int]:
        """Return value → position in the states of the chain."""
        table = symbol_table(self.chain.states, parse_symbol_map(self.symbol_map), self.no_region)
        return {value: self.chain.state_index[state] for value, state in table.items()}

    def mechanism_of(self, selection: str, random=None) -> OfflineMechanism:
        """Return a new mechanism for some selection."""
        return OfflineMechanism(self.chain, self.privacy, selection=selection, policy=self.policy,
                                random=random)


def privatized(chunks: Iterable[Chunk], mechanisms: list[OfflineMechanism],
               settings: ArchiveSettings) -> Generator[tuple[Chunk, np.ndarray], None, None]:
    """
    Yield each chunk with the symbols released for it: int32, shape (rows,), positions in states.

    In order. One chunk is read ahead, and as many are privatized ahead as there are mechanisms,
    each on a thread.
    """
    states_by_value, free, stopped = settings.states_by_value(), SimpleQueue(), Event()
    for mechanism in mechanisms:
        free.put(mechanism)

    def draw(chunk):
        symbols = chunk.symbols(states_by_value)
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
