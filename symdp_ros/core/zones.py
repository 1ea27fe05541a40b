# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Zones: a public partition of the states. The zone is told exactly; the state in it is hidden.

Two words are adjacent when they differ in at most k places and at each of them both symbols lie
in one zone (policy graphs: He, Machanavajjhala & Ding 2014, "Blowfish privacy", arXiv 1312.3913).
An unknown symbol counts as lying in the zone told last; before the first symbol that is the zone
of the initial state. So adjacent words have one *zone word*, and whatever is computed from the
zone word alone is the same for both: it may be published.

**What a route can follow.** With C(R) what can follow a state of R, let R_0 = {s_0} and

    R_t = C(R_{t−1}) ∩ zone_t;  where that is empty, R_t = C(R_{t−1}).

In the second case (the robot was carried, or came back from unknown) no route has the zones told
so far and this one too: position t then has neither zone nor symbol for whatever is published. It
is decided from zones alone, from left to right, so everywhere the same.
"""
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
import json
from typing import NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from symdp_ros.core.annotations import Ints
from symdp_ros.core.naming import quoted
from symdp_ros.errors import PrivacyError

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain

_SHOWN = 5  # states that a message names


class Told(NamedTuple):
    """
    In place of a signal: the zone of a symbol was told, and no signal was drawn.

    It also stands for each symbol of a block, and between these, but the last one.
    """

    zone: str


class Count(NamedTuple):
    """
    The signal of a block of symbols (`core.online.counts`): how many are in each cell.

    It comes with the last symbol of the block; each earlier one has `WAITING`, with zones `Told`.

    :param zone: of all its symbols; None: there are no zones.
    """

    counts: tuple[int, ...]
    zone: str | None = None


WAITING = Count(())

#: What is drawn for a symbol: the state that founded a cell; in a block, `Count`; with zones,
#: `Told`; None: nothing.
Signal: TypeAlias = str | Told | Count | None


class Zones(Mapping[str, tuple[str, ...]]):
    """
    Zone → its states; immutable. The order in which zones and states are given does not matter.

    :param states: zone → an iterable of its states.
    :raises PrivacyError: no zones; a zone that is no string, or has no name or no states; a state
        that is no string, or is listed twice.
    """

    def __init__(self, states: Mapping[str, Iterable[str]]):
        if not isinstance(states, Mapping) or not states:
            raise _error('must be a mapping from each zone to its states, such as '
                         "{'ward_a': ['a1', 'a2'], 'ward_b': ['b1']}")
        zone_of: dict[str, str] = {}
        for zone, places in states.items():
            if not isinstance(zone, str) or not zone or not zone.isprintable():
                raise _error(f'have a zone {zone!r}: name each by a string that can be printed')
            if isinstance(places, str) or not isinstance(places, Iterable):
                raise _error(f'have {places!r} where the list of the states of {quoted(zone)} '
                             'should be')
            count = len(zone_of)
            for place in places:
                if not isinstance(place, str):
                    raise _error(f'have {place!r} in {quoted(zone)}: states are strings')
                if place in zone_of:
                    other = zone_of[place]
                    raise _error(f'list the state {quoted(place)} ' + (
                        f'twice in {quoted(zone)}' if other == zone else
                        f'in {quoted(other)} and in {quoted(zone)}') + ': list it once')
                zone_of[place] = zone
            if len(zone_of) == count:
                raise _error(f'have {quoted(zone)} without a state: leave it out')
        self._zone_of = {place: zone_of[place] for place in sorted(zone_of)}
        of_zone: dict[str, list[str]] = {zone: [] for zone in sorted(states)}
        for place, zone in self._zone_of.items():
            of_zone[zone].append(place)
        self._states = {zone: tuple(places) for zone, places in of_zone.items()}
        self._digest = sha256(json.dumps(self._states).encode()).hexdigest()

    def __getitem__(self, zone: str) -> tuple[str, ...]:
        return self._states[zone]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __eq__(self, other: object) -> bool:
        return self._digest == other._digest if isinstance(other, Zones) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f'<Zones: {len(self)} zones of {len(self._zone_of)} states>'

    def of(self, state: str) -> str:
        """
        Return the zone of a state.

        :raises KeyError: it is in none.
        """
        return self._zone_of[state]

    @property
    def alone(self) -> tuple[str, ...]:
        """Return the states that are alone in their zone: nothing is hidden there."""
        return tuple(sorted(places[0] for places in self.values() if len(places) == 1))

    def digest(self) -> str:
        """Return a SHA-256 (hex), equal for equal zones, in every process."""
        return self._digest

    def numbers(self, chain: 'Chain') -> Ints:
        """
        Return the number of the zone of each state of a chain, in the order of iteration.

        :return: int64, shape (states,).
        :raises PrivacyError: they do not partition the states of the chain.
        """
        unknown = [place for place in self._zone_of if place not in chain.state_index]
        if unknown:
            raise _error(f'have {_some(unknown)} that the chain does not have: correct the name, '
                         'or leave it out')
        missing = [state for state in chain.states if state not in self._zone_of]
        if missing:
            raise _error(f'leave out {_some(missing)} of the chain: put each into a zone')
        number = {zone: i for i, zone in enumerate(self)}
        return np.array([number[self._zone_of[state]] for state in chain.states], np.int64)


def _some(states: list[str]) -> str:
    """Return 'the state 'a'', or 'the states 'a', 'b'', the first of many."""
    shown = ', '.join(map(quoted, states[:_SHOWN]))
    more = f' and {len(states) - _SHOWN:,} more' if len(states) > _SHOWN else ''
    return f'the state{"" if len(states) == 1 else "s"} {shown}{more}'


def _error(text: str) -> PrivacyError:
    return PrivacyError(f'zones {text}', setting='zones')
