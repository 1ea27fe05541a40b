# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy adaptive in plain Python: its X, its cells, its reports by a search of all routes."""
from itertools import accumulate
from math import exp, log

from hidden_switch import adaptive_posteriors
import numpy as np
import pytest
from strategies import feasible_words, FOUR, RING, sharp, SPLIT
from symdp_ros import Chain, OnlineMechanism, Privacy

#: Far from uniform; where two ways part for ever; with a period; some states never visited.
HABIT = Chain({'a': {'a': 0.9, 'b': 0.09, 'c': 0.01}, 'b': {'c': 1.0},
               'c': {'a': 1e-12, 'b': 0.3, 'c': 1 - 0.3 - 1e-12}}, 'a')
PARTED = Chain({'a': {'b': 0.001, 'c': 0.998, 'a': 0.001}, 'b': ['b'], 'c': {'c': 1.0},
                'd': ['a', 'b', 'c', 'd']}, 'a')
PERIOD = Chain({'a': {'b': 0.95, 'd': 0.05}, 'b': {'a': 0.5, 'c': 0.5}, 'c': ['b', 'd'],
                'd': {'c': 0.99, 'a': 0.01}}, 'd')
#: Where no state can stay, all models that need no knowledge are one.
RESTLESS = Chain({'a': ['b', 'c'], 'b': ['c'], 'c': ['b', 'a']}, 'a')
ALONE = Chain({'a': ['a']}, 'a')
#: Two branches, in which it is here and there by turns: every other time who reports the one has
#: no cell for the other, from which no moves lead to it either.
FORKED = Chain({'a': {'c': 0.4, 'd': 0.3, 'e': 0.3}, 'b': {'c': 0.7, 'e': 0.3}, 'c': ['b'],
                'd': ['g'], 'e': ['b'], 'g': ['d']}, 'a')
MODELS = {'four': FOUR, 'ring': RING, 'split': SPLIT, 'habit': HABIT, 'parted': PARTED,
          'period': PERIOD, 'restless': RESTLESS, 'forked': FORKED}
for_all_models = pytest.mark.parametrize('chain', sharp(
    MODELS, 'four', 'split', 'habit', 'forked'))


def made(chain, epsilon=2.0, adjacency=1, **options):
    return OnlineMechanism(chain, Privacy(epsilon, adjacency), policy='adaptive', **options)


def hub(leaves):
    """Return a chain with more followers than numbers of cells are tried one by one."""
    names = [f'l{i}' for i in range(leaves)]
    return Chain({'hub': ['hub', *names]} | {
        name: {name: 0.5 - i / 100, 'hub': 0.3, names[i - 1]: 0.2 + i / 100}
        for i, name in enumerate(names)}, 'hub')


def values(chain, ratio, trust, discount=0.9):
    """Return X(c, s), shape (states, states), by 400 sweeps of its equation."""
    n, weights, (offsets, successors) = len(chain), chain.models(trust).mean, chain.csr()
    rows = [{int(successors[e]): float(weights[e]) for e in range(offsets[s], offsets[s + 1])}
            for s in range(n)]
    aimed = []
    for row in rows:
        largest = accumulate(sorted(row.values(), reverse=True))
        aimed.append(max(ratio / (ratio + m) * sum_ for m, sum_ in enumerate(largest))
                     if len(row) > 1 else 1.0)
    U = np.zeros((n, n))  # of (o, s)
    for _ in range(400):
        X = np.array([[(c == s) + discount * sum(p * U[c, t] for t, p in rows[s].items())
                       for s in range(n)] for c in range(n)])
        for o, row in enumerate(rows):
            reached, other = X[[*row]], (1 - aimed[o]) / max(1, len(row) - 1)
            U[o] = other * reached.sum(axis=0) + (aimed[o] - other) * reached.max(axis=0)
    return X


def table(mechanism):
    """Return X(c, s) of the mechanism's tables; 0 where a pair is left out."""
    return mechanism.tables.X.of(np.arange(len(mechanism.chain)))


def belief(mechanism):
    """Return f(s) of the next symbol, bit by bit."""
    return mechanism._word._word.belief[:, 0].tolist()


def candidates(mechanism, f, X, inside=None):
    """Return the states that may found cells, in order; and whether one is reported at once."""
    chain, at_once = mechanism.chain, mechanism.delay == 0 and mechanism.reports <= 10
    largest = max(12, min(1024, int(chain.out_degrees().max())))
    some = range(len(chain)) if inside is None else inside
    if at_once:
        able = [chain.state_index[s] for s in chain.successors(mechanism.previous)]
        able = [s for s in able if s in some]
        at_once, some = bool(able), able or some
    found = sorted(some, key=lambda s: -f[s])[:largest]
    if at_once:
        found.sort(key=lambda c: -sum(p * float(X[c, s]) for s, p in enumerate(f) if p > 1e-9))
    return found, at_once


def joined(X, founders, s):
    """Return the number of the cell that s joins for X, from 0; None: of none."""
    best, found = 0.0, None
    for number, c in enumerate(founders):
        if X[c, s] > best + 1e-12:
            best, found = X[c, s], number
    return found


def worth(mechanism, f, X, founders, every, at_once):
    """Return what the choice of the cells makes as large as it can."""
    m, ratio = len(founders), exp(min(float(mechanism.privacy.epsilon_per_symbol), 64))
    likely = [s for s, p in enumerate(f) if p > 1e-9]
    cells = {s: joined(X, founders, s) for s in likely}

    def chance(z, s):
        return 1 / m if cells[s] is None else (ratio if cells[s] == z else 1) / (ratio + m - 1)

    found = 0.0
    for z in range(m):
        p = sum(f[s] * chance(z, s) for s in likely)
        found += sum(f[s] * chance(z, s) * log(chance(z, s)) for s in likely) - p * log(p)
    if at_once:
        found = 0.1 * found + sum(max(sum(f[s] * chance(z, s) * X[c, s] for s in likely)
                                      for c in every) for z in range(m))
    return found


def check_cells(mechanism, f=None, inside=None, states=None):
    """
    Compare founders, number and members of the cells with plain Python.

    With zones: f, given the zone; states that may found cells; all states of the zone.
    """
    chain, X = mechanism.chain, table(mechanism)
    f = belief(mechanism) if f is None else f
    rows = {s: mechanism.exact_current_distribution(s) for s in states or chain.states}
    founders = [chain.state_index[s] for s in next(iter(rows.values()))]
    (every, at_once), size = candidates(mechanism, f, X, inside), len(founders)
    assert founders == every[:size]
    found = {m: worth(mechanism, f, X, every[:m], every, at_once)
             for m in {*range(1, min(12, len(every)) + 1), len(every)}}
    best = max(found.values())
    assert found[size] >= best - 1e-9
    assert all(found[m] < found[size] + 1e-12 for m in found if m < size)
    if size == 1:
        return
    cells = {}  # as drawn
    for s, row in rows.items():
        largest = max(row.values())
        cells[chain.state_index[s]] = (
            [*row.values()].index(largest) if min(row.values()) < largest else None)
    expected = [joined(X, founders, s) for s in range(len(chain))]
    while states is None:  # those that no founder can follow: from whence the fewest moves lead
        after = {}
        for s, cell in enumerate(expected):
            for there in chain.successors(chain.states[s]) if cell is not None else ():
                after.setdefault(chain.state_index[there], set()).add(cell)
        new = {s: near for s, near in after.items() if expected[s] is None}
        for s, near in new.items():
            assert cells[s] in near
            expected[s] = cells[s]
        if not new:
            break
    assert all(cell == expected[s] or states and expected[s] is None for s, cell in cells.items())


def best_routes(mechanism, signals, previous, count, ended):
    """
    Return (value, route) of every feasible route of the last symbols, the best first.

    :param previous: the report before them.
    :param count: of these symbols.
    :param ended: whether the word has; else equation (3) of the policy.
    """
    chain, index = mechanism.chain, mechanism.chain.state_index
    gamma = adaptive_posteriors(mechanism, signals)[-count:]
    if not ended:
        last = np.array(gamma[-1])
        gamma[-1] = table(mechanism) @ np.where(last > 1e-6, last, 0)
    return sorted(((sum(g[index[o]] for g, o in zip(gamma, route, strict=True)), route)
                   for route in feasible_words(chain, count, previous)), reverse=True)
