# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp zones MAP`: propose zones, to be edited by hand."""
from pathlib import Path
import sys

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, pruned_graph_of
from symdp_ros.errors import printable
from symdp_ros.files.durable import write_new_file
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.zones import zones_text
from symdp_ros.options import ZONE_SIZE, ZONES_OUTPUT


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'zones', help='propose zones: places of which only the zone is told',
        description='Proposes zones from the map alone: connected, of at most so many places, and '
                    'none of one place where that can be. Edit the file: give the zones the names '
                    'and borders that people know. symdp check MAP --zones-file FILE '
                    '--protect SECONDS says what each of them hides.')
    add_chain_arguments(parser)
    add_arguments(parser, [ZONE_SIZE, ZONES_OUTPUT])
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the zones, or print them; return 0."""
    from symdp_ros.analysis.zoning import propose_zones

    graph = pruned_graph_of(options)
    zones = propose_zones(graph.chain(graph.initial_state or next(iter(graph.successors), None)),
                          options.size)
    text = zones_text(zones)
    if not options.output:
        print(text, end='')
        return 0
    write_new_file(Path(options.output),
                   f'# Proposed by `symdp zones` for {printable(graph.source)}.\n{text}')
    sizes = [len(states) for states in zones.values()]
    print(f'{printable(options.output)}: {counted(len(zones), "zone")} of {min(sizes)} to '
          f'{max(sizes)} places', file=sys.stderr)
    return 0
