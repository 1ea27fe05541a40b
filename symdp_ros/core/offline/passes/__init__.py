# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The pass of `core.offline.backward` over one word: in NumPy, and in C.

`in_numpy` and `_passes` have the functions `sweep` and `walk`, with the same arguments and the
same results, bit by bit: the same additions in the same order. What they share is here. Where the
package was installed without a compiler there is no `_passes`, and NumPy does all.

    word      `PassWord`
    moves     `core.offline.reachable.Moves`
    W         float64 (rows, width·lanes)  b_t(s)·U_t(s, m) of the states of one position in each
              row: of state s in places (s − begins[t])·lanes + m
    E         int32 (rows, width): the exponents of two of these states, where they have some: the
              weight is W·2^E, and `NEVER` says that it is 0; else (1, 1)
    model     float64 (lanes,): how likely each model is, given the states walked
"""
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from symdp_ros.core.annotations import Floats, Ints

#: the module of the pass in C, where there is one
compiled: Any = None
with suppress(ImportError):
    from symdp_ros.core.offline.passes import _passes
    compiled = _passes

FAR = 255                          # weights further apart than 2⁻²⁵⁵ are left out of a sum
POWERS: Floats = np.append(2.0**-np.arange(FAR), 0.0)
TOP = 800                          # rescaled rows have their largest weight just below 2⁸⁰⁰
NEVER: Any = np.int32(-2**30)      # the exponent of zero


class PassWord(NamedTuple):
    """
    A word w_1…w_n as the pass reads it; place t of each array is of position t + 1.

    symbols: the number of each symbol; of a symbol that matches no state, a number of no state.
    begins, ends: the states that can stand at each position are begins[t]…ends[t]−1.
    ratio: R. rescale_every: positions; 0: each state has an exponent of its own.
    """

    symbols: Ints
    begins: Ints
    ends: Ints
    ratio: float
    rescale_every: int
