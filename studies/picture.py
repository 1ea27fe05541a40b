# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.picture DIR` (`make picture`): the pictures of routes, for docs/.

moving.svg, which the README begins with: 20 minutes in the sample clinic, true and private.
hour.svg, where the folder shared/data is next to the repository: an hour on the warehouse map.
"""
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import NamedTuple

from studies import zones
from studies.common import command, DATA
from studies.compare.areas import area, moves_alone
from studies.gains import WAREHOUSE
from studies.zones import clinic, PROTECT, STAY
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.figures.routes import draw_routes
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, Reports

SECONDS, EPSILON = 1_200, 3.0
# A walk that enters both wards, which is seen wrong for 35 % of the time: what `symdp calibrate`
# expects of these settings (docs/zones.md).
_WALK = 1
_ON_THE_WAY = 12.0  # seconds of the robot's time from one place to the next
_PER_METRE = 7.2    # units of the picture
_LEFT, _RIGHT, _TOP = 196.0, 564.0, 102.0  # where (0, 0) of the map is in both panels

_STYLE = """\
text{font:15px system-ui,sans-serif;fill:#1f2933}
.small{font-size:13px;fill:#52606d}
.paper{fill:#fff;stroke:#cfd6df}
.room{fill:#f1f4f8;stroke:#9aa8b8}
.same{fill:#1b6ca8}.other{fill:#d9661f}.now{fill:#1f2933}
.hit{animation:24s step-end infinite;opacity:0}
.go{animation:24s linear infinite}
@media(prefers-color-scheme:dark){
text,.now{fill:#e6edf3}.small{fill:#9fb0c3}
.paper{fill:#0d1117;stroke:#3a4556}.room{fill:#1c2430;stroke:#526179}
.same{fill:#4d9fdf}.other{fill:#ff9d4d}}
@media(prefers-reduced-motion:reduce){.hit,.go{animation-play-state:paused;animation-delay:-15s}}
"""


class Stay(NamedTuple):
    """Where a robot is seen from a second to another, and whether it is there."""

    state: str
    begin: int
    end: int
    right: bool


def routes() -> tuple[list[str], list[str]]:
    """Return the true and the private region of each second."""
    single = Reports(1.0, stay=STAY).chain(clinic()[0])
    true = patrols(single, SECONDS, _WALK + 1)[_WALK]
    private = zones.private(single, true, EPSILON)[:SECONDS]
    return true[:len(private)], private


def moving(true: Sequence[str], private: Sequence[str]) -> str:
    """Return the SVG: a dot that moves through the true map, and one through the private."""
    graph = clinic()[0]
    wrong = sum(a != b for a, b in zip(true, private, strict=True)) / len(true)
    style, shapes = [_STYLE], []
    for word, origin, panel in (true, _LEFT, 't'), (private, _RIGHT, 'p'):
        shapes += [_polygon(graph, state, origin, 'room') for state in graph.successors]
        stays = _stays(word, true)
        for state, right in sorted({(stay.state, stay.right) for stay in stays}):
            name = f'{panel}{len(style)}'
            style.append(_shown(name, [stay for stay in stays
                                       if (stay.state, stay.right) == (state, right)], len(true)))
            shapes.append(_polygon(graph, state, origin, 'hit ' + _kind(right), name))
        style.append(_way(panel, graph, stays, origin))
        shapes.append(f'<circle class="go now" r="5" style="animation-name:{panel}"/>')
    line = [f'<rect class="{_kind(stay.right)}" x="{_at(stay.begin):.1f}" y="168" height="12" '
            f'width="{_at(stay.end) - _at(stay.begin):.1f}"/>' for stay in _stays(private, true)]
    style.append(f'@keyframes n{{to{{transform:translateX({_at(len(true)) - _at(0):.0f}px)}}}}')
    return '\n'.join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 218" role="img">',
        '<title>20 minutes of a robot in a clinic: where it was, and what others saw</title>',
        '<style>' + ''.join(style) + '</style>',
        '<rect class="paper" x=".5" y=".5" width="759" height="217" rx="8"/>',
        '<text x="16" y="26">where it was</text>',
        f'<text x="384" y="26">what others saw: ε = {EPSILON:g}, any {PROTECT:g} s hidden</text>',
        *shapes,
        *(f'<text class="small" x="{origin + x:.0f}" y="{y}" text-anchor="middle">{zone}</text>'
          for origin in (_LEFT, _RIGHT)
          for x, y, zone in ((-108, 150, 'west ward'), (0, 150, 'hall'), (108, 150, 'east ward'))),
        *line,
        f'<rect class="go now" x="{_at(0) - 1:.0f}" y="163" width="2" height="22" '
        'style="animation-name:n"/>',
        f'<text class="small" x="{_at(0):.0f}" y="204">{len(true) / 60:.0f} minutes</text>',
        f'<text class="small" x="{_at(len(true)):.0f}" y="204" text-anchor="end">'
        '<tspan class="same">■</tspan> seen where it was '
        f'<tspan class="other">■</tspan> seen elsewhere: {100 * wrong:.0f} % of the time</text>',
        '</svg>', ''])


def draw_hour(file: Path) -> None:
    """Draw an hour of a robot on the warehouse map: where it was, and what others saw."""
    graph = area(WAREHOUSE).graph
    plain = moves_alone(graph)
    true = patrols(Reports(1.0, stay=60.0).chain(plain), 3_600, 1)[0]
    chain = Reports(31.0, moves=2, stay=60.0).chain(plain)
    private = OnlineMechanism(chain, Privacy(5.0, adjacency_of(30.0, 31.0)), policy='adaptive',
                              random=Random(1)).privatize(true[30::31])
    draw_routes(graph, {'where it was, for an hour': true,
                        'what others saw: protect 30 s, ε = 5': private}, file)


def main(directory: Path) -> None:
    """Write the pictures into a directory."""
    (directory / 'moving.svg').write_text(moving(*routes()), encoding='utf-8')
    if DATA.is_dir():
        draw_hour(directory / 'hour.svg')


def _stays(word: Sequence[str], true: Sequence[str]) -> list[Stay]:
    found, begin = [], 0
    for (state, right), group in groupby(zip(word, map(str.__eq__, word, true), strict=True)):
        end = begin + len(list(group))
        found.append(Stay(state, begin, end, right))
        begin = end
    return found


def _kind(right: bool) -> str:
    return 'same' if right else 'other'


def _at(second: float) -> float:
    """Return where a second is on the line below the maps."""
    return 16 + 728 * second / SECONDS


def _point(x: float, y: float, origin: float) -> tuple[float, float]:
    return origin + _PER_METRE * x, _TOP - _PER_METRE * y


def _polygon(graph: TransitionGraph, state: str, origin: float, kind: str, name: str = '') -> str:
    points = ' '.join('{:.1f},{:.1f}'.format(*_point(x, y, origin))
                      for x, y in graph.polygons[state] or ())
    animated = f' style="animation-name:{name}"' if name else ''
    return f'<polygon class="{kind}" points="{points}"{animated}/>'


def _shown(name: str, stays: Sequence[Stay], seconds: int) -> str:
    """Return the keyframes of a shape that is seen during stays alone."""
    frames = {f'{100 * second / seconds:.2f}%': shown
              for stay in stays for second, shown in ((stay.begin, 0.55), (stay.end, 0))}
    frames = {'0%': frames.pop('0.00%', 0), **frames}
    return f'@keyframes {name}{{' + ''.join(
        f'{at}{{opacity:{shown:g}}}' for at, shown in frames.items()) + '}'


def _way(name: str, graph: TransitionGraph, stays: Sequence[Stay], origin: float) -> str:
    """Return the keyframes of a dot that goes to each place as it is reached."""
    frames, seconds, before = [], stays[-1].end, stays[0].state
    for stay in stays:
        arrived = min(stay.begin + _ON_THE_WAY, (stay.begin + stay.end) / 2) if stay.begin else 0
        for second, state in ((stay.begin, before), (arrived, stay.state)):
            x, y = _point(*graph.positions[state], origin)
            frames.append(f'{100 * second / seconds:.2f}%'
                          f'{{transform:translate({x:.1f}px,{y:.1f}px)}}')
        before = stay.state
    frames.append(f'to{{transform:translate({x:.1f}px,{y:.1f}px)}}')
    return f'@keyframes {name}{{' + ''.join(dict.fromkeys(frames)) + '}'


if __name__ == '__main__':
    command('picture', main)
