# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of types that many modules use."""
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Word: TypeAlias = Sequence[str | None]  # a sensitive word; None: an unknown symbol
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Weights: TypeAlias = npt.NDArray[np.float32]  # of moves: `core.models`
ShortInts: TypeAlias = npt.NDArray[np.int32]
Number: TypeAlias = np.unsignedinteger[Any]
Numbers: TypeAlias = npt.NDArray[Number]
Booleans: TypeAlias = npt.NDArray[np.bool_]


class RandomBits(Protocol):
    """A source of random bits, such as `random.SystemRandom`."""

    def getrandbits(self, k: int, /) -> int:
        """Return an integer below 2^k, all equally likely."""
