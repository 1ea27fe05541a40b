# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp topics`: the topics and services of a ROS domain, where there is no `ros2` command."""
import argparse

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.errors import printable
from symdp_ros.options import DOMAIN, WAIT_FOR_NODES

_SKIPPED = 'rcl_interfaces/'  # parameters and logs of each node


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'topics', help='list the topics and services of a ROS domain',
        description='Lists the topics and services of a ROS domain, each with its type and the '
                    'nodes that publish or offer it, but not those of parameters and logs. It '
                    'subscribes to nothing and calls nothing.')
    add_arguments(parser, [DOMAIN, WAIT_FOR_NODES])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each; return 0."""
    with needing_ros():
        from symdp_ros.ros.graph.live_graph import look
    graph = look(domain_of(options), options.seconds)
    for kind, channels in (('topic', graph.topics), ('service', graph.services)):
        for channel in channels:
            if not channel.type_name.startswith(_SKIPPED):
                sources = ' '.join(sorted(map(printable, channel.sources)))
                print(f'{kind:<7} {printable(channel.name)} {printable(channel.type_name)} '
                      f'{sources}'.rstrip())
    return 0
