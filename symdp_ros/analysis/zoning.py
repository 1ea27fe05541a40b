# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Zones that are proposed from the map alone, to be edited by hand.

Two states are neighbours where a move leads from one to the other. At first each state is a zone
of its own. Again and again the smallest zone that can be joined to a neighbour joins the one to
which it has the most links for its size, as long as both together have at most so many states.
Then zones of fewer than half as many take states from larger neighbours that stay connected
without them. (Communities of a graph library are as large as they like, and are cut by nothing.)
"""
from heapq import heapify, heappop, heappush

from symdp_ros.core.chain import Chain
from symdp_ros.core.zones import Zones
from symdp_ros.errors import ChainError, ConfigurationError
from symdp_ros.settings import is_whole


def propose_zones(chain: Chain, size: int = 12) -> Zones:
    """
    Return connected zones of at most so many states; the same for the same chain, everywhere.

    None is of one state, but where a state has no neighbour, or all states around it are needed.

    :param chain: one that lists its moves.
    :param size: ≥ 2.
    :raises ConfigurationError: `size` is no number ≥ 2.
    :raises ChainError: `Chain.complete` made the chain: no state is nearer than another.
    """
    if not is_whole(size, 2):
        raise ConfigurationError(f'size must be a number of states, 2 or more, not {size!r}',
                                 setting='size')
    if not chain.stores_edges:
        raise ChainError('where all can follow all, no place is nearer than another: name the '
                         'zones by hand')
    neighbours = _neighbours(chain)
    zones = _joined(neighbours, size)
    _even_out(zones, neighbours, size)
    members: dict[int, list[int]] = {}
    for state, zone in enumerate(zones):
        members.setdefault(zone, []).append(state)
    width = len(str(len(members)))
    return Zones({f'zone_{i:0{width}}': [chain.states[s] for s in states]
                  for i, states in enumerate(members.values(), 1)})


def _neighbours(chain: Chain) -> list[list[int]]:
    """Return the neighbours of each state, ascending."""
    offsets, targets = chain.csr()
    neighbours: list[set[int]] = [set() for _ in range(len(chain))]
    for s in range(len(chain)):
        for there in targets[offsets[s]:offsets[s + 1]].tolist():
            if there != s:
                neighbours[s].add(there)
                neighbours[there].add(s)
    return [sorted(row) for row in neighbours]


def _joined(neighbours: list[list[int]], size: int) -> list[int]:
    """Return the zone of each state, by joining: the number of its first state."""
    links = [dict.fromkeys(row, 1) for row in neighbours]
    members = [[s] for s in range(len(neighbours))]
    queue = [(1, s) for s in range(len(neighbours))]
    heapify(queue)
    while queue:
        count, zone = heappop(queue)
        if len(members[zone]) != count:  # it has joined another, or another it
            continue
        fitting = [other for other in links[zone] if count + len(members[other]) <= size]
        if not fitting:
            continue
        other = max(fitting, key=lambda z: (links[zone][z] / len(members[z]), -members[z][0]))
        first, gone = sorted((zone, other))
        members[first] += members[gone]
        members[gone] = []
        for there, number in links[gone].items():
            del links[there][gone]
            if there != first:
                links[first][there] = links[first].get(there, 0) + number
                links[there][first] = links[first][there]
        links[gone] = {}
        heappush(queue, (len(members[first]), first))
    zones = [0] * len(neighbours)
    for zone, states in enumerate(members):
        for s in states:
            zones[s] = zone
    return zones


def _even_out(zones: list[int], neighbours: list[list[int]], size: int) -> None:
    """Let small zones take states from larger ones; each time, the squares of sizes get less."""
    members: dict[int, set[int]] = {}
    for s, zone in enumerate(zones):
        members.setdefault(zone, set()).add(s)
    small = [zone for zone in sorted(members) if 2 * len(members[zone]) < size]
    while small:
        zone = min(small, key=lambda z: (len(members[z]), z))
        own = members[zone]
        around = {there for s in own for there in neighbours[s]} - own
        offered = [s for s in sorted(around) if len(members[zones[s]]) >= len(own) + 2
                   and _connected(members[zones[s]] - {s}, neighbours)]
        if not offered:
            small.remove(zone)
            continue
        taken = max(offered, key=lambda s: (
            sum(there in own for there in neighbours[s])
            - sum(zones[there] == zones[s] for there in neighbours[s]), -s))
        members[zones[taken]].remove(taken)
        own.add(taken)
        zones[taken] = zone
        if 2 * len(own) >= size:
            small.remove(zone)
    for s, zone in enumerate(zones):  # what is still alone, where others have given states away
        room = [there for there in neighbours[s] if len(members[zones[there]]) < size]
        if len(members[zone]) == 1 and room:
            zones[s] = zones[room[0]]
            members[zones[s]].add(s)
            members[zone].clear()


def _connected(states: set[int], neighbours: list[list[int]]) -> bool:
    """Return whether moves within some states lead from each to each, in any direction."""
    reached = {min(states)}
    left = [*reached]
    while left:
        for there in neighbours[left.pop()]:
            if there in states and there not in reached:
                reached.add(there)
                left.append(there)
    return len(reached) == len(states)
