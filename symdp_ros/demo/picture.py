# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A map in a terminal, with where a robot is and where others see it."""
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from symdp_ros.errors import printable
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.layout import drawn_places
from symdp_ros.maps.positions import Position

_TRUE, _PRIVATE, _BOTH = 'bold white on blue', 'bold black on yellow', 'bold white on magenta'
_LEGEND = ((' T ', _TRUE, ' the robot, which only itself knows   '),
           (' P ', _PRIVATE, ' where others see it   '), (' B ', _BOTH, ' both'))
_NAME = 12         # characters of a name, at most
_MOST_MOVES = 400  # more would cover the map
_BESIDE = 11       # lines of the terminal for what stands above and below the map
_LINES = 8, 30     # of the map: at least, at most


class Picture:
    """Places as dots with names, at their positions; without positions, in columns."""

    def __init__(self, graph: TransitionGraph, console: Console):
        self._console = console
        self._names = {state: _short(state) for state in graph.successors}
        self._places: dict[str, Position] | None = None
        self._moves: list[tuple[str, str]] = []
        if all(state in graph.positions for state in graph.successors):
            self._places = drawn_places(graph)[0]
            if not graph.complete:
                self._moves = [*{(min(a, b), max(a, b)) for a, row in graph.successors.items()
                                 for b in row if a != b}]
        if len(self._moves) > _MOST_MOVES:
            self._moves = []

    def draw(self, true: str | None, private: str | None) -> Text:
        """Return the map with both robots, if any, and below it what the letters are."""
        width, height = self._size()
        at, height = self._laid_out(width, height, [s for s in (true, private) if s])
        cells = [[(' ', '')] * width for _ in range(height)]
        for a, b in self._moves:
            for column, row, sign in _line(at[a], at[b]):
                cells[row][column] = sign, 'bright_black'
        taken = {*at.values()}
        for column, row in at.values():
            cells[row][column] = '•', ''
        marks = {true: ('T', _TRUE), private: ('P', _PRIVATE)}
        if true == private:
            marks = {true: ('B', _BOTH)}
        for state in dict.fromkeys([*marks, *at]):  # the names of these before others
            if state not in at:
                continue
            (column, row), name = at[state], self._names[state]
            letter, style = marks.get(state, ('', ''))
            if letter:
                cells[row][column] = letter, style
            long = cell_len(name) + 1
            for start in (column + 1, column - long):
                spots = {(x, row) for x in range(start - 1, start + long + 1)} - {(column, row)}
                if start < 0 or start + long > width or spots & taken:
                    continue
                taken |= {(x, row) for x in range(start, start + long)}
                shown = f' {name}' if start > column else f'{name} '
                for sign in shown:
                    cells[row][start] = sign, style
                    start += 1
                    for _ in range(cell_len(sign) - 1):
                        cells[row][start] = '', style
                        start += 1
                break
        text = Text(no_wrap=True, overflow='crop')
        for line in cells:
            for sign, style in line:
                text.append(sign, style)
            text.append('\n')
        for letter, style, meaning in _LEGEND if true or private else ():
            text.append(letter, style).append(meaning)
        return text

    def fits(self) -> bool:
        """Return whether places have positions, and no two fall on one spot."""
        at, _ = self._laid_out(*self._size(), [])
        return self._places is not None and len({*at.values()}) == len(at)

    def _size(self) -> tuple[int, int]:
        return max(20, self._console.width - 1), min(
            max(_LINES[0], self._console.height - _BESIDE), _LINES[1])

    def _laid_out(self, width: int, height: int, needed: list[str]
                  ) -> tuple[dict[str, tuple[int, int]], int]:
        """Return the column and the row of each place, and how many rows there are."""
        longest = max(map(cell_len, self._names.values())) + 1
        if self._places is None:
            columns = max(1, width // (longest + 3))
            shown = [*dict.fromkeys([*list(self._names)[:columns * height], *needed])]
            shown = shown[-columns * height:] if len(shown) > columns * height else shown
            return ({state: (i % columns * (longest + 3), i // columns)
                     for i, state in enumerate(shown)}, -(-len(shown) // columns))
        xs, ys = ([place[i] for place in self._places.values()] for i in (0, 1))
        across = (width - 1 - longest) / max(max(xs) - min(xs), 1e-9)
        down = min((height - 1) / max(max(ys) - min(ys), 1e-9), across)
        return ({state: (round((x - min(xs)) * across), round((max(ys) - y) * down))
                 for state, (x, y) in self._places.items()},
                round((max(ys) - min(ys)) * down) + 1)


def _short(state: str) -> str:
    name = printable(state)
    return name if len(name) <= _NAME else f'{name[:_NAME - 1]}…'


def _line(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int, str]]:
    """Yield the cells between two cells, with what to draw there."""
    across, down = end[0] - start[0], end[1] - start[1]
    sign = '─' if not down else '│' if not across else '·'
    steps = max(abs(across), abs(down))
    for i in range(1, steps):
        yield round(start[0] + across * i / steps), round(start[1] + down * i / steps), sign
