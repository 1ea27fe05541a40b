# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the policy adaptive change in it, so that short words meet everything."""
from random import Random

import numpy as np
import pytest
from symdp_ros.core.online.adaptive import many, own_moves
from symdp_ros.core.online.adaptive import words as words_module
from symdp_ros.core.online.adaptive.turns import Block


@pytest.fixture
def often(monkeypatch):
    """Have words learn every so many ticks, 7 if nothing is said: also within blocks."""
    def every(ticks):
        for module in own_moves, many:
            monkeypatch.setattr(module, 'EVERY', ticks)

    every(7)
    return every


@pytest.fixture
def forced(monkeypatch):
    """Have every signal be one of a block of some size, with cells that mean nothing."""
    def force(length, more):
        def choose(tables, moves, joint, belief, single, most, inside, zones):
            codes = np.array(Random(length).choices(range(more + 1), k=most * tables.states))
            codes = codes.astype(np.uint8).reshape(most, -1)
            each = tables.signal // tables.row
            return [Block(tables.blocks[length, more], codes[:length], zone, each)
                    for zone in ([None] * joint.shape[2] if zones is None else zones)]

        monkeypatch.setattr(words_module, 'choose_blocks', choose)

    return force
