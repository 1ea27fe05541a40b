# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of one route: against the mat-vecs it is made of, its memory, and large maps."""
from functools import partial
from statistics import median

from bench.chains import any_word, grid, PRIVACY, random_chain, walk, with_staying
from bench.measure import against, Figure, medians, memory_of, ratios, Row, side_by_side
import numpy as np
from studies.compare.areas import habit
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


def _tasks(chain, length):
    """Return tasks: a route, and the mat-vecs that it is made of."""
    mechanism = OfflineMechanism(chain, PRIVACY, base='counting')
    return {'mechanism': partial(mechanism.privatize, any_word(chain, length)),
            'mat-vecs': matvecs(chain, length)}


def _bases(length):
    chain = habit(random_chain(1_000))
    word = any_word(chain, length)
    return {base: partial(OfflineMechanism(chain, PRIVACY, base=base, trust=1.0).privatize, word)
            for base in ('chain', 'counting')}


def _models(length):
    chain = habit(with_staying(random_chain(1_000)))
    word = any_word(chain, length)
    return {name: partial(OfflineMechanism(chain, PRIVACY, trust=trust).privatize, word)
            for name, trust in (('six models', 0.0), ('one model', 1.0))}


def _large(effort):
    chain, length = random_chain(10_000), 10_000
    times = side_by_side(_tasks(chain, length), effort)
    values, note = ratios(*times.values()), ''
    if not effort.quick:
        plain, staying = (median(ratios(*side_by_side(_tasks(each, length), effort).values()))
                          for each in (grid(100, 100), with_staying(grid(100, 100))))
        note = (f'On a grid of 100 × 100, staying allowed, {staying:.3g}×; where it is not, '
                f'{plain:.3g}×: a walk then comes to every second state only, in turns, and '
                'each state has an exponent of its own.')
    yield Figure(values, medians(times), note, goal='matvecs-10000-10000')
    word = any_word(chain, length)
    laws = (Exponential(chain, PRIVACY, None, sizes=sizes)
            for sizes in (LoopSizes(), LoopSizes(stored_bytes=10**12)))
    kept, every = ([memory_of(partial(law.draw, word))[1]
                    for _ in range(effort.either(1, effort.rounds))] for law in laws)
    yield Figure(ratios(kept, every), note=(
        f'{kept[0] / 1e6:,.1f} MB against {every[0] / 1e6:,.0f} MB.'
        + (' One round.' if effort.quick else '')), goal='memory')


def _map_size():
    return {label: partial(OfflineMechanism(chain, PRIVACY, base='counting').privatize,
                           walk(chain, 14))
            for label, chain in (('10⁵ states', grid(250, 400)), ('10³ states', grid(25, 40)))}


_MATVECS = (
    '`OfflineMechanism.privatize`, labels in and labels out, on a random chain of degree 4, and '
    "`V = A @ V` n times with SciPy's CSR matrix in float64: no emissions, no scaling, nothing "
    'kept, nothing drawn.')
ROWS = (
    Row('matvecs-1000-1000', against(lambda: _tasks(random_chain(1_000), 1_000)), _MATVECS),
    Row('matvecs-1000-10000', against(lambda: _tasks(random_chain(1_000), 10_000)), slow=True),
    Row('base-chain-1000', against(lambda: _bases(1_000)),
        'The same mechanism with both base measures, on a random chain of degree 4 with a likely '
        'move (0.9) from each state, of which it knows (trust 1).'),
    Row('base-chain-10000', against(lambda: _bases(10_000)), slow=True),
    Row('models-1000', against(lambda: _models(1_000)),
        'The mechanism that knows nothing of how the robot moves (`trust` 0), and the one that '
        'knows all (1), on a random chain of degree 4 with a likely move, staying allowed.'),
    Row('models-10000', against(lambda: _models(10_000)), slow=True),
    Row('large', _large,
        'The same with 10,000 states. Memory is the most that Python and NumPy hold at a time '
        '(`tracemalloc`) while one word is privatized; "storing every message" is the same '
        "kernel, made to keep each position's weights. Words and labels are counted on both "
        'sides.', ('matvecs-10000-10000', 'memory')),
    Row('map-size', against(_map_size),
        'Grids of 250 × 400 and 25 × 40 states with moves to the four neighbours, from the '
        'middle; feasible words of 14 symbols. Making the mechanism is not timed.'),
)
