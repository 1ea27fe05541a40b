# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Location privacy: other units, compared at equal success of one Bayesian adversary."""
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from studies.common import measure_all, table
from studies.compare import areas, location, matching
from studies.compare.adversary import by_channel, transitions
from studies.compare.location import CHANNELS
from studies.drawing import curve, in_percent, INK, panels, save_with_legend
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs, walk_distribution
from symdp_ros.analysis.belief import posteriors
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

LENGTH = 50
SUCCESSES = (0.3, 0.5, 0.7, 0.9)
MAPS = ('nav2/bringup_warehouse_graph.geojson',
        'nav2/route_turtlebot3_graph.geojson', 'patrolling_sim/cumberland.graph',
        'rmf/office.building.yaml', 'strands/aaf_HAN_y4.yaml')
OURS = ('guided', 'adaptive')
LABELS = {'laplace': 'planar Laplace', 'graph': 'graph-exponential', 'policy': 'policy graph',
          'set': 'δ-location set', **{name: name for name in OURS}}
_GRIDS = {'set': np.geomspace(1.5, 40, 8), **dict.fromkeys(OURS, np.geomspace(0.4, 10, 12))}
_GRID = np.geomspace(0.3, 30, 12)  # of the others
FEW = 20  # walks for the δ-location set, whose channel depends on all reports before


def measure(quick: bool) -> dict[str, Any]:
    """Return, for each map and mechanism, a curve over ε."""
    names = [name for name in areas.names() if name in MAPS]
    if quick:
        names = ['nav2/route_turtlebot3_graph.geojson']
    walks = 8 if quick else 100
    tasks = [(name, key, i, min(walks, FEW) if key == 'set' else walks)
             for name in names for key in LABELS
             for i in range(0, len(_GRIDS.get(key, _GRID)), 3 if quick else 1)]
    return {'walks': walks, 'few': min(walks, FEW), 'length': LENGTH, 'maps': names,
            'delta': location.DELTA, 'draws': location.DRAWS,
            'before': {name: round(float(walk_distribution(areas.area(name).chain(
                1), LENGTH).max(axis=1).mean()), 4) for name in names},
            'rows': measure_all('compare', 'places', quick, row, tasks)}


def row(name: str, key: str, number: int, walks: int) -> dict[str, Any]:
    """Return one point of a curve: [success, errors, moves, metres, feasible moves]."""
    area = areas.area(name)
    chain = area.chain(1)
    words = areas.words(chain, LENGTH, walks)
    epsilon, seed = float(_GRIDS.get(key, _GRID)[number]), crc32(f'{name} {key} {number}'.encode())
    if key in CHANNELS:
        epsilon = per_metre(area, epsilon) if key != 'policy' else epsilon
        outputs, beliefs = by_noise(area, key, epsilon, words, seed)
    elif key == 'set':
        outputs, beliefs = _by_location_set(area, chain, epsilon, words, seed)
    else:
        outputs, beliefs = outputs_and_beliefs(OnlineMechanism(
            chain, Privacy(epsilon), policy=key, random=Random(seed)), words, moves_of(chain))
    start = np.full((len(words), 1), chain.state_index[chain.initial_state])
    allowed = transitions(chain).toarray() > 0
    before = np.concatenate([start, outputs[:, :-1]], axis=1)
    return point(area, key, epsilon, words, outputs, beliefs, allowed[before, outputs])


def point(area: areas.Area, key: str, epsilon: float, words: ShortInts, outputs: ShortInts,
          beliefs: Floats, good: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return [success, errors, moves, metres, and which share of reports is good]."""
    assert area.metres is not None
    values = (beliefs.max(axis=1), words != outputs, area.moves[words, outputs],
              area.metres[words, outputs], good)
    return {'map': area.name, 'mechanism': key, 'epsilon': float(f'{epsilon:.4g}'),
            'found': [round(float(value.mean()), 4) for value in values]}


def per_metre(area: areas.Area, epsilon: float) -> float:
    """Return an ε per mean move, in metres."""
    assert area.metres is not None
    return epsilon / float(area.metres[tuple(area.edges)].mean())


def by_noise(area: areas.Area, key: str, epsilon: float, words: ShortInts,
             seed: int) -> tuple[ShortInts, Floats]:
    """Draw by a channel of `location`, and return the adversary's beliefs, too."""
    channel = CHANNELS[key](area, epsilon)
    outputs = matching.draw(channel, words, np.random.default_rng(seed))
    return outputs, by_channel(area.chain(1), channel, outputs)


def _by_location_set(area: areas.Area, chain: Chain, epsilon: float, words: ShortInts,
                     seed: int) -> tuple[ShortInts, Floats]:
    """Draw with the δ-location set of the public belief, which all reports before make."""
    random, moves = np.random.default_rng(seed), transitions(chain)
    outputs = np.empty_like(words)
    likelihoods = np.empty((words.shape[1], len(chain), len(words)))
    for number, word in enumerate(words):
        belief = np.zeros(len(chain))
        belief[chain.state_index[chain.initial_state]] = 1
        for t, state in enumerate(word):
            belief = moves.T @ belief
            channel = location.location_set(area, belief, epsilon)
            sums = channel[state].cumsum()
            output = int(np.searchsorted(sums, random.random() * sums[-1], 'right'))
            outputs[number, t] = output
            likelihoods[t, :, number] = channel[:, output]
            belief = belief * channel[:, output]
            belief /= belief.sum()
    return outputs, posteriors(chain, moves_of(chain), words.shape[1], len(words),
                               likelihoods.__getitem__)


def at_success(numbers: dict[str, Any], name: str, key: str, success: float) -> list[float] | None:
    """Return [errors, moves, metres, feasible moves] where a curve has this success, or None."""
    points = np.array([found['found'] for found in numbers['rows']
                       if (found['map'], found['mechanism']) == (name, key)])
    points = points[np.argsort(points[:, 0])]
    if not points[0, 0] <= success <= points[-1, 0]:
        return None
    return [float(np.interp(success, points[:, 0], column)) for column in points[:, 1:].T]


# What the page is made of.

MIDDLE = 0.5
_ERROR, _METRES, _FEASIBLE = 0, 2, 3


def mean(numbers: dict[str, Any], key: str, success: float) -> list[float] | None:
    """Return the means of `at_success` over the maps; None where one has no such success."""
    found = [at_success(numbers, name, key, success) for name in numbers['maps']]
    there = [values for values in found if values is not None]
    return [float(x) for x in np.mean(there, axis=0)] if len(there) == len(found) else None


def means(numbers: dict[str, Any]) -> str:
    """Return the table of metres off at equal success of the adversary."""
    return table(('', *(f'success {success:.0%}' for success in SUCCESSES)), [
        (label, *('–' if (found := mean(numbers, key, success)) is None
                  else f'{found[_METRES]:.2f}' for success in SUCCESSES))
        for key, label in LABELS.items()])


def feasible(numbers: dict[str, Any]) -> dict[str, float]:
    """Return the share of moves that the map allows, of each of the others."""
    return {LABELS[key]: found[_FEASIBLE] for key in LABELS if key not in OURS
            and (found := mean(numbers, key, MIDDLE)) is not None}


def feasible_said(numbers: dict[str, Any]) -> str:
    """Return these shares in a sentence."""
    return ', '.join(f'{label} {share:.0%}' for label, share in feasible(numbers).items())


def cases(numbers: dict[str, Any]) -> tuple[int, list[tuple[str, ...]]]:
    """Return how many cases there are, and those where others are closer than ours."""
    count, lost = 0, []
    for name in numbers['maps']:
        for success in SUCCESSES:
            found = {key: values for key in LABELS
                     if (values := at_success(numbers, name, key, success)) is not None}
            best = [min((found[key][_METRES], LABELS[key], found[key][_FEASIBLE])
                        for key in found if (key in OURS) == ours)
                    for ours in (False, True) if any((key in OURS) == ours for key in found)]
            if len(best) == 2:
                count += 1
                (metres, label, share), (own, own_label, _) = best
                if metres < own:
                    lost.append((name, f'{success:.0%}', f'{label} {metres:.2f} m, '
                                 f'{share:.0%} feasible', f'{own_label} {own:.2f} m'))
    return count, lost


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw metres, wrong reports and feasible moves beside the adversary's success."""
    figure, axes = panels(3, sharey=False)
    whole = np.linspace(0.15, 0.97, 42)
    for axis, (column, label) in zip(axes, (
            (_METRES, 'metres off'), (_ERROR, 'wrong reports'),
            (_FEASIBLE, 'moves that the map allows')), strict=True):
        for key, label_of in LABELS.items():
            points = [(x, found[column]) for x in whole
                      if (found := mean(numbers, key, float(x))) is not None]
            if points:
                curve(axis, key, label_of, points, marked=False)
        axis.set_title(label, fontsize=10.5, color=INK)
        axis.set_xlabel('success of the adversary (right: less private)', color=INK)
        in_percent(axis.xaxis)
        axis.set_ylim(bottom=0)
        if column != _METRES:
            in_percent(axis.yaxis)
    save_with_legend(figure, folder / 'comparison-places.svg')
