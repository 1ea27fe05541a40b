# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What protecting a visit costs, for several report periods: no data is needed.

Robots are simulated tick by tick, one by each public model of how a robot moves (`core.models`:
the map's P, or how long it typically stays, where that is known). A robot reports every T seconds,
and readers hold its last private report until the next one. A visit of D seconds touches k =
⌊D/T⌋ + 1 reports. What counts is the share of *time* for which the held report is wrong, how far
off it is, and how often an adversary guesses the place who knows how it moves. The numbers are of
the robot that moves as the map says, or, where it says nothing, the mean over all robots by the
weights of the models.

All draws have fixed seeds, the same for every ε: a call repeats, and curves over ε are smooth.
"""
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, sqrt
from random import Random

import numpy as np
from symdp_ros.analysis.accuracy import mean_stay, patrols, robots
from symdp_ros.analysis.adversary import best_guess, Guess
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.models import MAP
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import CHOICES, CHOICES_BY_MODELS, DEFAULT_TRUST, POLICIES
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, as_fraction, Reports

_ADJACENCIES = (1, 2, 3, 4, 6, 10)  # for which the shortest period is a candidate
_POLICIES = tuple(policy for policy in POLICIES if policy != 'paper')
_WALKS, _COPIES = 24, 8   # of each robot; copies where there is one
_LEAST_COPIES = 2
_COVERED = 0.95           # of the robot's ways between two reports, by `moves`
_MOST_STATES = 2_000      # whose distances in moves are computed
_LARGEST_EPSILON, _TOLERANCE = 60.0, 0.01


@dataclass(frozen=True)
class Errors:
    """
    What readers of one mechanism's reports see.

    :param mechanism: a policy, or how a log is released.
    :param wrong: the share of time for which the held report is not the true region.
    :param standard_error: of `wrong`.
    :param moves_off: how many moves it is off, on average over all time; None: not computed.
    :param metres_off: the same in metres, where the map has positions.
    :param by_robot: `wrong` for each robot.
    """

    mechanism: str
    wrong: float
    standard_error: float
    moves_off: float | None
    metres_off: float | None
    by_robot: dict[str, float]


@dataclass(frozen=True)
class Row:
    """One report period: the best live policy and the best way to release a log."""

    period: float
    moves: int
    adjacency: int
    epsilon: float
    held: float  # the share of time for which the true region, held, is wrong
    live: Errors
    logged: Errors
    guess: Guess | None  # None: not asked for


class VisitCalibration:
    """
    Errors by report period, for one map, visit and typical stay.

    :param graph: the map; its `tick` is the step, or else one second.
    :param protect: D > 0, seconds.
    :param stay: seconds for which the robot typically stays; 0: as the map's P says.
    :param trust: the weight of what is known of how it moves, as of `Chain.models`.
    :raises ChainError, ConfigurationError: as `Reports.chain`.
    """

    def __init__(self, graph: TransitionGraph, *, protect: float, stay: float = 0.0,
                 walks: int = _WALKS, trust: float = DEFAULT_TRUST):
        if graph.moves is not None:
            raise ConfigurationError(
                f'this is a chain of reports every {graph.tick:g} s: to compare report periods, '
                'give the map that it was made from', path=graph.source or None)
        self._graph = replace(graph, tick=graph.tick or 1.0)
        self.tick = float(self._graph.tick or 1.0)
        self._protect, self._walks, self._trust = protect, walks, trust
        #: the chain whose step is a tick
        self.chain = Reports(self.tick, stay=stay).chain(self._graph)
        self._length = max(300, round(12 * protect / self.tick))
        self._robots = robots(self.chain, trust)
        words = {name: patrols(robot, self._length, walks)
                 for name, robot in self._robots.items()}
        #: how many seconds each simulated robot stays in a place, on average
        self.mean_stay = {name: mean_stay(walked) * self.tick for name, walked in words.items()}
        #: weights of the robots, shape (robots,)
        self._shares = (np.array([name == MAP for name in words], float) if MAP in words
                        else self.chain.models(trust).prior)
        index = self.chain.state_index
        self._true = np.array([[index[symbol] for symbol in word]
                               for walked in words.values() for word in walked])

    @cached_property
    def periods(self) -> tuple[float, ...]:
        """
        Return the report periods to compare, in seconds, ascending.

        Of all periods with the same k, the shortest: readers hear most, and ε is for as many
        reports. And a report every tick.
        """
        visit = int(as_fraction(self._protect) // as_fraction(self.tick))
        ticks = {1, *(visit // k + 1 for k in _ADJACENCIES)}
        return tuple(float(as_fraction(self.tick) * t) for t in sorted(ticks))

    def row(self, period: float, epsilon: float, *, guess: bool = True) -> Row:
        """Return what reports every `period` seconds are like at ε."""
        ticks = self._ticks(period)
        k = adjacency_of(self._protect, period)
        privacy, least = Privacy(epsilon, k), self._moves(ticks)
        tried = [(policy, moves) for policy in _POLICIES
                 for moves in ((least, least + 1) if ticks > 1 else (1,))]
        live, moves = min(((self._errors(policy, OnlineMechanism(
            self._chain(ticks, moves), privacy, policy=policy, trust=self._trust,
            random=Random(ticks)), ticks), moves) for policy, moves in tried),
            key=lambda pair: pair[0].wrong)
        chain = self._chain(ticks, moves)
        logged = min((self._errors(name, OfflineMechanism(
            chain, privacy, trust=self._trust, random=Random(ticks), **CHOICES[name]), ticks)
            for name in CHOICES_BY_MODELS), key=lambda errors: errors.wrong)
        if live.wrong < logged.wrong:
            logged = replace(live, mechanism=f'causal, {live.mechanism}')
        found = self._guess(OnlineMechanism(chain, privacy, policy=live.mechanism,
                                            trust=self._trust), ticks, moves) if guess else None
        return Row(period, moves, k, epsilon, self._held(ticks), live, logged, found)

    def row_for(self, period: float, target: float) -> Row | None:
        """
        Return the row of the least ε at which a live reader errs for at most `target` of the time.

        By bisection, to 1 %, not below 0.005. None where 60 is not enough.
        """
        def wrong(epsilon: float) -> float:
            return self.row(period, epsilon, guess=False).live.wrong

        low, high = 0.0, 1.0
        while wrong(high) > target:
            if high == _LARGEST_EPSILON:
                return None
            low, high = high, min(2 * high, _LARGEST_EPSILON)
        while high - low > _TOLERANCE * high and high > _TOLERANCE:
            middle = (low + high) / 2
            low, high = (middle, high) if wrong(middle) > target else (low, middle)
        return self.row(period, high)

    def _ticks(self, period: float) -> int:
        return int(as_fraction(period) / as_fraction(self.tick))

    def _moves(self, ticks: int) -> int:
        """Return the moves that cover most of the robot's ways between two reports."""
        if ticks == 1:
            return 1
        ways = self._way_lengths
        if ways is None:
            return ticks
        reported = self._true[:, ticks - 1::ticks]
        found = ways[reported[:, :-1], reported[:, 1:]]
        order = np.argsort(found, axis=None, kind='stable')
        shares = np.repeat(self._shares / self._shares.sum(), found.size // len(self._shares))
        covered = np.cumsum(shares[order]) * len(self._shares) / found.size > _COVERED
        return max(1, int(found.ravel()[order[np.argmax(covered)]]))

    def _guess(self, mechanism: OnlineMechanism, ticks: int, moves: int) -> Guess:
        """Return how often an adversary is right, on average over the robots."""
        each = [(share, best_guess(
            mechanism, self._length // ticks, walks=self._walks,
            walks_by=robot if ticks == 1 else robot.every(ticks, moves)))
            for share, robot in zip(self._shares.tolist(), self._robots.values(), strict=True)
            if share > 0]
        return Guess(sum(share * guess.before for share, guess in each),
                     sum(share * guess.after for share, guess in each),
                     sqrt(sum((share * guess.standard_error)**2 for share, guess in each)),
                     self._walks)

    def _chain(self, ticks: int, moves: int) -> Chain:
        if (ticks, moves) not in self._chains:
            self._chains[ticks, moves] = self.chain if ticks == 1 else self.chain.every(
                ticks, moves)
        return self._chains[ticks, moves]

    @cached_property
    def _chains(self) -> dict[tuple[int, int], Chain]:
        return {}

    def _reports(self, ticks: int) -> Ints:
        return self._true[:, ticks - 1::ticks][:, :self._length // ticks]

    def _held(self, ticks: int) -> float:
        return self._averaged(self._off(self._reports(ticks), ticks, np.not_equal))

    def _averaged(self, off: Floats) -> float:
        """Return the mean of what is known for each walk: shape (walks, …)."""
        return float(self._shares @ off.reshape(len(self._shares), -1).mean(axis=1))

    def _off(self, reports: Ints, ticks: int,
             measure: Callable[[Ints, Ints], Floats]) -> Floats:
        """Return for each tick how far the held report is from the region: (walks, ticks)."""
        true = self._true[:, ticks - 1:(reports.shape[1] + 1) * ticks - 1]
        held = np.repeat(reports, ticks, axis=1)[:, :true.shape[1]]
        return measure(held, true)

    def _errors(self, name: str, mechanism: OnlineMechanism | OfflineMechanism,
                ticks: int) -> Errors:
        reports = self._reports(ticks)
        walks, length = reports.shape
        copies = max(_LEAST_COPIES, _COPIES // len(self._robots))
        offsets = np.arange(0, (walks * copies + 1) * length, length)
        drawn = mechanism.privatize_many(np.tile(reports, (copies, 1)).ravel().astype(np.int32),
                                         offsets).astype(np.int64).reshape(copies, walks, length)
        by_walk = np.mean([self._off(copy, ticks, np.not_equal).mean(axis=1) for copy in drawn],
                          axis=0).reshape(len(self._robots), -1)
        by_robot, errors = by_walk.mean(axis=1), by_walk.std(axis=1, ddof=1) / sqrt(self._walks)
        return Errors(name, float(self._shares @ by_robot),
                      float(np.linalg.norm(self._shares * errors)),
                      self._mean(drawn, ticks, self._way_lengths),
                      self._mean(drawn, ticks, self._metres),
                      dict(zip(self._robots, by_robot.tolist(), strict=True)))

    def _mean(self, drawn: Ints, ticks: int, distances: Floats | None) -> float | None:
        if distances is None:
            return None
        return float(np.mean([self._averaged(self._off(copy, ticks, lambda a, b: distances[a, b]))
                              for copy in drawn]))

    @cached_property
    def _way_lengths(self) -> Floats | None:
        """Return the fewest moves between all states; as many as there are states where none."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        size = len(self.chain)
        if size > _MOST_STATES:
            return None
        if not self.chain.stores_edges:
            return 1.0 - np.eye(size)
        offsets, targets = self.chain.csr()
        found = shortest_path(csr_array((np.ones(len(targets)), targets, offsets),
                                        shape=(size, size)), unweighted=True)
        return np.where(np.isfinite(found), found, float(size))

    @cached_property
    def _metres(self) -> Floats | None:
        places = [self._graph.positions.get(state) for state in self.chain.states]
        if len(places) > _MOST_STATES or not all(places):
            return None
        known: Sequence[tuple[float, float]] = [place for place in places if place]
        return np.array([[hypot(a[0] - b[0], a[1] - b[1]) for b in known] for a in known])
