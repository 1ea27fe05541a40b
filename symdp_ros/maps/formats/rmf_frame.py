# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The frame in which Open-RMF has the places of a building: that in which its robots report.

It is computed as rmf_building_map_tools 1.13 does (building_map, commit 65437ea of
rmf_traffic_editor). `reference_image`: pixels of drawings. The measurements of the reference level
give its scale: the mean of distance / length. Fiducials of the same name move, turn and scale
each other level onto it. `cartesian_meters`: metres as they are. `wgs84`: degrees, which the
building's `generate_crs` projects to metres; its suggested offset is not subtracted. There are no
positions in `web_mercator`: Open-RMF mirrors its origin, and so places all far from it.
"""
from collections.abc import Sequence
from math import atan2, cos, hypot, isfinite, sin
from typing import NamedTuple

from symdp_ros.errors import ChainError
from symdp_ros.maps.positions import Position

MOST_PAIRS = 1000  # of fiducials with the same name, on two levels


class Fiducial(NamedTuple):
    """A point of a drawing that other levels have, too; y upwards."""

    name: str
    x: float
    y: float


class Similarity(NamedTuple):
    """Turns by `angle` (radians), scales, then moves."""

    angle: float = 0.0
    scale: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def of(self, point: Position) -> Position:
        """Return where a point comes to."""
        x, y = point
        c, s = cos(self.angle), sin(self.angle)
        return (c * x - s * y) * self.scale + self.x, (s * x + c * y) * self.scale + self.y


def aligned(reference: Sequence[Fiducial], level: Sequence[Fiducial],
            scale: float) -> Similarity | None:
    """
    Return what moves a level onto the reference level; None: they share fewer than two fiducials.

    The angle is the circular mean of how much the line between two fiducials is turned, the scale
    the mean ratio of its lengths, over all pairs of them.

    :param scale: metres per pixel of the reference level.
    :raises ValueError: two fiducials of one level are at one place, or there are too many.
    """
    by_name: dict[str, list[Fiducial]] = {}
    for own in level:
        by_name.setdefault(own.name, []).append(own)
    pairs: list[tuple[Fiducial, Fiducial]] = []
    for there in reference:
        pairs += [(there, own) for own in by_name.get(there.name, ())]
        if len(pairs) > MOST_PAIRS:
            raise ValueError(f'it shares more than {MOST_PAIRS:,} fiducials with the reference '
                             'level')
    if len(pairs) < 2:
        return None
    sines = cosines = ratios = 0.0
    for i, (there, own) in enumerate(pairs):
        for other_there, other_own in pairs[i + 1:]:
            across, up = other_there.x - there.x, other_there.y - there.y
            own_across, own_up = other_own.x - own.x, other_own.y - own.y
            if not (hypot(across, up) > 0 and hypot(own_across, own_up) > 0):
                raise ValueError(f'the fiducials {own.name} and {other_own.name} are at one '
                                 'place')
            turn = atan2(own_up, own_across) - atan2(up, across)
            sines, cosines = sines + sin(turn), cosines + cos(turn)
            ratios += hypot(own_across, own_up) / hypot(across, up)
    ratio = ratios / (len(pairs) * (len(pairs) - 1) / 2)
    turned = Similarity(-atan2(sines, cosines), 1 / ratio)
    gaps = [(x - there.x, y - there.y) for there, own in pairs
            for x, y in [turned.of((own.x, own.y))]]
    return Similarity(turned.angle, scale / ratio, *(
        -scale * sum(gap[i] for gap in gaps) / len(pairs) for i in (0, 1)))


def projected(points: Sequence[Position], crs: str) -> list[Position]:
    """
    Return (longitude, latitude) in degrees as (x, y) in metres.

    Open-RMF takes the first axis of the projection for north, as EPSG:3414 has it. Where that is
    east (UTM), it exchanges x and y, and so does this.

    :raises ModuleNotFoundError: there is no pyproj.
    :raises ChainError: no such projection, or it does not hold a point.
    """
    import pyproj

    try:
        to_metres = pyproj.Transformer.from_crs('EPSG:4326', crs)
        first, second = to_metres.transform([north for _, north in points],
                                            [east for east, _ in points])
    except pyproj.exceptions.ProjError:
        raise ChainError('is no projection that PROJ knows: write one such as EPSG:3414') from None
    positions = [(float(x), float(y)) for x, y in zip(second, first, strict=True)]
    if not all(isfinite(x) and isfinite(y) for x, y in positions):
        raise ChainError('does not hold all vertices: are they [longitude, latitude]?')
    return positions
