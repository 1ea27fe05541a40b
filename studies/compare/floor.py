# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors below which no mechanism is: of those that spend η = ε/k on each symbol, and of all.

**Claim 1.** For a prior p over N states, the largest Σ_s p(s)·q(s|s) over all channels q with
q(x|s) ≤ e^η·q(x|s') for all x, s, s' is

    g(p, η) = max over m of e^η·p_m / (m − 1 + e^η),   p_m: the sum of the m largest p(s),

which randomized response on the m most probable states has.

*Proof.* Write E = e^η, m_x = min_s q(x|s), M = Σ m_x. As q(s|s) ≤ E·m_s, and as a row sums to 1,
q(s|s) ≤ 1 − M + m_s: the value is at most Σ p(s)·min(E·m_s, 1 − M + m_s). Where some
m_s > (1 − M)/(E − 1), make it smaller: by δ, this costs p(s)·δ and, as M becomes smaller, gives
back at least as much, to s itself. So let all m_s ≤ h = (1 − M)/(E − 1), m_s = h·u_s with
0 ≤ u_s ≤ 1. Then h = 1/(E − 1 + Σu), and the value is at most E·Σ p(s)·u_s / (E − 1 + Σu). A
quotient of linear functions is largest at a corner of the cube: u_s ∈ {0, 1}; of the corners with
m ones, the m largest p(s) are best. Randomized response on these m states (any other state:
uniform on them) is η-private and has this value. ∎

**Claim 2.** Let s_1, s_2, … be a walk by P, and let o_t be drawn when s_t is known and s_{t+1} is
not, such that, all that was drawn and sensed before being the same, P[o_t = x] differs by a factor
of at most e^η between any two s_t. Then P[o_t ≠ s_t] ≥ E[1 − g(P(·|s_{t−1}), η)].

*Proof.* Fix all that was drawn and sensed before t. Given this, s_t has the distribution
P(·|s_{t−1}) (Markov), and o_t is drawn by an η-private channel. By claim 1, they agree with a
chance of at most g. That holds even if the mechanism is told s_{t−1} for free, and need not choose
a feasible move. Average over what was fixed. ∎

For k = 1 claim 2 holds for every live mechanism: P[o_1…o_t | s_1…s_t] differs by a factor of at
most e^ε between any two s_t, and P[o_1…o_{t−1} | s_1…s_{t−1}] does not depend on s_t. For k > 1 it
does not hold for those that spend ε unequally, or on several symbols together
(`studies.optimum`: .350 where claim 2 says .424). Its floor is the bound of claim 3 for η, k = 1.

**Claim 3.** Let words that differ in k places in a row be adjacent (and perhaps others), o_t be
the report of s_t, and a, b ≥ 1 with a + b = k + 1. Then

    P[o_t = s_t] ≤ E[g(P(s_t = · | s_{t−a}, s_{t+b}), ε)].

If o_t depends on the symbols until t + u alone (live: u = 0; waiting for d symbols: u = d; at the
end of the word u = n − t), the same holds with g(P(s_t = · | s_{t−a}), ε) for a + u ≤ k.

*Proof.* Fix all symbols but the k (or a + u) between these ends. What is left is an ε-private
channel from these to all reports. Fix s_t as well, and draw the others by P given the ends and
s_t: a channel from s_t to the reports, each of whose chances is a mean of chances that differ by
e^ε at most, so it is ε-private. Its prior is P(s_t | the ends), as the walk is a Markov chain. By
claim 1, o_t = s_t has a chance of at most g. Average over what was fixed. ∎

For k = 1 these are P(s_t | s_{t−1}, s_{t+1}), and live P(s_t | s_{t−1}). All of ε goes into one
symbol here, so the bound holds for every way to spend it; it cannot be reached for all symbols at
once. For N equally likely moves, 1 − g = 1 − e^η/(N − 1 + e^η).
"""
import numpy as np
from studies.compare.adversary import transitions
from symdp_ros.analysis.adversary import walk_distribution
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain


def best_guess(priors: Floats, epsilon: float) -> Floats:
    """
    Return g(p, ε) of claim 1.

    :param priors: shape (…, states); g is homogeneous, so they need not sum to 1.
    """
    sums = np.cumsum(-np.sort(-priors, axis=-1), axis=-1)
    weight = np.exp(epsilon)
    best: Floats = (sums * (weight / (weight + np.arange(sums.shape[-1])))).max(axis=-1)
    return best


def bound(chain: Chain, length: int, epsilon: float, adjacency: int = 1,
          delay: int | None = 0) -> float:
    """
    Return the error per symbol of claim 3, averaged over a walk by P.

    :param delay: d, for how many symbols a report waits; None: for the whole word.
    """
    size = len(chain)
    moves = transitions(chain).toarray()
    powers = [np.eye(size)]
    for _ in range(adjacency):
        powers.append(powers[-1] @ moves)
    at = np.zeros((length + 1, size))
    at[0, chain.state_index[chain.initial_state]] = 1
    at[1:] = walk_distribution(chain, length)
    every: dict[tuple[int, int], Floats] = {}

    def right(t: int, a: int, b: int) -> float:
        """Return E[g] with s_{t−a} and, if b > 0, s_{t+b} told."""
        if t > a and (a, b) not in every:
            every[a, b] = _guess(powers[a], powers[b] if b else None, epsilon)
        if t > a:
            return float(at[t - a] @ every[a, b])
        start = chain.state_index[chain.initial_state]
        return float(_guess(powers[a][start:start + 1], powers[b] if b else None, epsilon)[0])

    total = 0.0
    for t in range(1, length + 1):
        later = length - t if delay is None else min(delay, length - t)
        found = [1.0]
        if later < adjacency:
            found.append(right(t, min(adjacency - later, t), 0))
        a = min((adjacency + 1) // 2, t)
        b = adjacency + 1 - a
        if b <= length - t:
            found.append(right(t, a, b))
        total += 1 - min(found)
    return total / length


def _guess(before: Floats, after: Floats | None, epsilon: float) -> Floats:
    """
    Return Σ_y g(P(s, y | x), ε) for each x: shape (x,); g is of s.

    :param before: P(s | x), shape (x, s).
    :param after: P(y | s), shape (s, y); None: no y is told.
    """
    joint = before[:, None] if after is None else before[:, None] * after.T[None]
    found: Floats = best_guess(joint, epsilon).sum(axis=1)
    return found
