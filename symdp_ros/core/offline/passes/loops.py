# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which pass runs: `in_numpy` or `kernels`, which is compiled.

That depends on the sizes of the work alone. Numba is imported, and compiles, where a process has
more to do than that takes; what is compiled is kept on the disk. Where there is no numba, NumPy
does all.
"""
from importlib.util import find_spec
from math import inf
from typing import Any

_WORTH_COMPILING = 4.0  # seconds of work in NumPy in this process, as estimated

_spent = 0.0


def use_compiled() -> None:
    """Use the compiled pass from now on in this process, however little there is to do."""
    global _spent
    _spent = inf


def compiled_for(seconds: float) -> Any:
    """
    Return the module of the compiled pass; None: NumPy will do, or must.

    :param seconds: what the work takes in NumPy, estimated from public sizes.
    """
    global _spent
    _spent += seconds
    if _spent <= _WORTH_COMPILING or find_spec('numba') is None:
        return None
    from symdp_ros.core.compiled.compiling import numba
    from symdp_ros.core.offline.passes import kernels

    return None if numba is None else kernels
