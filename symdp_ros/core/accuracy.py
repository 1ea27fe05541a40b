"""What a mechanism's outputs have in common with the word that they stand for."""
from collections.abc import Sequence

import numpy as np

from symdp_ros.core.online import OnlineMechanism


def expected_errors(mechanism: OnlineMechanism, word: Sequence[str | None]) -> np.ndarray:
    """
    Return P[o_t ≠ w_t] for each position of a word released online, exactly up to rounding.

    By forward recursion over the distribution of o_t: O(length · edges) time. An unknown symbol
    (None) counts as an error always. The result is as sensitive as the word.

    :return: shape (length,), each in [0, 1].
    :raises UnknownSymbolError: a symbol is no state.
    """
    chain = mechanism.chain
    n = len(chain)
    if chain.is_complete:
        # The distribution does not depend on the previous symbol.
        chances = {symbol: 1 - mechanism.distribution(symbol, chain.initial_state).get(symbol, 0)
                   for symbol in set(word)}
        return np.array([chances[symbol] for symbol in word], float)
    offsets, successors = chain.csr()
    degrees = np.diff(offsets)
    others, target_gain = mechanism.weights()
    index = chain.state_index
    here = np.zeros(n)
    here[index[chain.initial_state]] = 1.0
    errors = np.ones(len(word))
    for t, symbol in enumerate(word):
        targets = mechanism.target_positions(symbol)
        aimed = targets >= 0
        each = here * np.where(aimed, others, 1 / degrees)
        there = np.bincount(successors, np.repeat(each, degrees), n)
        there += np.bincount(targets[aimed], (here * target_gain)[aimed], n)
        here = there
        if symbol is not None:
            errors[t] = 1 - here[index[symbol]]
    return errors
