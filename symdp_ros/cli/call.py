# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp call`: call a service of our nodes, where there is no `ros2` command."""
import argparse
import json
import sys

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.errors import printable
from symdp_ros.options import ANSWERED, DOMAIN, RAW, WAIT_FOR_NODES

_LONGEST = 10_000_000  # characters: an answer of log_release has about 200 for each log


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'call', help='call a service of a node: release, status, reload, change_state',
        description='Calls a service of type std_srvs/srv/Trigger, such as /log_release/release '
                    'or /fleet/reload, and prints its answer, on a terminal one that is JSON in '
                    'several lines; or, with a TRANSITION, one of type '
                    'lifecycle_msgs/srv/ChangeState, such as /tb1/privatizer/change_state. Exit '
                    'status 1 if it answers that it failed, or does not answer in time.')
    parser.add_argument('service', metavar='SERVICE', help='its name: symdp topics lists them')
    parser.add_argument('transition', metavar='TRANSITION', nargs='?', default='',
                        help='such as configure, activate, deactivate, cleanup')
    add_arguments(parser, [DOMAIN, WAIT_FOR_NODES, ANSWERED, RAW])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the answer; return 0 where it is a success."""
    with needing_ros():
        from symdp_ros.ros.graph.calling import call
    success, message = call(domain_of(options), options.service, options.transition,
                            options.seconds, options.timeout)
    if not message and options.transition and not success:
        message = 'refused: its state has no such transition, or it failed, as its log says'
    message = message or ('done' if success else 'refused')
    lines = [message]
    if sys.stdout.isatty() and not options.raw:
        lines = _readable(message)
    print(*(printable(line, _LONGEST) for line in lines), sep='\n')
    return 0 if success else 1


def _readable(message: str) -> list[str]:
    """Return the lines of an answer for people; of one that is no JSON, it is the only one."""
    try:
        return json.dumps(json.loads(message), ensure_ascii=False, indent=2).split('\n')
    except (ValueError, RecursionError):
        return [message]
