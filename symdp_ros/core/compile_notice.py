"""Telling at once that loops have to be compiled: after an installation it takes half a minute."""
import threading
from collections.abc import Callable
from contextlib import contextmanager

#: What to say when it begins.
SENTENCE = ('compiling the inner loops: this takes about half a minute, and only once after an '
            'installation')

_lock = threading.Lock()
_listeners = []


@contextmanager
def on_compilation(tell: Callable[[], None]):
    """
    Call `tell` once, at once, where a loop of this package has to be compiled meanwhile.

    Not where one is read from the disk, or was compiled before. It is called on the thread that
    compiles.
    """
    entry = [tell]
    with _lock:
        _listeners.append(entry)
    try:
        yield
    finally:
        with _lock:
            _listeners[:] = [other for other in _listeners if other is not entry]


def compilation_begins() -> None:
    """Tell those who listen."""
    with _lock:
        waiting = [entry.pop() for entry in _listeners if entry]
    for tell in waiting:
        tell()
