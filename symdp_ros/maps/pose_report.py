# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What positions say of a map: how far from its regions they lie, and on which floors.

It depends on the positions, and is for their operator alone; `never_found_text` is public.
"""
import numpy as np
from symdp_ros.core.naming import quoted
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.positions import Locator

_SHOWN = 3  # floors


def never_found_text(locator: Locator, level_field: str) -> str:
    """Return which states share a position, and whether poses lead to all; '' without any."""
    alike, never = (find(bool(level_field)) for find in (locator.alike, locator.never_found))
    if not alike:
        return ''
    state, instead = next(iter((never or alike).items()))
    floors = '' if level_field or len(locator.levels) < 2 else (
        ' Floors are not told apart: set level_field, where messages name them.')
    if not never:
        return (f'{counted(len(alike), "state")} of the map at the position of another one, such '
                f'as {quoted(state)} at that of {quoted(instead)}: a pose leads to the one that '
                f'is a move from the last region.{floors} symdp check MAP lists them')
    return (f'no pose leads to {counted(len(never), "state")} of the map: another state has the '
            f'same position, and is found instead, such as {quoted(instead)} in place of '
            f'{quoted(state)}.{floors} symdp check MAP lists them')


def floors_text(locator: Locator) -> str:
    """Return which floors positions are on that the map does not have, and those that it has."""
    floors = sorted(locator.unknown_levels.items(), key=lambda item: (-item[1], item[0]))
    if not floors:
        return ''
    shown = ', '.join(f'{quoted(name)} ({counted(count, "position")})'
                      for name, count in floors[:_SHOWN])
    more = f' and {len(floors) - _SHOWN} more' if len(floors) > _SHOWN else ''
    known = ', '.join(map(quoted, locator.levels[:_SHOWN]))
    return (f'they are on floors that the map does not have: {shown}{more}; it has '
            f'{known or "none by name"}{" and more" if len(locator.levels) > _SHOWN else ""} '
            '(--level-field, --level)')


def far_text(locator: Locator) -> str:
    """Return how many positions lie farther from the map than it is large; '' where none does."""
    if not locator.far:
        return ''
    return (f'{share(locator.far, locator.positions)} lie farther from the map than it is large '
            f'({metres(locator.size)}): map and poses seem to be in different coordinates (frame, '
            'origin or unit)')


def distances_text(locator: Locator) -> str:
    """Return how far `locator.recorded` lie from the nearest region; '': none has one."""
    distances = locator.distances()
    distances = distances[np.isfinite(distances)]
    if not len(distances):
        return ''
    middle, most = np.quantile(distances, (0.5, 0.95)).tolist()
    return (f'half of them within {metres(middle)} of the nearest region, 95 % within '
            f'{metres(most)}, all within {metres(float(distances.max()))}')


def share(part: int, total: int) -> str:
    """Return a part of a total, as number and per cent."""
    return f'{part:,} of {counted(total, "position")} ({part / total:.0%})'


def metres(distance: float) -> str:
    """Return a distance, for people to read."""
    return f'{distance:,.2f} m' if distance < 100 else f'{distance:,.0f} m'
