# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures: routes on a map, curves."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
import os
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.core.annotations import Word
from symdp_ros.core.errors import ConfigurationError, raising
from symdp_ros.core.graph import TransitionGraph
from symdp_ros.core.printable import printable
from symdp_ros.core.text_file import FilePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

_COLOURS = ('#1b6ca8', '#d1495b', '#2a9d54')


def check_figure(path: FilePath, graph: TransitionGraph | None = None) -> None:
    """
    Check that a figure can be drawn into a file: call it before computing what to draw.

    :param graph: the map that is to be drawn, if any.
    :raises ConfigurationError: matplotlib is missing; the suffix is that of no format; the
        directory is not there; the file cannot be written; the map has no positions.
    """
    canvas = _canvas()
    path = Path(path)
    if path.suffix.lower().removeprefix('.') not in canvas.get_supported_filetypes():
        raise ConfigurationError(f'{printable(path)}: a figure ends in .svg, .png or .pdf')
    if not path.parent.is_dir():
        raise ConfigurationError(f'{printable(path)} cannot be written: the directory '
                                 f'{printable(path.parent)} does not exist')
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ConfigurationError(f'{printable(path)} cannot be written: is it a directory, or '
                                 "another user's?")
    if graph is not None and not graph.positions:
        raise ConfigurationError(f'{graph.place()}the map has no positions to draw')


def draw_routes(graph: TransitionGraph, routes: Mapping[str, Word], path: FilePath) -> None:
    """
    Draw routes side by side on a map.

    :param graph: with positions of its states.
    :param routes: title → word; states that the map does not know are left out.
    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :raises ConfigurationError: as `check_figure`.
    """
    check_figure(path, graph)
    (left, right), (bottom, top) = _box(graph)
    height = min(8.0, max(2.0, 4.6 * (top - bottom) / (right - left)))
    figure = _figure(4.8 * len(routes), 0.5 + height)
    axes = figure.subplots(1, len(routes), squeeze=False)[0]
    for axis, (title, word), colour in zip(axes, routes.items(), _COLOURS, strict=False):
        _draw_map(axis, graph)
        _draw_route(axis, graph, word, colour)
        axis.set_title(title, fontsize=11, color=colour)
    _save(figure, path)


def draw_curves(curves: Mapping[str, Sequence[tuple[float, float, float]]], path: FilePath, *,
                x: str, y: str, title: str) -> None:
    """
    Draw curves with error bars in one picture.

    :param curves: name → (x, y, standard error) of each point, ascending.
    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :raises ConfigurationError: as `check_figure`.
    """
    check_figure(path)
    figure = _figure(6.4, 4.2)
    axis = figure.subplots()
    for (name, points), marker in zip(curves.items(), 'os^Dv', strict=False):
        xs, ys, errors = zip(*points, strict=True)
        axis.errorbar(xs, ys, errors, label=name, marker=marker, ms=4, lw=1.4,
                      capsize=2)
    axis.set(xlabel=x, ylabel=y, title=title, ylim=(0, 1))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    _save(figure, path)


def _canvas() -> type[FigureCanvasAgg]:
    try:
        import matplotlib  # noqa: F401
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise ConfigurationError('figures need matplotlib: pip install matplotlib') from None
    return FigureCanvasAgg


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout='constrained')
    _canvas()(figure)
    return figure


def _save(figure: Figure, path: FilePath) -> None:
    with raising(ConfigurationError, f'{printable(path)} cannot be written',
                 (OSError, ValueError)):
        figure.savefig(path, metadata={'Date': None} if str(path).endswith('.svg') else None)


def _box(graph: TransitionGraph) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return ((smallest x, largest x), (smallest y, largest y)) with a margin."""
    xs, ys = zip(*graph.positions.values(), strict=True)
    margin = 0.06 * max(max(xs) - min(xs), max(ys) - min(ys), 1.0)
    return (min(xs) - margin, max(xs) + margin), (min(ys) - margin, max(ys) + margin)


def _draw_map(axis: Axes, graph: TransitionGraph) -> None:
    axis.set(aspect='equal', xlim=_box(graph)[0], ylim=_box(graph)[1])
    axis.axis('off')
    for state, row in graph.successors.items():
        for target in row:
            if state == target or state not in graph.positions or target not in graph.positions:
                continue
            one_way = state not in graph.successors[target]
            if one_way or state < target:
                axis.annotate('', graph.positions[target], graph.positions[state], zorder=1,
                              arrowprops={'arrowstyle': '-|>' if one_way else '-', 'lw': 1.0,
                                          'color': '#c3c8d0', 'shrinkA': 7, 'shrinkB': 7,
                                          'mutation_scale': 9})
    for state, (x, y) in graph.positions.items():
        axis.text(x, y, state, ha='center', va='center', fontsize=6.5, color='#48505c', zorder=4,
                  parse_math=False,
                  bbox={'boxstyle': 'circle,pad=0.25', 'fc': 'white', 'ec': '#9aa3af', 'lw': 0.7})


def _draw_route(axis: Axes, graph: TransitionGraph, word: Word, colour: str) -> None:
    points = [graph.positions[state] for state in word
              if state is not None and state in graph.positions]
    if not points:
        return
    (left, right), _ = _box(graph)
    spread = 0.005 * (right - left)  # so that repeated moves do not hide one another
    shifted = [(x + spread * (t % 5 - 2), y + spread * (t * 2 % 5 - 2))
               for t, (x, y) in enumerate(points)]
    axis.plot(*zip(*shifted, strict=True), color=colour, lw=1.5, alpha=0.7, zorder=3,
              solid_joinstyle='round')
    axis.plot(*shifted[0], 'o', color=colour, ms=9, zorder=3.5)
    axis.plot(*shifted[-1], 's', color=colour, ms=9, zorder=3.5)
