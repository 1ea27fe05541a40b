# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The nearest of some points: by all distances, with a tree of scipy's where there are many."""
from collections.abc import Callable, Sequence

import numpy as np
from symdp_ros.core.annotations import Floats

_FEW = 4_000           # points, up to which all distances are computed: no scipy is imported
_TOGETHER = 1 << 18    # distances at a time


def nearest_of(points: Sequence[tuple[float, float]]) -> Callable[[float, float], int]:
    """Return a function of a position: the number of the nearest of some points."""
    if len(points) > _FEW:
        from scipy.spatial import cKDTree

        query = cKDTree(points).query
        return lambda x, y: int(query((x, y))[1])
    xs, ys = np.array(points, np.float64).T.copy()
    return lambda x, y: int(((xs - x)**2 + (ys - y)**2).argmin())


def distances_to_others(points: Sequence[tuple[float, float]]) -> Floats:
    """Return how far from each point the nearest other one is; inf where there is none."""
    if len(points) > _FEW:
        from scipy.spatial import cKDTree

        return cKDTree(points).query(points, k=2)[0][:, 1]
    xs, ys = np.array(points, np.float64).reshape(-1, 2).T
    distances, height = np.empty(len(xs)), max(1, _TOGETHER // max(1, len(xs)))
    for begin in range(0, len(xs), height):
        some = np.arange(begin, min(begin + height, len(xs)))
        squares = (xs[some, None] - xs)**2 + (ys[some, None] - ys)**2
        squares[np.arange(len(some)), some] = np.inf
        distances[some] = np.sqrt(squares.min(axis=1))
    return distances
