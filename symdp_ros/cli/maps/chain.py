# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp chain FILE -o CHAIN`: a chain file, to read and to edit, from a map of any kind."""
import argparse
from pathlib import Path

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, graph_of
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.durable import write_new_file
from symdp_ros.maps.chain_file import chain_text
from symdp_ros.maps.dead_ends import counted, require_moves
from symdp_ros.options import MADE_CHAIN


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'chain', help='write a chain file from any map, such as a regions file',
        description='Writes which state can follow which, as a chain file that can be edited by '
                    'hand. A chain file has no positions: a node with input: pose needs the map '
                    'itself, or a regions_file.')
    add_chain_arguments(parser)
    add_arguments(parser, [MADE_CHAIN])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the chain file; return 0."""
    output, graph = chain_path(options.output), graph_of(options)
    require_moves(graph)
    chain = graph.chain(graph.initial_state or next(iter(graph.successors), None))
    write_new_file(output, f'# Made by `symdp chain` from {printable(graph.source)}.\n'
                   + chain_text(graph))
    print(f'{printable(output)}: {counted(len(chain), "state")}, '
          f'{counted(chain.edge_count, "move")}'
          + ('' if graph.initial_state else '; it names no initial_state: add one'))
    return 0


def chain_path(name: str) -> Path:
    """Return the path of a new chain file; raise ConfigurationError for another suffix."""
    output = Path(name)
    if output.suffix.lower() not in ('.yaml', '.yml'):
        raise ConfigurationError(f'{printable(output)} is to be a chain file: give it a name that '
                                 'ends in .chain.yaml')
    return output
