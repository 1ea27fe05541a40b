# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.gains FILE.md`: what the extensions gain, on real maps: docs/evidence/gains.md.

All rows stand in a JSON file beside the page, which shows some of them. It reads the maps of the
folder shared/data next to the repository, and says so where it is not there.
"""
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from studies.common import command, filled, need_maps, write_numbers
from studies.compare.areas import area, habit, moves_alone, names, SPARSE, TOWN, with_stay
from studies.compare.areas import HABIT  # noqa: F401: for the page
from symdp_ros.analysis.accuracy import average_accuracy, patrols
from symdp_ros.analysis.learning import learn_chain, LearningUnit
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.maps.graph import TransitionGraph

WAREHOUSE = 'nav2/bringup_warehouse_graph.geojson'
LENGTH, WALKS = 50, 24
LONG, MANY = 100, 40  # symbols and walks where models are compared
SHORT = 60            # symbols where signals are
MODES, MODES_STAY, MODES_WALKS = 8, 0.97, 200

#: Rows that met their goal and have one of these are in the JSON alone.
_LEFT_OUT = (
    'on lcas_', 'on nav2/route_', 'on patrolling_', 'on rmf/', 'on strands/', 'delay 10',
    'stay 0.9,', 'stay 0.995', 'habit, ε = 1', 'habit, ε = 3', 'wanders, base: chain, ε = 1',
    'wanders, base: chain, ε = 3', '; base: chain, ε = 3', 'delay 0, ε = 3', 'delay 3, ε = 3')


class Row(NamedTuple):
    """One comparison: the error of what is new, and of what it is compared with."""

    what: str
    against: str
    error: float
    other: float
    goal: float

    def plain(self) -> dict[str, Any]:
        """Return what JSON holds."""
        ratio = self.error / self.other
        return {**self._asdict(), 'error': round(self.error, 3), 'other': round(self.other, 3),
                'ratio': round(ratio, 2), 'met': ratio <= self.goal}


def error(mechanism, words) -> float:
    """Return the expected error per symbol."""
    return average_accuracy(mechanism, words).error


def exponential(chain: Chain, epsilon: float, k: int = 1, **more) -> OfflineMechanism:
    return OfflineMechanism(chain, Privacy(epsilon, k), **more)


def rows() -> Iterator[Row]:
    """Yield every comparison."""
    need_maps()
    graph = area(WAREHOUSE).graph
    plain = graph.chain()
    known = habit(plain)
    words = patrols(known, LENGTH, WALKS)
    for epsilon, goal in ((1.0, 0.30), (2.0, 0.30), (3.0, 0.35)):
        yield Row(f'exponential, base: chain, trust 1; habit, ε = {epsilon:g}', 'base: counting',
                  error(exponential(known, epsilon, trust=1.0), words),
                  error(exponential(known, epsilon, base='counting'), words), goal)
    for name, chain in maps().items():
        walks = patrols(chain, LENGTH, WALKS)
        yield Row(f'exponential, base: chain; uniform moves on {name} ({len(chain)} states), '
                  'ε = 2',
                  'base: counting', error(exponential(chain, 2.0), walks),
                  error(exponential(chain, 2.0, base='counting'), walks),
                  0.75 if name == WAREHOUSE else 1.0)
    yield from signals(graph)
    yield from visits(graph)
    yield from learned(plain, known)
    yield from nothing_known(graph)
    yield from modes()
    yield from wrong(graph)


def maps() -> dict[str, Chain]:
    """Return the maps of one graph in which not all states can follow all."""
    found = {name: area(name).chain(1) for name in sorted(names())
             if ' ' not in name and name not in (TOWN, SPARSE)}
    return {name: chain for name, chain in found.items() if not chain.is_alphabet}


def signals(graph: TransitionGraph) -> Iterator[Row]:
    """Yield what signals apart from reports are worth: the policy adaptive."""
    plain = graph.chain()
    known = {'uniform moves': named(plain), 'habit': habit(plain),
             'stays 0.9': with_stay(graph, 0.9), 'stays 0.97': with_stay(graph, 0.97)}
    for name, epsilon, goals in (('uniform moves', 3.0, (1.0, 0.7, 0.62)),
                                 ('habit', 2.0, (0.6, 0.4, 0.32)),
                                 ('stays 0.97', 2.0, (0.34, 0.18, 0.15))):
        walks = patrols(known[name], SHORT, MANY)
        guided = error(OnlineMechanism(known[name], Privacy(epsilon)), walks)
        for delay, goal in zip((0, 3, 10), goals, strict=True):
            yield Row(f'adaptive, delay {delay}, trust 1; {name}, ε = {epsilon:g}', 'guided',
                      error(adaptive(known[name], epsilon, delay, 1.0), walks), guided, goal)
    for name, goal in (('habit', 0.7), ('stays 0.9', 0.68), ('stays 0.97', 0.6),
                       ('uniform moves', 0.68)):
        walks = patrols(known[name], SHORT, MANY)
        yield Row(f'adaptive, the whole word, trust 1; {name}, ε = 3',
                  'exponential, base: chain, trust 1',
                  error(adaptive(known[name], 3.0, None, 1.0), walks),
                  error(exponential(known[name], 3.0, trust=1.0), walks), goal)
    walks = patrols(plain, SHORT, MANY)
    for name in ('stays 0.97', 'habit'):
        for epsilon in (2.0, 3.0):
            guided = error(OnlineMechanism(plain, Privacy(epsilon)), walks)
            for delay, goal in ((0, 1.15), (3, 0.9)):
                yield Row(f'the map is wrong: {name}, but it wanders; adaptive, delay {delay}, '
                          f'ε = {epsilon:g}', 'guided',
                          error(adaptive(known[name], epsilon, delay), walks), guided, goal)
    walks = patrols(known['stays 0.97'], SHORT, MANY)
    yield Row('nothing known; walks that stay 0.97, adaptive, delay 3, ε = 2', 'P known',
              error(adaptive(plain, 2.0, 3), walks),
              error(adaptive(known['stays 0.97'], 2.0, 3, 1.0), walks), 2.5)


def adaptive(chain: Chain, epsilon: float, delay: int | None,
             trust: float = DEFAULT_TRUST) -> OnlineMechanism:
    return OnlineMechanism(chain, Privacy(epsilon), policy='adaptive', trust=trust, delay=delay)


def nothing_known(graph: TransitionGraph) -> Iterator[Row]:
    """Yield what six models are worth, and what they cost where they are not needed."""
    plain = graph.chain()
    uniform = named(plain)
    for chance, goal in ((0.9, 0.31), (0.97, 0.11), (0.995, 0.04)):
        chain = with_stay(graph, chance)
        walks = patrols(chain, LONG, MANY)
        found = error(exponential(plain, 2.0), walks)
        what = f'nothing known; walks that stay {chance:g}, base: chain, ε = 2'
        yield Row(what, 'uniform moves alone', found,
                  error(exponential(uniform, 2.0, trust=1.0), walks), goal)
        yield Row(what, '`stay` given', found, error(exponential(chain, 2.0), walks), 1.25)
    walks = patrols(plain, LONG, MANY)
    for epsilon in (1.0, 2.0, 3.0):
        yield Row(f'nothing known; it wanders, base: chain, ε = {epsilon:g}',
                  'uniform moves alone, which is right', error(exponential(plain, epsilon), walks),
                  error(exponential(uniform, epsilon, trust=1.0), walks), 1.06)
    walks = patrols(with_stay(graph, 0.97), LONG, MANY)
    live, alone = (error(OnlineMechanism(chain, Privacy(2.0), policy='adaptive', trust=1.0), walks)
                   for chain in (plain, uniform))
    yield Row('nothing known; walks that stay 0.97, live, adaptive, ε = 2', 'uniform moves alone',
              live, alone, 0.54)
    for name, chain in (('habit', habit(plain)), ('stays 0.97', with_stay(graph, 0.97))):
        walks = patrols(chain, LONG, MANY)
        known = error(exponential(chain, 2.0, trust=1.0), walks)
        yield Row(f'the map is right, trust 0.8; {name}, base: chain, ε = 2', 'trust 1',
                  error(exponential(chain, 2.0), walks), known, round(1.05 + 0.01 / known, 2))


def modes() -> Iterator[Row]:
    """Yield what the models are worth where everything follows everything."""
    names = [f'mode {i}' for i in range(MODES)]
    plain = Chain.complete(names, names[0])
    walks = patrols(Chain.complete(names, names[0], MODES_STAY), LONG, MODES_WALKS)
    without = error(OnlineMechanism(plain, Privacy(2.0)), walks)
    for how, mechanism, goal in (('adaptive, delay 0', adaptive(plain, 2.0, 0), 0.4),
                                 ('adaptive, delay 3', adaptive(plain, 2.0, 3), 0.25),
                                 ('base: chain', exponential(plain, 2.0), 0.15)):
        yield Row(f'nothing known; {MODES} modes, walks that stay {MODES_STAY}, {how}, ε = 2',
                  'guided, without a past', error(mechanism, walks), without, goal)


def wrong(graph: TransitionGraph) -> Iterator[Row]:
    """Yield what a map costs that names probabilities which are wrong: the robot wanders."""
    for epsilon in (2.0, 3.0):
        for name in ('stays 0.97', 'habit'):
            what = f'the map is wrong: {name}, but it wanders; base: chain, ε = {epsilon:g}'
            yield Row(what, 'base: counting', *_against_counting(graph, name, epsilon), 1.1)
            pairs = [_against_counting(area(file).graph, name, epsilon) for file in maps()]
            yield Row(f'{what}, the worst of all maps', 'base: counting',
                      *max(pairs, key=lambda pair: pair[0] / pair[1]), 1.1)


def _against_counting(graph: TransitionGraph, name: str, epsilon: float) -> tuple[float, float]:
    plain = graph.chain()
    walks = patrols(plain, LONG, MANY)
    told = habit(plain) if name == 'habit' else with_stay(graph, 0.97)
    return (error(exponential(told, epsilon), walks),
            error(exponential(told, epsilon, base='counting'), walks))


def named(chain: Chain) -> Chain:
    """Return the chain that names its probabilities."""
    return Chain({state: chain.probabilities(state) for state in chain.states},
                 chain.initial_state)


def visits(graph: TransitionGraph) -> Iterator[Row]:
    """Yield visits of 30 ticks, in logs and live."""
    chain, k = with_stay(graph, 0.97), 30
    walks = patrols(chain, 300, 12)
    best = min(error(exponential(chain, 5.0, k, base='counting'), walks),
               error(exponential(chain, 5.0, k, selection='causal'), walks))
    yield Row('a visit of 30 ticks, logs: base: chain, P(stay) = 0.97, ε = 5, k = 30',
              'the best of counting and causal, guided',
              error(exponential(chain, 5.0, k), walks), best, 0.5)
    calibration = VisitCalibration(moves_alone(graph), protect=30.0, stay=1 / 0.03)
    live = min(calibration.row(period, 5.0, guess=False).live.wrong
               for period in calibration.periods)
    guided = error(OnlineMechanism(chain, Privacy(5.0, 30)), walks)
    yield Row('the same visit, live: `protect: 30`, `moves`, the best period, ε = 5',
              'guided, one report a second, k = 30', live, guided, 0.35)


def learned(plain: Chain, known: Chain) -> Iterator[Row]:
    """Yield errors with a P that was learned from logs, with ε = 1."""
    walks = patrols(known, LENGTH, WALKS)
    uniform = error(exponential(plain, 2.0), walks)

    def learn(logs: int, length: int, unit: LearningUnit) -> float:
        random = Random(2)
        words = [[word] for word in patrols(known, length, logs)]
        return float(np.mean([error(exponential(
            learn_chain(plain, words, 1.0, unit=unit, random=random), 2.0), walks)
            for _ in range(3)]))

    yield Row('P learned with ε = 1 per symbol from 100 logs of 300 symbols; habit, ε = 2',
              'nothing known', learn(100, 300, LearningUnit()), uniform, 0.5)
    yield Row('P learned with ε = 1 per log from 100 logs of 300 symbols; habit, ε = 2',
              'nothing known', learn(100, 300, LearningUnit(clip=300)), uniform, 0.5)
    rows = {}
    for state in plain.states:  # as often staying as in truth, all moves alike
        stay = known.probabilities(state).get(state, 0.0)
        moves = [s for s in plain.successors(state) if s != state]
        rows[state] = {**{s: (1 - stay) / len(moves) for s in moves}, state: stay} if moves else {
            state: 1.0}
    true_stay = Chain({s: {t: p for t, p in row.items() if p > 0} for s, row in rows.items()},
                      plain.initial_state)
    yield Row('P learned with ε = 1 per symbol from 5 logs of 50 symbols; habit, ε = 2',
              'uniform moves and the true staying', learn(5, 50, LearningUnit()),
              error(exponential(true_stay, 2.0), walks), 1.05)


def page(found: Iterable[dict[str, Any]]) -> str:
    """Return the page for what JSON holds."""
    lines = [(row['what'], row['against'], f'{row["error"]:.3f}', f'{row["other"]:.3f}',
              f'{row["ratio"]:.2f}', f'≤ {row["goal"]:g}{"" if row["met"] else ", **not met**"}')
             for row in found
             if not (row['met'] and any(part in row['what'] for part in _LEFT_OUT))]
    return filled(__file__, {**globals(), 'lines': lines})


def main(file: Path) -> None:
    """Write the page and its JSON."""
    found = write_numbers([row.plain() for row in rows()], file.with_suffix('.json'))
    file.write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('gains', main)
