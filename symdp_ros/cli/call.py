# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp call`: call a service of our nodes, where there is no `ros2` command."""
import argparse

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.errors import printable
from symdp_ros.options import ANSWERED, DOMAIN, SECONDS


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'call', help='call a service of a node: release, status, reload, change_state',
        description='Calls a service of type std_srvs/srv/Trigger, such as /log_release/release '
                    'or /fleet/reload, and prints its answer; or, with a TRANSITION, one of type '
                    'lifecycle_msgs/srv/ChangeState, such as /tb1/privatizer/change_state. Exit '
                    'status 1 if it answers that it failed, or does not answer in time.')
    parser.add_argument('service', metavar='SERVICE', help='its name: symdp topics lists them')
    parser.add_argument('transition', metavar='TRANSITION', nargs='?', default='',
                        help='such as configure, activate, deactivate, cleanup')
    add_arguments(parser, [DOMAIN, SECONDS, ANSWERED])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the answer; return 0 where it is a success."""
    with needing_ros():
        from symdp_ros.ros.graph.calling import call
    success, message = call(domain_of(options), options.service, options.transition,
                            options.seconds, options.timeout)
    print(printable(message, 2000) or ('done' if success else 'refused'))
    return 0 if success else 1
