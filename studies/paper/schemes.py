# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What the paper's Figures 1 to 4 show: adjacency, an automaton, its product, an online policy.

Of Figure 3's chain the text of the paper names C(s0) and C(s1) only; the others are ours.
"""
from collections import defaultdict
from fractions import Fraction
import subprocess

from matplotlib.patches import Circle, FancyArrowPatch, Rectangle
import numpy as np
from studies.drawing import new_figure, save
from symdp_ros.analysis.alternatives import differences, is_adjacent
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.figures.automaton import dot_lines

SIDE = 5
#: Three ways from (1,1) to (5,5); word k is the cells of Path k.
PATHS = {
    1: ('1,1', '2,1', '2,2', '3,2', '3,3', '4,3', '4,4', '5,4', '5,5'),
    2: ('1,1', '2,1', '2,2', '2,3', '3,3', '3,4', '4,4', '5,4', '5,5'),
    3: ('1,1', '1,2', '1,3', '1,4', '1,5', '2,5', '3,5', '4,5', '5,5'),
}
K = 3  # of Figure 1
ALPHABET = Chain.complete(list('abc'), 'a')
CHAIN = Chain({'s0': ['s1', 's2', 's3'], 's1': ['s1', 's2'], 's2': ['s2', 's3'],
               's3': ['s0', 's1', 's3']}, 's0')
WORD = ('s1', 's2', 's3')
DISTANCE = 2

_MATCH, _ERROR, _INK, _GREY = '#1b6ca8', '#d1495b', '#20262e', '#707987'
_COLOURS = ('#1b6ca8', '#e07b1a', '#2a9d54')
_SQUARE = {'s0': (0, 1), 's1': (1.5, 1), 's2': (1.5, 0), 's3': (0, 0)}


def draw_all(folder) -> None:
    """Draw grid.svg, automaton.svg, chain.svg, product.svg and online.svg."""
    draw_grid(folder / 'grid.svg')
    draw_alphabet_automaton(folder / 'automaton.svg')
    draw_chain(folder / 'chain.svg')
    draw_product(folder / 'product.svg')
    draw_policy(folder / 'online.svg')


def draw_product(path) -> None:
    """Draw the automaton times a chain by Graphviz, whose program `dot` must be installed."""
    lines = dot_lines(HammingAutomaton(CHAIN, WORD, DISTANCE), WORD)
    subprocess.run(['dot', '-Tsvg', '-o', path], input='\n'.join(lines), text=True, check=True)


def draw_grid(path) -> None:
    """Draw the paths through the grid, and which of them are adjacent."""
    figure, axis = _canvas(7.6, 4.2)
    for x in range(SIDE):
        for y in range(SIDE):
            axis.add_patch(Rectangle((x, y), 1, 1, fc='white', ec='#c9ced6', lw=1))
            axis.text(x + 0.08, y + 0.08, f'{x + 1},{y + 1}', fontsize=7, color=_GREY)
    for (number, word), colour in zip(PATHS.items(), _COLOURS, strict=True):
        cells = np.array([[int(part) for part in cell.split(',')] for cell in word])
        places = cells - 0.5 + 0.13 * (number - 2)
        axis.plot(*places.T, color=colour, lw=2.6, solid_joinstyle='round', zorder=2)
        axis.plot(*places.T, 'o', color=colour, ms=4.5, zorder=3)
        axis.text(SIDE + 0.5, 4.6 - 0.5 * number, f'Path {number}', color=colour, fontsize=11,
                  weight='bold')
    for i, (one, other) in enumerate(((1, 2), (1, 3), (2, 3))):
        d = differences(PATHS[one], PATHS[other])
        adjacent = 'adjacent' if is_adjacent(PATHS[one], PATHS[other], K) else 'not adjacent'
        axis.text(SIDE + 0.5, 2.1 - 0.5 * i, f'd(Path {one}, Path {other}) = {d}: {adjacent}',
                  fontsize=10, color=_INK)
    axis.text(SIDE + 0.5, 0.3, f'(k = {K})', fontsize=10, color=_GREY)
    axis.set(xlim=(-0.1, 9.4), ylim=(-0.1, 5.1))
    save(figure, path)


def merged_automaton(automaton):
    """
    Return the automaton of an alphabet, one state for each (position, errors).

    :return: V of each (position, errors), and of each move ((position, errors), errors after) its
        symbols, each with its probability.
    """
    counts, moves = {}, defaultdict(dict)
    for position, errors, state in automaton.states():
        counts[position, errors] = automaton.count(position, errors, state)
    for edge in automaton.edges():
        source = edge.source.position, edge.source.errors
        moves[source, edge.target.errors][edge.target.state] = edge.probability
    return counts, dict(moves)


def draw_alphabet_automaton(path) -> None:
    """Draw the automaton of the word abc and distance 2, a row for each count of errors."""
    counts, moves = merged_automaton(HammingAutomaton(ALPHABET, list('abc'), DISTANCE))
    figure, axis = _canvas(8.6, 5.0)
    place = {state: (2.6 * state[0], -1.35 * state[1]) for state in counts}
    for (source, errors), symbols in moves.items():
        target = source[0] + 1, errors
        colour = _ERROR if errors > source[1] else _MATCH
        _arrow(axis, place[source], place[target], colour)
        text = '\n'.join(f'{symbol}: {chance}' for symbol, chance in symbols.items())
        x, y = (0.58 * np.array(place[source]) + 0.42 * np.array(place[target]))
        _label(axis, x, y, text, colour)
    for state, (x, y) in place.items():
        _node(axis, x, y, f'$q_{{{state[0]},{state[1]}}}$', accepting=state == (3, DISTANCE))
        axis.text(x + 0.1, y + 0.42, f'V = {counts[state]}', fontsize=9.5, color=_GREY,
                  ha='center')
    for errors in range(DISTANCE + 1):
        axis.text(-1.9, -1.35 * errors, f'{errors} error{"s" * (errors != 1)}', fontsize=9.5,
                  color=_GREY, va='center')
    axis.set(xlim=(-2, 8.3), ylim=(-3.2, 0.7))
    save(figure, path)


def draw_chain(path) -> None:
    """Draw the chain of Figure 3."""
    figure, axis = _canvas(4.0, 3.0)
    _draw_moves(axis, {(s, o): ('', _INK) for s in CHAIN.states for o in CHAIN.successors(s)})
    save(figure, path)


def response(symbol, previous) -> dict[str, str]:
    """Return μ(· | symbol, previous) of Algorithm 4, in words of τ."""
    states = CHAIN.successors(previous)
    if symbol not in states:
        return dict.fromkeys(states, str(Fraction(1, len(states))))
    others = '1−τ' if len(states) == 2 else f'(1−τ)/{len(states) - 1}'
    return {state: 'τ' if state == symbol else others for state in states}


def draw_policy(path) -> None:
    """Draw μ for the sensitive symbol s1: feasible from s0, and not from s2."""
    figure = new_figure(9.0, 3.6)
    for axis, previous, beta in zip(figure.subplots(1, 2), ('s0', 's2'), (1, 0), strict=True):
        _prepare(axis)
        moves = {(previous, state): (text, _MATCH if text == 'τ' else _ERROR)
                 for state, text in response('s1', previous).items()}
        if not beta:
            moves[previous, 's1'] = ('0', _GREY)
        _draw_moves(axis, moves, start=previous)
        axis.set_title(f'β(s1, {previous}) = {beta}: true symbol s1, after the output {previous}',
                       fontsize=10.5, color=_INK)
    save(figure, path)


def _draw_moves(axis, moves, start='s0'):
    """Draw the four states, and moves (from, to) with their text and colour."""
    for (source, target), (text, colour) in moves.items():
        (x, y), (to_x, to_y) = _SQUARE[source], _SQUARE[target]
        style = '--' if colour == _GREY else '-'
        if source == target:
            side = 1 if x else -1
            axis.add_patch(FancyArrowPatch(
                (x + 0.17 * side, y + 0.1), (x + 0.17 * side, y - 0.1), arrowstyle='-|>',
                connectionstyle=f'arc3,rad={-2.4 * side}', mutation_scale=12, color=colour, lw=1.4,
                shrinkA=0, shrinkB=0))
            x, y = x + 0.55 * side, y
        else:
            both = (target, source) in moves
            _arrow(axis, (x, y), (to_x, to_y), colour, 0.18, 0.12 if both else 0, style)
            x, y = (x + to_x) / 2, (y + to_y) / 2
        if text:
            _label(axis, x, y, text, colour)
    for state, (x, y) in _SQUARE.items():
        _node(axis, x, y, f'$s^{state[1]}$', 0.18, colour='#f7d98b' if state == start else 'white')
    axis.set(xlim=(-0.85, 2.35), ylim=(-0.45, 1.45))


def _canvas(width, height):
    figure = new_figure(width, height)
    axis = figure.subplots()
    _prepare(axis)
    return figure, axis


def _prepare(axis):
    axis.set_aspect('equal')
    axis.axis('off')


def _node(axis, x, y, text, radius=0.3, accepting=False, colour='white'):
    axis.add_patch(Circle((x, y), radius, fc=colour, ec=_INK, lw=1.2, zorder=4))
    if accepting:
        axis.add_patch(Circle((x, y), 0.82 * radius, fc='none', ec=_INK, lw=1, zorder=5))
    axis.text(x, y, text, ha='center', va='center', fontsize=11, color=_INK, zorder=6)


def _arrow(axis, start, end, colour, radius=0.3, bend=0.0, style='-'):
    """Draw an arrow from the rim of one node to that of another."""
    start, end = np.array(start, float), np.array(end, float)
    along = (end - start) / np.hypot(*(end - start))
    axis.add_patch(FancyArrowPatch(
        start + radius * along, end - radius * along, arrowstyle='-|>', mutation_scale=12,
        color=colour, lw=1.4, ls=style, shrinkA=0, shrinkB=0,
        connectionstyle=f'arc3,rad={bend}'))


def _label(axis, x, y, text, colour):
    axis.text(x, y, text, fontsize=9.5, color=colour, ha='center', va='center', zorder=3,
              bbox={'boxstyle': 'square,pad=0.12', 'fc': 'white', 'ec': 'none'})
