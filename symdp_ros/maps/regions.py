# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Regions drawn as polygons (YAML).

    initial_state: dock      # for the map of these regions; may be left out
    regions:
      dock: [[0, 0], [4, 0], [4, 3], [0, 3]]                          # corners [x, y] in metres
      aisle_1: {polygon: [[4, 0], [9, 0], [9, 3], [4, 3]], level: L1, zone: store}

The corners go round the polygon, in either direction; the first one may be repeated at the end.
Polygons have no holes. Two of them may overlap by as much as two drawings of one edge differ
(`GAP`), or where their levels differ. A region without a level belongs to every level. `zone` is
for `maps.zones`.

As a map: regions that touch can follow each other, both ways. They touch where a border of at
least `BORDER` of the one is no farther than `GAP` from the other, and no level separates them.
"""
from collections.abc import Iterator

from symdp_ros.core.naming import instead_of
from symdp_ros.errors import ChainError, ConfigurationError
from symdp_ros.files.text_file import FilePath
from symdp_ros.files.yaml_reader import compose_yaml, keys_of, line_of, YamlReader
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.positions import (Corners, FARTHEST, Locator, Place, place_of_polygon,
                                      places_of_nodes, Position)
import yaml

GAP = 0.05     # metres: one cell of most maps of robots
BORDER = 0.2   # metres; polygons that only meet at a corner have less

_LEAST_AREA = 1e-4  # m²
_MOST_REGIONS = 10_000
_MOST_CORNERS = 10_000  # of one polygon
_MOST_LEVELS = 100  # each has an index, with the regions of all levels


def regions_graph(root: yaml.Node, source: str) -> TransitionGraph:
    """
    Return the graph of a composed regions file.

    :raises ChainError: with file and line: not of this form, or a polygon that is none: with
        fewer than 3 corners, without area, self-intersecting, overlapping another.
    """
    reader = _RegionsReader(source)
    top = reader.fields(root, 'the file', 'regions')
    for key in top:
        if key not in ('initial_state', 'regions'):
            raise ChainError(f'unknown key {key!r}: a regions file has the keys initial_state, '
                             'regions', path=source)
    initial, initial_line = None, None
    if 'initial_state' in top and not reader.is_null(top['initial_state']):
        initial = reader.text(top['initial_state'], 'initial_state')
        initial_line = line_of(top['initial_state'])
    entries = reader.entries(top['regions'], 'regions', 'name: [[x, y], [x, y], [x, y], …]')
    if len(entries) > _MOST_REGIONS:
        raise reader.error(top['regions'], f'there are {len(entries):,} regions: at most '
                           f'{_MOST_REGIONS:,} are allowed')
    regions = {name: reader.region(name, node) for name, (_, node) in entries.items()}
    places = {name: place for name, (place, _) in regions.items()}
    zones = {name: zone for name, (_, zone) in regions.items() if zone is not None}
    levels = {name: at.level for name, at in places.items() if at.level is not None}
    if len(set(levels.values())) > _MOST_LEVELS:
        raise reader.error(top['regions'], f'there are {len(set(levels.values())):,} levels: at '
                           f'most {_MOST_LEVELS:,} are allowed')
    lines = {name: line for name, (line, _) in entries.items()}
    successors: dict[str, list[str]] = {name: [] for name in places}
    for name, other in _touching(places, lines, source):
        successors[name].append(other)
        successors[other].append(name)
    return TransitionGraph(
        successors, initial, source, {name: (at.x, at.y) for name, at in places.items()}, lines,
        initial_line=initial_line, levels=levels, zones=zones,
        polygons={name: at.corners for name, at in places.items()},
        about=('regions file', 'metres'))


def read_locator(graph: TransitionGraph, regions_file: FilePath | None = None, *,
                 hysteresis: float = 0.0, max_distance: float = 0.0) -> Locator:
    """
    Return what finds the state of the graph that a position belongs to.

    :param regions_file: polygons of the states. Without: the graph's own, where it is a regions
        file itself; else the nearest state counts.
    :param hysteresis: as of `Locator`; likewise `max_distance`.
    :raises ChainError: the file cannot be read, or has a polygon that names no state.
    :raises ConfigurationError: no state has a polygon or position.
    """
    if regions_file is None and graph.unaligned:
        raise ConfigurationError(f'no region can be found from a pose: {graph.unaligned}. Or draw '
                                 'the regions as polygons, and name that file in regions_file',
                                 setting='regions_file', path=graph.source or None)
    places = read_places(graph, regions_file)
    if regions_file is not None:
        places = {name: place for name, place in places.items() if place.corners}
        if not places:
            raise ConfigurationError('no state has a polygon: draw one for each',
                                     setting='regions_file', path=regions_file)
    if not places:
        raise ConfigurationError('the map has no positions, so that no region can be found from a '
                                 'pose: draw the regions as polygons, and name that file in '
                                 'regions_file', setting='regions_file', path=graph.source or None)
    return Locator(places, hysteresis=hysteresis, max_distance=max_distance,
                   moves=graph.successors)


def read_places(graph: TransitionGraph, regions_file: FilePath | None = None) -> dict[str, Place]:
    """
    Return the places of all states that have one, in the order of the states.

    :param regions_file: as of `read_locator`. A state without a polygon in it has the place of
        its node, where the map has positions.
    :raises ChainError: as `read_locator`.
    """
    places = places_of_nodes({state: at for state, at in graph.positions.items()
                              if state in graph.successors}, graph.levels)
    if regions_file is None:
        drawn = {state: place_of_polygon(corners, graph.levels.get(state))
                 for state, corners in graph.polygons.items()}
    else:
        drawn = polygons_of(graph, read_regions(regions_file))
    places |= drawn
    return {state: places[state] for state in graph.successors if state in places}


def read_regions(path: FilePath) -> TransitionGraph:
    """
    Read a regions file; the graph says which regions touch.

    :raises ChainError: with the file and the place in it.
    """
    root = compose_yaml(path)
    if 'regions' not in keys_of(root):
        raise ChainError('this is no regions file: it has no regions, a map from the names of '
                         'states to polygons', path=path)
    return regions_graph(root, str(path))


def polygons_of(graph: TransitionGraph, regions: TransitionGraph) -> dict[str, Place]:
    """
    Return the polygons of a graph's states; those of states that were pruned are left out.

    :raises ChainError: a polygon names no state.
    """
    places = {}
    for name, corners in regions.polygons.items():
        if name in graph.successors:
            places[name] = place_of_polygon(corners, regions.levels.get(name))
        elif name not in graph.pruned:
            raise regions.problem(f'the polygon {name!r} names no state of the map: '
                                  f'{instead_of(name, graph.successors)}', name)
    return places


class _RegionsReader(YamlReader):
    """The parts of a regions file."""

    def region(self, name: str, node: yaml.Node) -> tuple[Place, str | None]:
        """Return the place of a region, and its zone; None: it names none."""
        try:
            import shapely
        except ImportError:
            raise ConfigurationError('polygons need the Python package shapely: install '
                                     'python3-shapely', path=self._source) from None

        named: dict[str, str | None] = {'level': None, 'zone': None}
        if isinstance(node, yaml.MappingNode):
            fields = self.fields(node, f'the region {name!r}', 'polygon')
            for key in fields:
                if key not in ('polygon', 'level', 'zone'):
                    raise self.error(node, f'the region {name!r} has the unknown key {key!r}: a '
                                     'region has the keys polygon, level, zone')
            for key in named:
                if key in fields and not self.is_null(fields[key]):
                    named[key] = self.text(fields[key], f'the {key} of {name!r}')
            node = fields['polygon']
        corners = self._corners(name, node)
        polygon = shapely.Polygon(corners) if len(set(corners)) >= 3 else None
        if polygon is None:
            raise self.error(node, f'the polygon {name!r} has {len(set(corners))} different '
                             'corners where 3 are needed')
        if not polygon.is_valid:
            reason = shapely.is_valid_reason(polygon)
            raise self.error(node, f'the polygon {name!r} crosses or touches itself '
                             f'({reason}): list its corners in their order round it')
        if not polygon.area >= _LEAST_AREA:
            raise self.error(node, f'the polygon {name!r} has an area of {polygon.area:g} m²: at '
                             f'least {_LEAST_AREA:g} m² are needed; corners are in metres')
        return place_of_polygon(corners, named['level']), named['zone']

    def _corners(self, name: str, node: yaml.Node) -> Corners:
        items = self.items(node, f'the polygon {name!r}', example='[[0, 0], [4, 0], [4, 3]]')
        if len(items) > _MOST_CORNERS:
            raise self.error(node, f'the polygon {name!r} has {len(items):,} corners: at most '
                             f'{_MOST_CORNERS:,} are allowed')
        corners = [self._corner(name, item) for item in items]
        if len(corners) > 1 and corners[0] == corners[-1]:  # as GeoJSON closes its rings
            corners.pop()
        return tuple(corners)

    def _corner(self, name: str, node: yaml.Node) -> Position:
        parts = self.items(node, f'a corner of {name!r}', example='[4.0, 2.5]')
        if any(isinstance(part, yaml.SequenceNode) for part in parts):
            raise self.error(node, f'the polygon {name!r} is a list of lists of corners: holes '
                             'are not supported. Give one list of corners, and divide a region '
                             'with a hole into two')
        if len(parts) != 2:
            raise self.error(node, f'a corner of {name!r} has {len(parts)} numbers: it must be '
                             '[x, y]')
        x, y = (self.number(part, f'a coordinate of {name!r}') for part in parts)
        if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST):
            raise self.error(node, f'a corner of {name!r} is farther away than {FARTHEST:g} m: '
                             'coordinates are in metres')
        return x, y


def _touching(places: dict[str, Place], lines: dict[str, int],
              source: str) -> Iterator[tuple[str, str]]:
    """Yield every two regions that touch; raise ChainError where two overlap."""
    import shapely

    names = list(places)
    polygons = [shapely.Polygon(place.corners) for place in places.values()]
    shapely.prepare(polygons)
    tree = shapely.STRtree(polygons)
    for i, name in enumerate(names):
        level = places[name].level
        wider = polygons[i].buffer(GAP)
        for j in sorted(tree.query(wider, predicate='intersects').tolist()):
            other = names[j]
            if j <= i or None not in (level, places[other].level) and (
                    level != places[other].level):
                continue
            shared = polygons[i].intersection(polygons[j])
            smaller, larger = sorted((polygons[i].area, polygons[j].area))
            # Wider than a gap may be, or so narrow a polygon that it lies in the other.
            if shared.area > smaller / 2 or not shared.buffer(-GAP / 2).is_empty:
                what = (f'is the same as that of {name!r}' if shared.area > 0.999 * larger
                        else f'overlaps that of {name!r} by {shared.area:.3g} m²')
                raise ChainError(f'the polygon of {other!r} {what} (line {lines[name]}): a '
                                 'position may lie in one region of a level only', state=other,
                                 path=source, line=lines[other])
            if wider.intersection(polygons[j].exterior).length >= BORDER:
                yield name, other


FORMAT = MapFormat('a regions file', 'regions', regions_graph,
                   lambda root: 'regions' in keys_of(root))
