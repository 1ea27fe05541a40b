# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.why_not FILE.md` (`make why-not`): docs/why-not.md, simpler ideas than ours.

One adversary attacks each idea on the sample clinic. It knows the map, P and the idea, sees all
that is published, and by Bayes' rule (a forward-backward pass) guesses the place of each second.
Where a docstring says so, it leaves out a part of what it could know: a better attack succeeds
more often.
"""
from collections import Counter
from collections.abc import Callable
import json
from math import comb, exp

import numpy as np
from studies.common import CONFIG, DOCS, filled, page_command
from studies.compare.adversary import transitions
from studies.coordination.page import summary  # noqa: F401: for the page
from studies.zones import clinic, PERIOD, protected, STAY
from studies.zones import PROTECT  # noqa: F401: for the page
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.analysis.adversary import best_guess
from symdp_ros.core.annotations import Floats, Ints
from symdp_ros.maps import read_graph
from symdp_ros.maps.reports import Reports

SECONDS, WALKS, SEED = 1_200, 40, 1
DELAYS = 60, 300         # seconds: a minute and five, as the page says
SIGMA, REACH = 5.0, 20   # metres: of the noise of each report, of an offset that stays
EPSILON = 3.0            # of RAPPOR's answers
ROBOTS, CROWD = 5, 3     # robots in the clinic, and how many share what is published


class Clinic:
    """
    The sample clinic, a robot's moves P in it (S × S, one second), and walks by P.

    `walks` is WALKS × SECONDS positions of states; each robot starts in the lift.
    """

    def __init__(self) -> None:
        graph, zones = clinic()
        chain = Reports(1.0, stay=STAY).chain(graph)
        self.states, size = chain.states, len(chain.states)
        index = chain.state_index
        self.moves: Floats = transitions(chain).toarray()
        self.start: Floats = np.zeros(size)
        self.start[index[chain.initial_state]] = 1.0
        self.places: Floats = np.array([graph.positions[state] for state in chain.states])
        self.zones: Ints = np.array([[state in states for states in zones.values()].index(True)
                                     for state in chain.states])
        self.walks: Ints = np.array([[index[state] for state in word]
                                     for word in patrols(chain, SECONDS, WALKS)])

    def right(self, evidence: Callable[[Ints], Floats]) -> float:
        """
        Return how often the adversary's best guess is right, over all walks and seconds.

        :param evidence: walk → likelihoods of what is published, SECONDS × S (of s_t) or
            SECONDS × S × S (of s_{t−1} and s_t).
        """
        return float(np.mean([self.posteriors(evidence(walk)).argmax(axis=1) == walk
                              for walk in self.walks]))

    def posteriors(self, evidence: Floats) -> Floats:
        """Return the chances of the places of each second, given all evidence: SECONDS × S."""
        steps = self.moves * (evidence if evidence.ndim == 3 else evidence[:, np.newaxis, :])
        forward, backward = np.empty((2, len(steps), len(self.states)))
        now = self.start
        for t, step in enumerate(steps):
            now = now @ step
            now /= now.sum()
            forward[t] = now
        back = np.ones(len(self.states))
        for t in range(len(steps) - 1, -1, -1):
            backward[t] = back
            back = steps[t] @ back
            back /= back.max()
        return forward * backward


def nothing(clinic: Clinic) -> float:
    """Return the success where nothing is published."""
    return clinic.right(lambda walk: np.ones((len(walk), len(clinic.states))))


def wards(clinic: Clinic) -> float:
    """Return the success where the zones are published."""
    return clinic.right(lambda walk: clinic.zones == clinic.zones[walk][:, None])


def speed(clinic: Clinic) -> float:
    """Return the success where only the distance driven in each second is published."""
    driven = np.rint(np.linalg.norm(clinic.places[:, None] - clinic.places[None], axis=2))

    def evidence(walk: Ints) -> Floats:
        before = np.concatenate([[clinic.start.argmax()], walk[:-1]])
        return (driven == driven[before, walk][:, None, None]).astype(float)

    return clinic.right(evidence)


def offset(clinic: Clinic) -> float:
    """
    Return the success where one offset, unknown, is added to the positions of a whole walk.

    The start is not known either. An offset is possible where it makes a route of the map from
    what is published; the likeliest of these counts.
    """
    hits = []
    unit = np.random.default_rng(SEED).uniform(-REACH, REACH, (WALKS, 2))
    for walk, moved in zip(clinic.walks, unit, strict=True):
        seen = clinic.places[walk] + moved
        best, guess = -np.inf, walk * 0
        for first in clinic.places:
            found = seen - (seen[0] - first)
            near = np.linalg.norm(found[:, None] - clinic.places[None], axis=2)
            if np.abs(seen[0] - first).max() > REACH or near.min(axis=1).max() > 1e-6:
                continue
            route = near.argmin(axis=1)
            with np.errstate(divide='ignore'):
                likely = np.log(clinic.moves[route[:-1], route[1:]]).sum()
            if likely > best:
                best, guess = likely, route
        hits.append(guess == walk)
    return float(np.mean(hits))


def noise(clinic: Clinic) -> tuple[float, float]:
    """Return the success under fresh noise, and how many raw moves the map allows."""
    random, seen = np.random.default_rng(SEED), []

    def evidence(walk: Ints) -> Floats:
        reports = clinic.places[walk] + random.normal(0.0, SIGMA, (len(walk), 2))
        squares = ((reports[:, None] - clinic.places[None]) ** 2).sum(axis=2)
        nearest = squares.argmin(axis=1)
        seen.append(clinic.moves[nearest[:-1], nearest[1:]] > 0)
        return np.exp((squares.min(axis=1, keepdims=True) - squares) / (2 * SIGMA ** 2))

    return clinic.right(evidence), float(np.mean(seen))


def pseudonyms(clinic: Clinic) -> float:
    """Return the share of time in places whose pseudonym another walk shows, that became known."""
    return float(np.mean([np.isin(walk, other) for walk, other in zip(
        clinic.walks, np.roll(clinic.walks, 1, axis=0), strict=True)]))


def told_apart() -> tuple[int, int]:
    """
    Return how many places of the sample depot the moves alone identify, and how many there are.

    By colour refinement from the place where the robot starts: places are told apart by their
    distance from it, and then by the places that they lead to.
    """
    graph = read_graph(CONFIG / 'depot.geojson')
    colours = {state: int(state == next(iter(graph.successors))) for state in graph.successors}
    while True:
        signs = {state: (colours[state], tuple(sorted(colours[target] for target in row)))
                 for state, row in graph.successors.items()}
        order = {sign: number for number, sign in enumerate(sorted(set(signs.values())))}
        if len(order) == len(set(colours.values())):
            return list(Counter(signs.values()).values()).count(1), len(signs)
        colours = {state: order[sign] for state, sign in signs.items()}


def delayed(clinic: Clinic, seconds: int) -> float:
    """Return how often the best guess of the place now is right that knows the one back then."""
    later = np.linalg.matrix_power(clinic.moves, seconds).argmax(axis=1)
    return float(np.mean(later[clinic.walks[:, :-seconds]] == clinic.walks[:, seconds:]))


def remembered(clinic: Clinic) -> tuple[float, float]:
    """
    Return the success against RAPPOR's memory before, and after a walk has become known.

    Each place has one answer for ever, by randomized response with ε. The adversary takes answers
    of places that it does not know for independent ones, which is less than it could know.
    """
    size = len(clinic.states)
    random, known = np.random.default_rng(SEED), np.roll(clinic.walks, 1, axis=0)
    kept = exp(EPSILON) / (size - 1 + exp(EPSILON))
    chances = np.full((size, size), (1 - kept) / (size - 1))
    np.fill_diagonal(chances, kept)
    hits: tuple[list[Ints], list[Ints]] = ([], [])
    for walk, other in zip(clinic.walks, known, strict=True):
        answers = np.array([random.choice(size, p=row) for row in chances])
        learned = chances.copy()
        for state in set(other.tolist()):
            learned[state] = np.arange(size) == answers[state]
        for found, table in zip(hits, (chances, learned), strict=True):
            found.append(clinic.posteriors(table[:, answers[walk]].T).argmax(axis=1) == walk)
    return float(np.mean(hits[0])), float(np.mean(hits[1]))


def crowded(clinic: Clinic) -> tuple[float, float, float]:
    """
    Return the success against k-anonymity, that of who knows the others, and the share told.

    The ward is published while at least CROWD of ROBOTS robots are in it, else nothing. Who does
    not know the others takes them to be where such robots are on average.
    """
    shown, alone, knowing = [], [], []
    usual = np.bincount(clinic.walks.ravel(), minlength=len(clinic.states)) / clinic.walks.size
    share = np.array([usual[clinic.zones == zone].sum() for zone in clinic.zones])
    enough = 1 - sum(comb(ROBOTS - 1, others) * share ** others
                     * (1 - share) ** (ROBOTS - 1 - others) for others in range(CROWD - 1))
    for first, walk in enumerate(clinic.walks):
        team = clinic.zones[np.roll(clinic.walks, -first, axis=0)[:ROBOTS]]
        others = (team[1:, :, None] == clinic.zones).sum(axis=0) >= CROWD - 1
        told = others[np.arange(len(walk)), walk][:, None]
        own = clinic.zones == team[0][:, None]
        for hits, chance in (alone, enough), (knowing, others):
            evidence = np.where(told, chance * own, 1.0 - chance)
            hits.append(clinic.posteriors(evidence).argmax(axis=1) == walk)
        shown.append(told)
    return float(np.mean(alone)), float(np.mean(knowing)), float(np.mean(shown))


def ours(epsilon: float) -> float:
    """Return the success against `policy: adaptive`, one symbol in 31 s (a visit of 30 s)."""
    mechanism = protected(Reports(1.0, stay=STAY).chain(clinic()[0]), epsilon)
    return best_guess(mechanism, SECONDS // PERIOD + 1, walks=WALKS).after


def page() -> str:
    """Return the page in Markdown."""
    place = Clinic()
    stored = json.loads((DOCS / 'evidence' / 'coordination.json').read_text(encoding='utf-8'))
    told, drawn = noise(place)
    single, many = told_apart()
    before, after = remembered(place)
    shared, collude, shown = crowded(place)
    return filled(__file__, {**globals(), **locals()})


if __name__ == '__main__':
    page_command('why_not', page)
