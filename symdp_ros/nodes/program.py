# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The programs that run a node; the imports of the node, which are slow, come last."""
from contextlib import suppress
from functools import partial
from importlib import import_module
import os
import signal
import sys

from symdp_ros.ros.process.stop_signals import stop_signals


def run_program(node: str) -> int:
    """
    Run a node until SIGINT or SIGTERM; return the exit status.

    `--help` is answered here, without ROS. A signal ends the process quietly, with status 0, until
    `ros.spinning` sets its own handlers.

    :raises SystemExit: there is no ROS; with one sentence.
    """
    arguments = sys.argv[1:]
    if '--ros-args' in arguments:
        arguments = arguments[:arguments.index('--ros-args')]
    if '-h' in arguments or '--help' in arguments:
        from symdp_ros.files.standard_output import close_output
        from symdp_ros.nodes.help import help_of

        # Letters that the terminal's encoding lacks are escaped.
        sys.stdout.reconfigure(errors='backslashreplace')  # type: ignore[union-attr]
        with suppress(BrokenPipeError):  # `… | head`
            print(help_of(node), flush=True)
        close_output()
        return 0
    for number in stop_signals():
        signal.signal(number, lambda number, frame: os._exit(0))
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise SystemExit(
            f'{node} needs ROS 2, and rclpy cannot be imported ({error}): source a ROS 2, such '
            "as . /opt/ros/jazzy/setup.sh, or install one with pip install 'symdp_ros[jazzy]'"
        ) from None
    return import_module(f'symdp_ros.nodes.{node}').main()


#: What the scripts of the package call.
fleet = partial(run_program, 'fleet')
log_release = partial(run_program, 'log_release')
patrol = partial(run_program, 'patrol')
privatizer = partial(run_program, 'privatizer')
