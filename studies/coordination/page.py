# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/coordination.md, whose numbers all come from coordination.json."""
from math import exp, log
from typing import Any, NamedTuple

from studies.compare.section import table
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


_PAGE = """\
# What coordination loses

Robots that patrol together need each other's places. What do they lose if they hear private
places in place of true ones, and what does an intruder lose who listens? `make coordination`
makes this page again (`QUICK=1`: a small run into build/), from maps of the folder shared/data
next to the repository. All seeds are public and fixed, so the numbers repeat. Those of each map,
strategy, policy and ε are in [coordination.json](coordination.json), most with a standard error.

## Can I afford it?

{answer}

![Idleness against the intruder's success](coordination.svg)

*The corner down left is better: places are visited often, and the intruder rarely succeeds. No
curve goes there. So choose ε for the patrol, and do not count on it against an intruder. Means
over {map_count} maps and three strategies; numbers at the points are ε.*

{lessons}

## The patrol

- **Maps:** {maps} of the benchmark
  patrolling_sim. Every edge takes one step.
- **Robots:** {robots}, which start at different vertices. All move at the same time; each is held
  up (stays) with probability {delay:g}. A robot knows its own place truly, always.
- **Strategies:** *Conscientious Reactive* goes to the neighbour that has been idle longest. *SEBS*
  (Portugal and Rocha 2013; as in `davidbsp/patrolling_sim`, G1 = {fewest:g}, G2 =
  4·vertices/robots) also avoids where others intend to go. The *auction*, which each robot holds
  by itself, sells the vertices to the highest bid, idleness less {near:g} for each step of
  distance.
- **Heard of the others, once each step:** (a) the true places (SEBS: and intentions), (b) the
  private symbols, (c) nothing. Intentions are never told in (b), as they are the next place: SEBS
  expects them by the chain.
- **The chain:** the map with staying; all moves alike. It knows nothing of the strategy. One
  symbol is one step; k = 1; each robot's word begins at its start, which is public.
- **Three ways to use private symbols:** *each symbol taken for true*; *belief*: expected visits by
  the belief filter (`symdp_ros.analysis.belief.Filter`); *belief, hedged*: a share of {hedge:g} of
  how idle a vertex seems comes from the robot's own visits alone.
- **Runs:** {runs} of {steps} steps for each row, the first {burn_in} not counted. *Average
  idleness*: steps since the last visit, averaged over vertices and steps. *Worst*: the largest of
  a run, averaged over runs; a longer run has a larger one.

## The intruder

At every step t, the intruder picks the vertex at which a visit is least likely at the steps
t+1 … t+T, with T = ⌈vertices / robots⌉: the time in which a perfect patrol would see every
vertex. It succeeds where indeed no robot comes at these steps. It knows the map, the strategy, the
policy, ε and all that was public up to t: (a) true places, (b) private symbols, (c) nothing. Its
forecast is a logistic regression on the beliefs of the filter, on how long vertices have been
idle, and on how often each is visited anyway; fitted on half of the simulated runs, used in the
other half. *Patient*: it tries only at the {patient:.0%} of the
steps with its best forecasts. *Place*: how often the vertex that the belief filter has as the most
probable for a robot is its true one at the time; this, not the gaps, is what ε is about.

## Over all maps and strategies

Average and worst idleness are ratios to those with true places (geometric means).

{overall}

At ε = {shown:g}, by policy:

{policies}

![Idleness and the intruder by ε, on three maps](coordination-maps.svg)

*Idleness falls from "nothing heard" (dotted) towards "true places" (dashed), and the intruder's
success rises. Policy guided, belief hedged. Bars are one standard error over the runs.*

## A published team

B. Chen, C. Hawkins, M. O. Karabag, C. Neary, M. Hale, U. Topcu, *Differential privacy in
cooperative multiagent planning* (UAI 2023), two-agent navigation: two robots change sides in a
5 × 5 grid with walls and lava, and fail where they meet. Robot 1 acts on what it hears of robot
0's cell; robot 0 acts on its own cell alone. Their mechanism is Algorithm 4, here policy `paper`;
k = {adjacency}. *Reaching* is their baseline, *independent* their minimum dependency policy.

![The share of runs that reach the target](coordination-team.svg)

*Up is better. Left, a team whose plan needs the other's place: a better policy or a belief gives
much back of what privacy costs. Right, a team that was planned to need little loses nearly
nothing.*

{team_lessons}

{team_table}

Each number is a share of {team_runs} runs (one standard error is at most {team_error:.3f}).
ε = 0.01 is as good as hearing nothing. *True* is computed without sampling. *Published* is the
figure in their repository (1000 runs).

**What differs** from their study, which is rebuilt but for this (slips: {slip:g}):

- Their convex programs are solved by iteration. *Reaching* is any optimum of a linear program, and
  which one a solver returns decides how the robots act in rare places: here it is one with much
  entropy (τ = {sharp:g}; of 0.1, 0.01, … this came closest to the published curve, which so helped
  to choose it).
- *Independent* gets {rounds} rounds of improvement in place of 20, since after 20 its success was
  lower than theirs (5, 20, 40 and 80 were tried).
- The limit of 100 expected steps of a run is left out; our teams take {steps_reaching:.0f} and
  {steps_independent:.0f}.
- P is how robot 0's plan, which is public, lets it move: the policy adaptive and the
  belief use it, the published way does not.
- With belief, robot 1 acts on robot 0's most probable cell; the first symbol is taken for that of
  a move, though robot 0 still stands at its start.

## What a delay costs a team

With `policy: adaptive`, a place that is published d steps later is right more often (`delay`), but
it is where the robot was. Who acts on it at once, and takes it for where the robot is now, loses
by that. Patrol: average and worst idleness as a multiple of that with true places, over all maps
and strategies. Teams: the share of runs that succeed.

{late_table}

{late_lesson}

## What this does not show

- Steps in place of seconds: no acceleration, no interference of robots, no edge lengths.
- ε counts one changed symbol. A robot that stands somewhere for ten steps shows it ten times.
- The intruder's regression and the belief filter, whose chain does not know the strategy, are one
  attack. A better one succeeds more often; none of these numbers is a bound.
- Plans made for private symbols, and a chain that knows more, could lose less.
- The hedge and the constants of the strategies were set by trial on these maps, with other lengths
  of runs, and are the same for all ε.
"""


_ANSWER = """\
If you hide where the robots are, ε = 4 is affordable and ε = 2 hardly: with policy guided, average
idleness is {a4:.2f} and {a2:.2f} times that with true places ({none:.2f} times if robots hear
nothing of each other), worst idleness {w4:.2f} and {w2:.2f} times ({wnone:.2f} times), and the
best guess of a robot's place is right {g4:.0%} and {g2:.0%} of the time (true places: {gtrue:.0%};
nothing heard: {gnone:.0%}). If you hide the gaps of the patrol, no: an intruder enters unseen in
{i4:.0%} and {i2:.0%} of the tries (true places: {itrue:.0%}; nothing heard: {inone:.0%}), and what
lowers this, a belief with a hedge, has {h2:.0%} at ε = 2 and {h1:.0%} at ε = 1, at {ah2:.2f} and
{ah1:.2f} times the idleness. At ε = 1 and below it is better to send nothing: symbols taken for
true cost {a1:.2f} times the idleness, more than hearing nothing, and an intruder succeeds in
{i1:.0%} of the tries."""

_LESSONS = """\
- **Private places do not hide gaps,** as the robots act on what is public: they stay away from
  where the symbols show others. The intruder reads the same symbols.
- **The policy matters where symbols are taken for true:** at ε = 4, average idleness is {p4:.2f}
  times that with true places for `paper`, {g4:.2f} for `guided`, {a4:.2f} for `adaptive`.
- **Belief alone does not help a patrol.** At ε = 2 it makes no great difference ({b2:.2f} against
  {g2:.2f}), at ε = 1 it is far worse ({b1:.2f} against {g1:.2f}): an uncertain belief expects
  someone to come by everywhere, so each robot leaves vertices to others, and nobody visits them.
- **A hedge mends that:** {h1:.2f} at ε = 1, but it costs at a large ε ({h8:.2f} against {g8:.2f}
  at ε = 8).
- **With a hedge, the policies lie on one curve:** what a better policy gains for the patrol, the
  intruder gains, too."""

_TEAM_LESSONS = """\
- **The published curve comes out again** (policy `paper`, symbols taken for true): our numbers are
  within {gap_reaching:.3f} of theirs for *reaching*, and within {gap_independent:.3f} for
  *independent*.
- **Guided** raises the success of *reaching* at ε = 4 from {p4:.0%} to {g4:.0%}, at ε = 10 from
  {p10:.0%} to {g10:.0%}. For *independent* no policy has far to go: {ip4:.1%} and {ig4:.1%} at
  ε = 4, {true_independent:.1%} with true symbols.
- **Belief** raises *reaching* at ε = 1 from {p1:.0%} to {pb1:.0%} (`paper`) and at ε = 10 from
  {p10:.0%} to {pb10:.0%}; *independent* has {ib1:.1%} at ε = 1. But at a small ε this is all due
  to knowing how robot 0 is meant to move: at ε = 0.01, which tells nothing, *reaching* has
  {pb0:.0%}, too. With belief, the policies differ by little; `adaptive` has {a1:.0%} at ε = 1
  without a filter.
- **What is lost:** {true_reaching:.0%} of the runs of *reaching* succeed with true symbols, at
  ε = 10 {best10:.0%} at best."""


_SHOWN = 4.0, 2.0, 1.0  # ε of the table of the patrol
_TEAMS_SHOWN, _POLICIES_SHOWN = (0.01, 1, 4, 10), ('paper', 'guided', 'adaptive')
_LATE_SHOWN = 2.0, 4.0


def page(numbers: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    size = numbers['size']
    return _PAGE.format(
        answer=_answer(numbers), lessons=_lessons(numbers), team_lessons=_team_lessons(numbers),
        maps=', '.join(f'{name} ({area["vertices"]} vertices, T = {area["window"]})'
                       for name, area in numbers['maps'].items()),
        robots=patrol.ROBOTS, delay=patrol.DELAY, fewest=patrol.FEWEST, near=patrol.NEAR,
        hedge=patrol.HEDGE, runs=size['runs'], steps=size['steps'], burn_in=size['burn_in'],
        patient=PATIENT, overall=_overall(numbers), shown=_SHOWN[1],
        policies=_by_policy(numbers),
        adjacency=team.ADJACENCY, team_table=_teams(numbers), team_runs=size['team_runs'],
        map_count=len(numbers['maps']), slip=team.SLIP,
        team_error=max(row['success'][1] for row in numbers['team']),
        **{f'steps_{name}': numbers['team_steps'][name] for name in team.TEAMS},
        sharp=team.SHARP, rounds=team.ROUNDS, late_table=_late(numbers),
        late_lesson=_late_lesson(numbers))


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


def _teams(numbers: dict[str, Any]) -> str:
    epsilons = [epsilon for epsilon in numbers['size']['team_epsilons'] if epsilon in _TEAMS_SHOWN]
    rows = []
    for name in team.TEAMS:
        rows.append((name, 'published: paper', 'symbol', *(
            f'{PUBLISHED[name][epsilon]:.3f}' for epsilon in epsilons)))
        rows += [(name, policy, 'belief' if belief else 'symbol', *(
            f'{_team(numbers, name, policy, belief, epsilon):.3f}' for epsilon in epsilons))
            for policy in _POLICIES_SHOWN for belief in (False, True)]
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


def _late_lesson(numbers: dict[str, Any]) -> str:
    (now, one, three), (n2, o2, t2) = (
        [_late_idleness(numbers, 'average', epsilon, delay) for delay in (0, 1, 3)]
        for epsilon in (4.0, 2.0))
    return f"""\
At ε = 4 the patrol has {now:.2f}, {one:.2f} and {three:.2f} times the idleness with a delay of 0,
1 and 3 steps, at ε = 2 {n2:.2f}, {o2:.2f} and {t2:.2f}. A robot that acts at every step
needs `delay: 0`."""


def _team(numbers: dict[str, Any], name: str, policy: str, belief: bool,
          epsilon: float) -> float:
    return next(row['success'][0] for row in numbers['team']
                if (row['team'], row['policy'], row['belief'], row['epsilon'])
                == (name, policy, belief, epsilon))


def _answer(numbers: dict[str, Any]) -> str:
    true, none = summary(numbers, 'true'), summary(numbers, 'none')
    at, hedged = _guided(numbers, 'symbol'), _guided(numbers, 'hedged')
    return _ANSWER.format(
        a4=at[4].average, a2=at[2].average, a1=at[1].average, none=none.average,
        g4=at[4].guess, g2=at[2].guess, gtrue=true.guess, gnone=none.guess, i4=at[4].intruder,
        i2=at[2].intruder, i1=at[1].intruder, itrue=true.intruder, inone=none.intruder,
        h2=hedged[2].intruder, h1=hedged[1].intruder, ah2=hedged[2].average,
        ah1=hedged[1].average, w4=at[4].worst, w2=at[2].worst, wnone=none.worst)


def _lessons(numbers: dict[str, Any]) -> str:
    at, belief, hedged = (_guided(numbers, use) for use in USE_NAMES)
    averages = {f'{policy[0]}4': summary(numbers, policy, 'symbol', 4).average
                for policy in ('paper', 'adaptive')}
    return _LESSONS.format(
        **averages, g1=at[1].average, g2=at[2].average, g4=at[4].average, g8=at[8].average,
        b1=belief[1].average, b2=belief[2].average, h1=hedged[1].average, h8=hedged[8].average)


def _guided(numbers: dict[str, Any], use: str) -> dict[float, Summary]:
    return {epsilon: summary(numbers, 'guided', use, epsilon)
            for epsilon in numbers['size']['epsilons']}


def _team_lessons(numbers: dict[str, Any]) -> str:
    def success(name: str, policy: str, belief: bool, epsilon: float) -> float:
        return _team(numbers, name, policy, belief, epsilon)

    gaps = {f'gap_{name}': max(abs(success(name, 'paper', False, epsilon)
                                   - PUBLISHED[name][epsilon])
                               for epsilon in numbers['size']['team_epsilons'])
            for name in team.TEAMS}
    first = {f'{letter}{epsilon}': success('reaching', policy, False, epsilon)
             for letter, policy in (('p', 'paper'), ('g', 'guided')) for epsilon in (1, 4, 10)}
    return _TEAM_LESSONS.format(
        **gaps, **first, ip4=success('independent', 'paper', False, 4),
        ig4=success('independent', 'guided', False, 4),
        ib1=success('independent', 'paper', True, 1),
        a1=success('reaching', 'adaptive', False, 1),
        pb0=success('reaching', 'paper', True, 0.01), pb1=success('reaching', 'paper', True, 1),
        pb10=success('reaching', 'paper', True, 10),
        best10=max(success('reaching', policy, belief, 10) for policy in POLICIES
                   for belief in (False, True)),
        **{f'true_{name}': numbers['team_true'][name] for name in team.TEAMS})
