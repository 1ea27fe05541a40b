# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
An intruder who wants to enter a vertex unseen, and predicts when no robot comes.

At each step t the intruder knows the map, the strategy, the policy, ε, and all that was public up
to t: the true places, the private symbols, or nothing; and has watched simulated patrols of the
same kind, with everything in view. It picks the vertex at which a visit is least likely at the
steps t+1 … t+T, where T = ⌈vertices / robots⌉: the time in which a perfect patrol sees every
vertex. It succeeds where no robot comes there in this time. A patient intruder tries only at the
tenth of the steps at which its forecast is best.

The forecast is a logistic regression on what is public (`clues`), fitted to one half of the runs
and used in the other half, and the other way round.
"""
from typing import NamedTuple

import numpy as np
from studies.coordination.patrol import Map, Patrol

PATIENT = 0.1   # the share of steps at which a patient intruder tries
RIDGE = 1e-3    # keeps the regression finite where some clue says nothing


class Success(NamedTuple):
    """The share of tries that succeed, in each run: arrays of shape (runs,)."""

    always: np.ndarray
    patient: np.ndarray


def success(area: Map, patrol: Patrol, burn_in: int) -> Success:
    """Return how often the intruder succeeds."""
    window = area.window
    comes = _comes(patrol.visited, window)[burn_in:]
    public = clues(area, patrol)[burn_in:len(comes) + burn_in]
    runs = comes.shape[1]
    always, patient = np.empty(runs), np.empty(runs)
    for half in range(2):
        mine, its = np.arange(half, runs, 2), np.arange(1 - half, runs, 2)
        usual = np.log(1e-3 + comes[:, its].mean(axis=(0, 1)))
        weights = _fit(_with(public[::window, its], usual), comes[::window, its])
        forecast = _with(public[:, mine], usual) @ weights
        vertex = forecast.argmin(axis=2)[..., None]
        unseen = ~np.take_along_axis(comes[:, mine], vertex, axis=2)[..., 0]
        least = np.take_along_axis(forecast, vertex, axis=2)[..., 0]
        few = max(1, round(PATIENT * len(comes)))
        # Stable: which of equal forecasts come first would else depend on the processor.
        best = np.argsort(least.round(9), axis=0, kind='stable')[:few]
        always[mine] = unseen.mean(axis=0)
        patient[mine] = np.take_along_axis(unseen, best, axis=0).mean(axis=0)
    return Success(always, patient)


def clues(area: Map, patrol: Patrol) -> np.ndarray:
    """
    Return what is public about each vertex at each step: shape (steps, runs, vertices, clues).

    The expected number of robots at each distance up to T; the log odds that a robot comes if all
    walk by the chain; and, both as inferred and as the robots take it to be: how long the vertex
    has been idle, the same compared with its neighbours, and how many robots have it as their most
    idle neighbour.
    """
    crowd = patrol.beliefs.sum(axis=2)
    rings = [crowd @ (area.distance == d).astype(np.float32) for d in range(area.window + 1)]
    reach = np.zeros((len(area), len(area)))  # P[a walk from u is at v within T steps]
    for _ in range(area.window):
        reach = area.moves @ np.where(np.eye(len(area), dtype=bool), 1, reach)
    nobody = (1 - patrol.beliefs @ reach.astype(np.float32)).clip(1e-4, 1 - 1e-4).prod(axis=2)
    nobody = nobody.clip(1e-4, 1 - 1e-4)
    return np.stack([*rings, np.log(1 - nobody) - np.log(nobody), *_idleness(area, patrol.beliefs),
                     *(() if patrol.seen is patrol.beliefs else _idleness(area, patrol.seen))],
                    axis=3)


def _idleness(area: Map, seen: np.ndarray) -> list[np.ndarray]:
    """Return the clues that come from how long vertices have been idle."""
    absent = (1 - seen).prod(axis=2)
    idle = np.zeros_like(absent)
    for t in range(1, len(idle)):
        idle[t] = (idle[t - 1] + 1) * absent[t]
    around = np.where(area.near, idle[:, :, None, :], 0)
    most = around.max(axis=3)
    heading = np.einsum('tru,truv->trv', seen.sum(axis=2),
                        (around == most[..., None]) & area.near, dtype=np.float32)
    return [np.log1p(idle), np.log1p(idle) - np.log1p(most), heading]


def _comes(visited: np.ndarray, window: int) -> np.ndarray:
    """Return whether a robot comes at t+1 … t+window: (steps − window, runs, vertices)."""
    return np.stack([visited[d:len(visited) - window + d] for d in range(1, window + 1)]).any(0)


def _with(public: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return the clues with a constant, and with how often the vertex is visited anyway."""
    shape = public.shape[:3]
    return np.concatenate([public, np.ones((*shape, 1), np.float32),
                           np.broadcast_to(usual[:, None], (*shape, 1))], axis=3)


def _fit(values: np.ndarray, comes: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method."""
    x, y = values.reshape(-1, values.shape[3]).astype(float), comes.ravel().astype(float)
    weights = np.zeros(x.shape[1])
    for _ in range(8):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - chance) / len(x) - RIDGE * weights
        bend = (x * (chance * (1 - chance))[:, None]).T @ x / len(x) + RIDGE * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(bend, slope)
    return weights
