# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The types of what `_passes.c` has: as in `in_numpy`, and for many words at once."""
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.offline.passes import PassWord
from symdp_ros.core.offline.reachable import Moves


def sweep(first: int, last: int, word: PassWord, moves: Moves, W: Floats, E: ShortInts,
          /) -> int: ...


def choose(lengths: Floats, bits: int, /) -> int: ...
