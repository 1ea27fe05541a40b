# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Location privacy: other units, compared at equal success of one Bayesian adversary."""
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from studies.compare import areas, location, matching
from studies.compare.adversary import by_channel, posteriors, transitions
from studies.compare.section import measure_all, table, template
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs, walk_distribution
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

TITLE = 'Location privacy: other units, at equal success of the adversary'
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
            'rows': measure_all('places', quick, row, tasks)}


def row(name: str, key: str, number: int, walks: int) -> dict[str, Any]:
    """Return one point of a curve: [success, errors, moves, metres, feasible moves]."""
    area = areas.area(name)
    chain = area.chain(1)
    words = areas.words(chain, LENGTH, walks)
    epsilon, seed = float(_GRIDS.get(key, _GRID)[number]), crc32(f'{name} {key} {number}'.encode())
    assert area.metres is not None
    if key in OURS:
        outputs, beliefs = _symbols(chain, key, epsilon, words, seed)
    elif key == 'set':
        outputs, beliefs = _by_location_set(area, chain, epsilon, words, seed)
    else:
        if key != 'policy':
            epsilon /= edge_length(area)
        channel = location.CHANNELS[key](area, epsilon)
        outputs = matching.draw(channel, words, np.random.default_rng(seed))
        beliefs = by_channel(chain, channel, outputs)
    start = np.full((len(words), 1), chain.state_index[chain.initial_state])
    allowed = transitions(chain).toarray() > 0
    before = np.concatenate([start, outputs[:, :-1]], axis=1)
    values = (beliefs.max(axis=1).mean(), (words != outputs).mean(),
              area.moves[words, outputs].mean(), area.metres[words, outputs].mean(),
              allowed[before, outputs].mean())
    return {'map': name, 'mechanism': key, 'epsilon': float(f'{epsilon:.4g}'),
            'found': [round(float(value), 4) for value in values]}


def edge_length(area: areas.Area) -> float:
    """Return the mean length of a move in metres."""
    sources, targets = location.edges(area)
    assert area.metres is not None
    return float(area.metres[sources, targets].mean())


def _symbols(chain: Chain, policy: str, epsilon: float, words: ShortInts,
             seed: int) -> tuple[ShortInts, Floats]:
    mechanism = OnlineMechanism(chain, Privacy(epsilon), policy=policy, random=Random(seed))
    return outputs_and_beliefs(mechanism, words, moves_of(chain))


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
    return outputs, posteriors(chain, words.shape[1], len(words), lambda t: likelihoods[t])


def at_success(numbers: dict[str, Any], name: str, key: str, success: float) -> list[float] | None:
    """Return [errors, moves, metres, feasible moves] where a curve has this success, or None."""
    points = np.array([found['found'] for found in numbers['rows']
                       if (found['map'], found['mechanism']) == (name, key)])
    points = points[np.argsort(points[:, 0])]
    if not points[0, 0] <= success <= points[-1, 0]:
        return None
    return [float(np.interp(success, points[:, 0], column)) for column in points[:, 1:].T]


_MIDDLE = 0.5
_ERROR, _MOVES, _METRES, _FEASIBLE = range(4)


def page(numbers: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    names = numbers['maps']
    return template(__file__).format(
        length=numbers['length'], delta=numbers['delta'], draws=numbers['draws'],
        walks=numbers['walks'], few=numbers['few'], count=len(names), summary=_summary(numbers),
        means=_means(numbers), losses=_losses(numbers))


def short(numbers: dict[str, Any]) -> str:
    """Return the answer in a sentence or two."""
    cases, lost = _cases(numbers)
    found = {key: values for key in LABELS
             if (values := mean(numbers, key, _MIDDLE)) is not None}
    others = [found[key][_FEASIBLE] for key in found if key not in OURS]
    return (
        f'**Location privacy reports moves that the map does not allow.** At equal success of the '
        f'adversary ({_MIDDLE:.0%}), {min(others):.0%} to {max(others):.0%} of the moves between '
        f'reports are feasible; of ours, all. In {len(lost)} of {cases} cases, the best of the '
        'others is off by fewer metres than the best of ours.')


def mean(numbers: dict[str, Any], key: str, success: float) -> list[float] | None:
    """Return the means of `at_success` over the maps; None where one has no such success."""
    found = [at_success(numbers, name, key, success) for name in numbers['maps']]
    there = [values for values in found if values is not None]
    return [float(x) for x in np.mean(there, axis=0)] if len(there) == len(found) else None


def _means(numbers: dict[str, Any]) -> str:
    def cell(key: str, success: float) -> str:
        found = mean(numbers, key, success)
        return '–' if found is None else f'{found[_METRES]:.2f}'

    return table(('', *(f'success {success:.0%}' for success in SUCCESSES)), [
        (label, *(cell(key, success) for success in SUCCESSES)) for key, label in LABELS.items()])


def _summary(numbers: dict[str, Any]) -> str:
    found = {key: mean(numbers, key, _MIDDLE) for key in LABELS}
    text = [f'{LABELS[key]} {values[_FEASIBLE]:.0%}' for key, values in found.items()
            if values is not None and key not in OURS]
    return (f'Of the moves between successive reports, at a success of {_MIDDLE:.0%} the map '
            f'allows: {", ".join(text)}; of ours, all.')


def _losses(numbers: dict[str, Any]) -> str:
    cases, lost = _cases(numbers)
    text = (f'In {len(lost)} of {cases} cases (map, success), the best of the others is off by '
            'fewer metres than the best of ours.')
    return text if not lost else text + '\n\n' + table(
        ('map', 'success', 'the best of others', 'the best of ours'), lost)


def _cases(numbers: dict[str, Any]) -> tuple[int, list[tuple[str, ...]]]:
    """Return how many cases there are, and those where others are closer than ours."""
    count, lost = 0, []
    for name in numbers['maps']:
        for success in SUCCESSES:
            found = {key: values for key in LABELS
                     if (values := at_success(numbers, name, key, success)) is not None}
            others = [key for key in found if key not in OURS]
            ours = [key for key in found if key in OURS]
            if others and ours:
                count += 1
                other, own = (min(keys, key=lambda key: found[key][_METRES])
                              for keys in (others, ours))
                if found[other][_METRES] < found[own][_METRES]:
                    lost.append((name, f'{success:.0%}',
                                 f'{LABELS[other]} {found[other][_METRES]:.2f} m, '
                                 f'{found[other][_FEASIBLE]:.0%} feasible',
                                 f'{LABELS[own]} {found[own][_METRES]:.2f} m'))
    return count, lost


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw metres, wrong reports and feasible moves beside the adversary's success."""
    from studies.compare.figures import curve, in_percent, INK, panels, save

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
    save(figure, folder / 'comparison-places.svg')
