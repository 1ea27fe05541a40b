# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo`: simulated robots, made private, live in a terminal."""
from collections.abc import Mapping
from dataclasses import replace
import os
import signal
import sys

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, pruned_graph_of
from symdp_ros.demo.fleet import run_fleet
from symdp_ros.demo.one_robot import run_robot
from symdp_ros.demo.processes import DemoError
from symdp_ros.errors import printable
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.reports import period_of
from symdp_ros.options import DURATION, EPSILON, FIGURE, PROTECT, RATE, ROBOTS
from symdp_ros.ros.process.own_network import restart_isolated
from symdp_ros.words.sampling_settings import SamplingSettings

_OPTIONS = (
    replace(EPSILON, default=2.0),
    replace(PROTECT, default=5.0, least=1e-3, meaning='the visit that is hidden: where the robot '
            'is during any so many seconds'),
    replace(DURATION, default=30.0), replace(RATE, default=1.0), FIGURE, ROBOTS)


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'demo', help='run a simulated robot and its privatizer, and show both on the map',
        description='Runs the nodes patrol and privatizer as processes of their own, and shows '
                    'where the robot is and where others see it on the map. Then lets the node '
                    'log_release release the same patrol as a log. With '
                    '--robots: several robots, in one process that lets nothing but private '
                    'regions into the ROS domain of the fleet. Other programs see nothing of it, '
                    'where the kernel allows that, unless ROS_DOMAIN_ID is set: then they find '
                    'it (of a fleet: its private regions) in that domain.')
    add_chain_arguments(parser)
    add_arguments(parser, _OPTIONS)
    parser.set_defaults(run=run)


def run(options) -> int:
    """Run the demo; return 0 where every private move was feasible."""
    try:
        import rclpy  # noqa: F401
    except ImportError:
        raise DemoError('the demo needs ROS 2 (rclpy): source it, or use `make demo`') from None
    if not options.chain_file.isprintable():
        raise DemoError('the nodes cannot open a file of this name: rename it')
    options.self_loops = True  # a robot that stays reports its place again
    graph = pruned_graph_of(options)
    if graph.initial_state is None:
        graph.initial_state = options.initial_state = next(iter(graph.successors), None)
    if options.figure:
        from symdp_ros.figures.routes import check_figure
        check_figure(options.figure, graph)
    step = float(graph.tick or 1 / options.rate)
    options.period, options.period_of_reports = period_of(options.protect, step, 1), step
    known = any(isinstance(row, Mapping) for row in graph.successors.values())
    settings = {'epsilon': options.epsilon, 'protect': options.protect, 'sampling': 'period',
                'period': options.period, 'report_period': step, 'policy': 'adaptive',
                **({} if known else {'stay': max(options.protect, 2 * step)})}
    chain = SamplingSettings.of(settings).chain(graph)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if options.robots > 1 and options.figure:
        raise DemoError('--figure is for one robot')
    if not (given := os.environ.get('ROS_DOMAIN_ID')):
        restart_isolated()
    elif not given.isascii() or not given.isdigit() or int(given) > 232:
        raise DemoError(f'ROS_DOMAIN_ID is {printable(given)}: it must be a number from 0 to 232')
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the nodes are stopped properly
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    of_map = {'chain_file': os.path.abspath(MapSettings.of(vars(options)).path),
              'initial_state': chain.initial_state, 'self_loops': True,
              'level': options.level or '', 'graph': options.graph, 'prune': options.prune}
    if options.robots > 1:
        return run_fleet(options, chain, graph, {**of_map, **settings})
    return run_robot(options, chain, graph, {**of_map, **settings})
