# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What zones hide, and what they do not: a table for `symdp check` and `symdp calibrate`."""
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symdp_ros.analysis.accuracy import robots
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.errors import printable
from symdp_ros.maps.dead_ends import some_states
from symdp_ros.maps.zones import doors, zones_sentences

if TYPE_CHECKING:
    from symdp_ros.analysis.adversary import Guess

_LENGTH, _VISITS, _WALKS = 50, 6, 20
_EXPLAINED = """\
doors: places by which the zone is entered or left. known there: the only door
to some other zone, so that who passes is known to be there
guessed: how often others are right about the place while the robot is in the
zone, who know the map and how it moves: from the zones alone → with the private
regions too; of the robot that is hidden most, and of the one hidden least"""


def guessed_in_zones(chain: Chain, privacy: Privacy,
                     trust: float = DEFAULT_TRUST, reports: int = 1) -> list[dict[str, 'Guess']]:
    """
    Return for each public robot how often an adversary is right in each zone, symbol by symbol.

    :param reports: for each symbol.
    :raises PrivacyError: the zones do not partition the states of the chain.
    """
    from symdp_ros.analysis.adversary import best_guess_in_zones
    from symdp_ros.core.online import OnlineMechanism

    mechanism = OnlineMechanism(chain, privacy, policy='adaptive', trust=trust,
                                reports=reports)
    length = max(_LENGTH, _VISITS * reports)  # zones are told with each report
    return [best_guess_in_zones(mechanism, length, walks=_WALKS, walks_by=robot)
            for robot in robots(chain, trust).values()]


def print_zones(chain: Chain, privacy: Privacy, guesses: Sequence[Mapping[str, 'Guess']]) -> None:
    """
    Print for each zone what it holds, its doors and an adversary's success: worst first.

    :param guesses: of each robot, by zone.
    """
    from rich.console import Console
    from rich.table import Table

    zones = privacy.zones
    assert zones is not None
    by_door = doors(chain, zones)

    def guessed(zone, when):
        values = [getattr(each[zone], when) for each in guesses if zone in each]
        return (min(values), max(values)) if values else (0.0, 0.0)

    def written(values):
        least, most = (f'{value:.2f}' for value in values)
        return least if least == most else f'{least}–{most}'.replace('0.', '.')

    table = Table(padding=(0, 0))
    for name in ('zone', 'places', 'doors', 'known there', 'guessed'):
        table.add_column(name, justify='right' if name in ('places', 'doors') else 'left',
                         no_wrap=name != 'known there')
    for zone in sorted(zones, key=lambda zone: guessed(zone, 'after')[::-1], reverse=True):
        known = by_door[zone].known
        come = any(zone in each for each in guesses)
        table.add_row(printable(zone), str(len(zones[zone])), str(len(by_door[zone].places)),
                      some_states(known) if known else '–',
                      f'{written(guessed(zone, "before"))} → {written(guessed(zone, "after"))}'
                      if come else 'no robot came there')
    console = Console(highlight=False, markup=False)
    console.print(f'zones: {len(zones)}; ε = {privacy.epsilon:g}, k = {privacy.adjacency}', table,
                  _EXPLAINED, sep='\n')
    if warning := zones_sentences(zones)[1]:
        console.print(warning)
