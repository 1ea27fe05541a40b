# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every number of docs/evidence/coordination.md, from public seeds."""
from collections.abc import Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from studies.coordination.intruder import success
from studies.coordination.patrol import Map, MAPS, Patrol, patrol, STRATEGIES, USES, View
from symdp_ros.core.registry import POLICIES

SEED = 1
DELAYS, LATE_EPSILONS = (0, 1, 3), (1.0, 2.0, 4.0, 8.0)
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)


class Size(NamedTuple):
    """How much is simulated."""

    runs: int
    steps: int
    burn_in: int


FULL, QUICK = Size(8, 500, 100), Size(4, 120, 30)


def numbers(size: Size) -> dict[str, Any]:
    """Return the numbers, ready for JSON."""
    areas = {name: Map(name) for name in MAPS}
    return {
        'size': {'epsilons': EPSILONS, **size._asdict()},
        'maps': {name: {'vertices': len(area), 'window': area.window}
                 for name, area in areas.items()},
        'patrol': [patrol_row(area, strategy, view, size) for area in areas.values()
                   for strategy in STRATEGIES for view in views()],
        'late': [late_row(area, strategy, epsilon, delay, size) for area in areas.values()
                 for strategy in STRATEGIES for epsilon in LATE_EPSILONS for delay in DELAYS]}


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


def guessed(found: Patrol, burn_in: int) -> np.ndarray:
    """Return how often the best guess of one robot's place is right, in each run."""
    places, beliefs = found.places[burn_in:], found.beliefs[burn_in:]
    if beliefs.any():
        return (beliefs.argmax(axis=3) == places).mean(axis=(0, 2))
    best = np.bincount(places.ravel()).argmax()  # nothing is heard: the busiest vertex
    return (places == best).mean(axis=(0, 2))


def _mean(values: np.ndarray) -> list[float]:
    error = values.std(ddof=1, dtype=float) / sqrt(len(values))
    return [round(float(values.mean(dtype=float)), 4), round(float(error), 4)]
