# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Compiling loops: import only where one is about to run (numba takes long to import).

Where there is no numba, as on a robot with Ubuntu 24.04, which has no package of it, the same loops
run as they are, some hundred times slower. They do the same arithmetic: all integers have their
types in the text, and a float64 of numpy adds as a compiled one does.
"""
import numpy as np
from symdp_ros.core.compile_notice import COMPILING, loops_begin, UNCOMPILED

try:
    import numba
    from numba.core import event
except ImportError:
    numba = None


def compiled(function):
    """Compile on first use; keep the result on disk where some directory can be written."""
    if numba is None:
        return np.errstate(over='ignore')(function)  # unsigned integers start again from 0
    options = {'nogil': True, 'error_model': 'numpy'}  # which does not look for divisions by 0
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


def inlined(function):
    """Compile as a part of whatever compiled function calls it."""
    return function if numba is None else numba.njit(inline='always')(function)


def _watch():
    """Tell when a function of this package has to be compiled: it was not on the disk."""
    class Begins(event.Listener):
        def on_start(self, event):
            if event.data['dispatcher'].py_func.__module__.startswith('symdp_ros.'):
                loops_begin(COMPILING)

        def on_end(self, event):
            pass

    event.register('numba:compile', Begins())


if numba is None:
    loops_begin(UNCOMPILED)
else:
    _watch()
