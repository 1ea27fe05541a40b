# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A picture of the Hamming-distance automaton, like the paper's Figures 2 and 3."""
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import hypot, sqrt
from pathlib import Path
import textwrap
from warnings import catch_warnings, filterwarnings

import numpy as np
from symdp_ros.core.annotations import Word
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.errors import ConfigurationError, raising
from symdp_ros.figures.routes import check_figure
from symdp_ros.files.text_file import FilePath

_MOST_NODES = 300
_MOST_ARROWS = 80             # from one position to the next
_LONGEST = 7200.0             # of a side, in points: 100 inches
_MATCH, _ERROR = '#1b6ca8', '#d1495b'
_INK, _GREY, _CELL = '#20262e', '#707987', '#f3f5f8'
_NAME, _COUNT, _LABEL, _HEADING, _TITLE = 10.5, 7.5, 8.5, 9.0, 13.0  # font sizes
_HEIGHT = 34.0                # of a node; all lengths are in points
_PAD, _ROW_GAP = 11.0, 24.0   # within and between cells
_MARGIN = 20.0
_NARROWEST = 440.0
_HEAD = 6.5                   # of an arrow
_WIDENINGS = (1.0, 1.25, 1.6, 2.0, 2.6, 3.4, 4.5)
_PLACES = np.linspace(0.04, 0.96, 47)  # of a label along its arrow

_SUBSCRIPTS = str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉')
_LEGEND = {'match': (26, 'match (symbol: probability)'), 'error': (26, 'error'),
           'V': (7, 'words accepted from here on'), 'accepting': (22, 'accepting')}


def draw_automaton(automaton: HammingAutomaton, word: Word, path: FilePath) -> None:
    """
    Draw the states and moves that lie on the way to an accepted word, counts and probabilities.

    Columns are positions, rows are errors so far. The picture shows the word: it is as sensitive.

    :param word: the automaton's.
    :param path: the file to write; its suffix (.svg, .png, .pdf) is the format.
    :raises ConfigurationError: matplotlib is missing; no word is accepted; the picture would be
        illegible; the file cannot be written.
    """
    check_figure(path)
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower().removeprefix('.')
    states, edges = _parts(automaton)
    with rc_context({'svg.fonttype': 'none', 'svg.hashsalt': 'symdp'}), catch_warnings():
        # Scripts that the font lacks: a viewer of the SVG has others.
        filterwarnings('ignore', 'Glyph')
        layout = _Layout(automaton, word, states, edges)
        size = layout.width / 72, (layout.bottom - layout.top) / 72
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        axis = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width),
                               ylim=(layout.bottom, layout.top))
        axis.axis('off')
        _Drawing(axis, layout).draw()
        with raising(ConfigurationError, f'{path} cannot be written', OSError):
            figure.savefig(path, dpi=min(160, 12_000 / max(size)),
                           metadata={'Date': None} if suffix == 'svg' else None)


def _parts(automaton):
    """Return the states and the edges; raise where they are too many to be seen."""
    states = list(islice(automaton.states(), _MOST_NODES + 1))
    if not states:
        raise ConfigurationError('no feasible word has this distance: choose another',
                                 setting='distance')
    if len(states) > _MOST_NODES:
        raise _illegible(f'it has more than {_MOST_NODES} nodes')
    edges, counts = [], Counter()
    for edge in automaton.edges():
        edges.append(edge)
        counts[edge.source.position] += 1
        if counts[edge.source.position] > _MOST_ARROWS:
            raise _illegible(f'it has more than {_MOST_ARROWS} arrows from one position to the '
                             'next')
    return states, edges


def _illegible(why):
    return ConfigurationError(f'the picture would be illegible: {why}. Leave out -o to print the '
                              'table instead, or draw a shorter word')


class _Layout:
    """Where everything goes, in points from the upper left corner."""

    def __init__(self, automaton, word, states, edges):
        self.edges, self.accepting = edges, states[-1].position
        self.names = {state: label_text(state.state) for state in states}
        self.counts = {state: f'V = {count_text(automaton.count(*state))}' for state in states}
        self.distance = states[-1].errors
        self.labels = [f'{self.names[e.target]}: {chance_text(e.probability)}' for e in edges]
        self.headings = [f'w{str(position).translate(_SUBSCRIPTS)} = {symbol}'
                         for position, symbol in enumerate(map(label_text, word), 1)]
        self.node_width = max(44.0, *(20 + _width(text, _NAME, 'bold')
                                      for text in {*self.names.values()}),
                              *(20 + _width(text, _COUNT) for text in {*self.counts.values()}),
                              *(_width(text, _HEADING) - 10 for text in {*self.headings}))
        self.cells = defaultdict(list)
        for state in states:
            self.cells[state.position, state.errors].append(state)
        # The distance between nodes leaves room for the labels of all arrows of one.
        most = max(Counter(edge.source for edge in edges).values(), default=1)
        self.pitch = min(max(_HEIGHT + 15, 1.4 * _LABEL * most), 3 * _HEIGHT)
        self.left = _MARGIN + _width(f'{self.distance} errors', _HEADING) + 18
        self._set_rows()
        self._set_columns()
        self.centres = {state: (self.columns[t], self._y(e, len(cell), i))
                        for (t, e), cell in self.cells.items() for i, state in enumerate(cell)}
        self.title = textwrap.wrap(
            f'word {" ".join(map(label_text, word))} · distance {self.distance} · '
            f'{words_text(automaton.word_count)}',
            int((self.width - 2 * _MARGIN) / (0.62 * _TITLE)), break_on_hyphens=False)
        self.top = -(_MARGIN + 1.4 * _TITLE * len(self.title) + 44)
        self.legend = self._legend()
        self.bottom = self.legend[-1][2] + _MARGIN

    def _legend(self):
        """Return (key, x, y) of its entries, in lines no longer than the picture."""
        x, y, entries = _MARGIN, self.bottom + 30, []
        for key, (sign, text) in _LEGEND.items():
            width = sign + 6 + _width(text, _LABEL)
            if x > _MARGIN and x + width > self.width - _MARGIN:
                x, y = _MARGIN, y + 17
            entries.append((key, x, y))
            x += width + 22
        return entries

    def _set_rows(self):
        """Set the vertical centre of each row of cells; a row is as high as its largest cell."""
        self.rows, y = [], 0.0
        for errors in range(self.distance + 1):
            most = max(len(cell) for (_, e), cell in self.cells.items() if e == errors)
            self.rows.append(y + self._cell_height(most) / 2)
            y += self._cell_height(most) + _ROW_GAP
        self.bottom = y - _ROW_GAP

    def _cell_height(self, nodes):
        return _HEIGHT + (nodes - 1) * self.pitch + 2 * _PAD

    def _y(self, errors, nodes, i):
        return self.rows[errors] + (i - (nodes - 1) / 2) * self.pitch

    def cell_box(self, position, errors):
        """Return x, y, width, height of a cell."""
        height = self._cell_height(len(self.cells[position, errors]))
        width = self.node_width + 2 * _PAD
        return (self.columns[position] - width / 2, self.rows[errors] - height / 2, width, height)

    def _set_columns(self):
        """Set the columns' x, each as close to the one before as the labels between them allow."""
        ports = self._ports()
        sizes = np.array([(_width(label, _LABEL) + 5, _LABEL + 4.5) for label in self.labels])
        self.columns = [self.left + self.node_width / 2 + 30]
        self.lines = np.zeros((len(self.edges), 4))
        self.label_centres = np.zeros((len(self.edges), 2))
        for position in range(self.accepting):
            here = [i for i, e in enumerate(self.edges) if e.source.position == position]
            gap, self.lines[here], self.label_centres[here] = self._gap(ports[here], sizes[here])
            self.columns.append(self.columns[-1] + gap)
        self.width = max(_NARROWEST, self.columns[-1] + self.node_width / 2 + _PAD + _MARGIN)
        if max(self.width, self.bottom) > _LONGEST:
            raise _illegible(f'a side of it is longer than {_LONGEST / 72:g} inches')

    def _ports(self):
        """Return how far from its nodes' middle, and at which y, each edge begins and ends."""
        ys = {state: self._y(e, len(cell), i)
              for (_, e), cell in self.cells.items() for i, state in enumerate(cell)}
        leaving, arriving = defaultdict(list), defaultdict(list)
        for i, edge in enumerate(self.edges):
            leaving[edge.source].append((ys[edge.target], i))
            arriving[edge.target].append((ys[edge.source], i))
        ports = np.zeros((len(self.edges), 2, 2))
        for end, nodes in enumerate((leaving, arriving)):
            for node, ends in nodes.items():
                for down, (_, i) in zip(_spread(len(ends)), sorted(ends), strict=True):
                    radius = _HEIGHT / 2
                    out = self.node_width / 2 - radius + sqrt(radius**2 - down**2)
                    ports[i, end] = out, ys[node] + down
        return ports

    def _gap(self, ports, sizes):
        """Return the way to the next column, and the lines and label centres on it."""
        x, best = self.columns[-1], None
        steepest = np.abs(ports[:, 1, 1] - ports[:, 0, 1]).max()
        for widening in _WIDENINGS:
            gap = self.node_width + 2 * _PAD + widening * max(sizes[:, 0].max() + 20,
                                                              0.45 * steepest)
            lines = np.stack([x + ports[:, 0, 0], ports[:, 0, 1],
                              x + gap - ports[:, 1, 0], ports[:, 1, 1]], axis=1)
            side = self.node_width / 2 + _PAD
            overlaps, crossed, centres = _place(lines, sizes, x + side, x + gap - side)
            if overlaps == 0:
                cost = 2 * crossed + 1.5 * len(lines) * (widening - 1)
                if best is None or cost < best[0]:
                    best = cost, (gap, lines, centres)
                if crossed == 0:
                    break
        if best is None:
            raise _illegible('the labels of its arrows would cover one another')
        return best[1]


def _spread(ports):
    """Return how far below the middle of a node's side each of its ports is."""
    reach = min(0.4 * _HEIGHT, 4.5 * (ports - 1))
    return np.linspace(-reach, reach, ports) if ports > 1 else [0.0]


def _place(lines, sizes, left, right):
    """
    Place a label on each line, so that none hides another and few hide parts of other lines.

    :param lines: x0, y0, x1, y1 of each, x0 ≤ left, right ≤ x1; float64, shape (lines, 4).
    :param sizes: width and height of each label; float64, shape (lines, 2).
    :return: how many labels overlap, how many lines they cross, and the labels' centres, float64,
        shape (lines, 2).
    """
    x0, y0, x1, y1 = lines.T
    xs = np.clip(x0[:, None] + (x1 - x0)[:, None] * _PLACES,
                 left + sizes[:, :1] / 2 + 2, right - sizes[:, :1] / 2 - 2)
    slopes = (y1 - y0) / (x1 - x0)
    ys = y0[:, None] + slopes[:, None] * (xs - x0[:, None])  # (lines, places)
    half = sizes[:, :, None] / 2
    # Line j over the width of label i: from its y at the left to that at the right.
    at = [y0 + slopes * ((xs + side * half[:, 0])[:, :, None] - x0) for side in (-1, 1)]
    crossed = ((np.maximum(*at) > (ys - half[:, 1])[:, :, None])
               & (np.minimum(*at) < (ys + half[:, 1])[:, :, None])).sum(axis=2) - 1
    preferred = crossed + 1.2 * np.abs(_PLACES - 0.4)
    chosen = preferred.argmin(axis=1)
    everyone = np.arange(len(lines))
    reach = (sizes[:, None] + sizes) / 2 + 1.5  # (lines, lines, 2)
    for _ in range(12):
        before = chosen.copy()
        for i in everyone:
            others = everyone != i
            hidden = ((np.abs(xs[i][:, None] - xs[everyone, chosen]) < reach[i, :, 0])
                      & (np.abs(ys[i][:, None] - ys[everyone, chosen]) < reach[i, :, 1])
                      )[:, others].sum(axis=1)
            chosen[i] = (preferred[i] + 100 * hidden).argmin()
        if (chosen == before).all():
            break
    x, y = xs[everyone, chosen], ys[everyone, chosen]
    hidden = ((np.abs(x[:, None] - x) < reach[:, :, 0])
              & (np.abs(y[:, None] - y) < reach[:, :, 1])).sum() - len(lines)
    return hidden // 2, crossed[everyone, chosen].sum(), np.stack([x, y], axis=1)


class _Drawing:
    """Draws a layout."""

    def __init__(self, axis, layout):
        self._axis, self._layout = axis, layout

    def draw(self):
        """Draw everything, from the back to the front."""
        layout = self._layout
        self._headings()
        for position, errors in layout.cells:
            self._box(*layout.cell_box(position, errors), 9, fc=_CELL, ec='none', zorder=0)
        for edge, line in zip(layout.edges, layout.lines, strict=True):
            self._arrow(*line, edge.is_error)
        for edge, label, (x, y) in zip(layout.edges, layout.labels, layout.label_centres,
                                       strict=True):
            self._text(x, y, label, _LABEL, color=_ERROR if edge.is_error else _MATCH, zorder=4,
                       bbox={'boxstyle': 'square,pad=0.12', 'fc': 'white', 'ec': 'none'})
        for state, (x, y) in layout.centres.items():
            self._node(x, y, layout.node_width, state.position == layout.accepting)
            self._text(x, y - 5.5, layout.names[state], _NAME, color=_INK, weight='bold')
            self._text(x, y + 7, layout.counts[state], _COUNT, color=_GREY)
        self._start()
        self._legend()

    def _headings(self):
        layout = self._layout
        y = layout.top + _MARGIN + 0.6 * _TITLE
        for line in layout.title:
            self._text(_MARGIN, y, line, _TITLE, color=_INK, ha='left', weight='bold')
            y += 1.4 * _TITLE
        for position, x in enumerate(layout.columns):
            self._text(x, -27, f'position {position}', _HEADING, color=_GREY)
            if position:
                self._text(x, -13, layout.headings[position - 1], _HEADING, color=_MATCH)
        for errors, y in enumerate(layout.rows):
            self._text(_MARGIN, y, f'{errors} error{"s" * (errors != 1)}', _HEADING, color=_GREY,
                       ha='left')

    def _start(self):
        layout = self._layout
        (x, y), *_ = layout.centres.values()
        end = x - layout.node_width / 2
        self._arrow(end - 30, y, end, y, None)
        self._text(end - 32, y - 9, 'start', _COUNT, color=_INK, ha='left')

    def _legend(self):
        for key, x, y in self._layout.legend:
            width, text = _LEGEND[key]
            if key == 'V':
                self._text(x + width / 2, y, 'V', _LABEL, color=_GREY)
            elif key == 'accepting':
                self._node(x + width / 2, y, width, True, height=14)
            else:
                self._arrow(x, y, x + width, y, key == 'error')
            self._text(x + width + 6, y, text, _LABEL, color=_INK, ha='left')

    def _node(self, x, y, width, accepting, height=_HEIGHT):
        for inset in (0, 2.6)[:1 + accepting]:
            self._box(x - width / 2 + inset, y - height / 2 + inset, width - 2 * inset,
                      height - 2 * inset, height / 2 - inset, fc='white', ec=_INK, lw=1.0,
                      zorder=3)

    def _arrow(self, x0, y0, x1, y1, is_error):
        colour = {None: _INK, False: _MATCH, True: _ERROR}[is_error]
        length = hypot(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) / length * _HEAD, (y1 - y0) / length * _HEAD
        self._axis.plot([x0, x1 - dx], [y0, y1 - dy], color=colour, lw=1.1, zorder=2,
                        linestyle=(0, (4, 2.2)) if is_error else 'solid')
        self._axis.fill([x1, x1 - dx + 0.36 * dy, x1 - dx - 0.36 * dy],
                        [y1, y1 - dy - 0.36 * dx, y1 - dy + 0.36 * dx], fc=colour, ec='none',
                        zorder=2.5)

    def _box(self, x, y, width, height, radius, **style):
        from matplotlib.patches import FancyBboxPatch

        self._axis.add_patch(FancyBboxPatch(
            (x, y), width, height, boxstyle=f'round,pad=0,rounding_size={radius}', **style))

    def _text(self, x, y, text, size, ha='center', zorder=5, **style):
        # Labels are no mathematics: `$` is a dollar.
        self._axis.text(x, y, text, ha=ha, va='center', fontsize=size, zorder=zorder,
                        parse_math=False, **style)


def chance_text(chance: Fraction) -> str:
    """Return a probability as a fraction where it is short, else rounded."""
    if chance.denominator < 1000:
        return str(chance)
    return f'≈{Decimal(chance.numerator) / Decimal(chance.denominator):.3g}'


def count_text(count: int) -> str:
    """Return a count, rounded where it is long."""
    return str(count) if count < 10**12 else f'≈{Decimal(count):.3e}'


def words_text(count: int) -> str:
    """Return how many words there are, in words."""
    return f'{count_text(count)} feasible word{"s" * (count != 1)}'


def label_text(symbol: str | None) -> str:
    """Return a label without what cannot be drawn on one line; None is an absent symbol."""
    if symbol is None:
        return '–'
    return ''.join(c if c.isprintable() else '\N{REPLACEMENT CHARACTER}' for c in symbol)


def _width(text, size, weight='normal'):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    return TextToPath().get_text_width_height_descent(
        text, FontProperties(size=size, weight=weight), ismath=False)[0]
