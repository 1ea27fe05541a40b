# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What a visit of D seconds that is hidden leaves: how often readers are wrong, and who stays longer.

A stay of m·D seconds touches m symbols, or more, and they add up. Who reads all signals (or, of
policies without signals, all regions), and knows when the robot came and went, takes the place
that makes them most likely. Computed by simulated robots, as `analysis.visits`: of public data
alone. Seeds are fixed, so a call repeats.

`python -m symdp_ros.analysis.remaining`: values of options as JSON in, the result as JSON out. So
a node has it computed by another process, which does not hold up the node.
"""
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
import json
from math import ceil
import os
from random import Random
import signal
import sys
from typing import Any

import numpy as np
from symdp_ros.analysis.accuracy import patrols, robots
from symdp_ros.analysis.visits import VisitCalibration, Way
from symdp_ros.core.annotations import Floats
from symdp_ros.core.choice import choose
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.words.visit_rule import settled

VISITS = (1, 2, 5, 10)  # times the visit that is hidden
_RUNS = 120             # stays
_BEFORE = 4             # symbols before a stay
_LONGEST = 300          # seconds that a process takes for it; then it ends


@dataclass(frozen=True)
class Remaining:
    """
    What others still see.

    :param wrong: the share of time for which the published region is not the true one.
    :param found: for a stay of so many times D (`VISITS`), how often its place is found.
    """

    wrong: float
    found: tuple[float, ...]


def remaining(values: Mapping[str, Any]) -> Remaining:
    """
    Return what a live node leaves.

    :param values: of the options of `privatizer`, with `protect`.
    :raises ChainError, ConfigurationError, PrivacyError: as the node refuses them.
    """
    place = MapSettings.of(values)
    graph, zones = place.read(), place.zones()
    sampling, settings = settled(values, graph)
    chain, privacy = sampling.chain(graph), sampling.privacy(
        values['epsilon'], values['adjacency'], zones)
    taken = choose(chain, privacy, settings)
    mechanism = taken.online(chain, privacy, Random(_RUNS))
    visits = VisitCalibration(graph, protect=sampling.protect, stay=sampling.stay,
                              trust=settings.trust, zones=zones)
    way = Way(taken.policy, (chain.ticks, max(1, sampling.moves)), taken.delay)
    return Remaining(visits.errors(way, mechanism, sampling.period).wrong,
                     stays_found(mechanism))


def stays_found(mechanism: OnlineMechanism, visits: Sequence[int] = VISITS,
                runs: int = _RUNS) -> tuple[float, ...]:
    """
    Return how often the place of a stay is found that touches so many symbols.

    :param visits: ascending.
    :param runs: simulated stays.
    """
    chain, clock = mechanism.chain, mechanism.chain.ticks * mechanism.stride
    weights, random = chain.single.models(mechanism.trust).prior, Random(runs)
    found = np.zeros(len(visits))
    for robot, weight in zip(robots(chain.single, mechanism.trust).values(), weights.tolist(),
                             strict=True):
        walks = patrols(robot, _BEFORE * clock, ceil(weight * runs))
        for walk in walks:
            before, place = walk[clock - 1::clock], chain.state_index[walk[-1]]
            walker, likelihood = mechanism.another(), np.zeros(len(chain))
            for symbol in before[:-1]:
                _draw(walker, symbol, random)
            for number in range(1, visits[-1] + 1):
                with np.errstate(divide='ignore'):
                    likelihood += np.log(_draw(walker, walk[-1], random))
                if number in visits:
                    found[visits.index(number)] += weight / len(walks) * (
                        likelihood.argmax() == place)
    return tuple(found.tolist())


def _draw(walker: OnlineMechanism, symbol: str, random: Random) -> Floats:
    """Draw for a symbol; return how likely each state makes what was drawn."""
    row = walker.current_distribution(symbol)
    [drawn] = random.choices([*row], [*row.values()])
    likelihood = walker.current_likelihood(drawn)
    walker.advance(drawn)
    for _ in range(walker.ticks_left):
        walker.tick()
    return likelihood


if __name__ == '__main__':
    os.nice(19)
    signal.alarm(_LONGEST)
    json.dump(asdict(remaining(json.load(sys.stdin))), sys.stdout)
