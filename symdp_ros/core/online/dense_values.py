# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The values of `core.online.planned` for all pairs (o, s), some columns at a time."""
from collections.abc import Iterator

import numpy as np
from symdp_ros.core.annotations import Floats, Numbers
from symdp_ros.core.chain import Chain
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import Neighbours, Room

_NUMBERS = 1 << 14  # that are worked on at once: they stay near the processor


def values(chain: Chain, others: Floats, gain: Floats, moves: Floats, discount: float,
           tolerance: float) -> Floats:
    """
    Return X of equation (1): shape (states, states).

    :param others, gain: a/T and (b−a)/T for each o.
    :param moves: P of each edge, in the order of `Chain.csr`.
    """
    n, offsets_targets = len(chain), chain.csr()
    followers, walks = Neighbours(*offsets_targets), Neighbours(*offsets_targets, moves)
    U, X, room = np.zeros((n, n)), np.empty((n, n)), Room()  # of (o, s)
    spread = discount / (1 - discount)
    while loops is not None:
        least, most = loops.sweep(walks.edges, followers.edges, others, gain, discount, U, X,
                                  room('rows', (2 * n,)), n)
        if spread * (most - least) <= tolerance:
            return X
    while True:
        for some in _columns(n):
            later, found = _padded(U[some].T, room), room('found', (1, n, some.stop - some.start))
            walks.add(later, found, room)
            np.multiply(found[0].T, discount, out=X[some])
        X[np.diag_indices(n)] += 1.0
        least, most = np.inf, -np.inf
        for some in _columns(n):
            here, total = _padded(X[:, some], room), room('found', (1, n, some.stop - some.start))
            followers.add(here, total, room)
            new = others[:, None] * total[0] + gain[:, None] * followers.largest(here[0, :-1])
            change = new - U[:, some]
            U[:, some] = new
            least, most = min(least, change.min()), max(most, change.max())
        if spread * (most - least) <= tolerance:
            return X


def choose(chain: Chain, X: Floats, tie: float) -> Numbers:
    """Return the codes of the targets: uint32, shape (states, states)."""
    n, followers = len(chain), Neighbours(*chain.csr())
    codes = np.zeros((n, n), np.uint32)
    for some in _columns(n):
        value, place = followers.first_of_largest(X[:, some], tie)
        codes[:, some] = np.where(value > tie, place + 1, 0)
    return codes


def _columns(states: int) -> Iterator[slice]:
    width = max(1, _NUMBERS // states)
    for begin in range(0, states, width):
        yield slice(begin, min(begin + width, states))


def _padded(values: Floats, room: Room) -> Floats:
    """Return values with one state more, which is 0: shape (1, states + 1, columns)."""
    found = room.zeros('padded', (1, len(values) + 1, values.shape[1]))
    found[0, :-1] = values
    return found
