# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What killed processes leave in the shared memory of Fast DDS, and what that does to others."""
from collections.abc import Iterator
from contextlib import contextmanager, suppress
import fcntl
import os
from pathlib import Path
import re
import sys
import time

import rclpy

_PORT = re.compile(r'fast(?:rtps|dds)_port([0-9]{1,6})')  # of Fast DDS 2, and of 3
_BEING_MADE = 0.1  # seconds; Fast DDS fills a file at once
_OF_ALL = range(7000, 7100)  # ports that processes of all domains open
_FIRST, _OF_A_DOMAIN = 7400, 250
_MOST = 64  # locks: a process tries 100 ports


@contextmanager
def fresh_ports(domain: int, directory: Path = Path('/dev/shm')) -> Iterator[None]:
    """
    Take care of ports that killed processes have left, while a node joins a ROS domain.

    A process that is killed while Fast DDS makes a port leaves an empty file. Whoever opens it
    later waits, with no word, until it is filled or removed: of these, a warning is printed.

    A process that is killed after it has waited for a message, and before it notes that it has
    one, leaves a port that others take for one in use. The next process makes that port anew; who
    sent to the old one goes on to do so, and the new process hears nothing from there. So all
    ports whose reader was killed are locked meanwhile, and the node takes others.

    Other middleware does not open these files.
    """
    if not rclpy.get_rmw_implementation_identifier().startswith('rmw_fastrtps'):
        yield
        return
    if empty := {*_empty_ports(domain, directory)}:
        time.sleep(_BEING_MADE)
        for file in sorted(empty.intersection(_empty_ports(domain, directory))):
            print(f'warning: {file} is empty: a process was killed while Fast DDS made it. If '
                  f'this program hangs now, end it and remove the file: rm {file}',
                  file=sys.stderr, flush=True)
    held: list[int] = []
    try:
        for file in _ports(domain, directory):
            if len(held) < _MOST:
                _hold(f'{file}_el', held)
        yield
    finally:
        for lock in held:
            os.close(lock)


def _hold(file: str, held: list[int]) -> None:
    """
    Lock a port, and add the descriptor, unless a process reads the port.

    A port without a lock is left so: with one, Fast DDS would take its reader for killed.
    """
    with suppress(OSError):  # there is none, or it is another user's
        lock = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            # Shared: others may do the same. Who reads a port has locked it for itself alone.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            held.append(lock)


def _empty_ports(domain: int, directory: Path) -> Iterator[Path]:
    for file in _ports(domain, directory):
        with suppress(OSError):  # it is not there any more
            if file.stat().st_size == 0:
                yield file


def _ports(domain: int, directory: Path) -> Iterator[Path]:
    """Yield the files of ports that processes in a domain open, its own ones first."""
    first = _FIRST + _OF_A_DOMAIN * domain
    own, of_all = range(first, first + _OF_A_DOMAIN), []
    with suppress(OSError):  # there is no such directory
        for name in sorted(os.listdir(directory)):
            port = _PORT.fullmatch(name)
            if port and int(port[1]) in own:
                yield directory / name
            elif port and int(port[1]) in _OF_ALL:
                of_all.append(directory / name)
    yield from of_all
