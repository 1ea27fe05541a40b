# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What a visit of D seconds that is hidden leaves: how often readers are wrong, and who stays longer.

A stay of m·D seconds touches m symbols, or more, and they add up. Who reads all signals (or, of
policies without signals, all regions), and knows when the robot came and went, and where it was
before, takes the place that makes them most likely. Computed by simulated robots, as
`analysis.visits`: of public data alone. Seeds are fixed, so a call repeats.

A signal about a block of symbols may also be about some from before the stay. The reader knows
these: who does not is right less often. Where the stay ends within a block, the signal counts that
is drawn if the word ends there. It tells at least as much as that of the whole block tells who
knows what comes after the stay: with two cells the same, with more at most .004 of all places less
(of the blocks that were tried).

`python -m symdp_ros.analysis.remaining`: values of options as a line of JSON in, the result as
JSON out. So a node has it computed by another process, which does not hold up the node, and ends
with it.
"""
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
import json
from math import ceil
import os
from random import Random
import signal
import sys
from threading import Thread
from typing import Any

import numpy as np
from symdp_ros.analysis.accuracy import patrols, robots
from symdp_ros.analysis.visits import VisitCalibration, Way
from symdp_ros.core.annotations import Floats
from symdp_ros.core.choice import choose
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.zones import Signal, Told, WAITING
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
    map_settings = MapSettings.of(values)
    graph, zones = map_settings.read(), map_settings.zones()
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
    shares = np.zeros(len(visits))
    for robot, weight in zip(robots(chain.single, mechanism.trust).values(), weights.tolist(),
                             strict=True):
        walks = patrols(robot, _BEFORE * clock, ceil(weight * runs))
        for walk in walks:
            before, place = walk[clock - 1::clock], chain.state_index[walk[-1]]
            for n, (_, likelihood) in enumerate(stay_drawn(mechanism, before, visits, random)):
                shares[n] += weight / len(walks) * (likelihood.argmax() == place)
    return tuple(shares.tolist())


def stay_drawn(mechanism: OnlineMechanism, before: Sequence[str], lengths: Sequence[int],
               random: Random) -> Iterator[tuple[list[Signal], Floats]]:
    """
    Draw for a stay; yield for each length what is drawn, and how likely each place makes it.

    That is the log of the likelihood of a stay there, after the true symbols before it: shape
    (states,).

    :param before: the symbols before the stay, and its first one.
    :param lengths: of the stay, in symbols, ascending.
    """
    walker, first = mechanism.another(), len(before) - 1
    likelihood = np.zeros(len(mechanism.chain))
    signals, begin = list[Signal](), 0  # where the block under way begins
    for t in range(first + lengths[-1]):
        symbol, known = before[min(t, first)], before[begin:first]
        ends = walker.ends_block(symbol, before[min(t + 1, first)])
        drawn, told = _drawn(walker, symbol, known, random, ends)
        if t >= first:
            likelihood = likelihood + told
        if t - first + 1 in lengths:
            last, told = drawn, np.zeros(1)
            if drawn == WAITING or isinstance(drawn, Told):
                last, told = _drawn(walker, symbol, known, random, last=True)
            yield [*signals, last], likelihood + told
        walker.advance(drawn, symbol)
        for _ in range(walker.ticks_left):
            walker.tick()
        signals.append(drawn)
        begin = t + 1 - walker.waiting


def _drawn(walker: OnlineMechanism, symbol: str, known: Sequence[str], random: Random,
           last: bool = False) -> tuple[Signal, Floats]:
    """
    Return what is drawn for a symbol, and the log of how likely each place makes that.

    :param known: symbols of the block under way from before the stay.
    :param last: whether the block ends with this symbol.
    """
    row = walker.exact_current_distribution(symbol, last)
    [drawn] = random.choices([*row], [*map(float, row.values())])
    with np.errstate(divide='ignore'):
        return drawn, np.log(walker.current_likelihood(drawn, known))


def _end_with_caller() -> None:
    os.read(0, 1)  # returns once the caller has ended, also by SIGKILL: its end is then closed
    os._exit(1)


if __name__ == '__main__':
    os.nice(19)
    signal.alarm(_LONGEST)
    given = json.loads(sys.stdin.readline())
    Thread(target=_end_with_caller, daemon=True).start()
    json.dump(asdict(remaining(given)), sys.stdout)
