# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The adversary, the same for every mechanism: Bayes over all that is unknown.

It knows the chain with its P, the mechanism and ε, and sees all outputs. It guesses the true state
at each time: that of the largest posterior c_t (forward and backward over a hidden Markov model).
Where the likelihood of the outputs factors over positions, c_t is exact, and so is the chance that
the guess is right, max c_t. Where it does not (exponential, permute-and-flip), the normaliser is
taken as constant; its success is then counted against the true words, and is that of this attack.
"""
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain


def transitions(chain: Chain) -> csr_array:
    """Return P: shape (states, states)."""
    offsets, targets = chain.csr()
    return csr_array((chain.edge_probabilities(), targets, offsets),
                     shape=(len(chain), len(chain)))


def posteriors(chain: Chain, length: int, words: int,
               likelihood: Callable[[int], Floats]) -> Floats:
    """
    Return c_t for each of some words: shape (length, states, words).

    :param likelihood: of what is seen at position t, by the true state: shape (states, words).
    """
    moves = transitions(chain)
    back, found = moves.T.tocsr(), np.empty((length, len(chain), words))
    here = np.zeros((len(chain), words))
    here[chain.state_index[chain.initial_state]] = 1
    for t in range(length):
        here = (back @ here) * likelihood(t)
        here /= here.sum(axis=0)
        here[here < 1e-200] = 0
        found[t] = here
    for t in range(length - 2, -1, -1):
        expected = back @ found[t]
        found[t] *= moves @ np.divide(found[t + 1], expected, out=np.zeros_like(expected),
                                      where=expected > 0)
        found[t] /= found[t].sum(axis=0)
    return found


def by_channel(chain: Chain, channel: Floats, outputs: ShortInts) -> Floats:
    """
    Return c_t where each output depends on the symbol at its time alone.

    :param channel: P[x | s]: shape (states, outputs).
    :param outputs: shape (words, length).
    """
    return posteriors(chain, outputs.shape[1], len(outputs), lambda t: channel[:, outputs[:, t]])
