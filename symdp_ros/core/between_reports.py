# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can be reported after a state, where reports are several ticks apart."""
from collections.abc import Sequence

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.neighbours import Neighbours
from symdp_ros.errors import ChainError


def between_reports(states: Sequence[str], offsets: Ints, targets: ShortInts, chances: Floats,
                    ticks: int, moves: int, block: int = 1 << 15
                    ) -> tuple[Ints, ShortInts, Floats]:
    """
    Return what makes up `Chain.every`: offsets and targets as `Chain.csr`, and probabilities.

    O(rows of `chances`·states²·ticks·degree) time. Probabilities are rounded to twelve digits, so
    that every machine finds the same.

    :param states: of the chain.
    :param offsets, targets: as `Chain.csr`.
    :param chances: shape (P and other models, edges): P, whose moves are the possible ones, first.
    :param ticks: ≥ 1, steps of the chain from one report to the next.
    :param moves: ≥ 1, the most moves that may lie between two reports.
    :param block: numbers that are worked on at once: rows of P^ticks.
    :return: the states of each row are in the order of `states`; probabilities of shape (P and
        other models, edges). A model that leads to none of the states of a row moves there as P.
    :raises ChainError: a state is left without a successor.
    """
    size = len(states)
    matrices = [Neighbours.before(offsets, targets, row) for row in chances]
    within = Neighbours.before(offsets, targets)
    targets_of_blocks: list[Ints] = []
    parts: list[Floats] = []
    height = max(1, block // size)
    for first in range(0, size, height):
        some = np.arange(first, min(first + height, size))
        start = np.zeros((len(some), size))
        start[np.arange(len(some)), some] = 1
        near = start > 0
        for _ in range(moves):
            near |= within.sums(near.T).T > 0
        likely: Ints | None = None
        later_of = []
        for matrix in matrices:
            later = start
            for _ in range(ticks):
                later = matrix.sums(later.T).T
            if likely is None:
                near &= later > 0
                likely = np.flatnonzero(near)
            later_of.append(later.ravel()[likely])
        assert likely is not None  # there is P
        counts = near.sum(axis=1)
        if not counts.all():
            state = states[some[int(np.argmin(counts))]]
            raise ChainError(f'state {state!r}: after {ticks} ticks, the robot cannot be within '
                             f'{moves} moves of it: allow more moves, or staying (self_loops)',
                             state=state)
        starts = np.cumsum(counts) - counts
        values = np.array(later_of)
        sums = np.add.reduceat(values, starts, axis=1)
        lost = np.repeat(sums == 0, counts, axis=1)
        values = np.where(lost, values[0], values)
        values /= np.repeat(np.add.reduceat(values, starts, axis=1), counts, axis=1)
        targets_of_blocks.append(likely + first * size)
        parts.append(values)
    places, values = np.concatenate(targets_of_blocks), np.concatenate(parts, axis=1)
    rounded = np.array([float(f'{p:.12g}') for p in values.ravel().tolist()])
    ends = np.searchsorted(places, np.arange(size + 1) * size)
    return (ends.astype(np.int64), (places % size).astype(np.int32),
            rounded.reshape(values.shape))
