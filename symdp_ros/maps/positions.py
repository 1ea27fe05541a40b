# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Regions as places on a plane: where each is, and in which of them a position lies.

The distance of a position from a region is 0 inside its polygon, and outside that from its edge;
from a region without a polygon, a node of a map, it is the distance from the node.
"""
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import hypot, inf, isfinite
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.nearest import distances_to_others, nearest_of

Position: TypeAlias = tuple[float, float]
Corners: TypeAlias = tuple[Position, ...]

#: Metres. A position with a coordinate beyond is no position: no region holds it.
FARTHEST = 1e9

_MOST_UNKNOWN = 100  # floors
_MOST_RECORDED = 1_000_000  # positions
_LONE_VARIANCE = 0.25  # m², of a map's only node: a disc with a radius of 1 m


@dataclass(frozen=True)
class Place:
    """
    Where a region is.

    :param x: of a point inside, in metres: a polygon's centroid, or another point of it where
        the centroid lies outside; a node's own position. `y` likewise.
    :param variance: (xx, xy, yy) in m² of a point drawn uniformly in the region. A node stands
        for a disc with half the distance to the nearest other node of its level as its radius.
    :param level: the name of the floor; None: it counts for every level.
    :param corners: of its polygon; empty where it has none.
    """

    x: float
    y: float
    variance: tuple[float, float, float]
    level: str | None = None
    corners: Corners = ()


class Locator:
    """
    Find the region of a position, one position after another.

    The region changes only if another region is nearer than the last one by more than
    `hysteresis`, or if the last one is farther away than `max_distance` + `hysteresis`. The new
    region is the nearest one, and none (None) if that is farther away than `max_distance`. So
    positions that all lie within `hysteresis` of one another never lead back to a region that
    they left: every return takes changes of distance that sum to more than `hysteresis` for each
    region on the way, and no distance changes by more than the robot moves.

    A floor without a name (''), as robots report that know of none, is the floor of a map that has
    one alone.

    Of several nearest regions, the last one counts; then, of polygons, the first. What is no
    position (not finite, or beyond `FARTHEST`) is in no region, and changes nothing. It takes
    longer where the region may change.

    Of nodes at one position, the first of a floor is found that is one move from the last region;
    where none is, the first.

    :ivar size: of the map, in metres: the diagonal of the box round all regions; 0: they are one
        point.
    :ivar positions: how many there were since the last `reset`; like the next ones, it tells
        something of them.
    :ivar far: how many of them lie farther from that box, in x or y, than it is large.
    :ivar recorded: these positions, at most a million of them, where somebody has put a list here.

    :ivar unknown_levels: floors that the map does not have → how many positions were there.
    """

    def __init__(self, places: Mapping[str, Place], *, hysteresis: float = 0.0,
                 max_distance: float = 0.0,
                 moves: Mapping[str, Collection[str]] | None = None):
        """
        Make the index.

        :param places: the regions. If any has a polygon, only those with polygons are found.
        :param hysteresis: metres, ≥ 0.
        :param max_distance: metres, ≥ 0. 0: with polygons, nowhere outside; else `size`, and no
            limit where that is 0.
        :param moves: of the map: region → those that are one move from it.
        :raises ConfigurationError: a distance is not valid, or there are no regions.
        """
        for name, value in (('hysteresis', hysteresis), ('max_distance', max_distance)):
            if not (isfinite(value) and value >= 0):
                raise ConfigurationError(f'{name} is {value}: it must be a number of metres, at '
                                         'least 0', setting=name)
        drawn = {name: place for name, place in places.items() if place.corners}
        indexed = list((drawn or places).items())
        if not indexed:
            raise ConfigurationError('there are no regions with a position')
        self._digest = sha256(repr(sorted(indexed)).encode()).hexdigest()
        self._names = [name for name, _ in indexed]
        self._levels = [place.level for _, place in indexed]
        self._hysteresis = float(hysteresis)
        low, high = _box(place for _, place in indexed)
        self.size = hypot(high[0] - low[0], high[1] - low[1])
        reach = self.size or inf
        self._low, self._high = [c - reach for c in low], [c + reach for c in high]
        self._limit = float(max_distance) if max_distance or drawn else reach
        kind = _Polygons if drawn else _Nodes
        self._shapes: _Shapes = kind([place for _, place in indexed], self._limit)
        # Where the last region is no farther than this, no other is nearer by the hysteresis.
        self._surely = self._shapes.surely_nearest(self._hysteresis)
        self.levels = sorted({level for level in self._levels if level is not None})
        self._of_no_name = self.levels[0] if len(self.levels) == 1 else ''
        self.recorded: list[tuple[float, float, str | None]] | None = None
        self._on: dict[str | None, list[int]] = {
            level: [i for i, own in enumerate(self._levels)
                    if level is None or own in (None, level)]
            for level in {None, *self._levels}}
        self._everywhere = [i for i, level in enumerate(self._levels) if level is None]
        self._nearest: dict[str | None, _Nearest] = {
            level: self._shapes.index(numbers) for level, numbers in self._on.items()}
        self._of_unknown_level = self._shapes.index(self._everywhere) if (
            self._everywhere) else None
        known = {name: number for number, name in enumerate(self._names)}
        self._moves = [{known[after] for after in (moves or {}).get(name, ()) if after in known}
                       for name in self._names]
        #: of a floor, the first of several at one position → all of them, in order
        self._alike = {level: _several(self._shapes.hidden(numbers))
                       for level, numbers in self._on.items()}
        self.reset()

    def digest(self) -> str:
        """Return a SHA-256 (hex) of the regions."""
        return self._digest

    def reset(self) -> None:
        """Forget the last region."""
        self._last: int | None = None
        self.unknown_levels: dict[str, int] = {}
        self.positions = self.far = 0
        if self.recorded is not None:
            self.recorded = []

    def follow(self, former: 'Locator') -> None:
        """Go on from the last region of another locator, if it is one of these."""
        name = None if former._last is None else former._names[former._last]
        self._last = self._names.index(name) if name in self._names else None

    def locate(self, x: float, y: float, level: str | None = None) -> str | None:
        """
        Return the region of a position, None where it is in none. It never raises.

        :param x: in metres, like `y`.
        :param level: None: the regions of all levels count. Otherwise those of this level, and
            those without a level.
        """
        if not (-FARTHEST <= x <= FARTHEST and -FARTHEST <= y <= FARTHEST):
            return None
        if level == '':
            level = self._of_no_name
        self.positions += 1
        if not (self._low[0] <= x <= self._high[0] and self._low[1] <= y <= self._high[1]):
            self.far += 1
        if self.recorded is not None and len(self.recorded) < _MOST_RECORDED:
            self.recorded.append((x, y, level))
        last, away, stays = self._last, inf, False
        if last is not None and (level is None or self._levels[last] in (None, level)):
            away = self._shapes.distance(last, x, y)
            if away <= self._surely[last]:
                return self._names[last]
            stays = away <= self._limit + self._hysteresis
        nearest = self._nearest.get(level, self._of_unknown_level)
        if nearest is None and level is not None and (
                level in self.unknown_levels or len(self.unknown_levels) < _MOST_UNKNOWN):
            self.unknown_levels[level] = self.unknown_levels.get(level, 0) + 1
        region, distance = (None, inf) if nearest is None else nearest(x, y)
        if not (stays and away <= distance + self._hysteresis):
            self._last = last = self._one_of(region, level) if distance <= self._limit else None
        return None if last is None else self._names[last]

    def distances(self) -> npt.NDArray[np.float64]:
        """Return how far each of `recorded` is from the nearest region [m]; inf: no region."""
        places = self.recorded or []
        distances = np.full(len(places), inf)
        on: dict[str | None, list[int]] = {}
        for number, (_, _, level) in enumerate(places):
            on.setdefault(level, []).append(number)
        for level, rows in on.items():
            if regions := self._on.get(level, self._everywhere):
                points = [places[row][:2] for row in rows]
                distances[rows] = self._shapes.distances(regions, points)
        return distances

    def alike(self, by_level: bool) -> dict[str, str]:
        """
        Return the states at the position of another one on each of their floors → that one.

        :param by_level: whether positions come with the name of their floor.
        """
        first: dict[int, int] = {}
        for level in self._levels_of(by_level):
            for number, of_number in self._shapes.hidden(self._on[level]).items():
                if first.get(number) != number:
                    first[number] = of_number
        return {self._names[number]: self._names[of_number]
                for number, of_number in sorted(first.items()) if number != of_number}

    def never_found(self, by_level: bool) -> dict[str, str]:
        """Return those of `alike` that no position leads to, whatever was the last region."""
        levels = self._levels_of(by_level)
        groups = [{number: alike for alike in self._alike[level].values() for number in alike}
                  for level in levels]
        reached = {there for level in levels
                   for there in self._shapes.hidden(self._on[level]).values()}
        last_ones = [*reached]
        while last_ones:
            last = last_ones.pop()
            for group in groups:
                more = {_first(group[number], self._moves[last])
                        for number in self._moves[last] & group.keys()
                        if last not in group[number]} - reached
                reached |= more
                last_ones += more
        known = {self._names[number] for number in reached}
        return {name: other for name, other in self.alike(by_level).items() if name not in known}

    def _levels_of(self, by_level: bool) -> list[str | None]:
        return [*self.levels] if by_level and self.levels else [None]

    def _one_of(self, region: int | None, level: str | None) -> int | None:
        alike = self._alike.get(level, {}).get(region)
        if alike is None or self._last is None:
            return region
        return self._last if self._last in alike else _first(alike, self._moves[self._last])


def _several(hidden: Mapping[int, int]) -> dict[int | None, list[int]]:
    alike: dict[int | None, list[int]] = {}
    for number, first in sorted(hidden.items()):
        alike.setdefault(first, []).append(number)
    return {first: numbers for first, numbers in alike.items() if len(numbers) > 1}


def _first(alike: Sequence[int], moves: Collection[int]) -> int:
    return next((number for number in alike if number in moves), alike[0])


def _box(places: Iterable[Place]) -> tuple[list[float], list[float]]:
    """Return the least and the greatest coordinates of places."""
    points = np.array([at for place in places for at in (place.corners or [(place.x, place.y)])])
    return points.min(axis=0).tolist(), points.max(axis=0).tolist()


#: (x, y) → the number of the nearest region, and its distance. (None, inf): beyond the limit.
_Nearest: TypeAlias = Callable[[float, float], tuple[int | None, float]]


class _Shapes(Protocol):
    """Regions of one kind, by number."""

    def distance(self, number: int, x: float, y: float) -> float:
        """Return the distance of a position from a region, in metres."""

    def index(self, numbers: Sequence[int]) -> _Nearest:
        """Return a function that finds the nearest of these regions."""

    def distances(self, numbers: Sequence[int],
                  points: Sequence[Position]) -> npt.NDArray[np.float64]:
        """Return how far each point is from the nearest of these regions."""

    def hidden(self, numbers: Sequence[int]) -> dict[int, int]:
        """Return each of these regions → the one that is found at its position."""

    def surely_nearest(self, hysteresis: float) -> list[float]:
        """Return up to which distance from each region no other is nearer by the hysteresis."""


class _Nodes:
    def __init__(self, places: Sequence[Place], limit: float):
        self._xs, self._ys = [place.x for place in places], [place.y for place in places]
        self._limit = limit

    def distance(self, number: int, x: float, y: float) -> float:
        return hypot(x - self._xs[number], y - self._ys[number])

    def index(self, numbers: Sequence[int]) -> _Nearest:
        # The first of those at one position.
        numbers = sorted(set(self.hidden(numbers).values()))
        nearest_point, distance = nearest_of(self._points(numbers)), self.distance

        def nearest(x: float, y: float) -> tuple[int | None, float]:
            number = numbers[nearest_point(x, y)]
            return number, distance(number, x, y)

        return nearest

    def distances(self, numbers: Sequence[int],
                  points: Sequence[Position]) -> npt.NDArray[np.float64]:
        nearest = self.index(numbers)
        return np.array([nearest(x, y)[1] for x, y in points])

    def hidden(self, numbers: Sequence[int]) -> dict[int, int]:
        first: dict[Position, int] = {}
        return {number: first.setdefault((self._xs[number], self._ys[number]), number)
                for number in numbers}

    def surely_nearest(self, hysteresis: float) -> list[float]:
        gaps = distances_to_others(self._points(range(len(self._xs))))
        return [min((gap + hysteresis) / 2, self._limit + hysteresis) for gap in gaps.tolist()]

    def _points(self, numbers: Sequence[int]) -> list[Position]:
        return [(self._xs[i], self._ys[i]) for i in numbers]


class _Polygons:
    def __init__(self, places: Sequence[Place], limit: float):
        import shapely

        self._polygons = [shapely.Polygon(place.corners) for place in places]
        shapely.prepare(self._polygons)
        self._inside, self._point, self._tree = (shapely.intersects_xy, shapely.Point,
                                                 shapely.STRtree)
        self._limit = limit

    def distance(self, number: int, x: float, y: float) -> float:
        polygon = self._polygons[number]
        return 0.0 if self._inside(polygon, x, y) else float(polygon.distance(self._point(x, y)))

    def index(self, numbers: Sequence[int]) -> _Nearest:
        tree, limit, as_point = self._tree([self._polygons[i] for i in numbers]), self._limit, \
            self._point

        def nearest(x: float, y: float) -> tuple[int | None, float]:
            point = as_point(x, y)
            hits = tree.query(point, predicate='intersects')
            if len(hits):
                return numbers[hits.min()], 0.0
            if limit:
                hits, distances = tree.query_nearest(point, max_distance=limit,
                                                     return_distance=True)
                if len(hits):
                    return numbers[hits.min()], float(distances[0])
            return None, inf

        return nearest

    def distances(self, numbers: Sequence[int],
                  points: Sequence[Position]) -> npt.NDArray[np.float64]:
        import shapely

        tree = self._tree([self._polygons[i] for i in numbers])
        return np.asarray(tree.query_nearest(shapely.points(points), return_distance=True,
                                             all_matches=False)[1])

    def hidden(self, numbers: Sequence[int]) -> dict[int, int]:
        return {number: number for number in numbers}  # polygons of a floor do not overlap

    def surely_nearest(self, hysteresis: float) -> list[float]:
        return [hysteresis] * len(self._polygons)


def place_of_polygon(corners: Corners, level: str | None = None) -> Place:
    """
    Return the place of a polygon.

    :param corners: of a valid polygon with an area above 0, in either direction.
    """
    import shapely

    # Around a corner: the sums would lose digits far from the origin.
    origin = np.array(corners[0])
    ring = np.array(corners) - origin
    after = np.roll(ring, -1, axis=0)
    cross = ring[:, 0] * after[:, 1] - after[:, 0] * ring[:, 1]
    area = cross.sum() / 2
    centre = ((ring + after) * cross[:, None]).sum(axis=0) / (6 * area)
    (x, y), (u, v) = ring.T, after.T
    squares = [(x * x + x * u + u * u) * cross / 12, (y * y + y * v + v * v) * cross / 12,
               (x * v + 2 * x * y + 2 * u * v + u * y) * cross / 24]
    xx, yy, xy = (square.sum() / area for square in squares)
    polygon = shapely.Polygon(corners)
    inside = shapely.Point(centre + origin)
    if not polygon.contains(inside):
        inside = polygon.representative_point()
    return Place(float(inside.x), float(inside.y),
                 (float(xx - centre[0]**2), float(xy - centre[0] * centre[1]),
                  float(yy - centre[1]**2)), level, corners)


def places_of_nodes(positions: Mapping[str, Position],
                    levels: Mapping[str, str] | None = None) -> dict[str, Place]:
    """Return the places of the nodes of a map; none is beyond `FARTHEST`."""
    known = {name: (float(x), float(y)) for name, (x, y) in positions.items()}
    levels = levels or {}
    radius: dict[tuple[str | None, Position], float] = {}
    for level in {levels.get(name) for name in known}:
        points = sorted({at for name, at in known.items() if levels.get(name) == level})
        radius |= {(level, at): gap / 2 for at, gap in zip(
            points, distances_to_others(points).tolist(), strict=True)}
    places = {}
    for name, at in known.items():
        r = radius[levels.get(name), at]
        variance = r * r / 4 if isfinite(r) else _LONE_VARIANCE
        places[name] = Place(*at, (variance, 0.0, variance), levels.get(name))
    return places
