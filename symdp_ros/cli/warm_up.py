# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp warm-up`: compile all loops now, so that no first use has to wait."""
import argparse
import os
import signal

from symdp_ros.errors import ConfigurationError


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
    """
    Compile, in two processes where there are two processors; return 0.

    :raises ConfigurationError: there is no numba to compile with.
    """
    from multiprocessing import get_context

    from symdp_ros.core.compiled.compiling import numba

    if numba is None:
        raise ConfigurationError('nothing can be compiled: numba is not installed, or turned off '
                                 'by NUMBA_DISABLE_JIT')
    from symdp_ros.release.warm_up import warm_up

    other = None
    # Python's own handler raises KeyboardInterrupt, which is lost where LLVM calls Python.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process inherits it
    if len(os.sched_getaffinity(0)) > 1:
        other = get_context('spawn').Process(target=warm_up, args=(True,), daemon=True)
        other.start()

    def stop(number: int, frame: object) -> None:
        if other:
            other.terminate()
        os._exit(130)

    signal.signal(signal.SIGINT, stop)
    warm_up()
    if other:
        other.join()
    print('all inner loops are compiled')
    return 0
