# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/optimum.md and its picture, whose numbers all come from optimum.json."""
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
import numpy as np
from studies.common import filled, table
from studies.compare import words  # noqa: F401: for the page
from studies.drawing import (curve, in_percent, INK, no_less, over_epsilon, panels,
                             save_with_legend)
from studies.optimum import maps, tiny

#: What knows as much: reports at once, one symbol later, with the whole word.
KNOWS = {0: 'at once', 1: 'one symbol later', None: 'the whole word'}
LABELS = {'adaptive': 'adaptive', 'paper': 'online (the paper)', 'guided': 'guided',
          'exponential': 'exponential, base: chain',
          'counting': 'exponential, counting (the paper)', 'flip': 'permute-and-flip'}
#: What the optimum of three states in a row may be exceeded by: ε, delay → ratio.
GOALS = {(2.0, 1): 1.2, (3.0, 1): 1.2, (2.0, None): 1.3, (3.0, None): 1.3}

# What the tables show.
_ONE_SHOWN, _LEFT_OUT = (1.0, 2.0, 3.0, 5.0), ('guided',)  # ε; close to `paper`
TWO_SHOWN = 3.0
_MEANS_SHOWN = {1: (1.0, 2.0, 3.0), 10: (2.0, 8.0), 30: (2.0, 8.0)}

Row = dict[str, Any]


def page(numbers: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    solved, charted = numbers['tiny'], numbers['maps']
    live, later, logs = mean(charted, 1, 2.0)
    return filled(__file__, {
        **globals(), **numbers, 'maps': maps, 'tiny': tiny, 'numbers': numbers,
        'tiny_rows': solved, 'charted': charted, 'live': live, 'later': later, 'logs': logs,
        'lengths': {row['n'] for row in solved},
        'visit': two(solved, 0, in_a_row=True),
        'worst': max((row for row in solved if row['k'] == 1), key=ratio)})


def pick(rows: Iterable[Row], **wanted: Any) -> Row:
    """Return the one row with these values."""
    [found] = some(rows, **wanted)
    return found


def some(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows with these values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def ratio(row: Row, key: str | None = None) -> float:
    """Return the error of a mechanism (of the best), divided by the optimum."""
    return float(row['found'][key or least(row)] / row['optimum'])


def least(row: Row) -> str:
    """Return that of ours which errs least: permute-and-flip is no mechanism of the package."""
    own = [key for key in row['found'] if key != 'flip']
    return min(own, key=lambda key: row['found'][key])


def near(solved: list[Row], delay: int | None) -> str:
    """Return the ratios of the best of ours on the longer words, from least to largest."""
    found = [ratio(pick(solved, chain=name, n=n, k=1, delay=delay, epsilon=epsilon))
             for epsilon in (2.0, 3.0) for name, n in ((tiny.TWO, 6), (tiny.THREE, 4))]
    return f'{min(found):.2f} to {max(found):.2f}'


def gap(solved: list[Row], up_to: float = 5.0) -> float:
    """Return how far what is proved is below the optimum, at most, up to some ε."""
    return max(round(row['optimum'] - row['proved'], tiny.DECIMALS) for row in solved
               if row['epsilon'] <= up_to)


def ones(solved: list[Row]) -> str:
    """Return the table of k = 1 on three states: what each mechanism errs."""
    lines: list[tuple[str, ...]] = []
    for delay, knows in KNOWS.items():
        at = [pick(solved, chain=tiny.THREE, n=4, k=1, epsilon=epsilon, delay=delay)
              for epsilon in _ONE_SHOWN]
        lines += [(f'*optimum, {knows}*', *(f'{row["optimum"]:.4f}' for row in at)),
                  *((LABELS[key], *(f'{row["found"][key]:.4f} ({ratio(row, key):.2f})'
                                    for row in at))
                    for key in at[0]['found'] if key not in _LEFT_OUT)]
    return table((f'{tiny.THREE}, n = 4', *(f'ε = {e:g}' for e in _ONE_SHOWN)), lines)


def goals(solved: list[Row]) -> str:
    """Return the goals, and whether they were met."""
    found = [(ratio(pick(solved, chain=tiny.THREE, n=4, epsilon=epsilon, k=1, delay=delay)), goal,
              f'ε = {epsilon:g}, {KNOWS[delay]}') for (epsilon, delay), goal in GOALS.items()]
    return '; '.join(f'{value:.3f} at {where} (≤ {goal}{"" if value <= goal else ", **not met**"})'
                     for value, goal, where in found)


def gained(solved: list[Row], delay: int | None) -> float:
    """Return which share of errors the best mechanism spares itself by a delay."""
    waits, at_once = (pick(solved, chain=tiny.THREE, n=4, epsilon=3.0, k=1, delay=each)
                      for each in (delay, 0))
    return float(1 - waits['optimum'] / at_once['optimum'])


def loose(numbers: dict[str, Any]) -> str:
    """Say how far the bound by one symbol is below the optimum, where that is known."""
    return '; '.join(
        f'{bound:.3f} {knows} (optimum: {row["optimum"]:.3f})'
        for (delay, knows), bound in zip(KNOWS.items(), numbers['three'], strict=True)
        for row in some(numbers['tiny'], chain=tiny.THREE, n=4, epsilon=2.0, k=1, delay=delay))


def two(solved: list[Row], delay: int | None, in_a_row: bool) -> Row:
    """Return the row of k = 2 on three states that is shown."""
    return pick(solved, chain=tiny.THREE, k=2, epsilon=TWO_SHOWN, delay=delay, in_a_row=in_a_row)


def twos(solved: list[Row]) -> str:
    """Return the table of k = 2."""
    lines = []
    for delay, knows in KNOWS.items():
        row, anywhere = (two(solved, delay, in_a_row) for in_a_row in (True, False))
        lines.append((knows, f'{anywhere["optimum"]:.4f}', f'{row["optimum"]:.4f}',
                      f'{row["found"][least(row)]:.4f} ({LABELS[least(row)]})',
                      f'{ratio(row):.2f}'))
    return table(('known', 'optimum, anywhere', 'optimum, in a row', 'best of ours', 'ratio'),
                 lines)


def mean(charted: list[Row], k: int, epsilon: float) -> list[tuple[float, float]]:
    """Return bound and error, at once, later and on logs: means over all maps."""
    rows = some(charted, k=k, epsilon=epsilon)
    return [(float(np.mean([row['bounds'][i] for row in rows])),
             float(np.mean([row['found'][i][1] for row in rows]))) for i in range(3)]


def means(charted: list[Row]) -> str:
    """Return the table of bounds and errors."""
    lines = [(f'k = {k}, ε = {epsilon:g}', *(f'{number:.3f}' for pair in mean(
        charted, k, epsilon) for number in pair))
        for k, shown in _MEANS_SHOWN.items() for epsilon in shown]
    return table(('', *(head for when in ('at once', f'{maps.DELAY} later', 'logs')
                        for head in (f'bound, {when}', f'ours, {when}'))), lines)


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw the errors on three states in a row, and the means over all maps."""
    def end(axis: Axes, title: str, epsilons: list[float], least: list[float]) -> None:
        no_less(axis, epsilons, least, 'no mechanism errs less')
        axis.set_title(title, fontsize=10.5, color=INK)
        over_epsilon(axis, epsilons)
        in_percent(axis.yaxis)

    figure, axes = panels(3, 'row', rows=2)
    rows = some(numbers['tiny'], chain=tiny.THREE, n=4, k=1)
    epsilons = sorted({row['epsilon'] for row in rows})
    for axis, (delay, knows) in zip(axes, KNOWS.items(), strict=False):
        at = [pick(rows, epsilon=epsilon, delay=delay) for epsilon in epsilons]
        for key in at[0]['found']:
            curve(axis, key, LABELS[key],
                  [(row['epsilon'], row['found'][key]) for row in at])
        end(axis, f'three states in a row, {knows}', epsilons, [row['optimum'] for row in at])
    means = {epsilon: mean(numbers['maps'], 1, epsilon) for epsilon in maps.EPSILONS}
    for i, (axis, when) in enumerate(zip(axes[3:], (
            'at once', f'{maps.DELAY} symbols later', 'logs'), strict=True)):
        axis.plot([*means], [pair[i][1] for pair in means.values()], color='#3d2466', marker='v',
                  ms=5, lw=1.6, mec='white', mew=0.6, label='the best of ours on each map')
        end(axis, f'all maps, {when}', [*means], [pair[i][0] for pair in means.values()])
    for axis in (axes[0], axes[3]):  # each is the scale of its row
        axis.set_ylabel('wrong symbols', color=INK)
        axis.set_ylim(0)
    save_with_legend(figure, folder / 'optimum.svg')
