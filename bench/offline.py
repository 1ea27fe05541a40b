# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of one route: against the mat-vecs it is made of, its memory, and large maps."""
from functools import partial
from statistics import median
import tracemalloc

from bench.chains import (any_word, grid, PRIVACY, random_chain, walk, with_habits,
                          with_staying)
from bench.measure import Figure, medians, no_garbage_collection, ratios, Row, side_by_side
import numpy as np
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.reachable import LoopSizes


def matvecs(chain, length):
    """Return a task: n times V = A V, A the sparse matrix of uniform moves, float64."""
    from scipy.sparse import csr_array

    offsets, targets = chain.csr()
    counts = np.diff(offsets)
    matrix = csr_array((np.repeat(1 / counts, counts), targets, offsets.astype(np.int32)),
                       shape=(len(chain), len(chain)))

    def task():
        weights = np.ones(len(chain))
        for _ in range(length):
            weights = matrix @ weights
        return weights
    return task


def _against_matvecs(effort, chain, length):
    mechanism, word = OfflineMechanism(chain, PRIVACY, base='counting'), any_word(chain, length)
    times = side_by_side({'mechanism': lambda: mechanism.privatize(word),
                          'mat-vecs': matvecs(chain, length)}, effort)
    return ratios(times['mechanism'], times['mat-vecs']), medians(times)


def _thousand_states(length, goal):
    def measure(effort):
        if length > 1_000:
            effort.only_full()
        yield Figure(goal, *_against_matvecs(effort, random_chain(1_000), length))
    return measure


def _bases(length, goal):
    def measure(effort):
        if length > 1_000:
            effort.only_full()
        chain = with_habits(random_chain(1_000))
        word = any_word(chain, length)
        tasks = {base: partial(OfflineMechanism(chain, PRIVACY, base=base, trust=1.0).privatize,
                               word) for base in ('chain', 'counting')}
        times = side_by_side(tasks, effort)
        yield Figure(goal, ratios(times['chain'], times['counting']), medians(times))
    return measure


def _models(length, goal):
    def measure(effort):
        if length > 1_000:
            effort.only_full()
        chain = with_habits(with_staying(random_chain(1_000)))
        word = any_word(chain, length)
        tasks = {name: partial(OfflineMechanism(chain, PRIVACY, trust=trust).privatize, word)
                 for name, trust in (('six models', 0.0), ('one model', 1.0))}
        times = side_by_side(tasks, effort)
        yield Figure(goal, ratios(times['six models'], times['one model']), medians(times))
    return measure


def _large(effort):
    chain, length = random_chain(10_000), 10_000
    values, seconds = _against_matvecs(effort, chain, length)
    note = ''
    if not effort.quick:
        note = (f'On a grid of 100 × 100 {_median_on(effort, grid(100, 100)):.3g}×, and '
                f'{_median_on(effort, with_staying(grid(100, 100))):.3g}× where staying is '
                'allowed too (where it is not, half of the states are possible at a position).')
    yield Figure('matvecs-10000-10000', values, seconds, note)
    yield Figure('memory-time', values, seconds, 'The figure of the row above, against this goal.')
    word = any_word(chain, length)
    found = {'kept': [], 'every message': []}
    for _ in range(effort.either(1, effort.rounds)):
        found['kept'].append(_peak_bytes(chain, word, LoopSizes()))
        found['every message'].append(_peak_bytes(chain, word, LoopSizes(stored_bytes=10**12)))
    kept, every = (values[0] / 1e6 for values in found.values())
    yield Figure('memory', ratios(found['kept'], found['every message']), {}, (
        f'{kept:,.1f} MB against {every:,.0f} MB.'
        + (' One round.' if effort.quick else '')))


def _median_on(effort, chain):
    values, _ = _against_matvecs(effort, chain, 10_000)
    return median(values)


def _peak_bytes(chain, word, sizes):
    """Return the most that Python and NumPy held at a time while a route was privatized."""
    law = Exponential(chain, PRIVACY, None, sizes=sizes)
    with no_garbage_collection():
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            law.draw(word)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return peak - before


def _map_size(effort):
    tasks = {}
    for label, chain in (('10⁵ states', grid(250, 400)), ('10³ states', grid(25, 40))):
        mechanism, word = OfflineMechanism(chain, PRIVACY, base='counting'), walk(chain, 14)
        tasks[label] = lambda mechanism=mechanism, word=word: mechanism.privatize(word)
    times = side_by_side(tasks, effort)
    yield Figure('map-size', ratios(*times.values()), medians(times))


_MATVECS = (
    '`OfflineMechanism.privatize`, labels in and labels out, on a random chain of degree 4, and '
    "`V = A @ V` n times with SciPy's CSR matrix in float64: no emissions, no scaling, nothing "
    'kept, nothing drawn.')
ROWS = (
    Row('matvecs-1000-1000', ('matvecs-1000-1000',),
        _thousand_states(1_000, 'matvecs-1000-1000'), _MATVECS),
    Row('matvecs-1000-10000', ('matvecs-1000-10000',),
        _thousand_states(10_000, 'matvecs-1000-10000')),
    Row('base-chain-1000', ('base-chain-1000',), _bases(1_000, 'base-chain-1000'),
        'The same mechanism with both base measures, on a random chain of degree 4 with a likely '
        'move (0.9) from each state, of which it knows (trust 1).'),
    Row('base-chain-10000', ('base-chain-10000',), _bases(10_000, 'base-chain-10000')),
    Row('models-1000', ('models-1000',), _models(1_000, 'models-1000'),
        'The mechanism that knows nothing of how the robot moves (`trust` 0), and the one that '
        'knows all (1), on a random chain of degree 4 with a likely move, staying allowed.'),
    Row('models-10000', ('models-10000',), _models(10_000, 'models-10000')),
    Row('large', ('matvecs-10000-10000', 'memory', 'memory-time'), _large,
        'The same with 10,000 states. Memory is the most that Python and NumPy hold at a time '
        '(`tracemalloc`) while one word is privatized; "storing every message" is the same '
        "kernel, made to keep each position's weights. Words and labels are counted on both "
        'sides.'),
    Row('map-size', ('map-size',), _map_size,
        'Grids of 250 × 400 and 25 × 40 states with moves to the four neighbours, from the '
        'middle; feasible words of 14 symbols. Making the mechanism is not timed.'),
)
