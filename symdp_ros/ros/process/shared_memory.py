# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a killed process leaves in the shared memory of Fast DDS."""
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
import sys
import time

import rclpy

_BEING_MADE = 0.1  # seconds; Fast DDS fills a file at once
_OF_ALL = 7000     # the port that processes of all domains open
_FIRST, _OF_A_DOMAIN = 7400, 250


def warn_of_empty_ports(domain: int, directory: Path = Path('/dev/shm')) -> None:
    """
    Print a warning where joining a ROS domain would take for ever; call it before.

    A process that is killed while Fast DDS makes a port leaves an empty file. Whoever opens it
    later waits, with no word, until it is filled or removed. Other middleware does not open it.
    """
    if not rclpy.get_rmw_implementation_identifier().startswith('rmw_fastrtps'):
        return
    if empty := {*_empty_ports(domain, directory)}:
        time.sleep(_BEING_MADE)
        for file in sorted(empty.intersection(_empty_ports(domain, directory))):
            print(f'warning: {file} is empty: a process was killed while Fast DDS made it. If '
                  f'this program hangs now, end it and remove the file: rm {file}',
                  file=sys.stderr, flush=True)


def _empty_ports(domain: int, directory: Path) -> Iterator[Path]:
    first = _FIRST + _OF_A_DOMAIN * domain
    for port in (_OF_ALL, *range(first, first + _OF_A_DOMAIN)):
        file = directory / f'fastrtps_port{port}'
        with suppress(OSError):  # it is not there
            if file.stat().st_size == 0:
                yield file
