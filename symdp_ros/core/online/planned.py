# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The planned policy: targets that err least in the long run.

A Markov decision process over pairs (s_t, o_{t−1}), of public data alone: the action is a target
g ∈ C(o_{t−1}), o_t is drawn about it (`core.online.response`), a match o_t = s_t earns 1, s_t
moves on by P, the mean of the chain's public models by their weights (`core.models`), and later
matches count γ = 0.99 for each step. With a/T and (b−a)/T as drawn, the most that can be earned
solves

    U(s, o) = a/T·Σ_{c ∈ C(o)} X(s, c) + (b−a)/T·max_{c ∈ C(o)} X(s, c),                       (1)
    X(s, c) = [c = s] + γ·Σ_{s'} P(s'|s)·U(s', c),

and the target is the c of the largest X, the first of `successors(o)` where several come within
10⁻⁶ of it; there is none (uniform) where no match is ever to be had. Matches are counted, not
errors: the errors are 1/(1−γ) − U. One sweep of (1) takes O(states·edges) time.

**Stopping.** Let m and M be the least and the largest change of U in a sweep. With the targets of
that sweep at least T(U) + γ·m/(1−γ) is earned from every pair, by any policy at most T(U) +
γ·M/(1−γ) (MacQueen 1966). It ends when the two are within `TOLERANCE` = 10⁻³ matches, out of at
most 100: 10⁻⁵ in the error per symbol; ties cost at most another 10⁻⁴. M − m shrinks by γ in every
sweep whatever the period of the chain (on one without, faster), so 1,145 sweeps are enough. As
guided's targets are among the actions (where it draws uniformly, aiming at the best is no worse),
the plan is never worse than guided, from any pair, by more than that.

**On the complete chain** there is nothing to plan: C(o) is the same for all o, so U and the sum
over P do not depend on o, and X(s, c) is largest at c = s.

**Large chains.** Above `targets.DENSE_STATES` states the sweeps go over the pairs of the guided
table alone (s within its radius of o). Pairs outside are drawn uniformly, as guided does; nothing
more is taken to be earned once one is reached: U = 0 there, and so is X but for a match, c = s. A
shift of U is then no longer harmless, so 0 takes the place of m, and the tolerance is
`NEAR_TOLERANCE` = 1 match: at most 458 sweeps.

**Privacy.** The targets are fixed by chain, ε and k before the first symbol (`core.online`).

Plans of some size are kept in a cache of the caller's, under a hash of chain, P, ε and k: public
data.
"""
from array import array
from hashlib import sha256

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import dense_values, loops, targets
from symdp_ros.core.online.guided import near_pairs
from symdp_ros.core.online.targets import DenseTargets, SparseTargets
from symdp_ros.core.privacy import Privacy
from symdp_ros.files.cache import Cache

DISCOUNT = 0.99
TOLERANCE = 1e-3
NEAR_TOLERANCE = 1.0

_TIE = 1e-6
_VERSION = 1             # of the plans: part of the name under which they are kept
_CACHED_STEPS = 20_000   # pairs·edges/states of one sweep, from which on a plan is kept: 30 ms


def planned_targets(chain: Chain, privacy: Privacy, trust: float, others: np.ndarray,
                    gain: np.ndarray, cache: Cache | None = None) -> DenseTargets | SparseTargets:
    """
    Return the targets of the planned policy (see the module).

    Takes seconds for 1,000 states of degree 4, and 24 bytes for each pair of states.

    :param chain: one that stores its edges.
    :param privacy: part of the name in the cache; ε and k act through the weights.
    :param trust: in the chain's P, for its public models: their mean is what s moves by.
    :param others: a/T for each previous state, shape (states,), as `OnlineMechanism.weights`.
    :param gain: (b−a)/T, same shape.
    :param cache: where large plans are kept.
    """
    n = len(chain)
    sparse = None if n <= targets.DENSE_STATES else near_pairs(chain)
    first, symbols = np.arange(n + 1) * n, np.empty(0, np.int32)
    if sparse is not None:
        first, symbols, _ = sparse.pairs()
    limits = np.repeat(chain.out_degrees(), np.diff(first))
    moves = chain.models(trust).mean
    name = _name(chain, privacy, moves, sparse)
    kept = cache if _is_large(chain, first) else None
    codes = None if kept is None else _codes(kept.read(name, 4 * len(limits)), limits)
    if codes is None:
        codes = _solve(chain, first, symbols, others, gain, moves)
        if kept is not None:
            kept.write(name, codes.astype('<u4').tobytes())
    if sparse is not None:
        pairs = np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(first)) + symbols
        return SparseTargets(pairs, codes, n, sparse.radius)
    kind = np.uint8 if limits.max() <= 255 else np.uint32
    table = np.zeros((n, n + 1), kind)
    table[:, :n] = codes.reshape(n, n)
    return DenseTargets([row.tobytes() if kind == np.uint8 else array('I', row.tobytes())
                         for row in table])


def _solve(chain: Chain, first: Ints, symbols: ShortInts, others: Floats, gain: Floats,
           moves: Floats) -> Numbers:
    """Return the codes of the pairs: uint32, shape (first[-1],)."""
    tolerance = NEAR_TOLERANCE if len(symbols) else TOLERANCE
    X, match = values(chain, first, symbols, others, gain, moves, DISCOUNT, tolerance)
    if not len(symbols):
        return dense_values.choose(chain, X.reshape(len(chain), -1), _TIE).ravel()
    from symdp_ros.core.online.values_in_numpy import choose

    return choose(first, symbols, *chain.csr(), _TIE, X, match)


def values(chain: Chain, first: Ints, symbols: ShortInts, others: Floats, gain: Floats,
           moves: Floats, discount: float, tolerance: float) -> tuple[Floats, Floats]:
    """
    Return X of equation (1) for all pairs, and X(c, c), whether or not that is one.

    :param first, symbols: of pairs, as `SparseTargets.pairs`; no symbols: all of them.
    :param moves: P of each edge, in the order of `Chain.csr`.
    :param tolerance: matches (see the module).
    :return: shapes (first[-1],) and (states,).
    """
    if not len(symbols):
        X = dense_values.values(chain, others, gain, moves, discount, tolerance)
        return X.ravel(), X.diagonal().copy()
    from symdp_ros.core.online import values_in_numpy

    pairs, run = (first, symbols, *chain.csr()), loops.compiled or values_in_numpy
    U, X, match = np.zeros(first[-1]), np.empty(first[-1]), np.zeros(len(chain))
    spread = discount / (1 - discount)
    while True:
        run.earn(*pairs, moves, discount, U, X, match)
        if spread * run.improve(*pairs, others, gain, U, X, match) <= tolerance:
            return X, match


def _is_large(chain: Chain, first: Ints) -> bool:
    return int(first[-1]) * chain.edge_count >= _CACHED_STEPS * len(chain)


def _name(chain: Chain, privacy: Privacy, moves: Floats, sparse: SparseTargets | None) -> str:
    """Return the name of a plan in the cache."""
    scope = None if sparse is None else (sparse.radius, NEAR_TOLERANCE)
    text = repr((_VERSION, DISCOUNT, TOLERANCE, _TIE, scope, chain.digest(), privacy.epsilon,
                 privacy.adjacency, sha256(moves.tobytes()).hexdigest()))
    return f'plan-{sha256(text.encode()).hexdigest()}'


def _codes(data: bytes | None, limits: Ints) -> Numbers | None:
    """Return the codes that were kept, or None: uint32, each at most its limit."""
    if data is None or len(data) != 4 * len(limits):
        return None
    codes = np.frombuffer(data, '<u4').astype(np.uint32)
    return codes if (codes <= limits).all() else None
