# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/coordination.md, whose numbers all come from coordination.json."""
from math import exp, log
from typing import Any, NamedTuple

from studies.compare.section import table, template
from studies.coordination import patrol, team
from studies.coordination.intruder import PATIENT
from symdp_ros.core.registry import POLICIES

USE_NAMES = {'symbol': 'each symbol taken for true', 'belief': 'belief',
             'hedged': 'belief, hedged'}
STRATEGY_NAMES = {'reactive': 'Conscientious Reactive', 'sebs': 'SEBS', 'auction': 'auction'}
_PUBLISHED_EPSILONS = (0.01, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)  # to a hundredth
#: Numbers of the published study's figure (`plotting/tikz` in its repository).
PUBLISHED = {
    'reaching': dict(zip(_PUBLISHED_EPSILONS, (
        .082, .087, .102, .126, .155, .236, .319, .413, .520, .630, .731), strict=True)),
    'independent': dict(zip(_PUBLISHED_EPSILONS, (
        .940, .929, .951, .940, .940, .941, .953, .949, .946, .943, .946), strict=True))}


class Summary(NamedTuple):
    """Means over all maps and strategies; of ratios, geometric ones."""

    average: float   # average idleness, divided by that with true places
    worst: float     # worst idleness, likewise
    intruder: float
    patient: float
    guess: float


def summary(numbers: dict[str, Any], what: str, use: str | None = None,
            epsilon: float | None = None) -> Summary:
    """Return what one view comes to."""
    rows = {(row['map'], row['strategy']): row for row in numbers['patrol']
            if (row['what'], row['use'], row['epsilon']) == (what, use, epsilon)}
    true = {(row['map'], row['strategy']): row for row in numbers['patrol']
            if row['what'] == 'true'}

    def mean(key: str) -> float:
        return sum(row[key][0] for row in rows.values()) / len(rows)

    def ratio(key: str) -> float:
        return exp(sum(log(row[key][0] / true[at][key][0]) for at, row in rows.items())
                   / len(rows))

    return Summary(ratio('average'), ratio('worst'), mean('intruder'), mean('patient'),
                   mean('guess'))


_SHOWN = 4.0, 2.0, 1.0  # ε of the table of the patrol
_TEAMS_SHOWN = 0.01, 1, 4, 10
_LATE_SHOWN = 2.0, 4.0


def page(numbers: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    size, teams = numbers['size'], _successes(numbers)
    return template(__file__).format(
        **{use: {epsilon: summary(numbers, 'guided', use, epsilon) for epsilon in size['epsilons']}
           for use in USE_NAMES},
        **{what: summary(numbers, what) for what in ('true', 'none')},
        **{policy: summary(numbers, policy, 'symbol', 4.0) for policy in ('paper', 'adaptive')},
        **teams, **{f'true_{name}': numbers['team_true'][name] for name in teams},
        **{f'gap_{name}': max(abs(success - PUBLISHED[name][epsilon])
                              for epsilon, success in uses['symbol']['paper'].items())
           for name, uses in teams.items()},
        knowing_the_plan=teams['reaching']['belief']['paper'][0.01],
        best_at_10=max(by[10] for use in teams['reaching'].values() for by in use.values()),
        maps=', '.join(f'{name} ({area["vertices"]} vertices, T = {area["window"]})'
                       for name, area in numbers['maps'].items()),
        robots=patrol.ROBOTS, delay=patrol.DELAY, fewest=patrol.FEWEST, near=patrol.NEAR,
        hedge=patrol.HEDGE, runs=size['runs'], steps=size['steps'], burn_in=size['burn_in'],
        patient=PATIENT, overall=_overall(numbers), shown=_SHOWN[1],
        policies=_by_policy(numbers),
        adjacency=team.ADJACENCY, team_table=_teams(numbers, teams), team_runs=size['team_runs'],
        map_count=len(numbers['maps']), slip=team.SLIP,
        team_error=max(row['success'][1] for row in numbers['team']),
        **{f'steps_{name}': numbers['team_steps'][name] for name in team.TEAMS},
        sharp=team.SHARP, rounds=team.ROUNDS, late_table=_late(numbers),
        late={epsilon: {delay: _late_idleness(numbers, 'average', epsilon, delay)
                        for delay in (0, 1, 3)} for epsilon in _LATE_SHOWN})


def _overall(numbers: dict[str, Any]) -> str:
    rows = [('true places', summary(numbers, 'true')), ('nothing heard', summary(numbers, 'none'))]
    rows[1:1] = [(f'private, guided, {USE_NAMES[use]}, ε = {epsilon:g}',
                  summary(numbers, 'guided', use, epsilon))
                 for use in USE_NAMES for epsilon in _SHOWN]
    return table(
        ('heard', 'average idleness', 'worst idleness', 'intruder', 'patient intruder', 'place'),
        [(name, f'{row.average:.2f}', f'{row.worst:.2f}', f'{row.intruder:.0%}',
          f'{row.patient:.0%}', f'{row.guess:.0%}') for name, row in rows])


def _by_policy(numbers: dict[str, Any]) -> str:
    rows = []
    for policy in POLICIES:
        found = [summary(numbers, policy, use, _SHOWN[1]) for use in ('symbol', 'hedged')]
        rows.append((policy, *(f'{way.average:.2f}' for way in found),
                     *(f'{way.worst:.2f}' for way in found),
                     *(f'{way.intruder:.0%}' for way in found)))
    return table(('policy', *(f'{what}, {use}' for what in ('average', 'worst', 'intruder')
                              for use in ('taken for true', 'hedged'))), rows)


def _successes(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return team → 'symbol' or 'belief', what it acts on → policy → ε → how often it succeeds."""
    found: dict[str, Any] = {name: {use: {policy: {} for policy in POLICIES}
                                    for use in ('symbol', 'belief')} for name in team.TEAMS}
    for row in numbers['team']:
        use = 'belief' if row['belief'] else 'symbol'
        found[row['team']][use][row['policy']][row['epsilon']] = row['success'][0]
    return found


def _teams(numbers: dict[str, Any], teams: dict[str, Any]) -> str:
    epsilons = [epsilon for epsilon in numbers['size']['team_epsilons'] if epsilon in _TEAMS_SHOWN]
    rows = []
    for name in team.TEAMS:
        rows.append((name, 'published: paper', 'symbol', *(
            f'{PUBLISHED[name][epsilon]:.3f}' for epsilon in epsilons)))
        rows += [(name, policy, use, *(f'{teams[name][use][policy][epsilon]:.3f}'
                                       for epsilon in epsilons))
                 for policy in POLICIES for use in teams[name]]
        rows.append((name, '**true**', '', *[f'{numbers["team_true"][name]:.3f}'] * len(epsilons)))
    return table(('team', 'policy', 'acts on', *(f'ε = {epsilon:g}' for epsilon in epsilons)),
                 rows)


def _late_idleness(numbers: dict[str, Any], what: str, epsilon: float, delay: int) -> float:
    """Return a mean over maps and strategies, as a multiple of that with true places."""
    true = {(row['map'], row['strategy']): row[what][0] for row in numbers['patrol']
            if row['what'] == 'true'}
    ratios = [log(row[what][0] / true[row['map'], row['strategy']]) for row in numbers['late']
              if (row['epsilon'], row['delay']) == (epsilon, delay)]
    return exp(sum(ratios) / len(ratios))


def _late_success(numbers: dict[str, Any], name: str, epsilon: float, delay: int) -> float:
    return next(row['success'][0] for row in numbers['late_team']
                if (row['team'], row['epsilon'], row['delay']) == (name, epsilon, delay))


def _late(numbers: dict[str, Any]) -> str:
    rows = [(f'{epsilon:g}', str(delay),
             *(f'{_late_idleness(numbers, what, epsilon, delay):.2f}'
               for what in ('average', 'worst')),
             *(f'{_late_success(numbers, name, epsilon, delay):.3f}' for name in team.TEAMS))
            for epsilon, delay in dict.fromkeys(
                (row['epsilon'], row['delay']) for row in numbers['late'])
            if epsilon in _LATE_SHOWN]
    return table(('ε', 'delay', 'average idleness', 'worst idleness', *team.TEAMS), rows)
