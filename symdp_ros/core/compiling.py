"""Compiling loops: import only where one is about to run (numba takes long to import)."""
import numba
from numba.core import event

from symdp_ros.core.compile_notice import compilation_begins


def compiled(function):
    """Compile on first use; keep the result on disk where some directory can be written."""
    options = {'nogil': True, 'error_model': 'numpy'}  # which does not look for divisions by 0
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


class _Begins(event.Listener):
    """Tells that a function of this package has to be compiled: it was not on the disk."""

    def on_start(self, event):
        if event.data['dispatcher'].py_func.__module__.startswith('symdp_ros.'):
            compilation_begins()

    def on_end(self, event):
        pass


event.register('numba:compile', _Begins())
