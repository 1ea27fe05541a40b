# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What the policy adaptive knows where all can follow all: `Chain.complete`, which stores no edges.

Each model has two numbers, the chances of each other state and of staying, so a step takes
O(models·states) time and memory. Every report can follow every other one, so a true report has one
match more than a wrong one, and nothing else differs: X(c, s) is [c = s] plus a constant. The m
states of largest f found cells, and all others join the last of them. With a delay, too, m is
chosen by what a report at once would match, a nat being worth one match: by what a signal tells
alone, robots that wander err more.

Of alphabets of at most `MOST_OF_BLOCKS` states signals may be about blocks
(`core.online.adaptive.blocks`). They are chosen with a number for each pair of states, as on a
chain that lists its moves.
"""
from functools import cached_property
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats, Ints, Numbers, ShortInts, Weights
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import Models
from symdp_ros.core.online.adaptive.cells import INFORMATION, largest, LEAST, TIE
from symdp_ros.core.online.adaptive.moves import sums_of, total
from symdp_ros.core.online.adaptive.tables import (AdaptiveTables, blocks_of, CELLS, MOST_CELLS,
                                                   shares_of, worth_of_nat)
from symdp_ros.core.online.response import responses
from symdp_ros.core.privacy import Privacy

MOST_OF_BLOCKS = 64  # states, up to which there are blocks


class AlphabetTables(AdaptiveTables):
    """As `AdaptiveTables`, for a chain that stores no edges."""

    def __init__(self, chain: Chain, privacy: Privacy, trust: float, reports: int,
                 learns: bool):
        n = self.states = len(chain)
        self.learns = False  # it would take a number for each move
        self.most = min(n, MOST_CELLS)
        self.zones = self.zone_of = self.radius = None
        self.width, self.responses = responses({*range(1, min(n, CELLS) + 1), self.most}, privacy)
        self.shares = shares_of(self.responses, self.most)
        self.blocks = blocks_of(privacy) if n <= MOST_OF_BLOCKS else {}
        self.worth = worth_of_nat(privacy)
        self.moves = AlphabetMoves(chain.models(trust), n)  # type: ignore[assignment]
        self.X, self.routes = _Matches(n), _Routes(n)  # type: ignore[assignment]
        #: as if each state had the same row of edges
        self.offsets, self.targets = np.zeros(n + 1, np.int64), np.arange(n, dtype=np.int32)
        self.successors = np.broadcast_to(self.targets, (n, n))
        self.report = self.signal = self.row = self.stride = 1
        self.place_type = np.uint8 if n < 2**8 else np.uint32
        self.nbytes = self.targets.nbytes

    def fast_cells(self, f: Floats, inside: Booleans | None, previous: Ints,
                   at_once: bool) -> tuple[Ints, Ints, Numbers]:
        """Return the cells of `best_cells`, from O(states) numbers for each number of cells."""
        founders, counts = largest(f, self.most)
        count, words = founders.shape
        chances = np.take_along_axis(f.T, founders, 0)
        chances[chances <= LEAST] = 0.0
        sizes = np.unique([*range(1, min(count, CELLS) + 1), count])
        own, other = self.shares.own[sizes, None], self.shares.other[sizes, None]
        values = np.empty((len(sizes), words))
        rest = np.add.accumulate(chances, axis=0)
        for row, m, b, a in zip(values, sizes.tolist(), own, other, strict=True):
            mass = chances[:m].copy()
            mass[-1] += np.maximum(1.0 - rest[m - 1], 0.0)
            likely = a + (b - a) * mass
            row[:] = self.shares.minus_entropy[m] - (likely * np.log(likely)).sum(axis=0)
            if at_once:
                row *= INFORMATION
            row += np.maximum(b * chances[:m], a * chances[0]).sum(axis=0)
        chosen = sizes[(values >= values.max(axis=0) - TIE).argmax(axis=0)]
        codes = np.repeat(chosen[None], self.states, axis=0).astype(np.uint16)
        place = np.arange(1, count + 1)[:, None]
        at, word = np.nonzero(place < chosen)
        codes[founders[at, word], word] = 1 + at
        return chosen, founders, codes


class AlphabetMoves:
    """
    As `Moves`.

    :param states: how many there are.
    """

    nbytes = 0

    def __init__(self, models: Models, states: int):
        self.models, self.states = len(models), states
        self.keep, self.prior = models.keep, models.prior
        self.regions: dict[int | None, Any] = {}
        self._switch = models.switch[:, None, None]
        self._other, self._stay = models.weights.astype(np.float64).T[:, :, None, None]

    def forward(self, joint: Floats, likelihood: Floats | None,
                groups: Ints | None = None) -> Floats:
        """As `Moves.forward`."""
        chances = np.add.reduce(joint, axis=0)
        if likelihood is not None:
            chances *= likelihood
        factor = 1.0 / sums_of(chances, groups)
        mixed = joint * (self.keep * (factor if likelihood is None else likelihood * factor))
        mixed += self._switch * (chances * factor)
        self._move(mixed, mixed)
        return mixed

    @cached_property
    def by_state(self) -> tuple[Ints, Floats]:
        """As `Moves.by_state`: a number for each pair of states."""
        n = self.states
        chances = np.repeat(self._other[:, :, 0, None], n, axis=1).repeat(n, axis=2)
        chances[:, np.arange(n), np.arange(n)] = self._stay[:, 0]
        return np.tile(np.arange(n), (n, 1)), np.ascontiguousarray(chances)

    def _move(self, values: Floats, out: Floats) -> None:
        """Put P_m times the values of each model into `out`, which may be the same."""
        sums = np.stack([total(rows) for rows in values])[:, None]
        np.add(self._other * (sums - values), self._stay * values, out=out)

    def backward(self, after: Floats, factor: Floats | float) -> None:
        """As `Moves.backward`."""
        later = after[:, :-1]
        self._move(later, later)
        drawn = np.add.reduce(self._switch * later, axis=0)
        later *= self.keep
        later += drawn
        later *= factor

    def begin(self, state: int) -> Floats:
        """As `Moves.begin`."""
        joint: Floats = np.repeat(self._other, self.states, axis=1)
        joint[:, state] = self._stay[:, 0]
        joint *= self.prior[:, None, None]
        return joint


class _Matches:
    """As `Matches`, without the constant."""

    nbytes, has_zeros = 0, False

    def __init__(self, states: int):
        self._states = states

    @cached_property
    def rows(self) -> Weights:
        """Return X(c, s) of all pairs, for blocks."""
        return np.eye(self._states, dtype=np.float32)

    def expected(self, likely: Floats, reached: list[Ints] | None) -> Floats:
        return +likely

    def expected_next(self, successors: ShortInts, previous: Ints, likely: Floats) -> Floats:
        return +likely


class _Routes:
    """As `Neighbours` of the moves from one report to the next."""

    nbytes = 0

    def __init__(self, states: int):
        self._states = states

    def largest(self, values: Floats) -> Floats:
        return np.repeat(values.max(axis=0, keepdims=True), self._states, axis=0)

    def first_of_largest(self, values: Floats, margin: float) -> tuple[Floats, Ints]:
        places = (values >= values.max(axis=0) - margin).argmax(axis=0)[None]
        maxima: Floats = np.take_along_axis(values, places, 0)
        return np.repeat(maxima, self._states, axis=0), np.repeat(places, self._states, axis=0)
