# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figure of the benchmarks: how times grow."""
from studies.drawing import finish, INK, new_figure, save

_LOOKS = {  # label: colour, mark
    'automaton': ('#d1495b', 'D'), 'mat-vecs': ('#e07b1a', '^'), 'exponential': ('#6b4fa1', 'o'),
    'online': ('#2a9d54', 's')}
_PANELS = (('length', 'n, symbols of the word (43 streets)'),
           ('states', '|S|, states of a grid (n = 100; dashed: n = 14)'),
           ('out-degree', 'moves from each of 1,000 states (n = 1,000)'))


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
