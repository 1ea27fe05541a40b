# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive policy where all can follow all: a symbol is its own cell, and its own report."""
from collections import deque

import numpy as np
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.online.direct import DirectWord
from symdp_ros.core.online.response import Response
from symdp_ros.core.zones import Signal
from symdp_ros.errors import ChainError

_BYTES = 4  # of a position


class AlphabetWord:
    """
    One word; nothing of its past helps to infer a symbol. Methods as of `AdaptiveWord`.

    :param drawn: draws the symbols, by this response.
    """

    ticks_left = 0

    def __init__(self, chain: Chain, delay: int | None, drawn: DirectWord, response: Response):
        self._chain, self._delay, self._draw, self.tick = chain, delay, drawn.step, drawn.tick
        self._response = response
        self.reset()

    def reset(self, previous: str | None = None) -> None:
        previous = self._chain.initial_state if previous is None else previous
        if previous not in self._chain.state_index:
            raise ChainError(f'{previous!r} is not a state of the chain', state=previous)
        self.previous = previous
        self.posterior: Floats | None = None
        self._held: deque[str] = deque()

    def step(self, symbol: str | None) -> str | None:
        return self._take(str(self._draw(symbol)))

    def advance(self, signal: Signal, symbol: str | None = None) -> str | None:
        if not isinstance(signal, str) or signal not in self._chain.state_index:
            raise ChainError(f'{signal!r} is not a state of the chain',
                             state=signal if isinstance(signal, str) else None)
        return self._take(signal)

    def finish(self) -> list[str]:
        found = [*self._held]
        self.reset()
        return found

    def _take(self, signal: str) -> str | None:
        self._held.append(signal)
        if self._delay is None or len(self._held) <= self._delay:
            return None
        self.previous = self._held.popleft()
        response = self._response
        likely = np.full(len(self._chain), response.a / response.total)
        likely[self._chain.state_index[self.previous]] = response.b / response.total
        self.posterior = likely / likely.sum()
        return self.previous

    @property
    def state(self) -> bytes:
        index = self._chain.state_index
        return b''.join(index[symbol].to_bytes(_BYTES, 'little')
                        for symbol in (self.previous, *self._held))

    def restore(self, state: bytes) -> None:
        positions = [int.from_bytes(state[i:i + _BYTES], 'little')
                     for i in range(0, len(state), _BYTES)]
        if (not positions or len(state) % _BYTES or max(positions) >= len(self._chain)
                or self._delay is not None and len(positions) > 1 + self._delay):
            raise ChainError('these bytes are no state of such a mechanism')
        previous, *held = [self._chain.states[i] for i in positions]
        self.reset(previous)
        self._held.extend(held)
