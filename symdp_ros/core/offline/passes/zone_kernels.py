# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiled loops of the exponential mechanism with zones (`core.offline.exponential_in_zones`).

States are positions in `chain.states`; a symbol −1 matches none. Of each position t = 1…n only the
states in its zone have weights, of one that has no zone all states.

    symbols   int64 (n,)            w_1…w_n
    zones     int64 (n,)            the number of each position's zone; −1: it has none
    places    (begins, members, slots, zone_of), of which
    begins    int64 (zones + 1,)    zone z has members[begins[z]:begins[z+1]]
    members   int64 (states,)       states, zone after zone
    slots     int64 (states,)       the place of each state in its zone
    zone_of   int64 (states,)       the number of its zone
    edges     (offsets, targets, weights, keep, switch): as in `core.offline.passes.model_kernels`,
                                    by positions of states, offsets int64 (states + 1,)
    W         float64 (rows, ·, LANES)  b_t(s)·U_t(s, m) of the states at one position in each row:
                                    in the slot of s, or s where the position has no zone
    E         int32 (rows, ·)       exponents of two: the weight is W·2^E; _NEVER: it is 0
    model     float64 (LANES,)      how likely each model is, given the states walked
"""
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts
from symdp_ros.core.compiled.compiling import compiled, inlined
from symdp_ros.core.compiled.vectors import LANES
from symdp_ros.core.offline.passes.kernels import choose
from symdp_ros.core.offline.passes.model_kernels import learn, length_of, switched

_FAR = 255                          # weights further apart than 2⁻²⁵⁵ are left out of a sum
_POWERS = np.append(2.0**-np.arange(_FAR), 0.0)
_NEVER = np.int32(-2**30)          # the exponent of zero


@compiled
def zones_of_routes(told: Ints, zone_of: Ints, initial: int, offsets: Ints, targets: ShortInts,
                    zones: Ints) -> None:
    """Put into `zones` the zone told at each position, −1 where no route has it."""
    states = len(zone_of)
    here, ahead = np.empty(states, np.int64), np.empty(states, np.int64)
    seen = np.full(states, -1)
    here[0], count = initial, 1
    for t in range(len(told)):
        found, inside = 0, 0
        for i in range(count):
            for e in range(offsets[here[i]], offsets[here[i] + 1]):
                s = np.int64(targets[e])
                if seen[s] != t:
                    seen[s] = t
                    ahead[found] = s
                    found += 1
                    inside += int(zone_of[s] == told[t])
        zones[t] = told[t] if inside > 0 else -1
        count = 0
        for i in range(found):
            here[count] = ahead[i]
            count += int(inside == 0 or zone_of[ahead[i]] == told[t])


@inlined
def _slot(s: int, zone: int, slots: Ints) -> int:
    """Return the place of a state in a row."""
    return s if zone < 0 else slots[s]


@compiled
def _fill_row(zone: int, zone_after: int, symbol: int, places: Any, edges: Any, ratio: float,
              after: Floats, exponents: ShortInts, here: Floats,
              here_exponents: ShortInts) -> None:
    """Fill a row from that of the next position."""
    begins, members, slots, zone_of = places
    offsets, targets, weights, keep, switch = edges
    first, last = (0, len(members)) if zone < 0 else (begins[zone], begins[zone + 1])
    for i in range(first, last):
        s = members[i]
        place = _slot(s, zone, slots)
        highest = _NEVER
        for e in range(offsets[s], offsets[s + 1]):
            there = np.int64(targets[e])
            if zone_after < 0 or zone_of[there] == zone_after:
                highest = max(highest, exponents[_slot(there, zone_after, slots)])
        for m in range(LANES):
            here[place, m] = 0.0
        here_exponents[place] = highest
        if highest == _NEVER:
            continue
        for e in range(offsets[s], offsets[s + 1]):
            there = np.int64(targets[e])
            if zone_after < 0 or zone_of[there] == zone_after:
                slot = _slot(there, zone_after, slots)
                power = _POWERS[min(highest - exponents[slot], _FAR)]
                for m in range(LANES):
                    here[place, m] += after[slot, m] * weights[e, m] * power
        here_exponents[place] += switched(here[place], keep, switch)
        if s == symbol and zone >= 0:
            for m in range(LANES):
                here[place, m] *= ratio


@compiled
def sweep(first: int, last: int, symbols: Ints, zones: Ints, places: Any, edges: Any,
          ratio: float, W: Floats, E: ShortInts) -> None:
    """
    Fill rows 0…last − first of W and E: positions first…last, from 1.

    Row last − first + 1 holds position last + 1, but where last = n.
    """
    begins, members, slots, _ = places
    for t in range(last, first - 1, -1):
        row, zone, symbol = t - first, zones[t - 1], symbols[t - 1]
        if t < len(symbols):
            _fill_row(zone, zones[t], symbol, places, edges, ratio, W[row + 1], E[row + 1],
                      W[row], E[row])
            continue
        begin, end = (0, len(members)) if zone < 0 else (begins[zone], begins[zone + 1])
        for i in range(begin, end):
            place = _slot(members[i], zone, slots)
            E[row, place] = 0
            for m in range(LANES):
                W[row, place, m] = ratio if members[i] == symbol and zone >= 0 else 1.0


@compiled
def lengths_of(state: int, zone: int, places: Any, edges: Any, there: Floats,
               exponents: ShortInts, model: Floats, lengths: Floats) -> int:
    """
    Put what the moves from a state are drawn by, over 2^(what is returned), into `lengths`.

    there, exponents: the row of the next position, whose zone is `zone`.
    """
    _, _, slots, zone_of = places
    offsets, targets, weights = edges[:3]
    first, last, highest = offsets[state], offsets[state + 1], _NEVER
    for e in range(first, last):
        s = np.int64(targets[e])
        if zone < 0 or zone_of[s] == zone:
            highest = max(highest, exponents[_slot(s, zone, slots)])
    for e in range(first, last):
        s = np.int64(targets[e])
        lengths[e - first] = 0.0
        if zone < 0 or zone_of[s] == zone:
            slot = _slot(s, zone, slots)
            power = _POWERS[min(highest - exponents[slot], _FAR)]
            lengths[e - first] = power * length_of(model, weights[e], there[slot])
    return int(highest)


@compiled
def walk(position: int, first: int, last: int, state: int, zones: Ints, bits: Numbers,
         places: Any, edges: Any, W: Floats, E: ShortInts, model: Floats, lengths: Floats,
         out: Ints) -> tuple[int, int]:
    """
    Walk from a state at a position to the last of those that `sweep` filled.

    bits, uint64 (n,): 64 random bits for each position. out, int64 (n,): the states walked; model
    is taken on with them. Return (position, state): how far it came; where that is not `last`, the
    next state cannot be told from its 53 bits (as in `core.offline.passes.kernels.choose`).
    """
    offsets, targets, weights, keep, switch = edges
    for t in range(position + 1, last + 1):
        begin, many = offsets[state], offsets[state + 1] - offsets[state]
        lengths_of(state, zones[t - 1], places, edges, W[t - first], E[t - first], model, lengths)
        chosen = choose(lengths, many, bits[t - 1])
        if chosen < 0:
            return t - 1, state
        learn(model, begin + chosen, weights, keep, switch)
        state = np.int64(targets[begin + chosen])
        out[t - 1] = state
    return last, state
