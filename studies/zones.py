# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Makes docs/zones.md: `python -m studies.zones FILE.md` (`make zones`).

What zones gain at equal ε on the sample clinic, and the picture of an hour.
"""
from pathlib import Path
from random import Random

from studies import common
from studies.compare.areas import moves_alone
from studies.drawing import new_figure, save
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.visits import Row, VisitCalibration
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, Reports
from symdp_ros.maps.zones import read_zones, States

CLINIC = common.CONFIG / 'clinic.regions.yaml'
PROTECT, STAY, EPSILONS = 30.0, 60.0, (0.0, 1.0, 2.0, 3.0)
PERIOD = 31  # seconds from a signal to the next
_HOUR, _DRAWN_AT = 3_600, 1.0
_COLOURS = '#1b6ca8', '#d1495b', '#1f7a42'
_TINTS = '#eef3f8', '#fbf0dd', '#e9f4ea'


def clinic() -> tuple[TransitionGraph, States]:
    """Return the map, in which a robot can stay everywhere, and its zones."""
    graph = read_graph(CLINIC, self_loops=True)
    return graph, read_zones(graph, CLINIC)


def rows(zones: States | None) -> dict[float, Row]:
    """Return the best live row of `symdp calibrate --protect` for each ε."""
    visits = VisitCalibration(clinic()[0], protect=PROTECT, stay=STAY, zones=zones)
    best = {epsilon: min((visits.row(period, epsilon, guess=False) for period in visits.periods),
                         key=lambda row: row.live.wrong) for epsilon in EPSILONS}
    return {epsilon: visits.row(row.period, epsilon) for epsilon, row in best.items()}


def table() -> str:
    """Return the table in Markdown."""
    zones = clinic()[1]
    found = rows(None), rows(zones)
    head = ('ε', *(f'{what}, {where}' for what in (
        'wrong', 'metres off', 'an adversary is right') for where in ('no zones', 'zones')))
    lines = []
    for epsilon in EPSILONS:
        each = [by_epsilon[epsilon] for by_epsilon in found]
        lines.append((f'{epsilon:g}', *(
            f'{row.live.wrong:.2f} ± {row.live.standard_error:.2f}' for row in each),
                      *(f'{row.live.metres_off:.1f}' for row in each),
                      *(f'{row.guess.after:.2f} ± {row.guess.standard_error:.2f}'
                        if row.guess else '' for row in each)))
    return common.table(head, lines)


def draw(file: Path) -> None:
    """Draw an hour: where the robot was, and what others saw without zones and with them."""
    graph, zones = clinic()
    single = Reports(1.0, stay=STAY).chain(moves_alone(graph))
    true = patrols(single, _HOUR, 1)[0]
    height = {state: i for i, state in enumerate(s for states in zones.values() for s in states)}
    figure = new_figure(9, 6.6)
    panels = {'where it was': true, **{
        f'what others saw, {how} zones: ε = {_DRAWN_AT:g}': private(
            single, true, _DRAWN_AT, told) for how, told in (('without', None), ('with', zones))}}
    axes = figure.subplots(len(panels), 1, sharex=True)
    for axis, (title, word), colour in zip(axes, panels.items(), _COLOURS, strict=True):
        first = 0
        for zone, tint in zip(zones, _TINTS, strict=True):
            last = first + len(zones[zone])
            axis.axhspan(first - 0.5, last - 0.5, color=tint, lw=0)
            axis.text(60.4, (first + last - 1) / 2, zone.replace('_', ' '), va='center', size=9)
            first = last
        minutes = [t / 60 for t in range(_HOUR)]
        if word is not true:
            axis.step(minutes, [height[s] for s in true], color=_COLOURS[0], lw=0.8, alpha=0.45)
        axis.step(minutes[:len(word)], [height[s] for s in word], color=colour, lw=1.4)
        axis.set_title(title, fontsize=10, color=colour, loc='left')
        axis.set(xlim=(0, 60), ylim=(len(height) - 0.5, -0.5), yticks=[])
        axis.set_ylabel('places', size=9)
    axes[-1].set_xlabel('minutes')
    save(figure, file)


def protected(chain: Chain, epsilon: float, zones: States | None = None) -> OnlineMechanism:
    """Return the mechanism that hides any visit of PROTECT seconds, from public draws."""
    privacy = Privacy(epsilon, adjacency_of(PROTECT, float(PERIOD)), zones)
    return OnlineMechanism(chain, privacy, policy='adaptive', reports=PERIOD, random=Random(1))


def private(chain: Chain, true: list[str], epsilon: float,
            zones: States | None = None) -> list[str]:
    """Return what others see in each second of a walk."""
    mechanism = protected(chain, epsilon, zones)
    return mechanism.privatize(true[::mechanism.stride])


def main(file: Path) -> None:
    """Write the page, and beside it the picture."""
    draw(file.with_suffix('.svg'))
    file.write_text(common.filled(__file__, globals()), encoding='utf-8')


if __name__ == '__main__':
    common.command('zones', main)
