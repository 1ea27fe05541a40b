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
from scipy.sparse import csr_array
from symdp_ros.analysis.adversary import moves_of
from symdp_ros.analysis.belief import posteriors
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain


def transitions(chain: Chain) -> csr_array:
    """Return P: shape (states, states)."""
    offsets, targets = chain.csr()
    return csr_array((chain.edge_probabilities(), targets, offsets),
                     shape=(len(chain), len(chain)))


def by_channel(chain: Chain, channel: Floats, outputs: ShortInts) -> Floats:
    """
    Return c_t where each output depends on the symbol at its time alone.

    :param channel: P[x | s]: shape (states, outputs).
    :param outputs: shape (words, length).
    """
    return posteriors(chain, moves_of(chain), outputs.shape[1], len(outputs),
                      lambda t: channel[:, outputs[:, t]])
