# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiling loops: import only where one is about to run (numba takes long to import).

Where there is no numba (Ubuntu 24.04 has no package of it), or it must not compile
(NUMBA_DISABLE_JIT=1), the same loops run as they are, some hundred times slower. They do the
same arithmetic: all integers have their types in the text, and a float64 of numpy adds as a
compiled one does.
"""
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from symdp_ros.core.compiled.notice import COMPILING, loops_begin, step_begins, UNCOMPILED

numba: Any
try:
    import numba
    from numba.core import event
    from symdp_ros.core.compiled.cache import WaitingCache
    if numba.config.DISABLE_JIT:  # NUMBA_DISABLE_JIT=1: its intrinsics would run nowhere
        numba = None
    else:  # else the sums of `passes.kernels._gather_models` take three times as long
        numba.config.SLP_VECTORIZE = 1
except ImportError:
    numba = None

__all__ = ['compiled', 'numba', 'ONE', 'ZERO']
Function = TypeVar('Function', bound=Callable[..., Any])

#: Arguments of compiled functions. For a number in the text, numba compiles them once more.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)


def compiled(function: Function) -> Function:
    """Compile on first use; keep the result on disk where some directory can be written."""
    if numba is None:
        return np.errstate(over='ignore')(function)  # unsigned integers start again from 0
    # The error model of NumPy does not look for divisions by 0.
    fast: Function = numba.njit(nogil=True, error_model='numpy')(function)
    with suppress(RuntimeError):
        fast._cache = WaitingCache(function)  # type: ignore[attr-defined]
    return fast


def _watch() -> None:
    """
    Report when a function of this package has to be compiled: it was not on the disk.

    Whatever is compiled can be interrupted.
    """
    class Begins(event.Listener):
        def on_start(self, event: Any) -> None:
            module = event.data['dispatcher'].py_func.__module__ or ''
            if module.startswith('symdp_ros.'):
                loops_begin(COMPILING)

        def on_end(self, event: Any) -> None:
            dispatcher = event.data['dispatcher']
            if tuple(event.data['args']) not in dispatcher.overloads:  # it failed
                if isinstance(dispatcher._cache, WaitingCache):
                    dispatcher._cache.unlock()

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
