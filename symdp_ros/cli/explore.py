# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp explore MAP -o report.html`: what each setting does on a map, on one page."""
import argparse
from collections.abc import Sequence
import os
from pathlib import Path
import shlex

from symdp_ros.analysis.exploration import Cell, Exploration, Grid, GridPoint
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, pruned_graph_of
from symdp_ros.cli.parameter_file import parameter_text, parameters_of
from symdp_ros.cli.progress import announce, progress
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.figures.explorer import check_page, page
from symdp_ros.files.durable import check_new, write_new_file
from symdp_ros.maps.dead_ends import require_moves
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.options import (EPSILON, EXPLORED, EXPLORED_PAGE, PROTECT, SECONDS, STAY,
                               TRUST, ZONES_FILE)
from symdp_ros.words.sampling_settings import SamplingSettings

# So few that a map of 100 states takes less than half a minute on two cores.
# The page opens with the first of each.
_EPSILONS, _PROTECTS = (2.0, 1.0, 3.0, 5.0), (30.0, 10.0)
_STAYS, _STAYS_IN_ZONES = (60.0, 300.0), (60.0,)
_MOST_VALUES = 12  # of each setting


def add_parser(commands: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'explore', help='see on one page what ε, period, stay, delay and zones do on a map',
        description='Writes one HTML file, which opens without a network: a true and a private '
                    'route on the map, what others believe, the numbers of symdp calibrate '
                    '--protect, and in one sentence what is promised, for every combination of '
                    'the settings. No data is needed: routes are simulated. More values take '
                    'longer.')
    add_chain_arguments(parser)
    add_arguments(parser, (EXPLORED_PAGE, *EXPLORED, ZONES_FILE, TRUST, SECONDS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page; return 0."""
    output = Path(options.output)
    check_new(output)
    graph = pruned_graph_of(options)
    require_moves(graph)
    check_page(graph)
    given = _values(options, graph)
    epsilons, protects, stays = (tuple(sorted(values)) for values in given)
    grid = Grid(epsilons, protects, stays)
    exploration = Exploration(graph, grid, trust=options.trust,
                              zones=MapSettings.of(vars(options)).zones(),
                              seconds=options.seconds, processes=len(os.sched_getaffinity(0)))
    SamplingSettings('period', 1.0).check(exploration.chain)  # as nodes do
    announce(f'{len(exploration.points)} settings of {len(epsilons)} ε each', exploration.takes)
    with progress(len(exploration.points)) as done:
        cells = exploration.cells(done)
    text = page(graph, Path(options.chain_file).name, exploration, cells,
                lambda point, cell: _files(point, cell, options, exploration.tick),
                dict(zip(('epsilon', 'protect', 'stay'), (values[0] for values in given))))
    write_new_file(output, text)
    print(f'{printable(output)}: {len(exploration.points)} settings of '
          f'{len(exploration.grid.epsilons)} ε each, {len(text.encode()) / 1e6:.1f} MB; open it '
          'in a browser')
    return 0


def _values(options: argparse.Namespace, graph: TransitionGraph) -> list[tuple[float, ...]]:
    """Return ε, protect and stay: those given, in their order, or what is computed by itself."""
    known = any(isinstance(row, dict) for row in graph.successors.values())
    return [_numbers(options.epsilon, EPSILON) or _EPSILONS,
            _numbers(options.protect, PROTECT) or _PROTECTS,
            _numbers(options.stay, STAY) or (
                (0.0,) if known else _STAYS_IN_ZONES if options.zones_file else _STAYS)]


def _numbers(given: Sequence[str], option) -> tuple[float, ...]:
    """Return the values of an option that may be given several times."""
    numbers = tuple(dict.fromkeys(option.parse(text) for text in given))
    if len(numbers) > _MOST_VALUES:
        raise ConfigurationError(f'--{option.name} is given {len(numbers)} times: at most '
                                 f'{_MOST_VALUES} values can be compared', setting=option.name)
    if option is PROTECT and 0 in numbers:
        raise ConfigurationError('--protect is 0: a visit lasts longer', setting='protect')
    return numbers


def _files(point: GridPoint, cell: Cell, options: argparse.Namespace, tick: float) -> str:
    """Return a parameter file, and in comments how it is used."""
    given = argparse.Namespace(**{
        **vars(options), 'protect': point.protect, 'stay': point.stay,
        'zones_file': options.zones_file if point.zoned else None})
    parameters = parameters_of(cell.errors, cell.period, cell.epsilon, given, tick,
                               by_rule=cell.by_rule)
    text = parameter_text(parameters, given, 'symdp explore')
    if cell.late is not None:
        return ('# Save as private.yaml, and start (of input: pose, see docs/robots.md):\n'
                '#   ros2 launch symdp_ros privatizer.launch.py params_file:=$PWD/private.yaml\n'
                f'{text}')
    flags = [part for name, value in parameters.items() for part in (
        [f'--{name.replace("_", "-")}'] + ([] if value is True else [str(value)]))]
    flags += [part for name in ('initial_state', 'level') if getattr(options, name)
              for part in (f'--{name.replace("_", "-")}', getattr(options, name))]
    flags += ['--graph', str(options.graph)] if options.graph >= 0 else []
    flags += ['--prune'] if options.prune else []
    line = shlex.join(['symdp', 'release', 'LOGS', '--map', options.chain_file, *flags,
                       '-o', 'released', '--ledger', 'spent.ledger', '--subject', 'robot_1'])
    return (f'# Release recorded logs:\n#   {printable(line, 2000)}\n'
            '# Or save as private.yaml, add log_dir, release_dir, ledger_file and subject, and:\n'
            '#   ros2 launch symdp_ros log_release.launch.py params_file:=$PWD/private.yaml\n'
            f'{text}')
