# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How far the rule of `auto` is behind the best of all mechanisms, and which of them are ever best.

`python -m studies.choice FILE.md [--quick]` makes the page. It reads the maps of the folder
shared/data next to the repository, and says so where it is not there. `--quick`: one map.
"""
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from studies.common import filled, measure_all, page_command, table
from studies.compare.areas import area, habit, names, SPARSE
from symdp_ros.analysis.accuracy import errors_of_robots, patrols, robots
from symdp_ros.analysis.zoning import propose_zones
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import AUTO, DEFAULT_TRUST, LIVE
from symdp_ros.core.zones import Zones

EPSILONS, ADJACENCIES, LENGTHS = (0.5, 1.0, 2.0, 3.0, 5.0), (1, 3), (20, 100)
QUICK = 'nav2/route_sample_graph.geojson'
KINDS = (LIVE, *(f'logs of {length}' for length in LENGTHS))
ALPHABETS = {f'an alphabet of {size}': size for size in (5, 40)}
ZONED = 'in zones'
_SYMBOLS, _LEAST_WALKS = 4_000, 6  # of all robots, and walks of each
MARGIN = 0.02

#: what the map says → who walks: None are the public models by their weights; or as a map says
LAWS: dict[str, str | None] = {
    'moves unknown': None, 'stays 0.9': None, 'stays 0.97': None, 'a habit': None,
    ZONED: None, 'says 0.97, but it wanders': 'moves unknown',
    'says a habit, but it wanders': 'moves unknown'}


class Setting(NamedTuple):
    """What is compared; errors are those of `kind`: live, or logs of so many symbols."""

    map: str  # noqa: A003
    law: str
    k: int
    kind: str
    epsilon: float

    @property
    def length(self) -> int:
        """Return the symbols of a word."""
        return LENGTHS[-1] if self.kind == LIVE else int(self.kind.split()[-1])


@cache
def told(name: str, law: str) -> Chain:
    """Return the chain of a map with what a law says of moves."""
    if name in ALPHABETS:
        return Chain.complete([f'mode {i}' for i in range(ALPHABETS[name])], 'mode 0')
    chain = area(name).chain(33 if '0.97' in law else 10 if '0.9' in law else 1)
    return habit(chain) if 'a habit' in law else chain


def laws_of(name: str) -> Iterator[str]:
    """Yield the laws that say different things on a map."""
    if name in ALPHABETS:
        yield next(iter(LAWS))
        return
    for law in LAWS:
        if not ('0.9' in law and name == SPARSE) and not (
                law == ZONED and len(area(name).graph.successors) < 12):
            yield law


def measured(name: str, law: str, k: int, kind: str) -> list[dict[str, tuple[float, float]]]:
    """
    Return for each ε the errors of all mechanisms, by name.

    And the standard error of how much larger each is than the least.
    """
    chain = told(name, law)
    walking, weights = robots(chain, DEFAULT_TRUST), chain.models(DEFAULT_TRUST).prior
    if (by := LAWS[law]) is not None:
        walking, weights = {by: told(name, by)}, np.ones(1)
    length = Setting(name, law, k, kind, 0.0).length
    counts = np.maximum(_LEAST_WALKS, np.ceil(
        weights * _SYMBOLS / length)).astype(int).tolist()
    words = [patrols(robot, length, count)
             for robot, count in zip(walking.values(), counts, strict=True)]
    result = []
    for epsilon in EPSILONS:
        privacy = Privacy(epsilon, k, zones_of(chain, law))
        found = {each.name: errors_of_robots(each.made(chain, privacy), words)
                 for each in candidates(kind, privacy)}
        means = {one: float(sum(weight * part.mean() for weight, part in zip(
            weights, errors, strict=True))) for one, errors in found.items()}
        best = found[min(means, key=lambda one: means[one])]
        result.append({one: (means[one], _deviation(weights, errors, best))
                       for one, errors in found.items()})
    return result


def zones_of(chain: Chain, law: str) -> Zones | None:
    """Return the zones that are told."""
    return propose_zones(chain) if law == ZONED else None


def given(kind: str) -> MechanismSettings:
    """Return settings that leave everything open."""
    return MechanismSettings(LIVE if kind == LIVE else AUTO)


def candidates(kind: str, privacy: Privacy) -> Iterator[MechanismSettings]:
    """Yield all that the settings leave open, and the policy paper."""
    settings = given(kind)
    yield from settings.available(privacy.zones).values()
    if privacy.zones is None:
        yield replace(settings, selection=LIVE if kind == LIVE else 'causal', policy='paper')


def _deviation(weights: Floats, some: list[Floats], others: list[Floats]) -> float:
    return sqrt(sum(weight**2 * (a - b).var(ddof=1) / len(a)
                    for weight, a, b in zip(weights, some, others, strict=True)))


def everything(quick: bool) -> dict[Setting, dict[str, tuple[float, float]]]:
    """Return what is `measured` for every setting."""
    maps = [QUICK] if quick else [*ALPHABETS, *sorted(
        names(), key=lambda name: len(area(name).graph.successors))]
    arguments = [(name, law, k, kind) for name in maps for law in laws_of(name)
                 for k in ADJACENCIES for kind in KINDS]
    found = measure_all('choice', 'errors', quick, measured, arguments)
    return {Setting(*of, epsilon): cell for of, cells in zip(arguments, found, strict=True)
            for epsilon, cell in zip(EPSILONS, cells, strict=True)}


def behind(found: dict[Setting, dict[str, tuple[float, float]]]) -> str:
    """Return the table of how far the rule is behind the best."""
    by_row: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for one, cells in found.items():
        if LAWS[one.law] is None:
            chain = told(one.map, one.law)
            taken = choose(chain, Privacy(one.epsilon, one.k, zones_of(chain, one.law)),
                           given(one.kind), one.length if one.kind != LIVE else 0).name
            by_row.setdefault((one.law, one.kind), []).append((
                cells[taken][0] - min(error for error, _ in cells.values()), cells[taken][1]))
    rows = [(law, kind, len(some), f'{np.mean([b for b, _ in some]):.4f}',
             f'{max(b for b, _ in some):.3f}', sum(b > MARGIN for b, _ in some),
             sum(b > MARGIN + 2 * error for b, error in some))
            for (law, kind), some in by_row.items()]
    return table(['the map says', 'words', 'settings', 'behind, mean', 'at most',
                  f'by more than {MARGIN:g}', 'surely'],
                 sorted(rows, key=lambda row: ([*LAWS].index(row[0]), KINDS.index(row[1]))))


def wins(found: dict[Setting, dict[str, tuple[float, float]]]) -> str:
    """Return in how many settings each mechanism is better than all others by the margin."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    settings = Counter(LAWS[one.law] is None for one in found)
    for one, cells in found.items():
        best, *others = sorted(cells, key=lambda name: cells[name][0])
        if others and cells[others[0]][0] - cells[best][0] > MARGIN:
            counts[LAWS[one.law] is None][best] += 1
    names = sorted({name for cells in found.values() for name in cells},
                   key=lambda name: (not name.startswith(LIVE), -counts[True][name], name))
    return table(['mechanism', f'of {settings[True]} settings',
                  f'map wrong: of {settings[False]}'],
                 [(name, counts[True][name], counts[False][name]) for name in names])


def page(found: dict[Setting, dict[str, tuple[float, float]]]) -> str:
    """Return the page."""
    return filled(__file__, {**globals(), 'found': found, 'error': max(
        error for cells in found.values() for _, error in cells.values())})


if __name__ == '__main__':
    page_command('choice', lambda quick: page(everything(quick)), quick=True)
