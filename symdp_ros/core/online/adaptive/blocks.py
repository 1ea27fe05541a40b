# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which block comes next: one signal about how many of the next symbols lie in each cell.

A robot that stays has the same place many times over, and signals about one symbol each do not use
that. So a signal may be about the counts of L symbols (`core.online.counts`). L and the cells are
chosen when the block begins, from f and public data alone:

- The default cell, number 0, is the most probable state of the block's last symbol, alone. The m
  next ones found the others, and every other state joins the one of the largest X. This is what
  cells are at the last symbol. E(s) being how likely s leads to each cell, E ← P·E goes back by
  one symbol, and s is in the cell of the largest E(s).
- Of some L and m (`tables.BLOCKS`), and the signal about one symbol, taken is what has the largest

      (Σ_i M_i + λ·(H(z) − H(z|c)) + 0.4·(M_L − max f)) / L,    λ = k/(2ε) ≤ 1,

  M_i being how likely the best guess of the i-th symbol is a match, given z alone of what is still
  to be drawn. A nat is worth λ, since later signals add matches to what is told. (A guess that
  errs as often as a signal, with chances 1 to e^{ε/k}, costs 1/(ε/k) for a nat at the margin.)
  The last term is what the next block gains by where the robot is at the end of this one, or
  loses. Blocks that tell less of the counts for each symbol than that one signal does of its own
  are left out.

For each m longer L are tried as long as each is worth at most .05 less than the one before; the
first one, than the signal about one symbol.

P is the mean of the models, each state's by how likely they are at it. For the second of these
only the most probable states count that hold .999 of f: 64 at most, 16 at least.

With zones, all this is of the zone told alone (`Region`): of f, given that the robot is where a
route can be in it, and of moves inside it. Matches after the robot has left count for nothing, and
max f as often as it is still there; so where it leaves soon blocks are short, or there are none.
"""
from collections.abc import Iterable
from math import nan
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, Weights
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import edges_in_c
from symdp_ros.core.online.adaptive.cells import Cells, NOTHING
from symdp_ros.core.online.adaptive.moves import ends_of, Moves, total
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.adaptive.turns import Block
from symdp_ros.core.online.counts import after, CountResponse

_MOST_STATES, _FEWEST_STATES = 64, 16  # the most and the fewest states that count in the choice
_REST = 1e-3  # of f, that the others may have
_BETTER = 1e-9   # nats by which a later choice must be better
_DIGITS = 1e12  # what is equal to so many digits is equal
_LESS = 0.05  # that a block may be worth less than the shorter one
_AT_END = 0.4  # what a match of the last symbol is worth to the next block
_LIKELY = 8   # most probable states of each symbol, of which one is the best guess


class Region(NamedTuple):
    """
    Where a robot is during a block: all states, or those of a zone. They are numbered from 0.

    :param states: their positions.
    :param X: X(c, s): shape (states, states).
    :param prior: of each model.
    :param successors, chances: as `Moves.by_state`, of moves between these states.
    :param edges: the same, as `core.loops` takes them.
    """

    states: Ints
    X: Weights
    prior: Floats
    successors: Ints
    chances: Floats
    edges: Any = None


class _Worth(NamedTuple):
    """What a signal is worth."""

    told: float     # H(z) − H(z|c)
    matches: float  # of the best guess of each symbol, given z
    last: float     # of the last symbol
    there: float    # how likely the robot is still in the region by then


def _region(tables: AdaptiveTables, moves: Moves, zone: int | None) -> Region:
    """Return the region of a zone; None: all states."""
    region: Region | None = moves.regions.get(zone)
    if region is not None:
        return region
    states, (successors, chances) = np.arange(tables.states), moves.by_state
    assert tables.X.rows is not None
    region = Region(states, tables.X.rows, moves.prior, successors, chances)
    if zone is not None and tables.zone_of is not None:
        states = np.flatnonzero(tables.zone_of == zone)
        place = np.full(tables.states + 1, len(states))
        place[states] = np.arange(len(states))
        successors = place[successors[states]]
        order = np.argsort(successors == len(states), axis=1, kind='stable')  # others last
        successors = np.take_along_axis(successors, order, axis=1)
        chances = np.take_along_axis(chances[:, states], order[None], axis=2)
        chances[:, successors == len(states)] = 0.0
        region = Region(states, np.ascontiguousarray(tables.X.rows[np.ix_(states, states)]),
                        moves.prior, successors, chances)
    if loops is not None:
        there = region.successors < len(states)
        offsets = ends_of(there.sum(axis=1))
        region = region._replace(edges=edges_in_c(
            offsets, region.successors[there], region.chances[:, there], len(region.prior)))
    moves.regions[zone] = region
    return region


def choose_blocks(tables: AdaptiveTables, moves: Moves, joint: Floats, belief: Floats,
                  single: Cells, most: int, inside: Booleans | None,
                  zones: Ints | None) -> list[Block | None]:
    """
    Choose between a block and a signal about one symbol, for each of some words.

    :param moves: of all models.
    :param joint: f(m, s) of the next symbol: shape (models, states, words).
    :param belief: Σ_m of it: shape (states, words).
    :param single: the cells of a signal about one symbol.
    :param most: how many symbols a block may have.
    :param inside: as of `cells.best_cells`.
    :param zones: the number of the zone told of each word; None: there are none.
    :return: of each word, the block; None: a signal about one symbol is worth as much.
    """
    if zones is None or inside is None:
        return _choose_in(tables, _region(tables, moves, None), None, joint, belief, single, most)
    chosen: list[Block | None] = [None] * len(zones)
    whole = total(np.where(inside, belief, 0.0))
    for zone in np.unique(zones).tolist():
        region = _region(tables, moves, zone)
        some = np.flatnonzero((zones == zone) & (whole > NOTHING))
        at = np.ix_(region.states, some)
        within = inside[at]
        cells = Cells(single.sizes[some], single.founders[:, some], single.codes[at])
        found = _choose_in(
            tables, region, zone, np.where(within, joint[:, at[0], at[1]], 0.0) / whole[some],
            np.where(within, belief[at], 0.0) / whole[some], cells, most)
        for word, block in zip(some.tolist(), found, strict=True):
            chosen[word] = block
    return chosen


def _choose_in(tables: AdaptiveTables, region: Region, zone: int | None, joint: Floats,
               belief: Floats, single: Cells, most: int) -> list[Block | None]:
    """Return what `choose_blocks` does, of words in one region; arrays are of its states."""
    if loops is not None:
        chosen = _compiled(tables, region, joint, belief, single, most)
    else:
        chosen = [_best(tables, region, _Means(region, joint[:, :, word], belief[:, word],
                                               tables.signal),
                        single.select(slice(word, word + 1)), most)
                  for word in range(joint.shape[2])]
    blocks, responses = list[Block | None](), [*tables.blocks.values()]
    for i, codes in chosen:
        if i < 0:
            blocks.append(None)
            continue
        of_all = np.zeros((len(responses[i]), tables.states), np.uint8)
        of_all[:, region.states] = codes[:len(of_all)]
        blocks.append(Block(responses[i], of_all, zone, tables.signal // tables.row))
    return blocks


def _compiled(tables: AdaptiveTables, region: Region, joint: Floats, belief: Floats,
              single: Cells, most: int) -> Iterable[tuple[int, Numbers]]:
    """Return what `_best` does, compiled, of each word."""
    laws, words = tables.laws, joint.shape[2]
    best = np.empty(words, np.int64)
    codes = np.empty((words, most, len(region.states)), np.uint8)
    loops.block(
        region.edges, np.ascontiguousarray(joint.transpose(2, 0, 1)),
        np.ascontiguousarray(belief.T), region.prior, region.X, laws.sizes, laws.laws,
        tables.worth, np.ascontiguousarray(single.codes.T, np.uint16), single.sizes,
        tables.shares.other.base, most, best, codes, words, tables.signal, len(laws.sizes),
        len(laws.laws), len(tables.shares.other))
    return zip(best.tolist(), codes, strict=True)


class _Means:
    """
    How a robot moves, by the mean of the models at each state.

    :param f: what is known of the next symbol: shape (states,).
    :param ticks: from one symbol to the next.
    """

    def __init__(self, region: Region, joint: Floats, f: Floats, ticks: int):
        self.f, self._ticks = f, ticks
        self._successors, chances = region.successors, region.chances
        likely = joint / np.where(f > 0, f, 1.0)
        likely[:, f <= 0] = region.prior[:, None]
        self._chances = np.add.reduce(likely[:, :, None] * chances, axis=0)

    def back(self, E: Floats) -> Floats:
        """Return the mean of values where a robot is one symbol later: (states, columns)."""
        for _ in range(self._ticks):
            later, E = np.vstack([E, np.zeros(E.shape[1])]), np.zeros(E.shape)
            for there, chance in zip(self._successors.T, self._chances.T, strict=True):
                E += chance[:, None] * later[there]
        return E

    def among(self, states: Ints) -> Floats:
        """Return how some states lead to each other from one symbol to the next."""
        place = np.full(len(self.f) + 1, len(states))
        place[states] = np.arange(len(states))
        P = np.zeros((len(states), len(states) + 1))
        np.add.at(P, (np.arange(len(states))[:, None], place[self._successors[states]]),
                  self._chances[states])
        return np.linalg.matrix_power(P[:, :-1], self._ticks)


def _best(tables: AdaptiveTables, region: Region, means: _Means, single: Cells,
          most: int) -> tuple[int, Numbers]:
    """
    Return which block of `tables.blocks` is worth the most, and the cells of its symbols.

    −1: none is worth more, and tells more, for each symbol than a signal about one.
    """
    largest = float(means.f.max())

    def value_of(worth: _Worth, length: int) -> float:
        at_end = worth.last - worth.there * largest
        return (worth.matches + tables.worth * worth.told + _AT_END * at_end) / length

    single_worth = _worth_of_single(tables, means.f, single)
    alone = value_of(single_worth, 1)
    least, best, founders_of_best = alone, -1, np.empty(0, np.int64)
    states = _some_states(means.f)
    f, P, X = means.f[states], means.among(states), region.X[states][:, states]
    before, last_more, ended = 0.0, 0, 0
    for i, ((length, more), responses) in enumerate(tables.blocks.items()):
        if length > most or more >= len(states) or more == ended:
            continue
        if more != last_more:
            before, last_more = alone, more
        later = f
        for _ in range(length - 1):
            later = later @ P
        founders = np.argsort(-np.rint(later * _DIGITS), kind='stable')[:more + 1]
        last = _joined(X[founders], founders)
        codes, E = [last], np.eye(more + 1)[last]
        for _ in range(length - 1):
            E = P @ E
            codes.append(np.rint(E * _DIGITS).argmax(axis=1))
        worth = _worth(f, P, codes[::-1], responses[-1])
        value = value_of(worth, length)
        if not value > before - _LESS:
            ended = more
        before = value
        if worth.told / length > single_worth.told + _BETTER and value > least + _BETTER:
            least, best, founders_of_best = value, i, states[founders]
    if best < 0:
        return best, np.empty((0, 0), np.uint8)
    length, more = [*tables.blocks][best]
    codes = [_joined(region.X[founders_of_best], founders_of_best)]
    E = np.eye(more + 1)[codes[0]]
    for _ in range(length - 1):
        E = means.back(E)
        codes.append(np.rint(E * _DIGITS).argmax(axis=1))
    return best, np.array(codes[::-1], np.uint8)


def _some_states(f: Floats) -> Ints:
    """Return the states that count in the choice, ascending."""
    order = np.argsort(-f, kind='stable')[:_MOST_STATES]
    before = np.cumsum(f[order]) - f[order]
    few = max(_FEWEST_STATES, int(np.searchsorted(before, (1 - _REST) * f.sum())))
    return np.sort(order[:few])


def _joined(X: Weights, founders: Ints) -> Ints:
    """Return the cell of each state at the last symbol of a block, from 0."""
    cells: Ints = 1 + X[1:].argmax(axis=0)
    cells[founders[0]] = 0
    return cells


def _worth(f: Floats, P: Floats, codes: list[Ints], response: CountResponse) -> _Worth:
    """Return what a block is worth."""
    states, known = np.arange(len(f)), [f[None]]  # of each symbol: (counts before, states)
    for number, code in enumerate(codes):
        then = after(number, response.cells)
        more = np.zeros((len(after(number + 1, response.cells)), len(f)))
        more[then[:, code], states] = known[-1]
        known.append(more @ P if number + 1 < len(codes) else more)
    counted: Floats = known.pop().sum(axis=1)
    there = float(counted.sum())
    if not there > 0:
        return _Worth(nan, 0.0, 0.0, 0.0)  # no route stays in the zone for so long
    counted /= there
    drawn = response.chances @ counted
    logs = np.log(np.where(drawn > 0, drawn, 1.0))
    matches, last = 0.0, 0.0
    later = np.empty((0, 0, 0))  # the chance of z: (drawn, counts before, states)
    for number in range(len(codes) - 1, -1, -1):
        counts = after(number, response.cells)[:, codes[number]]
        later = (later @ P.T)[:, counts, states] if later.size else response.chances[:, counts]
        likely = np.rint(known[number].sum(axis=0) * _DIGITS)
        some = np.argsort(-likely, kind='stable')[:_LIKELY]
        both = (known[number][:, some] * later[:, :, some]).sum(axis=1)
        matches += both.max(axis=1).sum()
        if number == len(codes) - 1:
            last = matches
    told = float(counted @ response.minus_entropy - (drawn * logs).sum())
    return _Worth(told, float(matches), float(last), there)


def _worth_of_single(tables: AdaptiveTables, f: Floats, cells: Cells) -> _Worth:
    """Return what a signal about one symbol is worth."""
    size, codes = int(cells.sizes[0]), cells.codes[:, 0]
    masses = np.bincount(codes, f, size + 1)
    other, own, uniform, minus_entropy = (float(share[size]) for share in tables.shares)
    some, nothing = masses[1:].sum(), masses[0]
    chance = uniform * nothing + other * some + (own - other) * masses[1:]
    told = minus_entropy * some + nothing * np.log(uniform) - (chance * np.log(chance)).sum()
    best = np.zeros(size + 1)
    np.maximum.at(best, codes, f)
    order = np.argsort(-best[1:], kind='stable')[:2] + 1
    others = np.full(size, best[order[0]])
    others[order[0] - 1] = best[order[1]] if size > 1 else 0.0
    guesses = np.maximum(np.maximum(own * best[1:], other * others), uniform * best[0])
    matches = float(guesses.sum())
    return _Worth(float(told), matches, matches, 1.0)
