# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops of the adaptive policy that make signals: import only where one is about to run.

offsets, successors   the edges of the chain of single ticks (`Chain.csr`)
weights    (edges, LANES)   P_m; 0 in lanes without a model
switch     (3, LANES)       by model: 1 − ρ, ρ·q, q (`core.models`)
hops, heads           the edges between two reports, as `Chain.csr`
first, symbols, X, match    as in `core.online.planned`
shares     (4, ·)           by the number of cells m: a/T, b/T, 1/m, 0
clock      (3,)             ticks from one report to the next, from one signal to the next, and
                            from one row of `kinds` to the next: as signals, with zones as reports
zone_of    (states,)        the number of each state's zone; (0,): there are no zones
ring       (·, states, LANES)   f(m, s) of the last ticks: that of tick t is in row t modulo its
                             length
kinds      (· + 1, states)  of a signal, by symbol: the row of `shares` with its likelihood; last,
                             that of no signal
sizes      (4, · + 1)       of a signal: the number of cells; the number of the cell drawn, or 0;
                             of the zone told, from 1, or 0; 1 where f began again
codes      (states + 1,)    of each symbol, the number of its cell, from 1; 0 for none
founders   (·,)             of each cell, from 0, the state that founded it
ahead      (·, states)      of the last reports: 1 for C(R), R what a route can be in before it
                             (`core.zones`); that of report r is in row r modulo its length
inside     (states,)        1 for these states in the zone for which cells are ready
ready      (2,)             the number of that zone; whether there is such a state
planned    (·, 2, states)   of each report that leaves before more is known: γ, and the most
                             matches to be had from each state on
route      (·,)             these reports
"""
from math import log
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.compiled.compiling import compiled
from symdp_ros.core.online.adaptive.decoding import report, row_of
from symdp_ros.core.online.adaptive.lanes import follow, mix, total
from symdp_ros.core.online.targets import Codes
from symdp_ros.core.online.values import clear, spread

CELLS = 12          # up to which every number of cells is tried; after them only the largest
MOST_CELLS = 1024
FEW_REPORTS = 10    # for one signal: more lie beyond what X looks ahead (1/(1 − γ) reports)

_NOTHING = 1e-200   # probability that counts as 0 where all else is impossible
_LEAST = 1e-9       # probability of a state that counts in the choice of the cells
_INFORMATION = 0.1  # matches that a nat is worth, besides the report that is due at once
_TIE = 1e-12


@compiled
def begin_at(state: int, prior: Floats, tables: Any, mixed: Floats, after: Floats) -> None:
    """Put into `after` f of the first symbol of a word that begins at a state."""
    offsets, successors, weights = tables[:3]
    mixed[state] = prior
    after.fill(0.0)
    for e in range(offsets[state], offsets[state + 1]):
        follow(after, np.int64(np.uint32(successors[e])), mixed, state, weights, e)


@compiled
def predict(joint: Floats, kinds: Numbers, size: int, tables: Any, chances: Floats,
            mixed: Floats, after: Floats) -> None:
    """Put into `after` (it may be `joint`) what f becomes by a signal, the switch, and a move."""
    (offsets, successors, weights, switch), shares = tables[:4], tables[11]
    whole = 0.0
    for s in range(len(joint)):
        chances[s] = total(joint, s) * shares[kinds[s], size]
        whole += chances[s]
    for s in range(len(joint)):
        mix(mixed, joint, s, switch, shares[kinds[s], size] / whole)
    after.fill(0.0)
    for s in range(len(joint)):
        if chances[s] > 0.0:
            for e in range(offsets[s], offsets[s + 1]):
                follow(after, np.int64(np.uint32(successors[e])), mixed, s, weights, e)


@compiled
def begin_again(joint: Floats, kinds: Numbers, switch: Floats) -> int:
    """Where f is 0 on all that is possible, make that equally likely; return whether it was."""
    whole, count = 0.0, 0
    for s in range(len(joint)):
        if kinds[s] < 3:
            whole += total(joint, s)
            count += 1
    if whole > _NOTHING:
        return 0
    for s in range(len(joint)):
        joint[s] = switch[2] * (1.0 / count if kinds[s] < 3 else 0.0)
    return 1


@compiled
def predict_segment(rows: Floats, kinds: Numbers, sizes: Ints, tables: Any) -> None:
    """Put into `rows` f of each tick of a segment, from the first one, which is there."""
    switch, clock = tables[3], tables[12]
    mixed, chances = np.empty_like(rows[0]), np.empty(rows.shape[1])
    for t in range(len(rows)):
        place = t // clock[2] if t % clock[2] == 0 else len(kinds) - 1
        if sizes[3, place] != 0:
            begin_again(rows[t], kinds[place], switch)
        if t + 1 < len(rows):
            predict(rows[t], kinds[place], sizes[0, place], tables, chances, mixed, rows[t + 1])


@compiled
def follow_routes(within: Numbers, hops: Ints, heads: ShortInts, ahead: Numbers) -> None:
    """Put C(R) into `ahead`."""
    ahead.fill(0)
    for s in range(len(within)):
        if within[s] > 0:
            for e in range(hops[s], hops[s + 1]):
                ahead[heads[e]] = 1


@compiled
def _believe_inside(belief: Floats, joint: Floats, inside: Numbers, some: Ints,
                    members: Ints) -> tuple[int, int]:
    """
    Put f, given that the symbol is inside, into `belief`, and what is inside into `members`.

    Return how many states are in `some`, those that count in the choice, and in `members`.
    """
    whole, count, states = 0.0, 0, 0
    for s in range(len(joint)):
        if inside[s] > 0:
            belief[s] = total(joint, s)
            whole += belief[s]
            members[count] = s
            count += 1
    for s in members[:count]:
        belief[s] = belief[s] / whole if whole > _NOTHING else 1.0 / count
        some[states] = s
        states += int(belief[s] > _LEAST)
    return states, count


@compiled
def _inside_of(following: ShortInts, inside: Numbers, members: Ints, count: int) -> int:
    """Put what can follow inside into `members`, where there is some; return how many it has."""
    found = 0
    for s in following:
        if inside[s] > 0:
            members[found] = s
            found += 1
    return found if found > 0 else count


@compiled
def _most_probable(belief: Floats, states: Ints | ShortInts, founders: Ints) -> int:
    """Put the most probable states, the first of equals, into `founders`; return how many."""
    most, count = min(len(founders), len(states)), 0
    for s in states:
        if count == most and belief[s] <= belief[founders[count - 1]]:
            continue
        count = min(most, count + 1)
        i = count - 1
        while i > 0 and belief[founders[i - 1]] < belief[s]:
            founders[i] = founders[i - 1]
            i -= 1
        founders[i] = s
    return count


@compiled
def _order(founders: Ints, count: int, values: Floats) -> None:
    """Order so many founders by their values, the largest first; equals stay in order."""
    for j in range(1, count):
        c, value, i = founders[j], values[j], j
        while i > 0 and values[i - 1] < value:
            founders[i], values[i] = founders[i - 1], values[i - 1]
            i -= 1
        founders[i], values[i] = c, value


@compiled
def _information(m: int, shares: Floats, masses: Floats) -> float:
    """
    Return how many nats a signal of m cells tells of the symbol.

    :param masses: the probability of each cell, after that of no cell.
    """
    other, own, uniform = shares[0, m], shares[1, m], shares[2, m]
    known, found = 0.0, 0.0
    for z in range(1, m + 1):
        known += masses[z]
    for z in range(1, m + 1):
        chance = uniform * masses[0] + other * known + (own - other) * masses[z]
        found -= chance * log(chance)
    found += known * (own * log(own) + (m - 1) * other * log(other))
    return float(found + masses[0] * log(uniform))


@compiled
def _matches(m: int, count: int, shares: Floats, near: Floats, known: Floats, cells: Ints,
             states: int, sums: Floats, by_cell: Floats) -> float:
    """
    Return the expected matches, for who reports at once one of so many founders.

    sums[0]: of each founder, without a signal; sums[1]: of these, in symbols that have no cell.
    """
    by_cell[:count, :m + 1] = 0.0
    for i in range(states):
        for j in range(count):
            by_cell[j, cells[i]] += known[i] * near[j, i]
    other, own, uniform = shares[0, m], shares[1, m], shares[2, m]
    found = 0.0
    for z in range(1, m + 1):
        best = 0.0
        for j in range(count):
            best = max(best, other * sums[0, j] + (own - other) * by_cell[j, z]
                       + (uniform - other) * by_cell[j, 0])
        found += best
    return found


@compiled
def reports_at_once(delay: int, clock: Ints) -> bool:
    """Return whether cells are chosen by what is reported at once, too."""
    return delay == 0 and clock[1] <= FEW_REPORTS * clock[0]


@compiled
def choose(previous: int, at_once: bool, joint: Floats, tables: Any, word: Any,
           work: Any) -> int:
    """Choose the cells of the next signal: put them into `codes`; return how many there are."""
    _, _, _, _, hops, heads, first, symbols, X, _, match, shares, _, zone_of = tables
    codes, founders, inside = word[3], word[4], word[7]
    _, _, _, some, queue, _, every, belief, known, own, cells, near, sums, by_cell, row = work
    following = heads[hops[previous]:hops[previous + 1]]
    states = 0
    if len(zone_of) > 0:
        states, many = _believe_inside(belief, joint, inside, some, queue)
        if at_once:
            many = _inside_of(following, inside, queue, many)
            at_once = (following == queue[0]).any()
        count = _most_probable(belief, queue[:many], founders)
    else:
        for s in range(len(joint)):
            belief[s] = total(joint, s)
            some[states] = s
            states += int(belief[s] > _LEAST)  # without a branch
        count = _most_probable(belief, following if at_once else every, founders)
    for i in range(states):
        known[i], own[i], cells[i] = belief[some[i]], 0.0, 0
    for again in range(2 if at_once else 1):
        for j in range(count):
            values = spread(founders[j], first, symbols, X, match, row)
            for i in range(states):
                near[j, i] = values[some[i]]
            clear(founders[j], first, symbols, row)
            if at_once:
                sums[0, j] = 0.0
                for i in range(states):
                    sums[0, j] += known[i] * near[j, i]
        if at_once and again == 0:
            sums[1, :count] = sums[0, :count]
            _order(founders, count, sums[1])
    largest, chosen, masses = -1.0, 1, sums[1]
    masses[:] = 0.0
    for i in range(states):
        masses[0] += known[i]
    for m in range(1, count + 1):
        joining = near[m - 1]
        for i in range(states):
            if joining[i] > own[i] + _TIE:
                masses[cells[i]] = max(0.0, masses[cells[i]] - known[i])
                masses[m] += known[i]
                own[i], cells[i] = joining[i], m
        if m > CELLS and m < count:
            continue
        value = _information(m, shares, masses)
        if at_once:
            value = _INFORMATION * value + _matches(m, count, shares, near, known, cells, states,
                                                    sums, by_cell)
        if value > largest + _TIE:
            largest, chosen = value, m
    _fill(chosen, founders, hops, heads, first, symbols, X, match, codes, belief, row, queue)
    return chosen


@compiled
def _fill(size: int, founders: Ints, hops: Ints, heads: ShortInts, first: Ints,
          symbols: ShortInts, X: Weights, match: Floats, codes: Codes, own: Floats, row: Weights,
          queue: Ints) -> None:
    """
    Put the cells of all symbols into `codes`.

    Who is too far for X joins the cell from which the fewest moves lead there.
    """
    codes.fill(0)
    own.fill(0.0)
    for j in range(size):
        values = spread(founders[j], first, symbols, X, match, row)
        for s in range(len(own)):  # without a branch: several at a time
            joins = values[s] > own[s] + _TIE
            own[s] = values[s] if joins else own[s]
            codes[s] = np.uint32(j + 1) if joins else codes[s]
        clear(founders[j], first, symbols, row)
    end = 0
    for s in range(len(own)):
        queue[end] = s
        end += int(codes[s] > 0)
    at = 0
    while at < end < len(own):
        s = queue[at]
        at += 1
        for e in range(hops[s], hops[s + 1]):
            there = np.int64(np.uint32(heads[e]))
            if codes[there] == 0:
                codes[there] = codes[s]
                queue[end] = there
                end += 1


@compiled
def prepare(zone: int, count: int, previous: int, delay: int, tables: Any, word: Any,
            work: Any) -> int:
    """
    Make all ready for a zone to be told next.

    Return the number of cells; 0: no signal is due, or no route has this zone next.
    """
    clock, zone_of = tables[12:]
    ring, (ahead, inside, ready) = word[0], word[6:9]
    row = ahead[count // clock[0] % len(ahead)]
    ready[0], ready[1] = zone, 0
    for s in range(len(zone_of)):
        inside[s] = row[s] if zone_of[s] == zone else 0
        ready[1] |= inside[s]
    if ready[1] == 0 or count % clock[1] > 0:
        return 0
    return choose(previous, reports_at_once(delay, clock), ring[count % len(ring)], tables,
                  word, work)


@compiled
def take(place: int, zone: int, size: int, count: int, previous: int, delay: int, reports: bool,
         tables: Any, word: Any, work: Any) -> tuple[int, int, int]:
    """
    Go on to the next report: take in a signal, the cell of number `place`, from 1, of so many.

    :param place: 0: none is drawn.
    :param zone: the number of the zone told, which is ready; where zones are, −1: none is told.
    :param count: of the ticks before it.
    :param previous: the last report.
    :param delay: in signals; −1: nothing is reported.
    :return: the number of cells of the next signal, 0 where none is drawn next; the report;
        whether there is one.
    """
    (switch, hops, heads), (clock, zone_of) = tables[3:6], tables[12:]
    ring, kinds, sizes, codes, _, _, ahead, inside, ready = word[:9]
    mixed, known = work[0], work[8]
    if count % clock[2] == 0:
        here = row_of(count, clock, kinds)
        sizes[0, here], sizes[1, here] = size, place
        for s in range(len(known)):
            code = codes[s]
            kinds[here, s] = 2 if code == 0 else 1 if code == place else 0
        if place == 0:
            sizes[0, here] = 1
            kinds[here].fill(2)
        if len(zone_of) > 0:
            at = count // clock[0]
            within = ahead[at % len(ahead)]
            sizes[2, here], sizes[3, here] = 0, 0
            if zone >= 0 and ready[1] > 0:
                within = inside
                sizes[2, here] = 1 + zone
                for s in range(len(within)):
                    if within[s] == 0:
                        kinds[here, s] = 3
                sizes[3, here] = begin_again(ring[count % len(ring)], kinds[here], switch)
            # With one row, what is read must not be written to.
            follow_routes(within.copy(), hops, heads, ahead[(at + 1) % len(ahead)])
    reported = 0
    if reports and 0 <= delay * clock[1] <= count:
        previous, reported = report(count, previous, delay, tables, word, work), 1
    for tick in range(count, count + clock[0]):
        here = row_of(tick, clock, kinds)
        predict(ring[tick % len(ring)], kinds[here], sizes[0, here], tables, known, mixed,
                ring[(tick + 1) % len(ring)])
    count += clock[0]
    size = 0
    if len(zone_of) > 0:
        size = prepare(ready[0], count, previous, delay, tables, word, work)
    elif count % clock[1] == 0:
        size = choose(previous, reports_at_once(delay, clock), ring[count % len(ring)], tables,
                      word, work)
    return size, previous, reported


@compiled
def _place(draw: int, weight: int, cut: int, cell: int) -> int:
    """Return the number of the cell that is drawn, where the symbol's is `cell` (0: none)."""
    number = 1 + draw // weight
    hit = int(draw % weight >= cut) & int(cell > 0)
    return number + hit * (cell - number)


@compiled
def draw(at: int, end: int, size: int, count: int, previous: int, delay: int, drawn_for: Ints,
         zones: Ints, signals: Ints, luck: Floats, reports: Ints, drawn: Ints, used: int,
         limits: Ints, tables: Any, word: Any, work: Any) -> tuple[int, int, int, int, int]:
    """
    Draw the signals for some symbols of a word, until draws are missing.

    zones     (·,)        of each symbol, the number of its zone; (0,): there are none
    signals   (·,)        who founded the cell drawn; −1 − zone where only the zone is told
    luck      (·,)        of each symbol, 1 where its own cell is drawn, less the chance of that;
                          0 where it has none: of mean 0, whatever was drawn before
    drawn     (·,)        random integers, of which so many are used
    limits    (·, 3)      by the number of cells: limit, weight, cut (`core.online.response`)

    Return (at, used, size, count, previous) at the end.
    """
    codes, founders, ready, shares, clock = word[3], word[4], word[8], tables[11], tables[12]
    while at < end:
        zone, place, until = 0, 0, count + clock[0]
        if len(zones) > 0:
            zone = zones[at]
            if zone != ready[0]:
                size = prepare(zone, count, previous, delay, tables, word, work)
        elif at + 1 < len(drawn_for):  # with zones, there is a symbol for each report
            until = count + clock[1]
        signals[at], luck[at] = -1 - zone, 0.0
        if size > 0:
            while used < len(drawn) and drawn[used] >= limits[size, 0]:  # rejected
                used += 1
            if used == len(drawn):
                break
            cell = np.int64(codes[drawn_for[at]])
            place = _place(drawn[used], limits[size, 1], limits[size, 2], cell)
            used += 1
            signals[at] = founders[place - 1]
            luck[at] = (int(place == cell) - shares[1, size]) * int(cell > 0)
        at += 1
        while count < until:
            size, previous, reported = take(place, zone, size, count, previous, delay, True,
                                            tables, word, work)
            if reported == 1:
                reports[count // clock[0] - delay * (clock[1] // clock[0])] = previous
            count += clock[0]
    return at, used, size, count, previous
