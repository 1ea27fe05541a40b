# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The base measure of a chain: h(o) = Π_t P̃(o_t | o_{t−1}), by which feasible words are weighted.

P̃ keeps the chain's probability of staying, and trusts its choice of a move by `trust`:

    P̃(s|s) = P(s|s),
    P̃(s'|s) = trust·P(s'|s) + (1 − trust)·(1 − P(s|s)) / (number of moves from s),  s' ≠ s;

uniform where the chain names no probabilities. (Staying is not mixed: at P(s|s) = 0.97, a fifth of
uniform moves would leave 0.82.)

**Privacy.** A mechanism keeps its ε under any positive weights that are fixed by public data. So
the weights that are used *are* the base measure, and it does not matter how they were rounded, or
whether P is right. They are float32, which are faster to read; none is below `LEAST_WEIGHT` times
1 − 2⁻²⁰, which bounds the range of what is computed from them; each row sums to 1 within 2⁻²³.
"""
from math import isfinite
from numbers import Real

import numpy as np
from symdp_ros.core.annotations import Weights
from symdp_ros.core.chain import Chain
from symdp_ros.core.registry import BASES
from symdp_ros.errors import ConfigurationError

LEAST_WEIGHT = 2.0**-40


def check_base(base: str, trust: float) -> None:
    """
    Refuse a base measure that there is not.

    :raises ConfigurationError: `base` is none of `BASES`; `trust` is no number in [0, 1].
    """
    if base not in BASES:
        raise ConfigurationError(f'base must be one of {", ".join(BASES)}, not {base!r}',
                                 setting='base')
    if isinstance(trust, bool) or not isinstance(trust, Real) or not (
            isfinite(trust) and 0 <= trust <= 1):
        raise ConfigurationError(f'trust must be a number from 0 to 1, not {trust!r}',
                                 setting='trust')


def move_weights(chain: Chain, trust: float) -> Weights:
    """
    Return P̃ of each move (see the module): shape (edges,), in the order of `chain.csr()`.

    :param chain: one that stores its edges.
    :param trust: from 0 to 1.
    """
    offsets, targets = chain.csr()
    degrees = np.diff(offsets)
    states = np.repeat(np.arange(len(chain)), degrees)
    chances = chain.edge_probabilities()
    stays = states == targets
    staying = np.zeros(len(chain))
    staying[states[stays]] = chances[stays]
    moves = np.maximum(1, degrees - np.bincount(states[stays], minlength=len(chain)))
    mixed = trust * chances + ((1 - trust) * (1 - staying) / moves)[states]
    weights = np.where(stays, chances, mixed)
    uniform = (np.minimum.reduceat(chances, offsets[:-1])
               == np.maximum.reduceat(chances, offsets[:-1]))[states]
    weights = np.where(uniform, 1 / degrees[states], np.maximum(weights, LEAST_WEIGHT))
    return (weights / np.add.reduceat(weights, offsets[:-1])[states]).astype(np.float32)
