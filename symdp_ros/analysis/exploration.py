# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What each setting of a grid does on a map, for who has to choose one (`symdp explore`).

The numbers are those of `analysis.visits`. One route is simulated for each typical stay, and
released under every setting: no recording is read. Which reports are compared (their clock: how
often they go out, and within how many moves) is decided for each mechanism at one ε of the grid,
`Grid.compared_at`, by the fewest errors on all walks (`symdp calibrate` decides by some). Of the
mechanism that follows from the visit (`words.visit_rule`), the clock does, too.
"""
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from symdp_ros.analysis.accuracy import patrols, robots
from symdp_ros.analysis.adversary import Guess
from symdp_ros.analysis.visits import Cost, Errors, VisitCalibration, Way
from symdp_ros.core.annotations import Floats
from symdp_ros.core.models import MAP
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.files.processes import in_processes
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, period_of

_LEAST_TICKS, _VISITS = 600, 12  # of the route: so many ticks, or visits of the longest length
_FRAMES = 120                    # for which beliefs are kept
_LEAST_BELIEF = 0.02             # that is kept
_CLOCKS, _WAYS, _LATER = 3, 20, 8  # about: tables and errors of a point, errors at each later ε


@dataclass(frozen=True)
class Grid:
    """
    The values that are computed: of each at least one, ascending.

    :param epsilons: ≥ 0.
    :param protects: seconds of a visit, > 0.
    :param stays: seconds in a place; 0: not known.
    :param symbols: into how many symbols a visit falls, k: each gives the period.
    """

    epsilons: tuple[float, ...]
    protects: tuple[float, ...]
    stays: tuple[float, ...]
    symbols: tuple[int, ...] = (1, 2)

    @property
    def compared_at(self) -> float:
        """Return the ε at which clocks are compared."""
        return self.epsilons[len(self.epsilons) // 2]


@dataclass(frozen=True)
class GridPoint:
    """
    One point of the grid, without its ε.

    :param zoned: whether zones are told.
    """

    stay: float
    protect: float
    symbols: int
    zoned: bool


@dataclass(frozen=True)
class Cell:
    """
    One mechanism under one setting.

    :param late: symbols; None: it releases logs.
    :param by_rule: whether it follows from the visit alone (`words.visit_rule`).
    :param guess: of who reads all reports; None: not known.
    :param reports: the state that was reported for each tick of the shown route; −1: none.
    :param beliefs: for every `frame`-th tick, state → P, those of at least 2 %; None: not known.
    """

    epsilon: float
    period: float
    mechanism: str
    late: int | None
    by_rule: bool
    errors: Errors
    guess: Guess | None
    reports: tuple[int, ...]
    beliefs: tuple[Mapping[int, float], ...] | None


@dataclass(frozen=True)
class Route:
    """
    The true route that is shown for a typical stay.

    :param states: for each tick, a number of a state.
    :param robot: how it moves, by name, and `mean_stay`: for how many seconds it stays in a place.
    :param frame: ticks from one picture of beliefs to the next.
    """

    states: tuple[int, ...]
    robot: str
    mean_stay: float
    frame: int


class Exploration:
    """
    All cells of a grid.

    :param graph: the map, which names its initial state.
    :param zones: of `Privacy`; None: only without zones.
    :param trust: as of `VisitCalibration`.
    :param seconds: about as long may `cells` take: on maps where it would take longer, fewer
        walks are simulated; 0: as long as it takes.
    :param processes: how many compute.
    :raises ChainError, ConfigurationError: as `VisitCalibration`.
    """

    def __init__(self, graph: TransitionGraph, grid: Grid, *,
                 zones: Mapping[str, Sequence[str]] | None = None, trust: float = DEFAULT_TRUST,
                 seconds: float = 0.0, processes: int = 1):
        self._graph, self._trust = graph, trust
        self._walks: int | None = None  # of each robot; None: as many as there are without a bound
        self.grid, self.zones = grid, zones
        #: the chain whose step is a tick
        self.chain = self._visits(grid.stays[0], grid.protects[0], False).chain
        # The dearest first: where nothing is known, all robots are simulated. None where a visit
        # that falls into so few ticks touches fewer symbols.
        self.points = [GridPoint(stay, protect, symbols, zoned)
                       for stay in sorted(grid.stays, key=bool) for protect in grid.protects[::-1]
                       for zoned in ((False, True) if zones else (False,))
                       for symbols in grid.symbols
                       if adjacency_of(protect, period_of(protect, self.tick, symbols)) == symbols]
        self.processes = max(1, min(processes, len(self.points)))
        #: about how many seconds `cells` takes; 0: not known
        self.takes = 0.0
        if seconds:
            dearest = self._visits(grid.stays[0], grid.protects[-1], bool(zones))
            visits, self.takes = dearest.within(seconds, self._takes)
            self._walks = visits.walks

    def _takes(self, cost: Cost) -> float:
        """Return about how many seconds `cells` takes."""
        others, points = len(self.grid.epsilons) - 1, len(self.points) / self.processes
        return points * (
            cost.tables * (_CLOCKS + 2 * others) + cost.errors * (_WAYS + _LATER * others)
            + 2 * cost.guess * (1 + others))

    @property
    def tick(self) -> float:
        """Return the step of the map, in seconds."""
        return float(self._graph.tick or 1.0)

    def cells(self, done: Callable[[str], None] = lambda text: None
              ) -> dict[GridPoint, list[Cell]]:
        """
        Return all cells.

        :param done: called with a few words after each point.
        """
        every = {}
        with closing(in_processes(self.at, self.points, self.processes)) as computed:
            for point, cells in zip(self.points, computed, strict=True):
                every[point] = cells
                done(f'a visit of {point.protect:g} s, k = {point.symbols}')
        return every

    def route(self, stay: float) -> Route:
        """Return the true route that is shown for a typical stay."""
        return self._route(self._visits(stay, self.grid.protects[0], False))

    def _visits(self, stay: float, protect: float, zoned: bool) -> VisitCalibration:
        return VisitCalibration(self._graph, protect=protect, stay=stay, trust=self._trust,
                                zones=self.zones if zoned else None, walks=self._walks)

    def _route(self, visits: VisitCalibration) -> Route:
        every = robots(visits.chain, self._trust)
        stays = {name: visits.stay_of(name) for name in ([MAP] if MAP in every else every)}
        name = min(stays, key=lambda name: abs(log(stays[name] / self.grid.protects[0])))
        ticks = max(_LEAST_TICKS, int(_VISITS * self.grid.protects[-1] / self.tick))
        index = visits.chain.state_index
        [word] = patrols(every[name], ticks, 1)
        return Route(tuple(index[state] for state in word), name, stays[name],
                     -(-ticks // _FRAMES))

    def at(self, point: GridPoint) -> list[Cell]:
        """Return the cells of one point: of every mechanism, by ε."""
        visits = self._visits(point.stay, point.protect, point.zoned)
        period = period_of(point.protect, self.tick, point.symbols)
        shown = self._route(visits)
        robot, route = robots(visits.chain, self._trust)[shown.robot], np.array(shown.states)

        def privacy(epsilon: float) -> Privacy:
            return Privacy(epsilon, point.symbols, self.zones if point.zoned else None)

        rules = [visits.by_rule(delay=delay, logged=logged)
                 for delay, logged in ((0.0, False), (period, False), (0.0, True))]
        ruled = {(way.name, way.late): way for of, way in rules
                 if way is not None and of == period}
        best: dict[tuple[str, int | None], tuple[Errors, Way]] = {}  # at `compared_at`
        made: dict[Way, Any] = {}  # so do those that have the same tables
        for way in dict.fromkeys((*visits.ways(period, period), *ruled.values())):
            if ruled.get((way.name, way.late), way) != way:
                continue
            made[way] = visits.mechanism(way, period, privacy(self.grid.compared_at))
            errors = visits.errors(way, made[way], period)
            least, _ = best.setdefault((way.name, way.late), (errors, way))
            if errors.wrong < least.wrong:
                best[way.name, way.late] = errors, way
        cells: list[Cell] = []
        for epsilon in self.grid.epsilons:
            guesses: dict[Way, Guess] = {}
            here = made if epsilon == self.grid.compared_at else {
                way: visits.mechanism(way, period, privacy(epsilon)) for _, way in best.values()}
            for errors, way in best.values():
                mechanism = here[way]
                if here is not made:
                    errors = visits.errors(way, mechanism, period)
                online = mechanism.law.online
                if online is not None and way not in guesses:
                    guesses[way] = visits.guess(online)
                reports, beliefs = visits.replay(mechanism, period, route, robot, way.late)
                cells.append(Cell(
                    epsilon, period, way.name, way.late, (period, way) in rules, errors,
                    guesses.get(way),
                    tuple(reports.tolist()),
                    None if beliefs is None else _likely(beliefs[::shown.frame])))
        return cells


def _likely(beliefs: Floats) -> tuple[dict[int, float], ...]:
    return tuple({int(s): float(row[s]) for s in np.flatnonzero(row >= _LEAST_BELIEF)}
                 for row in beliefs)
