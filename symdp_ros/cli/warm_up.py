# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp warm-up`: compile all loops now, so that no first use has to wait."""
import argparse


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'warm-up', help='compile all inner loops now: once after an installation',
        description='Compiles the inner loops, which else happens at their first use, for up to a '
                    'minute. They are kept beside the package, or in a cache of the user where '
                    'that cannot be written: run it as the user of the nodes, or set '
                    'NUMBA_CACHE_DIR to one directory for all.')
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile, in two processes; return 0."""
    from multiprocessing import get_context

    from symdp_ros.release.warm_up import warm_up

    other = get_context('spawn').Process(target=warm_up, args=(True,), daemon=True)
    other.start()
    warm_up()
    other.join()
    print('all inner loops are compiled')
    return 0
