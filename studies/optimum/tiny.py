# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tiny chains: the optimum, its proven bound, and the errors of our mechanisms, all exactly."""
from collections.abc import Sequence
from math import floor
from random import Random
from typing import Any

import numpy as np
from studies.optimum.program import chain_of, Program
from studies.permute_and_flip import PermuteAndFlip
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

TWO, THREE, ALIKE = ('two states that stay 0.9', 'three states in a row that stay 0.9',
                     'three states, all moves alike')
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
DELAYS = (0, 1, None)
DECIMALS = 5

#: What is solved: chain, n, ε, k, whether the k places stand in a row, delay.
TASKS: list[tuple[str, int, float, int, bool, int | None]] = [
    *((name, n, epsilon, 1, False, delay) for name, lengths in ((TWO, (4, 6)), (THREE, (3, 4)))
      for n in lengths for epsilon in EPSILONS for delay in DELAYS),
    *((name, n, epsilon, 2, in_a_row, delay) for name, n in ((TWO, 5), (THREE, 4))
      for epsilon in (2.0, 3.0) for in_a_row in (False, True) for delay in DELAYS),
    (ALIKE, 3, 3.0, 3, False, 0)]


def row(name: str, length: int, epsilon: float, adjacency: int, in_a_row: bool,
        delay: int | None) -> dict[str, Any]:
    """Return the optimum of one linear program, what is proved, and the errors of ours."""
    program = Program(name, length, epsilon, adjacency, in_a_row, delay)
    optimum, certificate = program.optimum()
    proved = program.proved(certificate)
    return {'chain': name, 'n': length, 'epsilon': epsilon, 'k': adjacency, 'in_a_row': in_a_row,
            'delay': delay, 'optimum': round(optimum, DECIMALS),
            'proved': floor(proved * 10**DECIMALS) / 10**DECIMALS,
            'found': {key: round(error, DECIMALS)
                      for key, error in own_errors(program).items()}}


def own_errors(program: Program) -> dict[str, float]:
    """Return errors of what the package has and knows as much, P being known; and of flip."""
    chain = chain_of(program.name)
    privacy = Privacy(program.epsilon, program.adjacency)
    made: dict[str, OnlineMechanism | OfflineMechanism | PermuteAndFlip] = {
        'adaptive': OnlineMechanism(chain, privacy, policy='adaptive', trust=1.0,
                                    delay=program.delay)}
    if program.delay == 0:
        for policy in ('paper', 'guided'):
            made[policy] = OnlineMechanism(chain, privacy, policy=policy, trust=1.0)
    if program.delay is None:
        made['exponential'] = OfflineMechanism(chain, privacy, trust=1.0)
        made['counting'] = OfflineMechanism(chain, privacy, base='counting')
        made['flip'] = PermuteAndFlip(chain, privacy, Random(0))
    return {key: expected_error(mechanism, chain, program) for key, mechanism in made.items()}


def expected_error(mechanism: OnlineMechanism | OfflineMechanism | PermuteAndFlip, chain: Chain,
                   program: Program) -> float:
    """Return the expected share of wrong symbols: summed over all words that P allows."""
    distances = np.arange(program.length + 1) / program.length

    def chances(word: Sequence[str]) -> Floats:
        if isinstance(mechanism, PermuteAndFlip):
            return mechanism.distance_distribution(np.array([chain.state_index[s] for s in word]))
        return mechanism.law.distance_distribution(word)

    return float(sum(float(program.chance(word)) * (chances(word) @ distances)
                     for word in program.outputs))
