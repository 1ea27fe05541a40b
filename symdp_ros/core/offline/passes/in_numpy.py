# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pass over a word, in NumPy (`core.offline.passes`): for where there is no `_passes`."""
from functools import lru_cache
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.neighbours import from_all
from symdp_ros.core.offline.passes import FAR, NEVER, PassWord, POWERS, TOP
from symdp_ros.core.offline.reachable import Moves

_MOST_TABLES = 1_000


class _Table(NamedTuple):
    """The moves from a range of states into another: the first of each state, and so on."""

    columns: Ints                # (most moves, states): places of their targets in their range
    weights: Weights             # (most moves, states, lanes); 0 where there is no such move
    missing: Booleans            # (most moves, states): there is no such move


class Tables:
    """
    Makes tables of moves, and keeps them.

    :param whole: all states; None: there are zones.
    """

    def __init__(self, moves: Moves, whole: range | None):
        self._moves, self._whole = moves, whole
        self._made = lru_cache(_MOST_TABLES)(self._make)

    def of(self, states: range, after: range) -> _Table:
        """Return the moves from some states to those that can stand at the next position."""
        if self._whole is not None:  # all of their moves lead there
            columns, weights, missing = self._made(self._whole, self._whole)
            return _Table(columns[:, :len(states)], weights[:, :len(states)],
                          missing[:, :len(states)])
        return self._made(states, after)

    def _make(self, states: range, after: range) -> _Table:
        starts = self._moves.offsets[states.start:states.stop + 1]
        degrees = np.diff(starts)
        places = starts[:-1] + np.arange(degrees.max())[:, None]
        missing = places >= starts[1:]
        places[missing] = 0
        columns = self._moves.targets[places].astype(np.int64) - after.start
        missing |= (columns < 0) | (columns >= len(after))
        columns[missing] = 0
        weights = self._moves.weights[places]
        weights[missing] = 0
        return _Table(columns, weights, missing)


def sweep(first: int, last: int, word: PassWord, moves: Moves, tables: Tables, W: Floats,
          E: ShortInts) -> int:
    """
    Fill rows 0…last−first−1 of W (and E): of places first…last−1 of the word.

    Row last − first has place `last`, but where that is the end. Return the sum of the powers of
    two by which these rows were divided.
    """
    lanes, total, is_wide = moves.lanes, 0, word.rescale_every == 0
    ranges = [range(*ends) for ends in zip(word.begins.tolist(), word.ends.tolist(), strict=True)]
    for t in range(last - 1, first - 1, -1):
        row, states = t - first, ranges[t]
        here = W[row, :len(states) * lanes].reshape(-1, lanes)
        if t == len(word.symbols) - 1:
            here[:] = 1.0
            if is_wide:
                E[row, :len(states)] = 0
        else:
            after = W[row + 1].reshape(-1, lanes)
            if not len(moves.offsets):
                terms = from_all(after, *moves.weights.astype(np.float64))[None]
            else:
                table = tables.of(states, ranges[t + 1])
                terms = after.take(table.columns, axis=0)
                terms *= table.weights
            if is_wide:
                exponents = np.where(table.missing, NEVER, E[row + 1].take(table.columns))
                highest = exponents.max(axis=0)
                terms *= POWERS[np.minimum(highest - exponents, FAR)][:, :, None]
            np.add.accumulate(terms, axis=0, out=terms)
            _mix(terms[-1], moves, here)
            if is_wide:
                own = np.frexp(here.max(axis=1))[1] - 1
                here *= np.ldexp(1.0, -own)[:, None]
                E[row, :len(states)] = np.where(highest == NEVER, NEVER, highest + own)
            elif t % word.rescale_every == 0:
                exponent = frexp(here.max())[1] - TOP
                here *= ldexp(1.0, -exponent)
                total += exponent
        if (symbol := int(word.symbols[t])) in states:
            here[symbol - states.start] *= word.ratio
    return total


def _mix(values: Floats, moves: Moves, here: Floats) -> None:
    """Turn V into U."""
    if moves.lanes == 1:
        here[:] = values
        return
    mixed = values * moves.switch
    for half in (4, 2, 1):
        mixed = mixed[:, :half] + mixed[:, half:2 * half]
    np.multiply(values, moves.keep, out=here)
    here += mixed


def lengths(state: int, word: PassWord, t: int, moves: Moves, there: Floats,
            model: Floats) -> tuple[Floats, Ints, Booleans]:
    """
    Return the weights by which a move from a state is drawn, without exponents.

    Also the places of the targets in the row `there` of place t, and whether each may be there.
    """
    targets, weights = moves.from_state(state, int(word.ends[t]) - 1)
    places = targets.astype(np.int64) - word.begins[t]
    inside = (places >= 0) & (places < word.ends[t] - word.begins[t])
    places[~inside] = 0
    terms = model * weights * there.reshape(-1, moves.lanes)[places]
    values: Floats = np.add.accumulate(terms, axis=1)[:, -1]
    values[~inside] = 0.0
    return values, places, inside


def interval_at(values: Floats, point: float) -> int:
    """
    Return the number of the interval that a point lies in, or −1 if 53 bits cannot tell.

    The intervals lie side by side; `values` are their lengths. Rounding, terms that were left out
    and later bits of the point move each end by less than `margin`.

    :param point: the first 53 bits, as an integer.
    """
    right = np.add.accumulate(values)
    unit = right[-1] * 2.0**-53
    margin = (4 * len(values) + 8) * unit
    passed = int(np.count_nonzero(right[:-1] <= point * unit - margin))
    unsure = int(np.count_nonzero(right[:-1] < point * unit + margin))
    return passed if passed == unsure else -1


def take(chosen: int, state: int, moves: Moves, model: Floats) -> int:
    """Take a move, and update how likely each model is for the next one; return the next state."""
    if len(moves.offsets):
        edge = int(moves.offsets[state]) + chosen
        after = int(moves.targets[edge])
    else:
        after = chosen + 1
        edge = int(after == state)
    if moves.lanes > 1:
        model *= moves.weights[edge]
        model[:] = moves.keep * (model / np.add.accumulate(model)[-1]) + moves.switch
    return after


def walk(position: int, first: int, last: int, state: int, word: PassWord, bits: Numbers,
         moves: Moves, widest: int, W: Floats, E: ShortInts, model: Floats,
         out: Ints) -> tuple[int, int]:
    """
    Walk from a state, over place `position` of the word and those after it, before `last`.

    widest: the most moves of a state. W, E: what `sweep` filled, from place `first` on. bits,
    uint64 (n,): 64 random bits for each place. out, int64 (n,): the states walked; `model` is
    taken on with them. Return (position, state): where that is not `last`, 53 bits do not tell
    the next state.
    """
    points: list[float] = (bits[position:last] >> np.uint64(11)).astype(np.float64).tolist()
    for t, point in zip(range(position, last), points, strict=True):
        values, places, inside = lengths(state, word, t, moves, W[t - first], model)
        if word.rescale_every == 0:
            exponents = np.where(inside, E[t - first][places], NEVER)
            values *= POWERS[np.minimum(exponents.max() - exponents, FAR)]
        chosen = interval_at(values, point)
        if chosen < 0:
            return t, state
        out[t] = state = take(chosen, state, moves, model)
    return last, state
