# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The feasible route of the largest sum of values (Viterbi)."""
import numpy as np
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain


def best_route(values: Floats, chain: Chain, moves: Floats | None = None) -> list[str]:
    """
    Return the feasible route r with the largest Σ_t values[t, r_t] + moves[r_{t−1}, r_t].

    Where several have the largest, the one that comes first in the order of `successors`.
    O(n·edges) time, as much memory as the values.

    :param values: shape (n, states).
    :param moves: the value of each edge, in the order of `Chain.csr`; None: 0. A chain that stores
        no edges has the same value for all.
    """
    if not len(values):
        return []
    if not chain.stores_edges:
        return [chain.states[i] for i in values.argmax(axis=1).tolist()]
    offsets, targets = chain.csr()
    gain = np.zeros(len(targets)) if moves is None else moves
    best = np.array(values, float)  # best[t, s]: the largest sum from t on, where s_t = s
    for here, there in zip(best[-2::-1], best[:0:-1], strict=True):
        here += np.maximum.reduceat(there[targets] + gain, offsets[:-1])
    route, state = [], chain.state_index[chain.initial_state]
    for row in best:
        edges = slice(offsets[state], offsets[state + 1])
        state = int(targets[edges][(row[targets[edges]] + gain[edges]).argmax()])
        route.append(chain.states[state])
    return route
