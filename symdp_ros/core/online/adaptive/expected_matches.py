# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
X(c, s): the matches to expect, now and later, of a report c where s is true.

They solve the equations of a Markov decision process over pairs (s_t, o_{t−1}), of public data
alone: the action is a target c ∈ C(o_{t−1}), which is drawn with the probability a/T + (b−a)/T,
each other state that can follow with a/T; a match o_t = s_t earns 1, s_t moves on by P, and later
matches count γ for each step:

    U(o, s) = a/T·Σ_{c ∈ C(o)} X(c, s) + (b−a)/T·max_{c ∈ C(o)} X(c, s),                       (1)
    X(c, s) = [c = s] + γ·Σ_{s'} P(s'|s)·U(c, s').

One sweep of (1) takes O(states·edges) time.

**Stopping.** Let m and M be the least and the largest change of U in a sweep. At least T(U) +
γ·m/(1−γ) is earned from every pair by the best targets of that sweep, by any policy at most T(U) +
γ·M/(1−γ) (MacQueen 1966). It ends when the two are within the tolerance; M − m shrinks by γ in
every sweep.

**Some pairs alone** (of large chains; `core.online.guided.near_pairs`): nothing more is taken to
be earned once another pair is reached: U = 0 there, and so is X but for a match, c = s. A shift of
U is then no longer harmless, so 0 takes the place of m.
"""
from collections.abc import Iterator

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import Neighbours
from symdp_ros.core.online.in_c import compiled

_NUMBERS = 1 << 14  # that are worked on at once: they stay near the processor


def of_all_pairs(chain: Chain, others: Floats, gain: Floats, moves: Floats, discount: float,
                 tolerance: float) -> Floats:
    """
    Return X(c, s): shape (states, states).

    :param chain: one that stores its edges.
    :param others, gain: a/T and (b−a)/T for each o, shape (states,).
    :param moves: P of each edge, in the order of `Chain.csr`.
    :param discount: γ.
    :param tolerance: matches (see the module).
    """
    n, offsets_targets = len(chain), chain.csr()
    followers, walks = Neighbours(*offsets_targets), Neighbours(*offsets_targets, moves)
    U, X = np.zeros((n, n)), np.empty((n, n))  # of (o, s)
    spread = discount / (1 - discount)
    while loops is not None:
        least, most = loops.sweep(walks.edges, followers.edges, others, gain, discount, U, X, n)
        if spread * (most - least) <= tolerance:
            return X
    while True:
        for some in _columns(n):
            np.multiply(walks.sums(U[some].T).T, discount, out=X[some])
        X[np.diag_indices(n)] += 1.0
        least, most = np.inf, -np.inf
        for some in _columns(n):
            new = others[:, None] * followers.sums(X[:, some]) + (
                gain[:, None] * followers.largest(X[:, some]))
            change = new - U[:, some]
            U[:, some] = new
            least, most = min(least, change.min()), max(most, change.max())
        if spread * (most - least) <= tolerance:
            return X


def of_some_pairs(chain: Chain, first: Ints, symbols: ShortInts, others: Floats, gain: Floats,
                  moves: Floats, discount: float, tolerance: float) -> tuple[Floats, Floats]:
    """
    Return X(c, s) of some pairs, shape (pairs,), and X(c, c), shape (states,), pairs or not.

    :param first, symbols: of the pairs, as `SparseTargets.pairs`.

    The others are as of `of_all_pairs`.
    """
    from symdp_ros.core.online import values_in_numpy

    pairs, run = (first, symbols, *chain.csr()), compiled or values_in_numpy
    U, X, match = np.zeros(first[-1]), np.empty(first[-1]), np.zeros(len(chain))
    spread = discount / (1 - discount)
    while True:
        run.earn(*pairs, moves, discount, U, X, match)
        if spread * run.improve(*pairs, others, gain, U, X, match) <= tolerance:
            return X, match


def _columns(states: int) -> Iterator[slice]:
    width = max(1, _NUMBERS // states)
    for begin in range(0, states, width):
        yield slice(begin, min(begin + width, states))
