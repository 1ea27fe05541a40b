# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp echo`: print the messages of a topic, where there is no `ros2` command."""
import argparse
from math import inf
from typing import Any

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.errors import printable
from symdp_ros.options import DOMAIN, ECHOED

_LONGEST = 10_000  # characters of a message


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'echo', help='print the messages of a topic',
        description='Prints a line for each message of a topic, and first for those that it still '
                    'gives to late readers: of a std_msgs/msg/String its text, of others all '
                    'fields. Ctrl-C ends it.')
    parser.add_argument('topic', metavar='TOPIC', help='its name: symdp topics lists them')
    add_arguments(parser, [DOMAIN, ECHOED])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print until the time is over; return 0."""
    with needing_ros():
        from symdp_ros.ros.graph.listening import listen

    def show(message: Any) -> None:
        text = message.data if type(message).__name__ == 'String' else message
        print(printable('a message that cannot be read' if text is None else text, _LONGEST),
              flush=True)

    listen(domain_of(options), options.topic, options.seconds or inf, lambda kind: show)
    return 0
