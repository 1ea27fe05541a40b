# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of batches of routes: against reading as much randomness from the operating system."""
import os
from statistics import median

from bench.chains import PRIVACY, random_chain, town
from bench.measure import Figure, medians, ratios, Row, side_by_side
import numpy as np
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism

_CHUNK = 65_536  # bytes at a time: the fastest of 4 kB … all at once, or close to it
_LENGTH = 100
_STATES = 43


def _urandom(size):
    def task():
        for _ in range(size // _CHUNK):
            os.urandom(_CHUNK)
        os.urandom(size % _CHUNK)
    return task


def _batch(effort, **mechanisms):
    """Return seconds a symbol of each mechanism, and of 4 and of 8 bytes from os.urandom."""
    routes = effort.either(2_000, 20_000)
    rng = np.random.default_rng(4)
    symbols = rng.integers(0, _STATES, routes * _LENGTH).astype(np.int32)
    offsets = np.arange(routes + 1, dtype=np.int64) * _LENGTH
    tasks = {}
    for label, mechanism in mechanisms.items():
        tasks[label] = lambda mechanism=mechanism: mechanism.privatize_many(symbols, offsets)
    tasks |= {f'{width} bytes': _urandom(width * len(symbols)) for width in (4, 8)}
    times = side_by_side(tasks, effort)
    return {label: [t / len(symbols) for t in values] for label, values in times.items()}


def _online(effort):
    chain = town()
    times = _batch(effort, paper=OnlineMechanism(chain, PRIVACY, policy='paper'),
                   guided=OnlineMechanism(chain, PRIVACY))
    guided = median(ratios(times['guided'], times['4 bytes']))
    yield Figure(ratios(times['paper'], times['4 bytes']), medians(times),
                 f'With the guided policy {guided:.3g}×.')


def _offline(effort):
    times = _batch(effort, **{name: OfflineMechanism(chain, PRIVACY, base='counting')
                              for name, chain in (('exponential', random_chain(_STATES)),
                                                  ('town', town()))})
    narrow = median(ratios(times['exponential'], times['4 bytes']))
    on_town = median(ratios(times['town'], times['8 bytes']))
    yield Figure(ratios(times['exponential'], times['8 bytes']), medians(times),
                 f'On the town, with {town().edge_count} moves and up to '
                 f'{town().out_degrees().max()} from a state, {on_town:.3g}×. Against 4 bytes a '
                 f'symbol {narrow:.3g}×.')


ROWS = (
    Row('batch-online', _online,
        '`OnlineMechanism.privatize_many` over routes of 100 random symbols of the town, '
        'randomness included, and `os.urandom` of the 4 bytes a symbol that `step` reads, in '
        'chunks of 64 KiB; one thread each.'),
    Row('batch-offline', _offline,
        '`OfflineMechanism.privatize_many` over the same routes, on a random chain of 43 states '
        'of degree 4, and `os.urandom` of the 8 bytes a symbol that `privatize` reads.'),
)
