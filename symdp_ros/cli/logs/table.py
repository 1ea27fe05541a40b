# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp table`: a directory of logs as an archive of routes, before it is released."""
import argparse
from pathlib import Path

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.logs.log_arguments import check_period
from symdp_ros.cli.maps.check import add_chain_arguments
from symdp_ros.cli.progress import progress, tell
from symdp_ros.errors import printable, shell_word
from symdp_ros.maps.dead_ends import counted
from symdp_ros.options import OF_TABLE, TABLE, TABLE_PARTIAL, TABLE_SUBJECT


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'table', help='make an archive of routes from the logs of many robots',
        description='Writes the logs of each robot into one Parquet file, DATASET/subject=NAME/'
                    'routes.parquet, with the columns route, position, stamp and symbol: '
                    '`symdp release DATASET -o OUT.parquet` makes it private. The archive itself '
                    'holds the true routes: only you can read it.')
    parser.add_argument('logs', metavar='LOGS',
                        help='a directory with a directory of logs for each robot; or, with '
                             '--subject, one of logs')
    add_arguments(parser, (TABLE, TABLE_SUBJECT, TABLE_PARTIAL))
    add_arguments(parser.add_argument_group('reading'), OF_TABLE)
    add_chain_arguments(parser.add_argument_group('for input: pose, where the regions are'),
                        '--map', '--chain', required=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the archive; return 0, or 1 where a log was left out that cannot be read."""
    from symdp_ros.release.archives.from_logs import robots_in, TableSettings, write_table

    check_period(options)
    settings, output = TableSettings.of(vars(options)), Path(options.output)
    robots, skipped = robots_in(Path(options.logs), options.subject)
    for log in skipped:
        tell('table', f'{log.name} is skipped: {log.reason}')
    with progress(sum(map(len, robots.values()))) as advance:
        made = write_table(robots, settings, output, leave_out=options.partial, on_log=advance)
    for problem in made.problems:
        tell('table', f'left out: {problem}')
    print(f'{printable(output)}: {counted(made.rows, "symbol")} of '
          f'{counted(made.routes, "route")} of {counted(made.robots, "robot")}. It holds the '
          'true routes: only you can read it')
    print(f'to make it private: symdp release {shell_word(output)} -o OUT.parquet --map MAP '
          '--epsilon EPSILON --ledger LEDGER')
    return 1 if made.problems else 0
