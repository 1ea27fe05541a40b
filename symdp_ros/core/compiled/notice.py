# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Why loops take long: they have to be compiled, for up to a minute, or cannot be."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import threading

COMPILING = 'compiling the inner loops: this takes up to a minute, once after an installation'
UNCOMPILED = ('numba is not installed, or turned off by NUMBA_DISABLE_JIT: the inner loops run '
              'uncompiled, some hundred times slower, which matters for archives')

_lock = threading.Lock()
_listeners: list[list[Callable[[str], None]]] = []  # each emptied by its first notice
_questions: list[Callable[[], bool]] = []


@contextmanager
def on_slow_loops(notify: Callable[[str], None]) -> Iterator[None]:
    """
    Call `notify` once, at once, where loops are slow meanwhile.

    With `COMPILING` where a loop of this package has to be compiled (not where it is read from the
    disk, or was compiled before); with `UNCOMPILED` where loops are loaded that cannot be. It is
    called on the thread that runs the loop.
    """
    entry = [notify]
    with _lock:
        _listeners.append(entry)
    try:
        yield
    finally:
        with _lock:
            _listeners[:] = [other for other in _listeners if other is not entry]


def loops_begin(sentence: str) -> None:
    """Notify the listeners."""
    with _lock:
        waiting = [entry.pop() for entry in _listeners if entry]
    for notify in waiting:
        notify(sentence)


@contextmanager
def interrupted_if(asked: Callable[[], bool]) -> Iterator[None]:
    """
    Raise KeyboardInterrupt where a loop is being compiled, soon after `asked` returns true.

    It is called before each step of the compiler, on the thread that compiles. A step takes up to
    a few seconds.
    """
    _questions.append(asked)
    try:
        yield
    finally:
        _questions.remove(asked)


def step_begins() -> None:
    """Ask whether to interrupt the compiler."""
    if any(asked() for asked in _questions):
        raise KeyboardInterrupt
