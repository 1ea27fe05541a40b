# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How far the rule of `words.visit_rule` is behind the best that can be set by hand.

`python -m studies.visit_rule FILE.md [--quick]` makes the page. It reads the maps of the folder
shared/data next to the repository, and says so where it is not there. `--quick`: one map.
"""
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from studies.common import filled, measure_all, page_command, table
from studies.compare.areas import area, names, SPARSE, TOWN
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps.reports import adjacency_of

PROTECTS, EPSILONS, STAY = (10.0, 30.0, 120.0), (1.0, 2.0, 3.0, 5.0), 60.0
KINDS = ('live', 'logs')
QUICK = 'nav2/route_sample_graph.geojson'
WALKS, MANY = 160, 1600
BEHIND = 0.02  # from which on a cell is measured again, on many walks


def compared(visits: VisitCalibration, protect: float,
             epsilon: float) -> dict[str, dict[str, Any]]:
    """Return what the rule errs, and the best way with the same period, live and for logs."""
    period, _ = visits.by_rule()
    privacy = Privacy(epsilon, adjacency_of(protect, period))
    found = [(way, visits.errors(way, visits.mechanism(way, period, privacy), period))
             for way in visits.ways(period)]
    result = {}
    for kind in KINDS:
        of_kind = {way: errors for way, errors in found if (way.late is None) == (kind == 'logs')}
        best = min(of_kind.values(), key=lambda errors: errors.wrong)
        _, way = visits.by_rule(logged=kind == 'logs')
        assert way is not None  # it is left open for alphabets alone, which are no maps
        ruled = of_kind.get(way) or visits.errors(
            way, visits.mechanism(way, period, privacy), period)
        result[kind] = {
            'rule': ruled.wrong, 'best': min(best.wrong, ruled.wrong), 'ways': len(of_kind),
            'error': max(best.standard_error, ruled.standard_error)}
    return result


def measured(name: str, protect: float) -> list[dict[str, dict[str, Any]]]:
    """Return `compared` for a map of `areas.names`, for each ε."""
    graph = area(name).graph
    busiest = max(graph.successors, key=lambda state: len(graph.successors[state]))
    few, many = [VisitCalibration(replace(graph, initial_state=busiest, initial_line=None),
                                  protect=protect, stay=STAY, walks=walks)
                 for walks in (WALKS, MANY)]
    cells = []
    for epsilon in EPSILONS:
        found = compared(few, protect, epsilon)
        if any(cell['rule'] - cell['best'] > BEHIND for cell in found.values()):
            found = compared(many, protect, epsilon)
        cells.append(found)
    return cells


def page(quick: bool = False) -> str:
    """Return the page."""
    maps = [QUICK] if quick else [name for name in names() if name not in (TOWN, SPARSE)]
    arguments = [(name, protect) for name in maps for protect in PROTECTS]
    found = dict(zip(arguments, measure_all('visit_rule', 'errors', quick, measured, arguments),
                     strict=True))

    def worst(kind: str, some: Iterable[tuple[str, float]]) -> dict[str, Any]:
        return max((cell[kind] for pair in some for cell in found[pair]),
                   key=lambda cell: cell['rule'] - cell['best'])

    rows = [[name, *(f'{cell["rule"]:.3f} / {cell["best"]:.3f}' for kind in KINDS
                     for cell in [worst(kind, [(name, at)]) for at in PROTECTS])]
            for name in maps]
    head = ['map', *(f'{kind}, {protect:g} s' for kind in KINDS for protect in PROTECTS)]
    cells = [cell[kind] for each in found.values() for cell in each for kind in KINDS]
    behind = {kind: cell['rule'] - cell['best'] for kind in KINDS
              for cell in [worst(kind, arguments)]}
    return filled(__file__, {**globals(), **behind, 'rows': table(head, rows), 'cells': cells})


if __name__ == '__main__':
    page_command('visit_rule', page, quick=True)
