# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can be reported after a state, where reports are several ticks apart."""
from collections.abc import Sequence

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.errors import ChainError


def rows_between_reports(states: Sequence[str], offsets: Ints, targets: ShortInts, chances: Floats,
                         ticks: int, moves: int, block: int = 1 << 24
                         ) -> dict[str, dict[str, float]]:
    """
    Return the rows of `Chain.every`: state → the states of the next report → probability.

    O(states²·ticks·degree) time. Probabilities are rounded to twelve digits, so that every machine
    finds the same.

    :param states: of the chain.
    :param offsets, targets: as `Chain.csr`.
    :param chances: as `Chain.edge_probabilities`.
    :param ticks: ≥ 1, steps of the chain from one report to the next.
    :param moves: ≥ 1, the most moves that may lie between two reports.
    :param block: numbers that are worked on at once: rows of P^ticks.
    :return: rows and their states are in the order of `states`.
    :raises ChainError: a state is left without a successor.
    """
    from scipy.sparse import csr_array

    size = len(states)
    P = csr_array((chances, targets, offsets), shape=(size, size))
    # Of booleans, as counts of ways overflow narrow integers.
    within = csr_array((np.ones(len(targets), np.bool_), targets, offsets), shape=(size, size))
    rows: dict[str, dict[str, float]] = {}
    height = max(1, block // size)
    for first in range(0, size, height):
        some = np.arange(first, min(first + height, size))
        later = np.zeros((len(some), size))
        later[np.arange(len(some)), some] = 1
        near = later > 0
        for _ in range(ticks):
            later = later @ P
        for _ in range(moves):
            near |= near @ within
        later[~near] = 0
        for own, i in zip(later, some.tolist(), strict=True):
            found = np.flatnonzero(own)
            if not len(found):
                raise ChainError(
                    f'state {states[i]!r}: after {ticks} ticks, the robot cannot be within '
                    f'{moves} moves of it: allow more moves, or staying (self_loops)',
                    state=states[i])
            chances = own[found] / own[found].sum()
            rows[states[i]] = {states[j]: float(f'{p:.12g}')
                               for j, p in zip(found.tolist(), chances.tolist(), strict=True)}
    return rows
