# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
One more model of how the robot moves, which a word learns from its own signals.

Whatever is computed of signals costs no ε. At public times, every `EVERY` ticks or as soon as the
block under way has ended, the signals since the last such time are smoothed with the models as
they are, and the moves that are then expected,

    ξ(s, s') = Σ_t P[s_t = s, s_{t+1} = s' | these signals],

are added to what was counted before, of which a share is forgotten: half at first, since what was
expected by models that know nothing is soon wrong, and less each time, down to `LEAST`. ξ is
between the moves by which it was expected, P, and those that the robot made: the less signals
tell, the nearer to P. So added is, where that is not negative,

    ξ(s, s') + (η − 1)·(ξ(s, s') − Σ ξ(s, ·)·P(s'|s)),    η = ε/k, at least 1, at most 2.

Where ξ is what P says, that is ξ, whatever η: it only gets there sooner. (It is called
over-relaxation of expectation–maximisation.) At small ε/k it would add to the noise. The own
model moves from s to s' with

    (counts(s, s') + ALIKE·P̄(s'|s)) / (Σ counts(s, ·) + ALIKE),

P̄ the mean of the public models, each as likely as it is by then. From the first such time on the
own model has the weight `WEIGHT` among the models, and the others the rest; the switch finds it
where the robot has habits.

**Privacy.** The own model is a function of signals and of public data, and so is f. The proof of
the policy (`core.online.adaptive.adaptive`) holds for any f. It is computed when as many ticks
have passed as the signals say, whatever the symbols were, and takes the same time for all of them.

**A restart.** A state has the f and the counts of the last such time before the first report that
is left, and all signals since then: what goes on from it learns the same again.
"""
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from symdp_ros.core.annotations import Booleans, Floats
from symdp_ros.core.models import Models
from symdp_ros.core.online.adaptive.moves import before_beginning, Moves

EVERY = 100    # ticks
ALIKE = 3.0    # moves from each state
WEIGHT = 0.7
LEAST = 0.05   # of what was counted, that is forgotten each time
OWN = 'as it moved so far'


class OwnMoves:
    """
    What one word has learnt.

    :param models: the public ones; of a chain that stores its edges.
    :param begin: the tick from which on signals are noted.
    :param joint: f of that tick.
    :param previous: the last report before it, by which cells are chosen without a delay; else 0.
    :param counts: moves that were expected before, of each edge; None: nothing is learnt yet.
    :param ahead: what a route can be in at that tick; None: there are no zones.
    """

    def __init__(self, models: Models, begin: int, joint: Floats, previous: int,
                 counts: Floats | None = None, ahead: Booleans | None = None):
        self.models, self.begin, self.joint, self.ahead = models, begin, joint.copy(), ahead
        self.counts, self.previous = counts, previous
        #: of each report since then, what was told with it
        self.told: list[Any] = []
        self.former: 'OwnMoves | None' = None

    def moves(self) -> Moves | None:
        """Return the public models and the own one; None: nothing is learnt yet."""
        if self.counts is None:
            return None
        models, offsets = self.models, self.models.offsets
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        likely = self.joint[-len(models):].sum(axis=(1, 2))
        counts = self.counts + ALIKE * (likely / likely.sum() @ models.weights.astype(np.float64))
        own = counts / np.bincount(sources, counts)[sources]
        return Moves(Models((OWN, *models.names), np.vstack([own[None], models.weights]).astype(
            np.float32), np.append(WEIGHT, (1 - WEIGHT) * models.prior), offsets, models.targets))

    def is_due(self, count: int) -> bool:
        """Return whether a word that stands at a tick, and in no block, learns there."""
        return count >= self.begin + EVERY

    def since(self, needed: int) -> 'OwnMoves':
        """Return what a state begins with, if all from some tick on is needed; forget the rest."""
        first = self
        while first.former is not None and first.begin > needed:
            first = first.former
        first.former = None
        return first

    def all_told(self) -> list[Any]:
        """Return what was told since what a state begins with, of each report."""
        return self.told if self.former is None else [*self.former.all_told(), *self.told]

    def learnt(self, moves: Moves, eta: float, ticks: int, joint: Floats, previous: int,
               ahead: Booleans | None,
               made: Callable[[Floats, Any], tuple[Floats, Floats | None, Floats]]) -> 'OwnMoves':
        """
        Return what goes on after the signals that were noted.

        :param moves: by which they were filtered.
        :param eta: η.
        :param ticks: of each report.
        :param joint, previous, ahead: of the tick after them.
        :param made: of f and what was told: f as it was then, the likelihood of what was told, and
            f one tick later.
        """
        steps, here = [], self.joint
        for told in self.told:
            for tick in range(ticks):
                before, likelihood, here = made(here, told if tick == 0 else None)
                steps.append((before, told if tick == 0 else None, likelihood))
        counts = np.zeros(len(self.models.targets))
        for pairs in _pairs(moves, steps):
            counts += pairs
        likely, sources = joint.sum(axis=(1, 2)), moves.ends[0]
        expected = np.bincount(sources, counts)[sources] * (likely / likely.sum() @ moves.weights)
        counts = np.maximum(counts + (eta - 1) * (counts - expected), 0.0)
        if self.counts is not None:
            counts += (1 - max(LEAST, 1 / (2 + self.begin / (3 * EVERY)))) * self.counts
        else:
            joint = extended(joint)
        after = OwnMoves(self.models, self.begin + ticks * len(self.told), joint, previous,
                         counts, ahead)
        after.former = self
        return after


def extended(joint: Floats) -> Floats:
    """Return f with the own model at the weight `WEIGHT`; nothing is known of it yet."""
    return np.concatenate([WEIGHT * joint.sum(axis=0, keepdims=True), (1 - WEIGHT) * joint])


def _pairs(moves: Moves, steps: list[tuple[Floats, Any, Floats | None]]) -> Iterator[Floats]:
    """Yield how likely each move was at each tick but the last one, from the last one back."""
    weights, (sources, targets) = moves.weights, moves.ends
    after: Floats | None = None
    for joint, told, likelihood in reversed(steps):
        turn = None if told is None else told.turns
        if after is not None:
            left = joint if turn is None else turn.forward(joint)
            if likelihood is not None:
                left = left * likelihood
            weighed = np.einsum('mec,me,mec->e', moves.switched(left)[:, sources], weights,
                                after[:, targets])
            total = weighed.sum()
            if total > 0:
                yield weighed / total
            after = after / max(after.max(), 1e-300)
            moves.backward(after, 1.0)
        else:
            columns = joint.shape[2] if turn is None else turn.after[0]
            after = np.zeros((moves.models, moves.states + 1, columns))
            after[:, :-1] = 1.0
        if likelihood is not None:
            after[:, :-1] *= likelihood
        if turn is not None:
            after = turn.backward(after)
        if told is not None and told.again is not None:
            before_beginning(joint, after, told.again)
