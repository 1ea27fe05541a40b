# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.choice [SETTINGS]`: how much worse `auto` is than the best of all there is.

Settings are random (a fixed seed): a map, how its robot moves, ε, k, n, for logs and live. Each
mechanism is judged by 1,000 walks that the choice has not seen, shared among the public models by
their weights: exactly for each walk, adaptive by one draw for each, permute-and-flip by its
difference from the exponential mechanism with the base counting on 60 of them.
"""
from collections.abc import Sequence
from math import exp, log, sqrt
from random import Random
import sys
from time import perf_counter
from typing import NamedTuple

import numpy as np
from studies.compare import areas
from studies.gains import habit
from symdp_ros.analysis.accuracy import errors_of_words, robots
from symdp_ros.analysis.choice import choose, LONGEST
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import AUTO, LIVE

WALKS, COUNTED = 1_000, 60
MOST_STATES = 200
SETTINGS, SEED = 40, 27


class Case(NamedTuple):
    """One setting, at random."""

    map: str  # noqa: A003
    moves: str
    chain: Chain
    privacy: Privacy
    length: int
    settings: MechanismSettings


class Found(NamedTuple):
    """What auto took, and what it should have taken."""

    taken: str
    best: str
    worse: float           # error of what was taken, less the least error
    standard_error: float  # of that
    seconds: float         # that the choice took
    errors: dict[str, float]


def case(random: Random) -> Case:
    """Return a random setting."""
    name = random.choice([name for name in areas.names()
                          if len(areas.area(name).chain(1)) <= MOST_STATES])
    moves = random.choice(['not given', 'not given', 'stays 0.9', 'stays 0.97', 'habit 0.9'])
    area = areas.area(name)
    chain = area.chain(10 if moves.endswith('0.9') and moves.startswith('stays') else
                       33 if moves == 'stays 0.97' else 1)
    if moves.startswith('habit'):
        chain = habit(chain)
    is_live = random.random() < 0.5
    privacy = Privacy(round(exp(random.uniform(log(0.3), log(8.0))), 2), random.choice([1, 1, 3]))
    return Case(name, moves, chain, privacy,
                LONGEST if is_live else round(exp(random.uniform(log(4), log(200)))),
                MechanismSettings(LIVE if is_live else AUTO, trust=random.choice([0.8, 0.8, 0.3])))


def walks(chain: Chain, length: int, count: int, random: np.random.Generator) -> list[list[str]]:
    """Return so many walks by P."""
    words = []
    rows = {state: (list(row), list(row.values())) for state in chain.states
            for row in [chain.probabilities(state)]}
    for _ in range(count):
        state, word = chain.initial_state, list[str]()
        for chance in random.random(length):
            following, chances = rows[state]
            at = int(np.searchsorted(np.cumsum(chances), chance * sum(chances), 'right'))
            state = following[min(at, len(following) - 1)]
            word.append(state)
        words.append(word)
    return words


def find(one: Case, seed: int, count: int = WALKS) -> Found:
    """Judge what auto takes."""
    chain, random = one.chain, np.random.default_rng(seed)
    begin = perf_counter()
    taken, _ = choose(chain, one.privacy, one.settings, one.length)
    seconds = perf_counter() - begin
    weights = chain.models(one.settings.trust).prior
    counts = np.maximum(4, np.round(weights * count)).astype(int)
    words = [word for robot, walking in zip(
        robots(chain, one.settings.trust).values(), counts.tolist(), strict=True)
        for word in walks(robot, one.length, walking, random)]
    each, parts = np.repeat(weights / counts, counts), np.split(np.arange(len(words)),
                                                                np.cumsum(counts)[:-1])
    errors = {name: _errors(
        (settings.online if settings.selection == LIVE else settings.offline)(chain, one.privacy),
        words, parts) for name, settings in one.settings.available().items()}
    means = {name: float(each @ found) for name, found in errors.items()}
    best = min(means, key=lambda name: means[name])
    difference = errors[taken.name] - errors[best]
    variance = sum(weight**2 * difference[part].var(ddof=1) / len(part)
                   for weight, part in zip(weights, parts, strict=True))
    return Found(taken.name, best, means[taken.name] - means[best], sqrt(variance), seconds, means)


def _errors(mechanism: Mechanism, words: Sequence[Sequence[str]],
            parts: Sequence[Floats]) -> Floats:
    if not mechanism.law.counting_steps(len(words[0])):
        return errors_of_words(mechanism, words, draws=1)
    other = OfflineMechanism(mechanism.chain, mechanism.privacy, base='counting')
    found = errors_of_words(other, words)
    for part in parts:
        few = part[:max(2, COUNTED * len(part) // len(words))]
        found[part] += (errors_of_words(mechanism, [words[i] for i in few]) - found[few]).mean()
    return found


def main(settings: int = SETTINGS) -> None:
    """Print a row for each setting, and the worst."""
    random, worst, slowest = Random(SEED), 0.0, 0.0
    for i in range(settings):
        one = case(random)
        found = find(one, i)
        worst, slowest = max(worst, found.worse), max(slowest, found.seconds)
        print(f'{one.map} ({len(one.chain)} states), {one.moves}, trust {one.settings.trust:g}, '
              f'ε = {one.privacy.epsilon:g}, k = {one.privacy.adjacency}, n = {one.length}: took '
              f'{found.taken}, best {found.best}; worse by {found.worse:.4f} ± '
              f'{found.standard_error:.4f}; {found.seconds:.1f} s; '
              + '; '.join(f'{name} {error:.3f}' for name, error in found.errors.items()),
              flush=True)
    print(f'{settings} settings: worse by at most {worst:.4f}; a choice took at most '
          f'{slowest:.1f} s')


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
