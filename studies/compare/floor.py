# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The floor: no live mechanism that spends η = ε/k on a symbol errs less than this.

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
(`studies.optimum`: .350 where claim 2 says .424).

For N equally likely moves, 1 − g = 1 − e^η/(N − 1 + e^η).
"""
from math import exp

import numpy as np
from symdp_ros.analysis.adversary import walk_distribution
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain


def best_guess(prior: Floats, epsilon: float) -> float:
    """Return g(p, ε) of claim 1."""
    top = np.cumsum(np.sort(prior)[::-1])
    weight = exp(epsilon)
    return float((weight * top / (np.arange(len(top)) + weight)).max())


def floor(chain: Chain, length: int, epsilon: float) -> float:
    """
    Return the error per symbol of claim 2, averaged over a walk of this length, exactly.

    :param epsilon: what is spent on one symbol, ε/k.
    """
    errors = np.array([1 - best_guess(np.array([*chain.probabilities(state).values()]), epsilon)
                       for state in chain.states])
    before = walk_distribution(chain, length)[:-1].sum(axis=0)
    before[chain.state_index[chain.initial_state]] += 1
    return float(before @ errors / length)
