"""Compiling loops: import only where one is about to run (numba takes long to import)."""
import numba


def compiled(function):
    """Compile on first use; keep the result on disk where some directory can be written."""
    options = {'nogil': True, 'error_model': 'numpy'}  # which does not look for divisions by 0
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)
