# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The matches that adaptive looks ahead to: equation (1) by plain sweeps; their memory."""
import tracemalloc

import numpy as np
import pytest
from strategies import FOUR, grid, RING, SPLIT
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.core.online import targets
from symdp_ros.core.online.adaptive.expected_matches import of_all_pairs, of_some_pairs
from symdp_ros.core.online.guided import near_pairs

#: of period 2
SWING = Chain({'a': ['b', 'd'], 'b': ['a', 'c'], 'c': ['b', 'd'], 'd': ['c', 'a']}, 'a')


def weights(chain):
    return *OnlineMechanism(chain, Privacy(2.0), policy='guided').weights(), chain.models(0.8).mean


def by_sweeps(chain, inside, discount=0.9):
    """Return X(c, s), shape (c, s); nothing is earned from pairs that are not inside."""
    n, (offsets, successors) = len(chain), chain.csr()
    others, gain, moves = weights(chain)
    P, U = np.zeros((n, n)), np.zeros((n, n))
    P[np.repeat(np.arange(n), np.diff(offsets)), successors] = moves
    for _ in range(300):
        X = discount * U @ P.T
        X[~inside & ~np.eye(n, dtype=bool)] = 0
        X += np.eye(n)
        for o in range(n):
            reached = X[successors[offsets[o]:offsets[o + 1]]]
            U[o] = others[o] * reached.sum(axis=0) + gain[o] * reached.max(axis=0)
        U[~inside] = 0
    return X


@pytest.mark.parametrize('chain', [FOUR, RING, SPLIT, SWING, grid(3), grid(3, staying=False),
                                   grid(1)],
                         ids=['four', 'ring', 'split', 'swing', 'grid', 'periodic grid', 'one'])
@pytest.mark.parametrize('tolerance', [1e-9, 1e-2])
def test_of_all_pairs(chain, tolerance):
    """Up to a shift, which adds the same to all of them, within the tolerance."""
    found = of_all_pairs(chain, *weights(chain), 0.9, tolerance)
    off = found - by_sweeps(chain, np.ones((len(chain),) * 2, bool))
    assert np.ptp(off) <= tolerance + 1e-8


@pytest.mark.parametrize('most', [0, 120])
@pytest.mark.parametrize('chain', [grid(4), grid(4, staying=False)], ids=['staying', 'moving'])
def test_of_pairs_within_a_radius(chain, most, monkeypatch):
    monkeypatch.setattr(targets, 'DENSE_STATES', 0)
    monkeypatch.setattr(targets, 'MOST_PAIRS', most)
    n = len(chain)
    first, symbols, _ = near_pairs(chain).pairs()
    found, match = of_some_pairs(chain, first, symbols, *weights(chain), 0.9, 1e-9)
    at, inside = np.repeat(np.arange(n), np.diff(first)), np.zeros((n, n), bool)  # of (o, s)
    inside[at, symbols] = True
    assert not inside.all() and inside.any(axis=0).all()
    X = by_sweeps(chain, inside)
    assert found == pytest.approx(X[at, symbols], rel=1e-7)
    assert match == pytest.approx(X.diagonal(), rel=1e-7)


def test_the_memory_that_they_take():
    """16 bytes for each pair, and some for the table of 4: 1,000 states within 60 MB."""
    chain = grid(15)
    some = weights(chain)
    tracemalloc.start()
    try:
        of_all_pairs(chain, *some, 0.9, 1e-3)
        assert tracemalloc.get_traced_memory()[1] <= 20 * len(chain)**2 + 2e6
    finally:
        tracemalloc.stop()
