# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiling loops: import only where one is about to run (numba takes long to import).

Where there is no numba (Ubuntu 24.04 has no package of it), the same loops run as they are, some
hundred times slower. They do the same arithmetic: all integers have their types in the text, and a
float64 of numpy adds as a compiled one does.
"""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import threading
from typing import Any, TypeVar

import numpy as np
from symdp_ros.core.compile_notice import COMPILING, loops_begin, step_begins, UNCOMPILED

numba: Any
try:
    import numba
    from numba.core import event
except ImportError:
    numba = None

__all__ = ['compiled', 'inlined', 'NotCompiledError', 'numba', 'without_compiling']
Function = TypeVar('Function', bound=Callable[..., Any])
_here = threading.local()


class NotCompiledError(Exception):
    """A loop is not on the disk, and must not be compiled now; raised and caught within `core`."""


def compiled(function: Function) -> Function:
    """Compile on first use; keep the result on disk where some directory can be written."""
    if numba is None:
        return np.errstate(over='ignore')(function)  # unsigned integers start again from 0
    options = {'nogil': True, 'error_model': 'numpy'}  # which does not look for divisions by 0
    try:
        fast: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        fast = numba.njit(**options)(function)
    return fast


def inlined(function: Function) -> Function:
    """Compile as a part of whatever compiled function calls it."""
    return function if numba is None else numba.njit(inline='always')(function)


@contextmanager
def without_compiling() -> Iterator[None]:
    """Let this thread raise `NotCompiledError` where a function of this package is compiled."""
    _here.refuse = True
    try:
        yield
    finally:
        _here.refuse = False


def _watch() -> None:
    """
    Report when a function of this package has to be compiled: it was not on the disk.

    Whatever is compiled can be interrupted.
    """
    class Begins(event.Listener):
        def on_start(self, event: Any) -> None:
            if event.data['dispatcher'].py_func.__module__.startswith('symdp_ros.'):
                if getattr(_here, 'refuse', False):
                    raise NotCompiledError
                loops_begin(COMPILING)

        def on_end(self, event: Any) -> None:
            pass

    class Step(event.Listener):
        def on_start(self, event: Any) -> None:
            step_begins()

        def on_end(self, event: Any) -> None:
            pass

    event.register('numba:compile', Begins())  # type: ignore[no-untyped-call]  # of numba
    event.register('numba:run_pass', Step())  # type: ignore[no-untyped-call]


if numba is None:
    loops_begin(UNCOMPILED)
else:
    _watch()
