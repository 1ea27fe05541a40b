# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The cells of the next signal, for many words at once.

Arrays have the axes (founders, words, states), or some of these: c_j is the j-th founder. For each
number m of founders the cells are those of the first m: who has joined one leaves it for a later
one of larger X alone, so all numbers are tried in one go.
"""
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, Weights
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import edges_of
from symdp_ros.core.online.adaptive.tables import AdaptiveTables, CELLS

NOTHING = 1e-200   # probability that counts as 0 where all else is impossible
LEAST = 1e-9       # probability of a state that counts in the choice of the cells
INFORMATION = 0.1  # matches that a nat is worth, besides the report that is due at once
TIE = 1e-12
_TOGETHER = 1 << 15  # numbers that are summed by cell at once, or those of one number of cells


class Cells(NamedTuple):
    """
    The cells of the next signal of some words.

    :param sizes: how many there are: shape (words,); 0 where none is drawn next.
    :param founders: shape (most, words): of each cell, the state that founded it.
    :param codes: of each symbol, the number of its cell, from 1; 0 for none: shape
        (states, words).
    """

    sizes: Ints
    founders: Ints
    codes: Numbers

    def select(self, some: slice | Booleans) -> 'Cells':
        """Return this for some of the words."""
        sizes, founders, codes = self
        return Cells(sizes[some], np.ascontiguousarray(founders[:, some]),
                     np.ascontiguousarray(codes[:, some]))

    def spread_out(self, some: Booleans) -> 'Cells':
        """Return them as the cells of some of more words; the others have none."""
        sizes = np.zeros(len(some), np.int64)
        founders = np.full((len(self.founders), len(some)), -1)
        codes = np.zeros((len(self.codes), len(some)), self.codes.dtype)
        sizes[some], founders[:, some], codes[:, some] = self
        return Cells(sizes, founders, codes)


def best_cells(tables: AdaptiveTables, belief: Floats, previous: Ints, at_once: bool,
               inside: Booleans | None = None) -> Cells:
    """
    Choose the cells of the next signal.

    :param belief: f(s) of the next symbol: shape (states, words).
    :param previous: the last report of each word.
    :param at_once: whether what is reported at once counts.
    :param inside: the states in the zone told that a route can be in, some in each word: booleans,
        shape (states, words); None: there are no zones.
    """
    f = np.ascontiguousarray(belief.T)
    within = None if inside is None else np.ascontiguousarray(inside.T)
    if within is not None:
        f = np.where(within, f, 0.0)
        whole, count = f.sum(axis=1, keepdims=True), within.sum(axis=1, keepdims=True)
        nothing = whole <= NOTHING
        f = np.where(nothing & within, 1 / count, f / np.where(nothing, 1.0, whole))
    compiled = tables.fast_cells(f, within, previous, at_once)
    if compiled is not None:
        return _spread_all(tables, Cells(*compiled))
    known = np.where(f > LEAST, f, 0.0)
    founders, counts, due = _candidates(tables, f, previous, at_once, within)
    near = _near(tables, founders, counts)
    if at_once:
        matches, places = (near * known).sum(axis=2), np.arange(len(founders))[:, None]
        order = np.argsort(np.where((founders >= 0) & due, -matches, places), axis=0,
                           kind='stable')
        if (order != places).any():
            founders = founders[order, np.arange(len(counts))]
            near = _near(tables, founders, counts)
    tried, cells = _tried(near)
    sizes = np.minimum(tried[:, None], counts)
    if len(tried) > CELLS:
        sizes[-1] = counts
    value = _values(tables, sizes, cells, known, near if at_once else None, due)
    value[(tried[:, None] > counts) & (np.arange(len(tried)) < CELLS)[:, None]] = -1.0
    chosen = (value >= value.max(axis=0) - TIE).argmax(axis=0)
    words = np.arange(len(counts))
    codes = np.ascontiguousarray(cells[chosen, words].T, np.uint16)
    return _spread_all(tables, Cells(sizes[chosen, words], founders, codes))


def _candidates(tables: AdaptiveTables, f: Floats, previous: Ints, at_once: bool,
                within: Booleans | None) -> tuple[Ints, Ints, Booleans]:
    """
    Return the states that may found cells, the most probable first, −1 after them.

    Return how many there are in each word, too, and whether one of them is reported at once.
    """
    words = len(f)
    if not at_once:
        keys = f if within is None else np.where(within, f, -1.0)
        return *largest(keys, tables.most), np.zeros(words, np.bool_)
    able, rows = tables.successors[previous], np.arange(words)[:, None]
    there = able >= 0 if within is None else (able >= 0) & within[rows, able]
    keys = np.where(there, f[rows, able], -1.0)
    places, counts = largest(keys, tables.most)
    founders = np.where(places < 0, -1, able[rows[:, 0], places])
    due = counts > 0
    if due.all():
        return founders, counts, due
    assert within is not None
    others, more = largest(np.where(within, f, -1.0), tables.most)
    candidates = np.full((max(len(founders), len(others)), words), -1)
    candidates[:len(founders), due] = founders[:, due]
    candidates[:len(others), ~due] = others[:, ~due]
    counts = np.where(due, counts, more)
    return candidates[:counts.max()], counts, due


def largest(keys: Floats, most: int) -> tuple[Ints, Ints]:
    """
    Return the places of the largest keys ≥ 0, the first of equals first; −1 after them.

    :param keys: shape (words, ·).
    :return: shape (up to `most`, words); how many there are in each word.
    """
    counts = np.minimum((keys >= 0).sum(axis=1), most)
    ranked = np.argsort(-keys, axis=1, kind='stable')[:, :counts.max()].T
    return np.where(np.arange(len(ranked))[:, None] < counts, ranked, -1), counts


def _near(tables: AdaptiveTables, founders: Ints, counts: Ints) -> Weights:
    """Return X(c, ·) of each founder, 0 where there is none."""
    near = tables.X.of(np.maximum(founders, 0))
    if counts.min() < len(founders):
        near[founders < 0] = 0.0
    return near


def _tried(near: Weights) -> tuple[Ints, Numbers]:
    """Return which numbers of founders are tried, and the cell of each state for each: from 1."""
    count = len(near)
    numbers = np.arange(1, count + 1, dtype=np.uint8 if count < 2**8 - 1 else np.uint16)
    most = np.maximum.accumulate(near, axis=0)
    joins = np.empty(near.shape, np.bool_)
    np.greater(near[0], 0.0, out=joins[0])
    np.greater(near[1:], most[:-1], out=joins[1:])
    cells = joins * numbers[:, None, None]
    np.maximum.accumulate(cells, axis=0, out=cells)
    if count > CELLS:
        some = np.append(np.arange(CELLS), count - 1)
        return 1 + some, cells[some]
    return 1 + np.arange(count), cells


def _values(tables: AdaptiveTables, sizes: Ints, cells: Numbers, known: Floats,
            near: Weights | None, due: Booleans) -> Floats:
    """
    Return what each number of cells is worth: shape (tried, words).

    :param sizes: these numbers: same shape.
    :param near: where what is reported at once counts.
    """
    tried, words, states = cells.shape
    width = int(sizes.max()) + 1
    index = np.arange(tried * words).reshape(tried, words, 1) * width + cells
    masses = np.bincount(index.ravel(), np.repeat(known[None], tried, 0).ravel(),
                         tried * words * width).reshape(tried, words, width)
    other, own, uniform, minus_entropy = (share[sizes] for share in tables.shares)
    some, nothing = masses[:, :, 1:].sum(axis=2), masses[:, :, 0]
    are = np.arange(1, width) <= sizes[:, :, None]
    chance = (uniform * nothing + other * some)[:, :, None] + (own - other)[
        :, :, None] * masses[:, :, 1:]
    chance[~are] = 1.0
    value: Floats = (minus_entropy * some + nothing * np.log(uniform)
                     - (chance * np.log(chance)).sum(axis=2))
    if near is None:
        return value
    matches = np.empty_like(value)
    weighed = near * known  # of c_j: f(s)·X(c_j, s)
    alone = weighed.sum(axis=2)
    step = max(1, _TOGETHER // weighed.size)
    for begin in range(0, tried, step):
        some_tried = slice(begin, min(begin + step, tried))
        by_cell = _by_cell(cells[some_tried], weighed, width)
        other, own, uniform = (share[sizes[some_tried], None] for share in tables.shares[:3])
        reach = (other * alone.T[None]
                 + (uniform - other) * by_cell[:, :, :, 0])[:, :, :, None]  # (tried, words, j, 1)
        reach = reach + (own - other)[..., None] * by_cell[:, :, :, 1:]
        best = reach.max(axis=2)
        best[~are[some_tried]] = 0.0
        matches[some_tried] = best.sum(axis=2)
    return np.where(due, INFORMATION * value + matches, value)


def _by_cell(cells: Numbers, weighed: Floats, width: int) -> Floats:
    """Return Σ of `weighed` over the states of each cell: (tried, words, founders, width)."""
    count, words, states = weighed.shape
    tried = len(cells)
    rows = np.arange(tried * words * count).reshape(tried, words, count, 1) * width
    index = rows.transpose(0, 2, 1, 3) + cells[:, None]  # (tried, founders, words, states)
    size = tried * words * count * width
    each = weighed if tried == 1 else np.repeat(weighed[None], tried, 0)
    summed: Any = np.bincount(index.ravel(), each.ravel(), size)
    by_cell: Floats = summed.reshape(tried, words, count, width)
    return by_cell


def _spread_all(tables: AdaptiveTables, cells: Cells) -> Cells:
    """Let each state have a cell, where moves lead to it from one."""
    if not tables.X.has_zeros or cells.codes.all():
        return cells
    if loops is not None:
        loops.spread(tables.routes.edges, cells.codes, *cells.codes.shape)
    else:
        for word in np.flatnonzero(~cells.codes.all(axis=0)):
            _spread(tables, cells.codes[:, word])
    return cells


def _spread(tables: AdaptiveTables, codes: Numbers) -> None:
    """Let those without a cell join the one from which the fewest moves lead to them."""
    offsets, targets = tables.offsets, tables.targets
    last = np.flatnonzero(codes)
    while len(last):
        there = targets[edges_of(offsets, last)]
        joined = np.repeat(codes[last], offsets[last + 1] - offsets[last])
        new = codes[there] == 0
        there, joined = there[new], joined[new]
        codes[there[::-1]] = joined[::-1]  # the first one counts
        new_ones, at = np.unique(there, return_index=True)
        last = new_ones[np.argsort(at)]
