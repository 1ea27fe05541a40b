# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The canvas of the studies' figures, and their files: the same every time."""
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter

INK = '#48505c'
#: A line of ours and of others: colour, marker, dashes.
LOOKS = {
    'paper': ('#8a929c', 'o', '--'), 'counting': ('#5f6670', 's', '--'),
    'flip': ('#b08d57', '^', '--'), 'nearest': ('#d9a3a3', 'v', '--'),
    'likeliest': ('#c0504d', 'D', '--'), 'guided': ('#1b6ca8', 'o', '-'),
    'adaptive': ('#6b4fa1', 'D', '-'),
    'delayed': ('#a487d8', 'D', '-'), 'decoded': ('#3d2466', 'v', '-'),
    'chain': ('#e07b1a', '^', '-'), 'exponential': ('#e07b1a', '^', '-'),
    'laplace': ('#8a929c', 'o', '--'), 'graph': ('#b08d57', '^', '--'),
    'policy': ('#c0504d', 'D', '--'), 'set': ('#5f6670', 's', '--')}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, of so many inches."""
    figure = Figure(figsize=(width, height), layout='constrained', facecolor='white')
    FigureCanvasAgg(figure)
    return figure


def finish(axis: Axes) -> None:
    """Give a plot its grid, and take away what needs no ink."""
    axis.grid(color='#e3e6ea', lw=0.8)
    axis.spines[['top', 'right']].set_visible(False)
    axis.tick_params(colors=INK, labelsize=9)


def save(figure: Figure, path: Path | str) -> None:
    """Write the file; its suffix is the format."""
    with matplotlib.rc_context({'svg.hashsalt': 'symdp_ros'}):
        figure.savefig(path, metadata={'Date': None} if str(path).endswith('.svg') else None)


def panels(count: int, sharey: bool | str = True, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure of some plots side by side, in rows."""
    figure = new_figure(11.5, 1.2 + 3.7 * rows)
    axes = list(figure.subplots(rows, count, sharey=sharey, squeeze=False).flat)
    for axis in axes:
        finish(axis)
    return figure, axes


def curve(axis: Axes, key: str, label: str, points: Iterable[Sequence[float]],
          marked: bool = True) -> None:
    """Draw one mechanism."""
    colour, mark, dashes = LOOKS[key]
    axis.plot(*zip(*points, strict=True), color=colour, marker=mark if marked else '', ls=dashes,
              ms=5, lw=1.6, mec='white', mew=0.6, label=label)


def no_less(axis: Axes, epsilons: Sequence[float], least: Sequence[float], label: str) -> None:
    """Draw below which error there is no mechanism."""
    axis.plot(epsilons, least, color='black', lw=2, label=label)
    axis.fill_between(epsilons, least, color='black', alpha=0.07, lw=0)


def over_epsilon(axis: Axes, epsilons: Sequence[float]) -> None:
    """Make the horizontal axis that of ε."""
    axis.set_xscale('log')
    axis.set_xticks(epsilons, [f'{epsilon:g}' for epsilon in epsilons])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel('ε', color=INK)


def in_percent(axis: Axis) -> None:
    """Write the numbers of a horizontal or vertical axis in percent."""
    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def save_with_legend(figure: Figure, path: Path) -> None:
    """Write the figure with its legend below."""
    shown = {label: handle for axis in reversed(figure.axes)
             for handle, label in reversed([*zip(*axis.get_legend_handles_labels(), strict=True)])}
    shown = dict(reversed(shown.items()))
    figure.legend([*shown.values()], [*shown], loc='outside lower center', ncols=4,
                  frameon=False, fontsize=9)
    save(figure, path)
