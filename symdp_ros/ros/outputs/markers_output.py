# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A picture of private regions for RViz and Foxglove: MarkerArray, latched.

Two publishers share the topic, so that late readers get both: the map, once, and after each
region the picture of it. Namespaces: `regions`, `moves`, `names`, `zones`, `warning` and `legend`
are the map; `now`, `name now` and `trail` the region and the ten before it; `belief` where the
robot may be, with a `legend` of its own. Names lie above lines: viewers look from above.
"""
from collections import deque
from collections.abc import Iterable
from itertools import cycle

from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA
from symdp_ros.core.annotations import Floats
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.nearest import distances_to_others
from symdp_ros.maps.positions import Place
from symdp_ros.ros.outputs.publication import latched, Publication
from visualization_msgs.msg import Marker, MarkerArray

WARNING = 'regions are not for collision avoidance: the robot may be elsewhere'
_TRAIL = 10
_MOST_NAMES = 300        # states whose names are shown
_LEAST_BELIEF = 0.005    # of a state that is shown
_DARK, _GREY = (0.1, 0.1, 0.1, 1.0), (0.6, 0.6, 0.6, 0.6)
#: Of zones, one after the other: pale, and told apart by those who see no red or no green.
_ZONES = ((0.34, 0.71, 0.91), (0.90, 0.62, 0.0), (0.0, 0.62, 0.45), (0.80, 0.47, 0.65),
          (0.94, 0.89, 0.26), (0.5, 0.5, 0.5))
_BLUE, _ORANGE, _RED = (0.12, 0.47, 0.71, 0.8), (1.0, 0.6, 0.2, 0.9), (0.8, 0.1, 0.1, 1.0)
_INK = (0.04, 0.18, 0.33, 1.0)  # to be read on blue


class Output:
    """Publishes the map once, and after each region the region now, the last ten, and beliefs."""

    def __init__(self, wanted: Publication):
        self._node = wanted.node
        self._frame = wanted.settings['map_frame']
        self._states, self._places = wanted.chain.states, wanted.places
        self._size = _marker_size(self._places.values())
        self._trail: deque[str] = deque(maxlen=_TRAIL + 1)
        self._map, self._publisher = (
            wanted.node.create_publisher(MarkerArray, wanted.topic, latched(1)) for _ in range(2))
        self.publishers = [self._map, self._publisher]
        assert wanted.graph is not None  # it has positions
        zones = MapSettings.of(wanted.settings).zones() or {}
        xs, ys = zip(*((place.x, place.y) for place in self._places.values()), strict=True)
        self._xs, self._ys = (min(xs), max(xs)), (min(ys), max(ys))
        self._map.publish(MarkerArray(markers=[
            *self._map_markers(wanted.graph), *self._zone_markers(zones),
            *self._legend(wanted.settings, bool(zones))]))

    def publish(self, region: str, beliefs: Floats | None) -> None:
        """Publish the picture of a region."""
        self._trail.append(region)
        self._publisher.publish(MarkerArray(markers=list(self._live_markers(region, beliefs))))

    def _map_markers(self, graph):
        moves = self._marker('moves', Marker.LINE_LIST, _GREY, width=0.1)
        outlines = self._marker('regions', Marker.LINE_LIST, _DARK, width=0.05)
        dots = self._marker('regions', Marker.SPHERE_LIST, _DARK, number=1, size=0.2)
        for state, place in self._places.items():
            if place.corners:
                outlines.points += _outline(place)
            else:
                dots.points.append(_point(place))
            for target in graph.successors[state]:
                if target != state:
                    moves.points += [_point(place), _point(self._places[target])]
        yield from (marker for marker in (moves, outlines, dots) if marker.points)
        if len(self._places) <= _MOST_NAMES:
            for i, (state, place) in enumerate(self._places.items()):
                yield self._text('names', state, place.x, place.y - 0.4 * self._size, _DARK, i,
                                 scale=0.35)

    def _legend(self, settings, zoned):
        yield self._line('warning', 0, f'private {WARNING}', _RED)
        yield self._line('legend', 1, 'private: the region now, and the ten before', _BLUE)
        k, protect = settings['adjacency'], settings['protect']
        hidden = f'{protect:g} s' if protect else 'region' if k == 1 else f'{k} regions'
        yield self._line('legend', 2, f"ε = {settings['epsilon']:g}: hides any {hidden}"
                         + (', inside the zone' if zoned else ''), _DARK)

    def _line(self, namespace, row, text, color):
        """Return a line of text below the map."""
        width = self._xs[1] - self._xs[0]
        height = min(0.5, 1.2 * width / len(WARNING) / self._size or 0.5)
        y = self._ys[0] - (1.5 + 1.6 * height * row) * self._size
        return self._text(namespace, text, sum(self._xs) / 2, y, (*color[:3], 1.0), row,
                          scale=height)

    def _zone_markers(self, zones):
        """Yield for each zone its area, a disc round each of its states, and its name."""
        for i, ((zone, states), colour) in enumerate(zip(zones.items(), cycle(_ZONES))):
            area = self._marker('zones', Marker.SPHERE_LIST, (*colour, 0.25), number=2 * i,
                                size=2.0)
            area.scale.z = 0.01
            area.points = [_point(self._places[state]) for state in states]
            yield area
            x, y = np.mean([(self._places[s].x, self._places[s].y) for s in states], axis=0)
            yield self._text('zones', zone, float(x), float(y) + 1.6 * self._size,
                             (*(0.6 * c for c in colour), 1.0), 2 * i + 1, scale=1.0)

    def _live_markers(self, region, beliefs):
        if beliefs is not None:
            yield self._beliefs(beliefs)
            yield self._line('legend', 3, 'where the robot may be', _ORANGE)
        trail = self._marker('trail', Marker.LINE_STRIP, _BLUE, width=0.15)
        for age, state in enumerate(reversed(self._trail)):
            trail.points.append(_point(self._places[state]))
            trail.colors.append(_color((*_BLUE[:3], 0.8 * (1 - age / (_TRAIL + 1)))))
        if len(trail.points) > 1:  # RViz refuses a line of one point
            yield trail
        place = self._places[region]
        if place.corners:
            now = self._marker('now', Marker.LINE_LIST, _BLUE, width=0.2)
            now.points = _outline(place)
            yield now
        dot = self._marker('now', Marker.CYLINDER, _BLUE, number=1, size=0.8)
        dot.pose.position = _point(place)
        dot.scale.z = 0.02
        yield dot
        yield self._text('name now', f'private: {region}', place.x,
                         place.y + 0.7 * self._size, _INK, 0, scale=0.5)

    def _beliefs(self, beliefs):
        """Return discs: the more probable, the less transparent."""
        discs = self._marker('belief', Marker.SPHERE_LIST, _ORANGE, size=1.0)
        discs.scale.z = 0.01
        for i in np.flatnonzero(beliefs >= _LEAST_BELIEF):
            discs.points.append(_point(self._places[self._states[i]]))
            discs.colors.append(_color((*_ORANGE[:3], 0.15 + 0.85 * float(beliefs[i]))))
        return discs

    def _marker(self, namespace, kind, color, *, number=0, width=0.0, size=0.0):
        """Return an empty marker; `width` and `size` are in units of the usual distance."""
        marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD, color=_color(color))
        marker.header.frame_id = self._frame
        marker.header.stamp = self._node.get_clock().now().to_msg()
        marker.pose.orientation.w = 1.0
        marker.scale.x = (width or size) * self._size
        if size:
            marker.scale.y = marker.scale.z = size * self._size
        return marker

    def _text(self, namespace, text, x, y, color, number, *, scale):
        marker = self._marker(namespace, Marker.TEXT_VIEW_FACING, color, number=number)
        marker.text, marker.scale.z = text, scale * self._size
        marker.pose.position.x, marker.pose.position.y = x, y
        marker.pose.position.z = self._size
        return marker


def _marker_size(places: Iterable[Place]) -> float:
    """Return a length [m] that suits the map: half the usual distance between neighbours."""
    points = [(place.x, place.y) for place in places]
    if len(points) < 2:
        return 1.0
    return float(np.median(distances_to_others(points))) / 2 or 1.0


def _outline(place):
    """Return the sides of a polygon, as pairs of points."""
    ends = [_at(x, y) for x, y in place.corners]
    return [end for pair in zip(ends, ends[1:] + ends[:1], strict=True) for end in pair]


def _point(place):
    return _at(place.x, place.y)


def _at(x, y):
    return Point(x=float(x), y=float(y))


def _color(rgba):
    red, green, blue, alpha = rgba
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)
