# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How times grow: with the length of a word, with the states, with the moves of a state."""
from dataclasses import replace
from random import SystemRandom
from statistics import median

from bench.chains import any_word, grid, PRIVACY, random_chain, town, walk
from bench.measure import side_by_side
from bench.offline import matvecs
from bench.peers import exact_release
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism

_EXACT_UP_TO = 32  # symbols


def curves(effort) -> dict:
    """
    Return axis → {'values': […], 'seconds': {label: […]}}: a point for each value.

    Seconds are medians of three rounds, for a whole word.
    """
    streets = town()
    lengths = effort.either((10, 100, 1_000), (10, 32, 100, 316, 1_000, 3_162, 10_000))
    sides = effort.either((10, 32, 100), (5, 10, 18, 32, 56, 100, 178, 316))
    degrees = effort.either((2, 8, 32), (2, 4, 8, 16, 32, 64))
    grids = [grid(side, side) for side in sides]
    effort = replace(effort, rounds=3)
    return {
        'length': _curve(lengths, [(streets, any_word(streets, n)) for n in lengths],
                         effort, exact=True),
        'states': _curve([len(chain) for chain in grids],
                         [(chain, walk(chain, 100)) for chain in grids], effort),
        'short word': _curve([len(chain) for chain in grids],
                             [(chain, walk(chain, 14)) for chain in grids], effort),
        'out-degree': _curve(degrees, [(chain, any_word(chain, 1_000)) for chain in (
            random_chain(1_000, degree) for degree in degrees)], effort),
    }


def _curve(values, cases, effort, exact=False):
    points = [_times(chain, word, effort, exact) for chain, word in cases]
    labels = dict.fromkeys(label for point in points for label in point)
    return {'values': list(values),
            'seconds': {label: [point.get(label) for point in points] for label in labels}}


def _times(chain, word, effort, exact):
    offline, online = OfflineMechanism(chain, PRIVACY, base='counting'), OnlineMechanism(
        chain, PRIVACY, policy='paper')
    tasks = {'exponential': lambda: offline.privatize(word),
             'online': lambda: online.privatize(word),
             'mat-vecs': matvecs(chain, len(word))}
    slow = ()
    if exact and len(word) <= _EXACT_UP_TO:
        random, base = SystemRandom(), 1 / offline.ratio(len(word))
        tasks['automaton'] = lambda: exact_release(chain, word, base, random)
        slow = ('automaton',)
    times = side_by_side(tasks, effort, slow=slow)
    return {label: median(seconds) for label, seconds in times.items()}
