# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Randomized response over all states, and then the feasible route that fits it best.

What an engineer would do first: each symbol is kept with probability e^η/(S − 1 + e^η), η = ε/k,
and else becomes any other of the S states. That word is no route; map-matching makes it one,
which is post-processing and costs no privacy.
"""
from math import exp

import numpy as np
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain


def channel(states: int, epsilon: float) -> Floats:
    """Return P[x | s] of randomized response: shape (states, states)."""
    weight = exp(epsilon)
    return (np.eye(states) * (weight - 1) + 1) / (states - 1 + weight)


def draw(channel_: Floats, words: ShortInts, random: np.random.Generator) -> ShortInts:
    """Return an output for each symbol: shape (words, length)."""
    sums = channel_.cumsum(axis=1)
    drawn = random.random(words.shape)
    found = np.empty_like(words)
    for state in np.unique(words):
        here = words == state
        found[here] = np.searchsorted(sums[state] / sums[state, -1], drawn[here], 'right')
    return found


def nearest(chain: Chain, seen: ShortInts) -> ShortInts:
    """Return the feasible routes with the fewest symbols changed."""
    return _routes(chain, seen, 1.0, np.zeros(chain.edge_count))


def likeliest(chain: Chain, seen: ShortInts, epsilon: float) -> ShortInts:
    """Return the feasible routes that are the most probable, by the chain's P."""
    return _routes(chain, seen, epsilon, np.log(chain.edge_probabilities()))


def _routes(chain: Chain, seen: ShortInts, match: float, gain: Floats) -> ShortInts:
    """Return the feasible routes of largest Σ match·[same] + gain(move); of equals, the first."""
    words, length = seen.shape
    offsets, targets = chain.csr()
    best = np.zeros((length, len(chain), words))
    for t in range(length):
        best[t, seen[:, t], np.arange(words)] = match
    for t in range(length - 2, -1, -1):
        best[t] += np.maximum.reduceat(best[t + 1, targets] + gain[:, None], offsets[:-1])
    degrees = np.diff(offsets)
    columns = np.arange(degrees.max())
    edges = np.minimum(offsets[:-1, None] + columns, len(targets) - 1)  # (states, most moves)
    penalty = np.where(columns < degrees[:, None], 0, -np.inf)
    route = np.empty_like(seen)
    state = np.full(words, chain.state_index[chain.initial_state])
    for t in range(length):
        moves = edges[state]
        values = best[t, targets[moves], np.arange(words)[:, None]] + gain[moves] + penalty[state]
        state = targets[moves[np.arange(words), values.argmax(axis=1)]]
        route[:, t] = state
    return route
