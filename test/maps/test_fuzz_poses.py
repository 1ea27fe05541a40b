# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Poses at random: on edges and corners of polygons, outside, far away, and no positions at all.

No pose raises anything. Of poses that all lie within the hysteresis of one another, none leads
back to a region that an earlier one left, and nowhere counts as a region. A region that is found
is never farther away than `max_distance` and the hysteresis allow.
"""
from itertools import groupby
from math import inf, nan

from long_runs import fuzz
import numpy as np
from scipy.spatial import Voronoi
import shapely
from symdp_ros.maps.positions import FARTHEST, Locator, place_of_polygon, places_of_nodes

_GROUP = 25    # poses within the hysteresis
_GROUPS = 80   # of one case
_ODD = (nan, inf, -inf, 1e300, -1e308, 2 * FARTHEST)
_LEVELS = ('L1', 'L2', None)


def polygons(points, wide, gap, levels):
    """Return the cells of the points that are nearest to them, up to a gap, as regions."""
    frame = np.array([[-9, -9], [-9, 10], [10, -9], [10, 10]]) * wide
    found = Voronoi(np.concatenate([points, points.mean(axis=0) + frame]))
    places = {}
    for i, level in enumerate(levels):
        ring = found.vertices[found.regions[found.point_region[i]]]
        cell = shapely.Polygon(ring).buffer(-gap / 2) if len(ring) > 2 else shapely.Polygon()
        if cell.geom_type == 'Polygon' and cell.area > 1e-4 and np.isfinite(ring).all():
            places[f'r{i}'] = place_of_polygon(tuple(cell.exterior.coords[:-1]), level)
    return places


def test_poses():
    def case(random):
        numbers = np.random.default_rng(random.getrandbits(64))
        count, wide = random.choice((1, 2, 5, 30, 200)), random.choice((0.5, 10.0, 300.0))
        points = numbers.random((count, 2)) * wide + random.choice((0.0, -50.0, 4e6))
        if random.random() < 0.3:  # a checkerboard: equally far from several
            points = np.round(points / wide * 4) * wide / 4
            points = np.unique(points, axis=0)
        levels = [random.choice(_LEVELS) if random.random() < 0.5 else None for _ in points]
        places = {}
        if random.random() < 0.6:
            places = polygons(points, wide, random.choice((0.0, 0.0, 0.02)) * wide, levels)
        edges = [corner for place in places.values() for corner in place.corners]
        if not places:
            names = [f'r{i}' for i in range(len(points))]
            places = places_of_nodes(dict(zip(names, points.tolist(), strict=True)), {
                name: level for name, level in zip(names, levels, strict=True) if level})
            edges = points.tolist()
        hysteresis = random.choice((0.001, 0.05, 0.3)) * wide
        limit = random.choice((0.0, 0.0, 0.1, 2.0)) * wide
        locator = Locator(places, hysteresis=hysteresis, max_distance=limit)
        ends = numbers.choice(np.array(edges), (2, _GROUPS))
        along = numbers.choice([0, 0.1, 0.5, 3, 1e6], (_GROUPS, 1))
        centres = ends[0] + (ends[1] - ends[0]) * along
        angle, radius = numbers.random((2, _GROUPS, _GROUP))
        angle, radius = angle * 2 * np.pi, np.sqrt(radius) * hysteresis / 2 * 0.99
        poses = np.stack([centres[:, :1] + radius * np.cos(angle),
                          centres[:, 1:] + radius * np.sin(angle)], axis=2).tolist()
        drawn = {name: shapely.Polygon(place.corners) if place.corners else
                 shapely.Point(place.x, place.y) for name, place in places.items()}
        most = hysteresis + (limit or (0.0 if any(p.corners for p in places.values()) else inf))
        for group in poses:
            level = random.choice((*_LEVELS, 'L9'))
            found = []
            for x, y in group:
                if random.random() < 0.05:
                    assert locator.locate(random.choice(_ODD), y, level) is None
                    assert locator.locate(x, random.choice(_ODD), level) is None
                found.append(locator.locate(x, y, level))
            entered = [name for name, _ in groupby(found)]
            assert len(set(entered)) == len(entered), (group, entered)
            if found[-1] is not None:
                assert places[found[-1]].level in (None, level) or level is None
                away = drawn[found[-1]].distance(shapely.Point(group[-1]))
                assert away <= most * (1 + 1e-9) + 1e-9, (group[-1], found[-1], away)

    fuzz(case)
