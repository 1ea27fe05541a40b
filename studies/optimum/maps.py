# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Real maps: a bound by one symbol's channel, beside what our mechanisms reach.

**Claim.** Let words that differ in k places in a row be adjacent (and perhaps others), o_t be the
report of s_t, and a, b ≥ 1 with a + b = k + 1. Then, with g as in `studies.compare.floor`,

    P[o_t = s_t] ≤ E[g(P(s_t = · | s_{t−a}, s_{t+b}), ε)].

If o_t depends on the symbols until t + u alone (live: u = 0; waiting for d symbols: u = d; at the
end of the word u = n − t), the same holds with g(P(s_t = · | s_{t−a}), ε) for a + u ≤ k.

*Proof.* Fix all symbols but the k (or a + u) between these ends. What is left is an ε-private
channel from these to all reports. Fix s_t as well, and draw the others by P given the ends and
s_t: a channel from s_t to the reports, each of whose chances is a mean of chances that differ by
e^ε at most, so it is ε-private. Its prior is P(s_t | the ends), as the walk is a Markov chain. By
claim 1 of `studies.compare.floor`, o_t = s_t has a chance of at most g. Average over what was
fixed. ∎

For k = 1 these are P(s_t | s_{t−1}, s_{t+1}), and live P(s_t | s_{t−1}). All of ε goes into one
symbol here, so the bound holds for every way to spend it; it cannot be reached for all symbols at
once.
"""
import json
from typing import Any

import numpy as np
from studies.common import DOCS
from studies.compare import areas, words
from studies.compare.adversary import transitions
from symdp_ros.analysis.accuracy import average_accuracy, patrols
from symdp_ros.analysis.adversary import walk_distribution
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

LENGTH, WALKS, DELAY = 50, 100, 3
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
STORED = DOCS / 'evidence' / 'comparison.json'
#: Of `words.MECHANISMS`: what the package has live, and for a log; what waits is 'delayed'.
LIVE = ('paper', 'guided', 'adaptive')
LOGS = ('counting', 'flip', 'guided', 'decoded', 'chain')


def bound(chain: Chain, length: int, epsilon: float, adjacency: int = 1,
          delay: int | None = 0) -> float:
    """
    Return the error per symbol below which no mechanism is, averaged over a walk by P.

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
    Return Σ_y g(P(s, y | x), ε) for each x: shape (x,); g is of s, and homogeneous.

    :param before: P(s | x), shape (x, s).
    :param after: P(y | s), shape (s, y); None: no y is told.
    """
    joint = before[:, None] if after is None else before[:, None] * after.T[None]
    sums = np.cumsum(-np.sort(-joint, axis=2), axis=2)
    weight = np.exp(epsilon)
    best: Floats = (sums * (weight / (weight + np.arange(sums.shape[2])))).max(axis=2).sum(axis=1)
    return best


def row(name: str, epsilon: float, k: int) -> dict[str, Any]:
    """Return bounds and errors, live, later and on logs, on one map of `areas.names`."""
    chain, length = areas.area(name).chain(k), words.LENGTHS[k]
    found = stored(name, epsilon, k) or measured(chain, length, epsilon)
    bounds = [bound(chain, length, epsilon, k, delay) for delay in (0, DELAY, None)]
    return {'map': name, 'epsilon': epsilon, 'k': k, 'bounds': [round(b, 4) for b in bounds],
            'found': [[key, found[key]] for key in (
                min(LIVE, key=lambda key: found.get(key, 1.0)), 'delayed',
                min(LOGS, key=lambda key: found.get(key, 1.0)))]}


def stored(name: str, epsilon: float, k: int) -> dict[str, float] | None:
    """Return the errors that docs/evidence/comparison.json has, or None."""
    rows = json.loads(STORED.read_text(encoding='utf-8'))['sections']['words']['rows']
    for found in rows:
        if (found['map'], found['epsilon'], found['k']) == (name, epsilon, k):
            return {key: numbers[words.ERROR] for key, numbers in found['found'].items()}
    return None


def measured(chain: Chain, length: int, epsilon: float) -> dict[str, float]:
    """Return the same errors by the package, at k = 1; permute-and-flip is left out."""
    privacy, walks = Privacy(epsilon), patrols(chain, length, WALKS)
    made: dict[str, OnlineMechanism | OfflineMechanism] = {
        **{policy: OnlineMechanism(chain, privacy, policy=policy)
           for policy in ('paper', 'guided')},
        **{key: OnlineMechanism(chain, privacy, policy='adaptive', delay=delay)
           for key, delay in (('adaptive', 0), ('delayed', DELAY), ('decoded', None))},
        'counting': OfflineMechanism(chain, privacy, base='counting'),
        'chain': OfflineMechanism(chain, privacy)}
    return {key: round(average_accuracy(mechanism, walks).error, 4)
            for key, mechanism in made.items()}


def tasks() -> list[tuple[str, float, int]]:
    """Return what is computed: every map, and every ε that is measured for its k."""
    return [(name, epsilon, k) for k in words.LENGTHS
            for epsilon in (EPSILONS if k == 1 else words.EPSILONS) for name in areas.names()]
