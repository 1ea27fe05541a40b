# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The executables: one module for each node."""
import os
from pathlib import Path
import signal
import sys

from symdp_ros.options import PARAMETERS

NODES = tuple(PARAMETERS)


def _prepare_program():
    """
    Prepare a process that is a node for the slow imports that come next.

    A signal ends it quietly, with status 0, until `ros.spinning` sets its own handlers. If there
    is no ROS, it ends with one sentence.
    """
    # Other programs that import these modules are left alone. `python -m` runs them as '-m'.
    program = Path(sys.argv[0]).name if sys.argv else ''
    if program != '-m' and program not in NODES:
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(0))
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        node = 'a node' if program == '-m' else program
        raise SystemExit(
            f'{node} needs ROS 2, and rclpy cannot be imported ({error}): source a ROS 2, such as '
            ". /opt/ros/jazzy/setup.sh, or install one with pip install 'symdp_ros[jazzy]'"
        ) from None


_prepare_program()
