# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Mechanisms of location privacy, written from their papers, each as a channel between states.

All report at every time step, whatever was reported before, and map what they draw to the nearest
state. Draws from a distribution in the plane are replaced by DRAWS fixed points of equal weight
(a Sobol sequence), so that a channel P[x | s] is a matrix, and the adversary knows it exactly.
"""
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.special import gammaincinv
from scipy.stats.qmc import Sobol
from studies.compare.areas import Area
from symdp_ros.core.annotations import Floats

DRAWS = 2**11
DELTA = 0.01


@cache
def _uniform() -> Floats:
    """Return points of the unit cube, shape (DRAWS, 3), that stand for uniform draws."""
    return Sobol(3, seed=1).random(DRAWS)


def planar_laplace(area: Area, epsilon: float) -> Floats:
    """
    Return the channel of planar Laplace noise (Andrés et al. 2013), remapped.

    Density ε²/(2π)·exp(−ε·|z|): the angle is uniform, the radius Gamma(2, 1/ε).

    :param epsilon: per metre.
    """
    u = _uniform()
    radius, angle = gammaincinv(2, u[:, 0]) / epsilon, 2 * np.pi * u[:, 1]
    noise = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _remapped(area.positions, noise, area.positions)


def graph_exponential(area: Area, epsilon: float) -> Floats:
    """
    Return the channel of the graph-exponential mechanism (Takagi et al. 2019).

    P[x | s] ∝ exp(−ε/2·d(s, x)), d: the shortest way along edges, in either direction, in metres.

    :param epsilon: per metre.
    """
    weights = np.exp(-epsilon / 2 * _along_edges(area))
    return weights / weights.sum(axis=1, keepdims=True)


def policy(area: Area, epsilon: float) -> Floats:
    """
    Return the channel of the policy-based planar isotropic mechanism (Cao et al. 2020, P-PIM).

    The policy graph has an edge between two states that one move joins. The noise is that of the
    K-norm mechanism, K: the hull of all differences of places that an edge joins.

    :param epsilon: per edge of the policy graph.
    """
    at, (sources, targets) = area.positions, area.edges
    return _remapped(at, k_norm_noise(at[sources] - at[targets], epsilon), at)


def location_set(area: Area, prior: Floats, epsilon: float) -> Floats:
    """
    Return the channel of the planar isotropic mechanism on a δ-location set (Xiao, Xiong 2015).

    The set holds the most probable states by the prior, with 1 − δ of it. Any two of them are
    ε-indistinguishable. A robot outside is taken to be at the nearest state of the set.

    :param prior: P[s_t = s | all reports before], public.
    :param epsilon: per report.
    """
    order = np.argsort(-prior, kind='stable')
    held = np.sort(order[:1 + int(np.searchsorted(prior[order].cumsum(), 1 - DELTA))])
    at = area.positions[held]
    differences = (at[:, None] - at[None]).reshape(-1, 2)
    found = np.zeros((len(prior), len(prior)))
    rows = _remapped(at, k_norm_noise(differences, epsilon), at)
    assert area.metres is not None
    found[:, held] = rows[area.metres[:, held].argmin(axis=1)]
    return found


def k_norm_noise(differences: Floats, epsilon: float) -> Floats:
    """
    Return noise of density ∝ exp(−ε·‖z‖_K), K the hull of differences (both signs each).

    A point uniform in K times a radius of Gamma(3, 1/ε); on a line: of Gamma(2, 1/ε).
    """
    u = _uniform()
    points = np.concatenate([differences, -differences])
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):  # all on one line, or at one point
        longest = points[np.hypot(*points.T).argmax()]
        return (gammaincinv(2, u[:, 0]) / epsilon * (2 * u[:, 1] - 1))[:, None] * longest
    after = np.roll(corners, -1, axis=0)
    areas = np.abs(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]).cumsum()
    slot = np.minimum(np.searchsorted(areas, u[:, 1] * areas[-1], 'right'), len(areas) - 1)
    share = (u[:, 1] * areas[-1] - np.append(0, areas)[slot]) / np.diff(areas, prepend=0)[slot]
    along, out = share[:, None], np.sqrt(u[:, 2])[:, None]
    inside = out * ((1 - along) * corners[slot] + along * after[slot])
    return gammaincinv(3, u[:, 0])[:, None] / epsilon * inside


def _remapped(centres: Floats, noise: Floats, places: Floats) -> Floats:
    """Return how often centre + noise is nearest to each place: shape (centres, places)."""
    found = np.zeros((len(centres), len(places)))
    for i, points in enumerate(centres[:, None] + noise):
        far = (places[:, 0] - points[:, :1])**2 + (places[:, 1] - points[:, 1:])**2
        found[i] = np.bincount(far.argmin(axis=1), minlength=len(places)) / len(noise)
    return found


def _along_edges(area: Area) -> Floats:
    assert area.metres is not None
    return area.shortest(np.maximum(area.metres[tuple(area.edges)], 1e-9))  # 0 would be no edge


#: Channels that do not depend on what was reported before.
CHANNELS: dict[str, Callable[[Area, float], Floats]] = {
    'laplace': planar_laplace, 'graph': graph_exponential, 'policy': policy}
