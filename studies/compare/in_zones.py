# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones: beside telling the zone alone, and planar Laplace at equal success of one adversary."""
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from studies.common import measure_all, table
from studies.compare import areas
from studies.compare.adversary import by_channel
from studies.compare.places import at_success, by_noise, LENGTH, MAPS, per_metre, point
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs
from symdp_ros.analysis.zoning import propose_zones
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

SIZE = 12
LABELS = {'alone': 'the zone alone', 'zones': 'adaptive, in zones',
          'laplace': 'planar Laplace', 'adaptive': 'adaptive, without zones'}
EPSILONS = 0.0, 1.0, 2.0, 3.0  # of ours in zones, at whose success the others are taken
_GRIDS = {'alone': (0.0,), 'zones': EPSILONS, 'laplace': np.geomspace(0.15, 15, 14),
          'adaptive': np.geomspace(0.4, 8, 12)}
_QUICK_MAPS = MAPS[1:2]


def measure(quick: bool) -> dict[str, Any]:
    """Return, for each map and mechanism, points over ε."""
    names = [name for name in areas.names() if name in (_QUICK_MAPS if quick else MAPS)]
    walks = 8 if quick else 100
    tasks = [(name, key, i, walks) for name in names for key, grid in _GRIDS.items()
             for i in range(len(grid))]
    return {'walks': walks, 'length': LENGTH, 'size': SIZE, 'maps': names,
            'zones': {name: len(propose_zones(areas.area(name).chain(1), SIZE))
                      for name in names},
            'rows': measure_all('compare', 'in_zones', quick, row, tasks)}


def row(name: str, key: str, number: int, walks: int) -> dict[str, Any]:
    """Return one point: [success, errors, moves, metres, reports in the true zone]."""
    area = areas.area(name)
    chain = area.chain(1)
    words, zones = areas.words(chain, LENGTH, walks), propose_zones(chain, SIZE)
    zone_of = zones.numbers(chain)
    epsilon, seed = float(_GRIDS[key][number]), crc32(f'{name} {key} {number}'.encode())
    assert area.metres is not None
    if key == 'alone':
        outputs = _centres(area.metres, zone_of)[zone_of[words]]
        beliefs = by_channel(chain, np.eye(len(zones))[zone_of], zone_of[words])
    elif key == 'laplace':
        epsilon = per_metre(area, epsilon)
        outputs, beliefs = by_noise(area, key, epsilon, words, seed)
    else:
        privacy = Privacy(epsilon, zones=zones if key == 'zones' else None)
        outputs, beliefs = outputs_and_beliefs(OnlineMechanism(
            chain, privacy, policy='adaptive', random=Random(seed)), words, moves_of(chain))
    return point(area, key, epsilon, words, outputs, beliefs, zone_of[words] == zone_of[outputs])


def _centres(metres: Floats, zone_of: Ints) -> Ints:
    """Return for each zone the state of the least sum of distances to all others in it."""
    centres = []
    for zone in range(zone_of.max() + 1):
        states = np.flatnonzero(zone_of == zone)
        centres.append(states[metres[np.ix_(states, states)].sum(axis=1).argmin()])
    return np.array(centres)


# What the page is made of.

SHOWN = 1  # of EPSILONS; the table shows it and that before it
ERROR, METRES, INSIDE = 0, 2, 3
_HEAD = ('metres off', 'wrong', 'in the zone')


def compared(numbers: dict[str, Any], name: str, number: int) -> dict[str, list[float] | None]:
    """
    Return key → [errors, moves, metres, in the true zone] for an ε in zones, by its number.

    The others are interpolated, at the success of ours: None where they have no such.
    """
    rows = {(row['mechanism'], row['epsilon']): row['found'] for row in numbers['rows']
            if row['map'] == name}
    success, *ours = rows['zones', EPSILONS[number]]
    return {'alone': rows['alone', 0.0][1:] if number == 0 else None, 'zones': ours,
            **{key: at_success(numbers, name, key, success) for key in ('laplace', 'adaptive')}}


def mean(numbers: dict[str, Any], number: int) -> dict[str, list[float]]:
    """Return the means of `compared` over the maps; NaN where one has none."""
    found = [compared(numbers, name, number) for name in numbers['maps']]
    return {key: np.mean([each[key] or [np.nan] * 4 for each in found], axis=0).tolist()
            for key in LABELS}


def mean_success(numbers: dict[str, Any], number: int) -> float:
    """Return how often the adversary is right in zones, the mean over the maps."""
    return float(np.mean([row['found'][0] for row in numbers['rows']
                          if (row['mechanism'], row['epsilon']) == ('zones', EPSILONS[number])]))


def means(numbers: dict[str, Any]) -> str:
    """Return a table for each ε that is shown."""
    return '\n\n'.join(
        table((f'ε = {EPSILONS[number]:g} in zones: success {mean_success(numbers, number):.0%}',
               *_HEAD), [
            (LABELS[key], *(text.replace('nan', '–').replace('–%', '–') for text in (
                f'{found[METRES]:.2f}', f'{found[ERROR]:.1%}', f'{found[INSIDE]:.0%}')))
            for key, found in mean(numbers, number).items() if key != 'alone' or number == 0])
        for number in range(SHOWN + 1))


def closer(numbers: dict[str, Any]) -> list[bool]:
    """Return for each map and ε whether planar Laplace is off by fewer metres than ours."""
    return [other[METRES] < ours['zones'][METRES] for number in range(len(EPSILONS))
            for name in numbers['maps'] for ours in [compared(numbers, name, number)]
            if (other := ours['laplace']) is not None]


def inside(numbers: dict[str, Any]) -> str:
    """Return how often reports lie in the true zone, in a sentence."""
    return ', '.join(f'{LABELS[key]} {found[INSIDE]:.0%}'
                     for key, found in mean(numbers, SHOWN).items() if key != 'alone')
