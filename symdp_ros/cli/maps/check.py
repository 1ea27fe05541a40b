# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp check MAP`: whether a map can be used as a chain, and if not, why."""
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
import sys

from symdp_ros.analysis.alternatives import fewest_differences
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.zones import guessed_in_zones, print_zones
from symdp_ros.core.chain import Chain
from symdp_ros.core.naming import one_of
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.resources import resolve_path
from symdp_ros.maps.dead_ends import counted, require_moves, some_states
from symdp_ros.maps.graph import Structure, structure, TransitionGraph
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.positions import Locator
from symdp_ros.maps.regions import polygons_of, read_places, read_regions
from symdp_ros.options import (ADJACENCY, CHAIN, CHAIN_FILE, CHECKED_EPSILON, CHECKED_TOPIC,
                               DOMAIN, FIELD, INPUT, LEVEL_FIELD, LISTENED, MAP_FIGURE, MAP_FRAME,
                               MAX_DISTANCE, NO_REGION, PROTECT, REGIONS, STATES, STAY,
                               SYMBOL_MAP, WHERE, ZONES_FILE)
from symdp_ros.words.sampling_settings import SamplingSettings
from symdp_ros.words.visit_rule import settled

#: Arguments that are of use with the first one of theirs alone.
_GROUPS = {
    'zones': (ZONES_FILE, CHECKED_EPSILON, PROTECT, ADJACENCY, STAY),
    'a running robot (needs ROS 2)': (
        CHECKED_TOPIC, LISTENED, INPUT, FIELD, WHERE, MAX_DISTANCE, LEVEL_FIELD, MAP_FRAME,
        SYMBOL_MAP, NO_REGION, DOMAIN)}


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'check', help='check a map: can it be used as a chain?',
        description='Says what kind of map it is, and prints states, moves, dead ends, '
                    'reachability and period of a map, and how the polygons of a regions file fit '
                    'it. Exit status 1 if the file cannot be used as a chain, the polygons cannot '
                    'be used with it, a message of --topic names no state, or most of its poses '
                    'have no region.')
    add_chain_arguments(parser)
    add_arguments(parser, [STATES, MAP_FIGURE, REGIONS])
    for name, arguments in _GROUPS.items():
        add_arguments(parser.add_argument_group(name), arguments)
    parser.set_defaults(run=run)


def add_chain_arguments(parser, *names: str, required: bool = True) -> None:
    """
    Add the arguments that name a chain, for `graph_of` and `chain_of`.

    :param names: options for the file, such as `--map`; none: it is given without one.
    :param required: whether one of them must be given.
    """
    option = {'required': required, 'dest': CHAIN_FILE.name} if names else {}
    parser.add_argument(*(names or [CHAIN_FILE.name]), metavar='MAP', help=CHAIN_FILE.meaning,
                        **option)
    add_arguments(parser, CHAIN[1:])


def graph_of(options) -> TransitionGraph:
    """
    Return the graph that the arguments name; its initial state may be None.

    :raises ChainError, ConfigurationError: with the file and the place in it.
    """
    return MapSettings.of(vars(options)).read()


def pruned_graph_of(options) -> TransitionGraph:
    """Return the same, and print on stderr what was pruned."""
    graph = graph_of(options)
    if options.prune:
        print(f'{printable(graph.source)}: pruned: {_pruned(graph)}', file=sys.stderr)
    return graph


def chain_of(options) -> Chain:
    """
    Return the chain that the arguments name, and print pruned states on stderr.

    :raises ChainError, ConfigurationError: with the file and the place in it.
    """
    return SamplingSettings.of(vars(options)).chain(pruned_graph_of(options))


def run(options) -> int:
    """Print the report; return 0 where the file is a chain, else raise ChainError."""
    _check_groups(options)
    if options.output:
        from symdp_ros.figures.routes import check_figure
        check_figure(options.output)
    graph = graph_of(options)
    if options.states:
        for state in graph.successors:
            print(printable(state))
        return 0
    measured = structure(graph)
    _print(_report(graph, measured, options.prune))
    _draw(graph, options.output)
    if options.regions:
        regions = read_regions(resolve_path(options.regions))
        _print(_compared(graph, regions))
        polygons_of(graph, regions)  # raises where one names no state
    require_moves(graph)
    # If the initial state is not known yet, check the rest with another one.
    unknown = graph.initial_state is None
    chain = graph.chain(next(iter(graph.successors)) if unknown else None)
    _print([('alternatives', _alternatives(fewest_differences(chain, from_anywhere=unknown))),
            ('one move only', _single_moves(measured)),
            ('how it moves', chain.how_it_moves(DEFAULT_TRUST) + (
                '; learn: own adds what its own signals show' if chain.stores_edges else '')),
            ('usable', 'yes' + (', with an initial state' if unknown else ''))])
    if options.zones_file:
        sampling, mechanism = settled({'sampling': '', **vars(options)}, graph)
        chain = sampling.chain(replace(graph, initial_state=chain.initial_state))
        privacy = sampling.privacy(options.epsilon, options.adjacency,
                                   MapSettings.of(vars(options)).zones())
        print_zones(chain, privacy, guessed_in_zones(chain, privacy, reports=mechanism.reports))
    if not options.topic:
        return 0
    from symdp_ros.cli.maps.check_topic import compare

    return compare(graph, options)


def _check_groups(options) -> None:
    """
    Refuse an argument that would be ignored.

    :raises ConfigurationError: it is of use with another one alone, which is not given.
    """
    for first, *others in _GROUPS.values():
        for option in others:
            if not getattr(options, first.name) and (
                    getattr(options, option.name) not in (None, option.default)):
                raise ConfigurationError(f'--{option.name.replace("_", "-")} needs '
                                         f'--{first.name.replace("_", "-")}')


def _draw(graph: TransitionGraph, output: str) -> None:
    """Draw the map into a file, if one is named, and in the terminal, where it fits."""
    if output:
        from symdp_ros.figures.routes import draw_map
        draw_map(graph, ', '.join(graph.about[:2]), output)
    if not sys.stdout.isatty():
        return
    from rich.console import Console
    from symdp_ros.demo.picture import Picture

    console = Console(highlight=False, markup=False)
    picture = Picture(graph, console)
    if picture.fits():
        console.print(picture.draw(None, None))


def _print(lines):
    for name, value in lines:
        print(f'{name:<19} {value}')


def _report(graph: TransitionGraph, measured: Structure, pruning: bool
            ) -> Iterator[tuple[str, object]]:
    smallest, largest, mean = measured.out_degrees
    without = len(measured.isolated) + len(measured.dead_ends)
    yield 'map', ', '.join((*map(printable, graph.about), counted(measured.states, 'place'),
                            f'{without or "none"} without a way out'))
    if hidden := _at_one_place(graph):
        yield 'same position', hidden
    if graph.unaligned:
        yield 'no poses', printable(graph.unaligned)
    yield 'file', printable(graph.source)
    yield 'states', measured.states
    if graph.unnamed is not None:
        named = sum(state not in graph.unnamed for state in graph.successors)
        yield 'named', counted(named, 'state')
    on_levels = Counter(graph.levels.values())
    if len(on_levels) > 1:
        yield 'levels', ', '.join(f'{printable(level)} ({counted(number, "state")})'
                                  for level, number in on_levels.items())
    if pruning:
        yield 'pruned', _pruned(graph)
    yield 'edges', f'{measured.edges}' + (
        f' ({measured.repeated} listed more than once, merged)' if measured.repeated else '')
    yield 'out-degree', f'{smallest} to {largest}, mean {mean:.2f}'
    yield 'isolated', _names(measured.isolated)
    yield 'dead ends', _names(measured.dead_ends)
    yield 'initial state', printable(graph.initial_state) if graph.initial_state else (
        f'not in the file: give {one_of(graph.successors)}, as initial_state '
        '(--initial-state)')
    yield 'unreachable', ('depends on the initial state' if measured.unreachable is None
                          else _names(measured.unreachable))
    connected = measured.strong_components == 1
    yield 'strongly connected', ('yes' if connected
                                 else f'no, {measured.strong_components} components')
    yield 'period', measured.period if measured.period else '- (not strongly connected)'
    yield 'cannot stay', 'none' if not measured.without_staying else (
        f'{counted(measured.without_staying, "state")}: if the robot may stand still there, and '
        'for sampling: period, give --self-loops (self_loops: true)')


def _compared(graph: TransitionGraph, regions: TransitionGraph):
    """Compare the polygons with the states, positions and moves of a map."""
    states, polygons = graph.successors, regions.polygons
    yield 'without a polygon', _names([state for state in states if state not in polygons])
    yield 'without a state', _names([name for name in polygons
                                     if name not in states and name not in graph.pruned])
    places = read_places(regions)
    outside = []
    for state, (x, y) in graph.positions.items():
        if state in polygons and Locator({state: places[state]}).locate(x, y) is None:
            outside.append(state)
    yield 'not in its polygon', _names(outside)
    apart = {}
    for state, row in ({} if graph.complete else states).items():
        for target in row:
            on = {level for place in (state, target) if (level := regions.levels.get(place))}
            if state != target and {state, target} <= polygons.keys() and len(on) < 2 and (
                    target not in regions.successors[state]):
                apart[frozenset((state, target))] = f'{state} - {target}'
    yield 'do not touch', _names(list(apart.values()))


def _alternatives(fewest) -> str:
    if fewest.positions is None:
        return 'none: no two routes of one length join the same ends'
    if fewest.positions == 1:
        return '1 position: two routes between the same ends can differ in one symbol'
    bound = '' if fewest.exact else 'at least '
    return (f'{bound}{fewest.positions} positions: no two routes between the same ends differ in '
            f'fewer; an adjacency below {fewest.positions} protects no real alternative')


def _single_moves(measured: Structure) -> str:
    if not measured.single_move:
        return 'from no state'
    return (f'from {len(measured.single_move):,} of {counted(measured.states, "state")}, where '
            f'nothing can be hidden: {some_states(measured.single_move)}')


def _at_one_place(graph: TransitionGraph) -> str:
    """Return which states have the position of another one; '' without any."""
    places = read_places(graph)
    locator = Locator(places, moves=graph.successors) if places else None
    alike = {} if locator is None else locator.alike(True)
    if locator is None or not alike:
        return ''
    never = locator.never_found(True)
    return (f'{counted(len(alike), "place")}, where another one is, too: '
            + some_states([f'{state} (at {other})' for state, other in alike.items()])
            + (f'; no pose (input: pose) leads to {some_states([*never])}' if never else ''))


def _pruned(graph) -> str:
    names = graph.pruned
    return f'{len(names)} of {len(names) + len(graph.successors)} states: {some_states(names)}' \
        if names else 'none'


def _names(states) -> str:
    return some_states(states) if states else 'none'
