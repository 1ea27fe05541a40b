# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The executables: one module for each node."""
import os
from pathlib import Path
import signal
import sys

from symdp_ros.options import PARAMETERS
from symdp_ros.ros.process.stop_signals import stop_signals

NODES = tuple(PARAMETERS)


def _program() -> str:
    """Return the name of the node that this process runs; another name if it runs none."""
    if not sys.argv or sys.argv[0] != '-m':
        return Path(sys.argv[0]).name if sys.argv else ''
    # `python -m symdp_ros.nodes.NAME`: the name is not in sys.argv yet.
    modules = [word for word in sys.orig_argv if word.startswith('symdp_ros.nodes.')]
    return modules[0].rpartition('.')[2] if modules else ''


def _prepare_program():
    """
    Prepare a process that is a node for the slow imports that come next.

    `--help` is answered here, without ROS. A signal ends the process quietly, with status 0, until
    `ros.process.spinning` sets its own handlers. If there is no ROS, it ends with one sentence.
    """
    program = _program()
    if program not in NODES:  # other programs that import these modules are left alone
        return
    arguments = sys.argv[1:]
    if '--ros-args' in arguments:
        arguments = arguments[:arguments.index('--ros-args')]
    if '-h' in arguments or '--help' in arguments:
        from symdp_ros.nodes.help import help_of

        # Letters that the terminal's encoding lacks are escaped.
        sys.stdout.reconfigure(errors='backslashreplace')
        print(help_of(program))
        raise SystemExit
    for number in stop_signals():
        signal.signal(number, lambda number, frame: os._exit(0))
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise SystemExit(
            f'{program} needs ROS 2, and rclpy cannot be imported ({error}): source a ROS 2, such '
            "as . /opt/ros/jazzy/setup.sh, or install one with pip install 'symdp_ros[jazzy]'"
        ) from None


_prepare_program()
