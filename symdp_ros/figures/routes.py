# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures: routes on a map, curves."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
import logging
import os
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING
import warnings

from rich.cells import cell_len
from symdp_ros.core.annotations import Word
from symdp_ros.errors import ConfigurationError, printable, raising
from symdp_ros.files.text_file import FilePath
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.layout import drawn_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

_DOT, _END, _NAME = 4.0, 7.0, 6.0  # sizes of a dot, of an end of a route, of a name, in points
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
        raise ConfigurationError('the map has no positions to draw', path=graph.source or None)


def draw_map(graph: TransitionGraph, title: str, path: FilePath) -> None:
    """
    Draw a map: floors side by side; where it has no positions, as it can be laid out.

    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :raises ConfigurationError: as `check_figure`.
    """
    places, polygons, _ = drawn_places(graph)
    draw_routes(replace(graph, positions=places, polygons=polygons), {title: ()}, path, 10.0)


def draw_routes(graph: TransitionGraph, routes: Mapping[str, Word], path: FilePath,
                width: float = 4.6) -> None:
    """
    Draw routes side by side on a map.

    :param graph: with positions of its states.
    :param routes: title → word; states that the map does not know are left out.
    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :param width: of each, in inches.
    :raises ConfigurationError: as `check_figure`.
    """
    check_figure(path, graph)
    (left, right), (bottom, top) = _box(graph)
    height = min(8.0, max(2.0, width * (top - bottom) / (right - left)))
    figure = _figure((width + 0.2) * len(routes), 0.8 + height)
    points_per_unit = 72 * min(width / (right - left), height / (top - bottom))
    axes = figure.subplots(1, len(routes), squeeze=False)[0]
    for axis, (title, word), colour in zip(axes, routes.items(), _COLOURS, strict=False):
        _draw_map(axis, graph)
        ends = [state for state in (*word[:1], *word[-1:])
                if state is not None and state in graph.positions]
        _draw_names(axis, graph, points_per_unit, ends)
        _draw_route(axis, graph, word, colour)
        axis.set_title(title, fontsize=11, color=colour, parse_math=False)
    _save(figure, path)


def draw_curves(curves: Mapping[str, Sequence[tuple[float, float, float]]], path: FilePath, *,
                x: str, y: str, title: str, share: bool = True, dashed: Collection[str] = (),
                target: float | None = None) -> None:
    """
    Draw curves with error bars in one picture.

    :param curves: name → (x, y, standard error) of each point, ascending.
    :param share: y is from 0 to 1; otherwise from 0 on.
    :param dashed: the names of curves that are dashed.
    :param target: a value of y that is marked by a line.
    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :raises ConfigurationError: as `check_figure`.
    """
    check_figure(path)
    figure = _figure(6.4, 4.2)
    axis = figure.subplots()
    for (name, points), marker in zip(curves.items(), cycle('os^DvP*X')):
        xs, ys, errors = zip(*points, strict=True)
        axis.errorbar(xs, ys, errors, label=name, marker=marker, ms=4, lw=1.4,
                      capsize=2, ls='--' if name in dashed else '-')
    if target is not None:
        axis.axhline(target, color='#48505c', lw=1, ls=':', label=f'wanted: {target:g}')
    axis.set(xlabel=x, ylabel=y, ylim=(0, 1 if share else None))
    axis.set_title(title, fontsize=11, parse_math=False)
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
    without = _take_fonts(figure)
    if without:
        print(f'{printable(path)}: no installed font has {" ".join(sorted(without))}: boxes stand '
              'for them; install a font such as Noto Sans CJK', file=sys.stderr)
    with raising(ConfigurationError, f'{printable(path)} cannot be written',
                 (OSError, ValueError)), _quiet_fonts():
        figure.savefig(path, metadata={'Date': None} if str(path).endswith('.svg') else None)


@contextmanager
def _quiet_fonts() -> Iterator[None]:
    """Keep what matplotlib says of each letter and font from the terminal."""
    logger = logging.getLogger('matplotlib.font_manager')
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', 'Glyph')
            yield
    finally:
        logger.setLevel(level)


def _take_fonts(figure: Figure) -> set[str]:
    """Add fonts that have the letters which matplotlib's own lacks; return those that none has."""
    from matplotlib.font_manager import FontProperties, fontManager
    from matplotlib.ft2font import FT2Font
    from matplotlib.text import Text

    def missing_in(file: str) -> set[str]:
        try:
            glyphs = FT2Font(file).get_charmap()
        except (OSError, RuntimeError):  # it was removed, or is damaged
            return missing
        return {letter for letter in missing if ord(letter) not in glyphs}

    texts: list[Any] = figure.findobj(Text)
    missing = {letter for text in texts for letter in text.get_text() if letter.isprintable()}
    missing = missing_in(fontManager.findfont(FontProperties()))
    added = list[str]()
    for font in fontManager.ttflist:
        if not missing:
            break
        left = missing_in(font.fname)
        if left < missing and not font.name.startswith('Last Resort'):  # it has boxes alone
            missing = left
            added.append(font.name)
    for text in texts if added else ():
        text.set_fontfamily([*text.get_fontfamily(), *added])
    return missing


def _box(graph: TransitionGraph) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return ((smallest x, largest x), (smallest y, largest y)) with a margin."""
    corners = (corner for polygon in graph.polygons.values() for corner in polygon)
    xs, ys = zip(*graph.positions.values(), *corners, strict=True)
    margin = 0.08 * max(max(xs) - min(xs), max(ys) - min(ys), 1.0)
    return (min(xs) - margin, max(xs) + margin), (min(ys) - margin, max(ys) + margin)


def _draw_map(axis: Axes, graph: TransitionGraph) -> None:
    axis.set(aspect='equal', xlim=_box(graph)[0], ylim=_box(graph)[1])
    axis.axis('off')
    for polygon in graph.polygons.values():
        axis.fill(*zip(*polygon, strict=True), fc='#f3f4f6', ec='#d5d9df', lw=0.7, zorder=0.5)
    for state, row in graph.successors.items():
        for target in row:
            if state == target or state not in graph.positions or target not in graph.positions:
                continue
            one_way = state not in graph.successors[target]
            if one_way or state < target:
                axis.annotate('', graph.positions[target], graph.positions[state], zorder=1,
                              arrowprops={'arrowstyle': '-|>' if one_way else '-', 'lw': 0.9,
                                          'color': '#c3c8d0', 'shrinkA': 2.5, 'shrinkB': 2.5,
                                          'mutation_scale': 7})
    axis.plot(*zip(*graph.positions.values(), strict=True), 'o', ms=_DOT, color='#8a94a3',
              mec='white', mew=0.4, zorder=2)


def _draw_names(axis: Axes, graph: TransitionGraph, points_per_unit: float,
                first: Sequence[str]) -> None:
    """
    Write the names of states beside their dots, as far as none covers another name or a dot.

    :param points_per_unit: length of a unit of the map in the figure, in points.
    :param first: the states that are named before the others.
    """
    places = {state: (x * points_per_unit, y * points_per_unit)
              for state, (x, y) in graph.positions.items()}
    taken = [(x - _DOT / 2, y - _DOT / 2, x + _DOT / 2, y + _DOT / 2) for x, y in places.values()]
    for state in dict.fromkeys([*first, *places]):
        x, y = places[state]
        width, height = 0.62 * _NAME * cell_len(state), 1.1 * _NAME
        gap = (_END if state in first else _DOT) / 2 + 1
        right, left, above, below = gap, -gap - width, gap / 2, -gap / 2 - height
        # Most moves run along the axes of a map: names are to the side of them.
        for dx, dy in ((right, above), (right, below), (left, above), (left, below),
                       (-width / 2, gap), (-width / 2, -gap - height), (right, -height / 2),
                       (left, -height / 2)):
            box = x + dx, y + dy, x + dx + width, y + dy + height
            if all(box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1]
                   or other[3] <= box[1] for other in taken):
                taken.append(box)
                axis.annotate(state, graph.positions[state], (dx, dy + 1), fontsize=_NAME,
                              textcoords='offset points', color='#48505c', zorder=4,
                              parse_math=False, annotation_clip=False,
                              bbox={'boxstyle': 'square,pad=0', 'fc': 'white', 'ec': 'none',
                                    'alpha': 0.6})
                break


def _draw_route(axis: Axes, graph: TransitionGraph, word: Word, colour: str) -> None:
    points = [graph.positions[state] for state in word
              if state is not None and state in graph.positions]
    if not points:
        return
    (left, right), _ = _box(graph)
    spread = 0.003 * (right - left)  # so that repeated moves do not hide one another
    shifted = [(x + spread * (t % 5 - 2), y + spread * (t * 2 % 5 - 2))
               for t, (x, y) in enumerate(points)]
    axis.plot(*zip(*shifted, strict=True), color=colour, lw=1.4, alpha=0.7, zorder=3,
              solid_joinstyle='round')
    for place, marker, label in (points[0], 'o', 'start'), (points[-1], 's', 'end'):
        axis.plot(*place, marker, ms=_END, mew=1.6, color=colour, zorder=3.5, label=label,
                  mfc='white' if label == 'start' else colour)
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False, fontsize=8)
