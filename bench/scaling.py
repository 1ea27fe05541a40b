# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How times grow: with the length of a word, with the states, with the moves of a state."""
from dataclasses import replace
from random import SystemRandom
from statistics import median

from bench.chains import any_word, grid, PRIVACY, random_chain, town, walk
from bench.measure import side_by_side
from bench.offline import matvecs
from bench.peers import exact_release
from studies.drawing import finish, INK, new_figure, save
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism

_EXACT_UP_TO = 32  # symbols
_LOOKS = {  # label: colour, mark
    'automaton': ('#d1495b', 'D'), 'mat-vecs': ('#e07b1a', '^'), 'exponential': ('#6b4fa1', 'o'),
    'online': ('#2a9d54', 's')}
_PANELS = (('length', 'n, symbols of the word (43 streets)'),
           ('states', '|S|, states of a grid (n = 100; dashed: n = 14)'),
           ('out-degree', 'moves from each of 1,000 states (n = 1,000)'))


def curves(effort) -> dict:
    """
    Return axis → {'values': […], 'seconds': {label: […]}}: a point for each value.

    Seconds are medians of three rounds, for a whole word.
    """
    streets = town()
    lengths = effort.either((10, 100, 1_000), (10, 32, 100, 316, 1_000, 3_162, 10_000))
    sides = effort.either((10, 32, 100), (5, 10, 18, 32, 56, 100, 178, 316))
    degrees = effort.either((2, 8, 32), (2, 4, 8, 16, 32, 64))
    grids = [grid(side, side) for side in sides]
    effort = replace(effort, rounds=3)
    return {
        'length': _curve(lengths, [(streets, any_word(streets, n)) for n in lengths],
                         effort, exact=True),
        'states': _curve([len(chain) for chain in grids],
                         [(chain, walk(chain, 100)) for chain in grids], effort),
        'short word': _curve([len(chain) for chain in grids],
                             [(chain, walk(chain, 14)) for chain in grids], effort),
        'out-degree': _curve(degrees, [(chain, any_word(chain, 1_000)) for chain in (
            random_chain(1_000, degree) for degree in degrees)], effort),
    }


def _curve(values, cases, effort, exact=False):
    points = [_times(chain, word, effort, exact) for chain, word in cases]
    labels = dict.fromkeys(label for point in points for label in point)
    return {'values': list(values),
            'seconds': {label: [point.get(label) for point in points] for label in labels}}


def _times(chain, word, effort, exact):
    offline, online = OfflineMechanism(chain, PRIVACY, base='counting'), OnlineMechanism(
        chain, PRIVACY, policy='paper')
    tasks = {'exponential': lambda: offline.privatize(word),
             'online': lambda: online.privatize(word),
             'mat-vecs': matvecs(chain, len(word))}
    slow = ()
    if exact and len(word) <= _EXACT_UP_TO:
        random, base = SystemRandom(), 1 / offline.ratio(len(word))
        tasks['automaton'] = lambda: exact_release(chain, word, base, random)
        slow = ('automaton',)
    times = side_by_side(tasks, effort, slow=slow)
    return {label: median(seconds) for label, seconds in times.items()}


def draw_scaling(scaling, path) -> None:
    """Draw seconds a word against length, states and out-degree, on logarithmic axes."""
    figure = new_figure(11.5, 4.3)
    for axis, (name, label) in zip(figure.subplots(1, 3, sharey=True), _PANELS, strict=True):
        _draw(axis, scaling[name], '-')
        if name == 'states':
            _draw(axis, scaling['short word'], (0, (4, 2)))
        axis.set(xscale='log', yscale='log')
        if name == 'out-degree':
            axis.set_xticks(scaling[name]['values'], scaling[name]['values'])
            axis.minorticks_off()
        axis.set_xlabel(label, color=INK)
        finish(axis)
        axis.set_axisbelow(True)
    axis = figure.axes[0]
    axis.set_ylabel('seconds a word', color=INK)
    handles = {line.get_label(): line for line in axis.lines}
    figure.legend(handles=[handles[label] for label in _LOOKS if label in handles],
                  loc='outside upper center', ncols=len(_LOOKS), frameon=False, fontsize=10)
    save(figure, path)


def _draw(axis, curve, line):
    for label, seconds in curve['seconds'].items():
        colour, mark = _LOOKS[label]
        points = [(x, y) for x, y in zip(curve['values'], seconds, strict=True) if y]
        if not (line != '-' and label == 'mat-vecs'):
            axis.plot(*zip(*points, strict=True), color=colour, ls=line, marker=mark, ms=5, lw=1.7,
                      mec='white', mew=0.6, label=label)
