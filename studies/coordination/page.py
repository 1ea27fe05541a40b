# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/coordination.md, whose numbers all come from coordination.json."""
from statistics import fmean, geometric_mean
from typing import Any, NamedTuple

from studies.common import filled, table
from studies.coordination import patrol  # noqa: F401: for the page
from studies.coordination.intruder import PATIENT  # noqa: F401: for the page
from symdp_ros.core.registry import POLICIES

USE_NAMES = {'symbol': 'each symbol taken for true', 'belief': 'belief',
             'hedged': 'belief, hedged'}
STRATEGY_NAMES = {'reactive': 'Conscientious Reactive', 'sebs': 'SEBS', 'auction': 'auction'}


class Summary(NamedTuple):
    """Means over all maps and strategies; of ratios, geometric ones."""

    average: float   # average idleness, divided by that with true places
    worst: float     # worst idleness, likewise
    intruder: float
    patient: float
    guess: float


def ratio(numbers: dict[str, Any], rows: list[dict[str, Any]], what: str) -> float:
    """Return a geometric mean over maps and strategies, as a multiple of that with true places."""
    true = {(row['map'], row['strategy']): row[what][0] for row in numbers['patrol']
            if row['what'] == 'true'}
    return geometric_mean(row[what][0] / true[row['map'], row['strategy']] for row in rows)


def summary(numbers: dict[str, Any], what: str, use: str | None = None,
            epsilon: float | None = None) -> Summary:
    """Return what one view comes to."""
    rows = [row for row in numbers['patrol']
            if (row['what'], row['use'], row['epsilon']) == (what, use, epsilon)]
    return Summary(*(ratio(numbers, rows, key) for key in ('average', 'worst')),
                   *(fmean(row[key][0] for row in rows)
                     for key in ('intruder', 'patient', 'guess')))


def late(numbers: dict[str, Any], what: str, epsilon: float, delay: int) -> float:
    """Return average or worst idleness of those who hear places so many steps later."""
    return ratio(numbers, [row for row in numbers['late']
                           if (row['epsilon'], row['delay']) == (epsilon, delay)], what)


SHOWN = 4.0, 2.0, 1.0  # ε of the table of the patrol
_LATE_SHOWN = 2.0, 4.0


def page(numbers: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    return filled(__file__, {
        **numbers, **numbers['size'], **globals(), 'numbers': numbers,
        'true': summary(numbers, 'true'), 'none': summary(numbers, 'none'),
        **{use: {epsilon: summary(numbers, 'guided', use, epsilon)
                 for epsilon in numbers['size']['epsilons']} for use in USE_NAMES},
        **{policy: summary(numbers, policy, 'symbol', 4.0) for policy in ('paper', 'adaptive')}})


def maps(numbers: dict[str, Any]) -> str:
    """Return the maps in a sentence."""
    return ', '.join(f'{name} ({area["vertices"]} vertices, T = {area["window"]})'
                     for name, area in numbers['maps'].items())


def overall(numbers: dict[str, Any]) -> str:
    """Return the table of all that robots may hear, with the policy guided."""
    rows = [('true places', summary(numbers, 'true')),
            *((f'private, guided, {name}, ε = {epsilon:g}',
               summary(numbers, 'guided', use, epsilon))
              for use, name in USE_NAMES.items() for epsilon in SHOWN),
            ('nothing heard', summary(numbers, 'none'))]
    return table(
        ('heard', 'average idleness', 'worst idleness', 'intruder', 'patient intruder', 'place'),
        [(name, f'{row.average:.2f}', f'{row.worst:.2f}', f'{row.intruder:.0%}',
          f'{row.patient:.0%}', f'{row.guess:.0%}') for name, row in rows])


def by_policy(numbers: dict[str, Any]) -> str:
    """Return the table of the policies."""
    rows = []
    for policy in POLICIES:
        found = [summary(numbers, policy, use, SHOWN[1]) for use in ('symbol', 'hedged')]
        rows.append((policy, *(f'{way.average:.2f}' for way in found),
                     *(f'{way.worst:.2f}' for way in found),
                     *(f'{way.intruder:.0%}' for way in found)))
    return table(('policy', *(f'{what}, {use}' for what in ('average', 'worst', 'intruder')
                              for use in ('taken for true', 'hedged'))), rows)


def late_table(numbers: dict[str, Any]) -> str:
    """Return the table of what a delay costs."""
    delays = dict.fromkeys(row['delay'] for row in numbers['late'])
    return table(('ε', 'delay', 'average idleness', 'worst idleness'), [
        (f'{epsilon:g}', delay,
         *(f'{late(numbers, what, epsilon, delay):.2f}' for what in ('average', 'worst')))
        for epsilon in _LATE_SHOWN for delay in delays])
