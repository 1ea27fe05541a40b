# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones: beside telling the zone alone, and planar Laplace at equal success of one adversary."""
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from studies.compare import areas, location, matching
from studies.compare.adversary import by_channel
from studies.compare.places import at_success, edge_length, LENGTH, MAPS
from studies.compare.section import measure_all, table, template
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs
from symdp_ros.analysis.zoning import propose_zones
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

TITLE = 'Zones: the ward is told, the room is hidden'
SIZE = 12
LABELS = {'alone': 'the zone alone', 'zones': 'adaptive, in zones',
          'laplace': 'planar Laplace', 'adaptive': 'adaptive, without zones'}
_EPSILONS = 0.0, 1.0, 2.0, 3.0  # of ours in zones, at whose success the others are taken
_GRIDS = {'alone': (0.0,), 'zones': _EPSILONS, 'laplace': np.geomspace(0.15, 15, 14),
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
            'rows': measure_all('in_zones', quick, row, tasks)}


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
        epsilon /= edge_length(area)
        channel = location.planar_laplace(area, epsilon)
        outputs = matching.draw(channel, words, np.random.default_rng(seed))
        beliefs = by_channel(chain, channel, outputs)
    else:
        mechanism = OnlineMechanism(
            chain, Privacy(epsilon, zones=zones if key == 'zones' else None), policy='adaptive',
            random=Random(seed))
        outputs, beliefs = outputs_and_beliefs(mechanism, words, moves_of(chain))
    values = (beliefs.max(axis=1).mean(), (words != outputs).mean(),
              area.moves[words, outputs].mean(), area.metres[words, outputs].mean(),
              (zone_of[words] == zone_of[outputs]).mean())
    return {'map': name, 'mechanism': key, 'epsilon': float(f'{epsilon:.4g}'),
            'found': [round(float(value), 4) for value in values]}


def _centres(metres: Floats, zone_of: Ints) -> Ints:
    """Return for each zone the state of the least sum of distances to all others in it."""
    centres = []
    for zone in range(zone_of.max() + 1):
        states = np.flatnonzero(zone_of == zone)
        centres.append(states[metres[np.ix_(states, states)].sum(axis=1).argmin()])
    return np.array(centres)


def _points(numbers: dict[str, Any], name: str, key: str) -> list[list[float]]:
    return [found['found'] for found in numbers['rows']
            if (found['map'], found['mechanism']) == (name, key)]


def compared(numbers: dict[str, Any], name: str) -> list[tuple[float, dict[str, list[float]]]]:
    """
    Return (success, key → [errors, moves, metres, in the true zone]) for each ε in zones.

    First that of the zone alone, which is where ours have ε = 0 too: the others are interpolated.
    """
    ours, found = _points(numbers, name, 'zones'), []
    [alone] = _points(numbers, name, 'alone')
    for number, (success, *values) in enumerate(ours):
        each = {'alone': alone[1:]} if number == 0 else {}
        each['zones'] = values
        for key in ('laplace', 'adaptive'):
            if (other := at_success(numbers, name, key, success)) is not None:
                each[key] = other
        found.append((success, each))
    return found


_SHOWN_AT = 1  # of _EPSILONS; the table shows it and that before it
_ERROR, _, _METRES, _INSIDE = range(4)
_HEAD = ('metres off', 'wrong', 'in the zone')


def page(numbers: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    names, zones = numbers['maps'], numbers['zones']
    return template(__file__).format(
        length=numbers['length'], size=numbers['size'], walks=numbers['walks'],
        zones=', '.join(str(zones[name]) for name in names), means=_means(numbers),
        summary=_summary(numbers))


def mean(numbers: dict[str, Any], number: int) -> tuple[float, dict[str, list[float]]]:
    """Return the means of `compared` over the maps; those that are there on each of them."""
    found = [compared(numbers, name)[number] for name in numbers['maps']]
    keys = [key for key in LABELS if all(key in each for _, each in found)]
    return float(np.mean([success for success, _ in found])), {
        key: np.mean([each[key] for _, each in found], axis=0).tolist() for key in keys}


def _cells(found: list[float]) -> tuple[str, ...]:
    return f'{found[_METRES]:.2f}', f'{found[_ERROR]:.1%}', f'{found[_INSIDE]:.0%}'


def _means(numbers: dict[str, Any]) -> str:
    parts = []
    for number, epsilon in enumerate(_EPSILONS[:_SHOWN_AT + 1]):
        success, found = mean(numbers, number)
        keys = [key for key in LABELS if key != 'alone' or number == 0]
        parts.append(table((f'ε = {epsilon:g} in zones: success {success:.0%}', *_HEAD), [
            (LABELS[key], *(_cells(found[key]) if key in found else ('–',) * len(_HEAD)))
            for key in keys]))
    return '\n\n'.join(parts)


def _summary(numbers: dict[str, Any]) -> str:
    _, at_0 = mean(numbers, 0)
    nearer = f'At ε = 0 ours are {at_0["zones"][_METRES]:.2f} m off, the zone alone ' \
             f'{at_0["alone"][_METRES]:.2f} m'
    lost = [(number, name) for number in range(len(_EPSILONS)) for name in numbers['maps']
            if (each := compared(numbers, name)[number][1]).get('laplace') is not None
            and each['laplace'][_METRES] < each['zones'][_METRES]]
    count = sum('laplace' in compared(numbers, name)[number][1]
                for number in range(len(_EPSILONS)) for name in numbers['maps'])
    _, shown = mean(numbers, _SHOWN_AT)
    inside = ', '.join(f'{LABELS[key]} {values[_INSIDE]:.0%}' for key, values in shown.items())
    return (f'{nearer}. In {len(lost)} of {count} cases (map, ε), planar Laplace is off by fewer '
            'metres at the same success: zones bring reports no nearer to the place, they decide '
            f'what of it is told. In the true zone, at ε = {_EPSILONS[_SHOWN_AT]:g}: {inside}.')


def short(numbers: dict[str, Any]) -> str:
    """Return the answer in a sentence or two."""
    success, found = mean(numbers, _SHOWN_AT)
    own, text = found['zones'], ''
    if 'laplace' in found:
        other = found['laplace']
        text = (f', of planar Laplace {other[_INSIDE]:.0%}, where the adversary succeeds as '
                f'often. They are off by {own[_METRES]:.1f} m, and by {other[_METRES]:.1f} m')
    return (f'**Tell the ward, hide the room.** With zones of up to {numbers["size"]} places and '
            f'ε = {_EPSILONS[_SHOWN_AT]:g}, {own[_INSIDE]:.0%} of reports lie in the true zone'
            f'{text}. The adversary is right {success:.0%} of the time.')
