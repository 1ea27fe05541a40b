# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/evidence/comparison.md that are made of curves."""
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter
from studies import drawing

INK = drawing.INK
#: A line of ours and of others: colour, marker, dashes.
LOOKS = {
    'paper': ('#8a929c', 'o', '--'), 'counting': ('#5f6670', 's', '--'),
    'flip': ('#b08d57', '^', '--'), 'nearest': ('#d9a3a3', 'v', '--'),
    'likeliest': ('#c0504d', 'D', '--'), 'guided': ('#1b6ca8', 'o', '-'),
    'adaptive': ('#6b4fa1', 'D', '-'),
    'delayed': ('#a487d8', 'D', '-'), 'decoded': ('#3d2466', 'v', '-'),
    'chain': ('#e07b1a', '^', '-'),
    'laplace': ('#8a929c', 'o', '--'), 'graph': ('#b08d57', '^', '--'),
    'policy': ('#c0504d', 'D', '--'), 'set': ('#5f6670', 's', '--')}


def panels(count: int, sharey: bool | str = True, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure of some plots side by side, in rows."""
    figure = drawing.new_figure(11.5, 1.2 + 3.7 * rows)
    axes = list(figure.subplots(rows, count, sharey=sharey, squeeze=False).flat)
    for axis in axes:
        drawing.finish(axis)
    return figure, axes


def curve(axis: Axes, key: str, label: str, points: Iterable[Sequence[float]],
          marked: bool = True) -> None:
    """Draw one mechanism."""
    colour, mark, dashes = LOOKS[key]
    axis.plot(*zip(*points, strict=True), color=colour, marker=mark if marked else '', ls=dashes,
              ms=5, lw=1.6, mec='white', mew=0.6, label=label)


def over_epsilon(axis: Axes, epsilons: Sequence[float]) -> None:
    """Make the horizontal axis that of ε."""
    axis.set_xscale('log')
    axis.set_xticks(epsilons, [f'{epsilon:g}' for epsilon in epsilons])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel('ε', color=INK)


def in_percent(axis: Axis) -> None:
    """Write the numbers of a horizontal or vertical axis in percent."""
    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def save(figure: Figure, path: Path) -> None:
    """Write the figure with its legend below."""
    shown = {label: handle for axis in reversed(figure.axes)
             for handle, label in reversed([*zip(*axis.get_legend_handles_labels(), strict=True)])}
    shown = dict(reversed(shown.items()))
    figure.legend([*shown.values()], [*shown], loc='outside lower center', ncols=4,
                  frameon=False, fontsize=9)
    drawing.save(figure, path)
