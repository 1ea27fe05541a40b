# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The errors of outputs that are a Markov chain, given the word, position by position.

With
δ_t = [o_t ≠ w_t] − P[o_t ≠ w_t] and D_t = δ_1 + … + δ_t, the three moments E[D_t^j; o_t = s],
j = 0, 1, 2, of each state s go on with o_t; then E[d] = Σ P[o_t ≠ w_t] and Var[d] = E[D_n²]. (As D
is centred at each position, nothing cancels in long words.)
"""
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from symdp_ros.core.annotations import Floats, Ints

#: a distribution over (hidden models, states, words), one symbol on
Move: TypeAlias = Callable[[Floats], Floats]


def forward(columns: Ints, moves: Iterable[Move], start: Floats, variances: bool
            ) -> tuple[Floats, Floats | None]:
    """
    Return P[o_t ≠ w_t], shape (n, words), and Var[d], shape (words,); None where not wanted.

    :param columns: words of one length n, as in `core.law.Law.errors`.
    :param moves: for each position a function that moves a distribution one symbol on.
    :param start: the distribution before the first symbol: shape (models, states, words).
    """
    models, n, count = start.shape
    words = np.arange(count)
    # The last state: unknown symbols.
    moments = np.zeros((3 if variances else 1, models, n + 1, count))
    moments[0, :, :n] = start
    errors = np.empty(columns.shape)
    for t, move in enumerate(moves):
        for moment in moments:
            moment[:, :n] = move(moment[:, :n])
        mass = moments[0]
        errors[t] = error = np.clip(1 - mass[:, columns[t], words].sum(axis=0), 0, 1)
        if not variances:
            continue
        _, first, second = moments
        change = np.broadcast_to(1 - error, mass.shape[1:]).copy()
        change[columns[t], words] = -error
        second += change * (2 * first + change * mass)
        first += change * mass
    return errors, np.maximum(moments[2].sum(axis=(0, 1)), 0) if variances else None
