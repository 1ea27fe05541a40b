# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chain between reports that are several ticks apart."""
from typing import TYPE_CHECKING

import numpy as np
from symdp_ros.errors import ChainError

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain


def between_reports(chain: 'Chain', ticks: int, moves: int, block: int = 1 << 24) -> 'Chain':
    """
    Return the chain of what is seen of a robot every `ticks` ticks.

    A report can be followed by every state that is within `moves` moves of it and that the robot
    can be in `ticks` ticks later; staying is no move. Its probabilities are those of P^ticks on
    these states, renormalised and rounded to twelve digits, so that every machine finds the same;
    P is uniform where the chain names no probabilities. O(states²·ticks·degree) time.

    :param ticks: ≥ 1, steps of the chain from one report to the next.
    :param moves: ≥ 1, the most moves that may lie between two reports.
    :param block: numbers that are worked on at once: rows of P^ticks.
    :return: a chain with the same states in the same order; `successors` are in that order, too.
    :raises ChainError: `ticks` or `moves` is no whole number ≥ 1; a state is left without a
        successor.
    """
    from scipy.sparse import csr_array
    from symdp_ros.core.chain import Chain

    for name, value in (('ticks', ticks), ('moves', moves)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ChainError(f'{name} is {value!r}: it must be a whole number, at least 1')
    if not chain.stores_edges:  # every state is one move away, and all are equally likely
        return chain
    offsets, targets = chain.csr()
    size, states = len(chain), chain.states
    P = csr_array((chain.edge_probabilities(), targets, offsets), shape=(size, size))
    # Of booleans, as counts of ways overflow narrow integers.
    within = csr_array((np.ones(len(targets), np.bool_), targets, offsets), shape=(size, size))
    rows = {}
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
    return Chain(rows, chain.initial_state)
