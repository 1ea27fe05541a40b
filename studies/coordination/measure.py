# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every number of docs/evidence/coordination.md, from public seeds."""
from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from studies.coordination import team
from studies.coordination.intruder import success
from studies.coordination.patrol import Map, MAPS, Patrol, patrol, STRATEGIES, USES, View
from symdp_ros.core.registry import POLICIES

SEED = 1
DELAYS, LATE_EPSILONS = (0, 1, 3), (1.0, 2.0, 4.0, 8.0)
EPSILONS, TEAM_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0), (0.01, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)


class Size(NamedTuple):
    """How much is simulated."""

    runs: int
    steps: int
    burn_in: int
    team_runs: int


FULL, QUICK = Size(8, 500, 100, 1000), Size(4, 120, 30, 100)


def numbers(size: Size) -> dict[str, Any]:
    """Return the numbers, ready for JSON."""
    areas = {name: Map(name) for name in MAPS}
    return {
        'size': {'epsilons': EPSILONS, 'team_epsilons': TEAM_EPSILONS, **size._asdict()},
        'maps': {name: {'vertices': len(area), 'window': area.window}
                 for name, area in areas.items()},
        'patrol': [patrol_row(area, strategy, view, size) for area in areas.values()
                   for strategy in STRATEGIES for view in views()],
        'team_true': {name: round(team.with_true_symbols(name)[0], 4) for name in team.TEAMS},
        'team_steps': {name: round(team.with_true_symbols(name)[1], 1) for name in team.TEAMS},
        'team': [team_row(name, policy, epsilon, belief, size) for name in team.TEAMS
                 for policy in POLICIES for belief in (False, True)
                 for epsilon in TEAM_EPSILONS],
        'late': [late_row(area, strategy, epsilon, delay, size) for area in areas.values()
                 for strategy in STRATEGIES for epsilon in LATE_EPSILONS for delay in DELAYS],
        'late_team': [late_team_row(name, epsilon, delay, size) for name in team.TEAMS
                      for epsilon in LATE_EPSILONS for delay in DELAYS]}


def views() -> Iterator[View]:
    """Yield all that robots may hear of each other."""
    yield View('true')
    yield View('none')
    for policy in POLICIES:
        for use in USES:
            for epsilon in EPSILONS:
                yield View(policy, epsilon, use)


def patrol_row(area: Map, strategy: str, view: View, size: Size) -> dict[str, Any]:
    """Return the row of one patrol; each number with its standard error over the runs."""
    found = patrol(area, strategy, view, size.runs, size.steps, SEED)
    idle = found.idleness[size.burn_in:]
    tries = success(area, found, size.burn_in)
    return {'map': area.name, 'strategy': strategy, 'what': view.what, 'epsilon': view.epsilon,
            'use': view.use, 'average': _mean(idle.mean(axis=(0, 2))),
            'worst': _mean(idle.max(axis=(0, 2))), 'intruder': _mean(tries.always),
            'patient': _mean(tries.patient), 'guess': _mean(guessed(found, size.burn_in))}


def late_row(area: Map, strategy: str, epsilon: float, delay: int, size: Size) -> dict[str, Any]:
    """Return what a patrol is like that hears places some steps later, and takes them for true."""
    found = patrol(area, strategy, View('adaptive', epsilon, 'symbol', delay), size.runs,
                   size.steps, SEED)
    idle = found.idleness[size.burn_in:]
    return {'map': area.name, 'strategy': strategy, 'epsilon': epsilon, 'delay': delay,
            'average': _mean(idle.mean(axis=(0, 2))), 'worst': _mean(idle.max(axis=(0, 2)))}


def late_team_row(name: str, epsilon: float, delay: int, size: Size) -> dict[str, Any]:
    """Return the same of a published team."""
    succeeds = team.runs(name, 'adaptive', epsilon, False, size.team_runs, SEED, delay)
    return {'team': name, 'epsilon': epsilon, 'delay': delay,
            'success': _mean(succeeds.astype(float))}


def guessed(found: Patrol, burn_in: int) -> np.ndarray:
    """Return how often the best guess of one robot's place is right, in each run."""
    places, beliefs = found.places[burn_in:], found.beliefs[burn_in:]
    if beliefs.any():
        return (beliefs.argmax(axis=3) == places).mean(axis=(0, 2))
    best = np.bincount(places.ravel()).argmax()  # nothing is heard: the busiest vertex
    return (places == best).mean(axis=(0, 2))


def team_row(name: str, policy: str, epsilon: float, belief: bool, size: Size) -> dict[str, Any]:
    """Return the row of one team."""
    succeeds = team.runs(name, policy, epsilon, belief, size.team_runs, SEED)
    return {'team': name, 'policy': policy, 'epsilon': epsilon, 'belief': belief,
            'success': _mean(succeeds.astype(float))}


def _mean(values: np.ndarray) -> list[float]:
    error = values.std(ddof=1, dtype=float) / sqrt(len(values))
    return [round(float(values.mean(dtype=float)), 4), round(float(error), 4)]
