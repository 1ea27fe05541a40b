# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The loops in NumPy do what the compiled ones do, bit by bit; sizes alone choose."""
from math import inf
from random import Random

import numpy as np
from offline_checks import reached_in
import pytest
from strategies import grid, RING
from symdp_ros import Chain, OfflineMechanism, Privacy
from symdp_ros.core.compiled.compiling import numba
from symdp_ros.core.compiled.vectors import LANES
from symdp_ros.core.offline.backward import BackwardSampler
from symdp_ros.core.offline.model_backward import ModelSampler
from symdp_ros.core.offline.passes import (kernels, loops, model_kernels, short_models,
                                           short_words)
from symdp_ros.core.offline.reachable import LoopSizes, ReachableChain

CHAINS = {'line': Chain({f'{i}': [f'{i}', f'{i + 1}'] for i in range(119)}
                        | {'119': ['119']}, '0'),
          'grid': grid(3), 'period 2': grid(4, staying=False), 'ring': RING,
          # Once it has left, one way or the other for ever: one exponent for each state.
          'wide grid': grid(3),
          'wide': Chain({'0': ['0', 'a', 'b'], 'a': ['a'], 'b': ['b', 'c'], 'c': ['b', 'c']}, '0')}


def edges_of(chain, weighted):
    """Return weights of moves that add up to 1 for each state; None: h = 1."""
    if not weighted:
        return None
    weights = np.arange(1, len(chain.targets) + 1.0)
    sums = np.add.reduceat(weights, chain.offsets[1:-1])
    return (weights / np.repeat(sums, np.diff(chain.offsets[1:]))).astype(np.float32)


def epsilon_of(name):
    return Privacy(30.0 if name == 'wide' else 3.0)


def some_word(length, states):
    """Return a word; a long one matches the last states alone: sums then leave weights out."""
    least = 0 if length <= 40 else states - 1
    return np.array([max(Random(i).randrange(states + 1), least) for i in range(length)])


@pytest.mark.parametrize('weighted', (False, True))
@pytest.mark.parametrize('columns', (False, True))
@pytest.mark.parametrize('name', CHAINS)
def test_routes(name, columns, weighted):
    chain = ReachableChain(CHAINS[name], LoopSizes(
        columns_from=0 if columns else 10**9,
        spread_bits=0 if name == 'wide grid' else LoopSizes.spread_bits))
    sampler = BackwardSampler(chain, epsilon_of(name).epsilon_per_symbol, Random(5),
                              edges_of(chain, weighted))
    kinds = set()
    for n in (1, 2, 40, 1_000 if name == 'period 2' else 150):
        plan = sampler.plan(n)
        kinds |= {'wide'} if plan.wide else {plan.period}
        word = some_word(n, len(chain))
        bits = np.frombuffer(Random(n).randbytes(8 * n), np.uint64)
        found = []
        for module in (kernels, short_words):
            W, E, scale, together = plan.workspace(n)
            out = np.empty(n, np.int64)
            W.fill(1e305)  # of states that are not reached yet
            state = module.route(word, bits, sampler.edges, plan.period, plan.ratio, 1, 0,
                                 plan.rescale_every, plan.wide, W, E, scale, together, out)
            rows = [reached_in(chain, t, plan.period) for t in range(1, n + 1)]
            found.append((state, out.tolist(), scale[1:].tolist(),
                          [W[t, some].tobytes() for t, some in enumerate(rows, 1)],
                          [E[t, some].tobytes() for t, some in enumerate(rows, 1)]
                          if plan.wide else None))
        assert found[0] == found[1], n
    assert ('wide' in kinds) == ('wide' in name) and (2 in kinds) == (name == 'period 2')


@pytest.mark.parametrize('wide', (False, True))
@pytest.mark.parametrize('name', ['grid', 'ring', 'wide'])
def test_routes_with_models(name, wide):
    chain = CHAINS[name]
    reachable = ReachableChain(chain, LoopSizes(spread_bits=0) if wide else LoopSizes())
    sampler = ModelSampler(reachable, chain.models(0.8), epsilon_of(name).epsilon_per_symbol,
                           Random(5))
    for n in (1, 2, 40, 150):
        plan = sampler.plan(n)
        assert plan.wide == (wide or name == 'wide' and n == 150)
        word = some_word(n, len(chain))
        bits = np.frombuffer(Random(n).randbytes(8 * n), np.uint64)
        found = []
        for module in (model_kernels, short_models):
            W, E, scale, _ = plan.workspace(n)
            out, model = np.empty(n, np.int64), np.zeros(LANES)
            model[:len(chain.models(0.8))] = chain.models(0.8).prior
            state = module.route(word, bits, sampler.edges, plan.ratio, 1, plan.rescale_every,
                                 plan.wide, W, E, scale, model, out)
            counts = [reachable.reached(t) for t in range(1, n + 1)]
            found.append((state, out.tolist(), scale[1:].tolist(), model.tobytes(),
                          [W[t, 1:count + 1].tobytes() for t, count in enumerate(counts, 1)],
                          [E[t, 1:count + 1].tobytes() for t, count in enumerate(counts, 1)]
                          if plan.wide else None))
        assert found[0] == found[1], n


def test_what_the_bits_decide():
    """The compiled choice and NumPy's, for points on and about the ends of the parts."""
    random, undecided = Random(3), 0
    for count in (1, 2, 3, 7, 40):
        values = np.array([random.random() + 0.1 for _ in range(count)])
        if count == 7:
            values[:] = 2.0**-3  # whose ends are points
        right = np.add.accumulate(values)
        for end in right:
            for beside in range(-5 * count - 12, 5 * count + 13):
                point = min(max(int(end / right[-1] * 2**53) + beside, 0), 2**53 - 1)
                found = short_words.choose(values, float(point))
                assert found == kernels.choose(values, count, np.uint64(point << 11))
                undecided += found < 0
    assert undecided > 100


def test_bits_that_decide_nothing():
    """Where 53 bits are not enough, both stop at the same place."""
    chain = ReachableChain(Chain({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a'))
    sampler = BackwardSampler(chain, Privacy(0.0).epsilon_per_symbol, Random(1))
    plan = sampler.plan(3)
    bits = np.frombuffer(np.array([5, 2**63, 7], np.uint64).tobytes(), np.uint64)
    stops = []
    for module in (kernels, short_words):
        W, E, scale, together = plan.workspace(3)
        stops.append(module.route(np.array([1, 2, 1]), bits, sampler.edges, 1, plan.ratio, 1, 0,
                                  plan.rescale_every, plan.wide, W, E, scale, together,
                                  np.empty(3, np.int64)))
    assert stops == [(1, 1, 2)] * 2


@pytest.mark.parametrize('most', (12, 40))
@pytest.mark.parametrize('weighted', (False, True))
@pytest.mark.parametrize('name', CHAINS)
def test_counts(name, weighted, most):
    n, chain = 40, ReachableChain(CHAINS[name])
    weights = edges_of(chain, weighted)
    edges = chain.edges if weights is None else chain.weighted(weights)
    shape = len(chain) + 1, most + 1
    after = [(np.ones(shape), np.zeros(shape, np.int32))] * 2
    for t in range(n - 1, -1, -1):
        width_after, width = min(n - t - 1, most) + 1, min(n - t, most) + 1
        count, symbol = chain.reached(t), Random(t).randrange(len(chain) + 1)
        here = []
        for module, table in zip((kernels, short_words), after, strict=True):
            here.append((np.empty(shape), np.empty(shape, np.int32)))
            module.count_step(symbol, edges, count, width_after, width, *table, *here[-1])
        for compiled, uncompiled in zip(*here, strict=True):
            some = slice(1, count + 1), slice(width)
            assert compiled[some].tobytes() == uncompiled[some].tobytes()
        after = here


class Loops:
    """Stands for a module of loops; `found` lists what ran."""

    def __init__(self, name, found):
        self.route = lambda *arguments: found.append((name, *arguments))


@pytest.fixture
def ran(monkeypatch):
    found = []
    monkeypatch.setattr('symdp_ros.core.offline.passes.kernels', Loops('compiled', found))
    monkeypatch.setattr('symdp_ros.core.offline.passes.short_words', Loops('NumPy', found))
    monkeypatch.setitem(loops._spent, 'route', 0.0)
    return found


def test_little_work_loads_nothing(ran):
    loops.run('route', 0.1, 'a')
    loops.run('route', 0.1, 'b')
    loops.run('route', 0.2, 'c')  # more than 0.3 in all: what is on the disk is loaded
    assert ran == [('NumPy', 'a'), ('NumPy', 'b'), ('compiled', 'c')]


@pytest.mark.skipif(numba is None, reason='numba is not installed')
def test_what_is_not_compiled_runs_in_numpy_until_that_would_take_longer(ran, monkeypatch):
    def plus_one(x):
        return x + 1

    plus_one.__module__ = 'symdp_ros.test'
    monkeypatch.setattr(kernels, 'route', numba.njit(plus_one), raising=False)
    monkeypatch.setattr('symdp_ros.core.offline.passes.kernels', kernels)
    assert loops.run('route', 1.0, 1) is None and ran == [('NumPy', 1)]
    assert loops.run('route', 1.0, 1) is None and len(ran) == 2
    assert loops.run('route', 20.0, 1) == 2 and len(ran) == 2
    assert loops.run('route', 1.0, 1) == 2 and len(ran) == 2  # compiled now


def test_what_numpy_cannot_do_is_compiled(ran):
    loops.run('route', inf, 'a')
    assert ran == [('compiled', 'a')]


def test_the_same_bits_give_the_same_words(monkeypatch):
    """Whichever loops run."""
    words = []
    for spent in (0.0, 1e9):
        monkeypatch.setattr(loops, '_spent', dict.fromkeys(loops._spent, spent))
        words.append([OfflineMechanism(CHAINS['grid'], Privacy(2.0), selection=selection,
                                       random=Random(3)).privatize(['1,1', None] * 30)
                      for selection in ('exponential', 'permute_and_flip')])
    assert words[0] == words[1]
