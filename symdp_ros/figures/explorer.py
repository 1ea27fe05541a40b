# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The page of `symdp explore`: one HTML file that opens without a network.

`explorer.html` is the page, in plain JavaScript and SVG: a drawing library would make each file
megabytes larger, for circles and lines. What was computed is put into it as JSON, and nothing is
interpolated: the controls stop where something was computed. The browser is told to load nothing.
"""
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
import json
from pathlib import Path
from typing import Any

from symdp_ros.analysis.exploration import Cell, Exploration, GridPoint
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.layout import drawn_places
from symdp_ros.maps.reports import adjacency_of, certainty, period_of, protection

_TEMPLATE = Path(__file__).with_name('explorer.html')
_DATA, _TITLE = '@DATA@', '@TITLE@'
_MOST_STATES = 2_000


def check_page(graph: TransitionGraph) -> None:
    """
    Check that a map fits on the page: call it before computing what to show.

    :raises ConfigurationError: it has more than 2,000 states.
    """
    if len(graph.successors) > _MOST_STATES:
        raise ConfigurationError(f'the map has {len(graph.successors):,} states: a page shows at '
                                 f'most {_MOST_STATES:,}. Give one floor (level), or a smaller '
                                 'map', path=graph.source or None)


def page(graph: TransitionGraph, name: str, exploration: Exploration,
         cells: Mapping[GridPoint, Sequence[Cell]], files: Callable[[GridPoint, Cell], str],
         first: Mapping[str, float]) -> str:
    """
    Return the page as HTML.

    :param name: of the map, as people read it.
    :param cells: of `Exploration.cells`.
    :param files: the parameter file, and how to use it, of a cell.
    :param first: epsilon, protect and stay with which the page opens: values of the grid.
    """
    grid, title = exploration.grid, printable(name)
    zoned = (False, True) if exploration.zones else (False,)
    data = {
        'title': title, 'map': _map(graph, exploration), 'tick': exploration.tick,
        'stops': {'epsilon': grid.epsilons, 'protect': grid.protects, 'stay': grid.stays,
                  'symbols': grid.symbols, 'zones': zoned},
        'first': {'epsilon': grid.epsilons.index(first['epsilon']),
                  'protect': grid.protects.index(first['protect']),
                  'stay': grid.stays.index(first['stay'])},
        'compared_at': grid.compared_at,
        'routes': [_route(exploration, stay) for stay in grid.stays],
        'certainty': {f'{epsilon:g}': certainty(epsilon) for epsilon in grid.epsilons},
        'promises': {_key(protect, epsilon, told): protection(
            protect, Privacy(epsilon, 1, exploration.zones if told else None))
            for protect in grid.protects for epsilon in grid.epsilons for told in zoned},
        'longer': {_key(point.stay, point.protect, point.symbols): _longer(point, exploration.tick)
                   for point in cells},
        'cells': {_key(point.stay, point.protect, point.symbols, point.zoned, cell.mechanism,
                       cell.late, cell.epsilon): _cell(cell, files(point, cell))
                  for point, of_point in cells.items() for cell in of_point}}
    text = json.dumps(data, ensure_ascii=False, separators=(',', ':'), allow_nan=False)
    # Inside a script element, only `<` could end it.
    return (_TEMPLATE.read_text(encoding='utf-8').replace(_TITLE, escape(title))
            .replace(_DATA, text.replace('<', '\\u003c')))


def _key(*parts: object) -> str:
    """Return the key of some values, as the page composes it."""
    return '/'.join(f'{part:g}' if isinstance(part, float) else
                    'log' if part is None else str(int(part)) if isinstance(part, bool) else
                    str(part) for part in parts)


def _map(graph: TransitionGraph, exploration: Exploration) -> dict[str, Any]:
    states = exploration.chain.states
    places, polygons, metres = drawn_places(graph)
    index = {state: i for i, state in enumerate(states)}
    moves = sorted({tuple(sorted((index[a], index[b]))) for a, row in graph.successors.items()
                    for b in row if a != b})
    return {
        'states': [printable(state) for state in states], 'metres': metres,
        'all': graph.complete,
        'places': [[round(v, 3) for v in places[state]] for state in states],
        'polygons': {index[state]: [[round(v, 3) for v in corner] for corner in corners]
                     for state, corners in polygons.items()},
        'moves': moves,
        'zones': {printable(zone): [index[state] for state in inside]
                  for zone, inside in (exploration.zones or {}).items()}}


def _route(exploration: Exploration, stay: float) -> dict[str, Any]:
    route = exploration.route(stay)
    return {'true': _runs(route.states), 'robot': route.robot, 'stays': route.mean_stay,
            'frame': route.frame}


def _longer(point: GridPoint, tick: float) -> list[tuple[float, int]]:
    """Return stays that cost more than ε: seconds, and how many symbols they touch."""
    period = period_of(point.protect, tick, point.symbols)
    touched = [(stay, adjacency_of(stay, period))
               for stay in sorted({point.stay, 10 * point.protect})]
    return [(stay, count) for stay, count in touched if count > point.symbols]


def _runs(states: Sequence[int]) -> list[int]:
    """Return state, how many ticks, state, how many ticks, …."""
    return [value for state, run in groupby(states) for value in (state, len([*run]))]


def _cell(cell: Cell, files: str) -> dict[str, Any]:
    errors, guess = cell.errors, cell.guess
    return {
        'period': cell.period, 'report': errors.report_period, 'moves': errors.moves,
        'delay': errors.delay, 'wrong': errors.wrong, 'wrong_error': errors.standard_error,
        'robots': [min(errors.by_robot.values()), max(errors.by_robot.values())]
        if len(errors.by_robot) > 1 else None,
        'metres': errors.metres_off, 'steps': errors.moves_off,
        'guess': guess and [guess.before, guess.after, guess.standard_error],
        'private': _runs(cell.reports),
        'beliefs': cell.beliefs and [[value for state, p in frame.items()
                                      for value in (state, round(100 * p))]
                                     for frame in cell.beliefs],
        'files': files}
