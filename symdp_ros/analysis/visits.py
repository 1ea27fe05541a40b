# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What protecting a visit costs, for several report periods: no data is needed.

Robots are simulated tick by tick, one by each public model of how a robot moves (`core.models`:
the map's P, or how long it typically stays, where that is known). There is a symbol every T
seconds; a visit of D seconds touches k = ⌊D/T⌋ + 1 of them. Reports go out with the symbols, or,
with the policy adaptive, every tick, and some seconds later. A report stands until the next one;
where readers wait (a delay, a log), it also stands for up to half of the time since the one
before, as far as they wait. What counts is the share of *time* for which
it is wrong, how far off it is, and how often an adversary who knows how the robot moves guesses
the place, at any time. The numbers are of the robot that moves as the map says, or, where it says
nothing, the mean over all robots by the weights of the models.

All draws have fixed seeds, the same for every ε: a call repeats, and curves over ε are smooth.
"""
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, sqrt
from random import Random
from time import perf_counter

import numpy as np
from symdp_ros.analysis.accuracy import mean_stay, patrols, robots
from symdp_ros.analysis.adversary import (best_guess_in_zones, best_guesses, Guess, moves_of,
                                          outputs_and_beliefs)
from symdp_ros.analysis.calibration import least_epsilon
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism_settings import CHOICES, MechanismSettings
from symdp_ros.core.models import MAP
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import AUTO, DEFAULT_TRUST, LIVE
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, as_fraction, period_of, Reports
from symdp_ros.words.visit_rule import settled

_ADJACENCIES = (1, 2, 3, 4, 6, 10)  # for which the shortest period is a candidate
_WALKS = 48               # of all robots that count together
_LEAST_WALKS = 24         # of each of them
_FEWEST_WALKS = 4         # of each of them, where time is short
_PART = 4                 # of the walks, one in so many shows which way is the best
_LEAST_TICKS = 300        # of each walk
_MEASURED = 3             # times the fewest walks, and they: how long others take follows
_SHORTER = 6              # times, the walks by which is measured how long a calibration takes
_TRIED, _BEST = 6.0, 0.5  # about: times what an adaptive way takes, all ways of a row and the best
_COVERED = 0.95           # of the robot's ways between two reports, by `moves`
_MOST_STATES = 2_000      # whose distances in moves are computed
_TOLERANCE = 0.01
_BY_MODELS = 'exponential', 'causal, adaptive'  # of logs: what uses the models of a robot


@dataclass(frozen=True)
class Errors:
    """
    What readers of one mechanism's reports see.

    :param mechanism: a policy, or how a log is released.
    :param report_period: seconds from one report to the next.
    :param moves: the most moves between two reports.
    :param delay: seconds by which reports are late; None: the whole log is decoded.
    :param wrong: the share of time for which the report is not the true region.
    :param standard_error: of `wrong`.
    :param moves_off: how many moves it is off, on average over all time; None: not computed.
    :param metres_off: the same in metres, where the map has positions.
    :param by_robot: `wrong` for each robot that counts.
    """

    mechanism: str
    report_period: float
    moves: int
    delay: float | None
    wrong: float
    standard_error: float
    moves_off: float | None
    metres_off: float | None
    by_robot: dict[str, float]


@dataclass(frozen=True)
class Row:
    """
    One period of symbols: the best live policy and the best way to release a log.

    A quarter of the walks shows which they are; their errors are measured on all.
    """

    period: float
    adjacency: int
    epsilon: float
    held: float  # the error without privacy: of holding the true region between reports
    live: Errors
    logged: Errors
    guess: Guess | None  # None: not asked for


@dataclass(frozen=True)
class Way:
    """
    One way to report.

    :param name: a policy; of logs, one of `mechanism_settings.CHOICES`.
    :param clock: ticks from one report to the next, and the most moves between them.
    :param late: the delay of live reports, in symbols; None: whole logs are released.
    """

    name: str
    clock: tuple[int, int]
    late: int | None = 0


@dataclass(frozen=True)
class Cost:
    """What parts of a calibration take, in seconds."""

    tables: float  # the tables of a way
    errors: float  # what a way errs
    guess: float
    ways: float    # what all ways of a row err


class VisitCalibration:
    """
    Errors by report period, for one map, visit and typical stay.

    :param graph: the map; its `tick` is the step, or else one second.
    :param protect: D > 0, seconds.
    :param stay: seconds for which the robot typically stays; 0: as the map's P says.
    :param shorter: by how many times the walks are shorter than usual.
    :param trust: the weight of what is known of how it moves, as of `Chain.models`.
    :param zones: of `Privacy`: told with each report; what does not know zones is left out.
    :raises ChainError, ConfigurationError: as `Reports.chain`.
    """

    def __init__(self, graph: TransitionGraph, *, protect: float, stay: float = 0.0,
                 walks: int | None = None, shorter: int = 1, trust: float = DEFAULT_TRUST,
                 zones: Mapping[str, Iterable[str]] | None = None):
        if graph.moves is not None:
            raise ConfigurationError(
                f'this is a chain of reports every {graph.tick:g} s: to compare report periods, '
                'give the map that it was made from', path=graph.source or None)
        self._graph = replace(graph.with_staying(), tick=graph.tick or 1.0)
        self.tick = float(self._graph.tick or 1.0)
        self._protect, self._stay, self._trust, self._zones = protect, stay, trust, zones
        #: the chain whose step is a tick
        self.chain = Reports(self.tick, stay=stay).chain(self._graph)
        self._chains = {(1, 1): self.chain}
        self._length = max(_LEAST_TICKS, round(12 * protect / self.tick)) // shorter
        every = robots(self.chain, trust)
        #: those that count: the one that moves as the map says, where it does
        self._robots = {MAP: every[MAP]} if MAP in every else every
        self._walks_of = dict[str, Ints]()
        self._others = {name: robot for name, robot in every.items() if name not in self._robots}
        self._walks = walks or max(_LEAST_WALKS, _WALKS // len(self._robots))
        #: weights of the robots, shape (robots,)
        self._shares = np.ones(1) if len(self._robots) == 1 else self.chain.models(trust).prior
        self._true = np.concatenate([self._walked(name) for name in self._robots])

    def _walked(self, name: str) -> Ints:
        """Return the simulated walks of a robot: shape (walks, ticks)."""
        if name not in self._walks_of:
            robot, index = {**self._robots, **self._others}[name], self.chain.state_index
            self._walks_of[name] = np.array([
                [index[symbol] for symbol in word]
                for word in patrols(robot, self._length, self._walks)])
        return self._walks_of[name]

    @cached_property
    def mean_stay(self) -> dict[str, float]:
        """Return how many seconds each simulated robot stays in a place, on average."""
        return {name: self.stay_of(name) for name in (*self._robots, *self._others)}

    def stay_of(self, robot: str) -> float:
        """Return how many seconds a simulated robot stays in a place, on average."""
        return self.tick * mean_stay(self._walked(robot).tolist())

    @cached_property
    def periods(self) -> tuple[float, ...]:
        """
        Return the periods to compare, in seconds, ascending.

        Of all periods with the same k, the shortest: most symbols are drawn, and ε is for as many.
        And a symbol every tick.
        """
        return tuple(sorted({self.tick, *(
            period_of(self._protect, self.tick, k) for k in _ADJACENCIES)}))

    @property
    def walks(self) -> int:
        """Return how many walks each robot makes."""
        return self._walks

    def within(self, seconds: float, work: Callable[['Cost'], float],
               delay: float = 0.0) -> tuple['VisitCalibration', float]:
        """
        Return this, or one with half of the walks, a quarter, …, at least 4 of each robot.

        The first for which some work takes at most so many seconds, or the last; and how many
        it takes, about. Half of the walks take more than half of the time: they are simulated
        together.

        :param work: from what parts of it cost to the seconds for all of it.
        :param delay: seconds that live readers can wait at most.
        """
        fewest = min(_FEWEST_WALKS, self._walks)
        some, more = (self._cost(walks, delay) for walks in (fewest, _MEASURED * fewest))

        def cost(walks: int) -> Cost:
            def of_all(count: int) -> list[float]:  # in a straight line
                part = (count / fewest - 1) / (_MEASURED - 1)
                return [a + max(0.0, b - a) * part for a, b in zip(some, more, strict=True)]

            tables, errors, guess = of_all(walks)
            first = self._first(walks)
            return Cost(tables, errors, guess,
                        _TRIED * of_all(first)[1] + _BEST * errors * (first < walks))

        walks = self._walks
        while (takes := work(cost(walks))) > seconds and walks > _FEWEST_WALKS:
            walks = max(_FEWEST_WALKS, walks // 2)
        return (self if walks == self._walks else self._with(walks)), takes

    def _with(self, walks: int, shorter: int = 1) -> 'VisitCalibration':
        other = VisitCalibration(self._graph, protect=self._protect, stay=self._stay, walks=walks,
                                 shorter=shorter, trust=self._trust, zones=self._zones)
        vars(other).update(_way_lengths=self._way_lengths, _metres=self._metres)  # the same map
        return other

    def _cost(self, walks: int, delay: float) -> tuple[float, float, float]:
        """
        Return what tables, errors of a way and a guess take, with so many walks of each robot.

        On average over the shortest and the longest period.
        """
        few, privacy = self._with(walks, _SHORTER), Privacy(2.0, 1, self._zones)
        tables, drawn, periods = 0.0, list[float](), (self.periods[0], self.periods[-1])
        for period in periods:
            way = Way('adaptive', (1, 1) if self.chain.stores_edges else (self._ticks(period), 1),
                      _symbols_late(delay, period))
            for some in (replace(way, name='causal, adaptive', late=None), way):
                begin = perf_counter()
                mechanism = few.mechanism(some, period, privacy)
                tables = max(tables, perf_counter() - begin)
                times = []
                for _ in range(2):  # the first time, modules are loaded and more tables made
                    begin = perf_counter()
                    few.errors(some, mechanism, period)
                    times.append(perf_counter() - begin)
                drawn.append(times[-1])
        assert isinstance(mechanism, OnlineMechanism)
        begin = perf_counter()
        few.guess(mechanism)
        return tables, _SHORTER * sum(drawn) / len(drawn), _SHORTER * (perf_counter() - begin)

    def row(self, period: float, epsilon: float, *, delay: float = 0.0,
            guess: bool = True) -> Row:
        """
        Return what symbols every `period` seconds are like at ε.

        :param delay: seconds that live readers can wait at most.
        """
        k = adjacency_of(self._protect, period)
        privacy = Privacy(epsilon, k, self._zones)
        best, logged = self._best(self.ways(period, delay), period, privacy)
        row = Row(period, k, epsilon, self._held(self._ticks(period)), best, logged, None)
        return replace(row, guess=self.guess(self._live(row))) if guess else row

    def _best(self, ways: Sequence[Way], period: float,
              privacy: Privacy) -> tuple[Errors, Errors]:
        """Return the best way live and of logs: by some of the walks, then measured on all."""
        def measured(some: Sequence[Way], walks: int) -> list[Errors]:
            return [self.errors(way, self.mechanism(way, period, privacy), period, walks)
                    for way in some]

        few = self._first(self._walks)
        tried = list(zip(measured(ways, few), ways, strict=True))
        best = [min((pair for pair in tried if (pair[1].late is None) == logged),
                    key=lambda pair: pair[0].wrong) for logged in (False, True)]
        live, logged = [errors for errors, _ in best] if few == self._walks else measured(
            [way for _, way in best], self._walks)
        return live, logged

    @staticmethod
    def _first(walks: int) -> int:
        """Return on how many of some walks all ways of a row are compared."""
        return min(walks, max(_FEWEST_WALKS, walks // _PART))

    def ways(self, period: float, delay: float = 0.0) -> list[Way]:
        """
        Return what can be compared for symbols every `period` seconds: logs, then live.

        :param delay: seconds that live readers can wait at most.
        """
        ticks = self._ticks(period)
        least = self._moves(ticks)
        between = [(ticks, moves) for moves in ((least, least + 1) if ticks > 1 else (1,))]
        clocks = [*between, (1, 1)] if self.chain.stores_edges and ticks > 1 else between
        late = _symbols_late(delay, period)
        return [
            *(Way(name, clock, None) for name in _BY_MODELS
              for clock in (between[:1] if name == 'exponential' else clocks)),
            *(Way('guided', clock) for clock in between if self._zones is None),
            *(Way('adaptive', clock, d) for clock in clocks for d in dict.fromkeys((0, late)))]

    def by_rule(self, *, delay: float = 0.0, logged: bool = False) -> tuple[float, Way | None]:
        """
        Return the period and the way to report that follow from the visit (`words.visit_rule`).

        None: it leaves the way open.

        :param delay: seconds that live readers can wait at most.
        :param logged: whether logs are released.
        """
        sampling, drawn = settled({
            'protect': self._protect, 'stay': self._stay, 'sampling': '',
            'mechanism': AUTO if logged else LIVE, 'zones_file': self._zones}, self._graph)
        if not logged and drawn.reports == 1 or drawn.selection == AUTO:
            return sampling.period, None
        late = None if logged else _symbols_late(delay, sampling.period)
        return sampling.period, Way(
            'adaptive' if late is not None else drawn.name,
            (self._ticks(sampling.seconds), sampling.moves or 1), late)

    def errors_by_rule(self, row: Row, *, logged: bool = False) -> Errors | None:
        """
        Return what readers see of the way `by_rule`, at the ε of a row; None: another period's.

        :param row: where the way is left open, its best.
        """
        errors = row.logged if logged else row.live
        period, way = self.by_rule(delay=errors.delay or 0.0, logged=logged)
        if period != row.period:
            return None
        same = way is None or (way.name, way.clock) == (
            errors.mechanism, (self._ticks(errors.report_period), errors.moves))
        return errors if way is None or same else self.errors(way, self.mechanism(
            way, period, Privacy(row.epsilon, row.adjacency, self._zones)), period)

    def mechanism(self, way: Way, period: float,
                  privacy: Privacy) -> OnlineMechanism | OfflineMechanism:
        """
        Return the mechanism of one way; its draws repeat.

        :param privacy: with the k of this visit and period.
        """
        ticks, (report, moves) = self._ticks(period), way.clock
        chain, each, random = self._chain(report, moves), ticks // report, Random(ticks)
        settings = CHOICES[way.name] if way.late is None else MechanismSettings(
            LIVE, policy=way.name, delay=way.late)
        return replace(settings, trust=self._trust, reports=each).made(chain, privacy, random)

    def replay(self, mechanism: OnlineMechanism | OfflineMechanism, period: float, route: Ints,
               robot: Chain, late: int | None) -> tuple[Ints, Floats | None]:
        """
        Draw the reports of one simulated route, as it would be seen, and what others believe.

        :param mechanism: of `mechanism`, for the same period.
        :param route: a state for each tick: shape (ticks,).
        :param robot: by whose P it moves.
        :param late: as of `Way`.
        :return: the report that stands for each tick, −1 before the first and after the last:
            shape (ticks,). And P[s_t = s] for who knows the map, how the robot moves, and all that
            is published: shape (ticks up to the last symbol, states); None: not known of a
            mechanism that looks at the whole word.
        """
        online, true, beliefs = mechanism.law.online, route[None, :], None
        report = self._ticks(period) // (1 if online is None else online.reports)
        if online is None:
            drawn = self._drawn(mechanism, report, true)[0]
        else:
            clock = online.chain.ticks, online.chain.ticks * online.stride
            outputs, every = outputs_and_beliefs(
                online.another(random=Random(len(route))),
                true[:, clock[0] - 1::clock[1]].astype(np.int32), moves_of(robot), clock)
            drawn, beliefs = outputs.astype(np.int64), every[:, :, 0]
        waited = None if late is None else late * self._ticks(period)
        stands = drawn[0, _standing(drawn, report, waited)]
        shown = np.full(len(route), -1)
        shown[report - 1:report - 1 + len(stands)] = stands
        return shown, beliefs

    def by_robot(self, row: Row) -> dict[str, float]:
        """Return the share of time that is wrong live, for every simulated robot."""
        mechanism = self._live(row)
        ticks, waited = self._ticks(row.period), self._ticks(row.live.delay or 0.0)
        shares = dict(row.live.by_robot)
        for name in self._others:
            drawn = *self._drawn(mechanism, ticks, self._walked(name)), waited
            shares[name] = float(self._off(*drawn, np.not_equal).mean())
        return shares

    def guesses_in_zones(self, row: Row) -> dict[str, Guess]:
        """
        Return how often an adversary of the live reports is right about visits in each zone.

        Of the robot that moves as the map says, or else the first of all.

        :raises ConfigurationError: there are no zones.
        """
        mechanism = self._live(row)
        return best_guess_in_zones(mechanism, self._symbols(mechanism), walks=self._walks,
                                   walks_by=next(iter(self._robots.values())))

    def _live(self, row: Row) -> OnlineMechanism:
        """Return the mechanism that made the live reports of a row."""
        live, privacy = row.live, Privacy(row.epsilon, row.adjacency, self._zones)
        mechanism = self.mechanism(
            Way(live.mechanism, (self._ticks(live.report_period), live.moves),
                round((live.delay or 0.0) / row.period)), row.period, privacy)
        assert isinstance(mechanism, OnlineMechanism)
        return mechanism

    def _symbols(self, mechanism: OnlineMechanism) -> int:
        """Return how many symbols a simulated word has."""
        return self._length // (mechanism.chain.ticks * mechanism.stride)

    def row_for(self, period: float, target: float, *, delay: float = 0.0) -> Row | None:
        """
        Return the row of the least ε at which a live reader errs for at most `target` of the time.

        To 1 %, at least 0.01. None where 60 is not enough.
        """
        epsilon = least_epsilon(lambda epsilon: self.row(
            period, epsilon, delay=delay, guess=False).live.wrong, target, _TOLERANCE)
        return None if epsilon is None else self.row(
            period, max(epsilon, _TOLERANCE), delay=delay)

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
        lengths = ways[reported[:, :-1], reported[:, 1:]]
        order = np.argsort(lengths, axis=None, kind='stable')
        shares = np.repeat(self._shares / self._shares.sum(), lengths.size // len(self._shares))
        covered = np.cumsum(shares[order]) * len(self._shares) / lengths.size > _COVERED
        return max(1, int(lengths.ravel()[order[np.argmax(covered)]]))

    def guess(self, mechanism: OnlineMechanism) -> Guess:
        """Return how often an adversary of its reports is right, on average over the robots."""
        some = [(share, robot) for share, robot in zip(
            self._shares.tolist(), self._robots.values(), strict=True) if share > 0]
        guesses = best_guesses(mechanism, self._symbols(mechanism), [robot for _, robot in some],
                               walks=max(_FEWEST_WALKS, self._walks // 2))
        each = [(share, guess) for (share, _), guess in zip(some, guesses, strict=True)]
        return Guess(sum(share * guess.before for share, guess in each),
                     sum(share * guess.after for share, guess in each),
                     sqrt(sum((share * guess.standard_error)**2 for share, guess in each)),
                     guesses[0].walks)

    def _chain(self, ticks: int, moves: int) -> Chain:
        if (ticks, moves) not in self._chains:
            self._chains[ticks, moves] = self.chain.every(ticks, moves)
        return self._chains[ticks, moves]

    def _held(self, ticks: int) -> float:
        return self._averaged(self._off(self._true[:, ticks - 1::ticks], self._true, ticks, 0,
                                        np.not_equal))

    def _averaged(self, off: Floats) -> float:
        """Return the mean of what is known for each walk: shape (walks, …)."""
        return float(self._shares @ off.reshape(len(self._shares), -1).mean(axis=1))

    def _off(self, reports: Ints, true: Ints, ticks: int, waited: int | None,
             measure: Callable[[Ints, Ints], Floats]) -> Floats:
        """
        Return for each tick how far the report is from the region that stands for it.

        From the first report to the last one: shape (walks, ticks).

        :param reports: shape (walks, reports), so many ticks apart.
        :param true: shape (walks, ticks).
        :param waited: as of `_standing`.
        """
        standing = _standing(reports, ticks, waited)
        return measure(reports[:, standing], true[:, ticks - 1:ticks - 1 + len(standing)])

    def _drawn(self, mechanism: OnlineMechanism | OfflineMechanism, ticks: int,
               true: Ints) -> tuple[Ints, Ints, int]:
        """Return the reports for some walks, the walks, and the ticks between reports."""
        online = mechanism.law.online
        report = ticks // (1 if online is None else online.reports)
        symbols = true[:, report - 1::report * (1 if online is None else online.stride)]
        walks, length = symbols.shape
        outputs = mechanism.privatize_many(symbols.astype(np.int32).ravel(),
                                           np.arange(walks + 1) * length)
        return outputs.astype(np.int64).reshape(walks, -1), true, report

    def errors(self, way: Way, mechanism: OnlineMechanism | OfflineMechanism,
               period: float, walks: int | None = None) -> Errors:
        """
        Return what readers see of one way.

        :param mechanism: the one that `mechanism` returns for the way and this period.
        :param walks: only the first ones of each robot count.
        """
        ticks, walks = self._ticks(period), walks or self._walks
        waited = None if way.late is None else way.late * ticks
        true = self._true.reshape(len(self._robots), self._walks, -1)[:, :walks]
        drawn = *self._drawn(mechanism, ticks, true.reshape(-1, true.shape[2])), waited
        by_walk = self._off(*drawn, np.not_equal).mean(axis=1).reshape(len(self._robots), -1)
        by_robot, errors = by_walk.mean(axis=1), by_walk.std(axis=1, ddof=1) / sqrt(walks)
        return Errors(way.name, float(as_fraction(self.tick) * drawn[2]), way.clock[1],
                      None if way.late is None else way.late * ticks * self.tick,
                      float(self._shares @ by_robot),
                      float(np.linalg.norm(self._shares * errors)),
                      self._mean(drawn, self._way_lengths), self._mean(drawn, self._metres),
                      dict(zip(self._robots, by_robot.tolist(), strict=True)))

    def _mean(self, drawn: tuple[Ints, Ints, int, int | None],
              distances: Floats | None) -> float | None:
        if distances is None:
            return None
        return self._averaged(self._off(*drawn, lambda a, b: distances[a, b]))

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
        lengths = shortest_path(csr_array((np.ones(len(targets)), targets, offsets),
                                          shape=(size, size)), unweighted=True)
        return np.where(np.isfinite(lengths), lengths, float(size))

    @cached_property
    def _metres(self) -> Floats | None:
        places = [self._graph.positions.get(state) for state in self.chain.states]
        if len(places) > _MOST_STATES or not all(places):
            return None
        known: Sequence[tuple[float, float]] = [place for place in places if place]
        return np.array([[hypot(a[0] - b[0], a[1] - b[1]) for b in known] for a in known])


def _symbols_late(delay: float, period: float) -> int:
    """Return for how many symbols reports can wait, if live readers can for so many seconds."""
    return int(as_fraction(delay) // as_fraction(period))


def _standing(reports: Ints, ticks: int, waited: int | None) -> Ints:
    """
    Return the number of the report that stands for each tick from the first report on.

    :param waited: ticks by which reports are late: so much is known of what comes after the tick
        when a reader asks for it; None: all of it.
    """
    early = ticks // 2 if waited is None else min(waited, ticks // 2)
    return (np.arange((reports.shape[1] - 1) * ticks + 1) + early) // ticks
