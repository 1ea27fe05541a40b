# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp`: one command with one module of this room for each subcommand."""
import argparse
import os
import sys

from symdp_ros import __version__
from symdp_ros.cli import (calibrate, call, demo, doctor, echo, explore, isolate, topics)
from symdp_ros.cli.arguments import Parser
from symdp_ros.cli.logs import learn, ledger, release, table
from symdp_ros.cli.maps import automaton, chain, check, propose_zones
from symdp_ros.errors import printable, SymdpError
from symdp_ros.files.standard_output import close_output, open_closed_output

COMMANDS = (check, chain, propose_zones, calibrate, explore, demo, release, table, ledger,
            learn, automaton, topics, echo, call, doctor, isolate)


def make_parser() -> Parser:
    """Return the parser of `symdp`, with all its subcommands."""
    parser = Parser(
        prog='symdp', description='Word differential privacy for the regions and modes of robots.')
    add_commands(parser)
    return parser


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add all subcommands, and `--version`."""
    parser.add_argument('--version', action='version', version=f'symdp {__version__}')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND',
                                     parser_class=Parser)
    for module in COMMANDS:
        module.add_parser(commands)


def main(arguments=None) -> int:
    """Run `symdp`; return the exit status (0: done, 1: error, 2: wrong usage)."""
    open_closed_output()
    _escape()
    parser = make_parser()
    if '_ARGCOMPLETE' in os.environ:  # the shell asks how a word could go on
        from argcomplete import autocomplete

        autocomplete(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit:  # it printed a help text, or what is wrong
        close_output()
        raise
    return run(options)


def run(options: argparse.Namespace) -> int:
    """Run a subcommand with its options; return the exit status, as `main`."""
    _escape()
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except SymdpError as error:
        problem = str(error)
    except BrokenPipeError:
        # The reader of a pipe has ended (`symdp check … | head`): no message.
        problem = None
    except OSError as error:  # from a file or stream that the command writes
        where = f'{error.filename}' if error.filename else 'the output cannot be written'
        problem = printable(f'{where}: {error.strerror or error}')
    except KeyboardInterrupt:
        return 130
    close_output()
    if problem is not None:
        print(f'symdp {options.command}: {problem}', file=sys.stderr)
    return 1


def _escape():
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, 'reconfigure'):  # names that the terminal's encoding lacks are escaped
            stream.reconfigure(errors='backslashreplace')


if __name__ == '__main__':
    sys.exit(main())
