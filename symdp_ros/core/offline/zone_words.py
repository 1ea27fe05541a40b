# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which zones the routes of a word can have: its R_t (`core.zones`), none of which is empty."""
from typing import TypeAlias

import numpy as np
from symdp_ros.core.annotations import Ints
from symdp_ros.core.neighbours import edges_of
from symdp_ros.core.offline.reachable import ReachableChain

_MOST_SETS = 10_000  # sets of states


class _Reached:
    """Some R_t, and what follows it: zone → (the next, whether it lies in that zone)."""

    def __init__(self, states: Ints):
        self.states = states
        self.following: dict[int, tuple[_Reached, bool]] = {}


_Step: TypeAlias = tuple[_Reached, bool]


class ZoneWords:
    """
    Zones of the words of a chain whose numbers go zone by zone.

    :param zone_of: the zone of each state of the chain, by its position.
    """

    def __init__(self, chain: ReachableChain, zone_of: Ints, initial: int):
        self._chain, self._zone_of, self._initial = chain, zone_of, initial
        self._start = _Reached(np.array([chain.initial]))
        self._sets: dict[bytes, _Reached] = {}

    def of(self, symbols: Ints) -> Ints:
        """
        Return the zone of each position that routes have, −1 where there is none.

        :param symbols: positions in `chain.states`, −1: unknown, which has the zone told last.
        """
        last = np.maximum.accumulate(np.where(symbols >= 0, np.arange(len(symbols)), -1))
        told = self._zone_of[np.where(last >= 0, symbols[last], self._initial)]
        reached, zones = self._start, []
        for zone in told.tolist():
            reached, inside = reached.following.get(zone) or self._follow(reached, zone)
            zones.append(zone if inside else -1)
        return np.array(zones, np.int64)

    def _follow(self, reached: _Reached, zone: int) -> _Step:
        chain = self._chain
        ahead = np.unique(chain.targets[edges_of(chain.offsets, reached.states)]).astype(np.int64)
        assert chain.zone_starts is not None
        begin, end = chain.zone_starts[zone:zone + 2]
        inside = (ahead >= begin) & (ahead < end)
        if inside.any():
            ahead = ahead[inside]
        if len(self._sets) >= _MOST_SETS:
            self._sets, self._start = {}, _Reached(self._start.states)
        states_ahead = self._sets.setdefault(ahead.tobytes(), _Reached(ahead))
        reached.following[zone] = step = states_ahead, bool(inside.any())
        return step
