# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Watching for a change: a mechanism for windows, the words that differ in w ticks in a row.

It *watches* for L ticks from tick b on, where a public state c is its reference: the alternatives
are "no change" and, for each of these ticks i and each y ≠ c, "the first change is at tick i, to
y": M changes. It draws one of them by randomized response, with the weights e^ε for what is true
and 1 for each other: they add up to K = e^ε + M. "A change at tick i" is said at tick i and
depends on no later one, so it can be drawn live. Then it is *blind* for w − 1 ticks: after tick i
where it said so, after all L ticks where it said "no change"; it watches again with what it said
last as reference. L = 1 is the slow clock.

**Claim.** The word of answers is ε-private for words that differ in w ticks in a row, for every
chain, w and L.

*Proof.* Fix the answers: they fix when it watches, and the references. Each answer depends on the
ticks from where it began to watch to where it spoke, and on no other. Between the last tick of one
answer and the first of the next lie w − 1 blind ticks, so w ticks in a row touch those of one
answer at most: all other factors of the probability of the answers are the same. That one has the
probability e^ε/K or 1/K. ∎
"""
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from studies.compare.adversary import transitions
from studies.compare.areas import area
from studies.optimum.program import CHAINS, Program
from symdp_ros.analysis.adversary import walk_distribution
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.online.response import exp_lower_bound

#: What was said: each a tick, from 1, and a state.
Answers = tuple[tuple[int, str], ...]

#: What `real_maps` compares: seconds that the robot stays, and w in seconds.
MAPS, STAYS = ('nav2/bringup_warehouse_graph.geojson', 'rmf/office.building.yaml'), (33, 100)
EPSILONS, VISIT = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0), 31
#: L and b of `rates`, in ticks.
SPANS, WIDTHS = (1, 2, 3, 5, 8, 12, 16, 24, 31, 45, 62, 90), (1, 2, 4, 8, 16, 31)


class Watch(NamedTuple):
    """
    How it is watched.

    :param first: the first tick that is watched.
    :param span: L ≥ 1, in ticks.
    :param window: w ≥ 1, in ticks.
    """

    first: int
    span: int
    window: int

    def answers(self, word: Sequence[str], states: Sequence[str],
                ratio: Fraction) -> Iterator[tuple[Answers, Fraction]]:
        """
        Yield all that can be said of a word, and how likely it is, exactly.

        :param states: of the chain; the first one is where the robot begins.
        :param ratio: in place of e^ε.
        """
        yield from self._go_on(word, states, ratio, self.first, states[0], (), Fraction(1))

    def _go_on(self, word: Sequence[str], states: Sequence[str], ratio: Fraction, begin: int,
               reference: str, said: Answers,
               chance: Fraction) -> Iterator[tuple[Answers, Fraction]]:
        if begin > len(word):
            yield said, chance
            return
        end = min(begin + self.span - 1, len(word))
        changes = [(i, y) for i in range(begin, end + 1) for y in states if y != reference]
        true = next(((i, word[i - 1]) for i in range(begin, end + 1)
                     if word[i - 1] != reference), None)
        total, rest = ratio + len(changes), Fraction(1)
        for change in changes:
            share = (ratio if change == true else 1) / total
            rest -= share
            yield from self._go_on(word, states, ratio, change[0] + self.window, change[1],
                                   (*said, change), chance * share)
        yield from self._go_on(word, states, ratio, end + self.window, reference, said,
                               chance * rest)


def watch_error(program: Program, watch: Watch) -> float:
    """Return the error of the best reader of the answers, who waits as the program does."""
    states, length = [*CHAINS[program.name]], program.length
    ratio = exp_lower_bound(Fraction(program.epsilon))
    joint: dict[Answers, dict[tuple[str, ...], float]] = {}
    for word in program.outputs:
        for said, chance in watch.answers(word, states, ratio):
            joint.setdefault(said, {})[word] = float(chance * program.chance(word))
    right = 0.0
    for t in range(length):
        latest = length if program.delay is None else t + 1 + program.delay
        heard: dict[Answers, dict[str, float]] = {}
        for said, words in joint.items():
            guess = heard.setdefault(tuple(a for a in said if a[0] <= latest), {})
            for word, chance_of in words.items():
                guess[word[t]] = guess.get(word[t], 0.0) + chance_of
        right += sum(max(guess.values()) for guess in heard.values())
    return 1 - right / length


def clock_error(program: Program, first: int) -> float:
    """Return the error of one signal in w ticks, from a first tick on."""
    return watch_error(program, Watch(first, 1, program.adjacency))


def best_watch(program: Program) -> tuple[float, int, int]:
    """Return the least error of all first ticks and spans, and these two."""
    return min((watch_error(program, Watch(first, span, program.adjacency)), first, span)
               for first in range(1, program.adjacency + 1)
               for span in range(1, program.length + 1))


def rates(chain: Chain, window: int, epsilon: float) -> tuple[float, float, int, int]:
    """
    Return how many bits a tick a slow clock tells of the robot, and watching; with its L and b.

    Both know, when they begin, where the robot was at the tick before, and both use ε in each
    `window` ticks. The clock asks for the m − 1 likeliest states and "any other", for the m ≤ 12
    that tell the most. Watching asks for the next place and in which b ticks the robot goes there
    (b = 1: the mechanism of this module), for the L and b that tell the most.

    :param chain: of ticks, in which every state can be left and the robot stays equally long.
    """
    moves = transitions(chain).toarray()
    stays, ways = moves[0, 0], moves - np.diag(np.diag(moves))
    at = walk_distribution(chain, 400)[-1]
    later = np.linalg.matrix_power(moves, window)
    clock = float(sum(chance * max(_bits(np.append(row[:m], row[m:].sum()), epsilon)
                                   for m in range(12))
                      for chance, row in zip(at, -np.sort(-later, axis=1), strict=True))) / window

    def watched(span: int, width: int) -> float:
        begins = np.arange(0, span, width)
        ends = np.minimum(begins + width, span)
        bits = ticks = 0.0
        for chance, row in zip(at, ways, strict=True):
            changes = np.outer((stays**begins - stays**ends) / (1 - stays), row[row > 0]).ravel()
            law = np.append(changes, 1 - changes.sum())
            bits += chance * _bits(law, epsilon)
            said = _said(law, epsilon) @ np.append(np.repeat(ends, (row > 0).sum()), span)
            ticks += chance * (said + window - 1)
        return bits / ticks

    return clock, *max((watched(span, width), span, width)
                       for span in SPANS for width in WIDTHS if width <= span)


def real_maps() -> list[dict[str, Any]]:
    """Return `rates` on real maps, for a visit of 30 s and ticks of a second."""
    return [{'map': name, 'stays': stays, 'epsilon': epsilon,
             'rates': [round(rate, 4) for rate in found[:2]], 'watched': found[2:]}
            for name in MAPS for stays in STAYS for epsilon in EPSILONS
            for found in [rates(area(name).chain(stays), VISIT, epsilon)]]


def _said(law: Floats, epsilon: float) -> Floats:
    """Return the law of what randomized response says of a thing of this law."""
    found: Floats = (law * (np.exp(epsilon) - 1) + 1) / (np.exp(epsilon) + len(law) - 1)
    return found


def _bits(law: Floats, epsilon: float) -> float:
    """Return how many bits randomized response tells of a thing of this law."""
    one = np.zeros(len(law))
    one[0] = 1.0
    said, noise = _said(law, epsilon), _said(one, epsilon)
    return float(noise @ np.log2(noise) - said @ np.log2(said))
