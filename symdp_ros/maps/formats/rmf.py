# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Open-RMF building maps (YAML, as traffic-editor writes them).

A building has levels; each has vertices, and lanes between them. A lane is one-way unless it is
`bidirectional`, and belongs to the graph `graph_idx` (0 by default): one for each kind
of robot. States are the vertices that the lanes of one graph touch, in the order of the file.
Floors join at lifts: where vertices on several floors are in the cabin of one lift
(`lift_cabin`), and it has doors there, each leads to all others.

A vertex with a name is the state of that name. Where vertices of the graph share one, they are
LEVEL/NAME, and LEVEL/INDEX/NAME where that is shared too. One without a name is LEVEL/INDEX, with
the index in the level's list of vertices, from 0. A building names no initial state.
"""
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import hypot
from typing import NamedTuple, TypeAlias

from symdp_ros.errors import ChainError, printable
from symdp_ros.files.yaml_reader import keys_of, line_of, YamlReader
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.formats.rmf_frame import aligned, Fiducial, projected, Similarity
from symdp_ros.maps.graph import merged, TransitionGraph
import yaml

_STRING, _INTEGER, _DOUBLE, _BOOLEAN = 1, 2, 3, 4  # a parameter is [type, value]
_MOST_STOPS = 1000  # of one lift: each leads to all others
_SIZES_SHOWN = 12   # graphs, or levels, whose size a message shows


@dataclass(frozen=True)
class Vertex:
    """A vertex, as it is in the file."""

    level: str
    index: int
    name: str  # '' where it has none
    lift: str  # in whose cabin it is; ''
    x: float
    y: float
    node: yaml.Node


@dataclass(frozen=True)
class Lane:
    """A lane between two vertices of one level."""

    start: Vertex
    end: Vertex
    graph: int
    bidirectional: bool


class Level(NamedTuple):
    """One floor."""

    vertices: list[Vertex]
    lanes: list[Lane]


_Move: TypeAlias = tuple[Vertex, Vertex]


def building_graph(root: yaml.Node, source: str, *, graph: int | None = None,
                   level: str | None = None) -> TransitionGraph:
    """
    Return one graph of a composed building map; lanes listed twice are merged and counted.

    Positions are those that Open-RMF has itself (`rmf_frame`).

    :param graph: which; may be left out where there is only one.
    :param level: this one alone; default: all, joined by lifts.
    :raises ChainError: with file and line: not of this form, no such level or graph, or several
        graphs and none chosen.
    """
    reader = _BuildingReader(source)
    top = reader.fields(root, 'the building', 'levels')
    if not any(key in top and not reader.is_null(top[key]) for key in ('name', 'building_name')):
        raise reader.cut_off(root, 'the building ends without the name that comes after its '
                             'levels')
    levels = reader.fields(top['levels'], 'levels')
    if level is not None and level not in levels:
        raise ChainError(f'there is no level {level!r}: it has '
                         + (_level_sizes(reader, levels) or 'none'), path=source)
    chosen = {name: reader.level(name, node) for name, node in levels.items()
              if level in (None, name)}
    joined = assembled(reader, source, chosen,
                       None if level is not None else reader.doors(top.get('lifts')),
                       graph=graph, level=level)
    return _with_positions(joined, reader, top, levels, chosen)


def assembled(reader: YamlReader, source: str, levels: Mapping[str, Level],
              doors: Mapping[str, Collection[str]] | None, *, graph: int | None,
              level: str | None) -> TransitionGraph:
    """
    Return one graph of these levels, with the vertices' own coordinates as positions.

    :param doors: the levels at which each lift stops; None: no lifts.
    :raises ChainError: as `building_graph`.
    """
    vertices = [vertex for read in levels.values() for vertex in read.vertices]
    lanes = [lane for read in levels.values() for lane in read.lanes]

    def one(number: int) -> tuple[list[Vertex], list[_Move]]:
        """Return the vertices and the moves of one graph."""
        own = [lane for lane in lanes if lane.graph == number]
        touched = {vertex for lane in own for vertex in (lane.start, lane.end)}
        states = [vertex for vertex in vertices if vertex in touched]
        moves = [(lane.start, lane.end) for lane in own]
        moves += [(lane.end, lane.start) for lane in own if lane.bidirectional]
        return states, moves + ([] if doors is None else _lift_moves(reader, states, doors))

    def problem(text: str) -> ChainError:
        return ChainError(text if level is None else f'level {level}: {text}', path=source)

    states, moves = one(_choose(graph, sorted({lane.graph for lane in lanes}), problem, one))
    labels = _labels(states, reader)
    successors, repeated = merged(labels.values(), (
        (labels[start], labels[end]) for start, end in moves))
    return TransitionGraph(
        successors, None, source, repeated=repeated,
        positions={label: (vertex.x, vertex.y) for vertex, label in labels.items()},
        levels={label: vertex.level for vertex, label in labels.items()},
        lines={label: line_of(vertex.node) for vertex, label in labels.items()},
        unnamed=frozenset(labels[vertex] for vertex in states if not vertex.name))


def _with_positions(graph: TransitionGraph, reader: '_BuildingReader', top: dict[str, yaml.Node],
                    levels: Mapping[str, yaml.Node],
                    read: Mapping[str, Level]) -> TransitionGraph:
    """Return the graph with its positions in the frame of Open-RMF, and what that is."""
    given = top.get('coordinate_system')
    system = 'reference_image' if given is None else reader.text(given, 'coordinate_system')
    floors = [*dict.fromkeys(graph.levels.values())]
    if system == 'reference_image':
        frames, about = _frames_of_drawings(reader, top, levels, read, floors)
        adrift = [floor for floor in floors if frames[floor] is None]
        return replace(
            graph, about=('Open-RMF building map', *about),
            positions={state: (frames[graph.levels[state]] or Similarity()).of((x, -y))
                       for state, (x, y) in graph.positions.items()},
            unaligned='' if not adrift else (
                f'nobody knows where {floors_text(adrift)} lies: it shares fewer than two '
                'fiducials with the reference level'))
    if system == 'cartesian_meters':
        return replace(graph, about=('Open-RMF building map', floors_text(floors), 'metres'))
    if system == 'wgs84':
        crs = reader.projection(top)
        if crs is None:
            reason = 'the building is in wgs84, and names no projection (generate_crs)'
        else:
            name = reader.text(crs, 'generate_crs')
            try:
                placed = projected([*graph.positions.values()], name)
                return replace(graph, about=('Open-RMF building map', floors_text(floors),
                                             f'metres of {name}'),
                               positions=dict(zip(graph.positions, placed, strict=True)))
            except ModuleNotFoundError:
                reason = ('the building is in wgs84: its positions need the Python package '
                          'pyproj, python3-pyproj')
            except ChainError as error:
                raise reader.error(crs, f'generate_crs {name} {error.reason}') from None
    elif system == 'web_mercator':
        reason = ("the building is in web_mercator, where Open-RMF's own tools do not place it "
                  'rightly: convert it to wgs84')
    else:
        assert given is not None
        raise reader.error(given, f'coordinate_system {system} is none that Open-RMF has: it must '
                           'be reference_image, cartesian_meters or wgs84')
    return replace(graph, about=('Open-RMF building map', floors_text(floors), 'no positions'),
                   positions={}, unaligned=reason)


def _frames_of_drawings(reader: '_BuildingReader', top: dict[str, yaml.Node],
                        levels: Mapping[str, yaml.Node], read: Mapping[str, Level],
                        floors: list[str]) -> tuple[dict[str, Similarity | None], list[str]]:
    """Return what moves each floor to the reference level, None where nothing does, and why."""
    given = top.get('reference_level_name')
    reference = reader.text_if_any(given, 'reference_level_name') or next(iter(levels))
    if reference not in levels:
        raise reader.error(given, f'the reference level {reference!r} is not in the file')
    vertices = (read.get(reference) or reader.level(reference, levels[reference])).vertices
    measured = reader.scale(levels[reference], vertices)
    scale = 1.0 if measured is None else measured
    fiducials = reader.fiducials(reference, levels[reference])
    frames: dict[str, Similarity | None] = {}
    for floor in floors:
        if floor == reference:
            frames[floor] = Similarity(scale=scale)
            continue
        try:
            frames[floor] = aligned(fiducials, reader.fiducials(floor, levels[floor]), scale)
        except ValueError as error:
            raise reader.error(levels[floor], f'level {floor}: {error}') from None
    moved = any(frame is not None for floor, frame in frames.items() if floor != reference)
    adrift = any(frame is None for frame in frames.values())
    how = ', not all aligned' if adrift else ' aligned by fiducials' if moved else ''
    return frames, [floors_text(floors) + how, 'metres' if measured is not None else
                    'pixels taken for metres: no measurements']


def floors_text(floors: list[str]) -> str:
    """Return the names of floors, for people."""
    shown = [printable(floor) for floor in floors[:_SIZES_SHOWN]]
    more = ' …' if len(floors) > len(shown) else ''
    return f'{"floor" if len(floors) == 1 else "floors"} {", ".join(shown)}{more}'


class _BuildingReader(YamlReader):
    """The parts of a building map."""

    def level(self, name: str, node: yaml.Node) -> Level:
        fields = self.fields(node, f'level {name}')
        vertices = [self._vertex(name, index, item) for index, item in enumerate(
            self.items_if_any(fields.get('vertices'), f'vertices of {name}'))]
        return Level(vertices, [self._lane(item, vertices, name) for item in self.items_if_any(
            fields.get('lanes'), f'lanes of {name}')])

    def fiducials(self, name: str, node: yaml.Node) -> list[Fiducial]:
        """Return the fiducials of a level."""
        what, fiducials = f'a fiducial of {name}', []
        for item in self.items_if_any(self.fields(node, f'level {name}').get('fiducials'),
                                      f'fiducials of {name}'):
            x, y, label = self.items(item, what, 3)[:3]
            fiducials.append(Fiducial(self.text_if_any(label, what),
                                      self.number(x, f'x of {what}'),
                                      -self.number(y, f'y of {what}')))
        return fiducials

    def projection(self, top: dict[str, yaml.Node]) -> yaml.Node | None:
        """Return the name of the projection of the building; None: it names none."""
        return self._parameter(self.fields_if_any(top.get('parameters'), 'parameters'),
                               'generate_crs', _STRING)

    def scale(self, node: yaml.Node, vertices: list[Vertex]) -> float | None:
        """Return metres per pixel; None where there are no measurements."""
        scales = []
        for item in self.items_if_any(self.fields(node, 'a level').get('measurements'),
                                      'measurements of a level'):
            start, end, parameters = self._edge(item, vertices, 'a measurement')
            distance = self._parameter(parameters, 'distance', _DOUBLE)
            if distance is None:
                raise self.error(item, 'a measurement has no distance')
            distance, length = self.number(distance, 'distance'), hypot(start.x - end.x,
                                                                        start.y - end.y)
            if not (distance > 0 and length > 0):
                raise self.error(item, 'a measurement must be of two places that differ, and '
                                 'above 0')
            scales.append(distance / length)
        return sum(scales) / len(scales) if scales else None

    def doors(self, lifts: yaml.Node | None) -> dict[str, set[str]]:
        """Return the levels on which each lift has doors."""
        levels_of = {}
        for name, node in self.fields_if_any(lifts, 'lifts').items():
            levels = self.fields(node, f'the lift {name}').get('level_doors')
            levels_of[name] = {
                level for level, doors in self.fields_if_any(levels, 'level_doors').items()
                if not self.is_empty(doors)}
        return levels_of

    def _vertex(self, level: str, index: int, node: yaml.Node) -> Vertex:
        what = f'vertex {index} of {level}'
        items = self.items(node, what, 4)
        lift = self._parameter(self._parameters(items[4:], what), 'lift_cabin', _STRING)
        return Vertex(
            level, index, self.text_if_any(items[3], f'name of {what}'),
            self.text_if_any(lift, f'the lift of {what}'),
            self.number(items[0], f'x of {what}'), self.number(items[1], f'y of {what}'), node)

    def _lane(self, node: yaml.Node, vertices: list[Vertex], level: str) -> Lane:
        start, end, parameters = self._edge(node, vertices, f'a lane of {level}')
        graph = self._parameter(parameters, 'graph_idx', _INTEGER)
        both = self._parameter(parameters, 'bidirectional', _BOOLEAN)
        return Lane(start, end, 0 if graph is None else self.integer(graph, 'graph_idx'),
                    both is not None and self.boolean(both, 'bidirectional'))

    def _edge(self, node: yaml.Node, vertices: list[Vertex],
              what: str) -> tuple[Vertex, Vertex, dict[str, yaml.Node]]:
        items = self.items(node, what, 2)
        return (*ends_of(self, node, items, vertices, what), self._parameters(items[2:], what))

    def _parameters(self, rest: list[yaml.Node], what: str) -> dict[str, yaml.Node]:
        return self.fields_if_any(next(iter(rest), None), f'the parameters of {what}')

    def _parameter(self, parameters: dict[str, yaml.Node], key: str,
                   kind: int) -> yaml.Node | None:
        node = parameters.get(key)
        if node is None:
            return None
        kind_of_value, value = self.items(node, key, 2)[:2]
        if self.integer(kind_of_value, f'the type of {key}') != kind:
            raise self.error(node, f'{key} must be of type {kind}: [{kind}, …]')
        return value


def ends_of(reader: YamlReader, lane: yaml.Node, items: list[yaml.Node],
            vertices: list[Vertex], what: str) -> tuple[Vertex, Vertex]:
    """Return the vertices that a list of two numbers, and more, joins."""
    ends = [reader.integer(item, f'an end of {what}') for item in items[:2]]
    for index in ends:
        if index >= len(vertices):
            raise reader.error(lane, f'{what} joins vertex {index}, but the level has '
                               f'{len(vertices)}: the file is damaged or cut off')
    return vertices[ends[0]], vertices[ends[1]]


def _choose(graph: int | None, present: list[int], problem: Callable[[str], ChainError],
            one: Callable[[int], tuple[list[Vertex], list[_Move]]]) -> int:
    """Return the graph that is asked for, or the only one."""
    if not present:
        raise problem('there are no lanes, and so no states')
    if graph in present or graph is None and len(present) == 1:
        return present[0] if graph is None else graph
    sizes = []
    for number in present[:_SIZES_SHOWN]:
        states, moves = one(number)
        sizes.append(f'{number} ({counted(len(states), "state")}, '
                     f'{counted(len(set(moves)), "move")})')
    if len(present) > len(sizes):
        sizes.append(f'… ({len(present)} in all)')
    shown = ', '.join(sizes)
    raise problem(
        f'there are the graphs {shown}: choose one (--graph, graph)' if graph is None else
        f'there is no graph {graph}: choose one of {shown}')


def _level_sizes(reader: _BuildingReader, levels: Mapping[str, yaml.Node]) -> str:
    """Return the levels, each with the number of its states in all graphs together."""
    sizes = []
    for name in islice(levels, _SIZES_SHOWN):
        lanes = reader.level(name, levels[name]).lanes
        states = {vertex for lane in lanes for vertex in (lane.start, lane.end)}
        sizes.append(f'{name} ({counted(len(states), "state")})')
    if len(levels) > len(sizes):
        sizes.append(f'… ({len(levels)} in all)')
    return ', '.join(sizes)


def _lift_moves(reader: YamlReader, states: list[Vertex],
                doors: Mapping[str, Collection[str]]) -> list[_Move]:
    """Return the moves from floor to floor of vertices that are in the cabin of one lift."""
    cabins: dict[str, list[Vertex]] = {}
    for vertex in states:
        if vertex.lift:
            if vertex.lift not in doors:
                raise reader.error(vertex.node, f'the vertex is in the lift {vertex.lift!r}, '
                                   'which is not in the file: it is damaged or cut off')
            if vertex.level in doors[vertex.lift]:
                cabins.setdefault(vertex.lift, []).append(vertex)
    for lift, stops in cabins.items():
        if len(stops) > _MOST_STOPS:
            raise reader.error(stops[0].node, f'the lift {lift!r} has {len(stops):,} vertices in '
                               f'its cabin: at most {_MOST_STOPS:,} are allowed')
    return [(start, end) for stops in cabins.values() for start in stops for end in stops
            if start.level != end.level]


def _labels(states: list[Vertex], reader: YamlReader) -> dict[Vertex, str]:
    """Return a label of its own for each vertex, the shortest form that no other has."""
    forms = {}
    for vertex in states:
        level, index, name = vertex.level, vertex.index, vertex.name
        forms[vertex] = ([name, f'{level}/{name}', f'{level}/{index}/{name}'] if name
                         else [f'{level}/{index}'])
    while True:
        uses = Counter(form[0] for form in forms.values())
        shared = [vertex for vertex, form in forms.items() if uses[form[0]] > 1]
        longer = [vertex for vertex in shared if len(forms[vertex]) > 1]
        if not shared:
            return {vertex: form[0] for vertex, form in forms.items()}
        if not longer:
            raise reader.error(shared[0].node, f'the label {forms[shared[0]][0]!r} stands for two '
                               'vertices: rename one of them, or a level')
        for vertex in longer:
            forms[vertex].pop(0)


FORMAT = MapFormat('an Open-RMF building map', 'levels', building_graph,
                   lambda root: 'levels' in keys_of(root), choices=('graph', 'level'))
