# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/evidence/coordination.md."""
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from studies import drawing
from studies.coordination.page import STRATEGY_NAMES, summary, USE_NAMES
from studies.coordination.patrol import MAPS, STRATEGIES, USES
from symdp_ros.core.registry import POLICIES

_INK = drawing.INK
_OF_POLICY = dict(zip(POLICIES, (('#1b6ca8', 'o'), ('#2a9d54', 's'), ('#6b4fa1', 'D')),
                      strict=True))
_OF_USE = dict(zip(USES, (('#1b6ca8', 'o'), ('#e07b1a', '^'), ('#2a9d54', 's')), strict=True))
_OF_STRATEGY = dict(zip(STRATEGIES, (('#1b6ca8', 'o'), ('#2a9d54', 's'), ('#e07b1a', '^')),
                        strict=True))
_WORDS_FOR = {'true': 'true places', 'none': 'nothing heard'}
_DASHES = {'true': (0, (5, 2)), 'none': (0, (1, 2))}
_MOST = 3.2  # the largest ratio of idleness that is drawn


def draw_all(numbers: dict[str, Any], folder: Path) -> None:
    """Draw every figure into a folder."""
    draw_trade(numbers, folder / 'coordination.svg')
    draw_maps(numbers, folder / 'coordination-maps.svg')


def draw_trade(numbers: dict[str, Any], path: Path) -> None:
    """Draw idleness against the intruder's success: by use on the left, by policy on the right."""
    figure = drawing.new_figure(11, 5)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis in (left, right):
        for what, mark in (('true', '*'), ('none', 'X')):
            row = summary(numbers, what)
            axis.plot(row.intruder, row.average, mark, color=_INK, ms=13, mec='white', zorder=9)
            axis.annotate(_WORDS_FOR[what], (row.intruder, row.average), (0, -10), color=_INK,
                          textcoords='offset points', ha='center', va='top', fontsize=9)
    for use in USES:
        _curve(left, numbers, 'guided', use, _OF_USE[use], USE_NAMES[use], (5, 3))
    for policy in POLICIES:
        _curve(right, numbers, policy, 'hedged', _OF_POLICY[policy], policy,
               {'paper': (-12, -10), 'adaptive': (5, 3)}.get(policy))
    left.set_title('policy guided, three ways to use the symbols', fontsize=10.5, color=_INK)
    right.set_title('belief, hedged: the three policies', fontsize=10.5, color=_INK)
    left.set_ylabel('average idleness, ratio to true places\n(up: worse patrols)', color=_INK)
    left.set(xlim=(0.48, 0.92), ylim=(0.8, _MOST))
    for axis in (left, right):
        axis.set_xlabel("intruder's success (right: worse for the patrol)", color=_INK)
        drawing.in_percent(axis.xaxis)
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f'{y:g}×'))
        axis.legend(frameon=False, fontsize=9, loc='upper left')
    _save(figure, path)


def _curve(axis: Axes, numbers: dict[str, Any], policy: str, use: str, look: tuple[str, str],
           label: str, aside: tuple[int, int] | None) -> None:
    epsilons = numbers['size']['epsilons']
    rows = [summary(numbers, policy, use, epsilon) for epsilon in epsilons]
    hidden = [f'{epsilon:g}' for epsilon, row in zip(epsilons, rows, strict=True)
              if row.average > _MOST]
    if hidden:
        label += f' (off the top: ε = {", ".join(hidden)})'
    axis.plot([row.intruder for row in rows], [row.average for row in rows], color=look[0],
              marker=look[1], ms=6, lw=1.6, mec='white', mew=0.7, label=label)
    for epsilon, row in zip(epsilons, rows, strict=True):
        if aside and row.average <= _MOST:
            axis.annotate(f'{epsilon:g}', (row.intruder, row.average), aside,
                          textcoords='offset points', fontsize=7.5, color=look[0])


def _bars(axis: Axes, epsilons: list[float], values: list[list[float]], look: tuple[str, str],
          **more: Any) -> None:
    """Draw values with their standard errors."""
    axis.errorbar(epsilons, *zip(*values, strict=True), color=look[0], marker=look[1], ms=5,
                  lw=1.6, mec='white', mew=0.6, capsize=2, **more)


def draw_maps(numbers: dict[str, Any], path: Path) -> None:
    """Draw each map: idleness and the intruder by ε, belief hedged and policy guided."""
    figure = drawing.new_figure(11, 9)
    axes = figure.subplots(3, len(MAPS), sharex=True, sharey='row')
    epsilons = numbers['size']['epsilons']
    rows = {(row['map'], row['strategy'], row['what'], row['epsilon'], row['use']): row
            for row in numbers['patrol']}
    for line, (key, label) in zip(axes, (
            ('average', 'average idleness (steps)'), ('worst', 'worst idleness (steps)'),
            ('intruder', "intruder's success")), strict=True):
        for axis, area in zip(line, MAPS, strict=True):
            for strategy, look in _OF_STRATEGY.items():
                _bars(axis, epsilons, [rows[area, strategy, 'guided', epsilon, 'hedged'][key]
                                       for epsilon in epsilons], look)
                for what, dashes in _DASHES.items():
                    axis.axhline(rows[area, strategy, what, None, None][key][0], color=look[0],
                                 ls=dashes, lw=1.1)
            drawing.over_epsilon(axis, epsilons)
            axis.set_xlabel('')
        line[0].set_ylabel(label, color=_INK)
    for axis in axes[-1]:
        axis.set_xlabel('ε of a symbol (k = 1)', color=_INK)
        drawing.in_percent(axis.yaxis)
    for row_ in axes[:2]:
        row_[0].set_ylim(bottom=0)
    for axis, area in zip(axes[0], MAPS, strict=True):
        size = numbers['maps'][area]
        axis.set_title(f'{area}: {size["vertices"]} vertices, the intruder\nneeds '
                       f'{size["window"]} steps unseen', fontsize=10.5, color=_INK)
    figure.legend(handles=[
        *(Line2D([], [], color=colour, marker=mark, lw=1.6, label=STRATEGY_NAMES[strategy])
          for strategy, (colour, mark) in _OF_STRATEGY.items()),
        Line2D([], [], color=_INK, lw=1.6, label='private places'),
        *(Line2D([], [], color=_INK, ls=dashes, lw=1.1, label=_WORDS_FOR[what])
          for what, dashes in _DASHES.items())],
        loc='outside upper center', ncols=6, frameon=False, fontsize=9.5)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    for axis in figure.axes:
        drawing.finish(axis)
    drawing.save(figure, path)
