# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo`: simulated robots, made private, live in a terminal."""
from dataclasses import replace
import os
import signal
import sys

from symdp_ros.analysis.choice import choose
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, chain_of, graph_of
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import LIVE
from symdp_ros.demo.fleet import run_fleet
from symdp_ros.demo.one_robot import run_robot
from symdp_ros.demo.processes import DemoError
from symdp_ros.errors import printable
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.options import ADJACENCY, DURATION, EPSILON, FIGURE, POLICY, RATE, ROBOTS
from symdp_ros.ros.process.own_network import restart_isolated


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'demo', help='run a simulated robot and its privatizer, and show both regions',
        description='Runs the nodes patrol and privatizer as processes of their own, and shows '
                    'the true and the private region side by side. Then lets the node log_release release the same patrol as a log. With '
                    '--robots: several robots, in one process that lets nothing but private '
                    'regions into the ROS domain of the fleet. Other programs see nothing of it, '
                    'where the kernel allows that, unless ROS_DOMAIN_ID is set: then they find '
                    'it (of a fleet: its private regions) in that domain.')
    add_chain_arguments(parser)
    add_arguments(parser, (replace(EPSILON, default=2.0),
                           replace(ADJACENCY, default=1, least=1), POLICY, DURATION, RATE,
                           FIGURE, ROBOTS))
    parser.set_defaults(run=run)


def run(options) -> int:
    """Run the demo; return 0 where every private move was feasible."""
    try:
        import rclpy  # noqa: F401
    except ImportError:
        raise DemoError('the demo needs ROS 2 (rclpy): source it, or use `make demo`') from None
    if not options.chain_file.isprintable():
        raise DemoError('the nodes cannot open a file of this name: rename it')
    graph = graph_of(options)
    if graph.initial_state is None:
        options.initial_state = next(iter(graph.successors), None)
    if options.figure:
        from symdp_ros.figures.routes import check_figure
        check_figure(options.figure, graph)
    chain = chain_of(options)
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
              'initial_state': chain.initial_state, 'self_loops': options.self_loops,
              'level': options.level or '', 'graph': options.graph, 'prune': options.prune}
    taken, _ = choose(chain, Privacy(options.epsilon, options.adjacency),
                      MechanismSettings(LIVE, policy=options.policy))
    options.policy = taken.policy
    if options.robots > 1:
        return run_fleet(options, chain, of_map)
    return run_robot(options, chain, graph, of_map)
