# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Telling at once why loops take long: they have to be compiled, which after an installation takes half
a minute, or they cannot be.
"""
from collections.abc import Callable
from contextlib import contextmanager
import threading

COMPILING = ('compiling the inner loops: this takes about half a minute, and only once after an '
             'installation')
UNCOMPILED = ('numba is not installed: the inner loops run uncompiled, some hundred times slower, '
              'which matters for long routes on large maps')

_lock = threading.Lock()
_listeners = []


@contextmanager
def on_slow_loops(tell: Callable[[str], None]):
    """
    Call `tell` with `COMPILING` where a loop of this package has to be compiled meanwhile, or with
    `UNCOMPILED` where loops are loaded that cannot be; once, at once.

    Not where one is read from the disk, or was compiled before. It is called on the thread that
    runs the loop.
    """
    entry = [tell]
    with _lock:
        _listeners.append(entry)
    try:
        yield
    finally:
        with _lock:
            _listeners[:] = [other for other in _listeners if other is not entry]


def loops_begin(sentence: str) -> None:
    """Tell those who listen."""
    with _lock:
        waiting = [entry.pop() for entry in _listeners if entry]
    for tell in waiting:
        tell(sentence)
