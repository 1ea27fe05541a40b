# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Graphs of the multi-robot patrolling benchmark patrolling_sim (`.graph`).

Words and numbers with white space between them: the number of vertices, width, height (pixels) and
resolution (metres per pixel) of the image, and, in newer files, the offset of its corner (x and y,
metres); then for each vertex its id (0, 1, …), x, y (pixels, y upwards), in 3dpatrolling also z,
and the degree, and for each edge the neighbour, the compass direction and the cost. Edges are read
as they are listed, one way. Heights are not kept. States are the ids as strings. A graph names no
initial state.
"""
from __future__ import annotations

from math import isfinite

from symdp_ros.errors import ChainError
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import merged, TransitionGraph

_DIRECTIONS = ('N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW')


def patrolling_graph(text: str, source: str) -> TransitionGraph:
    """
    Return the graph of a patrolling_sim file; edges that are listed twice are merged and counted.

    The forms have no mark, and need none: a file that fits one, to the last token, never fits
    another. With N vertices and E letters for directions, it has 4 + c + (4 + z) N + 3 E tokens
    (c = 2 with a corner, z = 1 with heights). Two forms have as many only for N = 2, c = 2 and
    z = 0, or c = 0 and z = 1, and where the one has its first letter, the other has a number.

    :raises ChainError: with file and line, where a token is missing, left over, or not what it
        should be.
    """
    tokens = [(token, number) for number, line in enumerate(text.split('\n'), 1)
              for token in line.split()]
    if not tokens:
        raise ChainError('the file is empty', path=source)
    failures = []
    for offsets, heights in ((2, False), (0, False), (2, True), (0, True)):
        reader = _Tokens(tokens, source)
        try:
            return _graph(reader, source, offsets, heights)
        except ChainError as error:
            failures.append((reader.used, error))
    # The form that got further is the one that was meant.
    raise max(failures, key=lambda failure: failure[0])[1] from None


def _graph(reader: _Tokens, source: str, offsets: int, heights: bool) -> TransitionGraph:
    size = reader.integer('the number of vertices', 1)
    for what in ('the width of the image', 'the height of the image', 'the resolution'):
        resolution = reader.number(what, positive=True)
    corner = [reader.number('the offset') for _ in range(offsets)] or [0.0, 0.0]
    positions, lines, moves = {}, {}, []
    for vertex in range(size):
        state = str(vertex)
        if reader.integer(f'the id of vertex {vertex}') != vertex:
            raise reader.error(f'the id of vertex {vertex} must be {vertex}')
        lines[state] = reader.line
        x, y = (reader.number(f'{axis} of vertex {vertex}') for axis in 'xy')
        if heights:
            reader.number(f'z of vertex {vertex}')
        positions[state] = (x * resolution + corner[0], y * resolution + corner[1])
        for _ in range(reader.integer(f'the degree of vertex {vertex}')):
            neighbour = reader.integer(f'a neighbour of vertex {vertex}')
            if neighbour >= size:
                raise reader.error(f'vertex {vertex} has the neighbour {neighbour}, but the file '
                                   f'has the vertices 0 to {size - 1}')
            moves.append((state, str(neighbour)))
            if reader.token('a direction') not in _DIRECTIONS:
                raise reader.error(f'an edge of vertex {vertex} has no direction: it must be one '
                                   'of ' + ', '.join(_DIRECTIONS))
            reader.number(f'the cost of an edge of vertex {vertex}')
    reader.end(size)
    successors, repeated = merged(positions, moves)
    return TransitionGraph(successors, None, source, positions, lines, repeated=repeated, about=(
        'patrolling_sim graph', 'metres' + (', heights left out' if heights else '')))


def _is_patrolling_graph(text: str) -> bool:
    head = text[:1000].split(None, 4)[:4]
    try:
        return len(head) == 4 and all(isfinite(float(token)) for token in head)
    except ValueError:
        return False


class _Tokens:
    """The tokens of a file one by one; `line` is that of the last one."""

    def __init__(self, tokens: list[tuple[str, int]], path: str):
        self._tokens, self._path = tokens, path
        self.used, self.line = 0, 1

    def error(self, text: str) -> ChainError:
        return ChainError(text, path=self._path, line=self.line)

    def token(self, what: str) -> str:
        if self.used == len(self._tokens):
            raise self.error(f'the file ends where {what} should be: it is cut off')
        token, self.line = self._tokens[self.used]
        self.used += 1
        return token

    def integer(self, what: str, least: int = 0) -> int:
        token = self.token(what)
        digits = token.isascii() and token.isdigit() and len(token) <= 18
        if not (digits and int(token) >= least):
            raise self.error(f'{what} is {token[:40]!r}: it must be a whole number of at least '
                             f'{least}')
        return int(token)

    def number(self, what: str, positive: bool = False) -> float:
        token = self.token(what)
        try:
            value = float(token)
        except ValueError:
            value = float('nan')
        if not (isfinite(value) and (value > 0 or not positive)):
            raise self.error(f'{what} is {token[:40]!r}: it must be a number'
                             + (' above 0' if positive else ''))
        return value

    def end(self, size: int) -> None:
        if self.used < len(self._tokens):
            raise self.error(f'{self.token("")!r} follows after the last of {size} vertices: the '
                             'number of vertices, or a degree, is too small')


FORMAT = MapFormat('a patrolling_sim graph', 'four numbers at its beginning', patrolling_graph,
                   _is_patrolling_graph, 'text', ('.graph',))
