# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops of the adaptive policy that make reports of signals: import only where one is to run.

Names as in `core.online.adaptive.signals`; `across` is X transposed, empty where pairs are left
out; `levels` says how many states can be reached within 1, 2, … moves, in `queue`.
"""
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled
from symdp_ros.core.compiled.model_lanes import gather_models
from symdp_ros.core.online.adaptive.lanes import total, weigh

_LEAST = 1e-6  # probability of a state that counts in the matches to come
_TIE = 1e-12


@compiled
def _end(joint: Floats, kinds: Numbers, size: int, shares: Floats, here: Floats,
         found: Floats) -> float:
    """Put γ of the last symbol into `found`, unnormalised; return its sum."""
    here.fill(1.0)
    whole = 0.0
    for s in range(len(joint)):
        found[s] = weigh(here, joint, s, shares[kinds[s], size])
        whole += found[s]
    return whole


@compiled
def _back(joint: Floats, kinds: Numbers, size: int, factor: float, tables: Any, after: Floats,
          here: Floats, found: Floats) -> float:
    """
    Put γ of a symbol into `found`, unnormalised; return its sum.

    after, here: P[this signal and all later ones | m, s], but for a factor, of the next symbol and
    of this one.
    """
    (offsets, successors, weights, switch), shares = tables[:4], tables[11]
    whole, keep, drawn = 0.0, switch[0, 0], switch[1]
    for s in range(len(joint)):
        found[s] = 0.0
        if total(joint, s) > 0.0:
            gather_models(successors, weights, offsets[s], offsets[s + 1], keep, drawn, after,
                          here, s)
            found[s] = weigh(here, joint, s, shares[kinds[s], size] * factor)
            whole += found[s]
        else:
            here[s] = 0.0
    return whole


@compiled
def _best(begin: int, end: int, successors: ShortInts, later: Floats) -> int:
    """Return the first edge whose state comes within 10⁻¹² of the largest of `later`."""
    found, value = begin, -1.0
    for e in range(begin, end):
        reached = later[np.int64(np.uint32(successors[e]))]
        if reached > value + _TIE:
            found, value = e, reached
    return found


@compiled
def _reach(previous: int, moves: int, hops: Ints, heads: ShortInts, seen: Floats, queue: Ints,
           levels: Ints) -> None:
    """Put what so many moves can reach into `queue`: what i can reach ends at levels[i − 1]."""
    seen.fill(0.0)
    at, end = 0, 0
    for e in range(hops[previous], hops[previous + 1]):
        seen[heads[e]] = 1.0
        queue[end] = heads[e]
        end += 1
    levels[0] = end
    for level in range(1, moves):
        while at < levels[level - 1]:
            s = queue[at]
            at += 1
            for e in range(hops[s], hops[s + 1]):
                there = np.int64(np.uint32(heads[e]))
                queue[end] = there
                end += int(seen[there] == 0.0)
                seen[there] = 1.0
        levels[level] = end


@compiled
def _matches_to_come(whole: float, reached: Ints, few: bool, tables: Any, found: Floats,
                     some: Ints, best: Floats, sums: Weights) -> None:
    """
    Put into best[o] the expected X(o, s_t), for the states o that can be reached.

    few: whether these are few. (To count them would make sums depend on where a word goes on.)
    """
    first, symbols, X, across, match = tables[6:11]
    count = 0
    for s in range(len(found)):
        some[count] = s
        count += int(found[s] > _LEAST * whole)
    if len(symbols) > 0:
        for o in reached:
            value = found[o] * match[o]
            for i in range(first[o], first[o + 1]):
                if symbols[i] != o:
                    value += found[symbols[i]] * X[i]
            best[o] = value / whole
    elif few:
        for o in reached:
            row, value = X[first[o]:first[o + 1]], 0.0
            for s in some[:count]:
                value += found[s] * row[s]
            best[o] = value / whole
    else:
        sums.fill(0.0)
        for s in some[:count]:
            row, chance = across[first[s]:first[s + 1]], np.float32(found[s] / whole)
            for o in range(len(sums)):  # eight at a time
                sums[o] += chance * row[o]
        best[:] = sums


@compiled
def row_of(tick: int, clock: Ints, kinds: Numbers) -> int:
    """Return the row of `kinds` that a tick has."""
    last = len(kinds) - 1
    return (tick // clock[2]) % last if tick % clock[2] == 0 else last


@compiled
def _keep(number: int, found: Floats, whole: float, later: Floats, planned: Floats) -> None:
    """Note γ and the values of a report, where it is one of those that are planned."""
    if number < len(planned):
        for s in range(len(found)):
            planned[number, 0, s] = found[s] / whole
        planned[number, 1] = later


@compiled
def plan(count: int, since: int, previous: int, delay: int, tables: Any, word: Any,
         work: Any) -> None:
    """
    Choose the reports that leave from the tick of number `count` on until more is known.

    :param count: from 0; a report is due, of `delay` signals before.
    :param since: how many of those reports have left: they are not chosen.
    :param previous: the report before.
    """
    (hops, heads), (shares, clock, zone_of) = tables[4:6], tables[11:]
    ring, kinds, sizes, _, _, found = word[:6]
    planned, route = word[9:11]
    after, here, best, some, queue, levels = work[:6]
    ahead = delay * (clock[1] // clock[0])  # the number of the report of this tick
    _reach(previous, ahead - since + 1, hops, heads, best[0], queue, levels)
    row, kind = count % len(ring), row_of(count, clock, kinds)
    whole = _end(ring[row], kinds[kind], sizes[0, kind], shares, after, found)
    later, now = best[0], best[1]
    _matches_to_come(whole, queue[:levels[ahead - since]], delay == 0, tables, found, some, later,
                     work[14])
    if sizes[2, kind] > 0:
        for o in queue[:levels[ahead - since]]:
            if zone_of[o] == sizes[2, kind] - 1:
                later[o] += 1.0
    _keep(ahead, found, whole, later, planned)
    for tick in range(count - 1, count - (ahead - since) * clock[0] - 1, -1):
        if sizes[3, kind] > 0:  # what is known of s here does not depend on what was before
            after.fill(1.0)
        row, kind = tick % len(ring), row_of(tick, clock, kinds)
        whole = _back(ring[row], kinds[kind], sizes[0, kind], 1.0 / whole, tables, after, here,
                      found)
        after, here = here, after
        if tick % clock[0] == 0:
            ahead -= 1
            for o in queue[:levels[ahead - since]]:
                most = 0.0
                for e in range(hops[o], hops[o + 1]):
                    most = max(most, later[np.int64(np.uint32(heads[e]))])
                now[o] = found[o] / whole + most
                if sizes[2, kind] > 0 and zone_of[o] == sizes[2, kind] - 1:
                    now[o] += 1.0
            later, now = now, later
            _keep(ahead, found, whole, later, planned)
    for number in range(since, len(route)):
        edge = _best(hops[previous], hops[previous + 1], heads, planned[number, 1])
        previous = np.int64(np.uint32(heads[edge]))
        route[number] = previous


@compiled
def report(count: int, previous: int, delay: int, tables: Any, word: Any, work: Any) -> int:
    """Return the report of `delay` signals before the tick of number `count`, from 0."""
    clock, found, (planned, route) = tables[12], word[5], word[9:11]
    number = count % (len(route) * clock[0]) // clock[0]
    if number == 0:
        plan(count, 0, previous, delay, tables, word, work)
    found[:] = planned[number, 0]
    return int(route[number])


@compiled
def decode(whole: float, begin: int, all_zones: bool, rows: Floats, kinds: Numbers, sizes: Ints,
           tables: Any, after: Floats, here: Floats, later: Floats, now: Floats, found: Floats,
           choices: Numbers) -> float:
    """
    Go back over some ticks, from number `begin` on, given what follows them.

    whole: what it returned for the ticks after these; 0: the word ends with them. `after` and
    `later`: of the tick after these, then of the first of these: P[all later signals | m, s],
    and the most matches to be had from each state on. choices[t, o]: which move from o to take
    after the t-th report of these. all_zones: whether the route has all zones that were told;
    else each is worth a match.
    """
    (hops, heads), (shares, clock, zone_of) = tables[4:6], tables[11:]
    for t in range(len(rows) - 1, -1, -1):
        kind = row_of(begin + t, clock, kinds)
        ends, reports = whole == 0.0, (begin + t) % clock[0] == 0
        if ends:
            whole = _end(rows[t], kinds[kind], sizes[0, kind], shares, here, found)
            now.fill(0.0)
        else:
            whole = _back(rows[t], kinds[kind], sizes[0, kind], 1.0 / whole, tables, after, here,
                          found)
        after[:] = here
        if sizes[3, kind] > 0:  # what is known of s here does not depend on what was before
            after.fill(1.0)
        if reports and not ends:
            for o in range(len(now)):
                edge = _best(hops[o], hops[o + 1], heads, later)
                choices[t // clock[0], o] = edge - hops[o]
                now[o] = later[np.int64(np.uint32(heads[edge]))]
        if reports:
            for o in range(len(now)):
                later[o] = now[o] + found[o] / whole
            if sizes[2, kind] > 0:
                for o in range(len(now)):
                    if zone_of[o] == sizes[2, kind] - 1:
                        later[o] += 1.0
                    elif all_zones:
                        later[o] = -np.inf
    return whole


@compiled
def follow_choices(previous: int, hops: Ints, heads: ShortInts, later: Floats, choices: Numbers,
                   route: Ints) -> None:
    """Put the route of the choices into `route`; `later` is that of its first symbol."""
    edge = _best(hops[previous], hops[previous + 1], heads, later)
    for t in range(len(route)):
        route[t] = np.int64(np.uint32(heads[edge]))
        if t + 1 < len(route):
            edge = hops[route[t]] + np.int64(choices[t, route[t]])
