# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A published team that acts on private symbols, rebuilt.

B. Chen, C. Hawkins, M. O. Karabag, C. Neary, M. Hale, U. Topcu, *Differential privacy in
cooperative multiagent planning* (UAI 2023), its two-agent navigation, after the settings in
`cyrusneary/differential_privacy_in_mas`. Two robots change sides in a grid; they fail where they
meet or step into lava. Robot 0 acts on its own cell alone, robot 1 on its own cell and on what it
hears of robot 0's cell, before each move. Two teams: 'reaching' reaches the target most often
with true symbols; 'independent' (their minimum dependency policy) also needs the other's cell
little, by the total correlation of the two.

Their convex programs are solved here without a solver: with the other terms linear, an objective
with the entropy of the joint action has its optimum at
V(s) = τ·log Σ_a ref(a|s)·exp(Q(s, a)/τ).
"""
from functools import cache
from typing import NamedTuple

import numpy as np
from studies.coordination.hearing import Hearing
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

SIZE, SLIP, ADJACENCY, MOST_STEPS = 5, 0.05, 3, 200
WALLS, LAVA = ((0, 2), (2, 2), (4, 2)), ((0, 0), (0, 1), (0, 3))
START, TARGET = ((4, 0), (4, 4)), ((4, 3), (4, 1))
REACH, STEP, CORRELATION, ROUNDS = 10.0, 0.1, 4.0, 40  # of the objective of 'independent'
FIRST_LENGTH, FIRST_ENTROPY = 20.0, 0.1                # of the team it is improved from
SHARP = 1e-5                                           # τ of 'reaching': in place of 0
TEAMS = ('reaching', 'independent')
CELLS = [(row, column) for row in range(SIZE) for column in range(SIZE)
         if (row, column) not in WALLS]
_INDEX = {cell: i for i, cell in enumerate(CELLS)}
_ACTIONS = ((0, 1), (-1, 0), (0, -1), (1, 0), (0, 0))
_LEAST = 1e-10  # occupancies below count as this much


class Team(NamedTuple):
    """How the two robots act: the chances of the actions."""

    first: np.ndarray   # shape (cells, actions)
    second: np.ndarray  # shape (cells of robot 0, cells, actions)


@cache
def moves() -> np.ndarray:
    """Return a robot's chance of each next cell: shape (cells, actions, cells)."""
    chances = np.zeros((len(CELLS), len(_ACTIONS), len(CELLS)))
    for i, (row, column) in enumerate(CELLS):
        ends = [_INDEX.get((row + down, column + right)) for down, right in _ACTIONS]
        possible = [end for end in ends if end is not None]
        for action, end in enumerate(ends):
            if end is None:
                chances[i, action, possible] = 1 / len(possible)
            else:
                chances[i, action, possible] = SLIP / (len(possible) - 1)
                chances[i, action, end] = 1 - SLIP
    return chances


@cache
def _ends() -> tuple[np.ndarray, np.ndarray]:
    """Return where a run ends, and where it ends well: shapes (cells, cells)."""
    lava = np.array([cell in LAVA for cell in CELLS])
    well = np.zeros((len(CELLS), len(CELLS)), bool)
    well[tuple(_INDEX[cell] for cell in TARGET)] = True
    return well | np.eye(len(CELLS), dtype=bool) | lava[:, None] | lava, well


@cache
def team(name: str) -> Team:
    """Return a team; the second robot hears the first one's cell."""
    ended, well = _ends()
    shape = (len(CELLS),) * 2 + (len(_ACTIONS),) * 2
    if name == 'reaching':
        used = _occupancy(_soft(well * 1.0, np.zeros(shape), np.full(shape, 1 / 25), SHARP))
        return _local(used)
    surprise = -np.sum(moves() * np.log(np.where(moves() > 0, moves(), 1)), axis=2)
    surprise = surprise[:, None, :, None] + surprise[None, :, None, :]
    low, high = 0.1, 1.0  # of a step's cost: such that a run has FIRST_LENGTH steps on average
    for _ in range(30):
        cost = (low + high) / 2
        policy = _soft(well * 1.0, FIRST_ENTROPY * surprise - cost, np.ones(shape), FIRST_ENTROPY)
        used = _occupancy(policy)
        low, high = (cost, high) if used.sum() > FIRST_LENGTH else (low, cost)
    for _ in range(ROUNDS):
        mine = [used.sum(axis=(1 - robot, 3 - robot)) for robot in range(2)]  # cells, actions
        log0, log1 = (np.log(m / m.sum(axis=1, keepdims=True)) for m in mine)
        end = REACH * well + CORRELATION * (log0[:, None, -1] + log1[None, :, -1])
        reference = np.exp(log0[:, None, :-1, None] + log1[None, :, None, :-1])
        used = _occupancy(_soft(end, np.full(shape, -STEP), reference, CORRELATION))
    return _local(used)


def _soft(end: np.ndarray, reward: np.ndarray, reference: np.ndarray, tau: float) -> np.ndarray:
    """Return the best policy π(a0, a1 | s0, s1): shape (cells, cells, actions, actions)."""
    ended, _ = _ends()
    value = np.where(ended, end, 0.0)
    for _ in range(3000):
        total = reward + np.einsum('iax,xy,jby->ijab', moves(), value, moves(), optimize=True)
        most = total.max(axis=(2, 3), keepdims=True)
        weights = reference * np.exp((total - most) / tau)
        new = most[:, :, 0, 0] + tau * np.log(weights.sum(axis=(2, 3)))
        new = np.where(ended, end, new)
        done = np.abs(new - value).max() < 1e-9 or new.max() > 1e3
        value = new
        if done:
            break
    return weights / weights.sum(axis=(2, 3), keepdims=True)


def _occupancy(policy: np.ndarray) -> np.ndarray:
    """
    Return the expected number of times of each cells and actions: shape (cells, cells, 6, 6).

    The last action of each robot is that of having ended.
    """
    ended, _ = _ends()
    states = len(CELLS)**2
    matrix = np.einsum('ijab,iax,jby->ijxy', policy, moves(), moves(), optimize=True)
    matrix = np.where(ended[:, :, None, None], 0, matrix).reshape(states, states)
    begin = np.zeros(states)
    begin[_INDEX[START[0]] * len(CELLS) + _INDEX[START[1]]] = 1
    visits = np.linalg.solve(np.eye(states) - matrix.T, begin).reshape(ended.shape)
    used = np.zeros((*ended.shape, 6, 6))
    used[:, :, :-1, :-1] = np.where(ended, 0, visits)[:, :, None, None] * policy
    used[:, :, -1, -1] = np.where(ended, visits, 0)
    return np.maximum(used, _LEAST)


def _local(used: np.ndarray) -> Team:
    """Return what each robot does: robot 0 knowing its own cell, robot 1 both."""
    used = used[:, :, :-1, :-1]
    first, second = used.sum(axis=(1, 3)), used.sum(axis=2)
    return Team(first / first.sum(axis=1, keepdims=True),
                second / second.sum(axis=2, keepdims=True))


@cache
def chain(name: str) -> Chain:
    """Return robot 0's cells: it moves as the team, which is public, lets it move."""
    chances = np.einsum('sa,sax->sx', team(name).first, moves())
    return Chain({f'{row}{column}': {
        '{}{}'.format(*CELLS[j]): chances[i, j] for j in np.flatnonzero(moves()[i].sum(axis=0))}
        for i, (row, column) in enumerate(CELLS)}, '{}{}'.format(*START[0]))


def with_true_symbols(name: str) -> tuple[float, float]:
    """Return the chance of success and the expected steps, exactly but for the limit of steps."""
    ended, well = _ends()
    plan = team(name)
    used = _occupancy(plan.first[:, None, :, None] * plan.second[:, :, None, :])
    ends = used[:, :, -1, -1]
    return float(ends[well].sum()), float(used.sum() - ends.sum())


def runs(name: str, policy: str, epsilon: float, belief: bool, count: int, seed: int,
         delay: int = 0) -> np.ndarray:
    """Return which of some runs with private symbols succeed: shape (count,)."""
    random = np.random.default_rng(seed)
    plan, (ended, well) = team(name), _ends()
    mechanism = OnlineMechanism(chain(name), Privacy(epsilon, ADJACENCY), policy=policy,
                                trust=1.0, delay=delay)
    hearing = Hearing([mechanism] * count, seed)
    success, going = np.zeros(count, bool), np.arange(count)
    first, second = (np.full(count, _INDEX[cell]) for cell in START)
    for _ in range(MOST_STEPS):
        heard = hearing.step(first)
        cell = hearing.beliefs.argmax(axis=1) if belief else heard
        acts = _draw(random, plan.first[first]), _draw(random, plan.second[cell, second])
        first, second = (_draw(random, moves()[cells, act])
                         for cells, act in zip((first, second), acts, strict=True))
        over = ended[first, second]
        success[going[over]] = well[first, second][over]
        if over.all():
            break
        going, first, second = going[~over], first[~over], second[~over]
        hearing.keep(~over)
    return success


def _draw(random: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """Return a draw from each row."""
    return (chances.cumsum(axis=1) < random.random((len(chances), 1))).sum(axis=1).clip(
        max=chances.shape[1] - 1)
